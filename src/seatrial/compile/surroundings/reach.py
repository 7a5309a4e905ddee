"""Where the vehicles of a scenario can come to, by what it says of them."""

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.legs import legs_of
from seatrial.compile.surroundings.loading import MARGIN, Reach
from seatrial.compile.surroundings.seabed import Bottom, bottom_of
from seatrial.compile.swarm import members_of
from seatrial.compile.vehicles.limits import own_speed
from seatrial.geometry.terrain import Terrain
from seatrial.geometry.window import window, with_depths
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.seabed import Seabed
from seatrial.spec.sensors.cameras import DepthCamera
from seatrial.spec.sensors.optical import Lidar
from seatrial.spec.sensors.ranging import ObstacleSonar
from seatrial.spec.sensors.sonar import RadarImage, Sonar
from seatrial.spec.sensors.water import Dvl
from seatrial.spec.world import Current

Array = NDArray[np.float64]

STRAYING = 0.5
"""More room around a mission, as a share of its extent."""


def bottom_within_reach(scenario: Scenario) -> Bottom | None:
    """The bottom of a scenario's world, so far as its vehicles can come."""
    world = scenario.world
    same_everywhere = world.seabed is None or isinstance(world.seabed, Seabed)
    return bottom_of(world, scenario.seed, None if same_everywhere else reach_of(scenario))


def beyond_start(scenario: Scenario, bottom: Bottom) -> Terrain | None:
    """All of a map that the vehicles can reach; None where a run begins with that."""
    if bottom.loaded is None or bottom.loaded.follow is None:
        return None
    reach, source = reach_of(scenario), bottom.loaded.follow.source
    wanted = window(source.chart, reach.low, reach.high)
    if wanted.counts == bottom.loaded.part.depth.shape:
        return None
    return with_depths(source.read(wanted), source.deepest)[0]


def reach_of(scenario: Scenario) -> Reach:
    """Around the waypoints of those with a mission; as far as others can go in the time."""
    low, high, places = [], [], []
    fastest = 0.0
    starts: dict[str, tuple[int, Array]] = {}
    for index, participant in enumerate(scenario.vehicles):
        members = members_of(participant, index, scenario.seed)
        begin = np.array([m.position[:2] for m in members], np.float64)
        starts |= {m.name: (index, place) for m, place in zip(members, begin, strict=True)}
        points = np.concatenate([begin, _waypoints(scenario, participant)])
        places.append(points)
        own = max(own_speed(participant.vehicle), abs(participant.start.speed))
        over_ground = own + _drift(scenario.world.current)
        fastest = max(fastest, over_ground)
        if participant.mission:
            room = MARGIN + STRAYING * float(np.ptp(points, axis=0).max())
        else:
            room = MARGIN + over_ground * scenario.duration
        low.append(points.min(axis=0) - room)
        high.append(points.max(axis=0) + room)
    return Reach(
        np.min(low, axis=0),
        np.max(high, axis=0),
        np.concatenate(places),
        starts,
        fastest,
        _sight(scenario),
    )


def _sight(scenario: Scenario) -> float:
    """Longest range of the sensors that look about them; those that look down see what is near."""
    found = [0.0]
    for sensor in (s for participant in scenario.vehicles for s in participant.fitted):
        if isinstance(sensor, Sonar | RadarImage | ObstacleSonar | DepthCamera):
            found.append(sensor.range)
        elif isinstance(sensor, Lidar):
            found.append(sensor.model.range)
        elif isinstance(sensor, Dvl):
            found.append(sensor.maximum_altitude)
    return max(found)


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
