//! A page about a level, from the counts of its classes.

use crate::counts::{class_by_class, endings};
use clap::Args;
use cli::failure::{Failure, Outcome};
use cli::output::{print, read_json_lines};
use doushouqi::board::{Color, RuleOptions};
use doushouqi::tablebase::{ClassCounts, Classes, Metric, Stats, Summary};
use report::text::Table;
use report::text::grouped;
use serde::Deserialize;
use std::path::PathBuf;

/// Write a Markdown page about counted classes.
#[derive(Args)]
pub struct ReportCommand {
    /// The counts: a directory of files CLASS.json, or a JSONL file.
    dir: PathBuf,
    /// Compare with the levels in this file, written by `dsq stats --json`.
    #[arg(long, value_name = "FILE")]
    compare_with: Option<PathBuf>,
}

/// A line that `dsq stats --json` writes.
#[derive(Deserialize)]
struct Level {
    name: String,
    #[serde(flatten)]
    summary: Summary,
}

impl ReportCommand {
    pub fn run(self) -> Outcome {
        let counts = ClassCounts::read_all(&self.dir)?;
        let Some(pieces) = counts.iter().map(|counts| counts.class.len()).max() else {
            return Err(Failure::Input(format!("{}: no counts of classes", self.dir.display())));
        };
        let rules = RuleOptions::from_table_spelling(&counts[0].rules)
            .map_err(|e| Failure::Input(format!("{}: the rules of {}: {e}", self.dir.display(), counts[0].class)))?;
        let (metric, of) = (Metric::of(&rules), Classes::new(&rules, pieces).level(pieces).count());
        let counts: Vec<ClassCounts> = counts.into_iter().filter(|counts| counts.class.len() == pieces).collect();
        let levels = self.compare_with.as_deref().map(read_json_lines).transpose()?.unwrap_or_default();
        let parts = [
            head(metric, &counts, pieces, of),
            shares(metric, &counts, &levels, pieces, of),
            class_by_class(metric, counts.iter().map(|counts| (counts.class, &counts.stats))),
            longest(metric, &counts),
            slowest(counts),
        ];
        print(parts.join("\n").trim_end())
    }
}

/// The sum of the counts of all materials of these classes, White to move.
fn all(counts: &[ClassCounts]) -> Stats {
    let mut total = Stats::default();
    for class in counts {
        total.add_times(&class.stats.white, class.same.len() as u64);
        total.add_times(&class.stats.black, class.swapped.len() as u64);
    }
    total
}

fn head(metric: Metric, counts: &[ClassCounts], pieces: usize, of: usize) -> String {
    let materials: usize = counts.iter().map(|class| class.same.len() + class.swapped.len()).sum();
    let seconds: f64 = counts.iter().map(|class| class.seconds).sum();
    let summary = metric.summary(&all(counts));
    let mut table = Table::new(&["positions", "no legal move", "wins", "losses", "draws", "longest line"]);
    table.row(endings(&summary).into_iter().chain([format!("{} plies", summary.longest)]));
    format!(
        "# Endgames of {pieces} pieces\n\nWritten by `dsq cluster report` from the counts of each class; `dsq stats` adds them up. \
         **{} of {of} classes** are counted, which stand for {materials} materials; solving them took {:.2} hours. White to \
         move, all these materials:\n\n{}",
        counts.len(),
        seconds / 3600.0,
        table.markdown()
    )
}

fn shares(metric: Metric, counts: &[ClassCounts], levels: &[Level], pieces: usize, of: usize) -> String {
    let mut table = Table::new(&["<", "wins", "losses", "draws", "longest line"]);
    let mut row = |name: &str, s: &Summary| {
        let share = |n: u64, digits: usize| format!("{:.digits$} %", 100.0 * n as f64 / s.positions.max(1) as f64);
        table.row([name.to_owned(), share(s.wins, 2), share(s.losses, 2), share(s.draws, 3), s.longest.to_string()]);
    };
    let name = format!("{pieces} pieces");
    levels.iter().filter(|level| level.name != name).for_each(|level| row(&level.name, &level.summary));
    let (name, fair) = if counts.len() == of {
        (name.as_str(), "")
    } else {
        ("these classes", " The classes counted so far are no fair sample of their level.")
    };
    row(name, &metric.summary(&all(counts)));
    format!("## Comparison with fewer pieces\n\nShares of all positions, White to move.{fair}\n\n{}", table.markdown())
}

/// The number of longest lines in the list.
const LONGEST: usize = 12;

fn longest(metric: Metric, counts: &[ClassCounts]) -> String {
    let mut lines: Vec<(u64, String)> = Vec::new();
    for class in counts {
        for turn in Color::ALL {
            if let Some(fen) = &class.deepest[turn] {
                lines.push((metric.summary(&class.stats[turn]).longest, fen.clone()));
            }
        }
    }
    lines.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut table = Table::new(&["plies", "<$position"]);
    for (plies, fen) in lines.into_iter().take(LONGEST) {
        table.row([plies.to_string(), fen]);
    }
    format!(
        "## Longest lines\n\nThe first position of each line; an odd number of plies is a win of the side to move. The counts do \
         not contain the moves.\n\n{}",
        table.markdown()
    )
}

fn slowest(mut counts: Vec<ClassCounts>) -> String {
    counts.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let mut table =
        Table::new(&["<class", "seconds", "threads", "memory planned", "memory taken", "<commit", "<machine"]);
    let mib = |bytes: u64| format!("{} MiB", grouped(bytes >> 20));
    for class in counts {
        let commit = class.provenance.commit.unwrap_or_default();
        table.row([
            class.class.to_string(),
            format!("{:.0}", class.seconds),
            class.threads.to_string(),
            mib(class.bytes),
            class.peak_bytes.map(mib).unwrap_or_default(),
            commit.get(..12).unwrap_or(&commit).to_owned(),
            class.provenance.machine,
        ]);
    }
    format!(
        "## What took longest\n\nSeconds are wall-clock time, whatever else the machine did. Memory taken is the peak of the \
         process, with the memory that it kept from the previous class.\n\n{}",
        table.markdown()
    )
}
