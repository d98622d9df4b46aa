// Counts the lines of two plies from all positions: for each move the replies, without making them.

var<workgroup> group_sum: atomic<u32>;

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = (group.x + group.y * GROUPS_X) * GROUP + local;
    if local == 0u {
        atomicStore(&group_sum, 0u);
    }
    workgroupBarrier();
    if i < atomicLoad(&work[params.old_count]) {
        let here = position(old[i], params.turn);
        var rest = targets(here, params.turn);
        var left = number_of(rest);
        var lines = 0u;
        while left > 0u {
            lines += number_of(targets(made(here, next_move(&rest)), 1u - params.turn));
            left--;
        }
        atomicAdd(&group_sum, lines);
    }
    workgroupBarrier();
    if local == 0u {
        let sum = atomicLoad(&group_sum);
        let before = atomicAdd(&work[params.sum], sum);
        if before + sum < before {
            atomicAdd(&work[params.sum + 1u], 1u);
        }
    }
}
