//! The command `completions`.

use crate::failure::{Failure, Outcome};
use clap::Args;
use clap_complete::Shell;
use std::io::{self, Write};

/// Print completions for a shell
#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Prints the completions of `program`.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn run(self, mut program: clap::Command) -> Outcome {
        // The script is generated in memory first, since the generator panics if it cannot write.
        let (mut text, name) = (Vec::new(), program.get_name().to_owned());
        clap_complete::generate(self.shell, &mut program, name, &mut text);
        io::stdout().lock().write_all(&text).map_err(Failure::Output)
    }
}
