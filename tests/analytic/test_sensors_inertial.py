"""What an ideal inertial sensor feels, against motions known in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import motions
from seatrial.conventions import GRAVITY
from seatrial.sensors.inertial.truth import GroundTruth
from strapdown import integrate

TIMES = np.linspace(0.0, 12.0, 97)
DOWN = np.array([0.0, 0.0, GRAVITY])

# The frames of the dataset thesis (2021), figure 3.2. Vehicle: z forward, x right, y down. Sensor:
# x forward, y left, z up. R_SV is eq. 3.12, from vehicle to sensor components.
R_SV = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0.0]])
TO_BODY = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0.0]])
LEVER = np.array([0, 0, -0.5])
SWING = 2.0
"""Duration of each of the thesis's movements here, s."""


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def over_time(function, times=TIMES):
    """Values of a function of time, one after the other."""
    return np.array(jax.jit(jax.vmap(function))(jnp.asarray(times)))


def ease(t):
    """A movement from 0 to 1 within SWING that starts and ends at rest, jerk included."""
    x = jnp.clip(t / SWING, 0.0, 1.0)
    return x**4 * (35 - 84 * x + 70 * x**2 - 20 * x**3)


def eased(t):
    """First and second derivative of `ease`, worked out by hand."""
    x = np.clip(t / SWING, 0.0, 1.0)
    return 140 * x**3 * (1 - x) ** 3 / SWING, 420 * x**2 * (1 - x) ** 2 * (1 - 2 * x) / SWING**2


def thesis_mount(lever=LEVER, turned=R_SV):
    """The thesis's sensor on our body frame: forward, starboard, down."""
    return motions.mount(TO_BODY @ lever, Rotation.from_matrix(TO_BODY @ turned.T))


def thesis_force(turned, lever, linear, spin, spin_rate):
    """Eq. 3.42 without gravity, vehicle frame in, whatever rotation and lever arm one believes."""
    swung = np.cross(spin, np.cross(spin, lever)) + np.cross(spin_rate, lever)
    return (linear + swung) @ turned.T


def moves():
    """The translations of figures 3.5 and 6.3: 1 m along Z, Y and X of the vehicle, in turn."""

    def position(t):
        forward, down, right = (ease(t - i * SWING) for i in range(3))
        return forward, right, down

    times = np.linspace(0.0, 3 * SWING, 601)
    second = [eased(times - i * SWING)[1] for i in range(3)]
    vehicle = np.stack([second[2], second[1], second[0]], -1)
    return times, motions.Motion(position, lambda t: (0.0, 0.0, 0.0)), vehicle


def turns():
    """The rotation of figures 3.6 and 6.5: −180° about Y of the vehicle, which points down."""
    times = np.linspace(0.0, SWING, 401)
    body = motions.Motion(lambda t: (0.0, 0.0, 0.0), lambda t: (0.0, 0.0, -jnp.pi * ease(t)))
    first, second = (-np.pi * d for d in eased(times))
    none = np.zeros_like(first)
    return times, body, np.stack([none, first, none], -1), np.stack([none, second, none], -1)


def test_specific_force_is_the_twice_differentiated_place_of_the_sensor_less_gravity():
    motion = motions.spinning_helix()
    for arm, turned in [
        (motions.ARM, motions.ODD),
        ((-12.0, 3.0, 7.0), Rotation.from_rotvec([1.0, 2.0, -0.5])),
    ]:

        def place(t, arm=arm):
            return motion.position(t) + motion.rotation(t) @ jnp.array(arm, float)

        def second(t, place=place):
            return motions.rate_of(lambda u: motions.rate_of(place, u), t)

        accelerations = over_time(second)
        axes = over_time(motion.rotation) @ turned.as_matrix()
        expected = np.einsum("tij,ti->tj", axes, accelerations - DOWN)
        felt = motions.feel(motion.look(TIMES), motions.mount(arm, turned))
        np.testing.assert_allclose(felt[:, :3], expected, atol=1e-12 * (1 + np.abs(expected).max()))


