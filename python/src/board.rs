//! `Board`, modelled on python-chess: a game with its history.

use crate::actions;
use crate::errors::{self, FenError, IllegalMoveError};
use crate::moves::PyMove;
use crate::outcome::PyOutcome;
use crate::packed::{BYTES, pack_position};
use crate::picture::{self, ArrowArgument};
use crate::rules::{PyRules, RulesArgument, rules};
use crate::squares::{PyPiece, color, square};
use crate::whole::whole;
use doushouqi::board::{Color, Fen, Move, Position, RuleOptions, Setup, Square};
use doushouqi::game::{Conclusion, Game};
use doushouqi::tablebase::Material;
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use report::board::BoardPicture;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A game: a position with its history, the rules and the no-capture limit, modelled on python-chess.
///
/// `fen` is the initial position by default. The game is drawn after `no_capture_limit` plies without a capture; None
/// is no limit. Boards are equal if positions, halfmove clocks, rules and limits are; earlier positions do not count.
/// A board cannot be hashed: use `key()` or `fen()`. The class may be subclassed: `copy`, `root` and the like return
/// boards of the subclass.
#[pyclass(subclass, name = "Board", module = "doushouqi")]
#[derive(Clone)]
pub(crate) struct PyBoard {
    pub game: Game,
}

static START: LazyLock<Fen> = LazyLock::new(|| Position::start().into());

impl PyBoard {
    pub fn of(game: Game) -> PyBoard {
        PyBoard { game }
    }

    pub fn from_fen(fen: Option<&str>, options: RuleOptions, no_capture_limit: Option<u32>) -> PyResult<PyBoard> {
        let start = fen.map_or_else(|| Ok(START.clone()), str::parse::<Fen>).map_err(errors::fen)?;
        Ok(PyBoard { game: Game::from_fen(start, rules(options), no_capture_limit) })
    }

    /// The game of a pickle.
    pub fn played(fen: &str, options: RuleOptions, no_capture_limit: Option<u32>, moves: &[String]) -> PyResult<Game> {
        let mut board = PyBoard::from_fen(Some(fen), options, no_capture_limit)?;
        moves.iter().try_for_each(|text| board.push_san(text).map(drop))?;
        Ok(board.game)
    }

    fn position(&self) -> &Position {
        self.game.position()
    }

    fn play(&mut self, mv: Move) -> PyResult<PyMove> {
        self.game.play(mv).map_err(errors::play)?;
        Ok(PyMove::of(mv))
    }

    /// The position with a side to move.
    fn position_with_turn(&self, turn: Color) -> Position {
        let position = self.position();
        if position.turn() == turn { position.clone() } else { position.pass() }
    }

    /// The game from a position on, under the same rules.
    fn game_from(&self, start: impl Into<Fen>) -> Game {
        Game::from_fen(start.into(), self.game.rules().clone(), self.game.no_capture_limit())
    }

    /// Changes the position and forgets the moves.
    fn edit(&mut self, change: impl FnOnce(&mut Setup)) -> PyResult<()> {
        let mut setup = self.position().to_setup();
        change(&mut setup);
        let position = Position::from_setup(&setup).map_err(|error| FenError::new_err(error.to_string()))?;
        self.game = self.game_from(Fen { position, halfmove_clock: self.game.halfmove_clock() });
        Ok(())
    }

    /// A board of a class, which is `Board` or a subclass.
    fn of_class<'py>(class: &Bound<'py, PyType>, game: Game) -> PyResult<Bound<'py, PyBoard>> {
        let py = class.py();
        if class.is(py.get_type::<PyBoard>()) {
            return Bound::new(py, PyBoard::of(game));
        }
        // The constructor of the subclass may need other arguments.
        let board = py.get_type::<PyBoard>().call_method1("__new__", (class,))?.cast_into::<PyBoard>()?;
        board.try_borrow_mut()?.game = game;
        Ok(board)
    }

    /// A board of the same class, without the attributes of a subclass.
    fn like<'py>(slf: &Bound<'py, PyBoard>, game: Game) -> PyResult<Bound<'py, PyBoard>> {
        PyBoard::of_class(&slf.get_type(), game)
    }

    /// A board of the same class with another position, without its history.
    fn transformed<'py>(
        slf: &Bound<'py, PyBoard>,
        change: impl FnOnce(&Position) -> Position,
    ) -> PyResult<Bound<'py, PyBoard>> {
        let game = {
            let board = slf.try_borrow()?;
            board.game_from(change(board.position()))
        };
        PyBoard::like(slf, game)
    }

    /// A board of the same class, with the attributes of a subclass passed through `copied`.
    fn copy_with<'py>(
        slf: &Bound<'py, PyBoard>,
        game: Game,
        copied: impl FnOnce(Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBoard>> {
        let board = PyBoard::like(slf, game)?;
        if let Some(attributes) = slf.getattr_opt("__dict__")? {
            board.getattr("__dict__")?.call_method1("update", (copied(attributes)?,))?;
        }
        Ok(board)
    }
}

