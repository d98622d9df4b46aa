// Writes all positions after one move to `next_frontier`. Each invocation processes whole positions.

#import dsq::perft

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < atomicLoad(&work[params.frontier_count]); i += 64u * groups.x) {
        let here = unpacked(frontier[i], params.turn);
        var rest = targets(here, params.turn);
        let moves = number_of(&rest);
        let first = atomicAdd(&work[params.next_count], moves);
        for (var n = 0u; n < moves; n++) {
            next_frontier[first + n] = packed_of(made(here, next_move(&rest)), 1u - params.turn);
        }
    }
}
