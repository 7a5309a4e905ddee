"""Command channels: what they are called, and orders by name as numbers in SI units."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.errors import Path, Problem, SpecError


@dataclass(frozen=True)
class Channel:
    """A command channel: its name and SI unit."""

    name: str
    unit: str

    def split(self, key: str) -> float | None:
        """Factor to SI if `key` names this channel (`rudder`, `rudder_deg`), else None."""
        if key == self.name:
            return 1.0
        for suffix, factor in UNIT_SUFFIXES.get(self.unit, {}).items():
            if key == f"{self.name}_{suffix}":
                return factor
        return None

    @property
    def keys(self) -> list[str]:
        """Every way to write this channel in a file."""
        return [self.name, *(f"{self.name}_{s}" for s in UNIT_SUFFIXES.get(self.unit, {}))]


class Described(Protocol):
    """A description that knows its file and lines."""

    def problem(self, path: Path, message: str, **details: Any) -> Problem:
        """Something wrong at a place of it."""


def find_channel(
    channels: Sequence[Channel], key: str, path: Path, value: float, owner: Described | None = None
) -> tuple[int, float]:
    """Place of the channel that `key` names, and `value` in its SI unit; refuses unknown names.

    `path` and `owner` place the error.
    """
    for i, channel in enumerate(channels):
        factor = channel.split(key)
        if factor is not None:
            return i, value * factor
    known = [k for c in channels for k in c.keys]
    close = difflib.get_close_matches(key, known, n=1)
    listed = ", ".join(f"{c.name} ({c.unit})" for c in channels) or "none"
    make = Problem if owner is None else owner.problem
    raise SpecError(
        make(
            path=(*path, key),
            message=f"there is no command channel `{key}`",
            value=value,
            expected=f"a channel of this vehicle: {listed}",
            mend=f"did you mean `{close[0]}`?" if close else "rename it or remove it",
        )
    )


def resolve_channels(
    owner: Described | None, path: Path, table: Mapping[str, float], channels: Sequence[Channel]
) -> list[float]:
    """Values in SI by channel, zero where a channel is not named; `owner` places the error."""
    values = [0.0] * len(channels)
    for key, value in table.items():
        i, converted = find_channel(channels, key, path, value, owner)
        values[i] = converted
    return values
