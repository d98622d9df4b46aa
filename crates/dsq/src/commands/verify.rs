use super::{Failure, Outcome, ThreadsArg, grouped, print, print_json, progress_bar};
use clap::Args;
use doushouqi::tablebase::{ClassId, Proved, Prover, Scope, SetError, TableSet, verify};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Check endgame tables: their checksums, then values against the values one move on.
///
/// A sample, or all values of all tables (--full). Moves are those of the move generator that plays games; nothing is
/// shared with the solver but the numbering of positions.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq verify tables\n  dsq verify tables --sample 1000000\n  dsq verify tables --full\n  \
                        dsq verify tables --full --record proved.jsonl   goes on there when given again"
)]
pub struct Verify {
    /// The directory that `dsq generate` made.
    dir: PathBuf,
    /// Check every value.
    #[arg(long, conflicts_with = "sample")]
    full: bool,
    /// With --full, check position by position, slowly: a second opinion.
    #[arg(long, requires = "full", conflicts_with = "record")]
    plain: bool,
    /// With --full, write a line for every class that was found right, and skip those that have one for the same file.
    #[arg(long, value_name = "FILE", requires = "full")]
    record: Option<PathBuf>,
    /// Check this many cells of each class, both sides to move; 0 checks checksums only.
    #[arg(long, value_name = "N", default_value = "10000")]
    sample: u64,
    /// Seed of the sample.
    #[arg(long, value_name = "SEED", default_value = "1")]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    /// With --full, the most memory to use, in GiB.
    #[arg(long, value_name = "GIB", default_value = "8")]
    memory: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    classes: u64,
    values: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    computed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reused: Option<u64>,
    seed: Option<u64>,
    seconds: f64,
}

/// A class that was found right.
#[derive(Serialize, Deserialize)]
struct Line {
    class: String,
    rules: String,
    /// Checksum of the file.
    file: String,
    bytes: u64,
    /// Checksums of the values, White and Black to move.
    values: [String; 2],
    compared: u64,
    computed: u64,
    seconds: f64,
    /// Version of the program that checked it.
    program: String,
}

/// The file with a line for every class found right.
struct Record {
    path: PathBuf,
    file: File,
    /// Class, rules and checksum of those that were there.
    done: HashSet<[String; 3]>,
}

impl Record {
    /// Reads what is there. A last line that was cut off is written over.
    fn open(path: &Path) -> Result<Record, Failure> {
        let failed = |error: io::Error| Failure::Environment(format!("{}: {error}", path.display()));
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            text => text.unwrap_or_default(),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut done = HashSet::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let line: Line = serde_json::from_str(line).map_err(|error| {
                Failure::Input(format!("{}, line {}: no record of a check: {error}", path.display(), number + 1))
            })?;
            done.insert([line.class, line.rules, line.file]);
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
        Ok(Record { path: path.to_owned(), file, done })
    }

    fn write(&mut self, line: &Line) -> Result<(), Failure> {
        let mut text = serde_json::to_string(line).expect("a line is JSON");
        text.push('\n');
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| Failure::Environment(format!("{}: {error}", self.path.display())))
    }
}

impl Verify {
    pub fn run(self) -> Outcome {
        let start = Instant::now();
        let set = TableSet::open(&self.dir)?;
        set.check_complete()?;
        let mut report = if self.full && !self.plain { self.prove(&set)? } else { self.compare(&set)? };
        report.seconds = start.elapsed().as_secs_f64();
        if self.json {
            return print_json(&report);
        }
        let reused = report.reused.filter(|&n| n > 0).map_or(String::new(), |n| format!(" ({n} recorded before)"));
        let computed = report.computed.filter(|&n| n > 0);
        let computed =
            computed.map_or(String::new(), |n| format!("; {} that are not stored were computed", grouped(n)));
        print(format_args!(
            "{} classes are whole{reused}; {} values agree with those one move on{}{computed}; {:.1} s",
            report.classes,
            grouped(report.values),
            report.seed.map_or(String::new(), |seed| format!(" (sample, seed {seed})")),
            report.seconds
        ))
    }

    /// Checks checksums and a sample, or all values one by one.
    fn compare(&self, set: &TableSet) -> Result<Report, Failure> {
        let scope = match (self.full, self.sample) {
            (true, _) => Scope::Full,
            (false, 0) => Scope::Checksums,
            (false, cells) => Scope::Sample { cells, seed: self.seed },
        };
        let ids: Vec<_> = set.ids().collect();
        let bar = progress_bar(ids.len() as u64, "classes").with_message("verifying");
        let mut values = 0;
        for &id in &ids {
            let verified = self.threads.run(|| verify(set, id, scope))?;
            bar.inc(1);
            values += verified?.map_err(|wrong| Failure::Mismatch(wrong.to_string()))?;
        }
        bar.finish_and_clear();
        let seed = (!self.full && self.sample > 0).then_some(self.seed);
        Ok(Report { classes: ids.len() as u64, values, computed: None, reused: None, seed, seconds: 0.0 })
    }

    /// Checks all values.
    fn prove(&self, set: &TableSet) -> Result<Report, Failure> {
        let mut ids: Vec<ClassId> = set.ids().collect();
        ids.sort();
        let positions = |id: ClassId| 2 * set.classes().get(id).representative.positions();
        let mut record = self.record.as_deref().map(Record::open).transpose()?;
        let bar = progress_bar(ids.iter().map(|&id| positions(id)).sum(), "positions").with_message("verifying");
        let mut report =
            Report { classes: ids.len() as u64, values: 0, computed: Some(0), reused: None, seed: None, seconds: 0.0 };
        let mut reused = 0;
        self.threads.run(|| -> Result<(), Failure> {
            let mut prover = Prover::new(set, self.memory);
            for &id in &ids {
                let start = Instant::now();
                let mut line = line(set, id)?;
                if record
                    .as_ref()
                    .is_some_and(|r| r.done.contains(&[&line.class, &line.rules, &line.file].map(String::clone)))
                {
                    reused += 1;
                    bar.inc(positions(id));
                    continue;
                }
                let Proved { values, computed } =
                    prover.prove(id)?.map_err(|wrong| Failure::Mismatch(wrong.to_string()))?;
                (line.compared, line.computed, line.seconds) = (values, computed, start.elapsed().as_secs_f64());
                if let Some(record) = &mut record {
                    record.write(&line)?;
                }
                report.values += values;
                report.computed = report.computed.map(|n| n + computed);
                bar.inc(positions(id));
            }
            Ok(())
        })??;
        bar.finish_and_clear();
        report.reused = self.record.is_some().then_some(reused);
        Ok(report)
    }
}

/// What there is to say of a class before it is checked.
fn line(set: &TableSet, id: ClassId) -> Result<Line, SetError> {
    let file = set.file(id)?;
    let description = file.description();
    Ok(Line {
        class: description.material.clone(),
        rules: description.rules.clone(),
        file: format!("{:016x}", file.checksum()),
        bytes: file.file_len(),
        values: [description.values.white.clone(), description.values.black.clone()],
        compared: 0,
        computed: 0,
        seconds: 0.0,
        program: concat!("doushouqi ", env!("CARGO_PKG_VERSION")).to_owned(),
    })
}
