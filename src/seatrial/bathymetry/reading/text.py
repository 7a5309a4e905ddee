"""Soundings in text: a line each, with latitude, longitude and depth among its fields.

Separators may be commas, semicolons, tabs or spaces, and may change from line to line; beside
semicolons and tabs, and within quotes, a comma may be a decimal point. A header names the columns;
without one they are latitude, longitude and depth, in this order. Lines that hold no sounding are
left out and reported, unless they are many.
"""

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.projection import is_geographic, metres_per_unit, plain
from seatrial.bathymetry.reading.headers import (
    USUAL,
    VERTICAL,
    Columns,
    columns_of,
    header_words,
    unit_in,
)
from seatrial.bathymetry.reading.units import METRE, depth_unit, length_unit
from seatrial.bathymetry.sources import (
    GEOGRAPHIC,
    GREATEST_DEPTH,
    LOCAL,
    NO_DATA,
    Progress,
    Soundings,
    check_count,
    refuse,
)

LONGEST_LINE = 4096
BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf"
"""Of UTF-8, read as Latin 1."""
MOST_BAD = 0.05
"""Share of lines that may hold no sounding."""
REPORTED = 5
"""Lines of a sort that are named."""
BLOCK = 1 << 20
"""Bytes that are read at once."""

Table = NDArray[np.float64]
"""(N, 3) x, y and z."""
Lines = NDArray[np.int64]
"""(N,) numbers of the lines that they stand in."""


def read_text(
    path: Path, columns: tuple[str, ...] | None, crs: str | None, progress: Progress
) -> Soundings:
    """Read soundings; `columns` names them where a file has no header or a wrong one."""
    return _Reader(path, columns, crs).read(progress)


def split(text: str) -> list[str]:
    """The fields of a line."""
    if '"' in text and not (";" in text or "\t" in text):
        return _pointed(next(csv.reader([text], skipinitialspace=True)))
    text = text.replace('"', "")
    if ";" in text or "\t" in text:
        return _pointed(re.split("[;\t]", text))
    if "," not in text:
        return text.split()
    fields = [f.strip() for f in text.split(",")]
    if not any(" " in f for f in fields):
        return fields
    if "." in text or any(not f for f in fields):
        return text.replace(",", " ").split()
    return text.replace(",", ".").split()  # 59,12 10,3 30,5


def _pointed(fields: list[str]) -> list[str]:
    """With decimal points in place of decimal commas."""
    return [f.replace(",", ".") if "." not in f else f for f in map(str.strip, fields)]


