"""What a scenario puts into the water besides its vehicles, as bodies of the run's scene."""

import math
from collections.abc import Sequence

import numpy as np

from seatrial.engine.scene import Body, Timetable
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.spec import obstacles as spec
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle


def obstacle_bodies(obstacles: Sequence[spec.Obstacle]) -> tuple[Body, ...]:
    """Vessels that keep a timetable and shapes that stand still, named after their place."""
    bodies = []
    for i, obstacle in enumerate(obstacles):
        name = f"obstacle {i + 1}"
        vessel, circle, polygon = obstacle.vessel, obstacle.circle, obstacle.polygon
        if vessel is not None:
            motion = timetable(vessel)
            bodies.append(
                Body(name, "vessel", length=vessel.length, beam=vessel.beam, motion=motion)
            )
        elif circle is not None:
            centre = np.array([circle.centre], np.float64)
            bodies.append(Body(name, "circle", radius=circle.radius, outline=centre))
        elif polygon is not None:
            bodies.append(Body(name, "polygon", outline=np.array(polygon.corners, np.float64)))
    return tuple(bodies)


def timetable(vessel: spec.Vessel) -> Timetable:
    """Where a vessel is when: on her course, or from waypoint to waypoint and on as before."""
    place = np.array(vessel.position, np.float64)
    if not vessel.waypoints:
        course = (math.cos(vessel.course), math.sin(vessel.course))
        velocity = vessel.speed * np.array([course])
        return Timetable(np.zeros(1), place[None], velocity)
    since, position, velocities = [], [], []
    time = 0.0
    for waypoint in vessel.waypoints:
        there = np.array(waypoint.position, np.float64)
        since.append(time)
        position.append(place)
        velocities.append((there - place) / (waypoint.time - time))
        time, place = waypoint.time, there
    return Timetable(np.array(since), np.array(position), np.array(velocities))


def ray_scene(
    scenario: Scenario, vehicles: Sequence[tuple[str, Vehicle]], ocean: Ocean
) -> RayScene:
    """What rays meet: vehicles by name, in their order, then everything else, and the bottom."""
    hulls = [
        Body(name, "vehicle", v.name, length=v.length, beam=v.beam, height=v.height)
        for name, v in vehicles
    ]
    bottom: float | HeightGrid | None = None
    if ocean.seabed is not None:
        depth = ocean.seabed.depth
        bottom = depth if isinstance(depth, HeightGrid) else float(depth)
    seabed = scenario.world.seabed
    material = "sand" if seabed is None else seabed.type
    return RayScene((*hulls, *obstacle_bodies(scenario.obstacles)), bottom, material)
