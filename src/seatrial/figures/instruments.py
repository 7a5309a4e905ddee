"""Pictures of dense sensors as their instruments show them on a screen.

Sonars add a gain over range, 30 log r + 2αr, which a screen needs: a bottom at grazing incidence,
whose lit patch grows with r, is then equally bright at every range. The radar adds 30 log r, by
which the sea is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.signals import SensorInfo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

SCREEN = "#05080c"
LINES = "#3d5a6c"
INK = "#9fb6c3"
BRONZE = ("#050302", "#3a1e0a", "#8a4f17", "#d99a3b", "#ffe9b0", "#ffffff")
AMBER = ("#020304", "#1c1205", "#5c3608", "#b86f10", "#f5b942", "#fff6d8")
SWEPT = ("#02040a", "#0a2050", "#0f6a8c", "#3fb56b", "#f1d84b", "#e2482c")
ECHOES = ("#02060f", "#0b2a22", "#1d7a3f", "#b9d63a", "#ffd23d", "#ff7a2a")
PIXELS = 900
"""Of the longer side of a picture that is drawn from beams and ranges."""


@dataclass(frozen=True)
class Shot:
    """Samples of a sensor, and from where they were taken."""

    title: str
    caption: str
    sensor: SensorInfo
    values: Array
    """(K, D)."""
    payload: NDArray[Any]
    """(K, *shape)."""
    position: Array
    """(K, 3) of the sensor, NED, m."""
    attitude: Array
    """(K, 4) quaternion, sensor to world."""


def draw(axes: "Axes", shot: Shot) -> None:
    """One picture."""
    axes.set_facecolor(SCREEN)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(colors=INK, labelcolor=INK)
    DRAWN[shot.sensor.type](axes, shot)


def with_gain(shot: Shot) -> Array:
    """(K, beams, bins) levels of a sonar with its gain over range, dB."""
    bins = shot.payload.shape[-1]
    (width,) = shot.sensor.facts["bin_width"]
    (absorption,) = shot.sensor.facts["absorption"]
    middle = (np.arange(bins) + 0.5) * width
    return np.asarray(shot.payload + 30.0 * np.log10(middle) + 2.0 * absorption * middle)


def fan_picture(levels: Array, bearings: Array, reach: float) -> tuple[Array, tuple[float, ...]]:
    """Levels (beams, bins) over bearings (beams,), rising, as an upright picture with `x` to
    starboard and `y` ahead; NaN beside the fan. Also the picture's ends."""
    beams, bins = levels.shape
    ends = np.append(bearings, np.linspace(bearings[0], bearings[-1], 181))
    left, right = (reach * f(np.sin(ends)) for f in (np.min, np.max))
    low, high = (reach * f(np.append(np.cos(ends), 0.0)) for f in (np.min, np.max))
    cell = max(right - left, high - low) / PIXELS
    x = np.arange(left + 0.5 * cell, right, cell)
    y = np.arange(low + 0.5 * cell, high, cell)
    across, ahead = np.meshgrid(x, y)
    distance, bearing = np.hypot(across, ahead), np.arctan2(across, ahead)
    step = (bearings[-1] - bearings[0]) / (beams - 1)
    column = np.rint((bearing - bearings[0]) / step).astype(np.int64)
    if beams * step > 2.0 * np.pi - 0.01 * step:
        column %= beams  # all round
    row = (distance / reach * bins).astype(np.int64)
    inside = (row < bins) & (column >= 0) & (column < beams)
    seen = levels[np.clip(column, 0, beams - 1), np.minimum(row, bins - 1)]
    return np.where(inside, seen, np.nan), (left, right, low, high)


def _colours(stops: tuple[str, ...]) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("instrument", stops).with_extremes(bad=SCREEN)


def _show(
    axes: "Axes", seen: Array, ends: tuple[float, ...], stops: tuple[str, ...], dark: float
) -> None:
    """A picture whose darkest colour is that of the share `dark` of all cells."""
    low, high = np.nanquantile(seen, [dark, 0.9995])
    axes.imshow(
        seen,
        origin="lower",
        extent=(ends[0], ends[1], ends[2], ends[3]),
        cmap=_colours(stops),
        vmin=low,
        vmax=high,
        interpolation="antialiased",
    )


