"""The game for open_spiel, registered from outside: import this module, then `pyspiel.load_game("python_doushouqi")`.

Parameters are `rules`, `fen` and `no_capture_limit`. Player 0 is White. Actions are the numbers of `Board.action`; the
observation tensor contains the planes of `Board.observation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from . import ACTIONS, STARTING_FEN
from ._core import Board

_TYPE = pyspiel.GameType(
    short_name="python_doushouqi",
    long_name="Dou Shou Qi (Jungle chess)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rules": "paper", "fen": STARTING_FEN, "no_capture_limit": 100},
)


class JungleGame(pyspiel.Game):  # type: ignore[misc]
    """The game."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Make the game of these parameters."""
        parameters = params or {}
        limit = int(parameters.get("no_capture_limit", 100))
        self.start = Board(
            parameters.get("fen", STARTING_FEN), rules=parameters.get("rules", "paper"), no_capture_limit=limit
        )
        captures = max(len(self.start.piece_map()) - 1, 1)
        info = pyspiel.GameInfo(
            num_distinct_actions=ACTIONS,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=limit * (captures + 1),
        )
        super().__init__(_TYPE, info, parameters)

    def new_initial_state(self) -> JungleState:
        """Return the first position."""
        return JungleState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> JungleObserver:
        """Return an observer."""
        return JungleObserver()


class JungleState(pyspiel.State):  # type: ignore[misc]
    """A position with its history."""

    def __init__(self, game: JungleGame) -> None:
        """Begin a game."""
        super().__init__(game)
        self.board = game.start.copy()

    def current_player(self) -> int:
        """Return the player to move: 0 is White."""
        if self.board.is_game_over():
            return int(pyspiel.PlayerId.TERMINAL)
        return 0 if self.board.turn else 1

    def _legal_actions(self, player: int) -> list[int]:
        return self.board.legal_actions()

    def _apply_action(self, action: int) -> None:
        self.board.push_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.board.san(self.board.move_of_action(action))

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.board.is_game_over()

    def returns(self) -> list[float]:
        """Return the result for each player."""
        outcome = self.board.outcome()
        if outcome is None or outcome.winner is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if outcome.winner else [-1.0, 1.0]

    def __str__(self) -> str:
        """Return the FEN."""
        return self.board.fen()


class JungleObserver:
    """Writes the planes of the side to move."""

    def __init__(self) -> None:
        """Make the tensor."""
        self.tensor = np.zeros(16 * 9 * 7, np.float32)
        self.dict = {"planes": self.tensor.reshape(16, 9, 7)}

    def set_from(self, state: JungleState, player: int) -> None:
        """Write the observation of a player."""
        np.copyto(self.dict["planes"], state.board.with_turn(player == 0).observation())

    def string_from(self, state: JungleState, player: int) -> str:
        """Return the position as text."""
        return state.board.fen()


pyspiel.register_game(_TYPE, JungleGame)
