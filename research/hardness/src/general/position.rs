use super::{Board, Place, Terrain};
use doushouqi::board::{Animal, ByColor, Color, Direction, NoMove, Outcome, Piece, RuleOptions, Square};
use std::sync::Arc;

/// A move on a general board.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GeneralMove {
    /// The square the piece leaves.
    pub from: Place,
    /// The square it enters.
    pub to: Place,
}

/// The state that [`GeneralPosition::undo`] needs to take a move back.
#[derive(Copy, Clone, Debug)]
pub struct Undo {
    mv: GeneralMove,
    taken: Option<Piece>,
}

/// Pieces on a general board and a side to move. Compared with [`doushouqi::board::Position`] it is simple and slow,
/// but allows any size and any number of pieces of each animal.
#[derive(Clone, Debug)]
pub struct GeneralPosition {
    board: Arc<Board>,
    dens: ByColor<Option<Place>>,
    squares: Vec<Option<Piece>>,
    /// The squares of each side's pieces, in no particular order.
    places: ByColor<Vec<Place>>,
    /// For each occupied square, the index of its piece among its side's places.
    number: Vec<u32>,
    turn: Color,
}

impl GeneralPosition {
    /// The position with the pieces `squares` on `board`, which the caller has checked ([`GeneralPosition::parse`]).
    pub(crate) fn new(board: Arc<Board>, squares: Vec<Option<Piece>>, turn: Color) -> GeneralPosition {
        debug_assert_eq!(board.len(), squares.len());
        let mut places = ByColor::<Vec<Place>>::default();
        let mut number = vec![0; squares.len()];
        for (index, piece) in squares.iter().enumerate() {
            if let Some(piece) = piece {
                number[index] = places[piece.color].len() as u32;
                places[piece.color].push(Place::new(index));
            }
        }
        let dens = ByColor::from_fn(|color| board.den(color));
        GeneralPosition { board, dens, squares, places, number, turn }
    }

    /// A position of the standard game as a general position.
    #[must_use]
    pub fn from_standard(position: &doushouqi::board::Position) -> GeneralPosition {
        let board = Board::standard();
        let mut squares = vec![None; board.len()];
        for (piece, square) in position.pieces() {
            let place = board.place(&square.to_string()).expect("a square of the standard board");
            squares[place.index()] = Some(piece);
        }
        GeneralPosition::new(Arc::new(board), squares, position.turn())
    }

    /// The board.
    #[must_use]
    pub fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// The side to move.
    #[must_use]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The same pieces with this side to move.
    #[must_use]
    pub fn with_turn(mut self, turn: Color) -> GeneralPosition {
        self.turn = turn;
        self
    }

    /// The piece on a square.
    #[inline]
    #[must_use]
    pub fn piece_at(&self, place: Place) -> Option<Piece> {
        self.squares[place.index()]
    }

    /// The squares of a side's pieces, in no particular order.
    #[must_use]
    pub(crate) fn places_of(&self, color: Color) -> &[Place] {
        &self.places[color]
    }

