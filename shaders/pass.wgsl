// One pass, which finds wins or losses in `depth` plies: without a limit wins at an odd depth and losses at an even one. Workgroups
// share the rows of the list, of which each is visited once: a move leads from it to a row that the last pass changed, or a
// conversion has this depth. `written` is *open* for wins and *lost* for losses, `seen` is the opponent's *lost* or *open*.

/// For each list the number of workgroups in three dimensions and the number of rows; then the rows.
@group(0) @binding(8) var<storage, read> list: array<u32>;

/// By move of a row piece, four for each piece: twice the row that the move leads to, plus 1 if its positions are mirrored. And
/// the squares of the lane piece there with which the move is possible.
var<workgroup> neighbour_rows: array<u32, 16>;
var<workgroup> neighbour_lanes: array<vec2<u32>, 16>;
/// The moves whose rows the visit reads, a bit each. Two visits in turn use two elements, so that one is cleared while the other is
/// read.
var<workgroup> read_moves: array<atomic<u32>, 2>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) s: u32,
) {
    let end = list[4u * params.list + 3u];
    // Up to eight rows that follow each other, which are mostly of one side and so take one addition to its counter.
    let block = clamp(end / groups.x, 1u, 8u);
    if s < 2u {
        atomicStore(&read_moves[s], 0u);
    }
    barrier();
    var turn = 0u;
    for (var start = block * group.x; start < end; start += block * groups.x) {
        for (var i = start; i < min(start + block, end); i++) {
            visit(list[params.list_rows + i], s, turn);
            turn = 1u - turn;
        }
    }
    add_counted(params.decided);
    end_trace(s);
}

/// Visits an element of the list.
fn visit(listed: u32, s: u32, visit_turn: u32) {
    let row = listed & (CONVERTS - 1u);
    let wins = params.wins != 0u;
    let decides = params.mode == DECIDE;
    // A conversion wins without any quiet move, so a row that is visited only for one reads no other row.
    let looks = !decides && (!wins || (listed & LOOKS) != 0u);
    let converts = (listed & CONVERTS) != 0u;
    begin_trace(row);
    touch(TOUCH_RECORDS, record_of(row));
    let turn = turn_of(row);
    let squares = rows[record_of(row)];
    let side = side_of(row);
    let neighbour = neighbour_of(row, s);
    let playable = in_play(s);
    let word = word_of(row - params.written_first, s);
    var before = EMPTY;
    var kept = FULL;
    if playable {
        touch(TOUCH_OWN_PLANE, word);
        before = written[word];
        if !wins {
            touch(TOUCH_ESCAPES, word);
            kept = escapes[word];
        }
    }
    if s < 16u && looks && is_move_of(neighbour, turn) {
        let to_row = (1u - turn) * params.side_rows + neighbour / ROW;
        if changed(to_row, wins) {
            neighbour_rows[s] = 2u * (to_row - params.seen_first) + (neighbour & 1u);
            if (sides[side].flags & LANE_BLOCKS) != 0u {
                neighbour_lanes[s] = lanes_of(neighbour, squares, s / 4u);
            }
            atomicOr(&read_moves[visit_turn], 1u << s);
        }
    }
    var here = EMPTY;
    if looks && playable && (sides[side].flags & (WORD_MOVES | LANE_MOVES)) != 0u && changed(opposite(row), wins) {
        let at = word_of(opposite(row) - params.seen_first, s);
        touch(TOUCH_SEEN, at);
        here = seen[at];
    }
    set_around(s, here);
    var converted = EMPTY;
    var next = vec2<u32>(0u, 0u);
    if converts {
        touch(TOUCH_STATES, field(CURSOR, row));
        let cursor = atomicLoad(&state[field(CURSOR, row)]);
        touch(TOUCH_ENTRIES, cursor);
        touch(TOUCH_ENTRIES, cursor + 1u);
        next = page[cursor];
        let words = page[cursor + 1u];
        if contains(words, s) {
            touch(TOUCH_ENTRIES, cursor + 2u + count_of(words & below(s)));
            converted = page[cursor + 2u + count_of(words & below(s))];
        }
    }
    if s == 0u {
        atomicStore(&sums[visit_turn], 0u);
    }
    barrier();
    if s == 0u {
        atomicStore(&read_moves[1u - visit_turn], 0u);
    }
    let found = row_moves(side, atomicLoad(&read_moves[visit_turn]), s) | inner_moves(side, squares, here, s);
    var frontier = EMPTY;
    if decides {
        if playable {
            frontier = page[pending_at(row, s)];
        }
    } else if wins {
        frontier = (found | converted) & before;
    } else {
        kept &= ~converted;
        frontier = ~(found | before | kept);
        if not_empty(converted) {
            touch(TOUCH_WRITTEN_ESCAPES, word);
            escapes[word] = kept;
        }
    }
    add_up(visit_turn, count_of(frontier), s);
    barrier();
    // Two visits in turn use two sums, so that a sum is not used again before all invocations have read it.
    let count = atomicLoad(&sums[visit_turn]);
    if s == 0u && converts {
        touch(TOUCH_STATES, field(NEXT, row));
        atomicStore(&state[field(NEXT, row)], next.x);
        atomicStore(&state[field(CURSOR, row)], next.y);
    }
    if count != 0u && params.mode == FIND {
        if playable {
            page[pending_at(row, s)] = frontier;
        }
        if s == 0u {
            atomicStore(&state[field(PENDING, row)], params.depth);
        }
    } else if count != 0u {
        if not_empty(frontier) {
            touch(TOUCH_WRITTEN, word);
            written[word] = before ^ frontier;
            if params.keep != 0u {
                store_code(row - params.page_first, s, frontier, params.decided + CODE_OF_0_PLIES);
            }
        }
        if s == 0u {
            note_found(row, side, wins, count, weight_of(squares));
        }
        let due = select(DUE, DUE_OFF_BEAT, decides);
        mark_neighbours_due(row, neighbour, sides[side ^ 1u].flags, due, params.depth + 1u, s);
    }
}

