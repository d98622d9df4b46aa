//! The options of commands that count endgames on demand.

use crate::generating::generate;
use clap::Args;
use cli::arguments::{Memory, MemoryArg, ThreadsArg};
use cli::failure::Failure;
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{CountCache, Generate, Options, Prober, Solver};
use std::env;
use std::path::PathBuf;

#[derive(Args)]
pub struct OnDemandArgs {
    /// Also answer positions with one piece more than the tables: count all positions of the same pieces on demand.
    ///
    /// Counting six pieces takes tables of five pieces, about a minute on two cores and up to 10 GiB of memory. The cache
    /// keeps the counts, and what is made of repacked tables for them. A count that does not fit into memory or on the disk is
    /// rejected. `dsq serve` without --tables first generates the tables of four pieces in the cache, some seconds and
    /// 66 MB, and counts five.
    #[arg(long)]
    pub on_demand: bool,
    /// The directory of the cache, which processes may share; by default `dsq` in the user's cache directory.
    #[arg(long, value_name = "DIR", requires = "on_demand")]
    cache: Option<PathBuf>,
    /// The size of the cache. The least recently used files are removed.
    #[arg(long, value_name = "SIZE", default_value = "40GiB", requires = "on_demand")]
    cache_size: Memory,
    /// The maximum memory of a count; by default the available memory.
    #[arg(long, value_name = "SIZE", requires = "on_demand")]
    memory: Option<Memory>,
}

impl OnDemandArgs {
    /// The cache, if the user requests counting on demand.
    pub fn cache(&self) -> Result<Option<CountCache>, Failure> {
        if !self.on_demand {
            return Ok(None);
        }
        let unknown = || Failure::Input("no cache directory is known: use --cache DIR".into());
        let dir = self.cache.clone().or_else(user_cache).ok_or_else(unknown)?;
        let memory = self.memory.map(Memory::bytes);
        Ok(Some(CountCache { dir, size: self.cache_size.bytes() as u64, memory }))
    }

    /// Tables that also count on demand, if the user requests it.
    pub fn open<V>(&self, tables: Prober<V>) -> Result<Prober<V>, Failure> {
        Ok(match self.cache()? {
            Some(cache) => tables.on_demand(&cache)?,
            None => tables,
        })
    }
}

/// The directory of the tables of four pieces in a cache. Generates those that are missing.
pub fn four_pieces(cache: &CountCache, rules: &RuleOptions, threads: &ThreadsArg) -> Result<PathBuf, Failure> {
    let dir = cache.dir.join(format!("tables-{:016x}", rules.table_hash()));
    let memory = MemoryArg::default().get().bytes();
    let job = Generate { pieces: PIECES, memory, ..Generate::new(&dir, *rules) };
    generate(&job, &mut Solver::new(rules, PIECES, Options::default()), threads)?;
    Ok(dir)
}

/// The pieces of the tables that a cache contains: those of the smallest tables from which a server counts.
const PIECES: usize = 4;

/// The program's directory for files that it can compute again.
fn user_cache() -> Option<PathBuf> {
    user_directory("XDG_CACHE_HOME", ".cache")
}

/// The program's directory of a kind: under the directory that an environment variable names, or under `home` in the
/// home directory.
pub fn user_directory(variable: &str, home: &str) -> Option<PathBuf> {
    let dir = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(dir("HOME")?.join(home));
    Some(dir(variable).or_else(|| dir("LOCALAPPDATA")).or_else(home)?.join("dsq"))
}
