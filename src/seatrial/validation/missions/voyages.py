"""Missions drawn by seed, sailed as one program for each vehicle, sea and kind of feedback.

Waypoints lie two to ten turning circles apart, on courses drawn uniformly; under water each leg
rises or falls by up to a fifth of its length, and by no more than nine tenths of what a vehicle
that dives by pitching follows. A turning circle is that of the autopilot: 2 U/r at
the vehicle's own speed U and the largest rate of turn r that its heading reference allows; five
lengths where it can turn on the spot.

A vehicle that dives and never hears a satellite works beside a ship: it has a USBL, and the
transponder hangs under the ship, at the origin.

Vehicles go on however uncertain their position is: this is about the helm.

The distance off the track is that of the true position, over the second half of each leg: where it
begins the vehicle still comes out of its turn. What of it comes and goes within half a minute is
the waves' own motion: they carry a craft that floats by as much as they are high, and no helm
should work against that.
"""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.checks.mission import steepest
from seatrial.compile.autonomy.tuning import design
from seatrial.compile.scenario import plan_of
from seatrial.engine.batch import run_batch
from seatrial.engine.frames import LegInfo
from seatrial.errors import SpecError, SpecWarning
from seatrial.record.memory import MemoryRecorder
from seatrial.seeding import generator
from seatrial.signals import OUTCOMES
from seatrial.spec.library import library_names
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors import AnySensor
from seatrial.spec.sensors.position import Usbl
from seatrial.spec.vehicle import Vehicle

Array = NDArray[np.float64]

SEAS = {
    "calm": "{name: calm, seabed: {depth: 200}}",
    "sea state 3": "{name: sea, seabed: {depth: 200}, current: {speed: 0.3, towards_deg: 70}, "
    "waves: {spectrum: sea_state, code: 3, towards_deg: 45}}",
    "sea state 4": "{name: sea, seabed: {depth: 200}, current: {speed: 0.3, towards_deg: 70}, "
    "waves: {spectrum: sea_state, code: 4, towards_deg: 45}, "
    "wind: {speed: 9, towards_deg: 45, gusts: {spectrum: norsok}}}",
}
"""Worlds, as in a scenario; the deck of a current is in both seas."""

WAYPOINTS = 5
NEAREST, FARTHEST = 2.0, 10.0
"""Spacing in turning circles."""
SHALLOW, DEEP = 4.0, 20.0
"""Depths of waypoints under water, m."""
STEEPEST, SHARE = 0.2, 0.9
"""Largest slope, and share of what the vehicle follows."""
TRANSPONDER = (0.0, 0.0, 40.0)
"""Place of a ROV's, m."""
STREAM = 0.3 * np.array([math.cos(math.radians(70.0)), math.sin(math.radians(70.0))])
"""The current of both seas, north and east, m/s."""
SLACK, SLOWEST = 1.5, 0.25
"""Time that a mission is given, over what its legs take at the vehicle's own speed through the
water, and the least of that speed that counts as made good."""
TIMED = range(1, 101)
"""Seeds of which the longest mission tells the time that all are given: it does not matter then
which of them sail together."""
FRAME = 0.5
"""Of the recording, s."""
WAVES = 30.0
"""Time over which waves average out, s."""
STILL = 0.02
"""Share of the largest order below which a thruster counts as still."""
UPSET = math.radians(90.0)
"""Tilt of a capsized vehicle."""


@dataclass(frozen=True)
class Drive:
    """What the study needs to know of a vehicle."""

    name: str
    length: float
    speed: float
    circle: float
    """Diameter of its turning circle, m."""
    under_water: bool
    largest: dict[str, float]
    """Largest order by channel."""
    navigates: bool
    """Whether its own sensors can feed a filter."""
    slope: float
    """Largest slope of a leg."""
    sensors: tuple[AnySensor, ...]
    """What it carries."""


@dataclass(frozen=True)
class Voyage:
    """One mission, sailed."""

    seed: int
    waypoints: int
    reached: int
    off_track: float
    """Rms distance off the track, true, m; NaN where no leg was sailed to its middle."""
    swayed: float
    """What of it waves do, rms, m; NaN where no leg was long enough to tell."""
    lost: float
    """Rms horizontal error of navigation, m; 0 with the truth fed back."""
    capsized: bool
    status: str
    effort: float
    """Rms order over the largest, mean over channels."""
    reversals: float
    """Of thrusters and propellers, per minute, mean over channels."""


