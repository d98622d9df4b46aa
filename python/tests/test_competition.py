"""The rules of competition: `loop`, `judge` and `move-limit`."""

from __future__ import annotations

import pickle

import pytest

import doushouqi as dsq

ELEPHANTS = "7/7/3e3/7/7/7/3E3/7/7 w"


def played(rules: str, moves: str, fen: str = ELEPHANTS) -> dsq.Board:
    board = dsq.Board(fen, rules=rules)
    for move in moves.split():
        board.push_san(move)
    return board


def test_loops_are_forbidden_or_lose() -> None:
    back_and_forth = "Ec3 Ec7 Ed3 Ed7 " * 3
    forbidden = played("paper,repetition=none,loop=7-3", back_and_forth)
    assert "d3c3" not in [str(move) for move in forbidden.legal_moves]
    with pytest.raises(dsq.IllegalMoveError, match="continues a loop"):
        forbidden.push_san("Ec3")
    lost = played("paper,repetition=none,loop=7-3-loses", back_and_forth + "Ec3").outcome()
    assert lost is not None
    assert (lost.termination, lost.winner) == ("loop", False)
    assert pickle.loads(pickle.dumps(lost)) == lost


def test_draws_are_judged() -> None:
    board = played("paper,judge=weight", "Ec3 Ec7 Ed3 Ed7 " * 2, "7/7/3e3/7/7/7/3E3/7/R6 w")
    outcome = board.outcome()
    assert outcome is not None
    assert (outcome.termination, outcome.winner, outcome.result()) == ("repetition", True, "1-0")
    assert pickle.loads(pickle.dumps(outcome)) == outcome


def test_contradictory_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="contradict each other"):
        dsq.Board(rules="cazaux,loop=repeat-end")
    with pytest.raises(ValueError, match="does not play the rules loop"):
        dsq.VecEnv(2, rules="paper,judge=number")


def test_tables_do_not_know_them() -> None:
    tables = dsq.solve(2)
    board = dsq.Board(ELEPHANTS, rules="paper,loop=2-1")
    with pytest.raises(dsq.TablesError, match="do not know the rules"):
        tables.probe(board)
    assert tables.probe(board.fen()) is not None
