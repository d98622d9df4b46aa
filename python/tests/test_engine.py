"""The engine."""

import asyncio
import contextlib
import copy
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import doushouqi as dsq
from doushouqi import players, uci


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
    assert time.monotonic() - start > 0.1
    assert dsq.Limit(1e30).time == 1e30
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

    def counts_during_a_search() -> bool:
        before = counted
        dsq.Engine().play(dsq.Board(), dsq.Limit(0.2))
        # With the lock held all the time, the other thread would count to one or two.
        return counted > before + 10

    # On a busy machine the other thread runs seldom.
    found = any(counts_during_a_search() for _ in range(50))
    done.set()
    thread.join()
    assert found


def test_tables_make_the_engine_perfect(two_on_disk: Path) -> None:
    board = dsq.Board("7/7/7/7/L6/6e/7/7/7 w")
    for tables in (two_on_disk, str(two_on_disk), 2):
        info = dsq.Engine(tables=tables).analyse(board, dsq.Limit(depth=1))[0]
        assert info.win_in == 9
    with pytest.raises(dsq.TablesError):
        dsq.Engine(tables="no such directory")
    with pytest.raises(ValueError, match="2 to 4 pieces"):
        dsq.Engine(tables=9)


def test_tables_for_other_rules_are_not_ignored() -> None:
    engine = dsq.Engine(tables=2)
    board = dsq.Board("7/7/7/7/L6/6e/7/7/7 w", rules="chinese")
    calls: list[Callable[[dsq.Board, dsq.Limit], object]] = [engine.play, engine.analyse]
    for call in calls:
        with pytest.raises(dsq.TablesError, match="for the rules"):
            call(board, dsq.Limit(depth=1))
    assert engine.play(dsq.Board("7/7/7/7/L6/6e/7/7/7 w", rules="paper,repetition=none"), dsq.Limit(depth=1))
    with pytest.raises(dsq.TablesError, match="for the rules"):
        dsq.Engine(tables=2, rules="chinese").play(dsq.Board(), dsq.Limit(depth=1))


def test_one_search_at_a_time_and_stop() -> None:
    engine, board = dsq.Engine(hash_mib=1), dsq.Board()
    found: list[dsq.Info] = []

    def search() -> None:
        while not found:
            # The other thread may be searching.
            with contextlib.suppress(RuntimeError):
                found.extend(engine.analyse(board, dsq.Limit(1e30)))

    def play_until_refused() -> None:
        while True:
            engine.play(dsq.Board(), dsq.Limit(nodes=1))

    thread = threading.Thread(target=search)
    thread.start()
    with pytest.raises(RuntimeError, match="is searching"):
        play_until_refused()
    # The search has its own copy of the game.
    board.push_san("Eb3")
    engine.stop()
    thread.join()
    assert found[0].depth >= 1


def test_illegal_root_moves() -> None:
    moves = [dsq.Move.from_uci("a3a4"), dsq.Move.from_uci("a3a9")]
    with pytest.raises(dsq.IllegalMoveError, match="a3a9"):
        dsq.Engine().analyse(dsq.Board(), dsq.Limit(depth=1), root_moves=moves)


def test_copies_and_pickles(three: dsq.Tables) -> None:
    board = dsq.Board("7/3L3/7/7/7/7/7/7/r6 w")
    info = dsq.Engine().analyse(board, dsq.Limit(depth=4))[0]
    value, stats = three.probe(board), three.stats("EvL")
    board.push_san("Ld9")
    limits = [dsq.Limit(1.5), dsq.Limit(depth=3, nodes=4)]
    for item in (info, value, stats, board.outcome(), *limits, dsq.Engine(hash_mib=2, tables=2, rules="chinese")):
        for other in (copy.copy(item), copy.deepcopy(item), pickle.loads(pickle.dumps(item))):
            assert type(other) is type(item)
            if not isinstance(item, dsq.Engine):
                assert repr(other) == repr(item)
    other = pickle.loads(pickle.dumps(info))
    assert other == info
    for name in ("pv", "score", "score_text", "depth", "seldepth", "multipv", "nodes", "time", "tbhits", "hashfull"):
        assert getattr(other, name) == getattr(info, name)
    assert pickle.loads(pickle.dumps(value)) == value
    assert pickle.loads(pickle.dumps(stats)).by_plies == stats.by_plies
    assert pickle.loads(pickle.dumps(board.outcome())) == board.outcome()


def test_players(three: dsq.Tables) -> None:
    board = players.play(players.player("engine:300"), players.RandomPlayer(1))
    assert board.is_game_over()
    perfect = players.TablePlayer(three)
    start = dsq.Board("7/7/7/7/L6/6e/7/7/7 w")
    played = players.play(perfect, perfect, start)
    assert (played.ply(), played.result()) == (9, "1-0")
    assert players.play(perfect, perfect, dsq.Board("7/7/7/7/7/7/7/3c3/4E2 b")).is_game_over()
    played = players.play(perfect, perfect, dsq.Board("7/7/7/7/L6/6e/7/7/7 w 95"))
    assert played.result() == "1/2-1/2", "the limit draws the game"
    everyone: list[players.Player] = [players.RandomPlayer(), players.EnginePlayer(), perfect]
    for player in everyone:
        with pytest.raises(ValueError, match="over"):
            player(played)
    for wrong in ("nobody", "engine:x", "random:3"):
        with pytest.raises(ValueError, match="no player"):
            players.player(wrong)


