//! A program that speaks GTP. Squares, letters and colours follow KataGomo: `b` is the side that begins, which is White
//! here. A move is two vertices, in one word (`A3B3`) or, in two stages, in two commands.

use super::external::Session;
use super::player::{Choice, PlayerError, Requirements, Turn};
use super::process::Process;
use super::time_control::TimeControl;
use doushouqi::board::{Color, Fen, Move, RuleOptions, UciMove};
use doushouqi::formats::Dialect;
use doushouqi::game::Game;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The settings for starting a GTP program.
#[derive(Clone, Debug)]
pub(super) struct GtpSetup {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// Whether a move takes two commands: the square that a piece leaves, then the square that it enters.
    pub two_stage: bool,
}

/// A running program that knows the commands for its games.
pub(super) struct GtpProgram {
    process: Process,
    /// Whether a move takes two commands.
    two_stage: bool,
    requirements: Requirements,
    /// The commands of the program.
    commands: Vec<String>,
    /// Whether the program reads only whole seconds.
    whole_seconds: bool,
    /// The game that was sent to the program.
    sent_game: Option<(Fen, Vec<Move>)>,
    /// The limit that was sent to the program.
    sent_limit: Option<TimeControl>,
    /// The rules and the no-capture limit that were sent to the program.
    sent_rules: Option<(RuleOptions, Option<u32>)>,
}

/// The letter of a side.
fn color_letter(color: Color) -> &'static str {
    match color {
        Color::White => "b",
        Color::Black => "w",
    }
}

/// The text of an answer: of `= TEXT`, or the whole line `? TEXT` of a failure.
type Answer = Result<String, String>;

/// Reads an answer, which ends with an empty line.
fn read_answer(mut next_line: impl FnMut() -> Result<String, PlayerError>) -> Result<Answer, PlayerError> {
    let mut answer = String::new();
    loop {
        match next_line()?.trim() {
            "" if answer.is_empty() => {}
            "" => break,
            line => {
                answer.push_str(line);
                answer.push(' ');
            }
        }
    }
    Ok(match answer.strip_prefix('=') {
        Some(rest) => Ok(rest.trim().to_owned()),
        None => Err(answer.trim().to_owned()),
    })
}

impl Session for GtpProgram {
    type Setup = GtpSetup;

    /// Starts the process and checks that it has the commands for the games, knows the rules and reads the limits.
    fn start(setup: &GtpSetup, requirements: &Requirements, stop: &AtomicBool) -> Result<GtpProgram, PlayerError> {
        let mut program = GtpProgram {
            process: Process::start(&setup.command, "quit", requirements.patience)?,
            two_stage: setup.two_stage,
            requirements: *requirements,
            commands: Vec::new(),
            whole_seconds: false,
            sent_game: None,
            sent_limit: None,
            sent_rules: None,
        };
        program.command("protocol_version", stop)?;
        program.commands = program.command("list_commands", stop)?.split_whitespace().map(str::to_owned).collect();
        let control = requirements.control;
        let limits: &[&str] = match control {
            TimeControl::Depth(_) => {
                let text = "GTP has no limit of depth; limit nodes or time";
                return Err(program.unsupported(text));
            }
            TimeControl::Nodes(_) | TimeControl::MoveTime(_) => &["kata-set-param"],
            TimeControl::Clock { .. } => &["time_settings", "time_left"],
        };
        let needed = ["clear_board", "setfen", "play", "genmove"];
        let missing: Vec<&str> = needed.iter().chain(limits).copied().filter(|name| !program.knows(name)).collect();
        if !missing.is_empty() {
            let text = format!("it has no command {}, which this match needs", missing.join(", "));
            return Err(program.unsupported(&text));
        }
        program.send_rules((requirements.rules, requirements.no_capture_limit), stop)?;
        program.set_limit(control, stop)?;
        Ok(program)
    }

