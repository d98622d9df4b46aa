//! Positions with their labels, 24 bytes each, and files of them.
//!
//! ## File
//!
//! A header of 48 bytes, then records of 24 bytes in the order of their games. Little-endian.
//!
//! | bytes of the header | content |
//! |---|---|
//! | 8 | `DSQDATA` and the version, 1 |
//! | 8 | `RuleOptions::table_hash` of the rules |
//! | 8 | seed |
//! | 8 | nodes of each search, 0 for positions of endgame tables |
//! | 8 | hash of the network that played, 0 for Burnett's evaluation; for positions of endgame tables the hash of their materials |
//! | 1 | 1 if the games have sidelines, otherwise 0 |
//! | 1 | the repetition rule of the games: 0 threefold, 1 twofold, 2 illegal, 3 none; 0 for positions of endgame tables |
//! | 1 | the most pieces of the tables that ended the games; 0 for 4, and for positions of endgame tables |
//! | 5 | 0 |
//!
//! | bits of a record | content |
//! |---|---|
//! | 16 × 6 | the square of each white, then of each black animal, weakest first; 63: not on the board |
//! | 1 | the side to move: 1 for Black |
//! | 2 | the result for the side to move: 0 loss, 1 draw, 2 win |
//! | 1 | whether the score alone is the label, not the result |
//! | 4 | 0 |
//! | 8 | the halfmove clock |
//! | 16 | the score in cp for the side to move, signed |
//! | 32 | the number of the game |
//! | 32 | the ply of the game |

use super::error::TrainingError;
use doushouqi::board::{Animal, Color, Piece, Position, Repetition, RuleOptions, Setup, Square};
use doushouqi::search::Evaluation;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const RECORD: usize = 24;
const HEADER: usize = 48;
const MAGIC: &[u8; 7] = b"DSQDATA";
const VERSION: u8 = 1;
/// The square of an animal that is not on the board.
const ABSENT: u8 = 63;

/// A position of a game with its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The position.
    pub position: Position,
    /// The halfmove clock.
    pub halfmove_clock: u8,
    /// The score of the search in cp for the side to move.
    pub score: i16,
    /// The result for the side to move: -1 loss, 0 draw, 1 win.
    pub result: i8,
    /// Whether the score alone is the label: it is that of endgame tables, or the position is in a sideline.
    pub score_only: bool,
    /// The number of the game.
    pub game: u32,
    /// The ply of the game.
    pub ply: u32,
}

/// A record in the form of the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packed([u8; RECORD]);

impl Record {
    pub(crate) fn pack(&self) -> Packed {
        let mut bits = 0;
        for color in Color::ALL {
            for animal in Animal::ALL {
                let square = self.position.square_of(color, animal).map_or(ABSENT, |square| square.index() as u8);
                bits |= u128::from(square) << (6 * (8 * color as usize + animal.index()));
            }
        }
        let mut bytes = [0; RECORD];
        bytes[..12].copy_from_slice(&bits.to_le_bytes()[..12]);
        bytes[12] = self.position.turn() as u8 | ((self.result + 1) as u8) << 1 | u8::from(self.score_only) << 3;
        bytes[13] = self.halfmove_clock;
        bytes[14..16].copy_from_slice(&self.score.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.game.to_le_bytes());
        bytes[20..].copy_from_slice(&self.ply.to_le_bytes());
        Packed(bytes)
    }
}

impl Packed {
    /// The square of each animal, White's first; 63 for an animal that is not on the board.
    #[inline]
    pub fn squares(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..12].copy_from_slice(&self.0[..12]);
        let bits = u128::from_le_bytes(bytes);
        std::array::from_fn(|i| (bits >> (6 * i)) as u8 & 63)
    }

    /// The side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        Color::ALL[usize::from(self.0[12] & 1)]
    }

    /// The result for the side to move: -1 loss, 0 draw, 1 win.
    #[inline]
    pub fn result(&self) -> i8 {
        (self.0[12] >> 1 & 3) as i8 - 1
    }

    /// The score in cp for the side to move.
    #[inline]
    pub fn score(&self) -> i16 {
        i16::from_le_bytes([self.0[14], self.0[15]])
    }

    /// Whether the score alone is the label.
    #[inline]
    pub fn score_only(&self) -> bool {
        self.0[12] >> 3 & 1 == 1
    }

    /// The number of the game.
    pub fn game(&self) -> u32 {
        u32::from_le_bytes([self.0[16], self.0[17], self.0[18], self.0[19]])
    }

    /// Checks and decodes the record.
    pub fn unpack(&self) -> Result<Record, String> {
        let mut setup = Setup::empty(self.turn());
        for (i, index) in self.squares().into_iter().enumerate().filter(|&(_, index)| index != ABSENT) {
            let piece = Piece { color: Color::ALL[i / 8], animal: Animal::ALL[i % 8] };
            let square = Square::all().nth(index.into()).ok_or("a square is out of range")?;
            if setup.squares[square.index()].replace(piece).is_some() {
                return Err(format!("two pieces stand on {square}"));
            }
        }
        let position = Position::from_setup(&setup).map_err(|error| error.to_string())?;
        if self.0[12] > 15 || self.result() > 1 {
            return Err("its flags are out of range".to_owned());
        }
        Ok(Record {
            position,
            halfmove_clock: self.0[13],
            score: self.score(),
            result: self.result(),
            score_only: self.score_only(),
            game: self.game(),
            ply: u32::from_le_bytes([self.0[20], self.0[21], self.0[22], self.0[23]]),
        })
    }
}

