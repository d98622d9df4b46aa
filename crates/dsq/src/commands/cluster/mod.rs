//! Tables on many machines: the plan for a job engine, the job of a class, and the status and completion of a
//! directory.

mod check;
mod levels;
mod report;

use crate::arguments::{TableRulesArg, gpu_solver};
use crate::backend::{Backend, DeviceArg};
use crate::class_plan::{RateArg, print_plan};
use crate::failure::{RESUME, resumable};
use crate::provenance::{COMMIT, VERSION, machine};
use ::report::plot::{Axis, Line, line_chart};
use ::report::text::binary_bytes;
use check::CheckCommand;
use clap::{Args, Subcommand, ValueEnum};
use cli::arguments::{JsonArg, Memory, MemoryArg, ThreadsArg, at_least_one};
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, print_json};
use cli::progress::{exit_on_interrupt, progress_bar};
use cluster::slurm::{self, Jobs};
use cluster::{Machines, Plan, snakemake};
use doushouqi::tablebase::{
    BufferPool, ClassCounts, ClassJob, Classes, CpuBackend, Index, JobDone, Material, Provenance, Solver, finish,
    status,
};
use indicatif::ProgressBar;
use report::ReportCommand;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Solve tables on many machines with an existing job engine. The unit of work is the class.
///
/// `plan` writes the classes as a Slurm script, a Snakefile or JSON. Each job runs `solve` for some classes, in a
/// directory that all machines share. `status` reports the progress of the directory; `finish` checks the tables and
/// writes the manifest. The files are byte for byte those of `dsq generate`.
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

/// The output format of a plan.
#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// A script that submits Slurm job arrays, level by level.
    Slurm,
    /// A Snakefile, which reads the plan as JSON from plan.jsonl.
    Snakemake,
    /// One class per line, after the classes that its captures lead to.
    Json,
    /// The needs of each number of pieces as a Markdown table.
    Table,
    /// Predicted hours by number of jobs at once as JSON, from a simulation of the graph of classes.
    Hours,
    /// The predicted hours as an SVG plot.
    Plot,
}

/// Write the classes to solve as the input of a job engine.
#[derive(Args)]
struct PlanCommand {
    /// All materials of 2 to N pieces.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=Index::MAX_PIECES as i64))]
    pieces: u8,
    /// The format of the plan.
    #[arg(long = "for", value_enum, value_name = "ENGINE")]
    engine: Engine,
    /// The directory of the tables, the same on all nodes.
    #[arg(long, default_value = "tables", value_name = "DIR")]
    tables: String,
    /// Number of tasks that run at the same time. A Slurm task is a bundle of classes; the plan contains up to four
    /// bundles for each.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    jobs: u16,
    /// Keep only the counts of the classes with the most pieces.
    #[arg(long)]
    stats_only: bool,
    /// The maximum memory of a job in whole GiB, such as 10GiB. Conversions that do not fit go to temporary files;
    /// values that do not fit come from a change log there. Without this option every class keeps everything in memory.
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,
    /// With --for hours and plot: the cores of each job.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    cores_per_job: u16,
    /// With --for hours and plot: the bytes that the file system reads and writes per second for all jobs together,
    /// such as 2GiB. Without this option files take no time.
    #[arg(long, value_name = "SIZE")]
    bandwidth: Option<Memory>,
    /// The directory of the jobs' temporary files, on the nodes; by default the directory of the tables.
    #[arg(long, value_name = "DIR")]
    spill: Option<String>,
    #[command(flatten)]
    rate: RateArg,
    /// The path of dsq on the nodes.
    #[arg(long, default_value = "dsq", value_name = "PATH")]
    program: String,
    #[command(flatten)]
    rules: TableRulesArg,
}

#[derive(Serialize)]
struct Hours {
    jobs: usize,
    cores: usize,
    hours: f64,
    core_hours: f64,
}

