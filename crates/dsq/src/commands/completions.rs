use crate::failure::{Failure, Outcome};
use clap::Args;
use clap_complete::Shell;
use std::io::{self, Write};

/// Print completions for a shell
///
/// The output is a script with which the shell completes the commands and options of dsq:
///
///   bash        dsq completions bash > ~/.local/share/bash-completion/completions/dsq
///   fish        dsq completions fish > ~/.config/fish/completions/dsq.fish
///   zsh         dsq completions zsh > ~/.zfunc/_dsq      (with ~/.zfunc in fpath)
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self, mut program: clap::Command) -> Outcome {
        // The script is generated in memory first, since the generator panics if it cannot write.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut program, "dsq", &mut text);
        io::stdout().lock().write_all(&text).map_err(Failure::Output)
    }
}
