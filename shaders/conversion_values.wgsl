#define_import_path dsq::conversion_values

// The value of the best conversion, for 64 positions at once: 0 nothing, then losses, a draw, wins; greater
// is better. Bit b of all 64 is one word.

#import dsq::words::{any_of, lowest, has, filled, up, down, EMPTY}
#import dsq::buffers::{code_bits, value_draw}
#import dsq::group::{group_ballot, group_tell}
#import dsq::shared::NONE

struct ConversionValues {
    of_bit: array<vec2<u32>, 12>,
}

/// Some positions have a move of this value; it counts where it is greater than what they have.
fn raise(best: ptr<function, ConversionValues>, lanes: vec2<u32>, value: u32) {
    var above = EMPTY;
    var equal = lanes;
    for (var b = code_bits(); b > 0u; b--) {
        let bit = filled(value >> (b - 1u));
        above |= equal & bit & ~(*best).of_bit[b - 1u];
        equal &= ~(bit ^ (*best).of_bit[b - 1u]);
    }
    for (var b = 0u; b < code_bits(); b++) {
        (*best).of_bit[b] = ((*best).of_bit[b] & ~above) | (filled(value >> b) & above);
    }
}

/// The same with a value of its own for each position.
fn raise_all(best: ptr<function, ConversionValues>, lanes: vec2<u32>, other: ptr<function, ConversionValues>) {
    var above = EMPTY;
    var equal = lanes;
    for (var b = code_bits(); b > 0u; b--) {
        above |= equal & (*other).of_bit[b - 1u] & ~(*best).of_bit[b - 1u];
        equal &= ~((*other).of_bit[b - 1u] ^ (*best).of_bit[b - 1u]);
    }
    for (var b = 0u; b < code_bits(); b++) {
        (*best).of_bit[b] = ((*best).of_bit[b] & ~above) | ((*other).of_bit[b] & above);
    }
}

/// The positions that have any.
fn any_conversion(values: ptr<function, ConversionValues>) -> vec2<u32> {
    var any = EMPTY;
    for (var b = 0u; b < code_bits(); b++) {
        any |= (*values).of_bit[b];
    }
    return any;
}

fn value_at(values: ptr<function, ConversionValues>, lane: u32) -> u32 {
    var value = 0u;
    for (var b = 0u; b < code_bits(); b++) {
        value |= select(0u, 1u << b, has((*values).of_bit[b], lane));
    }
    return value;
}

fn with_value(values: ptr<function, ConversionValues>, value: u32) -> vec2<u32> {
    var same = filled(1u);
    for (var b = 0u; b < code_bits(); b++) {
        same &= ~((*values).of_bit[b] ^ filled(value >> b));
    }
    return same;
}

/// The positions of a word whose best conversion wins or loses. A draw has no depth: it is an escape for ever.
fn decisive_conversions(values: ptr<function, ConversionValues>) -> vec2<u32> {
    return any_conversion(values) & ~with_value(values, value_draw());
}

/// A value that some of the positions left in the row have; `NONE` if none is left. The same for the whole workgroup.
fn next_value(values: ptr<function, ConversionValues>, rest: vec2<u32>, i: u32) -> u32 {
    let ballot = group_ballot(any_of(rest), i);
    if !any_of(ballot) {
        return group_tell(NONE, 0u, i);
    }
    let first = lowest(ballot);
    var value = NONE;
    if i == first {
        value = value_at(values, lowest(rest));
    }
    return group_tell(value, first, i);
}

var<workgroup> tile: array<vec2<u32>, 768>;

/// Changes rows and columns: lane j of word i becomes lane i of word j. Invocation i has word i.
fn transpose(values: ptr<function, ConversionValues>, i: u32) {
    for (var step = 32u; step > 0u; step >>= 1u) {
        for (var b = 0u; b < code_bits(); b++) {
            tile[b * 64u + i] = (*values).of_bit[b];
        }
        workgroupBarrier();
        for (var b = 0u; b < code_bits(); b++) {
            let other = tile[b * 64u + (i ^ step)];
            (*values).of_bit[b] = exchanged((*values).of_bit[b], other, step, (i & step) != 0u);
        }
        workgroupBarrier();
    }
}

/// Half of one word beside half of another that is `step` further on, or further back.
fn exchanged(mine: vec2<u32>, other: vec2<u32>, step: u32, is_second: bool) -> vec2<u32> {
    if step == 32u {
        return select(vec2<u32>(mine.x, other.x), vec2<u32>(other.y, mine.y), is_second);
    }
    // Groups of `step` ones and `step` zeros.
    let half = 0xffffffffu / ((1u << step) + 1u);
    let mask = vec2<u32>(half, half);
    return select((mine & mask) | up(other & mask, step), (mine & ~mask) | (down(other, step) & mask), is_second);
}
