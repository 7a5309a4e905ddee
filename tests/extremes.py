"""Good descriptions in which one number is not: as large, small or odd as numbers come."""

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from malformed import to_yaml
from samples import good_documents
from seatrial.spec.reading import read_text

VALUES = (
    *(0.0, 1e-300, 1e-12, 1e-9, 1e-6, 1e-3, 0.5, 3.0, 7, 1e3, 1e6, 1e9, 1e12, 1e18, 1e30),
    *(1e100, 1e150, 1e200, 1e300, -1e-9, -1.0, -1e6, -1e30, -1e200, 2**31, 2**53, 10**18),
)


def extreme_documents(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Names with contents, which may be refused or accepted, but never end in anything else."""
    rng = random.Random(seed)
    good = {name: read_text(text, name)[0] for name, text in good_documents().items()}
    for number in range(count):
        name = rng.choice(sorted(good))
        data = deepcopy(good[name])
        place, key = rng.choice(list(_numbers(data)))
        place[key] = rng.choice(VALUES)
        yield f"{number:05d}-{name}-{key}.yaml", to_yaml(data)


def _numbers(place: Any) -> Iterator[tuple[Any, Any]]:
    """Every number at any depth: what holds it, and where."""
    rows = place.items() if isinstance(place, dict) else enumerate(place)
    for key, value in rows:
        if isinstance(value, dict | list):
            yield from _numbers(value)
        elif isinstance(value, float | int) and not isinstance(value, bool):
            yield place, key
