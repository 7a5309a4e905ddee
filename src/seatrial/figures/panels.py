"""The time series of the page: which ones a run deserves, and how each is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import ASKED, VehicleInfo
from seatrial.figures.echogram import draw_small, list_echograms, pings
from seatrial.figures.encounters import draw_distances, is_encounter
from seatrial.figures.style import INK, PALETTE, SEABED, WATER, vehicle_colours
from seatrial.figures.timeline import draw_timeline, has_trouble
from seatrial.record.reader import Recording

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_MOST_ACTUATOR_PANELS = 4
_MOST_ECHOGRAMS = 2
_MOST_TIMELINES = 2
_CROWD = 5
"""From this many vehicles on, lines are thin and only one vehicle of a kind shows its actuators."""
_MOST_CHANNELS = 8
_LONGEST_NAME = 14
"""Letters of a channel in a legend."""
_WIDTH = 4.05
"""Width of a panel for text, inches."""
_GREY, _LIGHT_GREY = "#52606d", "#b3bcc5"
_ASKED = ("asked for", INK, "--")
"""Legend of what guidance asks for."""
_STEERAGE = 0.1
"""Below this speed a course means nothing, m/s."""


@dataclass(frozen=True)
class Panel:
    """One small diagram over time."""

    title: str
    unit: str
    time_label: str
    content: Callable[["Axes"], None]

    def draw(self, axes: "Axes") -> None:
        """Fill the axes."""
        axes.set_title(f"{self.title} [{self.unit}]" if self.unit else self.title)
        self.content(axes)
        axes.margins(x=0.0)
        if self.unit:
            _quieten(axes)


def list_panels(run: Recording) -> list[Panel]:
    """Panels in reading order: motion first, then mission and navigation, actuators, the sea."""
    return _Panels(run).all()


class _Panels:
    def __init__(self, run: Recording):
        self.run = run
        self.vehicles = run.header.vehicles
        self.colours = vehicle_colours(run.header)
        self.data = {v.name: run.vehicle(v.name) for v in self.vehicles}
        end = float(run.dataset["time"].values[-1])
        self.time_scale, unit = (
            (1.0, "s") if end <= 900.0 else (60.0, "min") if end <= 10800.0 else (3600.0, "h")
        )
        self.time_label = f"time [{unit}]"
        dense = len(self.vehicles) >= _CROWD or run.dataset.sizes["time"] > 6000
        self.line_width = 0.8 if dense else 1.3

    def all(self) -> list[Panel]:
        surface = [v for v in self.vehicles if v.craft == "surface"]
        submerged = [v for v in self.vehicles if v.craft != "surface"]
        panels = [self._panel("Speed over ground", "m/s", self._draw_speed)]
        if surface:
            title = "Heave on the waves" + _of(surface, self.vehicles)
            panels.append(self._panel(title, "m", lambda axes: self._draw_heave(axes, surface)))
        if submerged:
            title = "Depth" + _of(submerged, self.vehicles)
            panels.append(self._panel(title, "m", lambda axes: self._draw_depth(axes, submerged)))
        panels += [
            self._panel("Roll, starboard down", "°", self._angle("roll")),
            self._panel("Pitch, bow up", "°", self._angle("pitch")),
            self._panel("Heading, clockwise from north", "°", self._draw_heading),
        ]
        motions = len(panels)
        panels += self._loop()
        panels += self._echograms()
        panels += self._actuators()
        panels += self._sea()
        if len(panels) % 2:  # two columns of equal length
            panels.insert(motions, self._panel("Yaw rate, to starboard", "°/s", self._yaw_rate()))
        return panels

    def _panel(self, title: str, unit: str, content: Callable[["Axes"], None]) -> Panel:
        return Panel(title, unit, self.time_label, content)

    def _time(self, data: "xarray.Dataset") -> Array:
        scaled: Array = data["time"].values / self.time_scale
        return scaled

    def _lines(
        self, values: Callable[["xarray.Dataset"], "xarray.DataArray | Array"], alpha: float = 1.0
    ) -> Callable[["Axes"], None]:
        def draw(axes: "Axes") -> None:
            for name, data in self.data.items():
                axes.plot(
                    self._time(data),
                    values(data),
                    color=self.colours[name],
                    lw=self.line_width,
                    alpha=alpha,
                )

        return draw

    def _angle(self, name: str) -> Callable[["Axes"], None]:
        return self._lines(lambda d: np.degrees(d["euler"].sel(angle=name)))

    def _yaw_rate(self) -> Callable[["Axes"], None]:
        return self._lines(lambda d: np.degrees(d["angular_velocity"].sel(body_axis="down")))

    def _draw_speed(self, axes: "Axes") -> None:
        self._lines(lambda d: d["speed"])(axes)
        if self._draw_asked(axes, lambda d: _asked(d, "surge")):
            _name_lines(axes, [_ASKED])

    def _draw_heading(self, axes: "Axes") -> None:
        """Heading, and what was asked for; where that is a course, the course that was made too."""
        from matplotlib.ticker import MaxNLocator

        # A heading that crosses north would jump by 360°: let it run on instead.
        self._lines(_heading)(axes)
        names = []
        if any(_asks(d, "course").any() for d in self._sent().values()):
            for name, data in self._sent().items():
                made = np.where(_asks(data, "course"), _course(data), np.nan)
                course = _beside(_heading(data), made)
                axes.plot(self._time(data), course, color=self.colours[name], lw=0.7, alpha=0.45)
            names.append(("course made", _LIGHT_GREY, "-"))
        if self._draw_asked(axes, _asked_heading):
            names.append(_ASKED)
        if names:
            _name_lines(axes, names)
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 1.5, 2, 3, 4.5, 6, 9, 10]))

    def _sent(self) -> dict[str, "xarray.Dataset"]:
        """Of vehicles with a mission whose setpoints were recorded."""
        sent = {v.name: self.data[v.name] for v in self.vehicles if v.legs}
        return {name: data for name, data in sent.items() if "setpoint_surge" in data}

    def _draw_asked(self, axes: "Axes", values: Callable[["xarray.Dataset"], Array]) -> bool:
        """What guidance asked for, dashed and dark; returns whether it asked for anything."""
        wanted = [(self._time(data), values(data)) for data in self._sent().values()]
        wanted = [(time, line) for time, line in wanted if np.isfinite(line).any()]
        for time, line in wanted:
            axes.plot(time, line, "--", color=INK, lw=0.9, zorder=3)
        return bool(wanted)

    def _draw_heave(self, axes: "Axes", vehicles: list[VehicleInfo]) -> None:
        for vehicle in vehicles:
            data = self.data[vehicle.name]
            axes.plot(
                self._time(data), data["wave_elevation"], color=WATER, lw=2.0 * self.line_width
            )
        for vehicle in vehicles:
            data = self.data[vehicle.name]
            axes.plot(
                self._time(data),
                -data["depth"],
                color=self.colours[vehicle.name],
                lw=self.line_width,
            )
        _name_lines(axes, [("water surface", WATER, "-")])

    def _draw_depth(self, axes: "Axes", vehicles: list[VehicleInfo]) -> None:
        names = [("water surface", WATER, "-")]
        first = self.data[vehicles[0].name]
        axes.plot(self._time(first), -first["wave_elevation"], color=WATER, lw=self.line_width)
        deepest = 0.0
        for vehicle in vehicles:
            data = self.data[vehicle.name]
            colour = self.colours[vehicle.name]
            axes.plot(self._time(data), data["depth"], color=colour, lw=self.line_width)
            deepest = max(deepest, float(data["depth"].values.max(initial=0.0)))
        bottom = self.run.header.water_depth
        if bottom is not None and bottom < 2.0 * deepest:
            axes.axhline(bottom, color=SEABED, lw=1.6)
            names.append(("seabed", SEABED, "-"))
        dives = {v.name for v in vehicles}
        if self._draw_asked(
            axes, lambda d: _asked(d, "depth") + (0.0 if d["vehicle"].item() in dives else np.nan)
        ):
            names.append(_ASKED)
        axes.invert_yaxis()
        _name_lines(axes, names)

    def _loop(self) -> list[Panel]:
        """How well missions are followed, and how well navigation filters know where they are."""
        sent = [v for v in self.vehicles if v.legs]
        filtered = [v for v in self.vehicles if v.estimated]
        panels = []
        if any(leg.kind == "track" for v in sent for leg in v.legs):
            title = "Off the track, to starboard" + _of(sent, self.vehicles)
            panels.append(self._panel(title, "m", lambda axes: self._draw_off_track(axes, sent)))
        if is_encounter(self.run):
            panels.append(
                self._panel(
                    "Distances, and the rule that applied",
                    "m",
                    lambda axes: draw_distances(axes, self.run, self.colours, self.time_scale),
                )
            )
        if filtered:
            title = "Position error of the filter" + _of(filtered, self.vehicles)
            panels.append(
                self._panel(title, "m", lambda axes: self._draw_position_error(axes, filtered))
            )
        return panels + self._timelines()

    def _timelines(self) -> list[Panel]:
        """When legs, faults, rejected and silent sensors and events were, vehicle by vehicle."""
        told = [v for v in self.vehicles if has_trouble(self.run, v, self.data[v.name])]
        told += [v for v in self.vehicles if v.legs and v not in told and len(self.vehicles) == 1]
        return [
            self._panel(
                "What happened" + _of([v], self.vehicles),
                "",
                partial(
                    draw_timeline,
                    run=self.run,
                    vehicle=v,
                    data=self.data[v.name],
                    time_scale=self.time_scale,
                ),
            )
            for v in told[:_MOST_TIMELINES]
        ]

    def _draw_off_track(self, axes: "Axes", vehicles: list[VehicleInfo]) -> None:
        """A line with gaps where a leg is no track."""
        for vehicle in vehicles:
            data = self.data[vehicle.name]
            tracks = [k for k, leg in enumerate(vehicle.legs) if leg.kind == "track"]
            off = np.where(np.isin(data["leg"], tracks), data["cross_track_error"], np.nan)
            axes.plot(self._time(data), off, color=self.colours[vehicle.name], lw=self.line_width)

    def _draw_position_error(self, axes: "Axes", vehicles: list[VehicleInfo]) -> None:
        """Distance from the truth, over three times the root of the summed variances."""
        top = 0.0
        for vehicle in vehicles:
            data = self.data[vehicle.name]
            colour, time = self.colours[vehicle.name], self._time(data)
            error = data["estimate_position"].values - data["position"].values
            distance = np.linalg.norm(error, axis=-1)
            band = 3.0 * np.linalg.norm(data["estimate_deviation"].values, axis=-1)
            axes.fill_between(time, 0.0, band, color=colour, alpha=0.15, lw=0.0)
            axes.plot(time, distance, color=colour, lw=self.line_width)
            # A filter that has just begun is unsure of much more than it then errs by.
            if len(time):
                top = max(top, float(distance.max()), float(np.quantile(band, 0.95)))
        axes.set_ylim(0.0, 1.08 * max(top, 1e-3))
        _name_lines(axes, [("band: 3σ", _LIGHT_GREY, "-")])

    def _echograms(self) -> list[Panel]:
        """What sounders saw of the water and the bottom below them."""
        panels = []
        for vehicle, sensor in list_echograms(self.run)[:_MOST_ECHOGRAMS]:
            owner = f"{vehicle.name}, " if len(self.vehicles) > 1 else ""
            samples = pings(self.run, vehicle.name, sensor.name)
            draw = partial(draw_small, sensor=sensor, samples=samples, time_scale=self.time_scale)
            panels.append(self._panel(f"Echogram, {owner}{sensor.name}", "m", draw))
        return panels

    def _actuators(self) -> list[Panel]:
        """One panel per vehicle and unit, command dashed."""
        shown = {v.kind: v for v in reversed(self.vehicles)}.values()
        owners = reversed(shown) if len(self.vehicles) >= _CROWD else self.vehicles
        groups: dict[tuple[str, str], list[str]] = {}
        for vehicle in owners:
            for actuator in vehicle.actuators:
                groups.setdefault((vehicle.name, actuator.unit), []).append(actuator.name)
        panels = []
        for (owner, unit), channels in list(groups.items())[:_MOST_ACTUATOR_PANELS]:
            scale, shown_unit = (180.0 / np.pi, "°") if unit == "rad" else (1.0, unit)
            title = f"Actuators, {owner}" if len(self.vehicles) > 1 else "Actuators"
            panels.append(self._panel(title, shown_unit, self._channels(owner, channels, scale)))
        return panels

    def _channels(
        self, vehicle: str, channels: list[str], scale: float
    ) -> Callable[["Axes"], None]:
        def draw(axes: "Axes") -> None:
            data = self.data[vehicle]
            time = self._time(data)
            names = []
            for i, channel in enumerate(channels[:_MOST_CHANNELS]):
                colour = PALETTE[i % len(PALETTE)]
                one = data.sel(channel=channel)
                if "command" in one:  # a Zarr store leaves it out
                    order = scale * one["command"]
                    axes.plot(time, order, "--", color=colour, lw=0.9, drawstyle="steps-post")
                axes.plot(time, scale * one["actuator"], color=colour, lw=self.line_width)
                names.append((_short(channel), colour, "-"))
            if "command" in data:
                names.append(("command", _GREY, "--"))
            _name_lines(axes, names)

        return draw

    def _sea(self) -> list[Panel]:
        panels = []
        if self._any("wave_velocity"):
            panels.append(
                self._panel(
                    "Orbital speed of the waves",
                    "m/s",
                    self._lines(lambda d: np.linalg.norm(d["wave_velocity"].values, axis=-1)),
                )
            )
        for variable, title in (("current", "Current"), ("wind", "Wind")):
            if self._any(variable):
                panels.append(self._panel(title, "m/s", self._north_east(variable)))
        return panels

    def _any(self, variable: str) -> bool:
        if variable not in self.run.dataset:  # a Zarr store leaves some out
            return False
        return bool(np.nanmax(np.abs(self.run.dataset[variable].values), initial=0.0) > 1e-9)

    def _north_east(self, variable: str) -> Callable[["Axes"], None]:
        def draw(axes: "Axes") -> None:
            self._lines(lambda d: d[variable].sel(axis="north"))(axes)
            self._lines(lambda d: d[variable].sel(axis="east"), alpha=0.45)(axes)
            _name_lines(axes, [("to north", _GREY, "-"), ("to east", _LIGHT_GREY, "-")])

        return draw


def _heading(data: "xarray.Dataset") -> Array:
    """Without jumps, degrees."""
    found: Array = np.degrees(np.unwrap(data["euler"].sel(angle="yaw").values))
    return found


def _course(data: "xarray.Dataset") -> Array:
    """Of the track over ground, degrees; NaN without way on."""
    place, time = data["position"].values, data["time"].values
    north, east = (np.gradient(place[:, i], time) for i in (0, 1))
    moving = np.hypot(north, east) > _STEERAGE
    return np.where(moving, np.degrees(np.arctan2(east, north)), np.nan)


def _asked_heading(data: "xarray.Dataset") -> Array:
    """Heading or course that guidance asks for, degrees."""
    steered = _asks(data, "heading") | _asks(data, "course")
    asked = np.where(steered, np.degrees(data["setpoint_direction"].values), np.nan)
    return _beside(_heading(data), asked)


def _asks(data: "xarray.Dataset", what: str) -> NDArray[np.bool_]:
    """When guidance asks for something of `ASKED`."""
    bit = next(bit for bit, word in ASKED.items() if word == what)
    found: NDArray[np.bool_] = (data["setpoint_asked"].values.astype(np.int64) & bit) > 0
    return found


def _asked(data: "xarray.Dataset", what: str) -> Array:
    """What guidance asks for; NaN where it does not."""
    found: Array = np.where(_asks(data, what), data[f"setpoint_{what}"].values, np.nan)
    return found


def _beside(line: Array, angle: Array) -> Array:
    """Angles by whole turns as near as they come to a line that runs on."""
    found: Array = line + (angle - line + 180.0) % 360.0 - 180.0
    return found


def _of(some: list[VehicleInfo], everyone: tuple[VehicleInfo, ...]) -> str:
    """Whose panel it is, where that is not obvious."""
    if len(some) == len(everyone) or len(some) > 2:
        return ""
    return ", " + ", ".join(v.name for v in some)


def _short(channel: str) -> str:
    """A name of several words by their first letters where it is long."""
    if len(channel) <= _LONGEST_NAME:
        return channel
    return " ".join(word[:5] for word in channel.split("_"))


def _name_lines(axes: "Axes", names: list[tuple[str, str, str]]) -> None:
    """A legend beside the title, or inside the panel when it is too long for that."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=c, ls=dashes, label=label) for label, c, dashes in names]
    title = axes.get_title(loc="left")
    width = 0.09 * len(title) + sum(0.062 * len(label) + 0.33 for label, _, _ in names)
    if width <= _WIDTH:
        axes.legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.02), ncols=len(names)
        )
    else:
        columns = max(1, min(4, int(_WIDTH / (0.055 * max(len(n) for n, _, _ in names) + 0.35))))
        axes.legend(handles=handles, ncols=columns, fontsize=6.5, frameon=True, edgecolor="none")


def _quieten(axes: "Axes") -> None:
    """Give a constant curve a scale on which rounding does not look like motion."""
    low, high = sorted(axes.get_ylim())
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    smallest = max(0.02, 0.1 * abs(middle))
    if half < smallest:
        limits = (middle - smallest, middle + smallest)
        axes.set_ylim(limits[::-1] if axes.yaxis_inverted() else limits)
