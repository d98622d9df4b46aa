//! The text of the kernels: the files in `shaders/`, with lines repeated for each word of a row (`//@for k`) or each bit of a
//! worth (`//@for b`), and what is written here in place of `//@own` and `//@cells`. All numbers that the program and the
//! shaders share are written in front.

use super::plan;
use crate::board::geometry::{NOT_A, NOT_G};
use crate::board::{Bitboard, Direction, File, Square};
use crate::gpu::wgsl;
use std::fmt::Write;

/// What a set of kernels is compiled for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    /// Words are 64-bit integers and not pairs of 32-bit ones.
    pub int64: bool,
    /// Two bytes a cell.
    pub wide: bool,
    /// Whether values are kept.
    pub keep: bool,
    /// Buffers of the plane that is read, and of the smaller classes' values.
    pub pages: u32,
    pub tables: u32,
    /// Invocations of a work group where each has a whole row.
    pub group: u32,
}

/// What the rows have that a kernel takes: a move over the d-file, leaps of the word piece or the lane piece, row pieces that
/// move.
pub(super) const MIRRORED: u32 = 1;
pub(super) const LEAPS: u32 = 2;
pub(super) const ROW_MOVES: u32 = 4;
pub(super) const ALL: u32 = MIRRORED | LEAPS | ROW_MOVES;
/// The combinations that there are.
const FLAGS: [u32; 6] = [0, LEAPS, ROW_MOVES, ROW_MOVES | LEAPS, ROW_MOVES | MIRRORED, ALL];

/// Kinds of rows: those of one kind are on one list, so that neighbours on it have as many moves. A kind is four times the
/// mover's row pieces, and the first two flags.
pub(super) const KINDS: u32 = 20;

/// The kind of rows whose mover has so many row pieces.
pub(super) fn kind(row_pieces: usize, flags: u32) -> u32 {
    (4 * row_pieces as u32) | (flags & (MIRRORED | LEAPS))
}

/// What rows of a kind have.
pub(super) fn flags(kind: u32) -> u32 {
    (kind & (MIRRORED | LEAPS)) | if kind >= 4 { ROW_MOVES } else { 0 }
}

/// Work groups along x where there may be more than one dimension allows.
pub(super) const GROUPS_X: u32 = 32768;
/// Invocations of a work group of `seeds_lanes`.
const HITS_GROUP: u32 = 256;
/// Sets of counters that the seeds' counting is spread over.
pub(super) const COPIES: u32 = 64;

impl Variant {
    /// For each storage buffer whether it is only read: plan, work, written, gate, codes, entries, hits, then the pages.
    pub fn read_only(self) -> Vec<bool> {
        (0..7 + self.pages + self.tables).map(|i| i == 0 || i >= 7).collect()
    }

    pub fn worth_bits(self) -> u32 {
        if self.wide { 12 } else { 8 }
    }

    /// Counters by worth.
    pub fn worths(self) -> u32 {
        1 << self.worth_bits()
    }

    /// Words that the codes of a word take.
    pub fn code_stride(self) -> u32 {
        if self.wide { 16 } else { 8 }
    }

    pub fn cell_bytes(self) -> u64 {
        if self.wide { 2 } else { 1 }
    }

    /// The worth of a draw, and of a win with this move.
    pub fn hold(self) -> u32 {
        self.worths() / 2
    }

    pub fn win_at_once(self) -> u32 {
        self.worths() - 1
    }

    /// Counters of a side: positions without a move, then by plies, then what no pass decided.
    pub fn counts(self) -> u32 {
        self.worths()
    }

    /// The longest line that the kernels count.
    pub fn max_plies(self) -> u16 {
        (self.worths() - 3) as u16
    }
}

/// Name and text of each file.
macro_rules! files {
    ($($name:ident),*) => { &[$((stringify!($name), include_str!(concat!("../../../../shaders/", stringify!($name), ".wgsl")))),*] };
}

const KERNELS: &[(&str, &str)] =
    files!(seeds, seeds_lanes, histogram, buckets, no_move, first_rows, seed_pass, quiet_pass, finish);
const PARTS: &[(&str, &str)] =
    files!(prelude, word32, word64, words, captures, worths, next_worth, quiet, quiet_rank, quiet_next);

/// Name and flags of each kernel. Only for `quiet_pass` there are several.
pub(super) fn all() -> impl Iterator<Item = (&'static str, u32)> {
    let flags = |name| if name == "quiet_pass" { &FLAGS[..] } else { &[ALL] };
    KERNELS.iter().flat_map(move |&(name, _)| flags(name).iter().map(move |&flags| (name, flags)))
}

