"""Units of length as survey files write them."""

import re
from pathlib import Path
from typing import NamedTuple

from seatrial.bathymetry.sources import refuse

FOOT = 0.3048
"""International, m."""
US_SURVEY_FOOT = 1200.0 / 3937.0
"""m: older charts and State Plane systems of the United States."""

_SPELLINGS = {
    1.0: "m, meter, meters, metre, metres, mtr, mtrs",
    FOOT: "ft, foot, feet, international foot, international feet",
    US_SURVEY_FOOT: "us survey foot, us survey feet, us survey ft, us foot, us feet, us ft, usft, "
    "ftus, ft us, foot us, feet us, survey foot, survey feet, sfoot",
    6.0 * FOOT: "fathom, fathoms, fath, fm, fms, ftm",
    3.0 * FOOT: "yd, yard, yards",
    1000.0: "km, kilometer, kilometers, kilometre, kilometres",
    0.1: "dm, decimeter, decimeters, decimetre, decimetres",
    0.01: "cm, centimeter, centimeters, centimetre, centimetres",
    0.001: "mm, millimeter, millimeters, millimetre, millimetres",
}
_METRES = {word: size for size, words in _SPELLINGS.items() for word in words.split(", ")}
_TOGETHER = {word.replace(" ", ""): size for word, size in _METRES.items()}


class LengthUnit(NamedTuple):
    """What numbers count."""

    metres: float
    """In one of it."""
    name: str
    """As the file has it."""

    def note(self) -> tuple[str, ...]:
        """What a report says of depths in it: nothing where they are in metres."""
        if self.metres == 1.0:
            return ()
        return (f"depths in {self.name}, {self.metres:.10g} m each, as the file says",)


METRE = LengthUnit(1.0, "m")


def length_unit(text: str) -> LengthUnit | None:
    """The unit that a text is, or begins with, as in `m below mean sea level`; None for others."""
    words = [w for w in re.split(r"[\s_.,;\-]+", text.lower()) if w]
    for count in range(len(words), 0, -1):
        name = " ".join(words[:count])
        for known in (_METRES, _TOGETHER):
            if name in known:
                return LengthUnit(known[name], name)
    return None


def depth_unit(path: Path, text: str, line: int = 0, mend: str = "") -> LengthUnit:
    """The unit that a file states of its depths, metres where it states none."""
    if not text.strip():
        return METRE
    unit = length_unit(text)
    if unit is None:
        refuse(
            path,
            "its depths are in a unit that is not known",
            value=text,
            expected="m, cm, mm, km, feet, US survey feet, fathoms or yards",
            mend=mend or "convert them to metres, and say so in the file",
            line=line,
        )
    return unit