def _rings(axes: "Axes", reach: float, first: float, last: float, spokes: Array) -> None:
    """Range rings and bearing lines, as on a screen."""
    angle = np.linspace(first, last, 361)
    step = _round(reach / 4.0)
    for ring in np.arange(step, reach + 0.01 * step, step):
        axes.plot(ring * np.sin(angle), ring * np.cos(angle), color=LINES, lw=0.5, alpha=0.8)
        axes.text(ring * np.sin(last), ring * np.cos(last), f" {ring:g} m", color=INK, fontsize=7.5)
    for spoke in spokes:
        ends = np.array([0.0, reach])
        axes.plot(ends * np.sin(spoke), ends * np.cos(spoke), color=LINES, lw=0.5, alpha=0.8)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _round(value: float) -> float:
    scale = 10.0 ** np.floor(np.log10(value))
    return float(scale * min((1.0, 2.0, 2.5, 5.0, 10.0), key=lambda s: abs(s - value / scale)))


def _imaging(axes: "Axes", shot: Shot) -> None:
    bearings = np.array(shot.sensor.facts["bearings"])
    levels = with_gain(shot)[-1]
    reach = levels.shape[1] * shot.sensor.facts["bin_width"][0]
    _show(axes, *fan_picture(levels, bearings, reach), AMBER, 0.12)
    _rings(axes, reach, bearings[0], bearings[-1], np.linspace(bearings[0], bearings[-1], 5))


def _mechanical(axes: "Axes", shot: Shot) -> None:
    order = np.argsort(shot.values[:, 1], kind="stable")
    bearings, first = np.unique(shot.values[order, 1], return_index=True)
    levels = with_gain(shot)[order[first], 0]
    reach = levels.shape[1] * shot.sensor.facts["bin_width"][0]
    _show(axes, *fan_picture(levels, bearings, reach), SWEPT, 0.35)
    spokes = np.linspace(-np.pi, np.pi, 9) if np.ptp(bearings) > 5.0 else bearings[[0, -1]]
    _rings(axes, reach, bearings[0], bearings[-1], spokes)


def _side_scan(axes: "Axes", shot: Shot) -> None:
    levels = with_gain(shot)
    line = np.concatenate([levels[:, 0, ::-1], levels[:, 1]], axis=1)
    reach = levels.shape[2] * shot.sensor.facts["bin_width"][0]
    along = np.linalg.norm(shot.position[-1, :2] - shot.position[0, :2])
    _show(axes, line, (-reach, reach, 0.0, float(along)), BRONZE, 0.1)
    axes.set_aspect("auto")
    axes.set_xlabel("slant range to port and starboard [m]", color=INK)
    axes.set_ylabel("along the track [m]", color=INK)


def soundings(shot: Shot) -> Array:
    """(P, 3) soundings of all pings, NED."""
    found = []
    for cloud, place, attitude in zip(shot.payload, shot.position, shot.attitude, strict=True):
        there = cloud[np.isfinite(cloud[:, 0]), :3].astype(np.float64)
        found.append(place + there @ rotation_matrix(attitude).T)
    return np.concatenate(found)


def _multibeam(axes: "Axes", shot: Shot) -> None:
    """Soundings averaged in cells, lit from the north-west."""
    from matplotlib.colors import LightSource

    north, east, depth = soundings(shot).T
    low, high = (np.array([f(east), f(north)]) for f in (np.min, np.max))
    cell = float(np.max(high - low)) / 500.0
    size = np.ceil((high - low) / cell).astype(int) + 1
    at = ((north - low[1]) / cell).astype(int) * size[0] + ((east - low[0]) / cell).astype(int)
    count = np.bincount(at, minlength=size[0] * size[1])
    total = np.bincount(at, depth, minlength=size[0] * size[1])
    with np.errstate(invalid="ignore"):
        grid = np.where(count > 0, total / count, np.nan).reshape(size[1], size[0])
    grid = _closed(grid)
    light = LightSource(azdeg=315, altdeg=40)
    lit = light.shade(
        np.ma.masked_invalid(-grid),
        cmap=_colours(("#1b1464", "#1f6fb4", "#3fc1a5", "#d8e65a", "#f39c3d", "#c23b22")),
        blend_mode="soft",
        vert_exag=2.0,
        dx=cell,
        dy=cell,
    )
    lit[..., 3] = np.isfinite(grid)
    ends = (low[0], low[0] + cell * size[0], low[1], low[1] + cell * size[1])
    axes.imshow(lit, origin="lower", extent=ends)
    axes.plot(shot.position[:, 1], shot.position[:, 0], ".", color="white", ms=0.6, alpha=0.5)
    _tell(axes, f"{np.nanmin(grid):.1f} m (red) to {np.nanmax(grid):.1f} m (blue) deep")
    axes.set_xlabel("east [m]", color=INK)
    axes.set_ylabel("north [m]", color=INK)


