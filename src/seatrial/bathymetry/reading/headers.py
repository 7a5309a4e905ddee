"""What the headers of columns mean: `depth (ft)`, `LONG [deg]`, `Easting_m`."""

import re
from dataclasses import dataclass

from seatrial.bathymetry.reading.units import length_unit

NAMES = {
    "latitude": ("lat", "latitude", "latdeg", "latitudedeg", "latdd", "ylat"),
    "longitude": ("lon", "long", "lng", "longitude", "londeg", "longitudedeg", "londd", "xlong"),
    "north": ("north", "northing", "n"),
    "east": ("east", "easting", "e"),
    "x": ("x",),
    "y": ("y",),
    "depth": ("depth", "sounding", "corrdepth", "d"),
    "elevation": ("elevation", "elev", "height", "altitude", "topo", "h"),
    "z": ("z", "value"),
}
"""What a column is -> how headers spell it, without all that is no letter."""
VERTICAL = {"depth": "down", "elevation": "up", "z": None}
"""What numbers of a column count towards."""
SHORTEST = 4
"""Letters of a name that a unit may follow without anything between them."""


@dataclass(frozen=True)
class Columns:
    """Which columns are read."""

    where: dict[str, int]
    """Of x, y and z."""
    first: str
    """What y is: `latitude`, `north` or `y`."""
    vertical: str
    """What z is."""
    units: dict[str, str]
    """Of x, y and z, as the header writes them; empty where it does not."""
    notes: tuple[str, ...] = ()
    """Which columns may be the same as one that is read."""


USUAL = Columns({"y": 0, "x": 1, "z": 2}, "latitude", "z", dict.fromkeys("xyz", ""))
"""Without a header."""


def header_words(text: str) -> list[str]:
    """The fields of a header; what stands in brackets belongs to the word before it."""
    text = re.sub(r"\s*([(\[][^)\]]*[)\]])", lambda m: re.sub(r"[\s,;]+", "_", m[1]), text)
    return text.split(next((s for s in ";\t," if s in text), None))


def columns_of(words: list[str]) -> Columns | None:
    """The columns that are needed, by their names; None where one is missing."""
    found: dict[str, tuple[int, str]] = {}
    named = [_named(word) for word in words]
    for i, (name, unit) in enumerate(named):
        if name is not None:
            found.setdefault(name, (i, unit))
    for y, x in (("latitude", "longitude"), ("north", "east"), ("y", "x")):
        vertical = next((v for v in VERTICAL if v in found), None)
        if x in found and y in found and vertical is not None:
            used = {"x": found[x], "y": found[y], "z": found[vertical]}
            where = {k: i for k, (i, _) in used.items()}
            units = {k: unit for k, (_, unit) in used.items()}
            notes = []
            for key, what, names in (("x", x, (x,)), ("y", y, (y,)), ("z", "depth", VERTICAL)):
                like = [i for i, (name, _) in enumerate(named) if name in names]
                notes += _choice(what, where[key], like, words)
            return Columns(where, y, vertical, units, tuple(notes))
    return None


def _choice(what: str, taken: int, like: list[int], words: list[str]) -> list[str]:
    """A note where other columns may be what one is read for."""
    plain = [word.strip(' "') for word in words]
    said = {i: f"column {i + 1}, `{plain[i]}`" for i in like}
    read = said.pop(taken)
    if not said:
        return []
    return [
        f"the {what} is read from {read}, and not {', nor '.join(said.values())}: where another is "
        "meant, give it alone such a name with --columns"
    ]


def unit_in(word: str) -> str:
    """The unit that a header's word states, whatever else it names; empty where it states none."""
    bracketed = re.search(r"[(\[](.*?)[)\]]", word)
    if bracketed:
        return bracketed[1].replace("_", " ").strip()
    return _named(word)[1]


def _named(word: str) -> tuple[str | None, str]:
    """What a column is, and its unit."""
    outside = re.sub(r"\(.*?\)|\[.*?\]", "", word.lower())
    parts = re.findall("[a-z]+", outside)
    plain = "".join(parts)
    name = _spelled(plain)
    if name is not None:
        return name, unit_in(word) if outside != word.lower() else ""
    for count in range(len(parts) - 1, 0, -1):  # depth_ft
        name, unit = _spelled("".join(parts[:count])), " ".join(parts[count:])
        if name is not None and length_unit(unit):
            return name, unit
    for count in range(len(plain) - 1, SHORTEST - 1, -1):  # DepthFt
        name, unit = _spelled(plain[:count]), plain[count:]
        if name is not None and length_unit(unit):
            return name, unit
    return None, ""


def _spelled(plain: str) -> str | None:
    return next((name for name, spellings in NAMES.items() if plain in spellings), None)
