"""Claims about the whole library: a sample of it in `make test`, all of it in `make test-all`."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(names: Iterable[Any], *shown: Any) -> list[Any]:
    """The cases of a test, of which `make test` runs those `shown` and deselects the rest."""
    names = list(names)
    assert set(shown) <= set(names), f"no such case: {set(shown) - set(names)}"
    return [n if n in shown else pytest.param(n, marks=pytest.mark.rest) for n in names]
