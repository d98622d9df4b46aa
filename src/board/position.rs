use super::geometry::{DEN, TRAPS, WATER, habitat};
use super::rules::Lanes;
use super::{Animal, Bitboard, ByColor, Color, File, Move, NoMove, Piece, Rank, Rules, Square, zobrist};
use std::fmt;
use thiserror::Error;

/// Pieces on squares and a side to move, as somebody typed them: perhaps no position of the game at all.
/// [`Position::from_setup`] checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// What stands on each square, by [`Square::index`].
    pub squares: [Option<Piece>; Square::COUNT],
    /// Who is on move.
    pub turn: Color,
}

impl Setup {
    /// An empty board.
    #[must_use]
    pub fn empty(turn: Color) -> Setup {
        Setup { squares: [None; Square::COUNT], turn }
    }
}

/// Why pieces on squares are no position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PositionError {
    /// The board is empty.
    #[error("there is no piece on the board")]
    NoPieces,
    /// A side has an animal twice.
    #[error("there are two {piece}s, on {first} and {second}; a side has at most one of each animal")]
    Duplicate {
        /// The animal and its side.
        piece: Piece,
        /// The lower of its squares.
        first: Square,
        /// The higher one.
        second: Square,
    },
    /// An animal that does not swim stands in the water.
    #[error("the {piece} on {square} stands in the water, where only a rat may be")]
    InWater {
        /// The animal and its side.
        piece: Piece,
        /// Where it stands.
        square: Square,
    },
    /// A piece stands in its own den.
    #[error("the {piece} on {square} stands in its own den, which it may never enter")]
    InOwnDen {
        /// The animal and its side.
        piece: Piece,
        /// The den.
        square: Square,
    },
    /// Both sides have entered the other's den.
    #[error("both dens are occupied; the game ends when the first is entered")]
    BothDens,
}

/// How a finished game ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// This side entered the enemy's den, took the last enemy piece, or left it without a move where that loses.
    Win(Color),
    /// The side to move has no legal move, where that draws.
    NoMove,
}

/// A position: where the pieces stand and who is on move. Each animal of each side is one lane, a bitboard with at most
/// one square; so a side is eight words, one vector register.
#[derive(Clone)]
#[repr(align(64))]
pub struct Position {
    lanes: ByColor<Lanes>,
    turn: Color,
    key: u64,
}

impl Position {
    /// The starting position.
    #[must_use]
    pub fn start() -> Position {
        Position::from_fen(super::fen::START).expect("the starting position is valid")
    }

    /// Checks a setup.
    ///
    /// # Errors
    /// What is wrong with it: see [`PositionError`].
    pub fn from_setup(setup: &Setup) -> Result<Position, PositionError> {
        let mut position = Position { lanes: ByColor::default(), turn: setup.turn, key: 0 };
        for square in Square::all() {
            let Some(piece) = setup.squares[square.index()] else { continue };
            if square == DEN[piece.color] {
                return Err(PositionError::InOwnDen { piece, square });
            }
            if !habitat(piece.color, piece.animal).contains(square) {
                return Err(PositionError::InWater { piece, square });
            }
            if let Some(first) = position.square_of(piece.color, piece.animal) {
                return Err(PositionError::Duplicate { piece, first, second: square });
            }
            position.lanes[piece.color][piece.animal.index()] = 1 << square.index();
        }
        if position.occupied().is_empty() {
            return Err(PositionError::NoPieces);
        }
        if Color::ALL.iter().all(|&c| position.side(c).contains(DEN[!c])) {
            return Err(PositionError::BothDens);
        }
        position.key = position.compute_key();
        Ok(position)
    }

    /// What stands where, free to be changed.
    #[must_use]
    pub fn to_setup(&self) -> Setup {
        let mut setup = Setup::empty(self.turn);
        for (piece, square) in self.pieces() {
            setup.squares[square.index()] = Some(piece);
        }
        setup
    }

