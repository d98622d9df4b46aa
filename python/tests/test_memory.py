"""Memory that cannot be had: every call that takes much of it raises MemoryError, or succeeds, under any limit."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit of the address space is Linux's")

# A child of its own for each limit, since a limit cannot be raised again. The child ends by a signal if an allocation
# fails where Rust cannot report it.
PROGRAM = """
import os, resource, sys
import numpy as np
import doushouqi as dsq

call, directory, four, cache = sys.argv[1:]
fen = "7/7/7/7/L6/6e/7/7/7 w"
rows = dsq.random_positions(200_000, "EvL")
white = rows[rows[:, 16] == 0]
board = dsq.Board()
long = dsq.Board(no_capture_limit=None, rules="repetition=none")
for i in range(400):
    long.push_uci(("a3b3", "a7b7", "b3a3", "b7a7")[i % 4])
games = str(dsq.Game.from_board(long)).splitlines() * 100
for mib in (1, 16, 24, 40, 70, 130, 300, 800):
    child = os.fork()
    if child == 0:
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (mib << 20),) * 2)
        try:
            eval(call)
        except MemoryError:
            os._exit(3)
        except BaseException as error:
            print(mib, type(error), error, flush=True)
            os._exit(4)
        os._exit(0)
    print(mib, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

CALLS = {
    "unpack": "dsq.unpack(rows)",
    "pack": "dsq.pack([fen] * 200_000)",
    "random_games": "dsq.random_games(20_000)",
    "random_positions": "dsq.random_positions(4_000_000, 'EvL')",
    "VecEnv": "[env.step(env.sample_actions()) for env in [dsq.VecEnv(50_000)] for _ in range(3)]",
    "states": "dsq.VecEnv(8).get_states([i % 8 for i in range(100_000)])",
    "history_planes": "dsq.VecEnv(2000).history_planes(64)",
    "engine_actions": "dsq.VecEnv(64).engine_actions(50)",
    "engine": "dsq.Engine(hash_mib=256).play(board, dsq.Limit(nodes=2000))",
    "threads": "dsq.Engine(threads=4).analyse(board, dsq.Limit(nodes=2000))",
    "analysis": "dsq.Engine(hash_mib=1).analysis(board, dsq.Limit(nodes=2000)).wait()",
    "engine with tables": "dsq.Engine(tables=3).analyse(dsq.Board(fen), dsq.Limit(depth=2))",
    "engine with tables of four": "dsq.Engine(tables=4)",
    "engine with files": "dsq.Engine(tables=directory).analyse(dsq.Board(fen), dsq.Limit(depth=2))",
    "solve": "dsq.solve(3).stats('EvLR')",
    "solve four": "dsq.solve(4)",
    "read_games": "list(dsq.read_games(games))",
    "export": "str(dsq.Game.from_board(long))",
    "probe": "dsq.open_tables(directory).probe(fen)",
    "probe_many": "dsq.open_tables(directory).probe_many(rows)",
    "in_memory": "dsq.open_tables(directory, in_memory=3).probe_many(rows)",
    "in_memory of four": "dsq.open_tables(four, in_memory=4).probe_many(rows)",
    "to_numpy": "dsq.open_tables(directory).to_numpy('EvLR')",
    "longest": "dsq.open_tables(directory).longest(3)",
    "on_demand": "dsq.open_tables(directory, on_demand=True, cache=cache).count('7/3rl2/7/7/7/7/3E3/3C3/7 w')",
    "generate": "dsq.generate(cache + '/made', 2)",
    "features": "dsq.Features('EvL').values(white)",
    "tree": "dsq.learn_tree(dsq.solve('EvL'), 'EvL', max_leaves=3)",
    "perft": "dsq.perft(board, 7)",
}


@pytest.mark.parametrize("name", CALLS)
def test_every_limit_is_survived(name: str, three_on_disk: Path, four_on_disk: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, CALLS[name], str(three_on_disk), str(four_on_disk), str(tmp_path)]
    environment = {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    codes = [int(line.split()[1]) for line in done.stdout.splitlines() if line.split()[1].lstrip("-").isdigit()]
    assert len(codes) == 8, done.stderr
    assert set(codes) <= {0, 3}, done.stdout + done.stderr
    assert codes[0] == 3, "the least limit suffices for nothing"
