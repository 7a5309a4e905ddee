"""Inertial measurement unit: the true specific force and rate, and what the device makes of them.

Each triad of axes answers (IEEE Std 952-1997, annex C; El-Sheimy, Hou and Niu 2008, Analysis and
Modeling of Inertial Sensors Using Allan Variance, IEEE Trans. Instrum. Meas. 57(1))

    y = sat(quant((I + S + M) x + b₀ + b_GM(t) + b_RW(t) + G f + c (T − T_ref) + w))

    x     true value at the mounting point, sensor axes: specific force or angular rate
    S, M  scale errors on the diagonal, misalignment angles beside it; in M also the angles by which
          all three axes together are turned against the case
    b₀    bias of this switching-on
    b_GM  bias instability B: a first-order Gauss–Markov process of time constant τ_c, standard
          deviation σ = 1.076 B (`noise.instability_deviation`)
    b_RW  random walk of density K
    G f   gyroscopes only: the rate that the specific force f pretends
    c     temperature coefficient; T is the temperature of the water at the sensor's depth
    w     white noise, standard deviation N/√Δt per sample

with Allan variance σ²(τ) = N²/τ + σ_GM²(τ) + K² τ/3. S, M, b₀, G and c are drawn once for each
unit and kept in its memory. What is slower than its samples passes a pole at the bandwidth f_b
before it is rounded: ẏ = 2π f_b (x − y), with x held from sample to sample.

The accelerometers also feel the shafts. An unbalance that turns n times per second pushes with
n², so the specific force along each axis has the root mean square (over units and phases)

    a(n) = 2π v n²/n₀ · |sin(π n Δt)/(π n Δt)| / √(1 + (n/f_b)²)

where v is the velocity of the vibration at n₀ = 25 rev/s. A sample is the mean over its period, as
N/√Δt takes it to be, which is the second factor; what is left above half the rate is aliased.
"""

import jax
import jax.numpy as jnp

from seatrial.ocean.water import temperature
from seatrial.pytree import pytree, static
from seatrial.sensors.inertial import kinematics as inertial
from seatrial.sensors.look import Look
from seatrial.sensors.noise import processes as noise
from seatrial.sensors.sensor import Mount, Reading
from seatrial.spatial.trig import sincos
from seatrial.spatial.vectors import Vec3, vec3

AXES = 3


@pytree
class Instability:
    """A bias that wanders about zero."""

    deviation: jax.Array
    time_constant: jax.Array
    """s."""


@pytree
class Crookedness:
    """How far the axes are from unit length and right angles: standard deviations."""

    scale: jax.Array
    misalignment: jax.Array
    """Of each axis, rad."""
    frame: jax.Array
    """Of all axes together, rad."""


@pytree
class Warmth:
    """How the bias follows the temperature."""

    coefficient: jax.Array
    """Standard deviation, per kelvin."""
    reference: jax.Array
    """°C."""


