"""Control surfaces: servo with backlash, lift and drag at the fin's own flow.

The fin sees the water at its own place, hull rotation included: v = v_r + ω × r. In the plane
across its span, α = δ − atan2(v_n, v_c) is the effective angle of attack, which for a rudder and
a stern plane is Capozzi et al. (2024) eqs. 3 and 4. F = ½ρ A V² (C_L e_lift − C_D e_flow).
"""

import math

import jax
import jax.numpy as jnp

from seatrial.core.actuators import rudder
from seatrial.core.actuators.drive import Drive, follow
from seatrial.core.actuators.rudder import RaceRudder
from seatrial.core.smooth import smoothstep
from seatrial.core.surroundings import Surroundings
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import (
    NO_WRENCH,
    Scalar,
    Wrench,
    add,
    cross,
    dot,
    scale,
    scale_wrench,
    vec3,
    wrench_at,
)


@pytree
class LiftCurve:
    """C_L = a α with induced drag up to the stall, a flat plate beyond it."""

    slope: jax.Array
    """a = dC_L/dα per rad."""
    zero_lift_drag: jax.Array
    induced: jax.Array
    """1 / (π e A)."""
    stall: jax.Array


@pytree
class LiftTable:
    """C_L and C_D over the angle of attack; a flat plate beyond the table."""

    angle: jax.Array
    lift: jax.Array
    drag: jax.Array


@pytree
class Surface:
    """Geometry and section of a fin that makes its own force."""

    position: jax.Array
    chord: jax.Array
    """(3,) unit chord at zero deflection, pointing to the leading edge."""
    normal: jax.Array
    """(3,) unit hinge axis × chord."""
    area: jax.Array
    section: LiftCurve | LiftTable


FIXED = -1
"""Channel of a fin that cannot be moved."""


@pytree
class Fin:
    """A fin; `surface` is None when it acts through the hull's coefficients."""

    drive: Drive
    half_backlash: jax.Array | None
    angle_error: jax.Array | None
    surface: Surface | RaceRudder | None
    channel: int = static()
    servo: int = static()
    """Index of the servo's state; the channel itself when there is no backlash."""


def lift_slope(aspect_ratio: float) -> float:
    """dC_L/dα of a wing of low aspect ratio, 2πA / (2 + √(A² + 4)) (Helmbold 1942)."""
    return 2.0 * math.pi * aspect_ratio / (2.0 + math.sqrt(aspect_ratio**2 + 4.0))


def advance(model: Fin, states: list[Scalar], command: jax.Array, dt: float) -> None:
    """Move the servo; drag the fin along where there is play (the play operator)."""
    if model.channel == FIXED:
        return
    servo = follow(model.drive, states[model.servo], command[model.channel], dt)
    states[model.servo] = servo
    if model.half_backlash is not None:
        fin = states[model.channel]
        states[model.channel] = jnp.clip(
            fin, servo - model.half_backlash, servo + model.half_backlash
        )


def force(
    model: Fin, state: jax.Array, around: Surroundings, floating: jax.Array | None = None
) -> Wrench:
    """Lift and drag, or nothing when the coefficients hold the fin's effect.

    A fin that is `floating` has come loose from its servo and lies along the flow at its place:
    no lift, and the drag of no angle of attack. Its state is then that of the servo alone.
    """
    if model.surface is None:
        return NO_WRENCH
    fin = model.surface
    angle: Scalar = 0.0 if model.channel == FIXED else state[model.channel]
    if model.angle_error is not None:
        angle = angle + model.angle_error
    if isinstance(fin, RaceRudder):
        load = rudder.force(fin, angle, state, around)
        return load if floating is None else scale_wrench(jnp.where(floating, 0.0, 1.0), load)
    position, chord, normal = vec3(fin.position), vec3(fin.chord), vec3(fin.normal)
    flow = add(around.relative.linear, cross(around.relative.angular, position))
    vc, vn = dot(flow, chord), dot(flow, normal)
    speed = jnp.sqrt(vc * vc + vn * vn + 1e-12)
    # atan2 has no gradient at the origin; a fin in still water has no force there either.
    attack = angle - jnp.arctan2(vn, jnp.where(speed < 1e-5, 1e-5, vc))
    if floating is not None:
        attack = jnp.where(floating, 0.0, attack)
    cl, cd = coefficients(fin.section, attack)
    if floating is not None:  # a cambered section has lift at no angle of attack too
        cl = jnp.where(floating, 0.0, cl)
    pressure = 0.5 * around.density * fin.area * speed
    along = scale(pressure * (-cl * vn - cd * vc), chord)
    across = scale(pressure * (cl * vc - cd * vn), normal)
    working = around.immersion(position, jnp.sqrt(fin.area))
    return scale_wrench(working, wrench_at(add(along, across), position))


def coefficients(section: LiftCurve | LiftTable, attack: Scalar) -> tuple[Scalar, Scalar]:
    """C_L and C_D at any angle of attack, also in flow from behind."""
    plate_lift, plate_drag = jnp.sin(2.0 * attack), 2.0 * jnp.sin(attack) ** 2
    if isinstance(section, LiftTable):
        wrapped = jnp.arctan2(jnp.sin(attack), jnp.cos(attack))
        lift = jnp.interp(wrapped, section.angle, section.lift)
        drag = jnp.interp(wrapped, section.angle, section.drag)
        over = jnp.maximum(section.angle[0] - wrapped, wrapped - section.angle[-1])
        separated = smoothstep(over / math.radians(10.0))
    else:
        wrapped = jnp.arctan2(jnp.sin(attack), jnp.cos(attack))
        lift = section.slope * wrapped
        drag = section.zero_lift_drag + section.induced * lift * lift
        plate_drag = plate_drag + section.zero_lift_drag
        # The lift collapses over half the stall angle, as measured on low-aspect-ratio rudders.
        separated = smoothstep((jnp.abs(wrapped) - section.stall) / (0.5 * section.stall))
    return (
        lift + separated * (plate_lift - lift),
        drag + separated * (plate_drag - drag),
    )
