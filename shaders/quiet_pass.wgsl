// The quiet moves of one pass, for the rows on its list: at an odd depth wins, at an even depth losses.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let odd = (params.depth & 1u) == 1u;
    let list = WORK_ROWS + (2u + (params.depth & 1u)) * params.side_rows;
    let count = atomicLoad(&work[WORK_LIVE + params.depth]);
    for (var i = group.x; i < count; i += params.groups) {
        let row = atomicLoad(&work[list + i]);
        let word = row * WIDTH + s;
        var undecided = planes[word] & ~planes[lost_at(word)];
        if !odd {
            undecided &= ~planes[held_at(word)];
        }
        if !any_of(undecided) {
            continue;
        }
        let record = record(row);
        let reached = quiet(row, record, s);
        if odd {
            undecided &= reached;
            planes[word] ^= undecided;
        } else {
            undecided &= ~reached;
            planes[lost_at(word)] ^= undecided;
        }
        if any_of(undecided) {
            decide(row, word, record, undecided);
        }
    }
}
