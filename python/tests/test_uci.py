"""Engines in other processes."""

import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

import doushouqi as dsq
from doushouqi import players
from doushouqi.uci import UciEngine, _info, _option

PROGRAM = [sys.executable, str(Path(__file__).parent / "uci_program.py")]
WIN = "7/3L3/7/7/7/7/7/7/r6 w"


@pytest.fixture(scope="module")
def shared() -> Iterator[UciEngine]:
    """An engine that the tests share."""
    with dsq.Engine.popen(PROGRAM) as engine:
        yield engine


def test_the_engine_introduces_itself(shared: UciEngine) -> None:
    assert shared.id == {"name": "Test engine", "author": "the tests"}
    assert shared.options["style"].var == ("calm", "very wild")
    assert (shared.options["multipv"].max, shared.options["clear hash"].type) == (8, "button")
    shared.configure({"Style": "very wild", "Clear Hash": None, "MultiPV": 2})
    with pytest.raises(dsq.EngineError, match="no option 'Hash'"):
        shared.configure({"Hash": 16})
    with pytest.raises(ValueError, match="one line"):
        shared.configure({"Rules": "paper\nquit"})


def test_an_empty_text_has_a_name(shared: UciEngine) -> None:
    assert shared.options["book"].default == ""
    shared.configure({"Book": ""})
    assert list(shared._heard.lines) == ["info string setoption name Book value <empty>"]


def test_the_interface_is_that_of_the_engine(shared: UciEngine) -> None:
    board = dsq.Board(WIN)
    for engine in (shared, dsq.Engine()):
        for call in (engine.play, engine.analyse):
            with pytest.raises(TypeError):
                call(board, None)  # type: ignore[arg-type]
        assert str(engine.play(board, dsq.Limit(depth=4))) == "d8d9"
        best, second = engine.analyse(board, dsq.Limit(depth=4), multipv=2)
        assert (best.win_in, best.multipv, second.multipv) == (1, 1, 2)
        assert best.score > second.score
        with engine.analysis(dsq.Board(), dsq.Limit(depth=5)) as analysis:
            depths = [info.depth for info in analysis]
            assert depths == sorted(depths)
            assert analysis.is_over
            assert analysis.info is not None
            assert analysis.wait()[0] == analysis.multipv[0] == analysis.info
        engine.new_game()
        with pytest.raises(dsq.IllegalMoveError, match="a3a9"):
            engine.play(dsq.Board(), dsq.Limit(depth=1), root_moves=[dsq.Move.from_uci("a3a9")])
        with pytest.raises(ValueError, match="no clock for"):
            engine.play(dsq.Board(), dsq.Limit(black_clock=10))
        over = dsq.Board("3L3/7/7/7/7/7/7/7/r6 b")
        assert engine.play(over, dsq.Limit(depth=1)) is None
        assert engine.analyse(over, dsq.Limit(depth=1)) == []


def test_an_endless_analysis_is_stopped(shared: UciEngine) -> None:
    for engine in (shared, dsq.Engine(hash_mib=1)):
        with engine.analysis(dsq.Board()) as analysis:
            first = next(iter(analysis))
            assert first.depth >= 1
            # One search at a time.
            with pytest.raises(RuntimeError, match="is searching"):
                engine.play(dsq.Board(), dsq.Limit(depth=1))
            stopper = threading.Thread(target=analysis.stop)
            stopper.start()
            last = [first, *analysis][-1]
            stopper.join()
        assert last.pv
        assert engine.play(dsq.Board(WIN), dsq.Limit(depth=3)) == dsq.Move.from_uci("d8d9")
        with engine.analysis(dsq.Board()) as analysis:
            pass
        assert analysis.is_over


def test_rules_and_moves_are_sent(shared: UciEngine) -> None:
    board = dsq.Board(rules="chinese", no_capture_limit=None)
    board.push_san("Eb3")
    with shared.analysis(board, dsq.Limit(depth=2, white_clock=60, black_clock=1.5, black_inc=0.25)) as analysis:
        assert analysis.wait()
        said = shared._heard.lines[-1]
        assert "go wtime 60000 btime 1500 binc 250 depth 2" in said
        assert said.endswith(f"{dsq.Rules('chinese')} 0")
        assert analysis.wait()[0].pv[0] in board.legal_moves


def test_pondering(shared: UciEngine) -> None:
    for engine in (shared, dsq.Engine(hash_mib=1)):
        board = dsq.Board()
        for reply in ("expected", "another"):
            move = engine.play(board, dsq.Limit(depth=4), ponder=True)
            assert move is not None
            board.push(move)
            if reply == "expected" and isinstance(engine, UciEngine):
                assert engine._pondering is not None
                board = engine._pondering[0].copy()
            else:
                board.push(board.legal_moves[-1])
        assert engine.play(board, dsq.Limit(depth=3)) in board.legal_moves
        engine.new_game()


def test_players(shared: UciEngine) -> None:
    start = dsq.Board(WIN)
    assert players.play(players.EnginePlayer(engine=shared), players.RandomPlayer(1), start).ply() == 1


