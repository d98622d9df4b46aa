use crate::bundle::{self, Checked};
use crate::failure::RESUME;
use clap::Args;
use cli::arguments::{JsonArg, MemoryArg, SeedArg, ThreadsArg};
use cli::continued::ContinuedFile;
use cli::failure::{Failure, FailureKind, Outcome, REGENERATE, failure_of_set};
use cli::output::{print, print_json, to_json};
use cli::progress::{exit_on_interrupt, progress_bar};
use doushouqi::tablebase::{ClassId, Content, Proved, Prover, Scope, SetError, TableSet, verify};
use report::text::grouped;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Check endgame tables: the checksum of every file, then every value against the values after its moves.
///
/// The check uses the board's move generator, and shares only the numbering of positions, the squares and the rule
/// options with the solver. It lists all damaged files. A sample of the values (--sample) is a faster, weaker check.
#[derive(Args)]
#[command(mut_arg("seed", |seed| seed.requires("sample")), after_help = "Examples:\n  dsq verify tables\n  dsq verify tables --sample 0       checksums only\n  \
                        dsq verify tables --sample 100     and 100 values of each class and side to move\n  \
                        dsq verify tables --record proved.jsonl   resumes when given again\n  \
                        dsq verify published --sample 0 --fingerprint HEX   whether a copy is the publication")]
pub struct Verify {
    /// A directory written by `dsq generate`.
    dir: PathBuf,
    /// Check every value with a second, slow method, position by position.
    #[arg(long, conflicts_with_all = ["record", "sample"])]
    plain: bool,
    /// Write a line for every class that passes. If FILE already contains a line for the same table file, only the
    /// checksum of the table file is computed again.
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    record: Option<PathBuf>,
    /// Check this many cells of each class for each side to move instead of all; 0 checks only checksums.
    #[arg(long, value_name = "N")]
    sample: Option<u64>,
    #[command(flatten)]
    seed: SeedArg,
    /// The fingerprint of the publication: the SHA-256 of its file SHA256SUMS, stated by the publisher.
    #[arg(long, value_name = "HEX")]
    fingerprint: Option<String>,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    memory: MemoryArg,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Default, Serialize)]
struct Report {
    classes: u64,
    values: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    computed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reused: Option<u64>,
    seed: Option<u64>,
    /// The fingerprint of a publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    seconds: f64,
}

/// A class that passed the check.
#[derive(Serialize, Deserialize)]
struct Line {
    class: String,
    rules: String,
    /// The checksum of the table file.
    file: String,
    bytes: u64,
    /// The checksums of the values, White and Black to move.
    values: [String; 2],
    compared: u64,
    computed: u64,
    seconds: f64,
    /// The version of the program that checked the class.
    program: String,
}

/// The file with a line for every class that passed.
struct Record {
    file: ContinuedFile,
    /// Class, rules and file checksum of the lines that the file already contained.
    done: HashSet<[String; 3]>,
}

impl Record {
    fn open(path: &Path) -> Result<Record, Failure> {
        let (file, text) = ContinuedFile::open(path, "{\"class\":")?;
        let mut done = HashSet::new();
        for (line, number) in text.lines().zip(1..) {
            let line: Line = serde_json::from_str(line).map_err(|error| {
                Failure::Input(format!("{}, line {number}: not a record of a check: {error}", path.display()))
            })?;
            done.insert([line.class, line.rules, line.file]);
        }
        Ok(Record { file, done })
    }

    /// Whether the class has passed with these rules and this file checksum.
    fn contains(&self, line: &Line) -> bool {
        self.done.contains(&[&line.class, &line.rules, &line.file].map(String::clone))
    }

    fn write(&mut self, line: &Line) -> Outcome {
        self.file.append(&(to_json(line) + "\n"))?;
        self.file.sync()
    }
}

/// The failures that a check has found.
#[derive(Default)]
struct Faults(Vec<Failure>);

impl Faults {
    fn add(&mut self, error: &SetError) {
        let text = error.to_string();
        // A damaged table is read again for each class whose captures lead to it; report it once.
        if self.0.iter().all(|known| known.to_string() != text) {
            self.0.push(failure_of_set(error)(text));
        }
    }

    /// Fails if there are failures, with the lowest of their exit codes. `remedy` is for damaged files.
    fn end(mut self, remedy: &str) -> Outcome {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        self.0.sort_by_key(Failure::exit_code);
        let (kind, cure): (FailureKind, _) = match self.0.first() {
            None => return Ok(()),
            Some(Failure::Mismatch(_)) => (Failure::Mismatch, format!("; {remedy}")),
            Some(Failure::Input(_)) => (Failure::Input, String::new()),
            Some(_) => (Failure::Environment, String::new()),
        };
        Err(kind(match &lines[..] {
            [line] => format!("{line}{cure}"),
            lines => format!("{} faults{cure}:\n  {}", lines.len(), lines.join("\n  ")),
        }))
    }
}

