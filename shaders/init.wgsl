// Initializes a row: the rank of each position's best conversion (captures by the ranks of smaller classes, den entries), the
// row's conversions in the order of depths, and the positions without a move. `written` becomes *open* (all positions that are
// not won in one ply by a conversion), `seen` becomes *lost*, `escapes` the positions that cannot be lost yet and the cells
// without a position. A workgroup processes a row, an invocation a word.

/// The ranks of smaller classes.
@group(0) @binding(8) var<storage, read> table_a: array<vec4<u32>>;
#ifdef TABLES
@group(0) @binding(9) var<storage, read> table_b: array<vec4<u32>>;
@group(0) @binding(10) var<storage, read> table_c: array<vec4<u32>>;
@group(0) @binding(11) var<storage, read> table_d: array<vec4<u32>>;
#endif

/// The number of rank sets of a word that are kept. Few words have more.
const KEPT_SETS = 4u;

/// The ranks of the positions of a word.
alias Ranks = array<vec2<u32>, PLANES>;

/// The depths of the row's conversions, a bit each.
var<workgroup> depth_bits: array<atomic<u32>, DEPTH_WORDS>;
var<workgroup> depth_set: array<u32, DEPTH_WORDS>;
/// Of the first rank sets of each word: the positions and the depth.
var<workgroup> kept_positions: array<vec2<u32>, KEPT_SETS * 64>;
var<workgroup> kept_depths: array<u32, KEPT_SETS * 64>;
/// Of 64 depths: each depth, the words with conversions of it, and the index of its entries.
var<workgroup> depth_at: array<atomic<u32>, 64>;
var<workgroup> marked: array<atomic<u32>, 128>;
var<workgroup> entries_at: array<u32, 64>;
/// The index of the first entry of these depths; `NONE` if the page is full.
var<workgroup> first_entry: u32;

/// Of each move of a row piece, four for each piece: the square that it leads to, `NONE` if there is no such move, and the squares
/// of the lane piece with which it is quiet.
var<workgroup> targets: array<u32, 16>;
var<workgroup> target_lanes: array<vec2<u32>, 16>;
/// Of each capture: the cell of the pieces whose squares are the same for all words, and the squares of the lane piece with which
/// the capture is possible in some word.
var<workgroup> capture_cells: array<Cell, CAPTURES>;
var<workgroup> capture_lanes: array<vec2<u32>, CAPTURES>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) s: u32,
) {
    var turn = 0u;
    for (var local = group.x; local < params.count; local += groups.x) {
        begin_trace(params.first + local);
        start(params.first + local, s, turn);
        turn = 2u - turn;
    }
    add_counted(1u);
    end_trace(s);
}

