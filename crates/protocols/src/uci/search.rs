//! A search in its own thread, from `go` to `bestmove`.

use super::go::{Go, played_on};
use super::output::Output;
use doushouqi::board::Move;
use doushouqi::game::Game;
use doushouqi::perft::{Perft, PerftMode};
use doushouqi::search::{Engine, Info, Level, SearchResult};
use doushouqi::tablebase::{Probe, TableProber};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A search that is running or has just ended.
pub(super) struct Running {
    flags: Flags,
    go: Waiting,
    thread: JoinHandle<Engine>,
}

/// The flags of a search, shared with its thread.
#[derive(Clone, Default)]
struct Flags {
    stop: Arc<AtomicBool>,
    /// Set before `bestmove`, so that a reader of `bestmove` can start another search.
    done: Arc<AtomicBool>,
    /// When `ponderhit` came.
    hit: Arc<OnceLock<Instant>>,
}

/// What a search waits for before its answer.
#[derive(Copy, Clone)]
struct Waiting {
    /// `stop`.
    infinite: bool,
    /// `stop` or `ponderhit`.
    ponder: bool,
}

impl Waiting {
    /// Whether the search ends only after `stop` or `ponderhit`.
    fn is_endless(self, flags: &Flags) -> bool {
        self.infinite || self.ponder && flags.hit.get().is_none()
    }
}

impl Running {
    pub(super) fn stop(&self) {
        self.flags.stop.store(true, Ordering::SeqCst);
        self.thread.thread().unpark();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.flags.stop.load(Ordering::SeqCst)
    }

    pub(super) fn is_done(&self) -> bool {
        self.flags.done.load(Ordering::SeqCst)
    }

    pub(super) fn is_endless(&self) -> bool {
        self.go.is_endless(&self.flags)
    }

    /// From here on the limits of a search that ponders hold.
    pub(super) fn ponder_hit(&self) {
        self.flags.hit.get_or_init(Instant::now);
        self.thread.thread().unpark();
    }

    /// Waits for the end and returns the engine. A thread that panicked loses its engine.
    pub(super) fn join(self) -> Option<Engine> {
        self.thread.join().ok()
    }
}

/// The task of a search.
pub(super) struct Task {
    /// The game; `None` if the last `position` was refused.
    pub game: Option<Game>,
    pub go: Go,
    /// The classes that were counted on demand, if they are for the rules of the game.
    pub counted: Option<Arc<TableProber>>,
    /// The delay to allow for at each move, as the engine's options state it.
    pub move_overhead: Duration,
    /// Option `UCI_ShowWDL`.
    pub show_wdl: bool,
    /// The level to play at and the seed of its choice, if the strength is limited.
    pub level: Option<(Level, u64)>,
    /// When the command arrived: from then on the clock runs.
    pub received: Instant,
}

