//! UCI (Universal Chess Interface, April 2006), except commands without a meaning in this game.
//!
//! The commands, one on each line: `uci`, `isready`, `ucinewgame`, `position startpos|fen FEN [moves ...]`, `go`,
//! `stop`, `ponderhit`, `setoption`, `quit`; also `d`, which draws the board, `eval`, which shows the static evaluation
//! and the part of each piece in it, `bench [DEPTH]`, which searches the positions of `dsq bench` and ends with the line
//! that OpenBench reads, and `wait`, which reads no further command until the search has ended. The end of the input is
//! `quit`: a search ends with it.
//!
//! - A FEN contains the board, the side to move and optionally the halfmove clock, the plies since the last capture,
//!   which count for `NoCaptureLimit`, and the move number. The six fields of chess are accepted, too. Moves are in
//!   coordinates (`a3b3`) or in the papers' notation (`Eb3`).
//! - Mistboard's commands are accepted: a FEN with `r` or `b` for the side to move, the halfmove clock and the move
//!   number, followed by `reps FEN;FEN...`, the positions that have already occurred twice.
//! - Malformed input is explained by an `info string`. After a `position` that was refused there is no position: `go`
//!   answers `bestmove 0000` until a `position` is accepted.
//! - A GUI may play on after a draw by repetition or `NoCaptureLimit`: moves may follow it, and `go` searches on. After a
//!   repetition, earlier positions do not count for that search; after `NoCaptureLimit`, it has no such limit.
//! - `go` takes `depth`, `nodes`, `movetime`, `wtime`, `btime`, `winc`, `binc`, `movestogo`, `mate`, `infinite`, and
//!   `perft N`, which counts moves and sends no `bestmove`. Without a limit it searches until `stop`. The moves to choose
//!   from follow `searchmoves`; illegal ones are reported and skipped.
//! - `go mate N` searches for a win in at most N moves. It ends when it has found one, or when a search of 2N - 1 plies
//!   without pruning finds none.
//! - If `go` lacks the clock of the side to move, the clock of the other side is used; if there is none, the increment is
//!   the time for the move. A limit that is not a number is ignored. If no other limit remains, the engine searches for a
//!   second. Each case is reported.
//! - `go ponder` searches without a limit until `stop` or `ponderhit`. With `ponderhit` the given limits begin to hold
//!   for the same search, whose nodes and depth count from its start, and its time from `ponderhit`. With the option `Ponder`, `bestmove` also names the move to ponder on, if the line
//!   contains one and the game goes on after it.
//! - `bestmove` always comes, after `infinite` and `ponder` never before `stop` or `ponderhit`. It is `0000` if the game
//!   has ended by a den, by captures or by stalemate.
//! - `score mate` counts moves of the winner, and the line that follows it leads to the end of the game; every other
//!   distance is in plies. `score mate N lowerbound` is a win in at most N moves, as endgame tables without distances
//!   prove it.
//! - `go`, `setoption` and `ucinewgame` are rejected while a search runs; after `stop` they wait for its end. `MultiPV`,
//!   `Move Overhead` and `Ponder` keep the hash; the other options of the engine clear it.
//! - `EvalFile` is a network, which takes precedence over `Evaluation`.
//! - `TablePath` that names tables for other rules takes effect when `Rules` changes to these.
//! - `TablePath` is a directory of tables with distances, one of results alone (`dsq repack --wdl`), or both, separated
//!   as in Stockfish's `SyzygyPath`: by `:`, on Windows by `;`. Damaged parts are reported; the rest is used.
//! - `TableProbeDepth` is the least depth in plies at which the search probes tables that are not in memory (those of more
//!   than four pieces), after captures and on the principal variation only; at 0 also the quiescence search does.
//! - `OnDemandCache` is a directory of classes that were counted on demand from the distances in `TablePath`, which must
//!   be set first. In a position of such a class the engine chooses among the best moves. The engine itself counts
//!   nothing.
//! - `UCI_ShowWDL` adds `wdl WIN DRAW LOSS` to scores: the chances in permille between equal engines, by a curve fitted
//!   to games ([`Score::chances`](doushouqi::search::Score::chances)).
//! - `UCI_LimitStrength` plays at `UCI_Elo`, the Elo above the weakest level of the page
//!   ([`Level::of_elo`](doushouqi::search::Level::of_elo)), with the network of the rules, one thread and no tables. `Seed`
//!   selects among moves that are good enough; without one, an `info string` names the one that was drawn.
//! - `Contempt` is the amount that the engine gives up to avoid a draw, in centipawns.
//! - `Move Overhead` is the time in milliseconds that stays on the clock at each move, for delays between engine and
//!   GUI.

