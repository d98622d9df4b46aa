"""Games as text, modelled on chess.pgn: docs/notation.md describes the notation.

A game is a tree of positions. Its first node, a `Game`, has the headers; the first of the `variations` of each node is
the main line::

    for game in dsq.read_games("games.txt"):
        print(game.headers["White"], game.result, [str(move) for move in game.mainline_moves()])
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from os import PathLike
from typing import Any, TypeAlias

from ._core import (
    Board,
    GameError,
    Move,
    Rules,
    _format_game,
    _RecordReader,
    format_line,
    parse_line,
)

FORMATS = ("saved", "dsq", "mistboard", "katago", "animalcraft")
"""The formats of games: `saved` is the notation of docs/notation.md, the others have a game on each line."""

NAG_GOOD_MOVE = 1
"""`$1`, read and written by people as `!`."""
NAG_MISTAKE = 2
"""`$2`, `?`."""
NAG_BRILLIANT_MOVE = 3
"""`$3`, `!!`."""
NAG_BLUNDER = 4
"""`$4`, `??`."""
NAG_SPECULATIVE_MOVE = 5
"""`$5`, `!?`."""
NAG_DUBIOUS_MOVE = 6
"""`$6`, `?!`."""

_Line: TypeAlias = tuple[Sequence[Move], Sequence[set[int]], Sequence[str], Sequence[tuple[int, "_Line"]]]
_DEPTH = 64
"""The most parentheses around a move, as in docs/notation.md."""


class GameNode:
    """A node of a game: the position after a move."""

    parent: GameNode | None
    """The node before the move; None for a `Game`."""
    move: Move | None
    """The move; None for a `Game`."""
    variations: list[GameNode]
    """The nodes after each continuation; the first one is the main line."""
    nags: set[int]
    """The assessments of the move, such as `NAG_GOOD_MOVE`: numbers up to 255; a `Game` has none."""

    def __init__(self, parent: GameNode | None, move: Move | None, comment: str = "", nags: Iterable[int] = ()) -> None:
        """Make a node that is not among the variations of its parent: `add_variation` puts it there."""
        self.parent = parent
        self.move = move
        self.comment = comment
        self.nags = set(nags)
        self.variations = []

    @property
    def comment(self) -> str:
        """The comment on the move; that of a `Game` comes before its first move."""
        return self._comment

    @comment.setter
    def comment(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a comment is a str, not {type(text).__name__}")
        self._comment = text

    def game(self) -> Game:
        """Return the game of the node."""
        node = self
        while node.parent is not None:
            node = node.parent
        assert isinstance(node, Game), "the first node of a tree is a game"
        return node

    def board(self) -> Board:
        """Return the position with the moves to it. Raises IllegalMoveError if one of them is not legal."""
        moves = []
        node = self
        while node.parent is not None:
            assert node.move is not None, "a node with a parent has a move"
            moves.append(node.move)
            node = node.parent
        board = node.game().board()
        for move in reversed(moves):
            board.push(move)
        return board

    def ply(self) -> int:
        """Return the number of moves from the first position."""
        count = 0
        node = self
        while node.parent is not None:
            count += 1
            node = node.parent
        return count

    def san(self) -> str:
        """Return the move in letters, such as 'Eb3'. Raises ValueError for a `Game`."""
        if self.parent is None or self.move is None:
            raise ValueError("the first position of a game has no move")
        return self.parent.board().san(self.move)

    def uci(self) -> str:
        """Return the move as two squares, such as 'a3b3'. Raises ValueError for a `Game`."""
        if self.move is None:
            raise ValueError("the first position of a game has no move")
        return self.move.uci()

    def next(self) -> GameNode | None:
        """Return the next node of the main line, or None."""
        return self.variations[0] if self.variations else None

    def end(self) -> GameNode:
        """Return the last node of the main line from here."""
        node = self
        while node.variations:
            node = node.variations[0]
        return node

    def is_end(self) -> bool:
        """Return whether no move follows."""
        return not self.variations

    def mainline(self) -> Iterator[GameNode]:
        """Iterate over the nodes of the main line after this one."""
        node = self
        while node.variations:
            node = node.variations[0]
            yield node

    def mainline_moves(self) -> list[Move]:
        """Return the moves of the main line from here."""
        return [node.move for node in self.mainline() if node.move is not None]

    def nodes(self) -> Iterator[GameNode]:
        """Iterate over this node and all nodes below it, the main line before its variations."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.variations))

    def is_mainline(self) -> bool:
        """Return whether the node belongs to the main line of its game."""
        node = self
        while node.parent is not None:
            if not node.is_main_variation():
                return False
            node = node.parent
        return True

    def is_main_variation(self) -> bool:
        """Return whether the node is the first continuation of its parent."""
        return self.parent is None or self.parent.variations[:1] == [self]

    def starts_variation(self) -> bool:
        """Return whether the node is another continuation of its parent than the first one."""
        return self.parent is not None and not self.is_main_variation()

    def variation(self, move: int | Move | GameNode) -> GameNode:
        """Return the continuation with a move or a number. Raises KeyError."""
        for i, node in enumerate(self.variations):
            if move in (i, node.move) or move is node:
                return node
        raise KeyError(move)

    def __getitem__(self, move: int | Move | GameNode) -> GameNode:
        return self.variation(move)

    def __contains__(self, move: object) -> bool:
        return self.has_variation(move)

    def has_variation(self, move: object) -> bool:
        """Return whether there is a continuation with a move."""
        return any(move is node or move == node.move for node in self.variations)

    def add_variation(self, move: Move, *, comment: str = "", nags: Iterable[int] = ()) -> GameNode:
        """Add a continuation after the others, and return its node. Its legality is checked by `board` and `export`."""
        if not isinstance(move, Move):
            raise TypeError(f"a continuation is a Move, not {type(move).__name__}")
        node = GameNode(self, move, comment, nags)
        self.variations.append(node)
        return node

    def add_main_variation(self, move: Move, *, comment: str = "", nags: Iterable[int] = ()) -> GameNode:
        """Add a continuation as the main line, and return its node."""
        node = self.add_variation(move, comment=comment, nags=nags)
        node.promote_to_main()
        return node

    def add_line(self, moves: Iterable[Move], *, comment: str = "", nags: Iterable[int] = ()) -> GameNode:
        """Add a continuation of several moves, and return its last node, which gets the comment and the assessments."""
        node = self
        for move in moves:
            node = node.add_variation(move)
        if node is not self:
            node.comment = comment
            node.nags = set(nags)
        return node

    def remove_variation(self, move: int | Move | GameNode) -> None:
        """Remove a continuation. Raises KeyError."""
        self.variations.remove(self.variation(move))

    def _siblings(self) -> list[GameNode]:
        if self.parent is None:
            raise ValueError("the first position of a game is no continuation")
        return self.parent.variations

    def promote(self, move: int | Move | GameNode | None = None) -> None:
        """Move the node, or its continuation with a move, up by one place among the continuations of its parent."""
        if move is not None:
            self.variation(move).promote()
            return
        siblings = self._siblings()
        i = siblings.index(self)
        if i > 0:
            siblings[i - 1], siblings[i] = siblings[i], siblings[i - 1]

    def promote_to_main(self, move: int | Move | GameNode | None = None) -> None:
        """Make the node, or its continuation with a move, the main line of its parent."""
        if move is not None:
            self.variation(move).promote_to_main()
            return
        siblings = self._siblings()
        siblings.remove(self)
        siblings.insert(0, self)

    def demote(self, move: int | Move | GameNode | None = None) -> None:
        """Move the node, or its continuation with a move, down by one place among the continuations of its parent."""
        if move is not None:
            self.variation(move).demote()
            return
        siblings = self._siblings()
        i = siblings.index(self)
        if i + 1 < len(siblings):
            siblings[i + 1], siblings[i] = siblings[i], siblings[i + 1]

    def __reduce__(self) -> tuple[Any, ...]:
        path = []
        node = self
        while node.parent is not None:
            path.append(node.parent.variations.index(node))
            node = node.parent
        return _node, (node, path[::-1])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} after {self.ply()} plies>"


