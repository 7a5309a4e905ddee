"""Notebooks are committed without outputs, and run from their first cell to the last.

Cells tagged `parameters` hold the size of a study; here it is small.
"""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from seatrial.viewer import server

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


def test_the_page_shows_a_finished_run_and_one_that_goes_on(tmp_path: Path, monkeypatch):
    (tmp_path / "index.html").write_text("<p>page</p>")
    monkeypatch.setattr(server, "STATIC", tmp_path)  # whether the real one is built or not
    names = run("watching", tmp_path, monkeypatch)
    assert names["run"].status == "completed"
    assert names["passed"] > 0.0
    for shown in (names["page"], names["live"]):
        assert shown.url in shown._repr_html_()
        with pytest.raises(urllib.error.URLError):  # it is closed
            urllib.request.urlopen(shown.url)
