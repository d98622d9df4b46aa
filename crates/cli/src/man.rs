//! The command `man`.

use crate::failure::{Failure, Outcome};
use clap::Args;
use std::fs;
use std::path::PathBuf;

/// Write manual pages into a directory
#[derive(Args)]
pub struct Man {
    /// The directory; it is created if it does not exist
    dir: PathBuf,
}

impl Man {
    /// Writes the pages of `program`.
    ///
    /// # Errors
    /// If the directory or a page cannot be written.
    pub fn run(self, program: clap::Command) -> Outcome {
        let write = || {
            fs::create_dir_all(&self.dir)?;
            clap_mangen::generate_to(program, &self.dir)
        };
        write().map_err(|error| Failure::Environment(format!("cannot write to {}: {error}", self.dir.display())))
    }
}
