#define_import_path dsq::shared

// Made from src/shaders.rs. Do not edit: change it there, and run the tests with DSQ_WRITE_SHADERS=1.

/// No row, no value.
const NONE: u32 = 4294967295u;
/// Workgroups along x where there may be more than one dimension takes.
const GROUPS_X: u32 = 32768u;
/// In a record's squares: the row stands for its mirror image too, and a row piece stands beside the enemy's den.
const RECORD_PAIR: u32 = 16777216u;
const RECORD_DEN: u32 = 33554432u;
const SIDE_FLAGS: u32 = 0u;
/// What to add to a row's number for the same row with the opponent to move, and where the opponent's block is.
const SIDE_OPPONENT: u32 = 1u;
const SIDE_OTHER: u32 = 2u;
const SIDE_FIRST_ROW: u32 = 3u;
const SIDE_NUMBER: u32 = 4u;
const SIDE_ROW_PIECES: u32 = 5u;
/// Squares from which the word piece, or the lane piece, leaps.
const SIDE_WORD_UP: u32 = 6u;
const SIDE_WORD_DOWN: u32 = 8u;
const SIDE_WORD_RIGHT: u32 = 10u;
const SIDE_WORD_LEFT: u32 = 12u;
const SIDE_LANE_UP: u32 = 14u;
const SIDE_LANE_DOWN: u32 = 16u;
const SIDE_LANE_RIGHT: u32 = 18u;
const SIDE_LANE_LEFT: u32 = 20u;
/// Squares that the lane piece, and the word piece, may stand on.
const SIDE_LANES: u32 = 22u;
const SIDE_WORDS_IN_PLAY: u32 = 24u;
/// Squares from which they enter the den.
const SIDE_DEN_WORD: u32 = 26u;
const SIDE_DEN_LANE: u32 = 28u;
/// The moves of the mover's row pieces: eight for each piece and square. Of which pieces, as shifts in a record.
const SIDE_MOVES: u32 = 30u;
const SIDE_SLOTS: u32 = 31u;
const SIDE_MARK_SLOTS: u32 = 32u;
const SIDE_MARKS_ITSELF: u32 = 33u;
const SIDE_MOVERS: u32 = 34u;
/// What each row piece adds to a row's number on the square across the d-file.
const SIDE_MIRRORED: u32 = 38u;
/// Captures by the lane piece, then those of it, then the others.
const SIDE_CAPTURES: u32 = 39u;
const SIDE_BY_LANE: u32 = 40u;
const SIDE_OF_LANE: u32 = 41u;
const SIDE_OTHERS: u32 = 42u;
const SIDE_WORDS: u32 = 43u;
/// The lane piece, or the first row piece, is a rat that blocks leaps; the lowest bit must be the lane piece's.
const FLAG_LANE_BLOCKS: u32 = 1u;
const FLAG_FIRST_BLOCKS: u32 = 2u;
/// The word piece, or the lane piece, is the mover's; and either leaps.
const FLAG_WORD_MOVES: u32 = 4u;
const FLAG_LANE_MOVES: u32 = 8u;
const FLAG_LEAPS: u32 = 16u;
/// A move: what it adds to the row's number, or for a mirrored one what the first piece adds there; the water it leaps
/// over; whether there is a move; whether a row reached by it (backwards) is looked at.
const MOVE_DELTA_SHIFT: u32 = 8u;
const MOVE_CROSSED: u32 = 31u;
const MOVE_IS: u32 = 32u;
const MOVE_MIRRORED: u32 = 64u;
const MOVE_MARKS: u32 = 128u;
/// Slots 0 to 3 are moves, 4 is a mirrored move that leads here.
const MOVE_SLOTS: u32 = 5u;
const CAPTURE_ATTACKER: u32 = 0u;
const CAPTURE_VICTIM: u32 = 1u;
const CAPTURE_PAGE: u32 = 2u;
const CAPTURE_TABLE: u32 = 3u;
const CAPTURE_OFFSETS: u32 = 4u;
/// From the straight offsets to the mirrored ones.
const CAPTURE_STRIDE: u32 = 5u;
const CAPTURE_FIRST: u32 = 6u;
const CAPTURE_MIRROR: u32 = 7u;
/// Where the attacker takes, by its square. For the lane piece, and for the word piece that takes a row piece: from
/// where, by the victim's square.
const CAPTURE_HITS: u32 = 9u;
/// What the first row piece blocks of that, by its square (times the stride) and the same square.
const CAPTURE_BLOCKED: u32 = 10u;
const CAPTURE_BLOCKED_STRIDE: u32 = 11u;
const CAPTURE_CROSSING: u32 = 12u;
const CAPTURE_WORDS: u32 = 13u;
/// Of what is left in a row: the positions left to decide; above them the sectors of its change log.
const LEFT_BITS: u32 = 12u;
const LEFT: u32 = 4095u;
/// A cell's code for a position lost in 0 plies, and for one without a move.
const CODE_OF_0_PLIES: u32 = 2u;
const CODE_NO_MOVE: u32 = 2u;
/// Where masks by animal are in what perft knows of the rules; habitats for White and for Black.
const RULES_HABITAT: u32 = 2048u;
const RULES_LEAPS_FILES: u32 = 2080u;
const RULES_LEAPS_RANKS: u32 = 2096u;
const RULES_OWN_RAT_BLOCKS: u32 = 2112u;

