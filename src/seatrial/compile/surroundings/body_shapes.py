"""Shapes that people name as solids in axes of their own: walls, piers, pipes, rocks, meshes."""

import itertools
import math
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.surroundings.wreck_parts import wreck
from seatrial.geometry import mesh as meshes
from seatrial.geometry import patterns
from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.mesh import Mesh
from seatrial.geometry.mesh_files import load_mesh
from seatrial.ocean import Ocean
from seatrial.ocean import seabed as bottoms
from seatrial.seeding import generator
from seatrial.spec import bodies as spec

Array = NDArray[np.float64]

NO_BOTTOM = 10.0
"""How far piles and supports reach down where the world has no bottom, m."""
TETHER_RADIUS = 0.02
FLANGE = 1.5
"""Diameter over that of the pipe; it is a third of it long."""
BOLT = 0.12
"""Radius of a bolt over that of the pipe."""
SUPPORT = 1.4
"""Width of a block that carries a pipe over its diameter; it is half as long."""
ROCK_RINGS = 12
ROCK_LUMPS = 0.22
"""Standard deviation of a rock's radius over its mean, before smoothing."""
MOST_FACES = 200_000
"""Of a mesh from a file."""


def depth_under(ocean: Ocean, north: float, east: float) -> float | None:
    """Of the bottom, m; None where there is none."""
    if ocean.seabed is None:
        return None
    return float(bottoms.under(ocean.seabed, north, east))


def parts_of(body: spec.WorldBody, stream: str, seed: int) -> list[Body]:
    """Solids of a body in its own axes; names begin with a slash where there are several."""
    if body.box is not None:
        length, width, height = body.box.size
        return [Body("", "box", length=length, beam=width, height=height)]
    if body.cylinder is not None:
        return [Body("", "cylinder", radius=body.cylinder.radius, height=body.cylinder.height)]
    if body.sphere is not None:
        return [Body("", "sphere", radius=body.sphere.radius)]
    if body.buoy is not None:
        return [Body("", "cylinder", radius=0.5 * body.buoy.diameter, height=body.buoy.height)]
    if body.rock is not None:
        return [_mesh_body(rock(0.5 * body.rock.size, generator(seed, f"{stream}/rock")))]
    if body.mesh is not None:
        return [_mesh_body(_from_file(body, body.mesh))]
    if body.wall is not None:
        return _wall(body, body.wall)
    if body.mine is not None:
        radius, tether = 0.5 * body.mine.diameter, body.mine.tether
        middle = np.array([0.0, 0.0, -tether - radius])
        line = np.array([0.0, 0.0, -0.5 * tether])
        return [
            Body("/mine", "sphere", radius=radius, position=middle),
            Body("/tether", "cylinder", radius=TETHER_RADIUS, height=tether, position=line),
        ]
    if body.pier is not None:
        return _pier(body.pier)
    if body.board is not None:
        return [_board(body.board)]
    if body.wreck is not None:
        return wreck(body.wreck, generator(seed, f"{stream}/wreck"))
    assert body.pipe is not None
    return []  # laid along the bottom when its place is known


def _board(board: spec.Board) -> Body:
    """A thin box with a pattern on its forward face."""
    if board.checker is not None:
        cells = patterns.checker(*board.checker)
    elif board.markers is not None:
        cells = patterns.markers(*board.markers, board.first_marker)
    else:
        cells = np.array([list(row) for row in board.cells]).astype(np.uint8)
    rows, columns = cells.shape
    half = 0.5 * board.tilt
    return Body(
        "",
        "box",
        length=board.thickness,
        beam=board.cell * columns,
        height=board.cell * rows,
        attitude=np.array([math.cos(half), 0.0, math.sin(half), 0.0]),
        pattern=cells.astype(np.float64),
    )


def _mesh_body(mesh: Mesh) -> Body:
    return Body("", "mesh", vertices=mesh.vertices, faces=mesh.faces.astype(np.float64))


