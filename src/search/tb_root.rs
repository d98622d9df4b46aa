//! Endgame tables at the root of a search.

use super::info::Info;
use super::score::Score;
use super::shared::Shared;
use super::tb::Tables;
use crate::board::{Move, Position, Repetition};
use crate::game::Game;
use crate::tablebase::{Probe, Value, Wdl};
use std::cmp::Reverse;
use std::time::Duration;

/// The time that reading may take in any case.
const LEAST: Duration = Duration::from_millis(1);

/// The result of probing endgame tables at the root.
pub(super) enum TbRoot {
    /// The best moves with their scores and lines, the best first: the game is won or lost.
    Lines(Vec<Info>),
    /// The moves that keep the result, to search: moves that draw, or moves whose distances are not known.
    Moves(Vec<Move>),
}

/// Probes endgame tables for the moves of the root. `None` if the tables do not contain the position, if the game is
/// drawn before the end of the line, or if reading takes half of the time of the search.
pub(super) fn tb_root(shared: &Shared<'_>, game: &Game, legal: &[Move], multipv: usize) -> Option<TbRoot> {
    let tb = shared.tb?;
    let position = game.position();
    if game.rules().options().repetition == Repetition::Illegal {
        return None;
    }
    let ready = shared.hard.is_none() || tb.is_ready(position);
    let Some(mut moves) = ready.then(|| values(tb, shared, position, legal)).flatten() else {
        return moves_that_keep(tb, shared, position, legal).map(TbRoot::Moves);
    };
    if moves.first()?.1.wdl == Wdl::Draw {
        moves.retain(|(_, value)| value.wdl == Wdl::Draw);
        return Some(TbRoot::Moves(moves.into_iter().map(|(mv, _)| mv).collect()));
    }
    let multipv = multipv.min(moves.len());
    let lines: Vec<Vec<Move>> = moves[..multipv].iter().map(|&(mv, _)| line(tb, shared, position, mv)).collect();
    if is_drawn_on_the_way(game, &lines[0]) {
        return None;
    }
    let infos = moves.iter().zip(lines).enumerate().map(|(i, (&(_, value), pv))| Info {
        depth: 1,
        seldepth: pv.len() as u32,
        multipv: i + 1,
        score: score(&value),
        nodes: legal.len() as u64,
        time: shared.start.elapsed(),
        hashfull: shared.tt.hashfull(),
        tbhits: legal.len() as u64,
        pv,
    });
    Some(TbRoot::Lines(infos.collect()))
}

/// Whether a search has lasted for a fraction `1 / part` of this time.
fn is_over(shared: &Shared<'_>, time: Option<Duration>, part: u32) -> bool {
    time.is_some_and(|time| shared.start.elapsed() >= (time / part).max(LEAST))
}

/// The values of moves, best first. `None` if the tables do not contain all of them, or if half of the time is over.
fn values(tb: &Tables, shared: &Shared<'_>, position: &Position, moves: &[Move]) -> Option<Vec<(Move, Value)>> {
    let mut values = Vec::new();
    for &mv in moves {
        let Ok(value) = tb.value(&position.make(mv));
        values.push((mv, value?.before()));
        if is_over(shared, shared.hard, 2) {
            return None;
        }
    }
    values.sort_by_key(|&(_, value)| Reverse(value));
    Some(values)
}

/// The moves that keep the result of a position, for the side to move. `None` as for [`values`].
fn moves_that_keep(tb: &Tables, shared: &Shared<'_>, position: &Position, moves: &[Move]) -> Option<Vec<Move>> {
    let mut results = Vec::new();
    for &mv in moves {
        let next = position.make(mv);
        let over = Value::of_finished(&next).map(|value| value.wdl);
        results.push((mv, over.or_else(|| tb.probe(&next))?.before()));
        if is_over(shared, shared.hard, 2) {
            return None;
        }
    }
    let best = results.iter().map(|&(_, wdl)| wdl).max()?;
    Some(results.into_iter().filter(|&(_, wdl)| wdl == best).map(|(mv, _)| mv).collect())
}

/// Best play from a move to the end of the game, as far as it can be read in a quarter of the time and before the search
/// is stopped.
fn line(tb: &Tables, shared: &Shared<'_>, position: &Position, mv: Move) -> Vec<Move> {
    let time = shared.soft.or(shared.hard);
    let (mut line, mut position) = (vec![mv], position.make(mv));
    let mut left = None;
    while !is_over(shared, time, 4)
        && !shared.stopped()
        && let Ok(Some(moves)) = tb.moves(&position)
        && let Some(&(mv, Value { dtw: Some(plies), .. })) = moves.first()
    {
        // Forged values could form a cycle: the line ends where the distance does not fall by one.
        if left.is_some_and(|left| left != plies) {
            break;
        }
        left = plies.checked_sub(1);
        line.push(mv);
        position = position.make(mv);
    }
    line
}

/// Whether the game is drawn, by the no-capture limit or a repetition, before all of these moves have been played.
fn is_drawn_on_the_way(game: &Game, line: &[Move]) -> bool {
    let mut game = game.clone();
    line.iter().any(|&mv| game.play(mv).is_err()) || game.end().is_some_and(|end| end.winner().is_none())
}

/// The score of a value in endgame tables.
fn score(value: &Value) -> Score {
    let plies = u32::from(value.dtw.unwrap_or(0));
    match value.wdl {
        Wdl::Win => Score::win(plies),
        Wdl::Draw => Score::estimate(0),
        Wdl::Loss => Score::loss(plies),
    }
}