mod eval;
mod go;
mod options;
mod output;
mod search;

use crate::SessionError;
use doushouqi::board::{Fen, Move, ParseFenError, Position, Rules};
use doushouqi::game::Game;
use doushouqi::search::network::Network;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Level, bench};
use doushouqi::tablebase::{Probe, TableProber};
use go::{Go, parse_go};
use options::declarations;
use output::{Output, quoted};
use search::{Running, Task, best_move, game_to_search};
use std::io::{self, BufRead, Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The longest line in bytes; a longer one is an error.
const LINE: u64 = 1 << 20;

/// Speaks UCI until `quit` or the end of the input. The search runs in its own thread, so `stop` and `isready` are
/// answered during a search.
///
/// # Errors
/// If the input cannot be read or the output cannot be written.
pub fn serve(input: impl BufRead, output: impl Write + Send + 'static) -> Result<(), SessionError> {
    let mut uci = Uci::new(output);
    let read = read_commands(&mut uci, input);
    uci.end_search();
    read.map_err(SessionError::Input)?;
    uci.output.result().map_err(SessionError::Output)
}

fn read_commands<W: Write + Send + 'static>(uci: &mut Uci<W>, mut input: impl BufRead) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
            uci.input_ended();
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

struct Uci<W> {
    output: Output<W>,
    options: EngineOptions,
    /// Option `Evaluation`.
    evaluation: Evaluation,
    /// Option `EvalFile`.
    network: Option<Arc<Network>>,
    /// Option `Ponder`.
    ponder: bool,
    /// Option `UCI_ShowWDL`.
    show_wdl: bool,
    /// Option `UCI_LimitStrength`.
    limit_strength: bool,
    /// Option `UCI_Elo`.
    elo: u16,
    /// Option `Seed`.
    seed: u32,
    /// The games since the start.
    games: u64,
    /// Option `TablePath`.
    table_path: PathBuf,
    /// Option `OnDemandCache`.
    counted: Option<Arc<TableProber>>,
    rules: Rules,
    no_capture_limit: Option<u32>,
    /// The game; `None` after a `position` that was refused.
    game: Option<Game>,
    /// The engine, created on demand; `None` also while it searches.
    engine: Option<Engine>,
    running: Option<Running>,
}

impl<W: Write + Send + 'static> Uci<W> {
    fn new(output: W) -> Uci<W> {
        let rules = Rules::default();
        let no_capture_limit = Some(Game::NO_CAPTURE_LIMIT);
        Uci {
            output: Output::new(output),
            options: EngineOptions::default(),
            evaluation: Evaluation::Default,
            network: None,
            ponder: false,
            show_wdl: false,
            limit_strength: false,
            elo: Level::MAX_ELO,
            seed: 0,
            games: 0,
            table_path: PathBuf::new(),
            counted: None,
            game: Some(Game::new(Position::start(), rules.clone(), no_capture_limit)),
            rules,
            no_capture_limit,
            engine: None,
            running: None,
        }
    }

    fn complain(&self, text: &str) {
        self.output.note(text);
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
                    self.games += 1;
                    self.game = Some(Game::new(Position::start(), self.rules.clone(), self.no_capture_limit));
                }
            }
            "position" => {
                let game = self.position(rest);
                if let Err(problem) = &game {
                    self.complain(&format!("{problem}; there is no position until one is accepted"));
                }
                self.game = game.ok();
            }
            "go" => {
                if self.is_idle(command) {
                    self.go(rest);
                }
            }
            "stop" => self.stop(),
            "ponderhit" => self.running.iter().for_each(Running::ponder_hit),
            "setoption" => {
                if self.is_idle(command)
                    && let Err(problem) = self.set_option(rest)
                {
                    self.complain(&problem);
                }
            }
            "wait" => self.wait_for_end(),
            "eval" => match &self.game {
                Some(game) => self.output.line(&eval::trace(game, &self.options.evaluation)),
                None => self.complain("eval: the last position was refused"),
            },
            "bench" => {
                if self.is_idle(command) {
                    self.bench(rest.trim());
                }
            }
            "d" => match &self.game {
                Some(game) => self.output.line(&format!("{}{}", game.position().to_picture(), game.fen())),
                None => self.complain("d: the last position was refused"),
            },
            "quit" => return ControlFlow::Break(()),
            _ => self.complain(&format!("unknown command {}", quoted(command))),
        }
        ControlFlow::Continue(())
    }

    fn introduce(&self) {
        let name = format!("id name doushouqi {}\nid author the doushouqi authors\n", env!("CARGO_PKG_VERSION"));
        self.output.line(&format!("{name}{}uciok", declarations()));
    }

    /// The engine, which must not be searching.
    fn engine(&mut self) -> &mut Engine {
        self.end_search();
        self.engine.get_or_insert_with(|| Engine::new(self.options.clone()))
    }

    fn is_searching(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.is_done())
    }

    /// Whether no search is running. Waits for a search that has been stopped; if another one is running, reports that
    /// this command has to wait.
    fn is_idle(&mut self, command: &str) -> bool {
        if self.running.as_ref().is_some_and(Running::is_stopped) {
            self.end_search();
        }
        let idle = !self.is_searching();
        if !idle {
            self.complain(&format!("{command}: a search is running; stop it first"));
        }
        idle
    }

    fn stop(&self) {
        if let Some(running) = &self.running {
            running.stop();
        }
    }

    /// Reports that the end of the input ends a search with a limit.
    fn input_ended(&self) {
        if self.running.as_ref().is_some_and(|running| !running.is_endless()) {
            let text = "info string the input has ended, and the search with it; the command wait waits for its end";
            self.output.line_if(|| self.is_searching(), text);
        }
    }

    /// Waits for the end of the search.
    fn wait_for_end(&mut self) {
        let endless = |running: &Running| running.is_endless() && !running.is_stopped();
        if self.is_searching() && self.running.as_ref().is_some_and(endless) {
            self.complain("wait: this search ends only with stop");
        } else if let Some(running) = self.running.take() {
            self.engine = running.join();
        }
    }

    /// Stops the search, if there is one, and takes its engine back.
    fn end_search(&mut self) {
        self.stop();
        if let Some(running) = self.running.take() {
            // Without an engine, the next search creates one.
            self.engine = running.join();
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
        let (game, notes) = game_to_search(self.game.as_ref());
        let (go, problems) = parse_go(text, game.as_ref());
        let go = Go { name_ponder_move: self.ponder, ..go };
        for problem in problems.iter().map(String::as_str).chain(notes) {
            self.complain(&format!("go: {problem}"));
        }
        self.start(game, go);
    }

    fn start(&mut self, game: Option<Game>, go: Go) {
        let received = Instant::now();
        self.engine();
        let Some(engine) = self.engine.take() else { return };
        let hash = self.rules.options().table_hash();
        let counted = self.counted.clone().filter(|counted| counted.rules().options().table_hash() == hash);
        let first = game.as_ref().and_then(|game| game.legal_moves().first().copied());
        let level = self.limit_strength.then(|| (Level::of_elo(self.elo), self.choice_seed(game.as_ref())));
        let (move_overhead, show_wdl) = (self.options.move_overhead, self.show_wdl);
        let task = Task { game, go, counted, move_overhead, show_wdl, level, received };
        match task.start(engine, self.output.clone()) {
            Ok(running) => self.running = Some(running),
            Err(error) => {
                self.complain(&format!("go: cannot start a thread: {error}"));
                self.output.line(&best_move(first));
            }
        }
    }

    /// Searches the positions of [`bench`], as `dsq bench` does.
    fn bench(&self, depth: &str) {
        let depth = if depth.is_empty() { Some(bench::DEPTH) } else { depth.parse().ok() };
        match depth.filter(|depth| (1..=bench::MAX_DEPTH).contains(depth)) {
            Some(depth) => self.output.line(&bench::bench(depth, &bench::options(), &Rules::default()).to_string()),
            None => self.complain(&format!("bench: the depth is a number from 1 to {}", bench::MAX_DEPTH)),
        }
    }

    /// The seed of a level's choice. It differs from position to position and from game to game.
    fn choice_seed(&self, game: Option<&Game>) -> u64 {
        game.map_or(0, |game| game.position().key()) ^ (self.games << 32 | u64::from(self.seed))
    }

    /// Replays the game under the current rules.
    fn replay(&mut self) -> Result<(), String> {
        let Some(game) = &self.game else { return Ok(()) };
        self.game = game.under(self.rules.clone(), self.no_capture_limit).ok();
        let problem = "the moves of the position are not legal by these rules; send a position";
        if self.game.is_some() { Ok(()) } else { Err(problem.to_owned()) }
    }
}

/// Parses a FEN, in which Mistboard's `r` (red) is White to move. Squares are not mirrored, since the moves use the same
/// coordinates.
fn parse_fen(text: &str) -> Result<Fen, ParseFenError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [board, "r", ref counters @ ..] => format!("{board} w {}", counters.join(" ")).parse(),
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
