//! The PSPACE-hardness proof of the paper as a program: gadgets and their lemmas, decided by exhaustive search, and the
//! reduction of formulas to circuits and positions.
//!
//! ```
//! use doushouqi::board::Color;
//! use hardness::{DEFAULT_BOUND, Formula, check, gadget};
//!
//! let gate = gadget("and").unwrap();
//! assert!(check(&gate, &gate.claims[0], DEFAULT_BOUND).unwrap().holds);
//!
//! // White makes one of the variables true, Black the other one false.
//! let formula = Formula::parse("x & y").unwrap();
//! assert_eq!(formula.game().unwrap().winner(), Color::Black);
//! ```

#![warn(missing_docs, unreachable_pub)]

mod attractor;
mod black_strategy;
pub mod catalog;
pub mod check;
pub mod circuit;
mod formula;
pub mod gadget;
mod game;
pub mod general;
pub mod layout;
pub mod measure;
pub mod opponent;
pub mod play;
pub mod report;
mod white_strategy;

pub use black_strategy::BlackWins;
pub use catalog::{gadget, gadgets};
pub use check::{Checked, DEFAULT_BOUND, Solved, check};
pub use circuit::{Circuit, Gate, Step, crossover, half_crossover, reachable};
pub use formula::{Formula, FormulaError, FormulaGame, TooManyVariables};
pub use gadget::{Claim, Entrance, Gadget, GadgetError};
pub use layout::{GadgetKind, Layout, LayoutError};
pub use white_strategy::WhiteWins;
