// What no pass decided is a draw, unless it has no move. The plane that is read is *open*, `written` is *lost*. Changes
// become codes, one after the other, if values are kept. A workgroup has a row of the page, invocation s word s.

#import dsq::words::{bits_from, count_of}
#import dsq::buffers::{
    params, work, written, codes, seen_word, code_place, code_bits, code_stride, values_are_kept, cells_are_wide,
}
#import dsq::group::group_sum
#import dsq::rows::{record_of, group_number, add_count}
#import dsq::conversion_values::{ConversionValues, any_conversion}
#import dsq::change_log::read_codes
#import dsq::shared::LEFT_BITS

/// Eight words of cells of each invocation, and one that keeps memory banks apart.
var<workgroup> cells: array<vec2<u32>, 576>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) s: u32) {
    let local = group_number(group);
    if local >= params.rows {
        return;
    }
    let row = params.first_row + local;
    let lost = written[local * 64u + s];
    let undecided = seen_word(row, s) ^ lost;
    let count = group_sum(count_of(undecided), s);
    if s == 0u && count != 0u {
        add_count(record_of(row), (1u << code_bits()) - 1u, count);
    }
    if !values_are_kept() {
        return;
    }
    var bits: ConversionValues;
    read_codes(&bits, local, atomicLoad(&work[params.left + row]) >> LEFT_BITS, s);
    // Nobody writes there before all have read.
    storageBarrier();
    // What is decided and not lost is won, so its code is odd; a draw's is 1, no move is 2.
    let won = any_conversion(&bits) & ~(lost | undecided);
    bits.of_bit[0] = won | (undecided & ~bits.of_bit[1]);
    // A word of lanes becomes eight words of cells, or twice eight of wide ones; the workgroup writes them in order.
    for (var done = 0u; done < code_stride(); done += 8u) {
        workgroupBarrier();
        for (var j = 0u; j < 8u; j++) {
            cells[s * 9u + j] = vec2<u32>(four_bytes(&bits, 2u * (done + j)), four_bytes(&bits, 2u * (done + j) + 1u));
        }
        workgroupBarrier();
        for (var j = 0u; j < 8u; j++) {
            let k = j * 64u + s;
            codes[code_place(local) + k / 8u * code_stride() + done + k % 8u] = cells[k / 8u * 9u + k % 8u];
        }
    }
}

/// The n-th four bytes of cells: four codes, or two wide ones.
fn four_bytes(bits: ptr<function, ConversionValues>, n: u32) -> u32 {
    var found = 0u;
    for (var b = 0u; b < code_bits(); b++) {
        let word = (*bits).of_bit[b];
        if cells_are_wide() {
            found |= (((bits_from(word, 2u * n) & 3u) * 0x8001u) & 0x10001u) << b;
        } else {
            found |= (((bits_from(word, 4u * n) & 15u) * 0x204081u) & 0x1010101u) << b;
        }
    }
    return found;
}