    /// All pieces with their squares, row by row from the top.
    pub fn pieces(&self) -> impl Iterator<Item = (Piece, Place)> + '_ {
        self.squares.iter().enumerate().filter_map(|(i, piece)| piece.map(|piece| (piece, Place::new(i))))
    }

    /// The winner, if a den has been entered or a side has no piece left.
    #[must_use]
    pub fn winner(&self) -> Option<Color> {
        Color::ALL.into_iter().find(|&color| {
            let entered = self.dens[!color].and_then(|den| self.piece_at(den)).is_some_and(|p| p.color == color);
            entered || self.places[!color].is_empty()
        })
    }

    /// The winner, if the game has ended. A position has no history, so repetition does not count.
    #[must_use]
    pub fn outcome(&self, rules: &RuleOptions) -> Option<Outcome> {
        if let Some(color) = self.winner() {
            return Some(Outcome::Win(color));
        }
        let loses = rules.no_move == NoMove::Loss;
        self.moves(rules).is_empty().then_some(if loses { Outcome::Win(!self.turn) } else { Outcome::NoMove })
    }

    /// The legal moves. A finished game has none.
    #[must_use]
    pub fn moves(&self, rules: &RuleOptions) -> Vec<GeneralMove> {
        let mut moves = Vec::new();
        if self.winner().is_none() {
            for &from in &self.places[self.turn] {
                self.moves_from(from, rules, &mut moves);
            }
        }
        moves
    }

    /// Adds the moves of the piece on `from`, whichever side is to move, as if no den had been entered yet.
    pub(crate) fn moves_from(&self, from: Place, rules: &RuleOptions, moves: &mut Vec<GeneralMove>) {
        let Some(piece) = self.piece_at(from) else { return };
        for direction in Direction::ALL {
            if let Some(to) = self.destination(piece, from, direction, rules)
                && self.may_enter(piece, from, to, rules)
            {
                moves.push(GeneralMove { from, to });
            }
        }
    }

    /// The square that a piece reaches in a direction: the next one, or the one beyond the water that it leaps over.
    pub(super) fn destination(
        &self,
        piece: Piece,
        from: Place,
        direction: Direction,
        rules: &RuleOptions,
    ) -> Option<Place> {
        let mut to = self.board.neighbour(from, direction)?;
        if piece.animal.swims() || self.board.terrain(to) != Terrain::Water {
            return Some(to);
        }
        if !rules.leaps(piece.animal, direction) {
            return None;
        }
        while self.board.terrain(to) == Terrain::Water {
            if self.piece_at(to).is_some_and(|other| rules.blocks_leap(other, piece.color)) {
                return None;
            }
            to = self.board.neighbour(to, direction)?;
        }
        Some(to)
    }

    /// Whether a piece from `from` may enter `to`: not its own den, no own piece, no enemy that it may not capture.
    fn may_enter(&self, piece: Piece, from: Place, to: Place, rules: &RuleOptions) -> bool {
        if self.dens[piece.color] == Some(to) {
            return false;
        }
        match self.piece_at(to) {
            None => true,
            Some(victim) if victim.color == piece.color => false,
            Some(victim) => may_capture(&self.board, piece, from, victim.animal, to, rules),
        }
    }

    /// Makes a legal move.
    pub fn make(&mut self, mv: GeneralMove) -> Undo {
        let taken = self.squares[mv.to.index()];
        if taken.is_some() {
            self.remove(mv.to);
        }
        self.shift(mv.from, mv.to);
        self.turn = !self.turn;
        Undo { mv, taken }
    }

    /// Takes back the last move.
    pub fn undo(&mut self, undo: Undo) {
        self.turn = !self.turn;
        self.shift(undo.mv.to, undo.mv.from);
        if let Some(piece) = undo.taken {
            self.put(undo.mv.to, piece);
        }
    }

    /// Changes the side to move.
    pub fn pass(&mut self) {
        self.turn = !self.turn;
    }

    fn shift(&mut self, from: Place, to: Place) {
        let piece = self.squares[from.index()].take().expect("a piece moves");
        let number = self.number[from.index()];
        self.squares[to.index()] = Some(piece);
        self.number[to.index()] = number;
        self.places[piece.color][number as usize] = to;
    }

    fn remove(&mut self, place: Place) {
        let piece = self.squares[place.index()].take().expect("a piece is taken");
        let number = self.number[place.index()] as usize;
        self.places[piece.color].swap_remove(number);
        if let Some(&moved) = self.places[piece.color].get(number) {
            self.number[moved.index()] = number as u32;
        }
    }

    fn put(&mut self, place: Place, piece: Piece) {
        self.squares[place.index()] = Some(piece);
        self.number[place.index()] = self.places[piece.color].len() as u32;
        self.places[piece.color].push(place);
    }

    /// Replaces the pieces and the side to move.
    pub(super) fn set(&mut self, pieces: impl Iterator<Item = (Piece, Place)>, turn: Color) {
        for color in Color::ALL {
            for place in std::mem::take(&mut self.places[color]) {
                self.squares[place.index()] = None;
            }
        }
        for (piece, place) in pieces {
            self.put(place, piece);
        }
        self.turn = turn;
    }

    /// A move as text: the piece's letter, the square it leaves, `x` or `-`, the square it enters.
    #[must_use]
    pub fn notation(&self, mv: GeneralMove) -> String {
        let letter = self.piece_at(mv.from).map_or('?', Piece::letter);
        let sign = if self.piece_at(mv.to).is_some() { 'x' } else { '-' };
        format!("{letter}{}{sign}{}", self.board.name(mv.from), self.board.name(mv.to))
    }
}

/// Two positions are equal if their board, pieces and side to move are equal.
impl PartialEq for GeneralPosition {
    fn eq(&self, other: &GeneralPosition) -> bool {
        self.turn == other.turn && self.squares == other.squares && self.board == other.board
    }
}

impl Eq for GeneralPosition {}

/// Whether `piece`, if it can move from `from` to `to`, may capture `victim` there: the rule of the standard game for
/// squares of the same terrain.
#[must_use]
pub fn may_capture(board: &Board, piece: Piece, from: Place, victim: Animal, to: Place, rules: &RuleOptions) -> bool {
    let (from, to) = (alike(board.terrain(from)), alike(board.terrain(to)));
    rules.may_capture(piece.color, piece.animal, from, victim, to)
}

/// A square of the standard board with this terrain. For captures a den counts as land.
fn alike(terrain: Terrain) -> Square {
    match terrain {
        Terrain::Land | Terrain::Den(_) => Square::A4,
        Terrain::Water => Square::B4,
        Terrain::Trap(Color::White) => Square::D2,
        Terrain::Trap(Color::Black) => Square::D8,
    }
}
