//! The engine: which move to play in a game, within limits of time, nodes or depth.

use super::alphabeta;
use super::eval::{Evaluator, WEIGHTS, Weights};
use super::history::Memory;
use super::ideas::Ideas;
use super::pvs::{RootMove, Worker};
use super::score::{DECIDED, INFINITE, NO_MOVE, Packed, Value, animal_of, pack_move, public, to_of, unpack_move};
use super::shared::Shared;
use super::state::State;
use super::tables::Tables;
use super::tt::Table;
use crate::board::{Move, Repetition, RuleOptions};
use crate::game::Game;
use crate::tablebase::{Verdict, Wdl};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What judges a position at the horizon.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Evaluation {
    /// Burnett's tables (2010): material and squares.
    Burnett,
    /// Our own.
    #[default]
    Default,
}

/// How the tree is searched.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// As the papers' engine does (van Rijn and Vis, 2013): alpha-beta with iterative deepening and a transposition table
    /// of Zobrist keys, the table's move and captures first, and nothing else. One thread, no endgame tables.
    AlphaBeta,
    /// Principal variation search with all that helps.
    #[default]
    Pvs,
}

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Size of the transposition table in MiB. It is made smaller if there is no memory for it.
    pub hash_mib: usize,
    /// Number of threads that search.
    pub threads: usize,
    pub evaluation: Evaluation,
    /// Number of best lines to find.
    pub multipv: usize,
    pub algorithm: Algorithm,
    /// Endgame tables; they are used in games by the rules that they are for.
    pub tables: Option<Arc<Tables>>,
    /// What the search does beyond plain alpha-beta; for measurements.
    pub ideas: Ideas,
    /// Takes the place of the weights that the program has; for tuning.
    pub weights: Option<Weights>,
}

impl EngineOptions {
    /// The papers' engine: plain alpha-beta and Burnett's evaluation.
    #[must_use]
    pub fn burnett_alphabeta() -> EngineOptions {
        EngineOptions { evaluation: Evaluation::Burnett, algorithm: Algorithm::AlphaBeta, ..EngineOptions::default() }
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            hash_mib: 64,
            threads: 1,
            evaluation: Evaluation::default(),
            multipv: 1,
            algorithm: Algorithm::default(),
            tables: None,
            ideas: Ideas::default(),
            weights: None,
        }
    }
}

/// The time left on the clock of the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    pub remaining: Duration,
    /// Added after each move.
    pub increment: Duration,
    /// Moves to the next time control; `None`: the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// When to stop a search: at whatever comes first. Without any limit it runs until it is told to stop.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Plies of the last iteration.
    pub depth: Option<u32>,
    /// Nodes of all threads together.
    pub nodes: Option<u64>,
    /// Time for this move.
    pub movetime: Option<Duration>,
    pub clock: Option<Clock>,
}

/// What a position is worth to the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i32);

impl Score {
    /// The value of a game won at once; a win `n` plies away is worth `n` less.
    const WIN: i32 = 1_000_000;
    /// More plies than any win takes.
    const MAX_PLIES: i32 = 10_000;

    /// An estimate in hundredths of a cat.
    #[must_use]
    pub fn estimate(value: i32) -> Score {
        Score(value)
    }

    /// A win that is certain, `plies` plies away.
    #[must_use]
    pub fn win(plies: u32) -> Score {
        Score(Score::WIN - plies.min(Score::MAX_PLIES as u32) as i32)
    }

    /// A loss that is certain, `plies` plies away.
    #[must_use]
    pub fn loss(plies: u32) -> Score {
        Score(-Score::win(plies).0)
    }

    /// Plies to a win that is certain.
    #[must_use]
    pub fn win_in(self) -> Option<u32> {
        (self.0 >= Score::WIN - Score::MAX_PLIES).then(|| (Score::WIN - self.0) as u32)
    }

    /// Plies to a loss that is certain.
    #[must_use]
    pub fn loss_in(self) -> Option<u32> {
        Score(-self.0).win_in()
    }

    /// The value as a number: wins above, losses below every estimate.
    #[must_use]
    pub fn value(self) -> i32 {
        self.0
    }
}

/// As UCI writes it: `cp 13`, or `mate 3` in moves of the winner, negative for a loss.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.win_in(), self.loss_in()) {
            (Some(plies), _) => write!(f, "mate {}", plies.div_ceil(2)),
            (_, Some(plies)) => write!(f, "mate -{}", plies.div_ceil(2)),
            _ => write!(f, "cp {}", self.0),
        }
    }
}

