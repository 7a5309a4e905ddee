"""Bodies on the card: their faces once and for all, where they are for every picture.

Corners of what stands still lie in the world's axes about the middle of the body, those of what
moves (and of boards) in its own. A row of a texture says for each body where it is from the eye,
how it is turned and how it is painted.

Long faces are cut: a place that is seen through the surface is moved to where it seems to be corner
by corner, and straight lines between corners stay straight.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.mesh import Mesh, sides_of_faces
from seatrial.geometry.rays import RayScene
from seatrial.render.appearance import summed
from seatrial.render.live.solids import Shader
from seatrial.render.picture import Shot
from seatrial.render.shaders.tables import table

Array = NDArray[np.float64]

LONGEST = 4.0
"""Side of a face, m."""
FEWEST = 24.0
"""Parts into which the extent of a body is cut at most, along each side."""
STRAIGHT = 4.0
"""Distance, in radii of a body, from which on it need not be cut."""
COLUMNS = 7
"""Of the texture: three rows of the matrix with the place; paint; velocity; board; its size."""
ROWS = 4096
"""Of the texture; more bodies than that lie beside the first ones."""


class _Shape(NamedTuple):
    middle: Array
    """(3,) of a sphere around it, in the axes of its corners."""
    radius: float
    closed: bool
    """Whether its faces that look away cannot be seen from outside."""


class Bodies:
    """All of a scene."""

    def __init__(self, gl: Any, shader: Shader) -> None:
        self.rays: RayScene = shader.stage.rays
        self._gl = gl
        bodies = self.rays.bodies
        count = len(bodies)
        blocks = max(1, -(-count // ROWS))
        self._rows = np.zeros((ROWS * blocks if blocks > 1 else max(count, 1), COLUMNS, 4))
        self._blocks = blocks
        self._places = np.zeros((count, 3))
        self._turns = np.tile(np.eye(3), (count, 1, 1))
        self._apart = shader.apart
        self._rows[:count, 3, :3] = shader.painted[:, :count].T
        self._rows[self._apart, 3, 3] = 1.0
        self.cells = self._laid_out(shader.boards)
        plain, pieces, shapes = [], [], []
        for i, body in enumerate(bodies):
            mesh = body.mesh()
            if i not in self._apart:
                place, turned = body.pose(0.0)
                self._places[i] = place
                mesh = Mesh(mesh.vertices @ turned.T, mesh.faces)
            elif not body.moves and body.shape != "vehicle":
                self._places[i], self._turns[i] = body.pose(0.0)
            extent = np.ptp(mesh.vertices, axis=0)
            plain.append(mesh.vertices[mesh.faces])
            pieces.append(cut(mesh, max(LONGEST, float(extent.max()) / FEWEST)))
            middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
            radius = float(np.linalg.norm(mesh.vertices - middle, axis=1).max())
            shapes.append(_Shape(middle, radius, closed(mesh)))
        self._middles = np.array([s.middle for s in shapes]).reshape(-1, 3)
        self._radii = np.array([s.radius for s in shapes])
        self._closed = np.array([s.closed for s in shapes], np.bool_)
        self.moving = np.array([b.moves or b.shape == "vehicle" for b in bodies], np.bool_)
        """(B,) which of them are not always at one place."""
        self.texture = table(gl, self._folded())
        self._faces = [_Faces(gl, parts) for parts in (plain, pieces)] if shapes else []
        self.shown: NDArray[np.bool_] = np.zeros(count, np.bool_)
        """(B,) which of them are there at all."""
        self.middles = np.zeros((count, 3))
        """(B, 3) of spheres around them, from the eye."""

    @property
    def radii(self) -> Array:
        """(B,) of spheres around them."""
        return self._radii

    def _laid_out(self, boards: list[int]) -> Any:
        """Sums of the cells of all boards, one below the other."""
        bodies = self.rays.bodies
        sums = [summed(pattern) for i in boards if (pattern := bodies[i].pattern) is not None]
        width = max((part.shape[1] for part in sums), default=1)
        row = 0
        for k, (i, part) in enumerate(zip(boards, sums, strict=True)):
            self._rows[i, 3, 3] = 2.0 + k
            self._rows[i, 5] = 0.0, row, part.shape[1] - 1, part.shape[0] - 1
            self._rows[i, 6, :2] = bodies[i].beam, bodies[i].height
            row += part.shape[0]
        wide = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in sums]
        return table(self._gl, np.concatenate(wide) if wide else np.zeros((1, 1)))

    def place(self, shot: Shot, eye: Array, time: float) -> None:
        """Put all of them where they are at a time, as seen from a place."""
        bodies = self.rays.bodies
        self.shown[:] = True
        for i in np.flatnonzero(self.moving):
            body = bodies[i]
            if body.shape == "vehicle":
                others = shot.others
                row = None if others is None else others[self.rays.vehicles.index(int(i))]
                if row is None or not np.isfinite(row).all():
                    self.shown[i] = False
                    continue
                self._places[i], self._turns[i] = row[:3], rotation_matrix(row[3:])
            else:
                self._places[i], self._turns[i] = body.pose(time)
                if body.motion is not None:
                    self._rows[i, 4, :2] = body.motion.at(time)[1]
        count = len(bodies)
        self._rows[:count, :3, :3] = self._turns
        self._rows[:count, :3, 3] = self._places - eye
        self.middles = self._places - eye + np.einsum("bij,bj->bi", self._turns, self._middles)
        self.texture.write(self._folded())

    def velocities(self, chosen: NDArray[np.bool_], most: int) -> Array:
        """(K, 3) different velocities of some of them, 0 first, then those of the nearest."""
        count = len(chosen)
        order = np.argsort(np.linalg.norm(self.middles, axis=1), kind="stable")
        every = [np.zeros(3), *self._rows[:count, 4, :3][[i for i in order if chosen[i]]]]
        found = dict.fromkeys(tuple(velocity.tolist()) for velocity in every)
        return np.array(list(found)[:most])

    def _folded(self) -> NDArray[np.float32]:
        """Rows of the texture, block beside block."""
        parts = np.split(self._rows.astype(np.float32), self._blocks)
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def draw(
        self, program: Any, chosen: NDArray[np.bool_], front: str | None, pieces: bool = False
    ) -> None:
        """Render some of them, in small pieces if asked for: of closed ones that the eye is outside
        of only faces that run around `front` (`cw` or `ccw`), where it is given."""
        if not self._faces:
            return
        away = np.linalg.norm(self.middles, axis=1)
        if pieces:  # only near by do lines bend that matter
            near = away < STRAIGHT * self._radii
            self.draw(program, chosen & ~near, front)
            chosen = chosen & near
        faces = self._faces[int(pieces)]
        if front is None:
            faces.draw(program, chosen)
            return
        outside = away > 1.1 * self._radii + 0.1
        halved = chosen & self._closed & outside
        faces.draw(program, chosen & ~halved)
        self._gl.enable(self._gl.CULL_FACE)
        self._gl.front_face = front
        faces.draw(program, halved)
        self._gl.disable(self._gl.CULL_FACE)

    def release(self) -> None:
        """Let go of everything on the card."""
        for thing in (self.texture, self.cells, *self._faces):
            thing.release()


class _Faces:
    """Corners of the faces of all bodies, body by body."""

    def __init__(self, gl: Any, parts: list[Array]) -> None:
        self._gl = gl
        self._firsts = np.cumsum([0, *(len(part) for part in parts)])
        faces = np.concatenate(parts)
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
        packed = np.zeros((len(faces), 3), [("c", "f4", 3), ("n", "f4", 3), ("o", "i4")])
        packed["c"], packed["n"] = faces, normals[:, None]
        packed["o"] = np.repeat(np.arange(len(parts)), np.diff(self._firsts))[:, None]
        self._corners = gl.buffer(packed.tobytes())
        self._arrays: dict[Any, Any] = {}

    def draw(self, program: Any, chosen: NDArray[np.bool_]) -> None:
        """Those that follow each other together."""
        numbers = np.flatnonzero(chosen)
        if not len(numbers):
            return
        if program not in self._arrays:
            used = [name for name in _LAYOUT if name in program]
            layout = " ".join(_LAYOUT[n][int(n not in used)] for n in _LAYOUT)
            content = [(self._corners, layout, *used)]
            self._arrays[program] = self._gl.vertex_array(program, content)
        array = self._arrays[program]
        for part in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1):
            first, last = int(self._firsts[part[0]]), int(self._firsts[part[-1] + 1])
            array.render(vertices=3 * (last - first), first=3 * first)

    def release(self) -> None:
        """Let go of everything on the card."""
        for thing in (*self._arrays.values(), self._corners):
            thing.release()


_LAYOUT = {"corner": ("3f", "3x4"), "facing": ("3f", "3x4"), "owner": ("1i", "1x4")}
"""Parts of a corner: what they are, and as what they are passed over."""


def closed(mesh: Mesh) -> bool:
    """Whether faces go around a volume, with their outsides outside: every side belongs to two that
    run along it in opposite ways."""
    sides = sides_of_faces(mesh.faces)
    number = sides[:, 0] * len(mesh.vertices) + sides[:, 1]
    back = sides[:, 1] * len(mesh.vertices) + sides[:, 0]
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    volume = float(np.einsum("fi,fi->", a, np.cross(b, c)))
    once = len(np.unique(number)) == len(number)
    return once and volume > 0.0 and bool(np.isin(number, back).all())


def cut(mesh: Mesh, longest: float) -> Array:
    """(F, 3, 3) corners of the faces of a mesh, halved along sides that are longer than stated
    until none is; faces that share a side are cut alike."""
    done, rest = [], mesh.vertices[mesh.faces]
    while len(rest):
        sides = np.linalg.norm(np.roll(rest, -1, axis=1) - rest, axis=2)
        long = sides.max(axis=1) > longest
        done.append(rest[~long])
        rest, sides = rest[long], sides[long]
        # Turned so that the longest side is the first.
        order = (np.argmax(sides, axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(rest, order[..., None], axis=1).transpose(1, 0, 2)
        middle = 0.5 * (a + b)
        rest = np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])
    return np.concatenate(done)
