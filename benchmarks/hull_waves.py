"""How far motions with `hydrodynamics: potential` are from capytaine by itself: a table.

    python benchmarks/hull_waves.py
    python benchmarks/hull_waves.py --length 6 --beam 1.5 --draught 0.4 --periods 1.6 2 3 7

A box in default panels, moved by the equations of motion that a step integrates, in a tiny wave;
beside it the frequency domain on another mesh of graded quadrangles, solved with sources. Largest
error over all headings of each motion, as a share of the motion where that is more than a tenth of
the wave's amplitude or slope, else of that tenth. Needs the extra `hulls`.
"""

import argparse
import json
import math
from typing import Any

import capytaine as cpt
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.hull_forces import solve_hull
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.conventions import GRAVITY
from seatrial.core.step import derivative
from seatrial.core.types import State
from seatrial.hull.potential.solver import TURN
from seatrial.spatial.rotations import from_euler
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

Array = NDArray[np.float64]
DOUBLE: np.dtype[Any] = np.dtype(np.float64)
DENSITY = 1025.0
PERIODS = (1.5, 1.75, 2.0, 2.2, 2.5, 3.0, 4.0, 8.0)
HEADINGS = (180.0, 135.0, 90.0, 63.0, 27.0)
MOTIONS = {"sway": 1, "heave": 2, "pitch": 4}
AMPLITUDE = 1e-5


def box(length: float, beam: float, draught: float) -> Vehicle:
    """A box whose centre of gravity is on the waterline."""
    return Vehicle.model_validate(
        {
            "kind": "vehicle",
            "name": "box",
            "source": "made up",
            "length": length,
            "beam": beam,
            "height": 2.5 * draught,
            "inertia": {
                "mass": DENSITY * length * beam * draught,
                "gyration": [0.35 * beam, 0.26 * length, 0.27 * length],
            },
            "buoyancy": {
                "craft": "surface",
                "blocks": [{"shape": "box", "length": length, "beam": beam, "draught": draught}],
            },
            "hull": {
                "barge": {
                    "length": length,
                    "beam": beam,
                    "draught": draught,
                    "freeboard": 1.5 * draught,
                },
                "hydrodynamics": "potential",
            },
        }
    )


@jax.jit
def _rates(model: Any, ocean: Any, x: jax.Array, t: jax.Array) -> jax.Array:
    at = State(x[:3], from_euler(x[3], x[4], x[5]), x[6:12], jnp.zeros(0), (x[12:],))
    found = derivative(model, ocean, at, t)
    return jnp.concatenate([x[6:12], found.velocity, found.memory[0]])


_slopes = jax.jit(jax.jacfwd(_rates, argnums=2))


def moved(vehicle: Vehicle, period: float, towards: float) -> NDArray[np.complex128]:
    """(6,) motions per amplitude in a wave, by the equations of motion."""
    wave = {"amplitude": AMPLITUDE, "period": period, "towards_deg": towards}
    described = {"name": "wave", "waves": {"spectrum": "components", "components": [wave]}}
    ocean = build_ocean(World.model_validate(described), 1, DOUBLE)
    model = compile_vehicle(vehicle, ocean, DOUBLE, drifting=False).model
    assert ocean.waves is not None
    omega, phase = 2.0 * math.pi / period, float(ocean.waves.phase[0])
    rest = jnp.zeros(12 + model.memory_forces[0].states)
    times = [jnp.float64((q - phase) / omega) for q in (0.0, 0.5 * math.pi, math.pi)]
    now, later, opposite = (np.array(_rates(model, ocean, rest, t)) for t in times)
    mean = 0.5 * (now + opposite)
    push = ((now - mean) - 1j * (later - mean)) / AMPLITUDE
    slope = np.array(_slopes(model, ocean, rest, times[0]))
    return np.asarray(np.linalg.solve(1j * omega * np.eye(len(rest)) - slope, push)[:6])


