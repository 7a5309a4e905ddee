"""Hull forms from a few numbers, as closed triangle meshes.

Axes forward, starboard, down; the origin is amidships on the design waterline, and in the middle of
a body under water. `panel` is the longest edge that a flat part of the hull is cut into, m; round
parts get as many corners as that length asks for, and at least `FEWEST` around.
"""

import math

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh, merged, sides_of_faces
from seatrial.hull.shape.shells import outwards, welded

Array = NDArray[np.float64]

FEWEST = 12
"""Corners around a round section, and stations along a curved hull."""


def barge(length: float, beam: float, draught: float, height: float, panel: float) -> Mesh:
    """A box of a height from keel to deck."""
    x, y = (_cut(-0.5 * size, 0.5 * size, panel) for size in (length, beam))
    z = np.concatenate([_cut(draught - height, 0.0, panel), _cut(0.0, draught, panel)[1:]])
    sides = []
    for first, second, third in ((x, y, z), (y, z, x), (z, x, y)):
        axes = [int(np.flatnonzero([first is a, second is a, third is a])[0]) for a in (x, y, z)]
        for end in (third[0], third[-1]):
            p, q = np.meshgrid(first, second, indexing="ij")
            grid = np.stack([p, q, np.full_like(p, end)], axis=-1)[..., axes]
            sides.append(_sheet(grid if end > third[0] else grid[:, ::-1]))
    return _closed(merged(sides))


