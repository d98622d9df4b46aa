//! The state of a game: legal moves, clocks, repetition, captures and the result.

use super::api::{MoveFacts, Over};
use doushouqi::board::{Animal, ByColor, Color, Move, Position, Repetition};
use doushouqi::game::{Game, GameEnd};
use serde::Serialize;

/// A legal move of a game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LegalMove {
    #[serde(flatten)]
    pub facts: MoveFacts,
    /// How often the position after the move has occurred, that time included.
    pub occurrences: usize,
}

/// The state of a game after its moves.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameState {
    /// The position, with the halfmove clock if it is not 0.
    pub fen: String,
    pub rules: String,
    #[cfg_attr(test, schemars(extend("enum" = ["white", "black"])))]
    pub turn: &'static str,
    /// The number of moves played.
    pub ply: usize,
    pub over: Option<Over>,
    /// Plies since the last capture, the plies without a capture that draw the game, and the plies that are left before it
    /// or the limit of moves draws the game.
    pub halfmove_clock: u32,
    pub no_capture_limit: Option<u32>,
    pub plies_left: Option<u32>,
    /// How often the position has occurred, this time included.
    pub occurrences: usize,
    /// The occurrences of a position that draw the game; null if repetition does not draw.
    pub repetition_limit: Option<usize>,
    /// Whether a move into an earlier position is illegal.
    pub repetition_illegal: bool,
    /// The pieces that each side has lost, strongest first.
    #[cfg_attr(test, schemars(with = "crate::openapi::schema::Sides<Vec<char>>"))]
    pub captured: doushouqi::board::ByColor<Vec<char>>,
    /// The legal moves; empty if the game is over.
    pub moves: Vec<LegalMove>,
}

/// How a game has ended; `None` if it goes on.
#[must_use]
pub fn over(game: &Game) -> Option<Over> {
    let end = game.end()?;
    let reason = match end {
        GameEnd::Den(_) => "den",
        GameEnd::Captured(_) => "no_pieces",
        GameEnd::NoMove(_) => "no_move",
        GameEnd::Repetition(_) => "repetition",
        GameEnd::MoveLimit(_) => "move_limit",
        GameEnd::Loop(_) => "loop",
        // The enum is not exhaustive; the no-capture limit is the only other end that is known.
        _ => "no_capture",
    };
    Some(Over { winner: end.winner().map(Color::name), reason })
}

/// The state of a game.
#[must_use]
pub fn state(game: &Game) -> GameState {
    let position = game.position();
    let options = game.rules().options();
    GameState {
        fen: game.fen().to_string(),
        rules: options.to_string(),
        turn: position.turn().name(),
        ply: game.moves().len(),
        over: over(game),
        halfmove_clock: game.halfmove_clock(),
        no_capture_limit: game.no_capture_limit(),
        plies_left: game.plies_left(),
        occurrences: game.occurrences(),
        repetition_limit: match options.repetition {
            Repetition::Threefold => Some(3),
            Repetition::Twofold => Some(2),
            _ => None,
        },
        repetition_illegal: options.repetition == Repetition::Illegal,
        captured: ByColor::from_fn(|color| captured(&game.positions()[0], position, color)),
        moves: game.legal_moves().iter().map(|&mv| legal_move(game, mv)).collect(),
    }
}

/// The animals of a side in `first` that `last` lacks, strongest first.
fn captured(first: &Position, last: &Position, color: Color) -> Vec<char> {
    let lost =
        |animal: &&Animal| first.square_of(color, **animal).is_some() && last.square_of(color, **animal).is_none();
    Animal::ALL.iter().rev().filter(lost).map(|animal| animal.letter()).collect()
}

fn legal_move(game: &Game, mv: Move) -> LegalMove {
    let facts = MoveFacts::new(game.position(), mv);
    let next = game.position().make(mv);
    // A capture leads to a position that has not occurred.
    let since_capture = if facts.captures.is_some() { &[][..] } else { game.since_capture() };
    LegalMove { facts, occurrences: since_capture.iter().filter(|position| **position == next).count() + 1 }
}
