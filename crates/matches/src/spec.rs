//! Players as text, as on the command line.

use super::builtin::{Builtin, RandomMover};
use super::command_line::split;
use super::error::MatchError;
use super::external::External;
use super::gtp::{GtpProgram, GtpSetup};
use super::player::{Player, PlayerError, Requirements};
use super::program::{ProgramSetup, UciProgram};
use doushouqi::board::RuleOptions;
use doushouqi::search::network::Network;
use doushouqi::search::{EngineOptions, Evaluation, Parameter, TableCache};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The specification of a player: `builtin:NAME` with options after commas; the command line of a UCI program; or the
/// command line of a GTP program after `gtp:` (a move is one command) or `gtp2:` (a move is two commands: the square
/// that a piece leaves, then the square that it enters).
#[derive(Clone, Debug)]
pub struct PlayerSpec {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Random { seed: u64 },
    Engine { options: Box<EngineOptions>, network: Option<PathBuf>, tables: Option<PathBuf> },
    Program(ProgramSetup),
    Gtp(GtpSetup),
}

/// The names of the built-in players.
const NAMES: &str = "default, burnett, burnett-alphabeta, random";

impl PlayerSpec {
    /// The name in tables and records.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text
    }

    /// Sets the UCI options that the program receives by `setoption`.
    ///
    /// # Errors
    /// If `options` is not empty and the player is not a UCI program.
    pub fn with_program_options(mut self, options: Vec<(String, String)>) -> Result<PlayerSpec, MatchError> {
        if let Kind::Program(setup) = &mut self.kind {
            setup.options = options;
        } else if !options.is_empty() {
            return Err(MatchError::OptionsOfProgram { text: self.text });
        }
        Ok(self)
    }

    /// Loads the files that the player uses, if any: network and tables. [`PlayerSpec::make`] requires them.
    ///
    /// # Errors
    /// If a file cannot be read or used, or the tables are for other rules.
    pub fn load(&mut self, cache: &mut TableCache, rules: &RuleOptions) -> Result<(), MatchError> {
        let Kind::Engine { options, network, tables } = &mut self.kind else { return Ok(()) };
        if let Some(path) = network {
            options.evaluation = Evaluation::Network(Arc::new(load_network(path)?));
        }
        if let Some(dir) = tables {
            options.tables = Some(cache.get(dir, rules)?);
        }
        Ok(())
    }

    /// Creates the player, and starts the process of a program. A program receives the rules of the games before its
    /// options, and its remarks on the options (`info string`) appear on stderr.
    ///
    /// # Errors
    /// If a program cannot be started, does not speak its protocol, lacks an option, or cannot play such games,
    /// or if `stop` is set before it is ready.
    pub fn make(&self, requirements: &Requirements, stop: &AtomicBool) -> Result<Box<dyn Player>, PlayerError> {
        Ok(match &self.kind {
            Kind::Random { seed } => Box::new(RandomMover::new(*seed)),
            Kind::Engine { options, .. } => Box::new(Builtin::new((**options).clone())),
            Kind::Program(setup) => Box::new(External::<UciProgram>::start(setup, *requirements, stop)?),
            Kind::Gtp(setup) => Box::new(External::<GtpProgram>::start(setup, *requirements, stop)?),
        })
    }
}

