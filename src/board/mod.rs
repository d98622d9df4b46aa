//! The board, the rules and the moves. Knows nothing of search or tables.

mod animal;
mod bitboard;
mod color;
pub mod fen;
mod file;
pub mod geometry;
mod movegen;
mod moves;
mod position;
mod rank;
mod rules;
mod square;
pub(crate) mod zobrist;

pub use animal::{Animal, Piece};
pub use bitboard::{Bitboard, ParseBitboardError, Squares};
pub use color::{ByColor, Color};
pub use fen::{Fen, ParseFenError};
pub use file::File;
pub use geometry::Direction;
pub use movegen::MoveList;
pub use moves::{Move, ParseMoveError};
pub use position::{Outcome, Position, PositionError, Setup};
pub use rank::Rank;
pub use rules::{
    DogOverWolf, ElephantTakesRat, NoMove, OwnRatBlocks, ParseRulesError, Repetition, RuleOptions, Rules, Shore,
    TigerLeap, Traps,
};
pub use square::{ParseSquareError, Square};

#[allow(unused_imports, reason = "used by optional features")]
pub(crate) use bitboard::mirror_word;
#[allow(unused_imports, reason = "used by optional features")]
pub(crate) use movegen::reach;
pub(crate) use position::union;
#[allow(unused_imports, reason = "used by optional features")]
pub(crate) use rules::Lanes;