impl PlanCommand {
    fn run(self) -> Outcome {
        let rules = self.rules.rules;
        let rate = self.rate.get(&rules)?;
        let whole = |memory: Memory| {
            memory.gib().ok_or_else(|| Failure::Input("--memory: jobs request whole GiB, such as 10GiB".to_owned()))
        };
        let limit = self.memory.map(whole).transpose()?;
        let plan = Plan::new(&rules, self.pieces.into(), self.stats_only, rate, limit);
        let most = plan.classes.iter().max_by_key(|class| class.memory_gib);
        if let (Some(limit), Some(class)) = (limit, most)
            && class.memory_gib > limit
        {
            let (needed, name) = (class.memory_gib, class.class);
            return Err(Failure::Input(format!("--memory {limit}GiB: solving {name} takes at least {needed} GiB")));
        }
        let spelling = rules.table_spelling();
        let jobs = Jobs {
            program: &self.program,
            dir: &self.tables,
            rules: &spelling,
            stats_only: self.stats_only,
            spill: self.spill.as_deref(),
            nodes: self.jobs.into(),
        };
        match self.engine {
            Engine::Json => plan.classes.iter().try_for_each(print_json),
            Engine::Slurm => print(slurm::script(&plan, &jobs).trim_end()),
            Engine::Snakemake => print(snakemake::snakefile(&plan, &jobs).trim_end()),
            Engine::Table => print(levels::table(&plan).trim_end()),
            Engine::Hours => JOBS.into_iter().try_for_each(|jobs| {
                print_json(&Hours {
                    jobs,
                    cores: jobs * usize::from(self.cores_per_job),
                    hours: plan.simulate(&self.machines(jobs)) / 3600.0,
                    core_hours: plan.core_seconds() / 3600.0,
                })
            }),
            Engine::Plot => print(self.plot(&plan)?.trim_end()),
        }
    }

    fn machines(&self, jobs: usize) -> Machines {
        let bytes_per_second = self.bandwidth.map(|memory| memory.bytes() as f64);
        Machines { jobs, cores_per_job: self.cores_per_job.into(), bytes_per_second }
    }

    /// The predicted hours by number of jobs at once, with the dependencies of the classes, and without any waiting for
    /// other classes or for files.
    fn plot(&self, plan: &Plan) -> Result<String, Failure> {
        let over = |name: &str, seconds: &dyn Fn(usize) -> f64| Line {
            name: name.to_owned(),
            points: JOBS.iter().map(|&jobs| (jobs as f64, seconds(jobs) / 3600.0)).collect(),
        };
        let cores = |jobs: usize| jobs * usize::from(self.cores_per_job);
        let lines = [
            over("predicted", &|jobs| plan.simulate(&self.machines(jobs))),
            over("if no class waited", &|jobs| plan.core_seconds() / cores(jobs) as f64),
        ];
        let title = format!("{} classes of 2 to {} pieces", plan.classes.len(), plan.pieces());
        let log = |label| Axis { label, log: true };
        let jobs = match self.cores_per_job {
            1 => "cores, one class per core".to_owned(),
            cores => format!("jobs at once, {cores} cores each"),
        };
        Ok(line_chart(&title, log(&jobs), log("hours"), &lines)?)
    }
}

/// The numbers of jobs at once for which `plan` predicts the time.
const JOBS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Solve classes as one job, without a lock and without replacing complete files.
///
/// Conversions that do not fit into the memory go to temporary files. A job whose planes do not fit is rejected before it
/// starts.
#[derive(Args)]
struct SolveCommand {
    /// The classes, each named by any of its materials. The directory must contain the tables that their captures lead
    /// to.
    #[arg(required = true, value_name = "CLASS")]
    classes: Vec<Material>,
    /// The directory of the tables.
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    /// Keep only the counts, in a file CLASS.json.
    #[arg(long)]
    stats_only: bool,
    /// With --stats-only, the directory of the counts; by default the directory of the tables.
    #[arg(long, value_name = "DIR", requires = "stats_only")]
    counts: Option<PathBuf>,
    /// Solve nothing; print the needs of each class.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    rate: RateArg,
    #[command(flatten)]
    memory: MemoryArg,
    /// The directory of temporary files, and of a folder `restored` with what is made of repacked tables, for later jobs too; by
    /// default the directory of the tables.
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
    /// The backend: cpu, gpu (also a software driver), or auto: a hardware GPU if there is one, else cpu. The files are
    /// the same. With a GPU, all values that captures lead to are in memory, and the job writes no temporary files.
    #[arg(long, value_name = "BACKEND", default_value = "cpu", hide_possible_values = true)]
    backend: Backend,
    #[command(flatten)]
    device: DeviceArg,
    #[command(flatten)]
    rules: TableRulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Serialize)]
struct Solved {
    class: Material,
    reused: bool,
    seconds: f64,
    /// The planned memory; `peak_bytes` is the peak memory of the process.
    bytes: u64,
    peak_bytes: Option<u64>,
}

/// The memory that the program itself and its threads take besides the plan of a class.
const BESIDES: u64 = 64 << 20;

