"""Tasks that ask for an altitude, to a pilot that follows the bottom; refuses what cannot work."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from seatrial.compile.autonomy.failsafes import action_of
from seatrial.compile.autonomy.legs import Leg
from seatrial.compile.autonomy.navigation.aids import matrix_of
from seatrial.compile.sensors.fitting import samples_underway
from seatrial.compile.swarm import Member
from seatrial.errors import SpecError
from seatrial.geometry.grid import HeightGrid
from seatrial.gnc.control.loops import Dive
from seatrial.gnc.failsafes import CODE
from seatrial.gnc.guidance.terrain import Lookout, Sounder, Terrain
from seatrial.ocean import Ocean
from seatrial.pytree import constant
from seatrial.signals import SensorInfo
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.sensors.ranging import Altimeter, ObstacleSonar
from seatrial.spec.sensors.water import Dvl

if TYPE_CHECKING:
    from seatrial.design.tuning import Tuning

DType = np.dtype[Any]

SLOPE, LENGTH = 0.2, 30.0
"""Standard deviation of the slope of a bottom, and the distance over which it changes, m; a rough
shelf. They set how much a sounding counts against those before it."""

AHEAD = 10.0
"""How far ahead a vehicle that cannot climb as steeply as the bottom looks, s."""

LEAD = 0.5
"""Of the altitude where the bottom rises, in time constants of the depth's reference model."""

LAG = 2.0
"""Time in which a vehicle begins to climb, in time constants of the depth's reference model."""

IN_HAND = 0.7
"""Share of its steepest climb with which a vehicle plans to climb over what it sees ahead."""

UNSURE = 0.1
"""Standard deviation of a range beside its own noise, m: bottoms are no planes."""


class Span(NamedTuple):
    """Altitudes at which a sensor hears the bottom, m."""

    least: float
    most: float


def build_terrain(
    scenario: Scenario,
    members: Sequence[Member],
    missions: Mapping[int, Sequence[Leg]],
    infos: Sequence[SensorInfo],
    tuning: "Tuning",
    ocean: Ocean,
    dtype: DType,
) -> Terrain | None:
    """Of vehicles of one kind; None where none of their missions asks for an altitude."""
    if all(math.isnan(leg.altitude) for legs in missions.values() for leg in legs):
        return None
    first = members[0].participant
    climb, fastest = math.inf, 0.0
    for index, legs in missions.items():
        for leg in legs:
            if not math.isnan(leg.altitude):
                _check(scenario, index, leg, ocean)
                climb = min(climb, _climb(tuning, leg.speed))
                fastest = max(fastest, leg.speed)
    sounders = () if first.feedback == "truth" else tuple(_sounders(first, infos, dtype))
    return Terrain(
        slope=constant(SLOPE, dtype),
        length=constant(LENGTH, dtype),
        lead=constant(LEAD / _bandwidth(tuning), dtype),
        climb=constant(climb, dtype),
        ahead=constant(AHEAD, dtype),
        sounders=sounders,
        lookout=_lookout(first, infos, tuning, fastest, dtype),
    )


def _climb(tuning: "Tuning", speed: float) -> float:
    """Steepest climb at a speed, m per m; infinite for a vehicle that can slow down for it."""
    depth = tuning.autopilot.depth
    if not isinstance(depth, Dive):
        return math.inf
    rates = np.asarray(depth.reference.rate_limit)
    return float(np.interp(speed, np.asarray(tuning.autopilot.speeds), rates)) / speed


def _bandwidth(tuning: "Tuning") -> float:
    """Of the depth's reference model at the service speed, rad/s."""
    depth, speeds = tuning.autopilot.depth, np.asarray(tuning.autopilot.speeds)
    assert depth is not None  # it dives
    return float(np.interp(tuning.trim.speed, speeds, np.asarray(depth.reference.bandwidth)))


def deepest_of(leg: Leg, ocean: Ocean) -> float:
    """Deepest place of a leg, m."""
    depth = float(leg.end[2])
    if math.isnan(leg.altitude) or ocean.seabed is None:
        return depth
    return max(depth, _deepest(ocean.seabed.depth) - leg.altitude)


def _deepest(depth: jax.Array | HeightGrid) -> float:
    return float(np.nanmax(np.asarray(depth.depth if isinstance(depth, HeightGrid) else depth)))


