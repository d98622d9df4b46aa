"""Bad input raises an exception of its kind, and never ends the interpreter."""

import contextlib
import copy
import inspect
import operator
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

import doushouqi as dsq
from doushouqi import gymnasium_env, pettingzoo_env, players, uci

# Objects that a caller may pass by mistake.
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.integers()),
    arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(min_dims=0, max_dims=3, max_side=20)),
)
LETTERS = st.text(alphabet="RCWDPTLErcwdptle1234567/ wbx0123", max_size=60)
WRONG = (ValueError, TypeError, OverflowError, IndexError, dsq.TablesError)
TABLES = dsq.solve(2)


def attempt(call: Any, *arguments: Any, **options: Any) -> Any:
    """Calls; an exception for wrong input is a valid answer, too."""
    try:
        return call(*arguments, **options)
    except (*WRONG, AttributeError):
        return None


@given(st.one_of(LETTERS, st.text()))
def test_fens(text: str) -> None:
    board = attempt(dsq.Board, text)
    if board is not None:
        assert dsq.Board(board.fen()) == board
        attempt(lambda: board.legal_moves)
        attempt(board.outcome)


@given(st.one_of(st.text(), LETTERS, st.sampled_from(["a3b3", "Eb3", "Exb3", "g3f3"])))
def test_moves(text: str) -> None:
    board = dsq.Board()
    for call in (board.push_san, board.push_uci, board.parse_san, board.parse_uci, dsq.Move.from_uci):
        attempt(call, text)
    assert board.ply() <= 2


@given(st.integers(-5, 70), st.integers(-5, 70), st.integers(-(2**70), 2**70))
def test_numbers(start: int, end: int, number: int) -> None:
    board = dsq.Board()
    move = attempt(dsq.Move, start, end)
    if move is not None:
        with_move: list[Any] = [board.is_legal, board.is_capture, board.san, board.action, board.push]
        for call in with_move:
            attempt(call, move)
    with_number: list[Any] = [board.piece_at, board.move_of_action, board.push_action, dsq.square_name, dsq.materials]
    for call in with_number:
        attempt(call, number)
    attempt(dsq.Piece, number, True)
    attempt(dsq.perft, board, -abs(number))


@given(ANYTHING, ANYTHING)
@settings(max_examples=200)
def test_any_objects(one: Any, other: Any) -> None:
    board = dsq.Board()
    env = dsq.VecEnv(3)
    for call in (
        lambda: dsq.Board(one, rules=other),
        lambda: dsq.Rules(one),
        lambda: dsq.Move(one, other),
        lambda: dsq.Limit(one, depth=other),
        lambda: board.push(one),
        lambda: board.set_fen(one),
        lambda: dsq.pack(one),
        lambda: dsq.unpack(one, other),
        lambda: dsq.Features(one, rules=other),
        lambda: TABLES.probe(one),
        lambda: TABLES.probe_many(one),
        lambda: TABLES.stats(one, other),
        lambda: TABLES.to_numpy(one),
        lambda: TABLES.materials(one),
        lambda: TABLES.longest(one),
        lambda: dsq.learn_tree(one, other),
        lambda: dsq.learn_tree(TABLES, one),
        lambda: env.step(one),
        lambda: env.reset(seed=one),
        lambda: env.board(one),
    ):
        attempt(call)


@given(arrays.arrays(np.int8, st.tuples(st.integers(0, 5), st.just(17)), elements=st.integers(-3, 70)))
def test_packed_rows(rows: NDArray[np.int8]) -> None:
    boards = attempt(dsq.unpack, rows)
    if boards is not None:
        assert np.array_equal(dsq.pack(boards).reshape(rows.shape), rows)
    attempt(TABLES.probe_many, rows)


def test_packed_arrays_of_another_form() -> None:
    packed = dsq.random_positions(4, 2)
    assert len(TABLES.probe_many(packed[:0])[0]) == 0
    other: list[Any] = [packed.astype(np.float32), packed[:, :16], packed[0], packed.astype(np.bool_)]
    for wrong in other:
        with pytest.raises(ValueError, match="packed positions are"):
            TABLES.probe_many(wrong)
    packed[2, 0] = 100
    with pytest.raises(ValueError, match="row 2: a square is 0 to 62"):
        TABLES.probe_many(packed)


@given(st.lists(st.integers(-40, 40), min_size=3, max_size=3))
def test_actions(actions: list[int]) -> None:
    env = dsq.VecEnv(3)
    attempt(env.step, actions)
    assert env.observations.sum() == 48


