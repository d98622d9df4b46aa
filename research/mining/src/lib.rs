//! Patterns in the endgame tables: decision trees of all materials, the printed trees, draws, zugzwangs, fortresses, games,
//! duels, the values of the animals, and the opening.
//!
//! ```
//! use doushouqi::tablebase::CellValue;
//! use mining::zugzwang::zugzwang;
//!
//! // Whoever moves, loses: in four plies, the other side in six.
//! assert_eq!(zugzwang(CellValue::Decided(4), CellValue::Decided(6)), Some((Some(4), 6)));
//! assert_eq!(zugzwang(CellValue::Decided(3), CellValue::Decided(6)), None);
//! ```

#![warn(missing_docs, unreachable_pub)]

pub mod animals;
pub mod duels;
pub mod games;
pub mod opening;
pub mod patterns;
pub mod printed;
pub mod report;
pub mod tables;
pub mod trees;
pub mod zugzwang;