/// Initializes a row. Two rows in turn use two pairs of sums, the first of which is `first_sum`.
fn start(row: u32, s: u32, first_sum: u32) {
    touch(TOUCH_RECORDS, record_of(row));
    let squares = rows[record_of(row)];
    let side = side_of(row);
    let taken = set_of(squares, sides[side].row_pieces);
    let valid = valid_word(side, taken, s);
    if s < DEPTH_WORDS {
        atomicStore(&depth_bits[s], 0u);
    }
    if s < 2u {
        atomicStore(&sums[first_sum + s], 0u);
    }
    set_around(s, valid);
    if s < 4u * sides[side].row_pieces {
        prepare_target(side, squares, taken, s);
    }
    if s < sides[side].capture_count {
        prepare_capture(side, s, squares);
    }
    barrier();
    var best = Ranks();
    let row_den = enters_den(side, squares);
    if !row_den {
        for (var c = 0u; c < sides[side].capture_count; c++) {
            by_capture(side, c, squares, valid, s, &best);
        }
    }
    let quiet = inner_moves(side, squares, valid, s) | row_moves(side, s);
    var den = valid & sides[side].dens[LANE_PIECE];
    if row_den || contains(sides[side].dens[WORD_PIECE], s) {
        den = valid;
    }
    var captures = best[PLANES - 1u];
    var below_draw = EMPTY;
    var all_planes = best[PLANES - 1u];
    for (var b = 0u; b < PLANES - 1u; b++) {
        captures |= best[b];
        below_draw |= best[b];
        all_planes &= best[b];
    }
    let limited = splat(params.limited);
    // Under a limit a capture wins in one ply, or loses and bounds nothing.
    let won = den | all_planes | (limited & best[PLANES - 1u] & below_draw);
    let losing = limited & below_draw & ~best[PLANES - 1u] & ~den;
    let any = den | captures;
    let draws = best[PLANES - 1u] & ~below_draw;
    let stuck = valid & ~(any | quiet);
    let lost = stuck & splat(params.no_move_loses);
    let open = valid & ~won;
    if params.limited == 0u {
        write_conversions(open & captures & ~draws, row, side, s, &best);
    }

    if in_play(s) {
        let word = word_of(row - params.written_first, s);
        touch(TOUCH_OWN_PLANE, word);
        touch(TOUCH_SEEN, word);
        touch(TOUCH_ESCAPES, word);
        written[word] = open;
        seen[word] = lost;
        escapes[word] = (any & ~losing) | stuck | ~valid;
        if params.limited != 0u {
            // All moves are captures that lose.
            let pending = losing & ~quiet;
            page[pending_at(row, s)] = pending;
            if not_empty(pending) {
                atomicStore(&state[field(PENDING, row)], 1u);
            }
        }
    }
    if params.keep != 0u {
        store_code(row - params.page_first, s, stuck, CODE_NO_MOVE);
        store_code(row - params.page_first, s, won, 1u + CODE_OF_0_PLIES);
    }
    // In the upper half of a sum the positions that are won in one ply.
    add_up(first_sum, count_of(open & ~lost) | (count_of(won) << 16u), s);
    add_up(first_sum + 1u, count_of(stuck), s);
    barrier();
    let undecided = atomicLoad(&sums[first_sum]) & 0xffffu;
    let wins = atomicLoad(&sums[first_sum]) >> 16u;
    let no_move = atomicLoad(&sums[first_sum + 1u]);
    if s == 0u {
        touch(TOUCH_STATES, field(UNDECIDED, row));
        atomicStore(&state[field(UNDECIDED, row)], undecided);
        if undecided == 0u {
            finish_row(row);
        }
        count_positions(side, 1u, wins * weight_of(squares));
        if no_move != 0u {
            add_count(side, 0u, no_move * weight_of(squares));
        }
    }
    let neighbour = neighbour_of(row, s);
    if wins != 0u {
        mark_neighbours_due(row, neighbour, sides[side ^ 1u].flags, DUE, 2u, s);
    }
    if no_move != 0u && params.no_move_loses != 0u {
        mark_neighbours_due(row, neighbour, sides[side ^ 1u].flags, DUE, 1u, s);
    }
}

/// The positions of a word: every piece stands on a square of its own that it may enter.
fn valid_word(side: u32, taken: vec2<u32>, s: u32) -> vec2<u32> {
    return select(EMPTY, sides[side].lanes & ~(taken | single(s)), contains(sides[side].words & ~taken, s));
}

/// Whether a row piece can enter the den; then every position of the row is won in one ply.
fn enters_den(side: u32, squares: u32) -> bool {
    var enters = false;
    for (var p = 0u; p < sides[side].row_pieces; p++) {
        enters = enters || contains(sides[side].dens[p], square_of(squares, p));
    }
    return enters;
}

/// Sets `targets` and `target_lanes` for a move.
fn prepare_target(side: u32, squares: u32, taken: vec2<u32>, slot: u32) {
    let from_square = square_of(squares, slot / 4u);
    let square = target_of(side, squares, slot / 4u, from_square, slot % 4u);
    if square == NONE || contains(taken, square) {
        targets[slot] = NONE;
    } else {
        targets[slot] = square;
        target_lanes[slot] = unblocked(side, crossed(from_square, square)) & ~single(square);
    }
}

