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

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

JOIN = 1e-5
"""Corners closer than this share of the hull's size are one."""
SMALL_HOLE = 0.02
"""A hole whose rim encloses no more than this share of the surface is closed, whatever its form."""
FLAT = 0.02
"""A rim that leaves its plane by less than this share of its size is flat."""
LARGEST = 20_000
"""Triangles that are worked with; a finer mesh is simplified first."""


@dataclass(frozen=True)
class Mended:
    """A closed mesh and what was done to get there."""

    mesh: Mesh
    repairs: tuple[str, ...]


def volume(mesh: Mesh) -> float:
    """Enclosed volume by the divergence theorem, m³; negative when the mesh is inside out."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return float(np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6.0)


def areas(mesh: Mesh) -> Array:
    """(F,) of the triangles, m²."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def welded(mesh: Mesh) -> Mesh:
    """Corners that coincide joined; triangles without area and copies of others dropped."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    points, copies = np.unique(mesh.vertices, axis=0, return_inverse=True)
    size = float(np.ptp(points, axis=0).max())
    near = cKDTree(points).query_pairs(JOIN * size, output_type="ndarray")
    joints = coo_matrix((np.ones(len(near)), near.T), shape=(len(points),) * 2)
    which = connected_components(joints, directed=False)[1][copies.reshape(-1)]
    first = np.unique(which, return_index=True)[1]
    faces = which[mesh.faces].astype(np.int64)
    distinct = (
        (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    )
    faces = faces[distinct]
    _, kept = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return _compact(Mesh(mesh.vertices[first], faces[np.sort(kept)]))


def outwards(mesh: Mesh) -> Mesh:
    """Winding made one within every shell, and every shell turned to enclose a positive volume."""
    faces = mesh.faces.copy()
    turned, shell = _winding(faces)
    faces[turned] = faces[turned][:, ::-1]
    for one in range(int(shell.max()) + 1 if len(shell) else 0):
        mine = shell == one
        if volume(Mesh(mesh.vertices, faces[mine])) < 0.0:
            faces[mine] = faces[mine][:, ::-1]
    return Mesh(mesh.vertices, faces)


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
    joined, sheets = _without_sheets(joined)
    if sheets:
        repairs.append(f"{sheets} triangles dropped of flat sheets that enclose nothing")
    mesh, walls, fins = _without_inner_walls(joined, name)
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
        coarse = solid.simplify(float(tolerance))
        if coarse.num_tri() <= most:
            return _from_manifold(coarse)
    raise _refusal(
        name,
        "the mesh is too fine, and cannot be simplified within a hundredth of its size",
        f"{len(mesh.faces)} triangles",
        f"decimate it to {most} triangles",
    )


def _solid(mesh: Mesh, least: float) -> tuple[Mesh, int]:
    """Without shells of less volume, if some have more; and how many triangles those had."""
    shell = _winding(mesh.faces)[1]
    kept = np.zeros(len(mesh.faces), bool)
    for one in range(int(shell.max()) + 1 if len(shell) else 0):
        mine = shell == one
        kept |= mine & (volume(Mesh(mesh.vertices, mesh.faces[mine])) > least)
    if kept.all() or not kept.any():
        return mesh, 0
    return _compact(Mesh(mesh.vertices, mesh.faces[kept])), int(np.sum(~kept))


def _refusal(name: str, message: str, value: str, mend: str) -> SpecError:
    return SpecError(Problem(f"{name}: {message}", value=value, expected="a hull", mend=mend))


def _compact(mesh: Mesh) -> Mesh:
    used, which = np.unique(mesh.faces, return_inverse=True)
    return Mesh(mesh.vertices[used], which.reshape(-1, 3).astype(np.int64))


def _edges(faces: Whole) -> tuple[Whole, Whole, Whole]:
    """Undirected edges (E, 2), for every side of every face (3, F) which it is, and its count."""
    ends = sides_of_faces(faces)
    # one number per edge: rows of a million triangles would take ten times as long to sort
    most = int(faces.max(initial=0)) + 1
    keys, which, count = np.unique(
        ends.min(axis=1) * most + ends.max(axis=1), return_inverse=True, return_counts=True
    )
    edges = np.stack([keys // most, keys % most], axis=1)
    return edges, which.reshape(3, -1), count


def _patches(faces: Whole, seam: NDArray[np.bool_], which: Whole, edges: int) -> Whole:
    """Which patch each face belongs to, when faces hang together across edges that are no seam."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    face = np.tile(np.arange(len(faces)), 3)
    edge = which.ravel()
    inner = ~seam[edge]
    joint = coo_matrix(
        (np.ones(inner.sum()), (face[inner], edge[inner])), shape=(len(faces), edges)
    ).tocsr()
    return np.asarray(connected_components(joint @ joint.T, directed=False)[1], np.int64)


