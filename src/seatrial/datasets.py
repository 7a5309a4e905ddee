"""Datasets of scenarios: assembles a flight, its tables and its pictures.

Every inertial unit, depth gauge and camera of the scenario is joined by a `ground_truth` sensor of
the same place and rate, which changes nothing for the others; the cameras themselves stay ashore,
and what they would have seen is drawn afterwards from where they were.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.events.schedule import settle_time_step
from seatrial.compile.scenario import described_by, plan_of
from seatrial.compile.sensors.cameras import lamps_of, lens_of
from seatrial.compile.sensors.fitting import quaternion_of
from seatrial.compile.surroundings.light import stage_of
from seatrial.compile.surroundings.reach import bottom_within_reach
from seatrial.compile.surroundings.scene import bodies_of, ray_scene
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.swarm import members_of
from seatrial.compile.variations import with_overrides
from seatrial.dataset import renderers
from seatrial.dataset.boxes import instances
from seatrial.dataset.drawing import Painter, Viewpoint
from seatrial.dataset.flight import NANOSECONDS, Motion, Mounting, Samples, rotate
from seatrial.dataset.making import (
    CameraFlight,
    Flight,
    Making,
    Settings,
    camera_name,
    draw_sequence,
    manifest_of,
    write_tables,
)
from seatrial.dataset.names import LETTERS, camera_folder
from seatrial.dataset.sequence import Camera, Dataset, read_dataset
from seatrial.engine import run as running
from seatrial.engine.frames import Frames, RunHeader, RunSummary, Scene
from seatrial.errors import DatasetError
from seatrial.render.picture import Stage
from seatrial.render.traced.settings import Bounces, Tracing
from seatrial.signals import Measurements, join
from seatrial.spec.loading import dump
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.sensors import Sensor
from seatrial.spec.sensors import cameras as camera_spec
from seatrial.spec.sensors.base import SensorSpec
from seatrial.spec.sensors.inertial import GroundTruth, Imu
from seatrial.spec.sensors.water import Pressure
from seatrial.spec.vehicle import Vehicle

Array = NDArray[np.float64]

TRUTH = "_truth"
"""What the name of a `ground_truth` sensor ends in, after that of the sensor that it joins."""
MOST_VEHICLES = len(LETTERS)

IMU_COLUMNS = (
    *(f"a_{axis} [m s^-2]" for axis in "xyz"),
    *(f"w_{axis} [rad s^-1]" for axis in "xyz"),
)
DEPTH_COLUMNS = ("depth [m]",)


@dataclass(frozen=True)
class Fitted:
    """A camera of a scenario's vehicle."""

    vehicle: int
    """Among all vehicles of the run."""
    owner: str
    described: camera_spec.Camera
    carrier: Vehicle


