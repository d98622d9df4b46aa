"""The tables of names for users of other libraries, in docs/python.md: the names of this package exist."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import doushouqi as dsq

PAGE = (Path(__file__).parent.parent.parent / "docs" / "python.md").read_text()
BOARD = dsq.Board("7/3L3/7/7/7/7/7/7/r6 w")
ENGINE = dsq.Engine(hash_mib=1)
# The objects of the tables.
OBJECTS: dict[str, Any] = {
    "dsq": dsq,
    "board": BOARD,
    "engine": ENGINE,
    "env": dsq.VecEnv(2),
    "info": ENGINE.analyse(BOARD, dsq.Limit(depth=1))[0],
    "node": dsq.Game().add_variation(dsq.Move.from_uci("a3b3")),
    "piece": dsq.Piece(dsq.CAT, True),
}


def names() -> Iterator[str]:
    """All names of the package: of functions, classes, attributes and parameters."""
    for name in dsq.__all__:
        yield name
        thing = getattr(dsq, name)
        if not callable(thing) or (isinstance(thing, type) and issubclass(thing, Exception)):
            continue
        yield from inspect.signature(thing).parameters
        for attribute in dir(thing) if isinstance(thing, type) else ():
            yield attribute
            if attribute[0] != "_" and callable(getattr(thing, attribute)):
                yield from inspect.signature(getattr(thing, attribute)).parameters


NAMES = set(names())


def rows(heading: str) -> list[list[str]]:
    """The rows of the table below a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")][2:]


def parsed(cell: str) -> Iterator[ast.AST]:
    """The nodes of the pieces of code in a cell."""
    for code in re.findall("`([^`]+)`", cell):
        code = re.sub(r"=(?=[,)])", "=0", code.lstrip("."))
        if re.fullmatch(r"\w+=\w+", code):
            code = f"call({code})"
        yield from ast.walk(ast.parse(code))


def codes(cell: str) -> list[str]:
    """The pieces of code in a cell that are one name or its call."""
    return re.findall(r"`\.?(\w+)(?:\([^`]*\))?`", cell)


def unknown(cell: str) -> Iterator[str]:
    """The names of a cell that the package lacks."""
    yield from set(codes(cell)) - NAMES - {"dones"}
    for node in parsed(cell):
        if isinstance(node, ast.Attribute):
            owner = OBJECTS.get(node.value.id) if isinstance(node.value, ast.Name) else None
            if node.attr not in NAMES or (owner is not None and not hasattr(owner, node.attr)):
                yield ast.unparse(node)
        elif isinstance(node, ast.keyword) and node.arg not in NAMES:
            yield f"{node.arg}="


@pytest.mark.parametrize(("heading", "count"), [("Names for users of python-chess", 16), ("Names for users of pgx", 9)])
def test_names_exist(heading: str, count: int) -> None:
    table = rows(heading)
    assert len(table) >= count
    for left, right in table:
        assert not list(unknown(right)), right
        if right.startswith("the same"):
            # The names of the other library are names of this package.
            assert not list(unknown(left.replace("chess.", "dsq."))), left
