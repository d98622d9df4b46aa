# The signatures of the extension module. `help(doushouqi)` prints the documentation of each object.

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import disjoint_base

from .uci import UciEngine

__version__: str

_Path: TypeAlias = str | PathLike[str]
_Termination: TypeAlias = Literal["den", "captured", "no_move", "repetition", "no_capture", "move_limit", "loop"]
_Result: TypeAlias = Literal["1-0", "0-1", "1/2-1/2", "*"]
_Positions: TypeAlias = NDArray[np.integer[Any]] | Sequence[Board | str]
_Arrow: TypeAlias = Move | tuple[int, int] | tuple[int, int, str]
_BoardT = TypeVar("_BoardT", bound=Board)

class FenError(ValueError):
    """The text is not a FEN, or its pieces are not a valid position."""

class RulesError(ValueError):
    """The text names no rules."""

class MaterialError(ValueError):
    """The text names no material."""

class InvalidMoveError(ValueError):
    """The text is a move in neither notation."""

class IllegalMoveError(ValueError):
    """The move is not legal here, or the game is over."""

class GameError(ValueError):
    """The text is not a game, or not one that can be written."""

class EngineError(Exception):
    """An engine in another process ended, did not answer, or does not speak UCI."""

class TablesError(Exception):
    """Tables are missing, damaged, closed or for other rules, or cannot be made."""

@final
class Rules:
    """The rule options. `Rules('chinese')` is a preset, `Rules('paper,shore=none')` a preset with changes; `paper`
    is the default.

    Rules are immutable and compare by their options.
    """
    def __new__(cls, text: str = "paper") -> Rules: ...
    @staticmethod
    def presets() -> list[str]:
        """The names of the presets."""
    @property
    def name(self) -> str | None:
        """The name of the preset with these options, or None."""
    @staticmethod
    def options() -> dict[str, list[str]]:
        """Every option with its values, the default first; docs/rules.md explains them."""
    # The value of an option, such as `rules.shore`.
    def __getattribute__(self, name: str, /) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str]: ...

@final
class Piece:
    """A piece: an animal, 0 (rat) to 7 (elephant), and a colour, True for White."""
    def __new__(cls, animal: int, color: bool) -> Piece: ...
    @staticmethod
    def from_symbol(symbol: str) -> Piece:
        """The piece of a FEN letter: a capital for White."""
    @property
    def animal(self) -> int:
        """The animal: an index of `ANIMALS`, 0 (rat) to 7 (elephant)."""
    @property
    def color(self) -> bool:
        """True for White."""
    def symbol(self) -> str:
        """The FEN letter."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[int, bool]: ...

@final
class Move:
    """A move from a square to a square."""
    def __new__(cls, from_square: int, to_square: int) -> Move: ...
    @staticmethod
    def from_uci(uci: str) -> Move:
        """The move of a text such as 'a3b3'. Raises InvalidMoveError."""
    @property
    def from_square(self) -> int:
        """The square that the piece leaves."""
    @property
    def to_square(self) -> int:
        """The square that the piece enters."""
    def uci(self) -> str:
        """The move as two squares, such as 'a3b3'."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[int, int]: ...

