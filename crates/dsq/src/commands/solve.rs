use crate::arguments::{BackendArg, MetricArg};
use crate::backend::{DryRun, report_fallbacks, work_since};
use crate::class_plan::{RateArg, planned, print_plan};
use crate::counts::{COLUMNS, columns};
use crate::gpu;
use clap::Args;
use cli::arguments::{Common, Memory};
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use cli::progress::progress_bar;
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Classes, DeviceWork, MAX_PIECES, Material, Metric, Summary};
use report::text::grouped;
use serde::Serialize;
use std::time::Instant;

/// Solve endgames in memory and print the numbers of won, lost and drawn positions.
///
/// The solver computes the exact distance to the end of every position in plies, or with --metric dtz, to the next capture or
/// den entry. `positions` = wins + losses + draws +
/// no_move, where no_move counts the positions in which the side to move has no legal move (stalemate).
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq solve --pieces 4\n  dsq solve --material EPvLR --json\n  \
                        dsq solve --pieces 3 --rules chinese\n  dsq solve --pieces 4 --metric dtz --limit 100\n\nMemory: 4 pieces about 50 MB, 5 pieces up to 6 GB.")]
pub struct Solve {
    /// Solve all materials of 2 to N pieces; the counts are sums over all materials with White to move.
    #[arg(long, value_name = "N", required_unless_present = "material", conflicts_with = "material",
          value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64))]
    pieces: Option<u8>,
    /// Solve one material: White's animals, v, Black's, of the letters ELTPDWCR in any order.
    #[arg(long, value_name = "MATERIAL")]
    material: Option<Material>,
    #[command(flatten)]
    metric: MetricArg,
    #[command(flatten)]
    backend: BackendArg,
    /// Only print the expected time and memory of each class, or with `--backend gpu` the memory and the least time of
    /// each batch on a GPU.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    rate: RateArg,
    /// Memory that the GPU reads and writes per second, for --dry-run: 4470GiB for an H200, 930GiB for an RTX 4090, 370GiB
    /// for an Apple M.
    #[arg(long, value_name = "SIZE", default_value = "930GiB", requires = "dry_run")]
    bandwidth: Memory,
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct Level {
    pieces: usize,
    #[serde(flatten)]
    summary: Summary,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<DeviceWork>,
}

#[derive(Serialize)]
struct OneMaterial {
    material: String,
    class: String,
    white_to_move: Summary,
    black_to_move: Summary,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<DeviceWork>,
}

impl Solve {
    pub fn run(self) -> Outcome {
        let rules = self.metric.rules(self.common.rules())?;
        if self.dry_run && !self.backend.is_gpu() {
            return self.plan(&rules);
        }
        if self.dry_run {
            let (material, pieces) = (self.material, self.material.map_or(2, |material| material.len()));
            let pieces = self.pieces.map_or(pieces, usize::from);
            let backend = self.backend.wanted();
            let (device, bandwidth, json) = (self.backend.device(), self.bandwidth.bytes() as f64, self.common.json.on);
            return gpu::plan(&DryRun { rules: &rules, backend, device, pieces, material, bandwidth, json });
        }
        self.common.threads.run(|| match (self.material, self.pieces) {
            (Some(material), _) => self.solve_material(&rules, material),
            (None, Some(pieces)) => self.solve_levels(&rules, pieces.into()),
            (None, None) => Err(Failure::Input("give --pieces N or --material M".to_owned())),
        })?
    }

    /// Prints the expected cost of solving on the CPU by class; classes of the most pieces keep only their counts.
    fn plan(&self, rules: &RuleOptions) -> Outcome {
        let most = self.material.map_or(self.pieces.map_or(2, usize::from), Material::len);
        let classes = Classes::new(rules, most);
        let ids = planned(&classes, self.material)?;
        let values = |id| classes.get(id).representative.len() < most;
        print_plan(&classes, ids.into_iter().map(|id| (id, values(id))), &self.rate, None, self.common.json.on)
    }

    fn solve_levels(&self, rules: &RuleOptions, most: usize) -> Outcome {
        let mut solver = self.backend.solver(rules, most)?;

        if !self.common.json.on {
            print(format_args!("pieces {COLUMNS} {:>9}", "seconds"))?;
        }
        for pieces in 2..=most {
            let start = Instant::now();
            let before = solver.backend().work();
            let classes = solver.classes().level(pieces).count() as u64;
            let bar = progress_bar(classes, "classes").with_message(format!("{pieces} pieces"));
            let result = solver.solve_level(pieces, pieces < most, &|_, _| bar.inc(1));
            bar.finish_and_clear();
            result?;
            let stats = solver.level_stats(pieces).expect("the level is solved");
            let seconds = start.elapsed().as_secs_f64();
            let gpu = work_since(&solver, before);
            let level = Level { pieces, summary: Metric::of(rules).summary(&stats), seconds, gpu };
            if self.common.json.on {
                print_json(&level)?;
                continue;
            }
            print(format_args!("{pieces:>6} {} {:>9.3}", columns(&level.summary), level.seconds))?;
        }
        report_fallbacks(&solver);
        Ok(())
    }

    fn solve_material(&self, rules: &RuleOptions, material: Material) -> Outcome {
        let pieces = material.len();
        if pieces > MAX_PIECES {
            return Err(Failure::Input(format!("{material} has {pieces} pieces; at most {MAX_PIECES} can be solved")));
        }
        let start = Instant::now();
        let mut solver = self.backend.solver(rules, pieces)?;

        let id = solver.classes().member(material).expect("every material has a class").class;
        let bar = progress_bar(0, "classes").with_message(material.to_string());
        let result = solver.count_class(id, &|_, _| bar.inc(1));
        bar.finish_and_clear();
        result?;
        report_fallbacks(&solver);
        let stats = solver.stats(material).expect("the material is solved");
        let report = OneMaterial {
            material: material.to_string(),
            class: solver.classes().get(id).representative.to_string(),
            white_to_move: Metric::of(rules).summary(stats.white),
            black_to_move: Metric::of(rules).summary(stats.black),
            seconds: start.elapsed().as_secs_f64(),
            gpu: solver.backend().work(),
        };
        if self.common.json.on {
            return print_json(&report);
        }
        let shown = if report.class == report.material { String::new() } else { format!(" (class {})", report.class) };
        print(format_args!("{}{shown}, {:.3} s", report.material, report.seconds))?;
        for (color, stats) in [("White", &report.white_to_move), ("Black", &report.black_to_move)] {
            print(format_args!("{color} to move: {}", describe(stats, Metric::of(rules))))?;
        }
        Ok(())
    }
}

fn describe(s: &Summary, metric: Metric) -> String {
    let longest = match metric {
        Metric::Dtw => format!("longest line {} plies", s.longest),
        Metric::Dtz(_) => format!("at most {} plies to a capture or den", s.longest),
    };
    format!(
        "{} positions: {} wins, {} losses, {} draws, {} without a move; {longest}",
        grouped(s.positions),
        grouped(s.wins),
        grouped(s.losses),
        grouped(s.draws),
        grouped(s.no_move)
    )
}
