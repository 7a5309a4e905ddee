"""Mean drift of a vehicle with a boundary-element solution, without counting it twice.

First-order loads that follow a moving hull have a mean of their own: a force that changes with the
place where the hull is, in axes that lean with it, on as much of it as is wet. That mean is not the
drift of theory, only parts of it. It is measured here, with the equations of motion that a step
integrates, on the motions that these have in regular waves; the coefficients that the vehicle gets
are the far field's less that.
"""

import dataclasses
import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial import cache
from seatrial.core.forces.hull_loads import HullForces
from seatrial.core.step import derivative
from seatrial.core.types import Model, State
from seatrial.hull.froude_krylov import MeanDrift
from seatrial.hull.potential.drift import finer, mean_drift
from seatrial.hull.potential.solution import Complex, Solution
from seatrial.ocean import Ocean
from seatrial.ocean.synthesis import wavenumber
from seatrial.ocean.water import Water
from seatrial.ocean.waves import Waves
from seatrial.pytree import constant
from seatrial.spatial.rotations import from_euler

Array = NDArray[np.float64]
DOUBLE: np.dtype[Any] = np.dtype(np.float64)
Build = Callable[[Waves], Model]

AMPLITUDE = 1e-4
"""Of the waves in which the motions are measured, m."""
NUDGE = 1e-5
"""Of each state, for the slopes of the equations of motion."""
FINER = 3
"""Times as many frequencies as were solved for, since drift changes quickly near resonances."""
PHASES = 2.0 * np.pi * np.arange(4) / 4.0
"""Four are enough for the mean of a product of sines."""

VERSION = 2
"""Of what is kept; another one is measured again."""


def drift_of(solved: Solution, ocean: Ocean, build: Build, name: str) -> MeanDrift | None:
    """Coefficients of a vehicle over frequency and heading; None where the far field is unknown.

    `build` makes its model in double precision in a sea, without drift.
    """
    if solved.far_field is None or ocean.waves is None:
        return None
    solved = finer(solved, FINER)
    far = solved.far_field
    assert far is not None
    waves = waves_at(solved.omega, ocean.waves.depth)
    model = build(waves)
    digest = hashlib.sha256(f"{VERSION}".encode())
    for leaf in jax.tree.leaves((model, waves, far.flux, far.radiated, far.scattered)):
        digest.update(np.ascontiguousarray(leaf).tobytes())
    found = cache.recall(
        "hull-drift", digest.hexdigest()[:32], name, lambda: _missing(solved, waves, model)
    )
    still = np.zeros((3, 1, len(solved.headings)))
    values = np.concatenate([still, found], axis=1).astype(np.complex128)

    def drift(omega: Array, headings: Array) -> Array:
        # beyond the last frequency waves are thrown back whole, whatever their length
        within = np.minimum(omega, solved.omega[-1])
        return solved.between(values, within, headings).real

    return drift


def waves_at(omega: Array, depth: jax.Array | None = None) -> Waves:
    """One component of each frequency, towards north."""
    none, given = np.zeros(len(omega)), constant(omega, DOUBLE)
    k = wavenumber(omega, None if depth is None else float(depth))
    return Waves(
        amplitude=constant(none + AMPLITUDE, DOUBLE),
        omega=given,
        wavenumber=constant(k, DOUBLE),
        direction=constant(none, DOUBLE),
        phase=constant(none, DOUBLE),
        observed=given,
        band=given,
        depth=None if depth is None else constant(depth, DOUBLE),
    )


def _missing(solved: Solution, waves: Waves, model: Model) -> Array:
    """(3, W, H) far-field drift less what the model makes by itself."""
    found = measured(waves, solved.headings, model)
    return mean_drift(solved, found.motions, found.kept) - found.own


class Measured(NamedTuple):
    """What a model does in waves of each frequency W towards each heading H."""

    motions: Complex
    """(6, W, H) per unit amplitude."""
    own: Array
    """(3, W, H) mean X, Y and N per squared amplitude."""
    kept: Array
    """(W, H) mean power that its damping takes, likewise."""


