//! How games end: by the rules, by a forfeit, or by an arbiter.

use crate::board::Color;
use std::fmt;

/// How the rules ended a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GameEnd {
    /// This side entered the enemy's den.
    Den(Color),
    /// This side took the last enemy piece.
    Captured(Color),
    /// The side to move has no legal move (stalemate). The field is the winner; `None` where stalemate is a draw.
    NoMove(Option<Color>),
    /// The position occurred for the second or third time, as the rules require. The field is the side that the draw goes
    /// to, if draws are judged ([`Judge`](crate::board::Judge)).
    Repetition(Option<Color>),
    /// The halfmove clock reached the no-capture limit; the field as for repetition.
    NoCapture(Option<Color>),
    /// The moves reached the limit of moves ([`MoveLimit`](crate::board::MoveLimit)); the field as for repetition.
    MoveLimit(Option<Color>),
    /// A rule against loops ([`Loop`](crate::board::Loop)) decided the game for this side.
    Loop(Color),
}

impl GameEnd {
    /// The winner; `None` is a draw.
    #[must_use]
    pub fn winner(self) -> Option<Color> {
        match self {
            GameEnd::Den(color) | GameEnd::Captured(color) | GameEnd::Loop(color) => Some(color),
            GameEnd::NoMove(winner)
            | GameEnd::Repetition(winner)
            | GameEnd::NoCapture(winner)
            | GameEnd::MoveLimit(winner) => winner,
        }
    }

    /// Whether the players may go on: after a draw by repetition or by a limit, which a site with other rules does not
    /// declare.
    #[must_use]
    pub fn may_go_on(self) -> bool {
        matches!(self, GameEnd::Repetition(_) | GameEnd::NoCapture(_) | GameEnd::MoveLimit(_))
    }
}

/// Why a side lost a game that the rules had not ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForfeitReason {
    /// The loser resigned.
    Resignation,
    /// The loser exceeded its time.
    Time,
    /// The loser played an illegal move.
    IllegalMove,
    /// The loser's program ended or stopped responding.
    Crash,
}

impl ForfeitReason {
    pub(super) const ALL: [ForfeitReason; 4] =
        [ForfeitReason::Resignation, ForfeitReason::Time, ForfeitReason::IllegalMove, ForfeitReason::Crash];

    /// The value of the tag `Termination`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ForfeitReason::Resignation => "resignation",
            ForfeitReason::Time => "time",
            ForfeitReason::IllegalMove => "illegal-move",
            ForfeitReason::Crash => "crash",
        }
    }
}

/// A loss that the rules of the board did not decide.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Forfeit {
    /// The side that lost.
    pub loser: Color,
    /// The reason.
    pub reason: ForfeitReason,
}

/// Whether and how a game has ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conclusion {
    /// The rules ended the game.
    Rules(GameEnd),
    /// A side forfeited the game.
    Forfeit(Forfeit),
    /// An arbiter ended the game. The field is the winner; `None` is a draw.
    Adjudicated(Option<Color>),
    /// The game has not ended.
    Unfinished,
}

impl Conclusion {
    /// How a game stands with this end by the rules, this forfeit and this result of an arbiter. The end by the rules
    /// takes precedence over a forfeit, and a forfeit over an arbiter.
    #[must_use]
    pub fn new(end: Option<GameEnd>, forfeit: Option<Forfeit>, adjudication: Option<Option<Color>>) -> Conclusion {
        match (end, forfeit, adjudication) {
            (Some(end), ..) => Conclusion::Rules(end),
            (None, Some(forfeit), _) => Conclusion::Forfeit(forfeit),
            (None, None, Some(winner)) => Conclusion::Adjudicated(winner),
            (None, None, None) => Conclusion::Unfinished,
        }
    }

    /// Whether the game has ended.
    #[must_use]
    pub fn is_over(self) -> bool {
        self != Conclusion::Unfinished
    }

    /// The winner; `None` for a draw and for a game that has not ended.
    #[must_use]
    pub fn winner(self) -> Option<Color> {
        match self {
            Conclusion::Rules(end) => end.winner(),
            Conclusion::Forfeit(forfeit) => Some(!forfeit.loser),
            Conclusion::Adjudicated(winner) => winner,
            Conclusion::Unfinished => None,
        }
    }

    /// `1-0`, `0-1`, `1/2-1/2`, or `*` for a game that has not ended.
    #[must_use]
    pub fn result(self) -> &'static str {
        match (self, self.winner()) {
            (Conclusion::Unfinished, _) => "*",
            (_, Some(Color::White)) => "1-0",
            (_, Some(Color::Black)) => "0-1",
            (_, None) => "1/2-1/2",
        }
    }

    /// The value of the tag `Termination`.
    #[must_use]
    pub fn termination(self) -> &'static str {
        match self {
            Conclusion::Rules(GameEnd::Den(_)) => "den",
            Conclusion::Rules(GameEnd::Captured(_)) => "capture",
            Conclusion::Rules(GameEnd::NoMove(_)) => "no-move",
            Conclusion::Rules(GameEnd::Repetition(_)) => "repetition",
            Conclusion::Rules(GameEnd::NoCapture(_)) => "no-capture",
            Conclusion::Rules(GameEnd::MoveLimit(_)) => "move-limit",
            Conclusion::Rules(GameEnd::Loop(_)) => "loop",
            Conclusion::Forfeit(forfeit) => forfeit.reason.as_str(),
            Conclusion::Adjudicated(_) => ADJUDICATION,
            Conclusion::Unfinished => "unfinished",
        }
    }
}

/// `White wins (den)`, `a draw (repetition)` or `the game has not ended`.
impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.termination();
        match self.winner() {
            _ if !self.is_over() => f.write_str("the game has not ended"),
            Some(winner) => write!(f, "{winner} wins ({reason})"),
            None => write!(f, "a draw ({reason})"),
        }
    }
}

/// The value of the tag `Termination` for a game that an arbiter ended.
pub(super) const ADJUDICATION: &str = "adjudication";
