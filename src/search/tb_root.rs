//! Endgame tables at the root of a search.

use super::info::Info;
use super::score::Score;
use super::shared::Shared;
use super::tables::{Tables, TablesWithin};
use crate::board::{Color, Move, Position, Repetition};
use crate::game::{Game, GameEnd};
use crate::tablebase::{Probe, Value, Wdl};
use std::cmp::Reverse;
use std::time::Duration;

/// The time that reading may take in any case.
const LEAST: Duration = Duration::from_millis(1);
/// The positions that prove at most that no repetition draws a win.
const NODES: u32 = 500;
/// The time between two looks at a material that is being solved.
const PAUSE: Duration = Duration::from_millis(1);

/// The result of probing endgame tables at the root.
pub(super) enum TbRoot {
    /// The best moves with their scores and lines, the best first: the game is won or lost.
    Lines(Vec<Info>),
    /// The moves to search: the others have a worse result for certain.
    Moves(Vec<Move>),
}

/// What a move leads to against best play, the better the greater. A table win is possible, and a table loss avoidable, if
/// the no-capture limit or a repetition may draw the game before its end.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Prospect {
    Lost,
    PossiblyLost,
    Drawn,
    PossiblyWon,
    Won,
}

/// A move of the root by the tables, for the side that makes it.
struct Judged {
    mv: Move,
    prospect: Prospect,
    value: Value,
    /// Whether the limit lets the game last as long as the value says.
    in_time: bool,
    /// If not, the plies to the win or to the capture that keeps it.
    conversion: Option<u32>,
}

/// Probes endgame tables for the moves of the root. `None` if the tables do not contain the position, or if reading takes
/// half of the time of the search.
pub(super) fn tb_root(shared: &Shared<'_>, game: &Game, legal: &[Move], multipv: usize) -> Option<TbRoot> {
    let tb = shared.tb?;
    let position = game.position();
    if game.rules().options().repetition == Repetition::Illegal {
        return None;
    }
    let values = wait(shared, || tb.is_ready(position)).then(|| judge(tb, shared, game, legal)).flatten();
    let Some(mut moves) = values else {
        return moves_that_keep(tb, shared, game, legal).map(TbRoot::Moves);
    };
    moves.sort_by_key(|judged| Reverse((judged.prospect, judged.value)));
    let best = moves.first()?.prospect;
    let decided = matches!(best, Prospect::Won | Prospect::Lost);
    let in_time = |judged: &Judged| judged.prospect == best && judged.in_time;
    if !decided || !moves.iter().any(in_time) || best == Prospect::Lost && !in_time(&moves[0]) {
        // A win that takes a capture on the way must come closer to it.
        let nearest =
            moves.iter().filter(|judged| judged.prospect == best).filter_map(|judged| judged.conversion).min();
        let goes_on = |judged: &Judged| best != Prospect::Won || judged.conversion == nearest;
        moves.retain(|judged| judged.prospect == best && goes_on(judged));
        return Some(TbRoot::Moves(moves.into_iter().map(|judged| judged.mv).collect()));
    }
    // The moves whose lines are known to fit come first, and of them one whose line no repetition draws.
    moves.sort_by_key(|judged| !in_time(judged));
    let multipv = multipv.min(moves.len());
    let mut lines: Vec<Vec<Move>> = Vec::new();
    let line = |judged: &Judged| line(tb, shared, position, judged.mv);
    if best == Prospect::Won {
        let fitting = moves.iter().take_while(|judged| in_time(judged)).count();
        let mut undisturbed = Undisturbed::new(tb, shared, game);
        let first = (0..fitting).find(|&i| undisturbed.surely_wins(moves[i].mv)).or_else(|| {
            // Perhaps a weaker opponent lets the game go on.
            (0..fitting).find(|&i| !is_drawn_on_the_way(game, &line(&moves[i])))
        });
        let Some(first) = first else {
            moves.truncate(fitting);
            return Some(TbRoot::Moves(moves.into_iter().map(|judged| judged.mv).collect()));
        };
        moves[..=first].rotate_right(1);
    } else {
        lines.push(line(&moves[0]));
        if is_drawn_on_the_way(game, &lines[0]) {
            return Some(TbRoot::Moves(vec![moves[0].mv]));
        }
    }
    lines.extend(moves.iter().take(multipv).skip(lines.len()).map(line));
    let infos = moves.iter().zip(lines).take(multipv).enumerate().map(|(i, (judged, pv))| Info {
        depth: 1,
        seldepth: pv.len() as u32,
        multipv: i + 1,
        score: score(judged),
        nodes: legal.len() as u64,
        time: shared.start.elapsed(),
        hashfull: shared.tt.hashfull(),
        tbhits: legal.len() as u64,
        pv,
    });
    Some(TbRoot::Lines(infos.collect()))
}