# What a caller may mean, by the name of the parameter. The values of the parameters in `LIMITED` decide how long a call
# takes, which files it writes or which programs it starts, so only these are drawn, and objects that are no numbers.
BOARDS = st.sampled_from([dsq.Board(), dsq.Board("7/7/3e3/7/7/7/3E3/7/7 w 99"), dsq.Board("7/7/7/7/7/7/7/7/E6 w")])
MOVES = st.builds(dsq.Move, st.integers(0, 62), st.integers(0, 62))
SMALL = st.integers(-3, 3)
NAMES = st.sampled_from(["nothing", "tables", "", "a\0b"])
PLAUSIBLE: dict[str, st.SearchStrategy[Any]] = {
    "action": st.integers(-3, 35),
    "actions": st.lists(st.integers(-2, 33), min_size=2, max_size=2),
    "agent": st.sampled_from(["white", "black", "grey"]),
    "active": arrays.arrays(np.bool_, st.integers(1, 3)),
    "animal": st.integers(-2, 9),
    "arrows": st.lists(st.one_of(MOVES, st.tuples(SMALL, SMALL), st.tuples(SMALL, SMALL, st.text()))),
    "board": st.one_of(BOARDS, LETTERS),
    "black": st.just(players.RandomPlayer(1)),
    "boards": st.lists(st.one_of(BOARDS, LETTERS), max_size=3),
    "choice": st.sampled_from(["all", "paper"]),
    "color": st.booleans(),
    "fen": LETTERS,
    "fill": st.dictionaries(st.integers(-1, 64), st.text()),
    "format": st.sampled_from(dsq.FORMATS),
    "headers": st.dictionaries(st.text(), st.text()),
    "indices": st.lists(st.integers(-1, 2), max_size=3),
    "lastmove": MOVES,
    "key": st.one_of(MOVES, SMALL),
    "mode": st.sampled_from(["expand", "leaf"]),
    "move": MOVES,
    "moves": st.lists(MOVES, max_size=3),
    "name": st.sampled_from(dsq.SQUARE_NAMES),
    "opponent": st.sampled_from(["random", "engine:20", "engine:", "engine:0", "nobody"]),
    "options": st.one_of(st.dictionaries(st.text(), st.text()), st.fixed_dictionaries({"Style": st.just("calm")})),
    "piece": st.builds(dsq.Piece, st.integers(0, 7), st.booleans()),
    "pieces": st.dictionaries(st.integers(-1, 63), st.builds(dsq.Piece, st.integers(0, 7), st.booleans())),
    "positions": st.lists(st.one_of(BOARDS, LETTERS), max_size=3),
    "player": st.sampled_from(["white", "black", "both", "random", 0, 1]),
    "progress": st.just(lambda *_: None),
    "render_mode": st.sampled_from(["ansi", "human", "rgb_array"]),
    "root_moves": st.lists(MOVES, max_size=2),
    "rules": st.sampled_from([*dsq.Rules.presets(), dsq.Rules("chinese"), "shore=none"]),
    "square": st.integers(-2, 64),
    "starts": st.lists(st.one_of(BOARDS, LETTERS), min_size=1, max_size=2),
    "states": st.lists(st.one_of(BOARDS, LETTERS), min_size=1, max_size=2),
    "text": st.one_of(LETTERS, st.sampled_from(["1. Eb3 (1. Ea4) {x} *", '[White "x"]\n*', "EvL", "chinese"])),
    "turn": st.booleans(),
    "uci": st.sampled_from(["a3b3", "a9a8"]),
    "value": st.one_of(SMALL, BOARDS, MOVES),
    "white": st.just(players.RandomPlayer(2)),
    "san": st.sampled_from(["Eb3", "Exb3"]),
}
LIMITED: dict[str, st.SearchStrategy[Any]] = {
    "cache": NAMES,
    "cache_bytes": st.integers(-1, 2**40),
    "command": st.sampled_from(["", "no such engine", [], ["no such engine", "x"]]),
    "count": st.integers(-5, 20),
    "depth": SMALL,
    "directory": NAMES,
    "evaluation": st.sampled_from(["default", "burnett", ""]),
    "hash_mib": st.sampled_from([-1, 0, 1, 2]),
    "engine": st.builds(dsq.Engine, hash_mib=st.just(1)),
    "in_memory": SMALL,
    "limit": st.just(dsq.Limit(nodes=20, depth=2)),
    "material": st.sampled_from(["EvL", "RvT", "Ev", "x", -1, 9, "EPDvLRC"]),
    "max_leaves": SMALL,
    "memory": SMALL,
    "multipv": SMALL,
    "nodes": st.integers(-1, 30),
    "num_envs": st.integers(-1, 3),
    "pieces": st.integers(-2, 3),
    "size": SMALL,
    "source": st.lists(st.text(), max_size=3),
    "no_capture_limit": st.one_of(st.none(), st.integers(-1, 200)),
    "tables": st.sampled_from([TABLES, 0, 9, "nothing"]),
    "threads": SMALL,
    "timeout": st.just(60.0),
}
NO_NUMBERS = st.one_of(st.none(), st.lists(st.text(max_size=1), max_size=1), st.dictionaries(SMALL, SMALL, max_size=1))
UCI_PROGRAM = [sys.executable, str(Path(__file__).parent / "uci_program.py")]


