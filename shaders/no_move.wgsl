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
    var stuck: array<Word, WIDTH>;
    var changed = EMPTY;
    var rank = 0u;
    loop {
//@include quiet_rank
//@for k
        let all_$k = seen_word(mine, at + $ku);
        all += count_of(all_$k);
        reach_$k = all_$k & ~(reach_$k | gate[own + at + $ku] | den_of(record, side, at + $ku));
        count += count_of(reach_$k);
        stuck[at + $ku] = reach_$k;
        changed |= select(EMPTY, single(at + $ku), any_of(reach_$k));
//@end
        continuing {
//@include quiet_next
        }
    }
    if count != 0u {
        loop {
            let s = lowest(changed);
            let word = own + s;
            written[word] = stuck[s] & loses;
            gate[word] = gate[word] | (stuck[s] & ~loses);
            if KEEP {
                codes[word * CODE_STRIDE + CODE_NO_MOVE / 2u] = stuck[s];
            }
            continuing {
                changed &= ~single(s);
                break if !any_of(changed);
            }
        }
        add_count(side, 0u, count * weight(record));
    }
    atomicStore(&work[params.left + row], all - select(0u, count, params.no_move_loses != 0u));
}