/// Notes in the state of a row that the pass found positions in it, and counts them.
fn note_found(row: u32, side: u32, wins: bool, count: u32, weight: u32) {
    touch(TOUCH_STATES, field(UNDECIDED, row));
    let undecided = atomicLoad(&state[field(UNDECIDED, row)]) - count;
    atomicStore(&state[field(UNDECIDED, row)], undecided);
    if !wins {
        atomicStore(&state[field(LAST_LOST, row)], params.depth);
    }
    if undecided == 0u {
        finish_row(row);
    }
    count_positions(side, params.decided, count * weight);
}

/// Whether a pass reads the opponent's row. A new win moves to a position that was lost in the pass before; a move that
/// avoids a loss may lead to any row.
fn changed(row: u32, wins: bool) -> bool {
    if !wins {
        return true;
    }
    touch(TOUCH_STATES, field(LAST_LOST, row));
    return atomicLoad(&state[field(LAST_LOST, row)]) == params.depth - 1u;
}

/// The squares of the lane piece in a neighbour with which a move to it is possible.
fn lanes_of(neighbour: u32, squares: u32, piece: u32) -> vec2<u32> {
    if (neighbour & OVER_WATER) == 0u {
        return FULL;
    }
    let from_square = square_of(squares, piece);
    let by = select(3u, 28u, (neighbour & ALONG_FILE) != 0u);
    let water = crossed(from_square, select(from_square - by, from_square + by, (neighbour & FORWARD) != 0u));
    return ~select(water, mirror_word(water), (neighbour & 1u) != 0u);
}

/// The positions of word s from which one of these moves of the row pieces leads into the plane `seen`. Four loads are in flight at
/// a time.
fn row_moves(side: u32, moves: u32, s: u32) -> vec2<u32> {
    var left = select(0u, moves, in_play(s));
    let straight = word_of(0u, s);
    let across = word_of(0u, mirror_square(s));
    let blocks = (sides[side].flags & LANE_BLOCKS) != 0u;
    var found = EMPTY;
    var mirrored = EMPTY;
    while left != 0u {
        var words = array<vec2<u32>, 4>(EMPTY, EMPTY, EMPTY, EMPTY);
        var numbers = array<u32, 4>(0u, 0u, 0u, 0u);
        for (var k = 0u; k < 4u && left != 0u; k++) {
            let i = firstTrailingBit(left);
            left &= left - 1u;
            let place = neighbour_rows[i];
            let at = (place >> 1u) * params.row_words + select(straight, across, (place & 1u) != 0u);
            touch(TOUCH_SEEN, at);
            words[k] = seen[at];
            numbers[k] = i;
        }
        for (var k = 0u; k < 4u; k++) {
            let is_mirrored = splat(neighbour_rows[numbers[k]]);
            if blocks {
                words[k] &= neighbour_lanes[numbers[k]];
            }
            found |= words[k] & ~is_mirrored;
            mirrored |= words[k] & is_mirrored;
        }
    }
    return found | mirror_word(mirrored);
}
