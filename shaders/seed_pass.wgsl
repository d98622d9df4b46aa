// The seeds of one depth: at an odd one positions that win now, at an even one positions that may be lost from now on.

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = params.entries_from + (group.x + group.y * GROUPS_X) * 64u + local;
    if i >= params.entries_to {
        return;
    }
    let word = entries[3u * i];
    let mask = pair(entries[3u * i + 1u], entries[3u * i + 2u]);
    let row = params.first_row + word / WIDTH;
    let gated = gate[word];
    gate[word] = select(gated & ~mask, gated | mask, (params.depth & 1u) != 0u);
    let undecided = written[word] ^ seen_word(seen_at(row), word % WIDTH);
    if any_of(mask & undecided) {
        mark(row, params.depth);
    }
}
