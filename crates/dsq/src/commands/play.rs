use crate::arguments::{LevelArgs, NoCaptureArg, game_start};
use crate::failure::{failure_of_match, failure_of_player};
use crate::games::{append, keep, notation, read_games, score_text, text_of, today};
use anstyle::{Ansi256Color, AnsiColor, Color as AnyColor, Style};
use clap::Args;
use cli::arguments::RulesArg;
use cli::failure::{Failure, Outcome};
use cli::input::lines;
use cli::progress::interrupt;
use doushouqi::board::geometry::{DEN, TRAPS, WATER};
use doushouqi::board::{ByColor, Color, File, Move, Piece, Position, Rank, Rules, Square};
use doushouqi::game::{Conclusion, Forfeit, ForfeitReason, Game, GameEnd, Record};
use doushouqi::search::{Engine, EngineOptions, Info, TableCache};
use matches::{Conditions, Player, PlayerSpec, Requirements, TimeControl, Turn, join_command_line};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Play against the engine, or let two engines play each other, on a board in the terminal.
///
/// Each side is `human` or a player as in `dsq match`: builtin:default, builtin:burnett, builtin:random, or the command
/// line of a UCI program. Moves are written as in the papers (Eb3, Txb1) or in coordinates (a3b3); `help` lists the
/// commands. The board has colours in a terminal, unless NO_COLOR is set.
///
/// A game that is left with `quit`, the end of the input or Ctrl-C is kept in a file; the command prints how to go on
/// with it.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq play\n  dsq play --white builtin:default --black human --movetime 3000\n  \
                        dsq play --white human --black human --rules chinese\n  dsq play --game game.txt --depth 6")]
pub struct Play {
    /// The player of White.
    #[arg(long, value_name = "PLAYER", default_value = "human")]
    white: Seat,
    /// The player of Black.
    #[arg(long, value_name = "PLAYER", default_value = "builtin:default")]
    black: Seat,
    #[command(flatten)]
    level: LevelArgs,
    /// The first position, with an optional halfmove clock as third field.
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Continue the last game of this file, which also sets the rules and the no-capture limit.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fen", "rules", "no_capture_limit"])]
    game: Option<PathBuf>,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    no_capture: NoCaptureArg,
}

#[derive(Clone)]
enum Seat {
    Human,
    Engine(PlayerSpec),
}

impl std::str::FromStr for Seat {
    type Err = matches::MatchError;

    fn from_str(text: &str) -> Result<Seat, Self::Err> {
        if text == "human" { Ok(Seat::Human) } else { text.parse().map(Seat::Engine) }
    }
}

impl Seat {
    fn name(&self) -> &str {
        match self {
            Seat::Human => "human",
            Seat::Engine(spec) => spec.name(),
        }
    }
}

const HELP: &str = "\
Eb3, a3b3     a move: animal and square, or two squares
moves         the legal moves
hint          the engine's best move
eval          the engine's score of the position
undo          take back, to your last move
game          the moves so far
fen           the position as FEN
flip          turn the board
save FILE     add the game to a file
load FILE     continue the last game of a file
new           another game
resign        give up
on            play on after a draw by repetition or by a limit
quit          end, and keep the game";

impl Play {
    pub fn run(self) -> Outcome {
        let game = match &self.game {
            Some(path) => last_game(path)?.game,
            None => {
                Game::from_fen(game_start(self.fen.as_deref())?, Rules::new(self.rules.rules), self.no_capture.get())
            }
        };
        let control = self.level.or_a_second();
        let mut seats = ByColor { white: self.white, black: self.black };
        let (mut cache, stop) = (TableCache::default(), interrupt());
        let mut players = ByColor { white: None, black: None };
        for color in Color::ALL {
            if let Seat::Engine(spec) = &mut seats[color] {
                spec.load(&mut cache, game.rules().options()).map_err(failure_of_match)?;
                let requirements = Requirements {
                    rules: *game.rules().options(),
                    no_capture_limit: game.no_capture_limit(),
                    control,
                    patience: Duration::from_secs(60),
                    assume_rules: false,
                    remarks: true,
                };
                let player = spec.make(&requirements, stop);
                players[color] = Some(player.map_err(|e| failure_of_player(&e))?);
            }
        }
        // A human against an engine sees the board from its own side.
        let flipped = matches!((&seats.white, &seats.black), (Seat::Engine(_), Seat::Human));
        let engine = None;
        let mut local = LocalGame { game, forfeit: None, kept: true, seats, players, control, engine, flipped, stop };
        local.begin()?;
        local.run()
    }
}

