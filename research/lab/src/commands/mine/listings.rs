//! Analyses whose result is a list.

use clap::Args;
use cli::arguments::{Common, at_least_one};
use cli::failure::Outcome;
use cli::output::{print, print_json};
use cli::progress::progress_bar;
use doushouqi::tablebase::{Classes, Solver};
use mining::patterns::{draws, fortresses, longest_lines, parities, swaps};
use mining::tables;
use mining::trees::sizes;
use mining::zugzwang::zugzwangs;
use report::text::Table;
use serde::Serialize;

/// The number of pieces of an analysis of all positions with at most so many pieces.
#[derive(Args)]
pub(super) struct UpTo<const MOST: i64, const DEFAULT: u8> {
    /// All materials of 2 to N pieces; by default the number that takes a few seconds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MOST))]
    pieces: Option<u8>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// The number of pieces and of printed lines of an analysis of positions with exactly so many pieces.
#[derive(Args)]
pub(super) struct Exactly<const DEFAULT: u8, const MOST: i64> {
    /// Number of pieces; by default the number that takes a few seconds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MOST))]
    piece_count: Option<u8>,
    /// Print only the first N lines: 20 if not given, with --json all.
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>())]
    top: Option<usize>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(super) struct Sizes {
    /// Number of pieces.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=3))]
    piece_count: u8,
    #[command(flatten)]
    pub(super) common: Common,
}

// clap keeps one default for all instances of a generic type, so the program fills in the defaults.
impl<const MOST: i64, const DEFAULT: u8> UpTo<MOST, DEFAULT> {
    pub(super) fn pieces(&self) -> u8 {
        self.pieces.unwrap_or(DEFAULT)
    }
}

impl<const DEFAULT: u8, const MOST: i64> Exactly<DEFAULT, MOST> {
    pub(super) fn pieces(&self) -> u8 {
        self.piece_count.unwrap_or(DEFAULT)
    }

    pub(super) fn top(&self) -> usize {
        self.top.unwrap_or(if self.common.json.on { usize::MAX } else { 20 })
    }
}

/// Prints results: JSON with one object on each line, or a table.
fn print_found<T: Serialize>(common: &Common, found: &[T], table: impl FnOnce(&[T]) -> Table) -> Outcome {
    if common.json.on {
        return found.iter().try_for_each(print_json);
    }
    print(table(found).aligned().trim_end())
}

impl Sizes {
    pub(super) fn run(&self) -> Outcome {
        let pieces = self.piece_count.into();
        let tables = Solver::solved(self.common.rules(), pieces)?;
        print_found(&self.common, &sizes(&tables, pieces), tables::sizes)
    }
}

pub(super) fn print_zugzwangs(common: &Common, pieces: u8) -> Outcome {
    let options = common.rules();
    let classes = Classes::new(options, pieces.into()).len() as u64;
    let bar = progress_bar(classes, "classes").with_message("zugzwangs");
    let all = zugzwangs(options, pieces.into(), &|_| bar.inc(1));
    bar.finish_and_clear();
    let all = all?;
    if common.json.on {
        return all.iter().try_for_each(print_json);
    }
    print(tables::zugzwangs(&all).aligned())?;
    print(tables::deepest_zugzwangs(&all).aligned().trim_end())
}

pub(super) fn print_draws(common: &Common, pieces: u8, top: usize) -> Outcome {
    let all = draws(common.rules(), pieces.into())?;
    let last: Vec<_> = all.into_iter().filter(|d| d.pieces == usize::from(pieces)).take(top).collect();
    print_found(common, &last, |found| tables::draws(found))
}

pub(super) fn print_swaps(common: &Common, pieces: u8, top: usize) -> Outcome {
    let mut all = swaps(&Solver::solved(common.rules(), pieces.into())?, pieces.into());
    all.truncate(top);
    print_found(common, &all, |found| tables::swaps(found))
}

pub(super) fn print_parity(common: &Common, pieces: u8, top: usize) -> Outcome {
    let mut all = parities(&Solver::solved(common.rules(), pieces.into())?, pieces.into());
    all.truncate(top);
    print_found(common, &all, |found| tables::parity(found))
}

pub(super) fn print_fortresses(common: &Common, pieces: u8, top: usize) -> Outcome {
    let mut all = fortresses(&Solver::solved(common.rules(), pieces.into())?, pieces.into());
    all.truncate(top);
    print_found(common, &all, |found| tables::fortresses(found))
}

pub(super) fn print_lines(common: &Common, pieces: u8) -> Outcome {
    for line in longest_lines(common.rules(), pieces.into())? {
        if common.json.on {
            print_json(&line)?;
        } else {
            print(format_args!("{} pieces: {}, {} plies", line.pieces, line.fen, line.plies))?;
            print(format_args!("  {}", line.line.join(" ")))?;
        }
    }
    Ok(())
}
