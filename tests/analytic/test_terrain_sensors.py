"""Sensors that look at a bottom by a map, against plane geometry."""

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft
from instruments import fit, normal, read, state
from seatrial.geometry.bodies import Body, Timetable
from seatrial.geometry.grid import height_grid
from seatrial.geometry.solids import build_solids
from seatrial.ocean.seabed import Seabed
from seatrial.sensors.noise.draws import uniform
from seatrial.sensors.tap import Views

pytestmark = pytest.mark.usefixtures("x64")

EXACT = {"noise": 0.0, "range_noise": 0.0, "water_layer": None, "fidelity": "nominal"}
EULER = (0.1, -0.15, 0.7)


def sea(depth, spacing=2.0, half=100):
    """Water over a bottom with the depth that a function of north and east says."""
    nodes = spacing * np.arange(-half, half + 1.0)
    rows = depth(nodes[:, None], nodes[None]) + np.zeros((len(nodes),) * 2)
    first = (-spacing * half,) * 2
    flat = craft.ocean_of(seabed={"depth": 120.0})
    return dataclasses.replace(flat, seabed=Seabed(height_grid(first, (spacing,) * 2, rows)))


def plane(at=30.0, north=0.3, east=-0.2):
    return sea(lambda n, e: at + north * n + east * e)


def down_to_the_plane(place, along, at=30.0, north=0.3, east=-0.2):
    """Distance along unit vectors (3, B)."""
    gap = at + north * place[0] + east * place[1] - place[2]
    return gap / (along[2] - north * along[0] - east * along[1])


def four_beams():
    angle = math.radians(25.0)
    azimuth = np.radians([45.0, 135.0, 225.0, 315.0])
    flat = math.sin(angle) * np.stack([np.cos(azimuth), np.sin(azimuth)])
    return np.vstack([flat, np.full(4, math.cos(angle))])


# --- Doppler velocity log ------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{"fidelity": "ideal"}, EXACT])
def test_each_beam_of_the_dvl_has_its_own_length_on_a_slope(how):
    ocean, place = plane(), np.array([3.0, -7.0, 12.0])
    values, valid, _ = read(fit("dvl", ocean, **how), ocean, state(place, EULER))
    along = craft.euler_matrix(*EULER) @ four_beams()
    lengths = down_to_the_plane(place, along)
    np.testing.assert_allclose(values[4:8, 0], lengths, rtol=1e-9)
    below = 30.0 + 0.3 * 3.0 + 0.2 * 7.0 - 12.0
    altitude = below if how["fidelity"] == "ideal" else np.mean(lengths * along[2])
    np.testing.assert_allclose(values[3, 0], altitude, rtol=1e-9)
    assert valid.all()


def test_a_level_map_gives_what_a_flat_bottom_gives():
    level, flat = sea(lambda n, e: 40.0), craft.ocean_of(seabed={"depth": 40.0})
    at = state((np.linspace(-5, 5, 50), 3.3, 7.0), EULER, (1.0, 0.2, 0.1, 0, 0, 0))
    for kind, how in (("dvl", EXACT), ("dvl", {"fidelity": "ideal"}), ("altimeter", {})):
        by_map, by_depth = (read(fit(kind, o, rate=5.0, **how), o, at) for o in (level, flat))
        np.testing.assert_allclose(by_map[0], by_depth[0], rtol=1e-9)
        np.testing.assert_array_equal(by_map[1], by_depth[1])


def test_beams_that_look_over_a_drop_are_lost():
    """A shelf of 20 m that falls to 200 m north of 0, farther than the device hears."""
    ocean = sea(lambda n, e: np.where(n > 0.0, 200.0, 20.0), spacing=0.5)
    built = fit("dvl", ocean, **EXACT)
    north = np.array([-20.0, -1.0, 80.0])
    values, valid, _ = read(built, ocean, state((north, 0.0, 10.0)))
    # 10 m over the shelf the forward beams reach 3.3 m ahead.
    np.testing.assert_array_equal(
        values[4:8] > 0.0, np.array([[1, 0, 0], [1, 1, 0]] * 2)[[0, 1, 3, 2]]
    )
    np.testing.assert_array_equal(valid, [True, False, False])


def test_a_slope_that_falls_away_shortens_the_reach_by_lamberts_law():
    """Where the beams meet the bottom at the incidence γ the budget is 20 log cos γ less."""
    ocean = sea(lambda n, e: 110.0 + 0.5 * n, spacing=4.0)
    z = np.arange(0.05, 109.0, 0.05)
    values, _, _ = read(fit("dvl", ocean, **EXACT), ocean, state((0.0, 0.0, z)))
    forward, aft = values[4, values[4] > 0.0].max(), values[6, values[6] > 0.0].max()
    beam, normal_up = four_beams(), np.array([0.5, 0.0, -1.0]) / math.hypot(0.5, 1.0)
    cosines = -normal_up @ beam
    flat = fit("dvl", ocean, **EXACT).sensor.device
    alpha = float(np.mean(flat.absorption.values))
    for longest, cosine in ((forward, cosines[0]), (aft, cosines[2])):
        spent = 20.0 * math.log10(longest * beam[2, 0] / cosine) + 2.0 * alpha * longest
        assert spent == pytest.approx(float(flat.budget), abs=0.3)
    assert forward < 0.97 * aft