/// Whether a search has lasted for a fraction `1 / part` of this time, or was stopped.
fn is_over(shared: &Shared<'_>, time: Option<Duration>, part: u32) -> bool {
    shared.stopped() && shared.start.elapsed() >= LEAST
        || shared.is_limited() && time.is_some_and(|time| shared.spent() >= (time / part).max(LEAST))
}

/// Waits until values are ready, unless the time is limited or the search is stopped. Returns whether they are.
fn wait(shared: &Shared<'_>, ready: impl Fn() -> bool) -> bool {
    loop {
        if ready() {
            return true;
        }
        if shared.stopped() || shared.is_limited() && shared.hard.is_some() {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The value of the position that a move has led to, for the side that moved, if the game has ended there.
fn end_value(end: GameEnd, mover: Color) -> Value {
    let winner = end.winner();
    Value { wdl: Wdl::of(winner, mover), dtw: winner.map(|_| 1) }
}

/// The moves by the tables. `None` if the tables do not contain all of them, or if half of the time is over.
fn judge(tb: &Tables, shared: &Shared<'_>, game: &Game, moves: &[Move]) -> Option<Vec<Judged>> {
    let mover = game.position().turn();
    let mut within: Option<Option<TablesWithin<'_>>> = None;
    // Only games that the limit may draw need tables of their own.
    let mut dtz = |position: &Position| {
        let ready = |within: &TablesWithin<'_>| wait(shared, || within.is_ready(game.position()));
        let tables = || game.no_capture_limit().and_then(|limit| tb.within(limit)).filter(ready);
        within.get_or_insert_with(tables).as_ref()?.dtz(position)
    };
    let mut after = game.clone();
    let mut judged = Vec::new();
    for &mv in moves {
        after.play(mv).ok()?;
        let end = after.end();
        let left = after.plies_left().filter(|_| end.is_none());
        let value = match end {
            Some(end) => end_value(end, mover),
            None => {
                let Ok(value) = tb.value(after.position());
                match value {
                    Some(value) => value.before(),
                    None if !tb.has_limited() => return None,
                    None => Value { wdl: dtz(after.position())?.within(left?).before(), dtw: None },
                }
            }
        };
        // The position after the move is a ply closer to the end.
        let fits = |left: u32| value.wdl == Wdl::Draw || value.dtw.is_some_and(|plies| u32::from(plies) <= left + 1);
        let in_time = left.is_none_or(fits);
        let conversion = left.filter(|_| !in_time).and_then(|left| {
            let value = dtz(after.position()).filter(|value| value.within(left) != Wdl::Draw)?;
            Some(value.before(after.halfmove_clock() == 0).plies.into())
        });
        let decided = in_time || conversion.is_some();
        let prospect = match value.wdl {
            Wdl::Draw => Prospect::Drawn,
            Wdl::Win if decided => Prospect::Won,
            Wdl::Win => Prospect::PossiblyWon,
            Wdl::Loss if decided => Prospect::Lost,
            Wdl::Loss => Prospect::PossiblyLost,
        };
        judged.push(Judged { mv, prospect, value, in_time, conversion });
        after.undo();
        if is_over(shared, shared.hard, 2) {
            return None;
        }
    }
    Some(judged)
}

/// A search for wins by the tables that no repetition draws.
struct Undisturbed<'a> {
    tb: &'a Tables,
    shared: &'a Shared<'a>,
    game: Game,
    /// The winner and the distance of each position whose next occurrence is a draw.
    repeated: Vec<(Color, u16)>,
    /// The positions that the search may still visit.
    nodes: u32,
}

impl Undisturbed<'_> {
    fn new<'a>(tb: &'a Tables, shared: &'a Shared<'a>, game: &Game) -> Undisturbed<'a> {
        let decided = |position: &Position| {
            let Ok(value) = tb.value(position);
            let Value { wdl, dtw } = value?;
            Some((wdl.winner(position.turn())?, dtw?))
        };
        let repeated = game.drawn_if_repeated().filter_map(decided).collect();
        Undisturbed { tb, shared, game: game.clone(), repeated, nodes: 0 }
    }

    /// Whether a few positions prove that a move wins.
    fn surely_wins(&mut self, mv: Move) -> bool {
        self.nodes = NODES;
        self.wins(mv)
    }

    /// Whether a move surely wins for the side that makes it. Every ply of its best play brings the win closer, so only
    /// repeated positions closer to it matter.
    fn wins(&mut self, mv: Move) -> bool {
        let side = self.game.position().turn();
        if self.game.play(mv).is_err() {
            return false;
        }
        let wins = match self.game.end() {
            Some(end) => end.winner() == Some(side),
            None => {
                let Ok(value) = self.tb.value(self.game.position());
                let dtw = value.filter(|value| value.wdl == Wdl::Loss).and_then(|value| value.dtw);
                dtw.is_some_and(|dtw| {
                    !self.repeated.iter().any(|&(winner, nearer)| winner == side && nearer < dtw) || self.all_lose()
                })
            }
        };
        self.game.undo();
        wins
    }

    /// Whether every move of the side to move loses.
    fn all_lose(&mut self) -> bool {
        if self.nodes == 0 || is_over(self.shared, self.shared.hard, 2) {
            return false;
        }
        self.nodes -= 1;
        let replies = self.game.legal_moves();
        replies.into_iter().all(|reply| {
            let side = self.game.position().turn();
            if self.game.play(reply).is_err() {
                return false;
            }
            let loses = match self.game.end() {
                Some(end) => end.winner() == Some(!side),
                None => {
                    let Ok(moves) = self.tb.moves(self.game.position());
                    moves.is_some_and(|moves| moves.into_iter().any(|(mv, _)| self.wins(mv)))
                }
            };
            self.game.undo();
            loses
        })
    }
}

