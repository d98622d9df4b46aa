// Puts the conversions in the places that their counts left for each value, a word's number and two halves of its
// positions in three arrays. A workgroup has a row of the page, invocation s word s.

#import dsq::words::{any_of, count_of, below}
#import dsq::buffers::{params, work, codes, entries, code_place, code_bits}
#import dsq::group::{group_ballot, group_tell}
#import dsq::rows::group_number
#import dsq::conversion_values::{ConversionValues, decisive_conversions, next_value, with_value}
#import dsq::shared::NONE

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group_number(group);
    if local >= params.rows {
        return;
    }
    var values: ConversionValues;
    for (var b = 0u; b < code_bits(); b++) {
        values.of_bit[b] = codes[code_place(local) + b * 64u + s];
    }
    var rest = decisive_conversions(&values);
    loop {
        let value = next_value(&values, rest, s);
        if value == NONE {
            break;
        }
        let same = rest & with_value(&values, value);
        rest &= ~same;
        let words = group_ballot(any_of(same), s);
        var first = 0u;
        if s == 0u {
            first = atomicAdd(&work[params.cursors + value], count_of(words));
        }
        first = group_tell(first, 0u, s);
        if any_of(same) {
            let at = first + count_of(words & below(s));
            entries[at] = local * 64u + s;
            entries[params.entries_all + at] = same.x;
            entries[2u * params.entries_all + at] = same.y;
        }
    }
}
