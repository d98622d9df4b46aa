#define_import_path dsq::quiet

// Quiet moves of the word piece and of the lane piece for a whole row: invocation s processes word s.

#import dsq::tables

/// The words of the row with the opponent to move, with empty words before the first and after the last.
var<workgroup> around: array<vec2<u32>, 80>;

/// Stores word s in `around`. A barrier must follow before [`inner_moves`] reads it.
fn set_around(word: vec2<u32>, s: u32) {
    around[8u + s] = word;
    if s < 8u {
        around[s] = EMPTY;
        around[72u + s] = EMPTY;
    }
}

/// The positions of word s from which a move of the word piece or of the lane piece leads into `around`; `here` is word s of
/// `around`.
fn inner_moves(side: u32, squares: u32, here: vec2<u32>, s: u32) -> vec2<u32> {
    let flags = sides[side].flags;
    var found = EMPTY;
    if (flags & LANE_MOVES) != 0u {
        found |= down(here, 7u) | up(here, 7u) | (down(here, 1u) & NOT_G) | (up(here, 1u) & NOT_A);
        if (flags & LEAPS) != 0u {
            found |= (down(here, 28u) & sides[side].lane_leaps[0]) | (up(here, 28u) & sides[side].lane_leaps[1])
                | (down(here, 3u) & sides[side].lane_leaps[2]) | (up(here, 3u) & sides[side].lane_leaps[3]);
        }
    }
    if (flags & WORD_MOVES) != 0u {
        let at = 8u + s;
        found |= around[at + 7u] | around[at - 7u]
            | select(EMPTY, around[at + 1u], contains(NOT_G, s)) | select(EMPTY, around[at - 1u], contains(NOT_A, s));
        if (flags & LEAPS) != 0u {
            found |= word_leap(side, squares, 0u, s, s + 28u) | word_leap(side, squares, 1u, s, s - 28u)
                | word_leap(side, squares, 2u, s, s + 3u) | word_leap(side, squares, 3u, s, s - 3u);
        }
    }
    return found;
}

fn word_leap(side: u32, squares: u32, direction: u32, s: u32, to_square: u32) -> vec2<u32> {
    if !contains(sides[side].word_leaps[direction], s) {
        return EMPTY;
    }
    let water = crossed(s, to_square);
    return select(around[8u + to_square] & unblocked(side, water), EMPTY, is_blocked(side, squares, water));
}