def graded(length: float, beam: float, draught: float, count: int) -> Array:
    """(K, 4, 3) quadrangles of the wet box, small towards its edges; x forward, z up."""
    x, y = (
        -0.5 * size * np.cos(np.pi * np.linspace(0.0, 1.0, n + 1))
        for size, n in ((length, 2 * count), (beam, count))
    )
    z = -draught * np.sin(0.5 * np.pi * np.linspace(0.0, 1.0, count // 2 + 1))
    cells = []
    for axes, level in (
        ((0, 1, 2), -draught),
        *(((0, 2, 1), side * 0.5 * beam) for side in (-1.0, 1.0)),
        *(((1, 2, 0), end * 0.5 * length) for end in (-1.0, 1.0)),
    ):
        p, q = np.meshgrid((x, y, z)[axes[0]], (x, y, z)[axes[1]], indexing="ij")
        grid = np.empty((*p.shape, 3))
        for axis, values in zip(axes, (p, q, level), strict=True):
            grid[..., axis] = values
        cell = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=2)
        cell = cell.reshape(-1, 4, 3)
        normal = np.cross(cell[0, 1] - cell[0, 0], cell[0, 3] - cell[0, 0])
        cells.append(cell if normal[axes[2]] * level > 0.0 else cell[:, ::-1])  # out of the box
    return np.concatenate(cells)


def judged(corners: Array, mass: Array, stiffness: Array, period: float) -> Array:
    """(6, H) motions in waves towards `HEADINGS`, by capytaine alone."""
    faces = np.arange(4 * len(corners)).reshape(-1, 4)
    body = cpt.FloatingBody(
        mesh=cpt.Mesh(vertices=corners.reshape(-1, 3), faces=faces),
        dofs=cpt.rigid_body_dofs(rotation_center=(0.0, 0.0, 0.0)),
        center_of_mass=(0.0, 0.0, 0.0),
    )
    solver, names, omega = cpt.BEMSolver(method="indirect"), list(body.dofs), 2 * math.pi / period
    water = {"omega": omega, "rho": DENSITY, "g": GRAVITY, "water_depth": math.inf}
    radiated = [
        solver.solve(cpt.RadiationProblem(body=body, radiating_dof=name, **water)) for name in names
    ]
    added = np.array([[r.added_masses[d] for r in radiated] for d in names])
    damping = np.array([[r.radiation_dampings[d] for r in radiated] for d in names])
    turn = np.outer(TURN, TURN)
    matrix = -(omega**2) * (mass + turn * added) + 1j * omega * turn * damping + stiffness
    columns = []
    for towards in HEADINGS:
        wave = cpt.DiffractionProblem(body=body, wave_direction=-math.radians(towards), **water)
        incident = cpt.bem.airy_waves.froude_krylov_force(wave)
        scattered = solver.solve(wave).forces
        force = TURN * np.conj([incident[d] + scattered[d] for d in names])
        columns.append(np.linalg.solve(matrix, force))
    return np.array(columns).T


def main() -> None:
    """Print the table, and the worst of each motion as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("length", 4.0), ("beam", 2.0), ("draught", 0.5)):
        parser.add_argument(f"--{name}", type=float, default=usual)
    parser.add_argument("--periods", type=float, nargs="+", default=PERIODS)
    parser.add_argument("--count", type=int, default=14, help="quadrangles across the judge's box")
    given = parser.parse_args()
    size = (given.length, given.beam, given.draught)
    with jax.enable_x64(True):
        vehicle = box(*size)
        solved = solve_hull(vehicle, None)
        assert solved is not None
        corners = graded(*size, given.count)
        print(f"{solved.source}; judge: {len(corners)} quadrangles, sources")
        still = build_ocean(World(name="still"), 0, DOUBLE)
        mass = np.array(compile_vehicle(vehicle, still, DOUBLE).model.inertia.rigid_body)
        worst = dict.fromkeys(MOTIONS, 0.0)
        print("period / s  heading / deg  " + "  ".join(f"{m:>15}" for m in MOTIONS))
        for period in given.periods:
            exact = judged(corners, mass, solved.stiffness, period)
            slope = (2.0 * math.pi / period) ** 2 / GRAVITY
            for h, towards in enumerate(HEADINGS):
                found, texts = moved(vehicle, period, towards), []
                for name, i in MOTIONS.items():
                    ours, theirs = abs(found[i]), abs(exact[i, h])
                    least = 0.1 * (slope if i > 2 else 1.0)
                    worst[name] = max(worst[name], abs(ours - theirs) / max(theirs, least))
                    texts.append(f"{ours:7.4f} {theirs:7.4f}")
                print(f"{period:10.2f}  {towards:13.0f}  " + "  ".join(texts), flush=True)
    print(json.dumps({name: round(share, 4) for name, share in worst.items()}))


if __name__ == "__main__":
    main()
