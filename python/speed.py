"""Measures `VecEnv` with random moves, and next to it a plain loop over boards.

`python speed.py [threads]` prints steps per second. A step is a move in one game, with its observation and mask.
"""

import sys
import time

import numpy as np

import doushouqi as dsq


def batch(games: int, threads: int, seconds: float = 2.0) -> float:
    """Steps per second of a batch whose actions are drawn in Rust."""
    env = dsq.VecEnv(games, seed=1, threads=threads)
    # First the games spread over different plies.
    for _ in range(300):
        env.step(env.sample_actions())
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(20):
            env.step(env.sample_actions())
        steps += 20 * games
    return steps / (time.perf_counter() - start)


def plain(seconds: float = 2.0) -> float:
    """Steps per second of a Python loop over one board."""
    random, board = np.random.default_rng(1), dsq.Board()
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(100):
            if board.is_game_over():
                board.reset()
            mask = board.action_mask()
            board.observation()
            board.push_action(int(random.choice(np.flatnonzero(mask))))
        steps += 100
    return steps / (time.perf_counter() - start)


def main() -> None:
    """Prints the table."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    loop = plain()
    print(f"plain loop over a Board: {loop:,.0f} steps/s")
    for games in (256, 1024, 4096, 16384):
        speed = batch(games, threads)
        print(f"VecEnv({games}): {speed / 1e6:.2f} million steps/s, {speed / loop:,.0f} times the plain loop")


if __name__ == "__main__":
    main()
