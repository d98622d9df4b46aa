//! UCI (Universal Chess Interface, April 2006), except commands without a meaning in this game.
//!
//! The commands, one on each line: `uci`, `isready`, `ucinewgame`, `position startpos|fen FEN [moves ...]`, `go`,
//! `stop`, `setoption`, `quit`, and `d`, which draws the board. The end of the input is `quit`.
//!
//! - A FEN contains two fields, board and side to move, and optionally a third, the halfmove clock: the plies since the
//!   last capture, which count for `NoCaptureLimit`. Moves are in coordinates (`a3b3`) or in the papers' notation
//!   (`Eb3`).
//! - Moves may follow a draw by repetition or `NoCaptureLimit`, since a GUI may play on. Such a draw ends the game only
//!   in the last position.
//! - Mistboard's commands are accepted: a FEN with `r` or `b` for the side to move, the halfmove clock and the move
//!   number, followed by `reps FEN;FEN...`, the positions that have already occurred twice.
//! - `go` takes `depth`, `nodes`, `movetime`, `wtime`, `btime`, `winc`, `binc`, `movestogo`, `infinite`, and `perft N`,
//!   which counts moves and sends no `bestmove`. Without a limit it searches until `stop`. The moves to choose from
//!   follow `searchmoves`.
//! - `go ponder` searches without a limit until `stop` or `ponderhit`. After `ponderhit` the search restarts with the
//!   given limits and the same hash. With the option `Ponder`, `bestmove` also names the move to ponder on, if the line
//!   contains one.
//! - `bestmove` always comes; it is `0000` if the game is over.
//! - Malformed input changes nothing; an `info string` explains it. A `position` with an illegal move leaves the
//!   position unchanged. A limit that is not a number is ignored; if no other limit remains, the engine searches one
//!   ply.
//! - `score mate` counts moves of the winner; every other distance is in plies. `score mate N lowerbound` is a win by
//!   endgame tables in at most N moves.
//! - `go`, `setoption` and `ucinewgame` are rejected while a search runs; after `stop` they wait for its end. `MultiPV`,
//!   `Move Overhead` and `Ponder` keep the hash; the other options of the engine clear it.
//! - `EvalFile` is a network, which takes precedence over `Evaluation`.
//! - `TablePath` is a directory of tables with distances, one of results alone (`dsq repack --wdl`), or both, separated
//!   as in Stockfish's `SyzygyPath`: by `:`, on Windows by `;`.
//! - `TableProbeDepth` is the least depth in plies at which the search probes tables that are not in memory (those of more
//!   than four pieces), after captures only; at 0 also the quiescence search does.
//! - `OnDemandCache` is a directory of classes that were counted on demand from the distances in `TablePath`, which must
//!   be set first. In a position of such a class the engine chooses among the best moves. The engine itself counts
//!   nothing.
//! - `Contempt` is the amount that the engine gives up to avoid a draw, in centipawns.
//! - `Move Overhead` is the time in milliseconds that stays on the clock at each move, for delays between engine and
//!   GUI.

use crate::SessionError;
use doushouqi::board::{Fen, Move, ParseFenError, Position, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::perft::{Perft, PerftMode};
use doushouqi::search::network::Network;
use doushouqi::search::{Clock, Engine, EngineOptions, Evaluation, Info, Limits, TableCache, Tables};
use doushouqi::tablebase::{OnDemand, Probe, SetError, TablePath};
use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The longest line in bytes; a longer one is an error.
const LINE: u64 = 1 << 20;
/// The longest time of a limit in milliseconds: a year.
const LONGEST: i64 = 365 * 24 * 3600 * 1000;

/// Speaks UCI until `quit` or the end of the input. The search runs in its own thread, so `stop` and `isready` are
/// answered during a search.
///
/// # Errors
/// If the input cannot be read or the output cannot be written.
pub fn serve(input: impl BufRead, output: impl Write + Send + 'static) -> Result<(), SessionError> {
    let mut uci = Uci::new(output);
    let read = read_commands(&mut uci, input);
    uci.wait();
    read.map_err(SessionError::Input)?;
    uci.output.result().map_err(SessionError::Output)
}

fn read_commands<W: Write + Send + 'static>(uci: &mut Uci<W>, mut input: impl BufRead) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() as u64 == LINE && line.last() != Some(&b'\n') {
            while input.by_ref().take(LINE).read_until(b'\n', &mut line)? > 0 && line.last() != Some(&b'\n') {
                line.clear();
            }
            uci.complain("a line of more than one MiB is not a command");
            continue;
        }
        if uci.command(&String::from_utf8_lossy(&line)).is_break() || uci.output.failed() {
            return Ok(());
        }
    }
}