def drives(names: Iterable[str] | None = None) -> list[Drive]:
    """The vehicles, every one of the library when left out, that can be steered."""
    found = []
    for name in library_names("vehicle") if names is None else names:
        vehicle = load(name, Vehicle)
        try:
            designed = design(vehicle)
        except SpecError:  # a glider, which nothing drives ahead
            continue
        heading = designed.tuning.autopilot.heading
        if heading is None:
            continue
        speed, e = designed.tuning.trim.speed, designed.effectors
        speeds = np.asarray(designed.tuning.autopilot.speeds)
        rate = float(np.interp(speed, speeds, np.asarray(heading.reference.rate_limit)))
        most = np.maximum(np.abs(np.asarray(e.low)), np.abs(np.asarray(e.high))).ravel()
        found.append(
            Drive(
                name,
                vehicle.length,
                speed,
                max(2.0 * speed / rate, 5.0 * vehicle.length),
                vehicle.buoyancy.craft != "surface",
                dict(zip(e.names, most.tolist(), strict=True)),
                any(sensor.type == "imu" for sensor in vehicle.sensors),
                min(STEEPEST, SHARE * steepest(designed.tuning.autopilot, speed)),
                _carried(vehicle),
            )
        )
    return found


def _carried(vehicle: Vehicle) -> tuple[AnySensor, ...]:
    """Its own sensors, and those that bound its position where they do not."""
    kinds = {sensor.type for sensor in vehicle.sensors}
    if vehicle.buoyancy.craft == "surface" or "imu" not in kinds or "gnss" in kinds:
        return vehicle.sensors
    usbl = Usbl(type="usbl", name="usbl", rate=0.5, transponder=TRANSPONDER)
    return (*vehicle.sensors, usbl)


def waypoints(drive: Drive, seed: int, count: int) -> list[list[float]]:
    """A mission, from the origin (and a depth of 8 m under water)."""
    random = generator(seed, f"missions/{drive.name}")
    at = np.array([0.0, 0.0, 8.0 if drive.under_water else 0.0])
    found = []
    for _ in range(count):
        way = drive.circle * random.uniform(NEAREST, FARTHEST)
        course = random.uniform(-math.pi, math.pi)
        sinks = random.uniform(-drive.slope, drive.slope) * way if drive.under_water else 0.0
        at = at + np.array([way * math.cos(course), way * math.sin(course), sinks])
        if drive.under_water:
            at[2] = np.clip(at[2], SHALLOW, DEEP)
        found.append([round(float(x), 2) for x in at])
    return found