/// The positions of word s with a quiet move of a row piece, to an empty square.
fn row_moves(side: u32, s: u32) -> vec2<u32> {
    var found = EMPTY;
    for (var slot = 0u; slot < 4u * sides[side].row_pieces; slot++) {
        if targets[slot] != NONE && targets[slot] != s {
            found |= target_lanes[slot];
        }
    }
    return found;
}

/// The partial cell number of the pieces placed so far, for the board as it is and mirrored, and which of the two is valid.
struct Cell {
    straight: u32,
    across: u32,
    mirrored: bool,
}

fn with_piece(side: u32, c: u32, cell: Cell, piece: u32, square: u32) -> Cell {
    return Cell(
        cell.straight + sides[side].captures[c].offsets[0][piece][square],
        cell.across + sides[side].captures[c].offsets[1][piece][square],
        select(cell.mirrored, contains(sides[side].captures[c].mirror, square), piece == sides[side].captures[c].first),
    );
}

/// The cell of the row pieces except the attacker. The offsets of the victim are 0.
fn row_pieces_of(side: u32, c: u32, squares: u32) -> Cell {
    var cell = Cell(sides[side].captures[c].cell, sides[side].captures[c].cell, false);
    for (var p = 0u; p < sides[side].row_pieces; p++) {
        if p != sides[side].captures[c].attacker {
            cell = with_piece(side, c, cell, p, square_of(squares, p));
        }
    }
    return cell;
}

/// The cell that the pieces placed so far lead to.
fn cell_number(cell: Cell) -> u32 {
    return select(cell.straight, cell.across, cell.mirrored);
}

/// Four planes of the ranks of smaller classes. The capture of the last enemy wins in one ply.
fn planes_at(buffer: u32, at: u32) -> vec4<u32> {
    touch(TOUCH_TABLES, at);
    switch buffer {
        case NONE: { return vec4<u32>(FULL, FULL); }
#ifdef TABLES
        case 1u: { return table_b[at]; }
        case 2u: { return table_c[at]; }
        case 3u: { return table_d[at]; }
#endif
        default: { return table_a[at]; }
    }
}

/// Sets `capture_cells` and `capture_lanes` for a capture.
fn prepare_capture(side: u32, c: u32, squares: u32) {
    let attacker = sides[side].captures[c].attacker;
    let victim = sides[side].captures[c].victim;
    let first = min(attacker, victim);
    let second = max(attacker, victim);
    var cell = row_pieces_of(side, c, squares);
    var lanes = FULL;
    if first < WORD_PIECE && second != WORD_PIECE {
        let square = square_of(squares, first);
        let hits = sides[side].captures[c].hits[square];
        if second == LANE_PIECE {
            lanes = unblocked_by_first(side, squares, square, hits);
            if attacker == LANE_PIECE {
                cell = with_piece(side, c, cell, LANE_PIECE, square);
            }
        } else {
            let other_square = square_of(squares, second);
            let water = crossed(square, other_square);
            let possible = contains(hits, other_square) && !is_blocked(side, squares, water);
            lanes = select(EMPTY, unblocked(side, water), possible);
            cell = with_piece(side, c, cell, attacker, square_of(squares, victim));
        }
    }
    capture_cells[c] = cell;
    capture_lanes[c] = lanes;
}