// Sets of squares, in two halves, the low one first; MIRROR_X are the squares of a file.
const NOT_A = vec2<u32>(0xefdfbf7eu, 0x7efdfbf7u);
const NOT_G = vec2<u32>(0xf7efdfbfu, 0x3f7efdfbu);
const WATER = vec2<u32>(0x66c00000u, 0x1b3u);
const LEAP_UP = vec2<u32>(0xd8000u, 0x0u);
const LEAP_DOWN = vec2<u32>(0x0u, 0xd800u);
const LEAP_RIGHT = vec2<u32>(0x91200000u, 0x48u);
const LEAP_LEFT = vec2<u32>(0x89000000u, 0x244u);
const DEN_WHITE = vec2<u32>(0x8u, 0x0u);
const DEN_BLACK = vec2<u32>(0x0u, 0x8000000u);
const MIRROR_A = vec2<u32>(0x10204081u, 0x1020408u);
const MIRROR_B = vec2<u32>(0x20408102u, 0x2040810u);
const MIRROR_C = vec2<u32>(0x40810204u, 0x4081020u);
const MIRROR_D = vec2<u32>(0x81020408u, 0x8102040u);
const MIRROR_E = vec2<u32>(0x2040810u, 0x10204081u);
const MIRROR_F = vec2<u32>(0x4081020u, 0x20408102u);
const MIRROR_G = vec2<u32>(0x8102040u, 0x40810204u);

struct Params {
    /// The pass; 0 before the first.
    depth: u32,
    /// The page, its first side row, and how many it has.
    page: u32,
    first_row: u32,
    rows: u32,
    /// Side rows and pages in all, side rows of a page, and of a buffer of the plane that is read.
    side_rows: u32,
    pages: u32,
    page_rows: u32,
    seen_rows: u32,
    /// Where things are in `plan`.
    records: u32,
    crossed: u32,
    /// Where things are in `work`.
    args: u32,
    worklist: u32,
    stamps: u32,
    left: u32,
    counts: u32,
    histogram: u32,
    cursors: u32,
    /// The conversions of this depth in this page, and how many the page has in all.
    entries_from: u32,
    entries_to: u32,
    entries_all: u32,
    /// Whether a side without a move has lost.
    no_move_loses: u32,
}

struct PerftParams {
    /// The side to move in `frontier`: 0 for White, 1 for Black.
    turn: u32,
    /// Where in `work` the number of positions in `frontier` is, and of those in `next_frontier`.
    frontier_count: u32,
    next_count: u32,
    /// Where in `work` the size of a dispatch goes, and the sum, low half first.
    groups: u32,
    sum: u32,
}