def _sounders(
    participant: Participant, infos: Sequence[SensorInfo], dtype: DType
) -> Iterator[Sounder]:
    for place, (sensor, info) in enumerate(zip(participant.fitted, infos, strict=True)):
        if isinstance(sensor, Dvl):
            beams = [info.facts[f"beam_{k + 1}"] for k in range(4)]
            share = 0.0 if sensor.fidelity == "ideal" else sensor.range_noise
            noise, first = (UNSURE, share), info.components.index("range_1")
        elif isinstance(sensor, Altimeter):
            beams = [(0.0, 0.0, 1.0)]
            noise, first = (math.hypot(UNSURE, info.deviation[0]), 0.0), 0
        else:
            continue
        yield Sounder(
            arm=constant(info.position, dtype),
            beams=constant(np.array(beams) @ matrix_of(info).T, dtype),
            noise=constant(noise, dtype),
            first=first,
            place=place,
            box=max(1, samples_underway(participant, sensor)),
        )


def _lookout(
    participant: Participant,
    infos: Sequence[SensorInfo],
    tuning: "Tuning",
    speed: float,
    dtype: DType,
) -> Lookout | None:
    """The first sonar that looks ahead with an upright fan; None without one."""
    for place, (sensor, info) in enumerate(zip(participant.fitted, infos, strict=True)):
        if isinstance(sensor, ObstacleSonar):
            beams = np.array([info.facts[f"beam_{k + 1}"] for k in range(sensor.beams)])
            beams = beams @ matrix_of(info).T
            if np.ptp(beams[:, 1]) > np.ptp(beams[:, 2]):
                continue  # what a level fan sees is to be gone round, not over
            return Lookout(
                arm=constant(info.position, dtype),
                beams=constant(beams, dtype),
                climb=constant(_rise(tuning, speed), dtype),
                lag=constant(LAG / _bandwidth(tuning), dtype),
                place=place,
                box=max(1, samples_underway(participant, sensor)),
            )
    return None


def _rise(tuning: "Tuning", speed: float) -> float:
    """How steeply a vehicle climbs at a speed, with something in hand, m per m."""
    depth, speeds = tuning.autopilot.depth, np.asarray(tuning.autopilot.speeds)
    assert depth is not None  # it dives
    rates = np.asarray(depth.reference.rate_limit)
    return IN_HAND * float(np.interp(speed, speeds, rates)) / speed


def _spans(participant: Participant) -> Iterator[Span]:
    for sensor in participant.fitted:
        if isinstance(sensor, Dvl):
            yield Span(sensor.minimum_altitude, sensor.maximum_altitude)
        elif isinstance(sensor, Altimeter):
            yield Span(sensor.minimum_range, sensor.range)


def _check(scenario: Scenario, index: int, leg: Leg, ocean: Ocean) -> None:
    """Refuse an altitude that the vehicle cannot keep or cannot know."""
    participant = scenario.vehicles[index]
    vehicle, altitude = participant.vehicle, leg.altitude

    def refuse(message: str, expected: str, mend: str) -> SpecError:
        path = ("vehicles", index, "mission", leg.task, "altitude")
        return SpecError(
            scenario.problem(path, message, value=altitude, expected=expected, mend=mend)
        )

    if vehicle.buoyancy.craft != "submerged":
        raise refuse(
            f"{vehicle.name} floats, and keeps no altitude over the bottom",
            "a vehicle that dives",
            "leave out `altitude`, or choose a vehicle that dives",
        )
    if ocean.seabed is None:
        raise refuse(
            "there is no bottom in this world",
            "a world with a `seabed`",
            "give the world a `seabed`, or the task a `depth`",
        )
    deepest = _deepest(ocean.seabed.depth)
    if altitude >= deepest:
        raise refuse(
            f"{altitude:g} m over the bottom is out of the water, which is {deepest:g} m deep",
            f"less than {deepest:g} m",
            "give the task less `altitude`, or the world a deeper `seabed`",
        )
    floor, leaves = participant.failsafes.altitude, action_of(participant, "altitude")
    if floor is not None and altitude <= floor.limit and leaves >= CODE["hold"]:
        raise refuse(
            "it is less than the failsafe `altitude` allows",
            f"more than {floor.limit:g} m",
            "give the task more `altitude`, or lower `failsafes.altitude.limit`",
        )
    if participant.feedback == "truth":
        return
    spans = list(_spans(participant))
    if not spans:
        raise refuse(
            f"`{participant.name}` has no sensor that tells its altitude",
            "a sensor of type dvl or altimeter",
            "add `{type: altimeter, name: altimeter, rate: 5}` to its `sensors`, or say "
            "`feedback: truth`",
        )
    if not any(span.least < altitude < span.most for span in spans):
        told = " or ".join(f"{span.least:g} to {span.most:g} m" for span in spans)
        raise refuse(
            "its sensors do not hear the bottom from there",
            f"an altitude of {told}",
            "change `altitude`, or fit a sensor that reaches farther",
        )
