"""The echo sounder against the sonar equation, and against a bottom summed up point by point."""

import dataclasses
import math

import gsw
import jax
import numpy as np
import pytest
from scipy import stats
from scipy.special import j1

import craft
from instruments import fit, read, state
from seatrial.engine.exchange import taps
from seatrial.errors import SpecError
from seatrial.geometry.materials import MATERIALS
from seatrial.ocean import water as ocean_water
from seatrial.sensors.ranging.beam import HALF_POWER, beam, piston
from seatrial.sensors.ranging.bottom_echo import scattering
from seatrial.sensors.tap import VIEW, Views
from seatrial.sensors.water.medium import absorption
from seatrial.signals import Measurements
from seatrial.spec.sensors.ranging import EchoSounder as Described

DEPTH = 60.0
OCEAN = craft.ocean_of(seabed={"depth": DEPTH})
SPEED = 1500.0


def sounder(ocean=OCEAN, rate=5.0, bottom="sand", exact=False, quiet=False, **described):
    """The dense half; `exact` leaves speckle and noise away, `quiet` the echo of the water."""
    dense = fit("echo_sounder", ocean, rate, bottom=bottom, **described).dense
    return dataclasses.replace(dense, exact=exact, volume=0.0 if quiet else dense.volume)


def views(height, tilt=0.0, first=0, depth=DEPTH, key=(7, 9)):
    """Pings at a height over the bottom, tilted about the x axis."""
    height, tilt = np.broadcast_arrays(np.atleast_1d(np.asarray(height, float)), tilt)
    zero = np.zeros(height.shape)
    return Views(
        position=np.stack([zero, zero, depth - height], axis=1),
        attitude=np.stack([np.cos(tilt / 2), np.sin(tilt / 2), zero, zero], axis=1),
        number=first + np.arange(len(height)),
        keys=np.tile(np.array(key, np.uint32), (len(height), 1)),
    )


def intensities(dense, *args, **kwargs):
    """Echograms (K, B) as intensities, µPa²; 0 where nothing is told."""
    levels = dense.expand(views(*args, **kwargs), OCEAN).payload[:, 0].astype(np.float64)
    return np.where(levels > 0.0, 10.0 ** (0.1 * levels), 0.0)


def water(dense, height):
    """Sound speed and absorption between sensor and bottom."""
    speed, alpha = dense.medium.means(np.array([DEPTH - height]), np.array([DEPTH]))
    return float(speed[0]), float(alpha[0])


# --- beam ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [2.0, 7.0, 30.0])
def test_the_beam_is_that_of_a_piston(width):
    half = 0.5 * math.radians(width)
    ka = HALF_POWER / math.sin(half)
    assert piston(np.cos([0.0, half]), ka) == pytest.approx([1.0, 0.5], rel=1e-9)
    first_null = math.asin(3.8317059702 / ka) if ka > 3.84 else None
    if first_null:
        assert piston(np.cos([first_null]), ka)[0] < 1e-12


def test_narrow_beams_have_the_solid_angles_of_the_textbooks():
    """∫ b dΩ = 4π / (ka)² and Ψ = 5.78 / (ka)² (Simmonds and MacLennan 2005, section 2.3)."""
    shape, ka = beam(math.radians(3.0)), HALF_POWER / math.sin(math.radians(1.5))
    assert shape.solid_angle == pytest.approx(4.0 * math.pi / ka**2, rel=0.01)
    assert shape.two_way == pytest.approx(5.78 / ka**2, rel=0.005)


@pytest.mark.parametrize("width", [2.0, 7.0, 30.0])
def test_a_plane_sees_the_circles_of_the_beam(width):
    """G by the addition theorem and by going round the circle."""
    shape, ka = beam(math.radians(width)), HALF_POWER / math.sin(0.5 * math.radians(width))
    phi = 2.0 * np.pi * (np.arange(20_000) + 0.5) / 20_000
    for tilt, incidence in np.radians([(0, 0), (0, 3), (10, 8), (40, 41), (20, 35), (75, 80)]):
        i, j = round(tilt / shape.step), round(incidence / shape.step)
        tilt, incidence = i * shape.step, j * shape.step
        cosine = math.cos(tilt) * math.cos(incidence)
        cosine = cosine + math.sin(tilt) * math.sin(incidence) * np.cos(phi)
        expected = 2.0 * np.pi * np.mean(piston(cosine, ka) ** 2)
        assert shape.circles[i, j] == pytest.approx(expected, rel=1e-4, abs=2e-5)