/// The settings with which the records of a file were generated.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// `RuleOptions::table_hash` of the rules.
    pub rules: u64,
    /// The seed.
    pub seed: u64,
    /// The nodes of each search; 0 for positions of endgame tables.
    pub nodes: u64,
    /// The hash of the network that played, 0 for Burnett's evaluation. For positions of endgame tables, the hash of
    /// their materials.
    pub evaluation: u64,
    /// Whether the games have sidelines, see [`Datagen::sidelines`](super::Datagen::sidelines).
    pub sidelines: bool,
    /// The repetition rule of the games, which `rules` does not contain; the default for positions of endgame tables.
    pub repetition: Repetition,
    /// The most pieces of the tables that ended the games; [`PIECES`] for positions of endgame tables.
    pub pieces: u8,
}

/// The usual number of pieces of the tables that end games.
pub const PIECES: u8 = 4;

impl Header {
    /// The header of games under these rules, played by an evaluation and ended by tables of up to `pieces` pieces.
    #[must_use]
    pub fn new(
        rules: &RuleOptions,
        seed: u64,
        nodes: u64,
        evaluation: &Evaluation,
        sidelines: bool,
        pieces: u8,
    ) -> Header {
        let evaluation = evaluation.network(rules).map_or(0, |network| network.hash());
        Header { rules: rules.table_hash(), seed, nodes, evaluation, sidelines, repetition: rules.repetition, pieces }
    }

    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..7].copy_from_slice(MAGIC);
        bytes[7] = VERSION;
        for (i, value) in [self.rules, self.seed, self.nodes, self.evaluation].into_iter().enumerate() {
            bytes[8 + 8 * i..16 + 8 * i].copy_from_slice(&value.to_le_bytes());
        }
        bytes[40] = self.sidelines.into();
        bytes[41] = self.repetition as u8;
        bytes[42] = if self.pieces == PIECES { 0 } else { self.pieces };
        bytes
    }

    fn from_bytes(bytes: &[u8; HEADER]) -> Result<Header, String> {
        if !bytes.starts_with(MAGIC) {
            return Err("it is not a file of training data: it does not begin with DSQDATA".to_owned());
        }
        if bytes[7] != VERSION {
            return Err(format!("its format is {}; this program reads format {VERSION}", bytes[7]));
        }
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 + 8 * i + byte]));
        let [sidelines @ 0..=1, repetition, pieces @ (0 | 2 | 3), 0, 0, 0, 0, 0] = bytes[40..] else {
            return Err(format!("its header contains {:#x} for sidelines, repetition and pieces", word(4)));
        };
        let repetition = Repetition::ALL.get(usize::from(repetition)).copied();
        let repetition = repetition.ok_or("its header contains an unknown repetition rule")?;
        let (rules, seed, nodes, evaluation) = (word(0), word(1), word(2), word(3));
        let pieces = if pieces == 0 { PIECES } else { pieces };
        Ok(Header { rules, seed, nodes, evaluation, sidelines: sidelines == 1, repetition, pieces })
    }
}

/// A file of training data that is being written.
pub struct DataFile {
    path: PathBuf,
    file: File,
    next_game: u32,
    records: u64,
}

