//! General positions as text: a grid with options below it, or a FEN with sizes.

use super::board::file_name;
use super::{Board, GeneralPosition, Place, Terrain};
use doushouqi::board::{Color, Piece};
use std::fmt::Write;
use std::sync::Arc;
use thiserror::Error;

/// The error of a text that is not a general position. Lines and columns count from 1.
#[expect(missing_docs, reason = "the messages document the variants")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BoardError {
    #[error("the text has no board: write one line a rank, of . ~ ^ v # % and pieces RCWDPTLE rcwdptle")]
    Empty,
    #[error("line {line}: {found} squares, but line {first} has {expected}; all ranks are equally long")]
    UnequalLine { line: usize, found: usize, first: usize, expected: usize },
    #[error("{width} x {height} squares; a board has at most {max} x {max}", max = Board::MAX_SIDE)]
    TooLarge { width: usize, height: usize },
    #[error(
        "line {line}, column {column}: {found:?} is not a square; write . ~ ^ v # % or one of the pieces RCWDPTLE rcwdptle"
    )]
    UnknownSymbol { line: usize, column: usize, found: char },
    #[error(
        "line {line}, column {column}: a second den of {color}; the first is in line {first_line}, column {first_column}"
    )]
    TwoDens { color: Color, line: usize, column: usize, first_line: usize, first_column: usize },
    #[error("line {line}, column {column}: the {piece} stands in the water, where only a rat may be")]
    InWater { piece: Piece, line: usize, column: usize },
    #[error("line {line}, column {column}: the {piece} stands in its own den, which it may never enter")]
    InOwnDen { piece: Piece, line: usize, column: usize },
    #[error("there is no piece on the board")]
    NoPieces,
    #[error("both dens are occupied; the game ends when the first is entered")]
    BothDens,
    #[error("line {line}: {found:?} is not an option; the options below the board are \"turn: w\" and \"under: b3=^\"")]
    UnknownLine { line: usize, found: String },
    #[error("line {line}: the side to move is w or b, not {found:?}")]
    UnknownTurn { line: usize, found: String },
    #[error("line {line}: {found:?} is not the square of a piece with the terrain under it, as in b3=^")]
    BadUnder { line: usize, found: String },
    #[error("the FEN has {found} fields; it is SIZE SQUARES PIECES TURN, as in \"7x9 standard {start}\"", start = doushouqi::board::fen::START)]
    FieldCount { found: usize },
    #[error("{found:?} is not a size; write FILESxRANKS, as in 7x9, each from 1 to {max}", max = Board::MAX_SIDE)]
    BadSize { found: String },
    #[error("\"standard\" is the board of 7x9, not of {width}x{height}")]
    NotStandard { width: usize, height: usize },
    #[error("the {field} have {found} ranks instead of {expected}")]
    RankCount { field: &'static str, found: usize, expected: usize },
    #[error("the {field} of rank {rank} fill {found} squares instead of {expected}")]
    RankLength { field: &'static str, rank: usize, found: usize, expected: usize },
    #[error("the {field} of rank {rank}, column {column}: {found:?} is not understood")]
    UnknownInFen { field: &'static str, rank: usize, column: usize, found: char },
}

/// A parsed grid: squares, pieces, and the line of its first rank.
pub(crate) struct Grid {
    pub width: usize,
    pub terrain: Vec<Terrain>,
    pub squares: Vec<Option<Piece>>,
    pub first_line: usize,
    /// The lines below the grid, with their numbers.
    pub rest: Vec<(usize, String)>,
}

impl Grid {
    /// Parses lines up to the first empty one after the grid. A line that starts with `;` is a comment.
    pub(crate) fn parse(text: &str) -> Result<Grid, BoardError> {
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim_end()));
        let mut grid = Grid { width: 0, terrain: Vec::new(), squares: Vec::new(), first_line: 0, rest: Vec::new() };
        let mut ranks = 0;
        for (number, line) in lines.by_ref() {
            if line.starts_with(';') {
                continue;
            }
            if line.is_empty() || line.contains(':') {
                if ranks == 0 && line.is_empty() {
                    continue;
                }
                if line.contains(':') {
                    grid.rest.push((number, line.to_owned()));
                }
                break;
            }
            grid.add(number, line, ranks)?;
            ranks += 1;
        }
        if ranks == 0 {
            return Err(BoardError::Empty);
        }
        grid.rest.extend(
            lines.filter(|(_, l)| !l.is_empty() && !l.starts_with(';')).map(|(number, line)| (number, line.to_owned())),
        );
        Ok(grid)
    }

    fn add(&mut self, number: usize, line: &str, ranks: usize) -> Result<(), BoardError> {
        let found = line.chars().count();
        if ranks == 0 {
            (self.width, self.first_line) = (found, number);
        }
        if found > Board::MAX_SIDE || ranks >= Board::MAX_SIDE {
            return Err(BoardError::TooLarge { width: found, height: ranks + 1 });
        }
        for (column, symbol) in line.chars().enumerate() {
            let piece = Piece::from_letter(symbol);
            let terrain = Terrain::from_symbol(symbol).or(piece.map(|_| Terrain::Land));
            let terrain =
                terrain.ok_or(BoardError::UnknownSymbol { line: number, column: column + 1, found: symbol })?;
            self.terrain.push(terrain);
            self.squares.push(piece);
        }
        if found != self.width {
            let (first, expected) = (self.first_line, self.width);
            return Err(BoardError::UnequalLine { line: number, found, first, expected });
        }
        Ok(())
    }

    /// Checks dens and pieces, and builds the position.
    fn finish(self, turn: Color) -> Result<GeneralPosition, BoardError> {
        if self.squares.iter().all(Option::is_none) {
            return Err(BoardError::NoPieces);
        }
        self.finish_part(turn)
    }

    /// As [`finish`](Grid::finish), for a part of a board, which need not have pieces.
    fn finish_part(self, turn: Color) -> Result<GeneralPosition, BoardError> {
        let (width, first_line) = (self.width, self.first_line);
        let spot = |i: usize| (i / width + first_line, i % width + 1);
        for color in Color::ALL {
            let mut dens = (0..self.terrain.len()).filter(|&i| self.terrain[i] == Terrain::Den(color));
            if let (Some(first), Some(second)) = (dens.next(), dens.next()) {
                let ((first_line, first_column), (line, column)) = (spot(first), spot(second));
                return Err(BoardError::TwoDens { color, line, column, first_line, first_column });
            }
        }
        for (i, piece) in self.squares.iter().enumerate() {
            let Some(piece) = *piece else { continue };
            let (line, column) = spot(i);
            if self.terrain[i] == Terrain::Water && !piece.animal.swims() {
                return Err(BoardError::InWater { piece, line, column });
            }
            if self.terrain[i] == Terrain::Den(piece.color) {
                return Err(BoardError::InOwnDen { piece, line, column });
            }
        }
        let occupied = |i: usize| matches!(self.terrain[i], Terrain::Den(_)) && self.squares[i].is_some();
        if (0..self.terrain.len()).filter(|&i| occupied(i)).count() > 1 {
            return Err(BoardError::BothDens);
        }
        Ok(GeneralPosition::new(Arc::new(Board::new(width, self.terrain)), self.squares, turn))
    }

    /// Sets the terrain under pieces, given as in the line `under: b3=^ c4=~`.
    pub(crate) fn put_under(&mut self, line: usize, text: &str) -> Result<(), BoardError> {
        let board = Board::new(self.width, self.terrain.clone());
        for item in text.split_whitespace() {
            let bad = || BoardError::BadUnder { line, found: item.to_owned() };
            let (name, symbol) = item.split_once('=').ok_or_else(bad)?;
            let place = board.place(name).filter(|p| self.squares[p.index()].is_some()).ok_or_else(bad)?;
            let mut symbols = symbol.chars();
            let terrain = symbols.next().and_then(Terrain::from_symbol).ok_or_else(bad)?;
            if symbols.next().is_some() {
                return Err(bad());
            }
            self.terrain[place.index()] = terrain;
        }
        Ok(())
    }
}

