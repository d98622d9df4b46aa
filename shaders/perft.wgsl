// Perft: makes each move of all positions of `frontier` and writes the positions to `next_frontier`, or in the last dispatch
// counts the replies without making them. Each invocation processes whole positions.
//
// A position is sixteen squares, a byte each: the animals of the side to move, weakest first, then the opponent's. A captured
// animal has 255. The moves of a position are 32 bits: bit 4a + k is the k-th move of animal a.

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
        var moves = moves_of(here, params.turn);
        var next = 0u;
        if !is_last {
            next = atomicAdd(&work[params.next_count], countOneBits(moves));
        }
        for (; moves != 0u; moves &= moves - 1u) {
            let after = made(here, params.turn, firstTrailingBit(moves));
            if is_last {
                lines += countOneBits(moves_of(after, 1u - params.turn));
            } else {
                next_frontier[next] = after;
                next++;
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

fn set_of(square: u32) -> vec2<u32> {
    return select(single(square), EMPTY, square == 255u);
}

fn union_of(side: vec2<u32>) -> vec2<u32> {
    var all = EMPTY;
    for (var a = 0u; a < 8u; a++) {
        all |= set_of(square_of(side, a));
    }
    return all;
}

/// The moves of the side to move; none if the game is over.
fn moves_of(here: vec4<u32>, turn: u32) -> u32 {
    let own = union_of(here.xy);
    let enemy = union_of(here.zw);
    if !not_empty(own) || not_empty(enemy & select(DEN_WHITE, DEN_BLACK, turn == 1u)) {
        return 0u;
    }
    let own_rat = set_of(square_of(here.xy, 0u)) & WATER;
    let wet = u32(not_empty(own_rat));
    let rats = set_of(square_of(here.zw, 0u)) | (own_rat & splat(rules.own_rat_blocks));
    var moves = 0u;
    for (var a = 0u; a < 8u; a++) {
        let from_square = square_of(here.xy, a);
        if from_square == 255u {
            continue;
        }
        let targets = rules.moves[turn][a][from_square];
        for (var k = 0u; k < 4u; k++) {
            let to_square = extractBits(targets, 8u * k, 8u);
            if to_square == 255u || contains(own, to_square) || not_empty(crossed(from_square, to_square) & rats) {
                continue;
            }
            if !contains(enemy, to_square) || takes(here.zw, turn, wet, a, to_square) {
                moves |= 1u << (4u * a + k);
            }
        }
    }
    return moves;
}

/// Whether an animal may take the enemy on a square that it reaches.
fn takes(enemy: vec2<u32>, turn: u32, wet: u32, animal: u32, square: u32) -> bool {
    for (var victim = 0u; victim < 8u; victim++) {
        if square_of(enemy, victim) == square {
            return extractBits(rules.takers[turn][wet][victim][square], animal, 1u) != 0u;
        }
    }
    return false;
}

/// The position after a move, for the other side to move.
fn made(here: vec4<u32>, turn: u32, mv: u32) -> vec4<u32> {
    let animal = mv / 4u;
    let to_square = extractBits(rules.moves[turn][animal][square_of(here.xy, animal)], 8u * (mv % 4u), 8u);
    let low = animal < 4u;
    let moved = insertBits(select(here.y, here.x, low), to_square, 8u * (animal & 3u), 8u);
    return vec4<u32>(
        without(here.z, to_square),
        without(here.w, to_square),
        select(here.x, moved, low),
        select(moved, here.y, low),
    );
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