/// Raises the ranks of the positions of word s in which a capture is possible.
fn by_capture(side: u32, c: u32, squares: u32, valid: vec2<u32>, s: u32, best: ptr<function, Ranks>) {
    var lanes = valid & capture_lanes[c];
    if !not_empty(lanes) {
        return;
    }
    let attacker = sides[side].captures[c].attacker;
    let victim = sides[side].captures[c].victim;
    let second = max(attacker, victim);
    let by_or_of_word = attacker == WORD_PIECE || victim == WORD_PIECE;
    var cell = capture_cells[c];
    if !by_or_of_word {
        cell = with_piece(side, c, cell, WORD_PIECE, s);
    } else if second == LANE_PIECE {
        lanes = unblocked_by_first(side, squares, s, lanes & sides[side].captures[c].hits[s]);
        if attacker == LANE_PIECE {
            cell = with_piece(side, c, cell, LANE_PIECE, s);
        }
    } else {
        let square = square_of(squares, min(attacker, victim));
        let water = crossed(square, s);
        lanes &= unblocked(side, water);
        if !contains(sides[side].captures[c].hits[square], s) || is_blocked(side, squares, water) {
            return;
        }
        cell = with_piece(side, c, cell, attacker, select(square, s, victim == WORD_PIECE));
    }
    if !not_empty(lanes) {
        return;
    }
    var ranks = Ranks();
    if attacker == LANE_PIECE {
        add_cell(side, c, cell_number(cell), lanes, &ranks);
    } else if victim == LANE_PIECE {
        add_each(side, c, cell, attacker, lanes, &ranks);
    } else if (sides[side].captures[c].flags & LANES_IN_ORDER) != 0u {
        add_lanes(side, c, cell, lanes, &ranks);
    } else {
        add_each(side, c, cell, LANE_PIECE, lanes, &ranks);
    }
    raise(&ranks, best);
}

/// Those of the lane piece's squares that a rat does not separate from a square, with a leap between them.
fn unblocked_by_first(side: u32, squares: u32, square: u32, lanes: vec2<u32>) -> vec2<u32> {
    var open = lanes;
    if (sides[side].flags & FIRST_BLOCKS) != 0u {
        for (var rest = lanes; not_empty(rest);) {
            let lane = lowest(rest);
            rest &= ~single(lane);
            if is_blocked(side, squares, crossed(square, lane)) {
                open &= ~single(lane);
            }
        }
    }
    return open;
}

/// Adds the rank of a cell for all of these lanes.
fn add_cell(side: u32, c: u32, cell: u32, lanes: vec2<u32>, ranks: ptr<function, Ranks>) {
    let bit = cell & 31u;
    let buffer = sides[side].captures[c].buffer;
    for (var q = 0u; q < PLANES / 4u; q++) {
        let planes = planes_at(buffer, cell / 32u * (PLANES / 4u) + q) >> vec4<u32>(bit, bit, bit, bit);
        (*ranks)[4u * q] |= lanes & splat(planes.x);
        (*ranks)[4u * q + 1u] |= lanes & splat(planes.y);
        (*ranks)[4u * q + 2u] |= lanes & splat(planes.z);
        (*ranks)[4u * q + 3u] |= lanes & splat(planes.w);
    }
}

/// Adds for each of these lanes the rank of the cell with a piece on its square.
fn add_each(side: u32, c: u32, cell: Cell, piece: u32, lanes: vec2<u32>, ranks: ptr<function, Ranks>) {
    for (var rest = lanes; not_empty(rest);) {
        let lane = lowest(rest);
        rest &= ~single(lane);
        add_cell(side, c, cell_number(with_piece(side, c, cell, piece, lane)), single(lane), ranks);
    }
}

/// Adds the ranks of the cells of all lanes, which follow each other in the smaller class in our order, or with files or
/// ranks turned.
fn add_lanes(side: u32, c: u32, cell: Cell, lanes: vec2<u32>, ranks: ptr<function, Ranks>) {
    let at = cell_number(cell) / 32u * (PLANES / 4u);
    let buffer = sides[side].captures[c].buffer;
    let swapped = (sides[side].captures[c].flags & RANKS_TURNED) != 0u;
    let reflected = cell.mirrored != swapped;
    for (var q = 0u; q < PLANES / 4u; q++) {
        let low = planes_at(buffer, at + q);
        let high = planes_at(buffer, at + PLANES / 4u + q);
        (*ranks)[4u * q] = lanes & turned(vec2<u32>(low.x, high.x), swapped, reflected);
        (*ranks)[4u * q + 1u] = lanes & turned(vec2<u32>(low.y, high.y), swapped, reflected);
        (*ranks)[4u * q + 2u] = lanes & turned(vec2<u32>(low.z, high.z), swapped, reflected);
        (*ranks)[4u * q + 3u] = lanes & turned(vec2<u32>(low.w, high.w), swapped, reflected);
    }
}

