"""Bodies of a world: from what people name to solids with places.

A described body becomes one solid or several, in axes of its own; then it is turned, put into its
place, and told how it moves. Everything random is drawn from a stream named after the body.
"""

import itertools
import math
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry import mesh as meshes
from seatrial.geometry.bodies import Body, Fender, Ride, Timetable, rotation_matrix
from seatrial.geometry.mesh import Mesh
from seatrial.ocean import Ocean
from seatrial.ocean import seabed as bottoms
from seatrial.ocean.waves import Waves
from seatrial.seeding import generator
from seatrial.spec import bodies as spec
from seatrial.spec.obstacles import Waypoint

Array = NDArray[np.float64]

MATERIALS = {
    "pipe": "steel",
    "buoy": "plastic",
    "pier": "concrete",
    "wall": "concrete",
    "mine": "steel",
    "rock": "rock",
}
"""What such things are usually made of; steel where nothing is said."""

DRY_SHARE = 0.4
"""Of a buoy's height."""
NO_BOTTOM = 10.0
"""How far piles and supports reach down where the world has no bottom, m."""
TETHER_RADIUS = 0.02
FLANGE = 1.5
"""Diameter over that of the pipe; it is a third of it long."""
SUPPORT = 1.4
"""Width of a block that carries a pipe over its diameter; it is half as long."""
ROCK_SHAPES = 6
"""Different shapes among the rocks of one scatter, each turned by chance: as many distance fields
are kept."""
ROCK_RINGS = 12
ROCK_LUMPS = 0.22
"""Standard deviation of a rock's radius over its mean, before smoothing."""
FIRM_CURRENT = 0.1
"""Current that holds a moored body at the edge of its circle, m/s; half of it half way."""
MOST_FACES = 200_000
"""Of a mesh from a file."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def world_bodies(
    described: tuple[spec.WorldBody, ...], ocean: Ocean, seed: int
) -> tuple[Body, ...]:
    """The bodies of a world in its ocean, in the order of their description."""
    found: list[Body] = []
    names: set[str] = set()
    for body in described:
        if body.name in names:
            raise body.error(
                ("name",),
                f"two bodies are called `{body.name}`",
                value=body.name,
                expected="a name of its own",
                mend="rename one of them",
            )
        names.add(body.name)
        found += _all_of(body, ocean, seed)
    return tuple(found)


def depth_under(ocean: Ocean, north: float, east: float) -> float | None:
    """Of the bottom, m; None where there is none."""
    if ocean.seabed is None:
        return None
    return float(bottoms.sample(ocean.seabed, np.float64(north), np.float64(east)))


def _all_of(body: spec.WorldBody, ocean: Ocean, seed: int) -> list[Body]:
    """One body, or as many as are scattered."""
    if body.scatter is None:
        parts = _parts(body, f"bodies/{body.name}", seed)
        return _put(body, body.name, parts, (body.position[0], body.position[1]), body.heading,
                    ocean)  # fmt: skip
    random = generator(seed, f"bodies/{body.name}/scatter")
    places = _within(np.array(body.scatter.area), body.scatter.count, random)
    headings = random.uniform(-math.pi, math.pi, len(places))
    shapes = [
        _parts(body, f"bodies/{body.name}/{k}", seed)
        for k in range(min(ROCK_SHAPES if body.shape == "rock" else 1, len(places)))
    ]
    found: list[Body] = []
    for k, ((north, east), heading) in enumerate(zip(places.tolist(), headings, strict=True)):
        name = f"{body.name} {k + 1}"
        parts = shapes[k % len(shapes)]
        found += _put(body, name, parts, (north, east), float(heading), ocean)
    return found


def _within(corners: Array, count: int, random: np.random.Generator) -> Array:
    """Places (count, 2) that lie evenly in a convex area: in a triangle of its fan, by area."""
    a, b, c = corners[0], corners[1:-1], corners[2:]
    one, other = b - a, c - a
    area = np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])
    which = random.choice(len(area), count, p=area / area.sum())
    u, v = random.random((2, count))
    over = u + v > 1.0
    u, v = np.where(over, 1.0 - u, u), np.where(over, 1.0 - v, v)
    return np.asarray(a + u[:, None] * one[which] + v[:, None] * other[which])


def _put(
    body: spec.WorldBody,
    name: str,
    parts: list[Body],
    place: tuple[float, float],
    heading: float,
    ocean: Ocean,
) -> list[Body]:
    """Turn the parts, put them where they belong, and say how they move."""
    turn = np.array([math.cos(0.5 * heading), 0.0, 0.0, math.sin(0.5 * heading)])
    rotation = rotation_matrix(turn)
    north, east = place
    down = body.position[2] if len(body.position) == 3 else 0.0
    if body.on_bottom:
        down = _resting(body, parts, ocean, place)
    if body.buoy is not None:
        down += (0.5 - DRY_SHARE) * body.buoy.height
    origin = np.array([north, east, down])
    finished = _fitted_to_bottom(body, parts, origin, rotation, ocean)
    common: dict[str, Any] = {
        "kind": body.kind or body.shape,
        "material": body.material or MATERIALS.get(body.shape, "steel"),
        "fender": None
        if body.fender is None
        else Fender(body.fender.stiffness, body.fender.damping),
        "motion": timetable((north, east), body.path) if body.path else None,
        "ride": None if body.afloat is None else _ride(ocean, (north, east), body.afloat.mooring),
    }
    return [
        replace(
            part,
            name=f"{name}{part.name}",
            position=origin + rotation @ _place(part),
            attitude=_product(turn, UPRIGHT if part.attitude is None else part.attitude),
            **common,
        )
        for part in finished
    ]


def _resting(
    body: spec.WorldBody, parts: list[Body], ocean: Ocean, place: tuple[float, float]
) -> float:
    """Depth of a body's origin when it stands on the bottom."""
    depth = depth_under(ocean, *place)
    if depth is None:
        raise body.error(
            ("on_bottom",),
            f"`{body.name}` stands on the bottom of a world that has none",
            value=True,
            expected="a world with a `seabed`",
            mend="give the world a `seabed`, or the body a depth as the third number of `position`",
        )
    if body.shape in ("pipe", "mine"):
        return 0.0 if body.shape == "pipe" else depth
    lowest = max(float(np.max(_corners(part)[:, 2])) for part in parts)
    return depth - (lowest / 3.0 if body.shape == "rock" else lowest)


