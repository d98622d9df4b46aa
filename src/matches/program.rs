//! A UCI program as a player: started once, asked for every move, started again if it crashed.

use super::player::{Choice, Player, PlayerError, Turn};
use super::time_control::TimeControl;
use crate::board::{Color, Position, RuleOptions};
use crate::game::Game;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How a program is started.
#[derive(Clone, Debug)]
pub(super) struct ProgramSetup {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// What it gets by `setoption`.
    pub options: Vec<(String, String)>,
}

/// How long a program may take to start, and to get ready.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long it may take to end when it is told to.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long a program that is late already may go on.
const GRACE: Duration = Duration::from_secs(1);
/// How often a program that thinks is looked at for a stop of the match.
const GLANCE: Duration = Duration::from_millis(20);
/// The longest line that is read as one.
const LINE: u64 = 65_536;

/// A UCI program as a player.
pub(super) struct Program {
    setup: ProgramSetup,
    /// `None` after a crash.
    process: Option<Process>,
}

impl Program {
    pub fn start(setup: ProgramSetup) -> Result<Program, PlayerError> {
        let process = Some(Process::start(&setup)?);
        Ok(Program { setup, process })
    }

    /// Ends a program that misbehaved: the next game starts another.
    fn fail<T>(&mut self, error: PlayerError) -> Result<T, PlayerError> {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
        Err(error)
    }

    fn process(&mut self) -> Result<&mut Process, PlayerError> {
        self.process.as_mut().ok_or_else(|| PlayerError::Crash("the program is not running".to_owned()))
    }

    fn try_choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let color = game.position().turn();
        let process = self.process()?;
        process.set_rules(game)?;
        process.send(&position_command(game))?;
        let begin = Instant::now();
        process.send(&go_command(turn))?;
        // Somewhat later than the time it has, so that a late move is told from none at all.
        let late = |time| time + turn.margin + GRACE;
        let patience = turn.control.allowed(turn.clocks[color]).map_or(turn.patience, late);
        let deadline = begin + patience;
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
            self.process = Some(Process::start(&self.setup)?);
        }
        let ready = self.process()?.send("ucinewgame").and_then(|()| self.process()?.get_ready());
        ready.or_else(|error| self.fail(error))
    }

    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        match self.try_choose(game, turn, stop) {
            // It goes on living: it did answer.
            Err(error @ PlayerError::IllegalMove(_)) => Err(error),
            Err(error) => self.fail(error),
            Ok(choice) => Ok(choice),
        }
    }
}

/// The word behind a keyword.
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

/// A running program that has said `uciok`.
struct Process {
    name: String,
    child: Child,
    stdin: ChildStdin,
    /// What it says, line by line; ends when it does.
    lines: Receiver<String>,
    /// The options it offers.
    options: Vec<String>,
    /// Rules and no-capture limit that it has been told.
    told: Option<(RuleOptions, Option<u32>)>,
}

impl Process {
    fn start(setup: &ProgramSetup) -> Result<Process, PlayerError> {
        let name = setup.command.join(" ");
        let crash = |e: io::Error| PlayerError::Crash(format!("cannot start {name:?}: {e}"));
        let mut command = Command::new(&setup.command[0]);
        command.args(&setup.command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Its own group: Ctrl-C in the terminal is for us, who end it in order.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(crash)?;
        let stdin = child.stdin.take().ok_or_else(|| crash(io::Error::other("no pipe")))?;
        let stdout = child.stdout.take().ok_or_else(|| crash(io::Error::other("no pipe")))?;
        let (sender, lines) = sync_channel(256);
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while stdout.by_ref().take(LINE).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
                line.clear();
            }
        });
        let mut process = Process { name, child, stdin, lines, options: Vec::new(), told: None };
        process.shake_hands(setup)?;
        Ok(process)
    }

    fn shake_hands(&mut self, setup: &ProgramSetup) -> Result<(), PlayerError> {
        let deadline = Instant::now() + HANDSHAKE;
        self.send("uci")?;
        loop {
            let line = self.reply(deadline, "uci")?;
            let line = line.trim();
            if line == "uciok" {
                break;
            }
            if let Some(option) = line.strip_prefix("option name ") {
                let name = option.split(" type ").next().unwrap_or(option);
                self.options.push(name.trim().to_owned());
            }
        }
        for (name, value) in &setup.options {
            if !self.offers(name) {
                let offered = self.options.join(", ");
                let text = format!("{:?} has no option {name:?}; it offers {offered}", self.name);
                return Err(PlayerError::Crash(text));
            }
            self.send(&format!("setoption name {name} value {value}"))?;
        }
        self.get_ready()
    }

    fn offers(&self, option: &str) -> bool {
        self.options.iter().any(|name| name.eq_ignore_ascii_case(option))
    }

    /// Tells the rules to a program that can be told.
    fn set_rules(&mut self, game: &Game) -> Result<(), PlayerError> {
        let rules = (*game.rules().options(), game.no_capture_limit());
        if self.told != Some(rules) {
            if self.offers("Rules") {
                self.send(&format!("setoption name Rules value {}", rules.0))?;
            }
            if self.offers("NoCaptureLimit") {
                self.send(&format!("setoption name NoCaptureLimit value {}", rules.1.unwrap_or(0)))?;
            }
            self.told = Some(rules);
        }
        Ok(())
    }

    fn get_ready(&mut self) -> Result<(), PlayerError> {
        let deadline = Instant::now() + HANDSHAKE;
        self.send("isready")?;
        while self.reply(deadline, "isready")?.trim() != "readyok" {}
        Ok(())
    }

    fn send(&mut self, command: &str) -> Result<(), PlayerError> {
        let sent = writeln!(self.stdin, "{command}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| self.ended())
    }

    /// The program has closed a pipe.
    fn ended(&mut self) -> PlayerError {
        // It may take a moment from there to the end.
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return PlayerError::Crash(format!("{:?} ended: {status}", self.name));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        PlayerError::Crash(format!("{:?} closed its input or output", self.name))
    }

    /// A line in answer to a command that is to be answered soon.
    fn reply(&mut self, deadline: Instant, command: &str) -> Result<String, PlayerError> {
        self.line(deadline, None).map_err(|error| match error {
            PlayerError::Timeout => {
                PlayerError::Crash(format!("{:?} did not answer {command} within {} s", self.name, HANDSHAKE.as_secs()))
            }
            error => error,
        })
    }

    fn line(&mut self, deadline: Instant, stop: Option<&AtomicBool>) -> Result<String, PlayerError> {
        loop {
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(PlayerError::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(PlayerError::Timeout);
            }
            match self.lines.recv_timeout(left.min(GLANCE)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn kill(&mut self) {
        // It fails if the program has ended, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = writeln!(self.stdin, "stop\nquit").and_then(|()| self.stdin.flush());
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.kill();
    }
}
