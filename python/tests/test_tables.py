"""Tables: every value of three pieces, and many of four, by two ways of looking it up."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import doushouqi as dsq

# Wins and losses with White to move, positions and the longest line, as van Rijn and Vis (2013) print them.
PRINTED = {2: (82_852, 64_501, 34), 3: (30_297_857, 23_369_820, 67)}


Wdl = NDArray[np.int8]
Dtw = NDArray[np.int16]


def same(one: tuple[Wdl, Dtw], other: tuple[Wdl, Dtw]) -> bool:
    """Whether two answers are equal."""
    return np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


def columns(material: str) -> list[int]:
    """The columns of a packed position with the pieces of a material, in the order of its spelling."""
    white, black = material.split("v")
    return ["RCWDPTLE".index(letter) for letter in white] + [8 + "RCWDPTLE".index(letter) for letter in black]


def all_positions(wdl: Wdl, material: str) -> Wdl:
    """The packed positions of a dense array."""
    at = np.nonzero(wdl != -2)
    packed = np.full((len(at[0]), 17), -1, dtype=np.int8)
    for column, squares in zip([16, *columns(material)], at, strict=True):
        packed[:, column] = squares
    return packed


@pytest.mark.parametrize("pieces", [2, 3])
def test_all_values(three: dsq.Tables, pieces: int) -> None:
    """`probe_many` finds a position by itself, `to_numpy` walks through the material's table."""
    counts = np.zeros(3, dtype=np.int64)
    longest = 0
    for material in dsq.materials(pieces):
        wdl, dtw = three.to_numpy(material)
        known = wdl != -2
        # A part of three pieces: the counts below check the rest.
        step = 1 if pieces == 2 else 7
        found_wdl, found_dtw = three.probe_many(np.ascontiguousarray(all_positions(wdl, material)[::step]))
        assert np.array_equal(found_wdl, wdl[known][::step])
        assert np.array_equal(found_dtw, dtw[known][::step])
        counts += [np.count_nonzero(wdl[0] == value) for value in (1, -1, 0)]
        longest = max(longest, int(dtw[0].max()))
        stats = three.stats(material)
        assert stats.wins == np.count_nonzero(wdl[0] == 1)
        assert stats.losses == np.count_nonzero(wdl[0] == -1)
        assert stats.draws + stats.no_move == np.count_nonzero(wdl[0] == 0)
    assert (counts[0], counts[1], longest) == PRINTED[pieces]


def test_four_pieces(tmp_path: Path) -> None:
    """Positions of four pieces: from files, from memory, and from the values after every move."""
    materials = ["CRvTD", "LRvTR", "EvWCR"]
    for i, material in enumerate(materials):
        dsq.generate(tmp_path / material, material)
        with dsq.open_tables(tmp_path / material) as files:
            memory = dsq.solve(material)
            wdl, dtw = memory.to_numpy(material)
            packed = all_positions(wdl, material)
            packed = packed[np.random.default_rng(i).choice(len(packed), 20_000, replace=False)]
            found = files.probe_many(packed)
            assert same(found, memory.probe_many(packed))
            at = (packed[:, 16], *packed[:, columns(material)].T)
            assert np.array_equal(found[0], wdl[at])
            assert np.array_equal(found[1], dtw[at])
            for board, *value in zip(dsq.unpack(packed[:100]), *found, strict=False):
                assert tuple(value) == slow_value(files, board)


def slow_value(tables: dsq.Tables, board: dsq.Board) -> tuple[int, int]:
    """The value of a position from those after its moves: the shortest win, else a draw, else the longest loss."""
    # The halfmove clock after a move would limit the distance.
    board = dsq.Board(board.fen(), rules=board.rules, no_capture_limit=None)
    values = []
    for move in board.legal_moves:
        board.push(move)
        value = tables.probe(board)
        assert value is not None
        values.append((-value.wdl, -1 if value.dtw is None else value.dtw + 1))
        board.pop()
    wins = [value for value in values if value[0] == 1]
    losses = [value for value in values if value[0] == -1]
    if wins:
        return min(wins, key=lambda value: value[1])
    return max(losses, key=lambda value: value[1]) if len(losses) == len(values) > 0 else (0, -1)


def test_moves_and_lines(three: dsq.Tables) -> None:
    longest = three.longest(3)
    assert longest is not None
    board, plies = longest
    value = three.probe(board)
    assert value is not None
    assert (value.dtw, len(three.line(board) or [])) == (plies, plies)
    moves = three.moves(board)
    assert moves is not None
    assert moves[0][1] == value
    assert {move for move, _ in moves} == set(board.legal_moves)
    for move in three.line(board) or []:
        board.push(move)
    outcome = board.outcome()
    assert outcome is not None
    assert outcome.winner is not None
    assert three.probe(dsq.Board()) is None
    assert three.moves(dsq.Board()) is None
    assert three.line(dsq.Board()) is None
    boards = dsq.unpack(dsq.random_positions(1000, 2))
    draw = next(board for board, wdl in zip(boards, three.probe_many(boards)[0], strict=True) if wdl == 0)
    assert three.line(draw) == []


