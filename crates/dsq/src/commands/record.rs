//! A record of `dsq bench machine`: its file, and what a person reads.

use super::{Failure, grouped};
use crate::benchmark::Report;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// What `--json` prints and `--write` writes.
#[derive(Serialize, Deserialize)]
pub struct Record {
    pub date: String,
    pub version: String,
    pub commit: String,
    #[serde(flatten)]
    pub report: Report,
}

/// `benchmark-2026-11-21-amd-epyc-family-26-model-2-avx512.json`.
pub fn file_name(record: &Record) -> String {
    let machine = &record.report.machine;
    let lower = format!("{} {}", machine.processor, machine.instructions).to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    format!("benchmark-{}-{}.json", &record.date[..10], words.join("-"))
}

/// Names what a number of a second is in, at three digits: 3.41 G.
pub fn short(number: f64) -> String {
    let (size, unit) =
        [(1e9, " G"), (1e6, " M"), (1e3, " k")].into_iter().find(|&(n, _)| number >= n).unwrap_or((1.0, ""));
    let value = number / size;
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}{unit}")
}

/// The report as a person reads it.
pub fn text(record: &Record) -> String {
    let Report { machine: m, quick, perft, retrograde, probe, search } = &record.report;
    let mut text = format!(
        "{}, {} cores, {}; {}; {}\nversion {}, commit {}, {}{}\n\n",
        m.processor,
        m.cores,
        m.instructions,
        m.gpu.as_deref().unwrap_or("no graphics card"),
        m.system,
        record.version,
        record.commit,
        m.compiler,
        if *quick { "; quick" } else { "" }
    );
    let mut line = |what: String, speed: String, seconds: f64| {
        text += &format!("{what:52} {speed:>22} {seconds:>9.3} s\n");
    };
    for p in perft {
        line(
            format!("perft {}, {} nodes, {}", p.depth, grouped(p.nodes), threads(p.threads)),
            format!("{} nodes/s", short(p.nodes_per_second)),
            p.seconds,
        );
    }
    for r in retrograde {
        let by = if r.backend == "cpu" { threads(r.threads) } else { r.backend.clone() };
        line(
            format!("solving {}, {} positions, {by}", r.what, grouped(r.positions)),
            format!("{} positions/s", short(r.positions_per_second)),
            r.seconds,
        );
    }
    for s in search {
        line(
            format!("search, {} nodes, {}", grouped(s.nodes), threads(s.threads)),
            format!("{} nodes/s", short(s.nodes_per_second)),
            s.seconds,
        );
    }
    for p in probe {
        let seconds = p.nanoseconds * p.probes as f64 / 1e9;
        line(format!("probe of {} pieces: {}", p.pieces, p.what), format!("{:.0} ns", p.nanoseconds), seconds);
    }
    text
}

fn threads(n: usize) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}

/// The records in a folder, the oldest first.
pub fn records(dir: &Path) -> Result<Vec<Record>, Failure> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| Failure::reading(dir.display(), &e))? {
        let path = entry.map_err(|e| Failure::reading(dir.display(), &e))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if name.starts_with("benchmark-") && name.ends_with(".json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).map_err(|e| Failure::reading(path.display(), &e))?;
            serde_json::from_str(&text).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
        })
        .collect()
}
