"""Boards, moves and rules, as in python-chess."""

import copy
import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

import doushouqi as dsq


def test_a_game_is_played_and_taken_back() -> None:
    board = dsq.Board()
    assert board.fen() == dsq.STARTING_FEN
    assert board.turn is dsq.WHITE
    assert len(board.legal_moves) == 24
    move = board.push_san("Eb3")
    assert (str(move), board.ply(), board.halfmove_clock, board.turn) == ("a3b3", 1, 1, dsq.BLACK)
    assert board.peek() == move == dsq.Move.from_uci("a3b3")
    assert board.fen() == "l5t/1d3c1/r1p1w1e/7/7/7/1EW1P1R/1C3D1/T5L b 1"
    assert board.pop() == move
    assert board == dsq.Board()
    with pytest.raises(IndexError, match="no move has been made"):
        board.pop()


def test_notations() -> None:
    board = dsq.Board("7/7/7/7/7/7/3e3/3R3/7 w")
    capture = board.parse_san("Rxd3")
    assert board.is_capture(capture)
    assert board.san(capture) == "Rxd3"
    assert capture.uci() == "d2d3"
    assert [square for square, piece in board.piece_map().items() if piece.symbol() == "R"] == [dsq.parse_square("d2")]
    assert dsq.square_name(dsq.parse_square("g9")) == "g9"
    assert str(board.piece_at(dsq.parse_square("d3"))) == "e"


@pytest.mark.parametrize(
    ("fen", "san", "termination", "winner", "result"),
    [
        ("7/3L3/7/7/7/7/7/7/r6 w", "Ld9", "den", True, "1-0"),
        ("7/7/7/7/7/7/3e3/3R3/7 w", "Rxd3", "captured", True, "1-0"),
        ("e6/7/7/7/7/7/7/7/E6 w 99", "Ea2", "no_capture", None, "1/2-1/2"),
    ],
)
def test_games_end(fen: str, san: str, termination: str, winner: bool | None, result: str) -> None:
    board = dsq.Board(fen)
    assert (board.outcome(), board.result()) == (None, "*")
    board.push_san(san)
    outcome = board.outcome()
    assert outcome is not None
    assert (outcome.termination, outcome.winner, outcome.result()) == (termination, winner, result)
    assert board.is_game_over()
    assert board.legal_moves == []


@pytest.mark.parametrize(("repetition", "occurrences"), [("threefold", 3), ("twofold", 2)])
def test_repetition(repetition: str, occurrences: int) -> None:
    board = dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w", rules=f"paper,repetition={repetition}")
    plies = 0
    while not board.is_game_over():
        board.push_san(["Ec3", "Ec7", "Ed3", "Ed7"][plies % 4])
        plies += 1
    outcome = board.outcome()
    assert outcome is not None
    assert outcome.termination == "repetition"
    assert (board.occurrences(), plies) == (occurrences, 4 * (occurrences - 1))


def test_repetition_may_be_illegal() -> None:
    board = dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w", rules="cazaux")
    for san in ["Ec3", "Ec7", "Ed3"]:
        board.push_san(san)
    back = dsq.Move.from_uci("c7d7")
    assert back not in board.legal_moves
    with pytest.raises(dsq.IllegalMoveError, match="repeats a position"):
        board.push(back)


def test_copies_are_apart() -> None:
    board = dsq.Board(rules="chinese", no_capture_limit=None)
    board.push_san("Eb3")
    for twin in (board.copy(), copy.copy(board), copy.deepcopy(board), pickle.loads(pickle.dumps(board))):
        assert twin == board
        assert twin.move_stack == board.move_stack
        assert (twin.rules, twin.no_capture_limit) == (dsq.Rules("chinese"), None)
        twin.pop()
        assert twin != board
        assert board.ply() == 1


