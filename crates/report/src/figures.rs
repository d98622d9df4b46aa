//! The records of `dsq bench machine`, and the page and plots of a directory of results.

use crate::plot::{Axis, Line, PlotError, line_chart};
use crate::text::{Table, grouped, short};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};
use thiserror::Error;

/// Why the figures cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FiguresError {
    /// A file or directory cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A line of a file is not the expected JSON.
    #[error("{}, line {line}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The reason.
        source: serde_json::Error,
    },
    /// A plot cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// The speed of one machine at several tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The date and time in UTC (RFC 3339).
    pub date: String,
    /// The version of the program.
    pub version: String,
    /// The commit of the program.
    pub commit: String,
    /// The machine.
    pub machine: Machine,
    /// Whether the tasks were those of `--quick`.
    pub quick: bool,
    /// The measurements.
    pub speeds: Vec<Speed>,
}

/// A machine and the compiler of the program that it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the CPU.
    pub cpu: String,
    /// The number of cores that the program may use.
    pub cores: usize,
    /// The vector instructions in use: portable, avx2 or avx512.
    pub instructions: String,
    /// The GPU that was measured, if any.
    pub gpu: Option<String>,
    /// Operating system and architecture.
    pub system: String,
    /// The compiler of the program.
    pub compiler: String,
}

/// The time of one task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Speed {
    /// The task.
    pub task: String,
    /// `cpu` or `gpu`.
    pub backend: String,
    /// The number of threads.
    pub threads: usize,
    /// The maximum number of pieces, if endgames were solved.
    pub pieces: Option<usize>,
    /// The amount of work, in `unit`.
    pub count: u64,
    /// The unit of `count`: nodes, positions or probes.
    pub unit: String,
    /// The shortest time of all runs.
    pub seconds: f64,
}

impl Speed {
    /// Units per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.count as f64 / self.seconds
    }
}

impl Record {
    /// The file name of the record, such as `benchmark-2026-11-21-amd-epyc-family-26-model-2-avx512.json`.
    #[must_use]
    pub fn file_name(&self) -> String {
        let lower = format!("{} {}", self.machine.cpu, self.machine.instructions).to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
        format!("benchmark-{}-{}.json", &self.date[..10], words.join("-"))
    }

    /// The machine and the program in one line.
    #[must_use]
    pub fn heading(&self) -> String {
        let Machine { cpu, cores, instructions, gpu, system, compiler } = &self.machine;
        let gpu = gpu.as_deref().unwrap_or("no GPU");
        let quick = if self.quick { "; quick" } else { "" };
        let (version, commit) = (&self.version, &self.commit);
        format!(
            "{cpu}, {cores} cores, {instructions}; {gpu}; {system}; version {version}, commit {commit}, {compiler}{quick}"
        )
    }

    /// The measurements.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new(&["<task", "<backend", "threads", "count", "<unit", "seconds", "a second"]);
        for speed in &self.speeds {
            table.row([
                speed.task.clone(),
                speed.backend.clone(),
                speed.threads.to_string(),
                grouped(speed.count),
                speed.unit.clone(),
                format!("{:.3}", speed.seconds),
                short(speed.per_second()),
            ]);
        }
        table
    }
}

/// A line of `perft.jsonl`.
#[derive(Deserialize)]
struct Count {
    depth: u32,
    repetition: String,
    method: String,
    nodes: u64,
    seconds: f64,
    threads: usize,
    cpu: String,
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

/// Published speeds of other programs that solve endgames, in positions per second.
const PUBLISHED: [(&str, f64); 3] = [
    ("rtbgen, chess KQRvKR, a CPU-second", 12.9e6),
    ("Awari 2002, 144 CPUs", 4.8e6),
    ("MistyJungle, Dou Shou Qi, one thread", 1.3e6),
];

/// The contents of the files.
struct Results {
    counts: Vec<Count>,
    solved: Vec<Solved>,
    levels: Vec<Level>,
    records: Vec<Record>,
}

/// Writes `figures.md` and its plots into a directory, from `perft.jsonl`, `endgames.jsonl`, `tables.jsonl` and
/// `benchmark-*.json` there. Returns the files, the page last.
///
/// # Errors
/// If a file is missing or malformed, a plot cannot be drawn, or the directory cannot be written.
pub fn write(dir: &Path) -> Result<Vec<PathBuf>, FiguresError> {
    let results = Results {
        counts: lines(&dir.join("perft.jsonl"))?,
        solved: lines(&dir.join("endgames.jsonl"))?,
        levels: lines(&dir.join("tables.jsonl"))?,
        records: records(dir)?,
    };
    let files = [
        ("perft.svg", results.perft()?),
        ("solving.svg", results.solving()?),
        ("plies.svg", results.plies()?),
        ("endgames-size.svg", results.sizes()?),
        ("figures.md", results.page()),
    ];
    files
        .into_iter()
        .map(|(name, text)| {
            let path = dir.join(name);
            fs::write(&path, text).map_err(|source| FiguresError::Write { path: path.clone(), source })?;
            Ok(path)
        })
        .collect()
}

/// The benchmark records in a directory, the oldest first.
fn records(dir: &Path) -> Result<Vec<Record>, FiguresError> {
    let failed = |source| FiguresError::Read { path: dir.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if name.starts_with("benchmark-") && name.ends_with(".json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            serde_json::from_str(&read(&path)?).map_err(|source| FiguresError::Json {
                path,
                line: source.line(),
                source,
            })
        })
        .collect()
}

