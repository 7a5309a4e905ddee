"""Where the vehicles of a scenario can come to, by what it says of them."""

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.legs import legs_of
from seatrial.compile.surroundings.seabed import Bottom, Reach, bottom_of
from seatrial.compile.swarm import members_of
from seatrial.compile.vehicles.limits import own_speed
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.seabed import Seabed
from seatrial.spec.world import Current

Array = NDArray[np.float64]

MARGIN = 200.0
"""Around what vehicles can reach, or do on their missions, m."""
STRAYING = 0.5
"""More room around a mission, as a share of its extent."""


def bottom_within_reach(scenario: Scenario) -> Bottom | None:
    """The bottom of a scenario's world, so far as its vehicles can come."""
    world = scenario.world
    same_everywhere = world.seabed is None or isinstance(world.seabed, Seabed)
    return bottom_of(world, scenario.seed, None if same_everywhere else reach_of(scenario))


def reach_of(scenario: Scenario) -> Reach:
    """Around the waypoints of those with a mission; as far as others can go in the time."""
    low, high, places = [], [], []
    starts: dict[str, tuple[int, Array]] = {}
    for index, participant in enumerate(scenario.vehicles):
        members = members_of(participant, index, scenario.seed)
        begin = np.array([m.position[:2] for m in members], np.float64)
        starts |= {m.name: (index, place) for m, place in zip(members, begin, strict=True)}
        points = np.concatenate([begin, _waypoints(scenario, participant)])
        places.append(points)
        if participant.mission:
            room = MARGIN + STRAYING * float(np.ptp(points, axis=0).max())
        else:
            fastest = max(own_speed(participant.vehicle), abs(participant.start.speed))
            room = MARGIN + (fastest + _drift(scenario.world.current)) * scenario.duration
        low.append(points.min(axis=0) - room)
        high.append(points.max(axis=0) + room)
    return Reach(np.min(low, axis=0), np.max(high, axis=0), np.concatenate(places), starts)


def _waypoints(scenario: Scenario, participant: Participant) -> Array:
    if not participant.mission:
        return np.zeros((0, 2))
    return np.array([leg.end[:2] for leg in legs_of(scenario, participant, 1.0, True)])


def _drift(current: Current | None) -> float:
    if current is None:
        return 0.0
    fastest = current.speed or 0.0
    if current.series is not None:
        fastest = max(abs(speed) for speed in current.series.speed)
    return fastest + sum(part.amplitude for part in current.tide)
