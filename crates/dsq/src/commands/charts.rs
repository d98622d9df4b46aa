//! Tables and plots of the files in `results`.

use super::record::{Record, records, text};
use super::reproduce::write_file;
use super::{Failure, Outcome, grouped};
use report::plot::{Axis, Line, PlotError, line_chart};
use report::text::Table;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Failure {
        Failure::Input(error.to_string())
    }
}

/// A line of `perft.jsonl`.
#[derive(Deserialize)]
struct Count {
    depth: u32,
    repetition: String,
    nodes: u64,
    seconds: f64,
    threads: usize,
    hash_mib: Option<usize>,
    processor: String,
}

/// A line of `endgames.jsonl`.
#[derive(Deserialize)]
struct Solved {
    pieces: u32,
    positions: u64,
    seconds: f64,
}

/// A line of `tables.jsonl`.
#[derive(Deserialize)]
struct Level {
    name: String,
    by_plies: Vec<u64>,
    bytes: u64,
}

/// Speeds of other programs that solve endgames, in positions a second, and what they were measured on.
const PUBLISHED: [(&str, f64); 3] = [
    ("rtbgen, chess KQRvKR, a CPU-second", 12.9e6),
    ("Awari 2002, 144 CPUs", 4.8e6),
    ("MistyJungle, Dou Shou Qi, one thread", 1.3e6),
];

/// What the files of a folder say.
struct Results {
    counts: Vec<Count>,
    solved: Vec<Solved>,
    levels: Vec<Level>,
    records: Vec<Record>,
}

/// Writes `figures.md` and its plots from the other files of a folder.
pub fn write(dir: &Path) -> Outcome {
    let results = Results {
        counts: lines(&dir.join("perft.jsonl"))?,
        solved: lines(&dir.join("endgames.jsonl"))?,
        levels: lines(&dir.join("tables.jsonl"))?,
        records: records(dir)?,
    };
    let plots = [
        ("perft.svg", results.perft()?),
        ("solving.svg", results.solving()?),
        ("plies.svg", results.plies()?),
        ("endgames-size.svg", results.sizes()?),
    ];
    for (name, svg) in plots {
        write_file(&dir.join(name), &svg)?;
    }
    write_file(&dir.join("figures.md"), &results.page())
}

