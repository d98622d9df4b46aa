// Where a side without a move has lost: the rows to look at in the first pass. Run when `no_move` is done with all pages.

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.rows {
        return;
    }
    let row = params.first_row + id.x;
    var any = EMPTY;
    for (var s = 0u; s < WIDTH; s++) {
        any |= written[id.x * WIDTH + s];
    }
    if any_of(any) {
        mark_around(row, record(row));
    }
}