def measured(waves: Waves, headings: Array, model: Model) -> Measured:
    """First-order motions of a model without drift, and the mean loads that these make."""
    model = dataclasses.replace(model, wind=None, actuators=(), contact=None, impairment=None)
    free = dataclasses.replace(model, coefficients=None, crossflow=None)
    size = 12 + sum(force.states for force in model.memory_forces)
    count, frequencies = len(headings), len(np.asarray(waves.omega))
    mass = np.asarray(model.inertia.rigid_body) + np.asarray(model.inertia.added_mass)
    room = max(len(PHASES) * count, 2 * size)  # one program for all
    slopes = _slopes(model, waves, size, room)
    motions = np.zeros((6, frequencies, count), np.complex128)
    own, kept = np.zeros((3, frequencies, count)), np.zeros((frequencies, count))
    turned = np.exp(1j * PHASES)[:, None]
    for i, w in enumerate(np.asarray(waves.omega)):
        # a hull that lies further north meets the wave later
        place = np.zeros((3, len(PHASES), count))
        place[0] = -PHASES[:, None] / float(waves.wavenumber[i])
        place[2] = -headings

        def rates(of: Model, x: Array, place: Array = place, i: int = i) -> Array:
            return _rates(_alone(of, i), _alone_sea(waves, i, of), x, place, room)

        push = 2.0 * np.mean(rates(model, np.zeros((size, *place.shape[1:]))) / turned, axis=1)
        first = np.linalg.solve(1j * w * np.eye(size) - slopes, push)
        moving = np.real(first[:, None] * turned)
        whole, alone = (rates(of, moving)[6:12] for of in (model, free))
        motions[:, i] = first[:6] / AMPLITUDE
        loads = np.einsum("ij,jpn->ipn", mass, alone)[[0, 1, 5]]
        own[:, i] = loads.mean(axis=1) / AMPLITUDE**2
        braked = np.einsum("ipn,ij,jpn->pn", moving[6:12], mass, alone - whole)
        kept[i] = braked.mean(axis=0) / AMPLITUDE**2
    return Measured(motions, own, kept)


def _slopes(model: Model, waves: Waves, size: int, room: int) -> Array:
    """(S, S) of the equations of motion at rest in still water, by central differences."""
    calm = _alone(model, 0)
    assert calm.excitation is not None
    still = dataclasses.replace(calm.excitation, table=0.0 * calm.excitation.table)
    calm = dataclasses.replace(calm, excitation=still, hull=_flat(calm.hull))
    nudges = NUDGE * np.stack([np.eye(size), -np.eye(size)], axis=1)
    found = _rates(calm, _alone_sea(waves, 0, model), nudges, np.zeros((3, 2, size)), room)
    return np.asarray((found[:, 0] - found[:, 1]) / (2.0 * NUDGE))


def _alone(model: Model, i: int) -> Model:
    """The model with one component of its sea."""
    excitation, hull = model.excitation, model.hull
    assert excitation is not None
    count = len(excitation.north)
    excitation = dataclasses.replace(
        excitation,
        table=excitation.table[:, :, [i, count + i]],
        north=excitation.north[i : i + 1],
        east=excitation.east[i : i + 1],
    )
    if hull is not None and hull.patch is not None:
        patch = dataclasses.replace(hull.patch, amplitude=hull.patch.amplitude[i : i + 1])
        hull = dataclasses.replace(hull, patch=patch)
    return dataclasses.replace(model, excitation=excitation, hull=hull)


def _flat(hull: HullForces | None) -> HullForces | None:
    if hull is None or hull.patch is None:
        return hull
    patch = dataclasses.replace(hull.patch, amplitude=0.0 * hull.patch.amplitude)
    return dataclasses.replace(hull, patch=patch)


def _alone_sea(waves: Waves, i: int, model: Model) -> Ocean:
    """Water of the vehicle's reference density with one component."""
    names = ("amplitude", "omega", "wavenumber", "direction", "phase", "observed", "band")
    one = dataclasses.replace(waves, **{n: getattr(waves, n)[i : i + 1] for n in names})
    rho, unused = model.reference_density, constant(0.0, DOUBLE)
    return Ocean(water=Water(rho, unused, unused, unused), waves=one)


def _rates(model: Model, ocean: Ocean, x: Array, place: Array, room: int) -> Array:
    """(S, A, B) rates of small states: place along and across the heading and down, angles,
    velocities, memory; `place` (3, A, B) is north, east and heading of who is at rest."""
    flat = [a.reshape(len(a), -1) for a in (x, place)]
    padded = [np.pad(a, ((0, 0), (0, room - a.shape[1])), mode="edge") for a in flat]
    found = np.asarray(_program(model, ocean, *padded))
    return found[:, : flat[0].shape[1]].reshape(x.shape)


@jax.jit
def _program(model: Model, ocean: Ocean, x: jax.Array, place: jax.Array) -> jax.Array:
    c, s = jnp.cos(place[2]), jnp.sin(place[2])
    north, east = place[0] + c * x[0] - s * x[1], place[1] + s * x[0] + c * x[1]
    memory, at = [], 12
    for force in model.memory_forces:
        memory.append(x[at : at + force.states])
        at += force.states
    state = State(
        position=jnp.stack([north, east, x[2]]),
        attitude=from_euler(x[3], x[4], place[2] + x[5]),
        velocity=x[6:12],
        actuators=jnp.zeros((0, x.shape[1])),
        memory=tuple(memory),
    )
    found = derivative(model, ocean, state, jnp.float64(0.0))
    return jnp.concatenate([x[6:12], found.velocity, *found.memory])
