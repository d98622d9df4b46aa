//! A GTP program as a player. Squares, letters and colours follow KataGomo: `b` is the side that begins, which is White
//! here. A move is two vertices, in one word (`A3B3`) or, in two stages, in two commands.

use super::player::{Choice, Player, PlayerError, Turn};
use super::process::{HANDSHAKE, Process};
use super::time_control::TimeControl;
use doushouqi::board::{Color, Fen, Move};
use doushouqi::formats::Dialect;
use doushouqi::game::Game;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

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
    /// `None` after a crash.
    process: Option<Process>,
    /// The game that was sent to the program.
    sent_game: Option<(Fen, Vec<Move>)>,
    /// The limit that was sent to the program.
    sent_limit: Option<TimeControl>,
}

/// The letter of a side.
fn color_letter(color: Color) -> &'static str {
    match color {
        Color::White => "b",
        Color::Black => "w",
    }
}

impl GtpProgram {
    pub(super) fn start(setup: GtpSetup) -> Result<GtpProgram, PlayerError> {
        let mut program = GtpProgram { setup, process: None, sent_game: None, sent_limit: None };
        program.begin()?;
        Ok(program)
    }

    fn begin(&mut self) -> Result<(), PlayerError> {
        self.process = Some(Process::start(&self.setup.command, "quit")?);
        (self.sent_game, self.sent_limit) = (None, None);
        self.command("protocol_version")?;
        Ok(())
    }

    /// Sends a command and returns the answer, within [`HANDSHAKE`].
    fn command(&mut self, text: &str) -> Result<String, PlayerError> {
        self.ask(text, Instant::now() + HANDSHAKE, None).map_err(|error| match error {
            PlayerError::Timeout => {
                PlayerError::Crash(format!("no answer to {text:?} within {} s", HANDSHAKE.as_secs()))
            }
            error => error,
        })
    }

    /// Sends a command and reads the answer, which ends with an empty line.
    fn ask(&mut self, text: &str, deadline: Instant, stop: Option<&AtomicBool>) -> Result<String, PlayerError> {
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
            Some(rest) => Ok(rest.trim().to_owned()),
            None => Err(PlayerError::Crash(format!("{text:?} was answered by {:?}", answer.trim()))),
        }
    }

    /// Sends the position of the game to the program.
    fn set_position(&mut self, game: &Game) -> Result<(), PlayerError> {
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

    fn set_limit(&mut self, turn: &Turn, color: Color) -> Result<(), PlayerError> {
        if let TimeControl::Clock { base, increment } = turn.control {
            if self.sent_limit != Some(turn.control) {
                // Canadian byo-yomi of one move is GTP's closest equivalent to an increment.
                let (base, increment) = (base.as_secs_f64().ceil(), increment.as_secs_f64().floor());
                self.command(&format!("time_settings {base} {increment} {}", u8::from(increment > 0.0)))?;
            }
            self.command(&format!("time_left {} {} 0", color_letter(color), turn.clocks[color].as_secs()))?;
        } else if self.sent_limit != Some(turn.control) {
            match turn.control {
                TimeControl::Nodes(nodes) => self.command(&format!("kata-set-param maxVisits {nodes}"))?,
                TimeControl::MoveTime(time) => {
                    // Each of the stages is a separate search.
                    let stages = if self.setup.two_stage { 2.0 } else { 1.0 };
                    self.command(&format!("kata-set-param maxTime {}", time.as_secs_f64() / stages))?
                }
                _ => return Err(PlayerError::Crash("GTP has no limit of depth".to_owned())),
            };
        }
        self.sent_limit = Some(turn.control);
        Ok(())
    }

    fn try_choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let color = game.position().turn();
        self.set_position(game)?;
        self.set_limit(turn, color)?;
        let deadline = Instant::now() + turn.patience(color);
        let command = format!("genmove {}", color_letter(color));
        let mut text = self.ask(&command, deadline, Some(stop))?;
        if self.setup.two_stage {
            text.push_str(&self.ask(&command, deadline, Some(stop))?);
        }
        let illegal = |problem: String| PlayerError::IllegalMove(format!("genmove: {text}: {problem}"));
        let squares = Dialect::Katago.parse_squares(&text).map_err(|error| illegal(error.to_string()))?;
        let mv = game.legal_moves().into_iter().find(|mv| (mv.from, mv.to) == squares);
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
            Err(PlayerError::IllegalMove(_)) => self.sent_game = None,
            Err(_) => {
                if let Some(mut process) = self.process.take() {
                    process.kill();
                }
            }
        }
        chosen
    }
}
