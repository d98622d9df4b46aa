// Counts the lines of two plies from all positions: makes each move and counts the replies without making them. Each
// invocation processes whole positions.

#import dsq::perft
#import dsq::group

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    var lines = 0u;
    for (var i = id.x; i < atomicLoad(&work[params.frontier_count]); i += 64u * groups.x) {
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
