"""Laws that steer along a straight leg: line of sight in its forms, and pure pursuit.

Every law has `begin(vehicles) -> memory (M, N)` and

    guide(memory, estimate, start (3, N), end (3, N), speed (N,), dt) -> memory, setpoint, errors

The laws in the plane ask for the speed, a course or a heading, and the depth that the leg has where
the vehicle is; a surface craft does not look at the depth. Angles are rad, distances m.
"""

from typing import Protocol

import jax
import jax.numpy as jnp

from seatrial.gnc.guidance.track import TrackErrors, track_errors
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.pytree import pytree, static
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import rotation
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import vec3

Guided = tuple[jax.Array, Setpoint, TrackErrors]


class Law(Protocol):
    """Anything that follows a leg: a pytree."""

    def begin(self, vehicles: int) -> jax.Array:
        """Memory (M, N) before the first leg."""

    def guide(
        self,
        memory: jax.Array,
        estimate: Estimate,
        start: jax.Array,
        end: jax.Array,
        speed: jax.Array,
        dt: float,
    ) -> Guided:
        """Advance the memory by `dt` and say where to steer."""


@pytree
class LineOfSight:
    """Aim at a point of the leg a lookahead distance Δ ahead; Fossen (2021), chapter 12.

        χ_d = χ_p − atan(y_e / Δ)

    A vehicle that holds this course at speed U comes to the leg as ẏ_e = −U y_e / √(Δ² + y_e²),
    exponentially with U/Δ once it is near. Held as a heading instead, a current leaves an offset.

    A vehicle that needs a circle of radius R to turn has an angle ε to the leg from which it can
    still join it: y_e/Δ near the leg, and beyond, where that would turn it faster,

        |y_e| = Δ ε₀ + R (cos ε₀ − cos ε),   sin ε₀ = Δ/R,   ε ≤ 90°,

    a circle that begins with the slope of the line. The arc tangent is steeper than this at a few
    Δ, where Δ is less than R, and carries the vehicle past the leg; far away it is shallower.
    """

    lookahead: jax.Array
    """Δ, m: one to five ship lengths."""
    radius: jax.Array | None = None
    """R, m; None for a vehicle that turns on the spot."""
    steer: str = static(default="course")
    """`course` or `heading`: what the angle is asked of."""
    leads: bool = static(default=False)
    """Whether the rate at which the angle changes is asked for as well, by the velocity across the
    leg; for vehicles that no wave pushes about."""

    def begin(self, vehicles: int) -> jax.Array:
        """Nothing to remember."""
        return jnp.zeros((0, vehicles))

    def guide(
        self,
        memory: jax.Array,
        estimate: Estimate,
        start: jax.Array,
        end: jax.Array,
        speed: jax.Array,
        dt: float,
    ) -> Guided:
        """Steer to the leg."""
        errors = track_errors(estimate.position, start, end, flat=True)
        off, slope = self._angle(errors.cross)
        asked = _level(errors.course - off, self.steer, speed, start, end, errors)
        if self.leads:
            north, east, _ = rotation(estimate.attitude).to_world(vec3(estimate.velocity))
            across = jnp.cos(errors.course) * east - jnp.sin(errors.course) * north
            asked = asked._replace(yaw_rate=-slope * across)
        return memory, asked, errors

    def _angle(self, cross: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Angle to the leg, towards it, and its derivative by the distance."""
        ahead, far = self.lookahead, jnp.abs(cross)
        if self.radius is None:
            return jnp.arctan2(cross, ahead), ahead / (ahead * ahead + far * far)
        begin = jnp.arcsin(jnp.minimum(ahead / self.radius, 1.0))
        cosine = jnp.cos(begin) - (far - ahead * begin) / self.radius
        cosine = jnp.clip(cosine, 0.0, 1.0)
        sine = root(1.0 - cosine * cosine)
        near = far < ahead * begin
        circle = jnp.where(cosine > 0.0, 1.0 / (self.radius * jnp.where(near, 1.0, sine)), 0.0)
        angle = jnp.where(near, far / ahead, bearing(sine, cosine))
        return jnp.sign(cross) * angle, jnp.where(near, 1.0 / ahead, circle)


@pytree
class IntegralLineOfSight:
    """Line of sight whose integral finds the angle of crab; Børhaug et al. (2008), Caharija (2016).

        ψ_d = χ_p − atan((y_e + κ z) / Δ),   ż = Δ y_e / (Δ² + (y_e + κ z)²)

    The integrand falls off with the square of a large error, so that a long way to the leg does
    not wind the integral up. At rest y_e = 0 and κ z / Δ is the tangent of the angle of crab.
    """

    lookahead: jax.Array
    """Δ, m."""
    gain: jax.Array
    """κ, m/s (z counts in seconds): a small share of the speed, more than the current across."""

    def begin(self, vehicles: int) -> jax.Array:
        """The integral z, (1, N)."""
        return jnp.zeros((1, vehicles), self.lookahead.dtype)

    def guide(
        self,
        memory: jax.Array,
        estimate: Estimate,
        start: jax.Array,
        end: jax.Array,
        speed: jax.Array,
        dt: float,
    ) -> Guided:
        """Steer to the leg and a little into the current."""
        errors = track_errors(estimate.position, start, end, flat=True)
        z, ahead = memory[0], self.lookahead
        aim = errors.cross + self.gain * z
        z = z + dt * ahead * errors.cross / (ahead * ahead + aim * aim)
        angle = errors.course - jnp.arctan2(errors.cross + self.gain * z, ahead)
        return z[None], _level(angle, "heading", speed, start, end, errors), errors


@pytree
class AdaptiveLineOfSight:
    """Line of sight with an estimate of the crab angle; Fossen (2023), ALOS.

        ψ_d = χ_p − β̂ − atan(y_e / Δ),   β̂' = γ Δ y_e / √(Δ² + y_e²)

    β̂ stays within a limit, so that a leg begun far away does not run it up.
    """

    lookahead: jax.Array
    """Δ, m."""
    gain: jax.Array
    """γ, rad/(m s)."""
    limit: jax.Array
    """Largest |β̂|, rad."""

    def begin(self, vehicles: int) -> jax.Array:
        """The estimate β̂, (1, N)."""
        return jnp.zeros((1, vehicles), self.lookahead.dtype)

    def guide(
        self,
        memory: jax.Array,
        estimate: Estimate,
        start: jax.Array,
        end: jax.Array,
        speed: jax.Array,
        dt: float,
    ) -> Guided:
        """Steer to the leg, turned by the crab angle."""
        errors = track_errors(estimate.position, start, end, flat=True)
        crab = _adapt(memory[0], errors.cross, self.lookahead, self.gain, self.limit, dt)
        angle = errors.course - crab - jnp.arctan2(errors.cross, self.lookahead)
        return crab[None], _level(angle, "heading", speed, start, end, errors), errors


@pytree
class PurePursuit:
    """Straight to the end of the leg, wherever its start was; Fossen (2021), chapter 12."""

    steer: str = static(default="course")
    """`course` or `heading`: what the angle is asked of."""

    def begin(self, vehicles: int) -> jax.Array:
        """Nothing to remember."""
        return jnp.zeros((0, vehicles))

    def guide(
        self,
        memory: jax.Array,
        estimate: Estimate,
        start: jax.Array,
        end: jax.Array,
        speed: jax.Array,
        dt: float,
    ) -> Guided:
        """Steer to the end."""
        errors = track_errors(estimate.position, start, end, flat=True)
        way = end - estimate.position
        return (
            memory,
            _level(bearing(way[1], way[0]), self.steer, speed, start, end, errors),
            errors,
        )


@pytree
class LineOfSight3D:
    """Line of sight for vehicles that dive: course and pitch; Fossen (2021), chapter 12.

        ψ_d = χ_p − β̂ − atan(y_e / Δ_h),   θ_d = υ_p + α̂ + atan(z_e / Δ_v)

    Without adaptation β̂ = α̂ = 0 and the azimuth is a course. With it (Fossen and Aguiar 2024) the
    azimuth is a heading, β̂ finds the crab angle and α̂ the angle of attack that the dive costs.
    """

    lookahead: jax.Array
    """Δ_h, m."""
    lookahead_vertical: jax.Array
    """Δ_v, m."""
    pitch_limit: jax.Array
    """Largest |θ_d|, rad."""
    adaptation: jax.Array | None = None
    """(2,) γ of β̂ and of α̂, rad/(m s)."""
    limit: float = static(default=0.5)
    """Largest |β̂| and |α̂|, rad."""

    def begin(self, vehicles: int) -> jax.Array:
        """The estimates β̂ and α̂, (2, N), if there are any."""
        return jnp.zeros((0 if self.adaptation is None else 2, vehicles), self.lookahead.dtype)

    def guide(
        self,
        memory: jax.Array,
        estimate: Estimate,
        start: jax.Array,
        end: jax.Array,
        speed: jax.Array,
        dt: float,
    ) -> Guided:
        """Steer and pitch to the leg."""
        errors = track_errors(estimate.position, start, end, flat=False)
        azimuth = errors.course - jnp.arctan2(errors.cross, self.lookahead)
        pitch = errors.slope + jnp.arctan2(errors.vertical, self.lookahead_vertical)
        if self.adaptation is not None:
            gain, far = self.adaptation, self.limit
            crab = _adapt(memory[0], errors.cross, self.lookahead, gain[0], far, dt)
            attack = _adapt(memory[1], errors.vertical, self.lookahead_vertical, gain[1], far, dt)
            azimuth, pitch = azimuth - crab, pitch + attack
            memory = jnp.stack([crab, attack])
        asked = _asked(azimuth, "course" if self.adaptation is None else "heading", speed)
        pitch = jnp.clip(pitch, -self.pitch_limit, self.pitch_limit)
        return memory, asked._replace(pitch=pitch), errors


def _adapt(
    angle: jax.Array,
    error: jax.Array,
    lookahead: jax.Array,
    gain: jax.Array,
    limit: jax.Array | float,
    dt: float,
) -> jax.Array:
    """One step of β̂' = γ Δ e / √(Δ² + e²), within the limit."""
    share = lookahead / jnp.sqrt(lookahead * lookahead + error * error)
    return jnp.clip(angle + dt * gain * share * error, -limit, limit)


def _level(
    angle: jax.Array,
    steer: str,
    speed: jax.Array,
    start: jax.Array,
    end: jax.Array,
    errors: TrackErrors,
) -> Setpoint:
    """Speed, direction, and the depth of the leg abeam of the vehicle."""
    length = errors.along + errors.remaining
    share = jnp.clip(errors.along / jnp.where(length > 0.0, length, 1.0), 0.0, 1.0)
    # On a leg that goes straight down nobody is ever abeam of a part of it.
    goes = jnp.any(jnp.abs(end[:2] - start[:2]) > 1e-6, axis=0)
    share = jnp.where(goes, share, 1.0)
    depth = start[2] + share * (end[2] - start[2])
    return _asked(angle, steer, speed)._replace(depth=depth)


def _asked(angle: jax.Array, steer: str, speed: jax.Array) -> Setpoint:
    """A setpoint with a direction and a speed ahead, and nothing else asked for."""
    angle = wrap_signed(angle)
    none = jnp.full_like(angle, jnp.nan)
    ahead = jnp.broadcast_to(jnp.asarray(speed, angle.dtype), angle.shape)
    return Setpoint(
        position=jnp.stack([none, none, none]),
        heading=angle if steer == "heading" else none,
        course=angle if steer == "course" else none,
        velocity=jnp.stack([ahead, none, none]),
        yaw_rate=none,
        depth=none,
        pitch=none,
    )
