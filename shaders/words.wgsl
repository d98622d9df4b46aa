#define_import_path dsq::words

// A word: a set of squares, bit s for square s. One 64-bit integer where the adapter has them, else two of 32 bits, the low
// half first. A file that works on words names the type in its first lines.

#ifdef INT64
alias Word = u64;
const EMPTY = 0lu;
const FULL = 0xfffffffffffffffflu;

fn pair(low: u32, high: u32) -> Word {
    return u64(low) | (u64(high) << 32u);
}

fn low_of(word: Word) -> u32 {
    return u32(word & 0xfffffffflu);
}

fn high_of(word: Word) -> u32 {
    return u32(word >> 32u);
}

fn any_of(word: Word) -> bool {
    return word != 0lu;
}

/// Shifts by 1 to 31.
fn up(word: Word, by: u32) -> Word {
    return word << by;
}

fn down(word: Word, by: u32) -> Word {
    return word >> by;
}

fn single(square: u32) -> Word {
    return 1lu << square;
}
#else
alias Word = vec2<u32>;
const EMPTY = vec2<u32>(0u, 0u);
const FULL = vec2<u32>(0xffffffffu, 0xffffffffu);

fn pair(low: u32, high: u32) -> Word {
    return vec2<u32>(low, high);
}

fn low_of(word: Word) -> u32 {
    return word.x;
}

fn high_of(word: Word) -> u32 {
    return word.y;
}

fn any_of(word: Word) -> bool {
    return (word.x | word.y) != 0u;
}

/// Shifts by 1 to 31.
fn up(word: Word, by: u32) -> Word {
    return vec2<u32>(word.x << by, (word.y << by) | (word.x >> (32u - by)));
}

fn down(word: Word, by: u32) -> Word {
    return vec2<u32>((word.x >> by) | (word.y << (32u - by)), word.y >> by);
}

fn single(square: u32) -> Word {
    let one = 1u << (square & 31u);
    return select(vec2<u32>(one, 0u), vec2<u32>(0u, one), square >= 32u);
}
#endif

fn word_of(halves: vec2<u32>) -> Word {
    return pair(halves.x, halves.y);
}

fn has(word: Word, square: u32) -> bool {
    return (bits_from(word, square) & 1u) != 0u;
}

/// The bits from a square up to the end of its half, the first lowest.
fn bits_from(word: Word, square: u32) -> u32 {
    return select(low_of(word), high_of(word), square >= 32u) >> (square & 31u);
}

/// The lowest square; there must be one.
fn lowest(word: Word) -> u32 {
    let low = low_of(word);
    return select(32u + firstTrailingBit(high_of(word)), firstTrailingBit(low), low != 0u);
}

fn count_of(word: Word) -> u32 {
    return countOneBits(low_of(word)) + countOneBits(high_of(word));
}

/// The squares below one.
fn below(square: u32) -> Word {
    let part = (1u << (square & 31u)) - 1u;
    return select(pair(part, 0u), pair(0xffffffffu, part), square >= 32u);
}

/// All ones if the lowest bit is set, nothing otherwise.
fn filled(bit: u32) -> Word {
    let half = 0u - (bit & 1u);
    return pair(half, half);
}
