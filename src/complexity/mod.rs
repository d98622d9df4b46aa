//! The PSPACE-hardness proof of the paper as a program: gadgets and their lemmas, decided by exhaustive search; formulas,
//! circuits and the positions that they become.

pub mod attractor;
pub mod catalog;
pub mod check;
pub mod gadget;
pub mod game;

pub use catalog::{gadget, gadgets};
pub use check::{Checked, DEFAULT_BOUND, Solved, check};
pub use gadget::{Claim, Entrance, Gadget, GadgetError};