impl Task {
    /// Runs in its own thread, sends `bestmove`, and returns the engine at the end.
    ///
    /// # Errors
    /// If the thread cannot be started; the engine is lost.
    pub(super) fn start<W: Write + Send + 'static>(self, mut engine: Engine, output: Output<W>) -> io::Result<Running> {
        let flags = Flags::default();
        let go = Waiting { infinite: self.go.infinite, ponder: self.go.ponder && self.go.perft.is_none() };
        let shared = flags.clone();
        let search = move || {
            let reply = self.reply(&mut engine, &flags, &output);
            // An endless search may end early, but it answers only after `stop` or `ponderhit`.
            while go.is_endless(&flags) && !flags.stop.load(Ordering::SeqCst) && !output.failed() {
                std::thread::park();
            }
            flags.done.store(true, Ordering::SeqCst);
            output.line(&reply);
            engine
        };
        let thread = std::thread::Builder::new().name("search".to_owned()).stack_size(Engine::STACK).spawn(search)?;
        Ok(Running { flags: shared, go, thread })
    }

    /// The line that answers the command.
    fn reply<W: Write>(&self, engine: &mut Engine, flags: &Flags, output: &Output<W>) -> String {
        let Some(game) = &self.game else {
            output.note("go: the last position was refused, so there is no move; send a position");
            return if self.go.perft.is_some() { "info string perft: no position".to_owned() } else { best_move(None) };
        };
        if let Some(depth) = self.go.perft {
            return perft(game, depth, &flags.stop, output);
        }
        let best = self.best_counted(game, &flags.stop).filter(|_| self.level.is_none());
        let allowed = best.or_else(|| self.go.moves.clone()).unwrap_or_else(|| game.legal_moves().to_vec());
        let mut result = match &self.level {
            None => self.search(engine, game, &allowed, flags, output),
            Some((level, _)) => self.search(&mut level.engine(), game, &allowed, flags, output),
        };
        if let Some((level, seed)) = self.level
            && let Some(chosen) = level.choose(&result.lines, seed).cloned()
        {
            result.lines.insert(0, chosen);
        }
        if let Some(moves) = self.go.limits.mate
            && result.lines.first().and_then(|line| line.score.win_in()).is_none_or(|plies| plies >= 2 * moves)
        {
            output.note(&format!("no mate in {moves} was found"));
        }
        let reply = self.ponder_move(game, &result).map_or_else(String::new, |mv| format!(" ponder {mv}"));
        format!("{}{reply}", best_move(result.best()))
    }

    /// Searches and prints `info` lines.
    fn search<W: Write>(
        &self,
        engine: &mut Engine,
        game: &Game,
        allowed: &[Move],
        flags: &Flags,
        output: &Output<W>,
    ) -> SearchResult {
        let mut reported = None;
        let limits = self.level.map_or(self.go.limits, |(level, _)| level.limits(&self.go.limits));
        let mut search = engine.search(game, &limits);
        if self.go.ponder {
            search = search.ponder(&flags.hit);
        }
        let result = search
            .moves(allowed)
            .stop(&flags.stop)
            .started(self.received)
            .on_info(|info| {
                if self.shows(info) {
                    output.line(&self.info_line(game, info));
                }
                if info.multipv == 1 {
                    reported = Some((info.depth, info.score, info.pv.clone()));
                }
                if output.failed() {
                    flags.stop.store(true, Ordering::SeqCst);
                }
            })
            .run();
        // An unfinished iteration may have found a better line.
        if let Some(best) = result.lines.first()
            && reported != Some((best.depth, best.score, best.pv.clone()))
        {
            result
                .lines
                .iter()
                .filter(|info| self.shows(info))
                .for_each(|info| output.line(&self.info_line(game, info)));
        }
        result
    }

    /// Whether an `info` line reports this line of the search. The other lines of a level are not the user's.
    fn shows(&self, info: &Info) -> bool {
        self.level.is_none() || info.multipv == 1
    }

    /// An `info` line.
    fn info_line(&self, game: &Game, info: &Info) -> String {
        let Info { depth, seldepth, multipv, score, nodes, hashfull, tbhits, .. } = info;
        let millis = info.time.as_millis();
        let nps = (info.nodes as f64 / info.time.as_secs_f64().max(1e-6)) as u64;
        let wdl = if self.show_wdl {
            let [win, draw, loss] = score.chances(game.position().occupied().len()).per_mille();
            format!(" wdl {win} {draw} {loss}")
        } else {
            String::new()
        };
        let pv: Vec<String> = info.pv.iter().map(Move::to_string).collect();
        let pv = pv.join(" ");
        format!(
            "info depth {depth} seldepth {seldepth} multipv {multipv} score {score}{wdl} nodes {nodes} nps {nps} \
             hashfull {hashfull} tbhits {tbhits} time {millis} pv {pv}"
        )
    }

    /// The move to ponder on, if the option is set and the game goes on after it.
    fn ponder_move(&self, game: &Game, result: &SearchResult) -> Option<Move> {
        let &[mv, reply, ..] = &result.lines.first().filter(|_| self.go.name_ponder_move)?.pv[..] else { return None };
        let mut game = game.clone();
        let played = game.play(mv).is_ok() && game.play(reply).is_ok();
        (played && game.end().is_none()).then_some(reply)
    }

    /// The best of the allowed moves in a position whose class was counted; `None` in other positions. Reading the values
    /// takes a part of the time of the search, whose clock runs since the command.
    fn best_counted(&self, game: &Game, stop: &AtomicBool) -> Option<Vec<Move>> {
        let (counted, position) = (self.counted.as_deref()?, game.position());
        counted.counter()?.class(position).ok()??;
        let time = self.go.limits.hard_limit(self.move_overhead).filter(|_| !self.go.ponder).map(|time| time / 4);
        if stop.load(Ordering::Relaxed) || time.is_some_and(|time| self.received.elapsed() >= time) {
            return None;
        }
        let legal = game.legal_moves();
        // The values ignore repetitions, which may make a move illegal.
        let may = |mv: &Move| legal.contains(mv) && self.go.moves.as_ref().is_none_or(|allowed| allowed.contains(mv));
        let mut moves = counted.moves(position).ok()??;
        moves.retain(|(mv, _)| may(mv));
        let best = moves.first()?.1;
        Some(moves.into_iter().take_while(|&(_, value)| value == best).map(|(mv, _)| mv).collect())
    }
}

/// The game to search in a task, and remarks on it.
pub(super) fn game_to_search(game: Option<&Game>) -> (Option<Game>, Vec<&'static str>) {
    game.map(played_on).map_or((None, Vec::new()), |(game, notes)| (Some(game), notes))
}

pub(super) fn best_move(mv: Option<Move>) -> String {
    mv.map_or_else(|| "bestmove 0000".to_owned(), |mv| format!("bestmove {mv}"))
}

/// Prints the perft count of each move, and returns the line with the total.
fn perft<W: Write>(game: &Game, depth: u32, stop: &AtomicBool, output: &Output<W>) -> String {
    let (position, rules) = (game.position(), game.rules());
    if depth > Perft::MAX_DEPTH {
        return format!("info string perft: the depth is at most {}", Perft::MAX_DEPTH);
    }
    let counter = Perft::new(rules, PerftMode::Expand).with_stop(stop);
    let mut total = 0u64;
    if depth > 0 {
        for &mv in &position.moves(rules) {
            let count = counter.count(&position.make(mv), depth - 1);
            if stop.load(Ordering::Relaxed) {
                return "info string perft: stopped".to_owned();
            }
            output.line(&format!("{mv}: {count}"));
            total += count;
        }
    } else {
        total = 1;
    }
    format!("\nNodes searched: {total}")
}