def test_limits_of_clocks() -> None:
    engine = dsq.Engine(hash_mib=1)
    limit = dsq.Limit(white_clock=0.5, white_inc=0.1, black_clock=1e12, remaining_moves=3, mate=None)
    assert engine.play(dsq.Board(), limit) in dsq.Board().legal_moves
    assert engine.play(dsq.Board("7/3L3/7/7/7/7/7/7/r6 w"), dsq.Limit(mate=1)) == dsq.Move.from_uci("d8d9")
    assert limit == pickle.loads(pickle.dumps(limit)) != dsq.Limit(white_clock=0.5)
    assert repr(limit) == "Limit(white_clock=0.5, black_clock=1000000000000.0, white_inc=0.1, remaining_moves=3)"
    wrong: list[dict[str, Any]] = [
        {"white_clock": -1.0},
        {"white_inc": 1.0},
        {"remaining_moves": 3},
        {"white_clock": 1.0, "remaining_moves": 0},
        {"mate": 0},
        {"black_clock": float("nan")},
    ]
    for options in wrong:
        with pytest.raises(ValueError, match=r"limit|time|least 1|increment"):
            dsq.Limit(**options)


def test_an_analysis_that_is_dropped_ends() -> None:
    engine = dsq.Engine(hash_mib=1)
    analysis = engine.analysis(dsq.Board(), multipv=3)
    assert len({info.multipv for info, _ in zip(analysis, range(9), strict=False)}) == 3
    assert len(analysis.multipv) == 3
    assert not analysis.is_over
    del analysis
    while True:
        with contextlib.suppress(RuntimeError):
            assert engine.play(dsq.Board(), dsq.Limit(nodes=1)) is not None
            break
    with pytest.raises(ValueError, match="1 to 32"):
        engine.analysis(dsq.Board(), multipv=0)


def test_the_engine_stops_its_analysis() -> None:
    with dsq.Engine(hash_mib=1) as engine:
        analysis = engine.analysis(dsq.Board())
        engine.stop()
        lines = analysis.wait()
        assert lines == analysis.multipv
        assert lines[0].pv
        assert [info.pv for info in analysis][-1:] == [line.pv for line in lines]


def test_pondering_ends_with_the_next_call() -> None:
    engine = dsq.Engine(hash_mib=1, tables=2)
    board = dsq.Board()
    for _ in range(6):
        move = engine.play(board, dsq.Limit(depth=3), ponder=True)
        assert move is not None
        board.push(move)
    engine.analyse(board, dsq.Limit(depth=1))
    engine.play(board, dsq.Limit(depth=3), ponder=True)
    engine.new_game()


@pytest.fixture(scope="module")
def other() -> Iterator[uci.UciEngine]:
    """An engine in another process."""
    with dsq.Engine.popen([sys.executable, str(Path(__file__).parent / "uci_program.py")]) as engine:
        yield engine


WIN = dsq.Board("7/3L3/7/7/7/7/7/7/r6 w")


def test_a_search_that_was_told_to_stop_does_not_stand_in_the_way(other: uci.UciEngine) -> None:
    for engine in (dsq.Engine(hash_mib=1), other):
        for _ in range(20):
            analysis = engine.analysis(dsq.Board())
            analysis.stop()
            assert str(engine.play(WIN, dsq.Limit(depth=3))) == "d8d9"
            analysis.wait()
            assert analysis.is_over
            # Nothing refers to the analysis after the loop.
            for info in engine.analysis(dsq.Board()):
                if info.depth >= 2:
                    break
            assert engine.analyse(WIN, dsq.Limit(depth=3))[0].win_in == 1
            analysis = engine.analysis(dsq.Board())
            del analysis
            engine.new_game()


def test_a_wait_that_ends_early_leaves_the_search_running(other: uci.UciEngine) -> None:
    for engine in (dsq.Engine(hash_mib=1), other):
        analysis = engine.analysis(dsq.Board())
        for _ in range(3):
            with pytest.raises(TimeoutError):
                analysis.wait(0.05)
        assert not analysis.is_over
        with pytest.raises(RuntimeError, match="is searching"):
            engine.play(WIN, dsq.Limit(depth=3))
        with pytest.raises(RuntimeError, match="is searching"):
            engine.analyse(WIN, dsq.Limit(depth=3))
        engine.stop()
        assert analysis.wait()[0].pv[0] in dsq.Board().legal_moves
        assert engine.analyse(WIN, dsq.Limit(depth=3))[0].win_in == 1
    with pytest.raises(ValueError, match="timeout"):
        dsq.Engine(hash_mib=1).analysis(WIN, dsq.Limit(depth=1)).wait(float("nan"))


def test_an_analysis_keeps_its_engine(other: uci.UciEngine) -> None:
    start = time.monotonic()
    lines = dsq.Engine(hash_mib=1).analysis(dsq.Board(), dsq.Limit(time=0.5)).wait()
    assert time.monotonic() - start >= 0.4
    assert lines[0].depth > 1


def test_lines_are_read_asynchronously(other: uci.UciEngine) -> None:
    async def depths(engine: dsq.Engine | uci.UciEngine) -> list[int]:
        return [info.depth async for info in engine.analysis(dsq.Board(), dsq.Limit(depth=5))]

    async def cancelled(engine: dsq.Engine | uci.UciEngine) -> None:
        analysis = engine.analysis(dsq.Board())

        async def read() -> None:
            async for _ in analysis:
                pass

        task = asyncio.create_task(read())
        await asyncio.sleep(0.1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        analysis.wait()

    for engine in (dsq.Engine(hash_mib=1), other):
        found = asyncio.run(depths(engine))
        assert found == sorted(found)
        assert found[-1] == 5
        asyncio.run(cancelled(engine))


def test_no_moves_to_choose_from_are_no_end_of_the_game(other: uci.UciEngine) -> None:
    for engine in (dsq.Engine(hash_mib=1), other):
        with pytest.raises(ValueError, match="names no move"):
            engine.play(dsq.Board(), dsq.Limit(depth=1), root_moves=[])
