//! The positions of a material as text for other programs, White to move.

use super::{Man, Material, SetError, Table, TableSet, Value, Verdict, Wdl, squares_in_play};
use crate::board::{Bitboard, Color, Piece, Position, Rules, Setup};
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
    let men: Vec<Man> = material.pieces().collect();
    header(&men, material, format, out)?;
    let mut exporter = Exporter { set, rules, men, table, format, out, count: 0 };
    exporter.place(&mut Setup::empty(Color::White), 0, Bitboard::EMPTY)?;
    Ok(exporter.count)
}

struct Exporter<'a, W> {
    set: &'a TableSet,
    rules: Rules,
    men: Vec<Man>,
    table: Table,
    format: ExportFormat,
    out: &'a mut W,
    count: u64,
}

impl<W: Write> Exporter<'_, W> {
    /// Places the pieces from `next` on, each on all its squares in order.
    fn place(&mut self, setup: &mut Setup, next: usize, taken: Bitboard) -> Result<(), ExportError> {
        let Some(&(color, animal)) = self.men.get(next) else { return self.line(setup) };
        for square in squares_in_play((color, animal)) - taken {
            setup.squares[square.index()] = Some(Piece { color, animal });
            self.place(setup, next + 1, taken | square.into())?;
            setup.squares[square.index()] = None;
        }
        Ok(())
    }

    fn line(&mut self, setup: &Setup) -> Result<(), ExportError> {
        let Ok(position) = Position::from_setup(setup) else { return Ok(()) };
        let Some(place) = self.set.classes().locate(&position) else { return Ok(()) };
        let cell = self.set.file(place.class)?.index().cell(&place.squares);
        let Some(value) = Value::from_code(self.table.cells[place.turn].get(cell)) else { return Ok(()) };
        let verdict = Verdict::of(value, &self.rules);
        self.count += 1;
        let winner = match verdict.wdl {
            Wdl::Win => "w",
            Wdl::Draw => "d",
            Wdl::Loss => "b",
        };
        if self.format == ExportFormat::Text {
            let best = self.set.moves(&position, &self.rules)?.and_then(|moves| moves.first().copied());
            let best = best.map_or("-".to_owned(), |(mv, _)| mv.notation(&position));
            let plies = verdict.dtw.map_or("-".to_owned(), |plies| plies.to_string());
            writeln!(self.out, "{} {winner} {best} {plies}", position.to_fen())?;
            return Ok(());
        }
        for &(color, animal) in &self.men {
            let Some(square) = position.square_of(color, animal) else { continue };
            write!(self.out, "{},{},{},", animal.index(), square.file(), square.rank())?;
        }
        writeln!(self.out, "{winner}")?;
        Ok(())
    }
}

/// The names of the columns, of each piece three, numbered within its side.
fn columns(men: &[Man]) -> Vec<String> {
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
