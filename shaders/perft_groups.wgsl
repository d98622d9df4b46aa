// The size of a dispatch over `frontier`.

#import dsq::perft::{params, work}
#import dsq::shared::GROUPS_X

@compute @workgroup_size(1)
fn main() {
    let groups = (atomicLoad(&work[params.frontier_count]) + 63u) / 64u;
    atomicStore(&work[params.groups], min(groups, GROUPS_X));
    atomicStore(&work[params.groups + 1u], (groups + GROUPS_X - 1u) / GROUPS_X);
    atomicStore(&work[params.groups + 2u], 1u);
}
