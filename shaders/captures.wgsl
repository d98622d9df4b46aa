// What the two kernels of seeds share.

/// The worth of a capture for some positions of a word, if it is greater than what they have.
fn raise(best: ptr<function, array<Word, WORTH_BITS>>, lanes: Word, worth: u32) {
    var above = EMPTY;
    var equal = lanes;
//@for b down
    let bit_$b = filled(worth >> $bu);
    above |= equal & bit_$b & ~(*best)[$b];
    equal &= ~(bit_$b ^ (*best)[$b]);
//@end
//@for b
    (*best)[$b] = ((*best)[$b] & ~above) | (bit_$b & above);
//@end
}

/// All positions of a word: every piece where it may stand, no two on one square.
fn valid_of(record: Record, side: u32, row_pieces: u32, s: u32) -> Word {
    var taken = single(s);
    for (var p = 0u; p < 4u; p++) {
        taken |= select(EMPTY, single(square_of(record, p)), p < row_pieces);
    }
    let alone = count_of(taken) == row_pieces + 1u;
    let valid = plan_mask(side + SIDE_LANES) & ~taken;
    return select(EMPTY, valid, alone && has(plan_mask(side + SIDE_WORDS_IN_PLAY), s));
}

/// The square of a piece that a word fixes: a row piece or the word piece.
fn fixed_square(record: Record, row_pieces: u32, s: u32, piece: u32) -> u32 {
    return select(s, (record.squares >> ((piece & 3u) * 6u)) & 63u, piece < row_pieces);
}

/// The squares that the attacker of a capture takes on from `start`.
fn hits_from(capture: u32, record: Record, start: u32) -> Word {
    let rat = square_of(record, 0u);
    return plan_mask(plan[capture + CAPTURE_HITS] + 2u * start)
        & ~plan_mask(plan[capture + CAPTURE_BLOCKED] + 2u * (rat * plan[capture + CAPTURE_BLOCKED_STRIDE] + start));
}

/// A cell number in the smaller class but for the pieces still to be placed, looked up straight and mirrored, and which of
/// the two counts if the deciding piece is among those placed.
struct Cell {
    straight: u32,
    across: u32,
    mirrored: bool,
}

/// All pieces that a word fixes but one, which moves.
fn placed_but(capture: u32, record: Record, row_pieces: u32, s: u32, but: u32) -> Cell {
    let table = plan[capture + CAPTURE_TABLE];
    let offsets = plan[capture + CAPTURE_OFFSETS];
    let stride = plan[capture + CAPTURE_STRIDE];
    let first = plan[capture + CAPTURE_FIRST];
    var cell = Cell(table, table, false);
    var p = 0u;
    loop {
        if p != but {
            let square = fixed_square(record, row_pieces, s, p);
            let at = offsets + p * WIDTH + square;
            cell.straight += plan[at];
            cell.across += plan[at + stride];
            cell.mirrored = cell.mirrored || (p == first && has(plan_mask(capture + CAPTURE_MIRROR), square));
        }
        continuing {
            p++;
            break if p > row_pieces;
        }
    }
    return cell;
}

/// The same with one more piece.
fn with_piece(capture: u32, cell: Cell, piece: u32, square: u32) -> Cell {
    let at = plan[capture + CAPTURE_OFFSETS] + piece * WIDTH + square;
    let first = piece == plan[capture + CAPTURE_FIRST];
    return Cell(
        cell.straight + plan[at],
        cell.across + plan[at + plan[capture + CAPTURE_STRIDE]],
        select(cell.mirrored, has(plan_mask(capture + CAPTURE_MIRROR), square), first),
    );
}

/// The cell number with the last piece.
fn moved(capture: u32, cell: Cell, piece: u32, square: u32) -> u32 {
    let first = piece == plan[capture + CAPTURE_FIRST];
    let mirrored = select(cell.mirrored, has(plan_mask(capture + CAPTURE_MIRROR), square), first);
    let stride = select(0u, plan[capture + CAPTURE_STRIDE], mirrored);
    return select(cell.straight, cell.across, mirrored)
        + plan[plan[capture + CAPTURE_OFFSETS] + stride + piece * WIDTH + square];
}