# --- mean echo -----------------------------------------------------------------------------------


def summed_up(dense, described, material, height, tilt, cell):
    """Mean intensity in every bin, point by point over the bottom.

    Independent of the tables: squares of the bottom, the angle between each and the axis, Bessel's
    function, and the pulse smeared over the bins by counting.
    """
    speed, alpha = water(dense, height)
    ka = 1.616339948310703 / math.sin(0.5 * described["beamwidth"])
    reach = height * math.tan(min(tilt + 4.0 * described["beamwidth"], math.radians(70.0)))
    x = np.arange(-reach, reach, cell) + 0.5 * cell
    y = np.arange(0.0, reach, cell) + 0.5 * cell  # the half of it, doubled below
    x, y = np.meshgrid(x, y)
    r = np.sqrt(x**2 + y**2 + height**2)
    cosine = (x * math.sin(tilt) + height * math.cos(tilt)) / r
    arg = ka * np.sqrt(np.maximum(1.0 - cosine**2, 1e-18))
    pattern = np.where(cosine > 0.0, (2.0 * j1(arg) / arg) ** 4, 0.0)
    gamma = np.arccos(height / r)
    echo = pattern * scattering(MATERIALS[material], gamma) * 10.0 ** (-0.2 * alpha * r) / r**4
    echo = 2.0 * cell**2 * echo * dense.source
    heard, cells = np.histogram(r, 100 * dense.bins, (0.0, dense.range), weights=echo)
    middle = 0.5 * (cells[1:] + cells[:-1])[heard > 0.0]
    edges = np.linspace(0.0, dense.range, dense.bins + 1)
    # a point at r is heard from r to r + L
    so_far = np.clip(edges[:, None] - middle, 0.0, 0.5 * speed * described["pulse_length"])
    return np.diff(so_far @ heard[heard > 0.0]) / np.diff(edges)


@pytest.mark.parametrize(
    ("width", "height", "tilt", "cell"),
    [(7, 20.0, 0, 0.02), (7, 20.0, 4, 0.02), (7, 20.0, 25, 0.04), (20, 8.0, 15, 0.02)],
)
@pytest.mark.parametrize("material", ["sand", "rock"])
def test_the_echo_of_a_tilted_beam_agrees_with_a_sum_over_the_bottom(
    width, height, tilt, cell, material
):
    described = {"beamwidth": math.radians(width), "pulse_length": 4e-4}
    dense = sounder(
        bottom=material, exact=True, quiet=True, sound_speed=None, range=40.0, bins=256, **described
    )
    dense = dataclasses.replace(dense, reflection=0.0, ceiling=None, step=None)
    found = intensities(dense, height, math.radians(tilt))[0]
    expected = summed_up(dense, described, material, height, math.radians(tilt), cell)
    loud = expected > 1e-3 * expected.max()
    assert loud.sum() >= 3
    np.testing.assert_allclose(found[loud], expected[loud], rtol=0.023)  # 0.1 dB, as `beam` says
    assert found.sum() == pytest.approx(expected.sum(), rel=5e-3)


def test_a_long_pulse_in_a_narrow_beam_meets_the_whole_footprint():
    """Limited by the beam: I = I₀ S Ψ h² / h⁴ · 10^(−2αh/10), which falls as 20 log r."""
    described = {"beamwidth_deg": 2.0, "pulse_length": 1e-3, "range": 70.0, "bins": 700, "rate": 2}
    dense = sounder(bottom="rock", exact=True, quiet=True, fidelity="nominal", **described)
    heights = np.array([10.0, 20.0, 40.0])
    for height, echo in zip(heights, intensities(dense, heights), strict=True):
        _, alpha = water(dense, height)
        expected = dense.source * scattering(MATERIALS["rock"], np.array(0.0)) * dense.two_way
        expected *= 10.0 ** (-0.2 * alpha * height) / height**2
        first = np.argmax(echo > 0.0)
        assert echo[first + 4] == pytest.approx(expected, rel=0.01)