@pytree
class Triad:
    """Errors of three axes; those that they have not are None."""

    white: jax.Array | None = None
    """Standard deviation of a sample."""
    instability: Instability | None = None
    walk: jax.Array | None = None
    """Density K."""
    turn_on: jax.Array | None = None
    """Standard deviation."""
    crookedness: Crookedness | None = None
    warmth: Warmth | None = None
    g_sensitivity: jax.Array | None = None
    """Standard deviation of every element of G."""
    step: jax.Array | None = None
    """Of the quantisation."""
    limit: jax.Array | None = None
    """End of the range."""
    follows: jax.Array | None = None
    """Share of the way to a new value that a sample goes: 1 − exp(−2π f_b Δt)."""

    @property
    def draws(self) -> int:
        """Random numbers of a sample."""
        parts = (self.white, self.instability, self.walk)
        return AXES * sum(part is not None for part in parts)

    @property
    def starting_draws(self) -> int:
        """Random numbers of a unit: all that stays, and where the instability begins."""
        vectors = (self.turn_on, self.instability, self.warmth)
        matrices = (self.crookedness, self.g_sensitivity)
        turned = 0 if self.crookedness is None else AXES
        return (
            turned
            + sum(AXES for p in vectors if p is not None)
            + sum(AXES * AXES for p in matrices if p is not None)
        )

    @property
    def rows(self) -> int:
        """Numbers that the unit keeps: what was drawn for it, a walk, which begins at zero, and
        where a slow one stands."""
        drawn = self.starting_draws - (0 if self.crookedness is None else AXES)
        return drawn + AXES * sum(part is not None for part in (self.walk, self.follows))

    def begin(self, draws: jax.Array) -> jax.Array:
        """What the unit keeps (rows, N), in the order in which `answer` takes it."""
        drawn = _Cursor(draws)
        kept = [draws[:0]]
        if self.turn_on is not None:
            kept.append(self.turn_on * drawn.take(AXES))
        if self.warmth is not None:
            kept.append(self.warmth.coefficient * drawn.take(AXES))
        if self.crookedness is not None:
            along, across = self.crookedness.scale, self.crookedness.misalignment
            diagonal = jnp.eye(AXES, dtype=bool).ravel()[:, None]
            matrix = jnp.where(diagonal, along, across) * drawn.take(AXES * AXES)
            x, y, z = self.crookedness.frame * drawn.take(AXES)
            none = jnp.zeros_like(x)
            kept.append(matrix + jnp.stack([none, z, -y, -z, none, x, y, -x, none]))
        if self.g_sensitivity is not None:
            kept.append(self.g_sensitivity * drawn.take(AXES * AXES))
        if self.instability is not None:
            kept.append(self.instability.deviation * drawn.take(AXES))
        if self.walk is not None:
            kept.append(jnp.zeros((AXES, draws.shape[-1]), draws.dtype))
        if self.follows is not None:  # it begins at the first value, whatever that is
            kept.append(jnp.full((AXES, draws.shape[-1]), jnp.inf, draws.dtype))
        return jnp.concatenate(kept)

    def answer(
        self,
        memory: jax.Array,
        truth: jax.Array,
        force: jax.Array,
        celsius: jax.Array | None,
        draws: jax.Array,
        dt: jax.Array,
    ) -> tuple[jax.Array, jax.Array]:
        """Memory for the next sample, and this sample; all with components first."""
        kept, drawn = _Cursor(memory), _Cursor(draws)
        value = truth
        if self.turn_on is not None:
            value = value + kept.take(AXES)
        if self.warmth is not None and celsius is not None:
            value = value + kept.take(AXES) * (celsius - self.warmth.reference)
        if self.crookedness is not None:
            value = value + _times(kept.take(AXES * AXES), truth)
        if self.g_sensitivity is not None:
            value = value + _times(kept.take(AXES * AXES), force)
        after = [memory[: kept.at]]  # what was drawn for the unit stays
        if self.instability is not None:
            wander, part = kept.take(AXES), self.instability
            value = value + wander
            after.append(
                noise.gauss_markov(wander, drawn.take(AXES), dt, part.time_constant, part.deviation)
            )
        if self.walk is not None:
            walked = kept.take(AXES)
            value = value + walked
            after.append(noise.random_walk(walked, drawn.take(AXES), dt, self.walk))
        if self.white is not None:
            value = value + self.white * drawn.take(AXES)
        if self.follows is not None:
            last = kept.take(AXES)
            last = jnp.where(jnp.isfinite(last), last, value)
            value = last + self.follows * (value - last)
            after.append(value)
        if self.step is not None:
            value = noise.quantise(value, self.step)
        if self.limit is not None:
            value = noise.saturate(value, self.limit)
        return jnp.concatenate(after), value


REFERENCE_SPEED = 25.0
"""Of a shaft, at which the strength of the vibration is stated, rev/s."""


