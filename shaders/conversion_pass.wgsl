// The conversions of one depth: at an odd one positions that win now, at an even one positions that may be lost from
// now on. An invocation has an entry; entries of a row lie together. Their rows are listed even where all of it is
// decided already: that is one row in a thousand, and to look costs more.

#import dsq::buffers::{params, conversion_plane, entries}
#import dsq::rows::{group_number, mark}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = params.entries_from + group_number(group) * 64u + local;
    if i >= params.entries_to {
        return;
    }
    let word = entries[i];
    let mask = vec2<u32>(entries[params.entries_all + i], entries[2u * params.entries_all + i]);
    if (params.depth & 1u) != 0u {
        // What a conversion won before is won by now.
        conversion_plane[word] = mask;
    } else {
        conversion_plane[word] = conversion_plane[word] & ~mask;
    }
    mark(params.first_row + word / 64u, params.depth);
}
