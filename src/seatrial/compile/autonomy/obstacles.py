"""Descriptions of obstacles and of avoidance to what runs in the loop."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.navigation.aids import matrix_of
from seatrial.compile.padding import room_for
from seatrial.compile.surroundings.contact import keel_depth
from seatrial.compile.surroundings.scene import vessel_timetable
from seatrial.engine.compiled.traffic import Passing
from seatrial.gnc.avoidance import Avoidance, Circles, Ear, Eye, Polygons, Sight, Targets, Watch
from seatrial.gnc.avoidance.roles import PATIENCE
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.pytree import constant
from seatrial.signals import SensorInfo
from seatrial.spec import obstacles as spec
from seatrial.spec.sensors.base import SensorSpec
from seatrial.spec.sensors.contacts import Ais, Radar
from seatrial.spec.sensors.optical import Lidar
from seatrial.spec.sensors.ranging import ObstacleSonar
from seatrial.spec.sensors.sonar import RadarImage
from seatrial.spec.vehicle import Vehicle

Array = NDArray[np.float64]

CLEARANCE_IN_LENGTHS = 5.0
LEAST_TIMEOUT = 10.0
REPORTS_TO_BELIEVE = 2.0
"""Reports until a turn shows: `tracking.FOLLOWS` of it with each."""
HEADROOM = 0.5
"""An echo so much higher or deeper than the vehicle is still in its way, m."""
REPORTS_MISSED = 5.0
"""A vessel is forgotten after so many reports were missed, and not before so many seconds."""
_DOUBLE = np.dtype(np.float64)


class Turning(NamedTuple):
    """How a vehicle takes up a new course."""

    rate: float
    """rad/s."""
    lag: float
    """s."""


def turning_of(autopilot: Autopilot, speed: float) -> Turning:
    """As the heading loop was designed: its reference model at this speed through the water.

    A turn with limited acceleration a to the rate r is r / 2a late, and the vehicle follows the
    reference by about 1 / ω of its bandwidth.
    """
    if autopilot.heading is None:
        return Turning(0.15, 1.0)
    grid = np.asarray(autopilot.speeds, np.float64)
    reference = autopilot.heading.reference
    rate, most, bandwidth = (
        float(np.interp(speed, grid, np.asarray(part, np.float64)))
        for part in (
            reference.rate_limit,
            reference.acceleration_limit,
            reference.bandwidth,
        )
    )
    return Turning(rate, 0.5 * rate / most + 1.0 / bandwidth)


def build_watch(
    described: spec.Avoidance, sensors: Sequence[SensorSpec], boxes: Sequence[int]
) -> Watch | None:
    """What listens to the AIS receivers and radars among a vehicle's sensors; None without any.

    `boxes` is how many samples of each sensor may be on their way at once.
    """
    ears, lags, room = [], [], 0
    for place, sensor in enumerate(sensors):
        if isinstance(sensor, Ais | Radar):
            ears.append(
                Ear(
                    arm=constant(sensor.position),
                    yaw=constant(sensor.yaw),
                    kind=sensor.type,
                    place=place,
                    box=max(1, boxes[place]),
                )
            )
            lags.append(sensor.latency + REPORTS_TO_BELIEVE / sensor.rate)
            room = max(room, sensor.contacts)
    if not ears:
        return None
    timeout = described.timeout
    if timeout is None:
        rate = min(sensors[ear.place].rate for ear in ears)
        timeout = max(LEAST_TIMEOUT, REPORTS_MISSED / rate)
    return Watch(
        timeout=constant(timeout),
        lag=constant(min(lags)),
        ears=tuple(ears),
        tracks=2 * room,
    )


def build_sight(
    described: spec.Avoidance,
    vehicle: Vehicle,
    sensors: Sequence[SensorSpec],
    infos: Sequence[SensorInfo],
    boxes: Sequence[int],
    dtype: np.dtype[Any],
) -> Sight | None:
    """What sees solids among a vehicle's sensors; None without any.

    `boxes` is how many samples of each sensor may be on their way at once.
    """
    eyes = []
    for place, (sensor, info) in enumerate(zip(sensors, infos, strict=True)):
        beams = None
        if isinstance(sensor, ObstacleSonar):
            rays = np.array([info.facts[f"beam_{k + 1}"] for k in range(sensor.beams)])
            beams = constant(rays @ matrix_of(info).T, dtype)
        elif not isinstance(sensor, Lidar | RadarImage):
            continue
        arm = constant(info.position, dtype)
        eyes.append(Eye(arm=arm, beams=beams, place=place, box=max(1, boxes[place])))
    if not eyes:
        return None
    keel = keel_depth(vehicle)
    return Sight(
        memory=constant(described.memory),
        above=constant(vehicle.height - keel + HEADROOM, dtype),
        below=constant(keel + HEADROOM, dtype),
        margin=constant(described.margin, dtype),
        eyes=tuple(eyes),
    )


def build_passing(obstacles: Sequence[spec.Obstacle]) -> Passing | None:
    """The vessels on a timetable as those see them who look for others; None without any."""
    vessels = [o.vessel for o in obstacles if o.vessel is not None]
    targets = build_targets(vessels, 1, np.dtype(np.float64))
    if targets is None:
        return None
    room = targets.radius.shape[0] - len(vessels)  # rows that keep the shape stand for nobody
    return Passing(
        targets=targets,
        length=constant([*(v.length for v in vessels), *[0.0] * room]),
        beam=constant([*(v.beam for v in vessels), *[0.0] * room]),
    )


def build_avoidance(
    described: spec.Avoidance,
    obstacles: Sequence[spec.Obstacle],
    length: float,
    beam: float,
    vehicles: int,
    dtype: np.dtype[Any],
    turning: Turning,
    watch: Watch | None,
    slowest: float | None = None,
) -> Avoidance:
    """Build the avoidance of `vehicles` of one kind, all among the same obstacles.

    A vehicle with a `watch` keeps clear of those that it hears or sees, and waits longer for a turn
    to show in their reports; one without knows the timetables of the scenario's vessels. Below
    `slowest`, m/s, it is not to go, where that is given. Call inside `jax.enable_x64(True)`: times
    and the tracks of vessels are always double.
    """
    clearance = described.clearance
    return Avoidance(
        radius=constant(_radius(described.safety_radius, length, beam), dtype),
        clearance=constant(
            CLEARANCE_IN_LENGTHS * length if clearance is None else clearance, dtype
        ),
        horizon=constant(described.horizon, dtype),
        shape_horizon=constant(described.shape_horizon, dtype),
        reaction=constant(described.reaction, dtype),
        patience=constant(PATIENCE + (0.0 if watch is None else float(watch.lag)), dtype),
        lag=constant(turning.lag if described.lag is None else described.lag, dtype),
        turn_rate=constant(
            turning.rate if described.turn_rate is None else described.turn_rate, dtype
        ),
        targets=None
        if watch is not None
        else build_targets([o.vessel for o in obstacles if o.vessel is not None], vehicles, dtype),
        circles=_circles([o.circle for o in obstacles if o.circle is not None], vehicles, dtype),
        polygons=_polygons(
            [o.polygon for o in obstacles if o.polygon is not None], vehicles, dtype
        ),
        period=described.period,
        slowest=None if slowest is None else constant(slowest, dtype),
    )


def _radius(given: float | None, length: float, beam: float) -> float:
    return math.hypot(length, beam) if given is None else given


def build_targets(
    vessels: Sequence[spec.Vessel], vehicles: int, dtype: np.dtype[Any]
) -> Targets | None:
    """The scenario's vessels, the same for every vehicle; `contacts` says where they are."""
    if not vessels:
        return None
    stretches = room_for(max(len(v.waypoints) for v in vessels))
    since = np.full((stretches, len(vessels)), np.inf)
    position, velocity = np.zeros((2, stretches, 2, len(vessels)))
    for k, vessel in enumerate(vessels):
        way = vessel_timetable(vessel)
        count = len(way.since)
        since[:count, k] = way.since
        position[:count, :, k], velocity[:count, :, k] = way.position, way.velocity
    radius = np.array([_radius(v.safety_radius, v.length, v.beam) for v in vessels])
    return Targets(
        since=_for_all(since, vehicles, _DOUBLE),
        position=_for_all(position, vehicles, _DOUBLE),
        velocity=_for_all(velocity, vehicles, _DOUBLE),
        radius=_for_all(radius, vehicles, dtype),
    )