def test_a_short_pulse_in_a_wide_beam_meets_a_disc():
    """Limited by the pulse: the disc of area 2π h L, which falls as 30 log r."""
    described = {"beamwidth_deg": 60.0, "pulse_length": 2e-5, "range": 45.0, "bins": 16_384}
    dense = sounder(bottom="rock", exact=True, quiet=True, fidelity="nominal", **described)
    heights = np.array([10.0, 20.0, 40.0])
    for height, echo in zip(heights, intensities(dense, heights), strict=True):
        speed, alpha = water(dense, height)
        disc = 2.0 * math.pi * height * 0.5 * speed * 2e-5
        expected = dense.source * scattering(MATERIALS["rock"], np.array(0.0)) * disc
        expected *= 10.0 ** (-0.2 * alpha * height) / height**4
        assert echo.max() == pytest.approx(expected, rel=0.04)  # beam and facets fall by 2 %


@pytest.mark.parametrize("tilt", [0.0, 5.0, 20.0, 40.0])
@pytest.mark.parametrize("height", [3.3, 17.0, 52.0])
def test_the_echo_begins_with_the_two_way_travel_time_of_the_nearest_point(height, tilt):
    """Through water that changes with depth, counted with a wrong sound speed."""
    table = {"depth": [0, 20, 60], "temperature": [22, 14, 6], "salinity": [36, 35, 35]}
    ocean = craft.ocean_of(seabed={"depth": DEPTH}, water={"profile": "table", **table})
    described = {"sound_speed": 1480.0, "range": 75.0, "bins": 1500}
    dense = sounder(ocean, exact=True, quiet=True, **described)
    z = np.linspace(DEPTH - height, DEPTH, 4001)
    with jax.enable_x64(True):
        temperature = np.asarray(ocean_water.temperature(ocean.water, z))
        salinity = np.asarray(ocean_water.salinity(ocean.water, z))
    pressure = gsw.p_from_z(-z, 0.0)
    absolute = gsw.SA_from_SP(salinity, pressure, 0.0, 0.0)
    conservative = gsw.CT_from_t(absolute, temperature, pressure)
    time = 2.0 * np.trapezoid(1.0 / gsw.sound_speed(absolute, conservative, pressure), z)
    levels = dense.expand(views(height, math.radians(tilt)), ocean).payload[0, 0]
    assert np.argmax(levels > 0.0) == int(0.5 * 1480.0 * time / (75.0 / 1500))


def test_tilt_broadens_the_echo_as_the_beam_cuts_the_bottom():
    """Between the points where b² is a quarter of its peak: h (1/cos(θ + w) − 1/cos(θ − w))."""
    width, height = math.radians(7.0), 30.0
    ka = HALF_POWER / math.sin(0.5 * width)
    w = math.asin(1.616339948310703 / ka)  # b = 1/2, b² = 1/4
    dense = sounder(bottom="rock", exact=True, quiet=True, pulse_length=2e-5, bins=4096)
    for tilt in np.radians([15.0, 25.0, 35.0]):
        echo = intensities(dense, height, tilt)[0]
        inside = np.flatnonzero(echo > 0.25 * echo.max())
        long = (inside[-1] - inside[0] + 1) * dense.range / dense.bins
        expected = height * (1.0 / math.cos(tilt + w) - 1.0 / math.cos(tilt - w))
        assert long == pytest.approx(expected, rel=0.1)


def test_the_water_answers_with_its_volume_scattering():
    dense = sounder(exact=True, fidelity="nominal", volume_scattering=-65.0)
    echo = intensities(dense, 50.0)[0]
    speed, alpha = water(dense, 50.0)
    r = (np.arange(512) + 0.5) * 100.0 / 512
    expected = dense.source * 10.0**-6.5 * dense.two_way * 0.5 * speed * 1e-4
    expected = expected * 10.0 ** (-0.2 * alpha * r) / r**2
    free = (r > 2.0) & (r < 49.5)
    np.testing.assert_allclose(echo[free], expected[free], rtol=1e-5)
    assert echo[-1] < 1e-4 * expected[-1]  # no water under the bottom


