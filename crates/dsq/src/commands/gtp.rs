use crate::arguments::{LevelArgs, NoCaptureArg};
use crate::failure::failure_of_session;
use clap::Args;
use cli::arguments::RulesArg;
use cli::failure::Outcome;
use doushouqi::board::Rules;
use doushouqi::search::{EngineOptions, Limits, TableCache};
use protocols::gtp::{GtpOptions, run};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Run the engine under GTP, the Go Text Protocol, on standard input and output.
///
/// Vertices, letters and colours are as in KataGomo's AnimalChess: A1 to G9, J for the panther, b for the side that
/// begins. A move is one word, A3B3; with --two-stage it is two commands, as in KataGomo: first the square that the
/// piece leaves, then the square that it enters. list_commands lists the commands.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq gtp --movetime 1000\n  dsq gtp --two-stage --rules chinese\n  \
                        printf 'genmove b\\nquit\\n' | dsq gtp --nodes 100000")]
pub struct Gtp {
    /// Split each move into two commands: the square that the piece leaves, then the square that it enters.
    #[arg(long)]
    two_stage: bool,
    /// Size of the transposition table in MiB.
    #[arg(long, value_name = "MIB", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
    /// Number of search threads.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Use these endgame tables: a directory of `dsq generate`, one of `dsq repack --wdl`, or both, separated by `:` (on
    /// Windows `;`).
    #[arg(long, value_name = "PATH")]
    tables: Option<PathBuf>,
    #[command(flatten)]
    level: LevelArgs,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    no_capture: NoCaptureArg,
}

impl Gtp {
    pub fn run(self) -> Outcome {
        let mut engine = EngineOptions::default().hash_mib(self.hash as usize).threads(self.threads.into());
        if let Some(dir) = &self.tables {
            engine.tables = Some(TableCache::default().get(dir, &self.rules.rules)?);
        }
        let limits = self.level.get().map_or_else(Limits::default, |control| control.limits(Duration::ZERO));
        let options = GtpOptions {
            engine,
            rules: Rules::new(self.rules.rules),
            no_capture_limit: self.no_capture.get(),
            limits,
            two_stage: self.two_stage,
        };
        run(io::stdin().lock(), io::stdout(), options).map_err(failure_of_session)
    }
}