def rock(radius: float, random: np.random.Generator) -> Mesh:
    """A lumpy ball: its radius is 1 plus random harmonics of the direction, which die out as their
    wavenumber grows, so that the rock is rough but has no spikes; flatter than it is wide."""
    ball = meshes.sphere(1.0, ROCK_RINGS)
    direction = ball.vertices
    lumps = np.zeros(len(direction))
    for number in range(1, 6):
        along = random.standard_normal((3, 3))
        along *= number / np.linalg.norm(along, axis=1, keepdims=True)
        phase = random.uniform(0.0, math.tau, 3)
        lumps += np.sum(np.cos(2.0 * direction @ along.T + phase), axis=1) / number
    lumps *= ROCK_LUMPS / np.std(lumps)
    flat = np.array([1.0, 1.0, random.uniform(0.6, 0.9)])
    scale = radius * np.clip(1.0 + lumps, 0.4, 1.8)
    return Mesh(direction * scale[:, None] * flat, ball.faces)


def _from_file(body: spec.WorldBody, described: spec.MeshFile) -> Mesh:
    """A closed surface of triangles; refused with the reason where it is none."""
    home = FilePath(body._source.file).parent if body._source is not None else FilePath()
    path = home / described.file

    def refuse(message: str, expected: str, mend: str) -> Exception:
        return body.error(
            ("mesh", "file"), message, value=described.file, expected=expected, mend=mend
        )

    if not path.is_file():
        raise refuse(
            f"there is no file `{described.file}`",
            "a file of triangles: STL, OBJ, PLY or GLB",
            f"check its path, which counts from {home}",
        )
    try:
        loaded: Any = load_mesh(path)
    except Exception as error:  # a reader of foreign formats fails in any way it likes
        raise refuse(
            f"`{described.file}` cannot be read as a mesh ({error})",
            "a file of triangles: STL, OBJ, PLY or GLB",
            "open it in a viewer of meshes and save it again",
        ) from None
    vertices = np.asarray(getattr(loaded, "vertices", np.zeros((0, 3))), np.float64)
    faces = np.asarray(getattr(loaded, "faces", np.zeros((0, 3))), np.int64)
    if not len(faces) or not np.isfinite(vertices).all():
        raise refuse(
            f"`{described.file}` holds no triangles with finite corners",
            "a closed surface",
            "save the surface itself, not a cloud of points",
        )
    if len(faces) > MOST_FACES:
        raise refuse(
            f"`{described.file}` has {len(faces)} triangles",
            f"at most {MOST_FACES}",
            "simplify it: contact and rays need no more than its form",
        )
    if not loaded.is_watertight:
        raise refuse(
            f"the surface of `{described.file}` has holes",
            "a closed surface, whose inside is known",
            "close its holes in a tool for meshes",
        )
    if abs(loaded.volume) < 1e-9 * float(np.ptp(vertices, axis=0).max()) ** 3:
        raise refuse(
            f"the surface of `{described.file}` holds no volume",
            "a closed surface around a body",
            "give the body some thickness",
        )
    if loaded.volume < 0.0:
        faces = faces[:, ::-1]
    return Mesh(vertices * described.scale, faces)


def _wall(body: spec.WorldBody, wall: spec.Wall) -> list[Body]:
    """A box from corner to corner. At corners each is longer by half a thickness, so that they are
    closed; the ends of a line that does not close are where its points are."""
    points = np.array(wall.points, np.float64)
    last = len(points) - 2
    closed = last > 0 and bool((points[0] == points[-1]).all())
    parts = []
    for k, (start, end) in enumerate(itertools.pairwise(points)):
        between = float(np.hypot(*(end - start)))
        if between <= 0.0:
            raise body.error(
                ("wall", "points", k + 1),
                "two points of the wall that follow each other lie at the same place",
                value=wall.points[k + 1],
                expected="points apart from each other",
                mend="drop one of them",
            )
        along = (end - start) / between
        start = start - (0.5 * wall.thickness if k > 0 or closed else 0.0) * along
        end = end + (0.5 * wall.thickness if k < last or closed else 0.0) * along
        angle = 0.5 * math.atan2(along[1], along[0])
        parts.append(
            Body(
                "" if len(points) == 2 else f"/{k + 1}",
                "box",
                length=float(np.hypot(*(end - start))),
                beam=wall.thickness,
                height=wall.height,
                position=np.array([*(0.5 * (start + end)), 0.0]),
                attitude=np.array([math.cos(angle), 0.0, 0.0, math.sin(angle)]),
            )
        )
    return parts