/// Writes a line to stdout, without colours unless stdout is a terminal.
fn show(text: impl std::fmt::Display) -> Outcome {
    let mut stdout = anstream::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(Failure::Output)
}

fn last_game(path: &Path) -> Result<Record, Failure> {
    let games = read_games(path)?;
    games.into_iter().next_back().ok_or_else(|| Failure::Input(format!("{} has no game", path.display())))
}

/// The lines of standard input, which a thread reads, so that a signal is noticed while nobody writes.
fn read_input() -> Receiver<io::Result<String>> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        for line in lines(io::stdin().lock()) {
            let go_on = line.as_ref().map_or_else(|error| error.kind() == io::ErrorKind::InvalidData, |_| true);
            if sender.send(line).is_err() || !go_on {
                break;
            }
        }
    });
    receiver
}

/// The interval between checks for a signal while the program waits for a line.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

struct LocalGame {
    game: Game,
    forfeit: Option<Forfeit>,
    /// Whether the game is in a file, or has not begun.
    kept: bool,
    seats: ByColor<Seat>,
    players: ByColor<Option<Box<dyn Player>>>,
    control: TimeControl,
    /// The engine for hints, created for the first one.
    engine: Option<Engine>,
    flipped: bool,
    /// Set by Ctrl-C.
    stop: &'static AtomicBool,
}

impl LocalGame {
    fn run(mut self) -> Outcome {
        let rounds = self.rounds();
        let stopped = self.stop.load(Ordering::Relaxed);
        // Between engines, a game that has ended by itself is not left.
        let left = stopped || rounds.is_err() || self.has_people();
        let kept = if left { self.keep() } else { Ok(None) };
        match (rounds, kept) {
            (Ok(()), Ok(text)) if stopped => {
                let text = text.map_or_else(String::new, |text| format!("; {text}"));
                Err(Failure::Interrupted(format!("interrupted{text}")))
            }
            (Ok(()), Ok(text)) => text.map_or(Ok(()), show),
            (Err(failure), Ok(Some(text))) => {
                eprintln!("dsq: {text}");
                Err(failure)
            }
            (rounds, kept) => rounds.and(kept.map(drop)),
        }
    }

    fn has_people(&self) -> bool {
        Color::ALL.iter().any(|&color| self.players[color].is_none())
    }

