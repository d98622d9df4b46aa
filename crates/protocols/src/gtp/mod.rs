//! The Go Text Protocol (GTP, version 2), with the squares, letters and colours of KataGomo's AnimalChess: vertices are
//! `A1` to `G9`, the panther is `J`, and `b` is the side that begins, which is White in this program.
//!
//! | command | effect |
//! |---|---|
//! | `protocol_version`, `name`, `version`, `known_command`, `list_commands`, `quit` | as in GTP |
//! | `boardsize 7 9`, `clear_board`, `komi` | the initial position; other sizes are errors; komi has no effect |
//! | `setfen BOARD w\|b` | a position; `w` is the side with the capitals, which begins a game |
//! | `play COLOR MOVE`, `genmove COLOR`, `undo` | a move is `A3B3` |
//! | `showboard`, `final_score` | the board; `B+1`, `W+1` or `0` of a game that is over |
//! | `time_settings MAIN BYO_YOMI STONES` | seconds, for each side; each `genmove` takes its time off |
//! | `time_left COLOR TIME STONES` | seconds, before a move |
//! | `kata-set-param maxVisits\|maxTime N` | nodes or seconds for each search |
//! | `kata-set-rules RULES` | rule options, such as `chinese` or `paper,shore=none`; the game goes on under them |
//! | `kata-set-rule KEY VALUE` | one rule option, or `no-capture-limit` (plies, or `none`); the game goes on under it |
//! | `kata-analyze`, `lz-analyze` `[COLOR] [INTERVAL] [KEY N ...]` | reports every INTERVAL hundredths of a second, by default a second, until the next line; keys are `interval`, `minmoves`, `maxmoves` |
//! | `stop` | nothing: like every line, it ends an analysis |
//!
//! A report is a line as KataGo or Leela Zero writes it, with `info move M visits N winrate W ... lcb W order I pv ...`
//! for each move. `visits` are the nodes of the whole search, at least `maxVisits` once it has ended by itself, `winrate`
//! the expected points of the side to move ([`Score::chances`](doushouqi::search::Score::chances)), and `lcb` the same;
//! `scoreMean` is the chance of a draw in percent, as KataGomo has it, and `scoreLead` the score in cats.
//!
//! What the GUI Dandelion-Chess sends, too: `mc N` (the no-capture limit, 0 for none), `mm N` (`move-limit`, 0 for none),
//! `kata-set-rule scoring 0` to `3` (KataGomo's variants: 2 and 3 let lions and tigers leap over an own rat, 1 and 3 let
//! rats take each other across the shore), `drawjudge` (`DRAW`, `COUNT`, `WEIGHT`: the rule `judge`), `looprule` (`none`,
//! `seventhree`, `fivetwo`, `twoone`, `repeatend`: the rule `loop`, with `repetition=none`), and `kata-set-param
//! playoutDoublingAdvantage X`, which has no effect.
//!
//! Moves may follow a draw by repetition or by a limit, since another site may not declare it: `genmove` then searches as
//! if the positions so far did not count as repeated, or without a limit.
//!
//! With moves in two stages, as in KataGomo, a move is two `play` or two `genmove` commands: the square that the piece
//! leaves, then the square that it enters.

mod analysis;

