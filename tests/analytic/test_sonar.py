"""Sonars that draw, against plane geometry, the sonar equation and Snell's law."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from pinging import ball, block, build, intensity, sea, turned, views
from seatrial.errors import SpecError
from seatrial.geometry.bodies import Body, Timetable
from seatrial.geometry.materials import MATERIALS
from seatrial.ocean.seabed import sample
from seatrial.sensors.ranging.bottom_echo import scattering
from seatrial.sensors.sonar.bins import lengthened, pulse_weights
from seatrial.sensors.sonar.column import Column
from seatrial.sensors.sonar.fan import fan, line_pattern
from seatrial.sensors.sonar.mixing import Mixing
from seatrial.sensors.sonar.patches import stepped
from seatrial.sensors.sonar.targets import SURFACE, targets
from seatrial.sensors.water.medium import absorption
from seatrial.spec.sensors import ImagingSonar, MechanicalSonar

DEEP = sea()
"""Without a bottom."""
SHALLOW = sea(seabed={"depth": 20.0})


def picture(dense, *at, ocean=DEEP, **more):
    """(beams, bins) intensities of one ping."""
    return intensity(dense.expand(views(*at, **more), ocean).payload[0])


# --- beams, bins, scattering ---------------------------------------------------------------------


@pytest.mark.parametrize("width", [0.3, 3.0, 50.0])
def test_half_of_the_power_lies_between_the_half_power_points(width):
    half = 0.5 * math.radians(width)
    assert line_pattern(np.sin([0.0, half]), 2.0 * half) == pytest.approx([1.0, 0.5], rel=1e-9)
    beyond = np.linspace(1.5 / 0.5945 * math.sin(half), 1.0, 20_000)  # from the first null on
    assert line_pattern(beyond, 2.0 * half).max(initial=0.0) < 10.0**-2.29


def test_echoes_are_spread_evenly_and_nothing_is_lost(x64):
    near, far = np.array([[2.25, 7.0], [-3.0, 8.5]]), np.array([[4.75, 7.0], [1.0, 20.0]])
    echo = np.array([[5.0, 3.0], [4.0, 11.5]])
    single = (part.astype(np.float32) for part in (near, far, echo))
    steps = stepped(jnp.zeros((2, 12), jnp.int64), *single, np.float64(2.0**40))
    filled = np.cumsum(steps, axis=1)[:, :10] / 2.0**40
    expected = np.zeros((2, 10))
    expected[0, 2:5] = 1.5, 2.0, 1.5
    expected[0, 7] = 3.0
    expected[1, 0] = 1.0
    expected[1, 8:] = 0.5, 1.0
    np.testing.assert_allclose(filled, expected, atol=1e-6)


@pytest.mark.parametrize("pulse", [0.3, 1.0, 2.6, 9.0])
def test_a_pulse_sums_over_its_length_about_the_middle(pulse):
    line = np.zeros((1, 41), np.float32)
    line[0, 20] = 1.0
    weights = pulse_weights(np.array([pulse]), pulse).astype(np.float32)
    heard = np.asarray(lengthened(line, weights))[0].astype(float)
    assert heard.sum() == pytest.approx(pulse, rel=1e-5)
    assert heard @ np.arange(41) / pulse == pytest.approx(20.0, abs=1e-5)
    if pulse >= 2.0:
        assert heard[20] == 1.0
    assert not heard[: 20 - math.ceil(0.5 * pulse + 1.0)].any()


def test_nothing_is_left_of_many_patches_behind_their_ends(x64):
    """Steps of any size cancel exactly: half of the patches are a trillion times as strong."""
    rng = np.random.default_rng(5)
    near = rng.uniform(-5.0, 60.0, (3, 4000)).astype(np.float32)
    far = near + rng.uniform(0.0, 30.0, near.shape).astype(np.float32)
    echo = np.where(rng.random(near.shape) < 0.5, 1.0, 1e-12).astype(np.float32)
    steps = stepped(jnp.zeros((3, 102), jnp.int64), near, far, echo, np.float64(2.0**40))
    sums = np.cumsum(steps, axis=1)
    assert not sums[:, 92:].any()
    end = np.maximum(far, near + 0.01)  # none is shorter
    share = (np.clip(end, 0, 100) - np.clip(near, 0, 100)) / (end - near)
    expected = (echo * share).sum(axis=1, dtype=float)
    np.testing.assert_allclose(sums.sum(axis=1) / 2.0**40, expected, rtol=1e-4)


@pytest.mark.parametrize(("rows", "heard", "stride", "bins"), [(37, 9, 1, 50), (16, 40, 3, 700)])
def test_rows_are_mixed_as_a_matrix_does_it(rows, heard, stride, bins):
    rng = np.random.default_rng(2)
    mixing = Mixing(rng.random(heard, np.float32), stride, rows)
    given = rng.random((mixing.needed, bins), np.float32)
    whole = np.zeros((rows, mixing.needed))
    for i, row in enumerate(whole):
        row[i * stride :][:heard] = mixing.pattern
    np.testing.assert_allclose(mixing.of(given), whole @ given, rtol=1e-5)


@pytest.mark.parametrize("width", [1.0, 4.0])
def test_beams_hear_azimuths_by_their_pattern_wherever_they_lie(width):
    """With beams narrower and wider than they lie apart."""
    bearings, wide = np.radians(np.linspace(-20.0, 20.0, 21)), math.radians(width)
    shape = fan(bearings, wide, 0.3, 4, two_way=False)
    azimuth = np.arctan2(shape.ahead[1], shape.ahead[0])
    step = azimuth[1] - azimuth[0]
    assert step <= wide / 3.0 * (1.0 + 1e-9)
    away = azimuth - bearings[:, None]
    expected = step * line_pattern(np.sin(away), wide)
    expected[np.abs(away) > 12.0 * wide] = 0.0
    # What each azimuth alone brings to the beams.
    heard = shape.formed(np.eye(len(azimuth), dtype=np.int64))
    np.testing.assert_allclose(heard, expected, rtol=1e-3, atol=1e-6 * step)


def test_targets_scatter_as_the_echo_sounders_bottom_does():
    incidence = np.radians([0.0, 5.0, 20.0, 60.0, 85.0])
    table = targets(5.0)
    for index, (name, material) in enumerate(MATERIALS.items()):
        found = table.strength(np.full(5, index), np.cos(incidence)) * np.cos(incidence)
        np.testing.assert_allclose(found, scattering(material, incidence), rtol=1e-9, err_msg=name)
    assert table.strength(np.array([0]), np.array([0.0])) == 0.0
    rough, smooth = targets(15.0), targets(0.0)
    assert rough.slope[SURFACE] > 3.0 * smooth.slope[SURFACE]


# --- imaging sonar -------------------------------------------------------------------------------


def test_a_target_is_in_its_beam_and_bin():
    dense = build(
        "imaging_sonar",
        DEEP,
        [ball(*_polar(17.05, 23.0), radius=0.1)],
        beams=131,
        field_of_view_deg=130,
        beamwidth_deg=1,
        range=40,
        bins=400,
        pulse_length=1e-5,
    ).dense
    seen = picture(dense, (0.0, 0.0, 10.0))
    beam, cell = np.unravel_index(seen.argmax(), seen.shape)
    assert beam == 65 + 23
    assert cell == int((17.05 - 0.1) / 0.1)
    # Turned to port by as much the target is straight ahead; pitched up, it is out of the fan.
    ahead = picture(dense, (0.0, 0.0, 10.0), attitudes=turned(yaw=23.0))
    assert ahead.max(axis=1).argmax() == 65
    assert not picture(dense, (0.0, 0.0, 10.0), attitudes=turned(pitch=-40.0, yaw=23.0)).any()


def _polar(distance, bearing, down=10.0):
    angle = math.radians(bearing)
    return distance * math.cos(angle), distance * math.sin(angle), down


def test_the_echo_falls_by_spreading_and_absorption():
    """A wall that is met squarely: SL − 2 TL with the TL of Urick (1983), of everything in a beam.

    S / cos γ · dΩ / r² · 10^(−2αr/10): the same solid angle at another range.
    """
    echo = {}
    for distance in (10.0, 40.0):
        wall = block(distance + 1.0, 0.0, 100.0, 2.0, 400.0, 150.0)
        dense = build(
            "imaging_sonar", DEEP, [wall], frequency=750e3, range=60, bins=600, beams=11,
            field_of_view_deg=10, beamwidth_deg=2, vertical_beamwidth_deg=4,
        ).dense  # fmt: skip
        echo[distance] = picture(dense, (0.0, 0.0, 100.0))[5].sum()
    z = np.array([100.0])
    alpha = absorption(750e3, np.array([10.0]), np.array([35.0]), z)[0]
    expected = 20.0 * math.log10(40.0 / 10.0) + 2.0 * alpha * 30.0
    assert 10.0 * math.log10(echo[10.0] / echo[40.0]) == pytest.approx(expected, abs=0.15)


def test_the_level_is_that_of_the_sonar_equation():
    """Of a flat bottom straight below: SL + S − 20 log r − 2 α r + the solid angle of the beam, for
    a diffuse bottom; both patterns are integrated by hand."""
    width, height = math.radians(3.0), math.radians(4.0)
    dense = build(
        "imaging_sonar", SHALLOW, beams=3, field_of_view_deg=3.0, beamwidth=width,
        vertical_beamwidth=height, rays=400, range=30, bins=300, source_level=200,
    ).dense  # fmt: skip
    down = picture(dense, (0.0, 0.0, 8.0), attitudes=turned(pitch=-90.0), ocean=SHALLOW)[1]
    angle = np.linspace(-0.4, 0.4, 4001)
    step = angle[1] - angle[0]
    a, e = np.meshgrid(angle, angle[np.abs(angle) < height], indexing="ij")
    gamma = np.arccos(np.cos(a) * np.cos(e))
    beam = line_pattern(np.sin(a), width) * line_pattern(np.sin(e), height) ** 2
    total = (scattering(MATERIALS["sand"], gamma) / np.cos(gamma) * beam * np.cos(e)).sum()
    total *= step**2
    alpha = dense.column.absorption_at(8.0)
    pulse = 0.5 * dense.column.speed_at(8.0) * dense.pulse
    expected = 1e20 * total * 10.0 ** (-0.2 * alpha * 12.0) / 12.0**2
    assert down.sum() * 0.1 / pulse == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("height", "above", "distance"), [(1.0, 4.0, 12.0), (2.0, 5.0, 9.0)])
def test_shadows_are_as_long_as_plane_geometry_says(height, above, distance):
    """An object of the height h on a flat bottom, seen from H over it at the ground range R, hides
    the bottom as far as R H / (H − h)."""
    target = block(distance + 0.05, 0.0, 20.0 - 0.5 * height, 0.1, 6.0, height)
    dense = build(
        "imaging_sonar", SHALLOW, [target], beams=31, field_of_view_deg=30, range=40, bins=800,
        vertical_beamwidth_deg=45, rays=2000, beamwidth_deg=1.0, pulse_length=2e-5,
    ).dense  # fmt: skip
    seen = picture(dense, (0.0, 0.0, 20.0 - above), attitudes=turned(pitch=-20.0), ocean=SHALLOW)
    middle = (np.arange(800) + 0.5) * 0.05
    ground = np.sqrt(np.maximum(middle**2 - above**2, 0.0))
    line = seen[15] * middle**3
    # Side lobes of other beams see past the object; they lie far below the bottom beside it.
    clear = np.median(line[(ground > distance - 3.0) & (ground < distance - 1.0)])
    dark = line < 0.01 * clear
    behind = ground > distance + 0.3
    end = ground[behind & ~dark][0]
    expected = (distance + 0.1) * above / (above - height)
    assert end == pytest.approx(expected, abs=0.15)
    hidden = (ground > distance + 0.5) & (ground < expected - 0.5)
    assert hidden.sum() > 40
    assert dark[hidden].all()


def test_nothing_comes_from_behind_something():
    """A wall across the whole fan: the ball behind it changes nothing."""
    wall = block(10.0, 0.0, 10.0, 0.5, 200.0, 200.0)
    alone = build("imaging_sonar", DEEP, [wall], beams=32, bins=200).dense
    before = picture(alone, (0.0, 0.0, 10.0))
    both = build("imaging_sonar", DEEP, [wall, ball(20.0, 1.0, 10.0)], beams=32, bins=200).dense
    np.testing.assert_array_equal(picture(both, (0.0, 0.0, 10.0)), before)
    assert before[:, : int(9.5 / 0.2)].max() == 0.0
    assert before[16, int(9.9 / 0.2) :].max() > 0.0
    # Only side lobes hear the ends of the wall, which are farther away.
    assert before[16, int(12.0 / 0.2) :].max() < 1e-4 * before[16].max()


@pytest.mark.parametrize(("apart", "peaks"), [(0.6, 1), (3.0, 2)])
def test_two_targets_nearer_than_a_beam_merge(apart, peaks):
    bodies = [ball(*_polar(15.0, side * 0.5 * apart), radius=0.02) for side in (-1, 1)]
    dense = build(
        "imaging_sonar", DEEP, bodies, beams=201, field_of_view_deg=10, beamwidth_deg=1.0,
        range=20, bins=200, rays=800, vertical_beamwidth_deg=5,
    ).dense  # fmt: skip
    across = picture(dense, (0.0, 0.0, 10.0)).sum(axis=1)
    inner = across[1:-1]
    found = (inner > across[:-2]) & (inner >= across[2:]) & (inner > 0.1 * across.max())
    assert found.sum() == peaks


def test_the_pulse_sets_the_range_resolution():
    """Two walls of gauze: balls one behind the other, apart by half and by twice the pulse."""
    for apart, peaks in ((0.5, 1), (2.0, 2)):
        bodies = [ball(*_polar(12.0, -0.7), radius=0.1)]
        bodies += [ball(*_polar(12.0 + apart * 0.375, 0.7), radius=0.1)]
        dense = build(
            "imaging_sonar", DEEP, bodies, beams=3, field_of_view_deg=1, beamwidth_deg=3,
            range=15, bins=1500, rays=800, vertical_beamwidth_deg=5, pulse_length=5e-4,
        ).dense  # fmt: skip
        line = picture(dense, (0.0, 0.0, 10.0))[1]
        heard = line > 0.2 * line.max()
        assert (np.diff(heard.astype(int)) == 1).sum() == peaks


def test_a_bounce_off_the_surface_looks_farther_by_half_the_detour():
    target = ball(15.0, 0.0, 4.0, radius=0.05)
    described = {
        "beams": 3, "field_of_view_deg": 2, "range": 30, "bins": 600, "rays": 1500,
        "vertical_beamwidth_deg": 60, "pulse_length": 1e-5,
    }  # fmt: skip
    direct = picture(build("imaging_sonar", DEEP, [target], **described).dense, (0.0, 0.0, 3.0))
    both = build("imaging_sonar", DEEP, [target], multipath=True, **described).dense
    added = picture(both, (0.0, 0.0, 3.0)) - direct
    detour = math.hypot(15.0, 7.0)
    told = 0.5 * (math.hypot(15.0, 1.0) + detour) - 0.05
    near = slice(int(told / 0.05) - 4, int(told / 0.05) + 5)
    surface = np.zeros(600, bool)
    surface[near] = True
    line = added[1]
    assert line[surface].max() > 0.05 * direct[1].max()


def test_the_surface_is_seen_from_below_and_nothing_above_it():
    above = block(10.0, 0.0, -5.0, 1.0, 50.0, 9.0)
    dense = build(
        "imaging_sonar", DEEP, [above], beams=3, field_of_view_deg=2, range=20, bins=200,
        vertical_beamwidth_deg=30, rays=400,
    ).dense  # fmt: skip
    bare = build(
        "imaging_sonar", DEEP, beams=3, field_of_view_deg=2, range=20, bins=200,
        vertical_beamwidth_deg=30, rays=400,
    ).dense  # fmt: skip
    at, up = (0.0, 0.0, 3.0), turned(pitch=30.0)
    seen = picture(dense, at, attitudes=up)
    np.testing.assert_array_equal(seen, picture(bare, at, attitudes=up))
    first = np.flatnonzero(seen[1])[0] * 0.1
    assert first == pytest.approx(3.0 / math.sin(math.radians(60.0)), abs=0.2)


def test_other_vehicles_are_seen_where_they_are():
    fleet = [Body(n, "vehicle", length=2.0, beam=0.4, height=0.4) for n in ("own", "other")]
    dense = build("imaging_sonar", DEEP, fleet, beams=65, field_of_view_deg=64, bins=400).dense
    poses = np.full((1, 2, 7), np.nan)
    assert picture(dense, (0.0, 0.0, 90.0), others=poses).max() == 0.0
    poses[0, 1] = (*_polar(20.0, -12.0, 90.0), 1.0, 0.0, 0.0, 0.0)
    seen = picture(dense, (0.0, 0.0, 90.0), others=poses)
    beam, cell = np.unravel_index(seen.argmax(), seen.shape)
    assert abs(beam - (32 - 12)) <= 1
    assert cell * 0.1 == pytest.approx(19.1, abs=0.5)


def test_what_moves_is_seen_where_it_is_at_the_time_of_the_ping():
    track = Timetable(np.zeros(1), np.array([[15.0, -8.0]]), np.array([[0.0, 2.0]]))
    drifter = Body(
        "drifter", "sphere", radius=0.4, position=np.array([15.0, -8.0, 90.0]), motion=track
    )
    dense = build("imaging_sonar", DEEP, [drifter], beams=121, field_of_view_deg=120, rate=2).dense
    seen = intensity(dense.expand(views(np.tile((0.0, 0.0, 90.0), (3, 1)), first=4), DEEP).payload)
    for k, ping in enumerate(seen):
        east = -8.0 + 2.0 * (4 + k) / 2.0
        beam = 60 + round(math.degrees(math.atan2(east, 15.0)))
        assert abs(int(ping.max(axis=1).argmax()) - beam) <= 1


# --- mechanical and side-scan --------------------------------------------------------------------


def test_the_head_steps_from_port_to_starboard_and_back():
    dense = build("mechanical_sonar", DEEP, sector_deg=90, step_deg=30, bins=8, rays=8).dense
    told = dense.expand(views(np.tile((0.0, 0.0, 5.0), (8, 1))), DEEP).values[:, 1]
    np.testing.assert_allclose(np.degrees(told), [-45, -15, 15, 45, 15, -15, -45, -15], atol=1e-9)
    whole = build("mechanical_sonar", DEEP, step_deg=90, bins=8, rays=8).dense
    told = whole.expand(views(np.tile((0.0, 0.0, 5.0), (6, 1))), DEEP).values[:, 1]
    np.testing.assert_allclose(np.degrees(told), [-180, -90, 0, 90, -180, -90], atol=1e-9)


def test_a_mechanical_sonar_hears_what_its_head_points_at():
    target = ball(*_polar(12.0, 60.0), radius=0.3)
    dense = build(
        "mechanical_sonar", DEEP, [target], sector_deg=180, step_deg=3, range=20, bins=200
    ).dense
    pings = dense.expand(views(np.tile((0.0, 0.0, 10.0), (61, 1))), DEEP)
    strongest = intensity(pings.payload[:, 0]).max(axis=1)
    assert np.degrees(pings.values[strongest.argmax(), 1]) == pytest.approx(60.0, abs=1e-9)
    width = np.degrees(pings.values[strongest > 0.25 * strongest.max(), 1])
    assert np.ptp(width) <= 6.0


def test_a_side_scan_sees_each_side_and_the_bottom_below():
    target = block(0.0, 18.0, 19.5, 1.0, 1.0, 1.0)
    dense = build("side_scan", SHALLOW, [target], range=40, bins=800, pulse_length=2e-5).dense
    port, starboard = picture(dense, (0.0, 0.0, 10.0), ocean=SHALLOW)
    middle = (np.arange(800) + 0.5) * 0.05
    # The water column is silent, the first echo is the bottom at the altitude.
    assert middle[np.flatnonzero(port)[0]] == pytest.approx(10.0, abs=0.1)
    behind = (middle > math.hypot(18.6, 10.0)) & (middle < 18.5 * 10.0 / 9.0 * 1.1)
    ground = np.sqrt(np.maximum(middle**2 - 100.0, 0.0))
    shadow = (ground > 18.8) & (ground < 18.5 * 10.0 / 9.0 - 0.3)
    assert starboard[shadow].max() < 0.05 * port[shadow].min()
    assert starboard[behind].sum() < port[behind].sum()
    ahead = picture(dense, (3.0, 0.0, 10.0), ocean=SHALLOW)
    np.testing.assert_allclose(ahead[0], ahead[1], rtol=2e-3)


# --- multibeam and the bending of rays -----------------------------------------------------------


def gradient(c0=1480.0, g=0.5, depth=400.0):
    """Water whose sound speed is linear in depth."""
    z = np.linspace(0.0, depth, 401)
    return Column(depth=z, speed=c0 + g * z, absorption=np.zeros_like(z))


ZERO = np.zeros(4)


def traced(column, start, end, angle):
    """Rays of one ping."""
    ends = np.array([start]), np.array([end])
    (layers,) = column.layers(*ends)
    return column.trace(*ends, int(layers), np.sin(angle)[None])


@pytest.mark.parametrize("g", [0.5, -0.5, 2.0])
def test_rays_in_a_constant_gradient_are_arcs_of_circles(g):
    """Radius c₀ / (g sin θ₀), centre at the depth where c would be 0 (Jensen et al. 2011)."""
    column, start, end = gradient(g=g), 10.0, 130.0
    angle = np.radians([5.0, 30.0, 55.0])
    rays = traced(column, start, end, angle)
    c = column.speed_at(start)
    for i, theta in enumerate(angle):
        radius = c / (g * math.sin(theta))
        # Circle about (x₀, z₀): horizontal where c = 0 … z₀ = −c₀/g, x₀ = R cos θ.
        centre = np.array([radius * math.cos(theta), start - c / g])
        away = np.hypot(rays.out[0, :, i] - centre[0], rays.depth[0, :, 0] - centre[1])
        np.testing.assert_allclose(away, abs(radius), rtol=1e-12)
        c2 = column.speed_at(end)
        sine = math.sin(theta) * c2 / c
        time = math.log(math.tan(0.5 * math.asin(sine)) / math.tan(0.5 * theta)) / g
        assert rays.time[0, -1, i] == pytest.approx(time, rel=1e-9)
    assert rays.depth.shape[1] > 20


def test_rays_in_uniform_water_are_straight_and_those_that_turn_are_given_up():
    flat = Column(np.array([0.0, 1.0]), np.full(2, 1500.0), np.zeros(2))
    rays = traced(flat, 3.0, 23.0, np.radians([0.0, 60.0]))
    assert rays.depth.ravel().tolist() == [3.0, 23.0]
    np.testing.assert_allclose(rays.out[0, -1], [0.0, 20.0 * math.sqrt(3.0)], rtol=1e-12)
    np.testing.assert_allclose(rays.time[0, -1], [20.0 / 1500.0, 40.0 / 1500.0], rtol=1e-12)
    turning = traced(gradient(g=2.0), 0.0, 399.0, np.radians([85.0]))
    assert not np.isfinite(turning.out[0, -1, 0])


def test_layers_are_thin_where_the_sound_speed_changes_and_thick_elsewhere():
    """A thermocline of 20 m in 200 m of uniform water, for two pings from different depths."""
    column = Column(np.array([0.0, 90.0, 110.0, 200.0]), np.array([1520.0, 1520, 1490, 1490]), ZERO)
    start, end = np.array([5.0, 100.0]), np.array([190.0, 150.0])
    assert column.layers(start, end).tolist() == [32, 32]
    assert column.layers(np.array([0.0, 120.0]), np.array([80.0, 180.0])).tolist() == [1, 1]
    depth = column.trace(start, end, 30, np.full((2, 1), 0.5)).depth[..., 0]
    np.testing.assert_allclose(depth[0, 1:-1], np.linspace(90, 110, 31)[1:-1], rtol=1e-9)
    np.testing.assert_allclose(depth[1, 1:-1], np.linspace(100, 110, 31)[1:-1], rtol=1e-9)
    assert depth[:, 0].tolist() == [5.0, 100.0]
    assert depth[:, -1].tolist() == [190.0, 150.0]


def bumpy(spacing=4.0, seed=3):
    """A bottom with hills, about 30 m deep."""
    from seatrial.geometry.grid import height_grid
    from seatrial.ocean.seabed import Seabed

    nodes = np.arange(-80.0, 81.0, spacing)
    x, y = np.meshgrid(nodes, nodes, indexing="ij")
    rng = np.random.default_rng(seed)
    depth = 30.0 + sum(
        rng.uniform(0.3, 1.2) * np.sin(kx * x + ky * y + p)
        for kx, ky, p in rng.uniform(-0.12, 0.12, (6, 3)) * [1, 1, 50]
    )
    return Seabed(height_grid((-80.0, -80.0), (spacing, spacing), depth)), nodes, depth


def test_soundings_gridded_again_give_back_the_map():
    """Below 0.1 % of the depth, without noise: the soundings of a line, between which the bottom
    is taken as flat facets, at the nodes of the map."""
    import dataclasses

    from scipy.interpolate import LinearNDInterpolator

    bottom, nodes, depth = bumpy()
    ocean = dataclasses.replace(sea(water=PROFILE), seabed=bottom)
    dense = build("multibeam", ocean, beams=192, swath_deg=120, rate=5, range=100).dense
    places = np.stack(np.broadcast_arrays(np.arange(-20.0, 20.0, 0.8), 0.0, 3.0), axis=1)
    attitude = turned(roll=4.0, pitch=-3.0, yaw=10.0)
    points = _world(
        places, attitude, dense.expand(views(places, attitudes=attitude), ocean).payload
    )
    x, y, z = points.T
    true = np.asarray(sample(bottom, jnp.asarray(x), jnp.asarray(y)))
    assert np.abs(z - true).max() < 1e-3  # of a single sounding, m
    inner = np.abs(nodes) < 15.0
    grid = np.stack(np.meshgrid(nodes[inner], nodes[inner], indexing="ij"), axis=-1)
    found = LinearNDInterpolator(points[:, :2], z)(grid)
    wrong = np.abs(found - depth[np.ix_(inner, inner)]) / depth[np.ix_(inner, inner)]
    assert np.sqrt(np.mean(wrong**2)) < 1e-3
    assert np.quantile(wrong, 0.99) < 1e-3


def test_a_head_that_is_tilted_sounds_a_wall_beside_it_down_and_up():
    """Beams near the horizontal tell the way there, and those that go up meet the wall, too."""
    wall = block(0.0, 9.0, 0.0, length=60.0, beam=2.0, height=40.0)
    ocean = sea(water=PROFILE, seabed={"depth": 40.0})
    dense = build("multibeam", ocean, [wall], beams=181, swath_deg=120, range=60).dense
    attitude = turned(roll=-80.0)
    cloud = dense.expand(views((0.0, 0.0, 8.0), attitudes=attitude), ocean).payload[0]
    there = _world(np.array([[0.0, 0.0, 8.0]]), attitude, cloud[None])
    beams = np.radians(np.linspace(-60.0, 60.0, 181))
    down = np.cos(beams + math.radians(80.0))
    aside = np.sin(beams + math.radians(80.0))
    met = (aside > 0.0) & (
        np.abs(8.0 * down / aside + 0.0) < 7.9
    )  # above the edge and in the water
    assert met.sum() > 60
    np.testing.assert_allclose(there[:, 1][met[np.isfinite(cloud[:, 0])]], 8.0, atol=2e-3)
    assert np.isfinite(cloud[met, 0]).all()
    far = np.linalg.norm(cloud[met, :3], axis=1)
    np.testing.assert_allclose(cloud[met, 4], far, rtol=4e-3)  # sound is slower below


PROFILE = {
    "profile": "table",
    "depth": [0, 10, 20, 40],
    "temperature": [18.0, 17.0, 11.0, 9.0],
    "salinity": [35, 35, 35, 35],
}


def _world(places, attitude, clouds):
    """Soundings of all pings in the world."""
    from seatrial.geometry.bodies import rotation_matrix

    matrix = rotation_matrix(attitude)
    there = clouds[..., :3].astype(float) @ matrix.T + places[:, None]
    return there[np.isfinite(there[..., 0])]


def test_one_sound_speed_for_all_water_bends_the_swath():
    """One that knows the profile tells a level bottom. One that takes sound for straight and c₀
    for its speed tells the depth c₀ t cos θ₀ = ∫ (c₀ / c) (cos θ₀ / cos θ) dz: with c = c₀ (1 − ε)
    too deep by about ε (1 − tan² θ₀), so too deep in the middle and too shallow beside."""
    ocean = sea(water=PROFILE, seabed={"depth": 40.0})
    quiet = {
        "range_noise": 0.0, "angle_noise": 0.0, "beams": 101, "swath_deg": 120, "range": 120,
        "source_level": 250,
    }  # fmt: skip
    told = {}
    for name, more in (
        ("ideal", {"fidelity": "ideal"}),
        ("knows", {"fidelity": "nominal", "sound_speed": 1516.0}),
        ("thinks", {"fidelity": "full", "sound_speed": 1516.0}),
    ):
        dense = build("multibeam", ocean, **quiet, **more).dense
        told[name] = dense.expand(views((0.0, 0.0, 0.5)), ocean).payload[0]
    np.testing.assert_allclose(told["ideal"][:, 2], 39.5, atol=1e-4)
    np.testing.assert_allclose(told["knows"][:, :3], told["ideal"][:, :3], atol=1e-4)
    z = np.linspace(0.5, 40.0, 20_000)
    c = np.interp(z, dense.column.depth, dense.column.speed)
    angle = np.radians(np.linspace(-60.0, 60.0, 101))[:, None]
    sine = np.sin(angle) * c / dense.column.speed_at(0.5)
    expected = np.trapezoid(1516.0 / c * np.cos(angle) / np.sqrt(1.0 - sine**2), z, axis=1)
    np.testing.assert_allclose(told["thinks"][:, 2], expected, atol=2e-3)
    assert expected[50] > 39.8
    assert expected[0] < 39.0


def test_the_swath_knows_port_from_starboard_and_what_it_met():
    wall = block(0.0, 8.0, 10.0, 100.0, 1.0, 20.0)
    dense = build("multibeam", SHALLOW, [wall], beams=121, swath_deg=120).dense
    cloud = dense.expand(views((0.0, 0.0, 5.0)), SHALLOW).payload[0]
    x, y, z, _, distance, angle = cloud.T
    assert np.all(np.diff(angle) > 0.0)
    np.testing.assert_allclose(x, 0.0, atol=1e-5)
    np.testing.assert_allclose(z[:61], 15.0, atol=1e-4)  # port: the bottom
    np.testing.assert_allclose(y[-20:], 7.5, atol=1e-4)  # starboard: the wall
    # Sound is a little faster below than at the sonar.
    np.testing.assert_allclose(np.hypot(y, z), distance, rtol=2e-4)
    alone = build("multibeam", SHALLOW, beams=121, swath_deg=120).dense
    up = alone.expand(views((0.0, 0.0, 5.0), attitudes=turned(roll=180.0)), SHALLOW)
    assert not up.valid[0]
    assert np.isnan(up.payload).all()


# --- refusals ------------------------------------------------------------------------------------


def test_a_sonar_that_cannot_work_is_refused():
    with pytest.raises(SpecError, match="sound needs"):
        ImagingSonar(type="imaging_sonar", name="s", rate=100, range=100)
    with pytest.raises(SpecError, match="must be below `range`"):
        ImagingSonar(type="imaging_sonar", name="s", rate=1, range=10, minimum_range=20)
    with pytest.raises(SpecError, match="widen the sector"):
        MechanicalSonar(type="mechanical_sonar", name="s", rate=1, sector=0.1, step=0.2)


def test_rays_fill_a_fan_finer_than_its_beams():
    shape = fan(np.radians(np.linspace(-60, 60, 32)), math.radians(1.0), 0.3, 10, two_way=False)
    directions = shape.directions(np.eye(3)[None])[:, 0]
    x, y, _ = directions[:, :, 0]
    assert np.diff(np.arctan2(y, x)).max() < math.radians(0.34)
    assert np.linalg.norm(directions, axis=0) == pytest.approx(1.0, rel=1e-6)
