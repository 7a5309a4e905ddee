"""WGS 84 against coordinates from PROJ 9.5 (EPSG:4979 to EPSG:4978, and its topocentric frame)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.spatial.geodesy import from_ecef, to_ecef, to_geodetic, to_ned

ECEF = [
    ((0.0, 0.0, 0.0), (6378137.0, 0.0, 0.0)),
    ((51.95, 4.1, -30.0), (3929242.869596, 281651.631, 4999352.672335)),
    ((-33.8568, 151.2153, 12.5), (-4646977.735117, 2553081.918549, -3533274.091479)),
    ((78.22, 15.65, 400.0), (1257971.485127, 352415.604005, 6222388.692604)),
    ((90.0, 0.0, 0.0), (0.0, 0.0, 6356752.314245)),
    ((12.99, 80.23, 3.0), (1054809.87316, 6125819.415684, 1424327.911529)),
    ((-89.999, -170.0, -5000.0), (-109.911156, -19.380302, -6351752.313271)),
    ((45.0, -179.9999, 8848.0), (-4523847.359642, -7.895603, 4493604.889666)),
]
LOCAL = [
    ((51.95, 4.1), (1234.5, -987.25, 12.0), (51.961094127678, 4.085637369845, -11.804225134)),
    (
        (-33.86, 151.21),
        (-20000.0, 35000.0, 100.0),
        (-34.039725736251, 151.589027927621, 27.400917335),
    ),
    (
        (78.22, 15.65),
        (50000.0, 50000.0, -200.0),
        (78.659084349699, 17.927115960750, 590.731357534),
    ),
    ((0.0, 180.0), (300.0, 400.0, 0.0), (0.002713108424, -179.996406738868, 0.019645748)),
]


@pytest.mark.parametrize(("geodetic", "ecef"), ECEF)
def test_earth_centred_coordinates_match_proj(geodetic, ecef):
    np.testing.assert_allclose(to_ecef(*geodetic), ecef, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("geodetic", "ecef"), ECEF)
def test_latitude_longitude_and_height_match_proj(geodetic, ecef):
    latitude, longitude, height = from_ecef(ecef)
    assert latitude == pytest.approx(geodetic[0], abs=1e-11)
    # The reference is rounded to 1 µm, which near the pole is many degrees of longitude.
    assert (longitude - geodetic[1]) * math.cos(math.radians(latitude)) == pytest.approx(
        0.0, abs=1e-11
    )
    assert height == pytest.approx(geodetic[2], abs=2e-6)


@pytest.mark.parametrize(("datum", "ned", "geodetic"), LOCAL)
def test_local_points_match_proj_topocentric(datum, ned, geodetic):
    latitude, longitude, height = to_geodetic(ned, datum)
    assert latitude == pytest.approx(geodetic[0], abs=2e-12)
    assert longitude == pytest.approx(geodetic[1], abs=2e-12)
    assert height == pytest.approx(geodetic[2], abs=5e-9)
    np.testing.assert_allclose(to_ned(*geodetic, datum), ned, atol=2e-7, rtol=0)


@given(
    st.floats(-90, 90),
    st.floats(-180, 180),
    st.lists(st.floats(-1e5, 1e5), min_size=3, max_size=3),
)
def test_there_and_back_returns_the_same_point(latitude, longitude, ned):
    datum = (latitude, longitude)
    back = to_ned(*to_geodetic(ned, datum), datum)
    np.testing.assert_allclose(back, ned, atol=2e-8, rtol=0)


def test_small_steps_follow_the_radii_of_curvature():
    """dφ = north / M and dλ = east / (N cos φ), with M and N of the ellipsoid."""
    a, e2, latitude = 6378137.0, 0.00669437999014132, math.radians(51.95)
    w = math.sqrt(1 - e2 * math.sin(latitude) ** 2)
    meridian, prime = a * (1 - e2) / w**3, a / w
    north = to_geodetic([1.0, 0.0, 0.0], (51.95, 4.1))
    east = to_geodetic([0.0, 1.0, 0.0], (51.95, 4.1))
    assert math.radians(north[0] - 51.95) == pytest.approx(1.0 / meridian, rel=1e-6)
    assert math.radians(east[1] - 4.1) == pytest.approx(
        1.0 / (prime * math.cos(latitude)), rel=1e-6
    )


def test_the_sea_falls_away_from_the_tangent_plane():
    _, _, height = to_geodetic([10_000.0, 0.0, 0.0], (0.0, 0.0))
    # The meridian at the equator is curved with radius a (1 − e²).
    assert height == pytest.approx(10_000.0**2 / (2 * 6335439.327), rel=1e-5)


def test_many_points_are_converted_at_once():
    ned = np.random.default_rng(3).uniform(-1e4, 1e4, (3, 4, 5))
    latitude, longitude, height = to_geodetic(ned, (51.95, 4.1))
    assert latitude.shape == longitude.shape == height.shape == (4, 5)
    one = to_geodetic(ned[:, 2, 3], (51.95, 4.1))
    assert (latitude[2, 3], longitude[2, 3], height[2, 3]) == one
    np.testing.assert_allclose(to_ned(latitude, longitude, height, (51.95, 4.1)), ned, atol=1e-8)