impl DataFile {
    /// Creates a file, or continues one with the same header. The last game may have been cut off, so it is the next to
    /// write; the file keeps it until then.
    ///
    /// # Errors
    /// If the file cannot be written, is not training data, or has another header.
    pub fn open(path: &Path, header: &Header) -> Result<DataFile, TrainingError> {
        let io = |error| TrainingError::Io { path: path.to_owned(), error };
        let content = |reason| TrainingError::Content { path: path.to_owned(), reason };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let len = file.metadata().map_err(io)?.len();
        let mut data = DataFile { path: path.to_owned(), file, next_game: 0, records: 0 };
        if len < HEADER as u64 {
            let mut bytes = Vec::new();
            data.file.read_to_end(&mut bytes).map_err(io)?;
            if !header.to_bytes().starts_with(&bytes) {
                return Err(content("it is not a file of training data".to_owned()));
            }
            data.truncate(0)?;
            data.write(&header.to_bytes())?;
            return Ok(data);
        }
        file = data.file.try_clone().map_err(io)?;
        let mut bytes = [0; HEADER];
        file.read_exact(&mut bytes).map_err(io)?;
        let found = Header::from_bytes(&bytes).map_err(content)?;
        if found != *header {
            let sidelines = if found.sidelines { "with" } else { "without" };
            let reason = format!(
                "it was made with seed {} and {} nodes, {sidelines} sidelines, by tables of {} pieces, or by other rules or \
                 another network, or from other tables",
                found.seed, found.nodes, found.pieces
            );
            return Err(content(reason));
        }
        // Searches backwards from the end to the first record of the last game.
        let mut records = (len - HEADER as u64) / RECORD as u64;
        let mut record = Packed([0; RECORD]);
        let mut last = None;
        while records > 0 {
            file.seek(SeekFrom::Start(HEADER as u64 + (records - 1) * RECORD as u64)).map_err(io)?;
            file.read_exact(&mut record.0).map_err(io)?;
            if *last.get_or_insert(record.game()) != record.game() {
                break;
            }
            records -= 1;
        }
        data.next_game = last.unwrap_or(0);
        data.records = records;
        Ok(data)
    }

    /// The number of the next game to write.
    #[must_use]
    pub fn next_game(&self) -> u32 {
        self.next_game
    }

    /// The records of the games before the next.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Writes the records of the next game, in place of all that the file contains after the games before it.
    ///
    /// # Errors
    /// If the records cannot be written. The file may then end with an incomplete game.
    pub fn write_game(&mut self, records: &[Record]) -> Result<(), TrainingError> {
        let bytes: Vec<u8> = records.iter().flat_map(|record| record.pack().0).collect();
        self.truncate(HEADER as u64 + self.records * RECORD as u64)?;
        self.write(&bytes)?;
        self.next_game += 1;
        self.records += records.len() as u64;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), TrainingError> {
        self.file.write_all(bytes).map_err(|error| TrainingError::Io { path: self.path.clone(), error })
    }

    fn truncate(&mut self, len: u64) -> Result<(), TrainingError> {
        let truncated = self.file.set_len(len).and_then(|()| self.file.seek(SeekFrom::Start(len)));
        truncated.map(|_| ()).map_err(|error| TrainingError::Io { path: self.path.clone(), error })
    }
}

/// All records of a file of games under these rules, without an incomplete record at the end.
///
/// # Errors
/// If the file cannot be read, is not training data, or contains games under other rules.
pub fn read_records(path: &Path, rules: &RuleOptions) -> Result<Vec<Record>, TrainingError> {
    let (header, records) = split(path)?;
    if header.rules != rules.table_hash() {
        return Err(TrainingError::Content {
            path: path.to_owned(),
            reason: "its games are under other rules".to_owned(),
        });
    }
    unpacked(path, &records).collect()
}

/// All records of a file, each checked, without an incomplete record at the end.
pub(crate) fn read(path: &Path) -> Result<(Header, Vec<Packed>), TrainingError> {
    let (header, records) = split(path)?;
    unpacked(path, &records).try_for_each(|record| record.map(|_| ()))?;
    Ok((header, records))
}

/// The header and the records of a file, without checking the records.
fn split(path: &Path) -> Result<(Header, Vec<Packed>), TrainingError> {
    let content = |reason| TrainingError::Content { path: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|error| TrainingError::Io { path: path.to_owned(), error })?;
    let (header, rest) = bytes
        .split_first_chunk::<HEADER>()
        .ok_or_else(|| content("it is not a file of training data: it is shorter than a header".to_owned()))?;
    let header = Header::from_bytes(header).map_err(content)?;
    Ok((header, rest.as_chunks().0.iter().map(|&bytes| Packed(bytes)).collect()))
}

