"""Echograms: the level of every bin of every ping, and the bottom that the sounder found."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import VehicleInfo
from seatrial.errors import RecordingError
from seatrial.figures.style import MUTED, STYLE
from seatrial.record.reader import Recording
from seatrial.signals import Measurements, SensorInfo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from seatrial.figures.page import Page

UNIT = "dB re 1 µPa, + 20 log r"
COLOURS = "viridis"
FOUND = "#ff5a36"
DYNAMIC = 90.0
"""Decibels from the darkest colour to the strongest echo, at most."""


def list_echograms(run: Recording) -> list[tuple[VehicleInfo, SensorInfo]]:
    """The sounders of a run whose echograms there are to draw."""
    return [
        (vehicle, sensor)
        for vehicle in run.header.vehicles
        for sensor in vehicle.sensors
        if sensor.payload is not None and sensor.type == "echo_sounder"
        if len(run.payload(vehicle.name, sensor.name))
    ]


def pings(run: Recording, vehicle: str, sensor: str) -> Measurements:
    """The valid samples of a sounder, with their echograms."""
    samples = run.samples(vehicle, sensor)
    return replace(samples.cut(samples.valid), payload=run.payload(vehicle, sensor)[:])


def draw_echogram(
    axes: "Axes", sensor: SensorInfo, samples: Measurements, time_scale: float = 1.0
) -> Any:
    """Pings side by side, the range downwards; returns the picture, for a scale of colours.

    Pings that were lost stay white. 20 log r is added, which makes the same water and, for a beam
    that the bottom fills, the same bottom equally bright at every range.
    """
    assert samples.payload is not None
    bins, (width,) = samples.payload.shape[-1], sensor.facts["bin_width"]
    middle = (np.arange(bins) + 0.5) * width
    number = np.rint(samples.time * sensor.rate).astype(np.int64)
    first, last = int(number[0]), int(number[-1])
    grid: NDArray[np.float32] = np.full((last - first + 1, bins), np.nan, np.float32)
    grid[number - first] = samples.payload[:, 0] + 20.0 * np.log10(middle).astype(np.float32)
    top = float(np.nanmax(grid))
    low = max(float(np.nanquantile(grid, 0.02)), top - DYNAMIC)
    ends = np.array([first - 0.5, last + 0.5]) / sensor.rate / time_scale
    image = axes.imshow(
        grid.T,
        extent=(ends[0], ends[1], bins * width, 0.0),
        aspect="auto",
        cmap=COLOURS,
        vmin=low,
        vmax=top,
        interpolation="none" if len(grid) < 400 else "antialiased",
    )
    axes.plot(samples.time / time_scale, samples.values[:, 0], color=FOUND, lw=0.8, alpha=0.9)
    axes.set_ylim(bins * width, 0.0)
    axes.grid(visible=False)
    return image


def draw_small(
    axes: "Axes", width: float, sensor: SensorInfo, samples: Measurements, time_scale: float = 1.0
) -> list[tuple[str, str, str]]:
    """The same in a panel of a page, with its scale of colours in a corner."""
    image = draw_echogram(axes, sensor, samples, time_scale)
    inset = axes.inset_axes((0.09, 0.07, 0.24, 0.06))
    bar = axes.figure.colorbar(image, cax=inset, orientation="horizontal")
    inset.set_in_layout(False)
    low, high = image.get_clim()
    bar.set_ticks([])
    bar.outline.set_visible(False)
    style: dict[str, Any] = {"transform": inset.transAxes, "fontsize": 8, "color": "white"}
    inset.text(-0.03, 0.5, f"{low:.0f}", ha="right", va="center", **style)
    inset.text(1.03, 0.5, f"{high:.0f} dB", ha="left", va="center", **style)
    return []


def figure(run: Recording, vehicle: str, sensor: str) -> "Page":
    """One echogram on a page, over the roll and pitch of its vehicle."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from seatrial.figures.page import Page

    known = list_echograms(run)
    info = next((s for v, s in known if (v.name, s.name) == (vehicle, sensor)), None)
    if info is None:
        names = ", ".join(f"{v.name}/{s.name}" for v, s in known) or "none in this recording"
        raise RecordingError(
            f"{run.path}: there is no echogram of {vehicle}/{sensor} to draw\n"
            f"  expected: one of {names}"
        )
    with matplotlib.rc_context(STYLE):
        page = Page(figsize=(11.0, 6.4), layout="constrained")
        FigureCanvasAgg(page)
        above, below = page.subplots(2, 1, height_ratios=(3.2, 1.0), sharex=True)
        image = draw_echogram(above, info, pings(run, vehicle, sensor))
        bar = page.colorbar(image, ax=above, pad=0.01)
        bar.set_label(UNIT)
        bar.outline.set_visible(False)
        above.set_title(f"{run.header.scenario}: {vehicle}, {sensor}")
        above.set_ylabel("range from the transducer [m]")
        above.plot([], [], color=FOUND, label="bottom, as the sounder finds it")
        above.legend(loc="lower left", labelcolor="white")
        data = run.vehicle(vehicle)
        for angle, dashes in (("roll", "-"), ("pitch", "--")):
            shown = np.degrees(data["euler"].sel(angle=angle))
            below.plot(data["time"], shown, dashes, color=MUTED, label=angle)
        below.set_ylabel("[°]")
        below.set_xlabel("time [s]")
        below.legend(loc="upper right", ncols=2)
        below.margins(x=0.0)
    return page
