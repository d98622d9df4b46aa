//! A UCI program as a player: one process for all games, restarted after a crash.

use super::player::{Choice, Player, PlayerError, Turn};
use super::process::{HANDSHAKE, Process};
use super::time_control::TimeControl;
use doushouqi::board::{Color, Position, RuleOptions};
use doushouqi::game::Game;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The settings for starting a UCI program.
#[derive(Clone, Debug)]
pub(super) struct ProgramSetup {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// Names and values for `setoption`.
    pub options: Vec<(String, String)>,
}

/// The rules of a game and its no-capture limit.
type GameRules = (RuleOptions, Option<u32>);

/// A UCI program as a player.
pub(super) struct Program {
    setup: ProgramSetup,
    /// The rules that a new process receives first.
    rules: GameRules,
    /// `None` after a crash.
    process: Option<UciProcess>,
}

impl Program {
    pub(super) fn start(setup: ProgramSetup, rules: GameRules) -> Result<Program, PlayerError> {
        let process = Some(UciProcess::start(&setup, rules)?);
        Ok(Program { setup, rules, process })
    }

    /// Ends a misbehaving program; the next game starts a new process.
    fn fail<T>(&mut self, error: PlayerError) -> Result<T, PlayerError> {
        if let Some(mut process) = self.process.take() {
            process.process.kill();
        }
        Err(error)
    }

    fn process(&mut self) -> Result<&mut UciProcess, PlayerError> {
        self.process.as_mut().ok_or_else(|| PlayerError::Crash("the program is not running".to_owned()))
    }

    fn try_choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let color = game.position().turn();
        let process = self.process()?;
        process.set_rules(game)?;
        let process = &mut process.process;
        process.send(&position_command(game))?;
        let deadline = Instant::now() + turn.patience(color);
        process.send(&go_command(turn))?;
        let (mut score, mut depth, mut nodes) = (None, None, None);
        loop {
            let line = process.line(deadline, Some(stop))?;
            let mut words = line.split_whitespace();
            match words.next() {
                Some("info") => {
                    let words: Vec<&str> = words.collect();
                    if words.first() == Some(&"string") || value(&words, "multipv").is_some_and(|n| n != "1") {
                        continue;
                    }
                    depth = value(&words, "depth").and_then(|v| v.parse().ok()).or(depth);
                    nodes = value(&words, "nodes").and_then(|v| v.parse().ok()).or(nodes);
                    if let Some(i) = words.iter().position(|word| *word == "score")
                        && let [kind @ ("cp" | "mate"), number, ref rest @ ..] = words[i + 1..]
                        && let Ok(number) = number.parse::<i64>()
                    {
                        let bound = rest.first().filter(|word| matches!(**word, "lowerbound" | "upperbound"));
                        let bound = bound.map_or_else(String::new, |bound| format!(" {bound}"));
                        score = Some(format!("{kind} {number}{bound}"));
                    }
                }
                Some("bestmove") => {
                    let text = words.next().unwrap_or_default();
                    let mv = game.parse(text).map_err(|e| PlayerError::IllegalMove(format!("bestmove {text}: {e}")))?;
                    return Ok(Choice { mv, score, depth, nodes });
                }
                _ => {}
            }
        }
    }
}

impl Player for Program {
    fn new_game(&mut self, _: u64) -> Result<(), PlayerError> {
        if self.process.is_none() {
            self.process = Some(UciProcess::start(&self.setup, self.rules)?);
        }
        let ready = self.process()?.process.send("ucinewgame").and_then(|()| self.process()?.get_ready());
        ready.map(drop).or_else(|error| self.fail(error))
    }

    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        match self.try_choose(game, turn, stop) {
            // The program answered, so its process stays.
            Err(error @ PlayerError::IllegalMove(_)) => Err(error),
            Err(error) => self.fail(error),
            Ok(choice) => Ok(choice),
        }
    }
}

/// The word after a keyword.
fn value<'a>(words: &[&'a str], keyword: &str) -> Option<&'a str> {
    let i = words.iter().position(|word| *word == keyword)?;
    words.get(i + 1).copied()
}

