"""Notebooks are committed without outputs, and run from their first cell to the last.

Cells tagged `parameters` hold the size of a study; here it is small.
"""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
SMALL = {"RUNS": 4, "DURATION": 2.0}


def cells_of(notebook: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{notebook}.ipynb").read_text(encoding="utf-8")
    return [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def run(notebook: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {"__name__": "notebook"}
    for number, cell in enumerate(cells_of(notebook), 1):
        exec(compile("".join(cell["source"]), f"{notebook}.ipynb, cell {number}", "exec"), names)
        if "parameters" in cell["metadata"].get("tags", []):
            assert names.keys() >= SMALL.keys()
            names |= SMALL
    return names


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_notebook_is_committed_without_outputs(path: Path):
    cells = cells_of(path.stem)
    assert cells
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


def test_the_first_steps_turn_a_boat(tmp_path: Path, monkeypatch):
    names = run("first-steps", tmp_path, monkeypatch)
    assert names["run"].status == "completed"
    assert names["heading"].values[-1] == pytest.approx(100.0, abs=10.0)


def test_the_study_scatters_with_the_seed_and_follows_the_mass(tmp_path: Path, monkeypatch):
    names = run("monte-carlo", tmp_path, monkeypatch)
    assert names["found"].sizes["run"] == SMALL["RUNS"]
    assert float(names["end"].std("run").max()) > 0.0
    assert names["slope"] < 0.0, "a heavier boat gathers way more slowly"