UCI_ENGINES: list[uci.UciEngine] = []
UCI_ANALYSES: list[uci.UciAnalysis] = []


def uci_engine() -> uci.UciEngine:
    """An engine in another process without a search: the last one, unless a call has ended it."""
    while UCI_ANALYSES:
        analysis = UCI_ANALYSES.pop()
        # An analysis that a test has made by hand belongs to no search.
        with contextlib.suppress(Exception):
            analysis.stop()
            analysis.wait(60)
    if not UCI_ENGINES or UCI_ENGINES[-1]._process.poll() is not None:
        UCI_ENGINES.append(uci.UciEngine(UCI_PROGRAM))
    return UCI_ENGINES[-1]


def end(engine: uci.UciEngine) -> None:
    """Ends an engine, whatever a test has changed in it."""
    engine._process.kill()
    engine._process.wait()


def uci_analysis() -> uci.UciAnalysis:
    """A search of the engine in another process."""
    UCI_ANALYSES.append(uci_engine().analysis(dsq.Board(), dsq.Limit(depth=2)))
    return UCI_ANALYSES[-1]


@pytest.fixture(scope="module", autouse=True)
def _no_engine_remains() -> Iterator[None]:
    yield
    for engine in UCI_ENGINES:
        end(engine)


TREE = dsq.learn_tree(TABLES, "EvL", max_leaves=2)
FOLDER = tempfile.TemporaryDirectory()
dsq.generate(FOLDER.name, "EvL", limit=40)
OBJECTS: dict[type, Callable[[], Any]] = {
    dsq.Analysis: lambda: dsq.Engine(hash_mib=1).analysis(dsq.Board(), dsq.Limit(nodes=20)),
    dsq.Board: dsq.Board,
    dsq.DecisionTree: lambda: TREE,
    dsq.Engine: lambda: dsq.Engine(hash_mib=1),
    dsq.Features: lambda: dsq.Features("EvL"),
    dsq.Game: lambda: dsq.Game.from_string("1. Eb3 (1. Ea4) *"),
    dsq.GameNode: lambda: dsq.Game.from_string("1. Eb3 (1. Ea4) 1... Rb7 *").variations[0],
    dsq.Info: lambda: dsq.Engine(hash_mib=1).analyse(dsq.Board(), dsq.Limit(nodes=20))[0],
    dsq.Limit: lambda: dsq.Limit(1),
    dsq.LimitedTables: lambda: dsq.open_limited(FOLDER.name),
    dsq.Move: lambda: dsq.Move(0, 1),
    dsq.Outcome: lambda: dsq.Board("7/7/7/7/7/7/7/7/E6 w").outcome(),
    dsq.Piece: lambda: dsq.Piece(0, True),
    dsq.Rules: dsq.Rules,
    dsq.States: lambda: dsq.VecEnv(2).get_states(),
    dsq.Stats: lambda: TABLES.stats("EvL"),
    dsq.Tables: lambda: TABLES,
    dsq.Value: lambda: TABLES.probe("7/7/3e3/7/7/7/3E3/7/7 w"),
    dsq.VecEnv: lambda: dsq.VecEnv(2),
    gymnasium_env.JungleEnv: gymnasium_env.JungleEnv,
    gymnasium_env.JungleVectorEnv: lambda: gymnasium_env.JungleVectorEnv(2),
    pettingzoo_env.raw_env: pettingzoo_env.raw_env,
    players.EnginePlayer: lambda: players.EnginePlayer(20),
    players.RandomPlayer: players.RandomPlayer,
    players.TablePlayer: lambda: players.TablePlayer(TABLES),
    uci.UciAnalysis: uci_analysis,
    uci.UciEngine: uci_engine,
    uci.UciOption: lambda: uci_engine().options["style"],
}
OPERATORS = {
    "__call__",
    "__contains__",
    "__delitem__",
    "__eq__",
    "__getitem__",
    "__lt__",
    "__setitem__",
    "__setstate__",
}


# Modules beside the package itself, whose names are in `dsq.__all__`.
MODULES = (players, uci, gymnasium_env, pettingzoo_env)


def _itself(thing: Any) -> Any:
    return thing


def _method(thing: Any, attribute: str) -> Any:
    return getattr(OBJECTS[thing](), attribute)


def public_things() -> Iterator[tuple[str, Any]]:
    """Every public function and class with its name."""
    for name in dsq.__all__:
        yield name, getattr(dsq, name)
    for module in MODULES:
        for name, thing in vars(module).items():
            if name[0] != "_" and getattr(thing, "__module__", "") == module.__name__:
                yield f"{module.__name__.removeprefix('doushouqi.')}.{name}", thing


