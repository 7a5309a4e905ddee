"""What is left of a ship on the bottom: plates, ribs on a keel, a bow, a mast.

All are closed solids of a few hundred triangles, made by sweeping sections; how they are bent and
where they broke off is drawn from the seed. `position` of a part is the middle of its underside.
"""

import math

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry import mesh as meshes
from seatrial.geometry.bodies import Body
from seatrial.geometry.mesh import Mesh
from seatrial.spec import bodies as spec

Array = NDArray[np.float64]

PLATE = 0.03
"""Thickness of plates and of the shell, with what has grown on it, m."""
FRAME = 0.14
"""Width of a rib, m; it is half as deep again."""
SPACING = 0.9
"""Between ribs, m."""
FORE = np.array([1.0, 0.0, 0.0])
TORN = 0.08
"""Standard deviation of an edge that tore, over the size."""


def wreck(part: spec.Wreck, random: np.random.Generator) -> list[Body]:
    """The solids of a part, leaning back by its tilt."""
    length, width, height = part.size
    made = {"plate": _plate, "ribs": _ribs, "bow": _bow, "mast": _mast}[part.part](
        length, width, height, random
    )
    lean = math.cos(part.tilt), math.sin(part.tilt)
    turn = np.array([[lean[0], 0.0, lean[1]], [0.0, 1.0, 0.0], [-lean[1], 0.0, lean[0]]])
    return [
        Body(
            name,
            "mesh",
            vertices=mesh.vertices @ turn.T,
            faces=mesh.faces.astype(np.float64),
        )
        for name, mesh in made
    ]


def _plate(
    length: float, width: float, height: float, random: np.random.Generator
) -> list[tuple[str, Mesh]]:
    """A sheet that is bent up to its height, dented, and torn at its edges."""
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, 17), np.linspace(-0.5, 0.5, 13), indexing="ij")
    rise = 4.0 * height * u**2
    for _ in range(5):
        k, phase = random.normal(0.0, 7.0, 2), random.uniform(0.0, math.tau)
        rise = rise + 0.05 * height * np.cos(k[0] * u + k[1] * v + phase)
    rim = (np.abs(u) == 0.5) | (np.abs(v) == 0.5)
    pull = 1.0 - np.where(rim, np.abs(random.normal(0.0, TORN, u.shape)), 0.0)
    upper = np.stack([length * u * pull, width * v * pull, -rise], axis=-1)
    return [("", _thick(upper, np.array([0.0, 0.0, PLATE])))]


def _ribs(
    length: float, width: float, height: float, random: np.random.Generator
) -> list[tuple[str, Mesh]]:
    """Frames of both sides on a keel, each broken off somewhere."""
    keel = meshes.box((length, 0.3, 0.3))
    found = [("/keel", Mesh(keel.vertices - [0.0, 0.0, 0.15], keel.faces))]
    for k, north in enumerate(np.arange(-0.5 * length + 0.4, 0.5 * length, SPACING)):
        for name, side in (("port", -1.0), ("starboard", 1.0)):
            reach = float(np.clip(random.normal(0.75, 0.25), 0.2, 1.0))
            angle = np.linspace(0.0, 0.5 * math.pi * reach, 9)
            line = np.stack(
                [
                    np.full(9, north) + random.normal(0.0, 0.03) * angle,
                    side * 0.5 * width * np.sin(angle),
                    -0.15 - height * (1.0 - np.cos(angle)),
                ],
                axis=1,
            )
            found.append((f"/{name} rib {k + 1}", _swept(line, FORE, FRAME, 1.5 * FRAME)))
    return found


