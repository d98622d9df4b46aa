//! Loaded endgame tables, shared by all engines that use them.

use super::tb::Tables;
use crate::board::RuleOptions;
use crate::tablebase::SetError;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Loaded endgame tables, shared by all engines that use them.
#[derive(Default)]
pub struct TableCache {
    loaded: Vec<(PathBuf, Arc<Tables>)>,
}

impl TableCache {
    /// The tables in a directory, for games under these rules.
    ///
    /// # Errors
    /// If there are no tables, if they are for other rules, damaged or unreadable, or if there is not enough memory.
    pub fn get(&mut self, dir: &Path, rules: &RuleOptions) -> Result<Arc<Tables>, SetError> {
        let fits = |(loaded, tables): &&(PathBuf, Arc<Tables>)| loaded == dir && tables.supports_rules(rules);
        if let Some((_, tables)) = self.loaded.iter().find(fits) {
            return Ok(Arc::clone(tables));
        }
        let tables = Arc::new(Tables::open(dir, rules)?);
        self.loaded.push((dir.to_owned(), Arc::clone(&tables)));
        Ok(tables)
    }
}
