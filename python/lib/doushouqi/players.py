"""Players: objects that choose a move for a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ._core import Board, Engine, Limit, Move, Tables
from .uci import UciEngine

Player: TypeAlias = Callable[[Board], Move]
"""Chooses a legal move of a board whose game is not over."""


class RandomPlayer:
    """Plays every legal move with the same probability."""

    def __init__(self, seed: int | None = None) -> None:
        """Seeds the choice."""
        self.random = np.random.default_rng(seed)

    def __call__(self, board: Board) -> Move:
        """Return a random legal move."""
        moves = board.legal_moves
        if not moves:
            raise ValueError("the game is over")
        return moves[int(self.random.integers(len(moves)))]


class EnginePlayer:
    """Plays the move of an engine that searches a number of nodes."""

    def __init__(self, nodes: int = 1000, engine: Engine | UciEngine | None = None) -> None:
        """Use `engine`, or one with a transposition table of 1 MiB."""
        self.engine = engine if engine is not None else Engine(hash_mib=1)
        self.limit = Limit(nodes=nodes)

    def __call__(self, board: Board) -> Move:
        """Return the best move found."""
        move = self.engine.play(board, self.limit)
        if move is None:
            raise ValueError("the game is over")
        return move


class TablePlayer:
    """Plays perfectly if the tables contain the position, and otherwise as another player.

    A perfect player takes the shortest win, or else a draw, or else the longest loss. It counts plies without regard to
    the no-capture limit.
    """

    def __init__(self, tables: Tables, otherwise: Player | None = None) -> None:
        """Use `tables`; `otherwise` is a random player by default."""
        self.tables = tables
        self.otherwise = otherwise if otherwise is not None else RandomPlayer()

    def __call__(self, board: Board) -> Move:
        """Return a move of the best value."""
        legal = board.legal_moves
        # The values of a board with a halfmove clock may depend on the no-capture limit.
        for move, _ in self.tables.moves(board.with_turn(board.turn)) or []:
            if move in legal:
                return move
        return self.otherwise(board)


def checked_options(options: Mapping[str, Any] | None, known: Sequence[str]) -> Mapping[str, Any]:
    """Return the options of a reset of an environment. Raises ValueError for one that is not known."""
    for name in options or {}:
        if name not in known:
            raise ValueError(f"a reset has no option {name!r}; it has {', '.join(known)}")
    return options or {}


def player(name: str, seed: int | None = None) -> Player:
    """Return the player of a name: `random`, `engine` or `engine:NODES`."""
    kind, _, nodes = name.partition(":")
    if kind == "random" and not nodes:
        return RandomPlayer(seed)
    if kind == "engine" and (not nodes or nodes.isdigit()):
        return EnginePlayer(int(nodes or 1000))
    raise ValueError(f"no player is called {name!r}; the players are random, engine and engine:NODES")


def play(white: Player, black: Player, board: Board | None = None) -> Board:
    """Play a game to its end and return the board."""
    board = Board() if board is None else board.copy()
    while not board.is_game_over():
        board.push((white if board.turn else black)(board))
    return board