# --- altimeter -----------------------------------------------------------------------------------


def test_an_exact_altimeter_tells_the_range_along_its_axis():
    ocean, place = plane(), np.array([3.0, -7.0, 12.0])
    tilted = {"roll": 0.2, "pitch": 0.1}
    built = fit("altimeter", ocean, fidelity="ideal", **tilted)
    values, valid, _ = read(built, ocean, state(place, EULER))
    axis = craft.euler_matrix(*EULER) @ craft.euler_matrix(0.2, 0.1, 0.0)[:, 2:]
    np.testing.assert_allclose(values[0], down_to_the_plane(place, axis), rtol=1e-9)
    assert valid.all()


def test_a_wide_beam_hears_the_nearest_part_of_a_slope():
    """In the plane of the slope the nearest of the cone's rays leans uphill by half its width."""
    ocean = plane(north=0.3, east=0.0)
    built = fit("altimeter", ocean, rate=5.0, beamwidth_deg=30.0, noise=0.0, fidelity="nominal")
    values, valid, _ = read(built, ocean, state((0.0, 0.0, 10.0)))
    half = math.radians(15.0)
    uphill = np.array([[-math.sin(half)], [0.0], [math.cos(half)]])
    expected = down_to_the_plane((0.0, 0.0, 10.0), uphill, north=0.3, east=0.0)
    np.testing.assert_allclose(values[0], expected, rtol=1e-9)
    assert valid.all()


def test_the_altimeter_ends_at_its_range_begins_at_its_least_and_is_silent_in_the_air():
    ocean = craft.ocean_of(seabed={"depth": 40.0})
    built = fit("altimeter", ocean, rate=5.0, range=30.0, minimum_range=2.0, fidelity="nominal")
    z = np.array([-0.5, 9.5, 10.5, 37.5, 38.5])
    values, valid, _ = read(built, ocean, state((0.0, 0.0, z)))
    np.testing.assert_array_equal(valid, [False, False, True, True, False])
    np.testing.assert_allclose(values[0], np.where(valid, 40.0 - z, 0.0))
    nowhere, valid, _ = read(fit("altimeter", rate=5.0), craft.calm(), state())
    assert not valid.any()
    assert not nowhere.any()


def test_a_smooth_bottom_throws_the_sound_of_a_steep_beam_away():
    """Mud is smooth (its facets slope by 0.05 rad), rock is not: at 30° the one is lost first."""
    ocean = craft.ocean_of(seabed={"depth": 40.0})
    z = np.arange(1.0, 39.0, 0.1)
    reach = {}
    for bottom in ("mud", "rock"):
        built = fit("altimeter", ocean, rate=5.0, bottom=bottom, fidelity="nominal", range=60.0)
        _, valid, _ = read(built, ocean, state((0.0, 0.0, z), (0.0, math.radians(30.0), 0.0)))
        reach[bottom] = np.max((40.0 - z)[valid], initial=0.0)
    assert reach["mud"] < 0.5 * reach["rock"]


def test_half_of_the_pings_are_heard_at_the_end_of_the_range_and_noise_is_as_described():
    ocean = craft.ocean_of(seabed={"depth": 60.0})
    built = fit("altimeter", ocean, rate=5.0, range=50.0, noise=0.05, sound_speed=None)
    n = 4000
    drawn = normal(2, n, seed=5)
    far, heard, _ = read(built, ocean, state((0.0, 0.0, 10.0 + 1e-6), n=n), drawn=drawn)
    # z-test at five deviations; pressure at 10 m changes the absorption a little
    assert abs(np.mean(heard) - 0.5) < 5.0 * 0.5 / math.sqrt(n) + 0.01
    near, heard, _ = read(built, ocean, state((0.0, 0.0, 50.0), n=n), drawn=drawn)
    alpha = float(built.sensor.device.absorption.values[0])
    expected = 2.0 ** -((10.0 / 50.0) ** 2 * 10.0 ** (-0.2 * 40.0 * alpha))
    assert abs(np.mean(heard) - expected) < 0.02
    error = near[0, heard] - 10.0
    assert abs(np.mean(error)) < 5.0 * 0.05 / math.sqrt(n)
    assert np.std(error) == pytest.approx(0.05, rel=5.0 / math.sqrt(2.0 * n))
    assert not far[0, ~np.asarray(uniform(drawn[1]) < 0.55)].any()