/// The JSON objects of a file with one on each line.
fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, FiguresError> {
    let parse = |(i, line)| {
        serde_json::from_str(line).map_err(|source| FiguresError::Json { path: path.to_owned(), line: i + 1, source })
    };
    read(path)?.lines().enumerate().map(parse).collect()
}

fn read(path: &Path) -> Result<String, FiguresError> {
    fs::read_to_string(path).map_err(|source| FiguresError::Read { path: path.to_owned(), source })
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
            Table::new(&["plies", "<counted", "<method", "lines", "seconds", "lines a second", "threads", "<CPU"]);
        for c in &self.counts {
            counts.row([
                c.depth.to_string(),
                c.repetition.clone(),
                c.method.clone(),
                grouped(c.nodes),
                format!("{:.2}", c.seconds),
                grouped((c.nodes as f64 / c.seconds) as u64),
                c.threads.to_string(),
                c.cpu.clone(),
            ]);
        }
        let benchmark = |record: &Record| {
            let speeds = record.table().markdown();
            format!("{}, {}\n\n{speeds}\n", record.date, record.heading())
        };
        let records: Vec<String> = self.records.iter().map(benchmark).collect();
        format!(
            "# Figures\n\nWritten by `dsq bench report` from `perft.jsonl`, `endgames.jsonl`, `tables.jsonl` and \
             `benchmark-*.json`.\n\n## Counts of lines from the start\n\n`leaf`: a position that already occurred on the \
             line is one leaf, as in the papers' table 1; `expand`: plain perft. `two-plies`: the moves of the last two plies \
             are counted from bitboards, not made; `merged`: also, equal positions of a ply are expanded once. The speed of \
             move generation is that of `bulk` (only the last ply is not made), under Benchmarks.\n\n{}\n![Lines a second by depth](perft.svg)\n\nThe plot has the fastest \
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
        let by_depth = [("expand", "merged"), ("leaf", "two-plies")].map(|(mode, method)| Line {
            name: format!("{mode}, {method}"),
            points: speeds(&self.counts, |c| c.repetition == mode && c.method == method),
        });
        line_chart("Perft from the start", axis("plies"), log("lines a second"), &by_depth)
    }

    fn solving(&self) -> Result<String, PlotError> {
        let mut speeds = vec![Line {
            name: "dsq, all materials".to_owned(),
            points: self.solved.iter().map(|s| (f64::from(s.pieces), s.positions as f64 / s.seconds)).collect(),
        }];
        for record in &self.records {
            let m = &record.machine;
            let cpu = format!("{}, {}", m.cpu, m.instructions);
            for (backend, name) in [("cpu", Some(&cpu)), ("gpu", m.gpu.as_ref())] {
                let solved = record.speeds.iter().filter(|speed| speed.backend == backend);
                let points: Vec<_> = solved.filter_map(|s| Some((s.pieces? as f64, s.per_second()))).collect();
                if let Some(name) = name.filter(|_| !points.is_empty()) {
                    speeds.push(Line { name: format!("{} {name}", &record.date[..10]), points });
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

/// Lines per second by depth of the counts that `of` selects: the fastest of each depth. Counts that took less than a
/// millisecond are imprecise and used only if there are no others.
fn speeds(counts: &[Count], of: impl Fn(&Count) -> bool) -> Vec<(f64, f64)> {
    let mut fastest: BTreeMap<u32, f64> = BTreeMap::new();
    let least = if counts.iter().any(|c| c.seconds >= 1e-3) { 1e-3 } else { 0.0 };
    for c in counts.iter().filter(|&c| of(c) && c.seconds >= least) {
        let speed = fastest.entry(c.depth).or_default();
        *speed = speed.max(c.nodes as f64 / c.seconds);
    }
    fastest.into_iter().map(|(depth, speed)| (f64::from(depth), speed)).collect()
}
