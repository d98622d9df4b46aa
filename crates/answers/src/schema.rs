//! Schemas of types of the library, as they appear in answers. Only tests use them.

use schemars::JsonSchema;

/// A win, a draw or a loss.
#[derive(JsonSchema)]
#[schemars(rename = "Wdl", rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub enum WdlName {
    Win,
    Draw,
    Loss,
}

/// One value for each side.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct Sides<T> {
    white: T,
    black: T,
}

/// The counts of a material with one side to move.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct Counts {
    positions: u64,
    /// Positions without a legal move (stalemate), which the other counts exclude.
    no_move: u64,
    wins: u64,
    losses: u64,
    draws: u64,
    /// The longest distance to the end, in plies.
    longest: u64,
}