def _bow(
    length: float, width: float, height: float, random: np.random.Generator
) -> list[tuple[str, Mesh]]:
    """The shell from where the ship broke to her raked stem with its post, and a deck beam."""
    along = np.linspace(0.0, 1.0, 15)
    girth = np.linspace(-1.0, 1.0, 25)
    x, s = np.meshgrid(along, girth, indexing="ij")
    half = 0.5 * width * np.maximum(1.0 - x**2.2, 2.5 * PLATE / width)
    up = np.abs(s) ** 1.4
    outer = np.stack(
        [
            length * x * (0.85 + 0.15 * up) - 0.5 * length,
            half * np.sign(s) * np.abs(s) ** 0.6,
            -height * up,
        ],
        axis=-1,
    )
    torn = np.abs(random.normal(0.0, TORN, len(girth)))
    outer[0, :, 0] += length * torn
    outer[1:-1, :, 1] += 0.01 * width * random.standard_normal((13, 1)) * np.sin(math.pi * s[1:-1])
    inside = -np.sign(outer[..., 1]) * np.minimum(PLATE, 0.4 * np.abs(outer[..., 1]))
    inner = outer + np.stack([-PLATE * x, inside, -PLATE * (1.0 - np.abs(s))], axis=-1)
    shell = _closed(outer, inner)
    up = np.linspace(0.0, 1.0, 9)
    line = np.stack([length * (0.35 + 0.15 * up), np.zeros(9), -height * up], axis=1)
    stem = _swept(line, np.array([0.0, 1.0, 0.0]), FRAME, 1.5 * FRAME)
    beam = meshes.box((FRAME, 0.9 * width * (1.0 - 0.4**2.2), FRAME))
    place = np.array([-0.1 * length, 0.0, -0.9 * height])
    return [("/shell", shell), ("/stem", stem), ("/beam", Mesh(beam.vertices + place, beam.faces))]


def _mast(
    length: float, width: float, height: float, random: np.random.Generator
) -> list[tuple[str, Mesh]]:
    """A tapered spar, broken at its top, with a yard of its width; as thick as its length."""
    pole = meshes.cylinder(0.5 * length, height)
    vertices = pole.vertices.copy()
    top = vertices[:, 2] < 0.0
    vertices[:, :2] *= np.where(top, 0.6, 1.0)[:, None]
    vertices[top, 2] += 0.3 * length * np.abs(random.standard_normal(int(top.sum())))
    vertices[:, 2] -= 0.5 * height
    yard = meshes.cylinder(0.22 * length, width)
    across = np.stack([yard.vertices[:, 0], -yard.vertices[:, 2], yard.vertices[:, 1]], axis=1)
    place = np.array([0.4 * length, 0.0, -0.75 * height])
    return [("/mast", Mesh(vertices, pole.faces)), ("/yard", Mesh(across + place, yard.faces))]


def _thick(upper: Array, down: Array) -> Mesh:
    """A sheet of nodes (A, B, 3) made a solid by its copy below."""
    return _closed(upper + down, upper)


def _closed(outer: Array, inner: Array) -> Mesh:
    """The solid between two sheets of nodes (A, B, 3)."""
    rows, columns = outer.shape[:2]
    count = rows * columns
    vertices = np.concatenate([outer.reshape(-1, 3), inner.reshape(-1, 3)])
    node = np.arange(count).reshape(rows, columns)
    a, b, c, d = (n.ravel() for n in (node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]))
    sheet = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    rim = np.concatenate([node[:-1, 0], node[-1, :-1], node[:0:-1, -1], node[0, :0:-1]])
    following = np.roll(rim, -1)
    wall = [
        np.stack([rim, rim + count, following + count], axis=1),
        np.stack([rim, following + count, following], axis=1),
    ]
    return _outwards(Mesh(vertices, np.concatenate([sheet, sheet[:, ::-1] + count, *wall])))


def _swept(line: Array, across: Array, width: float, deep: float) -> Mesh:
    """A bar of a rectangular section along nodes (N, 3) of a line, as wide as said along a unit
    vector square to it."""
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    out = np.cross(along, across)
    corners = [
        line + 0.5 * (i * width * across + j * deep * out)
        for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    vertices = np.stack(corners, axis=1).reshape(-1, 3)
    faces = []
    for k in range(len(line) - 1):
        for i in range(4):
            a, b = 4 * k + i, 4 * k + (i + 1) % 4
            faces += [(a, b, b + 4), (a, b + 4, a + 4)]
    end = 4 * (len(line) - 1)
    faces += [(0, 2, 1), (0, 3, 2), (end, end + 1, end + 2), (end, end + 2, end + 3)]
    return _outwards(Mesh(vertices, np.array(faces, np.int64)))


def _outwards(mesh: Mesh) -> Mesh:
    """With its faces turned round where they looked inwards."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    volume = np.sum(a * np.cross(b, c))
    return mesh if volume > 0.0 else Mesh(mesh.vertices, mesh.faces[:, ::-1])