def make_dataset(
    scenario: str | Path | Scenario,
    out: str | Path,
    *,
    frames: int | None = None,
    width: int | None = None,
    height: int | None = None,
    renderer: str = "live",
    samples: int | None = None,
    sequence: str = "01",
    seed: int | None = None,
    workers: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Dataset:
    """Fly a scenario and draw what its cameras see into a folder; one that was begun is gone on
    with.

    `frames` is how many each camera takes, all of the scenario's duration when left out. `width`
    and `height` take the place of the cameras' own; their fields of view stay. `renderer` is
    `live` or `traced`, and `samples` are those per pixel of the latter.
    """
    described = _resized(with_overrides(described_by(scenario), seed, None), width, height)
    fitted = _cameras(described)
    described = _cut(described, fitted, frames)
    folder = Path(out)
    chosen = renderers.choose(
        renderer, samples, described.seed, _tracing(described), described.world.marine_snow
    )
    settings = Settings(_sequence(sequence), renderer, chosen.letters, chosen.options)
    stage = _stage(described)
    cameras = _listed(fitted, described)
    text = dump(described)
    wanted = manifest_of(
        {
            "scenario": described.name,
            "seed": described.seed,
            "description_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "vehicles": _names(described),
        },
        settings,
        cameras,
        instances(stage.rays.bodies).classes,
    )
    making = Making(folder, wanted)
    try:
        if making.manifest is None:
            write_tables(making, _flown(described, fitted, cameras), text)
        viewpoints = [
            Viewpoint(
                *(c.mounting, lens_of(f.described), lamps_of(f.carrier)), f.described.exposure_time
            )
            for c, f in zip(cameras, fitted, strict=True)
        ]
        painter = Painter(stage, settings.letters, chosen.make)
        draw_sequence(making, painter, viewpoints, workers, progress)
    finally:
        making.close()
    return read_dataset(folder)


def _tracing(scenario: Scenario) -> Tracing:
    """How paths of light are followed."""
    asked = scenario.path_tracing
    kinds = asked.diffuse_bounces, asked.glossy_bounces, asked.volume_bounces
    return Tracing(asked.samples, Bounces(asked.bounces, *kinds), asked.denoise, asked.spectral)


def _sequence(text: str) -> str:
    if len(text) != 2 or any(letter not in LETTERS for letter in text):
        raise DatasetError(
            f"--sequence {text}: is no number of a sequence\n"
            "  expected: two letters or digits, such as 02"
        )
    return text


def _resized(scenario: Scenario, width: int | None, height: int | None) -> Scenario:
    """Pictures of another size; where one side is given, the other keeps the shape."""
    if width is None and height is None:
        return scenario

    def size(sensor: Sensor) -> Sensor:
        if not isinstance(sensor, camera_spec.Camera):
            return sensor
        shape = sensor.height / sensor.width
        wide = width if width is not None else round((height or 0) / shape)
        high = height if height is not None else round(wide * shape)
        fields = {name: getattr(sensor, name) for name in type(sensor).model_fields}
        if sensor.pixel_size is not None:  # the chip stays as large, of fewer and larger pixels
            fields["pixel_size"] = sensor.pixel_size * sensor.width / wide
        return camera_spec.Camera(**fields | {"width": wide, "height": high})

    return _with_sensors(scenario, lambda p: tuple(size(s) for s in p.fitted))


def _with_sensors(
    scenario: Scenario, sensors: Callable[[Participant], Sequence[Sensor]]
) -> Scenario:
    vehicles = tuple(p.model_copy(update={"sensors": tuple(sensors(p))}) for p in scenario.vehicles)
    return scenario.model_copy(update={"vehicles": vehicles})


def _names(scenario: Scenario) -> list[str]:
    return [
        member.name
        for i, participant in enumerate(scenario.vehicles)
        for member in members_of(participant, i, scenario.seed)
    ]


def _cameras(scenario: Scenario) -> list[Fitted]:
    """Of all vehicles, in order."""
    found, number = [], 0
    for i, participant in enumerate(scenario.vehicles):
        for member in members_of(participant, i, scenario.seed):
            found += [
                Fitted(number, member.name, sensor, participant.vehicle)
                for sensor in participant.fitted
                if isinstance(sensor, camera_spec.Camera) and sensor.shows == "colour"
            ]
            number += 1
    if not found:
        raise scenario.error(
            ("vehicles",),
            "no vehicle of this scenario carries a camera",
            expected="a sensor of `type: camera`",
            mend="add for example `{type: camera, name: camera, rate: 10}` to `sensors`",
        )
    if number > MOST_VEHICLES:
        raise scenario.error(
            ("vehicles",),
            f"a dataset numbers its vehicles by one letter: at most {MOST_VEHICLES}",
            value=number,
            expected=f"at most {MOST_VEHICLES} vehicles",
        )
    return found


def _cut(scenario: Scenario, cameras: list[Fitted], frames: int | None) -> Scenario:
    """As long as it takes for so many frames, and one more."""
    if frames is None:
        return scenario
    needed = max(frames / fitted.described.rate for fitted in cameras)
    if needed > scenario.duration + 1e-9:
        most = math.floor(min(f.described.rate for f in cameras) * scenario.duration + 1e-9)
        raise scenario.error(
            ("duration",),
            f"{frames} frames take {needed:g} s, and the scenario ends after "
            f"{scenario.duration:g} s",
            value=frames,
            expected=f"at most {most} frames",
            mend="ask for fewer --frames, or lengthen the `duration` of the scenario",
        )
    whole = math.ceil(needed / scenario.frame_period - 1e-9) * scenario.frame_period
    return scenario.model_copy(update={"duration": whole})


def _stage(scenario: Scenario) -> Stage:
    """What there is to see."""
    timed = settle_time_step(scenario)
    bottom = bottom_within_reach(timed)
    hulls = [
        (member.name, participant.vehicle)
        for i, participant in enumerate(timed.vehicles)
        for member in members_of(participant, i, timed.seed)
    ]
    with jax.enable_x64(True):
        ocean = build_ocean(timed.world, timed.seed, np.dtype(np.float64), bottom)
        rays = ray_scene(timed, hulls, bodies_of(timed, timed.seed, bottom), ocean)
        return stage_of(timed.world, rays, ocean)


def _listed(fitted: list[Fitted], scenario: Scenario) -> list[Camera]:
    """As the manifest has them."""
    found: list[Camera] = []
    for one in fitted:
        sensor = one.described
        lens = lens_of(sensor)
        mounting = _mounting(sensor)
        ahead = rotate(np.array(mounting.orientation), np.array([1.0, 0.0, 0.0]))
        taken = [c.camera for c in found if c.vehicle == one.vehicle]
        name = camera_name(bool(ahead[2] > math.sqrt(0.5)), _pair(one, fitted), taken)
        k1, k2, k3, p1, p2 = lens.distortion
        found.append(
            Camera(
                folder=camera_folder(one.vehicle, name),
                name=sensor.name,
                vehicle=one.vehicle,
                camera=name,
                rate=sensor.rate,
                frames=math.floor(scenario.duration * sensor.rate + 1e-6),
                width=lens.width,
                height=lens.height,
                intrinsics=(
                    *(lens.focal_length,) * 2,
                    0.5 * (lens.width - 1),
                    0.5 * (lens.height - 1),
                ),
                distortion=(k1, k2, p1, p2, k3),
                mounting=mounting,
            )
        )
    return found


def _pair(one: Fitted, fitted: list[Fitted]) -> str:
    """`R` for a camera with a baseline, `L` for the one that it is beside, else nothing."""
    if one.described.baseline > 0.0:
        return "R"
    place = np.array(one.described.position)
    turn = np.array(_mounting(one.described).orientation)
    for other in fitted:
        sensor = other.described
        if other.vehicle != one.vehicle or sensor.baseline == 0.0:
            continue
        apart = np.array(sensor.position) - place
        beside = rotate(turn, np.array([0.0, sensor.baseline, 0.0]))
        if np.allclose(apart, beside, atol=1e-6):
            return "L"
    return ""


def _mounting(sensor: SensorSpec) -> Mounting:
    return Mounting(sensor.position, quaternion_of(sensor))


def _flown(scenario: Scenario, fitted: list[Fitted], cameras: list[Camera]) -> Flight:
    """Run the scenario with the truth beside every sensor."""
    rates = sorted({f.described.rate for f in fitted})
    keeper = _Keeper()
    plan = plan_of(_with_sensors(scenario, partial(_truths, rates=rates)))
    ending = running.run(plan, [keeper])
    taken = keeper.taken
    names = [v.name for v in plan.header.vehicles]
    order = [names.index(name) for name in _names(scenario)]
    for name, end in ending.summary.vehicles.items():
        if end.ended_at + 1e-9 < scenario.duration:
            raise DatasetError(
                f"`{name}` ended its run after {end.ended_at:g} s ({end.status}), before the last "
                f"frame at {scenario.duration:g} s\n"
                "  expected: a scenario in which all vehicles go on to the end\n"
                "  to mend:  look at it with `seatrial run`, or ask for fewer --frames"
            )
    samples: list[Samples] = []
    for vehicle, index in enumerate(order):
        info = plan.header.vehicles[index]
        samples += _samples(vehicle, info.name, scenario, taken[info.name], plan)
    flown = []
    for camera, one in zip(cameras, fitted, strict=True):
        count = camera.frames + 1
        truths = {
            name: _motion(taken[name][_rate_name(camera.rate)], count) for name in _names(scenario)
        }
        others = None
        if len(truths) > 1:
            rows = [np.hstack([m.position, m.attitude]) for m in truths.values()]
            others = np.stack(rows, axis=1)
            others[:, one.vehicle] = np.nan
        flown.append(CameraFlight(camera, truths[one.owner], others))
    vehicles = tuple(_names(scenario))
    return Flight(scenario.name, scenario.seed, vehicles, tuple(samples), tuple(flown))


class _Keeper:
    """A sink that keeps what was measured, and no frames."""

    def __init__(self) -> None:
        self._blocks: list[Frames] = []

    def open(self, header: RunHeader, scene: Scene) -> None:
        """Start."""

    def write(self, frames: Frames) -> None:
        """Keep a block's measurements."""
        self._blocks.append(frames)

    def close(self, summary: RunSummary) -> None:
        """Finish."""

    @property
    def taken(self) -> dict[str, dict[str, Measurements]]:
        """Samples by vehicle and sensor."""
        first = self._blocks[0].measurements
        return {
            name: {s: join([b.measurements[name][s] for b in self._blocks]) for s in sensors}
            for name, sensors in first.items()
        }


def _rate_name(rate: float) -> str:
    """Of the sensor that tells the truth about a vehicle as often as a camera takes pictures."""
    return f"at_{rate:.6g}_hz".replace(".", "_") + TRUTH


def _truths(participant: Participant, rates: list[float]) -> tuple[Sensor, ...]:
    """The sensors of a vehicle with the truth beside them, and without its cameras."""
    kept: list[Sensor] = [s for s in participant.fitted if not isinstance(s, camera_spec.Camera)]
    beside: list[Sensor] = []
    for sensor in kept:
        if isinstance(sensor, Imu | Pressure):
            place = {k: getattr(sensor, k) for k in ("position", "roll", "pitch", "yaw", "rate")}
            turning = isinstance(sensor, Imu) and sensor.earth_rate
            beside.append(
                GroundTruth(
                    type="ground_truth", name=sensor.name + TRUTH, earth_rate=turning, **place
                )
            )
    beside += [GroundTruth(type="ground_truth", name=_rate_name(r), rate=r) for r in rates]
    return (*kept, *beside)


def _motion(truth: Measurements, count: int | None = None) -> Motion:
    """Of the place of a sensor."""
    rows = slice(0, count)
    values = np.asarray(truth.values[rows], np.float64)
    stamp = np.rint(truth.time[rows] * NANOSECONDS).astype(np.int64)
    return Motion(stamp, values[:, :3], values[:, 3:7], values[:, 7:10], values[:, 13:16])


def _samples(
    vehicle: int,
    name: str,
    scenario: Scenario,
    taken: dict[str, Measurements],
    plan: Any,
) -> list[Samples]:
    """Of the inertial units and depth gauges of a vehicle."""
    info = next(v for v in plan.header.vehicles if v.name == name)
    found: list[Samples] = []
    for sensor in info.sensors:
        kind = {"imu": "imu", "pressure": "depth"}.get(sensor.type)
        if kind is None:
            continue
        truth = taken[sensor.name + TRUTH]
        exact = np.asarray(truth.values, np.float64)
        measured = taken[sensor.name]
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
