use crate::counts::{COLUMNS, columns};
use clap::{Args, ValueEnum};
use cli::arguments::JsonArg;
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use doushouqi::board::{ByColor, Move, Position, RuleOptions};
use doushouqi::tablebase::{
    ClassCounts, Classes, DtzProber, Material, Metric, Probe, ProbeDtz, SetError, Stats, Summary, TableProber, TableSet,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Count wins, losses and draws in endgame tables with White to move.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq stats tables\n  dsq stats tables --by material --json\n  dsq stats tables --deepest"
)]
pub struct StatsCommand {
    /// A directory written by `dsq generate`, or counts to add up: a directory of files CLASS.json, or a JSONL file.
    dir: PathBuf,
    /// The grouping of the lines.
    #[arg(long, value_enum, default_value = "pieces")]
    by: By,
    /// Instead, show a longest line of each piece count with all moves.
    #[arg(long, conflicts_with = "by")]
    deepest: bool,
    #[command(flatten)]
    json: JsonArg,
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
    /// By the plies to the end: wins at odd distances, losses at even ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_plies: Option<&'a [u64]>,
    /// By the plies to the next capture or den entry, in tables that know a no-capture limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_dtz: Option<ByDtz>,
    /// Bytes of the tables on disk; the table of a class counts for its representative.
    bytes: u64,
    /// Present if not all classes of the piece count are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Part>,
}

#[derive(Serialize)]
struct ByDtz {
    wins: Vec<u64>,
    losses: Vec<u64>,
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

/// The counts of one class, from a manifest or a file of their own.
struct Counted {
    class: Material,
    same: Vec<Material>,
    swapped: Vec<Material>,
    stats: ByColor<Stats>,
    /// The bytes of the class's table on disk.
    bytes: u64,
}

impl From<ClassCounts> for Counted {
    fn from(counts: ClassCounts) -> Counted {
        let ClassCounts { class, same, swapped, stats, .. } = counts;
        Counted { class, same, swapped, stats, bytes: 0 }
    }
}

/// Tables with distances, to the end or to the next capture.
pub enum LongestLines {
    Dtw(TableProber),
    Dtz(DtzProber),
}

impl LongestLines {
    pub fn open(dir: &Path) -> Result<LongestLines, Failure> {
        let set = TableSet::open(dir)?;
        let rules = *set.rules().options();
        Ok(match set.no_capture_limit() {
            None => LongestLines::Dtw(set.prober(&rules)?),
            Some(_) => LongestLines::Dtz(set.dtz_prober(&rules)?),
        })
    }

    pub fn set(&self) -> &TableSet {
        match self {
            LongestLines::Dtw(tables) => tables.set(),
            LongestLines::Dtz(tables) => tables.set(),
        }
    }

    /// Best play from a position to the end of the game.
    pub fn line(&self, position: &Position) -> Result<Vec<(Move, Position)>, SetError> {
        match self {
            LongestLines::Dtw(tables) => tables.line(position),
            LongestLines::Dtz(tables) => tables.dtz_line(position, tables.limit().into()),
        }
    }
}

/// The sort key of a line: number of pieces, then spelling.
type Key = (usize, Option<Material>);

impl StatsCommand {
    pub fn run(self) -> Outcome {
        if self.deepest {
            return self.print_deepest();
        }
        let set = match TableSet::open(&self.dir) {
            _ if self.dir.is_file() => None,
            Ok(set) => Some(set),
            Err(SetError::NoTables { .. }) if self.dir.is_dir() => None,
            Err(error) => return Err(error.into()),
        };
        match &set {
            Some(set) => {
                let mut all = self.listed(set)?;
                let own = ClassCounts::read_all(&self.dir)?;
                self.check_rules(&own, &set.rules().options().table_spelling())?;
                if all.is_empty() && own.is_empty() {
                    return Err(SetError::Unfinished { dir: self.dir }.into());
                }
                let new = own.into_iter().filter(|counts| all.iter().all(|listed| listed.class != counts.class));
                let new: Vec<Counted> = new.map(Counted::from).collect();
                all.extend(new);
                self.print(&all, set.rules().options())
            }
            None => {
                let own = ClassCounts::read_all(&self.dir)?;
                let Some(first) = own.first() else { return Err(SetError::NoTables { dir: self.dir }.into()) };
                let broken = |e| Failure::Input(format!("{}: the rules of {}: {e}", self.dir.display(), first.class));
                let rules = RuleOptions::from_table_spelling(&first.rules).map_err(broken)?;
                self.print(&own.into_iter().map(Counted::from).collect::<Vec<_>>(), &rules)
            }
        }
    }

