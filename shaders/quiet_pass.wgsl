// The quiet moves of one pass, for the rows on one list: at an odd depth wins, at an even depth losses. An invocation has a
// whole row. `written` is *open* at an odd depth and *lost* at an even one, the plane that is read the other of the two;
// `gate` holds what a seed wins, or what is not lost before a seed says so.

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let list = params.page * KINDS + KIND;
    let args = params.args + (params.depth * params.list_count + list) * 4u;
    if id.x >= atomicLoad(&work[args + 3u]) {
        return;
    }
    let row = atomicLoad(&work[params.live + (params.depth & 1u) * params.side_rows + plan[params.lists + list] + id.x]);
    let record = record(row);
//@include quiet
    // At an even depth what is not reached is decided.
    let flip = ~filled(params.depth);
    let mine = seen_at(row);
    let own = (row - params.first_row) * WIDTH;
    var count = 0u;
//@for s
    let now_$s = written[own + $su];
    reach_$s = (now_$s ^ seen_word(mine, $su)) & ((reach_$s | gate[own + $su]) ^ flip);
    count += count_of(reach_$s);
//@end
    if count != 0u {
//@for s
        if any_of(reach_$s) {
            written[own + $su] = now_$s ^ reach_$s;
        }
//@end
        if KEEP {
            // A code's lowest bit says who wins, as the planes do.
            for (var bits = (params.depth + CODE_OF_0_PLIES) & ~1u; bits != 0u; bits &= bits - 1u) {
                let at = own * CODE_STRIDE + firstTrailingBit(bits);
//@for s
                if any_of(reach_$s) {
                    codes[at + $su * CODE_STRIDE] |= reach_$s;
                }
//@end
            }
        }
        add_count(record.side, params.depth, count * weight(record));
        atomicSub(&work[params.left + row], count);
        mark_around(row, record);
    }
}
