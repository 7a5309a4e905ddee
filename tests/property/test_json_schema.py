"""The JSON Schema for editors, judged by jsonschema."""

import pytest
from jsonschema import Draft202012Validator

from seatrial.spec.json_schema import json_schema
from seatrial.spec.library import library_file, library_names
from seatrial.spec.loading import DOCUMENTS
from seatrial.spec.reading import read_file


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
