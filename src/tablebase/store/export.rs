//! Export of the positions of a material with White to move, in the text format of the 2013 paper.

use crate::board::Color;
use crate::tablebase::{Material, MaterialTable, Probe, SetError, TableProber, Value, Wdl, position_of};
use std::io::{self, Write};
use thiserror::Error;

/// Why an export ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A table cannot be read.
    #[error(transparent)]
    Set(#[from] SetError),
    /// The text cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Writes one line for every position of a material with White to move: the FEN, the winner (`w`, `b`, or `d` for a
/// draw), a best move and the plies to the end, with `-` for none. Returns the number of lines.
///
/// # Errors
/// If a table is missing or damaged, or `out` cannot be written.
pub fn export_text(tables: &TableProber, material: Material, out: &mut impl Write) -> Result<u64, ExportError> {
    let table = tables.load(material)?;
    let Some(table) = MaterialTable::new(tables.set().classes(), &table, material) else { return Ok(0) };
    let mut count = 0;
    table.each(Color::White, |squares, value| {
        let Some(position) = position_of(table.pieces(), squares, Color::White) else {
            return Ok::<(), ExportError>(());
        };
        let value = Value::of(value, tables.rules());
        let winner = match value.wdl {
            Wdl::Win => "w",
            Wdl::Draw => "d",
            Wdl::Loss => "b",
        };
        let best = tables.moves(&position)?.and_then(|moves| moves.first().copied());
        let best = best.map_or("-".to_owned(), |(mv, _)| mv.notation(&position));
        let plies = value.dtw.map_or("-".to_owned(), |plies| plies.to_string());
        count += 1;
        Ok(writeln!(out, "{} {winner} {best} {plies}", position.to_fen())?)
    })?;
    Ok(count)
}
