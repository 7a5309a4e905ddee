"""The LiDAR against plane geometry, the lidar equation, and its own noise."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import craft
from instruments import fit, look, state
from seatrial.core.types import Traffic
from seatrial.engine.exchange import taps
from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.materials import MATERIALS
from seatrial.geometry.rays import RayScene
from seatrial.ocean import waves as ocean_waves
from seatrial.render.air import extinction
from seatrial.render.sea import sea_at
from seatrial.sensors.look import Look
from seatrial.sensors.ranging.lidar import FRESNEL, glint
from seatrial.sensors.tap import VIEW, Views
from seatrial.signals import Measurements
from seatrial.spec.loading import load
from seatrial.spec.sensors.optical import LidarModel
from seatrial.spec.world import Weather

CALM = craft.ocean_of(seabed={"depth": 30.0})
QUIET = {"noise": 0.0, "dropout": 0.0, "divergence": 0.0, "intensity_noise": 0.0}
SMALL = {
    "kind": "lidar",
    "name": "small",
    "beams": 9,
    "lowest": math.radians(-20),
    "highest": math.radians(20),
    "columns": 180,
    "range": 80.0,
    "reference_range": 80.0,
}


def wall(x=20.0, material="concrete", **given):
    """Its near face lies across the north axis, from 20 m below the water to 20 m above it."""
    return Body(
        "wall",
        "box",
        length=2.0,
        beam=200.0,
        height=40.0,
        position=np.array([x + 1.0, 0.0, 0.0]),
        material=material,
        **given,
    )


def lidar(bodies=None, fidelity="full", ocean=CALM, weather=None, rate=10.0, **model):
    scene = RayScene([wall()] if bodies is None else bodies, 30.0)
    made = LidarModel(**{**SMALL, **model})
    return fit("lidar", ocean, rate, rays=scene, fidelity=fidelity, weather=weather, model=made)


def views(count=1, position=(0.0, 0.0, -3.0), attitude=(1.0, 0.0, 0.0, 0.0), first=0, **more):
    rows = {"position": position, "attitude": attitude, **more}
    rows = {name: np.tile(np.asarray(row, float), (count, 1)) for name, row in rows.items()}
    keys = np.tile(np.array([3, 5], np.uint32), (count, 1))
    return Views(number=first + np.arange(count), keys=keys, **rows)


def beams_of(built):
    """(C, B, 3) directions."""
    return np.moveaxis(built.dense.directions.astype(np.float64), 0, -1)


def cloud(built, ocean=CALM, **given):
    """Points (C, B, 6) of one sweep."""
    dense = built.dense
    array = dense.expand(views(**given), ocean).payload[0]
    return array.reshape(*dense.directions.shape[1:], 6).astype(np.float64)


# --- geometry ------------------------------------------------------------------------------------


def test_the_beams_point_where_the_model_says():
    d = beams_of(lidar(fidelity="ideal"))
    np.testing.assert_allclose(np.linalg.norm(d, axis=2), 1.0, atol=1e-7)
    np.testing.assert_allclose(d[90, 4], [1.0, 0.0, 0.0], atol=1e-7)  # ahead, level
    np.testing.assert_allclose(d[135, 4], [0.0, 1.0, 0.0], atol=1e-7)  # clockwise: to starboard
    assert d[90, 0, 2] == pytest.approx(math.sin(math.radians(20)))  # the lowest looks down
    sector = lidar(first_azimuth=1.0, last_azimuth=-0.5, columns=31).dense
    assert sector.azimuth[0] == 1.0
    assert sector.azimuth[-1] == -0.5


def test_the_ideal_lidar_draws_the_wall():
    turn = np.array([math.cos(0.2), 0.1, -0.05, math.sin(0.2)])
    turn /= np.linalg.norm(turn)
    built = lidar(fidelity="ideal")
    points = cloud(built, position=(2.0, 5.0, -4.0), attitude=turn)
    world = points[..., :3] @ rotation_matrix(turn).T + np.array([2.0, 5.0, -4.0])
    expected = beams_of(built) @ rotation_matrix(turn).T
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = 18.0 / expected[..., 0]
    y, z = (c + reach * expected[..., i] for c, i in ((5.0, 1), (-4.0, 2)))
    on_wall = (expected[..., 0] > 0) & (reach < 80.0) & (z < 0.0) & (z > -20.0) & (np.abs(y) < 100)
    seen = np.isfinite(points[..., 0])
    np.testing.assert_array_equal(seen, on_wall)
    np.testing.assert_allclose(world[seen][:, 0], 20.0, rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(points[seen][:, :3], axis=1), reach[seen], atol=1e-5)
    np.testing.assert_allclose(points[seen][:, 3], 0.4 * expected[seen][:, 0], atol=1e-6)
    assert np.all(points[~seen][:, 3] == 0.0)
    np.testing.assert_array_equal(points[0, :, 4], np.arange(9))
    assert np.all(points[..., 5] == 0.0)


def test_nothing_is_seen_through_the_surface():
    wreck = Body(
        "wreck", "box", length=4.0, beam=200.0, height=5.0, position=np.array([20.0, 0.0, 3.0])
    )
    points = cloud(lidar([wreck], "ideal"))
    assert not np.isfinite(points[..., 0]).any()
    points = cloud(lidar([wreck], "nominal", **QUIET))
    assert not np.isfinite(points[..., 0]).any()  # at such angles the sea sends nothing back


def test_one_beam_gives_a_scan():
    built = lidar(
        fidelity="ideal",
        beams=1,
        lowest=0.0,
        highest=0.0,
        first_azimuth=1.5,
        last_azimuth=-1.5,
        columns=301,
    )
    found = built.dense.expand(views(), CALM)
    reach, intensity = found.payload[0].astype(np.float64)
    expected = 20.0 / np.cos(built.dense.azimuth)
    seen = expected < 80.0
    np.testing.assert_allclose(reach[seen], expected[seen], rtol=1e-6)
    assert np.all(np.isinf(reach[~seen]))
    np.testing.assert_allclose(intensity[seen], 0.4 * np.cos(built.dense.azimuth[seen]), atol=1e-6)
    assert found.values[0, 0] == pytest.approx(20.0, abs=1e-3)
    assert found.values[0, 1] == pytest.approx(seen.mean())


def test_a_sweep_is_bent_by_the_motion_as_the_motion_says():
    """Each point, put where the sensor was when its ray left, lies on the wall."""
    built = lidar(**QUIET)
    velocity, turn = np.array([6.0, -2.0, 0.3]), np.array([0.1, -0.2, 0.9])
    points = cloud(built, velocity=velocity, turn=turn)
    late = points[:, 0, 5]
    np.testing.assert_allclose(late, np.linspace(-179 / 1800, 0.0, 180), atol=1e-6)
    errors = []
    for column, tau in zip(points, late, strict=True):
        angle = np.linalg.norm(turn) * tau
        axis = turn / np.linalg.norm(turn)
        matrix = rotation_matrix([math.cos(angle / 2), *(math.sin(angle / 2) * axis)])
        seen = np.isfinite(column[:, 0])
        world = column[seen, :3] @ matrix.T + np.array([0.0, 0.0, -3.0]) + velocity * tau
        errors += (world[:, 0] - 20.0).tolist()
    assert len(errors) > 300
    assert np.abs(errors).max() < 1e-4
    bent = points[np.isfinite(points[..., 0])][:, 0]
    assert np.abs(bent - 20.0).max() > 0.3  # as the sensor tells it, it is not flat


# --- water ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [1.0, 3.0])
def test_rays_meet_the_waves_that_carry_the_boat(height):
    ocean = craft.ocean_of(
        waves={
            "spectrum": "components",
            "components": [
                {"amplitude": 0.5, "period": 5.0, "towards": 0.4},
                {"amplitude": 0.2, "period": 3.5, "towards": 2.0},
            ],
        }
    )
    rng = np.random.default_rng(2)
    directions = np.column_stack([rng.uniform(-3, 3, (2000, 2)), np.ones(2000)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    place, t = np.array([40.0, -70.0, -height]), 12.3
    origins = np.tile(place, (2000, 1))
    sea = sea_at(ocean, place[:2], t, 100.0)
    found = sea.crossing(origins, directions, np.full(2000, 100.0))
    np.testing.assert_array_equal(found.ray, np.arange(2000))
    x, y, z = (origins + found.distance[:, None] * directions).T
    with jax.enable_x64(True):
        zeta = np.asarray(ocean_waves.elevation(ocean.waves, x, y, t))
        slope = np.asarray(ocean_waves.slope(ocean.waves, x, y, t))
    np.testing.assert_allclose(-z, zeta, rtol=0, atol=0.01)
    steep = -found.normal[:, :2] / found.normal[:, 2:]
    np.testing.assert_allclose(-steep.T, slope, rtol=0, atol=0.06)
    # It is the first crossing: halfway there the ray is above the water.
    for share in (0.3, 0.6, 0.9):
        x, y, z = (origins + share * found.distance[:, None] * directions).T
        with jax.enable_x64(True):
            zeta = np.asarray(ocean_waves.elevation(ocean.waves, x, y, t))
        assert np.mean(-z > zeta) > 0.995


def test_crests_hide_what_is_behind_them():
    ocean = craft.ocean_of(
        waves={
            "spectrum": "components",
            "components": [{"amplitude": 2.0, "period": 7.0, "towards": 0.0}],
        }
    )
    low = {"lowest": math.radians(-6), "highest": math.radians(6)}
    calm = cloud(lidar(fidelity="ideal", **low), position=(-40.0, 0.0, -2.5))
    rough = cloud(lidar(fidelity="ideal", ocean=ocean, **low), ocean, position=(-40.0, 0.0, -2.5))
    assert np.isfinite(rough[..., 0]).sum() < 0.9 * np.isfinite(calm[..., 0]).sum()


def test_the_sea_glints_straight_below_and_not_aside():
    down = {"lowest": math.radians(-90), "highest": math.radians(-20), "beams": 36, "columns": 20}
    points = cloud(lidar([], "nominal", **{**QUIET, **down}))
    seen = np.isfinite(points[..., 0]).all(axis=0)
    assert seen[:2].all()
    assert not seen[15:].any()
    np.testing.assert_allclose(points[:, :2, 2], 3.0, atol=1e-5)
    assert glint(np.ones(1), 0.02)[0] == pytest.approx(FRESNEL / 0.08)


# --- light ---------------------------------------------------------------------------------------


def test_extinction_follows_koschmieder_kim_and_the_rain():
    assert extinction(None, 0.0) == 0.0
    assert extinction(200.0, 0.0) == pytest.approx(3.912 / 200.0)
    assert extinction(10_000.0, 0.0) == pytest.approx(3.912e-4 * (905 / 550) ** -1.3)
    assert extinction(None, 25.0) == pytest.approx(1.076 * 25**0.67 / 4342.94, rel=1e-4)
    below, above = (extinction(v, 0.0) for v in (999.9, 1000.1))
    assert below == pytest.approx(above, rel=1e-3)


def test_fog_takes_light_there_and_back_and_surfaces_with_it():
    weather = Weather(visibility=300.0)
    alpha = extinction(300.0, 0.0)
    clear, foggy = (cloud(lidar(fidelity="nominal", weather=w, **QUIET)) for w in (None, weather))
    reach = np.linalg.norm(clear[..., :3], axis=2)
    both = np.isfinite(foggy[..., 0]) & np.isfinite(clear[..., 0])
    real = both & (np.abs(np.linalg.norm(foggy[..., :3], axis=2) - reach) < 1e-3)
    ratio = foggy[real][:, 3] / clear[real][:, 3]
    np.testing.assert_allclose(ratio, np.exp(-2 * alpha * reach[real]), rtol=1e-4)
    assert np.nanmax(np.linalg.norm(foggy[..., :3], axis=2)) < 0.95 * np.nanmax(reach)


# --- noise ---------------------------------------------------------------------------------------

SQUARE = {"beams": 1, "lowest": 0.0, "highest": 0.0, "first_azimuth": -0.01, "last_azimuth": 0.01}


def ranges(count=1, attitude=(1.0, 0.0, 0.0, 0.0), at=20.0, material="concrete", **model):
    """Ranges and intensities of beams that meet the wall at nearly one angle, and how far it is."""
    built = lidar([wall(at, material)], columns=5000, **{**QUIET, **SQUARE, **model})
    still = {"velocity": np.zeros(3), "turn": np.zeros(3)}
    array = built.dense.expand(views(count, attitude=attitude, **still), CALM).payload
    true = at / (beams_of(built) @ rotation_matrix(attitude).T)[:, 0, 0]
    return array[:, 0].astype(np.float64), array[:, 1].astype(np.float64), true


def test_ranges_have_the_noise_of_the_data_sheet():
    """5000 draws: the variance lies in its χ² interval, the mean in its normal one, both 1e-4."""
    reach, _, true = ranges(noise=0.03)
    error = reach[0] - true
    low, high = stats.chi2.ppf([5e-5, 1 - 5e-5], 4999) / 4999
    assert low < error.var() / 0.03**2 < high
    assert abs(error.mean()) < stats.norm.ppf(1 - 5e-5) * 0.03 / math.sqrt(5000)
    assert stats.kstest(error / 0.03, "norm").pvalue > 1e-4


def test_intensities_have_theirs_and_dropouts_their_share():
    _, intensity, true = ranges(intensity_noise=0.1)
    relative = intensity[0] / (0.4 * 20.0 / true) - 1.0
    low, high = stats.chi2.ppf([5e-5, 1 - 5e-5], 4999) / 4999
    assert low < relative.var() / 0.1**2 < high
    reach, _, _ = ranges(count=4, dropout=0.05)
    lost = int(np.isinf(reach).sum())
    assert stats.binomtest(lost, reach.size, 0.05).pvalue > 1e-4


def test_a_dark_surface_is_seen_half_as_often_at_the_end_of_its_range():
    """Rubber of 5 % sends back at 80/√2 m what the reference of 10 % does at 80 m; with a tenth of
    it as standard deviation, 1.4 times farther is 4.9 of them below the threshold."""
    end = 80.0 * math.sqrt(MATERIALS["rubber"].reflectance / 0.1)
    reach, _, _ = ranges(at=end, material="rubber")
    seen = int(np.isfinite(reach).sum())
    assert stats.binomtest(seen, 5000, 0.5).pvalue > 1e-4
    assert not np.isfinite(ranges(at=1.4 * end, material="rubber")[0]).any()
    assert np.isfinite(ranges(at=1.4 * end, material="concrete")[0]).all()


def test_a_wide_beam_spreads_ranges_on_a_slant():
    """With δ/4 across, a wall met at θ spreads ranges by r tan θ δ/4."""
    half = 0.5 * 1.0
    reach, _, true = ranges(attitude=(math.cos(half), 0.0, 0.0, math.sin(half)), divergence=0.01)
    spread = np.std((reach[0] - true) / (true * np.sqrt((true / 20.0) ** 2 - 1.0) * 0.0025))
    low, high = np.sqrt(stats.chi2.ppf([5e-5, 1 - 5e-5], 4999) / 4999)
    assert 0.98 * low < spread < 1.02 * high


def test_drops_are_told_nearby_and_more_of_them_in_denser_fog():
    shares = []
    for visibility in (2000.0, 200.0, 50.0):
        built = lidar([], "nominal", weather=Weather(visibility=visibility), **QUIET)
        points = cloud(built)
        reach = np.linalg.norm(points[..., :3], axis=2)
        shares.append(np.isfinite(reach).mean())
        assert np.nanmax(reach, initial=0.0) <= 10.1
    assert shares[0] < 0.01 < shares[1] < shares[2]
    assert shares[2] > 0.5


def test_neither_blocks_nor_company_change_a_byte():
    built = lidar(weather=Weather(visibility=400.0, rain=5.0))
    still = {"velocity": np.ones(3), "turn": 0.1 * np.ones(3)}
    whole = built.dense.expand(views(3, **still), CALM).payload
    alone = built.dense.expand(views(1, first=1, **still), CALM).payload
    assert whole[1].tobytes() == alone[0].tobytes()
    assert whole[1].tobytes() != whole[2].tobytes()


# --- taps ----------------------------------------------------------------------------------------


def test_a_tap_tells_its_own_motion_and_that_of_other_vehicles():
    boats = [Body(n, "vehicle", length=4.0, beam=2.0, height=2.0) for n in "abc"]
    built = lidar([*boats, wall()])
    tap = built.sensor
    assert tap.seen == 2
    assert tap.rows == VIEW + 6 + 2 * 11 + 4
    at = state(
        position=(0.0, 0.0, -1.0), euler=(0.0, 0.0, 0.5 * math.pi), velocity=(2.0, 0, 0, 0, 0, 0.3)
    )
    place = np.array([[5.0, 0.0, 12.0], [0.0, 0.0, 8.0], [0.0, -1.0, -0.5]])
    speed = np.array([[0.0, 0.0, -3.0], [1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    with jax.enable_x64(True):
        level = np.tile([[1.0], [0.0], [0.0], [0.0]], 3)
        traffic = Traffic(
            jnp.asarray(place),
            jnp.asarray(level),
            jnp.asarray(speed),
            *[jnp.zeros(3)] * 3,
            jnp.arange(3) + 1,
            jnp.array([1]),
        )
        seen = Look(None, CALM, at, jnp.float64(0.7), traffic=traffic)
        reading = tap.measure(jnp.zeros((0, 1)), seen, jnp.zeros((0, 1)))
    rows = np.asarray(reading.values).T
    view, keep, shift = tap.read(rows, np.array([[1, 2]], np.uint32))
    np.testing.assert_allclose(view.velocity[0], [0.0, 2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(view.turn[0], [0.0, 0.0, 0.3], atol=1e-12)
    np.testing.assert_allclose(view.others[0, [0, 2], :3], place[:, [0, 2]].T)
    np.testing.assert_allclose(view.others[0, [0, 2], 7:], speed[:, [0, 2]].T)
    assert np.isnan(view.others[0, 1]).all()
    assert view.number[0] == 7
    assert keep.tolist() == [[1.0, 1.0]]
    assert shift.tolist() == [[0.0, 0.0]]
    again = Measurements(
        np.zeros(1),
        np.zeros((1, 1)),
        rows[:, None],
        np.ones((1, 1), bool),
        np.zeros((1, 1), np.int32),
    )
    found = taps.expand(built.dense, tap, again, np.array([[1], [2]], np.uint32), CALM)
    assert found.values[0, 0, 0] == pytest.approx(
        3.0, abs=0.1
    )  # the stern of the boat to the north


def test_a_lidar_under_water_is_silent():
    built = lidar()
    with jax.enable_x64(True):
        for depth, valid in ((-1.0, True), (2.0, False)):
            seen = look(CALM, state(position=(0.0, 0.0, depth)))
            reading = built.sensor.measure(jnp.zeros((0, 1)), seen, jnp.zeros((0, 1)))
            assert bool(reading.valid[0]) is valid


# --- makes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "beams", "columns"), [("vlp16", 16, 1800), ("os1_64", 64, 1024), ("tim571", 1, 811)]
)
def test_the_library_has_common_makes(name, beams, columns):
    model = load(name, LidarModel)
    assert (model.beams, model.columns) == (beams, columns)
    assert model.source


@pytest.mark.parametrize(
    "wrong",
    [
        {"lowest": 0.5, "highest": 0.1},
        {"beams": 1},
        {"minimum_range": 90.0},
        {"first_azimuth": 0.2, "last_azimuth": 0.2},
        {"beams": 256, "columns": 10_000},
    ],
)
def test_impossible_makes_are_refused(wrong):
    with pytest.raises(ValueError, match=r"`|points"):
        LidarModel.model_validate({**SMALL, **wrong})
