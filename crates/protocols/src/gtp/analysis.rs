//! `kata-analyze` and `lz-analyze`: a search that reports its lines at an interval until it is ended.

use doushouqi::board::{Move, Square};
use doushouqi::formats::Dialect;
use doushouqi::game::Game;
use doushouqi::search::{Engine, Info, Limits, Score};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

/// The lines of an analysis, unless the command asks for fewer or more.
const LINES: usize = 8;
/// The most lines: more than any position has moves.
const MOST_LINES: usize = 64;
/// The interval of reports, unless the command has one.
const INTERVAL: Duration = Duration::from_secs(1);
/// The lead of a side that certainly wins.
const WON: f64 = 1000.0;

/// What an analysis searches and reports.
#[derive(Debug)]
pub(super) struct Request {
    pub game: Game,
    /// The moves to choose from.
    pub moves: Vec<Move>,
    pub style: Style,
    /// The most nodes.
    pub nodes: Option<u64>,
    pub arguments: Arguments,
}

/// How a report writes moves and numbers.
#[derive(Copy, Clone, Debug)]
pub(super) struct Style {
    /// Integers, as Leela Zero; otherwise fractions, as KataGo.
    pub integers: bool,
    /// Whether a move takes two commands.
    pub two_stage: bool,
    /// The square that the first of them has named.
    pub from: Option<Square>,
}

/// The arguments of the command behind the colour.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    interval: Duration,
    lines: usize,
}

impl Arguments {
    /// Reads `[INTERVAL] [interval N] [minmoves N] [maxmoves N]`; an interval is in hundredths of a second.
    pub(super) fn parse(words: &[&str]) -> Result<Arguments, String> {
        let mut arguments = Arguments { interval: INTERVAL, lines: LINES };
        let number = |key: &str, value: Option<&&str>| {
            let number = value.and_then(|value| value.parse::<u32>().ok()).filter(|&number| number > 0);
            number.ok_or_else(|| format!("{key} is followed by a number from 1"))
        };
        let centiseconds = |count: u32| Duration::from_millis(10) * count;
        let mut words = words.iter().peekable();
        if let Some(count) = words.peek().and_then(|word| word.parse().ok()) {
            arguments.interval = centiseconds(count).max(centiseconds(1));
            words.next();
        }
        while let Some(&key) = words.next() {
            let value = number(key, words.next());
            match key {
                "interval" => arguments.interval = centiseconds(value?),
                "minmoves" => arguments.lines = arguments.lines.max((value? as usize).min(MOST_LINES)),
                "maxmoves" => arguments.lines = arguments.lines.min(value? as usize),
                _ => return Err(format!("the keys are interval, minmoves and maxmoves, not {key:?}")),
            }
        }
        Ok(arguments)
    }
}

/// A running analysis.
pub(super) struct Analysis<'scope> {
    shared: Arc<Shared>,
    search: ScopedJoinHandle<'scope, Engine>,
}

#[derive(Default)]
struct Shared {
    /// Ends the search.
    stop: AtomicBool,
    state: Mutex<State>,
    /// Wakes the reporter when the analysis ends.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The lines of the last finished iteration.
    lines: Vec<Info>,
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `report` with the lines at each interval until the analysis ends.
    fn report(&self, interval: Duration, report: impl Fn(&[Info])) {
        let mut state = self.lock();
        loop {
            let waited = self.ended.wait_timeout_while(state, interval, |state| !state.ended);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.ended {
                return;
            }
            // The analysis cannot end, and its answer cannot be completed, within a report.
            if !state.lines.is_empty() {
                report(&state.lines);
            }
        }
    }
}