# --- echo sounder --------------------------------------------------------------------------------


def views(place, euler):
    from seatrial.spatial.rotations import from_euler

    attitude = np.asarray(from_euler(*(jnp.asarray(a) for a in euler)))
    return Views(np.array([place]), attitude[None], np.array([1]), np.zeros((1, 2), np.uint32))


def test_the_echo_of_a_slope_is_that_of_a_flat_bottom_under_a_tilted_sounder():
    slope = math.tan(math.radians(12.0))
    ocean = sea(lambda n, e: 30.0 + slope * n)
    flat = craft.ocean_of(seabed={"depth": 120.0})
    # Over the slope 20 m away along its normal; over the flat bottom the same distance and angle.
    away = 20.0 / math.cos(math.radians(12.0))
    tilted, level = (
        fit("echo_sounder", flat, rate=5.0, fidelity="ideal"),
        fit("echo_sounder", ocean, rate=5.0, fidelity="ideal"),
    )
    found = level.dense.expand(views((0.0, 0.0, 30.0 - away), (0.0, 0.0, 0.4)), ocean)
    same = tilted.dense.expand(views((0.0, 0.0, 100.0), (0.0, math.radians(12.0), 0.0)), flat)
    np.testing.assert_allclose(found.values[0, 0], away, rtol=1e-9)
    np.testing.assert_allclose(found.values[0, 0], same.values[0, 0], rtol=1e-9)
    first = slice(0, int(512 * 0.4))  # the second echo comes by another way
    np.testing.assert_allclose(found.payload[0, 0, first], same.payload[0, 0, first], atol=0.3)


def test_a_sounder_that_looks_up_hears_no_bottom():
    ocean = plane()
    built = fit("echo_sounder", ocean, rate=5.0, fidelity="ideal")
    found = built.dense.expand(views((0.0, 0.0, 10.0), (0.0, math.pi, 0.0)), ocean)
    assert not found.valid.any()


def test_an_echo_sounder_meets_a_slope_in_double_precision_whichever_thread_asks():
    """The setting belongs to a thread, and samples are expanded by many."""
    ocean, place = plane(), np.array([81.1, -37.3, 2.2])
    dense = fit("echo_sounder", ocean, rate=5.0, fidelity="ideal").dense
    views = Views(
        place[None], np.array([[1.0, 0, 0, 0]]), np.array([0]), np.zeros((1, 2), np.uint32)
    )
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(dense.expand, views, ocean).result()
    expected = down_to_the_plane(place, np.array([0.0, 0.0, 1.0]))
    assert found.values[0, 0] == pytest.approx(expected, abs=1e-9)


# --- obstacle sonar ------------------------------------------------------------------------------

FAN = np.radians(np.linspace(-30.0, 30.0, 24))
"""Angles of the beams below the horizon."""


def walled():
    """40 m of water with a box 4 m thick, 200 m long and 20 m high, its face 20 m north."""
    wall = Body(
        "wall", "box", length=4.0, beam=200.0, height=20.0, position=np.array([22.0, 0, 30])
    )
    flat = craft.ocean_of(seabed={"depth": 40.0})
    return dataclasses.replace(flat, solids=build_solids([wall]))


@pytest.mark.parametrize("fidelity", ["ideal", "nominal"])
def test_the_fan_of_an_obstacle_sonar_meets_wall_and_bottom_where_geometry_says(fidelity):
    ocean = walled()
    built = fit(
        "obstacle_sonar", ocean, rate=5.0, fidelity=fidelity, noise=0.0, position=[0.5, 0, 0]
    )
    values, valid, _ = read(built, ocean, state((0.0, 0.0, 30.0)))
    # 19.5 m to the face; the box stands from 20 m on, and the bottom is 10 m below.
    with np.errstate(divide="ignore"):
        bottom = np.where(FAN > 0.0, 10.0 / np.sin(FAN), np.inf)
    face = 19.5 / np.cos(FAN)
    height = face * np.sin(FAN)
    meets = np.where(height > -10.0, np.minimum(face, bottom), bottom)
    expected = np.where(meets <= 40.0, meets, 0.0)
    assert (expected > 0.0).sum() > 15
    assert (expected == 0.0).any()
    np.testing.assert_allclose(values[:, 0], expected, rtol=2e-3)
    assert valid.all()


def test_the_obstacle_sonar_sees_a_bank_of_the_map():
    slope = 0.8
    ocean = sea(lambda n, e: 40.0 - np.clip(slope * (n - 10.0), 0.0, 30.0))
    built = fit("obstacle_sonar", ocean, rate=5.0, fidelity="ideal")
    values, _, _ = read(built, ocean, state((0.0, 0.0, 30.0)))
    level = 10.0 + 10.0 / slope  # where the bank is as high as the sonar
    ahead = values[np.abs(FAN).argmin(), 0]
    assert ahead == pytest.approx(level, rel=0.05)


