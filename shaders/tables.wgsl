// The buffers of the table kernels, and how to find rows and their neighbours. See README.md.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sides: array<Side>;
/// By row of one side: the squares of its row pieces and its weight, its class, and the rows that moves of its row pieces lead to.
@group(0) @binding(2) var<storage, read> rows: array<u32>;
/// The counters, then the fields of the states, each for White's rows and then for Black's.
@group(0) @binding(3) var<storage, read_write> state: array<atomic<u32>>;
/// In a pass, the plane that the pass writes and the opponent's plane that it reads; in other kernels, *open* and *lost* of
/// the side to move.
@group(0) @binding(4) var<storage, read_write> written: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> seen: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> escapes: array<vec2<u32>>;
/// The codes of the rows of the page, then their conversions.
@group(0) @binding(7) var<storage, read_write> page: array<vec2<u32>>;

/// The side to move in a row: 0 for White, 1 for Black.
fn turn_of(row: u32) -> u32 {
    return u32(row >= params.side_rows);
}

/// The row with the same pieces and the opponent to move.
fn opposite(row: u32) -> u32 {
    return select(row + params.side_rows, row - params.side_rows, row >= params.side_rows);
}

/// The index of the record of a row.
fn record_of(row: u32) -> u32 {
    return min(row, opposite(row)) * params.record;
}

/// The side to move of the class of a row.
fn side_of(row: u32) -> u32 {
    return 2u * rows[record_of(row) + 1u] + turn_of(row);
}

/// The neighbour of a row for invocation `i`; `NONE` if the row has fewer.
fn neighbour_of(row: u32, i: u32) -> u32 {
    if i >= params.neighbours {
        return NONE;
    }
    touch(TOUCH_RECORDS, record_of(row) + 2u + i);
    return rows[record_of(row) + 2u + i];
}

/// The index of a field of the state of a row.
fn field(number: u32, row: u32) -> u32 {
    return params.states + number * 2u * params.side_rows + row;
}

/// Whether a word is in memory: a word piece may stand on its square.
fn in_play(s: u32) -> bool {
    return contains(params.words, s);
}

/// The index of a word in the planes of the side to move; `row` is a row less the first one of the planes.
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

/// The square that the `k`-th of four moves of a row piece or the word piece leads to; `NONE` if there is no such move.
fn target_of(side: u32, squares: u32, piece: u32, from_square: u32, k: u32) -> u32 {
    let square = (sides[side].moves[piece][from_square] >> (8u * k)) & 255u;
    return select(square, NONE, square == 255u || is_blocked(side, squares, crossed(from_square, square)));
}

/// Marks a row as due in the pass `depth`. `due` is DUE or DUE_OFF_BEAT. A finished row stays finished.
fn mark_due(row: u32, due: u32, depth: u32) {
    touch(TOUCH_STATES, field(due + (depth & 1u), row));
    atomicMax(&state[field(due + (depth & 1u), row)], depth);
}

/// The index in the page of a word of the positions of a row that a pass off the beat has found: under a limit there are no
/// conversions there.
fn pending_at(row: u32, s: u32) -> u32 {
    return params.entries + word_of(row - params.page_first, s);
}

/// Whether a neighbour is the end of a move of this side.
fn is_move_of(neighbour: u32, turn: u32) -> bool {
    return neighbour != NONE && ((neighbour / MOVER) & 1u) == turn;
}

/// Marks the opponent's rows from which a move leads into a changed row as due in the pass `depth`: quiet moves are reversible.
/// Each of the first invocations has one neighbour.
fn mark_neighbours_due(row: u32, neighbour: u32, flags_of_mover: u32, due: u32, depth: u32, i: u32) {
    let mover = 1u - turn_of(row);
    if is_move_of(neighbour, mover) {
        mark_due(mover * params.side_rows + neighbour / ROW, due, depth);
    } else if i == 16u && (flags_of_mover & (WORD_MOVES | LANE_MOVES)) != 0u {
        mark_due(opposite(row), due, depth);
    }
}

/// Marks a row without undecided positions, so that no pass visits it again.
fn finish_row(row: u32) {
    atomicStore(&state[field(NEXT, row)], NONE);
    atomicStore(&state[field(DUE, row)], NONE);
    atomicStore(&state[field(DUE + 1u, row)], NONE);
    if params.limited != 0u {
        atomicStore(&state[field(DUE_OFF_BEAT, row)], NONE);
        atomicStore(&state[field(DUE_OFF_BEAT + 1u, row)], NONE);
    }
}

/// Adds positions to a counter of 64 bits.
fn add_count(side: u32, kind: u32, positions: u32) {
    let at = params.counts + 2u * (side * KINDS + kind);
    count_atomic(at);
    let old = atomicAdd(&state[at], positions);
    if old + positions < old {
        atomicAdd(&state[at + 1u], 1u);
    }
}

/// The positions that a workgroup has counted but not yet added to the counter of a side. Only its first invocation counts.
var<private> counted_side: u32;
var<private> counted: u32;

/// Counts positions of a kind, of which a workgroup counts only one.
fn count_positions(side: u32, kind: u32, positions: u32) {
    if side != counted_side {
        add_counted(kind);
    }
    counted_side = side;
    counted += positions;
}

/// Adds the counted positions to the counter.
fn add_counted(kind: u32) {
    if counted != 0u {
        add_count(counted_side, kind, counted);
    }
    counted = 0u;
}

/// The number of positions that each position of a row represents.
fn weight_of(squares: u32) -> u32 {
    return squares >> WEIGHT_SHIFT;
}

/// Stores `code` for the positions of a word that have no code yet; `local` is the row's number in its page.
fn store_code(local: u32, s: u32, lanes: vec2<u32>, code: u32) {
    let wide = params.wide != 0u;
    let cells = select(8u, 4u, wide);
    let first = (local * 64u + s) * (64u / cells);
    for (var lane = 0u; lane < 64u; lane += cells) {
        let bits = bits_from(lanes, lane);
        let spread = select(
            (vec2<u32>(bits & 15u, (bits >> 4u) & 15u) * 0x204081u) & vec2<u32>(0x1010101u, 0x1010101u),
            (vec2<u32>(bits & 3u, (bits >> 2u) & 3u) * 0x8001u) & vec2<u32>(0x10001u, 0x10001u),
            wide,
        );
        if not_empty(spread) {
            let at = first + lane / cells;
            touch(TOUCH_CODES, at);
            let before = page[at];
            // The lowest bit of each cell that has a code already.
            var taken = down_cells(before, 4u);
            taken = down_cells(taken, 2u);
            taken = down_cells(taken, 1u);
            if wide {
                taken = down_cells(taken, 8u);
            }
            page[at] = before | ((spread & ~taken) * code);
        }
    }
}

/// Each bit, or the bit `by` places above.
fn down_cells(cells: vec2<u32>, by: u32) -> vec2<u32> {
    return cells | (cells >> vec2<u32>(by, by));
}