fn axis(label: &'static str) -> Axis<'static> {
    Axis { label, log: false }
}

fn log(label: &'static str) -> Axis<'static> {
    Axis { label, log: true }
}

impl Results {
    fn page(&self) -> String {
        let mut counts =
            Table::new(&["plies", "<counted", "lines", "seconds", "lines a second", "<threads, table", "<processor"]);
        for c in &self.counts {
            counts.row([
                c.depth.to_string(),
                c.repetition.clone(),
                grouped(c.nodes),
                format!("{:.2}", c.seconds),
                grouped((c.nodes as f64 / c.seconds) as u64),
                c.hash_mib.map_or(c.threads.to_string(), |mib| format!("{}, {mib} MiB", c.threads)),
                c.processor.clone(),
            ]);
        }
        let records: Vec<String> =
            self.records.iter().map(|record| format!("{}\n\n```text\n{}```\n\n", record.date, text(record))).collect();
        format!(
            "# Figures\n\nWritten by `dsq bench machine --report` from `perft.jsonl`, `endgames.jsonl`, `tables.jsonl` and \
             `benchmark-*.json`.\n\n## Counts of lines from the start\n\n`leaf`: a position that already occurred on the \
             line is one leaf, as in the papers' table 1; `expand`: plain perft. With a table of counts the speed is that of \
             counting and looking up together.\n\n{}\n![Lines a second by depth](perft.svg)\n\nThe plot has the fastest \
             count of each depth, if it took a millisecond or more.\n\n## Benchmarks\n\n{}## Solving\n\n\
             ![Positions a second](solving.svg)\n\nOther programs: rtbgen measured by us on one core of the same kind of \
             machine; Awari: Romein and Bal, *Awari is solved*, ICGA Journal 25(3), 2002 (8.9e11 positions in 51 hours); \
             MistyJungle, a solver of Dou Shou Qi for win, draw and loss: measured by us (1.2e8 placements of three pieces \
             in 80 to 94 s). They solve other games and keep other things: only the order of size can be compared.\n\n\
             ![Time and size](endgames-size.svg)\n\n## How long endgames last\n\nPositions with White to move by plies to the \
             end, wins at odd and losses at even numbers.\n\n![By plies](plies.svg)\n",
            counts.markdown(),
            records.concat()
        )
    }

    fn perft(&self) -> Result<String, PlotError> {
        let modes = [("expand", false), ("expand", true), ("leaf", false), ("leaf", true)];
        let by_depth: Vec<Line> = modes
            .into_iter()
            .map(|(mode, hash)| Line {
                name: if hash { format!("{mode}, with a table") } else { mode.to_owned() },
                points: speeds(&self.counts, |c| c.repetition == mode && c.hash_mib.is_some() == hash),
            })
            .filter(|line| !line.points.is_empty())
            .collect();
        line_chart("Perft from the start", axis("plies"), log("lines a second"), &by_depth)
    }

    fn solving(&self) -> Result<String, PlotError> {
        let mut speeds = vec![Line {
            name: "dsq, all materials".to_owned(),
            points: self.solved.iter().map(|s| (f64::from(s.pieces), s.positions as f64 / s.seconds)).collect(),
        }];
        for record in &self.records {
            let m = &record.report.machine;
            let processor = format!("{}, {}", m.processor, m.instructions);
            for (backend, name) in [("cpu", Some(&processor)), ("gpu", m.gpu.as_ref())] {
                let points: Vec<(f64, f64)> = record
                    .report
                    .retrograde
                    .iter()
                    .filter(|r| r.backend == backend)
                    .map(|r| (r.pieces as f64, r.positions_per_second))
                    .collect();
                if let Some(name) = name.filter(|_| !points.is_empty()) {
                    speeds.push(Line { name: format!("benchmark, {} {name}", &record.date[..10]), points });
                }
            }
        }
        let most = self.solved.iter().map(|s| s.pieces).max().unwrap_or(5).max(3).into();
        for (name, speed) in PUBLISHED {
            speeds.push(Line { name: name.to_owned(), points: vec![(2.0, speed), (most, speed)] });
        }
        line_chart("Solving endgames", axis("pieces"), log("positions a second"), &speeds)
    }

    fn plies(&self) -> Result<String, PlotError> {
        let line = |level: &Level| {
            let points = level.by_plies.iter().enumerate().filter(|&(_, &n)| n > 0);
            Line { name: level.name.clone(), points: points.map(|(plies, &n)| (plies as f64, n as f64)).collect() }
        };
        let by_plies: Vec<Line> = self.levels.iter().map(line).collect();
        line_chart("How long endgames last", axis("plies to the end"), log("positions"), &by_plies)
    }

    fn sizes(&self) -> Result<String, PlotError> {
        let pieces = |level: &Level| level.name.split(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
        let on_disk = self.levels.iter().filter(|l| l.bytes > 0);
        let sizes = [
            Line {
                name: "seconds to solve".to_owned(),
                points: self.solved.iter().map(|s| (f64::from(s.pieces), s.seconds)).collect(),
            },
            Line {
                name: "MB on disk".to_owned(),
                points: on_disk.map(|l| (pieces(l), l.bytes as f64 / 1e6)).collect(),
            },
        ];
        line_chart("Time and size", axis("pieces"), log("seconds, MB"), &sizes)
    }
}

/// Lines a second by depth of the counts that `of` chooses: the fastest of each depth, and, if there are others, none that
/// took less than a millisecond, which says little of speed.
fn speeds(counts: &[Count], of: impl Fn(&Count) -> bool) -> Vec<(f64, f64)> {
    let mut fastest: BTreeMap<u32, f64> = BTreeMap::new();
    let least = if counts.iter().any(|c| c.seconds >= 1e-3) { 1e-3 } else { 0.0 };
    for c in counts.iter().filter(|&c| of(c) && c.seconds >= least) {
        let speed = fastest.entry(c.depth).or_default();
        *speed = speed.max(c.nodes as f64 / c.seconds);
    }
    fastest.into_iter().map(|(depth, speed)| (f64::from(depth), speed)).collect()
}

/// The objects of a file, one a line.
pub fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failure> {
    let text = fs::read_to_string(path).map_err(|e| Failure::reading(path.display(), &e))?;
    let parse = |(i, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|e| Failure::Input(format!("{}, line {}: {e}", path.display(), i + 1)))
    };
    text.lines().enumerate().map(parse).collect()
}
