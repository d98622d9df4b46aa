use crate::arguments::{BackendArg, MetricArg};
use crate::backend::report_fallbacks;
use crate::class_plan::{RateArg, TYPICAL_RATE, planned, print_plan};
use crate::generating::generate;
use clap::Args;
use cli::arguments::{Common, MemoryArg, positive};
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{self, Classes, DeviceWork, Forecast, MAX_PIECES, Material, Solver, TableSet};
use report::text::grouped;
use report::text::{Table, binary_bytes, duration};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Generate endgame tables and write them to a directory.
///
/// Each class of equivalent materials has one file, with the exact distance of every position, for both sides to move: to the
/// end of the game, or with --metric dtz, to the next capture or den entry. After an interruption, run the same command again to resume.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq generate --pieces 4 --out tables\n  \
                        dsq generate --material ETvLR --out tables --rules chinese\n  \
                        dsq generate --pieces 4 --out limited --metric dtz --limit 100\n  \
                        dsq generate --pieces 5 --out tables --stats-only\n  \
                        dsq generate --pieces 6 --out counts --stats-only --minutes 60")]
pub struct Generate {
    /// Generate the tables of all materials of 2 to N pieces.
    #[arg(long, value_name = "N", required_unless_present = "material", conflicts_with = "material",
          value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64))]
    pieces: Option<u8>,
    /// Generate the table of one material, and the tables that its captures lead to.
    #[arg(long, value_name = "MATERIAL")]
    material: Option<Material>,
    /// The directory; it is created if it does not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Keep only the counts of the classes with the most pieces, for `dsq stats`, if their tables do not fit on a disk.
    #[arg(long)]
    stats_only: bool,
    /// With --stats-only, start no class of the most pieces after this many minutes; the same command resumes.
    #[arg(long, value_name = "MINUTES", requires = "stats_only", value_parser = positive)]
    minutes: Option<f64>,
    #[command(flatten)]
    metric: MetricArg,
    #[command(flatten)]
    backend: BackendArg,
    #[command(flatten)]
    memory: MemoryArg,
    /// Only print the expected cost of each class and each level.
    #[arg(long)]
    dry_run: bool,
    /// Start even if the forecast exceeds the available memory or disk space.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    rate: RateArg,
    #[command(flatten)]
    common: Common,
}

/// A run with at least this many expected seconds starts with a forecast.
const LONG: f64 = 60.0;

#[derive(Serialize)]
struct ForecastLine<'a> {
    forecast: &'a Forecast,
}

#[derive(Serialize)]
struct Report {
    classes: usize,
    counted: usize,
    reused: u64,
    positions: u64,
    bytes: u64,
    /// `None` without tables.
    bits_per_position: Option<f64>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<DeviceWork>,
}

impl Generate {
    /// The time after which no class is started.
    fn deadline(&self, start: Instant) -> Result<Option<Instant>, Failure> {
        let Some(minutes) = self.minutes else { return Ok(None) };
        let deadline = Duration::try_from_secs_f64(minutes * 60.0).ok().and_then(|time| start.checked_add(time));
        deadline.map(Some).ok_or_else(|| Failure::Input(format!("{minutes} is not a number of minutes")))
    }

    /// Prints the expected cost of each class, including existing ones.
    fn plan(&self, rules: &RuleOptions) -> Outcome {
        let most = self.material.map_or(self.pieces.map_or(2, usize::from), Material::len);
        let classes = Classes::new(rules, most);
        let ids = planned(&classes, self.material)?;
        let values = |id| !self.stats_only || classes.get(id).representative.len() < most;
        print_plan(&classes, ids.into_iter().map(|id| (id, values(id))), &self.rate, None, self.common.json.on)?;
        let job = self.job(*rules, None);
        let solver = self.backend.solver(rules, most)?;
        let forecast =
            job.forecast(&solver, self.rate.get(self.common.rules())?.rows_per_second, self.common.threads.count());
        print(self.describe(&forecast).trim_end())
    }

