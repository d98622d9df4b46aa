//! The kernels in `shaders/`: their files, and the constants and structs that they share with the program.

use crate::board::geometry::{DEN, LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP, NOT_A, NOT_G, WATER};
use crate::board::{Bitboard, Color, File};
use bytemuck::{Pod, Zeroable};
use std::fmt::Write;

/// Defines constants here and for the shaders.
macro_rules! constants {
    ($($(#[doc = $doc:literal])* $name:ident = $value:expr;)*) => {
        $($(#[doc = $doc])* #[allow(dead_code, reason = "some are only for the shaders")] pub(crate) const $name: u32 = $value;)*
        const CONSTANTS: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

/// Defines structs here and for the shaders, with the WGSL type of each field. A test compares the layouts.
macro_rules! structs {
    ($($(#[doc = $about:literal])* $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $rust:ty = $wgsl:literal,)*
    })*) => {
        $(
            $(#[doc = $about])*
            #[derive(Copy, Clone, Debug, Pod, Zeroable)]
            #[repr(C)]
            pub(crate) struct $name { $($(#[doc = $doc])* pub $field: $rust,)* }
        )*
        const STRUCTS: &[Struct] = &[$(Struct {
            name: stringify!($name),
            bytes: size_of::<$name>(),
            fields: &[$((stringify!($field), $wgsl, std::mem::offset_of!($name, $field))),*],
        }),*];
    };
}

/// A struct of the shaders.
#[cfg_attr(not(test), expect(dead_code, reason = "the layout is for a test"))]
struct Struct {
    name: &'static str,
    bytes: usize,
    /// Name, type in WGSL, and offset of each field.
    fields: &'static [(&'static str, &'static str, usize)],
}

constants! {
    /// No row, no square, no buffer.
    NONE = u32::MAX;
    /// The numbers of the word piece and the lane piece; row pieces have 0 to 3.
    WORD_PIECE = 4;
    LANE_PIECE = 5;

    /// The lane piece, or the first row piece, is a rat that blocks this side's leaps; the lowest bit must be the lane piece's.
    LANE_BLOCKS = 1;
    FIRST_BLOCKS = 2;
    /// The word piece, or the lane piece, belongs to this side; the lane piece leaps.
    WORD_MOVES = 4;
    LANE_MOVES = 8;
    LEAPS = 16;

    /// The lowest bit of a row's weight, above its squares: the number of positions that each of its positions
    /// represents.
    WEIGHT_SHIFT = 24;
    /// The number of depths that conversions may have; the last depth stands for all that are too large.
    DEPTHS = 512;
    DEPTH_WORDS = DEPTHS / 32;
    /// The counters of a side to move: positions without a move, positions decided in each number of plies, positions
    /// that `finish` found undecided, and the last depth of a conversion.
    KINDS = 512;
    KIND_UNDECIDED = KINDS - 2;
    KIND_LAST = KINDS - 1;

    /// The first counter, of visits, and that of the first page's entries.
    VISITS = 0;
    USED = 1;
    /// The fields of the state of a row: the last even and the last odd pass in which the row is due because a row next to
    /// it changed; the next depth with conversions, `NONE` if there is none, and the index of its first entry; the number of
    /// undecided positions; the last pass that found lost positions in the row.
    DUE = 0;
    NEXT = 2;
    CURSOR = 3;
    UNDECIDED = 4;
    LAST_LOST = 5;
    STATE_FIELDS = 6;
    /// More fields of the state under a no-capture limit: the last even and the last odd pass off the beat in which the row is
    /// due, and the last one that found positions in it.
    DUE_OFF_BEAT = 6;
    PENDING = 8;
    LIMIT_FIELDS = 9;
    /// The modes of a pass: it finds positions and decides them; it only finds them; it decides what another has found.
    ON_BEAT = 0;
    FIND = 1;
    DECIDE = 2;
    /// The neighbours in the record of a row: the row from this bit on, below it the side that moves, whether the move leaps
    /// over water on which the lane piece may block it, the direction of the leap, and whether positions are mirrored.
    ROW = 32;
    MOVER = 16;
    FORWARD = 8;
    ALONG_FILE = 4;
    OVER_WATER = 2;
    /// In the list of a pass, above the row: a move leads to a row that changed, and a conversion has this depth.
    LOOKS = 1 << 31;
    CONVERTS = 1 << 30;
    /// The most workgroups of a dispatch, which share the rows. With more, additions to the counters would wait for each
    /// other.
    GROUPS = 16384;
    /// The most captures of a side.
    CAPTURES = 9;

    /// A cell's code for a draw, for a position without a move, and for a position lost in 0 plies.
    CODE_DRAW = 1;
    CODE_NO_MOVE = 2;
    CODE_OF_0_PLIES = 2;
    /// In the flags of a capture: the lane piece is the lane piece of the smaller class, too; colours are exchanged there, so
    /// the ranks of the board are turned.
    LANES_IN_ORDER = 1;
    RANKS_TURNED = 2;

    /// Kinds of memory, for the trace: the opponent's plane, the planes that this side reads and writes, and other
    /// buffers.
    TOUCH_SEEN = 0;
    TOUCH_OWN_PLANE = 1;
    TOUCH_ESCAPES = 2;
    TOUCH_WRITTEN = 3;
    TOUCH_WRITTEN_ESCAPES = 4;
    TOUCH_ENTRIES = 5;
    TOUCH_TABLES = 6;
    TOUCH_CODES = 7;
    TOUCH_STATES = 8;
    TOUCH_RECORDS = 9;
    TOUCH_COUNTERS = 10;
}

/// A set of squares in two halves, the low one first.
pub(crate) type Halves = [u32; 2];

structs! {
    /// The parameters of a table kernel.
    Params {
        /// The squares whose words are in memory.
        words: Halves = "vec2<u32>",
        /// The plies in which the pass decides positions, the number of this value, its mode, and whether it finds wins.
        depth: u32 = "u32",
        decided: u32 = "u32",
        mode: u32 = "u32",
        wins: u32 = "u32",
        /// The first row to process, and the number of rows. White's rows come first, then as many of Black.
        first: u32 = "u32",
        count: u32 = "u32",
        side_rows: u32 = "u32",
        /// The first row of the plane that a pass writes, and of the plane that it reads.
        written_first: u32 = "u32",
        seen_first: u32 = "u32",
        /// The number of words of a row in a plane, of elements of its record, and of neighbours there.
        row_words: u32 = "u32",
        record: u32 = "u32",
        neighbours: u32 = "u32",
        /// The index of the states of the rows, and of the first count, among the counters.
        states: u32 = "u32",
        counts: u32 = "u32",
        /// The page, its first row, the index of its first entry, and the end of its entries.
        page: u32 = "u32",
        page_first: u32 = "u32",
        entries: u32 = "u32",
        entries_end: u32 = "u32",
        /// The number of the pass's list, and the index of the rows of all lists.
        list: u32 = "u32",
        list_rows: u32 = "u32",
        /// 1 if a side without a move has lost, otherwise 0.
        no_move_loses: u32 = "u32",
        /// 1 if values are kept, otherwise 0, and 1 if codes have two bytes, otherwise 0.
        keep: u32 = "u32",
        wide: u32 = "u32",
        /// 1 under a no-capture limit, otherwise 0.
        limited: u32 = "u32",
    }

    /// One side to move of a class. Of class c, White is number 2c and Black 2c + 1.
    Side {
        /// The squares on which the lane piece, and the word piece, may stand.
        lanes: Halves = "vec2<u32>",
        words: Halves = "vec2<u32>",
        /// The squares from which the lane piece leaps up, down, right and left.
        lane_leaps: [Halves; 4] = "array<vec2<u32>, 4>",
        /// By piece: the squares from which it enters the den.
        dens: [Halves; 6] = "array<vec2<u32>, 6>",
        flags: u32 = "u32",
        row_pieces: u32 = "u32",
        /// The first row of the class, and its first place.
        first_row: u32 = "u32",
        places: u32 = "u32",
        /// The number of captures.
        capture_count: u32 = "u32",
        padding: u32 = "u32",
        /// By row piece or word piece of this side and its square: the targets of up to four moves, a byte each; 255 is
        /// no move.
        moves: [[u32; 64]; 5] = "array<array<u32, 64>, 5>",
        /// By row piece and its square: the summand in the number of the row in the index.
        positions: [[u32; 64]; 4] = "array<array<u32, 64>, 4>",
        captures: [Capture; CAPTURES as usize] = "array<Capture, CAPTURES>",
    }

    /// A capture of one piece by another.
    Capture {
        /// The squares of the piece `first` for which the smaller class is looked up mirrored.
        mirror: Halves = "vec2<u32>",
        /// By the square of the piece with the smaller number: the squares of the other piece with which the attacker
        /// takes the victim.
        hits: [Halves; 64] = "array<vec2<u32>, 64>",
        attacker: u32 = "u32",
        victim: u32 = "u32",
        /// The buffer with the values of the smaller class, `NONE` if the victim is the last enemy, and the first cell
        /// there.
        buffer: u32 = "u32",
        cell: u32 = "u32",
        /// The piece that decides whether the smaller class is looked up mirrored.
        first: u32 = "u32",
        flags: u32 = "u32",
        /// By piece and square: the summand in the cell number of the smaller class, as the board is and mirrored.
        offsets: [[[u32; 64]; 6]; 2] = "array<array<array<u32, 64>, 6>, 2>",
    }

    /// The parameters of perft.
    PerftParams {
        /// The side to move in `frontier`: 0 for White, 1 for Black.
        turn: u32 = "u32",
        /// The indices in `work` of the numbers of positions in `frontier` and in `next_frontier`; the latter is
        /// `NONE` in the last dispatch.
        frontier_count: u32 = "u32",
        next_count: u32 = "u32",
    }

    /// The rules for perft.
    PerftRules {
        /// By side and animal: the squares that it may enter.
        habitat: [[Halves; 8]; 2] = "array<array<vec2<u32>, 8>, 2>",
        /// By animal: all ones if it leaps along files, or along ranks.
        leaps_files: [Halves; 8] = "array<vec2<u32>, 8>",
        leaps_ranks: [Halves; 8] = "array<vec2<u32>, 8>",
        /// All ones if a leap is blocked by the leaper's own rat.
        own_rat_blocks: Halves = "vec2<u32>",
        /// By side, whether its rat stands in the water, victim, and the victim's square: the animals that may take the
        /// victim, one bit each.
        takers: [[[[u32; 64]; 8]; 2]; 2] = "array<array<array<array<u32, 64>, 8>, 2>, 2>",
    }
}

/// The texts of these files in `shaders/`.
macro_rules! files {
    ($($name:ident),*) => { &[$(include_str!(concat!("../shaders/", stringify!($name), ".wgsl"))),*] };
}

/// The name of each kernel, and the files of its text.
const KERNELS: &[(&str, &[&str])] = &[
    ("neighbours", files!(words, trace, tables, neighbours)),
    ("ranks", files!(values, ranks)),
    ("init", files!(words, group, trace, tables, quiet, values, init)),
    ("list", files!(words, group, trace, tables, list)),
    ("pass", files!(words, group, trace, tables, quiet, pass)),
    ("finish", files!(words, group, trace, tables, finish)),
    ("perft", files!(words, group, trace, perft)),
];

/// The beginning of each text: constants, structs, and sets of squares. `MIRROR_A` to `MIRROR_G` are the squares of a file.
fn shared() -> String {
    let named = [
        ("NOT_A", NOT_A),
        ("NOT_G", NOT_G),
        ("WATER", WATER),
        ("LEAP_UP", LEAP_UP),
        ("LEAP_DOWN", LEAP_DOWN),
        ("LEAP_RIGHT", LEAP_RIGHT),
        ("LEAP_LEFT", LEAP_LEFT),
        ("DEN_WHITE", Bitboard::from(DEN[Color::White])),
        ("DEN_BLACK", Bitboard::from(DEN[Color::Black])),
    ];
    let files = ('A'..='G').zip(File::ALL).map(|(name, file)| (format!("MIRROR_{name}"), Bitboard::file(file)));
    let mut text = String::new();
    for (name, value) in CONSTANTS {
        _ = writeln!(text, "const {name}: u32 = {value}u;");
    }
    for (name, set) in named.map(|(name, set)| (name.to_owned(), set)).into_iter().chain(files) {
        let [low, high] = halves(set.bits());
        _ = writeln!(text, "const {name} = vec2<u32>({low:#x}u, {high:#x}u);");
    }
    for Struct { name, fields, .. } in STRUCTS {
        let fields: String = fields.iter().map(|(field, wgsl, _)| format!("{field}: {wgsl}, ")).collect();
        _ = writeln!(text, "struct {name} {{ {fields}}}");
    }
    text
}

pub(crate) fn halves(set: u64) -> Halves {
    [set as u32, (set >> 32) as u32]
}

/// The WGSL of a kernel. With `SUBGROUPS` in `defined`, the kernel adds up within subgroups first; with `TRACE`, it
/// records its reads and writes. `#ifdef X` keeps one of its two branches.
pub(crate) fn compose(kernel: &str, defined: &[&str]) -> String {
    // naga accepts subgroup operations without `enable subgroups;` and rejects the directive.
    let (_, files) = KERNELS.iter().find(|(name, _)| *name == kernel).expect("a kernel");
    let mut text = shared();
    let mut keep = true;
    for line in files.iter().flat_map(|file| file.lines()) {
        match line.split_whitespace().next() {
            Some("#ifdef") => keep = defined.iter().any(|name| line.ends_with(name)),
            Some("#else") => keep = !keep,
            Some("#endif") => keep = true,
            _ if keep => text.extend([line, "\n"]),
            _ => (),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::naga::back::{hlsl, msl, spv};
    use wgpu::naga::front::wgsl::parse_str;
    use wgpu::naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
    use wgpu::naga::{AddressSpace, Module, TypeInner};

    fn parsed(name: &str, text: &str) -> Module {
        parse_str(text).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(text)))
    }

    /// The kernels with these definitions, checked.
    fn valid(defined: &[&str]) -> Vec<(&'static str, Module, ModuleInfo)> {
        let subgroups = defined.contains(&"SUBGROUPS");
        let capabilities = if subgroups { Capabilities::SUBGROUP } else { Capabilities::empty() };
        let checked = |&(name, _): &(&'static str, _)| {
            let text = compose(name, defined);
            assert_eq!(text.contains("subgroupAdd"), subgroups && text.contains("fn add_up"), "{name}");
            let module = parsed(name, &text);
            let entries: Vec<_> = module.entry_points.iter().map(|entry| &entry.name).collect();
            assert_eq!(entries, ["main"], "the entry points of {name}");
            let info = Validator::new(ValidationFlags::all(), capabilities).validate(&module);
            (name, module, info.unwrap_or_else(|e| panic!("{name}, {defined:?}: {e:?}")))
        };
        KERNELS.iter().map(checked).collect()
    }

    #[test]
    fn kernels_are_valid_with_and_without_subgroups() {
        for defined in [&[][..], &["SUBGROUPS"], &["TRACE"], &["TABLES"], &["SUBGROUPS", "TRACE", "TABLES"]] {
            valid(defined);
        }
    }

    /// The kernels as wgpu translates them: for Vulkan, for Metal and for Direct3D.
    #[test]
    fn kernels_are_translated_for_every_interface() {
        for (name, module, info) in [valid(&[]), valid(&["SUBGROUPS", "TABLES"])].into_iter().flatten() {
            let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
            assert!(spv::write_vec(&module, &info, &options, None).unwrap().len() > 500, "{name}");
            let options = msl::Options { lang_version: (2, 4), ..msl::Options::default() };
            let (text, _) = msl::write_string(&module, &info, &options, &msl::PipelineOptions::default()).unwrap();
            assert!(text.contains("kernel void main_("), "{name}");
            let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_0, ..hlsl::Options::default() };
            let mut text = String::new();
            hlsl::Writer::new(&mut text, &options, &hlsl::PipelineOptions::default())
                .write(&module, &info, None)
                .unwrap();
            assert!(text.contains("[numthreads("), "{name}");
        }
    }

    /// The limits that WebGPU guarantees: eight storage buffers, 256 invocations, 16 KiB of workgroup memory. The trace is a
    /// ninth buffer, and tables in several buffers are for GPUs that allow more.
    #[test]
    fn kernels_stay_within_the_limits_of_every_gpu() {
        for (name, module, info) in valid(&["SUBGROUPS"]) {
            let entry = &module.entry_points[0];
            let used = |space: fn(&AddressSpace) -> bool| {
                let used = module.global_variables.iter().filter(move |(_, variable)| space(&variable.space));
                used.filter(|(handle, _)| !info.get_entry_point(0)[*handle].is_empty())
            };
            assert!(used(|space| matches!(space, AddressSpace::Storage { .. })).count() <= 8, "{name}");
            assert!(entry.workgroup_size[0] <= 256 && entry.workgroup_size[1..] == [1, 1], "{name}");
            let bytes = |ty| module.types[ty].inner.size(module.to_ctx()).next_multiple_of(16);
            let shared: u32 =
                used(|space| *space == AddressSpace::WorkGroup).map(|(_, variable)| bytes(variable.ty)).sum();
            assert!(shared <= 16 << 10, "{name}: {shared} bytes");
        }
    }

    /// The fields of shared structs have the offsets of WGSL.
    #[test]
    fn structs_have_one_layout() {
        let module = parsed("shared", &(shared() + "@compute @workgroup_size(1) fn main() {}"));
        for Struct { name, bytes, fields } in STRUCTS {
            let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name)).unwrap().1;
            let TypeInner::Struct { members, span } = &found.inner else { panic!("{name}") };
            let offsets: Vec<usize> = members.iter().map(|member| member.offset as usize).collect();
            assert_eq!(offsets, fields.iter().map(|field| field.2).collect::<Vec<_>>(), "{name}");
            assert_eq!(*span as usize, *bytes, "{name}");
        }
    }
}
