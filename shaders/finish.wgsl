// Counts the positions that no pass decided and, if values are kept, marks them as draws. Positions without a move already
// have their code. A workgroup processes a row, invocation s word s; `written` is *open*, `seen` is *lost*.

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) s: u32,
) {
    for (var local = group.x; local < params.rows; local += groups.x) {
        let row = params.first_row + local;
        begin_trace(row);
        if s == 0u && own[row].undecided != 0u {
            let side = 2u * own[row].class_number + params.side;
            add_count(side, KIND_UNDECIDED, own[row].undecided * weight_of(own[row].squares));
        }
        if params.keep != 0u && in_play(s) {
            let word = word_of(row, s);
            touch(TOUCH_OWN_PLANE, word);
            touch(TOUCH_SEEN, word);
            store_code(local, s, written[word] & ~seen[word], CODE_DRAW);
        }
    }
}
