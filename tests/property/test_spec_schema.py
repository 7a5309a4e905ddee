"""Claims about every class that a description may hold, read from the classes themselves."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

import seatrial.spec.loading  # noqa: F401  (loading it defines every class)
from seatrial.errors import Problem
from seatrial.spec.base import Source, Spec, document_fields, unit_of
from seatrial.spec.messages import problems_from
from seatrial.spec.wording import KNOWN_SUFFIXES, declared


def _subclasses(cls: type[Spec]) -> Iterator[type[Spec]]:
    for sub in cls.__subclasses__():
        if sub.__module__.startswith("seatrial.spec."):
            yield sub
        yield from _subclasses(sub)


document_fields()
SPECS = sorted(set(_subclasses(Spec)), key=lambda cls: cls.__name__)
FIELDS = [(cls, name) for cls in SPECS for name in cls.model_fields]
KEYS = [(cls, key) for cls in SPECS for key in cls.accepted_keys() if len(key) > 2]


def _id(value: object) -> str:
    return value.__name__ if isinstance(value, type) else str(value)


def test_the_classes_are_found():
    assert {"Vehicle", "World", "Scenario"} <= {cls.__name__ for cls in SPECS}


@pytest.mark.parametrize(("cls", "name"), FIELDS, ids=_id)
def test_every_field_is_documented(cls: type[Spec], name: str):
    assert cls.model_fields[name].description


@pytest.mark.parametrize(("cls", "name"), FIELDS, ids=_id)
def test_every_number_has_a_unit(cls: type[Spec], name: str):
    field = cls.model_fields[name]
    says_so = name.rpartition("_")[2] in KNOWN_SUFFIXES  # `latitude_deg` is never in radians
    if any(option.base is float for option in declared(field)) and not says_so:
        assert unit_of(field), "declare its unit; Unit('1') for a number without one"


def _problems(cls: type[Spec], data: dict[str, object]) -> list[Problem]:
    with pytest.raises(ValidationError) as caught:
        cls.model_validate(data)
    return problems_from(caught.value, cls, data, Source("some.yaml", {}))


@pytest.mark.parametrize("cls", SPECS, ids=_id)
def test_every_misspelt_key_is_rejected_with_a_suggestion(cls: type[Spec]):
    for _, key in [pair for pair in KEYS if pair[0] is cls]:
        for at in range(len(key) - 1):
            for wrong in (
                key[:at] + key[at + 1 :],  # a letter forgotten
                key[: at + 1] + key[at:],  # a letter doubled
                key[:at] + key[at + 1] + key[at] + key[at + 2 :],  # two letters swapped
                key.capitalize(),
            ):
                if wrong not in cls.accepted_keys():
                    _assert_suggestion(cls, wrong)


def _assert_suggestion(cls: type[Spec], wrong: str) -> None:
    found = [p for p in _problems(cls, {wrong: 1.0}) if p.path == (wrong,)]
    assert len(found) == 1
    assert found[0].message.startswith(f"unknown key `{wrong}`")
    assert "did you mean" in found[0].mend or "is not a unit of" in found[0].message, wrong
