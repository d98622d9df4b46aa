// Counts the seeds of each worth, words by words.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group.x + group.y * GROUPS_X;
    if local >= params.rows {
        return;
    }
    let at = (local * WIDTH + s) * CODE_STRIDE;
    let counters = params.histogram + local % COPIES * WORTHS;
//@include worths
    loop {
        if any_of(rest) {
//@include next_worth
            atomicAdd(&work[counters + worth], 1u);
        }
        continuing {
            break if !any_of(rest);
        }
    }
}
