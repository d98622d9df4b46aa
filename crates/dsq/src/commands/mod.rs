//! The commands: one file each, which parses arguments, calls a library and prints.

mod analyze;
mod bench;
mod bundle;
mod cluster;
mod compare;
mod completions;
mod convert;
mod datagen;
mod devices;
mod export;
mod gadgets;
mod general;
mod generate;
mod gtp;
mod man;
mod matches;
mod mine;
mod openings;
mod perft;
mod play;
mod probe;
mod puzzles;
mod reduce;
mod repack;
mod reproduce;
mod serve;
mod solve;
mod stats;
mod train;
mod tune;
mod uci;
mod verify;

use crate::failure::{Failure, Outcome};
use crate::progress::watch_signals;
use clap::{Parser, Subcommand};
use doushouqi::cpu::CpuLevel;

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
                  With --json every line of stdout is one JSON object."
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
    Mine(mine::Mine),
    Match(matches::MatchCommand),
    Openings(openings::OpeningsCommand),
    Puzzles(puzzles::Puzzles),
    Convert(convert::Convert),
    Gtp(gtp::Gtp),
    Uci(uci::Uci),
    Play(play::Play),
    Analyze(analyze::Analyze),
    Bench(bench::Bench),
    Tune(tune::Tune),
    Datagen(datagen::Datagen),
    Train(train::Train),
    General(general::General),
    Gadgets(gadgets::Gadgets),
    Reduce(reduce::Reduce),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Cli {
    /// Runs the parsed command of `program`.
    pub fn run(self, program: clap::Command) -> Outcome {
        CpuLevel::from_env().map_err(|error| Failure::Input(error.to_string()))?;
        watch_signals()?;
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
            Command::Mine(command) => command.run(),
            Command::Match(command) => command.run(),
            Command::Openings(command) => command.run(),
            Command::Puzzles(command) => command.run(),
            Command::Convert(command) => command.run(),
            Command::Gtp(command) => command.run(),
            Command::Uci(command) => command.run(),
            Command::Play(command) => command.run(),
            Command::Analyze(command) => command.run(),
            Command::Bench(command) => command.run(),
            Command::Tune(command) => command.run(),
            Command::Datagen(command) => command.run(),
            Command::Train(command) => command.run(),
            Command::General(command) => command.run(),
            Command::Gadgets(command) => command.run(),
            Command::Reduce(command) => command.run(),
            Command::Completions(command) => command.run(program),
            Command::Man(command) => command.run(program),
        }
    }
}
