"""How lines over time are drawn."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import ASKED as ASKED_BITS
from seatrial.figures.run.legend import ASKED, Name
from seatrial.figures.run.lines import Line
from seatrial.figures.style import PALETTE, SEABED, WATER

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_LONGEST_NAME = 14
"""Letters of a channel in a legend."""
_MOST_BANDS = 3
"""Vehicles whose bands can be told apart where they overlap."""
_GREY, _LIGHT_GREY = "#52606d", "#b3bcc5"
_MOST_TURNS = 2.0
"""That a line of headings runs on without jumps."""
_STEERAGE = 0.1
"""Below this speed a course means nothing, m/s."""


class Plot:
    """Draws lines of vehicles; every method fills axes and returns the names for a legend."""

    def __init__(self, lines: list[Line], time_scale: float, thickness: float) -> None:
        import matplotlib

        self.all, self.time_scale = lines, time_scale
        self.line_width = thickness * float(matplotlib.rcParams["lines.linewidth"])

    def time(self, data: "xarray.Dataset") -> Array:
        """In the unit of the axes."""
        scaled: Array = data["time"].values / self.time_scale
        return scaled

    def lines(
        self,
        values: Callable[["xarray.Dataset"], "xarray.DataArray | Array"],
        axes: "Axes",
        width: float = 0.0,
        alpha: float = 1.0,
    ) -> list[Name]:
        """A line per vehicle."""
        for x in self.all:
            self._line(axes, x, values(x.data), alpha)
        return []

    def _line(
        self, axes: "Axes", x: Line, values: "xarray.DataArray | Array", alpha: float = 1.0
    ) -> None:
        axes.plot(self.time(x.data), values, color=x.colour, lw=self.line_width, alpha=alpha)

    def speed(self, axes: "Axes", width: float) -> list[Name]:
        """Over ground, and what was asked for."""
        self.lines(lambda d: d["speed"], axes)
        return [ASKED] if self._asked(axes, lambda d: _asked(d, "surge")) else []

    def sway(self, axes: "Axes", width: float) -> list[Name]:
        """Speed to starboard over ground, and what was asked for."""
        self.lines(lambda d: d["velocity"].sel(body_axis="starboard"), axes)
        return [ASKED] if self._asked(axes, lambda d: _asked(d, "sway")) else []

    def yaw_rate(self, axes: "Axes", width: float) -> list[Name]:
        """Rate of turn, and what was asked for."""
        self.lines(turning, axes)
        asked = self._asked(axes, lambda d: np.degrees(_asked(d, "yaw rate")))
        return [ASKED] if asked else []

    def heading(self, axes: "Axes", width: float) -> list[Name]:
        """Heading, and what was asked for; where that is a course, the course that was made too."""
        from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

        # A heading that crosses north would jump by 360°: let it run on instead.
        self.lines(_heading, axes)
        names = []
        if any(asks(x.data, "course").any() for x in self.sent):
            for x in self.sent:
                made = np.where(asks(x.data, "course"), _course(x.data), np.nan)
                course = _beside(_heading(x.data), made)
                axes.plot(self.time(x.data), course, color=x.colour, lw=0.7, alpha=0.45)
            names.append(("course made", _LIGHT_GREY, "-"))
        if self._asked(axes, _asked_heading):
            names.append(ASKED)
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(
            MaxNLocator(5, steps=[1, 1.5, 2, 3, 4.5, 6, 9, 10])
            if high - low < 180.0
            else MultipleLocator(90.0 if high - low < 540.0 else 180.0)
        )
        axes.yaxis.set_major_formatter(FuncFormatter(lambda angle, _: _bearing(angle)))
        return names

    def heave(self, surface: list[Line], axes: "Axes", width: float) -> list[Name]:
        """Of surface craft, over the water at each."""
        for x in surface:
            elevation = x.data["wave_elevation"]
            axes.plot(self.time(x.data), elevation, color=WATER, lw=2.0 * self.line_width)
        for x in surface:
            self._line(axes, x, -x.data["depth"])
        return [("water surface", WATER, "-")]

    def depth(self, submerged: list[Line], axes: "Axes", width: float) -> list[Name]:
        """Downwards, with surface and seabed where they are near."""
        names = [("water surface", WATER, "-")]
        first = submerged[0]
        axes.plot(
            self.time(first.data), -first.data["wave_elevation"], color=WATER, lw=self.line_width
        )
        deepest = 0.0
        for x in submerged:
            self._line(axes, x, x.data["depth"])
            deepest = max(deepest, float(x.data["depth"].values.max(initial=0.0)))
        if self._bottom(axes, submerged, deepest):
            names.append(("seabed", SEABED, "-"))
        dives = [x for x in self.sent if x in submerged]
        if self._asked(axes, lambda d: _asked(d, "depth"), dives):
            names.append(ASKED)
        axes.invert_yaxis()
        return names

    def _bottom(self, axes: "Axes", submerged: list[Line], deepest: float) -> bool:
        """Draw the bottom where it is near: a level, or what lies under each track."""
        first = submerged[0]
        scene = first.run.scene
        if scene is None or scene.terrain is None:
            level = first.run.header.water_depth
            if level is None or level >= 2.0 * deepest:
                return False
            axes.axhline(level, color=SEABED, lw=1.6)
            return True
        near = False
        for x in submerged[:_MOST_BANDS]:
            north, east = x.data["position"].values[:, :2].T
            under = scene.terrain.at(north, east)
            known = under[np.isfinite(under)]
            if len(known) and known.min() < 2.0 * max(deepest, 1.0):
                axes.plot(self.time(x.data), under, color=SEABED, lw=1.6)
                near = True
        return near

    def off_track(self, sent: list[Line], axes: "Axes", width: float) -> list[Name]:
        """A line with gaps where a leg is no track."""
        for x in sent:
            tracks = [k for k, leg in enumerate(x.vehicle.legs) if leg.kind == "track"]
            on_track = np.isin(x.data["leg"], tracks)
            self._line(axes, x, np.where(on_track, x.data["cross_track_error"], np.nan))
        return []

    def off_station(self, sent: list[Line], axes: "Axes", width: float) -> list[Name]:
        """Distance from the place that is to be held, with gaps where there is none."""
        for x in sent:
            held = np.stack([x.data["setpoint_north"].values, x.data["setpoint_east"].values], -1)
            away = np.linalg.norm(x.data["position"].values[:, :2] - held, axis=-1)
            self._line(axes, x, np.where(asks(x.data, "position"), away, np.nan))
        return []

    def position_error(self, filtered: list[Line], axes: "Axes", width: float) -> list[Name]:
        """Distance from the truth, over three times the root of the summed variances."""
        top = 0.0
        banded = len(filtered) <= _MOST_BANDS
        for x in filtered:
            error = x.data["estimate_position"].values - x.data["position"].values
            distance = np.linalg.norm(error, axis=-1)
            self._line(axes, x, distance)
            top = max(top, float(distance.max(initial=0.0)))
            if banded and len(distance):
                band = 3.0 * np.linalg.norm(x.data["estimate_deviation"].values, axis=-1)
                time = self.time(x.data)
                axes.fill_between(time, 0.0, band, color=x.colour, alpha=0.15, lw=0.0)
                # A filter that has just begun is unsure of much more than it then errs by.
                top = max(top, float(np.quantile(band, 0.95)))
        axes.set_ylim(0.0, 1.08 * max(top, 1e-3))
        return [("band: 3σ", _LIGHT_GREY, "-")] if banded else []

    def channels(
        self, line: Line, channels: list[str], scale: float, axes: "Axes", width: float
    ) -> list[Name]:
        """Actuators of one vehicle, a colour each, command dashed."""
        names = []
        for i, channel in enumerate(channels):
            colour = PALETTE[i % len(PALETTE)]
            self._channel(axes, line, channel, scale, colour)
            names.append((_short(channel), colour, "-"))
        return [*names, *([("command", _GREY, "--")] if "command" in line.data else [])]

    def channel(
        self, some: list[Line], channel: str, scale: float, axes: "Axes", width: float
    ) -> list[Name]:
        """One actuator of several vehicles."""
        for x in some:
            self._channel(axes, x, channel, scale, x.colour)
        return [("command", _GREY, "--")] if "command" in some[0].data else []

    def _channel(self, axes: "Axes", x: Line, channel: str, scale: float, colour: str) -> None:
        one, time = x.data.sel(channel=channel), self.time(x.data)
        if "command" in one:  # a Zarr store leaves it out
            order = scale * one["command"]
            axes.plot(time, order, "--", color=colour, lw=0.9, drawstyle="steps-post")
        axes.plot(time, scale * one["actuator"], color=colour, lw=self.line_width)

    def north_east(self, variable: str, axes: "Axes", width: float) -> list[Name]:
        """The horizontal components of a stream."""
        self.lines(lambda d: d[variable].sel(axis="north"), axes)
        self.lines(lambda d: d[variable].sel(axis="east"), axes, alpha=0.45)
        return [("to north", _GREY, "-"), ("to east", _LIGHT_GREY, "-")]

    @property
    def sent(self) -> list[Line]:
        """Vehicles with a mission whose setpoints were recorded."""
        return [x for x in self.all if x.vehicle.legs and "setpoint_surge" in x.data]

    def _asked(
        self,
        axes: "Axes",
        values: Callable[["xarray.Dataset"], Array],
        some: list[Line] | None = None,
    ) -> bool:
        """What guidance asked for, dashed and dark; returns whether it asked for anything."""
        wanted = [
            (self.time(x.data), values(x.data)) for x in (self.sent if some is None else some)
        ]
        wanted = [(time, line) for time, line in wanted if np.isfinite(line).any()]
        for time, line in wanted:
            axes.plot(time, line, "--", color=ASKED[1], lw=0.9, zorder=3)
        return bool(wanted)


def scale_of(unit: str) -> float:
    """From a channel's unit to the one that is shown."""
    return 180.0 / np.pi if unit == "rad" else 1.0


