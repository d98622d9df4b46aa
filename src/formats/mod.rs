//! Positions and moves as other programs write them. Games of these dialects: [`parse_moves`](crate::game::parse_moves).
//!
//! | dialect | panther, rat | side to move | files | after the side to move |
//! |---|---|---|---|---|
//! | `dsq` | `P`, `R` | `w`, `b` | a to g | the halfmove clock, unless it is 0 |
//! | `mistboard` (also MistyJungle) | `P`, `R` | `r`, `b` | mirrored | halfmove clock and move number |
//! | `katago` (KataGomo's AnimalChess) | `J`, `R` | `w`, `b` | a to g | nothing; squares are vertices (`A1`) |
//! | `animalcraft` | `P`, `M` | `w`, `b` | a to g, the board turned by 180° | nothing |
//!
//! *Mirrored* and *turned* are relative to `dsq`: each program's initial position is the image of ours, so a game of
//! one is a game of the other. Capitals are always the side that begins. The conversion covers only the notation: rules
//! on which the programs differ are options ([`RuleOptions`](crate::board::RuleOptions)). Readers of
//! every dialect accept the counters of [`Fen`](crate::board::Fen). A text with a letter of another dialect is an error that
//! names the dialect.
//!
//! ```
//! use doushouqi::board::Position;
//! use doushouqi::formats::Dialect;
//!
//! let start = Dialect::Mistboard.parse_fen("t5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/1D3C1/L5T r 0 1")?;
//! assert_eq!(start.fen.position, Position::start());
//! assert_eq!(Dialect::Katago.format_fen(&start), "l5t/1d3c1/r1j1w1e/7/7/7/E1W1J1R/1C3D1/T5L w");
//! # Ok::<(), doushouqi::formats::FormatError>(())
//! ```

mod dialect;

pub use dialect::{Dialect, DialectFen, FormatError};
