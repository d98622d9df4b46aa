//! Positions as rows of 17 bytes: the squares of White's animals, weakest first, of Black's, and the side to move.

use doushouqi::board::{Animal, Color, Piece, Position, Setup, Square};

/// The bytes of a packed position.
pub(crate) const BYTES: usize = 2 * Animal::COUNT + 1;
/// The entry of an animal that is not on the board, instead of its square.
pub(crate) const ABSENT: i8 = -1;

pub(crate) type Packed = [i8; BYTES];

pub(crate) fn pack_position(position: &Position) -> Packed {
    let mut packed = [ABSENT; BYTES];
    for (piece, square) in position.pieces() {
        packed[piece.color as usize * Animal::COUNT + piece.animal.index()] = square.index() as i8;
    }
    packed[BYTES - 1] = position.turn() as i8;
    packed
}

/// The position of a row; the error describes the defect of the row.
pub(crate) fn unpack_position(packed: &[i8]) -> Result<Position, String> {
    let (&turn, squares) = packed.split_last().ok_or("the row is empty")?;
    let turn = match turn {
        0 => Color::White,
        1 => Color::Black,
        _ => return Err(format!("the side to move is 0 (White) or 1 (Black), not {turn}")),
    };
    let mut setup = Setup::empty(turn);
    for (i, &index) in squares.iter().enumerate() {
        if index == ABSENT {
            continue;
        }
        let square = usize::try_from(index).ok().and_then(Square::new);
        let square = square.ok_or_else(|| format!("a square is 0 to 62, or -1 for no piece, not {index}"))?;
        let piece = Piece { color: Color::ALL[i / Animal::COUNT], animal: Animal::ALL[i % Animal::COUNT] };
        if setup.squares[square.index()].replace(piece).is_some() {
            return Err(format!("two pieces stand on {square}"));
        }
    }
    Position::from_setup(&setup).map_err(|e| e.to_string())
}