/// The output, shared with the search.
struct Output<W> {
    writer: Arc<Mutex<(W, Option<io::Error>)>>,
}

impl<W> Clone for Output<W> {
    fn clone(&self) -> Output<W> {
        Output { writer: Arc::clone(&self.writer) }
    }
}

impl<W: Write> Output<W> {
    fn lock(&self) -> MutexGuard<'_, (W, Option<io::Error>)> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, text: &str) {
        let mut guard = self.lock();
        let (writer, error) = &mut *guard;
        if error.is_none() {
            *error = writeln!(writer, "{text}").and_then(|()| writer.flush()).err();
        }
    }

    fn failed(&self) -> bool {
        self.lock().1.is_some()
    }

    fn result(&self) -> io::Result<()> {
        self.lock().1.take().map_or(Ok(()), Err)
    }
}

/// A search that is running or has just ended.
struct Running {
    stop: Arc<AtomicBool>,
    /// Set before `bestmove`, so that a reader of `bestmove` can start another search.
    done: Arc<AtomicBool>,
    /// Whether `bestmove` has been sent or must not be sent.
    mute: Arc<AtomicBool>,
    thread: JoinHandle<Engine>,
}

struct Uci<W> {
    output: Output<W>,
    options: EngineOptions,
    /// Option `Evaluation`.
    evaluation: Evaluation,
    /// Option `EvalFile`.
    network: Option<Arc<Network>>,
    /// Option `Ponder`.
    ponder: bool,
    /// Option `TablePath`.
    table_path: PathBuf,
    /// Option `OnDemandCache`.
    counted: Option<Arc<OnDemand>>,
    rules: Rules,
    no_capture_limit: Option<u32>,
    game: Game,
    /// The engine, created on demand; `None` also while it searches.
    engine: Option<Engine>,
    running: Option<Running>,
    /// The search to start at `ponderhit`.
    pondering: Option<Go>,
}

/// The arguments of `go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Go {
    limits: Limits,
    /// The moves to choose from, if not all.
    moves: Option<Vec<Move>>,
    infinite: bool,
    ponder: bool,
    perft: Option<u32>,
    /// Whether `bestmove` names the move to ponder on: option `Ponder`.
    name_ponder_move: bool,
}

