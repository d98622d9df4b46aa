//! Burnett's evaluation: every piece counts its material and the development of the square it stands on.
//!
//! The numbers are figure 3 of J. W. Burnett, *Discovering and Searching Loosely Coupled Subproblems in Dou Shou Qi*,
//! M.Sc. thesis, Tufts University, 2010; van Rijn and Vis (2013) search with them.

use crate::board::{Animal, Color, Lanes, Piece, Position, Square};

/// The material value of each animal, weakest animal first.
pub const MATERIAL: [i32; Animal::COUNT] = [500, 200, 300, 400, 500, 800, 900, 1000];

/// The value of a square for a white animal: weakest animal first, then by [`Square::index`]. Each table is written
/// upside down, with rank 1 on top. Squares on which the animal never stands during the game have the value 0: the dens
/// (entering the enemy's den ends the game) and, for every animal except the rat, the water.
#[rustfmt::skip]
pub const DEVELOPMENT: [[i32; Square::COUNT]; Animal::COUNT] = [
    [ // Rat
         8,  8,  8,  0,  8,  8,  8,
         8,  8,  8,  9,  9,  9,  9,
         8,  8,  8,  9, 10, 10, 10,
         8,  9,  9, 10, 12, 12, 11,
         8,  9,  9, 11, 12, 12, 12,
         8,  9,  9, 11, 12, 12, 13,
        10, 11, 11, 13, 13, 13, 13,
        11, 12, 13, 50, 13, 13, 13,
        11, 13, 50,  0, 50, 13, 13,
    ],
    [ // Cat
         8,  8,  8,  0,  8,  8,  8,
        13, 10,  8,  8,  8,  8,  8,
        10, 10, 10,  8,  8,  8,  8,
        10,  0,  0,  8,  0,  0,  8,
        10,  0,  0,  8,  0,  0,  8,
        10,  0,  0, 10,  0,  0,  8,
        10, 11, 11, 15, 11, 11, 10,
        11, 11, 15, 50, 15, 11, 11,
        11, 15, 50,  0, 50, 15, 11,
    ],
    [ // Wolf
         8, 12, 12,  0,  8,  8,  8,
         8, 12, 13,  8,  8,  8,  8,
         8,  8, 10,  8,  8,  8,  8,
         8,  0,  0,  8,  0,  0,  8,
         8,  0,  0,  8,  0,  0,  8,
         9,  0,  0, 10,  0,  0,  9,
         9, 10, 11, 15, 11, 10,  9,
        10, 11, 15, 50, 15, 11, 10,
        11, 15, 50,  0, 50, 15, 11,
    ],
    [ // Dog
         8,  8,  8,  0, 12, 12,  8,
         8,  8,  8,  8, 13, 10,  8,
         8,  8,  8,  8,  8,  8,  8,
         8,  0,  0,  8,  0,  0,  8,
         8,  0,  0,  8,  0,  0,  8,
         9,  0,  0, 10,  0,  0,  9,
         9, 10, 11, 15, 11, 10,  9,
        10, 11, 15, 50, 15, 11, 10,
        11, 15, 50,  0, 50, 15, 11,
    ],
    [ // Panther
         9,  9,  9,  0,  9,  9,  9,
         9,  9,  9,  9,  9,  9,  9,
         9,  9,  9, 10, 10,  9,  9,
        10,  0,  0, 13,  0,  0, 10,
        11,  0,  0, 14,  0,  0, 11,
        12,  0,  0, 15,  0,  0, 12,
        13, 13, 14, 15, 14, 13, 13,
        13, 14, 15, 50, 15, 14, 13,
        14, 15, 50,  0, 50, 15, 14,
    ],
    [ // Tiger
        10, 12, 12,  0, 12, 12, 10,
        12, 14, 12, 12, 12, 12, 12,
        14, 16, 16, 14, 16, 16, 14,
        15,  0,  0, 15,  0,  0, 15,
        15,  0,  0, 15,  0,  0, 15,
        15,  0,  0, 15,  0,  0, 15,
        18, 20, 20, 30, 20, 20, 18,
        25, 25, 30, 50, 30, 25, 25,
        25, 30, 50,  0, 50, 30, 25,
    ],
    [ // Lion
        10, 12, 12,  0, 12, 12, 10,
        12, 12, 12, 12, 12, 14, 12,
        14, 16, 16, 14, 16, 16, 14,
        15,  0,  0, 15,  0,  0, 15,
        15,  0,  0, 15,  0,  0, 15,
        15,  0,  0, 15,  0,  0, 15,
        18, 20, 20, 30, 20, 20, 18,
        25, 25, 30, 50, 30, 25, 25,
        25, 30, 50,  0, 50, 30, 25,
    ],
    [ // Elephant
        11, 11, 11,  0, 11, 11, 11,
        11, 11, 11, 11, 11, 11, 11,
        10, 15, 14, 14, 14, 14, 12,
        12,  0,  0, 12,  0,  0, 12,
        14,  0,  0, 14,  0,  0, 14,
        16,  0,  0, 16,  0,  0, 16,
        18, 20, 20, 30, 20, 20, 18,
        25, 25, 30, 50, 30, 25, 25,
        25, 30, 50,  0, 50, 30, 25,
    ],
];

