//! The positions of a material as text, White to move, as the 2013 paper describes it.

use crate::board::{Color, Rules};
use crate::tablebase::{Material, MaterialTable, SetError, Table, TableSet, Verdict, Wdl, position_of};
use std::io::{self, Write};
use thiserror::Error;

/// Why an export ended early.
#[derive(Debug, Error)]
pub enum ExportError {
    #[error(transparent)]
    Set(#[from] SetError),
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl TableSet {
    /// Reads the whole table of a material's class.
    pub fn load(&self, material: Material) -> Result<Table, SetError> {
        let Some(member) = self.classes().member(material) else {
            let pieces = self.classes().pieces();
            return Err(SetError::TooFewPieces { material, pieces });
        };
        self.table(member.class)
    }
}

/// Writes a line for every position of a material with White to move: the FEN, who wins (`w`, `b`, or `d` for a draw), a
/// move that leads there, plies to the end. Returns how many.
pub fn export_text(set: &TableSet, material: Material, out: &mut impl Write) -> Result<u64, ExportError> {
    let rules = Rules::new(*set.rules());
    let table = set.load(material)?;
    let Some(table) = MaterialTable::new(set.classes(), &table, material) else { return Ok(0) };
    let mut count = 0;
    table.each(Color::White, |squares, value| {
        let Some(position) = position_of(table.men(), squares, Color::White) else { return Ok::<(), ExportError>(()) };
        let verdict = Verdict::of(value, &rules);
        let winner = match verdict.wdl {
            Wdl::Win => "w",
            Wdl::Draw => "d",
            Wdl::Loss => "b",
        };
        let best = set.moves(&position, &rules)?.and_then(|moves| moves.first().copied());
        let best = best.map_or("-".to_owned(), |(mv, _)| mv.notation(&position));
        let plies = verdict.dtw.map_or("-".to_owned(), |plies| plies.to_string());
        count += 1;
        Ok(writeln!(out, "{} {winner} {best} {plies}", position.to_fen())?)
    })?;
    Ok(count)
}
