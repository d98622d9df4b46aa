"""A Gymnasium environment against a chosen opponent.

`gymnasium.make("doushouqi/Jungle-v0", opponent="engine:1000")` makes it once this module is imported. The observation
is the int8 planes of shape (16, 9, 7) that `Board.observation` returns, from the agent's view; `info["action_mask"]`
contains the legal actions. The reward is 1 for a win, -1 for a loss and 0 otherwise. An illegal action loses the game,
with `info["illegal"]`. The render mode `ansi` returns the board as text, `human` prints it after every reset and step.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from . import ACTIONS
from ._core import Board, Rules
from .players import Player, player

_TRIES = 100
"""The most games that a reset begins."""


class JungleEnv(gymnasium.Env[NDArray[np.int8], np.int64]):
    """One agent against an opponent."""

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's name and form

    def __init__(
        self,
        opponent: Player | str = "random",
        color: Literal["white", "black", "random"] = "white",
        rules: Rules | str = "paper",
        start: str | Callable[[np.random.Generator], str] | None = None,
        no_capture_limit: int | None = 100,
        render_mode: str | None = None,
    ) -> None:
        """Make an environment.

        `opponent` is a name such as `random` or `engine:1000`, or a function from a board to a move:
        `players.TablePlayer` plays perfectly. `start` is the FEN of the first position, or a function that draws one.
        """
        if color not in ("white", "black", "random"):
            raise ValueError(f"the color is white, black or random, not {color!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"the render mode is ansi or human, not {render_mode!r}")
        self.opponent = opponent
        self.color = color
        self.start = start
        self.options: dict[str, Any] = {"rules": rules, "no_capture_limit": no_capture_limit}
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0, 1, (16, 9, 7), np.int8)
        self.action_space = spaces.Discrete(ACTIONS)
        self._move = player(opponent, 0) if isinstance(opponent, str) else opponent
        self.board = self._first()
        self.white = True
        self._over = True

    def _first(self) -> Board:
        fen = self.start(self.np_random) if callable(self.start) else self.start
        board = Board(fen, **self.options)
        if board.is_game_over():
            raise ValueError("the game is over in the first position")
        return board

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin a game; the opponent moves if it is on move.

        A game that the opponent's first move ends is replaced by another. After many such games the start is refused
        with ValueError.
        """
        super().reset(seed=seed)
        for _ in range(_TRIES):
            if isinstance(self.opponent, str):
                self._move = player(self.opponent, int(self.np_random.integers(2**32)))
            self.white = self.color == "white" or (self.color == "random" and bool(self.np_random.integers(2)))
            self.board = self._first()
            self._answer()
            if not self.board.is_game_over():
                self._over = False
                self._show()
                return self._observe(), self._info()
        raise ValueError("the opponent's first move ends the game: choose another start or color")

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Make the move of an action, and the opponent's answer.

        Raises ValueError if no game is in progress, and TypeError if the action is not an integer.
        """
        if self._over:
            raise ValueError("no game is in progress: call reset")
        number = index(action)
        if number not in self.board.legal_actions():
            self._over = True
            return self._observe(), -1.0, True, False, self._info() | {"illegal": True}
        self.board.push_action(number)
        self._answer()
        self._show()
        outcome = self.board.outcome()
        self._over = outcome is not None
        reward = 0.0
        if outcome is not None and outcome.winner is not None:
            reward = 1.0 if outcome.winner == self.white else -1.0
        return self._observe(), reward, self._over, False, self._info()

    def render(self) -> str | None:
        """Return the board as text in the mode `ansi`, print it in the mode `human`."""
        if self.render_mode == "human":
            print(self.board)
        return str(self.board) if self.render_mode == "ansi" else None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _answer(self) -> None:
        if self.board.turn != self.white and not self.board.is_game_over():
            self.board.push(self._move(self.board))

    def _observe(self) -> NDArray[np.int8]:
        return self.board.with_turn(self.white).observation()

    def _info(self) -> dict[str, Any]:
        outcome = self.board.outcome()
        info: dict[str, Any] = {"action_mask": self.board.action_mask().astype(np.int8)}
        if outcome is not None:
            info["outcome"] = outcome.termination
        return info


gymnasium.register(id="doushouqi/Jungle-v0", entry_point="doushouqi.gymnasium_env:JungleEnv")