/// The value of a piece on a square for its owner.
#[must_use]
pub(crate) const fn piece_value(piece: Piece, square: Square) -> i32 {
    let square = match piece.color {
        Color::White => square,
        Color::Black => square.rotate(),
    };
    MATERIAL[piece.animal.index()] + DEVELOPMENT[piece.animal.index()][square.index()]
}

/// The evaluation of the side to move. `lanes` contains the square of each animal as a bit, by side; 0 if the animal is
/// not on the board.
#[inline(always)]
pub(super) fn evaluate_lanes(lanes: &[Lanes; 2], turn: Color) -> i32 {
    let mut white = 0;
    for animal in Animal::ALL {
        let a = animal.index();
        let [own, enemy] = [lanes[0][a], lanes[1][a]].map(u64::trailing_zeros);
        if own < 63 {
            white += MATERIAL[a] + DEVELOPMENT[a][own as usize];
        }
        // Black's squares are White's after half a turn of the board.
        if enemy < 63 {
            white -= MATERIAL[a] + DEVELOPMENT[a][62 - enemy as usize];
        }
    }
    if turn == Color::White { white } else { -white }
}

/// The evaluation from White's point of view: the value of White's pieces minus the value of Black's. It ignores the
/// side to move, and whether the game is over.
///
/// ```
/// use doushouqi::board::Position;
/// use doushouqi::search::burnett::evaluate;
/// assert_eq!(evaluate(&Position::start()), 0);
/// let white_is_a_rat_ahead = Position::from_fen("7/7/3e3/7/7/7/3E3/7/R6 w").unwrap();
/// assert_eq!(evaluate(&white_is_a_rat_ahead), 500 + 8);
/// ```
#[must_use]
pub fn evaluate(position: &Position) -> i32 {
    position
        .pieces()
        .map(|(piece, square)| match piece.color {
            Color::White => piece_value(piece, square),
            Color::Black => -piece_value(piece, square),
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::geometry::{DEN, WATER};

    #[test]
    fn the_other_side_sees_the_opposite() {
        for fen in ["l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w", "4E2/l6/2R4/7/7/3t3/c6/7/1C5 b"] {
            let position = Position::from_fen(fen).unwrap();
            assert_eq!(evaluate(&position), -evaluate(&position.swap_colors()), "{fen}");
            let lanes = [*position.lanes(Color::White), *position.lanes(Color::Black)];
            for (turn, sign) in [(Color::White, 1), (Color::Black, -1)] {
                assert_eq!(evaluate_lanes(&lanes, turn), sign * evaluate(&position), "{fen}");
            }
        }
    }

    #[test]
    fn unreachable_squares_have_no_value() {
        for animal in Animal::ALL {
            for square in Square::all() {
                let value = DEVELOPMENT[animal.index()][square.index()];
                let barred = Color::ALL.iter().any(|&c| square == DEN[c]) || WATER.contains(square) && !animal.swims();
                assert_eq!(value == 0, barred, "{animal} on {square}");
            }
        }
    }

    #[test]
    fn the_traps_before_the_enemy_den_are_worth_fifty() {
        for animal in Animal::ALL {
            for square in [Square::C9, Square::D8, Square::E9] {
                assert_eq!(DEVELOPMENT[animal.index()][square.index()], 50, "{animal} on {square}");
            }
        }
    }
}