def unit_of(unit: str) -> str:
    """In which a channel is shown."""
    return "°" if unit == "rad" else unit


def turning(data: "xarray.Dataset") -> Array:
    """Rate of turn, degrees per second."""
    found: Array = np.degrees(data["angular_velocity"].sel(body_axis="down").values)
    return found


def asks(data: "xarray.Dataset", what: str) -> NDArray[np.bool_]:
    """When guidance asks for something of `ASKED`."""
    bit = next(bit for bit, word in ASKED_BITS.items() if word == what)
    found: NDArray[np.bool_] = (data["setpoint_asked"].values.astype(np.int64) & bit) > 0
    return found


def _heading(data: "xarray.Dataset") -> Array:
    """Without jumps over some turns, degrees; who circles for long is shown from 0 to 360."""
    found: Array = np.degrees(np.unwrap(data["euler"].sel(angle="yaw").values))
    if not len(found) or np.ptp(found) <= _MOST_TURNS * 360.0:
        return found
    turns = np.floor(found / 360.0)
    jumps = np.diff(turns, prepend=turns[:1]) != 0.0
    return np.where(jumps, np.nan, found - 360.0 * turns)


def _bearing(angle: float) -> str:
    """What a compass shows, from 0 to 360."""
    return f"{round(angle % 360.0, 6) % 360.0:g}"


