// The size of a dispatch over `old`.

@compute @workgroup_size(1)
fn main() {
    let groups = (atomicLoad(&work[params.old_count]) + GROUP - 1u) / GROUP;
    atomicStore(&work[params.groups], min(groups, GROUPS_X));
    atomicStore(&work[params.groups + 1u], (groups + GROUPS_X - 1u) / GROUPS_X);
    atomicStore(&work[params.groups + 2u], 1u);
}
