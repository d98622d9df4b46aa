//! The program `dsq`: one file a subcommand. Data goes to stdout, everything else to stderr.

mod analyze;
mod backend;
mod bench;
#[cfg(feature = "gpu")]
mod card;
#[cfg(not(feature = "gpu"))]
#[path = "no_card.rs"]
mod card;
mod charts;
mod class_plan;
mod cluster;
mod cluster_check;
mod cluster_report;
mod compare;
mod completions;
mod control;
mod devices;
mod dry_run;
mod export;
mod gadgets;
mod general;
mod generate;
mod help;
mod machine;
mod man;
mod matches;
mod mine;
mod perft;
mod play;
mod probe;
mod progress;
mod record;
mod reduce;
mod repack;
mod reproduce;
mod serve;
mod solve;
mod stats;
mod tune;
mod uci;
mod verify;

use clap::{Args, FromArgMatches, Parser, Subcommand};
use doushouqi::board::{FenError, Position, RuleOptions};
use doushouqi::cpu::CpuLevel;
use doushouqi::tablebase::{SetError, SolveError, TableError, TableProber, TableSet};
use progress::progress_bar;
use report::text::grouped;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

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
                  dsq compare --pieces 3     solve on processor and graphics card and compare\n\n\
                  Exit codes: 0 success, 1 a comparison or verification failed, 2 wrong input,\n\
                  3 the environment (memory, disk), 130 interrupted by Ctrl-C.\n\
                  With --json every line of stdout is one JSON object."
)]
struct Cli {
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
    Export(export::Export),
    Cluster(cluster::Cluster),
    Compare(compare::Compare),
    Devices(devices::Devices),
    Mine(mine::Mine),
    Match(matches::MatchCommand),
    Uci(uci::Uci),
    Play(play::Play),
    Analyze(analyze::Analyze),
    Bench(bench::Bench),
    /// The former name of `bench machine`.
    #[command(hide = true)]
    Benchmark(machine::MachineCommand),
    Tune(tune::Tune),
    General(general::General),
    Gadgets(gadgets::Gadgets),
    Reduce(reduce::Reduce),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        CpuLevel::asked().map_err(|error| Failure::Input(error.to_string()))?;
        match self {
            Command::Serve(command) => command.run(),
            Command::Reproduce(command) => command.run(),
            Command::Perft(command) => command.run(),
            Command::Solve(command) => command.run(),
            Command::Generate(command) => command.run(),
            Command::Probe(command) => command.run(),
            Command::Verify(command) => command.run(),
            Command::Stats(command) => command.run(),
            Command::Repack(command) => command.run(),
            Command::Export(command) => command.run(),
            Command::Cluster(command) => command.run(),
            Command::Compare(command) => command.run(),
            Command::Devices(command) => command.run(),
            Command::Mine(command) => command.run(),
            Command::Match(command) => command.run(),
            Command::Uci(command) => command.run(),
            Command::Play(command) => command.run(),
            Command::Analyze(command) => command.run(),
            Command::Bench(command) => command.run(),
            Command::Benchmark(command) => command.run(),
            Command::Tune(command) => command.run(),
            Command::General(command) => command.run(),
            Command::Gadgets(command) => command.run(),
            Command::Reduce(command) => command.run(),
            Command::Completions(command) => command.run(),
            Command::Man(command) => command.run(),
        }
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::from_arg_matches(&help::command().get_matches()).unwrap_or_else(|error| error.exit());
    match cli.command.run() {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(failure.report()),
    }
}

/// Why the program ends with something else than 0. The exit codes are listed in docs/commands.md.
#[derive(Debug)]
enum Failure {
    /// A comparison or verification failed; a file whose checksum is wrong, too.
    Mismatch(String),
    /// The arguments, or what they name, are wrong: a file that does not exist or cannot be understood.
    Input(String),
    /// The machine does not give what is needed.
    Environment(String),
    /// Standard output cannot be written.
    Output(io::Error),
    /// Ctrl-C or SIGTERM.
    Interrupted(String),
}

impl Failure {
    fn exit_code(&self) -> u8 {
        match self {
            Failure::Mismatch(_) => 1,
            Failure::Input(_) => 2,
            Failure::Environment(_) | Failure::Output(_) => 3,
            Failure::Interrupted(_) => 130,
        }
    }

    /// Says on stderr what went wrong, and returns the exit code.
    fn report(&self) -> u8 {
        eprintln!("dsq: {self}");
        self.exit_code()
    }

    /// Why a file or directory cannot be read. It is wrong input if it does not exist or is no text.
    fn reading(path: impl fmt::Display, error: &io::Error) -> Failure {
        failure_of_io(error)(format!("cannot read {path}: {error}"))
    }
}

/// The kind of a failure, which its text makes whole.
type FailureKind = fn(String) -> Failure;