/// The squares on the board turned by half a turn, and then reflected in the d-file.
fn turned(word: vec2<u32>, by_half: bool, reflected: bool) -> vec2<u32> {
    var result = word;
    if by_half {
        result = down(vec2<u32>(reverseBits(word.y), reverseBits(word.x)), 1u);
    }
    if reflected {
        result = mirror_word(result);
    }
    return result;
}

/// Raises ranks to at least those in `ranks`.
fn raise(ranks: ptr<function, Ranks>, best: ptr<function, Ranks>) {
    var equal = FULL;
    var greater = EMPTY;
    for (var b = PLANES; b != 0u; b--) {
        greater |= equal & (*ranks)[b - 1u] & ~(*best)[b - 1u];
        equal &= ~((*ranks)[b - 1u] ^ (*best)[b - 1u]);
    }
    for (var b = 0u; b < PLANES; b++) {
        (*best)[b] ^= ((*best)[b] ^ (*ranks)[b]) & greater;
    }
}

/// Positions of a word whose conversions have the same rank, and the depth at which these conversions count.
struct RankSet {
    positions: vec2<u32>,
    depth: u32,
}

/// The rank set of the lowest of these positions of a word.
fn first_rank_set(positions: vec2<u32>, best: ptr<function, Ranks>) -> RankSet {
    let lane = lowest(positions);
    var same = positions;
    var rank = 0u;
    for (var b = 0u; b < PLANES; b++) {
        let bit = bits_from((*best)[b], lane) & 1u;
        same &= ~((*best)[b] ^ splat(bit));
        rank |= bit << b;
    }
    // The last depth stands for all depths that are too large to count.
    let depth = select(2u * rank, 2u * (MAX_RANK - rank) + 1u, rank > DRAW_RANK);
    return RankSet(same, min(depth, DEPTHS - 1u));
}

/// The rank set number k of word s; `positions` are those that belong to no rank set before it.
fn rank_set(k: u32, positions: vec2<u32>, s: u32, best: ptr<function, Ranks>) -> RankSet {
    if k < KEPT_SETS {
        return RankSet(kept_positions[64u * k + s], kept_depths[64u * k + s]);
    }
    return first_rank_set(positions, best);
}

/// Writes the row's conversions in the order of depths, unless the page is full: for each depth the next depth and the index of
/// its entries, the set of words, and the positions of each word.
fn write_conversions(decisive: vec2<u32>, row: u32, side: u32, s: u32, best: ptr<function, Ranks>) {
    var rest = decisive;
    for (var k = 0u; not_empty(rest); k++) {
        let same = first_rank_set(rest, best);
        rest &= ~same.positions;
        if k < KEPT_SETS {
            kept_positions[64u * k + s] = same.positions;
            kept_depths[64u * k + s] = same.depth;
        }
        atomicOr(&depth_bits[same.depth / 32u], 1u << (same.depth % 32u));
    }
    barrier();
    if s < DEPTH_WORDS {
        depth_set[s] = atomicLoad(&depth_bits[s]);
    }
    count_barriers(2u);
    let all = workgroupUniformLoad(&depth_set);
    var depths = 0u;
    var last = 0u;
    for (var i = 0u; i < DEPTH_WORDS; i++) {
        depths += countOneBits(all[i]);
        last = select(last, 32u * i + firstLeadingBit(all[i]), all[i] != 0u);
    }
    // 64 depths at a time, the last ones first, so that the place of the next depth is known.
    var next = vec2<u32>(NONE, 0u);
    for (var end = depths; end != 0u;) {
        let first = (end - 1u) / 64u * 64u;
        next = write_depths(decisive, first, end - first, next, s, best);
        end = first;
    }
    if s == 0u {
        touch(TOUCH_STATES, field(NEXT, row));
        touch(TOUCH_STATES, field(CURSOR, row));
        atomicStore(&state[field(NEXT, row)], next.x);
        atomicStore(&state[field(CURSOR, row)], next.y);
        let counter = params.counts + 2u * (side * KINDS + KIND_LAST);
        if last > atomicLoad(&state[counter]) {
            count_atomic(counter);
            atomicMax(&state[counter], last);
        }
    }
}

