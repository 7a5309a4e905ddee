"""What a study hands back: numbers, tables and claims; and how it says how far it is."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from seatrial.validation.claims import Claim


class Table(NamedTuple):
    """A table as it is printed."""

    title: str
    headings: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Findings:
    """What came out of a study; its pictures are in its folder already."""

    numbers: dict[str, Any]
    """For a JSON document."""
    tables: list[Table]
    claims: list[Claim]


class Watch(Protocol):
    """Somebody who waits for a study."""

    def share(self, done: float) -> None:
        """So much of it is done, 0 to 1."""

    def line(self, text: str) -> None:
        """Something was measured."""


class Nobody:
    """A Watch that looks away."""

    def share(self, done: float) -> None:
        """Nothing."""

    def line(self, text: str) -> None:
        """Nothing."""


def rounded(values: Any) -> Any:
    """Numbers of an array as lists, to five decimals."""
    return np.round(np.asarray(values, np.float64), 5).tolist()
