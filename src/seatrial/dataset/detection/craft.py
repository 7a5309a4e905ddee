"""What a detector is to find, built of plain shapes: lateral buoys, a cardinal mark, vessels.

Axes are forward, starboard, down, with the origin on the waterline. Colours are linear albedos. The
buoys are those of IALA's region A: red cans to port, green cones to starboard, yellow spheres for
special purposes; the mark is a north cardinal, black over yellow with two cones pointing up.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry import mesh as meshes
from seatrial.geometry.bodies import Body
from seatrial.geometry.mesh import Mesh

Array = NDArray[np.float64]
Colour = tuple[float, float, float]

CLASSES = ("red_buoy", "green_buoy", "yellow_buoy", "marker", "vessel")
"""In the order of their numbers."""

RED: Colour = (0.55, 0.02, 0.02)
GREEN: Colour = (0.01, 0.30, 0.06)
YELLOW: Colour = (0.75, 0.50, 0.01)
BLACK: Colour = (0.015, 0.015, 0.015)
WHITE: Colour = (0.78, 0.78, 0.75)
HULLS: tuple[Colour, ...] = (
    (0.70, 0.70, 0.68),
    (0.02, 0.05, 0.16),
    (0.02, 0.02, 0.025),
    (0.45, 0.04, 0.03),
    (0.05, 0.16, 0.22),
    (0.60, 0.22, 0.03),
)
"""Painted, from white to orange."""

SIDES = 28


def turned(profile: list[tuple[float, float]]) -> Mesh:
    """A body of revolution: radii and depths from its top down, closed at both ends."""
    radius, depth = np.array(profile).T
    angle = 2.0 * math.pi * np.arange(SIDES) / SIDES
    rings = [
        np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(SIDES, z)])
        for r, z in zip(radius, depth, strict=True)
    ]
    i = np.arange(SIDES)
    j = (i + 1) % SIDES
    faces = []
    for k in range(len(rings) - 1):
        a, b = k * SIDES, (k + 1) * SIDES
        faces += [np.stack([a + i, a + j, b + j], axis=1), np.stack([a + i, b + j, b + i], axis=1)]
    top, bottom = len(rings) * SIDES, len(rings) * SIDES + 1
    last = (len(rings) - 1) * SIDES
    faces.append(np.stack([np.full(SIDES, top), j, i], axis=1))
    faces.append(np.stack([np.full(SIDES, bottom), last + i, last + j], axis=1))
    ends = [[0.0, 0.0, depth[0]], [0.0, 0.0, depth[-1]]]
    return Mesh(np.concatenate([*rings, ends]), np.concatenate(faces).astype(np.int64))


def part(name: str, mesh: Mesh, colour: Colour, material: str = "plastic") -> Body:
    """A painted piece of something."""
    return Body(
        name,
        "mesh",
        material=material,
        vertices=mesh.vertices,
        faces=mesh.faces.astype(np.float64),
        colour=np.array(colour),
    )


def red_buoy(random: np.random.Generator) -> list[Body]:
    """A can with a mast and a square topmark."""
    w = random.uniform(0.35, 0.75)
    body = turned([(w, -1.6 * w), (w, 0.9 * w), (0.4 * w, 1.4 * w)])
    mast = turned([(0.12 * w, -3.4 * w), (0.12 * w, -1.5 * w)])
    can = turned([(0.32 * w, -4.1 * w), (0.32 * w, -3.3 * w)])
    return [part("/body", meshes.merged([body, mast, can]), RED)]


def green_buoy(random: np.random.Generator) -> list[Body]:
    """A cone on a float, with a cone for its topmark."""
    w = random.uniform(0.35, 0.75)
    body = turned([(0.12 * w, -2.6 * w), (w, 0.1 * w), (w, 0.9 * w), (0.4 * w, 1.4 * w)])
    mast = turned([(0.08 * w, -3.5 * w), (0.08 * w, -2.5 * w)])
    cone = turned([(0.02 * w, -4.3 * w), (0.36 * w, -3.4 * w)])
    return [part("/body", meshes.merged([body, mast, cone]), GREEN)]


def yellow_buoy(random: np.random.Generator) -> list[Body]:
    """A sphere, two thirds of it in the air."""
    r = random.uniform(0.4, 0.9)
    ball = meshes.sphere(r, 14)
    return [part("/body", Mesh(ball.vertices - [0.0, 0.0, 0.4 * r], ball.faces), YELLOW)]


def marker(random: np.random.Generator) -> list[Body]:
    """A spar of black over yellow with two black cones."""
    h, r = random.uniform(3.0, 5.5), random.uniform(0.18, 0.3)
    cones = [
        turned([(0.02, -h - top), (2.2 * r, -h - top + 3.6 * r)]) for top in (4.0 * r, 8.0 * r)
    ]
    stem = turned([(0.5 * r, -h - 4.5 * r), (0.5 * r, -h)])
    upper = turned([(r, -h), (r, -0.5 * h)])
    lower = turned([(r, -0.5 * h), (r, 1.0)])
    return [
        part("/upper", meshes.merged([*cones, stem, upper]), BLACK),
        part("/lower", lower, YELLOW),
    ]


def vessel(random: np.random.Generator) -> list[Body]:
    """A workboat or motor yacht: a flared hull, a house, windows and a mast."""
    length = random.uniform(6.0, 16.0)
    beam, free, draught = 0.3 * length, 0.105 * length + 0.35, 0.06 * length + 0.2
    hull = _hull(length, beam, free, draught)
    paint = HULLS[random.integers(len(HULLS))]
    aft = random.uniform(-0.28, 0.02) * length
    long, wide, high = 0.32 * length, 0.62 * beam, 0.11 * length + 0.7
    floor = -0.92 * free
    house = _put(_house(long, wide, high), (aft, 0.0, floor))
    glass = _put(
        meshes.box((long * 0.86, wide * 1.02, 0.3 * high)), (aft, 0.0, floor - 0.68 * high)
    )
    front = _put(
        meshes.box((0.05 * long, 0.8 * wide, 0.3 * high)),
        (aft + 0.47 * long, 0.0, floor - 0.68 * high),
    )
    mast = _put(turned([(0.05, -0.16 * length), (0.09, 0.0)]), (aft, 0.0, floor - high))
    rail = _put(meshes.box((0.5 * length, 0.9 * beam, 0.06)), (-0.2 * length, 0.0, -free - 0.05))
    return [
        part("/hull", hull, paint, "steel"),
        part("/house", meshes.merged([house, mast, rail]), WHITE, "aluminium"),
        part("/windows", meshes.merged([glass, front]), BLACK),
    ]


MAKERS = {
    "red_buoy": red_buoy,
    "green_buoy": green_buoy,
    "yellow_buoy": yellow_buoy,
    "marker": marker,
    "vessel": vessel,
}


def placed(parts: list[Body], name: str, kind: str, place: Array, attitude: Array) -> list[Body]:
    """Parts of one thing, named after it, where it floats."""
    return [
        replace(p, name=f"{name}{p.name}", kind=kind, position=place, attitude=attitude)
        for p in parts
    ]


def _put(mesh: Mesh, where: tuple[float, float, float]) -> Mesh:
    return Mesh(mesh.vertices + np.array(where), mesh.faces)


def _house(long: float, wide: float, high: float) -> Mesh:
    """A house that narrows to its roof, with a raked front; its floor is at 0."""
    floor = np.array([[-0.5, -0.5], [-0.5, 0.5], [0.5, 0.5], [0.5, -0.5]]) * (long, wide)
    roof = np.array([[-0.48, -0.44], [-0.48, 0.44], [0.3, 0.44], [0.3, -0.44]]) * (long, wide)
    vertices = np.concatenate(
        [np.column_stack([roof, np.full(4, -high)]), np.column_stack([floor, np.zeros(4)])]
    )
    i = np.arange(4)
    j = (i + 1) % 4
    walls = [np.stack([i, j + 4, j], axis=1), np.stack([i, i + 4, j + 4], axis=1)]
    lids = np.array([[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6]])
    return Mesh(vertices, np.concatenate([*walls, lids]).astype(np.int64))


def _hull(length: float, beam: float, free: float, draught: float) -> Mesh:
    """Sections from a transom to a raked stem: keel, bilge, waterline and a flared deck edge with
    sheer towards the bow."""
    along = np.array([-0.5, -0.45, -0.2, 0.1, 0.3, 0.42, 0.48, 0.5])
    width = np.array([0.86, 0.92, 1.0, 0.96, 0.74, 0.44, 0.2, 0.03])
    levels = [(1.0, 0.05, 0.0), (0.75, 0.75, 0.3), (0.0, 0.9, 0.7), (-1.0, 1.0, 1.0)]
    rows = []
    for x, w in zip(along, width, strict=True):
        forward = max(0.0, (x - 0.1) / 0.4)
        ring = []
        for level, share, rake in levels:
            down = level * (draught if level > 0.0 else free * (1.0 + 0.45 * forward**2))
            narrow = share - (0.35 * forward * (1.0 - rake) * share)
            reach = x * length + 0.06 * length * forward * (rake - 0.6)
            ring.append((reach, 0.5 * beam * w * narrow, down))
        rows.append(ring)
    right = np.array(rows)  # stations, levels, 3
    left = right[:, ::-1] * (1.0, -1.0, 1.0)
    rings = np.concatenate([right, left], axis=1)  # keel to deck, over, and deck to keel
    stations, around = rings.shape[:2]
    i, k = np.meshgrid(np.arange(stations - 1), np.arange(around), indexing="ij")
    a, b = (i * around + k).ravel(), (i * around + (k + 1) % around).ravel()
    c, d = a + around, b + around
    faces = [np.stack([a, c, d], axis=1), np.stack([a, d, b], axis=1)]
    fan = np.arange(1, around - 1)
    faces.append(np.stack([np.zeros_like(fan), fan, fan + 1], axis=1))
    last = (stations - 1) * around
    faces.append(np.stack([np.full_like(fan, last), last + fan + 1, last + fan], axis=1))
    return Mesh(rings.reshape(-1, 3), np.concatenate(faces).astype(np.int64))
