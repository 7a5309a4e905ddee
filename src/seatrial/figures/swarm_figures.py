"""A swarm's frames brought down to what fits on a page, in one pass and bounded memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import euler_angles, ground_speed
from seatrial.record.reader import Recording
from seatrial.seeding import generator

Array = NDArray[np.float64]

_MOST_FRAMES = 600
"""Frames that a panel shows at most; it has fewer pixels than twice that."""
_MOST_TRACKS = 400
_SAMPLES_AT_ONCE = 1_000_000
"""Vehicles times frames that are held in memory together."""
_LEVELS = (0.05, 0.5, 0.95)

SERIES = ("speed", "heave", "elevation", "roll", "pitch", "yaw_rate")
"""Quantities over time: m/s, m up, m, °, °, °/s."""


@dataclass(frozen=True)
class SwarmFigures:
    """What the page shows of a swarm."""

    time: Array
    """(F,) of the frames shown, s."""
    kinds: dict[str, NDArray[np.int64]]
    """Rows of the vehicles of each kind."""
    bands: dict[tuple[str, str], Array]
    """(3, F) 5 %, 50 % and 95 % over the vehicles, by kind and name of `SERIES`."""
    tracks: Array
    """(F, K, 2) north and east of some vehicles."""
    tracked: NDArray[np.int64]
    """(K,) their rows."""
    last: Array
    """(N, 2) where every vehicle was in the last frame."""
    last_roll: Array
    """(N,) °."""
    distance: Array
    """(N,) m along the track."""
    roll_max: Array
    """(N,) ° to either side."""


def swarm_figures(run: Recording) -> SwarmFigures:
    """Go once through the frames."""
    data = run.dataset
    frames, vehicles = data.sizes["time"], data.sizes["vehicle"]
    names = np.array([v.kind for v in run.header.vehicles])
    kinds = {kind: np.flatnonzero(names == kind) for kind in dict.fromkeys(names.tolist())}
    # Drawn at random, because every n-th vessel of a grid would draw stripes.
    drawn = generator(0, "tracks on the page").permutation(vehicles)[:_MOST_TRACKS]
    tracked = np.sort(drawn)
    stride = -(-frames // _MOST_FRAMES)
    shown = np.arange((frames - 1) % stride, frames, stride)  # the last frame is one of them
    slab = max(1, _SAMPLES_AT_ONCE // vehicles)
    bands: dict[tuple[str, str], list[Array]] = {(k, s): [] for k in kinds for s in SERIES}
    tracks, roll_max, distance = [], np.zeros(vehicles), np.zeros(vehicles)
    before, roll = np.empty((0, vehicles, 3)), np.zeros(vehicles)
    for first in range(0, len(shown), slab):
        part = shown[first : first + slab]
        some = data.isel(time=slice(part[0], part[-1] + 1, stride))
        position = some["position"].values.astype(np.float64)
        attitude = some["attitude"].values
        angles = np.degrees(euler_angles(attitude))
        series = {
            "speed": ground_speed(attitude, some["velocity"].values),
            "heave": -position[..., 2],
            "elevation": some["wave_elevation"].values,
            "roll": angles[..., 0],
            "pitch": angles[..., 1],
            "yaw_rate": np.degrees(some["angular_velocity"].values[..., 2]),
        }
        for kind, rows in kinds.items():
            for name, values in series.items():
                bands[kind, name].append(_quantiles(values[:, rows]))
        tracks.append(position[:, tracked, :2])
        roll_max = np.fmax(roll_max, np.nanmax(np.abs(angles[..., 0]), axis=0, initial=0.0))
        steps = np.diff(np.concatenate([before, position]), axis=0)
        distance += np.nansum(np.linalg.norm(steps, axis=-1), axis=0)
        before = position[-1:]
        roll = angles[-1, :, 0]
    if run.summary is not None:  # counted at every frame
        ends = [run.summary.vehicles[v.name] for v in run.header.vehicles]
        distance = np.array([end.distance for end in ends])
        roll_max = np.array([end.roll_max_deg for end in ends])
    return SwarmFigures(
        time=data["time"].values[shown],
        kinds=kinds,
        bands={key: np.concatenate(parts, axis=1) for key, parts in bands.items()},
        tracks=np.concatenate(tracks),
        tracked=tracked,
        last=before[0, :, :2],
        last_roll=roll,
        distance=distance,
        roll_max=roll_max,
    )


def _quantiles(values: NDArray[np.floating]) -> Array:
    """(3, F) of (F, N); a vehicle that fell silent does not count."""
    if np.isfinite(values).all():
        found: Array = np.quantile(values, _LEVELS, axis=1)
        return found
    rows = [row[np.isfinite(row)] for row in values]
    return np.array(
        [np.quantile(r, _LEVELS) if len(r) else np.full(len(_LEVELS), np.nan) for r in rows]
    ).T
