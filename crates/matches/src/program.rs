//! A program that speaks UCI.

use super::external::Session;
use super::player::{Choice, PlayerError, Requirements, Turn};
use super::process::Process;
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

/// A running program that has completed the UCI handshake.
pub(super) struct UciProgram {
    process: Process,
    /// The names of its options, each with the rest of its line.
    options: Vec<(String, String)>,
    /// The rules that were sent to the program for a move.
    sent_rules: Option<GameRules>,
    /// Whether the program plays by the rules without receiving them.
    assume_rules: bool,
}

impl Session for UciProgram {
    type Setup = ProgramSetup;

    fn start(setup: &ProgramSetup, requirements: &Requirements, stop: &AtomicBool) -> Result<UciProgram, PlayerError> {
        let process = Process::start(&setup.command, "stop\nquit", requirements.patience)?;
        let assume_rules = requirements.assume_rules;
        let mut program = UciProgram { process, options: Vec::new(), sent_rules: None, assume_rules };
        program.read_options(stop)?;
        // Tables and networks are for certain rules, so the rules come before the other options. Since these may include
        // other rules, the first move sends the rules again.
        program.send_rules((requirements.rules, requirements.no_capture_limit))?;
        let refused = program.get_ready(stop)?.into_iter().find(|text| text.starts_with("setoption"));
        if let Some(text) = refused {
            let rules = requirements.rules_name();
            let text = format!("it refuses the rules {rules} ({text}); if it plays by them, add --assume-rules");
            return Err(program.unsupported(&text));
        }
        program.send_options(setup)?;
        // The program may refuse the value of an option.
        for text in program.get_ready(stop)? {
            eprintln!("{}: {text}", program.process.name());
        }
        Ok(program)
    }

    fn remark(&self, requirements: &Requirements) {
        let name = self.process.name();
        if self.option("Rules").is_none() {
            let rules = requirements.rules_name();
            eprintln!("{name}: it has no option Rules; the match assumes that it plays by the rules {rules}");
        } else if self.option("NoCaptureLimit").is_none() {
            eprintln!("{name}: it has no option NoCaptureLimit, so it does not receive this limit");
        }
    }

    fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    fn new_game(&mut self, stop: &AtomicBool) -> Result<(), PlayerError> {
        self.process.send("ucinewgame")?;
        self.get_ready(stop).map(drop)
    }

    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let color = game.position().turn();
        self.set_rules(game)?;
        let process = &mut self.process;
        process.send(&position_command(game))?;
        let deadline = Instant::now() + turn.patience(color);
        process.send(&go_command(turn))?;
        let (mut score, mut depth, mut nodes) = (None, None, None);
        loop {
            let line = process.line(deadline, stop)?;
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
                        let text = bound.map_or_else(String::new, |bound| format!(" {bound}"));
                        // The bound of an unfinished iteration says less than the score of the last finished one.
                        if bound.is_none() || score.is_none() || kind == "mate" {
                            score = Some(format!("{kind} {number}{text}"));
                        }
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
    match turn.conditions.control {
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

impl UciProgram {
    fn read_options(&mut self, stop: &AtomicBool) -> Result<(), PlayerError> {
        self.process.send("uci")?;
        loop {
            let line = self.process.reply(stop)?;
            let line = line.trim();
            if line == "uciok" {
                return Ok(());
            }
            if let Some(option) = line.strip_prefix("option name ") {
                let (name, rest) = option.split_once(" type ").unwrap_or((option, ""));
                self.options.push((name.trim().to_owned(), rest.to_owned()));
            }
        }
    }

    fn send_options(&mut self, setup: &ProgramSetup) -> Result<(), PlayerError> {
        for (name, value) in &setup.options {
            let Some(kind) = self.option(name).map(|words| words.first().copied().unwrap_or_default()) else {
                let offered: Vec<&str> = self.options.iter().map(|(name, _)| &**name).collect();
                return Err(self.unsupported(&format!("it has no option {name:?}; it offers {}", offered.join(", "))));
            };
            let value = match (kind, &**value) {
                ("button", _) => String::new(),
                ("string", "") => " value <empty>".to_owned(),
                (_, value) => format!(" value {value}"),
            };
            self.process.send(&format!("setoption name {name}{value}"))?;
        }
        Ok(())
    }

    /// The words after the type of an option, and the type.
    fn option(&self, option: &str) -> Option<Vec<&str>> {
        let (_, rest) = self.options.iter().find(|(name, _)| name.eq_ignore_ascii_case(option))?;
        Some(rest.split_whitespace().collect())
    }

    fn unsupported(&self, problem: &str) -> PlayerError {
        PlayerError::Unsupported(format!("{:?}: {problem}", self.process.name()))
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
        if self.assume_rules {
            return Ok(());
        }
        if let Some(words) = self.option("Rules") {
            let known = words.split(|word| *word == "var").skip(1).map(|words| words.join(" "));
            let known: Vec<String> = known.collect();
            // A list may contain the name of a preset.
            let text = [Some(rules.to_string()), rules.preset_name().map(str::to_owned)];
            let text = text.into_iter().flatten().find(|text| known.is_empty() || known.contains(text));
            let Some(text) = text else {
                return Err(self.unsupported(&format!("its rules are {}, not {rules}", known.join(", "))));
            };
            self.process.send(&format!("setoption name Rules value {text}"))?;
        }
        if let Some(words) = self.option("NoCaptureLimit") {
            let limit = no_capture_limit.unwrap_or(0);
            if let Some(most) = value(&words, "max").and_then(|max| max.parse().ok()).filter(|most| limit > *most) {
                let most: u32 = most;
                return Err(self.unsupported(&format!("its no-capture limit is at most {most} plies, not {limit}")));
            }
            self.process.send(&format!("setoption name NoCaptureLimit value {limit}"))?;
        }
        Ok(())
    }

    /// Waits until the program is ready. Returns the texts of its lines `info string`.
    fn get_ready(&mut self, stop: &AtomicBool) -> Result<Vec<String>, PlayerError> {
        self.process.send("isready")?;
        let mut texts = Vec::new();
        loop {
            let line = self.process.reply(stop)?;
            match line.trim() {
                "readyok" => return Ok(texts),
                line => texts.extend(line.strip_prefix("info string ").map(str::to_owned)),
            }
        }
    }
}
