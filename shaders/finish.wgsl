// What no pass decided is a draw, unless it has no move.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    for (var row = group.x; row < params.side_rows; row += params.groups) {
        let word = row * WIDTH + s;
        let undecided = planes[word] & ~planes[lost_at(word)];
        if !any_of(undecided) {
            continue;
        }
        let record = record(row);
        add_count(record.side, COUNT_UNDECIDED, record, undecided);
        for (var i = 0u; i < CELL_WORDS; i++) {
            let lanes = spread(four(undecided, i)) & 0x01010101u;
            let at = word * CELL_WORDS + i;
            // An undecided cell is still 0, or 2 if it has no move.
            cells[at] |= lanes & ~(cells[at] >> 1u);
        }
    }
}