impl<W: Write + Send + 'static> Uci<W> {
    fn new(output: W) -> Uci<W> {
        let rules = Rules::default();
        let no_capture_limit = Some(Game::NO_CAPTURE_LIMIT);
        Uci {
            output: Output { writer: Arc::new(Mutex::new((output, None))) },
            options: EngineOptions::default(),
            evaluation: Evaluation::Default,
            network: None,
            ponder: false,
            table_path: PathBuf::new(),
            counted: None,
            game: Game::new(Position::start(), rules.clone(), no_capture_limit),
            rules,
            no_capture_limit,
            engine: None,
            running: None,
            pondering: None,
        }
    }

    fn complain(&self, text: &str) {
        self.output.line(&format!("info string {text}"));
    }

    fn command(&mut self, line: &str) -> ControlFlow<()> {
        let line = line.trim();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match command {
            "" | "debug" | "register" => {}
            "uci" => self.introduce(),
            "isready" => {
                if !self.is_searching() {
                    let rules = self.rules.clone();
                    self.engine().prepare(&rules);
                }
                self.output.line("readyok");
            }
            "ucinewgame" => {
                if self.is_idle(command) {
                    self.engine().new_game();
                    self.game = Game::new(Position::start(), self.rules.clone(), self.no_capture_limit);
                }
            }
            "position" => match self.position(rest) {
                Ok(game) => self.game = game,
                Err(problem) => self.complain(&format!("{problem}; the position is unchanged")),
            },
            "go" => {
                if self.is_idle(command) {
                    self.go(rest);
                }
            }
            "stop" => {
                self.pondering = None;
                self.stop();
            }
            "ponderhit" => {
                if let (Some(go), Some(running)) = (self.pondering.take(), &self.running)
                    && !running.mute.swap(true, Ordering::SeqCst)
                {
                    self.start(go);
                }
            }
            "setoption" => {
                if self.is_idle(command)
                    && let Err(problem) = self.set_option(rest)
                {
                    self.complain(&problem);
                }
            }
            "d" => {
                self.output.line(&format!("{}{}", self.game.position().to_picture(), self.game.fen()));
            }
            "quit" => return ControlFlow::Break(()),
            _ => self.complain(&format!("unknown command {}", quoted(command))),
        }
        ControlFlow::Continue(())
    }

    fn introduce(&self) {
        let mut text = format!("id name doushouqi {}\nid author the doushouqi authors\n", env!("CARGO_PKG_VERSION"));
        for option in &OPTIONS {
            text.push_str(&format!("{option}\n"));
        }
        self.output.line(&format!("{text}uciok"));
    }

    /// The engine, which must not be searching.
    fn engine(&mut self) -> &mut Engine {
        self.wait();
        self.engine.get_or_insert_with(|| Engine::new(self.options.clone()))
    }

    fn is_searching(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.done.load(Ordering::SeqCst))
    }

    /// Whether no search is running. Waits for a search that has been stopped; if another one is running, reports that
    /// this command has to wait.
    fn is_idle(&mut self, command: &str) -> bool {
        if self.running.as_ref().is_some_and(|running| running.stop.load(Ordering::SeqCst)) {
            self.wait();
        }
        let idle = !self.is_searching();
        if !idle {
            self.complain(&format!("{command}: a search is running; stop it first"));
        }
        idle
    }

    fn stop(&self) {
        if let Some(running) = &self.running {
            running.stop.store(true, Ordering::SeqCst);
        }
    }

    /// Stops the search, if there is one, and takes its engine back.
    fn wait(&mut self) {
        self.stop();
        if let Some(running) = self.running.take() {
            // A thread that panicked loses its engine; the next search creates another.
            self.engine = running.thread.join().ok();
        }
    }

    fn position(&self, text: &str) -> Result<Game, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let moves = words.iter().position(|word| *word == "moves").unwrap_or(words.len());
        let reps = words[..moves].iter().position(|word| *word == "reps").unwrap_or(moves);
        let start = match words[..reps] {
            ["startpos"] => Position::start().into(),
            ["fen", ref fields @ ..] => parse_fen(&fields.join(" ")).map_err(|error| format!("position: {error}"))?,
            _ => return Err("position: startpos or fen comes next, then moves".to_owned()),
        };
        let mut seen_twice = Vec::new();
        for text in words[(reps + 1).min(moves)..moves].join(" ").split(';').filter(|text| !text.trim().is_empty()) {
            let fen = parse_fen(text).map_err(|error| format!("position: reps: {error}"))?;
            // The current position occurs for the second time. After a third occurrence the game would be over.
            if fen.position != start.position {
                seen_twice.push(fen.position.clone());
            }
            seen_twice.push(fen.position);
        }
        let game = Game::from_fen(start, self.rules.clone(), self.no_capture_limit);
        let mut game = game.with_earlier(seen_twice);
        for (i, word) in words.iter().skip(moves + 1).enumerate() {
            play(&mut game, word).map_err(|error| format!("position: move {}: {error}", i + 1))?;
        }
        Ok(game)
    }

    fn go(&mut self, text: &str) {
        let (go, problems) = parse_go(text, &self.game);
        let go = Go { name_ponder_move: self.ponder, ..go };
        for problem in problems {
            self.complain(&format!("go: {problem}"));
        }
        self.pondering = None;
        if go.ponder && go.perft.is_none() {
            let meanwhile = Go { limits: Limits::default(), infinite: true, ..go.clone() };
            self.pondering = Some(go);
            self.start(meanwhile);
        } else {
            self.start(go);
        }
    }

    fn start(&mut self, go: Go) {
        self.engine();
        let Some(mut engine) = self.engine.take() else { return };
        let [stop, done, mute] = [const { AtomicBool::new(false) }; 3].map(Arc::new);
        let (game, output) = (self.game.clone(), self.output.clone());
        let hash = self.rules.options().table_hash();
        let counted = self.counted.clone().filter(|counted| counted.rules().options().table_hash() == hash);
        let (stop_flag, done_flag, mute_flag) = (Arc::clone(&stop), Arc::clone(&done), Arc::clone(&mute));
        let search = move || {
            let reply = match go.perft {
                Some(depth) => perft(&game, depth, &stop_flag, &output),
                None => {
                    let best = counted.and_then(|counted| best_counted(&counted, &game, go.moves.as_deref()));
                    let go = Go { moves: best.or(go.moves), ..go };
                    search(&mut engine, &game, &go, &stop_flag, &output)
                }
            };
            done_flag.store(true, Ordering::SeqCst);
            if !mute_flag.swap(true, Ordering::SeqCst) {
                output.line(&reply);
            }
            engine
        };
        match std::thread::Builder::new().name("search".to_owned()).stack_size(16 << 20).spawn(search) {
            Ok(thread) => self.running = Some(Running { stop, done, mute, thread }),
            Err(error) => {
                self.complain(&format!("go: cannot start a thread: {error}"));
                self.output.line(&best_move(self.game.legal_moves().first().copied()));
            }
        }
    }

    fn set_option(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = split_option(text).ok_or("setoption: write setoption name NAME value VALUE")?;
        let Some(option) = OPTIONS.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
            let names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
            return Err(format!("setoption: no option is called {}; there are {}", quoted(name), names.join(", ")));
        };
        match option.name {
            "Hash" => self.options.hash_mib = option.number(value)? as usize,
            "Clear Hash" => {
                self.engine().new_game();
                return Ok(());
            }
            "Threads" => self.options.threads = option.number(value)? as usize,
            "MultiPV" => {
                self.options.multipv = option.number(value)? as usize;
                let multipv = self.options.multipv;
                self.engine().set_multipv(multipv);
                return Ok(());
            }
            "Move Overhead" => {
                self.options.move_overhead = Duration::from_millis(option.number(value)?.into());
                let move_overhead = self.options.move_overhead;
                self.engine().set_move_overhead(move_overhead);
                return Ok(());
            }
            "Contempt" => self.options.contempt = option.number(value)? as u16,
            "Ponder" => {
                self.ponder = match value.to_ascii_lowercase().as_str() {
                    "true" => true,
                    "false" => false,
                    _ => return Err(option.refuse("true or false", value)),
                };
                return Ok(());
            }
            "Evaluation" => {
                self.evaluation = match value.to_ascii_lowercase().as_str() {
                    "default" => Evaluation::Default,
                    "hand-crafted" => Evaluation::HandCrafted,
                    "burnett" => Evaluation::Burnett,
                    _ => return Err(option.refuse("default, hand-crafted or burnett", value)),
                };
                self.choose_evaluation();
            }
            "EvalFile" => {
                self.network = self.network(value)?;
                self.choose_evaluation();
            }
            "Rules" => {
                let options: RuleOptions = value.parse().map_err(|error| format!("setoption: {error}"))?;
                self.rules = Rules::new(options);
                if self.options.tables.as_ref().is_some_and(|tables| !tables.supports_rules(self.rules.options())) {
                    self.complain("the endgame tables are for other rules and are not used");
                }
                if let Some(network) = &self.network {
                    self.warn_of_rules(network);
                }
                return self.replay();
            }
            "TablePath" => {
                self.options.tables = self.tables(value)?;
                self.table_path = value.into();
                self.counted = None;
            }
            "TableProbeDepth" => self.options.tb_probe_depth = option.number(value)? as u8,
            "OnDemandCache" => {
                self.counted = self.counted(value)?;
                return Ok(());
            }
            _ => {
                let limit = option.number(value)?;
                self.no_capture_limit = (limit > 0).then_some(limit);
                return self.replay();
            }
        }
        self.wait();
        self.engine = None;
        Ok(())
    }

    fn choose_evaluation(&mut self) {
        let network = self.network.clone().map(Evaluation::Network);
        self.options.evaluation = network.unwrap_or_else(|| self.evaluation.clone());
    }

    /// The network in a file.
    fn network(&self, path: &str) -> Result<Option<Arc<Network>>, String> {
        if path.is_empty() || path == "<empty>" {
            return Ok(None);
        }
        let network = Network::open(path.as_ref());
        let network = network.map_err(|error| format!("setoption: EvalFile {}: {error}", quoted(path)))?;
        self.warn_of_rules(&network);
        Ok(Some(Arc::new(network)))
    }

    fn warn_of_rules(&self, network: &Network) {
        if !network.trained_under(self.rules.options()) {
            self.complain("the network learned from games under other rules");
        }
    }

    /// The tables of a path, which must be for the current rules.
    fn tables(&self, path: &str) -> Result<Option<Arc<Tables>>, String> {
        if path.is_empty() || path == "<empty>" {
            return Ok(None);
        }
        let tables = TableCache::default().get(path.as_ref(), self.rules.options());
        tables.map(Some).map_err(|error| format!("setoption: {error}"))
    }

    /// The classes in a directory that were counted on demand from the current tables.
    fn counted(&self, dir: &str) -> Result<Option<Arc<OnDemand>>, String> {
        if dir.is_empty() || dir == "<empty>" {
            return Ok(None);
        }
        if self.options.tables.is_none() {
            return Err("setoption: OnDemandCache needs the tables in TablePath, which is set first".to_owned());
        }
        let tables = TablePath::open(&self.table_path).and_then(|path| match path.distances {
            Some(distances) => distances.prober(self.rules.options()),
            None => Err(SetError::NoDistances { path: self.table_path.clone() }),
        });
        let tables = tables.map_err(|error| format!("setoption: {error}"))?;
        // Nothing is written, so the cache does not grow.
        let counted = OnDemand::new(tables, dir.as_ref(), u64::MAX);
        counted.map(|counted| Some(Arc::new(counted))).map_err(|error| format!("setoption: {error}"))
    }

    /// Replays the game under the current rules.
    fn replay(&mut self) -> Result<(), String> {
        let game = self.game.under(self.rules.clone(), self.no_capture_limit);
        let legal = game.is_ok();
        let reset = |_| Game::new(Position::start(), self.rules.clone(), self.no_capture_limit);
        self.game = game.unwrap_or_else(reset);
        let problem = "the moves of the position are not legal by these rules: the position is reset to the start";
        if legal { Ok(()) } else { Err(problem.to_owned()) }
    }
}