def test_angular_rate_is_how_the_sensor_axes_turn():
    motion = motions.spinning_helix()
    felt = np.array(motions.feel(motion.look(TIMES), motions.mount()))[:, 3:]
    h = 1e-4
    axes = [
        Rotation.from_matrix(over_time(motion.rotation, TIMES + d)) * motions.ODD for d in (-h, h)
    ]
    differenced = (axes[0].inv() * axes[1]).as_rotvec() / (2 * h)
    np.testing.assert_allclose(felt, differenced, atol=1e-7)


def test_earth_rate_is_what_a_sensor_feels_on_a_turning_world():
    """Seen from a frame that does not turn, the world's own rotation E carries the path along.

    Gravity as a plumb line shows it is the attraction less the centrifugal part Ω × (Ω × p).
    """
    motion = motions.spinning_helix()
    rate = np.array([0.05, 0.01, -0.08])  # a thousand times the Earth's, to see every term
    spin = np.array([[0, -rate[2], rate[1]], [rate[2], 0, -rate[0]], [-rate[1], rate[0], 0]])
    fixed = motions.mount()

    def carried(t):
        # Rodrigues: exp(t S) for the constant rate
        size = np.linalg.norm(rate)
        unit = jnp.asarray(spin / size)
        return jnp.eye(3) + jnp.sin(size * t) * unit + (1 - jnp.cos(size * t)) * unit @ unit

    def place(t):
        return carried(t) @ (motion.position(t) + motion.rotation(t) @ jnp.asarray(motions.ARM))

    def axes(t):
        return carried(t) @ motion.rotation(t) @ jnp.asarray(motions.ODD.as_matrix())

    def expected(t):
        centrifugal = carried(t) @ jnp.asarray(spin @ spin) @ carried(t).T @ place(t)
        attraction = carried(t) @ jnp.asarray(DOWN) + centrifugal
        second = motions.rate_of(lambda u: motions.rate_of(place, u), t)
        turning = axes(t).T @ motions.rate_of(axes, t)
        return jnp.concatenate(
            [
                axes(t).T @ (second - attraction),
                jnp.stack([turning[2, 1], turning[0, 2], turning[1, 0]]),
            ]
        )

    felt = motions.feel(motion.look(TIMES), fixed, tuple(rate))
    np.testing.assert_allclose(felt, over_time(expected), atol=1e-11)


def test_still_sensor_feels_gravity_upwards():
    still = motions.Motion(lambda t: (0.0, 0.0, 0.0), lambda t: (0.0, 0.0, 0.3))
    felt = np.array(motions.feel(still.look(TIMES), thesis_mount()))
    np.testing.assert_allclose(felt, np.tile([0, 0, GRAVITY, 0, 0, 0], (len(TIMES), 1)), atol=1e-12)


def test_translations_of_the_thesis_appear_on_the_right_axes():
    times, motion, _ = moves()
    felt = np.array(motions.feel(motion.look(times), thesis_mount()))
    forward, down, right = (eased(times - i * SWING)[1] for i in range(3))
    np.testing.assert_allclose(felt[:, 0], forward, atol=1e-12)
    np.testing.assert_allclose(felt[:, 1], -right, atol=1e-12)
    np.testing.assert_allclose(felt[:, 2], GRAVITY - down, atol=1e-12)
    np.testing.assert_array_equal(felt[:, 3:], 0.0)


def test_rotation_of_the_thesis_gives_centripetal_and_tangential_terms():
    """The sensor sits 0.5 m aft and faces forward: towards the axis is +x, and the stern swings to
    starboard, −y, while the vehicle turns to port."""
    times, motion, _, _ = turns()
    first, second = (np.pi * d for d in eased(times))
    felt = np.array(motions.feel(motion.look(times), thesis_mount()))
    none = np.zeros_like(first)
    expected = np.stack([0.5 * first**2, -0.5 * second, none + GRAVITY, none, none, first], -1)
    np.testing.assert_allclose(felt, expected, atol=1e-11)