@final
class Outcome:
    """How a game ended."""
    @property
    def termination(self) -> _Termination:
        """'den', 'captured' (the last enemy piece), 'no_move' (stalemate), 'repetition', 'no_capture' (the no-capture
        limit), 'move_limit' or 'loop' (a rule against loops).
        """
    @property
    def winner(self) -> bool | None:
        """True if White won, False if Black won, None for a draw."""
    def result(self) -> _Result:
        """'1-0', '0-1' or '1/2-1/2'."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def _restore(termination: str, winner: bool | None) -> Outcome: ...

@disjoint_base
class Board:
    """A game: a position with its history, the rules and the no-capture limit, modelled on python-chess.

    `fen` is the initial position by default. The game is drawn after `no_capture_limit` plies without a capture;
    None is no limit. Boards are equal if positions, halfmove clocks, rules and limits are; earlier positions do
    not count. A board cannot be hashed: use `key()` or `fen()`. The class may be subclassed: `copy`, `root` and
    the like return boards of the subclass.
    """
    def __new__(
        cls: type[_BoardT], fen: str | None = None, *, rules: Rules | str = "paper", no_capture_limit: int | None = 100
    ) -> _BoardT: ...
    def __init__(
        self, fen: str | None = None, *, rules: Rules | str = ..., no_capture_limit: int | None = ...
    ) -> None: ...
    @property
    def turn(self) -> bool:
        """The side to move: True for White."""
    @turn.setter
    def turn(self, turn: bool) -> None: ...
    @property
    def rules(self) -> Rules:
        """The rules of the game."""
    @property
    def no_capture_limit(self) -> int | None:
        """The plies without a capture after which the game is drawn, or None."""
    @property
    def halfmove_clock(self) -> int:
        """The plies since the last capture."""
    @property
    def material(self) -> str | None:
        """The material, such as 'EPvLR'; None if a side has no piece."""
    @property
    def legal_moves(self) -> list[Move]:
        """The legal moves, in the order of the move generator; none once the game is over."""
    @property
    def legal_captures(self) -> list[Move]:
        """The legal moves that capture a piece."""
    @property
    def move_stack(self) -> list[Move]:
        """The moves made so far."""
    def ply(self) -> int:
        """The number of moves made."""
    def fen(self) -> str:
        """The FEN, with the halfmove clock if it is not 0."""
    def key(self) -> int:
        """The 64-bit Zobrist key of the position and the side to move, as `VecEnv` compares positions."""
    def set_fen(self, fen: str) -> None:
        """Begins a game from a FEN under the same rules. Raises FenError."""
    def reset(self) -> None:
        """Begins a game from the initial position under the same rules."""
    def clear_stack(self) -> None:
        """Forgets the moves and keeps the position with its halfmove clock."""
    def set_piece_at(self, square: int, piece: Piece | None) -> None:
        """Puts a piece on a square; None removes the piece there. The moves are forgotten, the halfmove clock stays.
        Raises FenError and changes nothing if the position is not valid.
        """
    def remove_piece_at(self, square: int) -> Piece | None:
        """Removes the piece on a square and returns it, or None. As `set_piece_at`."""
    def set_piece_map(self, pieces: Mapping[int, Piece]) -> None:
        """Replaces all pieces by those of a dictionary from squares to pieces. As `set_piece_at`."""
    def is_legal(self, move: Move) -> bool:
        """Whether a move is legal."""
    def is_capture(self, move: Move) -> bool:
        """Whether a move enters a square with an enemy piece."""
    def push(self, move: Move) -> None:
        """Makes a move. Raises IllegalMoveError and changes nothing if it is not legal."""
    def push_san(self, san: str) -> Move:
        """Makes a move given in either notation, 'Eb3' or 'a3b3', and returns it."""
    def push_uci(self, uci: str) -> Move:
        """Makes a move given as two squares and returns it."""
    def pop(self) -> Move:
        """Takes the last move back and returns it. Raises IndexError if there is none."""
    def peek(self) -> Move:
        """The last move. Raises IndexError if there is none."""
    def san(self, move: Move) -> str:
        """The papers' notation of a legal move, such as 'Eb3' or 'Txb1'."""
    def parse_san(self, san: str) -> Move:
        """The legal move of a text in either notation. Raises InvalidMoveError or IllegalMoveError."""
    def parse_uci(self, uci: str) -> Move:
        """The legal move of two squares. Raises InvalidMoveError or IllegalMoveError."""
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it goes on."""
    def is_game_over(self) -> bool:
        """Whether the game is over."""
    def result(self) -> _Result:
        """'1-0', '0-1', '1/2-1/2', or '*' while the game goes on."""
    def occurrences(self) -> int:
        """How often the current position has occurred, this time included."""
    def is_repetition(self, count: int = 3) -> bool:
        """Whether the current position has occurred at least `count` times, this time included."""
    def attackers(self, color: bool, square: int) -> list[int]:
        """The squares of the pieces of a colour that can move to a square, or capture there, when it is that side's
        turn.
        """
    def is_attacked_by(self, color: bool, square: int) -> bool:
        """Whether a piece of a colour can move to a square, or capture there, when it is that side's turn."""
    def attacks(self, square: int) -> list[int]:
        """The squares that the piece on a square can move to when it is its side's turn; none without a piece."""
    def square_of(self, animal: int, color: bool) -> int | None:
        """The square of an animal, 0 (rat) to 7 (elephant), of a colour; None if it is not on the board."""
    def piece_at(self, square: int) -> Piece | None:
        """The piece on a square, or None."""
    def piece_type_at(self, square: int) -> int | None:
        """The animal on a square, 0 (rat) to 7 (elephant), or None."""
    def color_at(self, square: int) -> bool | None:
        """The colour of the piece on a square, or None."""
    def piece_map(self) -> dict[int, Piece]:
        """The pieces by square."""
    def mirror(self: _BoardT) -> _BoardT:
        """The position with the ranks reversed and the colours exchanged, without its history: the same for the
        other side.
        """
    def reflect(self: _BoardT) -> _BoardT:
        """The position reflected in file d, without its history."""
    def swap_colors(self: _BoardT) -> _BoardT:
        """The position with the board rotated and the colours exchanged, without its history: as the other side sees
        it.
        """
    def with_turn(self: _BoardT, turn: bool) -> _BoardT:
        """The position with a side to move, without its history."""
    def root(self: _BoardT) -> _BoardT:
        """The first position of the game, with its halfmove clock."""
    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order."""
    def action(self, move: Move) -> int:
        """The action of a legal move: `4 * animal + direction`, forward 0, backward 1, left 2, right 3 for the
        mover.
        """
    def move_of_action(self, action: int) -> Move:
        """The legal move of an action. Raises IllegalMoveError."""
    def push_action(self, action: int) -> Move:
        """Makes the move of an action and returns it."""
    def observation(self) -> NDArray[np.int8]:
        """The position as int8 planes of shape (16, 9, 7): plane, rank, file.

        Planes 0 to 7 are the animals of the side to move, weakest first, 8 to 15 those of the opponent. Rank 0 is
        nearest to the side to move: for Black the board is rotated by 180 degrees.
        """
    def action_mask(self) -> NDArray[np.bool_]:
        """The legal actions as an array of 32 booleans."""
    def packed(self) -> NDArray[np.int8]:
        """The position as a row of `pack`."""
    def copy(self: _BoardT, *, stack: bool = True) -> _BoardT:
        """A copy with its own history; without the moves if `stack` is False."""
    def __copy__(self: _BoardT) -> _BoardT: ...
    def __deepcopy__(self: _BoardT, memo: object) -> _BoardT: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def svg(
        self,
        *,
        orientation: bool = True,
        lastmove: Move | None = None,
        arrows: Sequence[_Arrow] = (),
        fill: Mapping[int, str] = {},
        size: int | None = None,
    ) -> str:
        """The board as an SVG picture.

        `orientation` is the side below, `lastmove` a move whose squares are coloured. `arrows` are moves or
        tuples of two squares and perhaps a CSS colour; two equal squares are a ring. `fill` lays CSS colours over
        squares, and `size` is the height in pixels.
        """
    def _repr_svg_(self) -> str: ...
    @classmethod
    def _restore(
        cls: type[_BoardT], fen: str, rules: Rules | str, limit: int | None, moves: Sequence[str]
    ) -> _BoardT: ...

@final
class Limit:
    """The limits of a search, which stops at the first of them.

    `time` in seconds, `depth` in plies and `nodes` are for this move, `mate` is a number of moves in which a win
    is looked for. `white_clock` and `black_clock` are the seconds left on the clocks, `white_inc` and `black_inc`
    the seconds added after each move, `remaining_moves` the moves to the next time control. At least one limit is
    needed, and a clock for an increment.
    """
    def __new__(
        cls,
        time: float | None = None,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        mate: int | None = None,
        white_clock: float | None = None,
        black_clock: float | None = None,
        white_inc: float | None = None,
        black_inc: float | None = None,
        remaining_moves: int | None = None,
    ) -> Limit: ...
    @property
    def time(self) -> float | None:
        """Seconds for the search, or None."""
    @property
    def depth(self) -> int | None:
        """Plies of the last iteration, or None."""
    @property
    def nodes(self) -> int | None:
        """Nodes of all threads together, or None."""
    @property
    def mate(self) -> int | None:
        """Moves in which a win is looked for, or None."""
    @property
    def white_clock(self) -> float | None:
        """Seconds on White's clock, or None."""
    @property
    def black_clock(self) -> float | None:
        """Seconds on Black's clock, or None."""
    @property
    def white_inc(self) -> float | None:
        """Seconds added to White's clock after each move, or None."""
    @property
    def black_inc(self) -> float | None:
        """Seconds added to Black's clock after each move, or None."""
    @property
    def remaining_moves(self) -> int | None:
        """Moves to the next time control, or None."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Info:
    """The result of a search: one line of best play."""
    @property
    def pv(self) -> list[Move]:
        """The line; its first move is the best."""
    @property
    def score(self) -> int:
        """The score for the side to move: cp, where 100 cp are the value of a cat; beyond 880,000 a certain win,
        below -880,000 a certain loss.
        """
    @property
    def score_text(self) -> str:
        """The score in UCI's words, such as 'cp 13' or 'mate 3'."""
    @property
    def win_in(self) -> int | None:
        """Plies to a certain win, or None."""
    @property
    def loss_in(self) -> int | None:
        """Plies to a certain loss, or None."""
    @property
    def depth(self) -> int:
        """Plies searched in full."""
    @property
    def seldepth(self) -> int:
        """Plies of the longest line searched."""
    @property
    def multipv(self) -> int:
        """The rank of the line among the best lines, from 1."""
    @property
    def nodes(self) -> int:
        """Positions searched."""
    @property
    def time(self) -> float:
        """Seconds since the search began."""
    @property
    def tbhits(self) -> int:
        """Positions looked up in endgame tables."""
    @property
    def hashfull(self) -> int:
        """The entries of the transposition table in use, in permille."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    @staticmethod
    def _restore(fields: tuple[Any, ...]) -> Info: ...

@final
class Analysis:
    """A search that runs while its lines are read, made by `Engine.analysis`: an iterator of `Info`, also for `async
    for`, and a context manager.

    The search ends at its limit, by `stop`, at the end of the `with` block, or when nothing refers to it any
    more.
    """
    @property
    def info(self) -> Info | None:
        """The latest best line, or None."""
    @property
    def multipv(self) -> list[Info]:
        """The latest line of each rank, the best first."""
    @property
    def is_over(self) -> bool:
        """Whether the search is over."""
    def stop(self) -> None:
        """Ends the search, from any thread; it does not wait. The next call of the engine does."""
    def wait(self, timeout: float | None = None) -> list[Info]:
        """Waits until the search is over, and returns the best lines, the best first. Raises TimeoutError after
        `timeout` seconds; the search goes on.
        """
    def __iter__(self) -> Iterator[Info]: ...
    def __next__(self) -> Info: ...
    def __aiter__(self) -> AsyncIterator[Info]: ...
    def __enter__(self) -> Analysis: ...
    def __exit__(self, *arguments: object) -> None: ...

@final
class Engine:
    """The engine. It keeps its transposition table from one search to the next, and makes one search at a time:
    while one runs that was not told to stop, a second one raises RuntimeError, whichever thread asks for it. A
    search that was told to stop, or that ponders, ends first. A context manager.

    `tables` are a directory of endgame tables for `rules`, or a number of pieces (2 to 4) whose tables are solved
    in memory. Boards under other rules then raise TablesError. A copy has the same options and an empty
    transposition table. `Engine.popen` starts an engine in another process that speaks UCI.
    """
    def __new__(
        cls,
        *,
        hash_mib: int = 16,
        threads: int = 1,
        evaluation: str = "default",
        tables: _Path | int | None = None,
        rules: Rules | str = "paper",
    ) -> Engine: ...
    @staticmethod
    def popen(
        command: str | Sequence[str], *, options: Mapping[str, Any] | None = None, timeout: float = 60.0
    ) -> UciEngine:
        """Starts an engine that speaks UCI, and returns a `doushouqi.uci.UciEngine`, which has the methods of this
        class.

        `command` is a command line or a list of its words, `options` are set at once, and `timeout` limits the
        seconds that the engine may take to answer outside of a search. Raises EngineError.
        """
    def play(
        self, board: Board, limit: Limit, *, ponder: bool = False, root_moves: Sequence[Move] | None = None
    ) -> Move | None:
        """The best move found within the limit; None if the game is over. `root_moves` restricts the choice.

        With `ponder` the engine goes on in the background with the answer that it expects, until its next call.
        """
    def analyse(
        self, board: Board, limit: Limit, *, multipv: int = 1, root_moves: Sequence[Move] | None = None
    ) -> list[Info]:
        """The best lines found within the limit, the best first; `root_moves` restricts the first move. Raises
        IllegalMoveError if one of them is not legal.
        """
    def analysis(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        multipv: int = 1,
        root_moves: Sequence[Move] | None = None,
    ) -> Analysis:
        """Begins a search in the background and returns an `Analysis`, whose lines are read while it runs. Without a
        limit it runs until it is stopped.
        """
    def new_game(self) -> None:
        """Clears everything learned, for another game."""
    def stop(self) -> None:
        """Ends the search that another thread has begun; it returns the best lines found so far."""
    def quit(self) -> None:
        """Ends the search, and does not wait. An engine in another process also ends."""
    def __enter__(self) -> Engine: ...
    def __exit__(self, *arguments: object) -> None: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Value:
    """The value of a position for the side to move, or of a move for the side that makes it.

    Values are ordered: a win in fewer plies is greater, then draws, and a loss in more plies is greater than one
    in fewer.
    """
    @property
    def wdl(self) -> int:
        """1 for a win, 0 for a draw, -1 for a loss."""
    @property
    def dtw(self) -> int | None:
        """The distance to the end in plies; None for a draw."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Value, /) -> bool: ...
    def __le__(self, other: Value, /) -> bool: ...
    def __gt__(self, other: Value, /) -> bool: ...
    def __ge__(self, other: Value, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def _restore(wdl: int, dtw: int | None) -> Value: ...

@final
class Stats:
    """The counts of a material for one side to move."""
    @property
    def positions(self) -> int:
        """The number of positions."""
    @property
    def wins(self) -> int:
        """Positions that the side to move wins."""
    @property
    def losses(self) -> int:
        """Positions that the side to move loses."""
    @property
    def draws(self) -> int:
        """Positions that neither side can win."""
    @property
    def no_move(self) -> int:
        """Positions without a legal move, which are in none of the other counts."""
    @property
    def longest(self) -> int:
        """The longest win or loss in plies."""
    @property
    def by_plies(self) -> list[int]:
        """Decided positions by the distance in plies: wins at odd distances, losses at even ones."""
    @staticmethod
    def _restore(no_move: int, draws: int, by_plies: Sequence[int]) -> Stats: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Tables:
    """Exact values of endgames, from a directory (`open_tables`) or from memory (`solve`). A context manager.

    A FEN is looked up under the rules of the tables. A `Board` under other rules raises TablesError. A pickle
    contains no values: it opens the directory or solves the material again.
    """
    @property
    def rules(self) -> Rules:
        """The rules of the values."""
    @property
    def pieces(self) -> int:
        """The most pieces of a material whose values are available."""
    def materials(self, pieces: int) -> list[str]:
        """The materials of `pieces` pieces whose values are available."""
    def probe(self, board: Board | str) -> Value | None:
        """The value of a position; None if the tables do not cover it.

        With `on_demand` a position with one piece more is searched, and its material is counted if that does not
        suffice.
        """
    def probe_many(self, positions: _Positions) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
        """The values of many positions: `wdl` (int8) and `dtw` (int16).

        `wdl` is 1 for a win of the side to move, 0 for a draw, -1 for a loss and -2 if the tables do not cover
        the position. `dtw` is the distance in plies, -1 where there is none. The positions are an int8 array as
        `pack` makes it, or a sequence of boards and FENs.
        """
    def need(self, board: Board | str) -> dict[str, Any] | None:
        """The resources that counting the material of a position needs: its class and bytes of memory and disk. None
        if counting is not necessary or not possible.
        """
    def count(self, board: Board | str, progress: Callable[[str, float], object] | None = None) -> None:
        """Counts the material of a position, unless the tables or the cache contain it.

        `progress` is called now and then with the phase and the completed share, 0 to 1. An exception that it
        raises ends the count.
        """
    def moves(self, board: Board | str) -> list[tuple[Move, Value]] | None:
        """Every legal move with its value for the side that makes it, best first; None if the tables do not cover
        them.
        """
    def line(self, board: Board | str) -> list[Move] | None:
        """Best play to the end; empty for a draw, None if the tables do not cover the position."""
    def stats(self, material: str, turn: bool = True) -> Stats:
        """The counts of a material, White to move unless `turn` is False."""
    def longest(self, pieces: int) -> tuple[Board, int] | None:
        """A position of `pieces` pieces with the greatest distance, and the distance; None without tables."""
    def to_numpy(self, material: str) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
        """All values of a material of up to four pieces as dense arrays `wdl` and `dtw`, as in `probe_many`.

        The shape is (2, 63, ..., 63): the side to move (0 White), then the square of each piece in the order of
        the material's spelling. `wdl` is -2 where there is no such position.
        """
    def close(self) -> None:
        """Closes the tables: every later call raises TablesError."""
    @staticmethod
    def _restore(function: str, arguments: dict[str, Any]) -> Tables: ...
    def __enter__(self) -> Tables: ...
    def __exit__(self, *arguments: object) -> None: ...

class _ValueAtClock(TypedDict):
    wdl: int
    category: Literal["win", "cursed-win", "draw", "blessed-loss", "loss"]
    dtz: int | None

@final
class LimitedTables:
    """Exact values of endgames in games that are drawn after `limit` plies without a capture, from a directory that
    `dsq generate --metric dtz` made. A context manager.

    A value is a dict: `wdl` (1 win, 0 draw, -1 loss) at the halfmove clock of the board or FEN; `category`,
    'win', 'cursed-win' (a win that the limit spoils), 'draw', 'blessed-loss' (a loss that it saves) or 'loss';
    and `dtz`, the plies to the next capture or den entry, None for a draw at every clock. Repetitions do not
    count.
    """
    @property
    def rules(self) -> Rules:
        """The rules of the values."""
    @property
    def limit(self) -> int:
        """The plies without a capture that draw the game."""
    @property
    def pieces(self) -> int:
        """The most pieces of a material whose values are available."""
    def probe(self, board: Board | str) -> _ValueAtClock | None:
        """The value of a position at its clock; None if the tables do not cover it."""
    def moves(self, board: Board | str) -> list[tuple[Move, _ValueAtClock]] | None:
        """Every legal move with its value for the side that makes it: the first keeps the result. None if the tables
        do not cover them.
        """
    def close(self) -> None:
        """Closes the tables: every later call raises TablesError."""
    @staticmethod
    def _restore(directory: str, rules: str | None) -> LimitedTables: ...
    def __enter__(self) -> LimitedTables: ...
    def __exit__(self, *arguments: object) -> None: ...

@final
class Features:
    """Features of the positions of a material with White to move: the features of van Rijn and Vis (2014), and more
    with the choice 'all'.
    """
    def __new__(cls, material: str, *, rules: Rules | str = "paper", choice: str = "all") -> Features: ...
    @property
    def material(self) -> str:
        """The material."""
    @property
    def names(self) -> list[str]:
        """The names of the features, in the order of the columns of `values`."""
    @property
    def meanings(self) -> list[str]:
        """The definition of each feature."""
    def values(self, positions: _Positions) -> NDArray[np.int8]:
        """The values of the features as an int8 array, a row for each position."""
    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]: ...
    def __len__(self) -> int: ...