    fn job(&self, rules: RuleOptions, deadline: Option<Instant>) -> tablebase::Generate<'_> {
        tablebase::Generate {
            dir: &self.out,
            rules,
            pieces: self.pieces.unwrap_or(2).into(),
            material: self.material,
            stats_only: self.stats_only,
            deadline,
            memory: self.memory.get().bytes(),
            spill: self.backend.spill(),
            stop: None,
        }
    }

    /// Prints the forecast of a long run, and fails if the memory or the free disk space is too small.
    fn forecast(&self, job: &tablebase::Generate<'_>, solver: &Solver) -> Outcome {
        let mut forecast = job.forecast(solver, TYPICAL_RATE, self.common.threads.count());
        let shortages = forecast.shortages();
        if forecast.seconds >= LONG || !shortages.is_empty() {
            let rate = self.rate.get(self.common.rules())?.rows_per_second;
            forecast = job.forecast(solver, rate, self.common.threads.count());
            if self.common.json.on {
                print(self.describe(&forecast))?;
            } else {
                eprint!("{}", self.describe(&forecast));
            }
        }
        if self.force || shortages.is_empty() {
            return Ok(());
        }
        let shortages: Vec<String> = shortages.iter().map(ToString::to_string).collect();
        Err(Failure::Environment(format!("{}; nothing was written (--force starts anyway)", shortages.join("; "))))
    }

    /// A forecast as a table, or as JSON.
    fn describe(&self, forecast: &Forecast) -> String {
        if self.common.json.on {
            return serde_json::to_string(&ForecastLine { forecast }).expect("a forecast is JSON");
        }
        let mut table = Table::new(&["pieces", "classes", "positions", "time", "disk", "memory"]);
        for level in &forecast.levels {
            table.row([
                level.pieces.to_string(),
                grouped(level.classes as u64),
                grouped(level.positions),
                duration(level.seconds),
                binary_bytes(level.disk_bytes),
                binary_bytes(level.memory_bytes),
            ]);
        }
        let there = |bytes: Option<u64>| bytes.map_or_else(|| "unknown".to_owned(), binary_bytes);
        format!(
            "Expected on {} cores of the CPU:\n{}In all {}, {} on disk ({} free), {} of memory ({} available)\n",
            self.common.threads.count(),
            table.aligned(),
            duration(forecast.seconds),
            binary_bytes(forecast.disk_bytes),
            there(forecast.disk_free),
            binary_bytes(forecast.memory_bytes),
            there(forecast.memory_available)
        )
    }

    pub fn run(self) -> Outcome {
        if let Some(material) = self.material.filter(|m| m.len() > MAX_PIECES) {
            return Err(Failure::Input(format!("{material} has more than {MAX_PIECES} pieces")));
        }
        let rules = self.metric.rules(self.common.rules())?;
        if self.dry_run {
            return self.plan(&rules);
        }
        let start = Instant::now();
        let job = self.job(rules, self.deadline(start)?);
        let mut solver = self.backend.solver(&rules, job.most_pieces())?;
        self.forecast(&job, &solver)?;
        let reused = generate(&job, &mut solver, &self.common.threads)?;
        report_fallbacks(&solver);
        let set = TableSet::open(&self.out)?;
        let tablebase::Manifest { classes, counted, .. } = set.manifest();
        let positions: u64 = classes.iter().map(|c| c.stats.positions()).sum();
        let bytes: u64 = classes.iter().map(|c| c.bytes).sum();
        let report = Report {
            classes: classes.len(),
            counted: counted.len(),
            reused,
            positions,
            bytes,
            bits_per_position: (positions > 0).then(|| bytes as f64 * 8.0 / positions as f64),
            seconds: start.elapsed().as_secs_f64(),
            gpu: solver.backend().work(),
        };
        if self.common.json.on {
            return print_json(&report);
        }
        if report.counted > 0 {
            print(format_args!("{} classes were only counted; `dsq stats` shows them", report.counted))?;
        }
        print(format_args!(
            "{} classes in {} ({} already existed): {} bytes{}, {:.1} s",
            report.classes,
            self.out.display(),
            report.reused,
            grouped(report.bytes),
            report.bits_per_position.map_or(String::new(), |bits| format!(", {bits:.3} bits per position")),
            report.seconds
        ))
    }
}
