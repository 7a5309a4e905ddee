"""The immutable Model and the State it advances."""

from typing import NamedTuple

import jax

from seatrial.core.actuators import Actuator
from seatrial.core.contact import Contact
from seatrial.core.forces.coefficients import Coefficients
from seatrial.core.forces.crossflow import CrossFlow
from seatrial.core.forces.hull_loads import HullForces
from seatrial.core.forces.memory import MemoryForce
from seatrial.core.forces.restoring import SubmergedRestoring, SurfaceRestoring
from seatrial.core.forces.wave_excitation import WaveExcitation
from seatrial.core.forces.wind import WindLoads
from seatrial.core.impairment import Impairment
from seatrial.core.rigid_body import Inertia
from seatrial.pytree import pytree, static


@pytree
class State:
    """Everything that changes. The first axis counts components, later axes count vehicles."""

    position: jax.Array
    """(3, ...) of the origin, NED, m."""
    attitude: jax.Array
    """(4, ...) unit quaternion, scalar first, body to world."""
    velocity: jax.Array
    """(6, ...) u v w p q r in body axes."""
    actuators: jax.Array
    """(S, ...) actuator states: one per command channel, then the inner states of servos."""
    memory: tuple[jax.Array, ...] = ()
    """(K, ...) states of each of the Model's `memory_forces`; empty for a vehicle without them."""


@pytree
class Model:
    """A vehicle compiled for one sea: only the effects that its description names."""

    inertia: Inertia
    restoring: SurfaceRestoring | SubmergedRestoring
    actuators: tuple[Actuator, ...]
    reference_density: jax.Array
    coefficients: Coefficients | None = None
    crossflow: CrossFlow | None = None
    wind: WindLoads | None = None
    excitation: WaveExcitation | None = None
    hull: HullForces | None = None
    """The hull as triangles or cubes, where its description asks for forces on them."""
    contact: Contact | None = None
    """The hull as what it may run into meets it; None where there is nothing."""
    impairment: Impairment | None = None
    memory_forces: tuple[MemoryForce, ...] = ()
    """Forces with states of their own; each has its place in `State.memory`."""
    integrator: str = static(default="rk4")
    channels: int = static(default=0)
    """Number of command channels."""


class Traffic(NamedTuple):
    """Everybody who is about: the K vehicles and moving obstacles of a run at one instant."""

    position: jax.Array
    """(3, K) of the origin, NED, m."""
    attitude: jax.Array
    """(4, K) quaternion, scalar first, body to world."""
    velocity: jax.Array
    """(3, K) over ground, NED, m/s."""
    heading: jax.Array
    """(K,) rad, clockwise from north."""
    length: jax.Array
    """(K,) m."""
    beam: jax.Array
    """(K,) m."""
    identity: jax.Array
    """(K,) whole numbers from 1 on, each its own; 0 stands for nobody."""
    own: jax.Array
    """(N,) which of the K each of the vehicles is that look at them."""
