//! Who plays: an engine of ours with its settings, a random mover, or another program.

use super::openings::{choose, seeded};
use super::program::{Program, ProgramSetup};
use crate::board::{ByColor, Color, Move, RuleOptions};
use crate::game::Game;
use crate::search::{Clock, Engine, EngineOptions, Evaluation, Info, Limits, ParseIdeasError, Tables};
use crate::tablebase::{Probe, SetError, TableSet};
use rand_pcg::Pcg64;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use thiserror::Error;

/// What limits each move of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TimeControl {
    Depth(u32),
    Nodes(u64),
    MoveTime(Duration),
    /// So much for the whole game, and so much more after each move.
    Clock {
        base: Duration,
        increment: Duration,
    },
}

impl TimeControl {
    /// The limits of one move; `remaining` matters to clocks only.
    #[must_use]
    pub fn limits(&self, remaining: Duration) -> Limits {
        match *self {
            TimeControl::Depth(depth) => Limits { depth: Some(depth), ..Limits::default() },
            TimeControl::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
            TimeControl::MoveTime(time) => Limits { movetime: Some(time), ..Limits::default() },
            TimeControl::Clock { increment, .. } => {
                Limits { clock: Some(Clock { remaining, increment, moves_to_go: None }), ..Limits::default() }
            }
        }
    }

    /// The time that a move may take, if there is such a limit.
    #[must_use]
    pub fn allowed(&self, remaining: Duration) -> Option<Duration> {
        match *self {
            TimeControl::Depth(_) | TimeControl::Nodes(_) => None,
            TimeControl::MoveTime(time) => Some(time),
            TimeControl::Clock { .. } => Some(remaining),
        }
    }
}

/// What a player is told when it is on move.
#[derive(Copy, Clone, Debug)]
pub struct Turn {
    pub control: TimeControl,
    /// The clocks; they matter to [`TimeControl::Clock`] only.
    pub clocks: ByColor<Duration>,
    /// How much later than that a move may come.
    pub margin: Duration,
    /// When a program that does not answer is given up, where it has all the time it wants.
    pub patience: Duration,
}

impl Turn {
    pub(super) fn limits(&self, color: Color) -> Limits {
        self.control.limits(self.clocks[color])
    }
}

/// The move that a player chose, and what it says of it.
#[derive(Clone, Debug)]
pub struct Choice {
    pub mv: Move,
    /// As UCI writes it (`cp 13`, `mate -2`), from its own point of view.
    pub score: Option<String>,
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
}

/// Why a player has not chosen a move.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlayerError {
    #[error("{0}")]
    IllegalMove(String),
    #[error("{0}")]
    Crash(String),
    #[error("no move in time")]
    Timeout,
    /// The match is being stopped.
    #[error("stopped")]
    Stopped,
}

/// Somebody who plays.
pub trait Player: Send {
    /// Forgets the last game. `seed` is for what it does at random.
    fn new_game(&mut self, seed: u64) -> Result<(), PlayerError>;

    /// Chooses a move of a game that is not over.
    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError>;
}

/// Which player to make: `builtin:NAME`, options behind commas, or the command line of a UCI program.
#[derive(Clone, Debug)]
pub struct PlayerSpec {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Random { seed: u64 },
    Engine { options: Box<EngineOptions>, tables: Option<PathBuf> },
    Program(ProgramSetup),
}

/// Endgame tables that have been loaded, so that all who use them share them.
#[derive(Default)]
pub struct TableCache {
    loaded: Vec<(PathBuf, Arc<Tables>)>,
}

/// Why endgame tables cannot be used.
#[derive(Debug, Error)]
pub enum TablesError {
    #[error("{}: {error}", dir.display())]
    Set { dir: PathBuf, error: SetError },
    #[error("the tables in {} are for the rules {tables}; these are {game}", dir.display())]
    Rules { dir: PathBuf, tables: RuleOptions, game: RuleOptions },
}

impl TableCache {
    /// The tables in a directory, for play by these rules.
    pub fn get(&mut self, dir: &Path, rules: &RuleOptions) -> Result<Arc<Tables>, TablesError> {
        if let Some((_, tables)) = self.loaded.iter().find(|(loaded, _)| loaded == dir) {
            return Ok(Arc::clone(tables));
        }
        let error = |error| TablesError::Set { dir: dir.to_owned(), error };
        let made_for = *TableSet::open(dir).map_err(error)?.rules().options();
        if made_for.table_hash() != rules.table_hash() {
            return Err(TablesError::Rules { dir: dir.to_owned(), tables: made_for, game: *rules });
        }
        let tables = Arc::new(Tables::open(dir).map_err(error)?);
        self.loaded.push((dir.to_owned(), Arc::clone(&tables)));
        Ok(tables)
    }
}