impl SolveCommand {
    fn run(self) -> Outcome {
        if let Some(material) = self.classes.iter().find(|material| material.len() > Index::MAX_PIECES) {
            return Err(Failure::Input(format!("{material} has more than {} pieces", Index::MAX_PIECES)));
        }
        if self.dry_run {
            return self.plan();
        }
        let counts = self.counts.as_ref().unwrap_or(&self.tables);
        [&self.tables, counts].into_iter().chain(&self.spill).try_for_each(|dir| make_dir(dir))?;
        exit_on_interrupt(&ProgressBar::hidden(), RESUME);
        let pool = BufferPool::default();
        let cpu = CpuBackend::default();
        let mut solver = gpu_solver(self.backend, &self.device, &self.rules.rules, self.most_pieces(), cpu)?;
        let memory = self.memory.get().bytes();
        let mut solve = |&material| self.solve(material, counts, memory, &pool, solver.as_mut());
        self.threads.run(|| self.classes.iter().try_for_each(&mut solve))?
    }

    /// The most pieces of the classes.
    fn most_pieces(&self) -> usize {
        self.classes.iter().map(|material| material.len()).max().unwrap_or(2)
    }

    fn solve(
        &self,
        material: Material,
        counts: &Path,
        memory: usize,
        pool: &BufferPool,
        solver: Option<&mut Solver>,
    ) -> Outcome {
        let job = ClassJob {
            dir: &self.tables,
            rules: self.rules.rules,
            material,
            stats_only: self.stats_only.then_some(counts),
            memory,
            spill: self.spill.as_deref().unwrap_or(&self.tables),
            provenance: provenance(),
            pool: pool.clone(),
        };
        // Buffers of the classes before stay as far as the limit allows.
        let kept = pool.bytes() as u64;
        let solved = match job.run(solver).map_err(resumable)? {
            JobDone::There(class) => Solved { class, reused: true, seconds: 0.0, bytes: 0, peak_bytes: None },
            JobDone::Solved(counts) => {
                let ClassCounts { class, seconds, bytes, peak_bytes, .. } = *counts;
                if let Some(peak) = peak_bytes.filter(|&peak| peak > bytes + kept + BESIDES) {
                    let [peak, planned] = [peak, bytes].map(binary_bytes);
                    eprintln!("dsq: {class} took {peak} of memory, more than the planned {planned}");
                }
                Solved { class, reused: false, seconds, bytes, peak_bytes }
            }
        };
        if self.json.on {
            print_json(&solved)
        } else if solved.reused {
            print(format_args!("{}: already complete", solved.class))
        } else {
            print(format_args!("{}: solved in {:.2} s", solved.class, solved.seconds))
        }
    }

    /// Prints the needs of the job.
    fn plan(&self) -> Outcome {
        let classes = Classes::new(&self.rules.rules, self.most_pieces());
        let member = |&material: &Material| classes.member(material).expect("the classes have as many pieces");
        let ids: Vec<_> = self.classes.iter().map(|class| (member(class).class, !self.stats_only)).collect();
        print_plan(&classes, ids, &self.rate, Some((self.memory.get().bytes() >> 30) as u64), self.json.on)
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

/// Report the progress of the jobs in a directory.
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
    rules: TableRulesArg,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Serialize)]
struct Far {
    classes: usize,
    tables: usize,
    counted: usize,
    missing: usize,
    /// Files that are being written.
    running: usize,
    /// Files of processes that died.
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
            // `fold` instead of `sum`: the sum of no numbers is -0.0.
            core_hours_left: left.fold(0.0, |seconds, class| seconds + class.seconds) / 3600.0,
        };
        if self.json.on {
            return print_json(&far);
        }
        print(format_args!(
            "{} classes: {} with tables, {} counted, {} missing; {} being written, {} left by dead processes; about {:.2} core-hours left",
            far.classes, far.tables, far.counted, far.missing, far.running, far.dead, far.core_hours_left
        ))
    }
}

/// Check every table, remove the temporary files of dead jobs, and write the manifest.
#[derive(Args)]
struct FinishCommand {
    /// The directory of the tables.
    dir: PathBuf,
    /// All materials of 2 to N pieces.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=Index::MAX_PIECES as i64))]
    pieces: u8,
    /// Hours without a write after which a temporary file of another machine counts as left by a dead job. On this
    /// machine, a temporary file is left over if its process no longer runs.
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = at_least_one::<u64>())]
    hours: u64,
    #[command(flatten)]
    rules: TableRulesArg,
    #[command(flatten)]
    json: JsonArg,
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
        if self.json.on {
            print_json(&counts)?;
        } else {
            print(format_args!(
                "{} tables and {} counts are complete and listed; {} temporary files removed",
                counts.tables, counts.counted, counts.swept
            ))?;
        }
        match &missing[..] {
            [] => Ok(()),
            [first, ..] => {
                Err(Failure::Mismatch(format!("{} classes are missing; the first is {first}", missing.len())))
            }
        }
    }
}
