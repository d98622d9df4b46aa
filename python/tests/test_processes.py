"""Ctrl-C, forked processes, and too little memory: the interpreter goes on, or raises."""

import multiprocessing
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import doushouqi as dsq


@contextmanager
def interrupted() -> Iterator[None]:
    """Interrupts its body, which would otherwise take minutes."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    start = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            yield
        assert time.monotonic() - start < 60
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


TWO = dsq.solve(2)


@pytest.mark.parametrize(
    "work",
    [
        lambda _: dsq.random_games(100_000_000),
        lambda _: dsq.random_positions(100_000_000, 16),
        lambda directory: dsq.generate(directory, 4),
        lambda _: dsq.perft(dsq.Board(), 11),
        lambda _: dsq.divide(dsq.Board(), 11),
        lambda _: dsq.Engine(tables=4),
        lambda _: dsq.Engine().play(dsq.Board(), dsq.Limit(float("inf"))),
        lambda _: dsq.solve(4),
    ],
    ids=["games", "positions", "generate", "perft", "divide", "engine_tables", "play", "solve"],
)
def test_an_interrupt_ends_long_calls(work: Callable[[Path], object], tmp_path: Path) -> None:
    with interrupted():
        work(tmp_path)


def test_an_interrupt_ends_a_look_up_of_many_rows() -> None:
    rows = np.broadcast_to(dsq.random_positions(1, 2), (10_000_000, 17)).copy()
    with interrupted():
        TWO.probe_many(rows)


PARENT_ENV = dsq.VecEnv(3000, seed=5)
PARENT_ENV_OF_TWO = dsq.VecEnv(3000, seed=5, threads=2)
ENGINE = dsq.Engine(tables=2)


def step(env: dsq.VecEnv) -> bytes:
    """The observations after a step."""
    env.reset(seed=5)
    return env.step(env.sample_actions())[0].tobytes()


def work(directory: Path) -> Iterator[tuple[str, object]]:
    """Results of calls that use threads, by name."""
    packed = dsq.random_positions(3000, 2, seed=1)
    yield "random_positions", packed.tobytes()
    yield "random_games", dsq.random_games(100)["actions"].tobytes()
    yield "env", step(PARENT_ENV)
    yield "env of two threads", step(PARENT_ENV_OF_TWO)
    yield "probe_many", TWO.probe_many(packed)[1].tobytes()
    with dsq.open_tables(directory) as tables:
        yield "probe_many of files", tables.probe_many(packed)[1].tobytes()
        yield "to_numpy", tables.to_numpy("EvL")[1].tobytes()
    yield "solve", dsq.solve(2).stats("EvL").by_plies
    yield "perft", dsq.perft(dsq.Board(), 4)
    yield "tree", dsq.learn_tree(TWO, "EvL", max_leaves=3).to_text()
    yield "engine", str(ENGINE.play(dsq.Board("7/7/7/7/L6/6e/7/7/7 w"), dsq.Limit(depth=3)))


def child(directory: Path, results: Connection) -> None:
    """Sends the results."""
    for result in work(directory):
        results.send(result)
    results.send(None)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_works(two_on_disk: Path) -> None:
    expected = list(work(two_on_disk))
    results, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=child, args=(two_on_disk, sender))
    process.start()
    try:
        for name, result in expected:
            assert results.poll(60), f"the child hangs at {name}"
            assert results.recv() == (name, result)
        process.join(60)
        assert process.exitcode == 0
    finally:
        process.kill()
    # The parent's threads are still there.
    assert list(work(two_on_disk)) == expected


def run(program: str, **environment: str) -> str:
    """Runs a program in another interpreter and returns what it prints."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_arrays_need_no_import_after_the_package_is_imported() -> None:
    """An interrupt within an import by the first call that returns an array would be a panic."""
    run("""
import builtins, doushouqi as dsq
def fail(*_, **__): raise KeyboardInterrupt
builtins.__import__ = fail
dsq.random_games(2), dsq.random_positions(2, 3), dsq.pack([dsq.Board()])
dsq.Board().observation(), dsq.Board().action_mask(), dsq.solve("EvL").probe_many(["7/7/3l3/7/7/7/3E3/7/7 w"])
""")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of the address space is Linux's")
@pytest.mark.parametrize(
    "call", ["VecEnv(1 << 22)", "random_positions(10**9, 2)", "random_games(10**9)", "random_games(3 * 10**8)"]
)
def test_too_little_memory_raises(call: str) -> None:
    program = f"""
import resource, doushouqi as dsq
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    dsq.{call}
except MemoryError:
    print("MemoryError")
"""
    assert run(program, OPENBLAS_NUM_THREADS="1", RAYON_NUM_THREADS="2") == "MemoryError\n"


