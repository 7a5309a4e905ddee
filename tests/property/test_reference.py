"""The reference of YAML keys: written from the classes, complete, and as committed."""

import re

import pytest

from seatrial.errors import SpecError
from seatrial.spec import reference
from seatrial.spec.base import Spec, unit_of
from seatrial.spec.loading import load_text
from seatrial.spec.reading import read_text

CLASSES = list(reference._reachable())
PAGES = reference.pages()
MEND = "run `make reference` and commit docs/reference"


def section(spec: type[Spec]) -> str:
    page = PAGES[f"{reference.page_of(spec)}.md"]
    found = re.search(rf"^## {reference.title_of(spec)}$(.*?)(?=^## |\Z)", page, re.M | re.S)
    assert found, f"{spec.__name__} has no section"
    return found[1]


def test_the_pages_are_those_that_the_classes_give(repository):
    folder = repository / "docs" / "reference"
    committed = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    assert sorted(committed) == sorted(PAGES), MEND
    for name, text in PAGES.items():
        assert committed[name] == text, f"{name}: {MEND}"


@pytest.mark.parametrize("topic", ["start", "turning circle", "dvl"])
def test_the_keys_of_a_description_are_explained_in_a_terminal(topic):
    assert topic in {name for names in reference.topics().values() for name in names}
    text, _, example = reference.explain(topic.replace(" ", "_")).partition("For example:")
    spec = next(c for c in CLASSES if reference.title_of(c).lower() == topic)
    assert text.splitlines()[0].lower() == topic
    for name in spec.model_fields:
        assert re.search(rf"^{name}( or .*)?\n(    .*\n)*?    .*(required|default)", text, re.M)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert example.strip()


def test_keys_of_what_is_not_there_are_asked_back():
    with pytest.raises(SpecError, match="did you mean `dvl`"):
        reference.explain("dvll")


def test_no_two_classes_of_a_page_have_the_same_title():
    titles = [(reference.page_of(c), reference.title_of(c)) for c in CLASSES]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("spec", CLASSES, ids=lambda c: c.__name__)
def test_every_key_has_a_row_with_its_unit_its_default_and_its_meaning(spec):
    rows = dict(re.findall(r"^\| `(\w+)`.*?\|(.*)\|$", section(spec), re.M))
    assert list(rows) == list(spec.model_fields)
    for name, field in spec.model_fields.items():
        value, unit, default, meaning = re.split(r"(?<!\\)\|", rows[name])
        assert value.strip()
        declared = unit_of(field)
        assert unit.strip().replace("\\", "") == ("" if declared == "1" else declared)
        assert (default.strip() == "required") == field.is_required()
        assert meaning.split() == (field.description or "").replace("|", "\\|").split()


@pytest.mark.parametrize("spec", CLASSES, ids=lambda c: c.__name__)
def test_every_class_has_an_example_that_it_accepts(spec):
    found = re.search(r"^```yaml\n(.*?)^```", section(spec), re.M | re.S)
    assert found, "add one to src/seatrial/spec/examples.yaml"
    if spec in reference.DOCUMENTS.values():
        assert isinstance(load_text(found[1]), spec)
        return
    data, _ = read_text(found[1], "example")
    references = [
        k for k, v in data.items() if isinstance(v, str) and k in ("vehicle", "errors", "model")
    ]
    if references:  # a name in the library, which only a whole document can follow
        assert set(data) <= set(spec.accepted_keys())
    else:
        spec.model_validate(data)


def test_every_link_leads_to_a_section():
    sections = {
        (name, title.lower().replace(" ", "-"))
        for name, text in PAGES.items()
        for title in re.findall(r"^## (.*)$", text, re.M)
    }
    links = [
        (file or name, anchor)
        for name, text in PAGES.items()
        for file, anchor in re.findall(r"\]\(([\w.]*)#([\w-]+)\)", text)
    ]
    assert len(links) > 50
    assert set(links) <= sections
