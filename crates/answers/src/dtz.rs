//! Values of games at their clock, exact under the no-capture limit.

use super::api::{MoveFacts, Over};
use super::errors::ApiError;
use super::game_state;
use super::rule_tables::RequestTables;
use doushouqi::board::Move;
use doushouqi::game::Game;
use doushouqi::tablebase::{Dtz, ProbeDtz as _, ValueAtClock};
use serde::Serialize;

/// A move of a game with its value at the clock.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClockMove {
    #[serde(flatten)]
    pub facts: MoveFacts,
    /// For the side that makes the move, counting the move.
    #[cfg_attr(test, schemars(with = "crate::openapi::schema::ValueAtClock"))]
    pub value: ValueAtClock,
}

/// The exact values of the position of a game and of its moves under the no-capture limit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Dtz"))]
pub struct DtzAnswer {
    /// The position, with the halfmove clock if it is not 0.
    pub fen: String,
    pub rules: String,
    /// The plies without a capture that draw the game, and those that are left.
    pub no_capture_limit: u16,
    pub plies_left: u32,
    pub over: Option<Over>,
    /// Whether tables contain the position. If not, or if the game is over, there is no value and no move.
    pub known: bool,
    /// For the side to move.
    #[cfg_attr(test, schemars(with = "Option<crate::openapi::schema::ValueAtClock>"))]
    pub value: Option<ValueAtClock>,
    /// The first keeps the result.
    pub moves: Vec<ClockMove>,
}

/// The values of the position of a game at its clock. Repetitions do not count.
pub fn dtz(tables: &RequestTables<'_>, game: &Game, limit: u16) -> Result<DtzAnswer, ApiError> {
    let (within, position) = (tables.within(limit), game.position());
    let (over, left) = (game_state::over(game), u32::from(limit).saturating_sub(game.halfmove_clock()));
    let found = match over {
        None => within.dtz(position)?.zip(within.dtz_moves(position, left)?),
        Some(_) => None,
    };
    let (value, moves) = found.map_or((None, Vec::new()), |(value, moves)| (Some(value.at(left)), moves));
    let entry = |(mv, value): (Move, Dtz)| ClockMove { facts: MoveFacts::new(position, mv), value: value.at(left) };
    Ok(DtzAnswer {
        fen: game.fen().to_string(),
        rules: tables.requested_rules.to_string(),
        no_capture_limit: limit,
        plies_left: left,
        over,
        known: value.is_some(),
        value,
        moves: moves.into_iter().map(entry).collect(),
    })
}