def test_a_second_echo_comes_by_way_of_the_surface():
    dense = sounder(exact=True, quiet=True, range=150.0, rate=4.0, fidelity="nominal")
    height = 55.0
    echo = intensities(dense, height)[0]
    again = int((height + DEPTH) / (150.0 / 512))
    assert echo[again - 2] < 0.01 * echo[again + 1]
    once = np.max(echo[: again - 2])
    loss = 10.0 * math.log10(np.max(echo[again:]) / once)
    reflection = 10.0 * math.log10(MATERIALS["sand"].reflection)
    _, alpha = water(dense, height)
    farther = -2.0 * alpha * DEPTH - 30.0 * math.log10((height + DEPTH) / height)
    assert loss == pytest.approx(reflection + farther, abs=4.0)


@pytest.mark.parametrize("frequency", [38e3, 120e3, 200e3, 455e3])
def test_absorption_at_the_frequencies_of_echo_sounders(frequency):
    """Ainslie and McColm (1998), pH 8, who state agreement with Francois and Garrison to 10 %."""
    for t, s, z in [(10.0, 35.0, 0.0), (4.0, 34.5, 800.0), (22.0, 36.0, 20.0)]:
        khz, km = frequency * 1e-3, z * 1e-3
        f1, f2 = 0.78 * math.sqrt(s / 35) * math.exp(t / 26), 42.0 * math.exp(t / 17)
        expected = (
            0.106 * f1 * khz**2 / (f1**2 + khz**2)
            + 0.52 * (1 + t / 43) * (s / 35) * f2 * khz**2 / (f2**2 + khz**2) * math.exp(-km / 6)
            + 0.00049 * khz**2 * math.exp(-(t / 27 + km / 17))
        )
        found = 1e3 * absorption(frequency, np.array(t), np.array(s), np.array(z))
        assert found == pytest.approx(expected, rel=0.1)


# --- noise ---------------------------------------------------------------------------------------


def noise_only(**described):
    """Intensities of 200 pings far above any bottom, over their mean."""
    dense = sounder(quiet=True, fidelity="nominal", **described)
    silent = dataclasses.replace(dense, source=0.0)
    found = silent.expand(views(np.full(200, 50.0)), OCEAN).payload[:, 0]
    return 10.0 ** (0.1 * found.astype(np.float64)) / silent.noise, silent


@pytest.mark.parametrize("looks", [1.0, 2.6, 8.0])
def test_speckle_is_that_of_so_many_looks(looks):
    """Kolmogorov and Smirnov's test and a z-test of the mean; false alarms one in 10⁵ each."""
    speed, _ = water(sounder(), 50.0)
    pulse = 2.0 * 100.0 / 512 / speed / looks
    found, _ = noise_only(pulse_length=pulse)
    test = stats.kstest(found.ravel(), stats.gamma(looks, scale=1.0 / looks).cdf)
    assert test.pvalue > 1e-5
    z = (found.mean() - 1.0) * math.sqrt(found.size * looks)
    assert abs(z) < 4.42


def test_bins_shorter_than_the_pulse_share_their_speckle():
    """Neighbours of a field smoothed over q bins: correlation of intensity (1 − 1/q)²."""
    speed, _ = water(sounder(), 50.0)
    q = 5
    found, _ = noise_only(pulse_length=q * 2.0 * 100.0 / 512 / speed)
    assert stats.kstest(found[:, ::q].ravel(), stats.expon.cdf).pvalue > 1e-5
    for lag in (1, 3, 5, 8):
        expected = max(0.0, 1.0 - lag / q) ** 2
        product = (found[:, lag:] - 1.0) * (found[:, :-lag] - 1.0)
        assert product.mean() == pytest.approx(expected, abs=0.06)


def test_noise_is_heat_and_the_device():
    """−15 + 20 log f[kHz] less the directivity, and the own noise, in the band of the pulse."""
    dense = sounder(self_noise=20.0, pulse_length=1e-4)
    gain = 4.0 * math.pi / beam(math.radians(7.0)).solid_angle
    heat = 10.0 ** (0.1 * (-15.0 + 20.0 * math.log10(200.0)))
    assert dense.noise == pytest.approx(1e4 * (heat / gain + 100.0), rel=1e-9)


