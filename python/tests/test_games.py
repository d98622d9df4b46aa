"""Games as text, as in chess.pgn."""

import copy
import io
import itertools
import pickle
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import doushouqi as dsq

TEXT = """[White "Anna \\"A\\""]
[Black "Bo"]
[Date "2026.02.03"]
[Rules "chinese"]
[Result "*"]
[Event "club"]

1. Eb3! {cp 12} (1. Ea4 Rb7 $14 $6 {slow} (1... Ra6 2. Ea5) 2. Ea5) (1. Ea2) 1... Rb7 2. Ea3 *
"""


def move(text: str) -> dsq.Move:
    """The move of a text."""
    return dsq.Move.from_uci(text)


def shape(node: dsq.GameNode) -> object:
    """The tree below a node."""
    return [(str(child.move), child.comment, child.nags, shape(child)) for child in node.variations]


def test_a_game_is_read_and_written() -> None:
    game = dsq.Game.from_string(TEXT)
    assert game.headers["White"] == 'Anna "A"'
    assert (game.headers["Event"], game.headers["Termination"], game.result) == ("club", "unfinished", "*")
    assert [node.san() for node in game.mainline()] == ["Eb3", "Rb7", "Ea3"]
    assert [str(child.move) for child in game.variations] == ["a3b3", "a3a4", "a3a2"]
    assert [str(child.move) for child in game.variations[1].variations] == ["a7b7", "a7a6"]
    assert (game.variations[0].comment, game[1][0].comment) == ("cp 12", "slow")
    assert (game.nags, game[0].nags, game[1][0].nags) == (set(), {dsq.NAG_GOOD_MOVE}, {dsq.NAG_DUBIOUS_MOVE, 14})
    assert "1. Eb3 $1 {cp 12} (1. Ea4 Rb7 $6 $14 {slow}" in str(game)
    assert game.end().board().move_stack == game.mainline_moves()
    assert game.board().rules == dsq.Rules("chinese")
    for other in (dsq.Game.from_string(str(game)), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert shape(other) == shape(game)
        assert other.headers == game.headers
        assert str(other) == str(game)
    node = pickle.loads(pickle.dumps(game[1][0]))
    assert (node.ply(), node.comment, str(node.game())) == (2, "slow", str(game))


def test_a_game_has_a_comment() -> None:
    game = dsq.Game.from_string("{before} 1. Eb3 {after} *")
    assert (game.comment, game[0].comment) == ("before", "after")
    game.comment = "a } b\n{c \\"
    for other in (dsq.Game.from_string(str(game)), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert (other.comment, other[0].comment) == (game.comment, "after")
        assert str(other) == str(game)
    game.comment = ""
    assert str(game).splitlines()[-1] == "1. Eb3 {after} *"


def test_the_tree_is_edited() -> None:
    game = dsq.Game()
    game.headers["White"] = "Anna"
    node = game.add_main_variation(move("a3b3"), comment="best", nags=[dsq.NAG_BRILLIANT_MOVE])
    assert (node.ply(), node.parent, node.uci(), node.is_end()) == (1, game, "a3b3", True)
    other = game.add_variation(move("a3a4"))
    last = other.add_line([move("a7b7"), move("a4a5")], comment="why", nags={dsq.NAG_BLUNDER})
    assert (node.nags, other.nags, last.parent and last.parent.nags, last.nags) == ({3}, set(), set(), {4})
    assert (last.ply(), last.comment, last.board().ply(), other.starts_variation()) == (3, "why", 3, True)
    assert (game.is_mainline(), node.is_mainline(), last.is_mainline(), last.is_main_variation()) == (
        True,
        True,
        False,
        True,
    )
    assert (move("a3a4") in game, move("a3a2") in game) == (True, False)
    other.promote()
    assert game.next() is other
    other.demote()
    assert game.variation(0) is node
    other.promote_to_main()
    assert [child.uci() for child in game.nodes() if child.parent] == ["a3a4", "a7b7", "a4a5", "a3b3"]
    game.remove_variation(other)
    assert str(game).splitlines()[-1] == "1. Eb3 $3 {best} *"
    with pytest.raises(KeyError):
        game.variation(move("a3a4"))
    for call in (game.promote, game.san, game.uci):
        with pytest.raises(ValueError, match="first position"):
            call()
    with pytest.raises(TypeError):
        game.add_variation("a3b3")  # type: ignore[arg-type]


def test_boards_become_games() -> None:
    board = dsq.Board("7/3L3/7/7/7/7/7/7/r6 b 5", rules="chinese", no_capture_limit=None)
    board.push_san("Ra2")
    board.push_san("Ld9")
    game = dsq.Game.from_board(board)
    assert (game.result, game.headers["NoCaptureLimit"]) == ("1-0", "none")
    assert game.end().board() == board
    again = dsq.Game.from_string(str(game))
    assert (again.headers["Termination"], again.end().board()) == ("den", board)
    # The result follows from the moves.
    game.headers["Result"] = "*"
    assert str(game) == str(again)


def test_wrong_games_are_not_written() -> None:
    game = dsq.Game()
    wrong: Any = 7
    with pytest.raises(TypeError, match="comment is a str"):
        game.add_variation(move("a3b3"), comment=wrong)
    with pytest.raises(TypeError, match="comment is a str"):
        game.comment = wrong
    assert game.is_end()
    changes: list[Callable[[], object]] = [
        lambda: game.headers.update(Round=wrong),
        lambda: game.headers.__setitem__("Round", wrong),
        lambda: game.headers.setdefault("Round", wrong),
        lambda: game.headers.__ior__({"Round": wrong}),
        lambda: setattr(game, "headers", {"Round": wrong}),
        lambda: dsq.Game({"Round": wrong}),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="are str"):
            change()
    assert "Round" not in game.headers
    game.nags = {1}
    with pytest.raises(dsq.GameError, match="belongs to a move"):
        str(game)
    game.nags = set()
    wrong_nags: list[Any] = [{-1}, {256}, {"!"}, {1.5}]
    for nags in wrong_nags:
        node = game.add_variation(move("a3b3"), nags=nags)
        with pytest.raises(dsq.GameError, match="from 0 to 255"):
            str(game)
        game.remove_variation(node)
    node = game.add_variation(move("a3a9"))
    with pytest.raises(dsq.IllegalMoveError):
        node.board()
    with pytest.raises(dsq.GameError, match="a3a9"):
        str(game)
    game.remove_variation(node)
    game.headers["Result"] = "1-0"
    assert "adjudication" in str(game)
    game.headers["Termination"] = "boredom"
    with pytest.raises(dsq.GameError, match="termination"):
        str(game)
    game.headers["Termination"] = "resignation"
    assert "resignation" in str(game)
    game.headers['X "a"]\n[Y'] = "z"
    with pytest.raises(dsq.GameError, match="name of a tag"):
        str(game)
    deep = dsq.Game()
    node = deep
    for i in range(66):
        text = ["a3b3", "a7b7", "b3a3", "b7a7"][i % 4]
        node.add_variation(move(text))
        node = node.add_variation(move(text))
    with pytest.raises(dsq.GameError, match="64"):
        str(deep)


TEXTS = ["", "", "good", 'a } b \\ {"', "; 1-0 (no) [Red]", "two\nlines\r象\u2028", "\\n \\}", " $1 ! "]
ENDS = ("*", None), ("1-0", "time"), ("0-1", "adjudication"), ("1/2-1/2", None)
Tree = list[tuple[str, str, set[int], "Tree"]]


def random_tree(chance: random.Random, board: dsq.Board, plies: int, depth: int) -> Tree:
    """The continuations of a position as `shape` returns them, a main line and nested variations."""
    moves = board.legal_moves if plies else []
    count = 1
    while depth and chance.randrange(6) == 0:
        count += 1
    tree: Tree = []
    for move in chance.sample(moves, min(count, len(moves))):
        after = board.copy()
        after.push(move)
        further = (chance.randrange(4), depth - 1) if tree else (plies - 1, depth)
        nags = set(chance.sample(range(256), chance.randrange(4)))
        tree.append((str(move), chance.choice(TEXTS), nags, random_tree(chance, after, *further)))
    return tree


def escaped(text: str, closing: str) -> str:
    """A text as the notation has it before a closing character."""
    return text.replace("\\", "\\\\").replace(closing, "\\" + closing).replace("\n", "\\n")


def braces(text: str) -> list[str]:
    """A comment; nothing for an empty one."""
    return ["{" + escaped(text, "}") + "}"] if text else []


def tree_words(tree: Tree) -> list[str]:
    """The words of a tree, written without the package."""
    if not tree:
        return []
    own, *others = [[move, *(f"${nag}" for nag in nags), *braces(comment)] for move, comment, nags, _ in tree]
    variations = [["(", *first, *tree_words(below), ")"] for first, (*_, below) in zip(others, tree[1:], strict=True)]
    return [*own, *itertools.chain.from_iterable(variations), *tree_words(tree[0][3])]


def random_game(number: int) -> tuple[str, dsq.Board, dict[str, str], str, Tree]:
    """The text of an annotated game, and what it says: first position, tags, comment and tree."""
    chance = random.Random(f"annotated {number}")
    presets = dsq.Rules.presets()
    rules, limit = presets[number % len(presets)], [100, None, 12][number % 3]
    fen = None
    if number % 3:
        packed = dsq.random_positions(1, 2 + number % 9, seed=number, rules=rules)
        fen = dsq.unpack(packed)[0].fen() + ["", " 7"][number % 2]
    start = dsq.Board(fen, rules=rules, no_capture_limit=limit)
    tree = random_tree(chance, start, chance.randrange(20), 3)
    end, below = start.copy(), tree
    while below:
        end.push(move(below[0][0]))
        below = below[0][3]
    result, termination = (end.result(), None) if end.is_game_over() else ENDS[number % 4]
    tags = {"White": chance.choice(TEXTS), "Black": chance.choice(TEXTS), "Rules": str(start.rules), "Result": result}
    tags |= {"Event": chance.choice(TEXTS)} | ({"Date": "2026.02.03"} if number % 2 else {})
    tags |= {"NoCaptureLimit": "none" if limit is None else str(limit)} | ({"FEN": start.fen()} if fen else {})
    tags |= {"Termination": termination} if termination else {}
    comment = chance.choice(TEXTS)
    lines = [f'[{name} "{escaped(value, chr(34))}"]' for name, value in tags.items()]
    text = "\n".join([*lines, "", " ".join([*braces(comment), *tree_words(tree), result]), ""])
    return text, start, tags, comment, tree


def test_random_annotated_games_lose_nothing(tmp_path: Path) -> None:
    expected = [random_game(number) for number in range(1000)]
    path, again = tmp_path / "games.txt", tmp_path / "again.txt"
    path.write_text("\n".join(text for text, *_ in expected), encoding="utf-8", newline="\n")
    games = list(dsq.read_games(path))
    again.write_text("\n\n".join(map(str, games)), encoding="utf-8", newline="\n")
    for read in (games, list(dsq.read_games(again))):
        for (text, start, tags, comment, tree), game in zip(expected, read, strict=True):
            assert tags.items() <= game.headers.items(), text
            assert game.board() == start, text
            assert (game.comment, shape(game)) == (comment, tree), text
    assert list(map(str, read)) == list(map(str, games))
    # Variations, assessments and comments in one game.
    assert sum({"(", "$", "{"} <= set(text) for text, *_ in expected) > 300


WRONG = [
    "1. Eb3",
    "1. Eb9 *",
    "1. Eb3 (1. Ea4 *)",
    "1. Eb3 (1. Ea4 *",
    "",
    "* *",
    "[White a]\n*",
    "! *",
    "1. Eb3 $256 *",
]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_games_are_not_read(text: str) -> None:
    with pytest.raises(dsq.GameError):
        dsq.Game.from_string(text)


@given(st.text(), st.text(), st.text(), st.sets(st.integers(0, 255)))
def test_any_text_is_kept(white: str, comment: str, event: str, nags: set[int]) -> None:
    game = dsq.Game()
    game.headers |= {"White": white, "Event": event}
    game.comment = comment
    game.add_variation(move("a3b3"), comment=comment, nags=nags)
    again = dsq.Game.from_string(str(game))
    assert (again.headers["White"], again.headers["Event"], again.comment) == (white, event, comment)
    assert (again[0].comment, again[0].nags) == (comment, nags)


def test_files_are_streamed(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_text("\ufeff" + TEXT + "\n" + TEXT)
    for source in (path, str(path), path.read_text().splitlines()):
        assert [game.headers["Black"] for game in dsq.read_games(source)] == ["Bo", "Bo"]
    with path.open() as file:
        assert [dsq.read_game(file) is None for _ in range(4)] == [False, False, True, True]
    with pytest.raises(dsq.GameError, match="several games"):
        dsq.read_game(iter(["* *"]))
    with pytest.raises(FileNotFoundError):
        next(dsq.read_games(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="a format is one of"):
        dsq.read_games(path, format="pgn")


def test_wrong_games_may_be_left_out() -> None:
    lines = [*TEXT.splitlines(), '[White "x"]', "1. Eb9", "2. Ea4 *", *TEXT.splitlines(), "1. Eb3"]
    errors: list[dsq.GameError] = []
    assert len(list(dsq.read_games(lines, on_error=errors.append))) == 2
    assert [str(error).partition(":")[0] for error in errors] == ["line 10", "line 20"]
    with pytest.raises(dsq.GameError, match="line 10"):
        list(dsq.read_games(lines))


def test_a_long_stream_needs_little_memory() -> None:
    """Two thousand games in the memory of a few; a million differ only in the time."""
    lines = [*TEXT.splitlines(), ""]
    tracemalloc.start()
    try:
        count = 0
        for game in dsq.read_games(itertools.chain.from_iterable(itertools.repeat(lines, 2000))):
            count += len(game.mainline_moves())
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert count == 6000


@pytest.mark.parametrize("format", dsq.FORMATS[1:])
def test_other_formats(format: str) -> None:
    board = dsq.Board()
    for san in ("Eb3", "Rb7", "Ea3"):
        board.push_san(san)
    line = dsq.format_line(board, format)
    assert line.count(" ") == {"mistboard": 7}.get(format, 5)
    again = dsq.parse_line(line, format)
    assert (again, again.move_stack) == (board, board.move_stack)
    game = next(dsq.read_games(io.StringIO(f"\n{line}\n"), format=format))
    assert game.end().board() == board
    assert game.export(format) == line
    for wrong in ("", "x", line + " a1a9"):
        with pytest.raises(dsq.GameError):
            dsq.parse_line(wrong, format)
    errors: list[dsq.GameError] = []
    assert len(list(dsq.read_games([line, "x"], format=format, on_error=errors.append))) == 1
    assert str(errors[0]).startswith("line 2: ")


def test_mistboard_is_mirrored() -> None:
    board = dsq.parse_line("t5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/1D3C1/L5T r 0 1 moves g3f3", "mistboard")
    assert [str(move) for move in board.move_stack] == ["a3b3"]
    with pytest.raises(ValueError, match="is not a format"):
        dsq.format_line(board, "fairy")


def test_games_show_their_names_and_result() -> None:
    board = dsq.Board("7/3L3/7/7/7/7/7/7/r6 w", rules="chinese")
    board.push_san("Ld9")
    game = dsq.Game.from_board(board)
    game.headers["White"] = "Anna"
    assert repr(game) == "<Game 'Anna' - '?', 1-0, 1 plies, rules 'chinese'>"


def test_a_parent_orders_its_continuations() -> None:
    game = dsq.Game()
    first, second, third = (game.add_variation(move(text)) for text in ("a3a4", "a3b3", "c3c2"))
    game.promote(third)
    assert game.variations == [first, third, second]
    game.promote_to_main(move("a3b3"))
    assert game.variations == [second, first, third]
    game.demote(0)
    assert game.variations == [first, second, third]
    with pytest.raises(KeyError):
        game.promote(move("a1a2"))
