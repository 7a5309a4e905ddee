"""`seatrial seabed import`: survey files to a map, a picture of it and a report."""

import json
from pathlib import Path
from typing import Literal, TypeVar

import typer

from seatrial.bathymetry.choices import Choices, check_choices
from seatrial.bathymetry.importing import Imported, import_seabed
from seatrial.bathymetry.store import write_map
from seatrial.cli.progress import working
from seatrial.errors import Problem, SpecError
from seatrial.figures.plot import save
from seatrial.figures.seabed import draw_seabed

SHARES = {"reading": (0.0, 0.4), "gridding": (0.4, 1.0)}
"""Of the bar, by what is done."""

Word = TypeVar("Word", bound=str)
GRIDDINGS: tuple[Literal["grid", "mesh"], ...] = ("grid", "mesh")
DIRECTIONS: tuple[Literal["up", "down"], ...] = ("up", "down")
HOLES: tuple[Literal["fill", "leave"], ...] = ("fill", "leave")


def choices_of(
    datum: str | None,
    spacing: float | None,
    method: str,
    positive: str | None,
    offset: float,
    holes: str,
    crs: str | None,
    columns: str | None,
) -> Choices:
    """The options as typed, checked."""
    place = None
    if datum is not None:
        try:
            latitude, longitude = (float(part) for part in datum.split(","))
        except ValueError:
            raise SpecError(
                Problem("no datum", value=datum, expected="--datum LATITUDE,LONGITUDE in degrees")
            ) from None
        place = latitude, longitude
    return Choices(
        datum=place,
        spacing=spacing,
        method=_word(method, "--as", GRIDDINGS),
        positive=None if positive is None else _word(positive, "--positive", DIRECTIONS),
        offset=offset,
        holes=_word(holes, "--holes", HOLES),
        crs=crs,
        columns=None if columns is None else tuple(columns.split(",")),
    )


def _word(given: str, option: str, words: tuple[Word, ...]) -> Word:
    for word in words:
        if given == word:
            return word
    raise SpecError(
        Problem(f"unknown word after {option}", value=given, expected=" or ".join(words))
    )


def import_files(files: list[Path], out: Path, choices: Choices, as_json: bool) -> None:
    """Import, write the map and its picture, and say what came out."""
    check_choices(choices)
    if out.suffix != ".nc":
        raise SpecError(
            Problem("a map is a NetCDF file", value=str(out), expected="a name that ends in .nc")
        )
    if not out.absolute().parent.is_dir():
        raise SpecError(Problem("there is no such folder", value=str(out.parent)))
    if out.absolute() in (f.absolute() for f in files):
        raise SpecError(Problem("the map would replace what it is made from", value=str(out)))
    with working(f"importing {files[0].name}", quiet=as_json) as bar:

        def tell(step: str, share: float) -> None:
            start, end = SHARES[step]
            bar(start + (end - start) * share)

        made = import_seabed(files, choices, tell)
    picture = out.with_suffix(".png")
    notes = {
        "history": f"seatrial seabed import {' '.join(f.name for f in files)}",
        "gridding": made.gridding,
        "vertical_datum": f"level of zero of the source files, plus {choices.offset:g} m",
        "comment": "north and east in the plane that touches WGS 84 at the datum",
    }
    try:
        write_map(out, made.terrain, made.report.datum, notes)
        save(draw_seabed(made.terrain, out.stem), picture)
    except OSError as error:
        raise SpecError(
            Problem(f"it cannot be written ({error.strerror or error})", value=str(out))
        ) from None
    if as_json:
        report = made.report.as_dict() | {"map": str(out), "picture": str(picture)}
        typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _show(made, out, picture)


def _show(made: Imported, out: Path, picture: Path) -> None:
    report = made.report
    north, east = report.extent_m
    rows, columns = report.nodes
    least, greatest = report.depth_m
    lines = {
        "soundings": f"{report.soundings:,}, of which {report.duplicates:,} repeat a place",
        "extent": f"{north:,.6g} m north by {east:,.6g} m east",
        "resolution": f"{report.spacing_m:g} m, {rows:,} by {columns:,} nodes",
        "depth": f"{least:.6g} to {greatest:.6g} m, land on {100.0 * report.land_share:.2g} %",
        "holes": f"{report.holes:,} nodes, {100.0 * report.holes_share:.2g} %",
        "gridding": made.gridding,
    }
    if report.datum is not None:
        lines["datum"] = f"{report.datum[0]:.6f}, {report.datum[1]:.6f}"
    for name, text in lines.items():
        typer.echo(f"{name:>10}  {text}")
    for note in report.notes:
        typer.echo(f"      note  {note}")
    typer.echo(f"map: {out}\npicture: {picture}")
    if report.datum is not None:
        latitude, longitude = report.datum
        place = f"{{latitude_deg: {latitude!r}, longitude_deg: {longitude!r}}}"
        typer.echo(f"in a world: datum: {place}\n            seabed: {{map: {out.name}}}")
    else:
        typer.echo(f"in a world: seabed: {{map: {out.name}}}")