# --- detection -----------------------------------------------------------------------------------


@pytest.mark.parametrize("material", ["mud", "sand", "rock"])
def test_the_bottom_is_found_to_a_bin_by_a_device_that_knows_the_sound_speed(material):
    dense = sounder(bottom=material, fidelity="nominal")
    heights = np.linspace(1.0, 58.0, 400)
    found = dense.expand(views(heights), OCEAN)
    assert found.valid.all()
    error = found.values[:, 0] - heights
    width = 100.0 / 512
    # the middle of the bin in which the bottom begins, or of the next where little of it is lit
    assert np.abs(error).max() < 1.2 * width
    assert abs(error.mean()) < 0.2 * width
    assert error.std() == pytest.approx(width / math.sqrt(12.0), rel=0.15)


def test_a_wrong_sound_speed_scales_the_range():
    known, wrong = (sounder(fidelity="full", sound_speed=c) for c in (None, 1400.0))
    heights = np.linspace(20.0, 50.0, 200)
    speed, _ = water(known, 35.0)
    right, off = (d.expand(views(heights), OCEAN).values[:, 0] for d in (known, wrong))
    assert np.mean(off / right) == pytest.approx(1400.0 / speed, rel=2e-3)


def test_a_tilted_device_finds_the_near_edge_of_its_beam():
    dense = sounder(fidelity="nominal")
    tilt, half = math.radians(20.0), math.radians(3.5)
    found = dense.expand(views(np.full(100, 40.0), tilt), OCEAN).values[:, 0]
    assert 40.0 / math.cos(tilt - 2.0 * half) < found.mean() < 40.0 / math.cos(tilt)


def test_there_is_no_bottom_beyond_the_range_and_false_ones_are_rare():
    """Noise passes the threshold in 512 exp(−10^1.2) = 7e-5 of the pings; 2 of 1000 would be one
    in 4e8 of such tests."""
    dense = sounder(range=40.0, fidelity="nominal")
    found = dense.expand(views(np.full(1000, 55.0)), OCEAN)
    assert np.sum(found.valid) < 2
    assert not found.values[~found.valid].any()


def test_without_a_bottom_nothing_is_found():
    deep = craft.ocean_of()
    dense = sounder(deep)
    found = dense.expand(views([10.0, 20.0]), deep)
    assert not found.valid.any()
    buried = sounder().expand(views([-1.0]), OCEAN)
    looking_up = sounder().expand(views([30.0], math.pi), OCEAN)
    assert not buried.valid.any()
    assert not looking_up.valid.any()


def test_the_ideal_sounder_tells_the_truth_along_its_axis():
    dense = sounder(exact=True, range=20.0)
    tilt = math.radians(25.0)
    found = dense.expand(views([45.0], tilt), OCEAN)
    assert found.valid.all()
    assert found.values[0, 0] == pytest.approx(45.0 / math.cos(tilt), rel=1e-12)


def test_levels_saturate_and_come_in_steps():
    dense = sounder(saturation=150.0, resolution=0.5)
    levels = dense.expand(views([5.0, 30.0]), OCEAN).payload
    assert levels.max() == 150.0
    np.testing.assert_array_equal(levels / 0.5, np.rint(levels / 0.5))
    assert levels.dtype == np.float32
    assert levels.shape == (2, *dense.payload.shape)


# --- taps ----------------------------------------------------------------------------------------