@pytest.mark.parametrize(
    ("wrong", "message"), [("crash", "exit code 7"), ("illegal", "cannot be played"), ("silent", "not answered")]
)
def test_engines_that_fail(wrong: str, message: str) -> None:
    def use() -> None:
        with dsq.Engine.popen([*PROGRAM, wrong], timeout=5 if wrong == "silent" else 60) as engine:
            engine.play(dsq.Board(), dsq.Limit(depth=1))

    with pytest.raises(dsq.EngineError, match=message):
        use()


def never_answering() -> UciEngine:
    """An engine that never names a move, with a patience of a second."""
    engine = dsq.Engine.popen([*PROGRAM, "never"])
    engine.timeout = 1
    return engine


def test_an_engine_that_never_answers_is_late() -> None:
    with never_answering() as engine:
        board = dsq.Board(WIN)
        with pytest.raises(dsq.EngineError, match="late"):
            engine.play(board, dsq.Limit(time=0.1))
        # The next question is not answered in place of the last one.
        with pytest.raises(dsq.EngineError, match="not ended its search"):
            engine.play(dsq.Board(), dsq.Limit(time=0.1))
        for limit in (dsq.Limit(time=0.1), None):
            with never_answering() as other:
                analysis = other.analysis(board, limit)
                with pytest.raises(TimeoutError):
                    analysis.wait(0)
                analysis.stop()
                with pytest.raises(dsq.EngineError, match="late"):
                    analysis.wait()


def test_ctrl_c_is_not_replaced_by_an_error_of_the_engine() -> None:
    def handler(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with never_answering() as engine:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                engine.play(dsq.Board(), dsq.Limit(1e9))
        never = never_answering()
        with never, pytest.raises(KeyboardInterrupt), never.analysis(dsq.Board(WIN)):
            raise KeyboardInterrupt
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_answer_that_comes_twice_is_no_answer_to_the_next_question() -> None:
    with dsq.Engine.popen([*PROGRAM, "twice"]) as engine:
        engine.play(dsq.Board(), dsq.Limit(depth=1))
        for _ in range(5):
            assert engine.play(dsq.Board(WIN), dsq.Limit(depth=3)) == dsq.Move.from_uci("d8d9")
            assert engine.analyse(dsq.Board(WIN), dsq.Limit(depth=3))[0].win_in == 1


def test_values_that_an_engine_refuses_raise() -> None:
    with dsq.Engine.popen([*PROGRAM, "refuse"]) as engine:
        for options in ({"MultiPV": "abc"}, {"MultiPV": 9}, {"Style": "loud"}, {"NoCaptureLimit": "x"}):
            with pytest.raises(dsq.EngineError, match="the option"):
                engine.configure(options)
        for _ in range(2):
            with pytest.raises(dsq.EngineError, match="no rules are called"):
                engine.configure({"Rules": "nonsense"})
        # Nor does it answer under other rules than those of the board.
        with pytest.raises(dsq.EngineError, match="no rules are called"):
            engine.play(dsq.Board(rules="chinese"), dsq.Limit(depth=1))
        assert engine.play(dsq.Board(WIN), dsq.Limit(depth=3)) == dsq.Move.from_uci("d8d9")


@pytest.mark.parametrize("command", ["", "no such engine", [sys.executable, "-c", "print('hello')"]])
def test_no_engines(command: str | list[str]) -> None:
    with pytest.raises(dsq.EngineError):
        dsq.Engine.popen(command)


def test_an_interrupt_ends_a_search(shared: UciEngine) -> None:
    def handler(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            shared.play(dsq.Board(), dsq.Limit(1e9))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert shared.play(dsq.Board(WIN), dsq.Limit(depth=2)) is not None


@pytest.mark.parametrize(
    ("line", "score", "win", "loss"),
    [
        ("depth 3 score cp 17 pv a3b3 a7b7", 17, None, None),
        ("score mate 3 nodes 5 pv a3b3", 999_995, 5, None),
        ("score mate -2 pv a3b3", -999_996, None, 4),
        ("score mate 2 lowerbound pv a3b3", 899_997, None, None),
        ("score cp 99999999 lowerbound pv a3b3", 880_000, None, None),
    ],
)
def test_lines_are_read(line: str, score: int, win: int | None, loss: int | None) -> None:
    info = _info(line.split())
    assert info is not None
    assert (info.score, info.win_in, info.loss_in) == (score, win, loss)


@pytest.mark.parametrize(
    "line", ["", "depth", "score cp x pv a3b3", "score cp 1", "string score cp 1 pv a3b3", "score cp 1 pv hello", "pv"]
)
def test_other_lines_are_skipped(line: str) -> None:
    assert _info(line.split()) is None


def test_options_are_read() -> None:
    option = _option(["name", "Skill", "name", "type", "spin", "default", "3", "min", "-1", "max", "ten"])
    assert (option.name, option.default, option.min, option.max) == ("Skill name", "3", -1, None)
    option = _option(["name", "Evaluation", "type", "combo", "default", "default", "var", "default", "var", "burnett"])
    assert (option.default, option.var) == ("default", ("default", "burnett"))