#[pymethods]
impl PyBoard {
    #[new]
    #[pyo3(
        signature = (*_arguments, **_keywords),
        text_signature = "(fen=None, *, rules='paper', no_capture_limit=100)"
    )]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> PyResult<PyBoard> {
        PyBoard::from_fen(None, RuleOptions::PAPER, Some(Game::NO_CAPTURE_LIMIT))
    }

    #[pyo3(signature = (fen = None, *, rules = RulesArgument::default(), no_capture_limit = Some(Game::NO_CAPTURE_LIMIT)))]
    fn __init__(
        &mut self,
        fen: Option<&str>,
        rules: RulesArgument,
        #[pyo3(from_py_with = whole)] no_capture_limit: Option<u32>,
    ) -> PyResult<()> {
        self.game = PyBoard::from_fen(fen, rules.0, no_capture_limit)?.game;
        Ok(())
    }

    /// The side to move: True for White.
    #[getter]
    fn turn(&self) -> bool {
        self.position().turn() == Color::White
    }

    /// The side to move: True for White. Setting it forgets the moves.
    #[setter]
    fn set_turn(&mut self, turn: bool) -> PyResult<()> {
        self.edit(|setup| setup.turn = color(turn))
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

    /// The 64-bit Zobrist key of the position and the side to move, as `VecEnv` compares positions.
    fn key(&self) -> u64 {
        self.position().key()
    }

    /// Begins a game from a FEN under the same rules. Raises FenError.
    fn set_fen(&mut self, fen: &str) -> PyResult<()> {
        let start: Fen = fen.parse().map_err(errors::fen)?;
        self.game = self.game_from(start);
        Ok(())
    }

    /// Begins a game from the initial position under the same rules.
    fn reset(&mut self) {
        self.game = self.game_from(START.clone());
    }

    /// Forgets the moves and keeps the position with its halfmove clock.
    fn clear_stack(&mut self) {
        self.game = self.game_from(self.game.fen());
    }

    /// Puts a piece on a square; None removes the piece there. The moves are forgotten, the halfmove clock stays. Raises
    /// FenError and changes nothing if the position is not valid.
    #[pyo3(signature = (square, piece))]
    fn set_piece_at(&mut self, #[pyo3(from_py_with = whole)] square: i64, piece: Option<PyPiece>) -> PyResult<()> {
        let square = self::square(square)?;
        self.edit(|setup| setup.squares[square.index()] = piece.map(|piece| piece.piece))
    }

    /// Removes the piece on a square and returns it, or None. As `set_piece_at`.
    fn remove_piece_at(&mut self, #[pyo3(from_py_with = whole)] square: i64) -> PyResult<Option<PyPiece>> {
        let piece = self.piece_at(square)?;
        self.set_piece_at(square, None)?;
        Ok(piece)
    }

    /// Replaces all pieces by those of a dictionary from squares to pieces. As `set_piece_at`.
    fn set_piece_map(&mut self, pieces: BTreeMap<i64, PyPiece>) -> PyResult<()> {
        let mut squares = [None; Square::COUNT];
        for (square, piece) in pieces {
            squares[self::square(square)?.index()] = Some(piece.piece);
        }
        self.edit(|setup| setup.squares = squares)
    }

    /// The legal moves, in the order of the move generator; none once the game is over.
    #[getter]
    fn legal_moves(&self) -> Vec<PyMove> {
        self.game.legal_moves().iter().map(|&mv| PyMove::of(mv)).collect()
    }

    /// The legal moves that capture a piece.
    #[getter]
    fn legal_captures(&self) -> Vec<PyMove> {
        let moves = self.game.legal_moves();
        moves.iter().filter(|mv| mv.is_capture(self.position())).map(|&mv| PyMove::of(mv)).collect()
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
        match self.game.end() {
            _ if self.is_legal(mv) => Ok(mv),
            Some(_) => Err(IllegalMoveError::new_err("the game is over")),
            None => Err(IllegalMoveError::new_err(format!("{uci} is not legal here"))),
        }
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
        Conclusion::new(self.game.end(), None, None).result()
    }

    /// How often the current position has occurred, this time included.
    fn occurrences(&self) -> usize {
        self.game.occurrences()
    }

    /// Whether the current position has occurred at least `count` times, this time included.
    #[pyo3(signature = (count = 3))]
    fn is_repetition(&self, #[pyo3(from_py_with = whole)] count: usize) -> bool {
        self.game.occurrences() >= count
    }

    /// The squares of the pieces of a colour that can move to a square, or capture there, when it is that side's turn.
    fn attackers(&self, color: bool, #[pyo3(from_py_with = whole)] square: i64) -> PyResult<Vec<usize>> {
        let (to, position) = (self::square(square)?, self.position_with_turn(self::color(color)));
        let moves = position.moves(self.game.rules());
        let mut squares: Vec<usize> = moves.iter().filter(|mv| mv.to == to).map(|mv| mv.from.index()).collect();
        squares.sort_unstable();
        Ok(squares)
    }

    /// Whether a piece of a colour can move to a square, or capture there, when it is that side's turn.
    fn is_attacked_by(&self, color: bool, #[pyo3(from_py_with = whole)] square: i64) -> PyResult<bool> {
        Ok(!self.attackers(color, square)?.is_empty())
    }

    /// The squares that the piece on a square can move to when it is its side's turn; none without a piece.
    fn attacks(&self, #[pyo3(from_py_with = whole)] square: i64) -> PyResult<Vec<usize>> {
        let from = self::square(square)?;
        let Some(piece) = self.position().piece_at(from) else { return Ok(Vec::new()) };
        let moves = self.position_with_turn(piece.color).moves(self.game.rules());
        let mut squares: Vec<usize> = moves.iter().filter(|mv| mv.from == from).map(|mv| mv.to.index()).collect();
        squares.sort_unstable();
        Ok(squares)
    }

    /// The square of an animal, 0 (rat) to 7 (elephant), of a colour; None if it is not on the board.
    fn square_of(&self, #[pyo3(from_py_with = whole)] animal: i64, color: bool) -> PyResult<Option<usize>> {
        let animal = crate::squares::animal(animal)?;
        Ok(self.position().square_of(self::color(color), animal).map(Square::index))
    }

    /// The piece on a square, or None.
    fn piece_at(&self, #[pyo3(from_py_with = whole)] square: i64) -> PyResult<Option<PyPiece>> {
        Ok(self.position().piece_at(self::square(square)?).map(PyPiece::of))
    }

    /// The animal on a square, 0 (rat) to 7 (elephant), or None.
    fn piece_type_at(&self, #[pyo3(from_py_with = whole)] square: i64) -> PyResult<Option<usize>> {
        Ok(self.position().piece_at(self::square(square)?).map(|piece| piece.animal.index()))
    }

    /// The colour of the piece on a square, or None.
    fn color_at(&self, #[pyo3(from_py_with = whole)] square: i64) -> PyResult<Option<bool>> {
        Ok(self.position().piece_at(self::square(square)?).map(|piece| piece.color == Color::White))
    }

    /// The pieces by square.
    fn piece_map(&self) -> BTreeMap<usize, PyPiece> {
        self.position().pieces().map(|(piece, square)| (square.index(), PyPiece::of(piece))).collect()
    }

    /// The position with the ranks reversed and the colours exchanged, without its history: the same for the other side.
    fn mirror<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBoard>> {
        PyBoard::transformed(slf, |position| position.swap_colors().mirror())
    }

    /// The position reflected in file d, without its history.
    fn reflect<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBoard>> {
        PyBoard::transformed(slf, Position::mirror)
    }

    /// The position with the board rotated and the colours exchanged, without its history: as the other side sees it.
    fn swap_colors<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBoard>> {
        PyBoard::transformed(slf, Position::swap_colors)
    }

    /// The position with a side to move, without its history.
    fn with_turn<'py>(slf: &Bound<'py, Self>, turn: bool) -> PyResult<Bound<'py, PyBoard>> {
        PyBoard::transformed(
            slf,
            |position| if position.turn() == color(turn) { position.clone() } else { position.pass() },
        )
    }

    /// The first position of the game, with its halfmove clock.
    fn root<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBoard>> {
        let game = {
            let board = slf.try_borrow()?;
            board.game_from(board.game.start_fen())
        };
        PyBoard::like(slf, game)
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
    fn move_of_action(&self, #[pyo3(from_py_with = whole)] action: i64) -> PyResult<PyMove> {
        let index = usize::try_from(action).ok().filter(|&index| index < actions::ACTIONS);
        let index = index.ok_or_else(|| PyValueError::new_err(format!("an action is 0 to 31, not {action}")))?;
        actions::to_move(self.position(), index)
            .filter(|mv| self.game.legal_moves().contains(mv))
            .map(PyMove::of)
            .ok_or_else(|| IllegalMoveError::new_err(format!("action {action} is not legal here")))
    }

    /// Makes the move of an action and returns it.
    fn push_action(&mut self, #[pyo3(from_py_with = whole)] action: i64) -> PyResult<PyMove> {
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

    /// A copy with its own history; without the moves if `stack` is False.
    #[pyo3(signature = (*, stack = true))]
    fn copy<'py>(slf: &Bound<'py, Self>, stack: bool) -> PyResult<Bound<'py, PyBoard>> {
        let game = {
            let board = slf.try_borrow()?;
            if stack { board.game.clone() } else { board.game_from(board.game.fen()) }
        };
        PyBoard::copy_with(slf, game, Ok)
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBoard>> {
        PyBoard::copy(slf, true)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBoard>> {
        let game = slf.try_borrow()?.game.clone();
        let deep = |attributes| slf.py().import("copy")?.call_method1("deepcopy", (attributes, memo));
        PyBoard::copy_with(slf, game, deep)
    }

    fn __eq__(&self, other: &PyBoard) -> bool {
        self.game.fen() == other.game.fen()
            && self.game.rules().options() == other.game.rules().options()
            && self.game.no_capture_limit() == other.game.no_capture_limit()
    }

    fn __str__(&self) -> String {
        self.position().to_picture()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (class, board) = (slf.get_type(), slf.try_borrow()?);
        let (rules, limit) = (board.game.rules().options(), board.game.no_capture_limit());
        let mut text = format!("{}('{}'", class.name()?, board.fen());
        if *rules != RuleOptions::PAPER {
            let rules = rules.preset_name().map_or_else(|| rules.to_string(), str::to_owned);
            text.push_str(&format!(", rules='{rules}'"));
        }
        if limit != Some(Game::NO_CAPTURE_LIMIT) {
            let limit = limit.map_or_else(|| "None".to_owned(), |limit| limit.to_string());
            text.push_str(&format!(", no_capture_limit={limit}"));
        }
        Ok(text + ")")
    }

    /// The board as an SVG picture.
    ///
    /// `orientation` is the side below, `lastmove` a move whose squares are coloured. `arrows` are moves or tuples of two
    /// squares and perhaps a CSS colour; two equal squares are a ring. `fill` lays CSS colours over squares, and `size` is
    /// the height in pixels.
    #[pyo3(
        signature = (*, orientation = true, lastmove = None, arrows = Vec::new(), fill = BTreeMap::new(), size = None),
        text_signature = "($self, *, orientation=True, lastmove=None, arrows=(), fill={}, size=None)"
    )]
    fn svg(
        &self,
        orientation: bool,
        lastmove: Option<PyMove>,
        arrows: Vec<ArrowArgument>,
        fill: BTreeMap<i64, String>,
        #[pyo3(from_py_with = whole)] size: Option<i64>,
    ) -> PyResult<String> {
        let mut fills = Vec::new();
        if let Some(last) = lastmove {
            fills.extend([last.squares.from, last.squares.to].map(|square| (square, picture::LAST_MOVE.to_owned())));
        }
        for (square, name) in fill {
            fills.push((self::square(square)?, picture::color(name)?));
        }
        let arrows = arrows.into_iter().map(ArrowArgument::squares).collect::<PyResult<_>>()?;
        let picture = BoardPicture { is_rotated: !orientation, size: picture::size(size)?, fills, arrows };
        Ok(picture.draw(self.position()))
    }

    /// The board with the last move as an SVG picture, which notebooks show.
    fn _repr_svg_(&self) -> PyResult<String> {
        let last = self.game.moves().last().map(|&mv| PyMove::of(mv));
        self.svg(true, last, Vec::new(), BTreeMap::new(), None)
    }

    /// For pickle: the first position, the rules, the limit and the moves, and the attributes of a subclass.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Played, Option<Bound<'py, PyAny>>)> {
        let attributes = slf.getattr_opt("__dict__")?;
        let game = &slf.try_borrow()?.game;
        let moves = game.moves().iter().map(ToString::to_string).collect();
        let played = (game.start_fen().to_string(), game.rules().options().to_string(), game.no_capture_limit(), moves);
        Ok((slf.get_type().getattr("_restore")?, played, attributes))
    }

    /// For pickle.
    #[classmethod]
    fn _restore<'py>(
        class: &Bound<'py, PyType>,
        fen: &str,
        rules: RulesArgument,
        limit: Option<u32>,
        moves: Vec<String>,
    ) -> PyResult<Bound<'py, PyBoard>> {
        PyBoard::of_class(class, PyBoard::played(fen, rules.0, limit, &moves)?)
    }
}

/// The first position, the rules, the no-capture limit and the moves of a game.
type Played = (String, String, Option<u32>, Vec<String>);