def is_call(thing: type, attribute: str) -> bool:
    """Whether an attribute of a class is a public method or an operator of its own."""
    if attribute in OPERATORS:
        return any(attribute in vars(base) for base in thing.__mro__ if base is not object)
    # The tables are shared, as is the engine in another process.
    return attribute[0] != "_" and callable(getattr(thing, attribute)) and attribute not in ("close", "quit")


def public_calls() -> Iterator[tuple[str, Callable[[], Any], list[str]]]:
    """Every public function and method: its name, a function that returns it, and the names of its parameters."""
    for name, thing in public_things():
        if (isinstance(thing, type) and issubclass(thing, Exception)) or not callable(thing):
            continue
        if not isinstance(thing, type):
            yield name, partial(_itself, thing), list(inspect.signature(thing).parameters)
            continue
        # Subclasses of boards have other parameters, so its constructor has any.
        own = ["fen", "rules", "no_capture_limit"] if thing is dsq.Board else list(inspect.signature(thing).parameters)
        yield name, partial(_itself, thing), own
        for attribute in filter(partial(is_call, thing), dir(thing)):
            parameters = inspect.signature(getattr(thing, attribute)).parameters
            make = partial(_method, thing, attribute)
            yield f"{name}.{attribute}", make, [parameter for parameter in parameters if parameter != "self"]


CALLS = {name: (make, parameters) for name, make, parameters in public_calls()}


def test_the_calls_are_known() -> None:
    assert len(CALLS) > 230
    kept = {"Board.push", "Engine.popen", "Game.export", "VecEnv.step", "read_games", "solve", "Tables.probe_many"}
    kept |= {"Game.__getitem__", "players.TablePlayer.__call__", "uci.UciEngine.play", "gymnasium_env.JungleEnv.step"}
    assert kept <= set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_every_public_call(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Arguments that are plausible, and any others: an exception, never the end of the interpreter or a panic."""
    make, parameters = CALLS[name]
    # What is written in Python alone may raise what other packages raise.
    is_pure = any(name.startswith(module.__name__.removeprefix("doushouqi.") + ".") for module in MODULES)
    allowed = (Exception,) if is_pure else (*WRONG, KeyError, OSError, AttributeError, dsq.EngineError)
    directory = tmp_path_factory.mktemp("calls")
    before = Path.cwd()

    def argument(parameter: str) -> st.SearchStrategy[Any]:
        limited = LIMITED.get(parameter)
        if parameter == "pieces" and name.startswith("Board"):
            limited = None
        if limited is not None:
            return st.one_of(limited, limited, NO_NUMBERS)
        return st.one_of(PLAUSIBLE.get(parameter, ANYTHING), PLAUSIBLE.get(parameter, ANYTHING), ANYTHING)

    drawn = st.fixed_dictionaries({}, optional={parameter: argument(parameter) for parameter in parameters})

    @given(drawn)
    @settings(max_examples=12, database=None)
    def check(arguments: dict[str, Any]) -> None:
        function = make()
        signature = inspect.signature(function)
        given_by_place = [
            arguments.pop(parameter.name)
            for parameter in signature.parameters.values()
            if parameter.kind == parameter.POSITIONAL_ONLY and parameter.name in arguments
        ]
        try:
            found = function(*given_by_place, **arguments)
            if isinstance(found, uci.UciAnalysis):
                UCI_ANALYSES.append(found)
            elif not isinstance(found, dsq.Analysis) and isinstance(found, Iterator):
                list(found)
        except allowed:
            pass

    os.chdir(directory)
    try:
        check()
    finally:
        os.chdir(before)


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: thing.__name__)
def test_every_attribute(thing: type) -> None:
    """Attributes are set to anything, and the object is shown, compared and copied."""
    names = [name for name in dir(OBJECTS[thing]()) if name[0] != "_"]
    values = [st.builds(_itself, strategy) for strategy in PLAUSIBLE.values()]

    @given(st.sampled_from(names), st.one_of(ANYTHING, *values))
    @settings(max_examples=20, database=None)
    def check(name: str, value: Any) -> None:
        changed = OBJECTS[thing]()
        if not callable(getattr(changed, name)):
            attempt(setattr, changed, name, value)
        for use in (str, repr, copy.copy, partial(operator.eq, changed)):
            with contextlib.suppress(Exception):
                use(changed)
        if isinstance(changed, uci.UciEngine):
            end(changed)

    check()


@given(ANYTHING)
def test_players_and_clients(thing: Any) -> None:
    attempt(players.player, thing if isinstance(thing, str) else "random")
    with pytest.raises((dsq.EngineError, TypeError)):
        uci.UciEngine(thing if not isinstance(thing, str | list | bytes) else "no such engine")
