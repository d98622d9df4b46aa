"""The engine."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

import doushouqi as dsq
from doushouqi import players


def test_the_engine_finds_a_win() -> None:
    board = dsq.Board("7/3L3/7/7/7/7/7/7/r6 w")
    engine = dsq.Engine()
    assert str(engine.play(board, dsq.Limit(depth=4))) == "d8d9"
    best, second = engine.analyse(board, dsq.Limit(depth=4), multipv=2)
    assert (best.win_in, best.loss_in) == (1, None)
    assert best.score > second.score
    assert best.pv[0] == dsq.Move.from_uci("d8d9")
    move = dsq.Move.from_uci("d8d7")
    assert engine.analyse(board, dsq.Limit(depth=2), root_moves=[move])[0].pv[0] == move
    board.push_san("Ld9")
    assert engine.play(board, dsq.Limit(depth=1)) is None


def test_limits() -> None:
    engine = dsq.Engine(hash_mib=1)
    info = engine.analyse(dsq.Board(), dsq.Limit(nodes=5000))[0]
    assert 1000 <= info.nodes <= 5100
    assert engine.analyse(dsq.Board(), dsq.Limit(depth=3))[0].depth == 3
    start = time.monotonic()
    engine.play(dsq.Board(), dsq.Limit(0.2))
    assert 0.1 < time.monotonic() - start < 5
    wrong: list[dict[str, Any]] = [{}, {"time": -1.0}, {"time": float("nan")}, {"depth": 0}, {"nodes": 0}]
    for options in wrong:
        with pytest.raises(ValueError, match=r"limit|time|least 1"):
            dsq.Limit(**options)


def test_other_threads_run_during_a_search() -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    dsq.Engine().play(dsq.Board(), dsq.Limit(0.5))
    done.set()
    thread.join()
    # With the lock held all the time, the other thread would have counted to one or two.
    assert counted > 20


def test_tables_make_the_engine_perfect(two_on_disk: Path) -> None:
    board = dsq.Board("7/7/7/7/L6/6e/7/7/7 w")
    for tables in (two_on_disk, str(two_on_disk), 2):
        info = dsq.Engine(tables=tables).analyse(board, dsq.Limit(depth=1))[0]
        assert info.win_in == 9
    with pytest.raises(dsq.TablesError):
        dsq.Engine(tables="no such directory")
    with pytest.raises(ValueError, match="2 to 4 pieces"):
        dsq.Engine(tables=9)


def test_players(three: dsq.Tables) -> None:
    board = players.play(players.player("engine:300"), players.RandomPlayer(1))
    assert board.is_game_over()
    perfect = players.TablePlayer(three)
    start = dsq.Board("7/7/7/7/L6/6e/7/7/7 w")
    played = players.play(perfect, perfect, start)
    assert (played.ply(), played.result()) == (9, "1-0")
    assert players.play(perfect, perfect, dsq.Board("7/7/7/7/7/7/7/3c3/4E2 b")).is_game_over()
    for wrong in ("nobody", "engine:x", "random:3"):
        with pytest.raises(ValueError, match="no player"):
            players.player(wrong)
