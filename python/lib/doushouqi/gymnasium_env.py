"""A Gymnasium environment against a chosen opponent, for one game or many.

`gymnasium.make("doushouqi/Jungle-v0", opponent="engine:1000")` makes it once this module is imported. The observation
is the int8 planes of shape (16, 9, 7) that `Board.observation` returns, from the agent's view; `info["action_mask"]`
contains the legal actions. The reward is 1 for a win, -1 for a loss and 0 otherwise. An illegal action loses the game,
with `info["illegal"]`. The render mode `ansi` returns the board as text, `human` prints it after every reset and step.

`gymnasium.make_vec("doushouqi/Jungle-v0", num_envs=1024)` makes many games that step together.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from . import ACTIONS, STARTING_FEN
from ._core import Board, Rules, Tables, VecEnv
from .players import Player, checked_options, player

_TRIES = 100
"""The most games that a reset begins."""


def _checked_color(color: str) -> str:
    if color not in ("white", "black", "random"):
        raise ValueError(f"the color is white, black or random, not {color!r}")
    return color


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
        _checked_color(color)
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
        self.board = self._first(start)
        self.white = True
        self._over = True

    def _first(self, start: str | Callable[[np.random.Generator], str] | None) -> Board:
        fen = start(self.np_random) if callable(start) else start
        board = Board(fen, **self.options)
        if board.is_game_over():
            raise ValueError("the game is over in the first position")
        return board

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin a game; the opponent moves if it is on move.

        The options `start` and `color` replace those of the environment for this game; any other raises ValueError. A
        game that the opponent's first move ends is replaced by another. After many such games the start is refused with
        ValueError.
        """
        super().reset(seed=seed)
        given = checked_options(options, ["start", "color"])
        color = _checked_color(given.get("color", self.color))
        for _ in range(_TRIES):
            if isinstance(self.opponent, str):
                self._move = player(self.opponent, int(self.np_random.integers(2**32)))
            self.white = color == "white" or (color == "random" and bool(self.np_random.integers(2)))
            self.board = self._first(given.get("start", self.start))
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

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, as sb3-contrib asks for them."""
        return self.board.action_mask()

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


_ENDS = np.array(["", "den", "captured", "no_move", "repetition", "no_capture"])
"""The names of the numbers in `VecEnv.ends`."""


class JungleVectorEnv(VectorEnv[NDArray[np.int8], NDArray[np.int64], NDArray[Any]]):
    """Many agents against opponents, in one `VecEnv`: `gymnasium.make_vec("doushouqi/Jungle-v0", num_envs=1024)`.

    A game that ends begins again in the same step; `info["final_obs"]` contains its last observation. An illegal action
    loses the game.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - Gymnasium's name and form

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Player | Tables | str = "random",
        color: Literal["white", "black", "random"] = "white",
        rules: Rules | str = "paper",
        start: str | Callable[[np.random.Generator], str] | None = None,
        no_capture_limit: int | None = 100,
        threads: int = 0,
    ) -> None:
        """Make the games.

        An `opponent` is `random`, `engine:NODES`, `Tables`, which play perfectly, or a function from a board to a move.
        `start` is the FEN of the first positions, or a function that draws one for each game at every `reset`.
        """
        _checked_color(color)
        if isinstance(opponent, str):
            player(opponent)
        self.num_envs = num_envs
        self.opponent = opponent
        self.color = color
        self.start = start
        fen = start if isinstance(start, str) else None
        self.games = VecEnv(num_envs, rules=rules, fen=fen, no_capture_limit=no_capture_limit, threads=threads)
        self.single_observation_space = spaces.Box(0, 1, (16, 9, 7), np.int8)
        self.single_action_space = spaces.Discrete(ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._sides = np.zeros(num_envs, np.int8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin all games; the opponents move where they are on move.

        The option `start`, a FEN or one for each game, replaces that of the environment until the next reset; any other
        option raises ValueError.
        """
        super().reset(seed=seed)
        start = checked_options(options, ["start"]).get("start", self.start)
        if callable(start):
            starts = [start(self.np_random) for _ in range(self.num_envs)]
        else:
            starts = [start or STARTING_FEN] * self.num_envs if start is None or isinstance(start, str) else list(start)
        self.games.reset(seed=int(self.np_random.integers(2**63)), starts=starts)
        self._draw_sides(np.ones(self.num_envs, np.bool_))
        self._answer(np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs))
        return self.games.observations.copy(), self._info()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Make the moves of actions, and the opponents' answers."""
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise ValueError(f"actions are an array of {self.num_envs} integers")
        named = (chosen >= 0) & (chosen < ACTIONS)
        legal = named & self.games.action_masks[np.arange(self.num_envs), np.where(named, chosen, 0)]
        rewards = np.where(legal, 0.0, -1.0)
        ends = np.zeros(self.num_envs, np.int8)
        last = self.games.observations.copy()
        dones = self.games.step(np.where(legal, chosen, 0), active=legal)[3]
        ended = dones & legal
        self._note(ended, rewards, ends, _other_view, last)
        terminated = ended | ~legal
        if not legal.all():
            self.games.reset(active=~legal)
        self._draw_sides(terminated)
        self._answer(terminated, rewards, ends, last)
        final = {"outcome": _ENDS[ends], "illegal": ~legal}
        info = self._info() | {"final_obs": last, "_final_obs": terminated.copy(), "final_info": final}
        return self.games.observations.copy(), rewards, terminated, np.zeros_like(terminated), info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of all games."""
        return self.games.action_masks.copy()

    def _note(
        self,
        ended: NDArray[np.bool_],
        rewards: NDArray[Any],
        ends: NDArray[np.int8],
        view: Callable[[NDArray[np.int8]], NDArray[np.int8]],
        last: NDArray[np.int8],
    ) -> None:
        """Note how games have just ended; `view` turns observations of the side to move into those of the agent."""
        rewards[ended] += self.games.side_rewards[ended, self._sides[ended]]
        ends[ended] = self.games.ends[ended]
        last[ended] = view(self.games.final_observations[ended])

    def _draw_sides(self, games: NDArray[np.bool_]) -> None:
        """Choose the agents' sides in games that begin."""
        sides = {"white": 0, "black": 1}.get(self.color)
        drawn = self.np_random.integers(2, size=self.num_envs) if sides is None else np.full(self.num_envs, sides)
        self._sides = np.where(games, drawn, self._sides).astype(np.int8)

    def _answer(
        self,
        terminated: NDArray[np.bool_],
        rewards: NDArray[Any],
        ends: NDArray[np.int8] | None = None,
        last: NDArray[np.int8] | None = None,
    ) -> None:
        """Make the opponents' moves until the agents are on move in all games."""
        for _ in range(_TRIES):
            active = self.games.turns != self._sides
            if not active.any():
                return
            dones = self.games.step(self._opponents_actions(active), active=active)[3]
            ended = dones & active
            first = ended & ~terminated
            if ends is not None and last is not None:
                self._note(first, rewards, ends, np.asarray, last)
                terminated |= first
            self._draw_sides(ended)
        raise ValueError("the opponent's first move ends the game: choose another start or color")

    def _opponents_actions(self, active: NDArray[np.bool_]) -> NDArray[np.int64]:
        if isinstance(self.opponent, Tables):
            return self.games.table_actions(self.opponent, active=active)
        if self.opponent == "random":
            return self.games.sample_actions()
        if isinstance(self.opponent, str):
            return self.games.engine_actions(int(self.opponent.partition(":")[2] or 1000), active=active)
        actions = np.zeros(self.num_envs, np.int64)
        for i in np.flatnonzero(active):
            board = self.games.board(int(i))
            actions[i] = board.action(self.opponent(board))
        return actions

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.games.action_masks.astype(np.int8)}


def _other_view(observations: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return observations as the other side sees them."""
    return np.concatenate([observations[:, 8:], observations[:, :8]], axis=1)[:, :, ::-1, ::-1]


gymnasium.register(
    id="doushouqi/Jungle-v0",
    entry_point="doushouqi.gymnasium_env:JungleEnv",
    vector_entry_point="doushouqi.gymnasium_env:JungleVectorEnv",
)