use crate::SessionError;
use analysis::{Analysis, Arguments, Request, Style};
use doushouqi::board::{ByColor, Color, Move, Position, RuleOptions, Rules, Square, UciMove};
use doushouqi::formats::Dialect;
use doushouqi::game::Game;
use doushouqi::search::{Clock, Engine, EngineOptions, Limits};
use std::io::{BufRead, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The settings that GTP starts with.
#[derive(Clone, Debug)]
pub struct GtpOptions {
    /// The engine.
    pub engine: EngineOptions,
    /// The rules.
    pub rules: Rules,
    /// The plies without a capture after which a game is drawn; `None` is no limit.
    pub no_capture_limit: Option<u32>,
    /// The limits of a search, until a command changes them.
    pub limits: Limits,
    /// Whether a move takes two commands.
    pub two_stage: bool,
}

const COMMANDS: [&str; 26] = [
    "protocol_version",
    "name",
    "version",
    "known_command",
    "list_commands",
    "quit",
    "boardsize",
    "rectangular_boardsize",
    "clear_board",
    "komi",
    "setfen",
    "play",
    "genmove",
    "undo",
    "showboard",
    "final_score",
    "time_settings",
    "time_left",
    "kata-set-param",
    "kata-set-rules",
    "kata-set-rule",
    "kata-analyze",
    "lz-analyze",
    "stop",
    "mm",
    "mc",
];

/// The longest accepted time, in seconds.
const LONGEST: f64 = 1e6;

/// Answers commands until `quit` or the end of the input. An analysis runs in its own thread.
///
/// # Errors
/// If the input cannot be read or the output cannot be written.
pub fn run(input: impl BufRead, output: impl Write + Send, options: GtpOptions) -> Result<(), SessionError> {
    let output = Mutex::new(output);
    let write = |text: &str| {
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(SessionError::Output)
    };
    std::thread::scope(|scope| {
        let mut gtp = Gtp::new(options);
        let mut analysis: Option<Analysis<'_>> = None;
        let read = || -> Result<(), SessionError> {
            for line in input.split(b'\n') {
                if let Some(running) = analysis.take() {
                    gtp.engine = running.end();
                    write("\n")?;
                }
                let line = line.map_err(SessionError::Input)?;
                let text = clean(&line);
                let mut words = text.split_whitespace().peekable();
                let id = words.next_if(|word| word.bytes().all(|b| b.is_ascii_digit())).unwrap_or_default();
                let Some(command) = words.next() else { continue };
                let arguments: Vec<&str> = words.collect();
                let request = match command {
                    "kata-analyze" | "lz-analyze" => Some(gtp.analyze(command == "lz-analyze", &arguments)),
                    _ => None,
                };
                let answer = match request {
                    Some(Ok(request)) => {
                        write(&format!("={id} \n"))?;
                        let engine = gtp.take_engine();
                        analysis =
                            Some(Analysis::start(scope, request, engine, &output).map_err(SessionError::Thread)?);
                        continue;
                    }
                    Some(Err(problem)) => Err(problem),
                    None => gtp.command(command, &arguments),
                };
                write(
                    &answer.map_or_else(|problem| format!("?{id} {problem}\n\n"), |text| format!("={id} {text}\n\n")),
                )?;
                if command == "quit" {
                    break;
                }
            }
            Ok(())
        };
        let done = read();
        if let Some(running) = analysis {
            running.end();
            return done.and_then(|()| write("\n"));
        }
        done
    })
}

/// A line as text, without comment and control characters.
fn clean(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    // Windows begins a text with a byte order mark.
    let text = text.trim_start_matches('\u{feff}').split('#').next().unwrap_or_default().replace('\t', " ");
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// The first half of a move in two stages.
#[derive(Copy, Clone)]
struct Stage {
    from: Square,
    /// The target square that `genmove` has chosen.
    to: Option<Square>,
}

/// A time, as in `time_left`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct TimeLeft {
    time: Duration,
    /// The moves that byo-yomi gives this time for; 0 in main time.
    stones: u32,
}

impl TimeLeft {
    fn parse(time: &str, stones: &str) -> Result<TimeLeft, String> {
        let stones = stones.parse().map_err(|_| "stones are a number".to_owned())?;
        Ok(TimeLeft { time: seconds(time)?, stones })
    }

    /// The clock of a search in a game with this byo-yomi.
    fn clock(self, byo_yomi: TimeLeft) -> Clock {
        if self.stones > 0 {
            return Clock { remaining: self.time, increment: Duration::ZERO, moves_to_go: Some(self.stones) };
        }
        let increment = byo_yomi.time.checked_div(byo_yomi.stones).unwrap_or_default();
        Clock { remaining: self.time, increment, moves_to_go: None }
    }

    /// The time after a move that took so long, in a game with this byo-yomi.
    fn after(self, spent: Duration, byo_yomi: TimeLeft) -> TimeLeft {
        let left = TimeLeft { time: self.time.saturating_sub(spent), ..self };
        match self.stones {
            // The main time is over: the rest of the move is the first of byo-yomi.
            0 if left.time.is_zero() && byo_yomi.stones > 0 => byo_yomi.after(spent - self.time, byo_yomi),
            0 => left,
            1 if byo_yomi.stones > 0 => byo_yomi,
            stones => TimeLeft { stones: (stones - 1).max(1), ..left },
        }
    }
}

struct Gtp {
    options: GtpOptions,
    /// The engine, created on demand; `None` also while it analyzes.
    engine: Option<Engine>,
    game: Game,
    stage: Option<Stage>,
    /// The time of each side, if it is limited.
    time_left: ByColor<Option<TimeLeft>>,
    /// The time that each side begins a game with; `None` if it is not limited.
    first: Option<TimeLeft>,
    /// A period of byo-yomi; without stones there is none.
    byo_yomi: TimeLeft,
}

impl Gtp {
    fn new(options: GtpOptions) -> Gtp {
        let engine = Some(Engine::new(options.engine.clone()));
        let game = Game::new(Position::start(), options.rules.clone(), options.no_capture_limit);
        let byo_yomi = TimeLeft { time: Duration::ZERO, stones: 0 };
        Gtp { options, engine, game, stage: None, time_left: ByColor::default(), first: None, byo_yomi }
    }

    fn take_engine(&mut self) -> Engine {
        self.engine.take().unwrap_or_else(|| Engine::new(self.options.engine.clone()))
    }

    fn engine(&mut self) -> &mut Engine {
        let engine = self.take_engine();
        self.engine.insert(engine)
    }

    fn command(&mut self, command: &str, arguments: &[&str]) -> Result<String, String> {
        let done = |()| String::new();
        match (command, arguments) {
            ("protocol_version", []) => Ok("2".to_owned()),
            ("name", []) => Ok("doushouqi".to_owned()),
            ("version", []) => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            ("known_command", [name]) => Ok(COMMANDS.contains(name).to_string()),
            ("list_commands", []) => Ok(COMMANDS.join("\n")),
            ("quit", []) => Ok(String::new()),
            ("boardsize" | "rectangular_boardsize", ["7", "9"]) | ("clear_board", []) => {
                self.begin(Position::start());
                self.engine().new_game();
                Ok(String::new())
            }
            ("boardsize" | "rectangular_boardsize", _) => Err("unacceptable size: the board is 7 9".to_owned()),
            ("komi", [_]) => Ok(String::new()),
            ("setfen", _) => {
                let fen = Dialect::Katago.parse_fen(&arguments.join(" ")).map_err(|error| error.to_string())?;
                self.begin(fen.fen.position);
                Ok(String::new())
            }
            ("play", [color, text]) => self.play(color, text).map(done),
            ("genmove", [color]) => self.generate(color),
            ("undo", []) => {
                let half = self.stage.take().is_some();
                if half || self.game.undo().is_some() { Ok(String::new()) } else { Err("cannot undo".to_owned()) }
            }
            ("showboard", []) => Ok(format!(
                "\n{}{}",
                self.game.position().to_picture(),
                Dialect::Katago.format_fen(&self.game.fen().into())
            )),
            ("final_score", []) => match self.game.end().map(|end| end.winner()) {
                None => Err("cannot score: the game is not over".to_owned()),
                Some(None) => Ok("0".to_owned()),
                Some(Some(Color::White)) => Ok("B+1".to_owned()),
                Some(Some(Color::Black)) => Ok("W+1".to_owned()),
            },
            ("time_settings", [main, byo_yomi, stones]) => {
                let main = TimeLeft { time: seconds(main)?, stones: 0 };
                self.byo_yomi = TimeLeft::parse(byo_yomi, stones)?;
                // In GTP, byo-yomi without stones means no limit.
                let limited = self.byo_yomi.stones > 0 || self.byo_yomi.time.is_zero();
                let first = if main.time.is_zero() { self.byo_yomi } else { main };
                self.first = limited.then_some(first);
                self.time_left = ByColor::from_fn(|_| self.first);
                Ok(String::new())
            }
            ("time_left", [color, time, stones]) => {
                self.time_left[side(color)?] = Some(TimeLeft::parse(time, stones)?);
                Ok(String::new())
            }
            ("kata-set-param", ["maxVisits", number]) => {
                let nodes = number.parse().ok().filter(|&nodes| nodes > 0);
                self.options.limits.nodes =
                    Some(nodes.ok_or_else(|| format!("maxVisits is a number, not {number:?}"))?);
                Ok(String::new())
            }
            ("kata-set-param", ["maxTime", number]) => {
                self.options.limits.movetime = Some(seconds(number)?);
                Ok(String::new())
            }
            ("kata-set-param", ["playoutDoublingAdvantage", number]) => {
                let known = number.parse().is_ok_and(|number: f64| (-3.0..=3.0).contains(&number));
                let problem = || "playoutDoublingAdvantage is a number from -3 to 3, and has no effect".to_owned();
                known.then(String::new).ok_or_else(problem)
            }
            ("kata-set-param", _) => {
                Err("the parameters are maxVisits, maxTime and playoutDoublingAdvantage".to_owned())
            }
            ("stop", []) => Ok(String::new()),
            ("mc", [plies]) => self.set_rule("no-capture-limit", plies).map(done),
            ("kata-set-rules", [rules]) => self.set_rules(rules).map(done),
            ("mm", [plies]) => self.set_rule("mm", plies).map(done),
            ("kata-set-rule", [key, value]) => self.set_rule(key, value).map(done),
            _ if COMMANDS.contains(&command) => Err("wrong arguments".to_owned()),
            _ => Err("unknown command".to_owned()),
        }
    }

    fn begin(&mut self, position: Position) {
        self.game = Game::new(position, self.options.rules.clone(), self.options.no_capture_limit);
        self.stage = None;
        self.time_left = ByColor::from_fn(|_| self.first);
    }

    fn set_rules(&mut self, text: &str) -> Result<(), String> {
        let options: RuleOptions = text.parse().map_err(|error| format!("{error}"))?;
        self.continue_under(Rules::new(options), self.options.no_capture_limit)
    }

    /// Sets a rule of this program or of KataGomo.
    fn set_rule(&mut self, key: &str, value: &str) -> Result<(), String> {
        let rules = *self.options.rules.options();
        let (mut no_capture_limit, mut set) = (self.options.no_capture_limit, Vec::new());
        let unknown = || format!("{key} {value} is not one of the rules here");
        let named = |rules: &[(&str, &'static str)]| {
            let rule = rules.iter().find(|(name, _)| name.eq_ignore_ascii_case(value));
            rule.map(|(_, rule)| *rule).ok_or_else(unknown)
        };
        match (key, value) {
            ("no-capture-limit", "none") => no_capture_limit = None,
            ("no-capture-limit", plies) => {
                let plies: u32 = plies.parse().map_err(|_| "the limit is a number of plies, or none".to_owned())?;
                no_capture_limit = (plies > 0).then_some(plies);
            }
            ("scoring", "0" | "1" | "2" | "3") => {
                set.push(("own-rat-blocks", if matches!(value, "0" | "1") { "yes" } else { "no" }));
                set.push(("shore", if matches!(value, "0" | "2") { "none" } else { "elephant-safe" }));
            }
            ("looprule", _) => set.extend([("repetition", "none"), ("loop", named(&LOOP_RULES)?)]),
            ("drawjudge", _) => set.push(("judge", named(&DRAW_JUDGES)?)),
            ("mm", plies) => set.push(("move-limit", if plies == "0" { "none" } else { plies })),
            ("scoring", _) => return Err(unknown()),
            _ => set.push((key, value)),
        }
        let rules = set.iter().try_fold(rules, |rules, (key, value)| rules.with(key, value));
        self.continue_under(Rules::new(rules.map_err(|error| error.to_string())?), no_capture_limit)
    }

    /// Continues the game under other rules.
    fn continue_under(&mut self, rules: Rules, no_capture_limit: Option<u32>) -> Result<(), String> {
        let game = self.game.under(rules.clone(), no_capture_limit);
        self.game = game.map_err(|error| format!("a move of this game is against these rules: {error}"))?;
        self.engine().prepare(&rules);
        (self.options.rules, self.options.no_capture_limit) = (rules, no_capture_limit);
        Ok(())
    }

    /// The side that a command names. It must be the side to move in a game that may go on.
    fn mover(&self, color: &str) -> Result<Color, String> {
        let color = side(color)?;
        if self.game.end().is_some_and(|end| !end.may_go_on()) {
            return Err("the game is over".to_owned());
        }
        if color != self.game.position().turn() {
            return Err("it is the other side's turn".to_owned());
        }
        Ok(color)
    }

    fn play(&mut self, color: &str, text: &str) -> Result<(), String> {
        let mover = self.mover(color)?;
        let text = text.to_ascii_uppercase();
        if self.options.two_stage {
            let square: Square = text.to_ascii_lowercase().parse().map_err(|_| format!("{text:?} is not a vertex"))?;
            let Some(Stage { from, .. }) = self.stage else {
                let own = self.game.position().side(mover).contains(square);
                let stage = own.then_some(Stage { from: square, to: None });
                self.stage = Some(stage.ok_or_else(|| format!("illegal move: no piece of yours is on {text}"))?);
                return Ok(());
            };
            self.stage = None;
            return self.make(UciMove { from, to: square });
        }
        self.make(Dialect::Katago.parse_move(&text).map_err(|error| error.to_string())?)
    }

    fn make(&mut self, mv: UciMove) -> Result<(), String> {
        let legal = self.game.played_on().legal_moves();
        let mv = legal.into_iter().find(|&legal| UciMove::from(legal) == mv);
        let mv = mv.ok_or_else(|| "illegal move".to_owned())?;
        self.game.play_on(mv).map_err(|error| format!("illegal move: {error}"))
    }

    /// The clock of the side to move; `None` if its time is not limited.
    fn clock(&self) -> Option<Clock> {
        let left = self.time_left[self.game.position().turn()];
        left.map(|left| left.clock(self.byo_yomi))
    }

    /// The legal moves; if `play` has named a piece, those of that piece.
    fn named_moves(&self, game: &Game) -> Vec<Move> {
        game.legal_moves().into_iter().filter(|mv| self.stage.is_none_or(|stage| stage.from == mv.from)).collect()
    }

    /// The analysis that `kata-analyze`, or `lz-analyze` with integers, asks for.
    fn analyze(&self, integers: bool, arguments: &[&str]) -> Result<Request, String> {
        let turn = self.game.position().turn();
        let (color, arguments) = match arguments.split_first() {
            Some((color, rest)) if side(color).is_ok() => (*color, rest),
            _ => (if turn == Color::White { "b" } else { "w" }, arguments),
        };
        let arguments = Arguments::parse(arguments)?;
        self.mover(color)?;
        let game = self.game.played_on();
        let moves = self.named_moves(&game);
        if moves.is_empty() {
            return Err("the piece has no move".to_owned());
        }
        let style = Style { integers, two_stage: self.options.two_stage, from: self.stage.map(|stage| stage.from) };
        Ok(Request { game, moves, style, nodes: self.options.limits.nodes, arguments })
    }

    fn generate(&mut self, color: &str) -> Result<String, String> {
        let start = Instant::now();
        let mover = self.mover(color)?;
        let game = self.game.played_on();
        let name = |square| Dialect::Katago.format_square(square);
        if let Some(Stage { from, to: Some(to) }) = self.stage {
            self.stage = None;
            self.make(UciMove { from, to })?;
            return Ok(name(to));
        }
        let named = self.named_moves(&game);
        let mut limits = self.options.limits.clock(self.clock());
        if limits == Limits::default() {
            limits.movetime = Some(Duration::from_secs(1));
        }
        let engine = self.engine();
        engine.set_multipv(1);
        let best = engine.search(&game, &limits).moves(&named).started(start).run().best();
        self.time_left[mover] = self.time_left[mover].map(|left| left.after(start.elapsed(), self.byo_yomi));
        let mv = best.ok_or_else(|| "the piece has no move".to_owned())?;
        if self.options.two_stage && self.stage.is_none() {
            self.stage = Some(Stage { from: mv.from, to: Some(mv.to) });
            return Ok(name(mv.from));
        }
        let half = self.stage.take().is_some();
        self.make(mv.into())?;
        Ok(if half { name(mv.to) } else { Dialect::Katago.format_move(mv) })
    }
}

/// The rules of KataGomo against loops, and the values of the option `loop`.
const LOOP_RULES: [(&str, &str); 5] =
    [("none", "none"), ("seventhree", "7-3-loses"), ("fivetwo", "5-2"), ("twoone", "2-1"), ("repeatend", "repeat-end")];

/// KataGomo's judges of draws, and the values of the option `judge`.
const DRAW_JUDGES: [(&str, &str); 3] = [("draw", "none"), ("count", "number"), ("weight", "weight")];

/// The side that a GTP colour names: black begins, as in Go.
fn side(color: &str) -> Result<Color, String> {
    match color.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Color::White),
        "w" | "white" => Ok(Color::Black),
        _ => Err(format!("a colour is b or w, not {color:?}")),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| (0.0..=LONGEST).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("{text:?} is not a number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::io::{self, Read};
    use std::sync::{Arc, Condvar};

    fn options(two_stage: bool) -> GtpOptions {
        GtpOptions {
            engine: EngineOptions::default().hash_mib(1),
            rules: Rules::default(),
            no_capture_limit: None,
            limits: Limits::default().depth(4),
            two_stage,
        }
    }

    fn answers(commands: &str, two_stage: bool) -> Vec<String> {
        let mut output = Vec::new();
        run(commands.as_bytes(), &mut output, options(two_stage)).unwrap();
        let text = String::from_utf8(output).unwrap();
        assert!(text.ends_with("\n\n"), "{text:?}");
        text.trim_end().split("\n\n").map(|answer| answer.trim_end().to_owned()).collect()
    }

    #[test]
    fn a_move_is_one_word_or_two_commands() {
        // The cat steps into the den.
        let den = "setfen 7/3C3/7/7/7/7/4e2/7/7 w\ngenmove b\n12 final_score\ngenmove w\n";
        assert_eq!(answers(den, false), ["=", "= D8D9", "=12 B+1", "? the game is over"]);
        let stages = den.replace("genmove b", "genmove b\ngenmove b");
        assert_eq!(answers(&stages, true), ["=", "= D8", "= D9", "=12 B+1", "? the game is over"]);
        let undone = answers("play b A3\nplay b B3\nplay w A3\nundo\nundo\nplay w A1", true);
        let expected = [
            "=",
            "=",
            "? illegal move: no piece of yours is on A3",
            "=",
            "? cannot undo",
            "? it is the other side's turn",
        ];
        assert_eq!(undone, expected);
        let named = answers("setfen 7/3C3/7/7/3E3/7/4e2/7/7 w\nplay b D5\ngenmove b", true);
        assert!(named[1] == "=" && named[2].len() == 4 && named[2] != "= D9", "{named:?}");
    }

    #[test]
    fn byo_yomi_is_time_for_its_stones() {
        let mut gtp = Gtp::new(options(false));
        let mut clock = |commands: &[&str]| {
            for command in commands {
                let words: Vec<&str> = command.split(' ').collect();
                assert_eq!(gtp.command(words[0], &words[1..]), Ok(String::new()), "{command}");
            }
            gtp.clock().map(|clock| {
                let [remaining, increment] = [clock.remaining, clock.increment].map(|time| time.as_secs());
                (remaining, increment, clock.moves_to_go)
            })
        };
        assert_eq!(clock(&["time_settings 60 0 0"]), Some((60, 0, None)));
        assert_eq!(clock(&["time_settings 60 10 5"]), Some((60, 2, None)));
        assert_eq!(clock(&["time_left b 7 3"]), Some((7, 0, Some(3))));
        assert_eq!(clock(&["time_left b 1 0"]), Some((1, 2, None)));
        assert_eq!(clock(&["time_settings 0 5 1"]), Some((5, 0, Some(1))));
        assert_eq!(clock(&["time_settings 60 10 0"]), None);
    }

    /// A move takes its time off the main time, then off the periods of byo-yomi.
    #[test]
    fn a_move_takes_its_time() {
        let left = |seconds: u64, stones| TimeLeft { time: Duration::from_secs(seconds), stones };
        let after = |time: TimeLeft, spent, byo_yomi| time.after(Duration::from_secs(spent), byo_yomi);
        let none = left(0, 0);
        assert_eq!(after(left(60, 0), 9, none), left(51, 0));
        assert_eq!(after(left(60, 0), 61, none), left(0, 0));
        let (period, each) = (left(10, 3), left(5, 1));
        assert_eq!(after(left(60, 0), 9, period), left(51, 0));
        assert_eq!(after(left(60, 0), 64, period), left(6, 2), "the move is the first of byo-yomi");
        assert_eq!(after(left(60, 0), 64, each), each);
        assert_eq!(after(left(6, 2), 1, period), left(5, 1));
        assert_eq!(after(left(5, 1), 4, period), period, "the next period begins");
        assert_eq!(after(left(5, 1), 9, period), period);
        assert_eq!(after(left(7, 3), 2, none), left(5, 2), "a period that only `time_left` has named");
        assert_eq!(after(left(5, 1), 2, none), left(3, 1));
    }

    /// `time_left` is optional: without it, each move is taken off the time of `time_settings`, which a new game restores.
    #[test]
    fn moves_take_time_without_time_left() {
        let mut gtp = Gtp::new(GtpOptions { limits: Limits::default().depth(2), ..options(false) });
        gtp.command("time_settings", &["60", "0", "0"]).unwrap();
        let whole = gtp.clock().unwrap().remaining;
        let mut least = ByColor::from_fn(|_| whole);
        for color in ["b", "w", "b", "w"] {
            let (turn, start) = (side(color).unwrap(), Instant::now());
            gtp.command("genmove", &[color]).unwrap();
            let left = gtp.time_left[turn].unwrap().time;
            assert!(left < least[turn] && least[turn] - left <= start.elapsed(), "{left:?} of {:?}", least[turn]);
            least[turn] = left;
        }
        gtp.command("time_left", &["b", "7", "0"]).unwrap();
        assert_eq!(gtp.time_left[Color::White], Some(TimeLeft { time: Duration::from_secs(7), stones: 0 }));
        gtp.command("clear_board", &[]).unwrap();
        assert!(Color::ALL.iter().all(|&color| gtp.time_left[color].unwrap().time == whole));
    }

    #[test]
    fn other_rules_keep_the_game() {
        let fen = "7/3C3/7/7/7/7/4e2/7/7 w";
        let kept = answers(&format!("setfen {fen}\nplay b D8C8\nkata-set-rules chinese\nundo\nshowboard"), false);
        assert!(kept[2] == "=" && kept[4].ends_with(fen), "{kept:?}");
        // Under the Chinese rules an elephant may not take a rat.
        let taken = "setfen 7/7/7/7/7/7/r6/E6/6l b\nplay w G1G2\nplay b A2A3";
        let refused = answers(&format!("{taken}\nkata-set-rules chinese\nplay w G2G1"), false);
        assert!(refused[3].starts_with("? ") && refused[4] == "=", "{refused:?}");
    }

    /// Another site may not declare the draws by repetition and by the no-capture limit.
    #[test]
    fn a_drawn_game_goes_on() {
        let cycle = "play b F3F2\nplay w F9F8\nplay b F2F3\nplay w F8F9\n";
        let start = "setfen 5l1/7/7/7/7/7/5E1/7/7 w\n";
        for rules in ["", "kata-set-rule repetition none\nkata-set-rule no-capture-limit 8\n"] {
            let drawn = format!("{rules}{start}{}final_score\n", cycle.repeat(2));
            for more in ["play b F3F2\nfinal_score", "genmove b\nfinal_score"] {
                let answers = answers(&format!("{drawn}{more}"), false);
                let [.., score, played, _] = &answers[..] else { panic!("{answers:?}") };
                assert!(score == "= 0" && played.starts_with('='), "{answers:?}");
            }
        }
        let unlimited = "kata-set-rule no-capture-limit none\nkata-set-rule repetition none\n";
        let answers = answers(&format!("{unlimited}{start}{}final_score", cycle.repeat(60)), false);
        assert_eq!(answers.last().unwrap(), "? cannot score: the game is not over");
    }

    /// Output that a conversation reads while it is written.
    #[derive(Clone, Default)]
    struct Shared(Arc<(Mutex<Vec<u8>>, Condvar)>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.0.lock().unwrap().extend(bytes);
            self.0.1.notify_all();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Shared {
        fn text(&self) -> String {
            String::from_utf8(self.0.0.lock().unwrap().clone()).unwrap()
        }
    }

    /// A program that sends each command once the answer to the one before contains a number of reports.
    struct Conversation {
        output: Shared,
        /// The reports to wait for, and the command after them.
        steps: VecDeque<(usize, &'static str)>,
        /// The length of the output at the last command.
        seen: usize,
        line: Vec<u8>,
    }

    impl Read for Conversation {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.fill_buf()?.read(buffer)?;
            self.consume(len);
            Ok(len)
        }
    }

    impl BufRead for Conversation {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            if self.line.is_empty()
                && let Some((reports, command)) = self.steps.pop_front()
            {
                let (written, changed) = &*self.output.0;
                let few = |text: &mut Vec<u8>| {
                    text[self.seen..].split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"info")).count()
                        < reports
                };
                self.seen = changed.wait_while(written.lock().unwrap(), few).unwrap().len();
                self.line = format!("{command}\n").into_bytes();
            }
            Ok(&self.line)
        }

        fn consume(&mut self, len: usize) {
            self.line.drain(..len);
        }
    }

    /// The answers to a conversation.
    fn conversation(steps: &[(usize, &'static str)], options: GtpOptions) -> Vec<String> {
        let output = Shared::default();
        let input =
            Conversation { output: output.clone(), steps: steps.iter().copied().collect(), seen: 0, line: Vec::new() };
        run(input, output.clone(), options).unwrap();
        let text = output.text();
        assert!(text.ends_with("\n\n"), "{text:?}");
        text.trim_end_matches('\n').split("\n\n").map(str::to_owned).collect()
    }

    /// The moves of a report with the numbers of each: the words after `keys`, which must come in this order.
    fn report<'a>(line: &'a str, keys: &[&str]) -> Vec<(&'a str, Vec<f64>, Vec<&'a str>)> {
        let of_move = |text: &'a str| {
            let (head, pv) = text.trim().split_once(" pv ").unwrap();
            let words: Vec<&str> = head.split(' ').collect();
            let places: Vec<usize> =
                keys.iter().map(|key| words.iter().position(|word| word == key).expect(key)).collect();
            assert!(places.is_sorted() && words[0] == "move", "{text}");
            (words[1], places.iter().map(|&i| words[i + 1].parse().unwrap()).collect(), pv.split(' ').collect())
        };
        line.strip_prefix("info ").expect(line).split("info ").map(of_move).collect()
    }

    /// What the GUI Dandelion-Chess sends when it starts, and when its user selects and moves the elephant; it reads the
    /// fields of a report in this order, and takes a line with `illegal` for a reason to begin again.
    #[test]
    fn dandelion_chess_gets_its_candidates() {
        let analyze = "kata-analyze interval 20";
        let fen = "setfen l5t/1d3c1/r1j1w1e/7/7/7/E1W1J1R/1C3D1/T5L w";
        let start = [
            "showboard",
            analyze,
            fen,
            "mm 300",
            "mc 0",
            analyze,
            fen,
            "komi 0.0",
            "kata-set-param playoutDoublingAdvantage 0.0",
            analyze,
            fen,
            "kata-set-rule scoring 0",
            analyze,
            fen,
            "kata-set-rule drawjudge WEIGHT",
            analyze,
            fen,
            "kata-set-rule looprule seventhree",
            "",
        ];
        let mut steps: Vec<(usize, &str)> = start.map(|command| (0, command)).to_vec();
        steps.extend([
            (0, analyze),
            (2, "play B A3"),
            (0, ""),
            (0, analyze),
            (1, "play B A4"),
            (0, analyze),
            (1, "stop"),
            (0, "undo"),
            (0, "quit"),
        ]);
        let options =
            GtpOptions { limits: Limits::default(), rules: Rules::new("chinese".parse().unwrap()), ..options(true) };
        let answers = conversation(&steps, options);
        let asked: Vec<&str> =
            steps.iter().map(|&(_, command)| command).filter(|command| !command.is_empty()).collect();
        // `showboard` has an empty line in its answer, as in KataGo.
        let answers = &answers[answers.len() - asked.len()..];
        for (command, answer) in asked.iter().zip(answers) {
            assert!(answer.starts_with('=') && !answer.contains("illegal"), "{command}: {answer}");
            assert!(!answer.contains("info") || *command == analyze, "{command}: {answer}");
        }
        let keys = ["visits", "winrate", "scoreMean", "scoreLead", "lcb", "order"];
        let last = |n: usize| {
            let analyses: Vec<&String> = asked
                .iter()
                .zip(answers)
                .filter(|(command, _)| **command == analyze)
                .map(|(_, answer)| answer)
                .collect();
            report(analyses[analyses.len() - n].lines().last().unwrap(), &keys)
        };
        // First the squares of pieces, each once; then the squares that the elephant enters; then the other side's pieces.
        let position = Position::start();
        let squares = |report: &[(&str, Vec<f64>, Vec<&str>)]| -> Vec<Square> {
            report.iter().map(|(square, ..)| square.to_lowercase().parse().unwrap()).collect()
        };
        let (pieces, targets, others) = (last(3), last(2), last(1));
        assert!(
            pieces.len() > 1 && squares(&pieces).iter().all(|&square| position.side(Color::White).contains(square))
        );
        assert!(
            squares(&pieces).iter().all(|square| squares(&pieces).iter().filter(|other| *other == square).count() == 1)
        );
        assert!(
            squares(&targets).iter().all(|square| ["a2", "a4", "b3"].contains(&&*square.to_string()))
                && targets.len() == 3
        );
        assert!(squares(&others).iter().all(|&square| position.side(Color::Black).contains(square)));
        for (number, report) in [pieces, targets, others].into_iter().enumerate() {
            let win_rates: Vec<f64> = report.iter().map(|(_, values, _)| values[1]).collect();
            assert!(win_rates.is_sorted_by(|a, b| a >= b), "{win_rates:?}");
            for (order, (square, values, pv)) in report.iter().enumerate() {
                let [visits, win_rate, draws, _, lcb, rank] = values[..] else { panic!("{values:?}") };
                assert!(
                    visits >= 1.0
                        && (0.0..=1.0).contains(&win_rate)
                        && lcb == win_rate
                        && (0.0..=100.0).contains(&draws)
                );
                assert_eq!((rank, pv[0]), (order as f64, *square));
                // The line begins with a move: two squares, or the second one if the first is chosen.
                let from = if number == 1 { "A3" } else { square };
                let to = if number == 1 { square } else { pv[1] };
                let mv = format!("{from}{to}").to_lowercase();
                let mut game = Game::new(position.clone(), Rules::new("chinese".parse().unwrap()), None);
                if number == 2 {
                    game.play(game.parse("a3a4").unwrap()).unwrap();
                }
                assert!(game.parse(&mv).is_ok(), "{mv}");
            }
        }
    }

    /// A report has integers for `lz-analyze`; the number of moves, the side and the visits are as asked for.
    #[test]
    fn analyses_take_arguments() {
        let den = "setfen 7/3C3/7/7/7/7/4e2/7/7 w";
        let steps = [
            (0, den),
            (0, "7 lz-analyze b 1 maxmoves 2"),
            (1, "kata-set-param maxVisits 500"),
            (0, "kata-analyze 1 maxmoves 1"),
            (3, "name"),
            (0, "quit"),
        ];
        let answers = conversation(&steps, GtpOptions { limits: Limits::default(), ..options(false) });
        assert!(answers[1].starts_with("=7 \ninfo move D8D9 visits "), "{}", answers[1]);
        let best = report(answers[1].lines().last().unwrap(), &["visits", "winrate", "lcb", "order"]);
        assert!(best.len() == 2 && best[0].1[1] == 10_000.0 && best[0].2 == ["D8D9"], "{best:?}");
        let limited = report(answers[3].lines().last().unwrap(), &["visits", "winrate"]);
        assert!(limited.len() == 1 && limited[0].1 == [500.0, 1.0], "{limited:?}");
        assert_eq!(answers[4..], ["= doushouqi", "= "]);
        for wrong in ["w", "b 0 x", "interval", "interval x", "b 20 ownership true", "x 20", "interval 0"] {
            let refused = super::tests::answers(&format!("kata-analyze {wrong}\nlz-analyze {wrong}"), false);
            assert!(
                refused.len() == 2 && refused.iter().all(|answer| answer.starts_with("? ")),
                "{wrong}: {refused:?}"
            );
        }
        let over = super::tests::answers(&format!("{den}\nplay b D8D9\nkata-analyze"), false);
        assert_eq!(over[2], "? the game is over");
    }

    /// The rules of KataGomo's variants.
    #[test]
    fn variants_of_katagomo_are_rules() {
        let rules = |number: u8| {
            let mut gtp = Gtp::new(options(false));
            gtp.command("kata-set-rule", &["scoring", &number.to_string()]).unwrap();
            let rules = *gtp.options.rules.options();
            rules.values().map(|(option, value)| format!("{}={value}", option.key)).collect::<Vec<_>>()
        };
        for (number, blocks, shore) in
            [(0, "yes", "none"), (1, "yes", "elephant-safe"), (2, "no", "none"), (3, "no", "elephant-safe")]
        {
            let rules = rules(number);
            assert!(
                [format!("own-rat-blocks={blocks}"), format!("shore={shore}")].iter().all(|rule| rules.contains(rule)),
                "{rules:?}"
            );
        }
        let mut gtp = Gtp::new(options(false));
        assert_eq!(gtp.command("mc", &["200"]), Ok(String::new()));
        assert_eq!(gtp.options.no_capture_limit, Some(200));
        assert_eq!(gtp.command("mc", &["0"]), Ok(String::new()));
        assert_eq!(gtp.options.no_capture_limit, None);
        let sets = |gtp: &mut Gtp, key: &str, value: &str, spelled: &str| {
            assert_eq!(gtp.command("kata-set-rule", &[key, value]), Ok(String::new()), "{key} {value}");
            let rules = gtp.options.rules.options().to_string();
            assert!(rules.ends_with(spelled), "{key} {value}: {rules}");
        };
        sets(&mut gtp, "looprule", "twoone", "repetition=none,loop=2-1");
        sets(&mut gtp, "looprule", "repeatend", "repetition=none,loop=repeat-end");
        sets(&mut gtp, "drawjudge", "COUNT", "loop=repeat-end,judge=number");
        sets(&mut gtp, "mm", "300", "judge=number,move-limit=300");
        let refused = gtp.command("kata-set-rule", &["repetition", "illegal"]).unwrap_err();
        assert!(refused.contains("contradict each other"), "{refused}");
        sets(&mut gtp, "drawjudge", "draw", "loop=repeat-end,move-limit=300");
        sets(&mut gtp, "mm", "0", "loop=repeat-end");
        sets(&mut gtp, "looprule", "none", "repetition=none");
        for (key, value) in [("scoring", "4"), ("drawjudge", "x"), ("looprule", "x"), ("mm", "x"), ("mm", "7")] {
            assert!(gtp.set_rule(key, value).is_err(), "{key} {value}");
        }
    }

    #[test]
    fn wrong_commands_are_answered() {
        let commands = "boardsize 19\nplay b A3A4A5\nplay w A7A6\nplay b A3A9\nplay x A3A4\nundo\nfinal_score\ngenmove\n\
                        kata-set-param maxVisits -1\nkata-set-param maxVisits 0\nkata-set-param x 1\nsetfen 7/7 w\nkata-set-rules x\nkata-set-rule x y\nkata-set-rule repetition x\nkata-set-rule no-capture-limit -1\ntime_settings 1 -1 0\ntime_left x 1 0\nhello\n";
        for answer in answers(commands, false) {
            assert!(answer.starts_with("? "), "{answer}");
        }
        assert_eq!(answers("# nothing\n\n7 name\nquit\nname", false), ["=7 doushouqi", "="]);
        for command in answers("list_commands", false)[0].trim_start_matches("= ").lines() {
            assert_eq!(answers(&format!("known_command {command}"), false), ["= true"]);
            assert_ne!(answers(&format!("{command} a b c d e"), false), ["? unknown command"]);
        }
    }
}
