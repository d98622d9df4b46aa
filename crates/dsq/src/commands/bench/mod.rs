mod compare;
mod machine;

use crate::arguments::{LevelArgs, SearchThreadsArg};
use crate::backend::DeviceArg;
use crate::gpu;
use clap::{Args, Subcommand};
use cli::arguments::{Common, JsonArg, RulesArg, SeedArg, at_least_one};
use cli::evaluation::named_evaluation;
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use cli::progress::progress_bar;
use compare::Compare;
use doushouqi::board::Rules;
use doushouqi::search::{EngineOptions, Tables, bench};
use doushouqi::tablebase::MAX_PIECES;
use machine::MachineCommand;
use report::figures::{self, FiguresError};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use study::endgame_moves::{EndgameMoves, endgame_moves, endgame_positions};

/// Measure the engine's signature and speed, its play in endgames, or the speed of this machine and its GPUs.
///
/// Without a subcommand the engine searches twenty fixed positions to a fixed depth, each with an empty transposition
/// table of 16 MiB. The last line is `NODES nodes SPEED nps`. With one thread the number of nodes is the same on every
/// machine, and changes only if the search or the evaluation changes.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  dsq bench\n  dsq bench --depth 18 --threads 2 --json\n  \
                  dsq bench endgames --positions 500 --movetime 1000\n  \
                  dsq bench endgames --positions 500 --nodes 1000 --with-tables\n  \
                  dsq bench machine --out results\n  dsq bench report results\n  \
                  dsq bench devices\n  dsq bench compare --pieces 3\n  \
                  dsq bench kernels --pieces 4"
)]
pub struct Bench {
    #[command(subcommand)]
    what: Option<What>,
    /// Depth of the search in plies.
    #[arg(long, default_value_t = bench::DEPTH, value_parser = clap::value_parser!(u32).range(1..=i64::from(bench::MAX_DEPTH)))]
    depth: u32,
    #[command(flatten)]
    threads: SearchThreadsArg,
    /// The evaluation: default, burnett or the file of a network.
    #[arg(long, value_name = "NAME", default_value = "default")]
    evaluation: String,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Subcommand)]
enum What {
    Compare(Compare),
    Devices(Devices),
    Endgames(Endgames),
    Kernels(Kernels),
    Machine(MachineCommand),
    Report(Report),
}

/// Write figures.md and its plots from the results in a directory.
///
/// The command reads perft.jsonl, endgames.jsonl and tables.jsonl, which `dsq perft`, `dsq solve` and `dsq stats` print
/// with --json, and the benchmark-*.json of `dsq bench machine --out`.
#[derive(Args)]
struct Report {
    /// The directory of the results.
    dir: PathBuf,
}

/// List the graphics adapters, with the limits that matter to dsq.
#[derive(Args)]
struct Devices {
    #[command(flatten)]
    json: JsonArg,
}

/// Measure where the time of solving on a GPU goes: each kernel by depth, and the work of the host.
///
/// The GPU measures the kernels itself. Every submission waits for its end, so the whole takes longer than `dsq solve`.
#[derive(Args)]
struct Kernels {
    /// Solve all materials of 2 to N pieces, and measure those of N pieces.
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64))]
    pieces: u8,
    #[command(flatten)]
    device: DeviceArg,
    #[command(flatten)]
    common: Common,
}

/// Compare the engine's moves in random endgames of three and four pieces with the tables.
///
/// For the side to move, a third of the positions is won, a third drawn and a third lost. A move is counted as good if
/// it keeps that value, and as best if it also takes the shortest way to a win or the longest way to a loss. Without a
/// limit, the engine searches each position for one second.
#[derive(Args)]
struct Endgames {
    /// Number of positions.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = at_least_one::<usize>())]
    positions: usize,
    #[command(flatten)]
    seed: SeedArg,
    #[command(flatten)]
    level: LevelArgs,
    /// Let the engine probe the tables.
    #[arg(long)]
    with_tables: bool,
    /// The evaluation: default, burnett or the file of a network.
    #[arg(long, value_name = "NAME", default_value = "default")]
    evaluation: String,
    #[command(flatten)]
    common: Common,
}

impl Bench {
    pub fn run(self) -> Outcome {
        match self.what {
            Some(What::Compare(compare)) => return compare.run(),
            Some(What::Devices(devices)) => return gpu::list(devices.json.on),
            Some(What::Endgames(endgames)) => return endgames.run(),
            Some(What::Kernels(kernels)) => return kernels.run(),
            Some(What::Machine(machine)) => return machine.run(),
            Some(What::Report(report)) => return report.run(),
            None => {}
        }
        let rules = Rules::new(self.rules.rules);
        let evaluation = named_evaluation(&self.evaluation)?;
        let options = bench::options().threads(self.threads.count()).evaluation(evaluation);
        let report = bench::bench(self.depth, &options, &rules);
        if self.json.on {
            return print_json(&report);
        }
        print(report)
    }
}

#[derive(Serialize)]
struct EndgamesReport {
    seed: u64,
    with_tables: bool,
    total: EndgameMoves,
    won: EndgameMoves,
    drawn: EndgameMoves,
    lost: EndgameMoves,
}

impl Endgames {
    fn run(self) -> Outcome {
        let rules = Rules::new(*self.common.rules());
        let limits = self.level.or_a_second().limits(Duration::ZERO);
        let evaluation = named_evaluation(&self.evaluation)?;
        let bar = progress_bar(self.positions as u64, "positions");
        let found = self.common.threads.run(|| -> Result<_, Failure> {
            let tables = Arc::new(Tables::solve(rules.options(), 4)?);
            let positions = endgame_positions(self.positions, self.seed.seed, &rules, &tables);
            let options = EngineOptions::default().hash_mib(16).evaluation(evaluation);
            let options = options.tables(self.with_tables.then(|| tables.clone()));
            Ok(endgame_moves(&positions, &options, &limits, &rules, &tables, &|| bar.inc(1)))
        });
        let [won, drawn, lost] = found??;
        bar.finish_and_clear();
        let (total, with_tables) = (won.plus(drawn).plus(lost), self.with_tables);
        if self.common.json.on {
            return print_json(&EndgamesReport { seed: self.seed.seed, with_tables, total, won, drawn, lost });
        }
        let parts = [("won", won), ("drawn", drawn), ("lost", lost), ("all", total)];
        for (name, moves) in parts {
            let share = |n: usize| 100.0 * n as f64 / moves.positions.max(1) as f64;
            print(format_args!(
                "{name:6} {:5} positions, {:5.1} % of moves keep the value, {:5.1} % are best",
                moves.positions,
                share(moves.kept),
                share(moves.best)
            ))?;
        }
        Ok(())
    }
}

impl Kernels {
    fn run(self) -> Outcome {
        let (rules, pieces, json) = (self.common.rules(), self.pieces.into(), self.common.json.on);
        self.common.threads.run(|| gpu::times(rules, pieces, &self.device, json))?
    }
}

impl Report {
    fn run(self) -> Outcome {
        let files = figures::write(&self.dir).map_err(|error| match &error {
            FiguresError::Read { path, source } => Failure::reading(path.display(), source),
            FiguresError::Write { .. } => Failure::Environment(error.to_string()),
            _ => Failure::Input(error.to_string()),
        })?;
        files.iter().try_for_each(|file| print(file.display()))
    }
}
