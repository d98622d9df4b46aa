#define_import_path dsq::quiet

// One quiet move ahead, for a whole row at once: invocation s has word s.

#import dsq::words::{has, single, filled, up, down, EMPTY}
#import dsq::buffers::{params, plan, seen_word}
#import dsq::rows::{Record, plan_mask, square_of, row_across, mirror_square, mirror_word}
#import dsq::shared::{
    NOT_A, NOT_G, FLAG_WORD_MOVES, FLAG_LANE_MOVES, FLAG_LEAPS, FLAG_FIRST_BLOCKS, SIDE_FLAGS, SIDE_OPPONENT, SIDE_OTHER,
    SIDE_WORD_UP, SIDE_WORD_DOWN, SIDE_WORD_RIGHT, SIDE_WORD_LEFT, SIDE_LANE_UP, SIDE_LANE_DOWN, SIDE_LANE_RIGHT,
    SIDE_LANE_LEFT, SIDE_MOVES, SIDE_MOVERS, SIDE_SLOTS, MOVE_IS, MOVE_MIRRORED, MOVE_CROSSED, MOVE_DELTA_SHIFT,
}

/// The same row with the opponent to move, for the word piece's moves; words before the first and after the last are empty.
var<workgroup> around: array<vec2<u32>, 80>;

/// The positions of a word from which some quiet move leads into the plane that is read.
fn reach(row: u32, record: Record, s: u32) -> vec2<u32> {
    let side = record.side;
    let flags = plan[side + SIDE_FLAGS];
    let there = row + plan[side + SIDE_OPPONENT];
    let here = seen_word(there, s);
    around[8u + s] = here;
    if s < 8u {
        around[s] = EMPTY;
        around[72u + s] = EMPTY;
    }
    workgroupBarrier();
    var found = EMPTY;
    if (flags & FLAG_WORD_MOVES) != 0u {
        found |= word_moves(side, record, s);
    }
    if (flags & FLAG_LANE_MOVES) != 0u {
        found |= lane_moves(side, here);
    }
    return found | row_moves(there, record, s);
}

fn word_moves(side: u32, record: Record, s: u32) -> vec2<u32> {
    let at = 8u + s;
    let right = select(EMPTY, around[at + 1u], has(NOT_G, s));
    let left = select(EMPTY, around[at - 1u], has(NOT_A, s));
    var found = around[at + 7u] | around[at - 7u] | right | left;
    if (plan[side + SIDE_FLAGS] & FLAG_LEAPS) != 0u {
        let here = single(s & 63u);
        let above = up(here, 7u) | up(here, 14u) | up(here, 21u);
        let below = down(here, 7u) | down(here, 14u) | down(here, 21u);
        found |= word_leap(side, record, SIDE_WORD_UP, s, s + 28u, above);
        found |= word_leap(side, record, SIDE_WORD_DOWN, s, s - 28u, below);
        found |= word_leap(side, record, SIDE_WORD_RIGHT, s, s + 3u, up(here, 1u) | up(here, 2u));
        found |= word_leap(side, record, SIDE_WORD_LEFT, s, s - 3u, down(here, 1u) | down(here, 2u));
    }
    return found;
}

/// A leap over water, from the squares that the plan has at `mask`.
fn word_leap(side: u32, record: Record, mask: u32, s: u32, target_square: u32, water: vec2<u32>) -> vec2<u32> {
    if !has(plan_mask(side + mask), s) || is_blocked(record, water) {
        return EMPTY;
    }
    return around[8u + target_square] & unblocked(side, water);
}

fn lane_moves(side: u32, here: vec2<u32>) -> vec2<u32> {
    var found = down(here, 7u) | up(here, 7u) | (down(here, 1u) & NOT_G) | (up(here, 1u) & NOT_A);
    if (plan[side + SIDE_FLAGS] & FLAG_LEAPS) != 0u {
        found |= (down(here, 28u) & plan_mask(side + SIDE_LANE_UP)) | (up(here, 28u) & plan_mask(side + SIDE_LANE_DOWN))
            | (down(here, 3u) & plan_mask(side + SIDE_LANE_RIGHT)) | (up(here, 3u) & plan_mask(side + SIDE_LANE_LEFT));
    }
    return found;
}

/// The moves of the row pieces: other rows at the same word, or mirrored if the first one crosses the d-file.
fn row_moves(there: u32, record: Record, s: u32) -> vec2<u32> {
    let side = record.side;
    var found = EMPTY;
    for (var i = 0u; i < plan[side + SIDE_SLOTS]; i++) {
        let square = (record.squares >> plan[side + SIDE_MOVERS + i / 4u]) & 63u;
        let entry = plan[plan[side + SIDE_MOVES] + (i / 4u * 64u + square) * 8u + i % 4u];
        let water = plan_mask(params.crossed + 2u * (entry & MOVE_CROSSED));
        if (entry & MOVE_IS) == 0u || is_blocked(record, water) {
            continue;
        }
        let delta = u32(i32(entry) >> MOVE_DELTA_SHIFT);
        if (entry & MOVE_MIRRORED) == 0u {
            found |= seen_word(there + delta, s) & unblocked(side, water);
        } else if s < 63u {
            let across = row_across(record, plan[side + SIDE_OTHER]) + delta;
            found |= mirror_word(seen_word(across, mirror_square(s))) & unblocked(side, water);
        }
    }
    return found;
}

/// Whether the first row piece is a rat in the water that is leapt over.
fn is_blocked(record: Record, water: vec2<u32>) -> bool {
    return (plan[record.side + SIDE_FLAGS] & FLAG_FIRST_BLOCKS) != 0u && has(water, square_of(record, 0u));
}

/// The squares of the lane piece where it does not block a leap over this water.
fn unblocked(side: u32, water: vec2<u32>) -> vec2<u32> {
    return ~(water & filled(plan[side + SIDE_FLAGS]));
}