class _Reader:
    def __init__(self, path: Path, columns: tuple[str, ...] | None, crs: str | None) -> None:
        self._path, self._crs = path, crs
        self._begun = False
        self._columns: Columns | None = None
        self._unit = METRE
        self._headerless = False
        self._width = math.inf
        """Columns that the file's own header names."""
        self._notes: list[str] = []
        self._bad: dict[str, list[int]] = {}
        if columns is not None:
            self._settle(list(columns), 0)

    def read(self, progress: Progress) -> Soundings:
        """All soundings of the file, block by block."""
        size = max(self._path.stat().st_size, 1)
        tables, places = [np.zeros((0, 3))], [np.zeros(0, np.int64)]
        number = count = 0
        with self._path.open("rb") as file:
            self._check_text(file.read(65536))
            file.seek(0)
            for block in self._blocks(file):
                lines = block.count(b"\n")
                table, where = self._fast(block, lines) or self._slow(block, number)
                tables.append(table)
                places.append(number + where)
                number += lines
                count += len(table)
                check_count(self._path, max(count, 1), "soundings")
                progress(file.tell() / size)
        self._check_bad(count, max(number, 1))
        return self._sorted_out(np.concatenate(tables), np.concatenate(places))

    def _blocks(self, file: BinaryIO) -> Iterator[bytes]:
        """Whole lines, about a megabyte at a time."""
        rest, number = b"", 0
        while chunk := file.read(BLOCK):
            rest += chunk
            end = rest.rfind(b"\n") + 1
            if len(rest) - end > LONGEST_LINE:
                refuse(
                    self._path,
                    f"a line of more than {LONGEST_LINE} characters",
                    expected="a sounding on every line",
                    mend="is it a text file?",
                    line=number + rest.count(b"\n") + 1,
                )
            if end:
                yield rest[:end]
                number += rest.count(b"\n")
                rest = rest[end:]
        if rest:
            yield rest + b"\n"

    def _fast(self, block: bytes, lines: int) -> tuple[Table, Lines] | None:
        """A block in which every line is a sounding, with one separator for all; else None."""
        if not self._begun or self._columns is None:
            return None
        separators = [s for s in (b",", b";", b"\t", b" ") if s in block]
        if b"," in separators[:-1] and separators != [b",", b" "]:
            return None  # commas may be decimal points
        use = [self._columns.where[key] for key in ("x", "y", "z")]
        if block.count(b",") > lines * (self._width - 1):
            return None
        comma_or_semicolon = separators[0].decode() if separators[:1] in ([b","], [b";"]) else None
        try:
            table = np.loadtxt(
                block.decode("latin-1").splitlines(),
                delimiter=comma_or_semicolon,
                usecols=use,
                comments=None,
                ndmin=2,
            )
        except (ValueError, IndexError):
            return None
        depth = table[:, 2]
        if len(table) != lines or not (np.abs(depth) * self._unit.metres <= GREATEST_DEPTH).all():
            return None
        if (depth == NO_DATA).any():
            return None
        return (table, np.arange(1, lines + 1)) if np.isfinite(table).all() else None

    def _slow(self, block: bytes, before: int) -> tuple[Table, Lines]:
        """Line by line; those without a sounding are noted."""
        rows, where = [], []
        for i, raw in enumerate(block.split(b"\n")[:-1], 1):
            found = self._sounding(raw.decode("latin-1"), before + i)
            if found is not None:
                rows.append(found)
                where.append(i)
        return np.array(rows, np.float64).reshape(-1, 3), np.array(where, np.int64)

    def _check_text(self, start: bytes) -> None:
        if not start.strip(b"\0 \r\n\t"):
            refuse(
                self._path,
                "the file is empty" if not start.strip() else "the file holds nothing but zeros",
                expected="a sounding on every line: latitude, longitude and depth",
                line=1,
            )
        strange = re.search(rb"[\x00-\x08\x0e-\x19\x1b-\x1f]", start)
        if strange:
            refuse(
                self._path,
                "this is binary data, not text",
                expected="text with a sounding on every line, or a file whose name says its "
                "format: .tif, .asc, .nc, .bag, .stl, .obj, .ply, .glb",
                mend="give the file the ending of its format, or export it as text",
                line=1 + start[: strange.start()].count(b"\n"),
            )

    def _sounding(self, text: str, number: int) -> tuple[float, float, float] | None:
        text = text.removeprefix(BYTE_ORDER_MARK).strip()
        if not text or text[0] in "#%" or text.startswith("//"):
            return None
        fields = split(text)
        if not self._begun:
            self._begun = True
            if self._begin(fields, text, number):
                return None
        assert self._columns is not None
        where = self._columns.where
        if len(fields) > self._width and any(fields[int(self._width) :]) and "," in text:
            self._fault("more fields than the header", number)  # are commas decimal points?
            return None
        try:
            x, y, z = (float(fields[where[k]]) for k in ("x", "y", "z"))
        except (ValueError, IndexError):
            self._fault("no numbers", number)
            return None
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            self._fault("not finite", number)
            return None
        if abs(z) * self._unit.metres > GREATEST_DEPTH:
            self._fault(f"a depth beyond {GREATEST_DEPTH:g} m", number)
            return None
        if z == NO_DATA:
            self._fault(f"{NO_DATA:g}, which stands for no depth", number)
            return None
        return x, y, z

    def _fault(self, what: str, number: int) -> None:
        self._bad.setdefault(what, []).append(number)

    def _begin(self, fields: list[str], text: str, number: int) -> bool:
        """Whether the first line is a header; it, or the usual order, says which columns are."""
        header = sum(_is_number(f) for f in fields) < 3
        if self._columns is not None:
            if header:
                self._take_units(header_words(text), number)
            return header
        if not header:
            self._columns, self._headerless = USUAL, True
            if len(fields) > 3 and not _is_number(fields[0]):
                refuse(
                    self._path,
                    f"{len(fields)} columns and no header that names them",
                    expected="a header such as: latitude, longitude, depth",
                    mend="say which they are: --columns name,latitude,longitude,depth",
                    line=number,
                )
            if len(fields) > 4 and "," in text and all(f.isdigit() for f in fields):
                refuse(
                    self._path,
                    f"{len(fields)} columns of whole numbers and no header that names them",
                    value=text[:80],
                    expected="decimal points, or decimal commas beside other separators",
                    mend="write points, or say which they are: --columns latitude,longitude,depth",
                    line=number,
                )
            return False
        words = header_words(text)
        self._settle(words, number)
        self._width = len(words)
        return True

    def _settle(self, words: list[str], number: int) -> None:
        """Find the columns by their names."""
        self._columns = columns_of(words)
        if self._columns is None:
            refuse(
                self._path,
                "no columns of latitude, longitude and depth",
                value=", ".join(w.strip() for w in words)[:80],
                expected="a header with `latitude`, `longitude` and `depth` (or `elevation`), or "
                "lines of three numbers",
                mend="name the columns: --columns latitude,longitude,depth",
                line=number,
            )
        self._set_unit(self._columns.units["z"], number)

    def _take_units(self, words: list[str], number: int) -> None:
        """Columns that were named without a unit are in that of the header."""
        columns = self._columns
        assert columns is not None
        units = {
            k: columns.units[k] or (unit_in(words[i]) if i < len(words) else "")
            for k, i in columns.where.items()
        }
        self._columns = replace(columns, units=units)
        self._set_unit(units["z"], number)

    def _set_unit(self, text: str, number: int) -> None:
        mend = "name it with the columns: --columns latitude,longitude,depth_m (or _ft, _fathoms …)"
        self._unit = depth_unit(self._path, text, number, mend)

    def _check_bad(self, good: int, lines: int) -> None:
        bad = sum(map(len, self._bad.values()))
        if not good or bad > MOST_BAD * (good + bad):
            what, where = next(iter(self._bad.items()), ("nothing to read", [lines]))
            refuse(
                self._path,
                f"{bad} of {good + bad} lines hold no sounding; the first: {what}"
                if bad
                else "the file holds no soundings",
                expected="a sounding on every line: latitude, longitude and depth",
                mend="name the columns with --columns, or clean the file",
                line=where[0],
            )
        for what, where in self._bad.items():
            named = ", ".join(map(str, where[:REPORTED])) + (", …" if len(where) > REPORTED else "")
            several = f"{len(where)} line{'s' if len(where) > 1 else ''}"
            self._notes.append(f"{several} left out, {what}: line {named}")

    def _sorted_out(self, table: Table, lines: Lines) -> Soundings:
        assert self._columns is not None
        x, y, z = table.T
        first, vertical = self._columns.first, self._columns.vertical
        crs, notes = self._crs, self._notes
        notes += self._columns.notes
        stated = length_unit(self._columns.units["x"])
        in_degrees = first != "north" and _geographic(x, y) and stated is None
        in_metres = crs is not None and not is_geographic(crs)
        if self._headerless and in_metres and (crs == LOCAL or not in_degrees):
            x, y, first = y, x, "y"  # of the three, x stands first
        degrees = first == "latitude" or (
            first == "y" and (in_degrees if crs is None else is_geographic(crs))
        )
        if self._headerless:
            named = "latitude, longitude, depth" if degrees else f"x, y, depth of {crs}"
            notes.append(f"no header: columns taken as {named}")
        if degrees:
            if in_metres:
                notes.append(f"columns of degrees: taken as WGS 84, not as {crs}")
            crs = GEOGRAPHIC if crs is None or in_metres else plain(crs)
            if np.abs(y).max() > 90.0 and np.abs(x).max() <= 90.0:
                x, y = y, x
                notes.append("latitudes beyond 90°: columns taken as longitude, latitude, depth")
            outside = (np.abs(y) > 90.0) | (np.abs(x) > 360.0)
            if outside.any():
                i = int(np.argmax(outside))
                refuse(
                    self._path,
                    f"{int(outside.sum())} places are no latitudes and longitudes",
                    value=(float(y[i]), float(x[i])),
                    expected="degrees: latitude within ±90, longitude within ±180",
                    mend="for a grid in metres name it: --crs EPSG:32632 --columns x,y,depth",
                    line=int(lines[i]),
                )
        elif crs is None and first == "north":
            crs = LOCAL
        elif crs is None:
            refuse(
                self._path,
                "coordinates in metres of an unnamed grid",
                value=(float(x[0]), float(y[0])),
                expected="degrees, or the grid's name",
                mend="name it: --crs EPSG:32632; or --columns east,north,depth for metres from "
                "the datum",
                line=int(lines[0]),
            )
        crs = crs or LOCAL
        if stated is not None and not degrees:
            size = stated.metres / metres_per_unit(crs)
            x, y = size * x, size * y
        depth = self._unit.metres * z
        notes += self._unit.note()
        return Soundings(self._path, x, y, depth, crs, VERTICAL[vertical], lines, tuple(notes))


def _geographic(x: Table, y: Table) -> bool:
    return bool(np.abs(x).max() <= 360.0 and np.abs(y).max() <= 90.0)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
