"""Batches: every step equals a step of the library, game by game."""

import contextlib
import pickle
import threading

import numpy as np
import pytest
from numpy.typing import NDArray
from test_board import slow_observation

import doushouqi as dsq

RULES = [*dsq.Rules.presets(), "paper,repetition=twofold", "paper,repetition=none,no-move=loss"]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("fen", [None, "7/3c3/4r2/7/7/7/7/1R1C3/7 b 60"])
def test_a_batch_plays_as_boards_do(rules: str, fen: str | None) -> None:
    """Everything that a batch shows, against one `Board` for each game."""
    n = 8
    env = dsq.VecEnv(n, rules=rules, seed=3, fen=fen, no_capture_limit=80)
    boards = [dsq.Board(fen, rules=rules, no_capture_limit=80) for _ in range(n)]
    kinds = ["running", "den", "captured", "no_move", "repetition", "no_capture"]
    observations, masks = env.reset()
    for _ in range(200):
        for i, board in enumerate(boards):
            assert np.array_equal(observations[i], slow_observation(board))
            assert np.array_equal(masks[i], board.action_mask())
            assert env.turns[i] == (0 if board.turn else 1)
            assert env.halfmove_clocks[i] == board.halfmove_clock
            assert env.occurrences[i] == board.occurrences()
        board = env.board(5)
        assert np.array_equal(board.action_mask(), masks[5])
        assert board.occurrences() == env.occurrences[5]
        assert board.move_stack == boards[5].move_stack[boards[5].ply() - board.ply() :]
        actions = env.sample_actions().copy()
        observations, masks, rewards, dones = env.step(actions)
        for i, board in enumerate(boards):
            mover = board.turn
            board.push_action(int(actions[i]))
            outcome = board.outcome()
            assert dones[i] == (outcome is not None)
            assert rewards[i] == (outcome is not None and outcome.winner is mover)
            assert kinds[env.ends[i]] == (outcome.termination if outcome else "running")
            if outcome is not None:
                boards[i] = dsq.Board(fen, rules=rules, no_capture_limit=80)
            assert env.board(i).fen() == boards[i].fen()


def slow_history(board: dsq.Board, positions: int) -> NDArray[np.int8]:
    """The history planes of a board."""
    planes = np.zeros((17 * positions + 1, 9, 7), np.int8)
    planes[-1] = min(board.halfmove_clock, 127)
    turn, board = board.turn, board.copy()
    for of_position in planes[:-1].reshape(positions, 17, 9, 7):
        of_position[:16] = slow_observation(board.with_turn(turn))
        of_position[16] = board.occurrences() > 1
        if board.ply() == 0 or board.halfmove_clock == 0:
            break
        board.pop()
    return planes


@pytest.mark.parametrize("fen", [None, "7/3c3/4r2/7/7/7/7/1R1C3/7 b 120"])
def test_history_planes_are_the_earlier_boards(fen: str | None) -> None:
    """Also across repetitions and captures, and after the end of a game."""
    n, repeated = 12, 0
    env = dsq.VecEnv(n, rules="paper,repetition=none", seed=8, fen=fen, no_capture_limit=400, auto_reset=False)
    boards = [dsq.Board(fen, rules="paper,repetition=none", no_capture_limit=400) for _ in range(n)]
    for step in range(150):
        if step % 10 == 0:
            planes = env.history_planes(5)
            assert planes.shape == (n, 86, 9, 7)
            assert planes.dtype == np.int8
            for i, board in enumerate(boards):
                assert np.array_equal(planes[i], slow_history(board, 5)), (step, i)
            repeated += int(planes[:, 16, 0, 0].sum())
        actions = env.sample_actions().copy()
        env.step(actions)
        for i, board in enumerate(boards):
            if board.outcome() is None:
                board.push_action(int(actions[i]))
    assert repeated > 0 or fen is None
    assert env.history_planes().shape == (n, 137, 9, 7)
    for positions in [0, 65, -1]:
        with pytest.raises(ValueError, match=r"expected a number|a history has"):
            env.history_planes(positions)