/// What a search knows after an iteration, one for each line.
#[derive(Clone, Debug)]
pub struct Info {
    /// Plies searched in full.
    pub depth: u32,
    /// Plies of the longest line looked at.
    pub seldepth: u32,
    /// Which of the best lines this is, from 1.
    pub multipv: usize,
    pub score: Score,
    pub nodes: u64,
    pub time: Duration,
    /// Entries of the transposition table in use, of a thousand.
    pub hashfull: u32,
    /// Positions looked up in endgame tables.
    pub tbhits: u64,
    /// The line, the move to play first. Never empty.
    pub pv: Vec<Move>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The best lines, the best first: as many as were asked for and there are moves. Empty only if the game is over.
    pub lines: Vec<Info>,
}

impl SearchResult {
    /// The move to play; `None` if the game is over.
    #[must_use]
    pub fn best(&self) -> Option<Move> {
        self.lines.first().map(|line| line.pv[0])
    }
}

/// An engine: it keeps what it learned from one search to the next.
pub struct Engine {
    options: EngineOptions,
    table: Table,
    /// Of each thread.
    memories: Vec<Memory>,
    /// Made for the rules of the game searched last.
    evaluator: Option<(RuleOptions, Box<Evaluator>)>,
    /// How long threads were kept from running lately.
    lag: Duration,
}

impl Engine {
    #[must_use]
    pub fn new(options: EngineOptions) -> Engine {
        let table = Table::new(options.hash_mib);
        let memories = (0..options.threads.max(1)).map(|_| Memory::new()).collect();
        Engine { options, table, memories, evaluator: None, lag: Duration::ZERO }
    }

    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Forgets what it learned, as before another game.
    pub fn new_game(&mut self) {
        self.table.clear();
        self.memories.iter_mut().for_each(Memory::clear);
    }

    /// Looks for the best move of a game. `report` hears of every line after each iteration; setting `stop` ends the
    /// search at once, with the best found so far. The move is always one of [`Game::legal_moves`], however early the end
    /// comes.
    ///
    /// The endgame tables decide at the root where they can: the shortest win, the longest loss; of several moves that
    /// draw the search chooses. Where repeating a position is illegal they are not used, since they know of no history.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Info),
    ) -> SearchResult {
        self.search_among(&game.legal_moves(), game, limits, stop, report)
    }

    /// As [`Engine::search`], but the move is one of `among`. What is not legal of these does not count; if nothing is
    /// left there is no move.
    pub fn search_among(
        &mut self,
        among: &[Move],
        game: &Game,
        limits: &Limits,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Info),
    ) -> SearchResult {
        let mut legal = game.legal_moves();
        legal.retain(|mv| among.contains(&mv));
        if legal.is_empty() {
            return SearchResult { lines: Vec::new() };
        }
        let rules = game.rules();
        if self.evaluator.as_ref().is_none_or(|(options, _)| options != rules.options()) {
            let weights = self.options.weights.as_ref().unwrap_or(&WEIGHTS);
            let evaluator = Evaluator::new(self.options.evaluation, rules, weights);
            self.evaluator = Some((*rules.options(), Box::new(evaluator)));
            // What was stored under other rules or evaluations is worth nothing here.
            self.new_game();
        }
        let evaluator = &*self.evaluator.as_ref().expect("made above").1;
        self.table.next_age();
        self.memories.iter_mut().for_each(Memory::next_search);
        let threads = if self.options.algorithm == Algorithm::Pvs { self.memories.len() } else { 1 };
        let tables = self.options.tables.as_deref();
        // Half forgotten with every move.
        let lag = self.lag / 2;
        let ideas = self.options.ideas;
        let shared = Shared::new(game, evaluator, &self.table, tables, ideas, limits, threads, lag, stop);

        let mut roots = legal.to_vec();
        if let Some(decided) = shared.tables.and_then(|tables| by_table(tables, game, &legal)) {
            match decided {
                ByTable::Lines(lines) => {
                    let lines: Vec<Info> = lines
                        .into_iter()
                        .take(self.options.multipv.max(1))
                        .enumerate()
                        .map(|(i, (score, pv))| Info {
                            depth: 1,
                            seldepth: pv.len() as u32,
                            multipv: i + 1,
                            score,
                            nodes: legal.len() as u64,
                            time: shared.start.elapsed(),
                            hashfull: self.table.full(),
                            tbhits: legal.len() as u64,
                            pv,
                        })
                        .collect();
                    lines.iter().for_each(report);
                    return SearchResult { lines };
                }
                ByTable::Draws(moves) => roots = moves,
            }
        }
        let state = State::new(game.position(), evaluator);
        let multipv = self.options.multipv.clamp(1, roots.len());
        if self.options.algorithm == Algorithm::AlphaBeta {
            let lines = alphabeta::search(&shared, &state, &roots, multipv, report);
            self.lag = shared.waited();
            return SearchResult { lines };
        }
        let scale = if self.options.evaluation == Evaluation::Burnett { 2 } else { 1 };
        let (main, helpers) = self.memories.split_first_mut().expect("there is a thread at least");
        let (shared, state, roots) = (&shared, &state, &roots);
        let lines = std::thread::scope(|scope| {
            for (i, memory) in helpers.iter_mut().enumerate() {
                let helper = move || {
                    let worker = Worker::new(shared, i + 1, memory, scale);
                    iterate(worker, state, roots, 1, &mut |_| ());
                };
                // Without another thread the search goes on with those there are.
                let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, helper);
            }
            let worker = Worker::new(shared, 0, main, scale);
            let lines = iterate(worker, state, roots, multipv, report);
            shared.done.store(true, Ordering::Relaxed);
            lines
        });
        self.lag = shared.waited();
        SearchResult { lines }
    }
}

