#define_import_path dsq::notes

// When the positions of a row were decided, where values are kept. To set the bits of their codes would touch a sector of
// memory for each bit of each word, so a pass leaves a note in the row's room for codes: which words changed, the code but for
// its lowest bit, and those words; notes begin at whole sectors. The few rows with more notes than room go over to bits.

#import dsq::words::{any_of, count_of, has, below}
#import dsq::buffers::{codes, code_place, code_bits, code_stride}
#import dsq::worths::Worths

/// Sectors that the note of some words takes.
fn note_sectors(words: vec2<u32>) -> u32 {
    return (count_of(words) + 5u) / 4u;
}

/// Whether so many sectors of notes are in a row's room; if not, bits are.
fn are_notes(sectors: u32) -> bool {
    return sectors <= 16u * code_stride();
}

/// Notes that the positions `fresh` of these words have a code, after `used` sectors of notes. All of a workgroup call this.
fn note(local: u32, used: u32, words: vec2<u32>, fresh: vec2<u32>, code: u32, s: u32) {
    let at = code_place(local) + 4u * used;
    if are_notes(used + note_sectors(words)) {
        if s < 2u {
            codes[at + s] = select(words, vec2<u32>(code, 0u), s == 1u);
        }
        if any_of(fresh) {
            codes[at + 2u + count_of(words & below(s))] = fresh;
        }
        return;
    }
    if are_notes(used) {
        var decided: Worths;
        read_codes(&decided, local, used, s);
        storageBarrier();
        for (var b = 1u; b < code_bits(); b++) {
            codes[code_place(local) + b * 64u + s] = decided.of_bit[b];
        }
    }
    for (var bits = select(0u, code, any_of(fresh)); bits != 0u; bits &= bits - 1u) {
        let place = code_place(local) + firstTrailingBit(bits) * 64u + s;
        codes[place] = codes[place] | fresh;
    }
}

/// The bits but the lowest of a word's codes.
fn read_codes(decided: ptr<function, Worths>, local: u32, used: u32, s: u32) {
    var at = code_place(local);
    if !are_notes(used) {
        for (var b = 1u; b < code_bits(); b++) {
            (*decided).of_bit[b] = codes[at + b * 64u + s];
        }
        return;
    }
    let end = at + 4u * used;
    while at < end {
        let words = codes[at];
        if has(words, s) {
            let fresh = codes[at + 2u + count_of(words & below(s))];
            for (var bits = codes[at + 1u].x; bits != 0u; bits &= bits - 1u) {
                (*decided).of_bit[firstTrailingBit(bits)] |= fresh;
            }
        }
        at += 4u * note_sectors(words);
    }
}
