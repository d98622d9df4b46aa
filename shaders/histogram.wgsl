// Counts the seeds of each worth, words by words.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    for (var row = group.x; row < params.side_rows; row += params.groups) {
        let word = row * WIDTH + s;
        var rest = planes[lost_at(word)];
        if any_of(rest) {
            rest &= ~equal(word, WORTH_HOLD);
        }
        while any_of(rest) {
            let lane = lowest(rest);
            let worth = (cells[word * CELL_WORDS + lane / 4u] >> ((lane & 3u) * 8u)) & 255u;
            rest &= ~equal(word, worth);
            atomicAdd(&work[WORK_HISTOGRAM + worth], 1u);
        }
    }
}
