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
    /// The tables of a path, for games under these rules, see [`Tables::open`].
    ///
    /// # Errors
    /// As [`Tables::open`].
    pub fn get(&mut self, path: &Path, rules: &RuleOptions) -> Result<Arc<Tables>, SetError> {
        let fits = |(loaded, tables): &&(PathBuf, Arc<Tables>)| loaded == path && tables.supports_rules(rules);
        if let Some((_, tables)) = self.loaded.iter().find(fits) {
            return Ok(Arc::clone(tables));
        }
        let tables = Arc::new(Tables::open(path, rules)?);
        self.loaded.push((path.to_owned(), Arc::clone(&tables)));
        Ok(tables)
    }
}
