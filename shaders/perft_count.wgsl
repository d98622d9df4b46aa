// Counts the lines of two plies from all positions: for each move the replies, without making them. An invocation has a
// position.

#import dsq::perft::{params, work, frontier, unpacked, targets, number_of, next_move, made}
#import dsq::group::group_sum
#import dsq::shared::GROUPS_X

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = (group.x + group.y * GROUPS_X) * 64u + local;
    var lines = 0u;
    if i < atomicLoad(&work[params.frontier_count]) {
        let here = unpacked(frontier[i], params.turn);
        var rest = targets(here, params.turn);
        let moves = number_of(&rest);
        for (var n = 0u; n < moves; n++) {
            var replies = targets(made(here, next_move(&rest)), 1u - params.turn);
            lines += number_of(&replies);
        }
    }
    let total = group_sum(lines, local);
    if local == 0u {
        let before = atomicAdd(&work[params.sum], total);
        if before + total < before {
            atomicAdd(&work[params.sum + 1u], 1u);
        }
    }
}
