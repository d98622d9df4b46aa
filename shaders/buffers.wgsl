#define_import_path dsq::buffers

// The buffers of all kernels of the tables. See README.md for what is where in them.

#import dsq::shared::{Params, CAPTURE_PAGE, CODE_NO_MOVE}

/// Buffers of the plane that is read, and of the smaller classes' values: those that are really bound.
@id(0) override SEEN_BUFFERS: u32 = 4u;
@id(1) override TABLE_BUFFERS: u32 = 4u;
/// Whether values are kept, and whether a cell has two bytes.
@id(2) override KEEP: bool = true;
@id(3) override WIDE: bool = true;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> plan: array<u32>;
@group(0) @binding(2) var<storage, read_write> work: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> written: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> conversion_plane: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> codes: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> entries: array<u32>;
@group(0) @binding(7) var<storage, read> seen_a: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read> seen_b: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read> seen_c: array<vec2<u32>>;
@group(0) @binding(10) var<storage, read> seen_d: array<vec2<u32>>;
@group(0) @binding(11) var<storage, read> table_a: array<u32>;
@group(0) @binding(12) var<storage, read> table_b: array<u32>;
@group(0) @binding(13) var<storage, read> table_c: array<u32>;
@group(0) @binding(14) var<storage, read> table_d: array<u32>;

/// vec2<u32> `i` of any row in the plane that is read.
fn seen_word(row: u32, i: u32) -> vec2<u32> {
    if SEEN_BUFFERS == 1u {
        return seen_a[row * 64u + i];
    }
    let at = row % params.seen_rows * 64u + i;
    switch row / params.seen_rows {
        case 0u: { return seen_a[at]; }
        case 1u: { return seen_b[at]; }
        case 2u: { return seen_c[at]; }
        default: { return seen_d[at]; }
    }
}

/// Four bytes of the smaller classes' values.
fn table_word(page: u32, at: u32) -> u32 {
    if TABLE_BUFFERS == 1u {
        return table_a[at];
    }
    switch page {
        case 0u: { return table_a[at]; }
        case 1u: { return table_b[at]; }
        case 2u: { return table_c[at]; }
        default: { return table_d[at]; }
    }
}

/// The value of a capture that leads to a cell.
fn table_value(capture: u32, cell: u32) -> u32 {
    let page = plan[capture + CAPTURE_PAGE];
    if WIDE {
        return value_of_code((table_word(page, cell >> 1u) >> ((cell & 1u) << 4u)) & 0xffffu);
    }
    return value_of_code((table_word(page, cell >> 2u) >> ((cell & 3u) << 3u)) & 0xffu);
}

/// A code of the opponent's as the value of a conversion: 0 no position, where the last enemy was taken; what is won
/// there in k is a loss in k + 1, what is lost there a win.
fn value_of_code(code: u32) -> u32 {
    if code == 0u {
        return value_win();
    }
    if code == 1u || (code == CODE_NO_MOVE && params.no_move_loses == 0u) {
        return value_draw();
    }
    return select(value_win() + 1u - code / 2u, code / 2u, (code & 1u) != 0u);
}

/// The overrides as functions, since only those can be imported.
fn values_are_kept() -> bool {
    return KEEP;
}

fn cells_are_wide() -> bool {
    return WIDE;
}

/// Bits of a code, and words that the codes of a word take.
fn code_bits() -> u32 {
    return select(8u, 12u, WIDE);
}

fn code_stride() -> u32 {
    return select(8u, 16u, WIDE);
}

/// Where the bits of the codes of a page's row begin: 64 words for each bit.
fn code_place(local: u32) -> u32 {
    return local * 64u * code_stride();
}

/// Values: a draw, and a win with this move.
fn value_draw() -> u32 {
    return 1u << (code_bits() - 1u);
}

fn value_win() -> u32 {
    return (1u << code_bits()) - 1u;
}
