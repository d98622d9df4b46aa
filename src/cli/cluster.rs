//! Many machines: a plan for a job engine, one class as a job, how far a directory is, and the end.

use super::reproduce::commit;
use super::{Failure, Outcome, RulesArg, ThreadsArg, print, print_json, progress_bar};
use clap::{Args, Subcommand, ValueEnum};
use doushouqi::benchmark::Machine;
use doushouqi::board::RuleOptions;
use doushouqi::cluster::slurm::{self, Jobs};
use doushouqi::cluster::{Plan, Rate, snakemake};
use doushouqi::cluster::{finish, status};
use doushouqi::tablebase::{ClassJob, JobDone, MAX_PIECES, Material, Options, Provenance, Solver};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Solve tables on many machines, a class a job, with the job engine that is there.
///
/// `plan` writes the classes as a Slurm script, a Snakefile, or JSON; each job is a `solve` of some classes in a directory
/// that all machines see; `status` says how far it is; `finish` checks everything and writes the manifest. The result is
/// byte for byte that of `dsq generate`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq cluster plan --pieces 5 --for slurm --tables /shared/tables > submit.sh && sh submit.sh\n  \
                        dsq cluster solve EPvLR --tables /shared/tables\n  \
                        dsq cluster status /shared/tables --pieces 5\n  dsq cluster finish /shared/tables --pieces 5"
)]
pub struct Cluster {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Plan(PlanCommand),
    Solve(SolveCommand),
    Status(StatusCommand),
    Finish(FinishCommand),
}

impl Cluster {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Plan(command) => command.run(),
            Command::Solve(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Finish(command) => command.run(),
        }
    }
}

/// What a plan is written for.
#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// A script that submits Slurm arrays, level by level.
    Slurm,
    /// A Snakefile; it reads the plan as JSON from plan.jsonl.
    Snakemake,
    /// One class a line, captures before what needs them.
    Json,
    /// Predicted hours by number of cores, from a simulation of the graph of classes.
    Hours,
}

/// Write what there is to solve as a job engine's own file.
#[derive(Args)]
struct PlanCommand {
    /// All materials of 2 to N pieces.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64))]
    pieces: u8,
    /// What to write.
    #[arg(long = "for", value_enum, value_name = "ENGINE")]
    engine: Engine,
    /// The directory of the tables, the same on all nodes.
    #[arg(long, default_value = "tables", value_name = "DIR")]
    tables: String,
    /// How many tasks run at a time: Slurm's bundles of classes are made so that there are four for each.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    nodes: u16,
    /// Of the most pieces keep only the counts.
    #[arg(long)]
    stats_only: bool,
    /// Rows of 4096 cells that a core solves in a second; measured in a few seconds here if not given.
    #[arg(long, value_name = "ROWS")]
    rate: Option<f64>,
    /// The program as the nodes call it.
    #[arg(long, default_value = "dsq", value_name = "PATH")]
    program: String,
    #[command(flatten)]
    rules: RulesArg,
}

#[derive(Serialize)]
struct Hours {
    cores: usize,
    hours: f64,
    core_hours: f64,
}

/// Seconds that a job takes besides solving, for starting, reading and the disk.
const JOB_SECONDS: f64 = 0.3;

impl PlanCommand {
    fn run(self) -> Outcome {
        let rules = self.rules.rules;
        let rows_per_second = match self.rate {
            Some(rate) if rate.is_finite() && rate > 0.0 => rate,
            Some(rate) => return Err(Failure::Input(format!("--rate {rate}: give a number of rows above 0"))),
            None => measure(&rules)?,
        };
        let rate = Rate { rows_per_second, job_seconds: JOB_SECONDS };
        let plan = Plan::new(&rules, self.pieces.into(), self.stats_only, rate);
        let spelling = rules.table_spelling();
        let jobs = Jobs {
            program: &self.program,
            dir: &self.tables,
            rules: &spelling,
            stats_only: self.stats_only,
            nodes: self.nodes.into(),
        };
        match self.engine {
            Engine::Json => plan.classes.iter().try_for_each(print_json),
            Engine::Slurm => print(slurm::script(&plan, &jobs).trim_end()),
            Engine::Snakemake => print(snakemake::snakefile(&plan, &jobs).trim_end()),
            Engine::Hours => [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].into_iter().try_for_each(|cores| {
                print_json(&Hours {
                    cores,
                    hours: plan.simulate(cores) / 3600.0,
                    core_hours: plan.core_seconds() / 3600.0,
                })
            }),
        }
    }
}

/// Rows of a class of four pieces that one core of this machine solves in a second.
fn measure(rules: &RuleOptions) -> Result<f64, Failure> {
    ThreadsArg::of(1).run(|| {
        let mut solver = Solver::new(rules, 4, Options::default());
        for pieces in 2..=3 {
            solver.solve_level(pieces, true, &|_, _| ())?;
        }
        let ids: Vec<_> = solver.classes().level(4).map(|(id, _)| id).step_by(9).collect();
        let rows: usize = ids.iter().map(|&id| solver.classes().get(id).index().rows).sum();
        let start = Instant::now();
        solver.solve_some(&ids, false, &|_, _| ())?;
        Ok(rows as f64 / start.elapsed().as_secs_f64())
    })?
}

