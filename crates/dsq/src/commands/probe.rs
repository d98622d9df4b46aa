use crate::arguments::{OptionalRulesArg, open_tables};
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use clap::Args;
use doushouqi::board::{Move, Position};
use doushouqi::tablebase::{Material, Probe as _, TableProber, Value, Wdl};
use serde::Serialize;
use std::io::{self, BufRead};
use std::path::PathBuf;

/// Look up positions in endgame tables: who wins, in how many plies, and what each move leads to.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq probe --tables tables '7/7/3e3/7/7/7/3E3/7/7 w' --line\n  \
                        dsq probe --tables tables --json - < positions.fen")]
pub struct Probe {
    /// The directory that `dsq generate` made.
    #[arg(long, value_name = "DIR")]
    tables: PathBuf,
    /// Positions; `-` reads one a line from standard input.
    #[arg(value_name = "FEN", required = true)]
    fens: Vec<String>,
    #[command(flatten)]
    rules: OptionalRulesArg,
    /// Show a line of best play to the end, too.
    #[arg(long)]
    line: bool,
    /// Print one JSON object a position.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    fen: String,
    wdl: Wdl,
    dtw: Option<u16>,
    moves: Vec<MoveReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Vec<String>>,
}

#[derive(Serialize)]
struct MoveReport {
    r#move: String,
    wdl: Wdl,
    dtw: Option<u16>,
}

impl Probe {
    pub fn run(self) -> Outcome {
        let tables = open_tables(&self.tables, self.rules.rules)?;
        for fen in &self.fens {
            if fen == "-" {
                for line in io::stdin().lock().lines() {
                    let line = line.map_err(|e| Failure::reading("standard input", &e))?;
                    if !line.trim().is_empty() {
                        self.probe(&tables, &line)?;
                    }
                }
            } else {
                self.probe(&tables, fen)?;
            }
        }
        Ok(())
    }

    fn probe(&self, tables: &TableProber, fen: &str) -> Outcome {
        let position = Position::from_fen(fen).map_err(|e| Failure::Input(format!("{fen:?}: {e}")))?;
        let (Some(verdict), Some(moves)) = (tables.value(&position)?, tables.moves(&position)?) else {
            let pieces = Material::of(&position).map_or(0, Material::len);
            return Err(Failure::Input(format!(
                "{fen:?} has {pieces} pieces; the tables in {} go to {}",
                self.tables.display(),
                tables.set().classes().pieces()
            )));
        };
        let name = |(mv, position): &(Move, Position)| mv.notation(position);
        let report = Report {
            fen: position.to_fen(),
            wdl: verdict.wdl,
            dtw: verdict.dtw,
            moves: moves
                .iter()
                .map(|(mv, v)| MoveReport { r#move: mv.notation(&position), wdl: v.wdl, dtw: v.dtw })
                .collect(),
            line: if self.line { Some(tables.line(&position)?.iter().map(name).collect()) } else { None },
        };
        if self.json {
            return print_json(&report);
        }
        print(format_args!("{}{}: {}", position.to_picture(), report.fen, words(verdict)))?;
        for (mv, verdict) in moves {
            print(format_args!("  {:5} {}", mv.notation(&position), words(verdict)))?;
        }
        match report.line {
            Some(line) if !line.is_empty() => print(format_args!("  line  {}", line.join(" "))),
            _ => Ok(()),
        }
    }
}

fn words(verdict: Value) -> String {
    match (verdict.wdl, verdict.dtw) {
        (Wdl::Win, Some(plies)) => format!("win in {plies} plies"),
        (Wdl::Loss, Some(plies)) => format!("loss in {plies} plies"),
        _ => "draw".to_owned(),
    }
}
