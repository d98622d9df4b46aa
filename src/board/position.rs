use super::geometry::{DEN, TRAPS, WATER, habitat};
use super::rules::Lanes;
use super::{Animal, Bitboard, Color, File, Move, NoMove, Piece, PlayError, Rank, Rules, Square, zobrist};
use std::fmt;
use thiserror::Error;

/// Pieces on squares and a side to move, possibly not a valid position.
/// [`Position::from_setup`] checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The piece on each square, by [`Square::index`].
    pub squares: [Option<Piece>; Square::COUNT],
    /// The side to move.
    pub turn: Color,
}

impl Setup {
    /// An empty board.
    #[must_use]
    pub fn empty(turn: Color) -> Setup {
        Setup { squares: [None; Square::COUNT], turn }
    }
}

/// Why a setup is not a valid position.
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
        /// The higher of its squares.
        second: Square,
    },
    /// An animal that does not swim stands in the water.
    #[error("the {piece} on {square} stands in the water, where only a rat may be")]
    InWater {
        /// The animal and its side.
        piece: Piece,
        /// The square it stands on.
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
    /// Each side has entered the enemy's den.
    #[error("both dens are occupied; the game ends when the first is entered")]
    BothDens,
}

/// How a finished game ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// This side won: it entered the enemy's den, took the last enemy piece, or left the enemy without a legal move
    /// (stalemate) where stalemate loses.
    Win(Color),
    /// The side to move has no legal move (stalemate), and stalemate is a draw.
    NoMove,
}

/// A position: the pieces on their squares and the side to move. The default is the initial position. Each animal of
/// each side is one lane, a bitboard of at most one square. The eight lanes of a side fill one vector register.
#[derive(Clone)]
#[repr(align(64))]
pub struct Position {
    /// By colour: an array, because the selection of a field would cost a third of the speed of perft.
    lanes: [Lanes; 2],
    turn: Color,
    key: u64,
}

impl Position {
    /// The initial position.
    #[must_use]
    pub fn start() -> Position {
        Position::from_fen(super::fen::START).expect("the initial position is valid")
    }

    /// The position of a setup.
    ///
    /// # Errors
    /// If the setup is not a valid position: see [`PositionError`].
    pub fn from_setup(setup: &Setup) -> Result<Position, PositionError> {
        let mut position = Position { lanes: Default::default(), turn: setup.turn, key: 0 };
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
            position.lanes[piece.color as usize][piece.animal.index()] = 1 << square.index();
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

    /// The setup of this position, which can be edited.
    #[must_use]
    pub fn to_setup(&self) -> Setup {
        let mut setup = Setup::empty(self.turn);
        for (piece, square) in self.pieces() {
            setup.squares[square.index()] = Some(piece);
        }
        setup
    }

    /// The side to move.
    #[inline(always)]
    #[must_use]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The Zobrist key: equal positions have equal keys, and different positions almost surely have different keys.
    #[inline(always)]
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The Zobrist key computed from the pieces: the slow twin of [`Position::key`], which moves update.
    #[must_use]
    pub fn compute_key(&self) -> u64 {
        let side = if self.turn == Color::Black { zobrist::black_to_move() } else { 0 };
        self.pieces().fold(side, |key, (piece, square)| key ^ zobrist::piece(piece.color, piece.animal, square))
    }

    /// A valid position of these lanes, White's first, with its key.
    #[cfg(feature = "search")]
    pub(crate) fn from_lanes(lanes: [Lanes; 2], turn: Color, key: u64) -> Position {
        Position { lanes, turn, key }
    }

    #[inline(always)]
    pub(crate) fn lanes(&self, color: Color) -> &Lanes {
        &self.lanes[color as usize]
    }

    /// The square of one animal, as a set of at most one.
    #[inline(always)]
    #[must_use]
    pub fn animal(&self, color: Color, animal: Animal) -> Bitboard {
        Bitboard::new(self.lanes(color)[animal.index()])
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

    /// The winner, if a side has entered the enemy's den or has no piece left.
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

    /// How the game has ended; `None` if it is not over. Repetition does not count: a position contains no history.
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

    /// The position after a move.
    ///
    /// ```
    /// use doushouqi::board::{Move, PlayError, Position, Rules};
    /// let (start, rules) = (Position::default(), Rules::default());
    /// let mv = Move::parse("Eb3", &start, &rules).unwrap();
    /// let next = start.play(mv, &rules)?;
    /// assert_eq!(next, start.make(mv));
    /// assert_eq!(next.play(mv, &rules), Err(PlayError::Illegal { mv }));
    /// # Ok::<(), PlayError>(())
    /// ```
    ///
    /// # Errors
    /// If the game is over ([`PlayError::Over`]) or the move is not legal ([`PlayError::Illegal`]). Repetition does not
    /// count: a position contains no history.
    pub fn play(&self, mv: Move, rules: &Rules) -> Result<Position, PlayError> {
        if self.winner().is_some() {
            Err(PlayError::Over)
        } else if self.is_legal(mv, rules) {
            Ok(self.make(mv))
        } else {
            Err(PlayError::Illegal { mv })
        }
    }

    /// The position after a move, which must be legal: [`Position::play`] without the check. After any other move the
    /// result is unspecified.
    #[inline(always)]
    #[must_use]
    pub fn make(&self, mv: Move) -> Position {
        let mut next = self.make_unkeyed(mv);
        next.key = self.key_after(mv);
        next
    }

    /// The key of the position after a move, which must be legal.
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
        // Each side is written as a whole vector: after a store of a single word, a load of the vector would have to
        // wait.
        let own = std::array::from_fn(|a| if a == mv.animal.index() { to } else { own[a] });
        let enemy = std::array::from_fn(|a| enemy[a] & !to);
        let mut lanes = [own; 2];
        lanes[!self.turn as usize] = enemy;
        Position { lanes, turn: !self.turn, key: self.key }
    }

    /// The same position with the other side to move.
    #[must_use]
    pub fn pass(&self) -> Position {
        Position { turn: !self.turn, key: self.key ^ zobrist::black_to_move(), ..self.clone() }
    }

    /// Reflection in file d. The value of the position does not change.
    #[must_use]
    pub fn mirror(&self) -> Position {
        self.transform(self.turn, |piece, square| (piece, square.mirror()))
    }

    /// Colours exchanged and the board rotated: the position from the other side's point of view.
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

    /// The letter of the piece on a square, or the symbol of an empty square.
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
        let mut position = Position { lanes: Default::default(), turn, key: 0 };
        for (piece, square) in self.pieces() {
            let (piece, square) = f(piece, square);
            position.lanes[piece.color as usize][piece.animal.index()] = 1 << square.index();
        }
        position.key = position.compute_key();
        position
    }
}

/// The occupied squares of a side's lanes.
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

impl Default for Position {
    fn default() -> Position {
        Position::start()
    }
}

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
