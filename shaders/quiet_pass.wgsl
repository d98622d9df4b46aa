// The quiet moves of one pass, for the rows on one list: at an odd depth wins, at an even depth losses. An invocation has a
// whole row. `written` is *open* at an odd depth and *lost* at an even one, the plane that is read the other of the two;
// `gate` holds what a seed wins, or what is not lost before a seed says so.

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let args = params.args + (params.depth * params.list_count + params.list) * 4u;
    if id.x >= atomicLoad(&work[args + 3u]) {
        return;
    }
    let start = params.live + (params.depth & 1u) * params.side_rows + plan[params.lists + params.list];
    let row = atomicLoad(&work[start + id.x]);
    let record = record(row);
//@include quiet
    // At an even depth what is not reached is decided.
    let flip = ~filled(params.depth);
    let mine = seen_at(row);
    let own = (row - params.first_row) * WIDTH;
    var count = 0u;
    var fresh: array<Word, WIDTH>;
    var changed = EMPTY;
    var rank = 0u;
    loop {
//@include quiet_rank
//@for k
        reach_$k = (written[own + at + $ku] ^ seen_word(mine, at + $ku)) & ((reach_$k | gate[own + at + $ku]) ^ flip);
        count += count_of(reach_$k);
        fresh[at + $ku] = reach_$k;
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
            written[word] = written[word] ^ fresh[s];
            if KEEP {
                // A code's lowest bit says who wins, as the planes do.
                var bits = (params.depth + CODE_OF_0_PLIES) & ~1u;
                loop {
                    let code = word * CODE_STRIDE + firstTrailingBit(bits);
                    codes[code] = codes[code] | fresh[s];
                    continuing {
                        bits &= bits - 1u;
                        break if bits == 0u;
                    }
                }
            }
            continuing {
                changed &= ~single(s);
                break if !any_of(changed);
            }
        }
        add_count(record.side, params.depth, count * weight(record));
        atomicSub(&work[params.left + row], count);
        mark_around(row, record);
    }
}
