"""Claims about every class that a description may hold, read from the classes themselves."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

import seatrial.spec.loading  # noqa: F401  (loading it defines every class)
from seatrial.errors import Problem
from seatrial.spec.base import Source, Spec, document_fields, unit_of
from seatrial.spec.messages import MOST_STRANGERS, problems_from
from seatrial.spec.wording import KNOWN_SUFFIXES, declared


def _subclasses(cls: type[Spec]) -> Iterator[type[Spec]]:
    for sub in cls.__subclasses__():
        if sub.__module__.startswith("seatrial.spec."):
            yield sub
        yield from _subclasses(sub)


document_fields()
SPECS = sorted(set(_subclasses(Spec)), key=lambda cls: cls.__name__)
FIELDS = [(cls, name) for cls in SPECS for name in cls.model_fields]


def test_the_classes_are_found():
    assert {"Vehicle", "World", "Scenario"} <= {cls.__name__ for cls in SPECS}


def test_every_field_is_documented():
    assert not [(c.__name__, n) for c, n in FIELDS if not c.model_fields[n].description]


def test_every_number_has_a_unit():
    """Those without one declare Unit('1')."""
    bare = []
    for cls, name in FIELDS:
        field = cls.model_fields[name]
        says_so = name.rpartition("_")[2] in KNOWN_SUFFIXES  # `latitude_deg` is never in radians
        if any(option.base is float for option in declared(field)) and not says_so:
            bare += [] if unit_of(field) else [(cls.__name__, name)]
    assert not bare


def _problems(cls: type[Spec], data: dict[str, object]) -> list[Problem]:
    with pytest.raises(ValidationError) as caught:
        cls.model_validate(data)
    return problems_from(caught.value, cls, data, Source("some.yaml", {}))


@pytest.mark.parametrize("cls", SPECS, ids=lambda cls: cls.__name__)
def test_every_misspelt_key_is_rejected_with_a_suggestion(cls: type[Spec]):
    """Many at once: a key that is not known says nothing about its neighbours."""
    slips = (
        {
            slip
            for key in cls.accepted_keys()
            if len(key) > 2
            for at in (range(len(key) - 1) if key in cls.model_fields else [len(key) // 2])
            for slip in (
                key[:at] + key[at + 1 :],  # a letter forgotten
                key[: at + 1] + key[at:],  # a letter doubled
                key[:at] + key[at + 1] + key[at] + key[at + 2 :],  # two letters swapped
                key.capitalize(),
            )
        }
        - set(cls.accepted_keys())
    )
    for wrong in batched(sorted(slips), MOST_STRANGERS):
        found = {p.path: p for p in _problems(cls, dict.fromkeys(wrong, 1.0))}
        for key in wrong:
            problem = found[(key,)]
            assert problem.message.startswith(f"unknown key `{key}`")
            assert "did you mean" in problem.mend or "is not a unit of" in problem.message, key


def batched(items: list[str], size: int) -> list[list[str]]:
    return [items[i : i + size] for i in range(0, len(items), size)]
