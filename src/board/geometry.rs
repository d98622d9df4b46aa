//! The geometry of the board: dens, traps, water and leaps. Everything else, the shaders included, derives from these
//! constants.

use super::{Animal, Bitboard, ByColor, Color, File, Rank, Square};
use Square::*;

/// The den of each side.
pub const DEN: ByColor<Square> = ByColor { white: D1, black: D9 };

/// The traps of each side, next to its den.
pub const TRAPS: ByColor<Bitboard> = ByColor { white: Bitboard::of(&[C1, E1, D2]), black: Bitboard::of(&[C9, E9, D8]) };

/// The two lakes.
pub const WATER: Bitboard = Bitboard::of(&[B4, C4, E4, F4, B5, C5, E5, F5, B6, C6, E6, F6]);

/// All squares except those of file a. A step to the left may start on them, and a step to the right may end on them.
pub(crate) const NOT_A: Bitboard = Bitboard::new(!Bitboard::file(File::A).bits());
/// All squares except those of file g. A step to the right may start on them, and a step to the left may end on them.
pub(crate) const NOT_G: Bitboard = Bitboard::new(!Bitboard::file(File::G).bits());

/// Squares from which a leap goes up a file (by 28), over three squares of water.
pub(crate) const LEAP_UP: Bitboard = Bitboard::of(&[B3, C3, E3, F3]);
/// Squares from which a leap goes down a file.
pub(crate) const LEAP_DOWN: Bitboard = Bitboard::of(&[B7, C7, E7, F7]);
/// Squares from which a leap goes right along a rank (by 3), over two squares of water.
pub(crate) const LEAP_RIGHT: Bitboard = Bitboard::of(&[A4, D4, A5, D5, A6, D6]);
/// Squares from which a leap goes left along a rank.
pub(crate) const LEAP_LEFT: Bitboard = Bitboard::of(&[D4, G4, D5, G5, D6, G6]);

/// The squares on which an animal of a side may stand: every square but its own den, and water only for the rat.
#[must_use]
pub fn habitat(color: Color, animal: Animal) -> Bitboard {
    let dry = if animal.swims() { Bitboard::FULL } else { !WATER };
    dry.without(DEN[color])
}

/// The four directions of a step or leap.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards Black's side: a1 to a2.
    Up,
    /// Towards White's side: a2 to a1.
    Down,
    /// Towards file a: b1 to a1.
    Left,
    /// Towards file g: a1 to b1.
    Right,
}

impl Direction {
    /// All four directions.
    pub const ALL: [Direction; 4] = [Direction::Up, Direction::Down, Direction::Left, Direction::Right];

    /// Whether the direction runs along a file.
    #[must_use]
    pub(crate) fn is_vertical(self) -> bool {
        matches!(self, Direction::Up | Direction::Down)
    }
}

impl Square {
    /// The next square in a direction; `None` at the edge of the board.
    #[must_use]
    pub fn neighbour(self, direction: Direction) -> Option<Square> {
        let (file, rank) = (self.file(), self.rank());
        match direction {
            Direction::Up => Some(Square::from_coords(file, Rank::new(rank.index() + 1)?)),
            Direction::Down => Some(Square::from_coords(file, Rank::new(rank.index().checked_sub(1)?)?)),
            Direction::Left => Some(Square::from_coords(File::new(file.index().checked_sub(1)?)?, rank)),
            Direction::Right => Some(Square::from_coords(File::new(file.index() + 1)?, rank)),
        }
    }

    /// The leap from this bank over the water next to it: the landing square and the water crossed.
    #[must_use]
    pub fn leap(self, direction: Direction) -> Option<(Square, Bitboard)> {
        if WATER.contains(self) {
            return None;
        }
        let mut crossed = Bitboard::EMPTY;
        let mut square = self.neighbour(direction)?;
        while WATER.contains(square) {
            crossed.insert(square);
            square = square.neighbour(direction)?;
        }
        (!crossed.is_empty()).then_some((square, crossed))
    }
}
