//! The kernels in `shaders/`: their files, composed with the modules that they import, and the numbers that they share with
//! the program. Those are written once, here; `shaders/shared.wgsl` is made from them, and a test compares the two.

/// Defines constants here and lists them, with what is said of them, for the shaders.
macro_rules! constants {
    ($($(#[doc = $doc:literal])* $name:ident = $value:expr;)*) => {
        $($(#[doc = $doc])* #[allow(dead_code, reason = "some are only for the shaders")] pub(crate) const $name: u32 = $value;)*
        #[cfg(test)]
        const CONSTANTS: &[(&[&str], &str, u32)] = &[$((&[$($doc),*], stringify!($name), $name)),*];
    };
}

/// Defines a uniform struct here and lists its fields for the shaders.
macro_rules! uniform {
    ($(#[doc = $about:literal])* $name:ident { $($(#[doc = $doc:literal])* $field:ident,)* }) => {
        $(#[doc = $about])*
        #[derive(Copy, Clone, Debug, Default)]
        pub(crate) struct $name { $($(#[doc = $doc])* pub $field: u32,)* }

        impl $name {
            #[cfg(test)]
            const FIELDS: &[(&[&str], &str)] = &[$((&[$($doc),*], stringify!($field))),*];

            pub(crate) fn words(&self) -> Vec<u32> {
                vec![$(self.$field),*]
            }
        }
    };
}

constants! {
    /// No row, no value.
    NONE = u32::MAX;
    /// Workgroups along x where there may be more than one dimension takes.
    GROUPS_X = 32768;

    /// In a record's squares: the row stands for its mirror image too, and a row piece stands beside the enemy's den.
    RECORD_PAIR = 1 << 24;
    RECORD_DEN = 1 << 25;

    SIDE_FLAGS = 0;
    /// What to add to a row's number for the same row with the opponent to move, and where the opponent's block is.
    SIDE_OPPONENT = 1;
    SIDE_OTHER = 2;
    SIDE_FIRST_ROW = 3;
    SIDE_NUMBER = 4;
    SIDE_ROW_PIECES = 5;
    /// Squares from which the word piece, or the lane piece, leaps.
    SIDE_WORD_UP = 6;
    SIDE_WORD_DOWN = 8;
    SIDE_WORD_RIGHT = 10;
    SIDE_WORD_LEFT = 12;
    SIDE_LANE_UP = 14;
    SIDE_LANE_DOWN = 16;
    SIDE_LANE_RIGHT = 18;
    SIDE_LANE_LEFT = 20;
    /// Squares that the lane piece, and the word piece, may stand on.
    SIDE_LANES = 22;
    SIDE_WORDS_IN_PLAY = 24;
    /// Squares from which they enter the den.
    SIDE_DEN_WORD = 26;
    SIDE_DEN_LANE = 28;
    /// The moves of the mover's row pieces: eight for each piece and square. Of which pieces, as shifts in a record.
    SIDE_MOVES = 30;
    SIDE_SLOTS = 31;
    SIDE_MARK_SLOTS = 32;
    SIDE_MARKS_ITSELF = 33;
    SIDE_MOVERS = 34;
    /// What each row piece adds to a row's number on the square across the d-file.
    SIDE_MIRRORED = 38;
    /// Captures by the lane piece, then those of it, then the others.
    SIDE_CAPTURES = 39;
    SIDE_BY_LANE = 40;
    SIDE_OF_LANE = 41;
    SIDE_OTHERS = 42;
    SIDE_WORDS = 43;
    /// The lane piece, or the first row piece, is a rat that blocks leaps; the lowest bit must be the lane piece's.
    FLAG_LANE_BLOCKS = 1;
    FLAG_FIRST_BLOCKS = 2;
    /// The word piece, or the lane piece, is the mover's; and either leaps.
    FLAG_WORD_MOVES = 4;
    FLAG_LANE_MOVES = 8;
    FLAG_LEAPS = 16;

    /// A move: what it adds to the row's number, or for a mirrored one what the first piece adds there; the water it leaps
    /// over; whether there is a move; whether a row reached by it (backwards) is looked at.
    MOVE_DELTA_SHIFT = 8;
    MOVE_CROSSED = 31;
    MOVE_IS = 1 << 5;
    MOVE_MIRRORED = 1 << 6;
    MOVE_MARKS = 1 << 7;
    /// Slots 0 to 3 are moves, 4 is a mirrored move that leads here.
    MOVE_SLOTS = 5;

    CAPTURE_ATTACKER = 0;
    CAPTURE_VICTIM = 1;
    CAPTURE_PAGE = 2;
    CAPTURE_TABLE = 3;
    CAPTURE_OFFSETS = 4;
    /// From the straight offsets to the mirrored ones.
    CAPTURE_STRIDE = 5;
    CAPTURE_FIRST = 6;
    CAPTURE_MIRROR = 7;
    /// Where the attacker takes, by its square. For the lane piece, and for the word piece that takes a row piece: from
    /// where, by the victim's square.
    CAPTURE_HITS = 9;
    /// What the first row piece blocks of that, by its square (times the stride) and the same square.
    CAPTURE_BLOCKED = 10;
    CAPTURE_BLOCKED_STRIDE = 11;
    CAPTURE_CROSSING = 12;
    CAPTURE_WORDS = 13;

    /// Of what is left in a row: the positions left to decide; above them the sectors of its change log.
    LEFT_BITS = 12;
    LEFT = (1 << 12) - 1;
    /// A cell's code for a position lost in 0 plies, and for one without a move.
    CODE_OF_0_PLIES = 2;
    CODE_NO_MOVE = 2;

    /// Where masks by animal are in what perft knows of the rules; habitats for White and for Black.
    RULES_HABITAT = 2048;
    RULES_LEAPS_FILES = 2080;
    RULES_LEAPS_RANKS = 2096;
    RULES_OWN_RAT_BLOCKS = 2112;
}

uniform! {
    /// What a kernel of the tables is told.
    Params {
        /// The pass; 0 before the first.
        depth,
        /// The page, its first side row, and how many it has.
        page,
        first_row,
        rows,
        /// Side rows and pages in all, side rows of a page, and of a buffer of the plane that is read.
        side_rows,
        pages,
        page_rows,
        seen_rows,
        /// Where things are in `plan`.
        records,
        crossed,
        /// Where things are in `work`.
        args,
        worklist,
        stamps,
        left,
        counts,
        histogram,
        cursors,
        /// The conversions of this depth in this page, and how many the page has in all.
        entries_from,
        entries_to,
        entries_all,
        /// Whether a side without a move has lost.
        no_move_loses,
    }
}

uniform! {
    /// What a kernel of perft is told.
    PerftParams {
        /// The side to move in `frontier`: 0 for White, 1 for Black.
        turn,
        /// Where in `work` the number of positions in `frontier` is, and of those in `next_frontier`.
        frontier_count,
        next_count,
        /// Where in `work` the size of a dispatch goes, and the sum, low half first.
        groups,
        sum,
    }
}

/// Name and text of files in `shaders/`.
macro_rules! files {
    ($($name:ident),*) => { &[$((stringify!($name), include_str!(concat!("../shaders/", stringify!($name), ".wgsl")))),*] };
}

/// The modules that kernels import.
const MODULES: &[(&str, &str)] =
    files!(shared, words, group, buffers, rows, quiet, conversion_values, change_log, captures, perft);

/// The kernels of the tables, in the order in which they run.
pub(crate) const TABLE_KERNELS: &[(&str, &str)] =
    files!(conversions, buckets, no_move, first_rows, conversion_pass, quiet_pass, finish);
/// The kernels of perft.
pub(crate) const PERFT_KERNELS: &[(&str, &str)] = files!(perft_groups, perft_expand, perft_count);

/// The modules that a text imports: the word after `dsq::` in each line `#import dsq::module::...`.
fn imports(source: &str) -> impl Iterator<Item = &str> {
    let name = |line: &'_ str| -> Option<usize> { line.find([':', '{', ' ']) };
    source
        .lines()
        .filter_map(|line| line.strip_prefix("#import dsq::"))
        .map(move |rest| &rest[..name(rest).unwrap_or(rest.len())])
}

/// Appends the modules that `source` imports, each once, after the modules that it imports itself.
fn add_imports(source: &str, added: &mut Vec<&'static str>, text: &mut String, subgroups: bool) {
    for name in imports(source) {
        let (name, module) =
            MODULES.iter().find(|module| module.0 == name).unwrap_or_else(|| panic!("no module {name}"));
        if !added.contains(name) {
            added.push(name);
            add_imports(module, added, text, subgroups);
            add_code(module, text, subgroups);
        }
    }
}

/// Appends a file without its directives: `#ifdef SUBGROUPS` keeps one of its two branches.
fn add_code(source: &str, text: &mut String, subgroups: bool) {
    let (mut keep, mut in_import) = (true, false);
    for line in source.lines() {
        match line.split_whitespace().next() {
            Some("#ifdef") => keep = subgroups,
            Some("#else") => keep = !keep,
            Some("#endif") => keep = true,
            Some("#import") => in_import = line.contains('{') && !line.contains('}'),
            Some("#define_import_path") => (),
            _ if in_import => in_import = !line.contains('}'),
            _ if keep => text.extend([line, "\n"]),
            _ => (),
        }
    }
}

/// The WGSL of a kernel with the modules that it imports. `subgroups`: sums are made within subgroups first.
///
/// All names of the modules that one kernel imports are different, so the texts are put one after the other.
pub(crate) fn compose(kernel: &str, subgroups: bool) -> String {
    // naga has subgroup operations without `enable subgroups;`, and rejects the directive.
    let mut text = String::new();
    add_imports(kernel, &mut Vec::new(), &mut text, subgroups);
    add_code(kernel, &mut text, subgroups);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::geometry::{DEN, LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP, NOT_A, NOT_G, WATER};
    use crate::board::{Bitboard, Color, File};
    use std::fmt::Write;
    use wgpu::naga::front::wgsl::parse_str;
    use wgpu::naga::valid::{Capabilities, ValidationFlags, Validator};

    /// Sets of squares that kernels know by name.
    fn masks() -> Vec<(String, u64)> {
        let named = [
            ("NOT_A", NOT_A.bits()),
            ("NOT_G", NOT_G.bits()),
            ("WATER", WATER.bits()),
            ("LEAP_UP", LEAP_UP.bits()),
            ("LEAP_DOWN", LEAP_DOWN.bits()),
            ("LEAP_RIGHT", LEAP_RIGHT.bits()),
            ("LEAP_LEFT", LEAP_LEFT.bits()),
            ("DEN_WHITE", 1 << DEN[Color::White].index()),
            ("DEN_BLACK", 1 << DEN[Color::Black].index()),
        ];
        let files =
            ('A'..='G').zip(File::ALL).map(|(name, file)| (format!("MIRROR_{name}"), Bitboard::file(file).bits()));
        named.into_iter().map(|(name, bits)| (name.to_owned(), bits)).chain(files).collect()
    }

    /// The text of `shaders/shared.wgsl`.
    fn shared() -> String {
        let mut text =
            "#define_import_path dsq::shared\n\n// Made from src/shaders.rs. Do not edit: change it there, and run \
                        the tests with DSQ_WRITE_SHADERS=1.\n\n"
                .to_owned();
        for (docs, name, value) in CONSTANTS {
            docs.iter().for_each(|doc| _ = writeln!(text, "///{doc}"));
            _ = writeln!(text, "const {name}: u32 = {value}u;");
        }
        text += "\n// Sets of squares, in two halves, the low one first; MIRROR_X are the squares of a file.\n";
        for (name, bits) in masks() {
            _ = writeln!(text, "const {name} = vec2<u32>({:#x}u, {:#x}u);", bits as u32, bits >> 32);
        }
        for (name, fields) in [("Params", Params::FIELDS), ("PerftParams", PerftParams::FIELDS)] {
            _ = writeln!(text, "\nstruct {name} {{");
            for (docs, field) in fields {
                docs.iter().for_each(|doc| _ = writeln!(text, "    ///{doc}"));
                _ = writeln!(text, "    {field}: u32,");
            }
            text += "}\n";
        }
        text
    }

    #[test]
    fn shared_module_is_what_the_program_says() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/shared.wgsl");
        if std::env::var_os("DSQ_WRITE_SHADERS").is_some() {
            std::fs::write(file, shared()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), shared(), "run this test with DSQ_WRITE_SHADERS=1");
    }

    #[test]
    fn kernels_are_valid_with_and_without_subgroups() {
        for subgroups in [false, true] {
            let capabilities = if subgroups { Capabilities::SUBGROUP } else { Capabilities::empty() };
            for (name, source) in TABLE_KERNELS.iter().chain(PERFT_KERNELS) {
                let text = compose(source, subgroups);
                assert_eq!(text.contains("subgroupAdd"), subgroups && text.contains("fn group_sum"), "{name}");
                let module = parse_str(&text).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&text)));
                let mut validator = Validator::new(ValidationFlags::all(), capabilities);
                validator.validate(&module).unwrap_or_else(|e| panic!("{name}, subgroups {subgroups}: {e:?}"));
            }
        }
    }

    /// A module comes before what imports it, and once.
    #[test]
    fn imports_are_followed_once() {
        let text = compose("#import dsq::captures::{\n    hits,\n}\n#import dsq::words::has\nfn main() {}", false);
        for name in ["fn has(", "fn hits(", "struct Record", "fn main("] {
            assert_eq!(text.matches(name).count(), 1, "{name}");
        }
        assert!(!text.contains('#') && !text.contains("    hits,"), "{text}");
    }
}
