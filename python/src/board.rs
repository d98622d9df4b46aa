//! `Board` and `Move`, modelled on python-chess: a game with its history.

use crate::actions;
use crate::errors::{self, IllegalMoveError, InvalidMoveError};
use crate::outcome::PyOutcome;
use crate::packed::{BYTES, pack_position};
use crate::rules::{PyRules, RulesArgument};
use crate::squares::{PyPiece, color, square};
use doushouqi::board::{Color, Fen, Move, ParseUciMoveError, Position, Rules, UciMove};
use doushouqi::game::Game;
use doushouqi::tablebase::Material;
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// A move from a square to a square.
#[pyclass(frozen, eq, hash, name = "Move", module = "doushouqi", from_py_object)]
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyMove {
    squares: UciMove,
}

impl PyMove {
    pub fn of(mv: Move) -> PyMove {
        PyMove { squares: mv.into() }
    }

    /// The move of the piece on the square that it leaves; it need not be legal.
    fn in_position(self, position: &Position) -> PyResult<Move> {
        let UciMove { from, .. } = self.squares;
        self.squares.to_move(position).map_err(|_| {
            IllegalMoveError::new_err(format!("{}: the side to move has no piece on {from}", self.squares))
        })
    }
}

#[pymethods]
impl PyMove {
    #[new]
    fn new(from_square: i64, to_square: i64) -> PyResult<PyMove> {
        Ok(PyMove { squares: UciMove { from: square(from_square)?, to: square(to_square)? } })
    }

    /// The move of a text such as 'a3b3'. Raises InvalidMoveError.
    #[staticmethod]
    fn from_uci(uci: &str) -> PyResult<PyMove> {
        let squares = uci.parse().map_err(|error: ParseUciMoveError| InvalidMoveError::new_err(error.to_string()))?;
        Ok(PyMove { squares })
    }

    /// The square that the piece leaves.
    #[getter(from_square)]
    fn leaves(&self) -> usize {
        self.squares.from.index()
    }

    /// The square that the piece enters.
    #[getter(to_square)]
    fn enters(&self) -> usize {
        self.squares.to.index()
    }

    /// The move as two squares, such as 'a3b3'.
    pub fn uci(&self) -> String {
        self.squares.to_string()
    }

    fn __str__(&self) -> String {
        self.uci()
    }

    fn __repr__(&self) -> String {
        format!("Move.from_uci('{}')", self.uci())
    }

    fn __getnewargs__(&self) -> (usize, usize) {
        (self.leaves(), self.enters())
    }
}

/// A game: a position with its history, the rules and the no-capture limit, modelled on python-chess.
///
/// `fen` is the initial position by default. The game is drawn after `no_capture_limit` plies without a capture; None
/// is no limit.
#[pyclass(name = "Board", module = "doushouqi")]
#[derive(Clone)]
pub(crate) struct PyBoard {
    pub game: Game,
}

impl PyBoard {
    pub fn of(game: Game) -> PyBoard {
        PyBoard { game }
    }

    fn position(&self) -> &Position {
        self.game.position()
    }

    fn play(&mut self, mv: Move) -> PyResult<PyMove> {
        self.game.play(mv).map_err(errors::play)?;
        Ok(PyMove::of(mv))
    }
}

#[pymethods]
impl PyBoard {
    #[new]
    #[pyo3(signature = (fen = None, *, rules = RulesArgument::default(), no_capture_limit = Some(Game::NO_CAPTURE_LIMIT)))]
    fn new(fen: Option<&str>, rules: RulesArgument, no_capture_limit: Option<u32>) -> PyResult<PyBoard> {
        let start: Fen = match fen {
            Some(fen) => fen.parse().map_err(errors::fen)?,
            None => Position::start().into(),
        };
        Ok(PyBoard { game: Game::from_fen(start, Rules::new(rules.0), no_capture_limit) })
    }

    /// The side to move: True for White.
    #[getter]
    fn turn(&self) -> bool {
        self.position().turn() == Color::White
    }

    /// The rules of the game.
    #[getter]
    fn rules(&self) -> PyRules {
        PyRules { options: *self.game.rules().options() }
    }

    /// The plies without a capture after which the game is drawn, or None.
    #[getter]
    fn no_capture_limit(&self) -> Option<u32> {
        self.game.no_capture_limit()
    }

    /// The plies since the last capture.
    #[getter]
    fn halfmove_clock(&self) -> u32 {
        self.game.halfmove_clock()
    }

    /// The material, such as 'EPvLR'; None if a side has no piece.
    #[getter]
    fn material(&self) -> Option<String> {
        Material::of(self.position()).map(|material| material.to_string())
    }

    /// The number of moves made.
    fn ply(&self) -> usize {
        self.game.moves().len()
    }

    /// The FEN, with the halfmove clock if it is not 0.
    fn fen(&self) -> String {
        self.game.fen().to_string()
    }

