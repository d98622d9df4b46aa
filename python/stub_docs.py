"""Writes the documentation of the extension module into its stubs, `lib/doushouqi/_core.pyi`.

The doc comments in Rust are the source. `python stub_docs.py` rewrites the stubs, for `ruff format` to lay them out;
`differences` is empty if they are up to date.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doushouqi import _core

STUBS = Path(__file__).parent / "lib" / "doushouqi" / "_core.pyi"
_WIDTH = 120


def documented(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | ast.FunctionDef, str, str]]:
    """The public classes and functions of the stubs, with their names and their documentation in Rust."""

    def walk(nodes: list[ast.stmt], owner: Any, prefix: str) -> Iterator[tuple[Any, str, str]]:
        for node in nodes:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
                continue
            if any(isinstance(mark, ast.Attribute) and mark.attr == "setter" for mark in node.decorator_list):
                continue
            thing = getattr(owner, node.name)
            yield node, prefix + node.name, inspect.cleandoc(thing.__doc__ or "")
            if isinstance(node, ast.ClassDef):
                yield from walk(node.body, thing, f"{node.name}.")

    yield from walk(tree.body, _core, "")


def differences() -> list[str]:
    """The names whose documentation in the stubs is not that in Rust."""
    tree = ast.parse(STUBS.read_text())
    return [name for node, name, text in documented(tree) if (ast.get_docstring(node) or "").split() != text.split()]


def docstring(text: str, indent: int) -> list[str]:
    """The lines of a docstring."""
    # Without the quotes that may stand at both ends.
    width = _WIDTH - indent - 6
    paragraphs = [textwrap.fill(paragraph, width, break_on_hyphens=False) for paragraph in text.split("\n\n")]
    if len(paragraphs) == 1 and len(text) <= width:
        lines = [f'"""{" ".join(text.split())}"""']
    else:
        paragraphs[0] = '"""' + paragraphs[0]
        lines = [*"\n\n".join(paragraphs).split("\n"), '"""']
    return [" " * indent + line if line else "" for line in lines]


def main() -> None:
    """Rewrites the stubs."""
    lines = STUBS.read_text().split("\n")
    for node, _, text in reversed(list(documented(ast.parse(STUBS.read_text())))):
        if not text:
            continue
        new = docstring(text.replace("\\", "\\\\"), node.col_offset + 4)
        first = node.body[0]
        assert first.end_lineno is not None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            if first.value.value is Ellipsis:
                head = lines[first.lineno - 1][: first.col_offset].rstrip()
                lines[first.lineno - 1 : first.end_lineno] = [head, *new]
            else:
                lines[first.lineno - 1 : first.end_lineno] = new
        else:
            marks = first.decorator_list if isinstance(first, ast.ClassDef | ast.FunctionDef) else []
            at = min([first.lineno, *(mark.lineno for mark in marks)]) - 1
            lines[at:at] = new
    STUBS.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