    /// Who is on move.
    #[inline(always)]
    #[must_use]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The Zobrist key: equal positions have equal keys, others almost surely different ones.
    #[inline(always)]
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The key computed from nothing but the pieces: the slow twin of the one that moves update.
    #[must_use]
    pub fn compute_key(&self) -> u64 {
        let side = if self.turn == Color::Black { zobrist::black_to_move() } else { 0 };
        self.pieces().fold(side, |key, (piece, square)| key ^ zobrist::piece(piece.color, piece.animal, square))
    }

    #[inline(always)]
    pub(crate) fn lanes(&self, color: Color) -> &Lanes {
        &self.lanes[color]
    }

    /// The square of one animal, as a set of at most one.
    #[inline(always)]
    #[must_use]
    pub fn animal(&self, color: Color, animal: Animal) -> Bitboard {
        Bitboard::new(self.lanes[color][animal.index()])
    }

    /// The square of one animal, if it is on the board.
    #[must_use]
    pub fn square_of(&self, color: Color, animal: Animal) -> Option<Square> {
        self.animal(color, animal).first()
    }

    /// The squares of a side.
    #[inline(always)]
    #[must_use]
    pub fn side(&self, color: Color) -> Bitboard {
        Bitboard::new(union(self.lanes(color)))
    }

    /// All occupied squares.
    #[inline(always)]
    #[must_use]
    pub fn occupied(&self) -> Bitboard {
        self.side(Color::White) | self.side(Color::Black)
    }

    /// Number of pieces of each side.
    #[must_use]
    pub fn piece_counts(&self) -> ByColor<usize> {
        ByColor::from_fn(|color| self.side(color).len())
    }

