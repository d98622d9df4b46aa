//! A GTP program as a player. Squares, letters and colours follow KataGomo: `b` is the side that begins, which is White
//! here. A move is two vertices, in one word (`A3B3`) or, in two stages, in two commands.

use super::player::{Choice, Player, PlayerError, Requirements, Turn};
use super::process::{HANDSHAKE, Process};
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

/// A GTP program as a player.
pub(super) struct GtpProgram {
    setup: GtpSetup,
    requirements: Requirements,
    /// `None` after a crash.
    process: Option<Process>,
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

impl GtpProgram {
    /// Starts a program that can play games of these requirements.
    pub(super) fn start(setup: GtpSetup, requirements: Requirements) -> Result<GtpProgram, PlayerError> {
        let mut program = GtpProgram {
            setup,
            requirements,
            process: None,
            commands: Vec::new(),
            whole_seconds: false,
            sent_game: None,
            sent_limit: None,
            sent_rules: None,
        };
        program.begin()?;
        program.remark();
        Ok(program)
    }

    /// Starts the process and checks that it has the commands for the games, knows the rules and reads the limits.
    fn begin(&mut self) -> Result<(), PlayerError> {
        self.process = Some(Process::start(&self.setup.command, "quit")?);
        (self.sent_game, self.sent_limit, self.sent_rules) = (None, None, None);
        self.command("protocol_version")?;
        self.commands = self.command("list_commands")?.split_whitespace().map(str::to_owned).collect();
        let control = self.requirements.control;
        let limits: &[&str] = match control {
            TimeControl::Depth(_) => {
                let text = "GTP has no limit of depth; limit nodes or time";
                return Err(self.unsupported(text));
            }
            TimeControl::Nodes(_) | TimeControl::MoveTime(_) => &["kata-set-param"],
            TimeControl::Clock { .. } => &["time_settings", "time_left"],
        };
        let needed = ["clear_board", "setfen", "play", "genmove"];
        let missing: Vec<&str> = needed.iter().chain(limits).copied().filter(|name| !self.knows(name)).collect();
        if !missing.is_empty() {
            return Err(self.unsupported(&format!("it has no command {}, which this match needs", missing.join(", "))));
        }
        self.send_rules((self.requirements.rules, self.requirements.no_capture_limit))?;
        self.set_limit(control)
    }

    /// Reports the rules that the program cannot receive.
    fn remark(&self) {
        let name = self.setup.command.join(" ");
        if self.requirements.assume_rules || !self.requirements.remarks {
            return;
        }
        if !self.knows("kata-set-rules") {
            let rules = self.requirements.rules_name();
            eprintln!("{name}: it has no command kata-set-rules; the match assumes that it plays by the rules {rules}");
        } else if !self.knows("kata-set-rule") {
            eprintln!("{name}: it has no command kata-set-rule, so it does not receive the no-capture limit");
        }
    }

    fn knows(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known == command)
    }

    fn unsupported(&self, problem: &str) -> PlayerError {
        PlayerError::Unsupported(format!("{:?}: {problem}", self.setup.command.join(" ")))
    }

    /// Sends a command that the program must not refuse, and returns the answer.
    fn command(&mut self, text: &str) -> Result<String, PlayerError> {
        self.answer(text)?.map_err(|answer| PlayerError::Crash(format!("{text:?} was answered by {answer:?}")))
    }

    /// Sends a command without which the program cannot play these games.
    fn require(&mut self, text: &str) -> Result<(), PlayerError> {
        let answer = self.answer(text)?;
        answer.map(drop).map_err(|answer| self.unsupported(&format!("{text:?} was answered by {answer:?}")))
    }

    /// Sends a command and returns the answer, within [`HANDSHAKE`].
    fn answer(&mut self, text: &str) -> Result<Answer, PlayerError> {
        self.ask(text, Instant::now() + HANDSHAKE, None).map_err(|error| match error {
            PlayerError::Timeout => {
                PlayerError::Crash(format!("no answer to {text:?} within {} s", HANDSHAKE.as_secs()))
            }
            error => error,
        })
    }

    /// Sends a command and reads the answer, which ends with an empty line.
    fn ask(&mut self, text: &str, deadline: Instant, stop: Option<&AtomicBool>) -> Result<Answer, PlayerError> {
        let process =
            self.process.as_mut().ok_or_else(|| PlayerError::Crash("the program is not running".to_owned()))?;
        process.send(text)?;
        let mut answer = String::new();
        loop {
            let line = process.line(deadline, stop)?;
            match line.trim() {
                "" if answer.is_empty() => {}
                "" => break,
                line => {
                    answer.push_str(line);
                    answer.push(' ');
                }
            }
        }
        match answer.strip_prefix('=') {
            Some(rest) => Ok(Ok(rest.trim().to_owned())),
            None => Ok(Err(answer.trim().to_owned())),
        }
    }

