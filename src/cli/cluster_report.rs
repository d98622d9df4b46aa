//! What is known of a level, from counts that were made class by class, as a page.

use super::reproduce::cannot;
use super::{Failure, Outcome, grouped, print};
use clap::Args;
use doushouqi::board::{Color, RuleOptions};
use doushouqi::tablebase::{ClassCounts, Classes, Stats, Summary};
use serde::Deserialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Write a page on the classes that are counted in a directory, as Markdown.
#[derive(Args)]
pub struct ReportCommand {
    /// The directory of the counts, a file CLASS.json each.
    dir: PathBuf,
    /// Compare with the levels in this file, as `dsq stats --json` writes it.
    #[arg(long, value_name = "FILE")]
    beside: Option<PathBuf>,
}

/// A line of what `dsq stats --json` writes.
#[derive(Deserialize)]
struct Level {
    name: String,
    #[serde(flatten)]
    share: Shares,
}

/// What shares are made of.
#[derive(Deserialize)]
struct Shares {
    positions: u64,
    wins: u64,
    losses: u64,
    draws: u64,
    longest: u64,
}

impl From<Summary> for Shares {
    fn from(s: Summary) -> Shares {
        Shares { positions: s.positions, wins: s.wins, losses: s.losses, draws: s.draws, longest: s.longest }
    }
}

impl ReportCommand {
    pub fn run(self) -> Outcome {
        let counts = ClassCounts::read_all(&self.dir)?;
        let Some(pieces) = counts.iter().map(|counts| counts.class.len()).max() else {
            return Err(Failure::Input(format!("{}: there are no counts of classes", self.dir.display())));
        };
        let rules: RuleOptions = counts[0]
            .rules
            .parse()
            .map_err(|e| Failure::Input(format!("{}: the rules of {}: {e}", self.dir.display(), counts[0].class)))?;
        let of = Classes::new(&rules, pieces).level(pieces).count();
        let counts: Vec<ClassCounts> = counts.into_iter().filter(|counts| counts.class.len() == pieces).collect();
        let levels = self.beside.as_deref().map(levels).transpose()?.unwrap_or_default();
        let parts =
            [head(&counts, pieces, of), shares(&counts, &levels), classes(&counts), longest(&counts), slowest(counts)];
        print(parts.join("\n").trim_end())
    }
}

fn levels(path: &Path) -> Result<Vec<Level>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| cannot("read", path, &e))?;
    let line = |line| serde_json::from_str(line).map_err(|e| Failure::Input(format!("{}: {e}", path.display())));
    text.lines().map(line).collect()
}

/// The counts of all materials of these classes, White to move.
fn all(counts: &[ClassCounts]) -> Stats {
    let mut total = Stats::default();
    for class in counts {
        total.add_times(&class.stats.white, class.same.len() as u64);
        total.add_times(&class.stats.black, class.swapped.len() as u64);
    }
    total
}

fn head(counts: &[ClassCounts], pieces: usize, of: usize) -> String {
    let materials: usize = counts.iter().map(|class| class.same.len() + class.swapped.len()).sum();
    let Summary { positions, no_move, wins, losses, draws, longest } = all(counts).summary();
    let seconds: f64 = counts.iter().map(|class| class.seconds).sum();
    format!(
        "# Endgames of {pieces} pieces\n\nWritten by `dsq cluster report` from one file of counts a class; `dsq stats` adds them \
         up. **{} of {of} classes** are counted, which stand for {materials} materials; solving them took {:.2} hours. White to \
         move, all these materials:\n\n| positions | no legal move | wins | losses | draws | longest line |\n|---|---|---|---|---|---|\n\
         | {} | {} | {} | {} | {} | {longest} plies |\n",
        counts.len(),
        seconds / 3600.0,
        grouped(positions),
        grouped(no_move),
        grouped(wins),
        grouped(losses),
        grouped(draws)
    )
}

fn shares(counts: &[ClassCounts], levels: &[Level]) -> String {
    let mut text = "## Beside fewer pieces\n\nShares of all positions, White to move. What is counted so far is no fair sample of \
                    its level.\n\n| | wins | losses | draws | longest line |\n|---|---|---|---|---|\n"
        .to_owned();
    let mut line = |name: &str, s: &Shares| {
        let share = |n: u64| 100.0 * n as f64 / s.positions.max(1) as f64;
        let _ = writeln!(
            text,
            "| {name} | {:.2} % | {:.2} % | {:.3} % | {} |",
            share(s.wins),
            share(s.losses),
            share(s.draws),
            s.longest
        );
    };
    levels.iter().for_each(|level| line(&level.name, &level.share));
    line("these classes", &all(counts).summary().into());
    text
}

fn classes(counts: &[ClassCounts]) -> String {
    let mut text = "## Class by class\n\n| class, side to move | positions | no legal move | wins | losses | draws | draws, share | longest \
                    |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for class in counts {
        for (turn, name) in [(Color::White, "White"), (Color::Black, "Black")] {
            let s = class.stats[turn].summary();
            let _ = writeln!(
                text,
                "| {}, {name} | {} | {} | {} | {} | {} | {:.4} % | {} |",
                class.class,
                grouped(s.positions),
                grouped(s.no_move),
                grouped(s.wins),
                grouped(s.losses),
                grouped(s.draws),
                100.0 * s.draws as f64 / s.positions.max(1) as f64,
                s.longest
            );
        }
    }
    text
}

/// How many of the longest lines are listed.
const LONGEST: usize = 12;

fn longest(counts: &[ClassCounts]) -> String {
    let mut lines: Vec<(u64, String)> = Vec::new();
    for class in counts {
        for turn in Color::ALL {
            if let Some(fen) = &class.deepest[turn] {
                lines.push((class.stats[turn].summary().longest, fen.clone()));
            }
        }
    }
    lines.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut text =
        "## Longest lines\n\nWhere they begin; an odd number of plies is a win of the side to move. The moves are not \
                    known from counts.\n\n| plies | position |\n|---|---|\n"
            .to_owned();
    for (plies, fen) in lines.into_iter().take(LONGEST) {
        let _ = writeln!(text, "| {plies} | `{fen}` |");
    }
    text
}

fn slowest(mut counts: Vec<ClassCounts>) -> String {
    counts.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let mut text =
        "## What took longest\n\n| class | seconds | threads | memory planned | memory taken | commit | machine \
                    |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let mib = |bytes: u64| format!("{} MiB", grouped(bytes >> 20));
    for class in counts {
        let commit = class.provenance.commit.unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {:.0} | {} | {} | {} | {} | {} |",
            class.class,
            class.seconds,
            class.threads,
            mib(class.bytes),
            class.peak_bytes.map_or("".to_owned(), mib),
            commit.get(..12).unwrap_or(&commit),
            class.provenance.machine
        );
    }
    text
}
