"""The battery: what the thrusters draw, and what is left.

    P = P_hotel + Σ P_full (|n| / n_max)³         by shaft speed: a propeller's law
                + Σ P_full (|T| / T_max)^(3/2)     by thrust: the ideal power of an actuator disc
    P = V I,  V = V_oc(s) − R I,  ds/dt = −I / Q

The current is the smaller root, I = 2 P / (V_oc + √(V_oc² − 4 R P)); more than V_oc² / 4R cannot be
drawn. The charge s counts coulombs; Q is the energy of the full battery over the mean of V_oc.
"""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.sensor import Reading


@pytree
class Load:
    """A thruster as the battery sees it."""

    full: jax.Array
    """Power at the limit, W."""
    limit: jax.Array
    """Shaft speed or thrust at which it draws that power."""
    by_speed: bool = static()
    """Driven by its shaft speed; else in newtons."""
    channel: int = static()


@pytree
class Noise:
    """The random errors."""

    voltage: jax.Array
    current: jax.Array


@pytree
class Battery:
    """A battery with its monitor."""

    loads: tuple[Load, ...]
    hotel: jax.Array
    """W."""
    charges: jax.Array
    """(K,) from 0 to 1, float64."""
    voltages: jax.Array
    """(K,) open-circuit voltage at each."""
    resistance: jax.Array
    """Ω."""
    drain: jax.Array
    """Charge that 1 A takes in one period."""
    start: jax.Array
    """Charge at the start."""
    noise: Noise | None

    @property
    def draws(self) -> int:
        """Noise of voltage and current."""
        return 0 if self.noise is None else 2

    @property
    def starting_draws(self) -> int:
        """None."""
        return 0

    def begin(self, draws: jax.Array) -> jax.Array:
        """Charge, last current, and 1 once that is known.

        In double precision whatever the rest is: the charge of a period is far below the last
        digit of a float32 charge.
        """
        charge = jnp.broadcast_to(self.start, draws.shape[-1:]).astype(jnp.float64)
        return jnp.stack([charge, jnp.zeros_like(charge), jnp.zeros_like(charge)])

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Voltage (V), current drawn (A), power at the terminals (W), charge (0 … 1)."""
        power = self.power(look.state.actuators).astype(jnp.float64)
        charge, before, known = memory
        # Trapezoidal rule; the current at the end of the period is first had from a prediction.
        # The first sample has no period before it.
        ahead = jnp.maximum(charge - known * self.drain * before, 0.0)
        mean = 0.5 * (before + self.current(power, ahead))
        charge = jnp.maximum(charge - known * self.drain * mean, 0.0)
        current = self.current(power, charge)
        voltage = self.open_circuit(charge) - self.resistance * current
        memory = jnp.stack([charge, current, jnp.ones_like(current)])
        if self.noise is not None:
            voltage = voltage + self.noise.voltage * draws[0]
            current = current + self.noise.current * draws[1]
        values = jnp.stack([voltage, current, voltage * current, charge])
        return Reading(memory, values, jnp.ones(charge.shape, bool))

    def empty(self, memory: jax.Array) -> jax.Array:
        """(N,) whether nothing is left for the thrusters."""
        spent: jax.Array = memory[0] <= 0.0
        return spent

    def power(self, actuators: jax.Array) -> jax.Array:
        """What is asked of the battery, W."""
        power = jnp.broadcast_to(self.hotel, actuators.shape[1:])
        for load in self.loads:
            ratio = jnp.abs(actuators[load.channel]) / load.limit
            law = ratio * ratio * ratio if load.by_speed else ratio * jnp.sqrt(ratio)
            power = power + load.full * law
        return power

    def open_circuit(self, charge: jax.Array) -> jax.Array:
        """Voltage without a load, V."""
        return jnp.interp(charge, self.charges, self.voltages)

    def current(self, power: jax.Array, charge: jax.Array) -> jax.Array:
        """Current at which the battery gives this power, or all that it can, A."""
        volts = self.open_circuit(charge)
        # 4 R P ≤ V², without dividing by a resistance that may be zero
        four_rp = jnp.minimum(4.0 * self.resistance * power, volts * volts)
        most = jnp.where(
            self.resistance > 0.0,
            four_rp / (4.0 * jnp.where(self.resistance > 0.0, self.resistance, 1.0)),
            power,
        )
        return 2.0 * most / (volts + jnp.sqrt(volts * volts - four_rp))
