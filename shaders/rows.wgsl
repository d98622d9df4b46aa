#define_import_path dsq::rows

// Where a row stands, what is counted for it, and which rows are to be looked at.

#import dsq::words::{has, up, down, EMPTY, FULL}
#import dsq::buffers::{params, plan, work, code_bits}
#import dsq::shared::{
    MIRROR_A, MIRROR_B, MIRROR_C, MIRROR_D, MIRROR_E, MIRROR_F, MIRROR_G, GROUPS_X, RECORD_PAIR, RECORD_DEN, SIDE_OTHER,
    SIDE_OPPONENT, SIDE_FIRST_ROW, SIDE_NUMBER, SIDE_ROW_PIECES, SIDE_MIRRORED, SIDE_MOVES, SIDE_MARK_SLOTS, SIDE_MOVERS,
    SIDE_MARKS_ITSELF, SIDE_DEN_WORD, SIDE_DEN_LANE, MOVE_SLOTS, MOVE_MARKS, MOVE_MIRRORED, MOVE_DELTA_SHIFT, NONE,
}

/// Where a row stands: the squares of its row pieces, six bits each, then flags; and its side's block in the plan.
struct Record {
    squares: u32,
    side: u32,
}

fn record_of(row: u32) -> Record {
    let at = params.records + row * 2u;
    return Record(plan[at], plan[at + 1u]);
}

/// The number of a workgroup where there are more than one dimension takes.
fn group_number(group: vec3<u32>) -> u32 {
    return group.x + group.y * GROUPS_X;
}

fn square_of(record: Record, piece: u32) -> u32 {
    return (record.squares >> (piece * 6u)) & 63u;
}

fn plan_mask(at: u32) -> vec2<u32> {
    return vec2<u32>(plan[at], plan[at + 1u]);
}

/// Adds positions of a row to a counter of 64 bits: by plies, 0 for those without a move, the last for those left over.
fn add_count(record: Record, kind: u32, positions: u32) {
    let count = select(positions, 2u * positions, (record.squares & RECORD_PAIR) != 0u);
    let at = params.counts + ((plan[record.side + SIDE_NUMBER] << code_bits()) + kind) * 2u;
    let old = atomicAdd(&work[at], count);
    if old + count < old {
        atomicAdd(&work[at + 1u], 1u);
    }
}

/// A row where nothing is left to decide: no pass looks at it again.
fn finish_row(row: u32) {
    atomicStore(&work[params.stamps + row], NONE);
}

/// A row to look at in the pass `depth`, unless it is closed. A stamp is the last pass that the row was listed for.
fn mark(row: u32, depth: u32) {
    if atomicMax(&work[params.stamps + row], depth) < depth {
        let page = row / params.page_rows;
        let args = params.args + (depth * params.pages + page) * 4u;
        let n = atomicAdd(&work[args + 3u], 1u);
        // A workgroup for each row on the list: a full line of them along x, then as many lines as it takes.
        if n < GROUPS_X {
            atomicAdd(&work[args], 1u);
        }
        if n % GROUPS_X == 0u {
            atomicAdd(&work[args + 1u], 1u);
        }
        atomicStore(&work[params.worklist + (depth & 1u) * params.side_rows + page * params.page_rows + n], row);
    }
}

/// The row that a move of the first row piece over the d-file leads to, but for what that piece adds.
fn row_across(record: Record, side: u32) -> u32 {
    var row = plan[side + SIDE_FIRST_ROW];
    let table = plan[side + SIDE_MIRRORED];
    for (var p = 1u; p < plan[side + SIDE_ROW_PIECES]; p++) {
        row += plan[table + p * 64u + square_of(record, p)];
    }
    return row;
}

/// Something in a row changed in this pass: the rows from which a move leads here are looked at in the next. Invocation `i`
/// follows the i-th way back.
fn mark_around(row: u32, record: Record, i: u32) {
    let depth = params.depth + 1u;
    let there = row + plan[record.side + SIDE_OPPONENT];
    let side = plan[record.side + SIDE_OTHER];
    if i < plan[side + SIDE_MARK_SLOTS] {
        let mover = i / MOVE_SLOTS;
        let square = (record.squares >> plan[side + SIDE_MOVERS + mover]) & 63u;
        let entry = plan[plan[side + SIDE_MOVES] + (mover * 64u + square) * 8u + i % MOVE_SLOTS];
        if (entry & MOVE_MARKS) != 0u {
            var base = there;
            if (entry & MOVE_MIRRORED) != 0u {
                base = row_across(record, side);
            }
            mark(base + u32(i32(entry) >> MOVE_DELTA_SHIFT), depth);
        }
    } else if i == 63u && plan[side + SIDE_MARKS_ITSELF] != 0u {
        mark(there, depth);
    }
}

/// The square across the d-file.
fn mirror_square(square: u32) -> u32 {
    return square - square % 7u + 6u - square % 7u;
}

fn mirror_word(word: vec2<u32>) -> vec2<u32> {
    return (up(word, 6u) & MIRROR_G) | (up(word, 4u) & MIRROR_F) | (up(word, 2u) & MIRROR_E)
        | (word & MIRROR_D)
        | (down(word, 2u) & MIRROR_C) | (down(word, 4u) & MIRROR_B) | (down(word, 6u) & MIRROR_A);
}

/// The positions of a word whose mover enters the den at once, and some that are none.
fn den_of(record: Record, s: u32) -> vec2<u32> {
    let beside = (record.squares & RECORD_DEN) != 0u || has(plan_mask(record.side + SIDE_DEN_WORD), s);
    return select(plan_mask(record.side + SIDE_DEN_LANE), FULL, beside);
}