/// For the deepest line, and plenty more.
const STACK: usize = 16 << 20;

/// What the tables say of the moves of the root.
enum ByTable {
    /// Every move with its score and line, the best first: the game is won or lost.
    Lines(Vec<(Score, Vec<Move>)>),
    /// The moves that draw: the best there is.
    Draws(Vec<Move>),
}

fn by_table(tables: &Tables, game: &Game, legal: &[Move]) -> Option<ByTable> {
    let (position, rules) = (game.position(), game.rules());
    if rules.options().repetition == Repetition::Illegal || position.occupied().len() > tables.pieces() {
        return None;
    }
    let mut moves = Vec::new();
    for &mv in legal {
        moves.push((mv, tables.verdict(&position.make(mv), rules)?));
    }
    // What is lost for the other side is won for this one, and one ply further from the end.
    let rank = |verdict: &Verdict| match (verdict.wdl, verdict.dtw) {
        (Wdl::Loss, dtw) => 100_000 - i32::from(dtw.unwrap_or(0)),
        (Wdl::Draw, _) => 0,
        (Wdl::Win, dtw) => i32::from(dtw.unwrap_or(0)) - 100_000,
    };
    moves.sort_by_key(|(_, verdict)| -rank(verdict));
    if moves[0].1.wdl == Wdl::Draw {
        return Some(ByTable::Draws(
            moves.into_iter().filter(|(_, verdict)| verdict.wdl == Wdl::Draw).map(|(mv, _)| mv).collect(),
        ));
    }
    let lines = moves.into_iter().map(|(mv, verdict)| {
        let plies = u32::from(verdict.dtw.unwrap_or(0)) + 1;
        let score = match verdict.wdl {
            Wdl::Loss => Score::win(plies),
            Wdl::Draw => Score::estimate(0),
            Wdl::Win => Score::loss(plies),
        };
        (score, table_line(tables, game, mv))
    });
    Some(ByTable::Lines(lines.collect()))
}

/// The line of best play after a move, by the tables.
fn table_line(tables: &Tables, game: &Game, first: Move) -> Vec<Move> {
    const LONGEST: usize = 64;
    let rules = game.rules();
    let mut line = vec![first];
    let mut position = game.position().make(first);
    while line.len() < LONGEST && position.winner().is_none() {
        let Some(here) = tables.verdict(&position, rules) else { break };
        let Some(plies) = here.dtw.filter(|&plies| plies > 0) else { break };
        let next = position.moves(rules).into_iter().map(|mv| (mv, position.make(mv))).find(|(_, next)| {
            tables.verdict(next, rules).is_some_and(|v| v.dtw == Some(plies - 1) && v.wdl != here.wdl)
        });
        let Some((mv, after)) = next else { break };
        line.push(mv);
        position = after;
    }
    line
}