    /// Begins a game from a FEN under the same rules. Raises FenError.
    fn set_fen(&mut self, fen: &str) -> PyResult<()> {
        let start: Fen = fen.parse().map_err(errors::fen)?;
        self.game = Game::from_fen(start, self.game.rules().clone(), self.game.no_capture_limit());
        Ok(())
    }

    /// Begins a game from the initial position under the same rules.
    fn reset(&mut self) {
        let start = Position::start().into();
        self.game = Game::from_fen(start, self.game.rules().clone(), self.game.no_capture_limit());
    }

    /// The legal moves, in the order of the move generator; none once the game is over.
    #[getter]
    fn legal_moves(&self) -> Vec<PyMove> {
        self.game.legal_moves().iter().map(|&mv| PyMove::of(mv)).collect()
    }

    /// The moves made so far.
    #[pyo3(name = "move_stack")]
    #[getter]
    fn moves(&self) -> Vec<PyMove> {
        self.game.moves().iter().map(|&mv| PyMove::of(mv)).collect()
    }

    /// Whether a move is legal.
    fn is_legal(&self, r#move: PyMove) -> bool {
        r#move.in_position(self.position()).is_ok_and(|mv| self.game.legal_moves().contains(&mv))
    }

    /// Whether a move enters a square with an enemy piece.
    fn is_capture(&self, r#move: PyMove) -> bool {
        self.position().side(!self.position().turn()).contains(r#move.squares.to)
    }

    /// Makes a move. Raises IllegalMoveError and changes nothing if it is not legal.
    fn push(&mut self, r#move: PyMove) -> PyResult<()> {
        let mv = r#move.in_position(self.position());
        // A game that is over has no legal move, whatever the piece.
        if self.game.end().is_some() {
            return Err(IllegalMoveError::new_err("the game is over"));
        }
        self.play(mv?).map(|_| ())
    }

    /// Makes a move given in either notation, 'Eb3' or 'a3b3', and returns it.
    fn push_san(&mut self, san: &str) -> PyResult<PyMove> {
        let mv = self.game.parse(san).map_err(errors::play)?;
        self.play(mv)
    }

    /// Makes a move given as two squares and returns it.
    fn push_uci(&mut self, uci: &str) -> PyResult<PyMove> {
        let mv = self.parse_uci(uci)?;
        self.push(mv)?;
        Ok(mv)
    }

    /// Takes the last move back and returns it. Raises IndexError if there is none.
    fn pop(&mut self) -> PyResult<PyMove> {
        let mv = self.game.undo().ok_or_else(|| PyIndexError::new_err("no move has been made"))?;
        Ok(PyMove::of(mv))
    }

    /// The last move. Raises IndexError if there is none.
    fn peek(&self) -> PyResult<PyMove> {
        let mv = self.game.moves().last().ok_or_else(|| PyIndexError::new_err("no move has been made"))?;
        Ok(PyMove::of(*mv))
    }

    /// The papers' notation of a legal move, such as 'Eb3' or 'Txb1'.
    fn san(&self, r#move: PyMove) -> PyResult<String> {
        let mv = r#move.in_position(self.position())?;
        if !self.game.legal_moves().contains(&mv) {
            return Err(IllegalMoveError::new_err(format!("{mv} is not legal here")));
        }
        Ok(mv.notation(self.position()))
    }

    /// The legal move of a text in either notation. Raises InvalidMoveError or IllegalMoveError.
    fn parse_san(&self, san: &str) -> PyResult<PyMove> {
        Ok(PyMove::of(self.game.parse(san).map_err(errors::play)?))
    }

    /// The legal move of two squares. Raises InvalidMoveError or IllegalMoveError.
    fn parse_uci(&self, uci: &str) -> PyResult<PyMove> {
        let mv = PyMove::from_uci(uci)?;
        if self.is_legal(mv) { Ok(mv) } else { Err(IllegalMoveError::new_err(format!("{uci} is not legal here"))) }
    }

    /// How the game ended; None while it goes on.
    fn outcome(&self) -> Option<PyOutcome> {
        self.game.end().map(PyOutcome::of)
    }

    /// Whether the game is over.
    fn is_game_over(&self) -> bool {
        self.game.end().is_some()
    }

    /// '1-0', '0-1', '1/2-1/2', or '*' while the game goes on.
    fn result(&self) -> &'static str {
        match self.game.end().map(|end| end.winner()) {
            None => "*",
            Some(None) => "1/2-1/2",
            Some(Some(Color::White)) => "1-0",
            Some(Some(Color::Black)) => "0-1",
        }
    }

    /// How often the current position has occurred, this time included.
    fn occurrences(&self) -> usize {
        self.game.occurrences()
    }

    /// The piece on a square, or None.
    fn piece_at(&self, square: i64) -> PyResult<Option<PyPiece>> {
        Ok(self.position().piece_at(self::square(square)?).map(PyPiece::of))
    }