fn failure_of_io(error: &io::Error) -> FailureKind {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidData => Failure::Input,
        _ => Failure::Environment,
    }
}

fn failure_of_set(error: &SetError) -> FailureKind {
    match error {
        SetError::Solve(error) => failure_of_solve(error),
        SetError::Table(TableError::Io { source, .. }) => failure_of_io(source),
        SetError::Table(TableError::Damaged { .. }) => Failure::Mismatch,
        SetError::Locked { .. } | SetError::Memory { .. } | SetError::ProofMemory { .. } => Failure::Environment,
        _ => Failure::Input,
    }
}

fn failure_of_solve(error: &SolveError) -> FailureKind {
    match error {
        SolveError::TooManyPieces { .. } => Failure::Input,
        _ => Failure::Environment,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Mismatch(text)
            | Failure::Input(text)
            | Failure::Environment(text)
            | Failure::Interrupted(text) => f.write_str(text),
            Failure::Output(error) => write!(f, "cannot write to standard output: {error}"),
        }
    }
}

impl From<FenError> for Failure {
    fn from(error: FenError) -> Failure {
        Failure::Input(error.to_string())
    }
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Failure {
        failure_of_solve(&error)(error.to_string())
    }
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Failure {
        let kind = failure_of_set(&error);
        match error {
            SetError::Table(error) if can_be_made_again(&error) => kind(format!("{error}; {MAKE_AGAIN}")),
            error => kind(error.to_string()),
        }
    }
}

/// Whether to delete the file and make it again is the cure.
fn can_be_made_again(error: &TableError) -> bool {
    matches!(error, TableError::Damaged { .. } | TableError::Foreign { .. } | TableError::Material { .. })
}

/// What to do about a damaged file.
const MAKE_AGAIN: &str =
    "delete what is damaged, and `dsq generate` (in a cluster job, `dsq cluster solve`) makes it again";

/// What goes wrong in a command that resumes its work when it is given again.
fn resumable(error: SetError) -> Failure {
    match error {
        SetError::Table(TableError::Io { .. }) | SetError::Solve(SolveError::Disk { .. }) => {
            failure_of_set(&error)(format!("{error}; {RESUME}"))
        }
        error => error.into(),
    }
}

/// How such a command goes on.
const RESUME: &str = "finished classes are kept: run the same command again to resume";

type Outcome = Result<(), Failure>;

/// Writes a line to stdout at once, so that who reads along sees it.
fn print(line: impl fmt::Display) -> Outcome {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(Failure::Output)
}

/// Writes one JSON object as a line.
fn print_json(value: &impl serde::Serialize) -> Outcome {
    print(serde_json::to_string(value).expect("what we print is JSON"))
}

#[derive(Args)]
struct RulesArg {
    /// The rules: a preset (paper, cazaux, bodlaender, quadibloc, bell, chinese), then changes as key=value.
    ///
    /// Keys and values, default first: elephant-takes-rat=yes|no, shore=elephant-safe|none|no-exit,
    /// traps=opponent|any|none|sanctuary, dog-over-wolf=yes|no, tiger-leap=both|files|ranks|none,
    /// own-rat-blocks=yes|no, no-move=draw|loss, repetition=threefold|twofold|illegal|none.
    #[arg(long, default_value = "paper", value_name = "RULES")]
    rules: RuleOptions,
}

#[derive(Args)]
struct OptionalRulesArg {
    /// The rules, as for `dsq generate`. Tables of other rules are refused; without this option the rules are those of the
    /// tables, and paper where no tables are named.
    #[arg(long, value_name = "RULES")]
    rules: Option<RuleOptions>,
}

#[derive(Args)]
struct ThreadsArg {
    /// Number of threads; all processors if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl ThreadsArg {
    /// That many.
    fn of(threads: usize) -> ThreadsArg {
        ThreadsArg { threads: Some(u16::try_from(threads).unwrap_or(u16::MAX)) }
    }

    /// How many.
    fn count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Calls `f` with this many threads at its service.
    fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        let mut builder = rayon::ThreadPoolBuilder::new();
        if let Some(threads) = self.threads {
            builder = builder.num_threads(threads.into());
        }
        let pool = builder.build().map_err(|e| Failure::Environment(format!("cannot start threads: {e}")))?;
        Ok(pool.install(f))
    }
}

/// Opens tables for `rules`, or for the rules that they were generated for.
fn open_tables(dir: &Path, rules: Option<RuleOptions>) -> Result<TableProber, Failure> {
    let set = TableSet::open(dir)?;
    let rules = rules.unwrap_or(*set.rules().options());
    Ok(set.prober(&rules)?)
}

/// The position that a FEN says, or the start.
fn position(fen: Option<&str>) -> Result<Position, Failure> {
    Ok(fen.map_or_else(|| Ok(Position::start()), Position::from_fen)?)
}
