"""The JSON Schema for editors, judged by jsonschema."""

import json
import runpy
import sys
import tomllib
import types
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import seatrial
from seatrial.spec.json_schema import json_schema
from seatrial.spec.library import library_file, library_names
from seatrial.spec.loading import DOCUMENTS
from seatrial.spec.reading import read_file

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def judge():
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_file_of_the_library_follows_the_schema(judge, kind):
    for name in library_names(kind):
        data, _ = read_file(library_file(name, kind))
        assert [str(error) for error in judge.iter_errors(data)] == []


BOAT = {"name": "boat", "vehicle": "otter"}
RUN = {"kind": "scenario", "name": "run", "duration": 10, "vehicles": [BOAT]}


@pytest.mark.parametrize(
    "right",
    [
        RUN,
        {key: RUN[key] for key in ("kind", "name", "vehicles")} | {"duration_min": 1},
        RUN | {"vehicles": [BOAT | {"start": {"heading_deg": 90}}]},
        RUN | {"world": {"name": "pond", "current": {"speed_kn": 1, "towards_deg": 450}}},
    ],
)
def test_units_and_names_in_place_of_descriptions_are_known(judge, right):
    assert judge.is_valid(right)


@pytest.mark.parametrize(
    "wrong",
    [
        {key: RUN[key] for key in ("name", "duration", "vehicles")},
        RUN | {"duration": -1},
        RUN | {"durration": 10},
        RUN | {"vehicles": [BOAT | {"start": {"heading": 90}}]},
        RUN | {"vehicles": [BOAT | {"mission": [{"do": "go"}]}]},
        RUN | {"vehicles": []},
    ],
)
def test_mistakes_are_seen_while_they_are_typed(judge, wrong):
    assert not judge.is_valid(wrong)


LIBRARY = Path(seatrial.__file__).parent / "library"
SCHEMA = LIBRARY / "seatrial.schema.json"


@pytest.mark.parametrize("file", sorted(LIBRARY.rglob("*.yaml")), ids=lambda file: file.stem)
def test_every_file_of_the_library_names_the_schema_on_its_first_line(file):
    comment, _, named = file.read_text(encoding="utf-8").partition("\n")[0].partition("=")
    assert comment == "# yaml-language-server: $schema"
    assert (file.parent / named).resolve() == SCHEMA.resolve()


def test_building_the_package_writes_the_schema_that_they_name(tmp_path, monkeypatch):
    """By hatch_build.py itself, with a stand-in for the class it derives from."""
    hook = types.ModuleType("hatchling.builders.hooks.plugin.interface")
    hook.BuildHookInterface = {Any: object}
    monkeypatch.setitem(sys.modules, hook.__name__, hook)
    monkeypatch.setattr(sys, "path", list(sys.path))
    build = runpy.run_path(str(ROOT / "hatch_build.py"))["GeneratedFiles"]()
    build.root = str(tmp_path)
    (tmp_path / "src" / "seatrial" / "library").mkdir(parents=True)
    build.initialize("standard", {})
    written = (tmp_path / SCHEMA.relative_to(ROOT)).read_text(encoding="utf-8")
    assert json.loads(written) == json_schema()
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert SCHEMA.relative_to(ROOT).as_posix() in shipped["artifacts"]
