"""Mends a triangle mesh until it encloses a volume, or says what a person has to mend.

A mesh that hydrostatics can use is closed and wound outwards: every edge belongs to two triangles
that run through it in opposite directions, and each shell encloses a positive volume. What files
lack of that is mended in this order: corners that coincide are joined, triangles without area and
copies dropped, walls inside the hull taken out, winding made one, holes closed, shells turned
outwards, shells that cut each other united. Every repair is told.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import Problem, SpecError
from seatrial.geometry.mesh import Mesh, sides_of_faces
from seatrial.hull.shape.shells import (
    areas,
    compact,
    edges_of,
    outwards,
    patches_of,
    thickness,
    volume,
    volumes,
    welded,
    winding,
)

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

SMALL_HOLE = 0.02
"""A hole whose rim encloses no more than this share of the surface is closed, whatever its form."""
FLAT = 0.02
"""A rim that leaves its plane by less than this share of its size is flat."""
LARGEST = 20_000
"""Triangles that are worked with; a finer mesh is simplified first."""
MOST = 2_000_000
"""Triangles that are read at all: mending so many takes about a minute and 2.5 GB."""
MOST_PIECES = 1000
"""Parts of a mesh that hang together nowhere; a hull has few, an assembly with its bolts many."""


@dataclass(frozen=True)
class Mended:
    """A closed mesh and what was done to get there."""

    mesh: Mesh
    repairs: tuple[str, ...]


def _check_solid(mesh: Mesh, name: str) -> None:
    """Refuse what has no triangles or lies in a plane."""
    if len(mesh.faces) == 0 or np.ptp(mesh.vertices, axis=0).min() <= 0.0:
        size = np.ptp(mesh.vertices, axis=0).round(4).tolist() if len(mesh.vertices) else "none"
        raise _refusal(
            name,
            "the mesh encloses no volume",
            f"{len(mesh.faces)} triangles, size {size}",
            "give the hull as a solid, with thickness in all three directions",
        )


def mend(mesh: Mesh, name: str, up: Array) -> Mended:
    """A closed mesh wound outwards; `up` is the direction in which a boat may be open."""
    repairs: list[str] = []
    _check_solid(mesh, name)
    joined = welded(mesh)
    if len(joined.faces) < len(mesh.faces):
        repairs.append(
            f"{len(mesh.faces) - len(joined.faces)} triangles dropped that were copies or had no "
            "area"
        )
    _check_solid(Mesh(mesh.vertices, joined.faces), name)
    joined, sheets = _without_sheets(joined, name)
    if sheets:
        repairs.append(f"{sheets} triangles dropped of flat sheets that enclose nothing")
    mesh, walls, fins = _without_inner_walls(_apart(joined), name)
    if walls:
        repairs.append(f"{walls} triangles dropped that were walls inside the hull")
    if fins:
        repairs.append(
            f"{fins} triangles dropped of sheets with a free edge, which enclose nothing"
        )
    mesh, closed = _filled(mesh, name, up)
    repairs += closed
    right = outwards(mesh)
    wrong = int(np.sum(np.any(right.faces != mesh.faces, axis=1)))
    if wrong:
        repairs.append(f"{wrong} of {len(mesh.faces)} triangles turned to face outwards")
    size = float(np.ptp(right.vertices, axis=0).max())
    mesh, loose = _solid(right, 1e-9 * size**3)
    if loose:
        repairs.append(f"{loose} triangles dropped of sheets that enclose nothing")
    if volume(mesh) <= 1e-9 * size**3:
        raise _refusal(
            name,
            "the mesh encloses no volume",
            f"{volume(mesh):.3g} for a size of {size:.3g}",
            "give the hull as a solid: a closed surface, not a sheet",
        )
    mesh, united = _united(mesh)
    if united:
        repairs.append(united)
    if len(mesh.faces) > LARGEST:
        before = len(mesh.faces)
        mesh = simplified(mesh, name)
        repairs.append(f"{before} triangles simplified to {len(mesh.faces)}")
    return Mended(mesh, tuple(repairs))


def simplified(mesh: Mesh, name: str, most: int = LARGEST) -> Mesh:
    """At most `most` triangles, with the smallest tolerance that leaves so few."""
    try:
        import manifold3d
    except ImportError:
        raise _refusal(
            name,
            "the mesh is too fine",
            f"{len(mesh.faces)} triangles",
            f"decimate it to {most} triangles, or `pip install 'seatrial[hulls]'`, by which it "
            "is simplified",
        ) from None
    solid = _manifold(mesh, manifold3d)
    size = float(np.ptp(mesh.vertices, axis=0).max())
    for tolerance in size * np.geomspace(1e-6, 1e-2, 13):
        # from the last one on: from the whole mesh each time would take several times as long
        solid = solid.simplify(float(tolerance))
        if solid.num_tri() <= most:
            return _from_manifold(solid)
    raise _refusal(
        name,
        "the mesh is too fine, and cannot be simplified within a hundredth of its size",
        f"{len(mesh.faces)} triangles",
        f"decimate it to {most} triangles",
    )


def _solid(mesh: Mesh, least: float) -> tuple[Mesh, int]:
    """Without shells of less volume, if some have more; and how many triangles those had."""
    shell = winding(mesh.faces)[1]
    kept = (volumes(mesh, shell) > least)[shell]
    if kept.all() or not kept.any():
        return mesh, 0
    return compact(Mesh(mesh.vertices, mesh.faces[kept])), int(np.sum(~kept))


def _refusal(name: str, message: str, value: str, mend: str) -> SpecError:
    return SpecError(Problem(f"{name}: {message}", value=value, expected="a hull", mend=mend))


def _apart(mesh: Mesh) -> Mesh:
    """Closed shells that touch along edges given corners of their own: two boxes that meet at an
    edge are two boxes, not a hull with a wall inside."""
    edges, which, count = edges_of(mesh.faces)
    crowded = count > 2
    if not np.any(crowded):
        return mesh
    patch = patches_of(mesh.faces, count != 2, which, len(edges))
    patches = int(patch.max()) + 1
    sides, edge = np.tile(patch, 3), which.ravel()
    _, pair, times = np.unique(edge * patches + sides, return_inverse=True, return_counts=True)
    closed = np.ones(patches, bool)
    closed[sides[times[pair] != 2]] = False
    alone = np.ones(len(edges), bool)  # edges at which closed shells meet and nothing else
    alone[edge[~closed[sides]]] = False
    closed[sides[crowded[edge] & ~alone[edge]]] = False
    own = np.where(closed[patch], patch + 1, 0)
    keys, corner = np.unique(mesh.faces * (patches + 1) + own[:, None], return_inverse=True)
    return Mesh(mesh.vertices[keys // (patches + 1)], corner.reshape(-1, 3).astype(np.int64))


def _without_inner_walls(mesh: Mesh, name: str) -> tuple[Mesh, int, int]:
    """Patches between edges of three triangles taken out, the smallest first, while any are left;
    and how many triangles of walls and of sheets with a free edge those were.

    A bulkhead meets the shell at a rim of such edges and is smaller than either side of the shell;
    a fin without thickness stands on the shell with one side and ends in the open with the others.
    """
    faces = mesh.faces
    walls = fins = 0
    while True:
        edges, which, count = edges_of(faces)
        if not np.any(count > 2):
            return compact(Mesh(mesh.vertices, faces)), walls, fins
        seam = count != 2
        patch = patches_of(faces, seam, which, len(edges))
        crowded = np.zeros(int(patch.max()) + 1, bool)
        crowded[np.tile(patch, 3)[(count > 2)[which.ravel()]]] = True
        area = np.bincount(patch, areas(Mesh(mesh.vertices, faces)))
        if len(area) < 2:
            where = mesh.vertices[edges[np.argmax(count)]].mean(axis=0)
            raise _refusal(
                name,
                "more than two triangles meet at an edge and none of them is a wall inside",
                f"{int(np.sum(count > 2))} such edges, one near {np.round(where, 4).tolist()}",
                "make the surface manifold in the program that made it",
            )
        # Those that are the smallest at all of their crowded edges: none of them touch each other,
        # so that one by one would end the same.
        order = np.empty(len(area), np.int64)
        order[np.argsort(area)] = np.arange(len(area))
        edge, mine = which.ravel(), np.tile(patch, 3)
        among = (count > 2)[edge]
        smallest = np.full(len(edges), len(area))
        np.minimum.at(smallest, edge[among], order[mine[among]])
        crowded[mine[among & (order[mine] != smallest[edge])]] = False
        gone = crowded[patch]
        free = np.zeros(len(area), bool)
        free[mine[(count == 1)[edge]]] = True
        fins += int(np.sum(gone & free[patch]))
        walls += int(np.sum(gone & ~free[patch]))
        faces = faces[~gone]


def _without_sheets(mesh: Mesh, name: str) -> tuple[Mesh, int]:
    """Parts with a rim that lie in a plane taken out, and how many triangles those had; refuses a
    mesh of such parts alone, and one of very many others."""
    edges, which, count = edges_of(mesh.faces)
    part = patches_of(mesh.faces, np.zeros(len(edges), bool), which, len(edges))
    parts = int(part.max()) + 1
    rimmed = np.zeros(parts, bool)
    rimmed[part[np.any(count[which] == 1, axis=0)]] = True
    flat = rimmed & (thickness(mesh, part) < 1e-6 * float(np.ptp(mesh.vertices, axis=0).max()))
    if flat.all():
        raise _refusal(
            name,
            "the mesh encloses no volume",
            f"{parts} flat sheet{'s that share no corners' if parts > 1 else ''}",
            "give the hull as one closed surface, whose triangles share their corners",
        )
    if parts - flat.sum() > MOST_PIECES:
        raise _refusal(
            name,
            "the mesh is in too many pieces",
            f"{parts - flat.sum()} that hang together nowhere",
            f"unite them, or leave out fittings that displace little: at most {MOST_PIECES} pieces "
            "are worked with",
        )
    if not flat.any():
        return mesh, 0
    kept = ~flat[part]
    return compact(Mesh(mesh.vertices, mesh.faces[kept])), int(np.sum(~kept))


def _filled(mesh: Mesh, name: str, up: Array) -> tuple[Mesh, list[str]]:
    """Small holes and a flat opening on top closed; others refused."""
    _, which, count = edges_of(mesh.faces)
    if not np.any(count == 1):
        return mesh, []
    surface = float(areas(mesh).sum())
    vertices, faces, repairs = mesh.vertices, [mesh.faces], []
    small = 0
    middles: list[Array] = []
    for rim in _rims(mesh, which, count):
        ring = vertices[rim]
        middle = ring.mean(axis=0)
        following = np.roll(ring, -1, axis=0)
        normal = 0.5 * np.sum(np.cross(ring - middle, following - middle), axis=0)
        area = float(np.linalg.norm(normal))
        extent = float(np.linalg.norm(ring - middle, axis=1).max())
        away = float(np.abs((ring - middle) @ normal).max() / max(area, 1e-300))
        if area <= SMALL_HOLE * surface and extent**2 <= SMALL_HOLE * surface * 4.0:
            small += 1
        elif away <= FLAT * extent and abs(normal @ up) >= 0.9 * area:
            repairs.append(
                f"an opening of {100 * area / surface:.3g} % of the surface on top closed by a "
                "flat deck"
            )
        else:
            raise _refusal(
                name,
                "the hull is open",
                f"an opening of {100 * area / surface:.1f} % of the surface about "
                f"{np.round(middle, 3).tolist()}",
                "mirror it at that plane: this is one half of a hull"
                if away <= FLAT * extent and area >= 0.25 * surface
                else "close the surface there; only small holes and a flat opening on top are "
                "closed for you",
            )
        centre = np.full(len(rim), len(vertices) + len(middles))
        middles.append(middle)
        faces.append(np.stack([rim, np.roll(rim, -1), centre], axis=1))
    if small:
        repairs.insert(0, f"{small} small hole{'s' if small > 1 else ''} closed")
    return Mesh(np.concatenate([vertices, middles]), np.concatenate(faces)), repairs


def _rims(mesh: Mesh, which: Whole, count: Whole) -> list[Whole]:
    """Closed rims of holes, each as rows of `vertices` in order."""
    open_sides = sides_of_faces(mesh.faces)[(count == 1)[which.ravel()]]
    beside: dict[int, list[int]] = {}
    for a, b in open_sides.tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    rims: list[Whole] = []
    while beside:
        start = next(iter(beside))
        path = [start]
        while True:
            here = path[-1]
            ahead = beside[here].pop()
            if not beside[here]:
                del beside[here]
            beside[ahead].remove(here)
            if not beside[ahead]:
                del beside[ahead]
            if ahead == start:
                break
            if ahead not in beside:  # a loose end: nothing leads on
                break
            path.append(ahead)
        rims.append(np.array(path, np.int64))
    return rims


def _united(mesh: Mesh) -> tuple[Mesh, str]:
    """Shells that overlap made one solid, so that no water is displaced twice."""
    _, which, count = edges_of(mesh.faces)
    shell = patches_of(mesh.faces, count != 2, which, len(count))
    by_shell = np.argsort(shell, kind="stable")
    starts = np.flatnonzero(np.diff(shell[by_shell], prepend=-1))
    corners = mesh.vertices[mesh.faces[by_shell]]
    low = np.minimum.reduceat(corners.min(axis=1), starts)
    high = np.maximum.reduceat(corners.max(axis=1), starts)
    meet = np.all((low[:, None] <= high) & (low <= high[:, None]), axis=2)
    if np.sum(meet) == len(starts):  # each its own box alone
        return mesh, ""
    try:
        import manifold3d
    except ImportError:
        return mesh, (
            "several shells may overlap and were left as they are: `pip install 'seatrial[hulls]'` "
            "to have them united"
        )
    solids = [
        _manifold(compact(Mesh(mesh.vertices, mesh.faces[shell == one])), manifold3d)
        for one in range(len(starts))
    ]
    union = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add)
    before, after = volume(mesh), float(union.volume())
    if not 0.0 < after < (1.0 - 1e-6) * before:
        return mesh, ""
    return _from_manifold(union), (
        f"{len(starts)} shells that overlapped by {100 * (1 - after / before):.2g} % of their "
        "volume united"
    )


def _manifold(mesh: Mesh, manifold3d: Any) -> Any:
    made = manifold3d.Mesh(
        vert_properties=mesh.vertices.astype(np.float32), tri_verts=mesh.faces.astype(np.uint32)
    )
    return manifold3d.Manifold(made)


def _from_manifold(solid: Any) -> Mesh:
    made = solid.to_mesh()
    vertices = np.asarray(made.vert_properties[:, :3], np.float64)
    return Mesh(vertices, np.asarray(made.tri_verts, np.int64))
