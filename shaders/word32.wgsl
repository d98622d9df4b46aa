// A word as two 32-bit integers, the low half first: for adapters without 64-bit integers.

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
