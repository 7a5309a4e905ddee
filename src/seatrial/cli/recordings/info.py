"""`seatrial info`: what is in a recording, on one screen."""

import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from seatrial.cli.progress import working
from seatrial.cli.tables import fixed, show_table, terminal
from seatrial.record.contents import describe
from seatrial.record.reader import read
from seatrial.record.recovery import recover

_MOST_VEHICLES = 4
"""With more, vehicles of a kind share a row."""
_MOST_SENSORS = 9
_MOST_EVENTS = 6
"""Lines, so that 24 are mostly enough; the JSON has all."""

_STEERING = ("stick", "channels")
"""Acts that come many times a second while somebody steers."""


def show_info(path: Path, as_json: bool) -> None:
    """Print what a recording holds; nothing of its data is read."""
    found = describe(read(path))
    if as_json:
        typer.echo(json.dumps(found, indent=2, allow_nan=False))
        return
    console = terminal()
    say = console.print
    say(f"{found['scenario']} · seed {found['seed']} · seatrial {found['version']}")
    whole = "complete" if found["complete"] else "cut short: killed, or not at its end yet"
    console.print(f"{path}: {_bytes(found['bytes'])}, {whole}", soft_wrap=True)
    ended = found["status"] or "stops"
    asked = f" of {found['duration_asked_s']:g} s asked for"
    short = asked if found["duration_s"] < found["duration_asked_s"] else ""
    say(
        f"{ended} after {found['duration_s']:g} s{short}; {found['frames']:,} frames, "
        f"one every {found['frame_period_s']:g} s"
    )
    rows = _alike(found["vehicles"])
    show_table(
        console,
        "",
        ("vehicle", "kind", "status", "legs", "faults", "events", "distance\nm"),
        [_vehicle_row(some) for some in rows],
        names=3,
    )
    _show_sensors(console, rows)
    happened = [
        *(
            (e["time_s"], f"{v['name']}: {e['text']}")
            for v in found["vehicles"]
            for e in v["events"]
        ),
        *((a["time_s"], a["text"]) for a in found["acts"] if a["what"] not in _STEERING),
    ]
    happened.sort(key=lambda event: event[0])
    for time, text in happened[:_MOST_EVENTS]:
        say(f" {time:8.1f} s  {text}")
    if len(happened) > _MOST_EVENTS:
        say(f" more events, with --json: {len(happened) - _MOST_EVENTS}")
    steered = Counter(a["who"] for a in found["acts"] if a["what"] in _STEERING)
    for who, count in steered.items():
        say(f" orders by the {who}: {count:,}, with --json")


def show_recovery(path: Path, out: Path, overwrite: bool) -> None:
    """Recover a cut recording and say what is in it and what is not."""
    with working("recovering"):
        written = recover(path, out, overwrite)
    if not written:
        typer.echo(f"{path}: is whole; nothing was written")
        return
    found = describe(read(out))
    samples = sum(s["samples"] for v in found["vehicles"] for s in v["sensors"])
    typer.echo(f"written: {out}")
    typer.echo(
        f"there:   {found['duration_s']:g} s in {found['frames']:,} frames, {samples:,} samples of "
        "sensors"
    )
    if found["complete"]:
        typer.echo("missing: nothing")
    else:
        asked = f"of the {found['duration_asked_s']:g} s asked for"
        typer.echo(f"missing: what came after {found['duration_s']:g} s {asked}, and the summary")


def _alike(vehicles: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Vehicles that share a row: each for itself, or those of a kind."""
    if len(vehicles) <= _MOST_VEHICLES:
        return [[vehicle] for vehicle in vehicles]
    by_kind = sorted(vehicles, key=lambda v: str(v["kind"]))
    return [list(some) for _, some in groupby(by_kind, key=lambda v: v["kind"])]


def _name(some: list[dict[str, Any]]) -> str:
    return some[0]["name"] if len(some) == 1 else f"{len(some):,} vehicles"


def _vehicle_row(some: list[dict[str, Any]]) -> list[str]:
    ends = sorted({str(v["status"]) for v in some if v["status"]})
    distances = [v["distance_m"] for v in some if v["distance_m"] is not None]
    ways = [fixed(x, 1) for x in sorted({min(distances), max(distances)})] if distances else []
    happened = (sum(len(v[what]) for v in some) for what in ("faults", "events"))
    return [
        _name(some),
        some[0]["kind"],
        ", ".join(ends) or "unknown",
        *(f"{n:,}" for n in (sum(v["legs"] for v in some), *happened)),
        " to ".join(ways),
    ]


def _show_sensors(console: Console, rows: list[list[dict[str, Any]]]) -> None:
    lines = []
    for some in rows:
        samples: Counter[tuple[str, str, str]] = Counter()
        for sensor in (sensor for vehicle in some for sensor in vehicle["sensors"]):
            samples[sensor["name"], sensor["type"], f"{sensor['rate_hz']:g}"] += sensor["samples"]
        lines += [[_name(some), *facts, f"{count:,}"] for facts, count in samples.items()]
    if lines:
        headings = ("vehicle", "sensor", "type", "rate\nHz", "samples")
        show_table(console, "", headings, lines[:_MOST_SENSORS], names=3)
    if len(lines) > _MOST_SENSORS:
        console.print(f" and {len(lines) - _MOST_SENSORS} more sensors, with --json")


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"