    /// Sends the rules of a game, if they are others than before.
    fn send_rules(&mut self, (rules, limit): (RuleOptions, Option<u32>)) -> Result<(), PlayerError> {
        if self.requirements.assume_rules || self.sent_rules == Some((rules, limit)) {
            return Ok(());
        }
        // A move of the last game may be against the new rules.
        self.command("clear_board")?;
        self.sent_game = None;
        if self.knows("kata-set-rules")
            && let Err(answer) = self.answer(&format!("kata-set-rules {rules}"))?
        {
            let name = self.requirements.rules_name();
            let text = format!("it refuses the rules {name} ({answer}); if it plays by them, add --assume-rules");
            return Err(self.unsupported(&text));
        }
        if self.knows("kata-set-rule") {
            let limit = limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
            // The limit is a rule of this program, which others may not know.
            let _ = self.answer(&format!("kata-set-rule no-capture-limit {limit}"))?;
        }
        self.sent_rules = Some((rules, limit));
        Ok(())
    }

    /// Sends the position of the game to the program.
    fn set_position(&mut self, game: &Game) -> Result<(), PlayerError> {
        self.send_rules((*game.rules().options(), game.no_capture_limit()))?;
        let start = game.start_fen();
        let follows = |(fen, moves): &(Fen, Vec<Move>)| *fen == start && game.moves().starts_with(moves);
        if !self.sent_game.as_ref().is_some_and(follows) {
            self.command(&format!("setfen {}", Dialect::Katago.format_fen(&start.clone().into())))?;
            self.sent_game = Some((start, Vec::new()));
        }
        let done = self.sent_game.as_ref().map_or(0, |(_, moves)| moves.len());
        for (&mv, position) in game.moves().iter().zip(game.positions()).skip(done) {
            let color = color_letter(position.turn());
            let [from, to] = [mv.from, mv.to].map(|square| Dialect::Katago.format_square(square));
            if self.setup.two_stage {
                self.command(&format!("play {color} {from}"))?;
                self.command(&format!("play {color} {to}"))?;
            } else {
                self.command(&format!("play {color} {from}{to}"))?;
            }
        }
        self.sent_game = Some((game.start_fen(), game.moves().to_vec()));
        Ok(())
    }

    /// Sends the limit of the moves, if it is another than before.
    fn set_limit(&mut self, control: TimeControl) -> Result<(), PlayerError> {
        if self.sent_limit == Some(control) {
            return Ok(());
        }
        match control {
            TimeControl::Depth(_) => return Err(self.unsupported("GTP has no limit of depth")),
            TimeControl::Nodes(nodes) => self.require(&format!("kata-set-param maxVisits {nodes}"))?,
            TimeControl::MoveTime(time) => {
                // Each of the stages is a separate search.
                let stages = if self.setup.two_stage { 2.0 } else { 1.0 };
                self.require(&format!("kata-set-param maxTime {}", time.as_secs_f64() / stages))?;
            }
            TimeControl::Clock { base, increment } => {
                // Canadian byo-yomi of one move is GTP's closest equivalent to an increment.
                let stones = u8::from(!increment.is_zero());
                let settings = |base: f64, increment: f64| format!("time_settings {base} {increment} {stones}");
                let (base, increment) = (base.as_secs_f64(), increment.as_secs_f64());
                let refused = match self.answer(&settings(base, increment))? {
                    Ok(_) => self.answer("time_left b 0.5 0")?.is_err(),
                    Err(_) => true,
                };
                if refused && (base.fract() != 0.0 || increment.fract() != 0.0) {
                    return Err(self.unsupported("it reads only whole seconds; choose a clock of whole seconds"));
                }
                if refused {
                    self.whole_seconds = true;
                    self.require(&settings(base, increment))?;
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
        self.set_position(game)?;
        self.set_limit(turn.control)?;
        if let TimeControl::Clock { .. } = turn.control {
            self.command(&self.time_left(color, turn.clocks[color]))?;
        }
        let deadline = Instant::now() + turn.patience(color);
        let command = format!("genmove {}", color_letter(color));
        let mut text = String::new();
        for _ in 0..if self.setup.two_stage { 2 } else { 1 } {
            let answer = self.ask(&command, deadline, Some(stop))?;
            let answer =
                answer.map_err(|answer| PlayerError::Crash(format!("{command:?} was answered by {answer:?}")))?;
            match &*answer.to_ascii_lowercase() {
                "resign" => return Err(PlayerError::Resigned),
                "pass" => return Err(PlayerError::IllegalMove("genmove: a player must not pass".to_owned())),
                _ => text.push_str(&answer),
            }
        }
        let illegal = |problem: String| PlayerError::IllegalMove(format!("genmove: {text}: {problem}"));
        let written = Dialect::Katago.parse_move(&text).map_err(|error| illegal(error.to_string()))?;
        let mv = game.legal_moves().into_iter().find(|&mv| UciMove::from(mv) == written);
        let mv = mv.ok_or_else(|| illegal("it is not legal here".to_owned()))?;
        if let Some((_, moves)) = &mut self.sent_game {
            moves.push(mv);
        }
        Ok(Choice { mv, score: None, depth: None, nodes: None })
    }
}

impl Player for GtpProgram {
    fn new_game(&mut self, _: u64) -> Result<(), PlayerError> {
        self.sent_game = None;
        if self.process.is_none() { self.begin() } else { self.command("clear_board").map(|_| ()) }
    }

    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let chosen = self.try_choose(game, turn, stop);
        match &chosen {
            // The program answered, so the next game uses the same process.
            Ok(_) => {}
            Err(PlayerError::IllegalMove(_) | PlayerError::Resigned) => self.sent_game = None,
            Err(_) => {
                if let Some(mut process) = self.process.take() {
                    process.kill();
                }
            }
        }
        chosen
    }
}