fn position_command(game: &Game) -> String {
    let start = game.start_fen();
    let mut command = if start == Position::start().into() {
        "position startpos".to_owned()
    } else {
        format!("position fen {start}")
    };
    for (i, mv) in game.moves().iter().enumerate() {
        command.push_str(if i == 0 { " moves " } else { " " });
        command.push_str(&mv.to_string());
    }
    command
}

fn go_command(turn: &Turn) -> String {
    match turn.control {
        TimeControl::Depth(depth) => format!("go depth {depth}"),
        TimeControl::Nodes(nodes) => format!("go nodes {nodes}"),
        TimeControl::MoveTime(time) => format!("go movetime {}", time.as_millis()),
        TimeControl::Clock { increment, .. } => {
            let [white, black] = Color::ALL.map(|color| turn.clocks[color].as_millis());
            let increment = increment.as_millis();
            format!("go wtime {white} btime {black} winc {increment} binc {increment}")
        }
    }
}

/// A running program that has completed the UCI handshake.
struct UciProcess {
    process: Process,
    /// The names of its options.
    options: Vec<String>,
    /// The rules that were sent to the program for a move.
    sent_rules: Option<GameRules>,
}

impl UciProcess {
    fn start(setup: &ProgramSetup, rules: GameRules) -> Result<UciProcess, PlayerError> {
        let process = Process::start(&setup.command, "stop\nquit")?;
        let mut program = UciProcess { process, options: Vec::new(), sent_rules: None };
        program.read_options()?;
        // Tables and networks are for certain rules, so the rules come before the other options. Since these may include
        // other rules, the first move sends the rules again.
        program.send_rules(rules)?;
        program.send_options(setup)?;
        // The program may refuse the value of an option.
        for text in program.get_ready()? {
            eprintln!("{}: {text}", program.process.name());
        }
        Ok(program)
    }

    fn read_options(&mut self) -> Result<(), PlayerError> {
        let deadline = Instant::now() + HANDSHAKE;
        self.process.send("uci")?;
        loop {
            let line = self.process.reply(deadline, "uci")?;
            let line = line.trim();
            if line == "uciok" {
                return Ok(());
            }
            if let Some(option) = line.strip_prefix("option name ") {
                let name = option.split(" type ").next().unwrap_or(option);
                self.options.push(name.trim().to_owned());
            }
        }
    }

    fn send_options(&mut self, setup: &ProgramSetup) -> Result<(), PlayerError> {
        for (name, value) in &setup.options {
            if !self.offers(name) {
                let offered = self.options.join(", ");
                let text = format!("{:?} has no option {name:?}; it offers {offered}", self.process.name());
                return Err(PlayerError::Crash(text));
            }
            self.process.send(&format!("setoption name {name} value {value}"))?;
        }
        Ok(())
    }

    fn offers(&self, option: &str) -> bool {
        self.options.iter().any(|name| name.eq_ignore_ascii_case(option))
    }

    /// Sends the rules of a game, if they are others than for the last move.
    fn set_rules(&mut self, game: &Game) -> Result<(), PlayerError> {
        let rules = (*game.rules().options(), game.no_capture_limit());
        if self.sent_rules != Some(rules) {
            self.send_rules(rules)?;
            self.sent_rules = Some(rules);
        }
        Ok(())
    }

    /// Sends the rules to a program with the corresponding options.
    fn send_rules(&mut self, (rules, no_capture_limit): GameRules) -> Result<(), PlayerError> {
        if self.offers("Rules") {
            self.process.send(&format!("setoption name Rules value {rules}"))?;
        }
        if self.offers("NoCaptureLimit") {
            self.process.send(&format!("setoption name NoCaptureLimit value {}", no_capture_limit.unwrap_or(0)))?;
        }
        Ok(())
    }

    /// Waits until the program is ready. Returns the texts of its lines `info string`.
    fn get_ready(&mut self) -> Result<Vec<String>, PlayerError> {
        let deadline = Instant::now() + HANDSHAKE;
        self.process.send("isready")?;
        let mut texts = Vec::new();
        loop {
            let line = self.process.reply(deadline, "isready")?;
            match line.trim() {
                "readyok" => return Ok(texts),
                line => texts.extend(line.strip_prefix("info string ").map(str::to_owned)),
            }
        }
    }
}
