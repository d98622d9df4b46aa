"""The PettingZoo, Gymnasium and open_spiel environments."""

import copy
import pickle
from collections.abc import Callable

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

import doushouqi as dsq
from doushouqi import gymnasium_env, pettingzoo_env, players


@pytest.mark.parametrize("fen", [None, "7/3c3/4r2/7/7/7/7/1R1C3/7 b"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoo_api(fen: str | None) -> None:
    api_test(pettingzoo_env.env(fen=fen), num_cycles=500)


def test_pettingzoo_seeds() -> None:
    seed_test(pettingzoo_env.env, num_cycles=100)


def test_pettingzoo_games_are_those_of_the_board() -> None:
    random = np.random.default_rng(1)
    env = pettingzoo_env.raw_env(render_mode="ansi")
    won = {"white": 0, "black": 0}
    for _ in range(10):
        env.reset()
        board = dsq.Board()
        rewards = dict.fromkeys(won, 0)
        for agent in env.agent_iter():
            observation, reward, terminated, _, _ = env.last()
            rewards[agent] += reward
            if terminated:
                env.step(None)
                continue
            assert (agent == "white") == board.turn
            assert np.array_equal(observation["observation"], board.observation())
            assert np.array_equal(observation["action_mask"], board.action_mask())
            assert env.render() == str(board)
            action = int(random.choice(np.flatnonzero(observation["action_mask"])))
            env.step(action)
            board.push_action(action)
        outcome = board.outcome()
        assert outcome is not None
        wanted = 0 if outcome.winner is None else 1 if outcome.winner else -1
        assert rewards == {"white": wanted, "black": -wanted}
        won["white"] += wanted > 0
        won["black"] += wanted < 0
    assert sum(won.values()) > 0


@pytest.mark.parametrize("color", ["white", "black", "random"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_api(color: str) -> None:
    env = gymnasium.make("doushouqi/Jungle-v0", color=color)
    check_env(env.unwrapped, skip_render_check=True)


def finish(env: gymnasium_env.JungleEnv, seed: int) -> tuple[float, dict[str, object]]:
    """Plays random legal actions to the end of a game."""
    random = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    while True:
        action = int(random.choice(np.flatnonzero(info["action_mask"])))
        _, reward, terminated, truncated, info = env.step(action)
        assert not truncated
        if terminated:
            return reward, info


def test_gymnasium_games() -> None:
    env = gymnasium_env.JungleEnv("engine:200", color="random")
    results = [finish(env, seed)[0] for seed in range(6)]
    assert results.count(-1.0) >= 4, "the engine beats random moves"
    assert finish(env, 3)[0] == finish(env, 3)[0]
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    legal = int(np.flatnonzero(info["action_mask"])[0])
    before = env.board.fen()
    for wrong in (3.7, np.float64(legal), "3", None):
        with pytest.raises(TypeError):
            env.step(wrong)  # type: ignore[arg-type]
    assert env.board.fen() == before
    _, reward, terminated, _, info = env.step(illegal)
    assert (reward, terminated, info["illegal"]) == (-1.0, True, True)
    for action in (illegal, legal):
        with pytest.raises(ValueError, match="reset"):
            env.step(action)
    env.reset(seed=1)
    env.step(np.int64(legal))
    with pytest.raises(ValueError, match="reset"):
        gymnasium_env.JungleEnv().step(legal)


def test_human_rendering_prints_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    env = gymnasium.make("doushouqi/Jungle-v0", render_mode="human")
    _, info = env.reset(seed=1)
    assert capsys.readouterr().out == f"{dsq.Board()}\n"
    env.step(np.int64(np.flatnonzero(info["action_mask"])[0]))
    jungle = env.unwrapped
    assert isinstance(jungle, gymnasium_env.JungleEnv)
    assert capsys.readouterr().out == f"{jungle.board}\n"
    two = pettingzoo_env.raw_env(render_mode="human")
    two.reset()
    assert capsys.readouterr().out == f"{dsq.Board()}\n"
    two.step(dsq.Board().legal_actions()[0])
    assert capsys.readouterr().out == f"{two.board}\n"
    makers: list[Callable[..., object]] = [gymnasium_env.JungleEnv, pettingzoo_env.raw_env]
    for make in makers:
        with pytest.raises(ValueError, match="render mode"):
            make(render_mode="rgb_array")


def test_environments_are_copied_and_pickled() -> None:
    env = gymnasium_env.JungleEnv("engine:100")
    _, info = env.reset(seed=1)
    action = int(np.flatnonzero(info["action_mask"])[0])
    other = pickle.loads(pickle.dumps(env))
    assert np.array_equal(other.step(action)[0], copy.deepcopy(env).step(action)[0])
    two = pettingzoo_env.raw_env()
    two.reset()
    with pytest.raises(TypeError):
        two.step(0.5)  # type: ignore[arg-type]


def test_gymnasium_against_perfect_play(three: dsq.Tables) -> None:
    """From a won endgame the perfect player wins against random moves, from either side."""
    perfect = players.TablePlayer(three)
    env = gymnasium_env.JungleEnv(perfect, color="black", start="7/7/7/7/L6/6e/7/7/7 w")
    assert [finish(env, seed)[0] for seed in range(5)] == [-1.0] * 5
    # A start that is drawn anew for every game.
    fens = [board.fen() for board in dsq.unpack(dsq.random_positions(20, 3, seed=2))]
    env = gymnasium_env.JungleEnv(perfect, start=lambda random: fens[int(random.integers(len(fens)))])
    assert {finish(env, seed)[0] for seed in range(20)} <= {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("options", [{"opponent": "nobody"}, {"color": "red"}, {"rules": "none"}, {"start": "x"}])
def test_wrong_environments(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"player|color|rules|side to move"):
        gymnasium_env.JungleEnv(**options)  # type: ignore[arg-type]


def test_a_start_that_the_opponent_ends_is_refused() -> None:
    start = "7/3C3/7/7/7/7/4e2/7/7 w"
    env = gymnasium_env.JungleEnv("engine:1000", color="black", start=start)
    with pytest.raises(ValueError, match="first move ends the game"):
        env.reset(seed=1)
    env = gymnasium_env.JungleEnv("engine:1000", color="random", start=start)
    for seed in range(5):
        env.reset(seed=seed)
        assert env.white


def test_open_spiel() -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    from doushouqi import open_spiel_game  # noqa: F401 - it registers the game

    game = pyspiel.load_game("python_doushouqi")
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)
    state, board = game.new_initial_state(), dsq.Board()
    random = np.random.default_rng(2)
    while not state.is_terminal():
        assert state.legal_actions() == board.legal_actions()
        assert state.current_player() == (0 if board.turn else 1)
        assert np.array_equal(np.reshape(state.observation_tensor(), (16, 9, 7)), board.observation())
        action = int(random.choice(state.legal_actions()))
        assert state.action_to_string(action) == board.san(board.move_of_action(action))
        state.apply_action(action)
        board.push_action(action)
    outcome = board.outcome()
    assert outcome is not None
    wanted = 0 if outcome.winner is None else 1 if outcome.winner else -1
    assert state.returns() == [wanted, -wanted]
