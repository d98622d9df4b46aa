"""The programs of the README run from the wheel in a clean environment, without an index."""

import os
import re
import subprocess
import venv
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
WHEELS = os.environ.get("DSQ_WHEELS", "")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the package and what it requires, nothing else."""
    if not WHEELS:
        pytest.skip("DSQ_WHEELS does not name the folders of wheels")
    directory = tmp_path_factory.mktemp("clean")
    venv.create(directory, with_pip=True)
    interpreter = directory / "bin" / "python"
    links = [f"--find-links={folder}" for folder in WHEELS.split(":")]
    command: list[str | Path] = [interpreter, "-m", "pip", "install", "--quiet", "--no-index", *links, "doushouqi"]
    subprocess.run(command, check=True, cwd=directory)
    return interpreter


@pytest.mark.parametrize("number", [0, 1, 2])
def test_programs_of_the_readme(python: Path, tmp_path: Path, number: int) -> None:
    programs = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(programs) == 3
    program = programs[number]
    assert len([line for line in program.splitlines() if line.strip()]) <= 20
    # Threads of linear algebra that wait for each other on a busy machine make small products slower.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [python, "-I", "-c", program]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    if number == 0:
        assert len([line for line in program.splitlines() if line.strip()]) <= 12
        counts = re.search(r"White won (\d+) games and Black (\d+)", run.stdout)
        assert counts, run.stdout
        assert int(counts[1]) > 10 * int(counts[2])
    if number == 2:
        share = re.search(r"won ([\d.]+) %", run.stdout)
        assert share, run.stdout
        assert float(share[1]) >= 90