def _corners(part: Body) -> Array:
    """Vertices of a part in the axes of its whole."""
    return np.asarray(part.mesh().vertices @ rotation_matrix(part.attitude).T + _place(part))


def _place(part: Body) -> Array:
    return np.zeros(3) if part.position is None else part.position


def _parts(body: spec.WorldBody, stream: str, seed: int) -> list[Body]:
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
        return _wall(body.wall)
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
    assert body.pipe is not None
    return []  # laid along the bottom when its place is known


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
    import trimesh

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
        loaded: Any = trimesh.load(path, force="mesh")
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


def _wall(wall: spec.Wall) -> list[Body]:
    """A box from corner to corner, each longer by half a thickness so that corners are closed."""
    points = np.array(wall.points, np.float64)
    parts = []
    for k, (start, end) in enumerate(itertools.pairwise(points)):
        along = end - start
        middle = 0.5 * (start + end)
        angle = 0.5 * math.atan2(along[1], along[0])
        length = float(np.hypot(*along)) + wall.thickness
        parts.append(
            Body(
                "" if len(points) == 2 else f"/{k + 1}",
                "box",
                length=length,
                beam=wall.thickness,
                height=wall.height,
                position=np.array([*middle, 0.0]),
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


def _fitted_to_bottom(
    body: spec.WorldBody, parts: list[Body], origin: Array, rotation: Array, ocean: Ocean
) -> list[Body]:
    """Parts whose size depends on how deep the bottom is under them: piles, pipes and supports."""
    if body.pipe is not None:
        return _pipe(body, body.pipe, origin, rotation, ocean)
    if body.pier is None:
        return parts
    finished = [parts[0]]
    for pile in parts[1:]:
        top = _place(pile)
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
    """Cylinders from corner to corner with balls between them, flanges around and blocks below."""
    radius = 0.5 * pipe.diameter
    line = np.array(pipe.waypoints, np.float64)
    if body.on_bottom:
        for corner in line:
            north, east, _ = origin + rotation @ corner
            depth = depth_under(ocean, north, east)
            assert depth is not None  # refused before
            corner[2] += depth - radius
    parts: list[Body] = []
    for k, (start, end) in enumerate(itertools.pairwise(line)):
        length = float(np.linalg.norm(end - start))
        if length <= 0.0:
            raise body.error(
                ("pipe", "waypoints", k + 1),
                "two corners of the pipe lie at the same place",
                expected="corners apart from each other",
                mend="drop one of them",
            )
        along = _upright_to((end - start) / length)
        parts.append(_rod(f"/pipe {k + 1}", radius, length, 0.5 * (start + end), along))
        if k > 0:
            parts.append(Body(f"/bend {k}", "sphere", radius=radius, position=start))
        for j, way in enumerate(_steps(length, pipe.flanges)):
            place = start + (way / length) * (end - start)
            parts.append(
                _rod(f"/flange {k + 1}.{j + 1}", FLANGE * radius, 2.0 * radius / 3.0, place, along)
            )
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


def _product(a: Array, b: Array) -> Array:
    """Hamilton product of quaternions."""
    aw, av, bw, bv = a[0], a[1:], b[0], b[1:]
    return np.array([aw * bw - av @ bv, *(aw * bv + bw * av + np.cross(av, bv))])


def _ride(ocean: Ocean, place: tuple[float, float], radius: float) -> Ride:
    """How a small body follows the waves at a place."""
    north, east = place
    waves = ocean.waves
    lean = _lean(ocean, radius)
    if waves is None:
        nothing = np.zeros(0)
        return Ride(*(nothing,) * 5, lean=lean, radius=radius)
    amplitude, k, direction, phase, omega = _plain(waves)
    horizontal = amplitude
    if waves.depth is not None:
        horizontal = amplitude / np.tanh(np.maximum(k * float(waves.depth), 1e-9))
    here = phase - k * (np.cos(direction) * north + np.sin(direction) * east)
    return Ride(
        amplitude=amplitude,
        sway=horizontal,
        omega=omega,
        phase=np.remainder(here, math.tau),
        direction=direction,
        lean=lean,
        radius=radius,
    )


def _plain(waves: Waves) -> list[Array]:
    parts = (waves.amplitude, waves.wavenumber, waves.direction, waves.phase, waves.observed)
    return [np.asarray(part, np.float64) for part in parts]


def _lean(ocean: Ocean, radius: float) -> Array:
    """Where the current of the start holds a moored body within its circle."""
    if ocean.current is None:
        return np.zeros(2)
    from seatrial.ocean import current

    flow = current.sample(ocean.current, (0.0, 0.0, 0.0), np.float64(0.0))
    north, east = (float(c) for c in flow[:2])
    speed = math.hypot(north, east)
    if speed == 0.0:
        return np.zeros(2)
    share = min(1.0, speed / FIRM_CURRENT)
    return radius * share * np.array([north, east]) / speed


def timetable(start: tuple[float, float], waypoints: tuple[Waypoint, ...]) -> Timetable:
    """From waypoint to waypoint in time, and on as before."""
    place = np.array(start, np.float64)
    since, position, velocities = [], [], []
    time = 0.0
    for waypoint in waypoints:
        there = np.array(waypoint.position, np.float64)
        since.append(time)
        position.append(place)
        velocities.append((there - place) / (waypoint.time - time))
        time, place = waypoint.time, there
    return Timetable(np.array(since), np.array(position), np.array(velocities))
