"""Altimeter: the range of the bottom, or of a solid before it, in one narrow beam, as found.

The beam is followed by its axis and by a ring of rays at its half-power angle; the nearest of those
whose echo is heard is the range. Against an echo at normal incidence from the end of the range r₀,
that of a ray of length r and incidence γ is weaker by

    q = (r / r₀)² · 10^((α r − α₀ r₀) / 5) · S(0) / S(γ) / b²

for spreading over a patch that the beam limits, absorption, the scattering S of the bottom
(`bottom_echo`) and the pattern b of the beam, a half on the ring. An echo of many scatterers has an
exponentially distributed intensity, so it passes the threshold with the probability 2^(−q): half of
the pings at r₀ over a level bottom, fewer on slopes, which throw the sound away.
"""

import jax
import jax.numpy as jnp

from seatrial.ocean import water
from seatrial.ocean.curves import Curve, evaluate
from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.noise.draws import uniform
from seatrial.sensors.ranging.bottom_rays import Met, Reach
from seatrial.sensors.ranging.solid_rays import meet_first
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.spatial.vectors import Scalar, vec3

RING = 6
"""Rays around the axis."""


@pytree
class Scattering:
    """S(γ) / S(0) of a bottom: facets of a stated slope, and diffusely by Lambert's law."""

    facets: jax.Array
    """Share of the facets at normal incidence; Lambert's law has the rest."""
    slope: jax.Array
    """Of the facets, rad."""

    def share(self, cosine: jax.Array) -> jax.Array:
        """At the cosine of an incidence, which must be positive."""
        squared = cosine * cosine
        tangent = (1.0 - squared) / squared
        facets = jnp.exp(-tangent / (2.0 * self.slope**2)) / (squared * squared)
        return self.facets * facets + (1.0 - self.facets) * squared


@pytree
class Device:
    """What keeps a real device from the truth."""

    noise: jax.Array
    """Of a range, m."""
    shortest: jax.Array
    longest: jax.Array
    """Ranges that it listens for, m."""
    absorption: Curve
    """α over the sensor's depth, dB/m."""
    budget: jax.Array
    """20 log₁₀ r₀ + 2 α₀ r₀, dB."""
    scattering: Scattering
    sound_speed: jax.Array | None
    """That the device assumes, m/s."""
    resolution: jax.Array | None
    """m."""
    fades: bool = static()
    """Whether echoes vary from ping to ping; else they are heard up to q = 1."""


@pytree
class Altimeter:
    """A beam along the sensor's z axis."""

    mount: Mount
    rays: jax.Array
    """(R, 3) unit vectors in sensor axes: the axis, then the ring, which an exact one has not."""
    device: Device | None
    """None for the exact sensor."""
    reach: Reach | None = None
    """Over a map."""
    sight: jax.Array | None = None
    """As far as solids are looked for, m; None in a world that has none."""

    @property
    def draws(self) -> int:
        """Noise, and how strong the echo is."""
        return 0 if self.device is None else 1 + self.device.fades

    @property
    def starting_draws(self) -> int:
        """None."""
        return 0

    def begin(self, draws: jax.Array) -> jax.Array:
        """Nothing is remembered."""
        return draws[:0]

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """The range along the beam, 0 without an echo."""
        place = look.place(self.mount.arm)
        nothing = jnp.zeros_like(look.state.position[0])
        along = look.rotation.to_world(self.mount.to_body(vec3(self.rays.T[:, :, None])))
        met = meet_first(look.ocean, self.reach, place, along, self.sight, look.t)
        if met is None:
            return Reading(memory, nothing[None], jnp.zeros(nothing.shape, bool))
        if self.device is None:
            return Reading(memory, met.length[:1], met.length[0] > 0.0)
        device = self.device
        weaker = self._weaker(device, met, place[2])
        # Where echoes fade, one draw is the strength of this ping's.
        passes = 2.0**-weaker > uniform(draws[1]) if device.fades else weaker <= 1.0
        heard = passes & (met.length >= device.shortest) & (met.length <= device.longest)
        nearest = jnp.min(jnp.where(heard, met.length, jnp.inf), axis=0)
        valid = jnp.isfinite(nearest) & feel(look.ocean, place, look.t).submerged
        told = jnp.where(valid, nearest, 0.0)
        if device.sound_speed is not None:
            told = told * device.sound_speed / water.sound_speed(look.ocean.water, place[2])
        told = jnp.maximum(told + device.noise * draws[0], 0.0)
        if device.resolution is not None:
            told = jnp.round(told / device.resolution) * device.resolution
        return Reading(memory, jnp.where(valid, told, 0.0)[None], valid)

    def _weaker(self, device: Device, met: Met, z: Scalar) -> jax.Array:
        """q of each ray; infinite for one that meets nothing."""
        there = (met.length > 0.0) & (met.cosine > 0.0)
        length, cosine = (jnp.where(there, part, 1.0) for part in met)
        loss = 20.0 * jnp.log10(length) + 2.0 * evaluate(device.absorption, z) * length
        pattern = jnp.ones(len(self.rays)).at[1:].set(0.25)[:, None]
        strength = pattern * device.scattering.share(cosine)
        # The logarithm of a vanishing share would be of no use to anybody.
        excess = 10.0 ** (0.1 * jnp.minimum(loss - device.budget, 60.0))
        return jnp.where(there, excess / jnp.maximum(strength, 1e-30), jnp.inf)
