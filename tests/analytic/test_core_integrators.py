"""Order of convergence, precision, batches and gradients of the step itself."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft

SCREW = {
    "kind": "thruster",
    "name": "screw",
    "position": [-0.9, 0.0, 0.02],
    "time_constant": 0.4,
    "rotation": "right",
    "thrust": {
        "model": "open_water",
        "diameter": 0.2,
        "kt": {"line": [0.4, -0.4]},
        "kq": {"line": [0.05, -0.04]},
        "speed_limits": [-20.0, 20.0],
    },
}
RUDDER = {
    "kind": "fin",
    "name": "rudder",
    "position": [-0.9, 0.0, 0.0],
    "angle_limit": 0.5,
    "time_constant": 0.3,
    "lift": {"area": 0.02, "aspect_ratio": 2.0},
}
WAVES = {"spectrum": "regular", "height": 0.6, "period": 4.0, "towards": 0.7}


@pytest.fixture(scope="module")
def torpedo_in_waves():
    ocean = craft.ocean_of(waves=WAVES, current={"speed": 0.3, "towards": 2.0})
    return craft.torpedo(actuators=[SCREW, RUDDER]), ocean


def barge_in_waves(integrator="rk4", precision=np.float64):
    damping = {"X_u": -200.0, "Y_v": -900.0, "Z_w": -3000.0, "K_p": -600.0, "M_q": -3000.0}
    described = craft.barge(
        coefficients=craft.added(300, 1500, 3000, 300, 1500, 1500)
        | damping
        | {"N_r": -900.0, "N_v": -100.0},
        gravity_depth=0.1,
        actuators=[SCREW | {"position": [-1.9, 0.4, 0.4]}, RUDDER | {"position": [-1.9, 0.0, 0.3]}],
    )
    ocean = craft.ocean_of(precision, waves=WAVES)
    return craft.compiled(described, ocean, precision, integrator), ocean


def end_state(model, ocean, dt, seconds=2.0, depth=4.0):
    """Started inside the swing of the actuators, with every degree of freedom in motion."""
    first = craft.state(
        model,
        position=(0, 0, depth),
        euler=(0.2, -0.1, 0.5),
        velocity=(1.0, 0.3, -0.2, 0.3, -0.2, 0.4),
        actuators=(2.0, 0.0),
    )
    parts = craft.simulate(
        model, ocean, first, seconds, dt, command=(12.0, 0.3), every=round(seconds / dt)
    )[1:]
    return np.concatenate([p[-1] for p in parts])


def richardson(model, ocean, steps, depth=4.0):
    """log₂ of the ratio of successive differences: the observed order."""
    ends = [end_state(model, ocean, dt, depth=depth) for dt in steps]
    gaps = [np.linalg.norm(a - b) for a, b in pairwise(ends)]
    return [float(np.log2(a / b)) for a, b in pairwise(gaps)]


def test_rk4_has_order_four_on_a_full_submerged_vehicle(torpedo_in_waves):
    described, ocean = torpedo_in_waves
    orders = richardson(craft.compiled(described, ocean), ocean, (0.05, 0.025, 0.0125, 0.00625))
    assert orders[-1] == pytest.approx(4.0, abs=0.15), orders


def test_rk4_has_order_four_on_a_floating_vehicle_in_waves():
    model, ocean = barge_in_waves()
    orders = richardson(model, ocean, (0.04, 0.02, 0.01, 0.005), depth=0.0)
    assert orders[-1] == pytest.approx(4.0, abs=0.15), orders


def test_semi_implicit_euler_has_order_one_on_a_full_vehicle(torpedo_in_waves):
    described, ocean = torpedo_in_waves
    model = craft.compiled(described, ocean, integrator="semi_implicit")
    orders = richardson(model, ocean, (0.01, 0.005, 0.0025, 0.00125))
    assert orders[-1] == pytest.approx(1.0, abs=0.05), orders


def test_both_integrators_tend_to_the_same_motion(torpedo_in_waves):
    described, ocean = torpedo_in_waves
    fine = end_state(craft.compiled(described, ocean), ocean, 0.00625)
    euler = craft.compiled(described, ocean, integrator="semi_implicit")
    halved = [end_state(euler, ocean, dt) for dt in (0.0025, 0.00125)]
    extrapolated = 2 * halved[1] - halved[0]  # removes the first-order error
    assert np.abs(extrapolated - fine).max() < 5e-5


def test_semi_implicit_euler_keeps_the_amplitude_of_an_undamped_heave():
    # Symplectic: the energy error stays bounded, where explicit Euler would grow by e^(ω²dt·t/2).
    model = craft.compiled(craft.barge(), integrator="semi_implicit")
    first = craft.state(model, position=(0, 0, 0.01))
    _, position, *_ = craft.simulate(model, craft.calm(), first, 120.0, 0.02)
    assert np.abs(position[-500:, 2]).max() == pytest.approx(0.01, rel=0.06)


def test_single_precision_stays_within_a_millimetre_of_double_over_a_minute():
    tracks = {}
    for precision in (np.float64, np.float32):
        model, ocean = barge_in_waves(precision=precision)
        first = craft.state(model, velocity=(0.5, 0, 0, 0, 0, 0))
        _, position, attitude, velocity, _ = craft.simulate(
            model, ocean, first, 60.0, 0.02, command=(8.0, 0.1), every=50
        )
        assert position.dtype == precision
        tracks[precision] = (position.astype(float), attitude.astype(float), velocity.astype(float))
    moved = np.linalg.norm(tracks[np.float64][0][-1, :2])
    assert moved > 5.0
    gaps = [np.abs(a - b).max() for a, b in zip(*tracks.values(), strict=True)]
    # 3000 steps with roundings of 2⁻²⁴ of 30 m and 1 rad: a random walk of about 1e-4.
    assert gaps[0] < 1e-3
    assert gaps[1] < 1e-4
    assert gaps[2] < 1e-4


def test_batch_last_call_vmap_and_single_calls_agree(torpedo_in_waves):
    described, ocean = torpedo_in_waves
    rng = np.random.default_rng(5)
    for model, depth in ((craft.compiled(described, ocean), 3.0), (barge_in_waves()[0], 0.0)):
        n = 6
        batch = craft.state(
            model,
            position=rng.normal(size=(3, n)) * [[20], [20], [0.05]] + [[0], [0], [depth]],
            euler=rng.normal(size=(3, n)) * [[0.2], [0.2], [2]],
            velocity=rng.normal(size=(6, n)) * 0.5,
            actuators=rng.normal(size=(2, n)) * 0.2,
        )
        together = craft.acceleration(model, ocean, batch, 1.7)
        with jax.enable_x64(True):
            mapped = jax.vmap(
                lambda s, m=model: craft.derivative(m, ocean, s, jnp.float64(1.7)).velocity,
                in_axes=-1,
                out_axes=-1,
            )(batch)
            alone = [jax.tree.map(lambda a, i=i: a[..., i], batch) for i in range(n)]
        one_by_one = np.stack([craft.acceleration(model, ocean, s, 1.7) for s in alone], axis=-1)
        size = np.abs(together).max()
        assert np.abs(np.asarray(mapped) - together).max() < 1e-13 * size
        assert np.abs(one_by_one - together).max() < 1e-13 * size


def test_gradient_through_a_rollout_agrees_with_finite_differences():
    model = craft.compiled(craft.torpedo(actuators=[SCREW]))
    first = craft.state(model, position=(0, 0, 4), velocity=(1.0, 0.1, 0, 0, 0, 0.1))

    @jax.jit
    @jax.value_and_grad
    def reached(command):
        def one(at, k):
            return craft.step(model, craft.calm(), at, command[None], 0.05 * k, 0.05), None

        end, _ = jax.lax.scan(one, first, jnp.arange(20))
        return jnp.sum(end.position * jnp.array([1.0, 2.0, 3.0])) + end.velocity[5]

    with jax.enable_x64(True):
        h = 1e-3
        ahead, _ = reached(jnp.float64(9.0 + h))
        back, _ = reached(jnp.float64(9.0 - h))
        _, gradient = reached(jnp.float64(9.0))
    assert float(gradient) == pytest.approx(float(ahead - back) / (2 * h), rel=1e-6)


def test_reverse_gradient_is_finite_where_a_vehicle_rests_in_still_water():
    # Square roots and arctangents of a velocity of zero must not poison the gradient.
    strips = {"length": 2.0, "draught": 0.25, "beam": 0.25, "vertical_plane": True}
    model = craft.compiled(craft.torpedo(actuators=[SCREW, RUDDER], crossflow=strips))
    first = craft.state(model, position=(0, 0, 4), actuators=(1.0, 0.1))

    def rates(velocity):
        at = craft.State(first.position, first.attitude, velocity, first.actuators)
        return craft.derivative(model, craft.calm(), at, jnp.float64(0.0)).velocity

    with jax.enable_x64(True):
        back = np.asarray(jax.jit(jax.jacrev(rates))(first.velocity))
        ahead = np.asarray(jax.jit(jax.jacfwd(rates))(first.velocity))
    assert np.isfinite(back).all()
    assert np.abs(back - ahead).max() < 1e-12 * np.abs(ahead).max()
