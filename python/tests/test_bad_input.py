"""Bad input raises an exception of its kind, and never ends the interpreter."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

import doushouqi as dsq

# Objects that a caller may pass by mistake.
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.integers()),
    arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, max_dims=3, max_side=20)),
)
LETTERS = st.text(alphabet="RCWDPTLErcwdptle1234567/ wbx0123", max_size=60)
WRONG = (ValueError, TypeError, OverflowError, IndexError, dsq.TablesError)
TABLES = dsq.solve(2)


def attempt(call: Any, *arguments: Any, **options: Any) -> Any:
    """Calls; an exception for wrong input is a valid answer, too."""
    try:
        return call(*arguments, **options)
    except WRONG:
        return None


@given(st.one_of(LETTERS, st.text()))
def test_fens(text: str) -> None:
    board = attempt(dsq.Board, text)
    if board is not None:
        assert dsq.Board(board.fen()) == board
        attempt(lambda: board.legal_moves)
        attempt(board.outcome)


@given(st.one_of(st.text(), LETTERS, st.sampled_from(["a3b3", "Eb3", "Exb3", "g3f3"])))
def test_moves(text: str) -> None:
    board = dsq.Board()
    for call in (board.push_san, board.push_uci, board.parse_san, board.parse_uci, dsq.Move.from_uci):
        attempt(call, text)
    assert board.ply() <= 2


@given(st.integers(-5, 70), st.integers(-5, 70), st.integers(-(2**70), 2**70))
def test_numbers(start: int, end: int, number: int) -> None:
    board = dsq.Board()
    move = attempt(dsq.Move, start, end)
    if move is not None:
        with_move: list[Any] = [board.is_legal, board.is_capture, board.san, board.action, board.push]
        for call in with_move:
            attempt(call, move)
    with_number: list[Any] = [board.piece_at, board.move_of_action, board.push_action, dsq.square_name, dsq.materials]
    for call in with_number:
        attempt(call, number)
    attempt(dsq.Piece, number, True)
    attempt(dsq.perft, board, -abs(number))


@given(ANYTHING, ANYTHING)
@settings(max_examples=200)
def test_any_objects(one: Any, other: Any) -> None:
    board = dsq.Board()
    env = dsq.VecEnv(3)
    for call in (
        lambda: dsq.Board(one, rules=other),
        lambda: dsq.Rules(one),
        lambda: dsq.Move(one, other),
        lambda: dsq.Limit(one, depth=other),
        lambda: board.push(one),
        lambda: board.set_fen(one),
        lambda: dsq.pack(one),
        lambda: dsq.unpack(one, other),
        lambda: dsq.Features(one, rules=other),
        lambda: TABLES.probe(one),
        lambda: TABLES.probe_many(one),
        lambda: TABLES.stats(one, other),
        lambda: TABLES.to_numpy(one),
        lambda: TABLES.materials(one),
        lambda: TABLES.longest(one),
        lambda: dsq.learn_tree(one, other),
        lambda: dsq.learn_tree(TABLES, one),
        lambda: env.step(one),
        lambda: env.reset(seed=one),
        lambda: env.board(one),
    ):
        attempt(call)


@given(arrays.arrays(np.int8, st.tuples(st.integers(0, 5), st.just(17)), elements=st.integers(-3, 70)))
def test_packed_rows(rows: NDArray[np.int8]) -> None:
    boards = attempt(dsq.unpack, rows)
    if boards is not None:
        assert np.array_equal(dsq.pack(boards).reshape(rows.shape), rows)
    attempt(TABLES.probe_many, rows)


def test_packed_arrays_of_another_form() -> None:
    packed = dsq.random_positions(4, 2)
    assert len(TABLES.probe_many(packed[:0])[0]) == 0
    other: list[Any] = [packed.astype(np.int16), packed[:, :16], packed[0], packed[::2], np.asfortranarray(packed)]
    for wrong in other:
        with pytest.raises(ValueError, match="packed positions are"):
            TABLES.probe_many(wrong)
    packed[2, 0] = 100
    with pytest.raises(ValueError, match="row 2: a square is 0 to 62"):
        TABLES.probe_many(packed)


@given(st.lists(st.integers(-40, 40), min_size=3, max_size=3))
def test_actions(actions: list[int]) -> None:
    env = dsq.VecEnv(3)
    attempt(env.step, actions)
    assert env.observations.sum() == 48