/// Iterative deepening with aspiration windows, for the best `multipv` lines.
fn iterate(
    mut worker: Worker<'_>,
    state: &State,
    roots: &[Move],
    multipv: usize,
    report: &mut dyn FnMut(&Info),
) -> Vec<Info> {
    let shared = worker.line.shared;
    let main = worker.line.id == 0;
    let mut moves: Vec<RootMove> = roots
        .iter()
        .map(|&mv| {
            let mv = pack_move(mv);
            RootMove { mv, value: -INFINITE, earlier: -INFINITE, seldepth: 1, line: vec![mv] }
        })
        .collect();
    let mut lines: Vec<Info> = Vec::new();
    let info = |worker: &Worker<'_>, found: &RootMove, index: usize, depth: i32, value: Value| Info {
        depth: depth as u32,
        seldepth: found.seldepth as u32,
        multipv: index + 1,
        score: public(value),
        nodes: shared.total_nodes().max(worker.line.nodes),
        time: shared.start.elapsed(),
        hashfull: shared.table.full(),
        tbhits: shared.total_tbhits(),
        pv: unpack_line(state, &found.line),
    };
    let deepest = shared.limits.depth.unwrap_or(u32::MAX).clamp(1, MAX_DEPTH) as i32;
    let mut stable = 0;
    let mut best_before = NO_MOVE;
    'deepening: for depth in 1..=deepest {
        // Helpers skip some depths, so that threads do not all do the same.
        if !main && depth > 2 && (depth + worker.line.id as i32) % 3 == 0 {
            continue;
        }
        for found in &mut moves {
            found.earlier = found.value.max(found.earlier.min(found.value));
        }
        let mut finished = Vec::new();
        for index in 0..multipv {
            let guess = lines.get(index).map_or(0, |_| moves[index].earlier);
            let mut delta = 25 * worker.scale();
            let narrow = shared.ideas.aspiration && depth >= 5 && guess.abs() < DECIDED;
            let (mut alpha, mut beta) = if narrow { (guess - delta, guess + delta) } else { (-INFINITE, INFINITE) };
            loop {
                let value = worker.root(state, &mut moves[index..], alpha, beta, depth);
                if worker.line.stopped {
                    // The first of the moves is the best of the last iteration, or a better one found in this.
                    let found = &moves[index];
                    if value.is_some_and(|value| value > alpha) || lines.len() <= index {
                        let value = if found.value > -INFINITE { found.value } else { worker.eval() };
                        finished.push(info(&worker, found, index, depth, value));
                    }
                    lines = completed(finished, lines, multipv);
                    let rest = moves.iter().filter(|found| found.line.len() == 1 || found.value > -INFINITE);
                    for found in rest {
                        if lines.len() < multipv && lines.iter().all(|line| pack_move(line.pv[0]) != found.mv) {
                            lines.push(info(&worker, found, lines.len(), depth, worker.eval()));
                        }
                    }
                    break 'deepening;
                }
                let value = value.unwrap_or(alpha);
                if value <= alpha && alpha > -INFINITE {
                    beta = (alpha + beta) / 2;
                    alpha = (value - delta).max(-INFINITE);
                } else if value >= beta && beta < INFINITE {
                    beta = (value + delta).min(INFINITE);
                } else {
                    finished.push(info(&worker, &moves[index], index, depth, value));
                    break;
                }
                delta += delta;
                if delta > 600 * worker.scale() {
                    (alpha, beta) = (-INFINITE, INFINITE);
                }
            }
        }
        // A later line may come out above an earlier one.
        finished.sort_by_key(|line| std::cmp::Reverse(line.score));
        for (i, line) in finished.iter_mut().enumerate() {
            line.multipv = i + 1;
        }
        moves[..multipv].sort_by_key(|found| std::cmp::Reverse(found.value));
        lines = finished;
        if !main {
            continue;
        }
        worker.line.check();
        lines.iter().for_each(&mut *report);
        if moves[0].mv == best_before {
            stable += 1
        } else {
            stable = 0
        }
        best_before = moves[0].mv;
        if worker.line.stopped {
            break;
        }
        let plies = lines[0].score.win_in().or(lines[0].score.loss_in());
        let limited = shared.hard.is_some() || shared.limits.nodes.is_some();
        if limited && plies.is_some_and(|plies| depth as u32 >= plies + 10) {
            break;
        }
        if let Some(soft) = shared.soft {
            // With one move there is nothing to think about; with a best move that stays, less.
            let factor = [1.6, 1.3, 1.1, 1.0, 0.9, 0.8][(stable as usize).min(5)];
            if moves.len() == 1 || shared.start.elapsed() >= soft.mul_f64(factor) {
                break;
            }
        }
    }
    shared.nodes[worker.line.id].store(worker.line.nodes, Ordering::Relaxed);
    if let Some(first) = lines.first_mut() {
        first.nodes = first.nodes.max(shared.total_nodes());
        first.time = shared.start.elapsed();
    }
    lines
}

/// The lines of an iteration that was stopped, and of the one before where they are wanting.
fn completed(newer: Vec<Info>, older: Vec<Info>, multipv: usize) -> Vec<Info> {
    let mut lines = newer;
    for line in older {
        if lines.len() < multipv && lines.iter().all(|newer| newer.pv[0] != line.pv[0]) {
            lines.push(line);
        }
    }
    for (i, line) in lines.iter_mut().enumerate() {
        line.multipv = i + 1;
    }
    lines
}

/// Plies of the last iteration at most.
const MAX_DEPTH: u32 = 120;

fn unpack_line(state: &State, line: &[Packed]) -> Vec<Move> {
    let mut lanes = state.lanes;
    let mut turn = state.turn;
    line.iter()
        .map(|&mv| {
            let from = &mut lanes[turn][animal_of(mv)];
            let unpacked = unpack_move(mv, *from);
            *from = 1 << to_of(mv);
            turn ^= 1;
            unpacked
        })
        .collect()
}
