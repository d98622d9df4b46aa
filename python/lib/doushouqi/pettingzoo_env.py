"""A PettingZoo AEC environment: `from doushouqi import pettingzoo_env; env = pettingzoo_env.env()`.

The agents are `white` and `black`. An observation is a dictionary with the key `observation`, the int8 planes of
shape (16, 9, 7) that `Board.observation` returns, and the key `action_mask`, an int8 array of 32 zeros and ones. Both
are from the view of the agent that observes. The mask of an agent that is not to move is all zeros. The rewards at
the end are 1, -1 and 0. The render mode `ansi` returns the board as text, `human` prints it after every reset and step.
"""

from __future__ import annotations

import warnings
from operator import index
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import AgentSelector, wrappers

from . import ACTIONS
from ._core import Board, Rules
from .players import checked_options

AGENTS = ("white", "black")


def env(**options: Any) -> Any:
    """Return the environment with PettingZoo's usual wrappers; an illegal action ends the game with the reward -1."""
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(**options), illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801 - PettingZoo's name
    """The environment without wrappers."""

    metadata = {  # noqa: RUF012 - PettingZoo's name and form
        "name": "doushouqi_v0",
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: Rules | str = "paper",
        fen: str | None = None,
        no_capture_limit: int | None = 100,
        render_mode: str | None = None,
    ) -> None:
        """Make an environment for games from `fen`, the initial position by default."""
        super().__init__()
        self.start = Board(fen, rules=rules, no_capture_limit=no_capture_limit)
        if self.start.is_game_over():
            raise ValueError("the game is over in the first position")
        if render_mode not in (None, "ansi", "human"):
            raise ValueError(f"the render mode is ansi or human, not {render_mode!r}")
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents = self.possible_agents[:]
        space = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (16, 9, 7), np.int8),
                "action_mask": spaces.Box(0, 1, (ACTIONS,), np.int8),
            }
        )
        self.observation_spaces = {agent: space for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. Nothing in it is random, so the seed has no effect.

        The option `start` is the FEN of the first position of this game. Any other is ignored with a warning, since
        PettingZoo's tests of the interface pass one.
        """
        given = options or {}
        try:
            checked_options(given, ["start"])
        except ValueError as error:
            warnings.warn(str(error), UserWarning, stacklevel=2)
        start = self.start
        if "start" in given:
            start = Board(given["start"], rules=start.rules, no_capture_limit=start.no_capture_limit)
            if start.is_game_over():
                raise ValueError("the game is over in the first position")
        self.board = start.copy()
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        order = self.agents if self.board.turn else self.agents[::-1]
        self._selector = AgentSelector(order)
        self.agent_selection = self._selector.reset()
        self._show()

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """Return the observation of an agent."""
        moves = agent == AGENTS[0 if self.board.turn else 1]
        board = self.board if moves else self.board.with_turn(agent == "white")
        mask = self.board.action_mask() if moves else np.zeros(ACTIONS, dtype=np.bool_)
        return {"observation": board.observation(), "action_mask": mask.astype(np.int8)}

    def step(self, action: int | None) -> None:
        """Make the move of an action for the selected agent."""
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        mover = self.agent_selection
        assert action is not None, "an agent that is alive has an action"
        self.board.push_action(index(action))
        self.agent_selection = self._selector.next()
        self._cumulative_rewards[mover] = 0
        self._clear_rewards()
        outcome = self.board.outcome()
        if outcome is not None:
            for agent in self.agents:
                won = None if outcome.winner is None else outcome.winner == (agent == "white")
                self.rewards[agent] = 0 if won is None else 1 if won else -1
                self.terminations[agent] = True
        self._accumulate_rewards()
        self._show()

    def render(self) -> str | None:
        """Return the board as text in the mode `ansi`, print it in the mode `human`."""
        if self.render_mode == "human":
            print(self.board)
        return str(self.board) if self.render_mode == "ansi" else None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