    /// The piece on a square.
    #[must_use]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        Color::ALL.into_iter().find_map(|color| {
            Animal::ALL
                .into_iter()
                .find(|&animal| self.animal(color, animal).contains(square))
                .map(|animal| Piece { color, animal })
        })
    }

    /// All pieces with their squares, White's first, weakest first.
    pub fn pieces(&self) -> impl Iterator<Item = (Piece, Square)> + '_ {
        Color::ALL.into_iter().flat_map(move |color| {
            Animal::ALL
                .into_iter()
                .filter_map(move |animal| Some((Piece { color, animal }, self.square_of(color, animal)?)))
        })
    }

    /// The winner, if a den has been entered or a side has no piece left.
    #[inline]
    #[must_use]
    pub fn winner(&self) -> Option<Color> {
        let (white, black) = (self.side(Color::White).bits(), self.side(Color::Black).bits());
        if white >> DEN.black.index() & 1 != 0 || black == 0 {
            Some(Color::White)
        } else if black >> DEN.white.index() & 1 != 0 || white == 0 {
            Some(Color::Black)
        } else {
            None
        }
    }

    /// How the game has ended, if it has. Repetition is not looked at: a position has no history.
    #[must_use]
    pub fn outcome(&self, rules: &Rules) -> Option<Outcome> {
        if let Some(color) = self.winner() {
            return Some(Outcome::Win(color));
        }
        (self.count_moves(rules) == 0).then_some(match rules.options().no_move {
            NoMove::Draw => Outcome::NoMove,
            NoMove::Loss => Outcome::Win(!self.turn),
        })
    }

    /// The position after a move, which must be legal here.
    #[inline(always)]
    #[must_use]
    pub fn make(&self, mv: Move) -> Position {
        let mut next = self.make_unkeyed(mv);
        next.key = self.key_after(mv);
        next
    }

    /// The key of the position after a move, which must be legal here.
    #[inline(always)]
    pub(crate) fn key_after(&self, mv: Move) -> u64 {
        let victim = self.lanes(!self.turn);
        let to = 1u64 << mv.to.index();
        let mut key = self.key
            ^ zobrist::piece(self.turn, mv.animal, mv.from)
            ^ zobrist::piece(self.turn, mv.animal, mv.to)
            ^ zobrist::black_to_move();
        if let Some(animal) = Animal::ALL.into_iter().find(|a| victim[a.index()] == to) {
            key ^= zobrist::piece(!self.turn, animal, mv.to);
        }
        key
    }

    /// [`Position::make`] without the key, for counting: no key of the result may be used.
    #[inline(always)]
    pub(crate) fn make_unkeyed(&self, mv: Move) -> Position {
        let to = 1u64 << mv.to.index();
        let (own, enemy) = (self.lanes(self.turn), self.lanes(!self.turn));
        debug_assert_eq!(own[mv.animal.index()], 1 << mv.from.index());
        // Both sides are written as wholes: a word written alone would have to reach memory before its vector can be read.
        let own = std::array::from_fn(|a| if a == mv.animal.index() { to } else { own[a] });
        let enemy = std::array::from_fn(|a| enemy[a] & !to);
        let mut lanes = ByColor { white: own, black: own };
        lanes[!self.turn] = enemy;
        Position { lanes, turn: !self.turn, key: self.key }
    }

    /// The same position with the other side to move.
    #[must_use]
    pub fn pass(&self) -> Position {
        Position { turn: !self.turn, key: self.key ^ zobrist::black_to_move(), ..self.clone() }
    }

    /// Reflection in file d: the same position for all that matters.
    #[must_use]
    pub fn mirror(&self) -> Position {
        self.transform(self.turn, |piece, square| (piece, square.mirror()))
    }

    /// Colours exchanged and the board rotated: the same position from the other side's point of view.
    #[must_use]
    pub fn swap_colors(&self) -> Position {
        self.transform(!self.turn, |piece, square| (Piece { color: !piece.color, ..piece }, square.rotate()))
    }

    /// The board as lines of text, rank 9 first: capitals are White, `#` a den, `^` a trap, `~` water.
    ///
    /// ```
    /// let picture = doushouqi::board::Position::start().to_picture();
    /// assert_eq!(picture.lines().next(), Some("9 | l . ^ # ^ . t"));
    /// assert_eq!(picture.lines().last(), Some("    a b c d e f g   White to move"));
    /// ```
    #[must_use]
    pub fn to_picture(&self) -> String {
        let mut picture = String::new();
        for rank in Rank::ALL.into_iter().rev() {
            let squares = File::ALL.map(|file| self.symbol(Square::from_coords(file, rank)).to_string());
            picture += &format!("{rank} | {}\n", squares.join(" "));
        }
        picture + &format!("    a b c d e f g   {} to move\n", self.turn)
    }

    /// The letter of the piece on a square, or what the square is.
    fn symbol(&self, square: Square) -> char {
        let of_either = |is: fn(Color, Square) -> bool| Color::ALL.into_iter().any(|color| is(color, square));
        match self.piece_at(square) {
            Some(piece) => piece.letter(),
            None if of_either(|color, square| DEN[color] == square) => '#',
            None if of_either(|color, square| TRAPS[color].contains(square)) => '^',
            None if WATER.contains(square) => '~',
            None => '.',
        }
    }

    fn transform(&self, turn: Color, f: impl Fn(Piece, Square) -> (Piece, Square)) -> Position {
        let mut position = Position { lanes: ByColor::default(), turn, key: 0 };
        for (piece, square) in self.pieces() {
            let (piece, square) = f(piece, square);
            position.lanes[piece.color][piece.animal.index()] = 1 << square.index();
        }
        position.key = position.compute_key();
        position
    }
}

/// All squares of a side's lanes.
#[inline(always)]
pub(crate) fn union(lanes: &Lanes) -> u64 {
    lanes.iter().fold(0, |all, lane| all | lane)
}

impl PartialEq for Position {
    fn eq(&self, other: &Position) -> bool {
        self.turn == other.turn && self.lanes == other.lanes
    }
}

impl Eq for Position {}

impl std::hash::Hash for Position {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_fen())
    }
}

/// The FEN, which [`Position::from_fen`] reads.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_fen())
    }
}
