"""`seatrial study buoyancy`: a sphere lowered into still water, by triangles and by cubes.

After a thesis on a digital twin for unmanned surface vehicles (2024), sections 5.1 and 5.2: its
figures 22 to 26 and 29 and its table 1. Its table says R = 1 m, but its errors, in cubic metres and
in per cent, are those of a sphere of diameter 1 m, which is taken here.
"""

import math
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.core.forces import voxels, wetted
from seatrial.geometry.mesh import Mesh
from seatrial.hull.shape.forms import icosphere
from seatrial.hull.shape.shells import volume
from seatrial.hull.shape.voxels import fill
from seatrial.spatial.rotations import from_euler, rotation
from seatrial.spatial.vectors import Twist
from seatrial.validation.buoyancy.figures import draw_buoyancy, nearest
from seatrial.validation.claims import Claim
from seatrial.validation.findings import Findings, Table, Watch, rounded

Array = NDArray[np.float64]

RADIUS = 0.5
DENSITY = 1025.0
PUBLISHED = {80: 0.0663, 320: 0.0177, 1280: 0.0045, 5120: 0.0011}
"""Triangles -> largest error in volume, m³."""
PUBLISHED_TIMES = {
    "512 cubes": 192.0,
    "4,154 cubes": 980.0,
    "1,280 triangles": 1200.0,
    "5,120 triangles": 4600.0,
}
"""One update on a Ryzen 5 5600X, µs."""
EDGES = (0.25, 0.125, 0.0625, 0.05)
STILL = Twist(*[0.0] * 6)


def cut_hull(mesh: Mesh) -> wetted.CutHull:
    """A mesh for the force on triangles."""
    return wetted.CutHull(
        wetted.HullMesh(
            jnp.asarray(mesh.vertices.T),
            jnp.asarray(mesh.faces.T, jnp.int32),
            jnp.asarray(mesh.vertices[mesh.faces].transpose(1, 2, 0)),
        )
    )


def cubes_of(mesh: Mesh, edge: float) -> voxels.Voxels:
    """A mesh filled with cubes."""
    found = fill(mesh, edge)
    return voxels.Voxels(
        jnp.asarray(found.centres.T), jnp.asarray(found.volumes), jnp.asarray(found.edge)
    )


def _loads(hull: Any, z: jax.Array, attitude: jax.Array) -> wetted.WetLoads:
    if isinstance(hull, wetted.CutHull):
        return wetted.loads(hull, None, z, rotation(attitude), STILL, DENSITY)
    return voxels.loads(hull, None, z, rotation(attitude), DENSITY)


@jax.jit
def _volumes(hull: Any, depths: jax.Array) -> jax.Array:
    upright = from_euler(0.0, 0.0, 0.0)
    volumes: jax.Array = jax.lax.map(lambda z: jnp.asarray(_loads(hull, z, upright).volume), depths)
    return volumes


@jax.jit
def _repeat(hull: Any, count: jax.Array) -> jax.Array:
    """Updates of which each begins where the one before has moved the hull: by all of the force and
    the moment, since what nobody asks for is not computed."""

    def once(_: jax.Array, at: jax.Array) -> jax.Array:
        found = _loads(hull, at[2], from_euler(at[3], at[4], at[5])).wrench
        return at + 1e-9 * jnp.stack([jnp.asarray(part) for part in found])

    start = jnp.array([0.0, 0.0, 0.05, 0.01, 0.01, 0.01])
    moved: jax.Array = jax.lax.fori_loop(0, count, once, start)
    return moved


def update_time(hull: Any, updates: int) -> float:
    """Processor time of one update inside a compiled loop, µs, the best of five."""
    _repeat(hull, jnp.int64(3)).block_until_ready()
    best = math.inf
    for _ in range(5):
        began = time.process_time()
        _repeat(hull, jnp.int64(updates)).block_until_ready()
        best = min(best, time.process_time() - began)
    return best / updates * 1e6


def uncut_triangles(mesh: Mesh, depths: Array) -> Array:
    """Volume when only triangles that are wholly wet count, as without the cut."""
    corners = mesh.vertices[mesh.faces]
    normal = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    below = corners[None, :, :, 2] + depths[:, None, None]
    whole = np.all(below > 0.0, axis=2)
    return np.asarray(np.sum(whole * normal * below.mean(axis=2), axis=1))


