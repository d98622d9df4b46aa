"""The PettingZoo, Gymnasium and open_spiel environments."""

import copy
import pickle
from collections.abc import Callable
from typing import Any, Literal

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


def play_all(env: gymnasium_env.JungleVectorEnv, steps: int, seed: int) -> tuple[int, int, int]:
    """Plays random legal actions; returns the numbers of games won, drawn and lost."""
    random = np.random.default_rng(seed)
    observations, info = env.reset(seed=seed)
    won = drawn = lost = 0
    for _ in range(steps):
        mask = info["action_mask"]
        actions = (mask * random.random(mask.shape)).argmax(axis=1)
        observations, rewards, terminated, truncated, info = env.step(actions)
        assert observations.shape == env.observation_space.shape
        assert not truncated.any()
        assert not rewards[~terminated].any()
        assert (info["final_info"]["outcome"] != "").tolist() == terminated.tolist()
        won += int(np.count_nonzero(rewards > 0))
        drawn += int(np.count_nonzero(terminated & (rewards == 0)))
        lost += int(np.count_nonzero(rewards < 0))
    return won, drawn, lost


@pytest.mark.parametrize("color", ["white", "black", "random"])
def test_vector_environments(color: Literal["white", "black", "random"]) -> None:
    env = gymnasium.make_vec("doushouqi/Jungle-v0", num_envs=16, color=color)
    assert isinstance(env, gymnasium_env.JungleVectorEnv)
    won, drawn, lost = play_all(env, 300, seed=1)
    assert min(won, lost) > 0
    assert play_all(env, 300, seed=1) == (won, drawn, lost)


def test_vector_environments_play_as_the_single_one() -> None:
    """Perfect play against a fixed agent: rewards, last observations and outcomes are those of `JungleEnv`."""
    start = "7/7/3e3/7/7/7/3E3/7/7 w"
    first: players.Player = lambda board: board.legal_moves[0]  # noqa: E731 - it needs a type
    colors: tuple[Literal["white", "black"], ...] = ("white", "black")
    for color in colors:
        many = gymnasium_env.JungleVectorEnv(3, first, color=color, start=start)
        one = gymnasium_env.JungleEnv(first, color=color, start=start)
        observations, info = many.reset(seed=1)
        observation, single = one.reset(seed=1)
        for step in range(100):
            assert np.array_equal(observations[2], observation)
            assert np.array_equal(info["action_mask"][2], single["action_mask"])
            action = int(np.flatnonzero(single["action_mask"])[step % 2 - 1])
            observations, rewards, terminated, _, info = many.step(np.full(3, action))
            observation, reward, over, _, single = one.step(action)
            assert (rewards[2], terminated[2]) == (reward, over)
            assert info["_final_obs"][2] == over
            if over:
                assert np.array_equal(info["final_obs"][2], observation)
                assert info["final_info"]["outcome"][2] == single["outcome"]
                observation, single = one.reset()


def test_vector_environments_and_their_opponents(three: dsq.Tables) -> None:
    start = "7/7/7/7/L6/6e/7/7/7 w"
    perfect = gymnasium_env.JungleVectorEnv(4, three, color="black", start=start)
    won, drawn, lost = play_all(perfect, 40, seed=2)
    assert (won, drawn) == (0, 0)
    assert lost >= 4
    engine = gymnasium_env.JungleVectorEnv(4, "engine:100")
    assert play_all(engine, 60, seed=2)[2] >= 4
    _, info = engine.reset(seed=3)
    actions = np.array([int(np.flatnonzero(mask == i % 2)[0]) for i, mask in enumerate(info["action_mask"])])
    _, rewards, terminated, _, info = engine.step(actions)
    assert rewards.tolist() == [-1.0, 0.0, -1.0, 0.0]
    assert terminated.tolist() == info["final_info"]["illegal"].tolist() == [True, False, True, False]
    assert engine.games.board(0) == dsq.Board()
    fens = [board.fen() for board in dsq.unpack(dsq.random_positions(20, 3, seed=2))]
    drawn_starts = gymnasium_env.JungleVectorEnv(5, start=lambda random: fens[int(random.integers(20))])
    play_all(drawn_starts, 20, seed=4)
    wrong: list[dict[str, Any]] = [{"opponent": "nobody"}, {"color": "red"}, {"num_envs": 0}]
    for options in wrong:
        with pytest.raises(ValueError, match=r"player|color|games"):
            gymnasium_env.JungleVectorEnv(**options)
    with pytest.raises(ValueError, match="actions are"):
        engine.step(np.zeros(3, np.int64))
    ends_at_once = gymnasium_env.JungleVectorEnv(2, "engine:100", color="black", start="7/3C3/7/7/7/7/4e2/7/7 w")
    with pytest.raises(ValueError, match="first move ends the game"):
        ends_at_once.reset(seed=1)


START = "7/3L3/7/7/7/7/7/7/r6 w"


def test_a_reset_takes_another_start() -> None:
    single = gymnasium.make("doushouqi/Jungle-v0").unwrapped
    assert isinstance(single, gymnasium_env.JungleEnv)
    single.reset(options={"start": START})
    assert single.board.fen() == START
    single.reset(options={"color": "black"})
    assert not single.white
    observation, _ = single.reset()
    assert single.white
    assert np.array_equal(observation, dsq.Board().observation())
    many = gymnasium_env.JungleVectorEnv(3)
    many.reset(options={"start": START})
    assert [many.games.board(i).fen() for i in range(3)] == [START] * 3
    win = dsq.Board(START).action(dsq.Move.from_uci("d8d9"))
    many.step(np.full(3, win))
    assert many.games.board(0).fen() == START, "until the next reset"
    many.reset(options={"start": [START, dsq.STARTING_FEN, START]})
    assert many.games.board(1).fen() == dsq.STARTING_FEN
    many.reset()
    assert many.games.board(0).fen() == dsq.STARTING_FEN
    pair = pettingzoo_env.raw_env(rules="chinese")
    pair.reset(options={"start": START})
    assert (pair.board.fen(), pair.board.rules.name) == (START, "chinese")
    pair.reset()
    assert pair.board.fen() == dsq.STARTING_FEN


def test_a_reset_refuses_other_options() -> None:
    for env in (gymnasium_env.JungleEnv(), gymnasium_env.JungleVectorEnv(2), pettingzoo_env.raw_env()):
        if isinstance(env, pettingzoo_env.raw_env):
            # PettingZoo's own test passes an option that no environment has.
            with pytest.warns(UserWarning, match="no option 'strat'; it has start"):
                env.reset(options={"strat": START})
        else:
            with pytest.raises(ValueError, match="no option 'strat'; it has start"):
                env.reset(options={"strat": START})
        with pytest.raises(dsq.FenError):
            env.reset(options={"start": "nonsense"})
        with pytest.raises(ValueError, match="over in the first position"):
            env.reset(options={"start": "3L3/7/7/7/7/7/7/7/r6 b"})
    with pytest.raises(ValueError, match="the color is"):
        gymnasium_env.JungleEnv().reset(options={"color": "red"})


def test_masks_are_those_of_sb3_contrib() -> None:
    single = gymnasium_env.JungleEnv()
    _, info = single.reset()
    assert single.action_masks().dtype == np.bool_
    assert np.array_equal(single.action_masks(), info["action_mask"])
    many = gymnasium_env.JungleVectorEnv(3)
    _, info = many.reset()
    assert np.array_equal(many.action_masks(), info["action_mask"])
