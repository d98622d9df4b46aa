use super::{Failure, Outcome, grouped, print, print_json};
use clap::{Args, ValueEnum};
use doushouqi::tablebase::{Classes, Material, Probe, Stats, Summary, TableSet};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Count wins, losses and draws in endgame tables, White to move.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq stats tables\n  dsq stats tables --by material --json\n  dsq stats tables --deepest"
)]
pub struct StatsCommand {
    /// The directory that `dsq generate` made.
    dir: PathBuf,
    /// What a line stands for.
    #[arg(long, value_enum, default_value = "pieces")]
    by: By,
    /// Show instead a longest line of each piece count, whole.
    #[arg(long, conflicts_with = "by")]
    deepest: bool,
    /// Print JSON, one object a line, with the number of positions by plies to the end.
    #[arg(long)]
    json: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum By {
    /// All materials of N pieces.
    Pieces,
    /// The representative of a class of equivalent materials.
    Class,
    /// One material.
    Material,
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    #[serde(flatten)]
    summary: Summary,
    by_plies: &'a [u64],
    /// Of the tables on disk; a table of equivalent materials counts where its representative does.
    bytes: u64,
    /// If not all classes of N pieces are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Part>,
}

#[derive(Copy, Clone, Serialize)]
struct Part {
    classes: usize,
    of: usize,
}

#[derive(Serialize)]
struct Deepest {
    pieces: usize,
    fen: String,
    plies: u16,
    line: Vec<String>,
}

impl StatsCommand {
    pub fn run(self) -> Outcome {
        let set = TableSet::open(&self.dir)?;
        if self.deepest {
            return self.print_deepest(&set);
        }
        // Sorted by piece count, then by spelling.
        let mut lines: BTreeMap<(usize, Option<Material>), Stats> = BTreeMap::new();
        let mut bytes: BTreeMap<(usize, Option<Material>), u64> = BTreeMap::new();
        let mut done: BTreeMap<usize, usize> = BTreeMap::new();
        let manifest = set.manifest();
        let files = manifest.classes.iter().map(|c| (&c.class, &c.same, &c.swapped, &c.stats));
        let counted = manifest.counted.iter().map(|c| (&c.class, &c.same, &c.swapped, &c.stats));
        let material = |name: &String| {
            name.parse::<Material>()
                .map_err(|e| Failure::Environment(format!("{}: the manifest: {e}", self.dir.display())))
        };
        for (class, same, swapped, stats) in files.chain(counted) {
            *done.entry(material(class)?.len()).or_default() += 1;
            if self.by == By::Class {
                let name = material(class)?;
                *lines.entry((name.len(), Some(name))).or_default() += &stats.white;
                continue;
            }
            for (names, stats) in [(same, &stats.white), (swapped, &stats.black)] {
                for name in names {
                    let name = material(name)?;
                    let key = (name.len(), (self.by == By::Material).then_some(name));
                    *lines.entry(key).or_default() += stats;
                }
            }
        }
        for class in &manifest.classes {
            let name = material(&class.class)?;
            *bytes.entry((name.len(), (self.by != By::Pieces).then_some(name))).or_default() += class.bytes;
        }
        if !self.json {
            print(format_args!(
                "{:>9} {:>18} {:>11} {:>18} {:>18} {:>16} {:>7}",
                "", "positions", "no move", "wins", "losses", "draws", "longest"
            ))?;
        }
        // Only these lines can be a part, and the classes of six pieces take a while to find.
        let most = done.last_key_value().filter(|_| self.by == By::Pieces).map(|(&pieces, _)| pieces);
        let classes = most.map(|pieces| Classes::new(set.rules().options(), pieces));
        for (key @ (pieces, material), stats) in &lines {
            let part = classes
                .as_ref()
                .map(|classes| Part { classes: done[pieces], of: classes.level(*pieces).count() })
                .filter(|part| part.classes < part.of);
            let name = material.map_or_else(|| format!("{pieces} pieces"), |m| m.to_string());
            let s = stats.summary();
            if self.json {
                let bytes = bytes.get(key).copied().unwrap_or(0);
                print_json(&Line { name: &name, summary: s, by_plies: &stats.by_plies, bytes, part })?;
                continue;
            }
            print(format_args!(
                "{name:>9} {:>18} {:>11} {:>18} {:>18} {:>16} {:>7}{}",
                grouped(s.positions),
                grouped(s.no_move),
                grouped(s.wins),
                grouped(s.losses),
                grouped(s.draws),
                s.longest,
                part.map_or(String::new(), |part| format!("  ({} of {} classes)", part.classes, part.of))
            ))?;
        }
        Ok(())
    }

    fn print_deepest(&self, set: &TableSet) -> Outcome {
        for pieces in 2..=set.classes().pieces() {
            let Some((position, plies)) = set.deepest(pieces)? else { continue };
            let line = set.line(&position)?;
            let line: Vec<String> = line.iter().map(|(mv, position)| mv.notation(position)).collect();
            let deepest = Deepest { pieces, fen: position.to_fen(), plies, line };
            if self.json {
                print_json(&deepest)?;
            } else {
                print(format_args!("{pieces} pieces: {}, {plies} plies", deepest.fen))?;
                print(format_args!("  {}", deepest.line.join(" ")))?;
            }
        }
        Ok(())
    }
}
