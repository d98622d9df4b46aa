"""Lookups on demand, with tables of two pieces instead of five."""

import signal
import threading
from pathlib import Path

import pytest

import doushouqi as dsq

THREE = dsq.Board("7/7/3el2/7/7/7/3E3/7/7 w")
FOUR = dsq.Board("7/7/3el2/7/7/7/3EP2/7/7 w")


def test_a_material_is_counted_when_it_is_needed(two_on_disk: Path, three: dsq.Tables, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with dsq.open_tables(two_on_disk, on_demand=True, cache=cache) as tables:
        need = tables.need(THREE)
        assert need is not None
        assert need["material"] in ("EvEL", "ELvE")
        assert need["memory_bytes"] > 0
        wdl, _ = tables.probe_many([THREE])
        assert wdl[0] == -2, "arrays count nothing"
        reports: list[tuple[str, float]] = []
        tables.count(THREE, lambda phase, share: reports.append((phase, share)))
        assert reports
        assert all(0 <= share <= 1 for _, share in reports)
        assert tables.need(THREE) is None
        for board in [THREE, dsq.Board("7/7/3el2/7/7/7/3E3/7/7 b"), dsq.Board("7/7/3el2/7/3E3/7/7/7/7 w")]:
            assert tables.probe(board) == three.probe(board)
            assert sorted(map(repr, tables.moves(board) or [])) == sorted(map(repr, three.moves(board) or []))
            assert len(tables.line(board) or []) == len(three.line(board) or [])
            wdl, dtw = tables.probe_many([board])
            expected = three.probe_many([board])
            assert (wdl[0], dtw[0]) == (expected[0][0], expected[1][0])
        assert tables.probe(FOUR) is None
        assert tables.moves(FOUR) is None
        assert tables.line(FOUR) is None
        assert tables.need(FOUR) is None
        assert tables.probe("7/7/3e3/7/7/7/3E3/7/7 w") == three.probe("7/7/3e3/7/7/7/3E3/7/7 w")
    with dsq.open_tables(two_on_disk, on_demand=True, cache=cache) as again:
        assert again.need(THREE) is None
    with pytest.raises(dsq.TablesError, match="closed"):
        again.count(THREE)


def test_what_cannot_be_counted_raises(two_on_disk: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cache"):
        dsq.open_tables(two_on_disk, on_demand=True)
    with pytest.raises(ValueError, match="on_demand"):
        dsq.open_tables(two_on_disk, cache=tmp_path)
    cache = tmp_path / "cache"
    with pytest.raises(MemoryError, match="memory"):
        dsq.open_tables(two_on_disk, on_demand=True, cache=cache, memory=50_000).count(THREE)
    with pytest.raises(dsq.TablesError, match="cache"):
        dsq.open_tables(two_on_disk, on_demand=True, cache=cache, cache_bytes=1000).count(THREE)
    tables = dsq.open_tables(two_on_disk, on_demand=True, cache=cache)

    def fail(phase: str, share: float) -> None:
        raise RuntimeError(f"{phase} {share}")

    with pytest.raises(RuntimeError, match="0"):
        tables.count(THREE, fail)
    assert tables.need(THREE) is not None, "nothing was counted"


def test_an_interrupt_ends_a_count(two_on_disk: Path, tmp_path: Path) -> None:
    """The other program that counts in the same cache never ends."""
    fcntl = pytest.importorskip("fcntl")
    cache = tmp_path / "cache"
    tables = dsq.open_tables(two_on_disk, on_demand=True, cache=cache)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            tables.line(THREE)