impl GeneralPosition {
    /// Parses a position: a grid with one line for each rank from the top, then optionally `turn: b` and `under: b3=^
    /// c4=~`, the terrain under pieces that do not stand on land. A line that starts with `;` is a comment.
    ///
    /// # Errors
    /// If the text is malformed; the error contains line and column.
    ///
    /// ```
    /// use hardness::general::GeneralPosition;
    /// let position = GeneralPosition::parse(".v%\nE.e\n#^.\n\nturn: w\n").unwrap();
    /// assert_eq!(position.to_fen(), "3x3 1v%/3/#^1 3/E1e/3 w");
    /// assert!(GeneralPosition::parse("...\n..\n").unwrap_err().to_string().contains("line 2"));
    /// ```
    pub fn parse(text: &str) -> Result<GeneralPosition, BoardError> {
        let mut grid = Grid::parse(text)?;
        let mut turn = Color::White;
        for (line, text) in std::mem::take(&mut grid.rest) {
            match text.split_once(':') {
                Some(("turn", value)) => turn = side(value.trim()).ok_or_else(|| unknown_turn(line, value))?,
                Some(("under", value)) => grid.put_under(line, value)?,
                _ => return Err(BoardError::UnknownLine { line, found: text }),
            }
        }
        grid.finish(turn)
    }

