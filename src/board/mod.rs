//! The board, the rules and the moves. Nothing here depends on the search or the tables.
//!
//! ```
//! use doushouqi::board::{Position, RuleOptions, Rules};
//!
//! // Under the rules of the papers the tiger leaps from a6 over the water to d6. A rule is an option.
//! let position: Position = "6l/7/7/T6/7/7/7/7/7 w".parse()?;
//! let without: RuleOptions = "paper,tiger-leap=files".parse()?;
//! for (options, leaps) in [(RuleOptions::PAPER, true), (without, false)] {
//!     let moves = position.moves(&Rules::new(options));
//!     assert_eq!(moves.iter().any(|mv| mv.notation(&position) == "Td6"), leaps);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod animal;
mod bitboard;
mod color;
pub mod fen;
mod file;
pub mod geometry;
mod movegen;
mod moves;
mod names;
mod position;
mod rank;
mod rules;
mod square;
#[cfg(feature = "serde")]
mod text_serde;
pub(crate) mod zobrist;

pub use animal::{Animal, Piece};
pub use bitboard::{Bitboard, Squares};
pub use color::{ByColor, Color};
pub(crate) use fen::Fields;
pub use fen::{Fen, ParseFenError};
pub use file::File;
pub use geometry::Direction;
pub use movegen::MoveList;
pub use moves::{Move, ParseMoveError, PlayError, UciMove};
pub use names::ParseNameError;
pub use position::{Outcome, Position, PositionError, Setup};
pub use rank::Rank;
pub use rules::{
    DogOverWolf, ElephantTakesRat, Judge, Loop, MoveLimit, NoMove, OwnRatBlocks, PantherLeap, ParseRulesError,
    Repetition, RuleOption, RuleOptions, Rules, Shore, TigerLeap, Traps,
};
pub use square::Square;

#[allow(unused_imports, reason = "used by optional features")]
pub(crate) use bitboard::mirror_word;
#[cfg(feature = "tablebase")]
pub(crate) use movegen::around;
#[allow(unused_imports, reason = "used by optional features")]
pub(crate) use movegen::reach;
#[cfg(feature = "perft")]
pub(crate) use movegen::{capturable, squares};
pub(crate) use position::union;
#[allow(unused_imports, reason = "used by optional features")]
pub(crate) use rules::Lanes;
#[cfg(feature = "tablebase")]
pub(crate) use text_serde::serialize_as_text;