/// An option as UCI declares it.
struct Setting {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    Spin { default: u32, min: u32, max: u32 },
    Button,
    Check { default: bool },
    Combo { default: &'static str, values: &'static [&'static str] },
    Text { default: &'static str },
}

const OPTIONS: [Setting; 14] = [
    Setting { name: "Hash", kind: Kind::Spin { default: 64, min: 1, max: 65_536 } },
    Setting { name: "Clear Hash", kind: Kind::Button },
    Setting { name: "Threads", kind: Kind::Spin { default: 1, min: 1, max: 256 } },
    Setting { name: "MultiPV", kind: Kind::Spin { default: 1, min: 1, max: 32 } },
    Setting { name: "Ponder", kind: Kind::Check { default: false } },
    Setting { name: "Move Overhead", kind: Kind::Spin { default: 10, min: 0, max: 10_000 } },
    Setting { name: "Contempt", kind: Kind::Spin { default: 0, min: 0, max: 1000 } },
    Setting {
        name: "Evaluation",
        kind: Kind::Combo { default: "default", values: &["default", "hand-crafted", "burnett"] },
    },
    Setting { name: "EvalFile", kind: Kind::Text { default: "<empty>" } },
    Setting { name: "Rules", kind: Kind::Text { default: "paper" } },
    Setting { name: "TablePath", kind: Kind::Text { default: "<empty>" } },
    Setting {
        name: "TableProbeDepth",
        kind: Kind::Spin { default: EngineOptions::TB_PROBE_DEPTH as u32, min: 0, max: 100 },
    },
    Setting { name: "OnDemandCache", kind: Kind::Text { default: "<empty>" } },
    Setting { name: "NoCaptureLimit", kind: Kind::Spin { default: Game::NO_CAPTURE_LIMIT, min: 0, max: 10_000 } },
];

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match self.kind {
            Kind::Spin { default, min, max } => write!(f, "spin default {default} min {min} max {max}"),
            Kind::Button => f.write_str("button"),
            Kind::Check { default } => write!(f, "check default {default}"),
            Kind::Combo { default, values } => write!(f, "combo default {default} var {}", values.join(" var ")),
            Kind::Text { default } => write!(f, "string default {default}"),
        }
    }
}

impl Setting {
    /// Parses a value as a number within the limits of the option.
    fn number(&self, value: &str) -> Result<u32, String> {
        let (min, max) = match self.kind {
            Kind::Spin { min, max, .. } => (min, max),
            _ => (0, u32::MAX),
        };
        let number = value.parse().ok().filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| self.refuse(&format!("a number from {min} to {max}"), value))
    }

