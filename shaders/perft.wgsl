// What the kernels of perft share. Capitals that are not defined here are written by the program, from its own masks and
// from the rules.
//
// A position is sixteen squares, a byte each: White's animals, weakest first, then Black's; what is taken has 255.

struct Params {
    /// The side to move in `old`: 0 for White, 1 for Black.
    turn: u32,
    /// Where in `work` the number of positions in `old` is, and of those in `fresh`.
    old_count: u32,
    fresh_count: u32,
    /// Where in `work` the size of a dispatch goes, and the sum, low half first.
    groups: u32,
    sum: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
/// For each side, whether its rat stands in the water, victim, and the victim's square: the animals that take it, a bit each.
@group(0) @binding(1) var<storage, read> takers: array<u32>;
@group(0) @binding(2) var<storage, read_write> work: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> old: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> fresh: array<vec4<u32>>;

/// The squares of the side to move, and of the other.
struct Position {
    own: vec2<u32>,
    enemy: vec2<u32>,
}

/// A set of squares for each animal of a side.
struct Lanes {
//@for a
    of_$a: Word,
//@end
}

fn position(packed: vec4<u32>, turn: u32) -> Position {
    if turn == 0u {
        return Position(packed.xy, packed.zw);
    }
    return Position(packed.zw, packed.xy);
}

fn packed(here: Position, turn: u32) -> vec4<u32> {
    if turn == 0u {
        return vec4<u32>(here.own, here.enemy);
    }
    return vec4<u32>(here.enemy, here.own);
}

fn square_of(side: vec2<u32>, animal: u32) -> u32 {
    return (select(side.x, side.y, animal >= 4u) >> (8u * (animal & 3u))) & 255u;
}

fn lanes(side: vec2<u32>) -> Lanes {
    var found: Lanes;
//@for a
    let square_$a = square_of(side, $au);
    found.of_$a = select(EMPTY, single(square_$a & 63u), square_$a < 64u);
//@end
    return found;
}

fn union_of(lanes: Lanes) -> Word {
    var all = EMPTY;
//@for a
    all |= lanes.of_$a;
//@end
    return all;
}

/// Where each animal of the side to move may go; nowhere if the game is over.
fn targets(here: Position, turn: u32) -> Lanes {
    let own = lanes(here.own);
    let enemy = lanes(here.enemy);
    let own_all = union_of(own);
    let enemy_all = union_of(enemy);
    let over = !any_of(own_all) || any_of(enemy_all & select(DEN_0, DEN_1, turn == 1u));
    let rats = (enemy.of_0 | (own.of_0 & OWN_RAT_BLOCKS)) & WATER;
    let leap_up = LEAP_UP & ~(down(rats, 7u) | down(rats, 14u) | down(rats, 21u));
    let leap_down = LEAP_DOWN & ~(up(rats, 7u) | up(rats, 14u) | up(rats, 21u));
    let leap_right = LEAP_RIGHT & ~(down(rats, 1u) | down(rats, 2u));
    let leap_left = LEAP_LEFT & ~(up(rats, 1u) | up(rats, 2u));
    let table = (2u * turn + select(0u, 1u, any_of(own.of_0 & WATER))) * 8u * 64u;
//@for a
    let takers_$a = takers[table + $au * 64u + (square_of(here.enemy, $au) & 63u)];
//@end
    let free = select(~own_all, EMPTY, over);
    let quiet = ~enemy_all;
    var found: Lanes;
//@for a
    let from_$a = own.of_$a;
    let files_$a = from_$a & LEAPS_FILES_$a;
    let ranks_$a = from_$a & LEAPS_RANKS_$a;
    let reach_$a = up(from_$a, 7u) | down(from_$a, 7u) | up(from_$a & NOT_G, 1u) | down(from_$a & NOT_A, 1u)
        | up(files_$a & leap_up, 28u) | down(files_$a & leap_down, 28u)
        | up(ranks_$a & leap_right, 3u) | down(ranks_$a & leap_left, 3u);
//@prey $a
    found.of_$a = reach_$a & free & (quiet | prey_$a) & select(HABITAT_0_$a, HABITAT_1_$a, turn == 1u);
//@end
    return found;
}

fn number_of(lanes: Lanes) -> u32 {
    var number = 0u;
//@for a
    number += count_of(lanes.of_$a);
//@end
    return number;
}

struct Move {
    animal: u32,
    to: u32,
}

/// Takes a move off those that are left; there must be one.
fn next_move(left: ptr<function, Lanes>) -> Move {
    var animal = 0u;
    var lane = EMPTY;
//@for a down
    let is_$a = any_of((*left).of_$a);
    animal = select(animal, $au, is_$a);
    lane = select(lane, (*left).of_$a, is_$a);
//@end
    let to = lowest(lane);
    let rest = ~single(to);
//@for a
    (*left).of_$a &= select(FULL, rest, animal == $au);
//@end
    return Move(animal, to);
}

/// The position after a move, the other side to move.
fn made(before: Position, mv: Move) -> Position {
    let shift = 8u * (mv.animal & 3u);
    let low = mv.animal < 4u;
    let cleared = ~(255u << shift);
    let put = mv.to << shift;
    let own = vec2<u32>(
        select(before.own.x, (before.own.x & cleared) | put, low),
        select((before.own.y & cleared) | put, before.own.y, low),
    );
    var taken = vec2<u32>(0u, 0u);
//@for a
    taken[$a / 4] |= select(0u, 255u << (8u * ($au & 3u)), square_of(before.enemy, $au) == mv.to);
//@end
    return Position(before.enemy | taken, own);
}