def test_a_tap_tells_where_the_transducer_is_and_whether_it_is_wet():
    """Mounted 2 m aft and pitched: place p + R r, attitude q ⊗ q_mount; the first vehicle's is
    under water, the second's is lifted out of it."""
    built = fit("echo_sounder", OCEAN, rate=5.0, position=[-2.0, 0.0, 0.5])
    at = state(position=(10.0, 20.0, np.array([3.0, -3.0])), euler=(0.0, 0.3, 1.1))
    values, valid, _ = read(built, OCEAN, at, t=3.4)
    matrix = craft.euler_matrix(0.0, 0.3, 1.1)
    place = np.array([10.0, 20.0, 3.0]) + matrix @ np.array([-2.0, 0.0, 0.5])
    np.testing.assert_allclose(values[:3, 0], place, atol=1e-12)
    np.testing.assert_allclose(values[3:7, 0], np.asarray(at.attitude)[:, 0], atol=1e-12)
    assert values[7, 0] == 17.0
    np.testing.assert_array_equal(values[VIEW:], [[1, 1], [1, 1], [0, 0], [0, 0]])
    np.testing.assert_array_equal(valid, [True, False])
    assert len(values) == built.sensor.rows == VIEW + 4


def tapped(samples=70, vehicles=2):
    """Taps of some vehicles at different heights; every seventh is invalid."""
    rng = np.random.default_rng(3)
    values = np.zeros((samples, vehicles, VIEW + 4))
    values[..., 2] = rng.uniform(5.0, 50.0, (samples, vehicles))
    tilt = rng.uniform(0.0, 0.4, (samples, vehicles))
    values[..., 3], values[..., 4] = np.cos(tilt / 2), np.sin(tilt / 2)
    values[..., 7] = np.arange(samples)[:, None]
    values[..., VIEW : VIEW + 2] = 1.0
    valid = np.ones((samples, vehicles), bool)
    valid.ravel()[::7] = False
    time = np.arange(samples) / 5.0
    fault = np.zeros(valid.shape, np.int32)
    return Measurements(time, np.repeat(time[:, None], vehicles, 1), values, valid, fault)


KEYS = np.array([[1, 2], [3, 4]], np.uint32)
TAP = fit("echo_sounder", OCEAN, rate=5.0).sensor


def test_neither_blocks_nor_company_change_a_byte():
    dense, whole = sounder(), tapped()
    expected = taps.expand(dense, TAP, whole, KEYS, OCEAN)
    assert expected.payload.shape == (70, 2, 1, 512)
    assert not expected.payload[~whole.valid].any()
    blocks = [slice(0, 1), slice(1, 12), slice(12, 70)]
    for part in blocks:
        found = taps.expand(dense, TAP, whole.cut(part), KEYS, OCEAN)
        for name in ("values", "valid", "payload"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name)[part])
    backwards = taps.expand(dense, TAP, whole.cut(slice(None, None, -1)), KEYS, OCEAN)
    np.testing.assert_array_equal(backwards.payload[::-1], expected.payload)
    alone = Measurements(
        **{k: v for k, v in vars(whole).items() if v is not None}
        | {k: getattr(whole, k)[:, 1:] for k in ("arrival", "values", "valid", "fault")}
    )
    second = taps.expand(dense, TAP, alone, KEYS[:, 1:], OCEAN)
    np.testing.assert_array_equal(second.payload, expected.payload[:, 1:])


def test_no_samples_are_no_samples():
    nothing = taps.expand(sounder(), TAP, tapped().cut(slice(0)), KEYS, OCEAN)
    assert nothing.payload.shape == (0, 2, 1, 512)
    assert nothing.values.shape == (0, 2, 2)


def test_faults_have_the_last_word_about_the_numbers_and_none_about_the_array():
    dense, healthy = sounder(), tapped(10, 1)
    values = healthy.values.copy()
    values[:, 0, VIEW + 2] = 1.5  # a bias of the range
    values[:, 0, VIEW + 1], values[:, 0, VIEW + 3] = 0.0, 33.0  # the excess is stuck
    plain = taps.expand(dense, TAP, healthy, KEYS[:, :1], OCEAN)
    struck = taps.expand(
        dense, TAP, dataclasses.replace(healthy, values=values), KEYS[:, :1], OCEAN
    )
    np.testing.assert_array_equal(struck.payload, plain.payload)
    some = plain.valid
    np.testing.assert_array_equal(struck.values[some][:, 0], plain.values[some][:, 0] + 1.5)
    np.testing.assert_array_equal(struck.values[some][:, 1], 33.0)


def test_pings_that_would_overlap_are_refused():
    with pytest.raises(SpecError, match="sound needs"):
        Described(type="echo_sounder", name="s", rate=20.0, range=100.0)