/// The text of a kernel for rows that have no more than `flags`.
pub(super) fn source(name: &'static str, variant: Variant, flags: u32) -> String {
    let word = if variant.int64 { "word64" } else { "word32" };
    let files = wgsl::text(&[word, "words", "prelude", name], &Meaning { variant, flags });
    constants(variant, flags) + &bindings(variant) + &files
}

/// What directives mean in the kernels for such rows.
struct Meaning {
    variant: Variant,
    flags: u32,
}

impl wgsl::Directives for Meaning {
    fn file(&self, name: &str) -> &'static str {
        PARTS.iter().chain(KERNELS).find(|(n, _)| *n == name).expect("a shader's name").1
    }

    fn numbers(&self, words: &str) -> Vec<usize> {
        let bits = self.variant.worth_bits() as usize;
        match words {
            "k" => (0..7).collect(),
            "b" => (0..bits).collect(),
            "b from 1" => (1..bits).collect(),
            "b down" => (0..bits).rev().collect(),
            other => unreachable!("no such range: {other}"),
        }
    }

    fn written(&self, words: &str) -> String {
        match words {
            "own" => own_moves(self.flags),
            "cells" => cells(self.variant),
            other => unreachable!("no such directive: {other}"),
        }
    }
}

fn constants(variant: Variant, flags: u32) -> String {
    let mut text = String::new();
    let mut constant = |name: &str, value: u32| {
        writeln!(text, "const {name} = {value}u;").expect("strings take all");
    };
    for (name, value) in plan::SHARED {
        constant(name, *value);
    }
    constant("GROUP", variant.group);
    constant("HITS_GROUP", HITS_GROUP);
    constant("GROUPS_X", GROUPS_X);
    constant("COPIES", COPIES);
    constant("KINDS", KINDS);
    constant("WORTH_BITS", variant.worth_bits());
    constant("WORTHS", variant.worths());
    constant("WORTH_HOLD", variant.hold());
    constant("WORTH_WIN_AT_ONCE", variant.win_at_once());
    constant("CODE_STRIDE", variant.code_stride());
    constant("COUNTS", variant.counts());
    constant("COUNT_UNDECIDED", variant.counts() - 1);
    constant("NONE", u32::MAX);
    let mut mask = |name: &str, mask: u64| {
        writeln!(text, "const {name} = {};", wgsl::word(variant.int64, mask)).expect("strings take all");
    };
    mask("NOT_A", NOT_A.bits());
    mask("NOT_G", NOT_G.bits());
    for file in File::ALL {
        mask(&format!("MIRROR_FILE_{}", file.index()), Bitboard::file(file).bits());
    }
    for (name, value) in
        [("KEEP", variant.keep), ("MIRRORED", flags & MIRRORED != 0), ("ROW_MOVES", flags & ROW_MOVES != 0)]
    {
        writeln!(text, "const {name} = {value};").expect("strings take all");
    }
    text
}

/// The buffers, and how pages are read.
fn bindings(variant: Variant) -> String {
    let mut text = String::new();
    let mut binding = 0;
    let mut bind = |text: &mut String, access: &str, name: &str, ty: &str| {
        writeln!(text, "@group(0) @binding({binding}) var<{access}> {name}: {ty};").expect("strings take all");
        binding += 1;
    };
    bind(&mut text, "uniform", "params", "Params");
    bind(&mut text, "storage, read", "plan", "array<u32>");
    bind(&mut text, "storage, read_write", "work", "array<atomic<u32>>");
    for plane in ["written", "gate", "codes"] {
        bind(&mut text, "storage, read_write", plane, "array<Word>");
    }
    bind(&mut text, "storage, read_write", "entries", "array<u32>");
    bind(&mut text, "storage, read_write", "hits", "array<u32>");
    for page in 0..variant.pages {
        bind(&mut text, "storage, read", &format!("seen_{page}"), "array<Word>");
    }
    for page in 0..variant.tables {
        bind(&mut text, "storage, read", &format!("table_{page}"), "array<u32>");
    }
    let mut line = |line: &str| {
        text += line;
        text.push('\n');
    };
    if variant.pages == 1 {
        line("fn seen_at(row: u32) -> u32 { return row * WIDTH; }");
        line("fn seen_word(at: u32, s: u32) -> Word { return seen_0[at + s]; }");
    } else {
        line("struct Place { page: u32, at: u32 }");
        line("fn seen_at(row: u32) -> Place { return Place(row / params.seen_rows, row % params.seen_rows * WIDTH); }");
        line("fn seen_word(place: Place, s: u32) -> Word {");
        line("    var word = EMPTY;");
        for page in 0..variant.pages {
            line(&format!("    if place.page == {page}u {{ word = seen_{page}[place.at + s]; }}"));
        }
        line("    return word;\n}");
    }
    line("fn worth_of(capture: u32, cell: u32) -> u32 {");
    let (shift, lanes, bits) = if variant.wide { (1, 1, 4) } else { (2, 3, 3) };
    if variant.tables == 1 {
        line(&format!("    let four = table_0[cell >> {shift}u];"));
    } else {
        line("    var four = 0u;");
        line("    let page = plan[capture + CAPTURE_PAGE];");
        for page in 0..variant.tables {
            line(&format!("    if page == {page}u {{ four = table_{page}[cell >> {shift}u]; }}"));
        }
    }
    line(&format!("    return (four >> ((cell & {lanes}u) << {bits}u)) & (WORTHS - 1u);\n}}"));
    text
}

