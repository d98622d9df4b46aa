//! Many machines: a plan for a job engine, one class as a job, how far a directory is, and the end.

mod check;
mod report;

use crate::arguments::{Memory, RulesArg, ThreadsArg, at_least_one};
use crate::backend::Backend;
use crate::class_plan::{RateArg, print_plan};
use crate::failure::{Failure, Outcome, RESUME, resumable};
use crate::gpu;
use crate::output::{make_dir, print, print_json};
use crate::progress::{exit_on_interrupt, progress_bar};
use crate::provenance::{COMMIT, VERSION, machine};
use ::report::plot::{Axis, Line, line_chart};
use check::CheckCommand;
use clap::{Args, Subcommand, ValueEnum};
use cluster::slurm::{self, Jobs};
use cluster::{Plan, snakemake};
use doushouqi::tablebase::{
    BufferPool, ClassCounts, ClassJob, Classes, CpuBackend, Index, JobDone, Material, Options, OrElse, Provenance,
    Solver, finish, status,
};
use indicatif::ProgressBar;
use report::ReportCommand;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    Check(CheckCommand),
    Report(ReportCommand),
}

impl Cluster {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Plan(command) => command.run(),
            Command::Solve(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Finish(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Report(command) => command.run(),
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
    /// Predicted hours by number of cores, from a simulation of the graph of classes, as JSON.
    Hours,
    /// The same as a plot, SVG.
    Plot,
}

/// Write what there is to solve as a job engine's own file.
#[derive(Args)]
struct PlanCommand {
    /// All materials of 2 to N pieces.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=Index::MAX_PIECES as i64))]
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
    /// The most memory of a job, in whole GiB, as 10GiB. What does not fit goes to temporary files, and values are solved part
    /// by part; without this option every class has all in memory.
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,
    /// Where the jobs' temporary files go, a directory of the nodes; the directory of the tables if not given.
    #[arg(long, value_name = "DIR")]
    spill: Option<String>,
    #[command(flatten)]
    rate: RateArg,
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

impl PlanCommand {
    fn run(self) -> Outcome {
        let rules = self.rules.rules;
        let rate = self.rate.get(&rules)?;
        let whole = |memory: Memory| {
            memory.gib().ok_or_else(|| Failure::Input("--memory: jobs request whole GiB, as 10GiB".to_owned()))
        };
        let limit = self.memory.map(whole).transpose()?;
        let plan = Plan::new(&rules, self.pieces.into(), self.stats_only, rate, limit);
        let most = plan.classes.iter().max_by_key(|class| class.memory_gib);
        if let (Some(limit), Some(class)) = (limit, most)
            && class.memory_gib > limit
        {
            let (needed, name) = (class.memory_gib, class.class);
            return Err(Failure::Input(format!("--memory {limit}GiB: solving {name} takes {needed} GiB at least")));
        }
        let spelling = rules.table_spelling();
        let jobs = Jobs {
            program: &self.program,
            dir: &self.tables,
            rules: &spelling,
            stats_only: self.stats_only,
            spill: self.spill.as_deref(),
            nodes: self.nodes.into(),
        };
        match self.engine {
            Engine::Json => plan.classes.iter().try_for_each(print_json),
            Engine::Slurm => print(slurm::script(&plan, &jobs).trim_end()),
            Engine::Snakemake => print(snakemake::snakefile(&plan, &jobs).trim_end()),
            Engine::Hours => CORES.into_iter().try_for_each(|cores| {
                print_json(&Hours {
                    cores,
                    hours: plan.simulate(cores) / 3600.0,
                    core_hours: plan.core_seconds() / 3600.0,
                })
            }),
            Engine::Plot => print(plot(&plan)?.trim_end()),
        }
    }
}

/// The numbers of cores that predictions are made for.
const CORES: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Predicted hours by number of cores: as the graph of classes allows, and as if nothing waited for anything.
fn plot(plan: &Plan) -> Result<String, Failure> {
    let over = |name: &str, seconds: &dyn Fn(usize) -> f64| Line {
        name: name.to_owned(),
        points: CORES.iter().map(|&cores| (cores as f64, seconds(cores) / 3600.0)).collect(),
    };
    let lines = [
        over("predicted", &|cores| plan.simulate(cores)),
        over("if no class waited", &|cores| plan.core_seconds() / cores as f64),
    ];
    let title = format!("{} classes of 2 to {} pieces", plan.classes.len(), plan.pieces());
    let log = |label| Axis { label, log: true };
    Ok(line_chart(&title, log("cores, a class each"), log("hours"), &lines)?)
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
    /// With --stats-only, the directory of the counts; that of the tables if not given.
    #[arg(long, value_name = "DIR", requires = "stats_only")]
    counts: Option<PathBuf>,
    /// Solve nothing: print what each class would take.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    rate: RateArg,
    /// The most memory to use. What does not fit goes to temporary files; less than the planes of a class is
    /// refused before it starts.
    #[arg(long, value_name = "SIZE", default_value = "8GiB")]
    memory: Memory,
    /// Where temporary files go; the directory of the tables if not given.
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
    /// What solves: cpu, gpu (a software driver too), or auto: a GPU in hardware if there is one, else cpu. The files are
    /// the same. With a GPU all values that captures lead to are in memory, and no temporary files are written.
    #[arg(long, value_name = "BACKEND", default_value = "cpu", hide_possible_values = true)]
    backend: Backend,
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
    /// What was planned, and what the process had at most.
    bytes: u64,
    peak_bytes: Option<u64>,
}

impl SolveCommand {
    fn run(self) -> Outcome {
        if self.dry_run {
            return self.plan();
        }
        let counts = self.counts.as_ref().unwrap_or(&self.tables);
        for dir in [&self.tables, counts] {
            make_dir(dir)?;
        }
        exit_on_interrupt(&ProgressBar::hidden(), RESUME)?;
        let pool = BufferPool::default();
        let mut solver = self.gpu_solver()?;
        let mut solve = |&material| self.solve(material, counts, &pool, solver.as_mut());
        self.threads.run(|| self.classes.iter().try_for_each(&mut solve))?
    }

    /// What solves on a GPU, if one is wanted and there.
    fn gpu_solver(&self) -> Result<Option<Solver>, Failure> {
        let Some(gpu) = gpu::backend(self.backend)? else { return Ok(None) };
        let most = self.classes.iter().map(|material| material.len()).max().unwrap_or(2);
        let solver = Solver::new(&self.rules.rules, most, Options::default());
        Ok(Some(match self.backend {
            Backend::Auto => solver.on(OrElse::new(gpu, CpuBackend::default())),
            _ => solver.on(gpu),
        }))
    }

    fn solve(&self, material: Material, counts: &Path, pool: &BufferPool, solver: Option<&mut Solver>) -> Outcome {
        let job = ClassJob {
            dir: &self.tables,
            rules: self.rules.rules,
            material,
            stats_only: self.stats_only.then_some(counts),
            memory: self.memory.bytes(),
            spill: self.spill.as_deref().unwrap_or(&self.tables),
            provenance: provenance(),
            pool: pool.clone(),
        };
        let done = match solver {
            Some(solver) => job.run_with(solver),
            None => job.run(),
        };
        let solved = match done.map_err(resumable)? {
            JobDone::There(class) => Solved { class, reused: true, seconds: 0.0, bytes: 0, peak_bytes: None },
            JobDone::Solved(counts) => {
                let ClassCounts { class, seconds, bytes, peak_bytes, .. } = *counts;
                Solved { class, reused: false, seconds, bytes, peak_bytes }
            }
        };
        if self.json {
            print_json(&solved)
        } else if solved.reused {
            print(format_args!("{}: there already", solved.class))
        } else {
            print(format_args!("{}: solved in {:.2} s", solved.class, solved.seconds))
        }
    }

    /// What the job would take.
    fn plan(&self) -> Outcome {
        let most = self.classes.iter().map(|material| material.len()).max().unwrap_or(2);
        let classes = Classes::new(&self.rules.rules, most);
        let id = |&material: &Material| match classes.member(material) {
            Some(member) => Ok((member.class, !self.stats_only)),
            None => Err(Failure::Input(format!("{material} has more than {} pieces", classes.pieces()))),
        };
        let ids: Vec<_> = self.classes.iter().map(id).collect::<Result<_, _>>()?;
        print_plan(&classes, ids, &self.rate, Some((self.memory.bytes() >> 30) as u64), self.json)
    }
}

fn provenance() -> Provenance {
    let machine = machine(None);
    Provenance {
        version: VERSION.to_owned(),
        commit: Some(COMMIT).filter(|&commit| commit != "unknown").map(str::to_owned),
        machine: format!("{}, {} cores, {}", machine.cpu, machine.cores, machine.instructions),
    }
}

/// Say how far a directory of jobs is.
#[derive(Args)]
struct StatusCommand {
    /// The directory of the tables.
    dir: PathBuf,
    /// All materials of 2 to N pieces.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=Index::MAX_PIECES as i64))]
    pieces: u8,
    #[command(flatten)]
    rate: RateArg,
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
        let plan = Plan::new(&rules, self.pieces.into(), true, self.rate.get(&rules)?, None);
        let left = plan.classes.iter().filter(|class| status.missing.contains(&class.class));
        let dead = status.partial.iter().filter(|file| file.dead == Some(true)).count();
        let far = Far {
            classes: plan.classes.len(),
            tables: status.tables.len(),
            counted: status.counted.len(),
            missing: status.missing.len(),
            running: status.partial.len() - dead,
            dead,
            // The sum of no numbers is -0.0.
            core_hours_left: left.fold(0.0, |seconds, class| seconds + class.seconds) / 3600.0,
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=Index::MAX_PIECES as i64))]
    pieces: u8,
    /// Hours after which a half-written file of another machine counts as left by a dead job. Those of this machine are
    /// known to be dead by their process.
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = at_least_one::<u64>())]
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
        let end = result.map_err(resumable)?;
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