/// The network in a file.
fn load_network(path: &Path) -> Result<Network, MatchError> {
    let bytes = std::fs::read(path).map_err(|error| MatchError::Read { path: path.to_owned(), error })?;
    Network::from_bytes(&bytes).map_err(|error| MatchError::Network { path: path.to_owned(), error })
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PlayerSpec {
    type Err = MatchError;

    fn from_str(text: &str) -> Result<PlayerSpec, MatchError> {
        let command = |command: &str| {
            let command = split(command).filter(|words| !words.is_empty());
            command.ok_or_else(|| MatchError::Command { text: text.to_owned() })
        };
        let kind = match text.split_once(':') {
            Some(("builtin", builtin)) => Kind::parse_builtin(builtin)?,
            Some(("gtp", program)) => Kind::Gtp(GtpSetup { command: command(program)?, two_stage: false }),
            Some(("gtp2", program)) => Kind::Gtp(GtpSetup { command: command(program)?, two_stage: true }),
            _ => Kind::Program(ProgramSetup { command: command(text)?, options: Vec::new() }),
        };
        Ok(PlayerSpec { text: text.to_owned(), kind })
    }
}

impl Kind {
    fn parse_builtin(text: &str) -> Result<Kind, MatchError> {
        let mut items = text.split(',');
        let name = items.next().unwrap_or_default();
        let engine = |options| Kind::Engine { options: Box::new(options), network: None, tables: None };
        let mut kind = match name {
            "random" => Kind::Random { seed: 0 },
            "default" => engine(EngineOptions::default()),
            "burnett" => engine(EngineOptions::default().evaluation(Evaluation::Burnett)),
            "burnett-alphabeta" => engine(EngineOptions::burnett_alphabeta()),
            _ => return Err(MatchError::UnknownName { name: name.to_owned(), known: NAMES }),
        };
        for item in items {
            let (option, value) = item.split_once('=').unwrap_or((item, ""));
            kind.set(name, option, value)?;
        }
        Ok(kind)
    }

    fn set(&mut self, name: &str, option: &str, value: &str) -> Result<(), MatchError> {
        if let Kind::Engine { options, .. } = &mut *self
            && name == "default"
            && Parameter::find(option).is_ok()
        {
            return Ok(options.set_parameter(option, value)?);
        }
        let known = known_options(name);
        let unknown = || MatchError::UnknownOption { name: name.to_owned(), option: option.to_owned(), known };
        if known.split(", ").all(|known| known != option) {
            return Err(unknown());
        }
        let wrong = |allowed| {
            let (option, value) = (option.to_owned(), value.to_owned());
            MatchError::UnknownValue { option, value, allowed }
        };
        let number = |range: RangeInclusive<usize>, allowed| {
            value.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| wrong(allowed))
        };
        match (self, option) {
            (Kind::Random { seed }, "seed") => *seed = value.parse().map_err(|_| wrong("a number"))?,
            (Kind::Engine { options, .. }, "hash") => {
                let size = mebibytes(value).filter(|size| (1..=MAX_HASH_MIB).contains(size));
                options.hash_mib = size.ok_or_else(|| wrong("a size from 1MiB to 64GiB, as in hash=64MiB"))?;
            }
            (Kind::Engine { options, .. }, "contempt") => {
                options.contempt = number(0..=1000, "a number of cp from 0 to 1000")? as u16;
            }
            (Kind::Engine { options, .. }, "threads") => options.threads = number(1..=256, "a number from 1 to 256")?,
            (Kind::Engine { options, .. }, "table-probe-depth") => {
                options.tb_probe_depth = number(0..=100, "a number of plies from 0 to 100")? as u8;
            }
            (Kind::Engine { tables, .. }, "tables") if !value.is_empty() => *tables = Some(value.into()),
            (Kind::Engine { network, .. }, "network") if !value.is_empty() => *network = Some(value.into()),
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

/// The most MiB of a transposition table.
const MAX_HASH_MIB: usize = 64 << 10;

/// A size in MiB or GiB as a number of MiB.
fn mebibytes(text: &str) -> Option<usize> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let scale = match unit.to_ascii_lowercase().as_str() {
        "mib" => 1,
        "gib" => 1 << 10,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(scale)
}

/// The options that a built-in player uses.
fn known_options(name: &str) -> &'static str {
    match name {
        "random" => "seed",
        // With a network it would be another player.
        "burnett" => "hash, threads, contempt, tables, table-probe-depth",
        // Plain alpha-beta has one thread, and probes tables only at the root.
        "burnett-alphabeta" => "hash, tables",
        _ => "hash, threads, contempt, tables, table-probe-depth, network",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::search::ParameterError;

    #[test]
    fn parameters_are_options_of_a_tunable_build() {
        let parse = |text: &str| text.parse::<PlayerSpec>().err();
        let set = parse("builtin:default,rfp_margin=71");
        let is_constant = matches!(set, Some(MatchError::Parameter(ParameterError::Constant)));
        assert!(if Parameter::TUNABLE { set.is_none() } else { is_constant }, "{set:?}");
        let wrong = parse("builtin:default,rfp_margin=7000").unwrap();
        assert!(matches!(wrong, MatchError::Parameter(ParameterError::Value { .. })), "{wrong}");
        let elsewhere = parse("builtin:burnett-alphabeta,rfp_margin=71").unwrap();
        assert!(matches!(elsewhere, MatchError::UnknownOption { .. }), "{elsewhere}");
    }

    #[test]
    fn options_without_effect_are_refused() {
        for (name, option) in [
            ("burnett-alphabeta", "contempt=500"),
            ("burnett-alphabeta", "threads=2"),
            ("burnett-alphabeta", "table-probe-depth=1"),
            ("burnett-alphabeta", "network=x.nnue"),
            ("burnett", "network=x.nnue"),
            ("random", "hash=1MiB"),
        ] {
            let parsed = format!("builtin:{name},{option}").parse::<PlayerSpec>();
            assert!(matches!(parsed, Err(MatchError::UnknownOption { .. })), "{name},{option}");
        }
        for player in ["burnett-alphabeta,hash=1MiB,tables=x", "burnett,threads=2", "random,seed=3"] {
            assert!(format!("builtin:{player}").parse::<PlayerSpec>().is_ok(), "{player}");
        }
        for (option, unit, most) in
            [("hash", "MiB", 65_536), ("hash", "gib", 64), ("threads", "", 256), ("contempt", "", 1000)]
        {
            let parse = |value: u32| format!("builtin:default,{option}={value}{unit}").parse::<PlayerSpec>();
            assert!(parse(most).is_ok(), "{option}={most}");
            assert!(matches!(parse(most + 1), Err(MatchError::UnknownValue { .. })), "{option}={most}");
        }
        for wrong in ["", "16", "MiB", "0MiB", "0.5MiB", "16MB", "16 MiB"] {
            let error = format!("builtin:default,hash={wrong}").parse::<PlayerSpec>().unwrap_err().to_string();
            assert!(error.contains("hash=64MiB"), "{error}");
        }
    }
}