    /// The pieces by square.
    fn piece_map(&self) -> BTreeMap<usize, PyPiece> {
        self.position().pieces().map(|(piece, square)| (square.index(), PyPiece::of(piece))).collect()
    }

    /// The position reflected in file d, without its history.
    fn mirror(&self) -> PyBoard {
        let start = self.position().mirror();
        PyBoard { game: Game::new(start, self.game.rules().clone(), self.game.no_capture_limit()) }
    }

    /// The position with a side to move, without its history.
    fn with_turn(&self, turn: bool) -> PyBoard {
        let position = self.position();
        let start = if position.turn() == color(turn) { position.clone() } else { position.pass() };
        PyBoard { game: Game::new(start, self.game.rules().clone(), self.game.no_capture_limit()) }
    }

    /// The legal actions in ascending order.
    fn legal_actions(&self) -> Vec<usize> {
        let turn = self.position().turn();
        let mut actions: Vec<usize> = self.game.legal_moves().iter().map(|&mv| actions::action(mv, turn)).collect();
        actions.sort_unstable();
        actions
    }

    /// The action of a legal move: `4 * animal + direction`, forward 0, backward 1, left 2, right 3 for the mover.
    fn action(&self, r#move: PyMove) -> PyResult<usize> {
        let mv = r#move.in_position(self.position())?;
        if !self.game.legal_moves().contains(&mv) {
            return Err(IllegalMoveError::new_err(format!("{mv} is not legal here")));
        }
        Ok(actions::action(mv, self.position().turn()))
    }

    /// The legal move of an action. Raises IllegalMoveError.
    fn move_of_action(&self, action: i64) -> PyResult<PyMove> {
        let index = usize::try_from(action).ok().filter(|&index| index < actions::ACTIONS);
        let index = index.ok_or_else(|| PyValueError::new_err(format!("an action is 0 to 31, not {action}")))?;
        actions::to_move(self.position(), index)
            .filter(|mv| self.game.legal_moves().contains(mv))
            .map(PyMove::of)
            .ok_or_else(|| IllegalMoveError::new_err(format!("action {action} is not legal here")))
    }

    /// Makes the move of an action and returns it.
    fn push_action(&mut self, action: i64) -> PyResult<PyMove> {
        let mv = self.move_of_action(action)?;
        self.push(mv)?;
        Ok(mv)
    }

    /// The position as int8 planes of shape (16, 9, 7): plane, rank, file.
    ///
    /// Planes 0 to 7 are the animals of the side to move, weakest first, 8 to 15 those of the opponent. Rank 0 is
    /// nearest to the side to move: for Black the board is rotated by 180 degrees.
    fn observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<i8>>> {
        let mut observation = vec![0; actions::OBSERVATION];
        actions::observe(self.position(), &mut observation);
        PyArray1::from_vec(py, observation).reshape([actions::PLANES, 9, 7])
    }

    /// The legal actions as an array of 32 booleans.
    fn action_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let mask = actions::mask(&self.game.legal_moves(), self.position().turn());
        PyArray1::from_iter(py, (0..actions::ACTIONS).map(|action| mask >> action & 1 != 0))
    }

    /// The position as a row of `pack`.
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i8>> {
        let packed: [i8; BYTES] = pack_position(self.position());
        PyArray1::from_slice(py, &packed)
    }

    /// A copy with its own history.
    fn copy(&self) -> PyBoard {
        self.clone()
    }

    fn __copy__(&self) -> PyBoard {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyBoard {
        self.clone()
    }

    fn __eq__(&self, other: &PyBoard) -> bool {
        self.game.fen() == other.game.fen()
            && self.game.rules().options() == other.game.rules().options()
            && self.game.no_capture_limit() == other.game.no_capture_limit()
    }

    fn __str__(&self) -> String {
        self.position().to_picture()
    }

    fn __repr__(&self) -> String {
        format!("Board('{}')", self.fen())
    }

    /// The board as an SVG picture, which notebooks show.
    fn _repr_svg_(&self) -> String {
        report::plot::board(self.position())
    }

    /// For pickle: the first position, the rules, the limit and the moves.
    fn __reduce__<'py>(&self, py: Python<'py>) -> crate::pickle::Reduced<'py, Played> {
        let restore = py.get_type::<PyBoard>().getattr("_restore")?;
        let moves = self.game.moves().iter().map(ToString::to_string).collect();
        let rules = self.game.rules().options().to_string();
        Ok((restore, (self.game.start_fen().to_string(), rules, self.game.no_capture_limit(), moves)))
    }

    /// For pickle.
    #[staticmethod]
    fn _restore(fen: &str, rules: RulesArgument, limit: Option<u32>, moves: Vec<String>) -> PyResult<PyBoard> {
        let mut board = PyBoard::new(Some(fen), rules, limit)?;
        for text in moves {
            board.push_san(&text)?;
        }
        Ok(board)
    }
}

/// The first position, the rules, the no-capture limit and the moves of a game.
type Played = (String, String, Option<u32>, Vec<String>);
