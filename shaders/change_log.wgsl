#define_import_path dsq::change_log

// When the positions of a row were decided, where values are kept. To set the bits of their codes would touch a sector
// of memory for each bit of each word, so a pass appends to a change log in the row's space for codes: which words
// changed, the code but for its lowest bit, and those words; changes begin at whole sectors. The few rows whose log
// does not fit switch to bits.

#import dsq::words::{any_of, count_of, has, below}
#import dsq::buffers::{codes, code_place, code_bits, code_stride}
#import dsq::conversion_values::ConversionValues

/// Sectors that the change log entry of some words takes.
fn change_sectors(words: vec2<u32>) -> u32 {
    return (count_of(words) + 5u) / 4u;
}

/// Whether a row with so many sectors stores a change log; if not, it stores bits.
fn is_change_log(sectors: u32) -> bool {
    return sectors <= 16u * code_stride();
}

/// Logs the code of the positions `frontier` of these words, after `used` sectors of the change log. All of a workgroup
/// call this.
fn log_change(local: u32, used: u32, words: vec2<u32>, frontier: vec2<u32>, code: u32, s: u32) {
    let at = code_place(local) + 4u * used;
    if is_change_log(used + change_sectors(words)) {
        if s < 2u {
            codes[at + s] = select(words, vec2<u32>(code, 0u), s == 1u);
        }
        if any_of(frontier) {
            codes[at + 2u + count_of(words & below(s))] = frontier;
        }
        return;
    }
    if is_change_log(used) {
        var decided: ConversionValues;
        read_codes(&decided, local, used, s);
        storageBarrier();
        for (var b = 1u; b < code_bits(); b++) {
            codes[code_place(local) + b * 64u + s] = decided.of_bit[b];
        }
    }
    for (var bits = select(0u, code, any_of(frontier)); bits != 0u; bits &= bits - 1u) {
        let place = code_place(local) + firstTrailingBit(bits) * 64u + s;
        codes[place] = codes[place] | frontier;
    }
}

/// The bits but the lowest of a word's codes.
fn read_codes(decided: ptr<function, ConversionValues>, local: u32, used: u32, s: u32) {
    var at = code_place(local);
    if !is_change_log(used) {
        for (var b = 1u; b < code_bits(); b++) {
            (*decided).of_bit[b] = codes[at + b * 64u + s];
        }
        return;
    }
    let end = at + 4u * used;
    while at < end {
        let words = codes[at];
        if has(words, s) {
            let frontier = codes[at + 2u + count_of(words & below(s))];
            for (var bits = codes[at + 1u].x; bits != 0u; bits &= bits - 1u) {
                (*decided).of_bit[firstTrailingBit(bits)] |= frontier;
            }
        }
        at += 4u * change_sectors(words);
    }
}
