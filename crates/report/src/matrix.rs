//! Matrices of results as SVG text.

use std::cmp::Ordering;
use std::fmt::Write as _;

/// Pixels of a cell, of a letter of a name, and of the title.
const CELL: usize = 14;
const LETTER: usize = 8;
const TITLE: usize = 28;

/// A matrix of results: a row and a column for each name, and in each cell blue if the row is better, white if both are equal
/// and orange if the column is better, with a text that browsers show at the pointer. Cells without a result stay grey. Names and texts are
/// without markup.
///
/// ```
/// let cell = |row: usize, column: usize| Some((column.cmp(&row), format!("{row} {column}")));
/// let svg = report::matrix::matrix("All", &["E", "L"], &["E", "L"], cell);
/// assert_eq!((svg.matches("#0072b2").count(), svg.matches("#d55e00").count()), (1, 1));
/// ```
#[must_use]
pub fn matrix(
    title: &str,
    rows: &[&str],
    columns: &[&str],
    cell: impl Fn(usize, usize) -> Option<(Ordering, String)>,
) -> String {
    let longest = |names: &[&str]| names.iter().map(|name| name.len()).max().unwrap_or(0) * LETTER + LETTER;
    let (left, top) = (longest(rows), TITLE + longest(columns));
    let (width, height) = (left + CELL * columns.len() + LETTER, top + CELL * rows.len() + LETTER);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" font-family=\"monospace\" font-size=\"11\">\n<title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{LETTER}\" y=\"18\" font-family=\"sans-serif\" font-size=\"14\">{title}</text>\n"
    );
    for (i, name) in rows.iter().enumerate() {
        let y = top + CELL * i + CELL - 3;
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{name}</text>", left - 4);
    }
    for (i, name) in columns.iter().enumerate() {
        let (x, y) = (left + CELL * i + CELL - 3, top - 4);
        let _ = writeln!(svg, "<text transform=\"translate({x} {y}) rotate(-90)\">{name}</text>");
    }
    for (row, column) in (0..rows.len()).flat_map(|row| (0..columns.len()).map(move |column| (row, column))) {
        let (x, y) = (left + CELL * column, top + CELL * row);
        let (color, text) = match cell(row, column) {
            Some((Ordering::Greater, text)) => ("#0072b2", text),
            Some((Ordering::Equal, text)) => ("#fff", text),
            Some((Ordering::Less, text)) => ("#d55e00", text),
            None => ("#bbb", String::new()),
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{color}\" stroke=\"#ccc\"><title>{text}</title></rect>"
        );
    }
    svg + "</svg>\n"
}