def _tell(axes: "Axes", scale: str) -> None:
    """What the colours mean."""
    axes.set_title(scale, color=INK, fontsize=8, loc="right")


def _closed(grid: Array) -> Array:
    """Single empty cells between soundings get the mean of their neighbours."""
    padded = np.pad(grid, 1, constant_values=np.nan)
    parts = [
        padded[1 + i : padded.shape[0] - 1 + i, 1 + j : padded.shape[1] - 1 + j]
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
    ]
    there = np.isfinite(parts)
    around = there.sum(axis=0)
    mean = np.where(there, parts, 0.0).sum(axis=0) / np.maximum(around, 1)
    return np.where(np.isfinite(grid) | (around < 3), grid, mean)


def _radar(axes: "Axes", shot: Shot) -> None:
    levels = shot.payload[-1]
    azimuths, bins = levels.shape
    reach = bins * shot.sensor.facts["bin_width"][0]
    gained = levels + 30.0 * np.log10((np.arange(bins) + 0.5) * reach / bins)
    half = azimuths // 2
    bearings = 2.0 * np.pi * np.arange(-half, azimuths - half) / azimuths
    _show(axes, *fan_picture(np.roll(gained, half, axis=0), bearings, reach), ECHOES, 0.55)
    _rings(axes, reach, -np.pi, np.pi, np.zeros(1))


def _lidar(axes: "Axes", shot: Shot) -> None:
    """The points of all sweeps, from abaft the port beam and above, coloured by height."""
    from matplotlib.colors import PowerNorm

    points = soundings(shot)
    bow = rotation_matrix(shot.attitude[-1])[:, 0]
    across = np.arctan2(bow[1], bow[0]) + np.radians(50.0)
    ahead = np.array([np.cos(across), np.sin(across)])
    north, east = (points[:, :2] - shot.position[:, :2].mean(axis=0)).T
    up = -points[:, 2]
    far = ahead[0] * north + ahead[1] * east
    right = ahead[0] * east - ahead[1] * north
    order = np.argsort(-far)
    tilt = np.radians(35.0)
    low, high = np.quantile(up, [0.02, 0.995])
    low -= 0.02 * (high - low)  # the darkest colours are lost on a screen
    axes.scatter(
        right[order],
        (np.sin(tilt) * far + np.cos(tilt) * up)[order],
        c=up[order],
        s=1.2,
        cmap="turbo",
        norm=PowerNorm(0.5, low, high),  # most of a harbour is low, and little of it high
        linewidths=0.0,
    )
    _tell(axes, f"{max(low, 0.0):.1f} m (blue) to {high:.1f} m (red) above the water")
    axes.set_aspect("equal")
    axes.set_axis_off()


def _depth_camera(axes: "Axes", shot: Shot) -> None:
    from matplotlib.colors import LogNorm

    depth = np.where(np.isfinite(shot.payload[-1]), shot.payload[-1], np.nan)
    low, high = np.nanquantile(depth, [0.01, 0.995])
    axes.imshow(depth, cmap="turbo_r", norm=LogNorm(low, high))
    _tell(axes, f"{low:.1f} m (red) to {high:.0f} m (blue) away")
    axes.set_axis_off()


def _camera(axes: "Axes", shot: Shot) -> None:
    image = shot.payload[-1]
    if image.ndim == 3 and image.dtype != np.uint8:
        image = 0.5 + 0.5 * image  # normals
    axes.imshow(image, cmap="tab20", interpolation="nearest")
    axes.set_axis_off()


def _thermal_camera(axes: "Axes", shot: Shot) -> None:
    kelvin = 0.01 * shot.payload[-1]
    low, high = np.quantile(kelvin, [0.01, 0.998])
    shown = axes.imshow(kelvin - 273.15, cmap="inferno", vmin=low - 273.15, vmax=high - 273.15)
    bar = axes.figure.colorbar(shown, ax=axes, shrink=0.7)
    bar.set_label("°C", color=INK)
    axes.set_axis_off()


DRAWN: dict[str, Callable[["Axes", Shot], None]] = {
    "imaging_sonar": _imaging,
    "mechanical_sonar": _mechanical,
    "side_scan": _side_scan,
    "multibeam": _multibeam,
    "radar_image": _radar,
    "lidar": _lidar,
    "camera": _camera,
    "depth_camera": _depth_camera,
    "thermal_camera": _thermal_camera,
}
"""Type of a sensor -> how its picture is drawn."""
