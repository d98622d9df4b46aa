// Puts the seeds in the places that the histogram left for each worth, and clears the cells.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    for (var row = group.x; row < params.side_rows; row += params.groups) {
        let word = row * WIDTH + s;
        var rest = planes[lost_at(word)];
        if !any_of(rest) {
            continue;
        }
        rest &= ~equal(word, WORTH_HOLD);
        while any_of(rest) {
            let lane = lowest(rest);
            let worth = (cells[word * CELL_WORDS + lane / 4u] >> ((lane & 3u) * 8u)) & 255u;
            let same = equal(word, worth);
            rest &= ~same;
            let at = 3u * atomicAdd(&work[WORK_CURSORS + worth], 1u);
            entries[at] = word;
            entries[at + 1u] = same.x;
            entries[at + 2u] = same.y;
        }
        for (var i = 0u; i < CELL_WORDS; i++) {
            cells[word * CELL_WORDS + i] = 0u;
        }
    }
}
