// The buffers of the table kernels, and how to find rows and their neighbours. See README.md.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sides: array<Side>;
@group(0) @binding(2) var<storage, read> captures: array<Capture>;
/// By row of a class's index: twice the number of the solved row with its values, plus 1 if the values are mirrored there.
@group(0) @binding(3) var<storage, read> places: array<u32>;
/// The rows of the side to move, and the same rows with the opponent to move.
@group(0) @binding(4) var<storage, read_write> own: array<Row>;
@group(0) @binding(5) var<storage, read_write> opponent: array<Row>;
/// In a pass, the plane that the pass writes and the opponent's plane that it reads; in other kernels, *open* and *lost* of
/// the side to move.
@group(0) @binding(6) var<storage, read_write> written: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> seen: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> escapes: array<vec2<u32>>;
/// The conversions and the codes of the rows of the page.
@group(0) @binding(9) var<storage, read_write> entries: array<vec2<u32>>;
@group(0) @binding(10) var<storage, read_write> codes: array<u32>;
@group(0) @binding(11) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(12) var<storage, read> table_a: array<u32>;
@group(0) @binding(13) var<storage, read> table_b: array<u32>;
@group(0) @binding(14) var<storage, read> table_c: array<u32>;
@group(0) @binding(15) var<storage, read> table_d: array<u32>;

/// Whether a word is in memory: a word piece may stand on its square.
fn in_play(s: u32) -> bool {
    return contains(params.words, s);
}

/// The index of a word in a plane.
fn word_of(row: u32, s: u32) -> u32 {
    return row * params.row_words + count_of(params.words & below(s));
}

/// The square of a row piece: six bits each.
fn square_of(squares: u32, piece: u32) -> u32 {
    return (squares >> (piece * 6u)) & 63u;
}

fn set_of(squares: u32, pieces: u32) -> vec2<u32> {
    var taken = EMPTY;
    for (var p = 0u; p < pieces; p++) {
        taken |= single(square_of(squares, p));
    }
    return taken;
}

/// Whether the first row piece is a rat that blocks a leap over this water.
fn is_blocked(side: u32, squares: u32, water: vec2<u32>) -> bool {
    return (sides[side].flags & FIRST_BLOCKS) != 0u && contains(water, square_of(squares, 0u));
}

/// The squares of the lane piece where it does not block a leap over this water.
fn unblocked(side: u32, water: vec2<u32>) -> vec2<u32> {
    return ~(water & splat(sides[side].flags & LANE_BLOCKS));
}

/// A row that a move of a row piece leads to or comes from: quiet moves are reversible.
struct Neighbour {
    /// `NONE` if there is no such move.
    row: u32,
    /// Whether its positions are mirrored.
    mirrored: bool,
    /// The squares of the lane piece with which the move is possible.
    lanes: vec2<u32>,
}

/// The square that the `k`-th of four moves of a row piece or the word piece leads to; `NONE` if there is no such move.
fn target_of(side: u32, squares: u32, piece: u32, from_square: u32, k: u32) -> u32 {
    let square = (sides[side].moves[piece][from_square] >> (8u * k)) & 255u;
    return select(square, NONE, square == 255u || is_blocked(side, squares, crossed(from_square, square)));
}

/// The row at the end of the `slot`-th move of a side's row pieces, four for each piece.
fn neighbour(side: u32, squares: u32, slot: u32) -> Neighbour {
    let piece = slot / 4u;
    let square = target_of(side, squares, piece, square_of(squares, piece), slot % 4u);
    if square == NONE {
        return Neighbour(NONE, false, EMPTY);
    }
    let moved = insertBits(squares, square, piece * 6u, 6u);
    // In the index the first row piece is on the files a to d.
    let over = piece == 0u && square % 7u > 3u;
    var row = sides[side].places;
    for (var p = 0u; p < sides[side].row_pieces; p++) {
        let there = square_of(moved, p);
        row += sides[side].positions[p][select(there, mirror_square(there), over)];
    }
    touch(TOUCH_PLACES, row);
    let place = places[row];
    if place == NONE {
        return Neighbour(NONE, false, EMPTY);
    }
    let water = crossed(square_of(squares, piece), square);
    return Neighbour(sides[side].first_row + (place >> 1u), ((place & 1u) != 0u) != over, unblocked(side, water));
}

/// Marks the opponent's row as due in the pass `depth`. A finished row stays finished.
fn mark_due(row: u32, depth: u32) {
    touch(TOUCH_ROWS, row);
    if atomicLoad(&opponent[row].due_in_pass[depth & 1u]) < depth {
        atomicMax(&opponent[row].due_in_pass[depth & 1u], depth);
    }
}

/// Marks the opponent's rows from which a move leads into a changed row as due in the pass `depth`. Invocation `i` follows
/// the i-th move back.
fn mark_neighbours_due(side: u32, row: u32, squares: u32, depth: u32, i: u32) {
    let mover = side ^ 1u;
    if i < 16u {
        let from_row = neighbour(mover, squares, i).row;
        if from_row != NONE {
            mark_due(from_row, depth);
        }
    } else if i == 16u && (sides[mover].flags & (WORD_MOVES | LANE_MOVES)) != 0u {
        mark_due(row, depth);
    }
}

/// Marks a row without undecided positions, so that no pass visits it again.
fn finish_row(row: u32) {
    own[row].next_conversion = NONE;
    atomicStore(&own[row].due_in_pass[0], NONE);
    atomicStore(&own[row].due_in_pass[1], NONE);
}

/// Adds positions to a counter of 64 bits.
fn add_count(side: u32, kind: u32, positions: u32) {
    let at = params.counts + 2u * (side * KINDS + kind);
    let old = atomicAdd(&counters[at], positions);
    if old + positions < old {
        atomicAdd(&counters[at + 1u], 1u);
    }
}

/// The number of positions that each position of a row represents.
fn weight_of(squares: u32) -> u32 {
    return squares >> WEIGHT_SHIFT;
}

/// Stores `code` for the positions of a word that have no code yet.
fn store_code(local: u32, s: u32, lanes: vec2<u32>, code: u32) {
    let wide = params.wide != 0u;
    let cells_of_u32 = select(4u, 2u, wide);
    let at = (local * 64u + s) * (64u / cells_of_u32);
    for (var lane = 0u; lane < 64u; lane += cells_of_u32) {
        let bits = bits_from(lanes, lane);
        let spread = select((((bits & 15u) * 0x204081u) & 0x1010101u), (((bits & 3u) * 0x8001u) & 0x10001u), wide);
        if spread != 0u {
            touch(TOUCH_CODES, at + lane / cells_of_u32);
            let before = codes[at + lane / cells_of_u32];
            // The lowest bit of each cell that has a code already.
            var taken = before | (before >> 4u);
            taken |= taken >> 2u;
            taken |= taken >> 1u;
            taken |= select(0u, taken >> 8u, wide);
            codes[at + lane / cells_of_u32] = before | ((spread & ~taken) * code);
        }
    }
}
