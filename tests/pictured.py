"""Scenes that live renderers are held against each other on."""

import math
from dataclasses import replace

import jax
import numpy as np

from seatrial.compile.surroundings.site import Site
from seatrial.geometry.bodies import Body
from seatrial.geometry.patterns import markers
from seatrial.geometry.rays import RayScene
from seatrial.render.lens import Distortion
from seatrial.render.picture import Lens, Light, Motion, Shot
from seatrial.render.water import medium
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

LENS = Lens(320, 240, 240.0)
BENT = Lens(320, 240, 240.0, Distortion(-0.25, 0.08, 0.0, 0.001, -0.0015))
WORLD = """
kind: scenario
name: scene
seed: 3
duration: 1
time_step: 0.02
world: {world}
vehicles: [{{name: rov, vehicle: bluerov2}}]
"""
BUOYS = """bodies: [
  {name: mark, buoy: {diameter: 1.2, height: 3}, position: [14, 3], afloat: {mooring: 3},
   colour: [0.55, 0.02, 0.02]},
  {name: quay, box: {size: [30, 6, 8]}, position: [40, -14, 0]}]"""
SEA = "wind: {speed: 8, towards_deg: 90}, waves: {spectrum: jonswap, "
SEA_STATE_4 = SEA + "significant_height: 1.9, peak_period: 7, towards_deg: 200}"
CHOP = SEA + "significant_height: 0.3, peak_period: 3, towards_deg: 120}"
LOW_SUN = "light: {sun_elevation_deg: 8, sun_azimuth_deg: 20}"
NOON = "light: {sun_elevation_deg: 55, sun_azimuth_deg: 100}"


def turned(yaw=0.0, pitch=0.0):
    """Quaternion of a heading and then a pitch up, degrees."""
    a, b = 0.5 * math.radians(yaw), 0.5 * math.radians(pitch)
    cy, sy, cp, sp = math.cos(a), math.sin(a), math.cos(b), math.sin(b)
    return np.array([cy * cp, -sy * sp, cy * sp, sy * cp])


def stage_of(world):
    """The stage of a world's description; the vehicle is not seen."""
    described = load_text(WORLD.format(world="{name: scene, " + world + "}"), Scenario)
    with jax.enable_x64(True):
        return Site(described).stage()


def shot_at(position, yaw=0.0, pitch=0.0, lens=LENS, **more):
    return Shot(np.array(position, float), turned(yaw, pitch), more.pop("time", 2.0), lens, **more)


def with_bodies(stage, *bodies):
    """The same with bodies beside the bottom."""
    return replace(stage, rays=RayScene(bodies, stage.rays.bottom))


def board(place, yaw=180.0, pitch=0.0):
    cells = markers(2, 2)
    high, wide = 0.1 * cells.shape[0], 0.1 * cells.shape[1]
    return Body(
        *("board", "box", "board"),
        length=0.02,
        beam=wide,
        height=high,
        position=np.array(place, float),
        attitude=turned(yaw, pitch),
        pattern=cells.astype(np.float64),
    )


def lamp(place, direction=(1.0, 0.0, 0.0)):
    ahead = np.array(direction) / np.linalg.norm(direction)
    return Light(np.array(place, float), ahead, 900.0, math.radians(40.0))


def scenes():
    """Name -> stage and shot."""
    deep = "seabed: {depth: 60}, "
    reef = "seabed: {shape: fractal, depth: 8, relief: 4, extent: [160, 160], spacing: 1}, "
    rocks = "bodies: [{name: rocks, rock: {size: 2}, on_bottom: true, scatter: {count: 12, "
    rocks += "area: [[0, -20], [30, -20], [30, 20], [0, 20]]}}], "
    garden = stage_of(reef + rocks + "water_type: I, " + NOON)
    calm = stage_of("seabed: {depth: 4}, water_type: IB, " + NOON + ", " + BUOYS)
    chop = stage_of(deep + f"{CHOP}, {NOON}, {BUOYS}")
    rough = stage_of(deep + f"{SEA_STATE_4}, {LOW_SUN}, {BUOYS}")
    fog = stage_of(deep + f"{CHOP}, {NOON}, weather: {{visibility: 60}}, {BUOYS}")
    dark = stage_of("seabed: {depth: 30}, water_type: III, light: {sun_elevation_deg: -8}")
    black = with_bodies(dark, board((4.0, 0.4, 24.5), 170.0), _crate((5.0, -1.5, 26.0)))
    pool = stage_of("seabed: {depth: 5}, water_type: I, " + NOON)
    late = np.linspace(-0.02, 0.02, LENS.height)
    sway = Motion(np.array([2.0, 0.5, 0.0]), np.array([0.1, 0.2, 0.6]), late)
    lamps = (lamp((0.2, -0.3, 24.0)), lamp((0.2, 0.3, 24.0), (1.0, -0.1, 0.1)))
    return {
        "low sun, sea state 4": (rough, shot_at((0, 0, -3.0), 5.0, -2.0)),
        "chop": (chop, shot_at((0, 0, -2.0), 0.0, -4.0)),
        "fog": (fog, shot_at((0, 0, -2.0))),
        "calm": (calm, shot_at((0, 0, -2.0), 0.0, -12.0)),
        "lamps": (black, shot_at((0, 0, 24.0), lights=lamps)),
        "reef": (garden, shot_at((0, 0, 2.5), 10.0, -15.0)),
        "reef from above": (garden, shot_at((5, 0, -4.0), 0.0, -50.0)),
        "board": (with_bodies(pool, board((2.5, 0.2, -1.0), 165.0, 10.0)), shot_at((0, 0, -1.2))),
        "board under water": (
            with_bodies(pool, board((2.5, 0.2, 2.0), 165.0, 10.0)),
            shot_at((0, 0, 2.2)),
        ),
        "window": (calm, shot_at((8, 2.0, 3.0), 0.0, 70.0)),
        "window in chop": (chop, shot_at((10, 2.0, 3.0), 0.0, 55.0)),
        "among the waves": (rough, shot_at((0, 0, -0.2))),
        "bent": (chop, shot_at((0, 0, -2.0), 0.0, -4.0, BENT)),
        "rolling": (calm, shot_at((0, 0, -2.0), 0.0, -8.0, motion=sway)),
        "rolling under water": (garden, shot_at((0, 0, 2.5), 10.0, -15.0, motion=sway)),
        "another water": (
            replace(garden, water=medium("3C")),
            shot_at((0, 0, 2.5), 10.0, -15.0),
        ),
    }


def _crate(place):
    size = {"length": 0.8, "beam": 0.8, "height": 0.8}
    return Body("crate", "box", "box", **size, position=np.array(place), attitude=turned(30.0))
