"""Doppler velocity log: four beams, their velocities and lengths, and a solution from the good.

A beam along the unit vector b (sensor axes) measures b · v. It meets the bottom at the length r and
the incidence γ, as `ranging.bottom_rays` says: over a flat bottom at the height h below the sensor
r = h / cos γ. The bottom is heard while

    20 log₁₀ r + 2 α r − 20 log₁₀ (cos γ / cos β) ≤ 20 log₁₀ r₀ + 2 α₀ r₀

where r₀ is the reach of a level device over a level bottom in the reference water and β the angle
of its beams: an echo from a patch that the beam limits loses 20 log₁₀ r by spreading and 2 α r by
absorption (Deines 1999), and by Lambert's law 20 log₁₀ cos γ as the beam grazes the bottom (Urick
1983, section 8). So a beam is lost where it looks over a drop, and near the end of its reach where
the bottom falls away from it.
"""

import jax
import jax.numpy as jnp

from seatrial.ocean import seabed, water
from seatrial.ocean.curves import Curve, evaluate
from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.ranging.bottom_rays import Met, Reach
from seatrial.sensors.ranging.solid_rays import meet_first
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.spatial.vectors import Scalar, Vec3, add, cross, dot, scale, subtract, vec3

BEAMS = 4
FLAWS = 7
"""Numbers that a unit keeps."""
FEWEST = 3
"""Good beams that a velocity takes."""

FARTHEST_LAYER = 0.8
"""Of the way to the bottom: below, echoes of the bottom through side lobes cover the water's."""

NO_LOCK, BOTTOM_LOCK, WATER_LOCK = 0.0, 1.0, 2.0


@pytree
class WaterLock:
    """Following a layer of water where the bottom is out of reach."""

    distance: jax.Array
    """Along the z axis, m."""
    noise: jax.Array
    """Of a beam's velocity, m/s."""


@pytree
class Device:
    """What keeps a real device from the truth."""

    noise: jax.Array
    """Of a beam's velocity, m/s."""
    range_noise: jax.Array
    """Of a beam's length, as a share of it."""
    shortest: jax.Array
    """Least length of a beam, m."""
    budget: jax.Array
    """Loss at the reach of a level device, dB."""
    absorption: Curve
    """Over the sensor's depth, dB/m."""
    water: WaterLock | None
    flaws: jax.Array | None
    """(7,) standard deviations between units: scale, three angles of the mounting (rad), bias along
    three axes (m/s)."""
    sound_speed: jax.Array | None
    """That the device assumes, m/s."""
    dropout: jax.Array | None
    """Standard normal number below which a beam is lost."""