def _winding(faces: Whole) -> tuple[NDArray[np.bool_], Whole]:
    """Whether each face must be turned to agree with the first of its shell, and its shell."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    _, which, count = _edges(faces)
    begin, end = sides_of_faces(faces).T
    forward = begin < end
    face = np.tile(np.arange(len(faces)), 3)
    by_edge = np.argsort(which.ravel(), kind="stable")
    pairs = by_edge[np.repeat(count == 2, count)].reshape(-1, 2)
    one, other = face[pairs[:, 0]], face[pairs[:, 1]]
    clash = forward[pairs[:, 0]] == forward[pairs[:, 1]]
    graph = coo_matrix((np.ones(len(one)), (one, other)), shape=(len(faces),) * 2).tocsr()
    _, shell = connected_components(graph, directed=False)
    clashing = coo_matrix((clash * 1.0, (one, other)), shape=graph.shape).tocsr()
    clashing = clashing + clashing.T
    turned = np.zeros(len(faces), bool)
    for root in np.unique(shell, return_index=True)[1]:
        order, before = breadth_first_order(graph, root, directed=False)
        if len(order) < 2:
            continue
        apart = np.asarray(clashing[order[1:], before[order[1:]]]).ravel() > 0.0
        for face_, parent, odd in zip(order[1:], before[order[1:]], apart, strict=True):
            turned[face_] = turned[parent] ^ odd
    return turned, np.asarray(shell, np.int64)


def _without_inner_walls(mesh: Mesh, name: str) -> tuple[Mesh, int, int]:
    """Patches between edges of three triangles taken out, the smallest first, while any are left;
    and how many triangles of walls and of sheets with a free edge those were.

    A bulkhead meets the shell at a rim of such edges and is smaller than either side of the shell;
    a fin without thickness stands on the shell with one side and ends in the open with the others.
    """
    faces = mesh.faces
    walls = fins = 0
    while True:
        edges, which, count = _edges(faces)
        if not np.any(count > 2):
            return _compact(Mesh(mesh.vertices, faces)), walls, fins
        seam = count != 2
        patch = _patches(faces, seam, which, len(edges))
        crowded = np.zeros(int(patch.max()) + 1, bool)
        np.logical_or.at(crowded, np.tile(patch, 3), (count > 2)[which.ravel()])
        area = np.bincount(patch, areas(Mesh(mesh.vertices, faces)))
        if len(area) < 2:
            where = mesh.vertices[edges[np.argmax(count)]].mean(axis=0)
            raise _refusal(
                name,
                "more than two triangles meet at an edge and none of them is a wall inside",
                f"{int(np.sum(count > 2))} such edges, one near {np.round(where, 4).tolist()}",
                "make the surface manifold in the program that made it",
            )
        gone = patch == int(np.argmin(np.where(crowded, area, np.inf)))
        if np.any(count[which[:, gone]] == 1):
            fins += int(gone.sum())
        else:
            walls += int(gone.sum())
        faces = faces[~gone]


def _without_sheets(mesh: Mesh) -> tuple[Mesh, int]:
    """Parts with a rim that lie in a plane, beside others that do not, taken out."""
    edges, which, count = _edges(mesh.faces)
    if not np.any(count == 1):
        return mesh, 0
    part = _patches(mesh.faces, np.zeros(len(edges), bool), which, len(edges))
    size = float(np.ptp(mesh.vertices, axis=0).max())
    flat = np.zeros(int(part.max()) + 1, bool)
    for one in np.unique(part[np.any(count[which] == 1, axis=0)]):
        corners = mesh.vertices[np.unique(mesh.faces[part == one])]
        spread = np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)
        flat[one] = spread[-1] < 1e-6 * size
    if flat.all() or not flat.any():
        return mesh, 0
    kept = ~flat[part]
    return _compact(Mesh(mesh.vertices, mesh.faces[kept])), int(np.sum(~kept))


def _filled(mesh: Mesh, name: str, up: Array) -> tuple[Mesh, list[str]]:
    """Small holes and a flat opening on top closed; others refused."""
    _, which, count = _edges(mesh.faces)
    if not np.any(count == 1):
        return mesh, []
    surface = float(areas(mesh).sum())
    vertices, faces, repairs = mesh.vertices, [mesh.faces], []
    small = 0
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
            repairs.append(f"an opening of {area:.3g} m² on top closed by a flat deck")
        else:
            raise _refusal(
                name,
                "the hull is open",
                f"an opening of {100 * area / surface:.1f} % of the surface about "
                f"{np.round(middle, 3).tolist()}",
                "close the surface there; only small holes and a flat opening on top are closed "
                "for you",
            )
        centre = len(vertices)
        vertices = np.concatenate([vertices, middle[None]])
        i = np.arange(len(rim))
        faces.append(np.stack([rim, rim[(i + 1) % len(rim)], np.full(len(rim), centre)], axis=1))
    if small:
        repairs.insert(0, f"{small} small hole{'s' if small > 1 else ''} closed")
    return Mesh(vertices, np.concatenate(faces)), repairs


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
    _, which, count = _edges(mesh.faces)
    shell = _patches(mesh.faces, count != 2, which, len(count))
    boxes = []
    for one in range(int(shell.max()) + 1):
        corners = mesh.vertices[mesh.faces[shell == one].ravel()]
        boxes.append((corners.min(axis=0), corners.max(axis=0)))
    apart = all(
        np.any(a[1] < b[0]) or np.any(b[1] < a[0])
        for i, a in enumerate(boxes)
        for b in boxes[i + 1 :]
    )
    if apart:
        return mesh, ""
    try:
        import manifold3d
    except ImportError:
        return mesh, (
            "several shells may overlap and were left as they are: `pip install 'seatrial[hulls]'` "
            "to have them united"
        )
    solids = [
        _manifold(_compact(Mesh(mesh.vertices, mesh.faces[shell == one])), manifold3d)
        for one in range(len(boxes))
    ]
    union = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add)
    before, after = volume(mesh), float(union.volume())
    if not 0.0 < after < (1.0 - 1e-6) * before:
        return mesh, ""
    return _from_manifold(union), (
        f"{len(boxes)} shells that overlapped by {before - after:.3g} m³ united"
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