def _circles(circles: list[spec.Circle], vehicles: int, dtype: np.dtype[Any]) -> Circles | None:
    if not circles:
        return None
    return Circles(
        centre=_for_all(np.array([c.centre for c in circles]).T, vehicles, dtype),
        radius=_for_all(np.array([c.radius for c in circles]), vehicles, dtype),
        margin=_for_all(np.array([c.margin for c in circles]), vehicles, dtype),
    )


def _polygons(polygons: list[spec.Polygon], vehicles: int, dtype: np.dtype[Any]) -> Polygons | None:
    if not polygons:
        return None
    planes = [half_planes(np.array(p.corners)) for p in polygons]
    most = room_for(max(len(offset) for _, offset in planes))
    normal, offset = np.zeros((most, 2, len(planes))), np.zeros((most, len(planes)))
    for s, (n, c) in enumerate(planes):
        normal[: len(c), :, s], offset[: len(c), s] = n, c
    return Polygons(
        normal=_for_all(normal, vehicles, dtype),
        offset=_for_all(offset, vehicles, dtype),
        margin=_for_all(np.array([p.margin for p in polygons]), vehicles, dtype),
    )


def half_planes(corners: Array) -> tuple[Array, Array]:
    """Outward unit normals (E, 2) and offsets (E,) of a convex polygon's edges, then its corners.

    The plane at a corner touches it there. It adds nothing to the shape itself, but when all planes
    are moved out by a margin it cuts off what would stick out: far, at a sharp corner.
    """
    following = np.roll(corners, -1, axis=0)
    edge = following - corners
    area = np.sum(corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0])
    outward = np.sign(area) * np.stack([edge[:, 1], -edge[:, 0]], axis=1)
    normal = outward / np.linalg.norm(outward, axis=1, keepdims=True)
    between = normal + np.roll(normal, 1, axis=0)
    bevel = between / np.linalg.norm(between, axis=1, keepdims=True)
    normals = np.concatenate([normal, bevel])
    return normals, np.sum(normals * np.concatenate([corners, corners]), axis=1)


def _for_all(values: Array, vehicles: int, dtype: np.dtype[Any]) -> jax.Array:
    """The same values for every vehicle, on a last axis."""
    return constant(np.repeat(values[..., None], vehicles, axis=-1), dtype)
