#define_import_path dsq::perft

// Positions, move generation and making moves for the perft kernels. A position is sixteen squares, a byte each: White's
// animals, weakest first, then Black's. A captured animal has 255.

#import dsq::words
#import dsq::shared

@group(0) @binding(0) var<uniform> params: PerftParams;
/// First a table by side, whether its rat stands in the water, victim, and the victim's square: the animals that take the
/// victim, a bit each. Then masks by animal: the squares it may enter, for each side, and whether it leaps.
@group(0) @binding(1) var<storage, read> rules: array<u32>;
@group(0) @binding(2) var<storage, read_write> work: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> frontier: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> next_frontier: array<vec4<u32>>;

/// The squares of the animals of the side to move, and of the opponent's.
struct Position {
    own: vec2<u32>,
    enemy: vec2<u32>,
}

/// A set of squares for each animal of a side.
struct Lanes {
    of_animal: array<vec2<u32>, 8>,
}

struct Move {
    animal: u32,
    target_square: u32,
}

fn unpacked(packed: vec4<u32>, turn: u32) -> Position {
    if turn == 0u {
        return Position(packed.xy, packed.zw);
    }
    return Position(packed.zw, packed.xy);
}

fn packed_of(here: Position, turn: u32) -> vec4<u32> {
    if turn == 0u {
        return vec4<u32>(here.own, here.enemy);
    }
    return vec4<u32>(here.enemy, here.own);
}

fn square_of(side: vec2<u32>, animal: u32) -> u32 {
    return (select(side.x, side.y, animal >= 4u) >> (8u * (animal & 3u))) & 255u;
}

fn lane_of(side: vec2<u32>, animal: u32) -> vec2<u32> {
    let square = square_of(side, animal);
    return select(EMPTY, single(square & 63u), square < 64u);
}

fn mask_of(at: u32, animal: u32) -> vec2<u32> {
    return vec2<u32>(rules[at + 2u * animal], rules[at + 2u * animal + 1u]);
}

fn union_of(side: vec2<u32>) -> vec2<u32> {
    var all = EMPTY;
    for (var a = 0u; a < 8u; a++) {
        all |= lane_of(side, a);
    }
    return all;
}

/// The squares that each animal of the side to move may enter; none if the game is over.
fn targets(here: Position, turn: u32) -> Lanes {
    var found: Lanes;
    let own = union_of(here.own);
    let enemy = union_of(here.enemy);
    let den = select(DEN_WHITE, DEN_BLACK, turn == 1u);
    if !not_empty(own) || not_empty(enemy & den) {
        return found;
    }
    let own_rat = lane_of(here.own, 0u) & WATER;
    let rats = (lane_of(here.enemy, 0u) & WATER) | (own_rat & mask_of(RULES_OWN_RAT_BLOCKS, 0u));
    let leap_up = LEAP_UP & ~(down(rats, 7u) | down(rats, 14u) | down(rats, 21u));
    let leap_down = LEAP_DOWN & ~(up(rats, 7u) | up(rats, 14u) | up(rats, 21u));
    let leap_right = LEAP_RIGHT & ~(down(rats, 1u) | down(rats, 2u));
    let leap_left = LEAP_LEFT & ~(up(rats, 1u) | up(rats, 2u));
    let table = (2u * turn + select(0u, 1u, not_empty(own_rat))) * 8u * 64u;
    for (var a = 0u; a < 8u; a++) {
        let from_square = lane_of(here.own, a);
        let files = from_square & mask_of(RULES_LEAPS_FILES, a);
        let ranks = from_square & mask_of(RULES_LEAPS_RANKS, a);
        let reach = up(from_square, 7u) | down(from_square, 7u)
            | up(from_square & NOT_G, 1u) | down(from_square & NOT_A, 1u)
            | up(files & leap_up, 28u) | down(files & leap_down, 28u)
            | up(ranks & leap_right, 3u) | down(ranks & leap_left, 3u);
        var capturable = EMPTY;
        for (var victim = 0u; victim < 8u; victim++) {
            let takers = rules[table + victim * 64u + (square_of(here.enemy, victim) & 63u)];
            capturable |= lane_of(here.enemy, victim) & splat(takers >> a);
        }
        found.of_animal[a] = reach & ~own & (~enemy | capturable) & mask_of(RULES_HABITAT + 16u * turn, a);
    }
    return found;
}

fn number_of(lanes: ptr<function, Lanes>) -> u32 {
    var number = 0u;
    for (var a = 0u; a < 8u; a++) {
        number += count_of((*lanes).of_animal[a]);
    }
    return number;
}

/// Removes a move from the remaining ones and returns it; there must be one.
fn next_move(left: ptr<function, Lanes>) -> Move {
    for (var a = 0u; a < 7u; a++) {
        if not_empty((*left).of_animal[a]) {
            return next_of(left, a);
        }
    }
    return next_of(left, 7u);
}

fn next_of(left: ptr<function, Lanes>, animal: u32) -> Move {
    let square = lowest((*left).of_animal[animal]);
    (*left).of_animal[animal] &= ~single(square);
    return Move(animal, square);
}

/// The position after a move, the other side to move.
fn made(before: Position, mv: Move) -> Position {
    let shift = 8u * (mv.animal & 3u);
    let cleared = ~(255u << shift);
    let put = mv.target_square << shift;
    let low = mv.animal < 4u;
    let own = vec2<u32>(
        select(before.own.x, (before.own.x & cleared) | put, low),
        select((before.own.y & cleared) | put, before.own.y, low),
    );
    var taken = vec2<u32>(0u, 0u);
    for (var a = 0u; a < 8u; a++) {
        let byte = select(0u, 255u << (8u * (a & 3u)), square_of(before.enemy, a) == mv.target_square);
        taken |= select(vec2<u32>(0u, byte), vec2<u32>(byte, 0u), a < 4u);
    }
    return Position(before.enemy | taken, own);
}
