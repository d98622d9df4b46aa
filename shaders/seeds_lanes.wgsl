// Captures that are the same for all squares of the lane piece, for the words that `seeds` listed.

//@include captures

@compute @workgroup_size(HITS_GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= atomicLoad(&work[params.args + 3u]) {
        return;
    }
    let word = hits[2u * id.x];
    let s = word % WIDTH;
    let record = record(params.first_row + word / WIDTH);
    let side = record.side;
    let row_pieces = plan[side + SIDE_ROW_PIECES];
    let lane_blocks = filled(plan[side + SIDE_FLAGS]);
    let den = den_of(record, side, s);
    let free = written[word] & ~den;
    var best: array<Word, WORTH_BITS>;
//@for b
    best[$b] = codes[word * CODE_STRIDE + $bu];
//@end
    let others = plan[side + SIDE_CAPTURES] + (plan[side + SIDE_BY_LANE] + plan[side + SIDE_OF_LANE]) * CAPTURE_WORDS;
    var rest = hits[2u * id.x + 1u];
    loop {
        let capture = others + firstTrailingBit(rest) * CAPTURE_WORDS;
        let attacker = plan[capture + CAPTURE_ATTACKER];
        let start = fixed_square(record, row_pieces, s, attacker);
        let target_square = fixed_square(record, row_pieces, s, plan[capture + CAPTURE_VICTIM]);
        let fixed = with_piece(capture, placed_but(capture, record, row_pieces, s, attacker), attacker, target_square);
        let crossed = plan[plan[capture + CAPTURE_CROSSING] + start * WIDTH + target_square];
        let lanes = free & ~(plan_mask(params.crossed + 2u * crossed) & lane_blocks);
        var fresh: array<Word, WORTH_BITS>;
        for (var lane = 0u; lane < 63u; lane++) {
            let worth = worth_of(capture, moved(capture, fixed, row_pieces + 1u, lane));
            let one = single(lane);
//@for b
            fresh[$b] |= select(EMPTY, one, ((worth >> $bu) & 1u) != 0u);
//@end
        }
        // The greater of the two, position by position.
        var above = EMPTY;
        var equal = lanes;
//@for b down
        above |= equal & fresh[$b] & ~best[$b];
        equal &= ~(fresh[$b] ^ best[$b]);
//@end
//@for b
        best[$b] = (best[$b] & ~above) | (fresh[$b] & above);
//@end
        continuing {
            rest &= rest - 1u;
            break if rest == 0u;
        }
    }
    var found = EMPTY;
//@for b
    found |= best[$b];
    codes[word * CODE_STRIDE + $bu] = best[$b];
//@end
    gate[word] = found & ~den;
}