/// The moves that keep the result of a position, for the side to move. `None` as for [`judge`].
fn moves_that_keep(tb: &Tables, shared: &Shared<'_>, game: &Game, moves: &[Move]) -> Option<Vec<Move>> {
    let mover = game.position().turn();
    let mut after = game.clone();
    let mut results = Vec::new();
    for &mv in moves {
        after.play(mv).ok()?;
        let wdl = match after.end() {
            Some(end) => end_value(end, mover).wdl,
            None => tb.probe(after.position())?.before(),
        };
        after.undo();
        results.push((mv, wdl));
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

/// The score of a move; 0 if the distance of its win or loss is not known.
fn score(judged: &Judged) -> Score {
    let plies = u32::from(judged.value.dtw.unwrap_or(0));
    match judged.prospect {
        Prospect::Won if judged.in_time => Score::win(plies),
        Prospect::Lost if judged.in_time => Score::loss(plies),
        _ => Score::estimate(0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::engine::Engine;
    use super::super::limits::Limits;
    use super::super::options::EngineOptions;
    use super::*;
    use crate::board::{Piece, Rules};
    use crate::game::random::Random;
    use crate::tablebase::{Material, Options, ProbeDtz, Solver};
    use std::sync::Arc;

    /// Perfect play within a no-capture limit and without repetition. Brute force confirms the values of the solver for two
    /// and three pieces (`endgames_within_a_limit_are_played_perfectly`).
    struct Perfect {
        solver: Solver,
    }

    impl Perfect {
        fn new(rules: &Rules, pieces: usize, limit: u32) -> Perfect {
            let rules = rules.options().within(Some(limit as u16));
            Perfect { solver: Solver::new(&rules, pieces, Options::default()) }
        }

        /// The result of a game for a side.
        fn result(&mut self, game: &Game, side: Color) -> Wdl {
            if let Some(end) = game.end() {
                return end_value(end, side).wdl;
            }
            self.solver.solve_position(game.position()).unwrap();
            let Ok(value) = self.solver.dtz(game.position());
            let wdl = value.unwrap().within(game.plies_left().unwrap());
            if game.position().turn() == side { wdl } else { wdl.before() }
        }

        /// One of the moves that keep the result, the same each time in the same position.
        fn best(&mut self, game: &Game) -> Move {
            let side = game.position().turn();
            let mut after = game.clone();
            let mut moves = Vec::new();
            for mv in game.legal_moves() {
                after.play(mv).unwrap();
                moves.push((mv, self.result(&after, side)));
                after.undo();
            }
            let best = moves.iter().map(|&(_, wdl)| wdl).max().unwrap();
            assert_eq!(best, self.result(game, side), "{}", game.fen());
            moves.retain(|&(_, wdl)| wdl == best);
            moves[(game.position().key() >> 32) as usize % moves.len()].0
        }

        /// The result for a side that an engine plays, to the end of the game.
        fn play(&mut self, engine: &mut Engine, start: &Game, side: Color) -> Wdl {
            engine.new_game();
            let mut game = start.clone();
            while game.end().is_none() {
                let mv = match game.position().turn() == side {
                    true => engine.search(&game, &Limits::default().nodes(500)).run().best().unwrap(),
                    false => self.best(&game),
                };
                game.play(mv).unwrap();
            }
            self.result(&game, side)
        }
    }

    /// 500 games from endgames of four pieces within limits of 10 to 100 plies, most of them decided, from both sides against
    /// perfect play: with tables of four pieces each result is that of perfect play, and so no worse than without tables.
    #[test]
    fn tables_of_four_pieces_play_perfectly_within_a_limit() {
        let rules = Rules::new("paper,repetition=none".parse().unwrap());
        let options = || EngineOptions::default().hash_mib(1);
        let tables = Arc::new(Tables::solve(rules.options(), 4).unwrap());
        let (mut without, mut with) = (Engine::new(options()), Engine::new(options().tables(tables)));
        let mut random = Random::new(17);
        let (mut better, mut decided) = (0, 0);
        for (material, limit) in [
            ("ELvTD", 10),
            ("ETvLP", 20),
            ("LTvER", 30),
            ("RTvLE", 40),
            ("EPRvL", 50),
            ("TvDWC", 60),
            ("LRvTR", 70),
            ("PvDCR", 80),
            ("ERvLT", 90),
            ("TPvLR", 100),
        ] {
            let pieces: Vec<Piece> = material.parse::<Material>().unwrap().pieces().collect();
            let mut perfect = Perfect::new(&rules, pieces.len(), limit);
            for i in 0..25 {
                let start = loop {
                    let start = random.placement(&pieces, &rules).unwrap();
                    let clock = if i % 3 == 0 { 0 } else { random.below(limit as usize) };
                    let fen = format!("{} {clock}", start.to_fen()).parse().unwrap();
                    let start = Game::from_fen(fen, rules.clone(), Some(limit));
                    if i % 5 == 0 || perfect.result(&start, Color::White) != Wdl::Draw {
                        break start;
                    }
                };
                for side in Color::ALL {
                    let expected = perfect.result(&start, side);
                    let least = perfect.play(&mut without, &start, side);
                    let result = perfect.play(&mut with, &start, side);
                    let name = format!("{} of {limit}, {side}, without {least:?}", start.fen());
                    assert!(result == expected && result >= least, "{name}: {result:?} for {expected:?}");
                    better += usize::from(result > least);
                    decided += usize::from(expected != Wdl::Draw);
                }
            }
        }
        assert!(better > 0 && decided >= 400, "{better} {decided}");
    }
}
