"""An error of several components that each drift slowly, first-order Gauss–Markov."""

import jax

from seatrial.pytree import pytree
from seatrial.sensors.noise.processes import gauss_markov


@pytree
class Drift:
    """Every component with a standard deviation and a correlation time of its own."""

    sigma: jax.Array
    """(K,) standard deviation, stationary from the first sample on."""
    time_constant: jax.Array
    """(K,) s."""
    dt: jax.Array
    """From sample to sample, s."""

    @property
    def draws(self) -> int:
        """Standard normal numbers for a beginning or for a step."""
        return self.sigma.shape[0]

    def begin(self, draws: jax.Array) -> jax.Array:
        """The error (K, N) before the first sample."""
        return self.sigma[:, None] * draws

    def step(self, error: jax.Array, draws: jax.Array) -> jax.Array:
        """The error (K, N) one sample later."""
        return gauss_markov(error, draws, self.dt, self.time_constant[:, None], self.sigma[:, None])
