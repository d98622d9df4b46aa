// The seeds of one depth: at an odd one positions that win now, at an even one positions that may be lost from now on.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var i = params.entries_from + id.x; i < params.entries_to; i += params.groups * 64u) {
        let word = entries[3u * i];
        let mask = vec2<u32>(entries[3u * i + 1u], entries[3u * i + 2u]);
        let row = word / WIDTH;
        let undecided = mask & planes[word] & ~planes[lost_at(word)];
        if !any_of(undecided) {
            continue;
        }
        if (params.depth & 1u) == 1u {
            planes[word] ^= undecided;
            decide(row, word, record(row), undecided);
        } else {
            planes[held_at(word)] &= ~mask;
            mark(row, params.depth);
        }
    }
}
