use crate::provenance::{COMMIT, VERSION, now};
use clap::Args;
use cli::arguments::{JsonArg, ThreadsArg};
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, print_json, write_file};
use cli::progress::progress_bar;
use doushouqi::cpu::{CpuLevel, cpu_name};
use report::text::grouped;
use serde::Serialize;
use std::path::{Path, PathBuf};
use study::reproduce::{Cell, Count, Datum, Report, Verdict, reproduce};

/// Recompute the published tables and compare them cell by cell.
///
/// Table 1 contains the number of minimax leaves and the evaluation at plies 1 to 7, table 2 the endgames of 2, 3 and 4
/// pieces. The command explains the cells that differ from the published ones, if an explanation is known. It takes a
/// few seconds.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq reproduce\n  dsq reproduce --json --threads 1\n  dsq reproduce --out results\n\n\
                        Exit code 0 only if every cell agrees or is explained, 1 otherwise."
)]
pub struct Reproduce {
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
    /// Write reproduction.md and reproduction.json, with date, machine and commit, into this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The last line of `--json`.
#[derive(Serialize)]
struct Closing {
    #[serde(flatten)]
    count: Count,
    seconds: f64,
}

/// The file `reproduction.json`.
#[derive(Serialize)]
struct Record<'a> {
    date: String,
    version: &'static str,
    commit: &'static str,
    cpu: String,
    instructions: &'static str,
    threads: usize,
    summary: Count,
    #[serde(flatten)]
    report: &'a Report,
}

impl Reproduce {
    pub fn run(self) -> Outcome {
        // The directory is made before the work, so an unwritable one is reported at once.
        if let Some(dir) = &self.out {
            make_dir(dir)?;
        }
        let (report, threads) = self.threads.run(|| {
            let bar = progress_bar(0, "steps").with_message("reproducing");
            let report = reproduce(&|done, total| {
                bar.set_length(total);
                bar.set_position(done);
            });
            bar.finish_and_clear();
            (report, rayon::current_num_threads())
        })?;
        let report = report?;
        let text = text(&report);
        if let Some(dir) = &self.out {
            write(dir, &report, &text, threads)?;
        }
        if self.json.on {
            report.cells.iter().try_for_each(print_json)?;
            print_json(&Closing { count: report.count(), seconds: report.seconds.total })?;
        } else {
            print(&text)?;
        }
        let differing: Vec<String> =
            report.differing().map(|c| format!("table {}, row {}, {}", c.table, c.row, c.column)).collect();
        if differing.is_empty() {
            return Ok(());
        }
        Err(Failure::Mismatch(format!(
            "cells that differ from the published tables without an explanation: {}",
            differing.join("; ")
        )))
    }
}

/// The report as text of at most 100 columns.
fn text(report: &Report) -> String {
    let mut lines = Vec::new();
    table(report, 1, "Table 1: leaves of minimax from the start, and its value and move", &[18, 18, 13, 9], &mut lines);
    lines.push(String::new());
    table(report, 2, "Table 2: endgames of N pieces, White to move", &[16, 16, 16, 14, 9], &mut lines);
    lines.push(String::new());
    lines.push("= agrees with the print    * differs, explained below    ! DIFFERS".to_owned());
    lines.push(String::new());
    for sentence in &report.sentences {
        wrap(sentence, &mut lines);
    }
    lines.push(String::new());
    let Count { verdict, cells, agree, explained, differ } = report.count();
    let verdict = if verdict == Verdict::Differs { "NOT reproduced" } else { "Reproduced" };
    lines.push(format!(
        "{verdict}: {cells} cells, {agree} agree, {explained} explained, {differ} differ; {:.1} s",
        report.seconds.total
    ));
    lines.join("\n")
}

/// One table: each printed row, and below it the computed row with a mark for each verdict.
fn table(report: &Report, table: u8, title: &str, widths: &[usize], lines: &mut Vec<String>) {
    let cells: Vec<&Cell> = report.cells.iter().filter(|c| c.table == table).collect();
    let line = |name: &str, what: &str, items: Vec<String>| {
        let items: String = items.iter().zip(widths).map(|(item, &width)| format!("{item:>width$}")).collect();
        format!("{name:<2}{what:<13}{items}").trim_end().to_owned()
    };
    let rows: Vec<&[&Cell]> = cells.chunk_by(|a, b| a.row == b.row).collect();
    lines.push(title.to_owned());
    lines.push(line("", "", rows[0].iter().map(|c| format!("{}  ", c.column)).collect()));
    let mut last_name = "";
    for row in rows {
        // "4 no-move=draw" is row 4 computed under that rule.
        let (name, rule) = row[0].row.split_once(' ').unwrap_or((&row[0].row, "computed"));
        if name != last_name {
            let printed = |c: &&Cell| if c.column == "plain perft" { String::new() } else { show(&c.printed) + "  " };
            lines.push(line(name, "printed", row.iter().map(printed).collect()));
        }
        last_name = name;
        let computed = |c: &&Cell| {
            let mark = match c.verdict {
                Verdict::Agrees => '=',
                Verdict::Explained => '*',
                Verdict::Differs => '!',
            };
            format!("{} {mark}", show(&c.computed))
        };
        lines.push(line("", rule, row.iter().map(computed).collect()));
    }
}

fn show(datum: &Datum) -> String {
    match datum {
        Datum::Number(number) if *number < 0 => format!("-{}", grouped(number.unsigned_abs())),
        Datum::Number(number) => grouped(number.unsigned_abs()),
        Datum::Text(text) => text.clone(),
    }
}

/// Wraps a sentence, as a list item, at 100 columns.
fn wrap(sentence: &str, lines: &mut Vec<String>) {
    let mut line = String::from("-");
    for word in sentence.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > 100 {
            lines.push(std::mem::replace(&mut line, " ".to_owned()));
        }
        line.push(' ');
        line.push_str(word);
    }
    lines.push(line);
}

fn write(dir: &Path, report: &Report, text: &str, threads: usize) -> Outcome {
    let record = Record {
        date: now(),
        version: VERSION,
        commit: COMMIT,
        cpu: cpu_name(),
        instructions: CpuLevel::get().name(),
        threads,
        summary: report.count(),
        report,
    };
    let seconds = report.seconds;
    let markdown = format!(
        "# The published tables, recomputed\n\nWritten by `dsq reproduce --out`.\n\n| | |\n|---|---|\n\
         | date | {} |\n| version | {} |\n| commit | {} |\n| CPU | {} |\n| instructions | {} |\n| threads | {} |\n\
         | seconds | {:.2} for table 1, {:.2} for table 2 |\n\n```text\n{text}\n```\n",
        record.date,
        record.version,
        record.commit,
        record.cpu,
        record.instructions,
        record.threads,
        seconds.table1,
        seconds.table2
    );
    let json = serde_json::to_string_pretty(&record).expect("a record is JSON") + "\n";
    write_file(&dir.join("reproduction.md"), &markdown)?;
    write_file(&dir.join("reproduction.json"), &json)
}
