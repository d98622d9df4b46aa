// A word as one 64-bit integer.

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
    return word != EMPTY;
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