def bits(masks: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Masks as numbers with a bit for each action."""
    return np.packbits(masks, axis=1, bitorder="little").view("<u4")[:, 0]


def replay(rules: str, count: int, seed: int) -> int:
    """Steps a batch through random games that the library played move by move; returns the number of plies."""
    games = dsq.random_games(count, seed=seed, rules=rules)
    starts, lengths = games["offsets"][:-1], np.diff(games["offsets"])
    env = dsq.VecEnv(count, rules=rules, auto_reset=False)
    rewards = np.zeros(count)
    _, masks = env.reset()
    for ply in range(int(lengths.max())):
        runs = ply < lengths
        at = starts[runs] + ply
        assert np.array_equal(bits(masks[runs]), games["masks"][at])
        assert masks[~runs].all()
        actions = np.zeros(count, dtype=np.int64)
        actions[runs] = games["actions"][at]
        white = env.turns == 0
        _, masks, reward, dones = env.step(actions)
        rewards += np.where(white, reward, -reward)
        assert np.array_equal(dones, ply + 1 >= lengths)
    assert np.array_equal(env.ends, games["ends"])
    assert np.array_equal(rewards, games["winners"])
    return int(lengths.sum())


def test_ten_thousand_games_are_those_of_the_library() -> None:
    """Legal moves at every ply, the end and the winner of 10^4 random games, under all rules."""
    plies = sum(replay(RULES[i % len(RULES)], 500, seed=i) for i in range(20))
    assert plies > 500_000


def test_a_seed_decides_everything() -> None:
    def run(seed: int, threads: int) -> bytes:
        env = dsq.VecEnv(300, seed=seed, threads=threads)
        return b"".join(env.step(env.sample_actions())[0].tobytes() for _ in range(50))

    assert run(1, 1) == run(1, 2) == run(1, 0)
    assert run(1, 1) != run(2, 1)
    env = dsq.VecEnv(10, seed=4)
    first = env.sample_actions().copy()
    env.step(first)
    env.reset(seed=4)
    assert np.array_equal(env.sample_actions(), first)


def test_samples_are_uniform() -> None:
    env = dsq.VecEnv(24_000, seed=8)
    counts = np.bincount(env.sample_actions(), minlength=32)
    legal = dsq.Board().action_mask()
    assert (counts[~legal] == 0).all()
    # A thousand each; six standard deviations are 190.
    assert (abs(counts[legal] - 1000) < 190).all()


def test_buffers_are_reused_and_read_only() -> None:
    env = dsq.VecEnv(4)
    observations, masks, rewards, dones = env.step(env.sample_actions())
    for array in (observations, masks, rewards, dones, env.ends, env.turns):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    before = observations.copy()
    assert env.step(env.sample_actions())[0] is observations
    assert not np.array_equal(before, observations)


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        (np.zeros(3, dtype=np.int64), ValueError),
        (np.zeros((4, 1), dtype=np.int64), ValueError),
        (np.zeros(4), ValueError),
        (np.full(4, 32), dsq.IllegalMoveError),
        (np.full(4, -1), dsq.IllegalMoveError),
        (np.full(4, 2**62), dsq.IllegalMoveError),
        ("abcd", ValueError),
        (None, ValueError),
    ],
)
def test_wrong_actions_change_nothing(actions: object, error: type[Exception]) -> None:
    env = dsq.VecEnv(4)
    before = env.observations.copy()
    with pytest.raises(error):
        env.step(actions)  # type: ignore[arg-type]
    assert np.array_equal(env.observations, before)


def test_one_illegal_action_is_named() -> None:
    env = dsq.VecEnv(4)
    actions = env.sample_actions().copy()
    actions[2] = next(action for action in range(32) if not env.action_masks[2, action])
    with pytest.raises(dsq.IllegalMoveError, match=f"game 2: action {actions[2]} is not legal"):
        env.step(actions)
    for dtype in (np.uint8, np.int8, np.int32, np.uint64):
        env.step(env.sample_actions().astype(dtype))
    env.step(np.repeat(env.sample_actions(), 2)[::2])
    env.step(env.sample_actions().tolist())


@pytest.mark.parametrize(
    "options", [{"num_envs": 0}, {"num_envs": 10**9}, {"num_envs": 1, "fen": "7/7/7/7/7/7/7/7/E6 w"}]
)
def test_wrong_batches(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"games|over"):
        dsq.VecEnv(**options)  # type: ignore[arg-type]


def test_without_a_no_capture_limit() -> None:
    env = dsq.VecEnv(2, rules="paper,repetition=none", no_capture_limit=None, fen="7/7/3e3/7/7/7/3E3/7/7 w 99")
    for _ in range(3):
        assert not env.step(env.sample_actions())[3].any()
    assert env.board(0).halfmove_clock == 102
    assert env.board(0).no_capture_limit is None


def test_a_batch_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(dsq.VecEnv(1))


def test_each_game_has_its_start() -> None:
    boards: list[dsq.Board | str] = [*dsq.unpack(dsq.random_positions(30, 5, seed=4)), "7/7/3e3/7/7/7/3E3/7/7 b 7"]
    env = dsq.VecEnv(31, starts=boards, seed=2)
    fens = [board if isinstance(board, str) else board.fen() for board in boards]
    assert [env.board(i).fen() for i in range(31)] == fens
    ended = np.zeros(31, dtype=np.bool_)
    for _ in range(300):
        dones = env.step(env.sample_actions())[3]
        for i in np.flatnonzero(dones):
            assert env.board(int(i)).fen() == fens[i]
        ended |= dones
    assert ended.all()
    packed = dsq.random_positions(31, 4, seed=9)
    env.reset(starts=packed)
    assert np.array_equal(dsq.pack([env.board(i) for i in range(31)]), packed)
    before = env.board(1).fen()
    env.step(env.sample_actions())
    env.reset(active=np.arange(31) != 1)
    assert env.board(1).fen() != before
    assert np.array_equal(dsq.pack([env.board(i) for i in range(2, 31)]), packed[2:])
    for wrong in (packed[:5], [dsq.Board("7/7/7/7/7/7/7/7/E6 w")] * 31, [dsq.Board(rules="chinese")] * 31):
        with pytest.raises(ValueError, match=r"starts|over|rules"):
            env.reset(starts=wrong)
    with pytest.raises(ValueError, match="either"):
        dsq.VecEnv(1, fen=dsq.STARTING_FEN, starts=[dsq.STARTING_FEN])


@pytest.mark.parametrize("rules", ["paper", "cazaux"])
def test_states_are_taken_and_set(rules: str) -> None:
    """A batch that continues from states plays as the first one, with its history."""
    env = dsq.VecEnv(20, rules=rules, seed=6)
    for _ in range(60):
        env.step(env.sample_actions())
    states = env.get_states()
    indices = np.arange(20)[::-1]
    twin = dsq.VecEnv(20, rules=rules)
    twin.set_states(env.get_states(indices))
    other = dsq.VecEnv(20, rules=rules)
    other.set_states([env.board(i) for i in range(20)])
    third = dsq.VecEnv(20, rules=rules)
    third.set_states(pickle.loads(pickle.dumps(states)))
    assert [states.board(i).fen() for i in range(len(states))] == [env.board(i).fen() for i in range(20)]
    for _ in range(60):
        actions = env.sample_actions().copy()
        shown = [env.step(actions), twin.step(actions[indices]), other.step(actions), third.step(actions)]
        for i, arrays in enumerate(zip(*shown, strict=True)):
            first, second, *rest = arrays
            assert np.array_equal(first, second[indices]), i
            assert all(np.array_equal(first, array) for array in rest), i
        assert np.array_equal(env.halfmove_clocks, third.halfmove_clocks)
        assert np.array_equal(env.occurrences, other.occurrences)
    # One state for many games, and only some games.
    env.set_states(states, indices)
    assert env.board(0).fen() == states.board(19).fen()
    root = env.get_states([3])
    before = env.board(5).fen()
    env.set_states(env.get_states([3, 3]), [1, 2])
    assert env.board(1).fen() == env.board(2).fen() == root.board(0).fen()
    assert env.board(5).fen() == before
    env.set_states([dsq.STARTING_FEN], [7])
    assert env.board(7).fen() == dsq.STARTING_FEN


def test_wrong_states() -> None:
    env = dsq.VecEnv(4)
    over = dsq.Board("7/7/7/7/7/7/7/7/E6 w")
    before = env.observations.copy()
    wrong: list[tuple[object, object]] = [
        (dsq.VecEnv(4, rules="chinese").get_states(), None),
        ([dsq.Board(rules="chinese")], [0]),
        ([dsq.Board()], None),
        ([over], [0]),
        ([dsq.Board()], [4]),
        ([dsq.Board()], [-1]),
        ([dsq.Board()], [0.5]),
        (["no FEN"], [0]),
        (3, [0]),
        ([3], [0]),
    ]
    for states, indices in wrong:
        with pytest.raises((ValueError, IndexError, TypeError)):
            env.set_states(states, indices)  # type: ignore[arg-type]
    assert np.array_equal(env.observations, before)
    with pytest.raises(IndexError):
        env.get_states([4])
    with pytest.raises(IndexError):
        env.get_states().board(4)
    # A batch that does not reset takes a finished game.
    env = dsq.VecEnv(2, auto_reset=False)
    env.set_states([over], [1])
    assert (env.action_masks[1].all(), env.ends.tolist()) == (True, [0, 2])
    assert env.step([int(env.sample_actions()[0]), 0])[3].tolist() == [False, True]


def test_final_observations_and_rewards_of_both_sides() -> None:
    env = dsq.VecEnv(64, seed=3)
    boards = [dsq.Board() for _ in range(64)]
    count = 0
    for _ in range(400):
        actions = env.sample_actions().copy()
        _, _, rewards, dones = env.step(actions)
        for i, board in enumerate(boards):
            mover = board.turn
            board.push_action(int(actions[i]))
            outcome = board.outcome()
            assert dones[i] == (outcome is not None)
            both = [0.0, 0.0]
            if outcome is not None:
                assert np.array_equal(env.final_observations[i], slow_observation(board))
                if outcome.winner is not None:
                    both = [1.0, -1.0] if outcome.winner else [-1.0, 1.0]
                    count += 1
                boards[i] = dsq.Board()
            assert env.side_rewards[i].tolist() == both
            assert rewards[i] == max(both[0 if mover else 1], 0.0)
    assert count > 5


def test_games_rest() -> None:
    env = dsq.VecEnv(6, seed=1)
    active = np.array([True, False, True, False, True, True])
    observations = env.observations.copy()
    illegal = np.where(active, env.sample_actions(), -7)
    shown, _, rewards, dones = env.step(illegal, active=active)
    assert [not np.array_equal(a, b) for a, b in zip(shown, observations, strict=True)] == active.tolist()
    assert env.turns.tolist() == [1, 0, 1, 0, 1, 1]
    assert not rewards.any()
    assert not dones.any()
    for wrong in (active[:3], active.astype(np.int8), "x"):
        with pytest.raises(ValueError, match="booleans"):
            env.step(env.sample_actions(), active=wrong)


def test_opponents(three: dsq.Tables) -> None:
    """The engine and the tables choose as `Engine` and `Tables` do."""
    fens = [board.fen() for board in dsq.unpack(dsq.random_positions(12, 3, seed=8))]
    env = dsq.VecEnv(12, starts=fens, no_capture_limit=None)
    actions = env.table_actions(three)
    for fen, action in zip(fens, actions, strict=True):
        board = dsq.Board(fen)
        values = three.moves(fen)
        assert values is not None
        assert dict(values)[board.move_of_action(int(action))] == values[0][1]
    first = env.engine_actions(300)
    assert np.array_equal(first, env.engine_actions(300))
    for fen, action in zip(fens, first, strict=True):
        board = dsq.Board(fen, no_capture_limit=None)
        assert board.move_of_action(int(action)) == dsq.Engine(hash_mib=1).play(board, dsq.Limit(nodes=300))
    active = np.arange(12) % 2 == 0
    assert np.array_equal(env.engine_actions(300, active=active), np.where(active, first, 0))
    assert not env.table_actions(three, active=~active)[active].any()
    # Elsewhere a random move.
    env = dsq.VecEnv(3)
    env.step(env.table_actions(three))
    with pytest.raises(ValueError, match="at least 1"):
        env.engine_actions(0)
    with pytest.raises(dsq.TablesError, match="for the rules"):
        dsq.VecEnv(3, rules="chinese").table_actions(three)


def test_a_game_that_ended_stays_so_without_resets() -> None:
    """The ends and the dones stay, the rewards are those of the step."""
    env = dsq.VecEnv(2, fen="7/3L3/7/7/7/7/7/7/r6 w", auto_reset=False)
    win = dsq.Board("7/3L3/7/7/7/7/7/7/r6 w").action(dsq.Move.from_uci("d8d9"))
    for step in range(3):
        _, _, rewards, dones = env.step([win, win])
        assert dones.all()
        assert (env.ends == 1).all()
        assert (rewards == (step == 0)).all()
        assert (env.side_rewards[:, 0] == (step == 0)).all()


def test_two_threads_do_not_step_one_batch() -> None:
    env = dsq.VecEnv(20_000)
    done = threading.Event()

    def step() -> None:
        while not done.is_set():
            with contextlib.suppress(RuntimeError):
                env.step(env.sample_actions())

    thread = threading.Thread(target=step)
    thread.start()

    def step_until_refused() -> None:
        while True:
            env.step(env.sample_actions())

    try:
        with pytest.raises(RuntimeError, match="another thread uses the environment"):
            step_until_refused()
    finally:
        done.set()
        thread.join()
    env.reset()
