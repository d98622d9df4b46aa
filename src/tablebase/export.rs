//! The positions of a material as text for other programs, White to move.

use super::{Man, Material, MaterialTable, SetError, TableSet, Verdict, Wdl, position_of};
use crate::board::{Color, Rules};
use std::io::{self, Write};
use thiserror::Error;

/// How positions are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// As the 2013 paper describes it, a line a position: the FEN, who wins, a move that leads there, plies to the end.
    Text,
    /// The columns and codes of the published data set (OpenML 41027): strength, file and rank of each piece, and the
    /// winner.
    Csv,
    /// The same for Weka.
    Arff,
}

/// Why an export ended early.
#[derive(Debug, Error)]
pub enum ExportError {
    #[error(transparent)]
    Set(#[from] SetError),
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Writes all positions of a material with White to move. Returns how many.
pub fn export(
    set: &TableSet,
    material: Material,
    format: ExportFormat,
    out: &mut impl Write,
) -> Result<u64, ExportError> {
    let Some(member) = set.classes().member(material) else {
        let pieces = set.classes().pieces();
        return Err(SetError::TooFewPieces { material, pieces }.into());
    };
    let rules = Rules::new(*set.rules());
    let table = set.table(member.class)?;
    let Some(table) = MaterialTable::new(set.classes(), &table, material) else { return Ok(0) };
    header(table.men(), material, format, out)?;
    let mut count = 0;
    table.each(Color::White, |squares, value| {
        count += 1;
        let verdict = Verdict::of(value, &rules);
        if format == ExportFormat::Text {
            let Some(position) = position_of(table.men(), squares, Color::White) else { return Ok(()) };
            let best = set.moves(&position, &rules)?.and_then(|moves| moves.first().copied());
            let best = best.map_or("-".to_owned(), |(mv, _)| mv.notation(&position));
            let plies = verdict.dtw.map_or("-".to_owned(), |plies| plies.to_string());
            writeln!(out, "{} {} {best} {plies}", position.to_fen(), winner(verdict))?;
            return Ok(());
        }
        for (&(_, animal), square) in table.men().iter().zip(squares) {
            write!(out, "{},{},{},", animal.index(), square.file(), square.rank())?;
        }
        writeln!(out, "{}", winner(verdict))?;
        Ok::<(), ExportError>(())
    })?;
    Ok(count)
}

/// The published data set's letter of who wins, White being on move.
pub(crate) fn winner(verdict: Verdict) -> &'static str {
    match verdict.wdl {
        Wdl::Win => "w",
        Wdl::Draw => "d",
        Wdl::Loss => "b",
    }
}

/// The names of the columns, of each piece three, numbered within its side.
pub(crate) fn columns(men: &[Man]) -> Vec<String> {
    let mut names = Vec::new();
    for (i, &(color, _)) in men.iter().enumerate() {
        let number = men[..i].iter().filter(|m| m.0 == color).count();
        let side = if color == Color::White { "white" } else { "black" };
        names.extend(["strength", "file", "rank"].map(|what| format!("{side}_piece{number}_{what}")));
    }
    names
}

fn header(men: &[Man], material: Material, format: ExportFormat, out: &mut impl Write) -> io::Result<()> {
    match format {
        ExportFormat::Text => Ok(()),
        ExportFormat::Csv => writeln!(out, "{},class", columns(men).join(",")),
        ExportFormat::Arff => {
            writeln!(out, "@relation {material}")?;
            columns(men).iter().try_for_each(|name| writeln!(out, "@attribute {name} numeric"))?;
            writeln!(out, "@attribute class {{w,b,d}}\n@data")
        }
    }
}