/// The moves of the word piece and of the lane piece, for the seven words of a rank.
fn own_moves(flags: u32) -> String {
    let mut text = String::new();
    for k in 0..7 {
        let mut terms = vec![format!("before_{k}"), format!("after_{k}")];
        terms.extend((k > 0).then(|| format!("here_{}", k - 1)));
        terms.extend((k < 6).then(|| format!("here_{}", k + 1)));
        let here = format!("here_{k}");
        let mut sum = format!(
            "(({}) & word_moves) | ((down({here}, 7u) | up({here}, 7u)) & lane_moves) \
             | (down({here}, 1u) & to_left) | (up({here}, 1u) & to_right)",
            terms.join(" | ")
        );
        if flags & LEAPS != 0 {
            write!(
                sum,
                " | (down({here}, 28u) & lane_up) | (up({here}, 28u) & lane_down) \
                 | (down({here}, 3u) & lane_right) | (up({here}, 3u) & lane_left)"
            )
            .expect("strings take all");
        }
        writeln!(text, "        var reach_{k} = {sum};").expect("strings take all");
    }
    if flags & LEAPS != 0 {
        text += &word_leaps();
    }
    text
}

/// The leaps of the word piece, for the seven words of a rank: along files from the ranks beside the water, along ranks
/// beside it.
fn word_leaps() -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "        {line}").expect("strings take all");
    let literal = |mask: u64| format!("pair({}u, {}u)", mask as u32, mask >> 32);
    let leaps: Vec<(Square, Square, u64, Direction)> = Square::all()
        .flat_map(|from| {
            Direction::ALL.into_iter().filter_map(move |d| from.leap(d).map(|(to, water)| (from, to, water.bits(), d)))
        })
        .collect();
    for (i, (from, to, water, direction)) in leaps.iter().enumerate() {
        let along = if direction.is_vertical() { "word_files" } else { "word_ranks" };
        let is =
            format!("rank == {}u && !(first_blocks && has({}, first_square))", from.rank().index(), literal(*water));
        line(format!("let open_{i} = select(EMPTY, {along} & ~({} & lane_blocks), {is});", literal(*water)));
        let to = if direction.is_vertical() {
            format!("seen_word(here, {}u)", to.index())
        } else {
            format!("here_{}", to.file().index())
        };
        line(format!("reach_{} |= {to} & open_{i};", from.file().index()));
    }
    text
}

/// The cells of a word from the bits of its codes.
fn cells(variant: Variant) -> String {
    let lanes = if variant.wide { 2 } else { 4 };
    let mut text = String::new();
    for i in 0..variant.code_stride() {
        let half = |half: u32| {
            let shift = (2 * i + half) * lanes;
            let (part, shift) = if shift < 32 { ("low", shift) } else { ("high", shift - 32) };
            let bit = |b: u32| {
                let bits = format!("(({part}_{b} >> {shift}u) & {}u)", (1 << lanes) - 1);
                let apart = if variant.wide {
                    format!("(({bits} * 0x8001u) & 0x00010001u)")
                } else {
                    format!("(({bits} * 0x00204081u) & 0x01010101u)")
                };
                format!("({apart} << {b}u)")
            };
            (0..variant.worth_bits()).map(bit).collect::<Vec<_>>().join(" | ")
        };
        writeln!(text, "        codes[at + {i}u] = pair({}, {});", half(0), half(1)).expect("strings take all");
    }
    text
}