    /// The classes that a manifest lists.
    fn listed(&self, set: &TableSet) -> Result<Vec<Counted>, Failure> {
        let material = |name: &String| {
            name.parse::<Material>().map_err(|e| Failure::Input(format!("{}: the manifest: {e}", self.dir.display())))
        };
        let materials = |names: &[String]| names.iter().map(material).collect::<Result<Vec<_>, _>>();
        let manifest = set.manifest();
        let tables = manifest.classes.iter().map(|c| (&c.class, &c.same, &c.swapped, &c.stats, c.bytes));
        let counted = manifest.counted.iter().map(|c| (&c.class, &c.same, &c.swapped, &c.stats, 0));
        let class =
            |(class, same, swapped, stats, bytes): (&String, &Vec<String>, &Vec<String>, &ByColor<Stats>, u64)| {
                let (same, swapped) = (materials(same)?, materials(swapped)?);
                Ok(Counted { class: material(class)?, same, swapped, stats: stats.clone(), bytes })
            };
        tables.chain(counted).map(class).collect()
    }

    fn check_rules(&self, counts: &[ClassCounts], wanted: &str) -> Outcome {
        match counts.iter().find(|counts| counts.rules != wanted) {
            None => Ok(()),
            Some(other) => Err(SetError::Rules {
                dir: ClassCounts::path(&self.dir, other.class),
                found: other.rules.clone(),
                wanted: wanted.to_owned(),
            }
            .into()),
        }
    }

    /// Sums up classes into lines, with the bytes of their tables.
    fn lines(&self, classes: &[Counted]) -> BTreeMap<Key, (Stats, u64)> {
        let mut lines: BTreeMap<Key, (Stats, u64)> = BTreeMap::new();
        for Counted { class, same, swapped, stats, bytes } in classes {
            let key = |name: Material| (name.len(), (self.by != By::Pieces).then_some(name));
            lines.entry(key(*class)).or_default().1 += bytes;
            if self.by == By::Class {
                lines.entry(key(*class)).or_default().0 += &stats.white;
                continue;
            }
            for (names, stats) in [(same, &stats.white), (swapped, &stats.black)] {
                for &name in names {
                    lines.entry(key(name)).or_default().0 += stats;
                }
            }
        }
        lines
    }

    fn print(&self, all: &[Counted], rules: &RuleOptions) -> Outcome {
        if !self.json.on {
            print(format_args!("{:>9} {COLUMNS}", ""))?;
        }
        // Only the lines of the most pieces can be incomplete, and computing all classes of six pieces takes a while.
        let most = all.iter().map(|class| class.class.len()).max().filter(|_| self.by == By::Pieces);
        let classes = most.map(|pieces| Classes::new(rules, pieces));
        let part = |pieces: usize| {
            let done = all.iter().filter(|class| class.class.len() == pieces).count();
            let part = Part { classes: done, of: classes.as_ref()?.level(pieces).count() };
            (part.classes < part.of).then_some(part)
        };
        for ((pieces, material), (stats, bytes)) in self.lines(all) {
            let part = part(pieces);
            let name = material.map_or_else(|| format!("{pieces} pieces"), |m| m.to_string());
            let s = Metric::of(rules).summary(&stats);
            if self.json.on {
                let (wins, losses) = Metric::of(rules).by_plies(&stats);
                let by_dtz = rules.no_capture_limit.map(|_| ByDtz { wins, losses });
                let by_plies = by_dtz.is_none().then_some(&stats.by_plies[..]);
                print_json(&Line { name: &name, summary: s, by_plies, by_dtz, bytes, part })?;
                continue;
            }
            let part = part.map_or(String::new(), |part| format!("  ({} of {} classes)", part.classes, part.of));
            print(format_args!("{name:>9} {}{part}", columns(&s)))?;
        }
        Ok(())
    }

    fn print_deepest(&self) -> Outcome {
        let lines = LongestLines::open(&self.dir)?;
        let set = lines.set();
        set.check_not_empty()?;
        for pieces in 2..=set.classes().pieces() {
            let Some((position, plies)) = set.deepest(pieces)? else { continue };
            let line = lines.line(&position)?;
            let line: Vec<String> = line.iter().map(|(mv, position)| mv.notation(position)).collect();
            let deepest = Deepest { pieces, fen: position.to_fen(), plies, line };
            if self.json.on {
                print_json(&deepest)?;
            } else {
                print(format_args!("{pieces} pieces: {}, {plies} plies", deepest.fen))?;
                print(format_args!("  {}", deepest.line.join(" ")))?;
            }
        }
        Ok(())
    }
}
