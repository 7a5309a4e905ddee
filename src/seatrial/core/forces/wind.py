"""Wind on the part above the water; Fossen (2021) eqs. 10.8-10.16, symmetric coefficients.

With the relative wind (u_rw, v_rw) = velocity of the craft minus that of the air, V its length
and γ = −atan2(v_rw, u_rw): X = ½ρ V² A_F (−c_x cos γ), Y = ½ρ V² A_L c_y sin γ,
N = ½ρ V² A_L L c_n sin 2γ, and K is Y times the height of the lateral area's centroid.
"""

import jax

from seatrial.conventions import AIR_DENSITY
from seatrial.core.surroundings import Surroundings
from seatrial.ocean import wind as wind_field
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import Wrench, safe_norm, scale_wrench, subtract


@pytree
class WindLoads:
    """Areas times coefficients."""

    surge: jax.Array
    """c_x A_F, m²."""
    sway: jax.Array
    """c_y A_L, m²."""
    yaw: jax.Array
    """c_n A_L L, m³."""
    lever: jax.Array
    """Height of the lateral centroid above the origin, m."""
    sheltered: bool = static()
    """True for an underwater craft, which feels wind only with the part out of the water."""


def force(model: WindLoads, wind: wind_field.Wind, around: Surroundings, t: jax.Array) -> Wrench:
    """Load of the wind at the height of the centroid."""
    x, y, z = around.position
    air = around.rotation.to_body(wind_field.sample(wind, (x, y, z - model.lever), t))
    u, v, _ = subtract(around.velocity.linear, air)
    speed = safe_norm((u, v, 0.0))
    pressure = 0.5 * AIR_DENSITY
    Y = -pressure * model.sway * speed * v
    load = Wrench(
        -pressure * model.surge * speed * u,
        Y,
        0.0,
        model.lever * Y,
        0.0,
        -2.0 * pressure * model.yaw * u * v,
    )
    return scale_wrench(1.0 - around.wet, load) if model.sheltered else load
