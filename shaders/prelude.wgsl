// Shared by all kernels. Constants in capitals that are not defined here are written by the program from its own.
//
// A word (64 positions) is two u32, the low half first. A *side row* is a row of one class for one side to move; side rows
// of all classes of a batch are numbered through. Work groups walk over side rows, the invocation is the word of the row.
// An invocation writes only its own words, and only to the plane that no one reads in that pass; the rest is atomic.

struct Params {
    /// The pass; 0 before the first.
    depth: u32,
    groups: u32,
    side_rows: u32,
    /// Where things are in `plan`.
    records: u32,
    sides: u32,
    crossed: u32,
    crossing: u32,
    worth: u32,
    /// The seeds of this depth.
    entries_from: u32,
    entries_to: u32,
    /// Whether a side without a move has lost.
    no_move_loses: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
/// What the program worked out: records, moves, captures.
@group(0) @binding(1) var<storage, read> plan: array<u32>;
/// The values of smaller classes, a byte a cell.
@group(0) @binding(2) var<storage, read> tables: array<u32>;
/// Three planes: positions not (yet) won (*open*), lost, and not lost before a seed says so (*held*).
@group(0) @binding(3) var<storage, read_write> planes: array<vec2<u32>>;
/// A byte a cell: at first the worth of its best capture, then its code.
@group(0) @binding(4) var<storage, read_write> cells: array<u32>;
/// Fixed counters first, then for each side row two stamps, a place in two lists, and the number of undecided positions.
@group(0) @binding(5) var<storage, read_write> work: array<atomic<u32>>;
/// Seeds by depth: word, and its positions.
@group(0) @binding(6) var<storage, read_write> entries: array<u32>;

const WIDTH = 64u;
/// u32 of `cells` that hold a word's codes.
const CELL_WORDS = 16u;
const NONE = 0xffffffffu;

struct Record {
    squares: u32,
    side: u32,
    sources: u32,
    marks: u32,
    end: u32,
}

fn record(row: u32) -> Record {
    let at = params.records + row * RECORD_WORDS;
    return Record(plan[at], plan[at + 1u], plan[at + 2u], plan[at + 3u], plan[at + 2u + RECORD_WORDS]);
}

fn weight(record: Record) -> u32 {
    return select(1u, 2u, (record.squares & RECORD_PAIR) != 0u);
}

fn plan_mask(at: u32) -> vec2<u32> {
    return vec2<u32>(plan[at], plan[at + 1u]);
}

fn any_of(mask: vec2<u32>) -> bool {
    return (mask.x | mask.y) != 0u;
}

fn single(square: u32) -> vec2<u32> {
    let one = 1u << (square & 31u);
    return select(vec2<u32>(one, 0u), vec2<u32>(0u, one), square >= 32u);
}

fn has(mask: vec2<u32>, square: u32) -> bool {
    return ((select(mask.x, mask.y, square >= 32u) >> (square & 31u)) & 1u) != 0u;
}

fn lowest(mask: vec2<u32>) -> u32 {
    return select(32u + firstTrailingBit(mask.y), firstTrailingBit(mask.x), mask.x != 0u);
}

fn without_lowest(mask: vec2<u32>) -> vec2<u32> {
    return select(vec2<u32>(0u, mask.y & (mask.y - 1u)), vec2<u32>(mask.x & (mask.x - 1u), mask.y), mask.x != 0u);
}

fn count_of(mask: vec2<u32>) -> u32 {
    return countOneBits(mask.x) + countOneBits(mask.y);
}

/// Shifts by 1 to 31.
fn up(mask: vec2<u32>, by: u32) -> vec2<u32> {
    return vec2<u32>(mask.x << by, (mask.y << by) | (mask.x >> (32u - by)));
}

fn down(mask: vec2<u32>, by: u32) -> vec2<u32> {
    return vec2<u32>((mask.x >> by) | (mask.y << (32u - by)), mask.y >> by);
}

/// Four bits as four bytes of ones.
fn spread(bits: u32) -> u32 {
    return ((bits * 0x00204081u) & 0x01010101u) * 255u;
}

/// Four bits of a word.
fn four(mask: vec2<u32>, i: u32) -> u32 {
    return (select(mask.x, mask.y, i >= 8u) >> ((i & 7u) * 4u)) & 15u;
}

/// Writes a code to the cells of a word.
fn store(word: u32, mask: vec2<u32>, code: u32) {
    let bytes = code * 0x01010101u;
    for (var i = 0u; i < CELL_WORDS; i++) {
        let bits = four(mask, i);
        if bits != 0u {
            let at = word * CELL_WORDS + i;
            let lanes = spread(bits);
            cells[at] = (cells[at] & ~lanes) | (bytes & lanes);
        }
    }
}

/// The lanes of a word whose cell holds this byte.
fn equal(word: u32, byte: u32) -> vec2<u32> {
    let wanted = byte * 0x01010101u;
    var halves = vec2<u32>(0u, 0u);
    for (var i = 0u; i < 8u; i++) {
        let differs = vec2<u32>(cells[word * CELL_WORDS + i], cells[word * CELL_WORDS + 8u + i])
            ^ vec2<u32>(wanted, wanted);
        let low = vec2<u32>(0x7f7f7f7fu, 0x7f7f7f7fu);
        // The top bit of each byte that is 0; the multiplication brings the four together.
        let zero = ~(((differs & low) + low) | differs | low);
        let bits = ((zero >> vec2<u32>(7u, 7u)) * 0x10204080u) >> vec2<u32>(28u, 28u);
        halves |= bits << vec2<u32>(4u * i, 4u * i);
    }
    return halves;
}

/// Where the number of undecided positions of a row is.
fn left_at(row: u32) -> u32 {
    return WORK_ROWS + 4u * params.side_rows + row;
}

/// A row to look at in the pass `depth`, if anything is left to decide there.
fn mark(row: u32, depth: u32) {
    if atomicLoad(&work[left_at(row)]) == 0u {
        return;
    }
    if atomicExchange(&work[WORK_ROWS + row], depth) != depth {
        let n = atomicAdd(&work[WORK_LIVE + depth], 1u);
        atomicStore(&work[WORK_ROWS + (2u + (depth & 1u)) * params.side_rows + n], row);
    }
}

/// Something in a row changed in this pass: the rows from which a move leads here are looked at in the next.
fn mark_around(row: u32, record: Record) {
    let stamp = params.depth + 1u;
    if atomicExchange(&work[WORK_ROWS + params.side_rows + row], stamp) != stamp {
        for (var i = record.marks; i < record.end; i++) {
            mark(plan[i], stamp);
        }
    }
}

fn add_count(side: u32, kind: u32, record: Record, mask: vec2<u32>) {
    atomicAdd(&work[WORK_COUNTS + side * COUNTS + kind], count_of(mask) * weight(record));
}

/// New wins or losses of this pass.
fn decide(row: u32, word: u32, record: Record, mask: vec2<u32>) {
    add_count(record.side, params.depth, record, mask);
    atomicSub(&work[left_at(row)], count_of(mask));
    store(word, mask, params.depth + CODE_OF_0_PLIES);
    mark_around(row, record);
}

/// Where the words of *lost* and *held* are; those of *open* come first.
fn lost_at(word: u32) -> u32 {
    return params.side_rows * WIDTH + word;
}

fn held_at(word: u32) -> u32 {
    return params.side_rows * (2u * WIDTH) + word;
}

/// Where the plane starts that the pass looks at: an odd one at what the opponent has lost, an even one at what it has not
/// won.
fn seen_at() -> u32 {
    return (params.depth & 1u) * params.side_rows * WIDTH;
}

fn mirror_word(word: vec2<u32>) -> vec2<u32> {
    return (up(word, 6u) & MIRROR_FILE_6) | (up(word, 4u) & MIRROR_FILE_5) | (up(word, 2u) & MIRROR_FILE_4)
        | (word & MIRROR_FILE_3)
        | (down(word, 2u) & MIRROR_FILE_2) | (down(word, 4u) & MIRROR_FILE_1) | (down(word, 6u) & MIRROR_FILE_0);
}

/// The positions of a word from which some quiet move leads to a position that the pass looks for.
fn quiet(row: u32, record: Record, s: u32) -> vec2<u32> {
    let side = params.sides + record.side * SIDE_WORDS;
    let flags = plan[side + SIDE_FLAGS];
    var found = vec2<u32>(0u, 0u);
    // The same squares of the row pieces with the opponent to move.
    let seen = seen_at();
    let here = seen + (row + plan[side + SIDE_OPPONENT]) * WIDTH;
    if (flags & FLAG_WORD) != 0u {
        if s + 7u < WIDTH {
            found |= planes[here + s + 7u];
        }
        if s >= 7u {
            found |= planes[here + s - 7u];
        }
        if has(NOT_G, s) {
            found |= planes[here + s + 1u];
        }
        if has(NOT_A, s) {
            found |= planes[here + s - 1u];
        }
        let leaps = plan[plan[side + SIDE_WORD_LEAPS] + s];
        for (var i = 0u; i < 32u; i += 16u) {
            let leap = leaps >> i;
            if (leap & LEAP_IS) != 0u {
                let crossed = plan_mask(params.crossed + 2u * ((leap >> 6u) & 31u));
                if (flags & FLAG_FIRST_BLOCKS) == 0u || !has(crossed, record.squares & 63u) {
                    let blocked = select(vec2<u32>(0u, 0u), crossed, (flags & FLAG_LANE_BLOCKS) != 0u);
                    found |= planes[here + (leap & 63u)] & ~blocked;
                }
            }
        }
    }
    if (flags & FLAG_LANE) != 0u {
        let word = planes[here + s];
        found |= down(word, 7u) | up(word, 7u) | (down(word, 1u) & NOT_G) | (up(word, 1u) & NOT_A);
        if (flags & FLAG_LANE_LEAPS) != 0u {
            found |= (down(word, 28u) & plan_mask(side + SIDE_LANE_UP)) | (up(word, 28u) & plan_mask(side + SIDE_LANE_DOWN))
                | (down(word, 3u) & plan_mask(side + SIDE_LANE_RIGHT)) | (up(word, 3u) & plan_mask(side + SIDE_LANE_LEFT));
        }
    }
    let mirrored_s = s - s % 7u + 6u - s % 7u;
    for (var i = record.sources; i < record.marks; i++) {
        let source = plan[i];
        let mirrored = (source & SOURCE_MIRRORED) != 0u;
        var word = planes[seen + (source & SOURCE_ROW) * WIDTH + select(s, mirrored_s, mirrored)];
        if mirrored {
            word = mirror_word(word);
        }
        let crossed = source >> SOURCE_CROSSED_SHIFT;
        if crossed != 0u {
            word &= ~plan_mask(params.crossed + 2u * crossed);
        }
        found |= word;
    }
    return found;
}