def _pier(pier: spec.Pier) -> list[Body]:
    """A deck below its top; piles are drawn down to the bottom once that is known."""
    deck = Body(
        "/deck",
        "box",
        length=pier.length,
        beam=pier.width,
        height=pier.thickness,
        position=np.array([0.0, 0.0, 0.5 * pier.thickness]),
    )
    rows = -(-pier.piles // 2)
    reach = 0.5 * pier.length - pier.pile_diameter
    along = np.linspace(-reach, reach, rows) if rows > 1 else np.zeros(rows)
    across = max(0.5 * pier.width - pier.pile_diameter, 0.0)
    places = [(x, s * across) for x in along.tolist() for s in (-1.0, 1.0)][: pier.piles]
    piles = [
        Body(
            f"/pile {k + 1}",
            "cylinder",
            radius=0.5 * pier.pile_diameter,
            position=np.array([x, y, pier.thickness]),
        )
        for k, (x, y) in enumerate(places)
    ]
    return [deck, *piles]


def fitted_to_bottom(
    body: spec.WorldBody, parts: list[Body], origin: Array, rotation: Array, ocean: Ocean
) -> list[Body]:
    """Parts whose size depends on how deep the bottom is under them: piles, pipes and supports."""
    if body.pipe is not None:
        return _pipe(body, body.pipe, origin, rotation, ocean)
    if body.pier is None:
        return parts
    finished = [parts[0]]
    for pile in parts[1:]:
        top = place_of(pile)
        north, east, down = origin + rotation @ top
        depth = depth_under(ocean, north, east)
        height = (down + NO_BOTTOM if depth is None else depth) - down
        if height > 0.0:
            middle = top + np.array([0.0, 0.0, 0.5 * height])
            finished.append(replace(pile, height=height, position=middle))
    return finished


def _pipe(
    body: spec.WorldBody, pipe: spec.Pipe, origin: Array, rotation: Array, ocean: Ocean
) -> list[Body]:
    """Cylinders from corner to corner with bends or balls between them, flanges with bolts around
    and blocks below."""
    radius = 0.5 * pipe.diameter
    line = np.array(pipe.waypoints, np.float64)
    if body.on_bottom:
        for corner in line:
            north, east, _ = origin + rotation @ corner
            depth = depth_under(ocean, north, east)
            assert depth is not None  # refused before
            corner[2] += depth - radius
    parts: list[Body] = []
    cut = _cuts(line, pipe.bend)
    for k, (start, end) in enumerate(itertools.pairwise(line)):
        length = float(np.linalg.norm(end - start))
        if length <= 0.0:
            raise body.error(
                ("pipe", "waypoints", k + 1),
                "two corners of the pipe lie at the same place",
                expected="corners apart from each other",
                mend="drop one of them",
            )
        ahead = (end - start) / length
        along = _upright_to(ahead)
        begins, ends = start + cut[k] * ahead, end - cut[k + 1] * ahead
        straight = length - cut[k] - cut[k + 1]
        if straight < 0.0:
            raise body.error(
                ("pipe", "bend"),
                f"the stretch from corner {k + 1} to {k + 2} is {length:g} m long, and the bends "
                f"take {cut[k] + cut[k + 1]:g} m of it",
                value=pipe.bend,
                expected="bends that fit between the corners",
                mend="give a smaller `bend`, or corners farther apart",
            )
        parts.append(_rod(f"/pipe {k + 1}", radius, straight, 0.5 * (begins + ends), along))
        if k > 0:
            parts.append(_bend(f"/bend {k}", radius, pipe.bend, line[k - 1 : k + 2], cut[k]))
        for j, way in enumerate(_steps(length, pipe.flanges)):
            place = start + (way / length) * (end - start)
            name, thick = f"/flange {k + 1}.{j + 1}", 2.0 * radius / 3.0
            parts.append(_rod(name, FLANGE * radius, thick, place, along))
            parts += _bolts(name, pipe.bolts, radius, thick, place, along)
        for j, way in enumerate(_steps(length, pipe.supports)):
            place = start + (way / length) * (end - start)
            north, east, down = origin + rotation @ place
            depth = depth_under(ocean, north, east)
            height = (down + NO_BOTTOM if depth is None else depth) - down
            if height <= radius + 1e-3:  # it lies on the bottom here
                continue
            heading = math.atan2(end[1] - start[1], end[0] - start[0])
            parts.append(
                Body(
                    f"/support {k + 1}.{j + 1}",
                    "box",
                    length=SUPPORT * radius,
                    beam=2.0 * SUPPORT * radius,
                    height=height,
                    position=place + np.array([0.0, 0.0, 0.5 * height]),
                    attitude=np.array([math.cos(0.5 * heading), 0, 0, math.sin(0.5 * heading)]),
                )
            )
    return parts


def _cuts(line: Array, bend: float | None) -> Array:
    """(corners,) how much of the stretches before and after each corner its bend takes, m."""
    cut = np.zeros(len(line))
    if bend is not None:
        ways = np.diff(line, axis=0)
        ahead = ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12)
        cosine = np.clip(np.sum(ahead[:-1] * ahead[1:], axis=1), -1.0 + 1e-6, 1.0)
        cut[1:-1] = bend * np.sqrt((1.0 - cosine) / (1.0 + cosine))  # R tan(θ / 2)
    return cut


