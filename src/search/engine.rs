//! The engine: it chooses a move in a game, within limits of time, nodes or depth.

use super::eval::{CaptureMasks, Evaluation, State};
use super::history::ThreadData;
use super::info::{Info, SearchResult, complete};
use super::limits::Limits;
use super::options::{EngineOptions, Techniques};
use super::parameters::Reductions;
use super::shared::{Request, Shared};
use super::tb_root::{TbRoot, tb_root};
use super::threads::{STACK, parallel};
use super::tt::Tt;
use crate::board::{Move, RuleOptions, Rules};
use crate::clock::Instant;
use crate::game::Game;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The plies that a search that prunes looks further than the mate that is to be found.
const MATE_EXTRA: u32 = 6;

/// An engine. It keeps its transposition table and history from one search to the next.
///
/// ```
/// use doushouqi::board::{Position, Rules};
/// use doushouqi::game::Game;
/// use doushouqi::search::{Engine, EngineOptions, Limits};
///
/// // The cat steps into the den.
/// let position = Position::from_fen("7/3C3/7/7/7/7/4e2/7/7 w")?;
/// let game = Game::new(position, Rules::default(), Some(Game::NO_CAPTURE_LIMIT));
/// let mut engine = Engine::new(EngineOptions::default().hash_mib(1));
/// let limits = Limits::default().depth(6);
/// let found = engine.search(&game, &limits).run();
/// assert_eq!(found.best().unwrap().to_string(), "d8d9");
/// assert_eq!(found.lines[0].score.win_in(), Some(1));
/// # Ok::<(), doushouqi::board::ParseFenError>(())
/// ```
pub struct Engine {
    options: EngineOptions,
    reductions: Box<Reductions>,
    tt: Tt,
    /// The data of each thread.
    thread_data: Vec<ThreadData>,
    /// The rules that the engine is prepared for, and their masks.
    masks: Option<(RuleOptions, Box<CaptureMasks>)>,
    memory: Memory,
    /// The longest recent time for which a runnable thread had no CPU.
    delay: Duration,
}

/// The state of the transposition table and the history.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Memory {
    /// Empty. The system has yet to provide the pages of the table, which takes as long as clearing it.
    Untouched,
    Empty,
    Used,
}

impl Engine {
    /// The stack in bytes for a thread that calls [`Search::run`]: several times the stack that the longest line needs.
    pub const STACK: usize = STACK;

    /// An engine with an empty transposition table.
    #[must_use]
    pub fn new(options: EngineOptions) -> Engine {
        let tt = Tt::new(options.hash_mib);
        let thread_data = (0..options.threads.max(1)).map(|_| ThreadData::new()).collect();
        let reductions = options.parameters().reductions();
        Engine { options, reductions, tt, thread_data, masks: None, memory: Memory::Untouched, delay: Duration::ZERO }
    }

    /// The options of the engine.
    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Clears the transposition table and the history, as before another game. This takes long if the table is large.
    pub fn new_game(&mut self) {
        if self.memory != Memory::Empty {
            self.tt.clear(self.options.threads);
            self.thread_data.iter_mut().for_each(ThreadData::clear);
            self.memory = Memory::Empty;
        }
    }

    /// Prepares searches under these rules: touches the memory of the transposition table, and clears it if the last
    /// search was under other rules. Without this call, a search does so in its own time.
    pub fn prepare(&mut self, rules: &Rules) {
        self.set_rules(rules);
        if self.memory == Memory::Untouched {
            self.new_game();
        }
    }

    fn set_rules(&mut self, rules: &Rules) {
        if self.masks.as_ref().is_some_and(|(options, _)| options == rules.options()) {
            return;
        }
        self.masks = Some((*rules.options(), Box::new(CaptureMasks::new(rules))));
        for thread_data in &mut self.thread_data {
            thread_data.evaluator = self.options.evaluation.make(rules);
        }
        // Entries of other rules are wrong under these rules.
        if self.memory == Memory::Used {
            self.new_game();
        }
    }

    /// Sets the number of best lines to report. The engine keeps its transposition table and history.
    pub fn set_multipv(&mut self, multipv: usize) {
        self.options.multipv = multipv;
    }

    /// Sets [`EngineOptions::move_overhead`]. The engine keeps its transposition table and history.
    pub fn set_move_overhead(&mut self, move_overhead: Duration) {
        self.options.move_overhead = move_overhead;
    }

