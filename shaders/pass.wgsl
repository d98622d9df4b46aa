// One pass, which finds wins at an odd depth and losses at an even depth. Workgroups scan the rows of a page, 16 at a time,
// and visit the rows that are due: a move leads to a row that the last pass changed, or a conversion has this depth.
// `written` is *open* at an odd depth and *lost* at an even depth, `seen` is the opponent's *lost* or *open*.

/// A row that a move from the visited row leads to.
struct NeighbourRow {
    /// Twice the row, plus 1 if its positions are mirrored.
    place: u32,
    lanes: vec2<u32>,
}

var<workgroup> neighbour_rows: array<NeighbourRow, 16>;
var<workgroup> neighbour_count: atomic<u32>;
var<workgroup> due_rows: atomic<u32>;

/// The positions that a workgroup has counted but not yet added to the counters of a side. Only the first invocation counts.
var<private> counted_side: u32;
var<private> counted: u32;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) s: u32,
) {
    let chunks = (params.rows + 15u) / 16u;
    var visits = 0u;
    for (var chunk = group.x; chunk < chunks; chunk += groups.x) {
        if s == 0u {
            atomicStore(&due_rows, 0u);
        }
        workgroupBarrier();
        let row = params.first_row + chunk * 16u + s;
        if s < 16u && chunk * 16u + s < params.rows {
            if atomicLoad(&own[row].due_in_pass[params.depth & 1u]) == params.depth || own[row].next_conversion == params.depth {
                atomicOr(&due_rows, 1u << s);
            }
        }
        workgroupBarrier();
        var due = group_broadcast(atomicLoad(&due_rows), 0u, s);
        while due != 0u {
            visit(params.first_row + chunk * 16u + firstTrailingBit(due), s);
            due &= due - 1u;
            visits++;
        }
    }
    if s == 0u {
        if counted != 0u {
            add_count(counted_side, params.depth, counted);
        }
        let old = atomicAdd(&counters[0], visits);
        if old + visits < old {
            atomicAdd(&counters[1], 1u);
        }
    }
}

fn visit(row: u32, s: u32) {
    begin_trace(row);
    let squares = own[row].squares;
    let side = 2u * own[row].class_number + params.side;
    let cursor = own[row].cursor;
    let odd = (params.depth & 1u) != 0u;
    let converts = own[row].next_conversion == params.depth;
    // At an odd depth a conversion wins without any quiet move, so a row that is visited only for one reads no other row.
    let looks = !odd || atomicLoad(&own[row].due_in_pass[1]) == params.depth;
    if s == 0u {
        atomicStore(&neighbour_count, 0u);
    }
    workgroupBarrier();
    if looks && s < 16u {
        let there = neighbour(side, squares, s);
        if there.row != NONE && changed(there.row, odd) {
            neighbour_rows[atomicAdd(&neighbour_count, 1u)] = NeighbourRow(2u * there.row + u32(there.mirrored), there.lanes);
        }
    }
    let playable = in_play(s);
    let word = word_of(row, s);
    var here = EMPTY;
    if looks && playable && (sides[side].flags & (WORD_MOVES | LANE_MOVES)) != 0u && changed(row, odd) {
        touch(TOUCH_SEEN, word);
        here = seen[word];
    }
    around[s] = here;
    var before = EMPTY;
    var kept = FULL;
    if playable {
        touch(TOUCH_OWN_PLANE, word);
        before = written[word];
        if !odd {
            touch(TOUCH_ESCAPES, word);
            kept = escapes[word];
        }
    }
    var converted = EMPTY;
    var next = vec2<u32>(0u, 0u);
    if converts {
        touch(TOUCH_ENTRIES, cursor);
        touch(TOUCH_ENTRIES, cursor + 1u);
        next = entries[cursor];
        let words = entries[cursor + 1u];
        if contains(words, s) {
            touch(TOUCH_ENTRIES, cursor + 2u + count_of(words & below(s)));
            converted = entries[cursor + 2u + count_of(words & below(s))];
        }
    }
    workgroupBarrier();
    var found = row_moves(row, s) | inner_moves(side, squares, here, s);
    var frontier = EMPTY;
    if odd {
        frontier = (found | converted) & before;
    } else {
        kept &= ~converted;
        frontier = ~(found | before | kept);
        if not_empty(converted) {
            touch(TOUCH_WRITTEN_ESCAPES, word);
            escapes[word] = kept;
        }
    }
    let count = group_sum(count_of(frontier), s);
    if s == 0u && converts {
        own[row].next_conversion = next.x;
        own[row].cursor = next.y;
    }
    if count == 0u {
        return;
    }
    if not_empty(frontier) {
        touch(TOUCH_WRITTEN, word);
        written[word] = before ^ frontier;
        if params.keep != 0u {
            store_code(row - params.first_row, s, frontier, params.depth + CODE_OF_0_PLIES);
        }
    }
    if s == 0u {
        let undecided = own[row].undecided - count;
        own[row].undecided = undecided;
        if !odd {
            own[row].last_lost_pass = params.depth;
        }
        if undecided == 0u {
            finish_row(row);
        }
        if side != counted_side && counted != 0u {
            add_count(counted_side, params.depth, counted);
            counted = 0u;
        }
        counted_side = side;
        counted += count * weight_of(squares);
    }
    mark_neighbours_due(side, row, squares, params.depth + 1u, s);
}

/// Whether a pass reads the opponent's row. A new win moves to a position that was lost in the pass before; a move that
/// avoids a loss may lead to any row.
fn changed(row: u32, odd: bool) -> bool {
    touch(TOUCH_ROWS, row);
    return !odd || opponent[row].last_lost_pass == params.depth - 1u;
}

/// The positions of word s from which a move of a row piece leads into the plane `seen`. Four loads are in flight at a time.
fn row_moves(row: u32, s: u32) -> vec2<u32> {
    let count = atomicLoad(&neighbour_count);
    var found = EMPTY;
    if !in_play(s) {
        return found;
    }
    let straight = word_of(0u, s);
    let across = word_of(0u, mirror_square(s));
    for (var i = 0u; i < count; i += 4u) {
        var words: array<vec2<u32>, 4>;
        for (var k = 0u; k < 4u; k++) {
            if i + k < count {
                let place = neighbour_rows[i + k].place;
                let at = (place >> 1u) * params.row_words + select(straight, across, (place & 1u) != 0u);
                touch(TOUCH_SEEN, at);
                words[k] = seen[at];
            }
        }
        for (var k = 0u; k < 4u; k++) {
            if i + k < count {
                let neighbour_row = neighbour_rows[i + k];
                found |= select(words[k], mirror_word(words[k]), (neighbour_row.place & 1u) != 0u) & neighbour_row.lanes;
            }
        }
    }
    return found;
}
