// Counts the positions that no pass decided and, if values are kept, marks them as draws. Positions without a move already
// have their code. A workgroup takes 64 rows at a time; invocation s counts row s, then processes word s of each row.
// `written` is *open*, `seen` is *lost*.

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) s: u32,
) {
    for (var start = 64u * group.x; start < params.count; start += 64u * groups.x) {
        let end = min(start + 64u, params.count);
        let first_side = side_of(params.first + start);
        var positions = 0u;
        if start + s < end {
            let row = params.first + start + s;
            positions = atomicLoad(&state[field(UNDECIDED, row)]) * weight_of(rows[record_of(row)]);
            // The rows of a side follow each other.
            if side_of(row) != first_side && positions != 0u {
                add_count(side_of(row), KIND_UNDECIDED, positions);
                positions = 0u;
            }
        }
        positions = group_sum(positions, s);
        if s == 0u && positions != 0u {
            add_count(first_side, KIND_UNDECIDED, positions);
        }
        for (var local = start; params.keep != 0u && in_play(s) && local < end; local++) {
            begin_trace(params.first + local);
            let word = word_of(params.first + local - params.written_first, s);
            touch(TOUCH_OWN_PLANE, word);
            touch(TOUCH_SEEN, word);
            store_code(params.first + local - params.page_first, s, written[word] & ~seen[word], CODE_DRAW);
        }
    }
    end_trace(s);
}
