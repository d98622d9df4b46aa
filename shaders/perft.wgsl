// Perft: makes each move of all positions of `frontier` and writes the positions to `next_frontier`, or in the last dispatch
// counts the replies without making them. Each invocation processes whole positions.
//
// A position is sixteen squares, a byte each: the animals of the side to move, weakest first, then the opponent's. A captured
// animal has 255.

@group(0) @binding(0) var<uniform> params: PerftParams;
@group(0) @binding(1) var<storage, read> rules: PerftRules;
/// The sum, low half first, and the numbers of positions.
@group(0) @binding(2) var<storage, read_write> work: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read> frontier: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> next_frontier: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let is_last = params.next_count == NONE;
    var lines = 0u;
    for (var i = id.x; i < atomicLoad(&work[params.frontier_count]); i += 64u * groups.x) {
        let here = frontier[i];
        var left = targets(here, params.turn);
        let moves = number_of(&left);
        var first = 0u;
        if !is_last {
            first = atomicAdd(&work[params.next_count], moves);
        }
        for (var n = 0u; n < moves; n++) {
            let after = next_position(here, &left);
            if is_last {
                var replies = targets(after, 1u - params.turn);
                lines += number_of(&replies);
            } else {
                next_frontier[first + n] = after;
            }
        }
    }
    let total = group_sum(lines, local);
    if local == 0u && total != 0u {
        let before = atomicAdd(&work[0], total);
        if before + total < before {
            atomicAdd(&work[1], 1u);
        }
    }
}

/// The square of an animal of one side.
fn square_of(side: vec2<u32>, animal: u32) -> u32 {
    return extractBits(select(side.x, side.y, animal >= 4u), 8u * (animal & 3u), 8u);
}

/// The square of an animal as a set; empty if the animal is captured.
fn set_of(side: vec2<u32>, animal: u32) -> vec2<u32> {
    let square = square_of(side, animal);
    return select(EMPTY, single(square & 63u), square < 64u);
}

fn union_of(side: vec2<u32>) -> vec2<u32> {
    var all = EMPTY;
    for (var a = 0u; a < 8u; a++) {
        all |= set_of(side, a);
    }
    return all;
}

/// A set of squares for each animal of a side.
struct Targets {
    of_animal: array<vec2<u32>, 8>,
}

/// The squares that each animal of the side to move may enter; none if the game is over.
fn targets(here: vec4<u32>, turn: u32) -> Targets {
    var found: Targets;
    let own = union_of(here.xy);
    let enemy = union_of(here.zw);
    if !not_empty(own) || not_empty(enemy & select(DEN_WHITE, DEN_BLACK, turn == 1u)) {
        return found;
    }
    let own_rat = set_of(here.xy, 0u) & WATER;
    let rats = (set_of(here.zw, 0u) & WATER) | (own_rat & rules.own_rat_blocks);
    let leap_up = LEAP_UP & ~(down(rats, 7u) | down(rats, 14u) | down(rats, 21u));
    let leap_down = LEAP_DOWN & ~(up(rats, 7u) | up(rats, 14u) | up(rats, 21u));
    let leap_right = LEAP_RIGHT & ~(down(rats, 1u) | down(rats, 2u));
    let leap_left = LEAP_LEFT & ~(up(rats, 1u) | up(rats, 2u));
    let wet = u32(not_empty(own_rat));
    for (var a = 0u; a < 8u; a++) {
        let from_square = set_of(here.xy, a);
        let files = from_square & rules.leaps_files[a];
        let ranks = from_square & rules.leaps_ranks[a];
        let reach = up(from_square, 7u) | down(from_square, 7u)
            | up(from_square & NOT_G, 1u) | down(from_square & NOT_A, 1u)
            | up(files & leap_up, 28u) | down(files & leap_down, 28u)
            | up(ranks & leap_right, 3u) | down(ranks & leap_left, 3u);
        var capturable = EMPTY;
        for (var victim = 0u; victim < 8u; victim++) {
            let takers = rules.takers[turn][wet][victim][square_of(here.zw, victim) & 63u];
            capturable |= set_of(here.zw, victim) & splat(takers >> a);
        }
        found.of_animal[a] = reach & ~own & (~enemy | capturable) & rules.habitat[turn][a];
    }
    return found;
}

fn number_of(left: ptr<function, Targets>) -> u32 {
    var number = 0u;
    for (var a = 0u; a < 8u; a++) {
        number += count_of((*left).of_animal[a]);
    }
    return number;
}

/// Removes a move from the remaining ones and makes it; there must be one. The result is for the other side to move.
fn next_position(here: vec4<u32>, left: ptr<function, Targets>) -> vec4<u32> {
    // The bound of the loop is constant, so that compilers unroll it and keep the sets in registers.
    for (var a = 0u; a < 8u; a++) {
        let squares = (*left).of_animal[a];
        if not_empty(squares) {
            (*left).of_animal[a] = squares & ~single(lowest(squares));
            return made(here, a, lowest(squares));
        }
    }
    return here;
}

fn made(here: vec4<u32>, animal: u32, square: u32) -> vec4<u32> {
    let low = animal < 4u;
    let moved = insertBits(select(here.y, here.x, low), square, 8u * (animal & 3u), 8u);
    let own = select(vec2<u32>(here.x, moved), vec2<u32>(moved, here.y), low);
    return vec4<u32>(without(here.z, square), without(here.w, square), own);
}

/// Four animals without the one on a square.
fn without(animals: u32, square: u32) -> u32 {
    var left = animals;
    for (var shift = 0u; shift < 32u; shift += 8u) {
        if extractBits(animals, shift, 8u) == square {
            left = insertBits(left, 255u, shift, 8u);
        }
    }
    return left;
}
