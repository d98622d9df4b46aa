use crate::failure::{Failure, Outcome};
use clap::Args;
use std::fs;
use std::path::PathBuf;

/// Write manual pages into a directory
///
/// The command writes one page for dsq and one for each command: dsq.1, dsq-perft.1 and so on.
///
///   dsq man ~/.local/share/man/man1 && man dsq-perft
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Man {
    /// The directory; it is created if it does not exist
    dir: PathBuf,
}

impl Man {
    pub fn run(self, program: clap::Command) -> Outcome {
        let write = || {
            fs::create_dir_all(&self.dir)?;
            clap_mangen::generate_to(program, &self.dir)
        };
        write().map_err(|error| Failure::Environment(format!("cannot write to {}: {error}", self.dir.display())))
    }
}
