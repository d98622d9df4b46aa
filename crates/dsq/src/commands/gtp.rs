use crate::arguments::{LevelArgs, NoCaptureArg, SearchArgs};
use crate::failure::failure_of_session;
use clap::Args;
use cli::arguments::RulesArg;
use cli::failure::Outcome;
use doushouqi::board::Rules;
use doushouqi::search::Limits;
use protocols::gtp::{GtpOptions, run};
use std::io;
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
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    level: LevelArgs,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    no_capture: NoCaptureArg,
}

impl Gtp {
    pub fn run(self) -> Outcome {
        let engine = self.search.engine(&self.rules.rules)?;
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