@pytree
class Vibration:
    """What the shafts do to the accelerometers."""

    strength: jax.Array
    """Root mean square of the specific force along an axis at one revolution per second, m/s²."""
    bandwidth: jax.Array | None
    """Of accelerometers that are faster than their samples, Hz."""
    shafts: tuple[int, ...] = static()
    """Their places among the actuator states."""

    @property
    def starting_draws(self) -> int:
        """How strong cosine and sine are along each axis, and where each shaft begins."""
        return len(self.shafts) * (2 * AXES + 1)

    def begin(self, draws: jax.Array) -> jax.Array:
        """(7 S, N) strengths, then turns of the shafts."""
        turns = self.starting_draws - len(self.shafts)
        return jnp.concatenate([draws[:turns], draws[turns:] % 1.0])

    def shake(
        self, memory: jax.Array, actuators: jax.Array, period: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Memory for the next sample, and the specific force (3, N) of this one."""
        count = len(self.shafts)
        turns = memory[-count:]
        speed = actuators[jnp.asarray(self.shafts)]
        size = self.strength * speed * speed * jnp.abs(jnp.sinc(speed * period))
        if self.bandwidth is not None:
            size = size / jnp.sqrt(1.0 + (speed / self.bandwidth) ** 2)
        sine, cosine = sincos(2.0 * jnp.pi * turns)
        along, across = memory[:-count].reshape(2, AXES, count, -1)
        felt = jnp.sum(size * (along * cosine + across * sine), axis=1)
        later = (turns + speed * period) % 1.0
        return jnp.concatenate([memory[:-count], later.astype(memory.dtype)]), felt


@pytree
class Imu:
    """Three accelerometers and three gyroscopes in one case."""

    mount: Mount
    accelerometer: Triad
    gyroscope: Triad
    period: jax.Array
    """From sample to sample, s."""
    earth_rate: jax.Array | None
    """(3,) of the world's frame, NED, rad/s."""
    vibration: Vibration | None

    @property
    def draws(self) -> int:
        """Random numbers of a sample."""
        return self.accelerometer.draws + self.gyroscope.draws

    @property
    def starting_draws(self) -> int:
        """Random numbers of a unit."""
        shaken = 0 if self.vibration is None else self.vibration.starting_draws
        return self.accelerometer.starting_draws + self.gyroscope.starting_draws + shaken

    def begin(self, draws: jax.Array) -> jax.Array:
        """What the unit keeps (M, N): accelerometers first, what the shafts do last."""
        first = self.accelerometer.starting_draws
        both = first + self.gyroscope.starting_draws
        kept = [self.accelerometer.begin(draws[:first]), self.gyroscope.begin(draws[first:both])]
        if self.vibration is not None:
            kept.append(self.vibration.begin(draws[both:]))
        return jnp.concatenate(kept)

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """One sample: specific force (m/s²), then angular rate (rad/s)."""
        turning = None if self.earth_rate is None else vec3(self.earth_rate)
        batch = look.state.position[2]
        force = _stack(inertial.specific_force(look, self.mount, turning), batch)
        rate = _stack(inertial.angular_rate(look, self.mount, turning), batch)
        celsius = None
        if self.accelerometer.warmth is not None or self.gyroscope.warmth is not None:
            # The air's temperature is not described: above the water it is that of the surface.
            depth = jnp.maximum(look.place(self.mount.arm)[2], 0.0)
            celsius = temperature(look.ocean.water, depth)
        rows = self.accelerometer.rows
        both = rows + self.gyroscope.rows
        some = self.accelerometer.draws
        shaken = memory[both:]
        if self.vibration is not None:
            shaken, more = self.vibration.shake(shaken, look.state.actuators, self.period)
            force = force + more
        forces, felt = self.accelerometer.answer(
            memory[:rows], force, force, celsius, draws[:some], self.period
        )
        rates, turned = self.gyroscope.answer(
            memory[rows:both], rate, force, celsius, draws[some:], self.period
        )
        return Reading(
            memory=jnp.concatenate([forces, rates, shaken]),
            values=jnp.concatenate([felt, turned]),
            valid=jnp.ones(batch.shape, bool),
        )


class _Cursor:
    """Takes the rows of an array one group after the other."""

    def __init__(self, rows: jax.Array) -> None:
        self._rows = rows
        self.at = 0

    def take(self, count: int) -> jax.Array:
        """The next `count` rows."""
        self.at += count
        return self._rows[self.at - count : self.at]


def _times(matrix: jax.Array, v: jax.Array) -> jax.Array:
    """A matrix (9, N), row by row, times a vector (3, N)."""
    return jnp.sum(matrix.reshape(AXES, AXES, -1) * v, axis=1)


def _stack(v: Vec3, like: jax.Array) -> jax.Array:
    return jnp.stack([jnp.broadcast_to(component, like.shape) for component in v])