def test_the_no_capture_limit(three: dsq.Tables) -> None:
    """A loss in 12 plies is certain as long as 12 plies remain before the limit."""
    fen, plies = "7/7/7/7/7/6e/7/7/L6 w", 12
    unlimited = three.probe(fen)
    assert unlimited is not None
    assert (unlimited.wdl, unlimited.dtw) == (-1, plies)
    last = dsq.Board(f"{fen} {100 - plies}")
    assert three.probe(last) == unlimited
    assert len(three.line(last) or []) == plies
    for clock in (101 - plies, 95, 100, 1000):
        late = f"{fen} {clock}"
        boards: list[dsq.Board | str] = [late, dsq.Board(late), dsq.Board(f"{fen} 1", no_capture_limit=plies)]
        for board in boards:
            for call in (three.probe, three.moves, three.line):
                with pytest.raises(dsq.TablesError, match="no-capture limit"):
                    call(board)
            with pytest.raises(dsq.TablesError, match="row 1: the no-capture limit"):
                three.probe_many([fen, board])
        endless = dsq.Board(late, no_capture_limit=None)
        assert three.probe(endless) == unlimited
        assert three.probe_many([endless])[1] == [plies]
    # The limit does not change a draw, and a capture starts the clock again.
    drawn = "7/7/7/7/7/7/7/l6/1E5 b 99"
    value = three.probe(drawn)
    assert value is not None
    assert value.wdl == three.probe_many([drawn])[0][0] == 0
    moves = three.moves("2l4/7/3c3/3E3/7/7/7/7/7 w 99")
    assert moves is not None
    assert [(str(move), value.dtw) for move, value in moves] == [("d6d7", 9), ("d6d5", None)]


def test_files_and_memory_agree(two_on_disk: Path, three: dsq.Tables) -> None:
    files = dsq.open_tables(two_on_disk, rules="paper,repetition=none")
    assert files.pieces == 2
    assert files.materials(2) == three.materials(2) == dsq.materials(2)
    found, wanted = files.longest(2), three.longest(2)
    assert found is not None
    assert wanted is not None
    assert found[1] == wanted[1] == 34
    assert files.stats("EvL", dsq.BLACK) == three.stats("EvL", dsq.BLACK) != three.stats("EvL")
    assert same(files.to_numpy("RvT"), three.to_numpy("RvT"))


def test_wrong_tables(two_on_disk: Path, tmp_path: Path) -> None:
    with pytest.raises(dsq.TablesError, match="holds no tables"):
        dsq.open_tables(tmp_path)
    with pytest.raises(dsq.TablesError, match="for the rules"):
        dsq.open_tables(two_on_disk, rules="chinese")
    tables = dsq.open_tables(two_on_disk)
    with pytest.raises(dsq.TablesError, match="EPvLR"):
        tables.to_numpy("EPvLR")
    with pytest.raises(ValueError, match="too large"):
        tables.to_numpy("EPTvLR")
    with tables:
        assert tables.probe("7/7/3e3/7/7/7/3E3/7/7 w") is not None
    for call in (
        lambda: tables.probe(dsq.Board()),
        lambda: tables.probe_many(dsq.random_positions(1, 2)),
        lambda: tables.pieces,
        lambda: tables.stats("EvL"),
    ):
        with pytest.raises(dsq.TablesError, match="closed"):
            call()


def test_boards_under_other_rules(two_on_disk: Path) -> None:
    tables = dsq.open_tables(two_on_disk)
    fen = "7/7/3e3/7/7/7/3E3/7/7 w"
    board = dsq.Board(fen, rules="chinese")
    for call in (tables.probe, tables.moves, tables.line, tables.need, tables.count):
        with pytest.raises(dsq.TablesError, match="for the rules"):
            call(board)
    with pytest.raises(dsq.TablesError, match="for the rules"):
        tables.probe_many([fen, board])
    assert tables.probe(dsq.Board(fen, rules="paper,repetition=none")) == tables.probe(fen)


