"""Measures `VecEnv` with random moves, and next to it a plain loop over boards.

`python speed.py [threads]` prints steps per second. A step is a move in one game, with its observation and mask.
`python speed.py others` also measures games of pgx, open_spiel and PettingZoo, those of them that are installed.
"""

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

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


def pettingzoo(name: str, seconds: float) -> float:
    """Steps per second of a Python loop over a classic environment of PettingZoo, with observations and masks."""
    module = importlib.import_module(f"pettingzoo.classic.{name}")
    random, env = np.random.default_rng(1), module.env()
    steps, start = 0, time.perf_counter()
    env.reset(seed=1)
    while time.perf_counter() - start < seconds:
        observation, _, ended, truncated, _ = env.last()
        if ended or truncated:
            env.reset()
        else:
            env.step(int(random.choice(np.flatnonzero(observation["action_mask"]))))
            steps += 1
    return steps / (time.perf_counter() - start)


def open_spiel(name: str, seconds: float) -> float:
    """Steps per second of a Python loop over a C++ game of open_spiel, with observations and masks."""
    pyspiel = importlib.import_module("pyspiel")
    random, game = np.random.default_rng(1), pyspiel.load_game(name)
    steps, state, start = 0, game.new_initial_state(), time.perf_counter()
    while time.perf_counter() - start < seconds:
        if state.is_terminal():
            state = game.new_initial_state()
        state.observation_tensor()
        state.apply_action(int(random.choice(np.flatnonzero(state.legal_actions_mask()))))
        steps += 1
    return steps / (time.perf_counter() - start)


def pgx(name: str, seconds: float, games: int = 1024, at_once: int = 50) -> float:
    """Steps per second of a batch of pgx: random moves and new games are compiled with the steps."""
    jax, library = importlib.import_module("jax"), importlib.import_module("pgx")
    env = library.make(name)
    step = jax.vmap(importlib.import_module("pgx.experimental").auto_reset(env.step, env.init))

    def one(_: int, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        state, key = carry
        key, drawn, begun = jax.random.split(key, 3)
        actions = jax.random.categorical(drawn, jax.numpy.where(state.legal_action_mask, 0.0, -1e9))
        return step(state, actions, jax.random.split(begun, games)), key

    run = jax.jit(lambda carry: jax.lax.fori_loop(0, at_once, one, carry))
    keys = jax.random.split(jax.random.PRNGKey(1), games)
    # The first run compiles; then the games spread over different plies.
    carry = jax.block_until_ready(run((jax.jit(jax.vmap(env.init))(keys), jax.random.PRNGKey(2))))
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        carry = jax.block_until_ready(run(carry))
        steps += at_once * games
    return steps / (time.perf_counter() - start)


OTHERS: dict[str, tuple[Callable[[str, float], float], tuple[str, ...]]] = {
    "pgx": (pgx, ("animal_shogi", "gardner_chess", "chess", "connect_four")),
    "open_spiel": (open_spiel, ("breakthrough", "chess", "connect_four")),
    "PettingZoo": (pettingzoo, ("chess_v6", "connect_four_v3")),
}


def main() -> None:
    """Prints the table."""
    others = sys.argv[1:] == ["others"]
    threads = int(sys.argv[1]) if sys.argv[1:] and not others else 0
    loop = plain()
    print(f"plain loop over a Board: {loop:,.0f} steps/s")
    for games in (256, 1024, 4096, 16384):
        speed = batch(games, threads)
        print(f"VecEnv({games}): {speed / 1e6:.2f} million steps/s, {speed / loop:,.0f} times the plain loop")
    for library, (measure, games_of) in OTHERS.items() if others else ():
        for name in games_of:
            try:
                print(f"{library}, {name}: {measure(name, 5.0):,.0f} steps/s", flush=True)
            except ImportError as error:
                print(f"{library}, {name}: {error}")


if __name__ == "__main__":
    main()
