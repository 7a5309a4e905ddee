"""Whatever is wrong with a file, the answer is a message that names it, never a stack trace."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremes import extreme_documents
from malformed import MUTATIONS, malformed_documents
from samples import good_documents
from seatrial.compile.checking import check_description
from seatrial.errors import SpecError
from seatrial.spec.loading import load, load_text
from seatrial.spec.reading import read_text

COUNT = 5 * len(MUTATIONS)


def test_there_are_more_than_200_malformed_documents_of_every_sort():
    names = [name for name, _ in malformed_documents(seed=1, count=COUNT)]
    assert len(names) > 200
    assert {name.split("-")[1] for name in names} == set(MUTATIONS)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.rest)])
def test_every_malformed_file_is_refused_with_its_name(tmp_path: Path, seed: int):
    for name, content in malformed_documents(seed, COUNT):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(SpecError) as caught:
            load(path)
        assert caught.value.problems, name
        for problem in caught.value.problems:
            assert problem.file == str(path), f"{name}: {problem}"
            assert problem.message, name
            assert len(str(problem)) < 4000, f"{name}: too long to read"


@pytest.mark.filterwarnings("ignore::seatrial.SpecWarning")
@pytest.mark.parametrize(("seed", "count"), [(4, 6), pytest.param(5, 60, marks=pytest.mark.rest)])
def test_an_extreme_number_is_refused_or_used_and_nothing_else(tmp_path, seed, count):
    """Judged on many more of them by `judges/corpus.py`."""
    for name, content in extreme_documents(seed, count):
        path = tmp_path / name
        path.write_bytes(content)
        try:
            answer = check_description(str(path))
        except SpecError as error:
            answer = str(error).partition(":")[0]
        assert answer in ("vehicle", "world", "scenario", "imu", "lidar", str(path))


@pytest.mark.parametrize("name", sorted(good_documents()))
def test_the_documents_that_are_mutated_are_good(name: str):
    assert load_text(good_documents()[name]).model_fields_set


@given(st.text())
def test_any_text_is_read_or_refused(text: str):
    assert files_named_by(text) == {"some.yaml"}


@given(st.binary())
def test_any_bytes_are_read_or_refused(content: bytes):
    assert files_named_by(content) == {"some.yaml"}


@given(st.text(alphabet="a1-:,[]{}#&*!|>'\"%@? \n\t.~<=\\", max_size=40))
def test_any_punctuation_is_read_or_refused(text: str):
    assert files_named_by(text) == {"some.yaml"}


def files_named_by(content: str | bytes) -> set[str]:
    """The files that a refusal names, or the file itself when it can be read as a mapping."""
    try:
        data, _ = read_text(content, "some.yaml")
    except SpecError as error:
        return {p.file for p in error.problems}
    return {"some.yaml"} if isinstance(data, dict) else set()
