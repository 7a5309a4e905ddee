"""Samples of a sensor as they go to a page that watches it: few enough, whatever the sensor gives.

A cloud of a million points or an image of a thousand rows is thinned out here; the recording has
all of it.
"""

import base64
import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.render.masks import coloured
from seatrial.signals import Measurements, SensorInfo
from seatrial.viewer.messages import Picture, Samples
from seatrial.viewer.world import packed

MOST_SAMPLES = 20
"""Of one message; the latest of them."""
MOST_PINGS = 100
"""The same, of a sensor whose picture grows ping by ping: a fast run leaves no gaps in it."""
MOST_POINTS = 6000
MOST_ROWS, MOST_COLUMNS = 320, 512
MOST_PHOTO = 720
"""Rows and columns of a photo."""

Array = NDArray[np.float64]


def grows(info: SensorInfo) -> bool:
    """Whether its picture is made of many samples."""
    return info.payload is not None and info.payload.kind == "echogram"


def newest(info: SensorInfo, taken: Measurements, after: float, until: float) -> NDArray[np.intp]:
    """Which samples of one vehicle are told: the latest valid ones that were not told before."""
    new = taken.valid & (taken.time > after) & (taken.time <= until)
    return np.flatnonzero(new)[-(MOST_PINGS if grows(info) else MOST_SAMPLES) :]


def samples_of(run: int, vehicle: str, info: SensorInfo, some: Measurements) -> Samples:
    """The message that tells samples of one vehicle."""
    return Samples(
        run=run,
        vehicle=vehicle,
        sensor=info.name,
        times=some.time.tolist(),
        values=[[_number(v) for v in row] for row in some.values],
        picture=None if some.payload is None else _picture(info, some.payload),
    )


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _picture(info: SensorInfo, payload: NDArray[Any]) -> Picture:
    """Of samples (S, *shape): all of an echogram, which grows ping by ping, else the last."""
    assert info.payload is not None
    kind = info.payload.kind
    if kind in ("cloud", "scan"):
        last = np.asarray(payload[-1], np.float64)
        return _points(_cloud(info, last) if kind == "scan" else last[:, :4])
    if info.type == "camera" and info.payload.unit != "m":
        return _photo(_shown(payload[-1]))
    levels = np.asarray(payload if grows(info) else payload[-1:], np.float64)
    return _raster(levels.reshape(*levels.shape[:3]), info)


def _shown(image: NDArray[Any]) -> NDArray[np.uint8]:
    """(rows, columns, 3) of a picture as it is, of normals, or of masks with a colour each."""
    steps = -(-image.shape[0] // MOST_PHOTO), -(-image.shape[1] // MOST_PHOTO)
    image = image[:: max(steps), :: max(steps)]
    if image.ndim == 2:
        return coloured(image)
    if image.dtype == np.uint8:
        return image
    return np.rint(127.5 + 127.5 * image).astype(np.uint8)


def _photo(image: NDArray[np.uint8]) -> Picture:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(file, "JPEG", quality=85)
    rows, columns, _ = image.shape
    data = base64.b64encode(file.getvalue()).decode()
    return Picture(form="photo", rows=rows, columns=columns, low=0.0, high=1.0, data=data)


def _cloud(info: SensorInfo, scan: Array) -> Array:
    """A row of ranges and one of intensities as points in the plane of the scanner."""
    first, last = info.facts["first_azimuth"][0], info.facts["last_azimuth"][0]
    angle = np.linspace(first, last, scan.shape[1])
    ranges, intensity = np.where(np.isfinite(scan), scan, np.nan)
    return np.stack(
        [ranges * np.cos(angle), ranges * np.sin(angle), np.zeros(len(angle)), intensity], axis=1
    )


def _points(cloud: Array) -> Picture:
    met = cloud[np.all(np.isfinite(cloud[:, :3]), axis=1)]
    met = met[:: max(1, -(-len(met) // MOST_POINTS))]
    high = float(np.max(met[:, 3])) if len(met) else 0.0
    return Picture(
        form="points", rows=len(met), columns=4, low=0.0, high=high, data=packed(met, "<f4")
    )


def _raster(levels: Array, info: SensorInfo) -> Picture:
    """Arrays (S, rows, columns) in 255 steps; sonars and radars with the gain over range that a
    screen needs (30 log r + 2αr), as their figures have it."""
    width = info.facts.get("bin_width", (0.0,))[0]
    if width:
        middle = (np.arange(levels.shape[2]) + 0.5) * width
        absorption = info.facts.get("absorption", (0.0,))[0]
        levels = levels + 30.0 * np.log10(middle) + 2.0 * absorption * middle
    steps = (-(-levels.shape[1] // MOST_ROWS), -(-levels.shape[2] // MOST_COLUMNS))
    levels = _thinned(_thinned(levels, 1, steps[0], bool(width)), 2, steps[1], bool(width))
    there = np.isfinite(levels)
    seen = levels[there]
    low, high = np.quantile(seen, (0.02, 0.998)) if len(seen) else (0.0, 1.0)
    if info.type == "radar_image":
        low, high = _screen(seen, high)
    share = np.clip((np.where(there, levels, low) - low) / max(high - low, 1e-9), 0.0, 1.0)
    shades = np.where(there, 1 + np.round(254.0 * share), 0)
    return Picture(
        form="raster",
        rows=levels.shape[1],
        columns=levels.shape[2],
        low=float(low),
        high=float(high),
        data=packed(shades, "u1"),
    )


def _screen(levels: Array, high: float) -> tuple[float, float]:
    """Levels from black to white on a radar's screen (dB): its receiver's noise, which fills most
    cells, stays black, and a sea without a target is not blown up."""
    low = float(np.quantile(levels, 0.75)) if len(levels) else 0.0
    return low, max(high, low + 25.0)


def _thinned(levels: Array, axis: int, step: int, strongest: bool) -> Array:
    """Of every few echoes the strongest, so that a small target stays; of pixels the first."""
    if step == 1:
        return levels
    starts = np.arange(0, levels.shape[axis], step)
    if strongest:
        found: Array = np.maximum.reduceat(levels, starts, axis=axis)
        return found
    return np.take(levels, starts, axis=axis)
