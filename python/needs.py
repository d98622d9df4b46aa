"""Prints the requirements of the tests from `pyproject.toml`, one on each line."""

import re
from pathlib import Path

PROJECT = (Path(__file__).parent / "pyproject.toml").read_text()


def listed(name: str) -> list[str]:
    """The strings of a list."""
    match = re.search(rf"^{name} = \[(.*?)\]", PROJECT, re.MULTILINE | re.DOTALL)
    assert match, f"pyproject.toml has no {name}"
    return re.findall(r'"([^"]+)"', match[1])


print("\n".join(listed("requires") + listed("dependencies") + listed("test")))