impl<'scope> Analysis<'scope> {
    /// Starts the search in a thread of its own, and a thread that writes its lines to `output`.
    ///
    /// # Errors
    /// If a thread cannot be started; the engine is lost.
    pub(super) fn start<'env, W: Write + Send>(
        scope: &'scope Scope<'scope, 'env>,
        request: Request,
        mut engine: Engine,
        output: &'env Mutex<W>,
    ) -> std::io::Result<Analysis<'scope>> {
        let Request { game, moves, style, nodes, arguments: Arguments { interval, lines } } = request;
        let shared = Arc::new(Shared::default());
        let reporter = Arc::clone(&shared);
        let pieces = game.position().occupied().len();
        let write = move |lines: &[Info]| {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            // The answer to the next command reports a closed output.
            let _ = writeln!(output, "{}", style.line(lines, pieces)).and_then(|()| output.flush());
        };
        let searcher = Arc::clone(&shared);
        let lines = lines.min(moves.len());
        let search = move || {
            engine.set_multipv(lines);
            let mut iteration = Vec::new();
            let result = engine
                .search(&game, &Limits::default().nodes(nodes))
                .moves(&moves)
                .stop(&searcher.stop)
                .on_info(|info| {
                    iteration.push(info.clone());
                    if iteration.len() == lines {
                        searcher.lock().lines = std::mem::take(&mut iteration);
                    }
                })
                .run();
            let mut found = result.lines;
            if !searcher.stop.load(Ordering::Relaxed) {
                // A search that ends by itself needs no more nodes.
                found.iter_mut().for_each(|line| line.nodes = line.nodes.max(nodes.unwrap_or(0)));
                searcher.lock().lines = found;
            }
            engine
        };
        let search = Builder::new().name("search".to_owned()).stack_size(Engine::STACK).spawn_scoped(scope, search)?;
        let analysis = Analysis { shared, search };
        let report = move || reporter.report(interval, write);
        if let Err(error) = Builder::new().name("report".to_owned()).spawn_scoped(scope, report) {
            analysis.end();
            return Err(error);
        }
        Ok(analysis)
    }

    /// Ends the analysis and returns the engine; `None` if its thread panicked. No line follows.
    pub(super) fn end(self) -> Option<Engine> {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.lock().ended = true;
        self.shared.ended.notify_all();
        self.search.join().ok()
    }
}

impl Style {
    /// A report: `info` with the values of each move, the best first.
    fn line(self, lines: &[Info], pieces: usize) -> String {
        let mut named: Vec<String> = Vec::new();
        let mut parts = Vec::new();
        let visits = lines.iter().map(|info| info.nodes).max().unwrap_or_default();
        for info in lines {
            let squares = self.squares(&info.pv);
            // In the first of two stages a move is a square, and the best move from there counts.
            if named.contains(&squares[0]) {
                continue;
            }
            let chances = info.score.chances(pieces);
            let (win_rate, order) = (chances.expected(), named.len());
            let numbers = if self.integers {
                let win_rate = (win_rate * 10_000.0).round();
                format!("winrate {win_rate} lcb {win_rate}")
            } else {
                let (draws, lead) = (chances.draw * 100.0, lead(info.score));
                format!("winrate {win_rate:.6} scoreMean {draws:.4} scoreLead {lead} lcb {win_rate:.6}")
            };
            let (mv, pv) = (&squares[0], squares.join(" "));
            parts.push(format!("info move {mv} visits {visits} {numbers} order {order} pv {pv}"));
            named.push(squares[0].clone());
        }
        parts.join(" ")
    }

    /// The moves of a line as the commands that play them. A line is never empty.
    fn squares(self, pv: &[Move]) -> Vec<String> {
        let square = |square| Dialect::Katago.format_square(square);
        if !self.two_stage {
            return pv.iter().map(|&mv| Dialect::Katago.format_move(mv)).collect();
        }
        let squares = pv.iter().flat_map(|mv| [square(mv.from), square(mv.to)]);
        squares.skip(usize::from(self.from.is_some())).collect()
    }
}

/// The score in cats.
fn lead(score: Score) -> f64 {
    match score {
        _ if score.is_win() => WON,
        _ if score.is_loss() => -WON,
        _ => f64::from(score.value()) / 100.0,
    }
}