    /// Plays and executes commands until the end.
    fn rounds(&mut self) -> Outcome {
        let input = self.has_people().then(read_input);
        self.board()?;
        loop {
            if !self.conclusion().is_over() && self.players[self.turn()].is_some() {
                if self.engine_moves()?.is_break() {
                    return Ok(());
                }
                continue;
            }
            let Some(input) = &input else { return Ok(()) };
            if io::stdin().is_terminal() {
                let mut stderr = io::stderr().lock();
                // A prompt that cannot be written is harmless.
                let _ = write!(stderr, "{}> ", self.turn()).and_then(|()| stderr.flush());
            }
            let line = match self.next_line(input) {
                None => return Ok(()),
                Some(Ok(line)) => line,
                Some(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    show("the input is not UTF-8 text")?;
                    continue;
                }
                Some(Err(error)) => return Err(Failure::Environment(format!("cannot read standard input: {error}"))),
            };
            let line = line.trim();
            let (command, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            if ["quit", "exit", "q"].contains(&command) {
                return Ok(());
            }
            match self.command(command, argument.trim()) {
                Ok(()) => {}
                Err(Failure::Output(error)) => return Err(Failure::Output(error)),
                // A mistake in a command must not end the game.
                Err(failure) => show(failure)?,
            }
        }
    }

    /// The next line of the input; `None` at its end and after a signal.
    fn next_line(&self, input: &Receiver<io::Result<String>>) -> Option<io::Result<String>> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            match input.recv_timeout(POLL_INTERVAL) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Saves the game, unless it is in a file. Returns a text with the command that goes on with it.
    fn keep(&mut self) -> Result<Option<String>, Failure> {
        if self.kept {
            return Ok(None);
        }
        let record = self.record();
        let path = keep(&record).inspect_err(|_| {
            // The text of the game is the last way to keep it.
            let _ = text_of(&record).and_then(show);
        })?;
        self.kept = true;
        let path = path.display().to_string();
        let (white, black) = (self.seats.white.name(), self.seats.black.name());
        let words = ["dsq", "play", "--white", white, "--black", black, "--game", &path];
        Ok(Some(format!("the game is saved; to go on with it: {}", join_command_line(&words))))
    }

    /// Saves the game before another one takes its place.
    fn keep_before_next(&mut self) -> Outcome {
        self.keep()?.map_or(Ok(()), show)
    }

    fn turn(&self) -> Color {
        self.game.position().turn()
    }

    fn record(&self) -> Record {
        let mut record = Record::new(self.game.clone());
        record.white = self.seats.white.name().to_owned();
        record.black = self.seats.black.name().to_owned();
        record.date = Some(today());
        record.forfeit = self.forfeit;
        record
    }

    fn conclusion(&self) -> Conclusion {
        Conclusion::new(self.game.end(), self.forfeit, None)
    }

    fn command(&mut self, command: &str, argument: &str) -> Outcome {
        match command {
            "" => Ok(()),
            "help" | "?" => show(HELP),
            "moves" => show(self.legal_moves()),
            "hint" => self.hint(),
            "eval" => self.eval(),
            "undo" => self.undo(),
            "game" => show(text_of(&self.record())?.trim_end()),
            "fen" => show(self.game.fen()),
            "flip" => {
                self.flipped = !self.flipped;
                self.board()
            }
            "save" => self.save(argument),
            "load" => self.load(argument),
            "new" => {
                self.keep_before_next()?;
                let start = self.game.start_fen();
                self.set(Game::from_fen(start, self.game.rules().clone(), self.game.no_capture_limit()), None)
            }
            "resign" => {
                if self.conclusion().is_over() {
                    return show("the game is over");
                }
                self.kept = false;
                self.forfeit = Some(Forfeit { loser: self.turn(), reason: ForfeitReason::Resignation });
                show(self.conclusion())
            }
            "on" => match self.game.without_draw_rule() {
                None => show("the game is not drawn by repetition or by a limit"),
                Some(game) => {
                    self.set(game, None)?;
                    self.kept = false;
                    Ok(())
                }
            },
            _ if !argument.is_empty() => show(format_args!("{command:?} is not a command; help lists the commands")),
            _ => self.person_moves(command),
        }
    }

    fn person_moves(&mut self, text: &str) -> Outcome {
        if self.conclusion().is_over() {
            let on = if self.game.end().is_some_and(GameEnd::may_go_on) { "on, " } else { "" };
            return show(format_args!("the game is over: {on}undo, new, save FILE or quit"));
        }
        match self.game.parse(text) {
            Ok(mv) => self.play(mv),
            Err(error) => show(format_args!("{error}; help lists the commands")),
        }
    }

    fn play(&mut self, mv: Move) -> Outcome {
        let line = format!("{} plays {}", self.turn(), mv.notation(self.game.position()));
        self.game.play(mv).map_err(|error| Failure::Input(error.to_string()))?;
        self.kept = false;
        show(line)?;
        self.board()
    }

    /// Breaks if a signal ends the search.
    fn engine_moves(&mut self) -> Result<ControlFlow<()>, Failure> {
        let color = self.turn();
        let (margin, patience) = (Duration::from_secs(10), Duration::from_secs(3600));
        let conditions = Conditions { control: self.control, margin, patience };
        let turn = Turn { conditions, clocks: ByColor::default() };
        let Some(player) = &mut self.players[color] else { return Ok(ControlFlow::Continue(())) };
        match player.choose(&self.game, &turn, self.stop) {
            Ok(choice) => self.play(choice.mv)?,
            Err(error) => {
                let Some(reason) = error.forfeit() else { return Ok(ControlFlow::Break(())) };
                self.forfeit = Some(Forfeit { loser: color, reason });
                self.kept = false;
                show(format_args!("{}: {error}", self.seats[color].name()))?;
                show(self.conclusion())?;
            }
        }
        // A player without a search does not notice the signal.
        Ok(if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Takes back moves until it is a human's turn again.
    fn undo(&mut self) -> Outcome {
        if self.forfeit.take().is_none() && self.game.undo().is_none() {
            return show("there is no move to take back");
        }
        while self.players[self.turn()].is_some() && self.game.undo().is_some() {}
        self.kept = self.game.moves().is_empty();
        self.begin()?;
        self.board()
    }

    fn set(&mut self, game: Game, forfeit: Option<Forfeit>) -> Outcome {
        self.game = game;
        self.forfeit = forfeit;
        self.kept = true;
        self.begin()?;
        self.board()
    }

    /// Prepares the engines for a new game, restarting crashed ones.
    fn begin(&mut self) -> Outcome {
        for color in Color::ALL {
            if let Some(player) = &mut self.players[color] {
                player.new_game(0, self.stop).map_err(|error| failure_of_player(&error))?;
            }
        }
        Ok(())
    }

    fn save(&mut self, file: &str) -> Outcome {
        if file.is_empty() {
            return show("save FILE: a name is missing");
        }
        append(Path::new(file), &self.record())?;
        self.kept = true;
        show(format_args!("saved in {file}"))
    }

    fn load(&mut self, file: &str) -> Outcome {
        if file.is_empty() {
            return show("load FILE: a name is missing");
        }
        let record = last_game(Path::new(file))?;
        self.keep_before_next()?;
        self.set(record.game, record.forfeit)
    }

    fn legal_moves(&self) -> String {
        let moves = self.game.legal_moves();
        let position = self.game.position();
        let texts: Vec<String> = moves.iter().map(|mv| mv.notation(position)).collect();
        if texts.is_empty() { "there is no move".to_owned() } else { texts.join(" ") }
    }

    /// The result of a search with the limits of the level.
    fn search(&mut self) -> Option<Info> {
        let engine = self.engine.get_or_insert_with(|| Engine::new(EngineOptions::default()));
        let limits = self.control.limits(Duration::ZERO);
        engine.search(&self.game, &limits).stop(self.stop).run().lines.into_iter().next()
    }

    fn hint(&mut self) -> Outcome {
        match self.search() {
            Some(info) => show(info.pv[0].notation(self.game.position())),
            None => show("there is no move"),
        }
    }

    fn eval(&mut self) -> Outcome {
        let turn = self.turn();
        match self.search() {
            Some(info) => {
                let line = notation(self.game.position(), &info.pv).join(" ");
                show(format_args!("{} for {turn}, depth {}: {line}", score_text(info.score), info.depth))
            }
            None => show(self.conclusion()),
        }
    }

    /// Draws the board, and the result of a finished game.
    fn board(&self) -> Outcome {
        show(draw(self.game.position(), self.game.moves().last().copied(), self.flipped))?;
        match self.conclusion() {
            Conclusion::Unfinished => Ok(()),
            conclusion => show(conclusion),
        }
    }
}

/// One of the 256 terminal colours.
const fn shade(number: u8) -> Option<AnyColor> {
    Some(AnyColor::Ansi256(Ansi256Color(number)))
}

/// The board with colours: each square by its terrain, the squares of the last move lighter.
fn draw(position: &Position, last: Option<Move>, flipped: bool) -> String {
    let mut text = String::new();
    let (mut files, mut ranks) = (File::ALL, Rank::ALL);
    if flipped {
        files.reverse()
    } else {
        ranks.reverse()
    }
    for rank in ranks {
        let _ = write!(text, "{rank} ");
        for square in files.map(|file| Square::from_coords(file, rank)) {
            let (symbol, ground) = ground(square);
            let touched = last.is_some_and(|mv| mv.from == square || mv.to == square);
            let ground = if touched { shade(101) } else { ground };
            let piece = position.piece_at(square);
            let style = piece.map_or_else(|| Style::new().fg_color(shade(245)), ink).bg_color(ground);
            let letter = piece.map_or(symbol, Piece::letter);
            let _ = write!(text, "{style} {letter} {style:#}");
        }
        text.push('\n');
    }
    text.push_str("  ");
    for file in files {
        let _ = write!(text, " {file} ");
    }
    let _ = write!(text, "  {} to move", position.turn());
    text
}

/// The character and the colour of an empty square.
fn ground(square: Square) -> (char, Option<AnyColor>) {
    if Color::ALL.iter().any(|&color| DEN[color] == square) {
        ('#', shade(94))
    } else if Color::ALL.iter().any(|&color| TRAPS[color].contains(square)) {
        ('^', shade(58))
    } else if WATER.contains(square) {
        ('~', shade(24))
    } else {
        ('.', shade(22))
    }
}

fn ink(piece: Piece) -> Style {
    let color = match piece.color {
        Color::White => AnsiColor::BrightWhite,
        Color::Black => AnsiColor::BrightRed,
    };
    Style::new().bold().fg_color(Some(color.into()))
}
