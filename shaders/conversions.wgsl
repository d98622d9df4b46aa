// For each position the value of its best conversion: captures by the values of smaller classes, dens. A workgroup has
// a row of the page. `written` (*open*) becomes all positions, `conversion_plane` (*escapes*) those with a capture,
// `codes` the bits of the values, and the words with a conversion of each value are counted.
//
// Captures by the lane piece or of it differ from word to word: invocation s looks up word s. The others are the same for
// all squares of the lane piece: invocation i looks up lane i of one word after the other, so that the workgroup reads
// neighbouring cells, and rows and columns are changed at the end.

#import dsq::words::{any_of, count_of, has, lowest, single, filled, EMPTY}
#import dsq::buffers::{params, plan, work, written, conversion_plane, codes, code_place, code_bits, table_value, value_win}
#import dsq::group::group_ballot
#import dsq::rows::{Record, record_of, group_number, square_of, plan_mask, den_of}
#import dsq::captures::{placed_but, with_piece, with_last, hits}
#import dsq::conversion_values::{ConversionValues, raise, raise_all, any_conversion, transpose, decisive_conversions, next_value, with_value}
#import dsq::shared::{
    NONE, RECORD_DEN, SIDE_FLAGS, SIDE_ROW_PIECES, SIDE_LANES, SIDE_WORDS_IN_PLAY, SIDE_CAPTURES, SIDE_BY_LANE, SIDE_OF_LANE,
    SIDE_OTHERS, CAPTURE_ATTACKER, CAPTURE_VICTIM, CAPTURE_CROSSING, CAPTURE_WORDS,
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group_number(group);
    if local >= params.rows {
        return;
    }
    let record = record_of(params.first_row + local);
    let word = local * 64u + s;
    let valid = valid_of(record, s);
    let den = den_of(record, s) & valid;
    let free = valid & ~den;
    var best: ConversionValues;
    // With a row piece beside the den nothing else counts.
    if (record.squares & RECORD_DEN) == 0u && rows_apart(record) {
        of_words(&best, record, s, free);
        var of_lanes: ConversionValues;
        if by_lanes(&of_lanes, record, s) {
            transpose(&of_lanes, s);
            raise_all(&best, free, &of_lanes);
        }
    }
    written[word] = valid;
    conversion_plane[word] = any_conversion(&best);
    for (var b = 0u; b < code_bits(); b++) {
        best.of_bit[b] |= den & filled(value_win() >> b);
        codes[code_place(local) + b * 64u + s] = best.of_bit[b];
    }
    var rest = decisive_conversions(&best);
    loop {
        let value = next_value(&best, rest, s);
        if value == NONE {
            break;
        }
        let same = rest & with_value(&best, value);
        rest &= ~same;
        let words = group_ballot(any_of(same), s);
        if s == 0u {
            atomicAdd(&work[params.histogram + value], count_of(words));
        }
    }
}

/// Whether no two row pieces stand on one square.
fn rows_apart(record: Record) -> bool {
    var taken = EMPTY;
    let row_pieces = plan[record.side + SIDE_ROW_PIECES];
    for (var p = 0u; p < row_pieces; p++) {
        taken |= single(square_of(record, p));
    }
    return count_of(taken) == row_pieces;
}

/// All positions of a word: every piece where it may stand, no two on one square.
fn valid_of(record: Record, s: u32) -> vec2<u32> {
    var taken = single(s);
    let row_pieces = plan[record.side + SIDE_ROW_PIECES];
    for (var p = 0u; p < row_pieces; p++) {
        taken |= single(square_of(record, p));
    }
    let alone = count_of(taken) == row_pieces + 1u && has(plan_mask(record.side + SIDE_WORDS_IN_PLAY), s);
    return select(EMPTY, plan_mask(record.side + SIDE_LANES) & ~taken, alone);
}

/// The square of a row piece or the word piece.
fn fixed_square(record: Record, s: u32, piece: u32) -> u32 {
    return select(s, square_of(record, piece & 3u), piece < plan[record.side + SIDE_ROW_PIECES]);
}

/// Captures by the lane piece, which goes where the victim stands, and of it, where it stands on one of few squares.
fn of_words(best: ptr<function, ConversionValues>, record: Record, s: u32, free: vec2<u32>) {
    let word_piece = plan[record.side + SIDE_ROW_PIECES];
    var capture = plan[record.side + SIDE_CAPTURES];
    for (var c = 0u; c < plan[record.side + SIDE_BY_LANE]; c++) {
        let target_square = fixed_square(record, s, plan[capture + CAPTURE_VICTIM]);
        let lanes = free & hits(capture, record, target_square);
        if any_of(lanes) {
            let cell = with_piece(capture, placed_but(capture, record, NONE), word_piece, s);
            raise(best, lanes, table_value(capture, with_last(capture, cell, word_piece + 1u, target_square)));
        }
        capture += CAPTURE_WORDS;
    }
    for (var c = 0u; c < plan[record.side + SIDE_OF_LANE]; c++) {
        let attacker = plan[capture + CAPTURE_ATTACKER];
        var cell = placed_but(capture, record, attacker);
        if attacker != word_piece {
            cell = with_piece(capture, cell, word_piece, s);
        }
        var lanes = free & hits(capture, record, fixed_square(record, s, attacker));
        while any_of(lanes) {
            let lane = lowest(lanes);
            raise(best, single(lane), table_value(capture, with_last(capture, cell, attacker, lane)));
            lanes &= ~single(lane);
        }
        capture += CAPTURE_WORDS;
    }
}

/// The other captures, word by word; `values` has the values of lane i, by word. Returns whether there are any.
fn by_lanes(values: ptr<function, ConversionValues>, record: Record, i: u32) -> bool {
    let word_piece = plan[record.side + SIDE_ROW_PIECES];
    let before = plan[record.side + SIDE_BY_LANE] + plan[record.side + SIDE_OF_LANE];
    var capture = plan[record.side + SIDE_CAPTURES] + before * CAPTURE_WORDS;
    var any = false;
    for (var c = 0u; c < plan[record.side + SIDE_OTHERS]; c++) {
        let attacker = plan[capture + CAPTURE_ATTACKER];
        let victim = plan[capture + CAPTURE_VICTIM];
        let fixed = placed_but(capture, record, attacker);
        var words: vec2<u32>;
        if attacker == word_piece {
            // From where it takes.
            words = hits(capture, record, square_of(record, victim));
        } else {
            words = hits(capture, record, square_of(record, attacker));
            if victim != word_piece {
                words = select(EMPTY, plan_mask(record.side + SIDE_WORDS_IN_PLAY), has(words, square_of(record, victim)));
            }
        }
        any = any || any_of(words);
        while any_of(words) {
            let w = lowest(words);
            words &= ~single(w);
            let start = fixed_square(record, w, attacker);
            let target_square = fixed_square(record, w, victim);
            var cell = with_piece(capture, fixed, attacker, target_square);
            if attacker != word_piece {
                cell = with_piece(capture, cell, word_piece, w);
            }
            let water = plan_mask(params.crossed + 2u * plan[plan[capture + CAPTURE_CROSSING] + start * 64u + target_square]);
            if i < 63u && !has(water & filled(plan[record.side + SIDE_FLAGS]), i) {
                raise(values, single(w), table_value(capture, with_last(capture, cell, word_piece + 1u, i)));
            }
        }
        capture += CAPTURE_WORDS;
    }
    return any;
}
