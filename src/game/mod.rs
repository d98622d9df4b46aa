//! A game: a position with its history, which the rules on repetition, limits and loops need.
//!
//! ```
//! use doushouqi::game::{Game, Record};
//!
//! let mut game = Game::default();
//! for text in ["Eb3", "rb7"] {
//!     game.play(game.parse(text)?)?;
//! }
//! assert_eq!((game.halfmove_clock(), game.end()), (2, None));
//!
//! // A game as text, with players and comments.
//! let record = Record { white: "Anna".to_owned(), ..Record::new(game) };
//! assert_eq!(Record::parse_all(&record.to_text()?)?[0].white, "Anna");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod competition;
mod end;
mod line;
pub mod random;
mod record;

pub use crate::board::PlayError;
pub use end::{Conclusion, Forfeit, ForfeitReason, GameEnd};
pub use line::{format_moves, parse_moves};
pub use record::{ParseRecordError, Record, RecordProblem, RecordReader, Variation};

use crate::board::{Fen, Move, MoveLimit, MoveList, NoMove, Position, Repetition, Rules};

/// A game: the first position with its halfmove clock, the moves so far, the rules and the no-capture limit. The
/// default game begins in the initial position under the default rules and is drawn after [`Game::NO_CAPTURE_LIMIT`]
/// plies without a capture.
#[derive(Clone, Debug)]
pub struct Game {
    rules: Rules,
    no_capture_limit: Option<u32>,
    /// Every position so far including the first, one more than the moves.
    positions: Vec<Position>,
    moves: Vec<Move>,
    /// The halfmove clock of each position.
    halfmove_clocks: Vec<u32>,
    /// Known positions before the first one, since the last capture, in arbitrary order.
    earlier: Vec<Position>,
}

impl Default for Game {
    fn default() -> Game {
        Game::new(Position::default(), Rules::default(), Some(Game::NO_CAPTURE_LIMIT))
    }
}

impl Game {
    /// The default no-capture limit: the plies without a capture after which a game is drawn.
    pub const NO_CAPTURE_LIMIT: u32 = 100;

    /// A game that begins in `start`. It is drawn after `no_capture_limit` plies without a capture; `None` is no limit.
    #[must_use]
    pub fn new(start: Position, rules: Rules, no_capture_limit: Option<u32>) -> Game {
        Game::from_fen(start.into(), rules, no_capture_limit)
    }

    /// A game that begins in a position with a halfmove clock, which counts for the no-capture limit. Positions before
    /// `start` are unknown, so they do not count as repeated. No clock rises above [`Fen::MAX_HALFMOVE_CLOCK`].
    ///
    /// ```
    /// use doushouqi::board::Rules;
    /// use doushouqi::game::Game;
    /// let mut game = Game::from_fen("7/7/3e3/7/7/7/3E3/7/7 w 98".parse()?, Rules::default(), Some(100));
    /// for mv in ["Ed4", "Ed6"] {
    ///     game.play(game.parse(mv).unwrap()).unwrap();
    /// }
    /// assert_eq!(game.fen().to_string(), "7/7/7/3e3/7/3E3/7/7/7 w 100");
    /// assert!(game.end().is_some(), "a hundred plies without a capture are a draw");
    /// # Ok::<(), doushouqi::board::ParseFenError>(())
    /// ```
    #[must_use]
    pub fn from_fen(start: Fen, rules: Rules, no_capture_limit: Option<u32>) -> Game {
        let Fen { position, halfmove_clock } = start;
        let (positions, halfmove_clocks) = (vec![position], vec![halfmove_clock.min(Fen::MAX_HALFMOVE_CLOCK)]);
        Game { rules, no_capture_limit, positions, moves: Vec::new(), halfmove_clocks, earlier: Vec::new() }
    }

    /// The positions that [`Game::with_earlier`] received.
    #[must_use]
    pub fn earlier(&self) -> &[Position] {
        &self.earlier
    }

    /// The same game with positions that occurred before the first one and since the last capture, each as often as it
    /// occurred. They count for repetition.
    #[must_use]
    pub fn with_earlier(self, earlier: Vec<Position>) -> Game {
        Game { earlier, ..self }
    }