def sail_missions(drive: Drive, sea: str, feedback: str, seeds: range, count: int) -> list[Voyage]:
    """The missions of all seeds at once; what is doubtful about them is what is looked for."""
    missions = [waypoints(drive, seed, count) for seed in seeds]
    start = [0.0, 0.0, 8.0 if drive.under_water else 0.0]
    duration = time_given(drive, sea, seeds, count)
    text = """
kind: scenario
name: missions
seed: {seed}
duration: {duration}
frame_period: {frame}
world: {world}
vehicles:
  - name: craft
    vehicle: {vehicle}
    start: {{position: {start}, speed: {speed}}}
    feedback: {feedback}
    failsafes: {{position: null}}
    mission: [{{do: goto, waypoints: {waypoints}}}]
"""
    described = [
        text.format(
            seed=seed,
            frame=FRAME,
            duration=duration,
            world=SEAS[sea],
            vehicle=drive.name,
            start=start,
            speed=0.5 * drive.speed,
            feedback=feedback,
            waypoints=mission,
        )
        for seed, mission in zip(seeds, missions, strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpecWarning)
        plans = [plan_of(_fitted(load_text(one, Scenario), drive)) for one in described]
    kept = [MemoryRecorder() for _ in plans]
    endings = run_batch(plans, [[one] for one in kept])
    return [
        _judge(drive, seed, one.recording(), ending.summary.status)
        for seed, one, ending in zip(seeds, kept, endings, strict=True)
    ]


def time_given(drive: Drive, sea: str, seeds: range, count: int) -> float:
    """Duration of the runs, s: whole minutes."""
    start = [0.0, 0.0, 8.0 if drive.under_water else 0.0]
    drawn = (waypoints(drive, seed, count) for seed in {*TIMED, *seeds})
    ways = (np.diff(np.array([start, *m]), axis=0) for m in drawn)
    stream = STREAM if sea != "calm" else 0.0 * STREAM
    longest = max(float(np.sum(_takes(way, drive.speed, stream))) for way in ways)
    return 60.0 * math.ceil(SLACK * longest / 60.0) + 60.0


def _takes(ways: Array, speed: float, stream: Array) -> Array:
    """(L,) how long legs (L, 3) take, s: c + √(U² − d²) is made good, with a current of c along and
    d across."""
    level = np.maximum(np.linalg.norm(ways[:, :2], axis=1), 1e-9)
    along = ways[:, :2] @ stream / level
    across = stream @ stream - along**2
    made = along + np.sqrt(np.maximum(speed**2 - across, 0.0))
    return np.asarray(np.linalg.norm(ways, axis=1) / np.maximum(made, SLOWEST * speed))


def _fitted(scenario: Scenario, drive: Drive) -> Scenario:
    """The scenario with the sensors that the vehicle carries."""
    craft = scenario.vehicles[0].model_copy(update={"sensors": drive.sensors})
    return scenario.model_copy(update={"vehicles": (craft,)})


def _judge(drive: Drive, seed: int, recording: Any, status: str) -> Voyage:
    info = recording.header.vehicles[0]
    data = recording.vehicle("craft")
    leg, outcome = data["leg"].values.ravel(), data["leg_outcome"].values.ravel()
    position, orders = data["position"].values, data["command"].values
    reached, off = 0, []
    for k, one in enumerate(info.legs):
        ended = np.flatnonzero(leg > k)
        if ended.size and OUTCOMES[int(outcome[ended[0]])] == "reached":
            reached += 1
        sailed = leg == k
        off.append(data["cross_track_error"].values.ravel()[sailed][_late(one, position[sailed])])
    _, x, y, _ = data["attitude"].values.T
    upright = 1.0 - 2.0 * (x * x + y * y)
    lost = 0.0
    if "estimate_position" in data:
        away = data["estimate_position"].values[:, :2] - position[:, :2]
        lost = _rms(np.linalg.norm(away, axis=1))
    efforts, turns = [], []
    minutes = float(data["time"].values[-1]) / 60.0
    for i, actuator in enumerate(info.actuators):
        most = drive.largest.get(actuator.name)
        if not most:
            continue
        share = orders[:, i] / most
        efforts.append(_rms(share))
        if actuator.unit != "rad":
            signs = np.sign(share[np.abs(share) > STILL])
            turns.append(np.count_nonzero(np.diff(signs)) / minutes)
    return Voyage(
        seed,
        len(info.legs),
        reached,
        _rms(np.concatenate(off)),
        _rms(np.concatenate([_swaying(one) for one in off])),
        lost,
        bool(np.any(upright < math.cos(UPSET))) or status == "capsized",
        status,
        float(np.mean(efforts)) if efforts else 0.0,
        float(np.mean(turns)) if turns else 0.0,
    )


def _late(leg: LegInfo, position: Array) -> NDArray[np.bool_]:
    """Where the second half of a leg is sailed."""
    start, end = np.array(leg.start[:2]), np.array(leg.end[:2])
    way = end - start
    length = max(float(np.hypot(*way)), 1e-9)
    along = (position[:, :2] - start) @ way / length
    return np.asarray((along > 0.5 * length) & (along < length))


def _swaying(cross: Array) -> Array:
    """A distance off the track less its mean over the time of `WAVES`; empty for a short leg."""
    width = 1 + round(WAVES / FRAME)
    if cross.size < width:
        return np.empty(0)
    mean = np.convolve(cross, np.full(width, 1.0 / width), mode="valid")
    return np.asarray(cross[width // 2 : width // 2 + mean.size] - mean)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else math.nan
