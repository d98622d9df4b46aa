// Shared by all kernels. What is in capitals and not defined here is written by the program from its own constants, as are
// the bindings: `plan`, `work`, `written`, `gate`, `codes`, `entries`, `hits`, and the functions `seen_word` and `worth_at`
// over the pages of the plane that is only read and of the tables.
//
// A word is 64 positions. A *side row* is a row of one class for one side to move; side rows of all classes of a batch are
// numbered through and divided into pages. A kernel works on the rows of one page and writes only there; it reads all.
//
// Mesa's software driver runs both sides of a branch, and the body of a loop once more than needed unless it is left at its
// end: so loops end in `continuing`, and what needs long work in few places is a kernel of its own.

struct Params {
    /// The pass; 0 before the first.
    depth: u32,
    /// Which list of rows this is for.
    list: u32,
    /// The page's first side row, and how many it has.
    first_row: u32,
    rows: u32,
    side_rows: u32,
    /// Side rows of a page of this kind, and of a buffer of the plane that is read.
    page_rows: u32,
    seen_rows: u32,
    /// Where things are in `plan`.
    records: u32,
    crossed: u32,
    /// Where things are in `work`.
    lists: u32,
    args: u32,
    live: u32,
    stamps: u32,
    left: u32,
    counts: u32,
    histogram: u32,
    cursors: u32,
    /// Lists of rows in a pass.
    list_count: u32,
    /// The seeds of this depth in this page.
    entries_from: u32,
    entries_to: u32,
    /// Whether a side without a move has lost.
    no_move_loses: u32,
}

const WIDTH = 64u;

/// Where a row stands: the squares of its row pieces, six bits each, then flags; and its side's block in the plan.
struct Record {
    squares: u32,
    side: u32,
}

fn record(row: u32) -> Record {
    let at = params.records + row * 2u;
    return Record(plan[at], plan[at + 1u]);
}

fn square_of(record: Record, piece: u32) -> u32 {
    return (record.squares >> (piece * 6u)) & 63u;
}

fn weight(record: Record) -> u32 {
    return select(1u, 2u, (record.squares & RECORD_PAIR) != 0u);
}

fn plan_mask(at: u32) -> Word {
    return pair(plan[at], plan[at + 1u]);
}

/// A counter of 64 bits.
fn add_count(side: u32, kind: u32, count: u32) {
    let at = params.counts + (plan[side + SIDE_NUMBER] * COUNTS + kind) * 2u;
    let old = atomicAdd(&work[at], count);
    if old + count < old {
        atomicAdd(&work[at + 1u], 1u);
    }
}

/// A row to look at in the pass `depth`, if anything is left to decide there.
fn mark(row: u32, depth: u32) {
    if atomicLoad(&work[params.left + row]) == 0u || atomicLoad(&work[params.stamps + row]) == depth {
        return;
    }
    if atomicExchange(&work[params.stamps + row], depth) != depth {
        let kind = (plan[params.records + row * 2u] >> RECORD_KIND_SHIFT) & RECORD_KIND_MASK;
        let list = row / params.page_rows * KINDS + kind;
        let args = params.args + (depth * params.list_count + list) * 4u;
        let n = atomicAdd(&work[args + 3u], 1u);
        if n % GROUP == 0u {
            atomicAdd(&work[args], 1u);
        }
        atomicStore(&work[params.live + (depth & 1u) * params.side_rows + plan[params.lists + list] + n], row);
    }
}

/// What a move over the d-file adds to the number of the row that it is looked up in, but for the first piece.
fn mirrored_rest(record: Record, side: u32) -> u32 {
    var sum = 0u;
    let table = plan[side + SIDE_MIRRORED];
    for (var p = 1u; p < plan[side + SIDE_ROW_PIECES]; p++) {
        sum += plan[table + p * WIDTH + square_of(record, p)];
    }
    return sum;
}

/// Something in a row changed in this pass: the rows from which a move leads here are looked at in the next.
fn mark_around(row: u32, record: Record) {
    let depth = params.depth + 1u;
    let there = row + plan[record.side + SIDE_OPPONENT];
    let side = plan[record.side + SIDE_OTHER];
    if plan[side + SIDE_MARKS_ITSELF] != 0u {
        mark(there, depth);
    }
    let slots = plan[side + SIDE_MARK_SLOTS];
    var i = 0u;
    loop {
        let mover = i / MOVE_SLOTS;
        let square = (record.squares >> plan[side + SIDE_MOVERS + mover]) & 63u;
        // A side without row pieces has no moves there.
        let entry = plan[plan[side + SIDE_MOVES] + (mover * WIDTH + square) * 8u + i % MOVE_SLOTS];
        if (entry & MOVE_MARKS) != 0u {
            var base = there;
            if (entry & MOVE_MIRRORED) != 0u {
                base = plan[side + SIDE_FIRST_ROW] + mirrored_rest(record, side);
            }
            mark(base + u32(i32(entry) >> MOVE_DELTA_SHIFT), depth);
        }
        continuing {
            i++;
            break if i >= slots;
        }
    }
}

fn mirror_word(word: Word) -> Word {
    return (up(word, 6u) & MIRROR_FILE_6) | (up(word, 4u) & MIRROR_FILE_5) | (up(word, 2u) & MIRROR_FILE_4)
        | (word & MIRROR_FILE_3)
        | (down(word, 2u) & MIRROR_FILE_2) | (down(word, 4u) & MIRROR_FILE_1) | (down(word, 6u) & MIRROR_FILE_0);
}

/// The positions of a word whose mover enters the den at once, and some that are none.
fn den_of(record: Record, side: u32, s: u32) -> Word {
    let beside = (record.squares & RECORD_DEN) != 0u || has(plan_mask(side + SIDE_DEN_WORD), s);
    return select(plan_mask(side + SIDE_DEN_LANE), FULL, beside);
}
