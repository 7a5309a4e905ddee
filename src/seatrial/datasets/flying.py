"""A scenario flown for a dataset, with the truth beside every sensor.

Every inertial unit, depth gauge and camera of the scenario is joined by a `ground_truth` sensor of
the same place and rate, which changes nothing for the others; the cameras themselves stay ashore,
and what they would have seen is drawn afterwards from where they were.
"""

import hashlib
from functools import partial

import numpy as np

from seatrial.compile.scenario import plan_of
from seatrial.compile.sensors.cameras import sees_itself
from seatrial.compile.surroundings.site import Site
from seatrial.dataset.flight import NANOSECONDS, Motion, Mounting, Samples
from seatrial.dataset.making import CameraFlight, Flight
from seatrial.dataset.sequence import Camera
from seatrial.datasets.cameras import Fitted, with_sensors
from seatrial.engine import run as running
from seatrial.errors import DatasetError
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import Recording
from seatrial.signals import Measurements
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.sensors import AnySensor
from seatrial.spec.sensors import cameras as spec
from seatrial.spec.sensors.inertial import GroundTruth, Imu
from seatrial.spec.sensors.water import Pressure

IMU_COLUMNS = (
    *(f"a_{axis} [m s^-2]" for axis in "xyz"),
    *(f"w_{axis} [rad s^-1]" for axis in "xyz"),
)
DEPTH_COLUMNS = ("depth [m]",)


def fly(
    scenario: Scenario, names: list[str], fitted: list[Fitted], cameras: list[Camera], site: Site
) -> Flight:
    """Run the scenario of vehicles with these names."""
    rates = sorted({f.described.rate for f in fitted})
    recorder = MemoryRecorder()
    plan = plan_of(with_sensors(scenario, partial(truths_beside, rates=rates)), site=site)
    ending = running.run(plan, [recorder])
    for name, end in ending.summary.vehicles.items():
        if end.ended_at + 1e-9 < scenario.duration:
            raise DatasetError(
                f"`{name}` ended its run after {end.ended_at:g} s ({end.status}), before the last "
                f"frame at {scenario.duration:g} s\n"
                "  expected: a scenario in which all vehicles go on to the end\n"
                "  to mend:  look at it with `seatrial run`, or ask for fewer --frames"
            )
    flown = recorder.recording()
    samples = [one for i, name in enumerate(names) for one in _samples(i, name, flown)]
    seen = []
    for camera, one in zip(cameras, fitted, strict=True):
        truths = {
            name: _motion(flown.samples(name, _truth_of(camera.rate)), camera.frames + 1)
            for name in names
        }
        others, itself = None, sees_itself(one.described, one.carrier)
        if len(truths) > 1 or itself:
            rows = [np.hstack([m.position, m.attitude]) for m in truths.values()]
            others = np.stack(rows, axis=1)
            if not itself:
                others[:, one.vehicle] = np.nan
        seen.append(CameraFlight(camera, truths[one.owner], others))
    return Flight(scenario.name, scenario.seed, tuple(names), tuple(samples), tuple(seen))


def _truth_of(what: str | float) -> str:
    """Name of the sensor that tells the truth beside another, by its name, or as often as a camera
    takes pictures, by its rate: as short as names must be, and none that a person would choose."""
    return f"truth_{hashlib.sha256(repr(what).encode()).hexdigest()[:16]}"


def truths_beside(participant: Participant, rates: list[float]) -> tuple[AnySensor, ...]:
    """The sensors of a vehicle with the truth beside them, and without its cameras."""
    kept: list[AnySensor] = [s for s in participant.fitted if not isinstance(s, spec.Camera)]
    beside: list[AnySensor] = []
    for sensor in kept:
        if isinstance(sensor, Imu | Pressure):
            place = {k: getattr(sensor, k) for k in ("position", "roll", "pitch", "yaw", "rate")}
            turning = isinstance(sensor, Imu) and sensor.earth_rate
            beside.append(
                GroundTruth(
                    type="ground_truth", name=_truth_of(sensor.name), earth_rate=turning, **place
                )
            )
    beside += [GroundTruth(type="ground_truth", name=_truth_of(r), rate=r) for r in rates]
    return (*kept, *beside)


def _motion(truth: Measurements, count: int | None = None) -> Motion:
    """Of the place of a sensor."""
    rows = slice(0, count)
    values = np.asarray(truth.values[rows], np.float64)
    stamp = np.rint(truth.time[rows] * NANOSECONDS).astype(np.int64)
    return Motion(stamp, values[:, :3], values[:, 3:7], values[:, 7:10], values[:, 13:16])


def _samples(vehicle: int, name: str, flown: Recording) -> list[Samples]:
    """Of the inertial units and depth gauges of a vehicle."""
    found: list[Samples] = []
    for sensor in flown.info(name).sensors:
        kind = {"imu": "imu", "pressure": "depth"}.get(sensor.type)
        if kind is None:
            continue
        truth = flown.samples(name, _truth_of(sensor.name))
        exact = np.asarray(truth.values, np.float64)
        measured = flown.samples(name, sensor.name)
        values = np.asarray(measured.values, np.float64)
        if kind == "imu":
            exact, columns = exact[:, 10:16], IMU_COLUMNS
        else:
            exact, columns = exact[:, 2:3], DEPTH_COLUMNS
            place = sensor.components.index("depth")
            values = values[:, place : place + 1]
        noisy = np.where(measured.valid[:, None], values, np.nan)
        mounting = Mounting(sensor.position, sensor.orientation)
        found.append(
            Samples(
                vehicle=vehicle,
                kind=kind,
                number=sum(s.kind == kind for s in found),
                name=sensor.name,
                rate=sensor.rate,
                mounting=mounting,
                columns=columns,
                noisy=noisy,
                exact=exact,
                motion=_motion(truth).without(mounting),
                noise={k: v[0] for k, v in sensor.facts.items() if len(v) == 1},
            )
        )
    return found