@pytree
class Dvl:
    """Four beams in Janus arrangement."""

    mount: Mount
    beams: jax.Array
    """(4, 3) unit vectors in sensor axes."""
    device: Device | None
    """None for the exact sensor."""
    reach: Reach | None = None
    """Over a map."""
    sight: jax.Array | None = None
    """As far as solids are looked for, m; None in a world that has none."""

    @property
    def draws(self) -> int:
        """For each beam: velocity, length, and whether it is lost."""
        if self.device is None:
            return 0
        return BEAMS * (2 if self.device.dropout is None else 3)

    @property
    def starting_draws(self) -> int:
        """What a unit keeps: scale, mounting and bias."""
        return 0 if self.device is None or self.device.flaws is None else FLAWS

    def begin(self, draws: jax.Array) -> jax.Array:
        """1 while lock is held off from outside, and the unit's own errors."""
        held = jnp.zeros((1, draws.shape[-1]), draws.dtype)
        if self.device is None or self.device.flaws is None:
            return held
        return jnp.concatenate([held, self.device.flaws[:, None] * draws])

    def lose_lock(self, memory: jax.Array, lost: jax.Array, t: jax.Array) -> jax.Array:
        """Let the next sample give nothing where `lost` is true."""
        return memory.at[0].set(jnp.where(lost, 1.0, memory[0]))

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Velocity (3), altitude, range of each beam (0 where lost), lock (0, 1 bottom, 2 water).

        Velocities stand in the sensor's axes.
        """
        arm = self.mount.arm
        place = look.place(arm)
        velocity = self.mount.to_sensor(look.velocity(arm))
        along = look.rotation.to_world(self.mount.to_body(self._columns))
        down = jnp.asarray(along[2])
        height = None
        if look.ocean.seabed is not None:
            height = jnp.asarray(seabed.sample(look.ocean.seabed, place[0], place[1]) - place[2])
        met = meet_first(look.ocean, self.reach, place, along, self.sight, look.t)
        held = memory[0] > 0.0
        if self.device is None:
            return self._exact(memory, velocity, down, height, met, held)

        device = self.device
        alive = jnp.broadcast_to(
            feel(look.ocean, place, look.t).submerged & ~held, draws[:BEAMS].shape
        )
        if device.dropout is not None:
            alive &= draws[2 * BEAMS :] >= device.dropout
        stretch: Scalar = 1.0
        if device.sound_speed is not None:
            stretch = device.sound_speed / water.sound_speed(look.ocean.water, place[2])
        error, bias = stretch, jnp.zeros(())
        if device.flaws is not None:
            error, bias = stretch * (1.0 + memory[1]), memory[5:8]

        ranges = jnp.zeros_like(draws[:BEAMS])
        heard = jnp.zeros_like(alive)
        altitude = jnp.zeros_like(draws[0])
        if met is not None:
            heard = alive & self._echo(device, met, place[2])
            noisy = met.length * stretch * (1.0 + device.range_noise * draws[BEAMS : 2 * BEAMS])
            ranges = jnp.where(heard, noisy, 0.0)
            altitude = jnp.sum(ranges * down, axis=0) / jnp.maximum(jnp.sum(heard, axis=0), 1)
        seen = self._crooked(memory, velocity)
        solution, locked = self._solve(seen, error, device.noise, draws, heard)
        lock = jnp.where(locked, BOTTOM_LOCK, NO_LOCK)
        if device.water is not None:
            drift, there = self._layer(device.water, look, place, height)
            through = self._crooked(memory, subtract(velocity, drift))
            followed, caught = self._solve(through, error, device.water.noise, draws, alive & there)
            solution = jnp.where(locked, solution, followed)
            lock = jnp.where(locked, BOTTOM_LOCK, jnp.where(caught, WATER_LOCK, NO_LOCK))
        solution = jnp.where(lock != NO_LOCK, solution + bias, 0.0)
        values = jnp.concatenate([solution, altitude[None], ranges, lock[None]])
        return Reading(memory.at[0].set(0.0), values, lock != NO_LOCK)

    def _crooked(self, memory: jax.Array, velocity: Vec3) -> Vec3:
        """A velocity as a device sees it that is turned by small angles ε from where it should be:
        v − ε × v. The beams' lengths are taken as if it were not."""
        assert self.device is not None
        if self.device.flaws is None:
            return velocity
        return subtract(velocity, cross(vec3(memory[2:5]), velocity))

    @property
    def _columns(self) -> Vec3:
        """The beams as a vector of (4, 1) arrays, to stand beside arrays over vehicles."""
        return vec3(self.beams.T[:, :, None])

    def _exact(
        self,
        memory: jax.Array,
        velocity: Vec3,
        down: jax.Array,
        height: jax.Array | None,
        met: Met | None,
        held: jax.Array,
    ) -> Reading:
        """The truth: velocity over ground and, where there is a bottom, its distance."""
        altitude, ranges = jnp.zeros_like(down[0]), jnp.zeros_like(down)
        if height is not None:
            altitude = height
        if met is not None:
            ranges = met.length
        lock = jnp.where(held, NO_LOCK, BOTTOM_LOCK)
        moving = jnp.stack([jnp.asarray(v) for v in velocity])
        values = jnp.concatenate([moving, altitude[None], ranges, lock[None]])
        return Reading(memory.at[0].set(0.0), values, ~held)

    def _layer(
        self, layer: WaterLock, look: Look, place: Vec3, height: jax.Array | None
    ) -> tuple[Vec3, jax.Array]:
        """Velocity over ground of the layer of water, sensor axes, and whether it can be heard."""
        ahead = self.mount.to_body((0.0, 0.0, 1.0))
        way = scale(layer.distance, look.rotation.to_world(ahead))
        felt = feel(look.ocean, add(place, way), look.t)
        there = felt.submerged
        if height is not None:
            there &= way[2] <= FARTHEST_LAYER * height
        return self.mount.to_sensor(look.rotation.to_body(felt.velocity)), there

    def _echo(self, device: Device, met: Met, z: Scalar) -> jax.Array:
        """Whether beams hear the bottom that they meet."""
        length, there = met.length, met.length > 0.0
        spread = jnp.log10(jnp.where(there, length * self.beams[0, 2] / met.cosine, 1.0))
        loss = 20.0 * spread + 2.0 * evaluate(device.absorption, z) * length
        return there & (length >= device.shortest) & (loss <= device.budget)

    def _solve(
        self,
        velocity: Vec3,
        error: Scalar,
        noise: jax.Array,
        draws: jax.Array,
        good: jax.Array,
    ) -> tuple[jax.Array, jax.Array]:
        """Velocity as the good beams have it, by least squares, and whether they are enough.

        (Σ b bᵀ) v = Σ b m, solved by Cramer's rule: the matrix is symmetric, so its rows are its
        columns.
        """
        beams = self._columns
        along = error * dot(beams, velocity) + noise * draws[:BEAMS]
        enough = jnp.sum(good, axis=0) >= FEWEST
        weighed = scale(good.astype(self.beams.dtype), beams)

        def over_beams(factor: Scalar) -> Vec3:
            x, y, z = (jnp.sum(factor * w, axis=0) for w in weighed)
            return x, y, z

        x, y, z, right = (over_beams(factor) for factor in (*beams, along))
        minors = cross(y, z), cross(z, x), cross(x, y)
        determinant = jnp.where(enough, dot(x, minors[0]), 1.0)
        solution = jnp.stack([jnp.asarray(dot(right, m)) for m in minors]) / determinant
        return jnp.where(enough, solution, 0.0), enough
