"""Compass, attitude reference and magnetometer against closed forms."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from positioning import ODD, build, describe, look, mounting, once, random_states, state
from seatrial.errors import SpecError
from seatrial.seeding import generator
from seatrial.sensors.inertial import compass

pytestmark = pytest.mark.usefixtures("x64")


def heading(degrees):
    return Rotation.from_euler("Z", np.reshape(degrees, (-1, 1)), degrees=True)


# --- compass


def test_ideal_compass_gives_the_projected_heading_of_its_x_axis():
    places, turns, velocity = random_states(200)
    described = describe("compass", **ODD)
    reading = once(build("compass", fidelity="ideal", **ODD).sensor, state(places, turns, velocity))
    north, east, _ = (turns * mounting(described)).apply([1.0, 0.0, 0.0]).T
    expected = np.mod(np.arctan2(east, north), 2 * math.pi)
    np.testing.assert_allclose(reading.values[0], expected, atol=1e-12)
    assert np.all((reading.values >= 0) & (reading.values < 2 * math.pi))


def test_magnetic_heading_is_true_heading_less_easterly_declination():
    """10° of easterly declination: a vessel that heads true north reads 350°."""
    seen = state(np.zeros((3, 3)), heading([0.0, 90.0, 5.0]))
    plain = once(build("compass", fidelity="ideal", declination_deg=10).sensor, seen)
    np.testing.assert_allclose(np.degrees(plain.values[0]), [350.0, 80.0, 355.0], atol=1e-9)
    given = {"fidelity": "ideal", "declination_deg": 10, "corrected": True}
    true = once(build("compass", **given).sensor, seen)
    np.testing.assert_allclose(np.degrees(true.values[0]), [0.0, 90.0, 5.0], atol=1e-9)


@pytest.mark.parametrize(
    ("coefficient", "factors"),
    [
        (0, [1, 1, 1, 1, 1]),
        (1, [0, math.sqrt(0.5), 1, 0, -1]),
        (2, [1, math.sqrt(0.5), 0, -1, 0]),
        (3, [0, 1, 0, 0, 0]),
        (4, [1, 0, -1, 1, -1]),
    ],
    ids="ABCDE",
)
def test_each_coefficient_of_the_deviation_card_acts_on_its_headings(coefficient, factors):
    """On 0°, 45°, 90°, 180° and 270°; easterly deviation makes the compass read less."""
    headings = np.array([0.0, 45.0, 90.0, 180.0, 270.0])
    card = [0.0] * 5
    card[coefficient] = 3.0
    built = build("compass", deviation_deg=card, resolution=0.0)
    reading = once(built.sensor, state(np.zeros((3, 5)), heading(headings)))
    deviation = headings - np.degrees(reading.values[0])
    wrapped = (deviation + 180.0) % 360.0 - 180.0
    np.testing.assert_allclose(wrapped, 3.0 * np.array(factors), atol=1e-9)
    nominal = build("compass", deviation_deg=card, fidelity="nominal")
    assert nominal.sensor.deviation is None


def test_what_compensation_leaves_of_the_deviation_is_as_large_on_every_heading():
    # False alarm: 0.01 % for each of four.
    built = build("compass", residual_deg=2.0)
    units = 5000
    kept = built.sensor.begin(jnp.asarray(generator(1, "residual").normal(size=(5, units))))
    for angle in (0.1, 1.0, 2.5, 4.0):
        left = np.std(np.asarray(compass.deviation(kept, jnp.asarray(angle))))
        assert abs(left / np.radians(2.0) - 1.0) < 3.9 / np.sqrt(2 * units)


def test_compass_rounds_to_its_resolution_and_stays_within_a_turn():
    angles = np.array([359.99, 0.04, 123.46])
    built = build("compass", resolution_deg=0.1)
    reading = once(built.sensor, state(np.zeros((3, 3)), heading(angles)))
    np.testing.assert_allclose(np.degrees(reading.values[0]), [0.0, 0.0, 123.5], atol=1e-9)


# --- AHRS


def test_ideal_ahrs_gives_orientation_and_rates_of_the_sensor():
    places, turns, velocity = random_states(50)
    mounted = mounting(describe("ahrs", **ODD))
    reading = once(build("ahrs", fidelity="ideal", **ODD).sensor, state(places, turns, velocity))
    given = Rotation.from_quat(np.asarray(reading.values[:4])[[1, 2, 3, 0]].T)
    assert np.max((given * (turns * mounted).inv()).magnitude()) < 1e-12
    rates = mounted.inv().apply(velocity[3:].T).T
    np.testing.assert_allclose(reading.values[4:], rates, atol=1e-12)


def test_heading_bias_turns_the_orientation_about_the_vertical():
    places, turns, velocity = random_states(50)
    seen = state(places, turns, velocity)
    built = build("ahrs", heading_bias_deg=3.0, **ODD)
    exact = once(build("ahrs", fidelity="ideal", **ODD).sensor, seen).values[:4]
    given = once(built.sensor, seen).values[:4]
    expected = Rotation.from_rotvec([0, 0, math.radians(3.0)])
    off = [Rotation.from_quat(np.asarray(q)[[1, 2, 3, 0]].T) for q in (given, exact)]
    assert np.max((off[0] * off[1].inv() * expected.inv()).magnitude()) < 1e-12
    assert build("ahrs", heading_bias_deg=3.0, fidelity="nominal").sensor.heading_bias is None


def test_the_error_about_north_is_roll_heading_north_and_pitch_heading_east():
    sensor = build("ahrs", tilt_error_deg=2.0, heading_error=0.0).sensor
    memory = sensor.begin(jnp.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]))
    turns = heading([0.0, 90.0])
    kept = math.exp(-1.0 / 60.0)  # one second of the correlation time
    seen = look(state(np.zeros((3, 2)), turns))
    values = np.asarray(sensor.measure(memory, seen, jnp.zeros((6, 2))).values)
    roll_pitch = Rotation.from_quat(values[[1, 2, 3, 0]].T).as_euler("ZYX", degrees=True)[:, ::-1]
    np.testing.assert_allclose(roll_pitch[0, :2], [2.0 * kept, 0.0], atol=1e-9)
    np.testing.assert_allclose(roll_pitch[1, :2], [0.0, -2.0 * kept], atol=1e-9)


def test_ahrs_rate_noise_grows_with_the_root_of_the_rate():
    slow, fast = (build("ahrs", rate=rate, rate_noise=1e-3) for rate in (1.0, 100.0))
    assert slow.deviation[4] == pytest.approx(1e-3)
    assert fast.deviation[4] == pytest.approx(1e-2)


# --- magnetometer

FIELD = {"declination_deg": 12.0, "inclination_deg": 65.0, "strength": 4.8e-5}


def test_ideal_magnetometer_gives_the_field_in_its_axes():
    places, turns, velocity = random_states(50)
    mounted = mounting(describe("magnetometer", **ODD))
    built = build("magnetometer", fidelity="ideal", **FIELD, **ODD)
    reading = once(built.sensor, state(places, turns, velocity))
    east, dip = math.radians(12.0), math.radians(65.0)
    ned = 4.8e-5 * np.array(
        [math.cos(dip) * math.cos(east), math.cos(dip) * math.sin(east), math.sin(dip)]
    )
    expected = (turns * mounted).inv().apply(ned).T
    np.testing.assert_allclose(reading.values, expected, atol=1e-18)
    assert built.facts["field"] == pytest.approx(tuple(ned))


def test_heading_from_the_magnetometer_is_the_magnetic_heading_of_the_compass():
    """A level vessel: tan ψ_m = −B_y / B_x."""
    seen = state(np.zeros((3, 36)), heading(np.arange(0.0, 360.0, 10.0)))
    x, y, _ = once(build("magnetometer", fidelity="ideal", **FIELD).sensor, seen).values
    compass = once(build("compass", fidelity="ideal", declination_deg=12.0).sensor, seen).values[0]
    off = np.angle(np.exp(1j * (np.arctan2(-y, x) - compass)))
    np.testing.assert_allclose(off, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("latitude", "dip", "strength"),
    [(0.0, 0.0, 1.0), (45.0, math.atan(2.0), math.sqrt(2.5)), (-90.0, -math.pi / 2, 2.0)],
)
def test_the_field_left_out_is_that_of_a_dipole(latitude, dip, strength):
    north, east, down = build("magnetometer", latitude=latitude).facts["field"]
    assert math.hypot(north, down) == pytest.approx(strength * 3.0e-5)
    assert math.atan2(down, north) == pytest.approx(dip, abs=1e-12)
    assert east == 0.0


HARD = [4e-6, -7e-6, 2e-6]
SOFT = [[1.10, 0.05, -0.02], [0.05, 0.95, 0.03], [-0.02, 0.03, 1.02]]


def test_an_ellipsoid_fit_recovers_hard_and_soft_iron():
    """|S⁻¹ (m − h)| = F for all attitudes: the fitted quadric has centre h and matrix (S Sᵀ)⁻¹."""
    places, turns, _ = random_states(400)
    built = build("magnetometer", hard_iron=HARD, soft_iron=SOFT, resolution=0.0, **FIELD)
    measured = np.asarray(once(built.sensor, state(places, turns)).values) / 1e-5
    x, y, z = measured
    columns = [x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z, 2 * x, 2 * y, 2 * z]
    a, b, c, d, e, f, g, h, i = np.linalg.lstsq(np.stack(columns, 1), np.ones(400), rcond=None)[0]
    quadric = np.array([[a, d, e], [d, b, f], [e, f, c]])
    centre = -np.linalg.solve(quadric, [g, h, i])
    np.testing.assert_allclose(centre * 1e-5, HARD, rtol=1e-9)
    shape = quadric / (1.0 + centre @ quadric @ centre) * 4.8**2
    np.testing.assert_allclose(np.linalg.inv(shape), np.array(SOFT) @ np.transpose(SOFT), rtol=1e-8)


def test_nominal_magnetometer_has_no_iron_around_it():
    given = {"hard_iron": HARD, "soft_iron": SOFT}
    assert build("magnetometer", fidelity="nominal", **given).sensor.iron is None


def test_magnetometer_saturates_and_rounds():
    built = build("magnetometer", strength=1e-3, inclination=0.0, noise=0.0, resolution=3e-6)
    reading = once(built.sensor, state(np.zeros((3, 2)), heading([0.0, 95.0])))
    np.testing.assert_allclose(
        reading.values[0], [1.89e-4, 3e-6 * round(1e-3 * math.cos(math.radians(95)) / 3e-6)]
    )


def test_a_soft_iron_matrix_without_inverse_is_refused():
    with pytest.raises(SpecError, match="no inverse"):
        build("magnetometer", soft_iron=[[1, 0, 0], [0, 1, 0], [0, 1, 0]])