def _bend(name: str, radius: float, bend: float | None, corners: Array, cut: float) -> Body:
    """At the middle one of three corners."""
    before, here, after = corners
    if bend is None or cut <= 1e-6:
        return Body(name, "sphere", radius=radius, position=here)
    along, onward = ((w / np.linalg.norm(w)) for w in (here - before, after - here))
    inward = onward - (onward @ along) * along
    inward /= np.linalg.norm(inward)
    angle = 2.0 * math.atan(cut / bend)
    mesh = meshes.bend(radius, -cut * along, along, inward, bend, angle)
    return replace(_mesh_body(mesh), name=name, position=here)


def _bolts(
    name: str, count: int, radius: float, thick: float, place: Array, along: Array
) -> list[Body]:
    """Rods through a flange, halfway between the pipe and its rim."""
    rotation, ring = rotation_matrix(along), 0.5 * (1.0 + FLANGE) * radius
    angles = (2.0 * math.pi * k / count for k in range(count))
    return [
        _rod(
            f"{name} bolt {k + 1}",
            BOLT * radius,
            1.6 * thick,
            place + rotation @ np.array([ring * math.cos(a), ring * math.sin(a), 0.0]),
            along,
        )
        for k, a in enumerate(angles)
    ]


def _rod(name: str, radius: float, length: float, middle: Array, attitude: Array) -> Body:
    return Body(name, "cylinder", radius=radius, height=length, position=middle, attitude=attitude)


def _steps(length: float, spacing: float | None) -> list[float]:
    """Places along a stretch, the same distance from both ends."""
    if spacing is None:
        return []
    count = int(length / spacing)
    first = 0.5 * (length - (count - 1) * spacing)
    return [first + k * spacing for k in range(count)]


def _upright_to(direction: Array) -> Array:
    """Quaternion that turns the axis of an upright cylinder along a unit vector."""
    x, y, z = direction
    if z < -1.0 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    turn = np.array([1.0 + z, -y, x, 0.0])
    return np.asarray(turn / np.linalg.norm(turn))


def product(a: Array, b: Array) -> Array:
    """Hamilton product of quaternions."""
    aw, av, bw, bv = a[0], a[1:], b[0], b[1:]
    return np.array([aw * bw - av @ bv, *(aw * bv + bw * av + np.cross(av, bv))])


def place_of(part: Body) -> Array:
    """Of a part, m."""
    return np.zeros(3) if part.position is None else part.position
