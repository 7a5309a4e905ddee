"""What dense sensors see, for the pilots that steer by it: sweeps to the nearest echo by bearing.

A pilot in the compiled loop cannot look at a cloud. Whenever one of its dense sensors has taken a
sample the loop stops, and of the samples that have arrived the newest is told to it: of all echoes
between the heights of the vehicle, in `echoes.SECTORS` sectors of bearing from its bow, the second
nearest, since a single one may be a drop of rain or the glint of a wave. A vehicle counts as level
here. Of a radar's picture echoes are the cells that stand out of what is usual at their range.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.command.pilot import Pilot
from seatrial.engine.exchange.deliveries import TOLERANCE, Measured
from seatrial.engine.plan import Plan
from seatrial.gnc.avoidance import Told
from seatrial.gnc.avoidance.echoes import SECTORS
from seatrial.sensors.radar.picture import RadarPicture
from seatrial.sensors.ranging.lidar import Lidar
from seatrial.sensors.tap import Tap
from seatrial.signals import Measurements

Array = NDArray[np.float64]

STANDS_OUT = 20.0
"""dB over the median of all azimuths. The power of noise is exponentially distributed, so that it
reaches x times its median with the probability 2^(−x): never so much."""


class _Eye(NamedTuple):
    """A dense sensor that a pilot steers by."""

    fleet: int
    name: str
    sensor: Lidar | RadarPicture
    arm: Array
    turn: Array
    """(3, 3) from the sensor's axes to the body's."""
    above: float
    below: float
    periods: int
    """Control periods from one stop of the loop to the next."""


class Sightings:
    """What the dense sensors of all pilots of a plan have told last."""

    def __init__(self, plan: Plan) -> None:
        self._eyes = [eye for i in range(len(plan.fleets)) for eye in _eyes(plan, i)]
        counts = [fleet.group.count for fleet in plan.fleets]
        dtypes = [fleet.group.initial.velocity.dtype for fleet in plan.fleets]
        self._told = [
            Told(  # NumPy for the program
                np.zeros((3, SECTORS, counts[eye.fleet]), dtypes[eye.fleet]),  # type: ignore[arg-type]
                np.zeros((SECTORS, counts[eye.fleet]), dtypes[eye.fleet]),  # type: ignore[arg-type]
                np.full(counts[eye.fleet], -np.inf),  # type: ignore[arg-type]
            )
            for eye in self._eyes
        ]
        self._waiting: list[list[Measurements]] = [[] for _ in self._eyes]

    def rest(self, now: int) -> int:
        """Control periods from `now` on until pilots must be told something."""
        return min((eye.periods - now % eye.periods for eye in self._eyes), default=1 << 30)

    def take(self, measured: list[Measured], now: float) -> None:
        """Take samples by fleet, and tell the newest that have arrived."""
        for k, (eye, waiting) in enumerate(zip(self._eyes, self._waiting, strict=True)):
            waiting.append(measured[eye.fleet][eye.name])
            places, late, stamp = (np.array(part) for part in self._told[k])
            for samples in waiting:
                here = samples.valid & (samples.arrival <= now + TOLERANCE)
                for row, vehicle in np.argwhere(here):
                    if samples.time[row] > stamp[vehicle] and samples.payload is not None:
                        found = _echoes(eye, samples.payload[row, vehicle])
                        places[:, :, vehicle], late[:, vehicle] = _nearest(found, eye)
                        stamp[vehicle] = samples.time[row]
            self._told[k] = Told(places, late, stamp)  # type: ignore[arg-type]
            waiting[:] = [s for s in waiting if np.any(s.arrival > now + TOLERANCE)]

    def told(self, fleet: int) -> tuple[Told, ...]:
        """What the pilots of a fleet know, eye by eye."""
        eyes = zip(self._eyes, self._told, strict=True)
        return tuple(told for eye, told in eyes if eye.fleet == fleet)


def _eyes(plan: Plan, number: int) -> list[_Eye]:
    fleet = plan.fleets[number]
    pilot = fleet.group.commander
    if not isinstance(pilot, Pilot) or pilot.sight is None:
        return []
    found = []
    for eye in pilot.sight.eyes:
        if eye.beams is None:
            name, fitted = fleet.sensors[eye.place], fleet.group.suite[eye.place]
            sensor, tap = fleet.dense[name], fitted.sensor
            assert isinstance(sensor, Lidar | RadarPicture)
            assert isinstance(tap, Tap)
            substeps = plan.schedule.substeps
            whole = fitted.period % substeps == 0
            found.append(
                _Eye(
                    fleet=number,
                    name=name,
                    sensor=sensor,
                    arm=np.asarray(tap.mount.position, np.float64),
                    turn=np.asarray(tap.mount.matrix, np.float64).reshape(3, 3),
                    above=float(pilot.sight.above),
                    below=float(pilot.sight.below),
                    periods=fitted.period // substeps if whole else 1,
                )
            )
    return found


class Found(NamedTuple):
    """Echoes of a sample."""

    place: Array
    """(3, P) in the sensor's axes as they were then, m."""
    late: Array
    """(P,) when they were heard, from the time of the sample on, s; not above 0."""


def _echoes(eye: _Eye, payload: NDArray[np.float32]) -> Found:
    sensor = eye.sensor
    if isinstance(sensor, RadarPicture):
        return radar_echoes(sensor, payload)
    if sensor.payload.kind == "cloud":
        points = payload[np.isfinite(payload[:, 0])].astype(np.float64)
        return Found(np.ascontiguousarray(points[:, :3].T), points[:, -1])
    there = np.isfinite(payload[0])
    late = np.zeros(len(there)) if sensor.late is None else sensor.late
    return Found(sensor.directions[:, there, 0] * payload[0, there].astype(np.float64), late[there])


def radar_echoes(radar: RadarPicture, levels: NDArray[np.float32]) -> Found:
    """Cells of a radar's picture that stand out, level with the antenna."""
    usual = np.median(levels, axis=0)
    azimuth, cell = np.nonzero(levels > usual + STANDS_OUT)
    distance = (cell + 0.5) * radar.range / radar.bins
    near = distance >= radar.least_range
    azimuth, distance = azimuth[near], distance[near]
    angle = 2.0 * np.pi * azimuth / radar.azimuths
    x, y = distance * np.cos(angle), distance * np.sin(angle)
    late = np.zeros(radar.azimuths) if radar.late is None else radar.late
    return Found(np.stack([x, y, np.zeros_like(x)]), late[azimuth])


def _nearest(echoes: Found, eye: _Eye) -> tuple[Array, Array]:
    """(3, SECTORS) the second nearest echo of each sector in the way, body axes, 0 for none; and
    (SECTORS,) when it was heard."""
    found, late = eye.arm[:, None] + eye.turn @ echoes.place, echoes.late
    if isinstance(eye.sensor, RadarPicture):  # which sees no heights
        found[2] = 0.0
    level = (found[2] >= -eye.above) & (found[2] <= eye.below)
    found, late = found[:, level], late[level]
    distance = np.hypot(found[0], found[1])
    turns = np.mod(np.arctan2(found[1], found[0]) / (2.0 * np.pi), 1.0)
    sector = np.minimum((turns * SECTORS).astype(np.int64), SECTORS - 1)
    order = np.lexsort((distance, sector))
    sector = sector[order]
    second = np.flatnonzero((np.arange(len(sector)) - np.searchsorted(sector, sector, "left")) == 1)
    told, when = np.zeros((3, SECTORS)), np.zeros(SECTORS)
    told[:, sector[second]] = found[:, order[second]]
    when[sector[second]] = late[order[second]]
    return told, when