    /// A search for the best move of a game. [`Search::run`] starts it.
    ///
    /// At the root, endgame tables that contain the position decide the move: the shortest win or the longest loss, if the
    /// game ends before the no-capture limit draws it. The search chooses among several drawing moves, among the moves that
    /// keep the result if only results are known, and among those that win unless, or are lost but for, that limit. With as
    /// many pieces as the tables in memory the engine solves the game with the limit, and plays it perfectly. If repeating
    /// a position is illegal, the engine ignores the tables, since they contain no history.
    ///
    /// The engine plays no move that a rule against loops forbids, none that loses by such a rule if there is another one,
    /// and one that wins by it if there is one. Beyond the first ply it does not know these rules. Where draws are judged, a
    /// draw is worth what it would be in the first position, and the limit of moves counts as a no-capture limit.
    pub fn search<'a>(&'a mut self, game: &'a Game, limits: &Limits) -> Search<'a> {
        Search {
            engine: self,
            game,
            limits: *limits,
            moves: None,
            stop: &NEVER,
            start: None,
            ponder: None,
            on_info: Box::new(|_| ()),
        }
    }

    /// Searches these moves and reports lines that are complete.
    fn run(&mut self, roots: &[Move], request: Request<'_>, on_info: &mut dyn FnMut(&Info)) -> SearchResult {
        if roots.is_empty() {
            return SearchResult { lines: Vec::new() };
        }
        self.set_rules(request.game.rules());
        self.memory = Memory::Used;
        self.tt.next_age();
        self.thread_data.iter_mut().for_each(ThreadData::next_search);
        let found = match request.limits.mate_plies() {
            Some(plies) => self.search_mate(roots, request, plies, on_info),
            None => self.pass(roots, request, self.options.search.techniques(), on_info),
        };
        SearchResult { lines: found.lines }
    }

    /// Searches for a win in at most so many plies. A search that prunes finds most of them soon. If it finds none, a
    /// search of all moves does.
    fn search_mate(
        &mut self,
        roots: &[Move],
        request: Request<'_>,
        plies: u32,
        on_info: &mut dyn FnMut(&Info),
    ) -> Found {
        let is_mate = |info: &Info| info.score.win_in().is_some_and(|win| win <= plies);
        let most = request.limits.depth.unwrap_or(u32::MAX);
        let at_most = |depth: u32| Request { limits: request.limits.depth(depth.min(most)), ..request };
        let found =
            self.pass(roots, at_most(plies.saturating_add(MATE_EXTRA)), self.options.search.techniques(), on_info);
        if found.is_final || found.lines.first().is_some_and(is_mate) {
            return found;
        }
        // Entries of a search that prunes prove nothing.
        self.tt.clear(self.options.threads);
        self.tt.next_age();
        let mut exact = at_most(plies);
        exact.limits.nodes = exact.limits.nodes.map(|nodes| nodes.saturating_sub(found.lines[0].nodes));
        let proof = self.pass(roots, Request { mate_plies: Some(plies), ..exact }, Techniques::EXACT, &mut |info| {
            if is_mate(info) {
                on_info(info);
            }
        });
        if proof.lines.first().is_some_and(is_mate) { proof } else { found }
    }

    /// One search with these techniques.
    fn pass(
        &mut self,
        roots: &[Move],
        request: Request<'_>,
        techniques: Techniques,
        on_info: &mut dyn FnMut(&Info),
    ) -> Found {
        let Engine { options, reductions, tt, thread_data, masks, delay, .. } = self;
        let masks = &*masks.as_ref().expect("`set_rules` made it").1;
        // The weight of a delay halves with every search.
        let shared = Shared::new(&request, masks, tt, options, reductions, techniques, *delay / 2);
        let mut roots = roots.to_vec();
        match tb_root(&shared, request.game, &roots, options.multipv.max(1)) {
            Some(TbRoot::Lines(lines)) => {
                lines.iter().for_each(on_info);
                return Found { lines, is_final: true };
            }
            Some(TbRoot::Moves(moves)) => roots = moves,
            None => {}
        }
        let state = State::new(request.game.position());
        let multipv = options.multipv.clamp(1, roots.len());
        let mut report = |info: &Info| {
            let mut info = info.clone();
            complete(request.game, &mut info);
            on_info(&info);
        };
        let scale = if matches!(options.evaluation, Evaluation::Burnett) { 2 } else { 1 };
        let mut lines = parallel(&shared, &state, &roots, multipv, thread_data, scale, &mut report);
        lines.iter_mut().for_each(|info| complete(request.game, info));
        *delay = shared.waited();
        Found { lines, is_final: shared.is_over() }
    }
}

/// The lines of a search.
struct Found {
    lines: Vec<Info>,
    /// Whether the lines come from tables, or the search reached a limit of time or nodes or was stopped.
    is_final: bool,
}

