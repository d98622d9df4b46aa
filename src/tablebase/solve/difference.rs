//! Where two solvers disagree.

use crate::board::Color;
use crate::tablebase::{CellValue, Class, ClassId, Material, Solver};

/// The first difference between two solvers in a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The representative of the class.
    pub material: Material,
    /// The position; none if the values are equal and only the counts are not, or if no position has the cell.
    pub fen: Option<String>,
    /// What each says: a value, or what kind of thing is not the same.
    pub first: String,
    /// The same of the second solver.
    pub second: String,
}

/// Compares the values and the counts of a class that both have solved and kept.
#[must_use]
pub fn first_difference(first: &Solver, second: &Solver, id: ClassId) -> Option<Difference> {
    let class = first.classes().get(id);
    let material = class.representative;
    let differ = |fen: Option<String>, first: String, second: String| Some(Difference { material, fen, first, second });
    for color in Color::ALL {
        let (a, b) = match (first.table(id), second.table(id)) {
            (Some(a), Some(b)) => (&a.cells[color], &b.cells[color]),
            (a, b) => return differ(None, kept(a.is_some()), kept(b.is_some())),
        };
        if a == b {
            continue;
        }
        let Some(cell) = (0..a.len().min(b.len())).find(|&cell| a.get(cell) != b.get(cell)) else {
            // As many values, or values as wide.
            return differ(None, format!("{} cells", a.len()), format!("{} cells", b.len()));
        };
        return differ(fen(class, cell, color), text(a.get(cell)), text(b.get(cell)));
    }
    let counts = |solver: &Solver| format!("{:?}", solver.class_stats(id));
    (first.class_stats(id) != second.class_stats(id)).then(|| differ(None, counts(first), counts(second)))?
}

fn kept(is: bool) -> String {
    if is { "values" } else { "no values" }.to_owned()
}

fn text(code: u16) -> String {
    CellValue::from_code(code).map_or("no position".to_owned(), |value| value.to_string())
}

/// The position of a cell.
fn fen(class: &Class, cell: usize, turn: Color) -> Option<String> {
    Some(class.index().position(cell, turn)?.to_fen())
}
