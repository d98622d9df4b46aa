// Puts the seeds in the places that the histogram left for each worth, and clears their bits.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group.x + group.y * GROUPS_X;
    if local >= params.rows {
        return;
    }
    let word = local * WIDTH + s;
    let at = word * CODE_STRIDE;
    let counters = params.cursors + local % COPIES * WORTHS;
//@include worths
    loop {
        if any_of(rest) {
//@include next_worth
            let entry = 3u * atomicAdd(&work[counters + worth], 1u);
            entries[entry] = word;
            entries[entry + 1u] = low_of(same);
            entries[entry + 2u] = high_of(same);
        }
        continuing {
            break if !any_of(rest);
        }
    }
//@for b
    codes[at + $bu] = EMPTY;
//@end
}
