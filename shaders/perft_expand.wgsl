// Puts all positions one move on into `next_frontier`. An invocation has a position.

#import dsq::perft::{params, work, frontier, next_frontier, unpacked, packed_of, targets, number_of, next_move, made}
#import dsq::shared::GROUPS_X

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = (group.x + group.y * GROUPS_X) * 64u + local;
    if i >= atomicLoad(&work[params.frontier_count]) {
        return;
    }
    let here = unpacked(frontier[i], params.turn);
    var rest = targets(here, params.turn);
    let moves = number_of(&rest);
    let first = atomicAdd(&work[params.next_count], moves);
    for (var n = 0u; n < moves; n++) {
        next_frontier[first + n] = packed_of(made(here, next_move(&rest)), 1u - params.turn);
    }
}
