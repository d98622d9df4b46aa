// Puts all positions one move on into `fresh`.

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = (group.x + group.y * GROUPS_X) * GROUP + local;
    if i >= atomicLoad(&work[params.old_count]) {
        return;
    }
    let here = position(old[i], params.turn);
    var rest = targets(here, params.turn);
    var left = number_of(rest);
    var at = atomicAdd(&work[params.fresh_count], left);
    while left > 0u {
        fresh[at] = packed(made(here, next_move(&rest)), 1u - params.turn);
        at++;
        left--;
    }
}