/// Writes the conversions of `count` of the row's depths from the `first` on, and returns the first of these depths and the index
/// of its entries; `next` is that of the depth after them.
fn write_depths(
    decisive: vec2<u32>,
    first: u32,
    count: u32,
    next: vec2<u32>,
    s: u32,
    best: ptr<function, Ranks>,
) -> vec2<u32> {
    atomicStore(&marked[s], 0u);
    atomicStore(&marked[64u + s], 0u);
    barrier();
    var rest = decisive;
    for (var k = 0u; not_empty(rest); k++) {
        let same = rank_set(k, rest, s, best);
        rest &= ~same.positions;
        let n = place_of(same.depth) - first;
        if n < count {
            atomicStore(&depth_at[n], same.depth);
            atomicOr(&marked[2u * n + s / 32u], 1u << (s % 32u));
        }
    }
    barrier();
    if s < count {
        // Two entries for each depth, and one for each word with conversions of the depth.
        var before = 2u * s;
        for (var n = 0u; n < s; n++) {
            before += count_of(words_of(n));
        }
        entries_at[s] = before;
        if s + 1u == count {
            first_entry = reserve(before + 2u + count_of(words_of(s)));
        }
    }
    barrier();
    let start = first_entry;
    if start != NONE {
        rest = decisive;
        for (var k = 0u; not_empty(rest); k++) {
            let same = rank_set(k, rest, s, best);
            rest &= ~same.positions;
            let n = place_of(same.depth) - first;
            if n < count {
                let at = start + entries_at[n] + 2u + count_of(words_of(n) & below(s));
                touch(TOUCH_ENTRIES, at);
                page[at] = same.positions;
            }
        }
        if s < count {
            let at = start + entries_at[s];
            touch(TOUCH_ENTRIES, at);
            touch(TOUCH_ENTRIES, at + 1u);
            var after = next;
            if s + 1u < count {
                after = vec2<u32>(atomicLoad(&depth_at[s + 1u]), start + entries_at[s + 1u]);
            }
            page[at] = after;
            page[at + 1u] = words_of(s);
        }
    }
    let result = select(vec2<u32>(NONE, 0u), vec2<u32>(atomicLoad(&depth_at[0]), start), start != NONE);
    barrier();
    return result;
}

/// The number of the row's depths with conversions below this one.
fn place_of(depth: u32) -> u32 {
    var place = countOneBits(depth_set[depth / 32u] & ((1u << (depth % 32u)) - 1u));
    for (var i = 0u; i < depth / 32u; i++) {
        place += countOneBits(depth_set[i]);
    }
    return place;
}

/// The words with conversions of the n-th of these depths.
fn words_of(n: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&marked[2u * n]), atomicLoad(&marked[2u * n + 1u]));
}

/// The index of the first of so many entries of the page; `NONE` if the page is full.
fn reserve(size: u32) -> u32 {
    count_atomic(USED + params.page);
    let before = atomicAdd(&state[USED + params.page], size);
    return select(NONE, params.entries + before, before + size <= params.entries_end - params.entries);
}