/// Text that names no player.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParsePlayerError {
    #[error("no built-in player is called {name:?}; there are {}", NAMES.join(", "))]
    UnknownName { name: String },
    #[error("{name} has no option {option:?}; options are {known}, as in builtin:default,hash=16")]
    UnknownOption { name: String, option: String, known: &'static str },
    #[error(transparent)]
    Idea(#[from] ParseIdeasError),
    #[error("{option} cannot be {value:?}: it is {allowed}")]
    UnknownValue { option: String, value: String, allowed: &'static str },
    #[error("{text:?} is no command line: a quote is not closed, or it is empty")]
    Command { text: String },
    #[error("{text:?} takes options behind commas, as in builtin:default,hash=16; those of programs are not for it")]
    OptionsOfProgram { text: String },
}

const NAMES: [&str; 4] = ["default", "burnett", "burnett-alphabeta", "random"];

impl PlayerSpec {
    /// The name in tables and records.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text
    }

    /// Sets options that a UCI program gets by `setoption`.
    pub fn with_program_options(mut self, options: Vec<(String, String)>) -> Result<PlayerSpec, ParsePlayerError> {
        if let Kind::Program(setup) = &mut self.kind {
            setup.options = options;
        } else if !options.is_empty() {
            return Err(ParsePlayerError::OptionsOfProgram { text: self.text });
        }
        Ok(self)
    }

    /// Loads the tables that the player uses, if any. To be done before [`PlayerSpec::make`].
    pub fn load(&mut self, cache: &mut TableCache, rules: &RuleOptions) -> Result<(), TablesError> {
        if let Kind::Engine { options, tables: Some(dir) } = &mut self.kind {
            options.tables = Some(cache.get(dir, rules)?);
        }
        Ok(())
    }

    /// Makes the player: a program is started, and may fail to.
    pub fn make(&self) -> Result<Box<dyn Player>, PlayerError> {
        Ok(match &self.kind {
            Kind::Random { seed } => Box::new(Random { seed: *seed, random: seeded(*seed, 0) }),
            Kind::Engine { options, .. } => Box::new(Builtin { engine: Engine::new((**options).clone()) }),
            Kind::Program(setup) => Box::new(Program::start(setup.clone())?),
        })
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PlayerSpec {
    type Err = ParsePlayerError;

    fn from_str(text: &str) -> Result<PlayerSpec, ParsePlayerError> {
        let kind = match text.strip_prefix("builtin:") {
            Some(builtin) => Kind::parse_builtin(builtin)?,
            None => {
                let command = shlex::split(text).filter(|words| !words.is_empty());
                let command = command.ok_or_else(|| ParsePlayerError::Command { text: text.to_owned() })?;
                Kind::Program(ProgramSetup { command, options: Vec::new() })
            }
        };
        Ok(PlayerSpec { text: text.to_owned(), kind })
    }
}

impl Kind {
    fn parse_builtin(text: &str) -> Result<Kind, ParsePlayerError> {
        let mut items = text.split(',');
        let name = items.next().unwrap_or_default();
        let engine = |options| Kind::Engine { options: Box::new(options), tables: None };
        let mut kind = match name {
            "random" => Kind::Random { seed: 0 },
            "default" => engine(EngineOptions::default()),
            "burnett" => engine(EngineOptions { evaluation: Evaluation::Burnett, ..EngineOptions::default() }),
            "burnett-alphabeta" => engine(EngineOptions::burnett_alphabeta()),
            _ => return Err(ParsePlayerError::UnknownName { name: name.to_owned() }),
        };
        for item in items {
            let (option, value) = item.split_once('=').unwrap_or((item, ""));
            kind.set(name, option, value)?;
        }
        Ok(kind)
    }

    fn set(&mut self, name: &str, option: &str, value: &str) -> Result<(), ParsePlayerError> {
        let unknown =
            |known| ParsePlayerError::UnknownOption { name: name.to_owned(), option: option.to_owned(), known };
        let wrong = |allowed| {
            let (option, value) = (option.to_owned(), value.to_owned());
            ParsePlayerError::UnknownValue { option, value, allowed }
        };
        let number = |most: usize, allowed| {
            value.parse().ok().filter(|number| (1..=most).contains(number)).ok_or_else(|| wrong(allowed))
        };
        match (self, option) {
            (Kind::Random { seed }, "seed") => *seed = value.parse().map_err(|_| wrong("a number"))?,
            (Kind::Random { .. }, _) => return Err(unknown("seed")),
            (Kind::Engine { options, .. }, "hash") => {
                options.hash_mib = number(65_536, "a number of MiB from 1 to 65536")?;
            }
            (Kind::Engine { options, .. }, "threads") => options.threads = number(256, "a number from 1 to 256")?,
            (Kind::Engine { tables, .. }, "tables") if !value.is_empty() => *tables = Some(value.into()),
            (Kind::Engine { options, .. }, "ideas") => options.ideas = value.parse()?,
            (Kind::Engine { options, .. }, "weights") => {
                let text = std::fs::read_to_string(value).map_err(|_| wrong("a file that can be read"))?;
                options.weights = Some(text.parse().map_err(|_| wrong("a file of weights"))?);
            }
            _ => return Err(unknown("hash, threads, tables, ideas, weights")),
        }
        Ok(())
    }
}

/// Plays any legal move, each as likely.
struct Random {
    seed: u64,
    random: Pcg64,
}

impl Player for Random {
    fn new_game(&mut self, seed: u64) -> Result<(), PlayerError> {
        self.random = seeded(self.seed, seed);
        Ok(())
    }

    fn choose(&mut self, game: &Game, _: &Turn, _: &AtomicBool) -> Result<Choice, PlayerError> {
        let mv = choose(game, &mut self.random).ok_or_else(no_move)?;
        Ok(Choice { mv, score: None, depth: None, nodes: None })
    }
}

/// The engine in this process.
struct Builtin {
    engine: Engine,
}

impl Player for Builtin {
    fn new_game(&mut self, _: u64) -> Result<(), PlayerError> {
        self.engine.new_game();
        Ok(())
    }

    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        let limits = turn.limits(game.position().turn());
        let result = self.engine.search(game, &limits, stop, &mut |_: &Info| {});
        if stop.load(Ordering::Relaxed) {
            return Err(PlayerError::Stopped);
        }
        let line = result.lines.first().ok_or_else(no_move)?;
        Ok(Choice {
            mv: line.pv[0],
            score: Some(line.score.to_string()),
            depth: Some(line.depth),
            nodes: Some(line.nodes),
        })
    }
}

fn no_move() -> PlayerError {
    PlayerError::IllegalMove("it has no move, though the game is not over".to_owned())
}