fn unpacked<'a>(path: &'a Path, records: &'a [Packed]) -> impl Iterator<Item = Result<Record, TrainingError>> + 'a {
    records.iter().enumerate().map(|(i, record)| {
        let wrong =
            |reason| TrainingError::Content { path: path.to_owned(), reason: format!("record {}: {reason}", i + 1) };
        record.unpack().map_err(wrong)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::board::Rules;
    use doushouqi::game::random::Random;

    #[test]
    fn records_round_trip() {
        let mut random = Random::new(1);
        for i in 0..500 {
            let position = random.position(2 + i % 15, &Rules::default());
            let record = Record {
                position,
                halfmove_clock: random.below(100) as u8,
                score: random.below(6001) as i16 - 3000,
                result: random.below(3) as i8 - 1,
                score_only: random.below(2) == 1,
                game: random.bits() as u32,
                ply: random.bits() as u32,
            };
            let packed = record.pack();
            assert_eq!(packed.unpack().as_ref(), Ok(&record));
            assert_eq!(
                (packed.result(), packed.score(), packed.turn()),
                (record.result, record.score, record.position.turn())
            );
        }
        assert!(Packed([0; RECORD]).unpack().is_err(), "all on one square");
        assert!(Packed([255; RECORD]).unpack().is_err(), "an empty board");
    }

    fn record(game: u32) -> Record {
        let position = Position::from_fen("7/7/3e3/7/7/7/3E3/7/7 b").unwrap();
        Record { position, halfmove_clock: 7, score: -2, result: 1, score_only: true, game, ply: 0x0403_0201 }
    }

    fn header() -> Header {
        Header {
            rules: 1,
            seed: 2,
            nodes: 3,
            evaluation: 4,
            sidelines: true,
            repetition: Repetition::Threefold,
            pieces: 4,
        }
    }

    /// The bytes match the format that the head of this file describes, so older files stay readable.
    #[test]
    fn the_format_is_as_described() {
        let absent = ABSENT.into();
        let mut squares = [absent; 16];
        (squares[7], squares[15]) = (17, 45);
        let bits = squares.iter().rev().fold(0u128, |bits, &square| bits << 6 | square);
        let labels = [0b1101, 7, 0xfe, 0xff, 9, 0, 0, 0, 1, 2, 3, 4];
        assert_eq!(record(9).pack().0[..], [&bits.to_le_bytes()[..12], &labels].concat());
        let word = |value: u8| [value, 0, 0, 0, 0, 0, 0, 0];
        let repetitions = [Repetition::Threefold, Repetition::Twofold, Repetition::Illegal, Repetition::None];
        for (number, repetition) in (0..).zip(repetitions) {
            let (pieces, stored) = if number < 2 { (PIECES, 0) } else { (number, number) };
            let header = Header { repetition, pieces, ..header() };
            let last = [1, number, stored, 0, 0, 0, 0, 0];
            let bytes = [&b"DSQDATA\x01"[..], &word(1), &word(2), &word(3), &word(4), &last].concat();
            assert_eq!(header.to_bytes()[..], bytes);
            assert_eq!(Header::from_bytes(&header.to_bytes()), Ok(header));
        }
        for wrong in [[2, 0, 0], [0, 4, 0], [0, 0, 1], [0, 0, 4]] {
            let mut bytes = header().to_bytes();
            bytes[40..43].copy_from_slice(&wrong);
            assert!(Header::from_bytes(&bytes).unwrap_err().starts_with("its header contains"), "{wrong:?}");
        }
    }

    #[test]
    fn flags_out_of_range_are_refused() {
        for flags in [0b0111, 0b1_0000, 0b1000_0000] {
            let mut packed = record(0).pack();
            packed.0[12] = flags;
            assert_eq!(packed.unpack().unwrap_err(), "its flags are out of range", "{flags:b}");
        }
    }

    #[test]
    fn files_of_others_are_refused_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        let header = header();
        std::fs::write(&path, "notes").unwrap();
        assert!(DataFile::open(&path, &header).err().unwrap().to_string().contains("is not a file of training data"));
        assert_eq!(std::fs::read(&path).unwrap(), b"notes");
        std::fs::remove_file(&path).unwrap();
        let mut file = DataFile::open(&path, &header).unwrap();
        for (game, plies) in [(0, 2), (1, 1), (2, 3)] {
            assert_eq!((file.next_game(), file.write_game(&vec![record(game); plies]).is_ok()), (game, true));
        }
        assert_eq!((file.next_game(), file.records()), (3, 6));
        let bytes = std::fs::read(&path).unwrap();
        let others = [
            Header { rules: 0, ..header },
            Header { seed: 0, ..header },
            Header { nodes: 0, ..header },
            Header { evaluation: 0, ..header },
            Header { sidelines: false, ..header },
            Header { repetition: Repetition::None, ..header },
            Header { pieces: 3, ..header },
        ];
        for other in others {
            assert!(DataFile::open(&path, &other).is_err(), "{other:?}");
        }
        assert!(std::fs::read(&path).unwrap() == bytes, "a refused file stays as it was");
        // The last game may be incomplete, so it is played again.
        let mut file = DataFile::open(&path, &header).unwrap();
        assert_eq!((file.next_game(), file.records()), (2, 3));
        assert!(std::fs::read(&path).unwrap() == bytes, "nothing is removed before a game replaces it");
        file.write_game(&[]).unwrap();
        assert_eq!(read(&path).unwrap().1.len(), 3);
    }
}
