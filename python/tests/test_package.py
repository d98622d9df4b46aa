"""The package as an index and an editor show it."""

import ast
import importlib.metadata
import sys
from pathlib import Path

import doushouqi as dsq

PYTHON = Path(__file__).parent.parent
sys.path.insert(0, str(PYTHON))

import stub_docs  # noqa: E402 - it is not a part of the package


def test_stubs_have_the_documentation() -> None:
    """`python stub_docs.py` and `ruff format` write it."""
    assert stub_docs.differences() == []
    tree = ast.parse(stub_docs.STUBS.read_text())
    texts = {name: text for _, name, text in stub_docs.documented(tree)}
    assert {"Board.push", "VecEnv.step", "solve", "FenError", "Board.turn"} <= set(texts)
    assert all(texts.values())
    assert texts["Move.from_uci"].startswith("The move of a text")


def test_the_wheel_has_licences_addresses_and_a_readme() -> None:
    data = importlib.metadata.metadata("doushouqi")
    assert data["License-Expression"] == "MIT OR Apache-2.0"
    files = importlib.metadata.files("doushouqi") or []
    licences = {path.name: path.read_text() for path in files if "licenses" in path.parts}
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert licences[name] == (PYTHON.parent / name).read_text()
    urls = dict(entry.split(", ", 1) for entry in data.get_all("Project-URL") or [])
    assert {"Homepage", "Repository", "Documentation"} <= set(urls)
    readme = (PYTHON / "README.md").read_text()
    assert str(data.json["description"]).strip() == readme.strip()
    # An index shows the page alone, so a link of the repository would lead nowhere.
    assert "](../" not in readme
    assert "](docs/" not in readme
    assert readme.splitlines()[4].startswith("```sh")


def test_all_names_are_listed() -> None:
    listed = set(dsq.__all__)
    modules = {"games", "players", "squares", "uci", "gymnasium_env", "pettingzoo_env", "open_spiel_game", "Final"}
    public = {name for name in vars(dsq) if not name.startswith("_")}
    assert public - modules <= listed
    assert len(dsq.__all__) == len(listed)
