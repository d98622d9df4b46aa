//! The commands: one file each, which parses arguments, calls a library and prints.

mod analyze;
mod bench;
mod bundle;
mod cluster;
mod compare;
mod convert;
mod devices;
mod export;
mod generate;
mod gtp;
mod matches;
mod perft;
mod play;
mod probe;
mod puzzles;
mod repack;
mod reproduce;
mod serve;
mod solve;
mod stats;
mod uci;
mod verify;

use clap::error::{ContextKind, ContextValue};
use clap::{Parser, Subcommand};
use cli::failure::Outcome;
use cli::{Completions, Man, Program};

/// Dou Shou Qi (Jungle chess): an engine, perft, endgame tables, and the published results recomputed.
#[derive(Parser)]
#[command(
    name = "dsq",
    version,
    after_help = "Start with:\n  dsq serve --open           tables and engine in a browser\n  dsq reproduce              recompute the published tables and compare, cell by cell\n  \
                  dsq perft 7                count move sequences from the start\n  \
                  dsq solve --pieces 4       solve every endgame of 2 to 4 pieces\n  \
                  dsq solve --material EPvLR solve one endgame\n  \
                  dsq generate --pieces 4 --out tables\n  \
                  dsq play                   a game against the engine; dsq uci for other programs\n  \
                  dsq match builtin:default builtin:burnett --movetime 100\n  \
                  dsq compare --pieces 3     solve on CPU and GPU and compare\n\n\
                  Exit codes: 0 success, 1 a comparison or verification failed, 2 wrong input,\n\
                  3 the environment (memory, disk), 130 interrupted by Ctrl-C.\n\
                  With --json every line of stdout is one JSON object.\n\n\
                  Training, patterns in the tables, boards of any size and the hardness proof: dsq-lab."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Serve),
    Reproduce(reproduce::Reproduce),
    Perft(perft::Perft),
    Solve(solve::Solve),
    Generate(generate::Generate),
    Probe(probe::Probe),
    Verify(verify::Verify),
    Stats(stats::StatsCommand),
    Repack(repack::Repack),
    Bundle(bundle::BundleCommand),
    Export(export::Export),
    Cluster(cluster::Cluster),
    Compare(compare::Compare),
    Devices(devices::Devices),
    Match(matches::MatchCommand),
    Puzzles(puzzles::Puzzles),
    Convert(convert::Convert),
    Gtp(gtp::Gtp),
    Uci(uci::Uci),
    Play(play::Play),
    Analyze(analyze::Analyze),
    Bench(bench::Bench),
    /// Print completions for a shell
    ///
    /// The output is a script with which the shell completes the commands and options of dsq:
    ///
    ///   bash        dsq completions bash > ~/.local/share/bash-completion/completions/dsq
    ///   fish        dsq completions fish > ~/.config/fish/completions/dsq.fish
    ///   zsh         dsq completions zsh > ~/.zfunc/_dsq      (with ~/.zfunc in fpath)
    #[command(verbatim_doc_comment)]
    Completions(Completions),
    /// Write manual pages into a directory
    ///
    /// The command writes one page for dsq and one for each command: dsq.1, dsq-perft.1 and so on.
    ///
    ///   dsq man ~/.local/share/man/man1 && man dsq-perft
    #[command(verbatim_doc_comment)]
    Man(Man),
}

/// The commands of `dsq-lab` that were commands of `dsq`.
const IN_LAB: [&str; 7] = ["mine", "openings", "datagen", "train", "general", "gadgets", "reduce"];

impl Program for Cli {
    const GROUPS: &'static [(&'static str, &'static [&'static str])] = &[
        ("Play", &["play", "puzzles", "analyze", "match", "uci", "gtp", "convert"]),
        (
            "Endgame tables",
            &["solve", "generate", "probe", "stats", "verify", "repack", "bundle", "export", "compare", "cluster"],
        ),
        ("Measure", &["perft", "bench", "devices"]),
        ("Study", &["reproduce"]),
        ("Explore", &["serve"]),
    ];

    const ON_CTRL_C: &'static [(&'static str, &'static str)] = &[
        ("analyze", "Ctrl-C keeps the lines that are printed."),
        ("bench", "Ctrl-C keeps nothing: the figures are printed at the end."),
        ("cluster solve", "Ctrl-C keeps the classes that are finished; the same command resumes."),
        ("cluster check", "Ctrl-C keeps nothing: the result is printed at the end."),
        ("compare", "Ctrl-C keeps the lines that are printed."),
        ("export", "Ctrl-C leaves an incomplete file: rows are written as they are computed."),
        ("generate", "Ctrl-C keeps the classes that are finished; the same command resumes."),
        ("match", "Ctrl-C keeps the games that are finished: they count, and are in the file of --save."),
        ("perft", "Ctrl-C keeps nothing: the count is printed at the end."),
        ("play", "Ctrl-C adds the game to ~/.local/state/dsq/games.txt."),
        ("puzzles", "Ctrl-C keeps the lines that are printed."),
        ("repack", "Ctrl-C keeps the files that are finished; the same command resumes."),
        ("reproduce", "Ctrl-C keeps nothing: the tables are printed or written at the end."),
        ("solve", "Ctrl-C keeps the lines that are printed."),
        ("verify", "Ctrl-C keeps the classes in the file of --record, and nothing without it."),
    ];

    fn explain(error: &clap::Error) -> Option<String> {
        let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
        let checkout = "in a checkout: cargo run --release -p dsq-lab --";
        IN_LAB.contains(&name.as_str()).then(|| format!("`dsq {name}` is now `dsq-lab {name}` ({checkout} {name})"))
    }

    fn run(self, program: clap::Command) -> Outcome {
        match self.command {
            Command::Serve(command) => command.run(),
            Command::Reproduce(command) => command.run(),
            Command::Perft(command) => command.run(),
            Command::Solve(command) => command.run(),
            Command::Generate(command) => command.run(),
            Command::Probe(command) => command.run(),
            Command::Verify(command) => command.run(),
            Command::Stats(command) => command.run(),
            Command::Repack(command) => command.run(),
            Command::Bundle(command) => command.run(),
            Command::Export(command) => command.run(),
            Command::Cluster(command) => command.run(),
            Command::Compare(command) => command.run(),
            Command::Devices(command) => command.run(),
            Command::Match(command) => command.run(),
            Command::Puzzles(command) => command.run(),
            Command::Convert(command) => command.run(),
            Command::Gtp(command) => command.run(),
            Command::Uci(command) => command.run(),
            Command::Play(command) => command.run(),
            Command::Analyze(command) => command.run(),
            Command::Bench(command) => command.run(),
            Command::Completions(command) => command.run(program),
            Command::Man(command) => command.run(program),
        }
    }
}
