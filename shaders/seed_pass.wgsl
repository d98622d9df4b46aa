// The seeds of one depth: at an odd one positions that win now, at an even one positions that may be lost from now on. An
// invocation has an entry; entries of a row lie together.

#import dsq::words::any_of
#import dsq::buffers::{params, written, gate, entries, seen_word}
#import dsq::rows::{group_number, mark}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = params.entries_from + group_number(group) * 64u + local;
    if i >= params.entries_to {
        return;
    }
    let word = entries[i];
    let mask = vec2<u32>(entries[params.entries_all + i], entries[2u * params.entries_all + i]);
    let row = params.first_row + word / 64u;
    if (params.depth & 1u) != 0u {
        gate[word] = gate[word] | mask;
    } else {
        gate[word] = gate[word] & ~mask;
    }
    if any_of(mask & (written[word] ^ seen_word(row, word % 64u))) {
        mark(row, params.depth);
    }
}
