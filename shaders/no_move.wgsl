// Positions without a move: lost at once, or never to be lost. Run after `buckets`, with `open` still all positions.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    for (var row = group.x; row < params.side_rows; row += params.groups) {
        let word = row * WIDTH + s;
        var stuck = planes[word] & ~planes[lost_at(word)];
        planes[lost_at(word)] = vec2<u32>(0u, 0u);
        if !any_of(stuck) {
            continue;
        }
        let record = record(row);
        stuck &= ~quiet(row, record, s);
        if !any_of(stuck) {
            continue;
        }
        add_count(record.side, 0u, record, stuck);
        store(word, stuck, CODE_NO_MOVE);
        if params.no_move_loses != 0u {
            planes[lost_at(word)] = stuck;
            atomicSub(&work[left_at(row)], count_of(stuck));
            mark_around(row, record);
        } else {
            planes[held_at(word)] |= stuck;
        }
    }
}