def test_noise_and_lost_beams_of_the_obstacle_sonar_are_as_described():
    ocean, n = walled(), 1000
    built = fit("obstacle_sonar", ocean, rate=5.0, noise=0.2, dropout=0.1)
    exact, _, _ = read(fit("obstacle_sonar", ocean, rate=5.0, fidelity="ideal"), ocean,
                       state((0.0, 0.0, 30.0)))  # fmt: skip
    drawn = normal(built.sensor.draws, n, seed=7)
    values, _, _ = read(built, ocean, state((0.0, 0.0, 30.0), n=n), drawn=drawn)
    seen = exact[:, 0] > 0.0
    error = (values - exact)[seen]
    heard = values[seen] > 0.0
    assert np.std(error[heard]) == pytest.approx(0.2, rel=0.03)
    share = 1.0 - np.mean(heard)
    assert abs(share - 0.1) < 5.0 * math.sqrt(0.1 * 0.9 / heard.size)


# --- bodies before the bottom --------------------------------------------------------------------


def with_bodies(*bodies, depth=40.0):
    water = craft.ocean_of(seabed=None if depth is None else {"depth": depth})
    return dataclasses.replace(water, solids=jax.device_put(build_solids(list(bodies))))


CRATE = Body("crate", "box", length=6.0, beam=6.0, height=4.0, position=np.array([10.0, 0, 38]))


@pytest.mark.parametrize("how", [{"fidelity": "ideal"}, EXACT])
def test_each_beam_of_the_dvl_meets_a_ball_or_the_bottom_behind_it(how):
    """A ball of 3 m below the port and forward beam: the root of |p + r b − c| = 3."""
    place, beams = np.array([0.0, 0.0, 20.0]), four_beams()
    centre = place + 12.0 * beams[:, 3] + np.array([0.4, 0.2, 0.0])
    ball = Body("ball", "sphere", radius=3.0, position=centre)
    ocean = with_bodies(ball)
    values, valid, _ = read(fit("dvl", ocean, **how), ocean, state(place))
    away = centre - place
    along = away @ beams[:, 3]
    length = along - math.sqrt(9.0 - (away @ away - along**2))
    expected = np.append(np.full(3, 20.0 / math.cos(math.radians(25.0))), length)
    np.testing.assert_allclose(values[4:8, 0], expected, rtol=1e-3)
    assert values[7, 0] < 10.0
    assert valid.all()


@pytest.mark.parametrize("kind", ["altimeter", "echo_sounder"])
def test_altimeter_and_echo_sounder_tell_the_top_of_a_crate_below_them(kind):
    ocean = with_bodies(CRATE)
    for north, below in ((10.0, 16.0), (0.0, 20.0)):
        if kind == "altimeter":
            built = fit(kind, ocean, rate=5.0, noise=0.0, fidelity="nominal")
            told, heard, _ = read(built, ocean, state((north, 0.0, 20.0)))
            # half of its beam reaches 1 m to the side, where the crate is as near as below
            assert told[0, 0] == pytest.approx(below, rel=1e-3)
        else:
            built = fit(kind, ocean, rate=5.0, fidelity="ideal")
            found = built.dense.expand(views((north, 0.0, 20.0), (0.0, 0.0, 0.3)), ocean)
            told, heard = found.values, found.valid
            assert told[0, 0] == pytest.approx(below, rel=1e-3)
            echo = np.argmax(found.payload[0, 0]) * 100.0 / 512
            assert echo == pytest.approx(below, abs=0.5)
        assert heard.all()


def test_bodies_are_heard_where_there_is_no_bottom_and_from_a_moving_one_where_it_is():
    way = Timetable(np.zeros(1), np.array([[10.0, 0.0]]), np.array([[1.0, 0.0]]))
    passing = dataclasses.replace(CRATE, motion=way)
    ocean = with_bodies(passing, depth=None)
    built = fit("altimeter", ocean, rate=5.0, fidelity="ideal")
    for t, heard in ((0.0, True), (5.0, False)):  # it has moved on to 15 m, 2 m beyond
        values, valid, _ = read(built, ocean, state((10.0, 0.0, 20.0)), t=t)
        assert valid.all() == heard
        assert values[0, 0] == (pytest.approx(16.0, rel=1e-3) if heard else 0.0)


def test_a_world_without_bodies_has_no_rays_to_solids_in_its_program():
    ocean = craft.ocean_of(seabed={"depth": 40.0})
    for kind in ("dvl", "altimeter"):
        assert fit(kind, ocean, rate=5.0).sensor.sight is None
