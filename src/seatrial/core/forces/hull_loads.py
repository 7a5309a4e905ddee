"""Loads on a hull as it lies in the water now: triangles cut at its surface, or cubes.

The sea is sampled once, on a patch around the vehicle, and shared by all that asks for it. Vehicles
are treated one after the other on a CPU: the triangles of one fill its vector units, and what they
need stays in the cache.
"""

import jax
import jax.numpy as jnp

from seatrial.core.forces import voxels, wave_patch, wetted
from seatrial.core.forces.voxels import Voxels
from seatrial.core.forces.wave_patch import WavePatch
from seatrial.core.forces.wetted import CutHull, WetLoads
from seatrial.ocean.waves import Waves, time_phase
from seatrial.pytree import pytree
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Scalar, Twist, Vec3, Wrench, total


@pytree
class HullForces:
    """What a vehicle's description asks to be computed on its hull."""

    cut: CutHull | None = None
    voxels: Voxels | None = None
    patch: WavePatch | None = None
    """None in a sea without waves."""

    @property
    def holds(self) -> bool:
        """Whether these loads hold the craft up, in place of its linear stiffness."""
        return self.voxels is not None or (self.cut is not None and self.cut.holds)


def evaluate(
    model: HullForces,
    waves: Waves | None,
    position: Vec3,
    turned: Rotation,
    through: Twist,
    density: Scalar,
    t: jax.Array,
    bottom: jax.Array | None = None,
) -> WetLoads:
    """Loads on all vehicles; `through` is their velocity through water without its waves, `bottom`
    the depth under them where it is a map."""
    now = time_phase(waves, t) if waves is not None and model.patch is not None else None
    under = () if bottom is None else (bottom,)
    arrays = jnp.broadcast_arrays(*position, *turned, *through, jnp.asarray(density), *under)

    def one(values: tuple[jax.Array, ...]) -> jax.Array:
        place, pose = values[:3], Rotation(*values[3:12])
        moving, density = Twist(*values[12:18]), values[18]
        sea = None
        if now is not None and model.patch is not None and waves is not None:
            sea = wave_patch.sample(model.patch, waves, place[0], place[1], pose, now, *values[19:])
        found: list[WetLoads] = []
        if model.voxels is not None:
            found.append(voxels.loads(model.voxels, sea, place[2], pose, density))
        if model.cut is not None:
            found.append(wetted.loads(model.cut, sea, place[2], pose, moving, density))
        return jnp.stack([*total([f.wrench for f in found]), found[0].volume])

    shape = arrays[0].shape
    if shape == ():
        rows = one(tuple(arrays))
    else:
        flat = tuple(a.reshape(-1) for a in arrays)
        mapped = jax.lax.map(one, flat) if jax.default_backend() == "cpu" else jax.vmap(one)(flat)
        rows = mapped.T.reshape(-1, *shape)
    return WetLoads(Wrench(*rows[:6]), rows[6])
