"""What whoever imports a survey may say."""

import math
from dataclasses import dataclass
from typing import Literal

from seatrial.bathymetry.projection import wrapped
from seatrial.errors import Problem, SpecError


@dataclass(frozen=True)
class Choices:
    """What whoever imports may say; None leaves it to the files."""

    datum: tuple[float, float] | None = None
    """Latitude and longitude of the origin, degrees; the middle of the survey when None."""
    spacing: float | None = None
    """Between nodes, m."""
    method: Literal["grid", "mesh"] = "grid"
    """Soundings as means by node, or each as a corner of a triangle."""
    positive: Literal["up", "down"] | None = None
    """What the numbers of the files count towards."""
    offset: float = 0.0
    """Added to all depths, m: how far the files' level of zero lies below the mean level."""
    holes: Literal["fill", "leave"] = "fill"
    crs: str | None = None
    """Reference system of files that do not name theirs."""
    columns: tuple[str, ...] | None = None
    """Of text files without a header."""


def check_choices(choices: Choices) -> None:
    """Refuse numbers that make no sense."""
    if choices.spacing is not None and not 0.01 <= choices.spacing <= 10_000.0:
        raise SpecError(Problem("no spacing", value=choices.spacing, expected="0.01 to 10,000 m"))
    if not math.isfinite(choices.offset):
        raise SpecError(Problem("no offset", value=choices.offset, expected="metres, as in 1.2"))
    if choices.datum is not None:
        latitude, longitude = choices.datum
        if not (abs(latitude) <= 90.0 and abs(longitude) <= 180.0):
            mend = "write it as --datum LATITUDE,LONGITUDE"
            if abs(latitude) <= 90.0 and abs(longitude) <= 360.0:  # which files may count to
                same = float(wrapped(longitude, 0.0))
                mend = f"write --datum {latitude:.12g},{same:.12g}, which is the same meridian"
            raise SpecError(
                Problem(
                    "no place on Earth",
                    value=choices.datum,
                    expected="latitude within ±90 and longitude within ±180",
                    mend=mend,
                )
            )
