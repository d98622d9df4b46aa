"""Fixtures that several tests share."""

from pathlib import Path

import pytest
from hypothesis import settings

import doushouqi as dsq

# How long a test takes depends on what else the machine does.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


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


@pytest.fixture(scope="session")
def four_on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a table of four pieces and those that it leads to."""
    directory = tmp_path_factory.mktemp("four")
    dsq.generate(directory, "EvLRC")
    return directory


@pytest.fixture(scope="session")
def three_on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with all tables of up to three pieces."""
    directory = tmp_path_factory.mktemp("three")
    dsq.generate(directory, 3)
    return directory
