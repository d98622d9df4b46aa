// Positions without a move: lost at once, or never to be lost. The plane that is read is *open*, still all positions;
// `gate` is *held*, so far the positions with a capture, and `written` is *lost*.

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.rows {
        return;
    }
    let row = params.first_row + id.x;
    let record = record(row);
//@include quiet
    let mine = seen_at(row);
    let own = id.x * WIDTH;
    let loses = filled(params.no_move_loses);
    var all = 0u;
    var count = 0u;
//@for s
    let all_$s = seen_word(mine, $su);
    all += count_of(all_$s);
    let held_$s = gate[own + $su];
    reach_$s = all_$s & ~(reach_$s | held_$s | den_of(record, side, $su));
    count += count_of(reach_$s);
//@end
    if count != 0u {
//@for s
        if any_of(reach_$s) {
            written[own + $su] = reach_$s & loses;
            gate[own + $su] = held_$s | (reach_$s & ~loses);
            if KEEP {
                codes[(own + $su) * CODE_STRIDE + CODE_NO_MOVE / 2u] = reach_$s;
            }
        }
//@end
        add_count(side, 0u, count * weight(record));
    }
    atomicStore(&work[params.left + row], all - select(0u, count, params.no_move_loses != 0u));
}