    /// Parses the grid of a part of a board, which need not have pieces.
    pub(crate) fn parse_part(text: &str) -> Result<GeneralPosition, BoardError> {
        Grid::parse(text)?.finish_part(Color::White)
    }

    /// Parses a FEN with sizes: files x ranks, the squares, the pieces, the side to move. In squares and pieces, ranks
    /// are separated by `/`, from the top; a number N is N squares of land, or without a piece. `standard` represents
    /// the squares of the standard board.
    ///
    /// # Errors
    /// If the text is malformed; the error contains the field and the rank.
    pub fn from_fen(text: &str) -> Result<GeneralPosition, BoardError> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [size, terrain, pieces, turn] = fields[..] else {
            return Err(BoardError::FieldCount { found: fields.len() });
        };
        let (width, height) = parse_size(size)?;
        let terrain = if terrain == "standard" {
            if (width, height) != (7, 9) {
                return Err(BoardError::NotStandard { width, height });
            }
            let board = Board::standard();
            board.places().map(|p| board.terrain(p)).collect()
        } else {
            let symbol = |c: char| Terrain::from_symbol(c).filter(|&t| t != Terrain::Land);
            ranks("squares", terrain, width, height, Terrain::Land, symbol)?
        };
        let squares = ranks("pieces", pieces, width, height, None, |c| Piece::from_letter(c).map(Some))?;
        let turn = side(turn).ok_or_else(|| unknown_turn(1, turn))?;
        Grid { width, terrain, squares, first_line: 1, rest: Vec::new() }.finish(turn)
    }

    /// The FEN with sizes.
    #[must_use]
    pub fn to_fen(&self) -> String {
        let board = self.board();
        let terrain = runs(board, |place| {
            let terrain = board.terrain(place);
            (terrain != Terrain::Land).then(|| terrain.symbol())
        });
        let pieces = runs(board, |place| self.piece_at(place).map(Piece::letter));
        format!("{}x{} {terrain} {pieces} {}", board.width(), board.height(), self.turn().letter())
    }

    /// The grid and the options below it, in the format of [`GeneralPosition::parse`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let board = self.board();
        let mut text = String::with_capacity(board.len() + board.height() + 64);
        let mut under = String::new();
        for place in board.places() {
            let terrain = board.terrain(place);
            text.push(self.piece_at(place).map_or(terrain.symbol(), Piece::letter));
            if self.piece_at(place).is_some() && terrain != Terrain::Land {
                let _ = write!(under, " {}={}", board.name(place), terrain.symbol());
            }
            if (place.index() + 1).is_multiple_of(board.width()) {
                text.push('\n');
            }
        }
        let _ = write!(text, "\nturn: {}\n", self.turn().letter());
        if !under.is_empty() {
            let _ = writeln!(text, "under:{under}");
        }
        text
    }

    /// The board as a text picture: ranks on the left, files below if they are single letters.
    #[must_use]
    pub fn to_picture(&self) -> String {
        let board = self.board();
        let digits = board.height().to_string().len();
        let mut text = String::new();
        for row in 0..board.height() {
            let _ = write!(text, "{:digits$} |", board.height() - row);
            for place in (0..board.width()).filter_map(|column| board.at(row, column)) {
                text.push(' ');
                text.push(self.piece_at(place).map_or(board.terrain(place).symbol(), Piece::letter));
            }
            text.push('\n');
        }
        if board.width() <= 26 {
            let _ = write!(text, "{:digits$}  ", "");
            for column in 0..board.width() {
                let _ = write!(text, " {}", file_name(column));
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{} to move", self.turn());
        text
    }
}

fn unknown_turn(line: usize, found: &str) -> BoardError {
    BoardError::UnknownTurn { line, found: found.trim().to_owned() }
}

fn side(text: &str) -> Option<Color> {
    match text {
        "w" | "white" => Some(Color::White),
        "b" | "black" => Some(Color::Black),
        _ => None,
    }
}

fn parse_size(text: &str) -> Result<(usize, usize), BoardError> {
    let bad = || BoardError::BadSize { found: text.to_owned() };
    let (width, height) = text.split_once('x').ok_or_else(bad)?;
    let side = |text: &str| text.parse().ok().filter(|n| (1..=Board::MAX_SIDE).contains(n)).ok_or_else(bad);
    Ok((side(width)?, side(height)?))
}

/// One field of a FEN, rank by rank.
fn ranks<T: Copy>(
    field: &'static str,
    text: &str,
    width: usize,
    height: usize,
    empty: T,
    symbol: impl Fn(char) -> Option<T>,
) -> Result<Vec<T>, BoardError> {
    let lines: Vec<&str> = text.split('/').collect();
    if lines.len() != height {
        return Err(BoardError::RankCount { field, found: lines.len(), expected: height });
    }
    let mut all = Vec::with_capacity(width * height);
    for (row, line) in lines.into_iter().enumerate() {
        let rank = height - row;
        let mut filled = 0usize;
        let mut number = 0usize;
        for (column, c) in line.chars().enumerate() {
            if let Some(digit) = c.to_digit(10) {
                // Longer numbers than the width of a board are wrong anyway.
                number = (number * 10 + digit as usize).min(Board::MAX_SIDE + 1);
                continue;
            }
            let value = symbol(c).ok_or(BoardError::UnknownInFen { field, rank, column: column + 1, found: c })?;
            filled += number + 1;
            if filled > width {
                break;
            }
            all.extend(std::iter::repeat_n(empty, number));
            all.push(value);
            number = 0;
        }
        filled += number;
        if filled != width {
            return Err(BoardError::RankLength { field, rank, found: filled, expected: width });
        }
        all.extend(std::iter::repeat_n(empty, number));
    }
    Ok(all)
}

/// One field of a FEN, given the symbol of each square, `None` for the default.
fn runs(board: &Board, symbol: impl Fn(Place) -> Option<char>) -> String {
    let mut text = String::new();
    let mut empty = 0;
    for place in board.places() {
        let found = symbol(place);
        let ends = (place.index() + 1).is_multiple_of(board.width());
        empty += usize::from(found.is_none());
        if empty > 0 && (found.is_some() || ends) {
            let _ = write!(text, "{empty}");
            empty = 0;
        }
        text.extend(found);
        if ends && place.index() + 1 < board.len() {
            text.push('/');
        }
    }
    text
}
