// Initializes a row: the value of each position's best conversion (captures by the values of smaller classes, den entries),
// the row's conversions in the order of depths, and the positions without a move. `written` becomes *open* (all positions),
// `seen` becomes *lost*, `escapes` the positions that cannot be lost yet and the cells without a position. A workgroup
// processes a row.
//
// Values are as in `conversions.rs`: 0 for no conversion, k for a loss in k plies, then a draw, 65535 - k for a win in k
// plies. Two positions share a u32. Captures by and of the lane piece are looked up word by word (invocation s processes
// word s). All other captures are the same for every square of the lane piece, so each invocation processes two
// neighbouring lanes and neighbouring invocations read neighbouring cells.

#import dsq::quiet
#import dsq::group

/// The values of 64 words. A word takes 33 instead of 32 u32, which avoids bank conflicts in workgroup memory.
var<workgroup> values: array<u32, 2112>;
/// By depth: the set of words with conversions, and the offset of the depth's entries among the row's entries.
var<workgroup> depth_words: array<array<atomic<u32>, 2>, DEPTHS>;
var<workgroup> offsets: array<u32, DEPTHS>;
var<workgroup> sizes: array<u32, 64>;

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
    for (var d = s; d < DEPTHS; d += 64u) {
        atomicStore(&depth_words[d][0], 0u);
        atomicStore(&depth_words[d][1], 0u);
    }
    set_around(valid, s);
    let row_den = enters_den(side, squares);
    if !row_den && not_empty(valid) {
        by_word(side, squares, s);
    }
    workgroupBarrier();
    if !row_den {
        by_lanes(side, squares, s % 32u, s / 32u);
    }
    let quiet = inner_moves(side, squares, valid, s) | row_moves(side, squares, taken, s);
    workgroupBarrier();

    var den = valid & sides[side].dens[LANE_PIECE];
    if row_den || contains(sides[side].dens[WORD_PIECE], s) {
        den = valid;
    }
    raise_lanes(s, den, WIN_IN_ONE);
    let any = valid & ~with_value(s, 0u);
    let stuck = valid & ~(any | quiet);
    let lost = stuck & splat(params.no_move_loses);
    let decisive = any & ~with_value(s, ESCAPE);
    note_words(decisive, s);
    workgroupBarrier();
    let base = place_entries(s, row);
    write_entries(decisive, base, s);

    if in_play(s) {
        let word = word_of(row, s);
        touch(TOUCH_OWN_PLANE, word);
        touch(TOUCH_SEEN, word);
        touch(TOUCH_ESCAPES, word);
        written[word] = valid;
        seen[word] = lost;
        escapes[word] = any | stuck | ~valid;
    }
    if KEEP && not_empty(stuck) {
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
        let square = target_of(side, squares, slot);
        if square != NONE && square != s && !contains(taken, square) {
            found |= unblocked(side, crossed(square_of(squares, slot / 4u), square)) & ~single(square);
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

/// The value of a capture that leads to `cell`.
fn value_at(c: u32, cell: Cell) -> u32 {
    if captures[c].buffer == NONE {
        return WIN_IN_ONE;
    }
    let at = select(cell.straight, cell.across, cell.mirrored);
    touch(TOUCH_TABLES, at);
    var code: u32;
    if WIDE {
        code = (table_word(captures[c].buffer, at >> 1u) >> ((at & 1u) << 4u)) & 0xffffu;
    } else {
        code = (table_word(captures[c].buffer, at >> 2u) >> ((at & 3u) << 3u)) & 0xffu;
    }
    if code == CODE_DRAW || (code == CODE_NO_MOVE && params.no_move_loses == 0u) {
        return ESCAPE;
    }
    return select((0x10000u - code) & 0xffffu, code - 1u, (code & 1u) != 0u);
}

/// The square of a row piece or the word piece.
fn fixed_square(squares: u32, s: u32, piece: u32) -> u32 {
    return select(square_of(squares, piece), s, piece == WORD_PIECE);
}

/// Captures by the lane piece, which moves to the victim's square, and captures of the lane piece on each of the few
/// squares that the attacker reaches.
fn by_word(side: u32, squares: u32, s: u32) {
    var c = sides[side].captures;
    for (var n = sides[side].by_lane; n > 0u; n--) {
        let victim_square = fixed_square(squares, s, captures[c].victim);
        let lanes = captures[c].hits[victim_square];
        if not_empty(lanes) {
            let cell = with_piece(c, row_pieces_of(c, side, squares), WORD_PIECE, s);
            raise_lanes(s, lanes, value_at(c, with_piece(c, cell, LANE_PIECE, victim_square)));
        }
        c++;
    }
    for (var n = sides[side].of_lane; n > 0u; n--) {
        let attacker = captures[c].attacker;
        let from_square = fixed_square(squares, s, attacker);
        var cell = row_pieces_of(c, side, squares);
        if attacker != WORD_PIECE {
            cell = with_piece(c, cell, WORD_PIECE, s);
        }
        for (var lanes = captures[c].hits[from_square]; not_empty(lanes); lanes &= ~single(lowest(lanes))) {
            let lane = lowest(lanes);
            if !is_blocked(side, squares, crossed(from_square, lane)) {
                raise_pair(s, lane / 2u, 1u << (lane & 1u), value_at(c, with_piece(c, cell, attacker, lane)));
            }
        }
        c++;
    }
}

/// All other captures, word by word and two lanes for each invocation. Each half of the workgroup processes every other word.
fn by_lanes(side: u32, squares: u32, pair: u32, half: u32) {
    var c = sides[side].captures + sides[side].by_lane + sides[side].of_lane;
    let every_other = vec2<u32>(0x55555555u << half, 0x55555555u << half) & sides[side].words;
    for (var n = sides[side].others; n > 0u; n--) {
        let attacker = captures[c].attacker;
        let victim = captures[c].victim;
        let fixed = row_pieces_of(c, side, squares);
        var words: vec2<u32>;
        if attacker == WORD_PIECE {
            // The squares from which the word piece takes.
            words = captures[c].hits[square_of(squares, victim)];
        } else {
            words = captures[c].hits[square_of(squares, attacker)];
            if victim != WORD_PIECE {
                words = select(EMPTY, FULL, contains(words, square_of(squares, victim)));
            }
        }
        for (words &= every_other; not_empty(words); words &= ~single(lowest(words))) {
            let s = lowest(words);
            let victim_square = fixed_square(squares, s, victim);
            let water = crossed(fixed_square(squares, s, attacker), victim_square);
            if is_blocked(side, squares, water) {
                continue;
            }
            var cell = with_piece(c, fixed, attacker, victim_square);
            if attacker != WORD_PIECE {
                cell = with_piece(c, cell, WORD_PIECE, s);
            }
            let lanes = bits_from(unblocked(side, water), 2u * pair) & 3u;
            let low = value_at(c, with_piece(c, cell, LANE_PIECE, 2u * pair));
            let high = value_at(c, with_piece(c, cell, LANE_PIECE, 2u * pair + 1u));
            raise_pair(s, pair, lanes & 1u, low);
            raise_pair(s, pair, lanes & 2u, high);
        }
        c++;
    }
}

/// Raises two positions of word s to at least `value`: the positions of the pair that are set in `bits`.
fn raise_pair(s: u32, pair: u32, bits: u32, value: u32) {
    let at = s * 33u + pair;
    let old = values[at];
    let low = select(old & 0xffffu, max(old & 0xffffu, value), (bits & 1u) != 0u);
    let high = select(old >> 16u, max(old >> 16u, value), (bits & 2u) != 0u);
    values[at] = low | (high << 16u);
}

fn raise_lanes(s: u32, lanes: vec2<u32>, value: u32) {
    for (var rest = lanes; not_empty(rest);) {
        let pair = lowest(rest) / 2u;
        raise_pair(s, pair, bits_from(rest, 2u * pair) & 3u, value);
        rest &= ~(single(2u * pair) | single(2u * pair + 1u));
    }
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

/// Records for each depth which words have conversions.
fn note_words(decisive: vec2<u32>, s: u32) {
    var rest = decisive;
    while not_empty(rest) {
        let value = value_of(s, lowest(rest));
        rest &= ~with_value(s, value);
        atomicOr(&depth_words[depth_of(value)][s / 32u], 1u << (s % 32u));
    }
}

fn words_of(depth: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&depth_words[depth][0]), atomicLoad(&depth_words[depth][1]));
}

/// The number of entries that the conversions of a depth take: the depth, the set of words, and the positions of each word.
fn size_of(words: vec2<u32>) -> u32 {
    return select(0u, 2u + count_of(words), not_empty(words));
}

/// Allocates the entries for the row's conversions and returns the first; `NONE` if the page is full. Invocation s processes
/// eight depths.
fn place_entries(s: u32, row: u32) -> u32 {
    var size = 0u;
    var first = NONE;
    var last = 0u;
    for (var d = 8u * s; d < 8u * s + 8u; d++) {
        let words = words_of(d);
        size += size_of(words);
        if not_empty(words) {
            first = min(first, d);
            last = d;
        }
    }
    sizes[s] = size;
    workgroupBarrier();
    var before = 0u;
    var all = 0u;
    for (var i = 0u; i < 64u; i++) {
        before += select(0u, sizes[i], i < s);
        all += sizes[i];
    }
    var base = 0u;
    if s == 0u {
        base = atomicAdd(&counters[2u + params.page], all + 1u);
        if all == 0u {
            own[row].next_conversion = NONE;
        }
    }
    base = group_broadcast(base, 0u, s);
    if base + all >= params.entries {
        return NONE;
    }
    var at = before;
    for (var d = 8u * s; d < 8u * s + 8u; d++) {
        let words = words_of(d);
        offsets[d] = at;
        if not_empty(words) {
            touch(TOUCH_ENTRIES, base + at);
            touch(TOUCH_ENTRIES, base + at + 1u);
            entries[base + at] = vec2<u32>(d, 0u);
            entries[base + at + 1u] = words;
        }
        at += size_of(words);
    }
    if size != 0u && before == 0u {
        own[row].next_conversion = first;
        own[row].cursor = base;
    }
    if size != 0u && before + size == all {
        let side = 2u * own[row].class_number + params.side;
        atomicMax(&counters[params.counts + 2u * (side * KINDS + KIND_LAST)], last);
    }
    if s == 63u {
        touch(TOUCH_ENTRIES, base + all);
        entries[base + all] = vec2<u32>(NONE, 0u);
    }
    workgroupBarrier();
    return base;
}

/// Writes the positions of each depth.
fn write_entries(decisive: vec2<u32>, base: u32, s: u32) {
    var rest = select(decisive, EMPTY, base == NONE);
    while not_empty(rest) {
        let value = value_of(s, lowest(rest));
        let same = with_value(s, value) & rest;
        rest &= ~same;
        let depth = depth_of(value);
        let at = base + offsets[depth] + 2u + count_of(words_of(depth) & below(s));
        touch(TOUCH_ENTRIES, at);
        entries[at] = same;
    }
}
