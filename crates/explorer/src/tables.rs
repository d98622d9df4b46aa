//! The tables of the server: in memory, and on disk.

use super::config::{Config, ServeError};
use answers::registry::Registry;
use answers::rule_tables::{MEMORY_PIECES, RuleTables};
use doushouqi::tablebase::{TablePath, TableSet};
use rayon::ThreadPool;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use xxhash_rust::xxh3::Xxh3;

/// Hashes the program. Two builds may answer the same request differently, even if they have the same version.
fn hash_program(hash: &mut Xxh3) {
    // A package may have replaced the file that the program was started from.
    let running = if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    let mut buffer = vec![0; 1 << 20];
    let hashed = running.and_then(File::open).and_then(|mut file| {
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                length => hash.update(&buffer[..length]),
            }
        }
    });
    if hashed.is_err() {
        // The next start answers everything anew.
        hash.update(&RandomState::new().hash_one(0).to_le_bytes());
    }
}

/// Solves the tables of up to three pieces. Tables on disk must be for the same rules. The number is a hash of the
/// program, the rules and the tables on disk.
pub fn open(config: &Config, pool: ThreadPool) -> Result<(Registry, u64), ServeError> {
    let options = config.rules;
    let path = config.tables.as_ref().map(|path| TablePath::open(path)).transpose()?;
    let (disk, results, limited) = path.map_or((None, None, None), |path| (path.distances, path.results, path.limited));
    let mut hash = Xxh3::new();
    hash_program(&mut hash);
    hash.update(options.to_string().as_bytes());
    for class in disk.iter().chain(&results).chain(&limited).flat_map(|set| &set.manifest().classes) {
        hash.update(class.class.as_bytes());
        hash.update(class.values.white.as_bytes());
        hash.update(class.values.black.as_bytes());
    }
    let (pool, solved) = (Arc::new(pool), Registry::class_cache());
    let mut disk = disk.map(|set: TableSet| set.prober(&options)).transpose()?;
    let results = results.map(|set| set.wdl_prober(&options)).transpose()?;
    let mut limited = limited.map(|set| set.dtz_prober(&options)).transpose()?;
    if let Some(cache) = &config.on_demand {
        let tables = disk.filter(|tables| tables.set().classes().pieces() >= MEMORY_PIECES);
        disk = Some(tables.ok_or(ServeError::TablesTooSmall)?.on_demand(cache)?);
        limited = limited.map(|tables| tables.on_demand(cache)).transpose()?;
    }
    let main = RuleTables::new(options, disk, results, pool.clone(), solved.clone(), &AtomicBool::new(false))?;
    let main = main.with_limited(limited);
    Ok((Registry::new(main, pool, solved), hash.digest()))
}
