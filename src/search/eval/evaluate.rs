//! The trait of static evaluations.

use super::attack_maps::AttackMaps;
use super::state::State;
use crate::board::{Bitboard, Color, Piece, Position, Rules};

/// A static evaluation: an estimate of a position without search.
///
/// Each search thread has its own evaluation, which may keep data between calls, such as the accumulators of a network
/// or a cache of material values. The result must depend only on the position and the rules.
///
/// ```
/// use doushouqi::board::Piece;
/// use doushouqi::game::Game;
/// use doushouqi::search::{Engine, EngineOptions, EvalContext, Evaluate, Evaluation, Limits};
///
/// /// Counts pieces and legal moves.
/// struct Mobility;
///
/// impl Evaluate for Mobility {
///     fn evaluate(&mut self, context: &EvalContext<'_>) -> i32 {
///         let position = context.position();
///         let value = |piece| 300 + 10 * context.targets(piece).len() as i32;
///         let sign = |piece: Piece| if piece.color == context.turn() { 1 } else { -1 };
///         position.pieces().map(|(piece, _)| sign(piece) * value(piece)).sum()
///     }
/// }
///
/// let options = EngineOptions::default().hash_mib(1).evaluation(Evaluation::custom(|_rules| Box::new(Mobility)));
/// let found = Engine::new(options).search(&Game::default(), &Limits::default().depth(5)).run();
/// assert!(Game::default().legal_moves().contains(&found.best().unwrap()));
/// ```
pub trait Evaluate: Send {
    /// The estimate in cp for the side to move; 100 cp are the material value of a cat. The engine limits it to
    /// ±25,000.
    ///
    /// The engine calls the method only for positions in which the game is not over, at most once per node, and only if
    /// the search needs the value.
    fn evaluate(&mut self, context: &EvalContext<'_>) -> i32;
}

/// A position to evaluate, with the attacks that the search has computed.
#[derive(Copy, Clone)]
pub struct EvalContext<'a> {
    pub(in crate::search) state: &'a State,
    pub(in crate::search) maps: &'a AttackMaps,
    pub(in crate::search) rules: &'a Rules,
    pub(in crate::search) ply: usize,
}

impl EvalContext<'_> {
    /// The position.
    #[must_use]
    pub fn position(&self) -> Position {
        Position::from_lanes(self.state.lanes, self.state.turn, self.state.key)
    }

    /// The side to move.
    #[must_use]
    pub fn turn(&self) -> Color {
        self.state.turn
    }

    /// The rules of the game.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        self.rules
    }

    /// The plies from the root of the search. Positions of consecutive plies mostly differ by one move, but an
    /// evaluation must not rely on this: the search does not evaluate every position, and visits many positions of each
    /// ply.
    #[must_use]
    pub fn ply(&self) -> usize {
        self.ply
    }

    /// The squares that a piece can move to, as if its side were to move.
    #[must_use]
    pub fn targets(&self, piece: Piece) -> Bitboard {
        Bitboard::new(self.maps.targets[piece.color as usize][piece.animal.index()])
    }

    /// The squares on which an enemy could capture a piece standing there.
    #[must_use]
    pub fn danger(&self, piece: Piece) -> Bitboard {
        Bitboard::new(self.maps.danger[piece.color as usize][piece.animal.index()])
    }
}
