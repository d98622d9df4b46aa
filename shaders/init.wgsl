// Initializes a row: the value of each position's best conversion (captures by the values of smaller classes, den entries),
// the row's conversions in the order of depths, and the positions without a move. `written` becomes *open* (all positions that
// are not won in one ply by a conversion), `seen` becomes *lost*, `escapes` the positions that cannot be lost yet and the cells
// without a position. A workgroup processes a row.
//
// Values are as in `conversions.rs`: 0 for no conversion, k for a loss in k plies, then a draw, 65535 - k for a win in k
// plies. Two positions share a u32.

/// The values of smaller classes.
@group(0) @binding(8) var<storage, read> table_a: array<u32>;
#ifdef TABLES
@group(0) @binding(9) var<storage, read> table_b: array<u32>;
@group(0) @binding(10) var<storage, read> table_c: array<u32>;
@group(0) @binding(11) var<storage, read> table_d: array<u32>;
#endif

/// The values of 64 words. A word takes 33 instead of 32 u32, which avoids bank conflicts in workgroup memory.
var<workgroup> values: array<u32, 2112>;
/// The depths of the row's conversions, a bit each.
var<workgroup> depth_bits: array<atomic<u32>, DEPTH_WORDS>;
var<workgroup> depth_set: array<u32, DEPTH_WORDS>;
/// Of 64 depths: each depth, the words with conversions of it, and the index of its entries.
var<workgroup> depth_at: array<atomic<u32>, 64>;
var<workgroup> marked: array<atomic<u32>, 128>;
var<workgroup> entries_at: array<u32, 64>;
/// The index of the first entry of these depths; `NONE` if the page is full.
var<workgroup> first_entry: u32;

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
    for (var j = 0u; j < 33u; j++) {
        values[s * 33u + j] = 0u;
    }
    if s < DEPTH_WORDS {
        atomicStore(&depth_bits[s], 0u);
    }
    if s < 2u {
        atomicStore(&sums[first_sum + s], 0u);
    }
    around[s] = valid;
    reset_longest(s);
    let row_den = enters_den(side, squares);
    barrier();
    if !row_den {
        by_lane_captures(side, squares, valid, s);
    }
    barrier();
    count_longest(s);
    if !row_den {
        by_other_captures(side, squares, taken, s % 32u, s / 32u);
    }
    let quiet = inner_moves(side, squares, valid, s) | row_moves(side, squares, taken, s);
    barrier();

    var den = valid & sides[side].dens[LANE_PIECE];
    if row_den || contains(sides[side].dens[WORD_PIECE], s) {
        den = valid;
    }
    let won = den | with_value(s, WIN_IN_ONE);
    let any = den | (valid & ~with_value(s, 0u));
    let stuck = valid & ~(any | quiet);
    let lost = stuck & splat(params.no_move_loses);
    let open = valid & ~won;
    write_conversions(open & any & ~with_value(s, ESCAPE), row, side, s);

    if in_play(s) {
        let word = word_of(row - params.written_first, s);
        touch(TOUCH_OWN_PLANE, word);
        touch(TOUCH_SEEN, word);
        touch(TOUCH_ESCAPES, word);
        written[word] = open;
        seen[word] = lost;
        escapes[word] = any | stuck | ~valid;
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
        mark_neighbours_due(row, neighbour, sides[side ^ 1u].flags, 2u, s);
    }
    if no_move != 0u && params.no_move_loses != 0u {
        mark_neighbours_due(row, neighbour, sides[side ^ 1u].flags, 1u, s);
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

fn with_piece(side: u32, c: u32, cell: Cell, piece: u32, square: u32) -> Cell {
    return Cell(
        cell.straight + sides[side].captures[c].offsets[0][piece][square],
        cell.across + sides[side].captures[c].offsets[1][piece][square],
        select(cell.mirrored, contains(sides[side].captures[c].mirror, square), piece == sides[side].captures[c].first),
    );
}

/// The cell of all pieces of two cells.
fn sum_of(a: Cell, b: Cell) -> Cell {
    return Cell(a.straight + b.straight, a.across + b.across, a.mirrored || b.mirrored);
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

/// The words of smaller classes with the values of captures that lead to two cells.
fn words_at(side: u32, c: u32, at: vec2<u32>) -> vec2<u32> {
    if sides[side].captures[c].buffer == NONE {
        return EMPTY;
    }
    touch(TOUCH_TABLES, at.x);
    touch(TOUCH_TABLES, at.y);
    let words = at >> select(vec2<u32>(2u, 2u), vec2<u32>(1u, 1u), params.wide != 0u);
#ifdef TABLES
    switch sides[side].captures[c].buffer {
        case 0u: { return vec2<u32>(table_a[words.x], table_a[words.y]); }
        case 1u: { return vec2<u32>(table_b[words.x], table_b[words.y]); }
        case 2u: { return vec2<u32>(table_c[words.x], table_c[words.y]); }
        default: { return vec2<u32>(table_d[words.x], table_d[words.y]); }
    }
#else
    return vec2<u32>(table_a[words.x], table_a[words.y]);
#endif
}

/// The values in these words.
fn values_in(side: u32, c: u32, words: vec2<u32>, at: vec2<u32>) -> vec2<u32> {
    if sides[side].captures[c].buffer == NONE {
        return vec2<u32>(WIN_IN_ONE, WIN_IN_ONE);
    }
    return vec2<u32>(value_in(words.x, at.x), value_in(words.y, at.y));
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
    var steps = 0u;
    for (var c = 0u; c < sides[side].other_captures; c++) {
        let attacker = sides[side].captures[c].attacker;
        let other = min(attacker, sides[side].captures[c].victim);
        let square = fixed_square(squares, s, other);
        var lanes = valid & sides[side].captures[c].hits[square];
        if !not_empty(lanes) {
            continue;
        }
        var cell = row_pieces_of(side, c, squares);
        if other != WORD_PIECE {
            cell = with_piece(side, c, cell, WORD_PIECE, s);
        }
        // Two lookups are in flight at a time; without a second position, both are the same.
        while not_empty(lanes) {
            steps++;
            let first = lowest(lanes);
            lanes &= ~single(first);
            let second = select(first, lowest(lanes), not_empty(lanes));
            lanes &= ~single(second);
            let from_first = cell_number(with_piece(side, c, cell, attacker, select(first, square, attacker == LANE_PIECE)));
            let from_second = cell_number(with_piece(side, c, cell, attacker, select(second, square, attacker == LANE_PIECE)));
            let cells = vec2<u32>(from_first, from_second);
            let found = values_in(side, c, words_at(side, c, cells), cells);
            raise(side, squares, s, square, first, found.x);
            raise(side, squares, s, square, second, found.y);
        }
    }
    note_longest(steps);
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
/// word. The lookups of four words are in flight at a time.
fn by_other_captures(side: u32, squares: u32, taken: vec2<u32>, pair: u32, half: u32) {
    let every_other = vec2<u32>(0x55555555u << half, 0x55555555u << half) & sides[side].words & ~taken;
    for (var c = sides[side].other_captures; c < sides[side].captures_end; c++) {
        let attacker = sides[side].captures[c].attacker;
        let victim = sides[side].captures[c].victim;
        let second = max(attacker, victim);
        var words = sides[side].captures[c].hits[square_of(squares, min(attacker, victim))];
        if second != WORD_PIECE {
            words = select(EMPTY, FULL, contains(words, square_of(squares, second)));
        }
        let fixed = row_pieces_of(side, c, squares);
        let low = with_piece(side, c, Cell(0u, 0u, false), LANE_PIECE, 2u * pair);
        let high = with_piece(side, c, Cell(0u, 0u, false), LANE_PIECE, 2u * pair + 1u);
        words &= every_other;
        while not_empty(words) {
            count_lookups(min(4u, count_of(words)));
            var word: array<u32, 4>;
            var bits = array<u32, 4>(0u, 0u, 0u, 0u);
            var cells: array<vec2<u32>, 4>;
            var found: array<vec2<u32>, 4>;
            for (var k = 0u; k < 4u && not_empty(words); k++) {
                let s = lowest(words);
                words &= ~single(s);
                var cell = fixed;
                if second != WORD_PIECE {
                    cell = with_piece(side, c, cell, WORD_PIECE, s);
                }
                let victim_square = fixed_square(squares, s, victim);
                cell = with_piece(side, c, cell, attacker, victim_square);
                let water = crossed(fixed_square(squares, s, attacker), victim_square);
                let lanes = valid_word(side, taken, s) & unblocked(side, water);
                word[k] = s;
                bits[k] = select(bits_from(lanes, 2u * pair) & 3u, 0u, is_blocked(side, squares, water));
                if bits[k] != 0u {
                    // Without one of the two positions, both lookups read the other's cell.
                    let of_low = cell_number(sum_of(cell, low));
                    let of_high = cell_number(sum_of(cell, high));
                    cells[k] = vec2<u32>(select(of_low, of_high, bits[k] == 2u), select(of_high, of_low, bits[k] == 1u));
                    found[k] = words_at(side, c, cells[k]);
                }
            }
            // Of fewer than four words the last bits are 0.
            for (var k = 0u; k < 4u; k++) {
                if bits[k] != 0u {
                    raise_pair(word[k], pair, bits[k], values_in(side, c, found[k], cells[k]));
                }
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

/// Writes the row's conversions in the order of depths, unless the page is full: for each depth the next depth and the index of
/// its entries, the set of words, and the positions of each word.
fn write_conversions(decisive: vec2<u32>, row: u32, side: u32, s: u32) {
    for (var rest = decisive; not_empty(rest);) {
        let value = value_of(s, lowest(rest));
        rest &= ~with_value(s, value);
        let depth = depth_of(value);
        atomicOr(&depth_bits[depth / 32u], 1u << (depth % 32u));
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
        next = write_depths(decisive, first, end - first, next, s);
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
fn write_depths(decisive: vec2<u32>, first: u32, count: u32, next: vec2<u32>, s: u32) -> vec2<u32> {
    atomicStore(&marked[s], 0u);
    atomicStore(&marked[64u + s], 0u);
    barrier();
    for (var rest = decisive; not_empty(rest);) {
        let value = value_of(s, lowest(rest));
        rest &= ~with_value(s, value);
        let n = rank_of(depth_of(value)) - first;
        if n < count {
            atomicStore(&depth_at[n], depth_of(value));
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
        for (var rest = decisive; not_empty(rest);) {
            let value = value_of(s, lowest(rest));
            let same = rest & with_value(s, value);
            rest &= ~same;
            let n = rank_of(depth_of(value)) - first;
            if n < count {
                let at = start + entries_at[n] + 2u + count_of(words_of(n) & below(s));
                touch(TOUCH_ENTRIES, at);
                page[at] = same;
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
fn rank_of(depth: u32) -> u32 {
    var rank = countOneBits(depth_set[depth / 32u] & ((1u << (depth % 32u)) - 1u));
    for (var i = 0u; i < depth / 32u; i++) {
        rank += countOneBits(depth_set[i]);
    }
    return rank;
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