    /// The rules of the game.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The plies without a capture after which the game is drawn; `None` is no limit.
    #[must_use]
    pub fn no_capture_limit(&self) -> Option<u32> {
        self.no_capture_limit
    }

    /// The current position.
    #[must_use]
    pub fn position(&self) -> &Position {
        self.positions.last().expect("a game has a first position")
    }

    /// Every position so far, from the first to the current one.
    #[must_use]
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// The moves so far.
    #[must_use]
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The halfmove clock: the plies since the last capture. Without a capture so far, the clock of the first position
    /// plus the plies played.
    #[must_use]
    pub fn halfmove_clock(&self) -> u32 {
        *self.halfmove_clocks.last().expect("a game has a first position")
    }

    /// The number of further plies without a capture after which the game is drawn, by the no-capture limit or by the limit
    /// of moves; `None` without a limit.
    #[must_use]
    pub fn plies_left(&self) -> Option<u32> {
        let quiet = self.no_capture_limit.map(|limit| limit.saturating_sub(self.halfmove_clock()));
        let moves = self.rules.options().move_limit.plies().map(|limit| limit.saturating_sub(self.moves.len() as u32));
        quiet.into_iter().chain(moves).min()
    }

    /// The first position with its halfmove clock.
    #[must_use]
    pub fn start_fen(&self) -> Fen {
        Fen { position: self.positions[0].clone(), halfmove_clock: self.halfmove_clocks[0] }
    }

    /// The current position with its halfmove clock.
    #[must_use]
    pub fn fen(&self) -> Fen {
        Fen { position: self.position().clone(), halfmove_clock: self.halfmove_clock() }
    }

    /// The known positions since the last capture, ending with the current one.
    #[must_use]
    pub fn since_capture(&self) -> &[Position] {
        let plies = (self.halfmove_clock() as usize).min(self.moves.len());
        &self.positions[self.moves.len() - plies..]
    }

    /// The number of times the current position has occurred, this time included.
    #[must_use]
    pub fn occurrences(&self) -> usize {
        self.count(self.position())
    }

    /// The number of times a position has occurred since the last capture. It cannot have occurred before a capture.
    fn count(&self, position: &Position) -> usize {
        self.since_capture().iter().chain(self.before_start()).filter(|p| *p == position).count()
    }

    /// The positions before the first one, unless a move of the game was a capture.
    fn before_start(&self) -> &[Position] {
        if (self.halfmove_clock() as usize) < self.moves.len() { &[] } else { &self.earlier }
    }

    /// The positions before the current one that have occurred so often that another occurrence is a draw, or illegal, in
    /// ascending order of their keys.
    pub fn drawn_if_repeated(&self) -> impl Iterator<Item = &Position> {
        let enough = match self.rules.options().repetition {
            Repetition::Threefold => 2,
            Repetition::Twofold | Repetition::Illegal => 1,
            Repetition::None => usize::MAX,
        };
        let (_, played) = self.since_capture().split_last().expect("the current position is one of them");
        let mut earlier: Vec<&Position> = played.iter().chain(self.before_start()).collect();
        earlier.sort_unstable_by_key(|position| position.key());
        let groups = earlier.chunk_by(|a, b| a == b).filter(|same| same.len() >= enough);
        groups.map(|same| same[0]).collect::<Vec<_>>().into_iter()
    }

