"""A bottom on the host, in the compiled program and beyond its edges is one surface."""

import math

import jax
import numpy as np
import pytest

import seatrial as st
from seatrial.bathymetry import synthetic
from seatrial.compile.surroundings.seabed import MOST_NODES, bottom_of
from seatrial.engine.scene import Scene, read_scene, write_scene
from seatrial.figures.seabed import shading
from seatrial.geometry.grid import facet
from seatrial.geometry.terrain import side_for, terrain, terrain_of
from seatrial.seeding import generator

pytestmark = pytest.mark.usefixtures("x64")


def rough(rows=21, columns=33, seed=1):
    depth = 20.0 + np.random.default_rng(seed).normal(size=(rows, columns))
    return terrain((-40.0, 15.0), (4.0, 2.5), depth)


def places(count=500, seed=2):
    return np.random.default_rng(seed).uniform((-80, -20), (90, 130), (count, 2)).T


def test_the_host_and_the_program_have_the_same_bottom():
    bottom, (x, y) = rough(), places()
    compiled = facet(bottom.grid(), jax.numpy.asarray(x), jax.numpy.asarray(y))
    np.testing.assert_allclose(bottom.at(x, y), compiled.depth, atol=1e-12)
    back = terrain_of(bottom.grid())
    np.testing.assert_array_equal(back.depth, bottom.depth)


def test_in_single_precision_it_stays_in_single_precision():
    bottom, (x, y) = rough(), places()
    found = facet(bottom.grid(), jax.numpy.float32(x), jax.numpy.float32(y))
    assert {part.dtype for part in found} == {np.dtype(np.float32)}
    np.testing.assert_allclose(found.depth, bottom.at(np.float32(x), np.float32(y)), rtol=1e-6)


def test_room_changes_the_shape_and_not_the_bottom():
    bottom, (x, y) = rough(), places()
    assert bottom.with_room().depth.shape == (32, 48)
    np.testing.assert_allclose(bottom.with_room().at(x, y), bottom.at(x, y), atol=1e-12)


def test_sides_come_in_few_numbers_that_waste_little():
    sides = sorted({side_for(n) for n in range(2, 3000)})
    assert sides == [32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072]
    assert all(n <= side_for(n) <= max(32, 1.5 * n) for n in range(2, 3000))


def test_a_recording_keeps_every_depth_in_a_third_of_its_numbers():
    smooth = synthetic.fractal((192, 192), 4.0, 2.0, 400.0, 0.9, generator(1, "test"))
    bottom = terrain((0.0, 0.0), (4.0, 4.0), 40.0 + smooth)
    text = write_scene(Scene(terrain=bottom))
    again = read_scene(text).terrain
    np.testing.assert_array_equal(again.depth, bottom.depth)
    assert len(text) < 0.5 * bottom.depth.nbytes
    with pytest.raises(ValueError, match=r"unpacked|reshape"):
        read_scene(text.replace('"packed": "', '"packed": "AAAA'))


def described(**seabed):
    return st.World(name="sea", seabed=seabed)


def made(seed=1, **seabed):
    bottom = bottom_of(described(**seabed), seed)
    return bottom.depth


def test_a_slope_is_the_plane_that_it_says():
    bottom = made(shape="slope", depth=20.0, gradient=0.1, towards=math.pi / 6, extent=(300, 300))
    x, y = np.random.default_rng(1).uniform(-140, 140, (2, 200))
    along = math.cos(math.pi / 6) * x + math.sin(math.pi / 6) * y
    np.testing.assert_allclose(bottom.at(x, y), 20.0 + 0.1 * along, atol=1e-5)


def test_ripples_have_their_height_and_length():
    bottom = made(shape="ripples", depth=15.0, height=2.0, length=50.0, spacing=1.0)
    way = np.arange(-200.0, 200.0)
    depth = bottom.at(way, 0.0 * way)
    np.testing.assert_allclose(depth, 15.0 - np.cos(2.0 * math.pi * way / 50.0), atol=0.01)
    assert np.ptp(bottom.at(0.0 * way, way)) < 1e-5  # long crests


def test_a_canyon_has_half_of_its_relief_at_half_of_its_width():
    bottom = made(shape="canyon", depth=40.0, relief=20.0, width=100.0, spacing=2.0)
    assert bottom.at(0.0, 0.0) == pytest.approx(60.0, abs=0.01)
    assert bottom.at(100.0, 50.0) == pytest.approx(50.0, abs=0.05)
    assert bottom.at(0.0, -400.0) == pytest.approx(40.0, abs=0.01)
    bends = {"shape": "canyon", "depth": 40.0, "meander": 60.0}
    one, other = made(1, **bends), made(2, **bends)
    assert np.abs(one.depth - other.depth).max() > 5.0
    np.testing.assert_array_equal(one.depth, made(1, **bends).depth)


def test_a_reef_rises_by_no_more_than_its_heads():
    bottom = made(shape="reef", depth=14.0, height=5.0, relief=0.0, spacing=1.0, extent=(400, 400))
    assert 9.0 <= bottom.depth.min() < 9.6
    assert bottom.depth.max() == 14.0
    assert 0.0 < np.mean(bottom.depth < 13.9) < 0.25


