// Quiet moves of the word piece and of the lane piece for a whole row: invocation s processes word s.

/// The words of the row with the opponent to move, then an empty word. A barrier must follow before [`inner_moves`] reads them.
var<workgroup> around: array<vec2<u32>, 65>;

/// Sets word s of `around`.
fn set_around(s: u32, word: vec2<u32>) {
    around[s] = word;
    if s == 0u {
        around[64] = EMPTY;
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
        if (flags & (LANE_BLOCKS | FIRST_BLOCKS)) == 0u {
            // No move is 255.
            let targets = sides[side].moves[WORD_PIECE][s];
            found |= around[min(targets & 255u, 64u)] | around[min((targets >> 8u) & 255u, 64u)]
                | around[min((targets >> 16u) & 255u, 64u)] | around[min(targets >> 24u, 64u)];
        } else {
            for (var k = 0u; k < 4u; k++) {
                let to_square = target_of(side, squares, WORD_PIECE, s, k);
                if to_square != NONE {
                    found |= around[to_square] & unblocked(side, crossed(s, to_square));
                }
            }
        }
    }
    return found;
}