    fn refuse(&self, expected: &str, value: &str) -> String {
        format!("setoption: {} is {expected}, not {}", self.name, quoted(value))
    }
}

/// The name and the value of `name NAME value VALUE`. The value may be missing, and may contain spaces.
fn split_option(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().strip_prefix("name")?;
    if !text.starts_with(char::is_whitespace) {
        return None;
    }
    let is_value = |&(i, _): &(usize, &str)| {
        text[..i].ends_with(char::is_whitespace) && text[i + 5..].chars().next().is_none_or(char::is_whitespace)
    };
    let (name, value) = match text.match_indices("value").find(is_value) {
        Some((i, word)) => (&text[..i], &text[i + word.len()..]),
        None => (text, ""),
    };
    let name = name.trim();
    (!name.is_empty()).then(|| (name, value.trim()))
}

/// The arguments of `go`, and the problems found in them.
fn parse_go(text: &str, game: &Game) -> (Go, Vec<String>) {
    let mut go = Go::default();
    let mut problems = Vec::new();
    let mut clock = [(None, 0), (None, 0)];
    let mut moves_to_go = None;
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "searchmoves" => {
                let legal = game.legal_moves();
                let listed = |word: &&str| game.parse(word).ok().filter(|mv| legal.contains(mv));
                // The list ends at the first word that is not a move.
                while let Some(mv) = words.peek().and_then(listed) {
                    go.moves.get_or_insert_default().push(mv);
                    words.next();
                }
                if go.moves.is_none() {
                    problems.push("searchmoves is followed by legal moves; all are searched".to_owned());
                }
            }
            "depth" | "nodes" | "movetime" | "wtime" | "btime" | "winc" | "binc" | "movestogo" | "perft" => {
                let Some(value) = words.next() else {
                    problems.push(format!("{word} is followed by a number"));
                    continue;
                };
                let Ok(value) = value.parse::<i64>() else {
                    problems.push(format!("{word} is followed by a number, not {}", quoted(value)));
                    continue;
                };
                // Programs that play on after a time loss may send negative clocks.
                let value = value.max(0);
                let time = value.min(LONGEST) as u64;
                let small = u32::try_from(value).unwrap_or(u32::MAX);
                match word {
                    "depth" => go.limits.depth = Some(small.max(1)),
                    "nodes" => go.limits.nodes = Some(value.max(1) as u64),
                    "movetime" => go.limits.movetime = Some(Duration::from_millis(time)),
                    "wtime" => clock[0].0 = Some(time),
                    "btime" => clock[1].0 = Some(time),
                    "winc" => clock[0].1 = time,
                    "binc" => clock[1].1 = time,
                    "movestogo" => moves_to_go = Some(small).filter(|moves| *moves > 0),
                    _ => go.perft = Some(small),
                }
            }
            _ => problems.push(format!("{} is not known", quoted(word))),
        }
    }
    if let (Some(remaining), increment) = clock[game.position().turn() as usize] {
        let (remaining, increment) = (Duration::from_millis(remaining), Duration::from_millis(increment));
        go.limits.clock = Some(Clock { remaining, increment, moves_to_go });
    }
    if go.limits == Limits::default() && !go.infinite {
        // A malformed command must not start an endless search.
        if problems.is_empty() {
            go.infinite = true;
        } else {
            go.limits.depth = Some(1);
        }
    }
    (go, problems)
}

