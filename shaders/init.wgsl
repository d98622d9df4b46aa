// Initializes a row: the value of each position's best conversion (captures by the values of smaller classes, den entries),
// the row's conversions in the order of depths, and the positions without a move. `written` becomes *open* (all positions),
// `seen` becomes *lost*, `escapes` the positions that cannot be lost yet and the cells without a position. A workgroup
// processes a row.
//
// Values are as in `conversions.rs`: 0 for no conversion, k for a loss in k plies, then a draw, 65535 - k for a win in k
// plies. Two positions share a u32.

/// The values of 64 words. A word takes 33 instead of 32 u32, which avoids bank conflicts in workgroup memory.
var<workgroup> values: array<u32, 2112>;
/// The depths of the row's conversions, a bit each, and the words with conversions of one depth.
var<workgroup> depths: array<atomic<u32>, DEPTH_WORDS>;
var<workgroup> marked: array<atomic<u32>, 2>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) s: u32,
) {
    for (var local = group.x; local < params.rows; local += groups.x) {
        begin_trace(params.first_row + local);
        start(local, s);
    }
}

fn start(local: u32, s: u32) {
    let row = params.first_row + local;
    let squares = own[row].squares;
    let side = 2u * own[row].class_number + params.side;
    let taken = set_of(squares, sides[side].row_pieces);
    let valid = valid_word(side, taken, s);
    for (var j = 0u; j < 33u; j++) {
        values[s * 33u + j] = 0u;
    }
    if s < DEPTH_WORDS {
        atomicStore(&depths[s], 0u);
    }
    around[s] = valid;
    let row_den = enters_den(side, squares);
    workgroupBarrier();
    if !row_den {
        by_lane_captures(side, squares, valid, s);
    }
    workgroupBarrier();
    if !row_den {
        by_other_captures(side, squares, taken, s % 32u, s / 32u);
    }
    let quiet = inner_moves(side, squares, valid, s) | row_moves(side, squares, taken, s);
    workgroupBarrier();

    var den = valid & sides[side].dens[LANE_PIECE];
    if row_den || contains(sides[side].dens[WORD_PIECE], s) {
        den = valid;
    }
    for (var pair = 0u; not_empty(den) && pair < 32u; pair++) {
        raise_pair(s, pair, bits_from(den, 2u * pair) & 3u, vec2<u32>(WIN_IN_ONE, WIN_IN_ONE));
    }
    let any = valid & ~with_value(s, 0u);
    let stuck = valid & ~(any | quiet);
    let lost = stuck & splat(params.no_move_loses);
    let decisive = any & ~with_value(s, ESCAPE);
    write_conversions(decisive, row, side, s);

    if in_play(s) {
        let word = word_of(row, s);
        touch(TOUCH_OWN_PLANE, word);
        touch(TOUCH_SEEN, word);
        touch(TOUCH_ESCAPES, word);
        written[word] = valid;
        seen[word] = lost;
        escapes[word] = any | stuck | ~valid;
    }
    if params.keep != 0u && not_empty(stuck) {
        store_code(local, s, stuck, CODE_NO_MOVE);
    }
    let undecided = group_sum(count_of(valid & ~lost), s);
    let no_move = group_sum(count_of(stuck), s);
    if s == 0u {
        own[row].undecided = undecided;
        if undecided == 0u {
            finish_row(row);
        }
        if no_move != 0u {
            add_count(side, 0u, no_move * weight_of(squares));
        }
    }
    if no_move != 0u && params.no_move_loses != 0u {
        mark_neighbours_due(side, row, squares, 1u, s);
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

/// The positions of word s with a quiet move of a row piece, to an empty square.
fn row_moves(side: u32, squares: u32, taken: vec2<u32>, s: u32) -> vec2<u32> {
    var found = EMPTY;
    for (var slot = 0u; slot < 4u * sides[side].row_pieces; slot++) {
        let from_square = square_of(squares, slot / 4u);
        let square = target_of(side, squares, slot / 4u, from_square, slot % 4u);
        if square != NONE && square != s && !contains(taken, square) {
            found |= unblocked(side, crossed(from_square, square)) & ~single(square);
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

fn with_piece(c: u32, cell: Cell, piece: u32, square: u32) -> Cell {
    return Cell(
        cell.straight + captures[c].offsets[0][piece][square],
        cell.across + captures[c].offsets[1][piece][square],
        select(cell.mirrored, contains(captures[c].mirror, square), piece == captures[c].first),
    );
}

/// The cell of the row pieces except the attacker. The offsets of the victim are 0.
fn row_pieces_of(c: u32, side: u32, squares: u32) -> Cell {
    var cell = Cell(captures[c].cell, captures[c].cell, false);
    for (var p = 0u; p < sides[side].row_pieces; p++) {
        if p != captures[c].attacker {
            cell = with_piece(c, cell, p, square_of(squares, p));
        }
    }
    return cell;
}

/// The cell that the pieces placed so far lead to.
fn cell_number(cell: Cell) -> u32 {
    return select(cell.straight, cell.across, cell.mirrored);
}

/// The values of captures that lead to two cells.
fn values_at(c: u32, at: vec2<u32>) -> vec2<u32> {
    if captures[c].buffer == NONE {
        return vec2<u32>(WIN_IN_ONE, WIN_IN_ONE);
    }
    touch(TOUCH_TABLES, at.x);
    touch(TOUCH_TABLES, at.y);
    let words = at >> select(vec2<u32>(2u, 2u), vec2<u32>(1u, 1u), params.wide != 0u);
    var found: vec2<u32>;
    switch captures[c].buffer {
        case 0u: { found = vec2<u32>(table_a[words.x], table_a[words.y]); }
        case 1u: { found = vec2<u32>(table_b[words.x], table_b[words.y]); }
        case 2u: { found = vec2<u32>(table_c[words.x], table_c[words.y]); }
        default: { found = vec2<u32>(table_d[words.x], table_d[words.y]); }
    }
    return vec2<u32>(value_in(found.x, at.x), value_in(found.y, at.y));
}

/// The value of a capture that leads to cell `at` in `word`.
fn value_in(word: u32, at: u32) -> u32 {
    let code = select((word >> ((at & 3u) << 3u)) & 0xffu, (word >> ((at & 1u) << 4u)) & 0xffffu, params.wide != 0u);
    if code == CODE_DRAW || (code == CODE_NO_MOVE && params.no_move_loses == 0u) {
        return ESCAPE;
    }
    return select((0x10000u - code) & 0xffffu, code - 1u, (code & 1u) != 0u);
}

/// The square of a row piece or the word piece.
fn fixed_square(squares: u32, s: u32, piece: u32) -> u32 {
    return select(square_of(squares, piece), s, piece == WORD_PIECE);
}

/// Raises the values of the positions of word s with captures by or of the lane piece. Few lanes of a word have such a
/// capture, so an invocation goes through those of its own word.
fn by_lane_captures(side: u32, squares: u32, valid: vec2<u32>, s: u32) {
    for (var c = sides[side].captures; c < sides[side].other_captures; c++) {
        let attacker = captures[c].attacker;
        let other = min(attacker, captures[c].victim);
        let square = fixed_square(squares, s, other);
        var lanes = valid & captures[c].hits[square];
        if !not_empty(lanes) {
            continue;
        }
        var cell = row_pieces_of(c, side, squares);
        if other != WORD_PIECE {
            cell = with_piece(c, cell, WORD_PIECE, s);
        }
        // Two lookups are in flight at a time; without a second position, both are the same.
        while not_empty(lanes) {
            let first = lowest(lanes);
            lanes &= ~single(first);
            let second = select(first, lowest(lanes), not_empty(lanes));
            lanes &= ~single(second);
            let from_first = cell_number(with_piece(c, cell, attacker, select(first, square, attacker == LANE_PIECE)));
            let from_second = cell_number(with_piece(c, cell, attacker, select(second, square, attacker == LANE_PIECE)));
            let found = values_at(c, vec2<u32>(from_first, from_second));
            raise(side, squares, s, square, first, found.x);
            raise(side, squares, s, square, second, found.y);
        }
    }
}

/// Raises a position of word s to at least a value, unless a rat blocks the leap between the square and the lane.
fn raise(side: u32, squares: u32, s: u32, square: u32, lane: u32, value: u32) {
    if !is_blocked(side, squares, crossed(square, lane)) && value > value_of(s, lane) {
        let at = s * 33u + lane / 2u;
        values[at] = insertBits(values[at], value, 16u * (lane & 1u), 16u);
    }
}

/// Raises the values of positions with captures by and of other pieces, word by word and two neighbouring lanes for each
/// invocation, so neighbouring invocations mostly read neighbouring cells. Each half of the workgroup processes every other
/// word.
fn by_other_captures(side: u32, squares: u32, taken: vec2<u32>, pair: u32, half: u32) {
    let every_other = vec2<u32>(0x55555555u << half, 0x55555555u << half) & sides[side].words & ~taken;
    for (var c = sides[side].other_captures; c < sides[side].captures_end; c++) {
        let attacker = captures[c].attacker;
        let victim = captures[c].victim;
        let second = max(attacker, victim);
        var words = captures[c].hits[square_of(squares, min(attacker, victim))];
        if second != WORD_PIECE {
            words = select(EMPTY, FULL, contains(words, square_of(squares, second)));
        }
        let fixed = row_pieces_of(c, side, squares);
        for (words &= every_other; not_empty(words); words &= ~single(lowest(words))) {
            let s = lowest(words);
            var cell = fixed;
            if second != WORD_PIECE {
                cell = with_piece(c, cell, WORD_PIECE, s);
            }
            let victim_square = fixed_square(squares, s, victim);
            cell = with_piece(c, cell, attacker, victim_square);
            let water = crossed(fixed_square(squares, s, attacker), victim_square);
            let lanes = valid_word(side, taken, s) & unblocked(side, water);
            let bits = select(bits_from(lanes, 2u * pair) & 3u, 0u, is_blocked(side, squares, water));
            if bits != 0u {
                // Without one of the two positions, both lookups read the other's cell.
                let low = 2u * pair + u32((bits & 1u) == 0u);
                let high = 2u * pair + u32((bits & 2u) != 0u);
                let low_cell = cell_number(with_piece(c, cell, LANE_PIECE, low));
                let high_cell = cell_number(with_piece(c, cell, LANE_PIECE, high));
                raise_pair(s, pair, bits, values_at(c, vec2<u32>(low_cell, high_cell)));
            }
        }
    }
}

/// Raises two positions of word s to at least their values in `value`: the positions of the pair that are set in `bits`.
fn raise_pair(s: u32, pair: u32, bits: u32, value: vec2<u32>) {
    let at = s * 33u + pair;
    let old = vec2<u32>(values[at] & 0xffffu, values[at] >> 16u);
    let raised = select(old, max(old, value), vec2<bool>((bits & 1u) != 0u, (bits & 2u) != 0u));
    values[at] = raised.x | (raised.y << 16u);
}

/// The positions of word s with this value.
fn with_value(s: u32, value: u32) -> vec2<u32> {
    var same = EMPTY;
    for (var j = 0u; j < 16u; j++) {
        same.x |= pair_with(values[s * 33u + j], value) << (2u * j);
        same.y |= pair_with(values[s * 33u + 16u + j], value) << (2u * j);
    }
    return same;
}

fn pair_with(pair: u32, value: u32) -> u32 {
    return u32((pair & 0xffffu) == value) | (u32((pair >> 16u) == value) << 1u);
}

fn value_of(s: u32, lane: u32) -> u32 {
    return (values[s * 33u + lane / 2u] >> (16u * (lane & 1u))) & 0xffffu;
}

/// The depth at which a conversion of this value counts. The last depth stands for all depths that are too large to count.
fn depth_of(value: u32) -> u32 {
    return min(select(value, 0xffffu - value, value > ESCAPE), DEPTHS - 1u);
}

/// Writes the row's conversions in the order of depths, unless the page is full.
fn write_conversions(decisive: vec2<u32>, row: u32, side: u32, s: u32) {
    // Two entries for each depth, and one for each word with conversions of a depth.
    var size = 0u;
    for (var rest = decisive; not_empty(rest); size++) {
        let value = value_of(s, lowest(rest));
        let depth = depth_of(value);
        rest &= ~with_value(s, value);
        atomicOr(&depths[depth / 32u], 1u << (depth % 32u));
    }
    workgroupBarrier();
    if s < DEPTH_WORDS {
        size += 2u * countOneBits(atomicLoad(&depths[s]));
    }
    size = group_sum(size, s);
    var at = 0u;
    if s == 0u && size != 0u {
        at = atomicAdd(&counters[2u + params.page], size);
    }
    at = group_broadcast(at, 0u, s);
    if at + size > params.entries {
        return;
    }
    var before = NONE;
    var last = 0u;
    for (var i = 0u; i < DEPTH_WORDS; i++) {
        for (var left = group_broadcast(atomicLoad(&depths[i]), 0u, s); left != 0u; left &= left - 1u) {
            last = 32u * i + firstTrailingBit(left);
            if s < 2u {
                atomicStore(&marked[s], 0u);
            }
            workgroupBarrier();
            // An odd depth wins, an even depth loses.
            let same = decisive & with_value(s, select(last, 0xffffu - last, (last & 1u) != 0u));
            if not_empty(same) {
                atomicOr(&marked[s / 32u], 1u << (s % 32u));
            }
            workgroupBarrier();
            let words = vec2<u32>(atomicLoad(&marked[0]), atomicLoad(&marked[1]));
            if not_empty(same) {
                touch(TOUCH_ENTRIES, at + 2u + count_of(words & below(s)));
                entries[at + 2u + count_of(words & below(s))] = same;
            }
            if s == 0u {
                link(row, before, last, at);
                touch(TOUCH_ENTRIES, at + 1u);
                entries[at + 1u] = words;
            }
            before = at;
            at += 2u + count_of(words);
            workgroupBarrier();
        }
    }
    if s == 0u {
        link(row, before, NONE, 0u);
        atomicMax(&counters[params.counts + 2u * (side * KINDS + KIND_LAST)], last);
    }
}

/// Stores the next depth with conversions and the place of its entries: in the first entry of the depth before, or in the
/// state of the row.
fn link(row: u32, before: u32, depth: u32, at: u32) {
    if before == NONE {
        own[row].next_conversion = depth;
        own[row].cursor = at;
    } else {
        touch(TOUCH_ENTRIES, before);
        entries[before] = vec2<u32>(depth, at);
    }
}