    fn remark(&self, requirements: &Requirements) {
        let name = self.process.name();
        if !self.knows("kata-set-rules") {
            let rules = requirements.rules_name();
            eprintln!("{name}: it has no command kata-set-rules; the match assumes that it plays by the rules {rules}");
        } else if !self.knows("kata-set-rule") {
            eprintln!("{name}: it has no command kata-set-rule, so it does not receive the no-capture limit");
        }
    }

    fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    fn new_game(&mut self, stop: &AtomicBool) -> Result<(), PlayerError> {
        self.sent_game = None;
        self.command("clear_board", stop).map(drop)
    }

    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let chosen = self.try_choose(game, turn, stop);
        if chosen.is_err() {
            // After an illegal move the program's game is another one.
            self.sent_game = None;
        }
        chosen
    }
}

impl GtpProgram {
    fn knows(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known == command)
    }

    fn unsupported(&self, problem: &str) -> PlayerError {
        PlayerError::Unsupported(format!("{:?}: {problem}", self.process.name()))
    }

    /// Sends a command that the program must not refuse, and returns the answer.
    fn command(&mut self, text: &str, stop: &AtomicBool) -> Result<String, PlayerError> {
        self.answer(text, stop)?.map_err(|answer| PlayerError::Crash(format!("{text:?} was answered by {answer:?}")))
    }

    /// Sends a command without which the program cannot play these games.
    fn require(&mut self, text: &str, stop: &AtomicBool) -> Result<(), PlayerError> {
        let answer = self.answer(text, stop)?;
        answer.map(drop).map_err(|answer| self.unsupported(&format!("{text:?} was answered by {answer:?}")))
    }

    /// Sends a command without a search and returns the answer.
    fn answer(&mut self, text: &str, stop: &AtomicBool) -> Result<Answer, PlayerError> {
        self.process.send(text)?;
        read_answer(|| self.process.reply(stop))
    }

    /// Sends the rules of a game, if they are others than before.
    fn send_rules(&mut self, (rules, limit): (RuleOptions, Option<u32>), stop: &AtomicBool) -> Result<(), PlayerError> {
        if self.requirements.assume_rules || self.sent_rules == Some((rules, limit)) {
            return Ok(());
        }
        // A move of the last game may be against the new rules.
        self.command("clear_board", stop)?;
        self.sent_game = None;
        if self.knows("kata-set-rules")
            && let Err(answer) = self.answer(&format!("kata-set-rules {rules}"), stop)?
        {
            let name = self.requirements.rules_name();
            let text = format!("it refuses the rules {name} ({answer}); if it plays by them, add --assume-rules");
            return Err(self.unsupported(&text));
        }
        if self.knows("kata-set-rule") {
            let limit = limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
            // The limit is a rule of this program, which others may not know.
            let _ = self.answer(&format!("kata-set-rule no-capture-limit {limit}"), stop)?;
        }
        self.sent_rules = Some((rules, limit));
        Ok(())
    }

    /// Sends the position of the game to the program.
    fn set_position(&mut self, game: &Game, stop: &AtomicBool) -> Result<(), PlayerError> {
        self.send_rules((*game.rules().options(), game.no_capture_limit()), stop)?;
        let start = game.start_fen();
        let follows = |(fen, moves): &(Fen, Vec<Move>)| *fen == start && game.moves().starts_with(moves);
        if !self.sent_game.as_ref().is_some_and(follows) {
            self.command(&format!("setfen {}", Dialect::Katago.format_fen(&start.clone().into())), stop)?;
            self.sent_game = Some((start, Vec::new()));
        }
        let done = self.sent_game.as_ref().map_or(0, |(_, moves)| moves.len());
        for (&mv, position) in game.moves().iter().zip(game.positions()).skip(done) {
            let color = color_letter(position.turn());
            let [from, to] = [mv.from, mv.to].map(|square| Dialect::Katago.format_square(square));
            if self.two_stage {
                self.command(&format!("play {color} {from}"), stop)?;
                self.command(&format!("play {color} {to}"), stop)?;
            } else {
                self.command(&format!("play {color} {from}{to}"), stop)?;
            }
        }
        self.sent_game = Some((game.start_fen(), game.moves().to_vec()));
        Ok(())
    }

    /// Sends the limit of the moves, if it is another than before.
    fn set_limit(&mut self, control: TimeControl, stop: &AtomicBool) -> Result<(), PlayerError> {
        if self.sent_limit == Some(control) {
            return Ok(());
        }
        match control {
            TimeControl::Depth(_) => return Err(self.unsupported("GTP has no limit of depth")),
            TimeControl::Nodes(nodes) => self.require(&format!("kata-set-param maxVisits {nodes}"), stop)?,
            TimeControl::MoveTime(time) => {
                // Each of the stages is a separate search.
                let stages = if self.two_stage { 2.0 } else { 1.0 };
                self.require(&format!("kata-set-param maxTime {}", time.as_secs_f64() / stages), stop)?;
            }
            TimeControl::Clock { base, increment } => {
                // Canadian byo-yomi of one move is GTP's closest equivalent to an increment.
                let stones = u8::from(!increment.is_zero());
                let settings = |base: f64, increment: f64| format!("time_settings {base} {increment} {stones}");
                let (base, increment) = (base.as_secs_f64(), increment.as_secs_f64());
                let refused = match self.answer(&settings(base, increment), stop)? {
                    Ok(_) => self.answer("time_left b 0.5 0", stop)?.is_err(),
                    Err(_) => true,
                };
                if refused && (base.fract() != 0.0 || increment.fract() != 0.0) {
                    return Err(self.unsupported("it reads only whole seconds; choose a clock of whole seconds"));
                }
                if refused {
                    self.whole_seconds = true;
                    self.require(&settings(base, increment), stop)?;
                }
            }
        }
        self.sent_limit = Some(control);
        Ok(())
    }

    /// The command for the time left on the clock of the side to move.
    fn time_left(&self, color: Color, time: Duration) -> String {
        // Less than a second in whole seconds would be no time at all.
        let time = if self.whole_seconds { time.as_secs().max(1) as f64 } else { time.as_secs_f64() };
        format!("time_left {} {time} 0", color_letter(color))
    }

    fn try_choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let color = game.position().turn();
        self.set_position(game, stop)?;
        self.set_limit(turn.conditions.control, stop)?;
        if let TimeControl::Clock { .. } = turn.conditions.control {
            self.command(&self.time_left(color, turn.clocks[color]), stop)?;
        }
        let deadline = Instant::now() + turn.patience(color);
        let command = format!("genmove {}", color_letter(color));
        let illegal = |text: &str, problem: &str| PlayerError::IllegalMove(format!("genmove: {text}: {problem}"));
        let mut text = String::new();
        for _ in 0..if self.two_stage { 2 } else { 1 } {
            self.process.send(&command)?;
            let answer = read_answer(|| self.process.line(deadline, stop))?;
            let answer =
                answer.map_err(|answer| PlayerError::Crash(format!("{command:?} was answered by {answer:?}")))?;
            if answer.eq_ignore_ascii_case("resign") {
                return Err(PlayerError::Resigned);
            }
            if answer.eq_ignore_ascii_case("pass") {
                return Err(illegal(format!("{text} {answer}").trim(), "a player must not pass"));
            }
            text.push_str(&answer);
        }
        let written = Dialect::Katago.parse_move(&text).map_err(|error| illegal(&text, &error.to_string()))?;
        let mv = game.legal_moves().into_iter().find(|&mv| UciMove::from(mv) == written);
        let mv = mv.ok_or_else(|| illegal(&text, "it is not legal here"))?;
        if let Some((_, moves)) = &mut self.sent_game {
            moves.push(mv);
        }
        Ok(Choice { mv, score: None, depth: None, nodes: None })
    }
}