def test_first_wrong_transform_is_a_transposed_rotation_and_fails_on_translations():
    """Figure 6.3: eq. 6.2 is the transpose of eq. 3.12."""
    about_y = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0.0]])
    about_x = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0.0]])
    wrong = about_y @ about_x
    np.testing.assert_array_equal(wrong, R_SV.T)
    times, motion, linear = moves()
    still = np.zeros_like(linear)
    felt = np.array(motions.feel(motion.look(times), thesis_mount()))[:, :3] - [0, 0, GRAVITY]
    right = thesis_force(R_SV, LEVER, linear, still, still)
    np.testing.assert_allclose(felt, right, atol=1e-12)
    believed = thesis_force(wrong, LEVER, linear, still, still)
    # What goes forward would seem to go to the right.
    first_move = times < SWING
    assert np.abs(felt[first_move, 0]).max() > 1.5
    np.testing.assert_allclose(believed[first_move, 1], -felt[first_move, 0], atol=1e-12)
    np.testing.assert_allclose(believed[first_move, 0], 0.0, atol=1e-12)


def test_second_wrong_transform_puts_the_sensor_elsewhere_and_fails_on_rotations():
    """Figures 6.4 and 6.5: −R_sv t as lever arm is no matter while nothing turns."""
    elsewhere = -R_SV @ LEVER
    _, _, linear = moves()
    still = np.zeros_like(linear)
    np.testing.assert_array_equal(
        thesis_force(R_SV, elsewhere, linear, still, still),
        thesis_force(R_SV, LEVER, linear, still, still),
    )
    times, motion, spin, spin_rate = turns()
    none = np.zeros_like(spin)
    believed = thesis_force(R_SV, elsewhere, none, spin, spin_rate)
    seen = motion.look(times)
    felt = np.array(motions.feel(seen, thesis_mount()))[:, :3] - [0, 0, GRAVITY]
    np.testing.assert_allclose(felt, thesis_force(R_SV, LEVER, none, spin, spin_rate), atol=1e-11)
    assert np.abs(felt - believed).max() > 5.0
    other = np.array(motions.feel(seen, thesis_mount(elsewhere)))[:, :3] - [0, 0, GRAVITY]
    np.testing.assert_allclose(believed, other, atol=1e-11)


def test_rotation_of_the_thesis_integrates_back_to_half_a_circle_and_its_wrong_lever_arm_does_not():
    times, motion, spin, spin_rate = turns()
    seen, fixed = motion.look(times), thesis_mount()
    samples = motions.feel(seen, fixed)
    true = motions.truth(seen, fixed, motions.quaternion(fixed))
    start = jax.tree.map(lambda a: a[0], true)
    found = np.array(integrate(start, samples, times[1]).position)
    np.testing.assert_allclose(found, true.position, atol=1e-7)
    np.testing.assert_allclose(found[[0, -1]], [[-0.5, 0, 0], [0.5, 0, 0]], atol=1e-7)
    believed = thesis_force(R_SV, -R_SV @ LEVER, np.zeros_like(spin), spin, spin_rate)
    wrong = samples.at[:, :3].set(believed + np.array([0, 0, GRAVITY]))
    missed = np.array(integrate(start, wrong, times[1]).position)[-1] - found[-1]
    assert np.linalg.norm(missed) > 0.5


def test_ground_truth_tells_place_axes_velocity_and_what_an_ideal_sensor_feels():
    motion = motions.spinning_helix()
    arm, turned = motions.ARM, motions.ODD
    mount = motions.mount(arm, turned)
    x, y, z, w = turned.as_quat()
    sensor = GroundTruth(mount, jnp.array([[w], [x], [y], [z]]))
    look = motion.look(TIMES)
    values = np.array(sensor.measure(jnp.zeros((0, len(TIMES))), look, jnp.zeros(0)).values).T

    def place(t):
        return motion.position(t) + motion.rotation(t) @ jnp.asarray(arm)

    axes = over_time(motion.rotation) @ turned.as_matrix()
    told = Rotation.from_quat(np.roll(values[:, 3:7], -1, axis=1)).as_matrix()
    velocity = over_time(lambda t: motions.rate_of(place, t))
    np.testing.assert_allclose(values[:, :3], over_time(place), atol=1e-12)
    np.testing.assert_allclose(told, axes, atol=1e-12)
    np.testing.assert_allclose(values[:, 7:10], np.einsum("tij,ti->tj", axes, velocity), atol=1e-12)
    np.testing.assert_allclose(values[:, 10:], motions.feel(look, mount), atol=1e-12)
