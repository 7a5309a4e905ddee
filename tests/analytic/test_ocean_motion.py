"""The whole flow: current, turbulence and waves added up, and how it changes for the water."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft
from seatrial.ocean import Ocean, current, turbulence, waves
from seatrial.ocean.motion import drift, motion
from seatrial.ocean.waves import STRETCHING

pytestmark = pytest.mark.usefixtures("x64")

SHEARED = {
    "speed": 0.8,
    "towards": 2.0,
    "profile": {"depth": [0.0, 4.0, 9.0, 20.0], "factor": [1.0, 0.8, 0.3, 0.1]},
    "tide": [{"amplitude": 0.5, "period": 90.0, "towards": 0.5, "phase": 0.9}],
}
EDDIES = {"dissipation_rate": 1e-4, "outer_length": 5.0, "smallest_length": 1.0, "modes": 24}
SEA = {
    "spectrum": "jonswap",
    "significant_height": 1.2,
    "peak_period": 5.0,
    "spreading": "cos2",
    "frequencies": 6,
    "directions": 4,
}


def world(depth=None, stretching="constant", without=(), **parts):
    """All three fields, but for those left out or given otherwise."""
    whole = {"waves": SEA | {"stretching": stretching}, "current": SHEARED, "turbulence": EDDIES}
    if depth is not None:
        whole["seabed"] = {"depth": depth}
    return craft.ocean_of(**{k: v for k, v in (whole | parts).items() if k not in without})


def velocity(ocean, place, t):
    """The three fields by themselves, added by hand."""
    total = np.zeros(np.broadcast_shapes(*(np.shape(c) for c in place), np.shape(t)))
    total = np.stack([total] * 3)
    if ocean.current is not None:
        total = total + np.stack(
            [np.broadcast_to(c, total.shape[1:]) for c in current.sample(ocean.current, place, t)]
        )
    if ocean.turbulence is not None:
        total = total + np.stack(turbulence.sample(ocean.turbulence, place, t))
    if ocean.waves is not None:
        total = total + np.stack(waves.sample(ocean.waves, place, t).velocity)
    return total


def along_the_flow(ocean, place, t, h=1e-4):
    """Dv/Dt by a central difference over a short way with the water."""
    v = velocity(ocean, place, t)
    ahead = velocity(ocean, tuple(np.asarray(place) + h * v), t + h)
    back = velocity(ocean, tuple(np.asarray(place) - h * v), t - h)
    return (ahead - back) / (2 * h)


def points(lowest, highest, count=60):
    rng = np.random.default_rng(2)
    return tuple(rng.uniform([-80.0, -80.0, lowest], [80.0, 80.0, highest], (count, 3)).T)


CALM = ("current", "turbulence")
OCEANS = {
    "all": {},
    "waves": {"without": CALM},
    "waves on a steady current": {
        "current": {"speed": 1.5, "towards": 0.4},
        "without": ("turbulence",),
    },
    "waves and eddies": {"without": ("current",)},
    "no waves": {"without": ("waves",)},
}


@pytest.mark.parametrize("depth", [None, 11.0])
@pytest.mark.parametrize("parts", OCEANS.values(), ids=OCEANS.keys())
def test_acceleration_is_the_change_along_the_flow_in_random_seas(parts, depth):
    ocean = world(depth, **parts)
    place = points(0.1, 10.0)
    for t in (0.0, 33.0):
        found = jax.jit(motion)(ocean, place, jnp.float64(t))
        np.testing.assert_allclose(np.stack(found.velocity), velocity(ocean, place, t), atol=1e-13)
        expected = along_the_flow(ocean, place, t)
        scale = np.abs(expected).max()
        assert np.abs(np.stack(found.acceleration) - expected).max() < 2e-7 * scale
        # a claim worth the test: what is not the local derivative is not small
        local = (
            np.stack(found.acceleration)
            - (velocity(ocean, place, t + 1e-4) - velocity(ocean, place, t - 1e-4)) / 2e-4
        )
        assert np.abs(local).max() > 0.05 * scale


@pytest.mark.parametrize("depth", [None, 11.0])
@pytest.mark.parametrize("stretching", STRETCHING)
def test_gradients_hold_between_trough_and_crest_whatever_the_stretching(stretching, depth):
    ocean = world(depth, stretching, without=CALM)
    x, y, z = points(-0.6, 0.6, 200)
    found = jax.jit(motion)(ocean, (x, y, z), jnp.float64(7.0))
    # not within a step of the kinks, where the field has no derivative
    depth_read = z + np.asarray(found.elevation) if stretching == "wheeler" else z
    smooth = np.abs(depth_read) > 1e-3
    expected = along_the_flow(ocean, (x, y, z), 7.0)
    gap = np.abs(np.stack(found.acceleration) - expected)[:, smooth]
    assert gap.max() < 2e-7 * np.abs(expected).max()


@pytest.mark.parametrize("depth", [None, 11.0])
def test_orbital_flow_neither_rotates_nor_swells(depth):
    ocean = world(depth, without=CALM)
    (ux, uy, uz), (vx, vy, vz), (wx, wy, wz) = waves.sample(
        ocean.waves, points(0.1, 10.0), 5.0
    ).gradient
    for gap in (uy - vx, uz - wx, vz - wy, ux + vy + wz):
        assert np.abs(gap).max() < 1e-15
    h = 1e-5
    x, y, z = points(0.1, 10.0)
    for axis, columns in enumerate(((ux, vx, wx), (uy, vy, wy), (uz, vz, wz))):
        step = h * np.eye(3)[axis]
        ahead = velocity(ocean, (x + step[0], y + step[1], z + step[2]), 5.0)
        back = velocity(ocean, (x - step[0], y - step[1], z - step[2]), 5.0)
        np.testing.assert_allclose((ahead - back) / (2 * h), np.stack(columns), atol=1e-9)


def test_a_steady_current_carries_the_waves_and_the_water_meets_them_as_without_it():
    """With a current U along a regular wave a fixed place sees ω + kU, and Dv/Dt has the amplitude
    a ω² all the same (no (v·∇)v of a deep-water wave is horizontal)."""
    period, amplitude = 4.0, 0.3
    omega = 2 * math.pi / period
    k = omega**2 / craft.G
    phases = np.linspace(0.0, period, 40, endpoint=False)
    for speed, towards in ((1.0, 0.0), (2.0, 0.0), (1.0, math.pi), (2.0, math.pi)):
        ocean = craft.ocean_of(
            waves={"spectrum": "regular", "height": 2 * amplitude, "period": period},
            current={"speed": speed, "towards": towards},
        )
        z = np.full(40, 2.0)
        found = jax.vmap(lambda z, t, o=ocean: motion(o, (0.0, 0.0, z), t))(z, phases)
        size = amplitude * omega * math.exp(-2.0 * k)
        along = speed * math.cos(towards)
        expected = -size * omega * np.sin((omega + k * along) * phases)
        np.testing.assert_allclose(found.acceleration[0], expected, atol=1e-12)
        np.testing.assert_allclose(found.drift[0], along, atol=1e-15)
        np.testing.assert_allclose(found.velocity[0] - found.drift[0], found.orbital[0], atol=1e-15)


def test_still_water_has_no_motion_at_all_and_a_steady_current_never_accelerates():
    still = motion(craft.calm(), (0.0, 0.0, 3.0), 0.0)
    assert (still.velocity, still.drift, still.orbital, still.acceleration) == (None,) * 4
    steady = craft.ocean_of(current={"speed": 1.5, "towards": 0.4})
    assert motion(steady, (0.0, 0.0, 3.0), 0.0).acceleration is None
    assert drift(steady, (0.0, 0.0, 3.0), 0.0, (0.3, 0.1, 0.2))[1] is None


def test_a_steady_current_adds_no_trigonometry_to_a_program():
    """What waves cost with a steady current is what they cost without, but for a few additions."""
    sea = craft.ocean_of(waves=SEA)
    carried = craft.ocean_of(waves=SEA, current={"speed": 1.5, "towards": 0.4})
    place = (jnp.zeros(8), jnp.zeros(8), jnp.full(8, 2.0))

    def flops(ocean: Ocean, what: str) -> float:
        program = jax.jit(lambda o, p, t: getattr(motion(o, p, t), what))
        return program.lower(ocean, place, jnp.float64(1.0)).compile().cost_analysis()["flops"]

    alone = flops(sea, "acceleration")
    assert flops(carried, "acceleration") < alone + 8 * 12
    # and who asks for the velocity alone does not pay for the eight other sums over components
    components = sea.waves.amplitude.shape[0]
    assert flops(sea, "velocity") < alone - 8 * 8 * components