def test_a_wreck_lies_at_the_centre_in_its_scour():
    wreck = {"shape": "wreck_site", "depth": 25.0, "relief": 0.0, "debris": 0, "spacing": 1.0}
    bottom = made(**wreck, centre=(30.0, -20.0), heading=math.pi / 2, height=5.0, scour=1.0)
    assert bottom.at(30.0, -20.0) == pytest.approx(20.0, abs=0.1)
    assert bottom.at(30.0, 5.0) == pytest.approx(22.5, abs=0.8)  # along her length, 60 m
    assert bottom.at(40.0, -20.0) == pytest.approx(26.0, abs=0.1)  # a beam away: the trench
    assert bottom.at(130.0, -20.0) == pytest.approx(25.0, abs=0.01)


def test_a_harbour_is_closed_but_for_its_entrance():
    harbour = {"shape": "harbour", "depth": 8.0, "approach": 12.0, "spacing": 2.0}
    bottom = made(**harbour, basin=(300.0, 200.0), entrance=40.0, wall=12.0, height=3.0)
    assert bottom.at(0.0, 0.0) == 8.0
    assert bottom.at(156.0, 0.0) == 8.0  # through the entrance in the north
    assert bottom.at(200.0, 0.0) == 12.0
    for north, east in ((156.0, 60.0), (-156.0, 0.0), (0.0, 106.0), (0.0, -106.0)):
        assert bottom.at(north, east) == -3.0


def test_a_coast_rises_out_of_the_water_where_it_says():
    coast = {"towards": math.pi / 2, "distance": 120.0, "slope": 0.05, "height": 4.0}
    bottom = made(shape="slope", depth=20.0, gradient=0.0, coast=coast)
    assert bottom.at(33.0, 120.0) == pytest.approx(0.0, abs=1e-5)
    assert bottom.at(0.0, 100.0) == pytest.approx(1.0, abs=1e-5)
    assert bottom.at(0.0, 480.0) == pytest.approx(-4.0)
    assert bottom.at(0.0, -400.0) == pytest.approx(20.0)


def test_hills_have_the_relief_and_the_spectrum_that_they_say():
    """Over many seeds: the standard deviation within 5 %, and below the largest hills a power that
    falls with the wavenumber to −2(H + 1), within 0.15 of the exponent."""
    hurst, spacing, count = 0.7, 4.0, 128
    fields = [
        synthetic.fractal((count, count), spacing, 3.0, 200.0, hurst, generator(s, "hills"))
        for s in range(60)
    ]
    assert np.sqrt(np.mean(np.square(fields))) == pytest.approx(3.0, rel=0.05)
    assert abs(np.mean(fields)) < 0.3
    # Differences over a lag r well below the largest hills have a variance in r^2H.
    variance = [np.mean([np.mean((f[lag:] - f[:-lag]) ** 2) for f in fields]) for lag in (1, 2, 4)]
    slopes = np.diff(np.log2(variance)) / 2.0
    np.testing.assert_allclose(slopes, hurst, atol=0.15)


def test_hills_are_bright_towards_the_north_west():
    x, y = np.meshgrid(np.arange(-50.0, 51.0), np.arange(-50.0, 51.0), indexing="ij")
    hill = 30.0 - 10.0 * np.exp(-(x**2 + y**2) / 400.0)
    bright = shading(hill, 1.0, 1.0)
    assert bright[60, 40] == bright.max() > 1.1  # north and west of the top
    assert bright[40, 60] == bright.min() < 0.7
    assert bright[0, 0] == pytest.approx(1.0, abs=1e-3)  # level


def test_another_seed_is_another_bottom_and_the_same_seed_the_same():
    hills = {"shape": "fractal", "depth": 40.0, "relief": 2.0}
    np.testing.assert_array_equal(made(5, **hills).depth, made(5, **hills).depth)
    assert np.abs(made(5, **hills).depth - made(6, **hills).depth).std() > 1.0


@pytest.mark.parametrize(
    ("seabed", "message"),
    [
        ({"shape": "fractal", "depth": 30, "spacing": 0.1, "extent": [9000, 9000]}, "smaller"),
        ({"shape": "ripples", "depth": 30, "length": 10}, "four times `spacing`, 16 m"),
        ({"shape": "harbour", "depth": 30, "spacing": 10}, "twice `spacing`, 20 m"),
    ],
)
def test_grids_too_fine_or_too_coarse_are_refused(seabed, message):
    with pytest.raises(st.SpecError, match=message):
        made(**seabed)
    assert MOST_NODES >= 2048**2


@pytest.mark.parametrize(
    ("seabed", "message"),
    [
        ({"shape": "fractl", "depth": 30}, "did you mean `fractal`"),
        ({"shape": "reef", "depth": 30, "cout": 3}, "did you mean `count`"),
        ({"depht": 30}, "did you mean `depth`"),
        ({"map": "a.nc", "depth": 30}, "unknown key `depth`"),
        ({"shape": "fractal"}, "missing key `depth`"),
        ({"shape": "slope", "depth": 30, "gradient": 20}, "out of range"),
    ],
)
def test_misspelt_bottoms_are_refused_with_the_right_word(seabed, message):
    with pytest.raises(st.SpecError, match=message):
        described(**seabed)