@final
class DecisionTree:
    """A decision tree that predicts the winner from features."""
    @property
    def material(self) -> str:
        """The material."""
    @property
    def leaves(self) -> int:
        """The number of leaves."""
    @property
    def depth(self) -> int:
        """The most questions before an answer."""
    @property
    def positions(self) -> int:
        """The number of positions it was learned from."""
    @property
    def misclassified(self) -> int:
        """The number of these positions that the tree misclassifies."""
    @property
    def indistinct(self) -> int:
        """The least number of these positions that any tree on these features misclassifies."""
    @property
    def bits(self) -> int:
        """The size of the tree in bits."""
    @property
    def features(self) -> list[str]:
        """The names of the features."""
    def predict(self, positions: _Positions) -> NDArray[np.int8]:
        """The winner by the tree: 1 White, 0 draw, -1 Black."""
    def to_text(self) -> str:
        """The tree as indented text."""
    def to_graphviz(self) -> str:
        """The tree as a Graphviz graph."""
    def to_json(self) -> str:
        """The tree as JSON."""

@final
class States:
    """States of games of a `VecEnv`: their positions and what has happened since the last capture. They can be
    pickled, and copied to any games of any batch under the same rules.
    """
    @property
    def rules(self) -> Rules:
        """The rules of the games."""
    def board(self, index: int) -> Board:
        """A state as a board with the moves since the last capture."""
    def __len__(self) -> int: ...
    @staticmethod
    def _restore(
        rules: Rules | str, no_capture_limit: int | None, games: Sequence[tuple[str, Sequence[str]]]
    ) -> States: ...