/// The stop handle of a search for which none was set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// A search, set up by its methods and started by [`Search::run`].
///
/// ```
/// use doushouqi::board::{Position, Rules};
/// use doushouqi::game::Game;
/// use doushouqi::search::{Engine, EngineOptions, Limits};
/// use std::sync::atomic::AtomicBool;
///
/// let game = Game::new(Position::start(), Rules::default(), Some(Game::NO_CAPTURE_LIMIT));
/// let mut engine = Engine::new(EngineOptions::default().hash_mib(1));
/// let limits = Limits::default().depth(4);
/// let stop = AtomicBool::new(false);
/// let mut depths = Vec::new();
/// let found = engine.search(&game, &limits).stop(&stop).on_info(|info| depths.push(info.depth)).run();
/// assert_eq!(found.lines[0].depth, 4);
/// assert_eq!(depths, [1, 2, 3, 4]);
/// ```
#[must_use = "a search starts with `run`"]
pub struct Search<'a> {
    engine: &'a mut Engine,
    game: &'a Game,
    limits: Limits,
    moves: Option<&'a [Move]>,
    stop: &'a AtomicBool,
    start: Option<Instant>,
    ponder: Option<&'a OnceLock<Instant>>,
    on_info: Box<dyn FnMut(&Info) + 'a>,
}

impl<'a> Search<'a> {
    /// Restricts the search to these moves. Illegal moves are ignored; if none is legal, the result is empty.
    pub fn moves(self, moves: &'a [Move]) -> Search<'a> {
        Search { moves: Some(moves), ..self }
    }

    /// Sets the stop handle: once it is true, the search ends with the best move found so far.
    pub fn stop(self, stop: &'a AtomicBool) -> Search<'a> {
        Search { stop, ..self }
    }

    /// Sets the time at which the clock of this search started, if that was before [`Search::run`].
    pub fn started(self, at: Instant) -> Search<'a> {
        Search { start: Some(at), ..self }
    }

    /// Lets the search ponder: its limits hold, and its clock starts, only once this time is set, which is that of the
    /// opponent's move.
    pub fn ponder(self, hit: &'a OnceLock<Instant>) -> Search<'a> {
        Search { ponder: Some(hit), ..self }
    }

    /// Sets a function that receives every line after each iteration.
    pub fn on_info(self, on_info: impl FnMut(&Info) + 'a) -> Search<'a> {
        Search { on_info: Box::new(on_info), ..self }
    }

    /// Searches until a limit is reached or the stop handle is set. The best move is one of [`Game::legal_moves`],
    /// however early the search ends.
    #[must_use]
    pub fn run(mut self) -> SearchResult {
        let mut legal = self.game.legal_moves();
        if let Some(moves) = self.moves {
            legal.retain(|mv| moves.contains(&mv));
        }
        self.game.keep_best_of_loops(&mut legal);
        let Search { engine, game, limits, stop, start, ponder, .. } = self;
        let start = start.unwrap_or_else(Instant::now);
        engine.run(&legal, Request { game, limits, stop, start, ponder, mate_plies: None }, &mut *self.on_info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tt::{Bound, NO_EVAL, TtEntry};

    /// The table is cleared if it may contain entries of another game or of other rules, or is untouched before a game.
    #[test]
    fn games_and_other_rules_clear_the_table() {
        let entry = TtEntry { mv: 1, value: 2, depth: 3, bound: Bound::Exact, eval: NO_EVAL };
        let rules = |name: &str| Rules::new(name.parse().unwrap());
        let search = |engine: &mut Engine| drop(engine.search(&Game::default(), &Limits::default().depth(1)).run());
        let kept = |memory: Memory, change: &dyn Fn(&mut Engine)| {
            let mut engine = Engine::new(EngineOptions::default().hash_mib(1));
            engine.prepare(&rules("paper"));
            engine.memory = memory;
            engine.tt.store(7, entry);
            change(&mut engine);
            engine.tt.probe(7).is_some()
        };
        for (memory, new_game, same_rules, other_rules) in [
            (Memory::Untouched, false, false, false),
            (Memory::Empty, true, true, true),
            (Memory::Used, false, true, false),
        ] {
            assert_eq!(kept(memory, &Engine::new_game), new_game);
            assert_eq!(kept(memory, &|engine| engine.prepare(&rules("paper"))), same_rules);
            assert_eq!(kept(memory, &|engine| engine.prepare(&rules("chinese"))), other_rules);
            assert!(kept(memory, &search), "a search under the same rules keeps the table");
        }
    }

    /// A search under the rules of the last one needs no preparation.
    #[test]
    fn rules_are_prepared_once() {
        let mut engine = Engine::new(EngineOptions::default().hash_mib(1));
        let mut masks = |rules: &str| {
            engine.prepare(&Rules::new(rules.parse().unwrap()));
            engine.masks.as_ref().map(|(rules, masks)| (*rules, std::ptr::from_ref(&**masks)))
        };
        let (first, again) = (masks("paper"), masks("paper"));
        assert_eq!(first, again);
        assert_ne!(masks("chinese").map(|(rules, _)| rules), first.map(|(rules, _)| rules));
    }
}
