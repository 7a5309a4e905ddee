"""The diagrams over time: which there are, which of them a run deserves, and what each shows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import RecordingError
from seatrial.figures.echogram import draw_small, list_echograms, pings
from seatrial.figures.run import series
from seatrial.figures.run.encounters import draw_distances, is_encounter
from seatrial.figures.run.legend import Name, write_title
from seatrial.figures.run.lines import Line, labels
from seatrial.figures.run.timeline import draw_timeline, has_trouble
from seatrial.figures.style import PALETTE
from seatrial.record.reader import Recording

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

TRACK = "track"
"""The map, which is no diagram over time."""
_MOST_ACTUATOR_PANELS = 4
_MOST_ECHOGRAMS = 2
_MOST_TIMELINES = 2
"""On a page that nobody asked for in detail."""
_CHANNELS = len(PALETTE)
"""Of actuators in one diagram."""
_CROWD = 5
"""From this many vehicles on, lines are thin and only one vehicle of a kind shows its actuators."""
_DENSE = 4000
"""Frames from which on lines are thin."""
_STILL = {"m": 0.01, "m/s": 0.002, "°": 0.02, "°/s": 0.02}
"""What stays below this, by unit, does not move as far as a reader can see."""


@dataclass(frozen=True)
class Panel:
    """One diagram over time."""

    title: str
    unit: str
    time_label: str
    content: Callable[["Axes", float], list[Name]]
    """Fills axes of so many inches and names its lines."""

    def draw(self, axes: "Axes", width: float) -> None:
        """Fill axes of about so many inches."""
        names = self.content(axes, width)
        write_title(axes, f"{self.title} [{self.unit}]" if self.unit else self.title, names, width)
        axes.margins(x=0.0)
        if self.unit:
            series.quieten(axes)


class Panels:
    """The diagrams of some runs; `lines` are their vehicles."""

    def __init__(self, runs: list[Recording], lines: list[Line]) -> None:
        self._runs, self._lines = runs, lines
        ends = [float(run.dataset["time"].values[-1]) for run in runs]
        end = max(ends)
        scale, unit = (1.0, "s") if end <= 900 else (60.0, "min") if end <= 10800 else (3600.0, "h")
        points = sum(run.dataset.sizes["time"] for run in runs)
        dense = len(lines) >= _CROWD or points > _DENSE
        self._plot = series.Plot(lines, scale, 0.6 if dense else 1.0)
        self._time_label = f"time [{unit}]"
        self._makers: dict[str, Callable[[bool], list[Panel]]] = {
            "speed": self._speed,
            "sway": self._sway,
            "heave": self._heave,
            "depth": self._depth,
            "roll": partial(self._angle, "roll", "Roll, starboard down"),
            "pitch": partial(self._angle, "pitch", "Pitch, bow up"),
            "heading": self._heading,
            "yaw_rate": self._yaw_rate,
            "off_track": self._off_track,
            "off_station": self._off_station,
            "distances": self._distances,
            "estimate": self._estimate,
            "timeline": self._timelines,
            "echogram": self._echograms,
            "actuators": self._actuators,
            "waves": self._waves,
            "current": partial(self._stream, "current", "Current"),
            "wind": partial(self._stream, "wind", "Wind"),
        }

    def asked(self, names: list[str]) -> list[Panel]:
        """The panels of these names, in this order, or a refusal."""
        known = (TRACK, *self._makers)
        found = []
        for name in names:
            if name not in known:
                raise RecordingError(
                    f"there is no panel {name!r}\n  expected: some of {', '.join(known)}"
                )
            made = [] if name == TRACK else self._makers[name](True)
            if name != TRACK and not made:
                there = [n for n, make in self._makers.items() if make(True)]
                raise RecordingError(
                    f"{self._runs[0].path}: there is nothing to draw as {name!r} in this run\n"
                    f"  expected: some of {', '.join((TRACK, *there))}"
                )
            found += made
        return found

    def telling(self) -> list[Panel]:
        """Those in which something happens, in reading order: motion, mission, actuators, sea."""
        found = {n: make(False) for n, make in self._makers.items()}
        turning = found.pop("yaw_rate")
        motions = ("speed", "sway", "heave", "depth", "roll", "pitch", "heading")
        first = [panel for name in motions for panel in found.pop(name)]
        rest = [panel for some in found.values() for panel in some]
        even = (len(first) + len(rest)) % 2 == 0
        return [*first, *([] if even and not self._asking("yaw rate") else turning), *rest]

    # ------------------------------------------------------------------ motion

    def _speed(self, asked: bool) -> list[Panel]:
        return [self._panel("Speed over ground", "m/s", self._plot.speed)]

    def _sway(self, asked: bool) -> list[Panel]:
        """Of those whose sway is controlled."""
        sideways = [x.data["velocity"].sel(body_axis="starboard").values for x in self._lines]
        if not asked and not (self._asking("sway") and _moves(sideways, "m/s")):
            return []
        return [self._panel("Speed to starboard, over ground", "m/s", self._plot.sway)]

    def _heave(self, asked: bool) -> list[Panel]:
        surface = [x for x in self._lines if x.vehicle.craft == "surface"]
        moved = [x.data[n].values for x in surface for n in ("depth", "wave_elevation")]
        if not surface or not (asked or _moves(moved, "m")):
            return []
        title = "Heave on the waves" + self._of(surface)
        return [self._panel(title, "m", partial(self._plot.heave, surface))]

    def _depth(self, asked: bool) -> list[Panel]:
        submerged = [x for x in self._lines if x.vehicle.craft != "surface"]
        if not submerged:
            return []
        title = "Depth" + self._of(submerged)
        return [self._panel(title, "m", partial(self._plot.depth, submerged))]

    def _angle(self, name: str, title: str, asked: bool) -> list[Panel]:
        def values(data: "xarray.Dataset") -> Array:
            found: Array = np.degrees(data["euler"].sel(angle=name).values)
            return found

        if not asked and not _moves([values(x.data) for x in self._lines], "°"):
            return []
        return [self._panel(title, "°", partial(self._plot.lines, values))]

    def _heading(self, asked: bool) -> list[Panel]:
        return [self._panel("Heading, clockwise from north", "°", self._plot.heading)]

    def _yaw_rate(self, asked: bool) -> list[Panel]:
        if not asked and not _moves([series.turning(x.data) for x in self._lines], "°/s"):
            return []
        return [self._panel("Yaw rate, to starboard", "°/s", self._plot.yaw_rate)]

    # ------------------------------------------------------------------ mission and navigation

    def _off_track(self, asked: bool) -> list[Panel]:
        sent = [x for x in self._lines if any(leg.kind == "track" for leg in x.vehicle.legs)]
        if not sent:
            return []
        title = "Off the track, to starboard" + self._of(sent)
        return [self._panel(title, "m", partial(self._plot.off_track, sent))]

    def _off_station(self, asked: bool) -> list[Panel]:
        sent = [x for x in self._plot.sent if series.asks(x.data, "position").any()]
        if not sent:
            return []
        title = "Off the station" + self._of(sent)
        return [self._panel(title, "m", partial(self._plot.off_station, sent))]

    def _estimate(self, asked: bool) -> list[Panel]:
        filtered = [x for x in self._lines if x.vehicle.estimated]
        if not filtered:
            return []
        title = "Position error of the filter" + self._of(filtered)
        return [self._panel(title, "m", partial(self._plot.position_error, filtered))]

    def _distances(self, asked: bool) -> list[Panel]:
        panels = []
        for run, name in zip(self._runs, self._names, strict=True):
            if is_encounter(run):
                colours = {x.vehicle.name: x.colour for x in self._lines if x.run is run}
                draw = partial(
                    draw_distances, run=run, colours=colours, time_scale=self._plot.time_scale
                )
                panels.append(self._panel(f"Distances, and the rule that applied{name}", "m", draw))
        return panels

    def _timelines(self, asked: bool) -> list[Panel]:
        """When legs, faults, rejected and silent sensors and events were, vehicle by vehicle."""
        told = [x for x in self._lines if has_trouble(x.run, x.vehicle, x.data)]
        others = [x for x in self._lines if x.vehicle.legs and x not in told]
        told += others if asked or len(self._lines) == 1 else []
        return [
            self._panel(
                "What happened" + self._of([x]),
                "",
                partial(
                    draw_timeline, run=x.run, vehicle=x.vehicle, data=x.data,
                    time_scale=self._plot.time_scale,
                ),
            )
            for x in told[: None if asked else _MOST_TIMELINES]
        ]  # fmt: skip

    # ------------------------------------------------------------------ sensors, actuators, sea

    def _echograms(self, asked: bool) -> list[Panel]:
        """What sounders saw of the water and the bottom below them."""
        found = [
            (run, name, *one)
            for run, name in zip(self._runs, self._names, strict=True)
            for one in list_echograms(run)
        ]
        panels = []
        for run, name, vehicle, sensor in found[: None if asked else _MOST_ECHOGRAMS]:
            owner = f"{vehicle.name}, " if len(self._lines) > 1 else ""
            samples = pings(run, vehicle.name, sensor.name)
            draw = partial(
                draw_small, sensor=sensor, samples=samples, time_scale=self._plot.time_scale
            )
            panels.append(self._panel(f"Echogram, {owner}{sensor.name}{name}", "m", draw))
        return panels

    def _actuators(self, asked: bool) -> list[Panel]:
        """By vehicle and unit; of several runs by channel, so that a run keeps its colour."""
        panels = self._compared() if len(self._runs) > 1 else self._by_unit(asked)
        return panels if asked else panels[:_MOST_ACTUATOR_PANELS]

    def _by_unit(self, asked: bool) -> list[Panel]:
        shown = {x.vehicle.kind: x for x in reversed(self._lines)}
        few = len(self._lines) < _CROWD or asked
        panels = []
        for line in self._lines if few else reversed(list(shown.values())):
            groups: dict[str, list[str]] = {}
            for actuator in line.vehicle.actuators:
                groups.setdefault(actuator.unit, []).append(actuator.name)
            title = f"Actuators, {line.label}" if len(self._lines) > 1 else "Actuators"
            for unit, names in groups.items():
                for k in range(0, len(names), _CHANNELS):
                    some = names[k : k + _CHANNELS]
                    values = line.data["actuator"].sel(channel=some).values
                    if asked or np.nanmax(np.abs(values), initial=0.0) > 0.0:
                        draw = partial(self._plot.channels, line, some, series.scale_of(unit))
                        panels.append(self._panel(title, series.unit_of(unit), draw))
        return panels

    def _compared(self) -> list[Panel]:
        channels: dict[tuple[str, str], list[Line]] = {}
        for line in self._lines:
            for actuator in line.vehicle.actuators:
                channels.setdefault((actuator.name, actuator.unit), []).append(line)
        return [
            self._panel(
                f"Actuator {name.replace('_', ' ')}",
                series.unit_of(unit),
                partial(self._plot.channel, some, name, series.scale_of(unit)),
            )
            for (name, unit), some in channels.items()
        ]

    def _waves(self, asked: bool) -> list[Panel]:
        def values(data: "xarray.Dataset") -> Array:
            found: Array = np.linalg.norm(data["wave_velocity"].values, axis=-1)
            return found

        if not self._there("wave_velocity"):
            return []
        return [self._panel("Orbital speed of the waves", "m/s", partial(self._plot.lines, values))]

    def _stream(self, variable: str, title: str, asked: bool) -> list[Panel]:
        if not self._there(variable):
            return []
        return [self._panel(title, "m/s", partial(self._plot.north_east, variable))]

    # ------------------------------------------------------------------

    def _asking(self, what: str) -> bool:
        """Whether guidance of some vehicle asks for something of `ASKED`."""
        return any(series.asks(x.data, what).any() for x in self._plot.sent)

    def _there(self, variable: str) -> bool:
        """Whether there is any of it; a Zarr store leaves some variables out."""
        return all(variable in x.data for x in self._lines) and any(
            np.nanmax(np.abs(x.data[variable].values), initial=0.0) > 1e-9 for x in self._lines
        )

    @property
    def _names(self) -> list[str]:
        """What tells the diagrams of several runs apart."""
        if len(self._runs) == 1:
            return [""]
        return [f", {name}" for name in labels(self._runs)]

    def _of(self, some: list[Line]) -> str:
        """Whose panel it is, where that is not obvious."""
        if len(some) == len(self._lines) or len(some) > 2:
            return ""
        return ", " + ", ".join(x.label for x in some)

    def _panel(
        self, title: str, unit: str, content: Callable[["Axes", float], list[Name]]
    ) -> Panel:
        return Panel(title, unit, self._time_label, content)


def _moves(values: list[Array], unit: str) -> bool:
    return any(np.nanmax(np.abs(x), initial=0.0) > _STILL[unit] for x in values)
