//! Pictures of boards as SVG text.

use doushouqi::board::geometry::{DEN, TRAPS, WATER};
use doushouqi::board::{Color, File, Position, Rank, Square};
use std::fmt::Display;

/// Size in pixels of a square of the board, and of the margin with the letters of files and numbers of ranks.
const SQUARE: usize = 48;
const BORDER: usize = 24;

/// The board as a picture: blue water, crossed-out traps, brown dens, light pieces for White and dark pieces for Black,
/// each with its letter.
///
/// ```
/// use doushouqi::board::Position;
/// let svg = report::board::picture(&Position::start());
/// assert!(svg.starts_with("<svg"));
/// assert_eq!(svg.matches("<circle").count(), 16);
/// ```
#[must_use]
pub fn picture(position: &Position) -> String {
    BoardPicture::default().draw(position)
}

/// A picture of a board with marks. Colours are CSS colours without quotes or markup.
#[derive(Clone, Debug, Default)]
pub struct BoardPicture {
    /// Whether the board is rotated by 180 degrees, so that Black is below.
    pub is_rotated: bool,
    /// The height in pixels, instead of 48 for each rank.
    pub size: Option<u32>,
    /// Squares over which a colour is laid.
    pub fills: Vec<(Square, String)>,
    /// Arrows from the first to the second square; a ring if they are the same.
    pub arrows: Vec<(Square, Square, String)>,
}

impl BoardPicture {
    const WIDTH: usize = 3 * BORDER / 2 + SQUARE * File::COUNT;
    const HEIGHT: usize = 3 * BORDER / 2 + SQUARE * Rank::COUNT;

    /// Draws a position as SVG.
    #[must_use]
    pub fn draw(&self, position: &Position) -> String {
        let (width, height) = (BoardPicture::WIDTH, BoardPicture::HEIGHT);
        let shown_height = self.size.map_or(height, |size| size as usize);
        let shown_width = (width * shown_height + height / 2) / height;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{shown_width}\" \
             height=\"{shown_height}\" role=\"img\" font-family=\"sans-serif\" text-anchor=\"middle\">\n<title>{position}</title>\n<rect width=\"{width}\" \
             height=\"{height}\" fill=\"#fff\"/>\n"
        );
        Square::all().for_each(|square| svg += &self.ground(square));
        for (square, color) in &self.fills {
            let (x, y) = self.corner(*square);
            svg += &format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\" fill=\"{color}\" fill-opacity=\"0.6\"/>\n"
            );
        }
        for file in File::ALL {
            let x = self.corner(Square::from_coords(file, Rank::First)).0 + SQUARE / 2;
            svg += &text(x, height - BORDER / 3, 14, "#555", &file);
        }
        for rank in Rank::ALL {
            let y = self.corner(Square::from_coords(File::A, rank)).1 + SQUARE / 2 + 5;
            svg += &text(BORDER / 2, y, 14, "#555", &rank);
        }
        for (piece, square) in position.pieces() {
            let (fill, ink) = if piece.color == Color::White { ("#fffdf6", "#1d1d1d") } else { ("#26323b", "#fff") };
            let ((x, y), radius) = (self.centre(square), SQUARE * 2 / 5);
            svg += &format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"#1d1d1d\" stroke-width=\"1.5\"/>\n"
            );
            svg += &text(x, y + 7, 20, ink, &piece.animal.letter());
        }
        for (tail, head, color) in &self.arrows {
            svg += &self.arrow(*tail, *head, color);
        }
        svg + "</svg>\n"
    }

    /// The upper left corner of a square.
    fn corner(&self, square: Square) -> (usize, usize) {
        let square = if self.is_rotated { square.rotate() } else { square };
        (BORDER + SQUARE * square.file().index(), BORDER / 2 + SQUARE * square.rank().flip().index())
    }

    fn centre(&self, square: Square) -> (usize, usize) {
        let (x, y) = self.corner(square);
        (x + SQUARE / 2, y + SQUARE / 2)
    }

    /// A square without a piece.
    fn ground(&self, square: Square) -> String {
        let (x, y) = self.corner(square);
        let is_den = Color::ALL.iter().any(|&color| DEN[color] == square);
        let is_trap = Color::ALL.iter().any(|&color| TRAPS[color].contains(square));
        let ground = match (is_den, is_trap, WATER.contains(square)) {
            (true, ..) => "#b98b5e",
            (_, true, _) => "#ead2ac",
            (.., true) => "#a8d0ee",
            _ => "#f6efdc",
        };
        let mut svg = format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\" fill=\"{ground}\" stroke=\"#8c7a5b\"/>\n"
        );
        if is_trap {
            let (right, bottom) = (x + SQUARE, y + SQUARE);
            svg += &format!("<path d=\"M{x} {y}L{right} {bottom}M{right} {y}L{x} {bottom}\" stroke=\"#c4a274\"/>\n");
        }
        svg
    }

    fn arrow(&self, tail: Square, head: Square, color: &str) -> String {
        let ((from_x, from_y), (x, y)) = (self.centre(tail), self.centre(head));
        if tail == head {
            let radius = SQUARE * 9 / 20;
            return format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"4\" opacity=\"0.7\"/>\n"
            );
        }
        let (dx, dy) = (x as f64 - from_x as f64, y as f64 - from_y as f64);
        let length = dx.hypot(dy);
        // Along the arrow and across it, a pixel each.
        let (ux, uy) = (dx / length, dy / length);
        let at = |along: f64, across: f64| (x as f64 - along * ux - across * uy, y as f64 - along * uy + across * ux);
        let ((end_x, end_y), (left_x, left_y), (right_x, right_y)) = (at(14.0, 0.0), at(16.0, 9.0), at(16.0, -9.0));
        format!(
            "<g fill=\"{color}\" stroke=\"{color}\" opacity=\"0.7\"><path d=\"M{from_x} {from_y}L{end_x:.1} {end_y:.1}\" \
             stroke-width=\"6\" stroke-linecap=\"round\"/><path d=\"M{x} {y}L{left_x:.1} {left_y:.1}L{right_x:.1} {right_y:.1}Z\"/></g>\n"
        )
    }
}

/// Text centred at a point of a picture of a board.
fn text(x: usize, y: usize, size: usize, fill: &str, text: &dyn Display) -> String {
    format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\">{text}</text>\n")
}