@pytest.mark.parametrize("thing", [dsq.Rules("paper,shore=none"), dsq.Move.from_uci("a3b3"), dsq.Piece(7, False)])
def test_values_survive_pickle(thing: object) -> None:
    assert pickle.loads(pickle.dumps(thing)) == thing
    assert hash(pickle.loads(pickle.dumps(thing))) == hash(thing)


def test_rules() -> None:
    rules = dsq.Rules("paper,shore=none")
    assert rules.name is None
    assert (rules.shore, rules.repetition) == ("none", "threefold")
    assert dsq.Rules(str(rules)) == rules != dsq.Rules()
    for option, values in dsq.Rules.options().items():
        assert getattr(dsq.Rules(), option) == values[0]
        assert getattr(dsq.Rules(f"{option.replace('_', '-')}={values[1]}"), option) == values[1]
    with pytest.raises(AttributeError, match="leap"):
        rules.leap  # noqa: B018
    assert [dsq.Rules(name).name for name in dsq.Rules.presets()] == dsq.Rules.presets()


def test_pictures() -> None:
    board = dsq.Board()
    assert str(board).startswith("9 | l . ^ # ^ . t\n")
    assert board._repr_svg_().startswith("<svg")
    assert repr(board) == f"Board('{dsq.STARTING_FEN}')"


def test_perft() -> None:
    board = dsq.Board()
    assert [dsq.perft(board, depth) for depth in range(5)] == [1, 24, 576, 12240, 260100]
    assert dsq.perft(board, 5, mode="leaf") == 5098477
    assert sum(count for _, count in dsq.divide(board, 4)) == 260100
    # The elephant takes the rat only under some rules.
    fen = "7/7/7/7/3e3/3R3/7/7/7 b"
    board = dsq.Board(fen, rules="chinese")
    chinese = dsq.perft(fen, 3, rules="chinese")
    assert dsq.perft(board, 3) == chinese != dsq.perft(fen, 3) == dsq.perft(board, 3, rules="paper")
    assert sum(count for _, count in dsq.divide(board, 3)) == chinese


def test_packed_positions_round_trip() -> None:
    packed = dsq.random_positions(300, 9, seed=5)
    boards = dsq.unpack(packed)
    assert np.array_equal(dsq.pack(boards), packed)
    assert all(np.array_equal(board.packed(), row) for board, row in zip(boards, packed, strict=True))
    assert all(dsq.Board(board.fen()) == board for board in boards)


def slow_observation(board: dsq.Board) -> NDArray[np.int8]:
    """`Board.observation` written out."""
    planes = np.zeros((16, 9, 7), dtype=np.int8)
    for square, piece in board.piece_map().items():
        rank, file = divmod(square, 7)
        if not board.turn:
            rank, file = 8 - rank, 6 - file
        planes[piece.animal + (0 if piece.color == board.turn else 8), rank, file] = 1
    return planes


def test_observations_and_actions() -> None:
    for board in dsq.unpack(dsq.random_positions(500, 8, seed=1)):
        assert np.array_equal(board.observation(), slow_observation(board))
        actions = {}
        for move in board.legal_moves:
            (rank, file), (to_rank, to_file) = divmod(move.from_square, 7), divmod(move.to_square, 7)
            forward = (to_rank - rank) * (1 if board.turn else -1)
            right = (to_file - file) * (1 if board.turn else -1)
            direction = 0 if forward > 0 else 1 if forward < 0 else 2 if right < 0 else 3
            piece = board.piece_at(move.from_square)
            assert piece is not None
            actions[4 * piece.animal + direction] = move
            assert board.action(move) == 4 * piece.animal + direction
        assert board.legal_actions() == sorted(actions)
        assert np.flatnonzero(board.action_mask()).tolist() == sorted(actions)
        assert all(board.move_of_action(action) == move for action, move in actions.items())


def test_every_public_object_is_documented() -> None:
    for name in dsq.__all__:
        thing = getattr(dsq, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for attribute in vars(thing):
                if not attribute.startswith("_"):
                    assert getattr(thing, attribute).__doc__, f"{name}.{attribute}"
