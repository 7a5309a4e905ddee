"""What a scenario puts into the water besides its vehicles, as bodies of the run's scene."""

import math
from collections.abc import Sequence
from dataclasses import replace

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.surroundings.bodies import timetable, world_bodies
from seatrial.compile.surroundings.body_shapes import NO_BOTTOM, depth_under
from seatrial.compile.surroundings.seabed import Bottom
from seatrial.compile.surroundings.world import build_ocean
from seatrial.geometry.bodies import Body, Timetable
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.rays import RayScene
from seatrial.geometry.terrain import Terrain
from seatrial.geometry.window import Window, with_depths
from seatrial.ocean import Ocean, Seabed
from seatrial.spec import obstacles as spec
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle

ABOVE_WATER = 2.0
"""How far outlines of obstacles reach above the mean level, m."""


def bodies_of(scenario: Scenario, seed: int, bottom: Bottom | None = None) -> tuple[Body, ...]:
    """Everything that is in the water besides the vehicles: the world's bodies, then the
    scenario's obstacles."""
    if not scenario.world.bodies and not scenario.obstacles:
        return ()

    def put(ocean: Ocean) -> tuple[Body, ...]:
        return (
            *world_bodies(scenario.world.bodies, ocean, seed),
            *obstacle_bodies(scenario.obstacles, ocean),
        )

    with jax.enable_x64(True):
        ocean = build_ocean(scenario.world, seed, np.float64, bottom)
        found = put(ocean)
        loaded = None if bottom is None else bottom.loaded
        if loaded is None or loaded.follow is None or _all_over(loaded.part, found):
            return found
        # Vehicles may come to those that stand farther off.
        source = loaded.follow.source
        everything = source.read(Window(*(slice(0, count) for count in source.chart.shape)))
        known, _ = with_depths(everything, source.deepest)
        return put(replace(ocean, seabed=Seabed(known.grid())))


def _all_over(part: Terrain, bodies: Sequence[Body]) -> bool:
    """Whether a part of a map holds all bodies that stay where they are."""
    places = [body.pose(0.0)[0] for body in bodies if body.motion is None]
    return all(bool(part.covers(*place[:2])) for place in places)


def obstacle_bodies(obstacles: Sequence[spec.Obstacle], ocean: Ocean) -> tuple[Body, ...]:
    """Vessels that keep a timetable and shapes that stand still, named after their place."""
    bodies = []
    for i, obstacle in enumerate(obstacles):
        name = f"obstacle {i + 1}"
        vessel, circle, polygon = obstacle.vessel, obstacle.circle, obstacle.polygon
        if vessel is not None:
            bodies.append(
                Body(
                    name,
                    "vessel",
                    length=vessel.length,
                    beam=vessel.beam,
                    height=vessel.beam,
                    motion=vessel_timetable(vessel),
                    attitude=_facing(vessel.course),
                    material="steel",
                )
            )
        elif circle is not None:
            centre = np.array([circle.centre], np.float64)
            body = Body(name, "circle", radius=circle.radius, outline=centre)
            bodies.append(_standing(body, ocean))
        elif polygon is not None:
            corners = np.array(polygon.corners, np.float64)
            bodies.append(_standing(Body(name, "polygon", outline=corners), ocean))
    return tuple(bodies)


def _standing(body: Body, ocean: Ocean) -> Body:
    """An outline from the bottom, or from well below a hull, to above the water."""
    assert body.outline is not None
    north, east = body.outline.mean(axis=0)
    depth = depth_under(ocean, north, east)
    lowest = NO_BOTTOM if depth is None else depth
    return replace(
        body,
        height=lowest + ABOVE_WATER,
        position=np.array([north, east, 0.5 * (lowest - ABOVE_WATER)]),
        material="rock",
    )


def _facing(course: float) -> NDArray[np.float64]:
    return np.array([math.cos(0.5 * course), 0.0, 0.0, math.sin(0.5 * course)])


def vessel_timetable(vessel: spec.Vessel) -> Timetable:
    """Where a vessel is when: on her course, or from waypoint to waypoint and on as before."""
    if vessel.waypoints:
        return timetable(vessel.position, vessel.waypoints)
    course = (math.cos(vessel.course), math.sin(vessel.course))
    velocity = vessel.speed * np.array([course])
    return Timetable(np.zeros(1), np.array([vessel.position], np.float64), velocity)


def hull_of(name: str, vehicle: Vehicle) -> Body:
    """What others see of a vehicle."""
    v = vehicle
    return Body(name, "vehicle", v.name, length=v.length, beam=v.beam, height=v.height)


def ray_scene(
    scenario: Scenario,
    vehicles: Sequence[tuple[str, Vehicle]],
    bodies: Sequence[Body],
    ocean: Ocean,
) -> RayScene:
    """What rays meet: vehicles by name, in their order, then the bodies, and the bottom."""
    hulls = [hull_of(name, vehicle) for name, vehicle in vehicles]
    bottom: float | HeightGrid | None = None
    if ocean.seabed is not None:
        depth = ocean.seabed.depth
        bottom = depth if isinstance(depth, HeightGrid) else float(depth)
    seabed = scenario.world.seabed
    material = "sand" if seabed is None else seabed.type
    return RayScene((*hulls, *bodies), bottom, material)