/// Parses a FEN, also with Mistboard's fields: `r` or `b` for the side to move, halfmove clock, move number. Squares
/// are not mirrored, since the moves use the same coordinates.
fn parse_fen(text: &str) -> Result<Fen, ParseFenError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [board, turn @ ("r" | "b"), clock, number] if number.parse::<u32>().is_ok() => {
            let turn = if turn == "r" { "w" } else { turn };
            format!("{board} {turn} {clock}").parse()
        }
        _ => text.parse(),
    }
}

fn play(game: &mut Game, word: &str) -> Result<(), String> {
    if word.len() > 60 {
        return Err(format!("{} is not a move", quoted(word)));
    }
    let mv = Move::parse(word, game.position(), game.rules()).map_err(|error| error.to_string())?;
    game.play_on(mv).map_err(|error| error.to_string())
}

/// Quotes input in a message, on one line and shortened.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("{short:?}{dots}")
}

fn best_move(mv: Option<Move>) -> String {
    mv.map_or_else(|| "bestmove 0000".to_owned(), |mv| format!("bestmove {mv}"))
}

/// An `info` line.
fn info_line(info: &Info) -> String {
    let millis = info.time.as_millis();
    let nps = (info.nodes as f64 / info.time.as_secs_f64().max(1e-6)) as u64;
    let pv: Vec<String> = info.pv.iter().map(Move::to_string).collect();
    format!(
        "info depth {} seldepth {} multipv {} score {} nodes {} nps {nps} hashfull {} tbhits {} time {millis} pv {}",
        info.depth,
        info.seldepth,
        info.multipv,
        info.score,
        info.nodes,
        info.hashfull,
        info.tbhits,
        pv.join(" ")
    )
}

