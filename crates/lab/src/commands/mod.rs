//! The commands: one file each, which parses arguments, calls a library and prints.

mod datagen;
mod gadgets;
mod general;
mod mine;
mod openings;
mod reduce;
mod train;

use clap::{Parser, Subcommand};
use cli::failure::Outcome;
use cli::{Completions, Man, Program};

/// Dou Shou Qi (Jungle chess) for researchers: training of the engine, patterns in the endgame tables, boards of any size,
/// and the hardness proof.
#[derive(Parser)]
#[command(
    name = "dsq-lab",
    version,
    after_help = "Start with:\n  dsq-lab mine --pieces 2        decision trees that predict the winner\n  \
                  dsq-lab mine zugzwang          positions in which nobody wants to move\n  \
                  dsq-lab gadgets check          decide the lemmas of the hardness proof\n  \
                  dsq-lab general small          solve small boards\n  \
                  dsq-lab datagen --out first.data && dsq-lab train first.toml\n\n\
                  Exit codes and --json are those of dsq."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Datagen(datagen::Datagen),
    Train(train::Train),
    Openings(openings::OpeningsCommand),
    Mine(mine::Mine),
    General(general::General),
    Gadgets(gadgets::Gadgets),
    Reduce(reduce::Reduce),
    /// Print completions for a shell
    ///
    /// The output is a script with which the shell completes the commands and options of dsq-lab:
    ///
    ///   bash        dsq-lab completions bash > ~/.local/share/bash-completion/completions/dsq-lab
    ///   fish        dsq-lab completions fish > ~/.config/fish/completions/dsq-lab.fish
    ///   zsh         dsq-lab completions zsh > ~/.zfunc/_dsq-lab      (with ~/.zfunc in fpath)
    #[command(verbatim_doc_comment)]
    Completions(Completions),
    /// Write manual pages into a directory
    ///
    /// The command writes one page for dsq-lab and one for each command: dsq-lab.1, dsq-lab-mine.1 and so on.
    ///
    ///   dsq-lab man ~/.local/share/man/man1 && man dsq-lab-mine
    #[command(verbatim_doc_comment)]
    Man(Man),
}

impl Program for Cli {
    const GROUPS: &'static [(&'static str, &'static [&'static str])] =
        &[("Train", &["datagen", "train", "openings"]), ("Study", &["mine", "general", "gadgets", "reduce"])];

    const ON_CTRL_C: &'static [(&'static str, &'static str)] = &[
        ("datagen", "Ctrl-C keeps the games that are finished; the same command continues."),
        ("gadgets check", "Ctrl-C keeps the lines that are printed."),
        ("general", "Ctrl-C keeps nothing: the result is printed at the end."),
        ("mine", "Ctrl-C keeps nothing: results are printed or written at the end."),
        ("openings", "Ctrl-C keeps the lines that are printed."),
        ("reduce", "Ctrl-C keeps the lines that are printed; `report` writes its files at the end."),
        ("train", "Ctrl-C keeps the network and the checkpoint so far; a recipe with `start` continues."),
    ];

    fn run(self, program: clap::Command) -> Outcome {
        match self.command {
            Command::Datagen(command) => command.run(),
            Command::Train(command) => command.run(),
            Command::Openings(command) => command.run(),
            Command::Mine(command) => command.run(),
            Command::General(command) => command.run(),
            Command::Gadgets(command) => command.run(),
            Command::Reduce(command) => command.run(),
            Command::Completions(command) => command.run(program),
            Command::Man(command) => command.run(program),
        }
    }
}
