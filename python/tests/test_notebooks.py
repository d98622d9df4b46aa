"""The notebooks run from the first cell to the last."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Threads of linear algebra that wait for each other on a busy machine make small products slower.
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    # The time for learning to play against the engine, whose result is not tested.
    monkeypatch.setenv("SECONDS", "5")
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3