/// Solve classes as one job: no lock, and what is there and whole is left alone.
#[derive(Args)]
struct SolveCommand {
    /// The classes, each by any of its materials. What captures lead to must be in the directory.
    #[arg(required = true, value_name = "CLASS")]
    classes: Vec<Material>,
    /// The directory of the tables.
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    /// Keep only the counts, in a file CLASS.json.
    #[arg(long)]
    stats_only: bool,
    /// The most memory to use, in GiB. What does not fit goes to temporary files; less than the planes of a class is
    /// refused before it starts.
    #[arg(long, default_value_t = 8, value_name = "GIB")]
    memory: usize,
    /// Where temporary files go; the directory of the tables if not given.
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Print JSON, one object a class.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Solved {
    class: Material,
    reused: bool,
    seconds: f64,
    bytes: u64,
}

impl SolveCommand {
    fn run(self) -> Outcome {
        self.threads.run(|| {
            for &material in &self.classes {
                let job = ClassJob {
                    dir: &self.tables,
                    rules: self.rules.rules,
                    material,
                    stats_only: self.stats_only,
                    memory_gib: self.memory,
                    spill: self.spill.as_deref().unwrap_or(&self.tables),
                    provenance: provenance(),
                };
                std::fs::create_dir_all(&self.tables)
                    .map_err(|e| Failure::Environment(format!("{}: {e}", self.tables.display())))?;
                let solved = match job.run()? {
                    JobDone::There(class) => Solved { class, reused: true, seconds: 0.0, bytes: 0 },
                    JobDone::Solved(counts) => {
                        Solved { class: counts.class, reused: false, seconds: counts.seconds, bytes: counts.bytes }
                    }
                };
                if self.json {
                    print_json(&solved)?;
                } else if solved.reused {
                    print(format_args!("{}: there already", solved.class))?;
                } else {
                    print(format_args!("{}: solved in {:.2} s", solved.class, solved.seconds))?;
                }
            }
            Ok(())
        })?
    }
}

fn provenance() -> Provenance {
    let machine = Machine::this(None);
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: Some(commit()).filter(|commit| !commit.is_empty() && commit != "unknown"),
        machine: format!("{}, {} cores, {}", machine.processor, machine.cores, machine.instructions),
    }
}

/// Say how far a directory of jobs is.
#[derive(Args)]
struct StatusCommand {
    /// The directory of the tables.
    dir: PathBuf,
    /// All materials of 2 to N pieces.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64))]
    pieces: u8,
    /// Rows of 4096 cells that a core solves in a second; measured in a few seconds here if not given.
    #[arg(long, value_name = "ROWS")]
    rate: Option<f64>,
    #[command(flatten)]
    rules: RulesArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Far {
    classes: usize,
    tables: usize,
    counted: usize,
    missing: usize,
    /// Files that are being written.
    running: usize,
    /// Files of writers that died.
    dead: usize,
    core_hours_left: f64,
}

impl StatusCommand {
    fn run(self) -> Outcome {
        let rules = self.rules.rules;
        let status = status(&self.dir, &rules, self.pieces.into())?;
        let rows_per_second = self.rate.map_or_else(|| measure(&rules), Ok)?;
        let plan = Plan::new(&rules, self.pieces.into(), true, Rate { rows_per_second, job_seconds: JOB_SECONDS });
        let left = plan.classes.iter().filter(|class| status.missing.contains(&class.class));
        let dead = status.partial.iter().filter(|file| file.dead == Some(true)).count();
        let far = Far {
            classes: plan.classes.len(),
            tables: status.tables.len(),
            counted: status.counted.len(),
            missing: status.missing.len(),
            running: status.partial.len() - dead,
            dead,
            core_hours_left: left.map(|class| class.seconds).sum::<f64>() / 3600.0,
        };
        if self.json {
            return print_json(&far);
        }
        print(format_args!(
            "{} classes: {} with tables, {} counted, {} missing; {} being written, {} left by dead writers; about {:.2} core-hours left",
            far.classes, far.tables, far.counted, far.missing, far.running, far.dead, far.core_hours_left
        ))
    }
}

/// Check every class, remove what dead jobs left, write the manifest.
#[derive(Args)]
struct FinishCommand {
    /// The directory of the tables.
    dir: PathBuf,
    /// All materials of 2 to N pieces.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64))]
    pieces: u8,
    /// Hours after which a half-written file of another machine counts as left by a dead job. Those of this machine are
    /// known to be dead by their process.
    #[arg(long, default_value_t = 24, value_name = "N")]
    hours: u64,
    #[command(flatten)]
    rules: RulesArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct End {
    tables: usize,
    counted: usize,
    missing: usize,
    swept: usize,
}

impl FinishCommand {
    fn run(self) -> Outcome {
        let bar = progress_bar(0, "tables").with_message("checking");
        let age = Duration::from_secs(self.hours.saturating_mul(3600));
        let result = finish(&self.dir, &self.rules.rules, self.pieces.into(), age, &|| bar.inc(1));
        bar.finish_and_clear();
        let end = result?;
        let missing: Vec<String> = end.status.missing.iter().map(ToString::to_string).collect();
        let counts = End {
            tables: end.status.tables.len(),
            counted: end.status.counted.len(),
            missing: missing.len(),
            swept: end.swept,
        };
        if self.json {
            print_json(&counts)?;
        } else {
            print(format_args!(
                "{} tables and {} counts are whole and listed; {} half-written files removed",
                counts.tables, counts.counted, counts.swept
            ))?;
        }
        match &missing[..] {
            [] => Ok(()),
            [first, ..] => {
                Err(Failure::Mismatch(format!("{} classes are missing, the first is {first}", missing.len())))
            }
        }
    }
}