def _course(data: "xarray.Dataset") -> Array:
    """Of the track over ground, degrees; NaN without way on."""
    place, time = data["position"].values, data["time"].values
    north, east = (np.gradient(place[:, i], time) for i in (0, 1))
    moving = np.hypot(north, east) > _STEERAGE
    return np.where(moving, np.degrees(np.arctan2(east, north)), np.nan)


def _asked_heading(data: "xarray.Dataset") -> Array:
    """Heading or course that guidance asks for, degrees."""
    steered = asks(data, "heading") | asks(data, "course")
    asked = np.where(steered, np.degrees(data["setpoint_direction"].values), np.nan)
    return _beside(_heading(data), asked)


def _asked(data: "xarray.Dataset", what: str) -> Array:
    """What guidance asks for; NaN where it does not."""
    name = f"setpoint_{what.replace(' ', '_')}"
    found: Array = np.where(asks(data, what), data[name].values, np.nan)
    return found


def _beside(line: Array, angle: Array) -> Array:
    """Angles by whole turns as near as they come to a line that runs on."""
    found: Array = line + (angle - line + 180.0) % 360.0 - 180.0
    return found


def _short(channel: str) -> str:
    """A name of several words by their first letters where it is long."""
    words = channel.split("_")
    return " ".join(words if len(channel) <= _LONGEST_NAME else (word[:5] for word in words))


def quieten(axes: "Axes") -> None:
    """Give a constant curve a scale on which rounding does not look like motion."""
    low, high = sorted(axes.get_ylim())
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    smallest = max(0.02, 0.1 * abs(middle))
    if half < smallest:
        limits = (middle - smallest, middle + smallest)
        axes.set_ylim(limits[::-1] if axes.yaxis_inverted() else limits)
