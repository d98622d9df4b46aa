//! Options that commands of both programs share.

use crate::failure::Failure;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use doushouqi::board::RuleOptions;
use doushouqi::search::Engine;
use doushouqi::tablebase::{TableProber, TableSet, available_memory};
use std::path::Path;
use std::str::FromStr;

/// The option `--rules`.
#[derive(Args)]
pub struct RulesArg {
    /// The rules: a preset, then changes as key=value.
    #[arg(long, default_value = "paper", value_name = "RULES", help = rules_help(), long_help = rules_long_help())]
    pub rules: RuleOptions,
}

fn rules_help() -> String {
    let presets = RuleOptions::PRESETS.map(|(name, _)| name).join(", ");
    format!("The rules: a preset ({presets}), then changes as key=value")
}

fn rules_long_help() -> String {
    let options = RuleOptions::OPTIONS.iter().map(|option| format!("{}={}", option.key, option.values.join("|")));
    let options = options.collect::<Vec<_>>().join(", ");
    format!("{}.\n\nKeys and values, default first: {options}.", rules_help())
}

/// The option `--threads`.
#[derive(Args)]
pub struct ThreadsArg {
    /// Number of threads; one for each core if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl ThreadsArg {
    /// The argument for this number of threads.
    pub fn of(threads: usize) -> ThreadsArg {
        ThreadsArg { threads: Some(u16::try_from(threads).unwrap_or(u16::MAX)) }
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Calls `f` in a rayon pool with this many threads.
    pub fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        let mut builder = rayon::ThreadPoolBuilder::new().stack_size(Engine::STACK);
        if let Some(threads) = self.threads {
            builder = builder.num_threads(threads.into());
        }
        let pool = builder.build().map_err(|e| Failure::Environment(format!("cannot start threads: {e}")))?;
        Ok(pool.install(f))
    }
}

/// The option `--json`.
#[derive(Args)]
pub struct JsonArg {
    /// Print JSON, one object on each line.
    #[arg(long = "json", id = "json")]
    pub on: bool,
}

/// The option `--seed`.
#[derive(Args)]
pub struct SeedArg {
    /// The seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// The options of most commands that compute.
#[derive(Args)]
pub struct Common {
    /// The option `--rules`.
    #[command(flatten)]
    pub rules: RulesArg,
    /// The option `--threads`.
    #[command(flatten)]
    pub threads: ThreadsArg,
    /// The option `--json`.
    #[command(flatten)]
    pub json: JsonArg,
}

impl Common {
    /// The rules.
    pub fn rules(&self) -> &RuleOptions {
        &self.rules.rules
    }
}

/// The option `--memory` of commands that need a limit.
#[derive(Args, Default)]
pub struct MemoryArg {
    /// The maximum memory; by default the available memory.
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,
}

impl MemoryArg {
    /// The limit: the given one, or the memory that is available now, less what the program itself takes.
    pub fn get(&self) -> Memory {
        const PROGRAM: u64 = 64 << 20;
        let available = || available_memory().map_or(8 << 30, |bytes| bytes.saturating_sub(PROGRAM));
        self.memory.unwrap_or_else(|| Memory { bytes: available() })
    }
}

/// An amount of memory: a number and a unit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    bytes: u64,
}

impl Memory {
    /// The amount in bytes.
    pub fn bytes(self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// The amount in MiB, at least 1.
    pub fn mib(self) -> u64 {
        (self.bytes >> 20).max(1)
    }

    /// The amount in GiB; `None` if that is not a whole number.
    pub fn gib(self) -> Option<u64> {
        self.bytes.is_multiple_of(1 << 30).then_some(self.bytes >> 30)
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Memory, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = match unit.to_ascii_lowercase().as_str() {
            "mib" => 20,
            "gib" => 30,
            "tib" => 40,
            _ => return Err("write a number and a unit, MiB, GiB or TiB, as 10GiB".to_owned()),
        };
        let bytes = number.parse::<f64>().ok().map(|number| number * f64::from(unit).exp2());
        match bytes {
            Some(bytes) if (1.0..=u64::MAX as f64).contains(&bytes) => Ok(Memory { bytes: bytes as u64 }),
            _ => Err(format!("{number:?} is not a number above 0")),
        }
    }
}

/// Parses the size of a hash table, from `LEAST` MiB to 64 GiB.
pub fn hash_size<const LEAST: u64>(text: &str) -> Result<Memory, String> {
    let size: Memory = text.parse()?;
    let fits = (LEAST << 20..=64 << 30).contains(&size.bytes);
    if fits { Ok(size) } else { Err(format!("the size must be from {LEAST}MiB to 64GiB")) }
}

/// Opens tables for `rules`, or for the rules that they were generated for.
pub fn open_tables(dir: &Path, rules: Option<RuleOptions>) -> Result<TableProber, Failure> {
    Ok(TableSet::open(dir)?.prober(rules.as_ref())?)
}

/// A parser for numbers of at least 1.
pub fn at_least_one<T: TryFrom<u64>>() -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(1..)
}

/// Parses a number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("{text:?} is not a number above 0"))
}
