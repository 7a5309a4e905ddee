"""The cameras of a scenario, as a dataset lists them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from seatrial.compile.sensors.cameras import lens_of
from seatrial.compile.sensors.fitting import quaternion_of
from seatrial.compile.swarm import members_of
from seatrial.dataset.flight import Mounting, rotate
from seatrial.dataset.making import camera_name
from seatrial.dataset.names import LETTERS, camera_folder
from seatrial.dataset.sequence import Camera
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.sensors import AnySensor
from seatrial.spec.sensors import cameras as spec
from seatrial.spec.vehicle import Vehicle

MOST_VEHICLES = len(LETTERS)


@dataclass(frozen=True)
class Fitted:
    """A camera of a scenario's vehicle."""

    vehicle: int
    """Among all vehicles of the run."""
    owner: str
    described: spec.Camera
    carrier: Vehicle


def cameras_of(scenario: Scenario) -> list[Fitted]:
    """Of all vehicles, in order."""
    found, number = [], 0
    for i, participant in enumerate(scenario.vehicles):
        for member in members_of(participant, i, scenario.seed):
            found += [
                Fitted(number, member.name, sensor, participant.vehicle)
                for sensor in participant.fitted
                if isinstance(sensor, spec.Camera) and sensor.shows == "colour"
            ]
            number += 1
    if not found:
        raise scenario.error(
            ("vehicles",),
            "no vehicle of this scenario carries a camera that shows colour",
            expected="a sensor of `type: camera`, whose `shows` is left out or `colour`",
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


def resized(scenario: Scenario, width: int | None, height: int | None) -> Scenario:
    """Pictures of another size; where one side is given, the other keeps the shape."""
    if width is None and height is None:
        return scenario

    def size(sensor: AnySensor) -> AnySensor:
        if not isinstance(sensor, spec.Camera):
            return sensor
        shape = sensor.height / sensor.width
        wide = width if width is not None else round((height or 0) / shape)
        high = height if height is not None else round(wide * shape)
        fields = {name: getattr(sensor, name) for name in type(sensor).model_fields}
        if sensor.pixel_size is not None:  # the chip stays as large, of fewer and larger pixels
            fields["pixel_size"] = sensor.pixel_size * sensor.width / wide
        return spec.Camera(**fields | {"width": wide, "height": high})

    return with_sensors(scenario, lambda p: tuple(size(s) for s in p.fitted))


def with_sensors(
    scenario: Scenario, sensors: Callable[[Participant], Sequence[AnySensor]]
) -> Scenario:
    """The scenario with other sensors on its vehicles."""
    vehicles = tuple(p.model_copy(update={"sensors": tuple(sensors(p))}) for p in scenario.vehicles)
    return scenario.model_copy(update={"vehicles": vehicles})


def cut(scenario: Scenario, cameras: list[Fitted], frames: int | None) -> Scenario:
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


def listed(fitted: list[Fitted], scenario: Scenario, frames: int | None) -> list[Camera]:
    """As the manifest has them, each with so many frames, or all that the scenario has time for."""
    found: list[Camera] = []
    for one in fitted:
        sensor = one.described
        there = math.floor(scenario.duration * sensor.rate + 1e-6)
        if there == 0:
            raise scenario.error(
                ("duration",),
                f"the scenario ends before `{sensor.name}` has taken a picture and waited for the "
                "next, to which optical flow leads",
                value=scenario.duration,
                expected=f"{1.0 / sensor.rate:g} s at least",
            )
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
                frames=there if frames is None else min(there, frames),
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


def _mounting(sensor: spec.Camera) -> Mounting:
    return Mounting(sensor.position, quaternion_of(sensor))
