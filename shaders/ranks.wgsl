// Replaces the codes of a table by ranks. An invocation processes 32 cells.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(8) var<storage, read_write> table: array<u32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) first: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    for (var half = first.x; half < params.count; half += 64u * groups.x) {
        var planes = array<u32, PLANES>();
        for (var i = 0u; i < PLANES; i++) {
            var codes = table[PLANES * half + i];
            for (var k = 0u; k < 32u / PLANES; k++) {
                let rank = rank_of(codes & MAX_RANK);
                codes >>= PLANES;
                for (var b = 0u; b < PLANES; b++) {
                    planes[b] |= ((rank >> b) & 1u) << (32u / PLANES * i + k);
                }
            }
        }
        for (var b = 0u; b < PLANES; b++) {
            table[PLANES * half + b] = planes[b];
        }
    }
}

/// The rank of a capture that leads to a position with this code.
fn rank_of(code: u32) -> u32 {
    if code == CODE_DRAW || (code == CODE_NO_MOVE && params.no_move_loses == 0u) {
        return DRAW_RANK;
    }
    // A code is two more than the plies; a capture takes one more ply.
    return select((MAX_RANK + 1u - code / 2u) & MAX_RANK, code / 2u, (code & 1u) != 0u);
}
