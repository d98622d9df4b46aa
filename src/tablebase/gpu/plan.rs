//! What the kernels read: the side rows of a batch of classes, their moves and captures, as one array of u32. The numbers
//! that say where in it something is are written into the shaders from here.

use crate::board::geometry::{LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP};
use crate::board::{ByColor, Color, Direction, Square};
use crate::tablebase::class::Classes;
use crate::tablebase::index::{Index, ROW_CELLS, WIDTH, squares_in_play};
use crate::tablebase::quiet::{FILE_A, NOT_A, NOT_G, QuietMoves};
use crate::tablebase::seeds::{Capture, HOLD, NOTHING, SeedMoves, WIN_AT_ONCE, Worth, worth};
use crate::tablebase::value::{DRAW, NO_MOVE, decided};
use crate::tablebase::{ClassId, Material};
use std::fmt::Write;

/// Defines constants here and lists them for the shaders.
macro_rules! shared {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* #[allow(dead_code, reason = "some are only for the shaders")] pub(super) const $name: u32 = $value;)*
        const SHARED: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

shared! {
    /// u32 of a side row's record: squares, side, where its sources and its marks start.
    RECORD_WORDS = 4;
    /// In the squares: a row piece stands beside the enemy's den. The row stands for its mirror image too.
    RECORD_DEN = 1 << 24;
    RECORD_PAIR = 1 << 25;
    /// A source: the side row, whether it is mirrored, what the move leaps over.
    SOURCE_ROW = (1 << 24) - 1;
    SOURCE_MIRRORED = 1 << 24;
    SOURCE_CROSSED_SHIFT = 25;
    /// A word leap: there is one; below it the water leapt over and the goal.
    LEAP_IS = 1 << 15;

    SIDE_FLAGS = 0;
    SIDE_OPPONENT = 1;
    SIDE_WORD_LEAPS = 2;
    SIDE_ROW_PIECES = 3;
    SIDE_LANE_UP = 4;
    SIDE_LANE_DOWN = 6;
    SIDE_LANE_RIGHT = 8;
    SIDE_LANE_LEFT = 10;
    SIDE_LANES = 12;
    SIDE_WORDS_IN_PLAY = 14;
    SIDE_DEN_WORD = 16;
    SIDE_DEN_LANE = 18;
    SIDE_CAPTURES = 20;
    SIDE_CAPTURE_COUNT = 21;
    SIDE_WORDS = 22;
    FLAG_WORD = 1;
    FLAG_LANE = 2;
    FLAG_LANE_LEAPS = 4;
    FLAG_LANE_BLOCKS = 8;
    FLAG_FIRST_BLOCKS = 16;

    CAPTURE_ATTACKER = 0;
    CAPTURE_VICTIM = 1;
    CAPTURE_TABLE = 2;
    CAPTURE_OFFSETS = 3;
    CAPTURE_FIRST = 4;
    CAPTURE_HITS_FROM = 5;
    CAPTURE_HITS_TO = 6;
    CAPTURE_MIRROR = 7;
    CAPTURE_WORDS = 9;

    CODE_OF_0_PLIES = decided(0) as u32;
    CODE_NO_MOVE = NO_MOVE as u32;
    WORTH_HOLD = 128;
    WORTH_WIN_AT_ONCE = 255;

    /// Counters of a side: positions without a move, then by plies, then what no pass decided.
    COUNTS = 256;
    COUNT_UNDECIDED = 255;
    WORK_LIVE = 0;
    WORK_HISTOGRAM = 256;
    WORK_CURSORS = 512;
    WORK_COUNTS = 768;
    WORK_ROWS = WORK_COUNTS + 2 * MAX_CLASSES * COUNTS;
}

/// Classes of a batch at most.
pub(super) const MAX_CLASSES: u32 = 256;
/// The longest line that the kernels count: one byte a cell.
pub(super) const MAX_DEPTH: u16 = 253;

const NONE: u32 = u32::MAX;

const _: () = assert!(DRAW == 1 && NO_MOVE == 2, "finish.wgsl tells the two apart by their bits");

/// The constants above and those of the board, as WGSL.
pub(super) fn constants() -> String {
    let mut text = String::new();
    for (name, value) in SHARED {
        writeln!(text, "const {name} = {value}u;").expect("strings take all");
    }
    let mut mask = |name: &str, mask: u64| {
        let [low, high] = halves(mask);
        writeln!(text, "const {name} = vec2<u32>({low}u, {high}u);").expect("strings take all");
    };
    mask("NOT_A", NOT_A);
    mask("NOT_G", NOT_G);
    for file in 0..7 {
        mask(&format!("MIRROR_FILE_{file}"), FILE_A << file);
    }
    text
}

fn halves(mask: u64) -> [u32; 2] {
    [mask as u32, (mask >> 32) as u32]
}

/// A worth as a byte: 0 nothing, k / 2 a loss in k, 128 a draw, 255 - k / 2 a win in k. Greater is better.
fn worth_byte(worth: Worth) -> u32 {
    match worth {
        NOTHING => 0,
        HOLD => WORTH_HOLD,
        loss if loss < HOLD => u32::from(loss / 2),
        win => WORTH_WIN_AT_ONCE - u32::from((WIN_AT_ONCE - win) / 2),
    }
}

/// The depth at which seeds with this worth count.
pub(super) fn depth_of_worth(byte: usize) -> usize {
    if byte < WORTH_HOLD as usize { 2 * byte } else { 2 * (WORTH_WIN_AT_ONCE as usize - byte) + 1 }
}

/// The order of the sides to move.
const SIDES: [Color; 2] = [Color::White, Color::Black];

fn side_number(class: usize, color: Color) -> usize {
    2 * class + usize::from(color == Color::Black)
}

/// A class in a batch.
pub(super) struct Member {
    pub id: ClassId,
    pub material: Material,
    pub rows: usize,
    /// The first side row; White's come first, then Black's.
    pub first: usize,
}

impl Member {
    /// The first side row of one side to move.
    pub fn side(&self, color: Color) -> usize {
        self.first + if color == Color::White { 0 } else { self.rows }
    }

    pub fn cells(&self) -> usize {
        self.rows * ROW_CELLS
    }
}

/// The plan of a batch.
pub(super) struct Plan {
    pub data: Vec<u32>,
    pub members: Vec<Member>,
    pub side_rows: usize,
    pub records: u32,
    pub sides: u32,
    pub crossed: u32,
    pub crossing: u32,
    pub worth: u32,
}

/// All sets of squares that a leap crosses, the empty one first.
struct Crossed(Vec<u64>);

impl Crossed {
    fn new() -> Crossed {
        let mut all = vec![0];
        for from in Square::all() {
            for direction in Direction::ALL {
                if let Some((_, crossed)) = from.leap(direction)
                    && !all.contains(&crossed.bits())
                {
                    all.push(crossed.bits());
                }
            }
        }
        debug_assert!(all.len() <= 32);
        Crossed(all)
    }

    fn code(&self, crossed: u64) -> u32 {
        self.0.iter().position(|&c| c == crossed).expect("the water of a leap") as u32
    }
}

impl Plan {
    /// Plans a batch. `table` says where in the buffer of tables the values of a class for one side to move start.
    pub fn new(ids: &[ClassId], classes: &Classes, table: &dyn Fn(usize, Color) -> u32) -> Plan {
        let options = classes.options();
        let crossed = Crossed::new();
        let mut plan = Plan {
            data: Vec::new(),
            members: Vec::new(),
            side_rows: 0,
            records: 0,
            sides: 0,
            crossed: 0,
            crossing: 0,
            worth: 0,
        };
        plan.crossed = plan.extend(crossed.0.iter().flat_map(|&c| halves(c)));
        let mut crossing = vec![0; WIDTH * WIDTH];
        for from in Square::all() {
            for (to, water) in Direction::ALL.into_iter().filter_map(|d| from.leap(d)) {
                crossing[from.index() * WIDTH + to.index()] = crossed.code(water.bits());
            }
        }
        plan.crossing = plan.extend(crossing);
        plan.worth = plan.extend((0..256).map(|code| worth_byte(worth(code, options))));

        let indexes: Vec<Index> = ids.iter().map(|&id| Index::new(classes.get(id).representative)).collect();
        for (&id, index) in ids.iter().zip(&indexes) {
            let material = classes.get(id).representative;
            plan.members.push(Member { id, material, rows: index.rows, first: plan.side_rows });
            plan.side_rows += 2 * index.rows;
        }
        plan.sides = plan.extend(vec![0; ids.len() * 2 * SIDE_WORDS as usize]);
        plan.records = plan.extend(vec![0; (plan.side_rows + 1) * RECORD_WORDS as usize]);
        let moves: Vec<ByColor<(QuietMoves, SeedMoves)>> = indexes
            .iter()
            .map(|index| {
                ByColor::from_fn(|color| {
                    (QuietMoves::new(index, color, options), SeedMoves::new(index, color, classes))
                })
            })
            .collect();
        // The rows' lists come last and without a gap, since each record ends where the next one starts.
        for (c, (index, moves)) in indexes.iter().zip(&moves).enumerate() {
            for color in SIDES {
                plan.side(c, color, index, &moves[color], &crossed, table);
            }
        }
        for (c, (index, moves)) in indexes.iter().zip(&moves).enumerate() {
            for color in SIDES {
                plan.rows(c, color, index, moves, &crossed);
            }
        }
        let end = plan.data.len() as u32;
        let last = plan.records as usize + plan.side_rows * RECORD_WORDS as usize;
        plan.data[last + 2] = end;
        plan.data[last + 3] = end;
        plan
    }

    fn extend(&mut self, values: impl IntoIterator<Item = u32>) -> u32 {
        let at = self.data.len() as u32;
        self.data.extend(values);
        at
    }

    fn side(
        &mut self,
        class: usize,
        color: Color,
        index: &Index,
        (moves, seeds): &(QuietMoves, SeedMoves),
        crossed: &Crossed,
        table: &dyn Fn(usize, Color) -> u32,
    ) {
        let mut words = [0u32; WIDTH];
        for leap in moves.word.iter().flatten() {
            let packed = LEAP_IS | crossed.code(leap.crossed) << 6 | leap.to as u32;
            let slot = &mut words[leap.from];
            assert!(*slot >> 16 == 0, "no square has more than two leaps");
            *slot = *slot << 16 | packed;
        }
        let word_leaps = self.extend(words);
        let captures: Vec<[u32; CAPTURE_WORDS as usize]> =
            seeds.captures.iter().map(|capture| self.capture(capture, table)).collect();
        let count = captures.len() as u32;
        let captures = self.extend(captures.into_iter().flatten());

        let member = &self.members[class];
        let opponent = member.side(!color).wrapping_sub(member.side(color)) as u32;
        let n = index.men.len();
        let mut flags = 0;
        let mut flag = |set: bool, bit: u32| flags |= if set { bit } else { 0 };
        flag(moves.word.is_some(), FLAG_WORD);
        flag(moves.lane.is_some(), FLAG_LANE);
        flag(moves.lane.is_some_and(|l| l.files | l.ranks != 0), FLAG_LANE_LEAPS);
        flag(moves.lane_blocks, FLAG_LANE_BLOCKS);
        flag(moves.first_blocks, FLAG_FIRST_BLOCKS);
        let at = self.sides as usize + side_number(class, color) * SIDE_WORDS as usize;
        let mut set = |place: u32, values: &[u32]| {
            let at = at + place as usize;
            self.data[at..at + values.len()].copy_from_slice(values);
        };
        set(SIDE_FLAGS, &[flags]);
        set(SIDE_OPPONENT, &[opponent]);
        set(SIDE_WORD_LEAPS, &[word_leaps]);
        set(SIDE_ROW_PIECES, &[n as u32 - 2]);
        if let Some(leaps) = moves.lane {
            set(SIDE_LANE_UP, &halves(LEAP_UP.bits() & leaps.files));
            set(SIDE_LANE_DOWN, &halves(LEAP_DOWN.bits() & leaps.files));
            set(SIDE_LANE_RIGHT, &halves(LEAP_RIGHT.bits() & leaps.ranks));
            set(SIDE_LANE_LEFT, &halves(LEAP_LEFT.bits() & leaps.ranks));
        }
        set(SIDE_LANES, &halves(squares_in_play(index.lane_piece()).bits()));
        set(SIDE_WORDS_IN_PLAY, &halves(squares_in_play(index.word_piece()).bits()));
        set(SIDE_DEN_WORD, &halves(seeds.den_entries[n - 2]));
        set(SIDE_DEN_LANE, &halves(seeds.den_entries[n - 1]));
        set(SIDE_CAPTURES, &[captures]);
        set(SIDE_CAPTURE_COUNT, &[count]);
    }

    fn capture(&mut self, capture: &Capture, table: &dyn Fn(usize, Color) -> u32) -> [u32; CAPTURE_WORDS as usize] {
        let masks = |hits: &[Vec<(Square, u64)>]| {
            hits.iter()
                .flat_map(|hits| halves(hits.iter().fold(0, |mask, (square, _)| mask | 1 << square.index())))
                .collect::<Vec<u32>>()
        };
        let mut words = [0; CAPTURE_WORDS as usize];
        words[CAPTURE_ATTACKER as usize] = capture.attacker as u32;
        words[CAPTURE_VICTIM as usize] = capture.victim as u32;
        words[CAPTURE_HITS_FROM as usize] = self.extend(masks(&capture.hits_from));
        words[CAPTURE_HITS_TO as usize] = self.extend(masks(&capture.hits_to));
        words[CAPTURE_TABLE as usize] = NONE;
        words[CAPTURE_FIRST as usize] = NONE - 1;
        if let Some(rest) = &capture.rest {
            words[CAPTURE_TABLE as usize] = table(rest.table, rest.turn);
            words[CAPTURE_OFFSETS as usize] = self.extend(rest.offsets.iter().flatten().flatten().copied());
            if let Some((first, mirror)) = rest.first {
                words[CAPTURE_FIRST as usize] = first as u32;
                words[CAPTURE_MIRROR as usize..][..2].copy_from_slice(&halves(mirror));
            }
        }
        words
    }

    fn rows(
        &mut self,
        class: usize,
        color: Color,
        index: &Index,
        moves: &ByColor<(QuietMoves, SeedMoves)>,
        crossed: &Crossed,
    ) {
        let (quiet, seeds) = &moves[color];
        let side = side_number(class, color) as u32;
        let (here, there) = (self.members[class].side(color), self.members[class].side(!color) as u32);
        for row in 0..index.rows {
            let mut squares = 0;
            let mut den = false;
            for (piece, square) in index.row_squares(row).enumerate() {
                squares |= (square.index() as u32) << (6 * piece);
                den |= seeds.den_entries[piece] >> square.index() & 1 != 0;
            }
            squares |= if den { RECORD_DEN } else { 0 } | if index.weight(row) == 2 { RECORD_PAIR } else { 0 };
            let sources = self.data.len() as u32;
            let data = &mut self.data;
            quiet.sources(index, row, |other, mirrored, water| {
                let mirrored = if mirrored { SOURCE_MIRRORED } else { 0 };
                data.push((there + other as u32) | mirrored | crossed.code(water) << SOURCE_CROSSED_SHIFT);
            });
            let marks = data.len() as u32;
            moves[!color].0.rows_into(index, row, |other| data.push(there + other as u32));
            let at = self.records as usize + (here + row) * RECORD_WORDS as usize;
            self.data[at..at + 4].copy_from_slice(&[squares, side, sources, marks]);
        }
    }
}

/// Bytes that the cells of a class take, both sides to move.
pub(super) fn cell_bytes(material: Material) -> u64 {
    2 * Index::new(material).rows as u64 * ROW_CELLS as u64
}
