use crate::arguments::OptionalRulesArg;
use clap::{Args, ValueEnum};
use cli::arguments::{SeedArg, ThreadsArg, at_least_one, open_tables};
use cli::failure::{Failure, Outcome};
use cli::output::{print, read_json_lines};
use cli::progress::{exit_on_interrupt, progress_bar};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::Material;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use study::puzzles::{Generate, Puzzle, Source, anki_header, csv_header};

/// The maximum number of pieces of a puzzle.
const MOST_PIECES: usize = 5;

/// Generate puzzles: positions in which exactly one move keeps the win or the draw.
///
/// The endgame tables decide which moves keep the value, so every solution is exact. The difficulty, from 1 to 5,
/// depends on the depth that a plain search needs, the number of wrong moves that the search prefers at some depth, and
/// the length of the solution. The themes are den-race, leap, rat-in-water, trap, zugzwang, sacrifice, quiet, den,
/// last-piece, defence. docs/json.md describes every field.
///
/// Without --tables, the command solves endgames of up to four pieces in memory (2.3 GB), and a few random materials of
/// five pieces (--large), one after the other.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq puzzles --piece-count 3 --count 20\n  \
                        dsq puzzles --piece-count 3..4 --count 1000 --seed 1 > puzzles.jsonl\n  \
                        dsq puzzles --material TRvL --count 10 --format anki > deck.txt\n  \
                        dsq puzzles --check puzzles.jsonl")]
pub struct Puzzles {
    /// Number of pieces, 2 to 5: N, or N..M with equally many puzzles of each number.
    #[arg(long, value_name = "N..M", value_parser = pieces, default_value = "3..4")]
    piece_count: RangeInclusive<usize>,
    /// Use only this material and ignore --piece-count; repeatable.
    #[arg(long, value_name = "MATERIAL")]
    material: Vec<Material>,
    /// Number of puzzles.
    #[arg(long, value_name = "N", default_value = "100", value_parser = at_least_one::<usize>())]
    count: usize,
    #[command(flatten)]
    seed: SeedArg,
    /// Use the tables in this directory, as `dsq generate` writes it.
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// The number of materials of five pieces to solve if --tables is not given.
    #[arg(long, value_name = "N", default_value = "3", value_parser = at_least_one::<usize>())]
    large: usize,
    /// The format: jsonl, csv with the columns of Lichess' puzzle database, or anki (text with tabs).
    #[arg(long, value_enum, default_value = "jsonl", hide_possible_values = true)]
    format: Format,
    /// Compute the puzzles of a JSONL file again and compare every field, instead of generating puzzles.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["piece_count", "material", "count", "seed", "large", "format", "rules"])]
    check: Option<PathBuf>,
    #[command(flatten)]
    rules: OptionalRulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Format {
    Jsonl,
    Csv,
    Anki,
}

/// Reads `N` or `N..M`.
fn pieces(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| text.trim_start_matches('=').parse().ok().filter(|n| (2..=MOST_PIECES).contains(n));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err("write a number of pieces from 2 to 5, or two as in 3..4".to_owned()),
    }
}

impl Puzzles {
    pub fn run(self) -> Outcome {
        self.threads.run(|| match &self.check {
            Some(file) => self.check(file),
            None => self.generate(),
        })?
    }

    /// The tables for materials of up to this many pieces.
    fn source(&self, rules: Option<RuleOptions>, pieces: usize) -> Result<Source, Failure> {
        match &self.tables {
            Some(dir) => {
                let tables = open_tables(dir, rules)?;
                let most = tables.set().classes().pieces();
                if most < pieces {
                    let dir = dir.display();
                    return Err(Failure::Input(format!("{dir} has tables of up to {most} pieces, not {pieces}")));
                }
                Ok(Source::files(tables))
            }
            None => Ok(Source::solve(&rules.unwrap_or_default(), pieces)?),
        }
    }

    fn generate(&self) -> Outcome {
        let sizes = self.material.iter().map(|material| material.len());
        let pieces = match (sizes.clone().min(), sizes.max()) {
            (Some(_), Some(most)) if most > MOST_PIECES => {
                return Err(Failure::Input(format!("puzzles have at most {MOST_PIECES} pieces, not {most}")));
            }
            (Some(least), Some(most)) => least..=most,
            _ => self.piece_count.clone(),
        };
        let bar = progress_bar(self.count as u64, "puzzles").with_message("solving");
        exit_on_interrupt(&bar, "the lines printed so far are complete");
        let mut source = self.source(self.rules.rules, *pieces.end())?;
        bar.set_message("puzzles");
        let job = Generate {
            pieces,
            materials: self.material.clone(),
            large: self.large,
            count: self.count,
            seed: self.seed.seed,
        };
        match self.format {
            Format::Jsonl => {}
            Format::Csv => print(csv_header())?,
            Format::Anki => print(anki_header())?,
        }
        let mut done = Ok(());
        let mut made = 0;
        job.run(&mut source, &mut |puzzle| {
            let line = match self.format {
                Format::Jsonl => puzzle.to_json(),
                Format::Csv => puzzle.to_csv(),
                Format::Anki => puzzle.to_anki(),
            };
            made += 1;
            bar.inc(1);
            if done.is_ok() {
                done = bar.suspend(|| print(line));
            }
        })?;
        bar.finish_and_clear();
        if made < self.count {
            eprintln!("dsq: generated {made} of {} puzzles: the materials contain no more", self.count);
        }
        done
    }

    fn check(&self, file: &Path) -> Outcome {
        let puzzles: Vec<Puzzle> = read_json_lines(file)?;
        let failure = |i: usize, text: String| Failure::Input(format!("{}, line {}: {text}", file.display(), i + 1));
        // Grouped by rules, then by material, so every table is solved once.
        let mut by_rules: BTreeMap<&str, Vec<(Material, usize)>> = BTreeMap::new();
        for (i, puzzle) in puzzles.iter().enumerate() {
            let material: Material = puzzle.material.parse().map_err(|e| failure(i, format!("{e}")))?;
            if material.len() > MOST_PIECES {
                return Err(failure(i, format!("puzzles have at most {MOST_PIECES} pieces, not {}", material.len())));
            }
            by_rules.entry(&puzzle.rules).or_default().push((material, i));
        }
        let bar = progress_bar(puzzles.len() as u64, "puzzles").with_message("checking");
        let mut wrong = Vec::new();
        for (rules, mut lines) in by_rules {
            lines.sort_by_key(|&(material, i)| (material.len(), material, i));
            let Some(&(largest, last)) = lines.last() else { continue };
            let rules: RuleOptions = rules.parse().map_err(|e| failure(last, format!("{e}")))?;
            let mut source = self.source(Some(rules), largest.len())?;
            for (material, i) in lines {
                source.prepare(material)?;
                let position = puzzles[i].position().map_err(|e| failure(i, format!("{e}")))?;
                if Puzzle::at(&source, &position)?.as_ref() != Some(&puzzles[i]) {
                    wrong.push(i + 1);
                }
                bar.inc(1);
            }
        }
        wrong.sort_unstable();
        bar.finish_and_clear();
        match wrong[..] {
            [] => print(format_args!("{} puzzles, all equal to the computed ones", puzzles.len())),
            [first, ..] => Err(Failure::Mismatch(format!(
                "{} of {} puzzles differ from the computed ones, the first in line {first} of {}",
                wrong.len(),
                puzzles.len(),
                file.display()
            ))),
        }
    }
}