@pytest.mark.parametrize("count", [2**33, 10**13, 2**60])
def test_too_many_raises(count: int) -> None:
    with pytest.raises(ValueError, match="at most"):
        dsq.random_games(count)
    with pytest.raises(ValueError, match="at most"):
        dsq.random_positions(count, 2)


def everything(directory: str) -> list[object]:
    """What a worker returns: an object of every class that can be pickled."""
    board = dsq.Board("7/3L3/7/7/7/7/7/7/r6 w")
    tables = dsq.open_tables(directory)
    value = tables.probe("7/7/7/7/L6/6e/7/7/7 w")
    info = dsq.Engine(hash_mib=1).analyse(board, dsq.Limit(depth=2))
    moves = tables.moves("7/7/7/7/L6/6e/7/7/7 w")
    limits = [dsq.Limit(depth=3), dsq.Rules("chinese"), dsq.Piece(7, True), dsq.Move(0, 1)]
    game = dsq.Game.from_board(board)
    states = dsq.VecEnv(2).get_states()
    board.push_san("Ld9")
    others = [board, board.outcome(), value, info, moves, tables.stats("EvL"), tables, game, dsq.Features("EvL")]
    return [*others, *limits, dsq.Engine(hash_mib=1), states, dsq.random_positions(2, 2), dsq.perft(board, 1)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_processes_return_everything(method: str, two_on_disk: Path) -> None:
    """Also in another interpreter, whichever way it is started."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    program = f"""
import multiprocessing, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_processes import everything
if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        for found in pool.map(everything, [{str(two_on_disk)!r}] * 3):
            assert [type(item) for item in found] == [type(item) for item in everything({str(two_on_disk)!r})]
            print(found[0].outcome().termination)
"""
    # The children of `spawn` read the program from a file.
    path = two_on_disk.parent / f"{method}.py"
    path.write_text(program)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "den\n" * 3, done.stderr


def test_an_interrupt_ends_calls_on_many_objects(two_on_disk: Path) -> None:
    env = dsq.VecEnv(2000)
    # The end of the engine would end its search.
    engine = dsq.Engine(hash_mib=1)
    analysis = engine.analysis(dsq.Board())
    waits: list[Callable[[], object]] = [lambda: env.engine_actions(10**9), analysis.wait, lambda: list(analysis)]
    for wait in waits:
        with interrupted():
            wait()
    analysis.stop()
    assert analysis.wait()


def test_ctrl_c_ends_a_process() -> None:
    """As at a terminal: SIGINT, without a handler of the test."""
    program = """
import doushouqi as dsq
print("ready", flush=True)
dsq.Engine().play(dsq.Board(), dsq.Limit(1e9))
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in error


FORKS = """
import os, signal, sys, threading, time
import numpy as np
import doushouqi as dsq

directory, cache, fen = sys.argv[1], sys.argv[2], "7/7/7/7/L6/6e/7/7/7 w"
rows = dsq.random_positions(5_000, 2, seed=1)
boards = dsq.unpack(rows[:50])
files, loaded = dsq.open_tables(directory), dsq.open_tables(directory, in_memory=2)
demand, memory = dsq.open_tables(directory, on_demand=True, cache=cache), dsq.solve(2)
tables = [files, loaded, demand, memory]
dsq.generate(cache + "-limited", 2, limit=40)
limited = dsq.open_limited(cache + "-limited")
engine, env = dsq.Engine(hash_mib=1, tables=2), dsq.VecEnv(2000, threads=2)
analysis = engine.analysis(dsq.Board(), dsq.Limit(depth=1))
expected = memory.probe_many(rows)[1].tobytes()
done = threading.Event()

def until_done(work):
    def run():
        while not done.is_set():
            work()
    return run

def probe():
    dsq.open_tables(directory).probe_many(rows)
    [limited.probe(board.fen()) for board in boards]
    for some in tables:
        some.probe_many(rows)
        [some.probe(board) for board in boards]

def search():
    engine.play(dsq.Board(fen), dsq.Limit(nodes=300), ponder=True)
    engine.play(dsq.Board(), dsq.Limit(nodes=300), ponder=True)

def analyse():
    other = dsq.Engine(hash_mib=1).analysis(dsq.Board())
    while not done.is_set():
        time.sleep(0.01)

threads = [threading.Thread(target=until_done(work), daemon=True) for work in (probe, probe, search, analyse)]
[thread.start() for thread in threads]
running = dsq.Engine(hash_mib=1).analysis(dsq.Board())
for _ in range(25):
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        # A child that hangs is ended by the signal.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(120)
        try:
            for some in tables:
                assert some.probe_many(rows)[1].tobytes() == expected
                assert some.probe(fen).dtw == 9
            assert limited.probe(fen + " 31") == {"wdl": 1, "category": "win", "dtz": 9}
            assert engine.analyse(dsq.Board(fen), dsq.Limit(depth=1))[0].win_in == 9
            assert dsq.Engine(hash_mib=1, tables=2).analyse(dsq.Board(fen), dsq.Limit(depth=1))[0].win_in == 9
            env.step(env.sample_actions())
            for call in (running.wait, lambda: running.info, lambda: next(running)):
                try:
                    call()
                except RuntimeError as error:
                    assert "another process" in str(error)
                else:
                    raise AssertionError("there is no such search here")
            os._exit(0)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, code
done.set()
[thread.join() for thread in threads]
print("done")
"""


FORK_IN_CALLBACK = """
import os, signal, sys
import doushouqi as dsq

directory, cache = sys.argv[1:]
first, second, third = (f"7/7/3e{animal}2/7/7/7/3E3/7/7 w" for animal in "ltr")
tables = dsq.open_tables(directory, on_demand=True, cache=cache)
forks = []
opened, gate = os.pipe()

def progress(phase, share):
    if not forks:
        # A callback may use the package, on however few threads.
        assert tables.probe_many(dsq.random_positions(5_000, 2))[0].min() >= -1
        forks.append(os.fork())
        if forks == [0]:
            # A child that hangs is ended by the signal.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(120)

try:
    tables.count(first, progress)
except RuntimeError as error:
    assert forks == [0] and "another process" in str(error), error
    os.close(gate)
    os.read(opened, 1)
    assert tables.probe_many(dsq.random_positions(5_000, 2))[0].min() >= -1
    assert tables.need(first) is None
    tables.count(third, progress)
    assert tables.need(third) is None
    os._exit(0)
assert tables.need(first) is None
# The child is still there, and does not hold the lock of the cache.
tables.count(second)
os.close(gate)
code = os.waitstatus_to_exitcode(os.waitpid(forks[0], 0)[1])
assert code == 0, code
print("done")
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_fork_within_a_callback(threads: str, two_on_disk: Path, tmp_path: Path) -> None:
    """Neither process waits for the other, or for threads that it lacks."""
    command = [sys.executable, "-W", "ignore", "-c", FORK_IN_CALLBACK, str(two_on_disk), str(tmp_path)]
    environment = {"RAYON_NUM_THREADS": threads}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stdout + done.stderr


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
def test_forks_while_other_threads_work(two_on_disk: Path, tmp_path: Path) -> None:
    """Locks that another thread holds at the fork do not stop the new process."""
    command = [sys.executable, "-W", "ignore", "-c", FORKS, str(two_on_disk), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stdout + done.stderr
