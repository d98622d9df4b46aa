// A word is a set of squares, bit s for square s, in two halves of 32 bits, the low half first. (A 64-bit integer is no
// faster: GPU registers have 32 bits, so each operation becomes two.)

const EMPTY = vec2<u32>(0u, 0u);
const FULL = vec2<u32>(0xffffffffu, 0xffffffffu);

fn not_empty(word: vec2<u32>) -> bool {
    return (word.x | word.y) != 0u;
}

/// Shifts to higher squares by 1 to 31.
fn up(word: vec2<u32>, by: u32) -> vec2<u32> {
    return vec2<u32>(word.x << by, (word.y << by) | (word.x >> (32u - by)));
}

fn down(word: vec2<u32>, by: u32) -> vec2<u32> {
    return vec2<u32>((word.x >> by) | (word.y << (32u - by)), word.y >> by);
}

fn single(square: u32) -> vec2<u32> {
    let one = 1u << (square & 31u);
    return select(vec2<u32>(one, 0u), vec2<u32>(0u, one), square >= 32u);
}

fn contains(word: vec2<u32>, square: u32) -> bool {
    return (bits_from(word, square) & 1u) != 0u;
}

/// The bits from a square up to the end of its half; the lowest bit is the square's.
fn bits_from(word: vec2<u32>, square: u32) -> u32 {
    return select(word.x, word.y, square >= 32u) >> (square & 31u);
}

/// The lowest square of a set that is not empty.
fn lowest(word: vec2<u32>) -> u32 {
    return select(32u + firstTrailingBit(word.y), firstTrailingBit(word.x), word.x != 0u);
}

fn count_of(word: vec2<u32>) -> u32 {
    return countOneBits(word.x) + countOneBits(word.y);
}

/// The squares below `square`.
fn below(square: u32) -> vec2<u32> {
    let part = (1u << (square & 31u)) - 1u;
    return select(vec2<u32>(part, 0u), vec2<u32>(0xffffffffu, part), square >= 32u);
}

/// All ones if the lowest bit is set, all zeros otherwise.
fn splat(bit: u32) -> vec2<u32> {
    let half = 0u - (bit & 1u);
    return vec2<u32>(half, half);
}

/// The square reflected in the d-file.
fn mirror_square(square: u32) -> u32 {
    return square - square % 7u + 6u - square % 7u;
}

fn mirror_word(word: vec2<u32>) -> vec2<u32> {
    return (up(word, 6u) & MIRROR_G) | (up(word, 4u) & MIRROR_F) | (up(word, 2u) & MIRROR_E)
        | (word & MIRROR_D)
        | (down(word, 2u) & MIRROR_C) | (down(word, 4u) & MIRROR_B) | (down(word, 6u) & MIRROR_A);
}

/// The water that a move leaps over.
fn crossed(a: u32, b: u32) -> vec2<u32> {
    let first = single(min(a, b));
    switch max(a, b) - min(a, b) {
        case 3u: { return up(first, 1u) | up(first, 2u); }
        case 28u: { return up(first, 7u) | up(first, 14u) | up(first, 21u); }
        default: { return EMPTY; }
    }
}