/// The best of the allowed moves in a position whose class was counted; `None` in other positions.
fn best_counted(counted: &OnDemand, game: &Game, allowed: Option<&[Move]>) -> Option<Vec<Move>> {
    let position = game.position();
    counted.class(position).ok()??;
    let legal = game.legal_moves();
    // The values ignore repetitions, which may make a move illegal.
    let may = |mv: &Move| legal.contains(mv) && allowed.is_none_or(|allowed| allowed.contains(mv));
    let mut moves = counted.moves(position).ok()??;
    moves.retain(|(mv, _)| may(mv));
    let best = moves.first()?.1;
    Some(moves.into_iter().take_while(|&(_, value)| value == best).map(|(mv, _)| mv).collect())
}

/// Searches, prints `info` lines, and returns the `bestmove` line.
fn search<W: Write>(engine: &mut Engine, game: &Game, go: &Go, stop: &AtomicBool, output: &Output<W>) -> String {
    let mut reported = None;
    let moves = go.moves.clone().unwrap_or_else(|| game.legal_moves().to_vec());
    let result = engine
        .search(game, &go.limits)
        .moves(&moves)
        .stop(stop)
        .on_info(|info| {
            output.line(&info_line(info));
            if info.multipv == 1 {
                reported = Some((info.depth, info.score, info.pv.clone()));
            }
            if output.failed() {
                stop.store(true, Ordering::SeqCst);
            }
        })
        .run();
    // An unfinished iteration may have found a better line.
    if let Some(best) = result.lines.first()
        && reported != Some((best.depth, best.score, best.pv.clone()))
    {
        result.lines.iter().for_each(|info| output.line(&info_line(info)));
    }
    // An infinite search may end early, but it answers only after `stop`.
    while go.infinite && result.best().is_some() && !stop.load(Ordering::SeqCst) && !output.failed() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let reply = result.lines.first().and_then(|line| line.pv.get(1)).filter(|_| go.name_ponder_move);
    let ponder = reply.map_or_else(String::new, |mv| format!(" ponder {mv}"));
    format!("{}{ponder}", best_move(result.best()))
}

/// Prints the perft count of each move, and returns the line with the total.
fn perft<W: Write>(game: &Game, depth: u32, stop: &AtomicBool, output: &Output<W>) -> String {
    let (position, rules) = (game.position(), game.rules());
    let counter = Perft::new(rules, PerftMode::Expand);
    let mut total = 0u64;
    if depth > 0 {
        for &mv in &position.moves(rules) {
            let Some(count) = count(&counter, rules, &position.make(mv), depth - 1, stop) else {
                return "info string perft: stopped".to_owned();
            };
            output.line(&format!("{mv}: {count}"));
            total += count;
        }
    } else {
        total = 1;
    }
    format!("\nNodes searched: {total}")
}

/// Perft in pieces small enough to react to `stop`; `None` if stopped.
fn count(counter: &Perft<'_>, rules: &Rules, position: &Position, depth: u32, stop: &AtomicBool) -> Option<u64> {
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    if depth <= 4 {
        return Some(counter.count(position, depth));
    }
    position.moves(rules).iter().map(|&mv| count(counter, rules, &position.make(mv), depth - 1, stop)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read() {
        let game = Game::new(Position::start(), Rules::default(), None);
        let clock = |text: &str| parse_go(text, &game).0.limits.clock.expect("a clock");
        let [remaining, increment] = [1000, 20].map(Duration::from_millis);
        let white = clock("binc 30 btime 3000 winc 20 wtime 1000");
        assert_eq!(white, Clock { remaining, increment, moves_to_go: None });
        assert_eq!(clock("wtime -5").remaining, Duration::ZERO);
        assert_eq!(clock("wtime 1000 movestogo 5").moves_to_go, Some(5));
        assert_eq!(clock("wtime 1000 movestogo 0").moves_to_go, None);
    }
}