def wigley(
    length: float,
    beam: float,
    draught: float,
    freeboard: float,
    panel: float,
    waterline_power: float = 2.0,
    section_power: float = 2.0,
) -> Mesh:
    """Wigley's hull, y = B/2 (1 − |2x/L|^p)(1 − (z/T)^q) with p = q = 2; wall-sided above water.

    Its waterplane coefficient is p/(p + 1) and its block coefficient that times q/(q + 1): with
    other powers it stands for a displacement hull of given coefficients.
    """
    x = _ends_refined(length, panel)
    rows = max(FEWEST // 2, math.ceil(draught / panel))
    z = draught * np.sin(0.5 * np.pi * np.linspace(0.0, 1.0, rows + 1))
    top = -_cut(0.0, freeboard, panel)[:0:-1]
    depth = np.concatenate([top, z])
    shape = 1.0 - (np.maximum(depth, 0.0) / draught) ** section_power
    half = 0.5 * beam * (1.0 - np.abs(2.0 * x / length) ** waterline_power)
    half[[0, -1]] = 0.0
    return _loft(x, half[:, None] * shape, np.broadcast_to(depth, (len(x), len(depth))), panel)


def v_hull(
    length: float, beam: float, draught: float, freeboard: float, deadrise: float, panel: float
) -> Mesh:
    """A planing boat: a V of one deadrise (rad) up to a hard chine, upright sides, a flat transom.

    The after three fifths are prismatic; forward the breadth falls off as a parabola and the keel
    rises to the waterline at the stem.
    """
    x = _cut(-0.5 * length, 0.5 * length, max(min(panel, length / FEWEST), 1e-9))
    ahead = np.clip((x - 0.1 * length) / (0.4 * length), 0.0, 1.0)
    half = 0.5 * beam * (1.0 - ahead**2)
    half[-1] = 0.0
    keel = draught * (1.0 - ahead**4)
    chine = np.maximum(keel - half * math.tan(deadrise), -0.8 * freeboard)
    sides = max(2, math.ceil((freeboard + draught) / panel))
    bottom = max(2, math.ceil(0.5 * beam / panel))
    down, out = np.linspace(0.0, 1.0, sides + 1), np.linspace(1.0, 0.0, bottom + 1)[1:]
    depth = np.concatenate(
        [
            -freeboard + (chine + freeboard)[:, None] * down,
            keel[:, None] + (chine - keel)[:, None] * out,
        ],
        axis=1,
    )
    breadth = half[:, None] * np.concatenate([np.ones_like(down), out])
    return _loft(x, breadth, depth, panel)


def catamaran(demihull: Mesh, separation: float) -> Mesh:
    """Two hulls whose centre planes lie so far apart; they are not joined above the water."""
    aside = np.array([0.0, 0.5 * separation, 0.0])
    port, starboard = (Mesh(demihull.vertices + s * aside, demihull.faces) for s in (-1.0, 1.0))
    return merged([port, starboard])


def torpedo(
    length: float,
    diameter: float,
    nose: float,
    tail: float,
    panel: float,
    nose_power: float = 2.0,
    tail_angle: float = math.radians(25.0),
) -> Mesh:
    """A body of revolution with Myring's nose and tail (Myring 1976; Prestero 2001, eq. 2.1-2.2).

    With the nose's length a, the tail's c and x from the tip of the nose: r = ½ d [1 − ((x − a)/a)²
    ]^(1/n) on the nose and, with s = x − (L − c), r = ½ d − (3d/2c² − tan θ/c) s² + (d/c³ −
    tan θ/c²) s³ on the tail. The middle is half of the length.
    """
    around = max(FEWEST, math.ceil(math.pi * diameter / panel))
    steps = max(FEWEST // 2, math.ceil(nose / panel))
    front = nose * (1.0 - np.cos(0.5 * np.pi * np.linspace(0.0, 1.0, steps + 1)))
    back = _cut(length - tail, length, min(panel, tail / (FEWEST // 2)))
    middle = _cut(nose, length - tail, panel)[1:-1] if length - tail > nose else np.empty(0)
    x = np.unique(np.concatenate([front, middle, back]))
    s = np.maximum(x - (length - tail), 0.0)
    tan = math.tan(tail_angle)
    radius = 0.5 * diameter * (1.0 - np.clip((nose - x) / nose, 0.0, 1.0) ** 2) ** (1 / nose_power)
    radius = radius - (1.5 * diameter / tail**2 - tan / tail) * s**2
    radius = np.maximum(radius + (diameter / tail**3 - tan / tail**2) * s**3, 0.0)
    radius[[0, -1]] = 0.0
    angle = 2.0 * np.pi * np.arange(around) / around
    # Corners at which the polygon has the area of the circle, so that the volume is kept.
    fair = math.sqrt(2.0 * np.pi / around / math.sin(2.0 * np.pi / around))
    rings = np.stack(
        [
            np.broadcast_to((0.5 * length - x)[:, None], (len(x), around)),
            fair * radius[:, None] * np.cos(angle),
            fair * radius[:, None] * np.sin(angle),
        ],
        axis=-1,
    )
    return _closed(_sheet(np.concatenate([rings, rings[:, :1]], axis=1)))


def sphere(radius: float, panel: float) -> Mesh:
    """A sphere of triangles of nearly one size whose corners lie on it."""
    subdivisions = max(1, math.ceil(math.log2(max(1.25 * radius / panel, 1.0))))
    return icosphere(radius, subdivisions)


def icosphere(radius: float, subdivisions: int) -> Mesh:
    """An icosahedron of 20 · 4ⁿ triangles whose corners lie on a sphere."""
    g = 0.5 * (1.0 + math.sqrt(5.0))
    corners = [(0, s, t * g) for s in (-1, 1) for t in (-1, 1)]
    points = np.array([np.roll(c, k) for k in range(3) for c in corners], np.float64)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = np.isclose(distance, 2.0)
    triples = [
        (i, j, k)
        for i in range(12)
        for j in range(i + 1, 12)
        for k in range(j + 1, 12)
        if near[i, j] and near[j, k] and near[i, k]
    ]
    faces = np.array(triples, np.int64)
    a, b, c = (points[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", a, np.cross(b, c)) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    mesh = Mesh(points, faces)
    for _ in range(subdivisions):
        mesh = quartered(mesh)
        mesh = mesh._replace(
            vertices=mesh.vertices / np.linalg.norm(mesh.vertices, axis=1, keepdims=True)
        )
    lengths = np.linalg.norm(mesh.vertices, axis=1, keepdims=True)
    return Mesh(radius * mesh.vertices / lengths, mesh.faces)


def quartered(mesh: Mesh) -> Mesh:
    """Every triangle cut into four at the middles of its edges."""
    f = mesh.faces
    edges = np.sort(sides_of_faces(f), axis=1)
    unique, which = np.unique(edges, axis=0, return_inverse=True)
    middles = mesh.vertices[unique].mean(axis=1)
    p, q, r = (which.reshape(3, -1) + len(mesh.vertices)).astype(np.int64)
    a, b, c = f.T
    faces = np.concatenate(
        [np.stack(t, axis=1) for t in ((a, p, r), (p, b, q), (r, q, c), (p, q, r))]
    )
    return Mesh(np.concatenate([mesh.vertices, middles]), faces)


def _cut(start: float, end: float, panel: float) -> Array:
    """Points from `start` to `end`, no farther apart than `panel`."""
    return np.linspace(start, end, max(1, math.ceil((end - start) / panel - 1e-9)) + 1)


def _ends_refined(length: float, panel: float) -> Array:
    """Stations of a hull whose curvature is at its ends: closer together there."""
    count = max(FEWEST, math.ceil(0.5 * math.pi * length / panel / 2) * 2)
    return np.asarray(-0.5 * length * np.cos(np.pi * np.arange(count + 1) / count))


def _loft(x: Array, breadth: Array, depth: Array, panel: float) -> Mesh:
    """A hull of half breadths (S, K) at depths (S, K) from deck to keel, mirrored, with a deck."""
    deck = max(1, math.ceil(float(breadth[:, 0].max()) / panel))
    across = np.linspace(1.0, 0.0, deck + 1)[1:-1] if deck > 1 else np.empty(0)
    inner = breadth[:, :1] * across
    level = np.broadcast_to(depth[:, :1], inner.shape)
    # starboard deck edge, down to the keel, up the port side, back over the deck
    y = np.concatenate([breadth, -breadth[:, -2::-1], -inner, np.zeros_like(x)[:, None]], axis=1)
    z = np.concatenate([depth, depth[:, -2::-1], level, depth[:, :1]], axis=1)
    y = np.concatenate([y, inner[:, ::-1], y[:, :1]], axis=1)
    z = np.concatenate([z, level, z[:, :1]], axis=1)
    rings = np.stack([np.broadcast_to(x[:, None], y.shape), y, z], axis=-1)
    ends = [end for end in (0, -1) if breadth[end].max() > 0.0]  # a sharp stem needs no lid
    return _closed(merged([_sheet(rings), *(_lid(rings[end, :-1]) for end in ends)]))


def _sheet(grid: Array) -> Mesh:
    """Two triangles per cell of a grid of points (A, B, 3), cut along the shorter diagonal."""
    rows, columns, _ = grid.shape
    i, j = (
        k.ravel() for k in np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    )
    a = i * columns + j
    b, c, d = a + columns, a + columns + 1, a + 1
    points = grid.reshape(-1, 3)
    straight = np.linalg.norm(points[a] - points[c], axis=1) <= np.linalg.norm(
        points[b] - points[d], axis=1
    )
    # A triangle in the centre plane has its twin on the other side: a fin of no thickness.
    centred = points[:, 1] == 0.0
    straight |= centred[b] & centred[d] & (centred[a] | centred[c])
    straight &= ~(centred[a] & centred[c] & (centred[b] | centred[d]))
    one = np.where(straight, [a, b, c], [a, b, d]).T
    two = np.where(straight, [a, c, d], [b, c, d]).T
    return Mesh(points, np.concatenate([one, two]).astype(np.int64))


def _lid(ring: Array) -> Mesh:
    """A fan that closes a flat, star-shaped end."""
    i = np.arange(len(ring))
    fan = np.stack([np.full_like(i, len(ring)), i, (i + 1) % len(ring)], axis=1)
    return Mesh(np.concatenate([ring, ring.mean(axis=0, keepdims=True)]), fan.astype(np.int64))


def _closed(mesh: Mesh) -> Mesh:
    """Corners that coincide joined, triangles without area dropped, all normals outwards."""
    return outwards(welded(mesh))
