"""Fixtures that several tests share."""

from pathlib import Path

import pytest

import doushouqi as dsq


@pytest.fixture(scope="session")
def three() -> dsq.Tables:
    """All tables of up to three pieces, in memory."""
    return dsq.solve(3)


@pytest.fixture(scope="session")
def two_on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with all tables of two pieces."""
    directory = tmp_path_factory.mktemp("two")
    dsq.generate(directory, 2)
    return directory
