//! One game between two players: clocks, and who loses when a move is late, illegal or does not come.

use super::player::{Player, PlayerError, Turn};
use super::time_control::TimeControl;
use crate::board::{ByColor, Color};
use crate::game::{Forfeit, ForfeitReason, Game, Record};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// By what a game is played.
#[derive(Copy, Clone, Debug)]
pub struct Conditions {
    /// What limits each move.
    pub control: TimeControl,
    /// How late a move may come.
    pub margin: Duration,
    /// When a program that does not answer is given up, where it has all the time it wants.
    pub patience: Duration,
}

/// What a player used in a game, or in many.
#[derive(Copy, Clone, Debug, Default)]
pub struct Usage {
    /// Number of moves.
    pub moves: u64,
    /// Time of all moves together.
    pub time: Duration,
    /// Moves of which it told the depth, and the sum of these.
    pub depths: (u64, u64),
    /// Nodes, and the time of the moves of which it told them.
    pub nodes: (u64, Duration),
    /// The most that a move took.
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

    /// The mean depth of the moves of which it is known.
    #[must_use]
    pub fn depth(&self) -> Option<f64> {
        (self.depths.0 > 0).then(|| self.depths.1 as f64 / self.depths.0 as f64)
    }

    /// Nodes a second.
    #[must_use]
    pub fn speed(&self) -> Option<f64> {
        let seconds = self.nodes.1.as_secs_f64();
        (seconds > 0.0).then(|| self.nodes.0 as f64 / seconds)
    }
}

/// A game that was played.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// The game with its players and result.
    pub record: Record,
    /// What went wrong, if the rules did not end it.
    pub detail: Option<String>,
    /// Time and nodes of each side.
    pub usage: ByColor<Usage>,
}

/// Plays a game from where it stands to its end; `None` if the match is stopped meanwhile.
pub fn play(
    mut players: ByColor<&mut (dyn Player + 'static)>,
    game: Game,
    conditions: &Conditions,
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
        // Two random movers of the same seed shall not move alike.
        if let Err(error) = players[color].new_game(seed.wrapping_mul(2) + color as u64) {
            return played.forfeit(color, error);
        }
    }
    while played.record.game.end().is_none() {
        let color = played.record.game.position().turn();
        let turn =
            Turn { control: conditions.control, clocks, margin: conditions.margin, patience: conditions.patience };
        let begin = Instant::now();
        let choice = players[color].choose(&played.record.game, &turn, stop);
        let elapsed = begin.elapsed();
        let usage = &mut played.usage[color];
        usage.time += elapsed;
        usage.longest = usage.longest.max(elapsed);
        let choice = match choice {
            Ok(choice) => choice,
            Err(error) => return played.forfeit(color, error),
        };
        usage.moves += 1;
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
                Some(format!("{} ms for a move that may take {}", elapsed.as_millis(), allowed.as_millis()));
            played.record.forfeit = Some(Forfeit { loser: color, reason: ForfeitReason::Time });
            return Some(played);
        }
        if let TimeControl::Clock { increment, .. } = conditions.control {
            clocks[color] = clocks[color].saturating_sub(elapsed) + increment;
        }
        if let Err(error) = played.record.game.play(choice.mv) {
            return played.forfeit(color, PlayerError::IllegalMove(error.to_string()));
        }
        let mut comment = Vec::new();
        comment.extend(choice.score);
        comment.extend(choice.depth.map(|depth| format!("depth {depth}")));
        // Without a limit of time it is of no account, and the same games shall make the same file.
        comment.extend(allowed.map(|_| format!("ms {}", elapsed.as_millis())));
        let comments = &mut played.record.comments;
        comments.resize(played.record.game.moves().len() - 1, String::new());
        comments.push(comment.join(" "));
    }
    Some(played)
}

impl PlayedGame {
    /// The game lost by this side for this reason; `None` if the match was stopped.
    fn forfeit(mut self, loser: Color, error: PlayerError) -> Option<PlayedGame> {
        let reason = match error {
            PlayerError::IllegalMove(_) => ForfeitReason::IllegalMove,
            PlayerError::Crash(_) => ForfeitReason::Crash,
            PlayerError::Timeout => ForfeitReason::Time,
            PlayerError::Stopped => return None,
        };
        self.detail = Some(error.to_string());
        self.record.forfeit = Some(Forfeit { loser, reason });
        Some(self)
    }
}