def _node(node: GameNode, path: Sequence[int]) -> GameNode:
    """Return the node at the end of a path of numbers of variations."""
    for number in path:
        node = node.variations[number]
    return node


class _Headers(dict[str, str]):
    """The tags of a game. Raises TypeError for what is not a text."""

    def __init__(self, headers: Mapping[str, str] = {}) -> None:
        super().__init__()
        self.update(headers)

    def __setitem__(self, name: str, value: str) -> None:
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"a tag and its value are str, not {type(name).__name__} and {type(value).__name__}")
        super().__setitem__(name, value)

    def update(self, *others: Any, **named: str) -> None:
        for name, value in dict(*others, **named).items():
            self[name] = value

    def setdefault(self, name: str, default: str = "") -> str:
        if name not in self:
            self[name] = default
        return self[name]

    def __ior__(self, other: Any) -> _Headers:  # type: ignore[override, misc]
        self.update(other)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _Headers, (dict(self),)


class Game(GameNode):
    """A game with its headers: the first position, and all moves below it.

    `headers` are the tags of the text, among them `White`, `Black`, `Date`, `Result` and `Termination`. The tags
    `Rules`, `NoCaptureLimit` and `FEN` give the first position and its rules.
    """

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        """Make a game without moves."""
        super().__init__(None, None)
        self.headers = {"White": "", "Black": "", "Result": "*"} if headers is None else headers

    @property
    def headers(self) -> dict[str, str]:
        """The tags of the text, in their order."""
        return self._headers

    @headers.setter
    def headers(self, headers: Mapping[str, str]) -> None:
        self._headers = _Headers(headers)

    @classmethod
    def from_board(cls, board: Board) -> Game:
        """Return the game of a board with its moves and, if it is over, its result."""
        game = cls()
        game.setup(board.root())
        game.add_line(board.move_stack)
        game.headers["Result"] = board.result()
        return game

    @classmethod
    def from_string(cls, text: str) -> Game:
        """Return the only game of a text. Raises GameError."""
        games = list(read_games(text.split("\n")))
        if len(games) != 1:
            raise GameError(f"the text contains {len(games)} games instead of one")
        return games[0]

    def board(self) -> Board:
        """Return the first position. Raises RulesError, FenError or ValueError if the headers are wrong."""
        limit = self.headers.get("NoCaptureLimit", "100")
        return Board(
            self.headers.get("FEN"),
            rules=self.headers.get("Rules", "paper"),
            no_capture_limit=None if limit == "none" else int(limit),
        )

    def setup(self, board: Board) -> None:
        """Write the position, the rules and the limit of a board into the headers."""
        limit = board.no_capture_limit
        self.headers["Rules"] = str(board.rules)
        self.headers["NoCaptureLimit"] = "none" if limit is None else str(limit)
        self.headers["FEN"] = board.fen()

    @property
    def result(self) -> str:
        """The result of the headers: '1-0', '0-1', '1/2-1/2' or '*'."""
        return self.headers.get("Result", "*")

    def export(self, format: str = "saved") -> str:
        """Return the game as text, in one of `FORMATS`. Raises GameError.

        Every move is checked. A game without a result gets the one that the rules give it. The formats of one line have
        only the main line.
        """
        if format != "saved":
            return format_line(self.end().board(), format)
        headers = dict(self.headers)
        if self.result == "*" and headers.get("Termination", "unfinished") == "unfinished":
            headers.pop("Termination", None)
            try:
                headers["Result"] = self.end().board().result()
            except ValueError as error:
                raise GameError(str(error)) from None
        tags = [f'[{_name(name)} "{_escaped(value, chr(34))}"]' for name, value in headers.items()]
        words = [*_words(self, 0), headers.get("Result", "*")]
        return _format_game("\n".join([*tags, "", " ".join(words)])).rstrip("\n")

    def __str__(self) -> str:
        return self.export()

    def __repr__(self) -> str:
        names = " - ".join(repr(self.headers.get(side) or "?") for side in ("White", "Black"))
        rules = self.headers.get("Rules", "paper")
        with contextlib.suppress(ValueError):
            rules = Rules(rules).name or rules
        return f"<{type(self).__name__} {names}, {self.result}, {len(self.mainline_moves())} plies, rules {rules!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        numbers: dict[int, int] = {}
        tree = []
        for number, node in enumerate(self.nodes()):
            numbers[id(node)] = number
            if node.parent is not None:
                tree.append((numbers[id(node.parent)], node.uci(), node.comment, list(node.nags)))
        return _game, (type(self), dict(self.headers), self.comment, tree)