impl Verify {
    pub fn run(self) -> Outcome {
        let start = Instant::now();
        let fingerprint = self.threads.run(|| self.check_bundle())??;
        let set = TableSet::open(&self.dir)?;
        set.check_complete()?;
        if set.content() == Content::Wdl && self.sample != Some(0) {
            let dir = self.dir.display();
            let what = "results only, which do not prove one another; --sample 0 checks its checksums";
            return Err(Failure::Input(format!("{dir} stores {what}")));
        }
        let mut ids: Vec<ClassId> = set.ids().collect();
        ids.sort();
        let mut report = self.threads.run(|| {
            check_files(&set, &ids)?;
            self.check_values(&set, &ids)
        })??;
        report.seconds = start.elapsed().as_secs_f64();
        report.fingerprint = fingerprint;
        if self.json.on {
            return print_json(&report);
        }
        if let Some(fingerprint) = &report.fingerprint {
            print(format_args!("all files are as published; fingerprint {fingerprint}"))?;
        }
        if self.sample == Some(0) {
            return print(format_args!(
                "{} classes have the right checksums; values were not compared; {:.1} s",
                report.classes, report.seconds
            ));
        }
        let reused = report.reused.filter(|&n| n > 0).map_or(String::new(), |n| format!(" ({n} recorded before)"));
        let computed = report.computed.filter(|&n| n > 0);
        let computed =
            computed.map_or(String::new(), |n| format!("; {} that are not stored were computed", grouped(n)));
        print(format_args!(
            "{} classes are complete{reused}; {} values agree with the values after their moves{}{computed}; {:.1} s",
            report.classes,
            grouped(report.values),
            report.seed.map_or(String::new(), |seed| format!(" (sample, seed {seed})")),
            report.seconds
        ))
    }

    /// Compares a publication with its list and returns its fingerprint; `None` if the directory is not a publication.
    fn check_bundle(&self) -> Result<Option<String>, Failure> {
        if !bundle::is_bundle(&self.dir) {
            return match &self.fingerprint {
                None => Ok(None),
                Some(_) => Err(Failure::Input(format!("{} is no publication of `dsq bundle`", self.dir.display()))),
            };
        }
        let Checked { fingerprint, faults } = bundle::check(&self.dir, self.fingerprint.as_deref())?;
        Faults(faults.into_iter().map(Failure::Mismatch).collect()).end("copy the publication again")?;
        Ok(Some(fingerprint))
    }

    /// Compares the values of all classes with the values after their moves. Reports all wrong classes.
    fn check_values(&self, set: &TableSet, ids: &[ClassId]) -> Result<Report, Failure> {
        let scope = match self.sample {
            Some(0) => Some(Scope::Checksums),
            Some(cells) => Some(Scope::Sample { cells, seed: self.seed.seed }),
            None => self.plain.then_some(Scope::Full),
        };
        let mut report = Report {
            classes: ids.len() as u64,
            computed: scope.is_none().then_some(0),
            reused: self.record.is_some().then_some(0),
            seed: self.sample.filter(|&cells| cells > 0).map(|_| self.seed.seed),
            ..Report::default()
        };
        if scope == Some(Scope::Checksums) {
            return Ok(report);
        }
        let mut record = self.record.as_deref().map(Record::open).transpose()?;
        let positions = |id: ClassId| 2 * set.classes().get(id).representative.positions();
        let bar = progress_bar(ids.iter().map(|&id| positions(id)).sum(), "positions").with_message("verifying");
        exit_on_interrupt(&bar, if record.is_some() { RESUME } else { "nothing is kept: --record FILE resumes" });
        let mut prover = Prover::new(set, self.memory.get().bytes());
        let mut faults = Faults::default();
        for &id in ids {
            let start = Instant::now();
            let mut line = line(set, id)?;
            if record.as_ref().is_some_and(|record| record.contains(&line)) {
                report.reused = report.reused.map(|n| n + 1);
                bar.inc(positions(id));
                continue;
            }
            let checked = match scope {
                Some(scope) => verify(set, id, scope).map(|r| r.map(|values| Proved { values, computed: 0 })),
                None => prover.prove(id),
            };
            match checked {
                Ok(Ok(Proved { values, computed })) => {
                    report.values += values;
                    report.computed = report.computed.map(|n| n + computed);
                    (line.compared, line.computed, line.seconds) = (values, computed, start.elapsed().as_secs_f64());
                    if let Some(record) = &mut record {
                        record.write(&line)?;
                    }
                }
                Ok(Err(wrong)) => faults.0.push(Failure::Mismatch(format!("{}.dsq: {wrong}", line.class))),
                Err(error) => faults.add(&error),
            }
            bar.inc(positions(id));
        }
        bar.finish_and_clear();
        faults.end(REGENERATE)?;
        Ok(report)
    }
}

/// Computes the checksums of all files. Reports all damaged files.
pub fn check_files(set: &TableSet, ids: &[ClassId]) -> Outcome {
    let bar = progress_bar(ids.len() as u64, "files").with_message("checksums");
    let mut faults = Faults::default();
    for &id in ids {
        if let Err(error) = verify(set, id, Scope::Checksums) {
            faults.add(&error);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    faults.end(REGENERATE)
}

/// The record line of a class, as written if the class passes.
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
