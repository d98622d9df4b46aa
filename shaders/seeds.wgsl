// For each position the worth of the best move that leaves the class: captures by the values of smaller classes, dens.
// Greater is better. The bits of the worths go to `codes`, a word each. `written` (*open*) becomes all positions, `gate`
// (*held*) those with a capture. Captures that are the same for all squares of the lane piece are left to `seeds_lanes`:
// their words are listed in `hits`.

//@include captures

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group.x + group.y * GROUPS_X;
    if local >= params.rows {
        return;
    }
    let record = record(params.first_row + local);
    let side = record.side;
    let word = local * WIDTH + s;
    let row_pieces = plan[side + SIDE_ROW_PIECES];
    let valid = valid_of(record, side, row_pieces, s);
    written[word] = valid;
    let den = den_of(record, side, s) & valid;
    let free = valid & ~den;
    var best: array<Word, WORTH_BITS>;
    if any_of(free) {
        // Captures by the lane piece: it goes where the victim stands.
        var capture = plan[side + SIDE_CAPTURES];
        var c: u32;
        let by_lane = plan[side + SIDE_BY_LANE];
        c = 0u;
        loop {
            if c < by_lane {
                let target_square = fixed_square(record, row_pieces, s, plan[capture + CAPTURE_VICTIM]);
                let lanes = free & plan_mask(plan[capture + CAPTURE_HITS] + 2u * target_square);
                let fixed = placed_but(capture, record, row_pieces, s, NONE);
                raise(&best, lanes, worth_of(capture, moved(capture, fixed, row_pieces + 1u, target_square)));
                capture += CAPTURE_WORDS;
            }
            continuing {
                c++;
                break if c >= by_lane;
            }
        }
        // Captures of the lane piece: it stands on one of at most four squares.
        let of_lane = plan[side + SIDE_OF_LANE];
        c = 0u;
        loop {
            if c < of_lane {
                let attacker = plan[capture + CAPTURE_ATTACKER];
                let start = fixed_square(record, row_pieces, s, attacker);
                var lanes = free & hits_from(capture, record, start);
                let fixed = placed_but(capture, record, row_pieces, s, attacker);
                for (var i = 0u; i < 4u; i++) {
                    let lane = lowest(lanes) & 63u;
                    let one = lanes & single(lane);
                    raise(&best, one, worth_of(capture, moved(capture, fixed, attacker, lane)));
                    lanes &= ~one;
                }
                capture += CAPTURE_WORDS;
            }
            continuing {
                c++;
                break if c >= of_lane;
            }
        }
        // The others.
        var hit = 0u;
        let others = plan[side + SIDE_OTHERS];
        c = 0u;
        loop {
            if c < others {
                let start = fixed_square(record, row_pieces, s, plan[capture + CAPTURE_ATTACKER]);
                let target_square = fixed_square(record, row_pieces, s, plan[capture + CAPTURE_VICTIM]);
                hit |= select(0u, 1u << c, has(hits_from(capture, record, start), target_square));
                capture += CAPTURE_WORDS;
            }
            continuing {
                c++;
                break if c >= others;
            }
        }
        if hit != 0u {
            let n = atomicAdd(&work[params.args + 3u], 1u);
            if n % HITS_GROUP == 0u {
                atomicAdd(&work[params.args], 1u);
            }
            hits[2u * n] = word;
            hits[2u * n + 1u] = hit;
        }
    }
    var found = EMPTY;
//@for b
    found |= best[$b];
    codes[word * CODE_STRIDE + $bu] = best[$b] | (den & filled(WORTH_WIN_AT_ONCE >> $bu));
//@end
    gate[word] = found;
}