def uncut_cubes(mesh: Mesh, edge: float, depths: Array) -> Array:
    """Volume when a cube counts as soon as its middle is wet."""
    found = fill(mesh, edge)
    return np.asarray(((found.centres[:, 2] + depths[:, None]) > 0.0) @ found.volumes)


def buoyancy(out: Path, sample: bool, watch: Watch) -> Findings:
    """Volumes over depth, errors, and what an update costs."""
    depths = np.linspace(-1.1 * RADIUS, 1.1 * RADIUS, 111 if sample else 441)
    d = np.clip(depths + RADIUS, 0.0, 2.0 * RADIUS)
    exact = math.pi * d**2 * (3.0 * RADIUS - d) / 3.0
    curves: dict[str, Array] = {}
    rows, claims = [], []
    times: dict[str, float] = {}
    updates = 50 if sample else 1000
    with jax.enable_x64(True):
        for n, (count, published) in enumerate(PUBLISHED.items(), start=1):
            mesh = icosphere(RADIUS, n)
            hull = cut_hull(mesh)
            curves[f"{count:,} triangles"] = np.array(_volumes(hull, jnp.asarray(depths)))
            error = float(np.abs(curves[f"{count:,} triangles"] - exact).max())
            own = 4.0 / 3.0 * math.pi * RADIUS**3 - volume(mesh)
            times[f"{count:,} triangles"] = update_time(hull, updates)
            rows.append([f"{count:,}", f"{published:.4f}", f"{error:.5f}", f"{own:.5f}"])
            claims.append(
                Claim(
                    f"{count:,} triangles err by no more than published, and by their mesh alone",
                    error <= published + 5e-5 and abs(error - own) < 1e-9,
                    f"{error:.5f} m³, published {published:.4f}, the mesh's own {own:.5f}",
                )
            )
            watch.share(0.1 * n)
        fine = icosphere(RADIUS, 4)
        filled = []
        for edge in EDGES:
            hull_of_cubes = cubes_of(fine, edge)
            count = int(hull_of_cubes.volumes.shape[0])
            name = f"{count:,} cubes"
            curves[name] = np.array(_volumes(hull_of_cubes, jnp.asarray(depths)))
            times[name] = update_time(hull_of_cubes, updates)
            jump = float(np.abs(np.diff(curves[name])).max() / (depths[1] - depths[0]))
            error = float(np.abs(curves[name] - exact).max())
            filled.append(
                [name, f"{edge:g}", f"{error:.5f}", f"{jump / (math.pi * RADIUS**2):.2f}"]
            )
            claims.append(
                Claim(
                    f"no jump over depth with {name}",
                    jump < 2.0 * math.pi * RADIUS**2,
                    f"steepest {jump:.3f} m², great circle {math.pi * RADIUS**2:.3f} m²",
                )
            )
        watch.share(0.8)
    timed = []
    for name, published_time in PUBLISHED_TIMES.items():
        ours = nearest(name, times)
        timed.append([name, f"{published_time:,.0f}", f"{times[ours]:.1f} ({ours})"])
        claims.append(
            Claim(
                f"an update of {name} costs a tenth of the published time or less",
                times[ours] <= 0.1 * published_time,
                f"{times[ours]:.1f} µs for {ours}, published {published_time:,.0f} µs",
            )
        )
    coarse = icosphere(RADIUS, 1)
    draw_buoyancy(
        out / "buoyancy.png",
        depths,
        exact,
        curves,
        {"triangles": uncut_triangles(coarse, depths), "cubes": uncut_cubes(fine, 0.25, depths)},
        times,
        PUBLISHED_TIMES,
    )
    return Findings(
        numbers={
            "depth_m": rounded(depths),
            "volume_m3": {"exact": rounded(exact)} | {k: rounded(v) for k, v in curves.items()},
            "update_us": times,
            "published_update_us": PUBLISHED_TIMES,
        },
        tables=[
            Table(
                "Largest error in displaced volume, m³ (table 1)",
                ["triangles", "published", "seatrial", "the mesh itself"],
                rows,
            ),
            Table(
                "Cubes, cut at the surface",
                ["cubes", "edge / m", "largest error / m³", "steepest, over great circle"],
                filled,
            ),
            Table(
                "One update, µs of processor time (figure 29)",
                ["of", "published", "seatrial"],
                timed,
            ),
        ],
        claims=claims,
    )
