//! Endgame tables that have been loaded, so that all who use them share them.

use super::tb::Tables;
use crate::board::RuleOptions;
use crate::tablebase::{Probe, SetError, TableSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Endgame tables that have been loaded, so that all who use them share them.
#[derive(Default)]
pub struct TableCache {
    loaded: Vec<(PathBuf, Arc<Tables>)>,
}

/// Why endgame tables cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TablesError {
    /// There are none, or they cannot be read.
    #[error("{}: {error}", dir.display())]
    Set {
        /// Where they should be.
        dir: PathBuf,
        /// What is wrong with them.
        error: SetError,
    },
    /// They are for other rules.
    #[error("the tables in {} are for the rules {tables}; these are {game}", dir.display())]
    Rules {
        /// Where they are.
        dir: PathBuf,
        /// The rules that they are for.
        tables: RuleOptions,
        /// The rules of the game.
        game: RuleOptions,
    },
}

impl TableCache {
    /// The tables in a directory, for play by these rules.
    ///
    /// # Errors
    /// If there are no tables, they cannot be read, are damaged or for other rules, or there is not enough memory.
    pub fn get(&mut self, dir: &Path, rules: &RuleOptions) -> Result<Arc<Tables>, TablesError> {
        let error = |error| TablesError::Set { dir: dir.to_owned(), error };
        let loaded = self.loaded.iter().find(|(loaded, _)| loaded == dir).map(|(_, tables)| tables);
        let made_for = match loaded {
            Some(tables) => *tables.rules().options(),
            None => *TableSet::open(dir).map_err(error)?.rules().options(),
        };
        if made_for.table_hash() != rules.table_hash() {
            return Err(TablesError::Rules { dir: dir.to_owned(), tables: made_for, game: *rules });
        }
        if let Some(tables) = loaded {
            return Ok(Arc::clone(tables));
        }
        let tables = Arc::new(Tables::open(dir).map_err(error)?);
        self.loaded.push((dir.to_owned(), Arc::clone(&tables)));
        Ok(tables)
    }
}