def _game(
    cls: type[Game], headers: Mapping[str, str], comment: str, tree: Iterable[tuple[int, str, str, list[int]]]
) -> Game:
    """Return the game of a pickle: each node has the number of its parent."""
    game = cls(headers)
    game.comment = comment
    nodes: list[GameNode] = [game]
    for parent, move, comment, nags in tree:
        nodes.append(nodes[parent].add_variation(Move.from_uci(move), comment=comment, nags=nags))
    return game


def _name(name: str) -> str:
    """Return the name of a tag. Raises GameError if it is not one."""
    if not name or not name.isascii() or not name.replace("_", "a").isalnum():
        raise GameError(f"the name of a tag consists of letters, digits and _, not {name!r}")
    return name


def _escaped(text: str, closing: str) -> str:
    """Return a text as it stands before a closing character."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace(closing, "\\" + closing)


def _words(node: GameNode, depth: int) -> Iterator[str]:
    """The words of the continuations of a node."""
    if depth > _DEPTH:
        raise GameError(f"variations stand in at most {_DEPTH} parentheses")
    if depth == 0:
        if node.nags:
            raise GameError("an assessment belongs to a move, so the first position has none")
        yield from _comment(node)
    while node.variations:
        main, *others = node.variations
        yield from _word(main)
        for other in others:
            yield "("
            yield from _word(other)
            yield from _words(other, depth + 1)
            yield ")"
        node = main


def _word(node: GameNode) -> Iterator[str]:
    """The move of a node, its assessments and its comment."""
    yield node.uci()
    for nag in node.nags:
        if not isinstance(nag, int) or not 0 <= nag <= 255:
            raise GameError(f"an assessment is a number from 0 to 255, not {nag!r}")
        yield f"${int(nag)}"
    yield from _comment(node)


def _comment(node: GameNode) -> Iterator[str]:
    """The comment of a node, if it has one."""
    if node.comment:
        yield "{" + _escaped(node.comment, "}") + "}"


def _add(node: GameNode, line: _Line) -> None:
    """Add a line with its variations below a node."""
    moves, nags, comments, variations = line
    before = []
    for move, comment, nag in zip_longest(moves, comments, nags):
        before.append(node)
        node = node.add_variation(move, comment=comment or "", nags=nag or ())
    for ply, other in variations:
        _add(before[ply], other)


def _from_record(record: tuple[Sequence[tuple[str, str]], str, _Line]) -> Game:
    tags, comment, line = record
    game = Game(dict(tags))
    game.comment = comment
    _add(game, line)
    return game


def read_games(
    source: str | PathLike[str] | Iterable[str],
    *,
    format: str = "saved",
    rules: Rules | str = "paper",
    no_capture_limit: int | None = 100,
    on_error: Callable[[GameError], object] | None = None,
) -> Iterator[Game]:
    """Iterate over the games of a file, or of an iterable of lines such as an open file.

    Only one game is in memory at a time. `format` is one of `FORMATS`; games on one line are under `rules` and
    `no_capture_limit`. A wrong game raises GameError, or calls `on_error` with the error and is left out.
    """
    if format not in FORMATS:
        raise ValueError(f"a format is one of {', '.join(FORMATS)}, not {format!r}")
    if isinstance(source, str | PathLike):
        return _read_file(source, format, rules, no_capture_limit, on_error)
    if format == "saved":
        return _read_saved(source, on_error)
    return _read_lines(source, format, rules, no_capture_limit, on_error)


def _read_file(path: str | PathLike[str], format: str, *options: Any) -> Iterator[Game]:
    with open(path, encoding="utf-8", newline="\n") as file:
        yield from _read_saved(file, options[-1]) if format == "saved" else _read_lines(file, format, *options)


def _read_lines(
    lines: Iterable[str],
    format: str,
    rules: Rules | str,
    no_capture_limit: int | None,
    on_error: Callable[[GameError], object] | None,
) -> Iterator[Game]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            board = parse_line(line, format, rules=rules, no_capture_limit=no_capture_limit)
        except GameError as error:
            wrong = GameError(f"line {number}: {error}")
            if on_error is None:
                raise wrong from None
            on_error(wrong)
        else:
            yield Game.from_board(board)


def _read_saved(lines: Iterable[str], on_error: Callable[[GameError], object] | None) -> Iterator[Game]:
    reader = _RecordReader()
    # After a wrong game its other lines are skipped.
    skips = False
    for line in lines:
        skips = skips and not line.lstrip().startswith("[")
        try:
            records = reader.line("" if skips else line)
        except GameError as error:
            if on_error is None:
                raise
            on_error(error)
            skips = True
        else:
            yield from map(_from_record, records)
    try:
        reader.finish()
    except GameError as error:
        if on_error is None:
            raise
        on_error(error)


def read_game(file: Iterator[str]) -> Game | None:
    """Read the next game of an open file; None at its end. The line on which it ends must not begin another game."""
    reader = _RecordReader()
    for line in file:
        records = reader.line(line)
        if records:
            reader.finish()
            if len(records) > 1:
                raise GameError("several games end on one line: use read_games")
            return _from_record(records[0])
    reader.finish()
    return None