@final
class VecEnv:
    """Many games that step together, on Rust threads. Both sides are played by the caller.

    The games begin in the position `fen`, the initial one by default, or each in a position of its own: `starts`
    are boards and FENs, or an array of packed positions, one for each game.

    Observations, masks and the other arrays are read-only views of buffers that every step overwrites: copy
    values that must last. A game that ends begins again in the same step, unless `auto_reset` is False; then its
    mask is all true and its actions have no effect. `threads` is 0 for one thread per core, shared by all
    batches.
    """
    def __new__(
        cls,
        num_envs: int,
        *,
        rules: Rules | str = "paper",
        seed: int = 0,
        fen: str | None = None,
        starts: _Positions | None = None,
        no_capture_limit: int | None = 100,
        auto_reset: bool = True,
        threads: int = 0,
    ) -> VecEnv: ...
    @property
    def num_envs(self) -> int:
        """The number of games."""
    @property
    def rules(self) -> Rules:
        """The rules of the games."""
    @property
    def observations(self) -> NDArray[np.int8]:
        """The observations: int8 of shape (num_envs, 16, 9, 7), as `Board.observation`."""
    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions: bool of shape (num_envs, 32)."""
    @property
    def side_rewards(self) -> NDArray[np.float32]:
        """The rewards of both sides in the last step: float32 of shape (num_envs, 2), White's and Black's."""
    @property
    def final_observations(self) -> NDArray[np.int8]:
        """The observation in which each game last ended, for the side to move there. It stays until the game ends
        again.
        """
    @property
    def ends(self) -> NDArray[np.int8]:
        """How each game ended in the last step: 0 not, 1 den, 2 last piece captured, 3 no legal move, 4 repetition,
        5 no-capture limit. Without `auto_reset` it stays until the game begins again, as the dones of `step` do.
        """
    @property
    def turns(self) -> NDArray[np.int8]:
        """The side to move: 0 White, 1 Black."""
    @property
    def halfmove_clocks(self) -> NDArray[np.int32]:
        """The plies since the last capture."""
    @property
    def occurrences(self) -> NDArray[np.int32]:
        """How often the current position has occurred, this time included."""
    def reset(
        self, *, seed: int | None = None, starts: _Positions | None = None, active: ArrayLike | None = None
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """Begins all games again, with the stream of `seed` and from the positions of `starts` if they are given,
        and returns observations and masks. With an array of booleans `active` only these games begin again.
        """
    def step(
        self, actions: ArrayLike, *, active: ArrayLike | None = None
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.float32], NDArray[np.bool_]]:
        """Makes a move in every game and returns observations, masks, rewards and dones.

        A reward is 1.0 if the move won the game for the side that made it, else 0.0: no move loses, and the
        opponent's reward is the negative. Raises IllegalMoveError and changes nothing if an action is not legal.
        With an array of booleans `active` the other games rest, whatever their actions.
        """
    def sample_actions(self) -> NDArray[np.int64]:
        """A random legal action for every game, from the seed; the array is overwritten by the next call."""
    def engine_actions(self, nodes: int = 1000, *, active: ArrayLike | None = None) -> NDArray[np.int64]:
        """The action that an engine chooses in every game after `nodes` nodes, with an empty transposition table:
        the same for the same game. With an array of booleans `active` the other games get the action 0.
        """
    def table_actions(self, tables: Tables, *, active: ArrayLike | None = None) -> NDArray[np.int64]:
        """A best action by endgame tables in every game, and a random one where the tables do not contain the
        position. With an array of booleans `active` the other games get the action 0.
        """
    def history_planes(self, positions: int = 8) -> NDArray[np.int8]:
        """The last positions of every game as a new int8 array of shape (num_envs, 17 * positions + 1, 9, 7).

        Planes 0 to 15 are the observation, plane 16 is 1 if the position has occurred before. The next 17 planes
        are the same for the position one ply earlier, and so on, all from the view of the side to move now;
        positions before the last capture, and before the first position, are 0. The last plane is the number of
        plies since the last capture, at most 127.
        """
    def get_states(self, indices: ArrayLike | None = None) -> States:
        """The states of games, of all of them without `indices`; a game may be named several times."""
    def set_states(self, states: States | Sequence[Board | str], indices: ArrayLike | None = None) -> None:
        """Goes on with other states: `States`, or a sequence of boards and FENs. The state of a number belongs to
        the game in `indices` at its place, or to the game of the same number. Observations, masks and the other
        arrays show them.
        """
    def board(self, index: int) -> Board:
        """A game as a board with the moves since the last capture; earlier ones have no effect."""
    def __len__(self) -> int: ...

def parse_square(name: str) -> int:
    """The number of a square, 0 (a1) to 62 (g9): `7 * rank + file`."""

def square_name(index: int) -> str:
    """The name of a square, such as 'a3'."""

def pack(boards: Sequence[Board | str]) -> NDArray[np.int8]:
    """Packs boards or FENs into an int8 array of shape (n, 17).

    Columns 0 to 7 are the squares of White's animals, weakest first, 8 to 15 those of Black's, -1 for an animal
    that is not on the board. Column 16 is the side to move: 0 White, 1 Black. Histories are not packed.
    """

def unpack(positions: _Positions, rules: Rules | str = "paper") -> list[Board]:
    """The boards of packed positions. Raises ValueError with the row that is not a valid position."""

def parse_line(text: str, format: str, *, rules: Rules | str = "paper", no_capture_limit: int | None = 100) -> Board:
    """The game on a line of another program: a position, the word `moves` and the moves, or only a position.

    `format` is 'dsq', 'mistboard', 'katago' or 'animalcraft'. Raises GameError.
    """

def format_line(board: Board, format: str, *, move_number: int = 1) -> str:
    """A game on one line, as another program writes it; `parse_line` reads it. `move_number` is the number of the
    first full move, which only some formats contain.
    """

@final
class _RecordReader:
    def __new__(cls) -> _RecordReader: ...
    def line(self, text: str) -> list[Any]: ...
    def finish(self) -> None: ...

def _format_game(text: str) -> str: ...
def perft(board: Board | str, depth: int, *, rules: Rules | str | None = None, mode: str = "expand") -> int:
    """The number of lines of `depth` plies, counted on all cores.

    The rules are those of the board; a FEN is counted under 'paper'. The mode 'leaf' counts a finished or
    repeated position as a leaf, as a minimax search does; the mode 'expand' expands equal positions once, so its
    speed is not that of move generation.
    """

def divide(
    board: Board | str, depth: int, *, rules: Rules | str | None = None, mode: str = "expand"
) -> list[tuple[Move, int]]:
    """The count after each legal move, under the rules as in `perft`."""

def random_games(
    count: int, *, seed: int = 0, rules: Rules | str = "paper", no_capture_limit: int = 100
) -> dict[str, NDArray[np.integer]]:
    """Plays random games from the initial position, one move at a time, and returns them as arrays.

    `actions` (uint8) and `masks` (uint32, a bit for each legal action) contain an entry for each ply; game i has
    the plies from `offsets[i]` to `offsets[i + 1]`. `ends` contains the end of each game, as `VecEnv.ends`,
    6 for the limit of moves and 7 for a loop; `winners` is 1 for White, -1 for Black, 0 for a draw.
    """

def random_positions(count: int, pieces: int | str, *, seed: int = 0, rules: Rules | str = "paper") -> NDArray[np.int8]:
    """Packed random positions in which the game is not over, each with the same probability: of a number of pieces,
    or of a material such as 'EPvLR'.
    """

def open_tables(
    directory: _Path,
    *,
    rules: Rules | str | None = None,
    on_demand: bool = False,
    cache: _Path | None = None,
    cache_bytes: int = 42949672960,
    memory: int | None = None,
    in_memory: int = 0,
) -> Tables:
    """Opens a directory of tables that `generate` or `dsq generate` made. Raises TablesError if it is for other
    `rules`.

    With `on_demand`, `probe`, `moves` and `line` also answer positions with one piece more, by a short search or
    by counting the material. Counted materials stay in the directory `cache` of up to `cache_bytes` bytes, which
    programs may share. A count uses up to `memory` bytes, by default the available memory.

    `in_memory` is a number of pieces: the tables of up to so many pieces are read at once and stay in memory, 40
    MB for three pieces, 2.3 GB for four. Raises MemoryError if the limit of the process is lower.
    """

def solve(material: str | int, *, rules: Rules | str = "paper") -> Tables:
    """Solves a material such as 'EvL' of up to five pieces with all materials that it leads to, or all materials of
    up to 2, 3 or 4 pieces, in memory.
    """

def open_limited(directory: _Path, *, rules: Rules | str | None = None) -> LimitedTables:
    """Opens a directory of tables that know a no-capture limit, as `dsq generate --metric dtz` makes them. Raises
    TablesError if it is for other `rules` or without a limit.
    """

def generate(directory: _Path, material: str | int, *, rules: Rules | str = "paper", limit: int | None = None) -> None:
    """Writes the tables of a material, or of all materials of up to 2, 3 or 4 pieces, into a directory. With `limit`
    they know the no-capture limit of so many plies, 1 to 1000, and are opened by `open_limited`.
    """

def materials(pieces: int) -> list[str]:
    """All materials of `pieces` pieces."""

def learn_tree(
    tables: Tables, material: str, *, features: str | None = None, max_leaves: int | None = None
) -> DecisionTree:
    """Learns a tree for a material of two or three pieces from tables in memory.

    Without `max_leaves` it is the smallest tree found with as few errors as the features allow. `features` is
    'paper', 'all' or None for the better of both.
    """
