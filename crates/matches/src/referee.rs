//! One game between two players: clocks, adjudication, and losses by late, illegal and missing moves.

use super::adjudication::{Adjudication, Arbiter};
use super::player::{Player, PlayerError, Turn};
use super::time_control::TimeControl;
use doushouqi::board::{ByColor, Color};
use doushouqi::game::{Forfeit, ForfeitReason, Game, Record};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The limits of the moves of a game.
#[derive(Copy, Clone, Debug)]
pub struct Conditions {
    /// The limit of each move.
    pub control: TimeControl,
    /// The time by which a move may exceed its limit.
    pub margin: Duration,
    /// The time after which a program that does not answer counts as crashed, if the move has no time limit.
    pub patience: Duration,
}

/// The time, depth and nodes that a player used in one game or in several.
#[derive(Copy, Clone, Debug, Default)]
pub struct Usage {
    /// Number of moves.
    pub moves: u64,
    /// Time of all moves together.
    pub time: Duration,
    /// The number of moves with a reported depth, and the sum of the depths.
    pub depths: (u64, u64),
    /// The reported nodes, and the time of the moves with reported nodes.
    pub nodes: (u64, Duration),
    /// The time of the slowest move.
    pub longest: Duration,
}

impl Usage {
    pub(super) fn add(&mut self, other: &Usage) {
        self.moves += other.moves;
        self.time += other.time;
        self.depths = (self.depths.0 + other.depths.0, self.depths.1 + other.depths.1);
        self.nodes = (self.nodes.0 + other.nodes.0, self.nodes.1 + other.nodes.1);
        self.longest = self.longest.max(other.longest);
    }

    /// The mean reported depth.
    #[must_use]
    pub fn depth(&self) -> Option<f64> {
        (self.depths.0 > 0).then(|| self.depths.1 as f64 / self.depths.0 as f64)
    }

    /// Nodes per second.
    #[must_use]
    pub fn speed(&self) -> Option<f64> {
        let seconds = self.nodes.1.as_secs_f64();
        (seconds > 0.0).then(|| self.nodes.0 as f64 / seconds)
    }
}

/// A played game.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// The game with its players and result.
    pub record: Record,
    /// Why a side forfeited the game.
    pub detail: Option<String>,
    /// Time and nodes of each side.
    pub usage: ByColor<Usage>,
}

/// Plays a game from its current position until it ends or the arbiter ends it; `None` if the match is stopped during
/// the game.
pub fn play(
    mut players: ByColor<&mut (dyn Player + 'static)>,
    game: Game,
    conditions: &Conditions,
    adjudication: &Adjudication,
    seed: u64,
    stop: &AtomicBool,
) -> Option<PlayedGame> {
    let base = match conditions.control {
        TimeControl::Clock { base, .. } => base,
        _ => Duration::ZERO,
    };
    let mut clocks = ByColor::from_fn(|_| base);
    let mut played = PlayedGame { record: Record::new(game), detail: None, usage: ByColor::default() };
    for color in Color::ALL {
        // Two random movers with the same seed must not make the same choices.
        if let Err(error) = players[color].new_game(seed.wrapping_mul(2) + color as u64, stop) {
            return played.forfeit(color, error);
        }
    }
    let mut arbiter = Arbiter::default();
    while played.record.game.end().is_none() {
        let color = played.record.game.position().turn();
        let turn = Turn { conditions: *conditions, clocks };
        let begin = Instant::now();
        let choice = players[color].choose(&played.record.game, &turn, stop);
        let elapsed = begin.elapsed();
        let usage = &mut played.usage[color];
        usage.longest = usage.longest.max(elapsed);
        let choice = match choice {
            Ok(choice) => choice,
            Err(error) => return played.forfeit(color, error),
        };
        usage.moves += 1;
        usage.time += elapsed;
        if let Some(depth) = choice.depth {
            usage.depths = (usage.depths.0 + 1, usage.depths.1 + u64::from(depth));
        }
        if let Some(nodes) = choice.nodes {
            usage.nodes = (usage.nodes.0 + nodes, usage.nodes.1 + elapsed);
        }
        let allowed = conditions.control.allowed(clocks[color]);
        if let Some(allowed) = allowed
            && elapsed > allowed + conditions.margin
        {
            played.detail =
                Some(format!("{} ms for a move with a limit of {} ms", elapsed.as_millis(), allowed.as_millis()));
            played.record.forfeit = Some(Forfeit { loser: color, reason: ForfeitReason::Time });
            return Some(played);
        }
        if let TimeControl::Clock { increment, .. } = conditions.control {
            clocks[color] = clocks[color].saturating_sub(elapsed) + increment;
        }
        if let Err(error) = played.record.game.play(choice.mv) {
            return played.forfeit(color, PlayerError::IllegalMove(error.to_string()));
        }
        let adjudicated = match played.record.game.end() {
            None => arbiter.after_move(adjudication, &played.record.game, color, choice.score.as_deref()),
            Some(_) => None,
        };
        let mut comment = Vec::new();
        comment.extend(choice.score);
        comment.extend(choice.depth.map(|depth| format!("depth {depth}")));
        // Without a time limit the time does not matter, and omitting it keeps the files of equal games equal.
        comment.extend(allowed.map(|_| format!("ms {}", elapsed.as_millis())));
        let comments = &mut played.record.comments;
        comments.resize(played.record.game.moves().len() - 1, String::new());
        comments.push(comment.join(" "));
        if let Some(adjudicated) = adjudicated {
            played.record.adjudication = Some(adjudicated.winner);
            played.record.tags.push(("Adjudication".to_owned(), adjudicated.reason));
            break;
        }
    }
    Some(played)
}

impl PlayedGame {
    /// The game, forfeited by `loser` with this error; `None` if the match was stopped.
    fn forfeit(mut self, loser: Color, error: PlayerError) -> Option<PlayedGame> {
        let reason = error.forfeit()?;
        // A resignation needs no explanation.
        self.detail = (reason != ForfeitReason::Resignation).then(|| error.to_string());
        self.record.forfeit = Some(Forfeit { loser, reason });
        Some(self)
    }
}
