"""What allocation knows of a vehicle: how each effector acts, and its limits.

An effector is a thruster (its effort is a thrust, N), an azimuth thruster (a force along its
direction at angle zero and one square to that, N), a fin (an angle, rad) or a tank (a mass, kg).
Effectors are numbered as the vehicle's actuators; the second efforts of azimuth thrusters follow
after all others. A effectors with q azimuth thrusters among them have E = A + q efforts.
"""

from typing import NamedTuple

import jax

from seatrial.gnc.allocation.curves import Curve
from seatrial.pytree import pytree, static

LEAST_SPEED = 0.05
"""Speed through the water below which a fin counts as useless and is put amidships, m/s."""


class EffectorGroup(NamedTuple):
    """Degrees of freedom and effectors that have to do with each other and with no others."""

    dofs: tuple[int, ...]
    fixed: tuple[int, ...]
    """Effectors with one effort."""
    turning: tuple[int, ...]
    """Which of the azimuth thrusters."""


@pytree
class Azimuths:
    """The thrusters that turn: where they may point, and how that bounds their force.

    Where the allowed angles make no convex set of forces, the set is covered by convex pieces;
    each of the S variants takes one piece of every thruster, and the best variant is used.
    """

    limit: jax.Array
    """(q, 1) largest angle to either side, rad."""
    rate: jax.Array
    """(q, 1) largest turning rate, rad/s; infinite where there is none."""
    allowed: jax.Array
    """(Z, 2, q, 1) intervals of allowed angles, rad; not a number where there are fewer."""
    normals: jax.Array
    """(K, 2, q, S, 1) faces of the polygons of allowed force; zero where there are fewer."""
    reach: jax.Array
    """(K, q, S, 1) distance of each face, as a share of the largest thrust."""
    side: jax.Array
    """(q, S, 1) whether that is thrust ahead (0), astern (1) or the smaller of both (2)."""
    effectors: tuple[int, ...] = static()
    """Which effectors these are."""
    channels: tuple[int, ...] = static()
    """Command channels of the angles."""


@pytree
class Effectors:
    """Everything that can make a wrench, in numbers."""

    columns: jax.Array
    """(6, E) wrench per unit of effort; for fins per rad and (m/s)²."""
    astern: jax.Array
    """(6, E) the same with the water coming from behind, which changes fins only."""
    inflow: jax.Array
    """(E, 6) what turns the velocity through the water into the speed along an effector."""
    low: jax.Array
    """(A, 1) least order, in units of its channel."""
    high: jax.Array
    """(A, 1) largest order."""
    rate: jax.Array | None
    """(A, 1) largest change of the order per second, infinite where there is none; None if no
    effector has one."""
    dead_band: jax.Array | None
    """(A, 1) orders below this are taken as zero."""
    fin: jax.Array
    """(A, 1) whether an effector is a fin."""
    curves: tuple[Curve, ...]
    azimuths: Azimuths | None
    names: tuple[str, ...] = static()
    channels: tuple[int, ...] = static()
    """Command channel of each effector."""
    groups: tuple[EffectorGroup, ...] = static()

    @property
    def dofs(self) -> tuple[int, ...]:
        """Degrees of freedom that are allocated; the demand in the others is not looked at."""
        return tuple(sorted(d for group in self.groups for d in group.dofs))