    /// The legal moves: none in a game that is over, none into an earlier position if the rules forbid repetition, and none
    /// that a rule against loops forbids.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        if self.end().is_some() { MoveList::new() } else { self.moves_here() }
    }

    fn moves_here(&self) -> MoveList {
        let position = self.position();
        let mut moves = position.moves(&self.rules);
        if self.rules.options().repetition == Repetition::Illegal {
            moves.retain(|mv| mv.is_capture(position) || self.count(&position.make(mv)) == 0);
        }
        if self.rules.options().has_loop_rule() {
            moves.retain(|mv| !self.is_forbidden(mv));
        }
        moves
    }

    /// How the game ended; `None` if it is not over.
    #[must_use]
    pub fn end(&self) -> Option<GameEnd> {
        let position = self.position();
        if let Some(winner) = position.winner() {
            let taken = position.side(!winner).is_empty();
            return Some(if taken { GameEnd::Captured(winner) } else { GameEnd::Den(winner) });
        }
        if let Some(winner) = self.winner_by_loop() {
            return Some(GameEnd::Loop(winner));
        }
        let limit = match self.rules.options().repetition {
            Repetition::Threefold => 3,
            Repetition::Twofold => 2,
            Repetition::Illegal | Repetition::None => usize::MAX,
        };
        if limit != usize::MAX && self.occurrences() >= limit {
            return Some(GameEnd::Repetition(self.winner_of_draw()));
        }
        if self.moves_here().is_empty() {
            return Some(GameEnd::NoMove(match self.rules.options().no_move {
                NoMove::Draw => self.winner_of_draw(),
                NoMove::Loss => Some(!position.turn()),
            }));
        }
        if self.plies_left() != Some(0) {
            return None;
        }
        let winner = self.winner_of_draw();
        let is_quiet = self.no_capture_limit.is_some_and(|limit| self.halfmove_clock() >= limit);
        Some(if is_quiet { GameEnd::NoCapture(winner) } else { GameEnd::MoveLimit(winner) })
    }

    /// Parses a legal move in either notation ([`Move::parse`]).
    ///
    /// # Errors
    /// If the game is over, the text is not a legal move here, or the move repeats a position or continues a loop and the
    /// rules forbid this.
    pub fn parse(&self, text: &str) -> Result<Move, PlayError> {
        self.check_open()?;
        let mv = Move::parse(text, self.position(), &self.rules)?;
        if self.moves_here().contains(&mv) { Ok(mv) } else { Err(self.refusal(mv)) }
    }

    /// # Errors
    /// If the game is over.
    fn check_open(&self) -> Result<(), PlayError> {
        match self.end() {
            None => Ok(()),
            Some(GameEnd::Repetition(_)) => Err(PlayError::Repetition),
            Some(GameEnd::NoCapture(_)) => {
                Err(PlayError::NoCapture { limit: self.no_capture_limit.unwrap_or_default() })
            }
            Some(GameEnd::MoveLimit(_)) => {
                Err(PlayError::MoveLimit { limit: self.rules.options().move_limit.plies().unwrap_or_default() })
            }
            Some(_) => Err(PlayError::Over),
        }
    }

    /// Plays a move.
    ///
    /// # Errors
    /// If the game is over, the move is not legal here, or it repeats a position or continues a loop and the rules forbid
    /// this.
    pub fn play(&mut self, mv: Move) -> Result<(), PlayError> {
        self.check_open()?;
        self.make(mv)
    }

    /// [`Game::play`], also after a draw after which the players may go on ([`GameEnd::may_go_on`]). [`Game::end`] then
    /// says how the game stands in the last position.
    ///
    /// # Errors
    /// As [`Game::play`], except for these draws.
    pub fn play_on(&mut self, mv: Move) -> Result<(), PlayError> {
        let winner = self.position().winner().or_else(|| self.winner_by_loop());
        if winner.is_some() { Err(PlayError::Over) } else { self.make(mv) }
    }

    /// Why a move is not legal.
    fn refusal(&self, mv: Move) -> PlayError {
        if !self.position().is_legal(mv, &self.rules) {
            PlayError::Illegal { mv }
        } else if self.is_forbidden(mv) {
            PlayError::Loops { mv, rule: self.rules.options().loop_rule }
        } else {
            PlayError::Repeats { mv }
        }
    }

    /// Makes a move in a position without a winner.
    fn make(&mut self, mv: Move) -> Result<(), PlayError> {
        if !self.moves_here().contains(&mv) {
            return Err(self.refusal(mv));
        }
        let capture = mv.is_capture(self.position());
        let clock = if capture { 0 } else { (self.halfmove_clock() + 1).min(Fen::MAX_HALFMOVE_CLOCK) };
        self.halfmove_clocks.push(clock);
        self.positions.push(self.position().make(mv));
        self.moves.push(mv);
        Ok(())
    }

    /// The game as the players go on with it after a draw ([`GameEnd::may_go_on`]): the positions and moves so far do not
    /// count, or there is no such limit. A game without such a draw is unchanged.
    ///
    /// ```
    /// use doushouqi::board::Rules;
    /// use doushouqi::game::{Game, GameEnd};
    /// let game = Game::from_fen("7/7/3e3/7/7/7/3E3/7/7 w 100".parse()?, Rules::default(), Some(100));
    /// assert_eq!(game.end(), Some(GameEnd::NoCapture(None)));
    /// assert!(game.legal_moves().is_empty() && !game.played_on().legal_moves().is_empty());
    /// # Ok::<(), doushouqi::board::ParseFenError>(())
    /// ```
    #[must_use]
    pub fn played_on(&self) -> Game {
        let mut game = self.clone();
        if matches!(game.end(), Some(GameEnd::Repetition(_))) {
            game = Game::from_fen(game.fen(), game.rules, game.no_capture_limit);
        }
        while let Some(end) = game.end().filter(|end| end.may_go_on()) {
            game.lift(end);
        }
        game
    }

    /// The same game without the rule that has drawn it: under `repetition=none` or `move-limit=none`, or without a
    /// no-capture limit. `None` unless it has ended by such a draw ([`GameEnd::may_go_on`]).
    #[must_use]
    pub fn without_draw_rule(&self) -> Option<Game> {
        let mut game = self.clone();
        while let Some(end) = game.end().filter(|end| end.may_go_on()) {
            game.lift(end);
        }
        self.end().filter(|end| end.may_go_on()).map(|_| game)
    }

    /// Removes the rule by which the game has ended in a draw.
    fn lift(&mut self, end: GameEnd) {
        let options = *self.rules.options();
        match end {
            GameEnd::NoCapture(_) => self.no_capture_limit = None,
            GameEnd::MoveLimit(_) => self.rules = Rules::new(options.move_limit(MoveLimit::None)),
            _ => self.rules = Rules::new(options.repetition(Repetition::None)),
        }
    }

    /// The same game under other rules, with its moves played as by [`Game::play_on`].
    ///
    /// # Errors
    /// If a move is not legal under these rules.
    pub fn under(&self, rules: Rules, no_capture_limit: Option<u32>) -> Result<Game, PlayError> {
        let game = Game::from_fen(self.start_fen(), rules, no_capture_limit);
        let mut game = game.with_earlier(self.earlier.clone());
        self.moves.iter().try_for_each(|&mv| game.play_on(mv))?;
        Ok(game)
    }

    /// Takes the last move back and returns it.
    pub fn undo(&mut self) -> Option<Move> {
        let mv = self.moves.pop()?;
        self.positions.pop();
        self.halfmove_clocks.pop();
        Some(mv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions before the first one count as often as they are named, until a capture.
    #[test]
    fn positions_since_the_capture_may_not_occur_again() {
        let start: Position = "7/7/3e3/7/7/7/3Ec2/7/7 w".parse().unwrap();
        let other: Position = "7/7/3e3/7/7/7/2E1c2/7/7 b".parse().unwrap();
        let earlier = vec![other.clone(), start.pass(), other.clone(), start.clone()];
        let mut game = Game::new(start, Rules::default(), None).with_earlier(earlier);
        let drawn = |game: &Game| game.drawn_if_repeated().cloned().collect::<Vec<_>>();
        assert_eq!((drawn(&game), game.occurrences()), (vec![other.clone()], 2));
        game.play(game.parse("Ec3").unwrap()).unwrap();
        assert_eq!((drawn(&game).len(), game.occurrences()), (2, 3));
        game.undo();
        game.play(game.parse("Exe3").unwrap()).unwrap();
        assert_eq!(drawn(&game), []);
        game.undo();
        assert_eq!(drawn(&game), [other]);
    }
}