def test_damaged_tables(two_on_disk: Path, tmp_path: Path) -> None:
    for path in two_on_disk.iterdir():
        data = bytearray(path.read_bytes())
        if path.suffix == ".dsq":
            data[len(data) // 2] ^= 0xFF
        (tmp_path / path.name).write_bytes(bytes(data))
    tables = dsq.open_tables(tmp_path)
    with pytest.raises(dsq.TablesError, match="damaged"):
        [tables.to_numpy(material) for material in dsq.materials(2)]


@pytest.mark.parametrize("pieces", [2, 3])
def test_tables_in_memory(pieces: int, three: dsq.Tables, tmp_path: Path) -> None:
    """The values are those of files, also of tables that stay there."""
    dsq.generate(tmp_path, 3)
    memory, files = dsq.open_tables(tmp_path, in_memory=pieces), dsq.open_tables(tmp_path)
    for count in (2, 3, 4):
        packed = dsq.random_positions(2000, count, seed=count)
        assert same(memory.probe_many(packed), files.probe_many(packed))
    assert same(memory.probe_many(packed[:0]), files.probe_many(packed[:0]))
    both = dsq.random_positions(500, 3, seed=1), dsq.random_positions(500, 2, seed=2)
    mixed = np.ascontiguousarray(np.concatenate(both))
    assert same(memory.probe_many(mixed), three.probe_many(mixed))
    for board in dsq.unpack(np.ascontiguousarray(mixed[::50])):
        assert memory.probe(board) == files.probe(board)
        assert memory.moves(board) == files.moves(board)
        assert memory.line(board) == files.line(board)
    assert memory.stats("EvL") == files.stats("EvL")
    assert same(memory.to_numpy("RvT"), files.to_numpy("RvT"))
    assert memory.pieces == files.pieces == 3
    # Once they are in memory, the files are not read.
    (tmp_path / "EvE.dsq").unlink()
    assert memory.probe("7/7/3e3/7/7/7/3E3/7/7 w") == three.probe("7/7/3e3/7/7/7/3E3/7/7 w")
    with pytest.raises(ValueError, match="either"):
        dsq.open_tables(tmp_path, on_demand=True, cache=tmp_path / "cache", in_memory=2)


def test_tables_are_pickled(two_on_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(two_on_disk.parent)
    fen = "7/7/7/7/L6/6e/7/7/7 w"
    with dsq.solve("EvL", rules="chinese") as solved:
        assert pickle.loads(pickle.dumps(solved)).rules == dsq.Rules("chinese")
    cache = tmp_path / "cache"
    for tables in (
        dsq.solve(2),
        dsq.open_tables(two_on_disk.name),
        dsq.open_tables(two_on_disk, in_memory=2),
        dsq.open_tables(two_on_disk, on_demand=True, cache=cache),
    ):
        value, data = tables.probe(fen), pickle.dumps(tables)
        monkeypatch.chdir(tmp_path)
        for other in (pickle.loads(data), copy.copy(tables)):
            assert other.probe(fen) == value
        monkeypatch.chdir(two_on_disk.parent)
        tables.close()
        with pytest.raises(dsq.TablesError, match="closed"):
            pickle.dumps(tables)


def test_values_are_ordered(three: dsq.Tables) -> None:
    wdl, dtw = three.probe_many(boards := dsq.unpack(dsq.random_positions(300, 3, seed=2)))
    values = [three.probe(board) for board in boards]
    keys = [(w, -w * d) for w, d in zip(wdl.tolist(), dtw.tolist(), strict=True)]
    found = [value for value in values if value is not None]
    assert len(found) == len(keys)
    assert {-1, 0, 1} == set(wdl.tolist())
    for one, key in zip(found, keys, strict=True):
        for other, other_key in zip(found, keys, strict=True):
            assert (one < other, one <= other, one > other) == (key < other_key, key <= other_key, key > other_key)
    assert repr(max(found)) == repr(found[keys.index(max(keys))])


def test_tables_stay_open_when_the_directory_changes(
    two_on_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fen = "7/7/7/7/L6/6e/7/7/7 w"
    monkeypatch.chdir(two_on_disk.parent)
    tables = dsq.open_tables(two_on_disk.name)
    demand = dsq.open_tables(two_on_disk.name, on_demand=True, cache=Path(tmp_path.name))
    engine = dsq.Engine(hash_mib=1, tables=two_on_disk.name)
    monkeypatch.chdir(tmp_path)
    for some in (tables, demand, pickle.loads(pickle.dumps(tables)), pickle.loads(pickle.dumps(demand))):
        value = some.probe(fen)
        assert value is not None
        assert value.dtw == 9
    for other in (engine, copy.copy(engine)):
        assert other.analyse(dsq.Board(fen), dsq.Limit(depth=1))[0].win_in == 9


def test_what_is_no_directory_of_tables(two_on_disk: Path) -> None:
    for address in ("https://example.org/tables", "http://localhost:8000/"):
        calls: list[Callable[[], object]] = [
            lambda address=address: dsq.open_tables(address),  # type: ignore[misc]
            lambda address=address: dsq.Engine(tables=address),  # type: ignore[misc]
            lambda address=address: dsq.generate(address, 2),  # type: ignore[misc]
        ]
        for call in calls:
            with pytest.raises(dsq.TablesError, match="is an address: download"):
                call()
    with pytest.raises(ValueError, match="in_memory is 0 to 2"):
        dsq.open_tables(two_on_disk, in_memory=9)


def test_arrays_of_other_kinds(three: dsq.Tables) -> None:
    packed = dsq.random_positions(100, 3, seed=3)
    expected = three.probe_many(packed)
    wide = np.zeros((200, 34), np.int8)
    wide[::2, ::2] = packed
    for other in (packed.astype(np.int64), packed.astype(">i4"), np.asfortranarray(packed), wide[::2, ::2]):
        assert same(three.probe_many(other), expected)
        assert dsq.unpack(other) == dsq.unpack(packed)
    for wrong in (packed.astype(np.int64) + 256, packed.astype(np.uint8)):
        with pytest.raises(ValueError, match="from -1 to 62"):
            three.probe_many(wrong)
    boards: list[Any] = list(dsq.unpack(packed))
    boards[77] = "nonsense"
    for call in (three.probe_many, dsq.pack):
        with pytest.raises(dsq.FenError, match="row 77: "):
            call(boards)
    boards[77] = 7
    with pytest.raises(TypeError, match="row 77: expected a Board or a FEN"):
        dsq.pack(boards)


def test_random_positions_of_a_material() -> None:
    packed = dsq.random_positions(500, "EPvLR", seed=4)
    boards = dsq.unpack(packed)
    assert {board.material for board in boards} == {"EPvLR"}
    assert not any(board.is_game_over() for board in boards)
    assert {board.turn for board in boards} == {True, False}
    assert np.array_equal(packed, dsq.random_positions(500, "EPvLR", seed=4))
    with pytest.raises(dsq.MaterialError):
        dsq.random_positions(3, "Ev")


RACE = "7/7/7/7/L6/6e/7/7/7 w"


def test_values_at_a_clock(tmp_path: Path) -> None:
    """The lion needs 9 plies to the den; values of moves are those of the positions they lead to."""
    dsq.generate(tmp_path, 2, limit=40)
    with dsq.open_limited(tmp_path) as tables:
        assert (tables.rules, tables.limit, tables.pieces) == (dsq.Rules(), 40, 2)
        assert tables.probe(RACE) == tables.probe(f"{RACE} 31") == {"wdl": 1, "category": "win", "dtz": 9}
        assert tables.probe(f"{RACE} 32") == {"wdl": 0, "category": "cursed-win", "dtz": 9}
        start = dsq.Board(no_capture_limit=40)
        assert tables.probe(start) is None
        assert tables.moves(start) is None
        seen = set()
        for board in dsq.unpack(dsq.random_positions(200, 2, seed=4)):
            for clock in (0, 20, 38):
                game = dsq.Board(f"{board.fen()} {clock}", no_capture_limit=40)
                value, moves = tables.probe(game), tables.moves(game)
                assert value is not None
                assert moves is not None
                seen.add(value["category"])
                assert {move for move, _ in moves} == set(game.legal_moves)
                assert not moves or moves[0][1]["wdl"] == value["wdl"] == max(move["wdl"] for _, move in moves)
                for move, value_of_move in moves:
                    game.push(move)
                    after = tables.probe(game)
                    assert after is not None
                    assert value_of_move["wdl"] == -after["wdl"]
                    game.pop()
        assert seen == {"win", "cursed-win", "draw", "blessed-loss", "loss"}
        again = pickle.loads(pickle.dumps(tables))
        assert again.probe(RACE) == tables.probe(RACE)
        wrong: list[tuple[Any, str]] = [
            (f"{RACE} 41", "beyond the limit"),
            (dsq.Board(RACE), "a limit of 100 plies"),
            (dsq.Board(RACE, no_capture_limit=None), "no limit"),
            (dsq.Board(RACE, no_capture_limit=40, rules="chinese"), "for the rules"),
        ]
        for board, what in wrong:
            with pytest.raises(dsq.TablesError, match=what):
                tables.probe(board)
    with pytest.raises(dsq.TablesError, match="closed"):
        tables.probe(RACE)
    for wrong_limit in (0, 1001):
        with pytest.raises(ValueError, match="1 to 1000"):
            dsq.generate(tmp_path, 2, limit=wrong_limit)
    with pytest.raises(dsq.TablesError, match="no-capture limit"):
        dsq.open_tables(tmp_path)
