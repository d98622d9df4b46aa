//! Boards as pictures.

use super::{GeneralPosition, Terrain};
use doushouqi::board::Color;
use std::fmt::Write;

/// The position as SVG. A run of one terrain is one rectangle, which keeps the files of large boards small.
#[must_use]
pub fn svg(position: &GeneralPosition) -> String {
    let board = position.board();
    // Squares of large boards are drawn smaller.
    let side = (4000 / board.width().max(board.height())).clamp(4, 24);
    let (width, height) = (board.width() * side, board.height() * side);
    let mut text = String::new();
    let _ = write!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"0.7\" text-anchor=\"middle\">\n\
         <rect width=\"{}\" height=\"{}\" fill=\"#f4efe0\"/>\n",
        board.width(),
        board.height(),
        board.width(),
        board.height()
    );
    for row in 0..board.height() {
        let mut column = 0;
        while column < board.width() {
            let kind = |column: usize| board.at(row, column).map(|place| board.terrain(place));
            let start = column;
            while column < board.width() && kind(column) == kind(start) {
                column += 1;
            }
            if let Some(fill) = kind(start).and_then(fill) {
                let run = column - start;
                let _ =
                    writeln!(text, "<rect x=\"{start}\" y=\"{row}\" width=\"{run}\" height=\"1\" fill=\"{fill}\"/>");
            }
        }
    }
    for (piece, place) in position.pieces() {
        let (row, column) = board.row_column(place);
        let (disc, letter) = if piece.color == Color::White { ("#ffffff", "#000000") } else { ("#222222", "#ffffff") };
        let _ = writeln!(
            text,
            "<circle cx=\"{column}.5\" cy=\"{row}.5\" r=\"0.42\" fill=\"{disc}\" stroke=\"#222\" \
             stroke-width=\"0.06\"/><text x=\"{column}.5\" y=\"{row}.75\" fill=\"{letter}\">{}</text>",
            piece.animal.letter()
        );
    }
    text.push_str("</svg>\n");
    text
}

fn fill(terrain: Terrain) -> Option<&'static str> {
    match terrain {
        Terrain::Land => None,
        Terrain::Water => Some("#8db8dc"),
        Terrain::Trap(Color::White) => Some("#e8b0a0"),
        Terrain::Trap(Color::Black) => Some("#9a8a7a"),
        Terrain::Den(Color::White) => Some("#f0d020"),
        Terrain::Den(Color::Black) => Some("#705000"),
    }
}
