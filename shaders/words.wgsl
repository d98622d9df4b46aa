// Words of either kind, seen as sets of squares.

fn has(mask: Word, square: u32) -> bool {
    return ((select(low_of(mask), high_of(mask), square >= 32u) >> (square & 31u)) & 1u) != 0u;
}

fn lowest(mask: Word) -> u32 {
    let low = low_of(mask);
    return select(32u + firstTrailingBit(high_of(mask)), firstTrailingBit(low), low != 0u);
}

fn count_of(mask: Word) -> u32 {
    return countOneBits(low_of(mask)) + countOneBits(high_of(mask));
}

/// All ones if the lowest bit is set, nothing otherwise.
fn filled(bit: u32) -> Word {
    let half = 0u - (bit & 1u);
    return pair(half, half);
}
