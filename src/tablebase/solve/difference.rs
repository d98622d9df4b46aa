//! The first difference between the results of two solvers.

use crate::board::Color;
use crate::tablebase::{CellValue, Class, ClassId, Material, Solver};

/// The first difference between two solvers in a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The representative of the class.
    pub material: Material,
    /// The position as FEN; `None` if only the counts or the sizes differ, or if the cell has no position.
    pub fen: Option<String>,
    /// The result of the first solver: a value, a size, or the counts.
    pub first: String,
    /// The result of the second solver.
    pub second: String,
}

/// Compares the values and the counts of a class that both solvers have solved and kept; `None` if they are equal.
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
            // The tables differ in length or in the width of their cells.
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

/// The position of a cell as FEN; `None` if the cell has no position.
fn fen(class: &Class, cell: usize, turn: Color) -> Option<String> {
    Some(class.index().position(cell, turn)?.to_fen())
}
