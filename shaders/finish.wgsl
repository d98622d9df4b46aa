// Marks the positions that no pass decided as draws. Positions without a move already have their code. Runs only if
// values are kept. A workgroup processes a row, invocation s word s; `written` is *open*, `seen` is *lost*.

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) s: u32,
) {
    for (var local = group.x; local < params.rows; local += groups.x) {
        begin_trace(params.first_row + local);
        if in_play(s) {
            let word = word_of(params.first_row + local, s);
            touch(TOUCH_OWN_PLANE, word);
            touch(TOUCH_SEEN, word);
            store_code(local, s, written[word] & ~seen[word], CODE_DRAW);
        }
    }
}
