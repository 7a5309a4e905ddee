"""Water types, sun and sky, reflection and refraction, against formulas and tables."""

import math
from datetime import datetime

import numpy as np
import pytest

from seatrial.errors import SpecError
from seatrial.geometry import patterns
from seatrial.render import appearance, heat, water
from seatrial.render.optics import cox_munk, glint, mirrored, reflectance, refracted
from seatrial.render.sky import Sky, sun_place
from seatrial.spec.world import World


def fresnel(theta, n):
    """Reflectance of unpolarised light by its two polarisations, angle by angle."""
    inside = math.sin(theta) / n
    if inside >= 1.0:
        return 1.0
    bent = math.asin(inside)
    if theta == 0.0:
        return ((n - 1.0) / (n + 1.0)) ** 2
    s = math.sin(theta - bent) / math.sin(theta + bent)
    p = math.tan(theta - bent) / math.tan(theta + bent)
    return 0.5 * (s * s + p * p)


@pytest.mark.parametrize("n", [1.34, 1.0 / 1.34, 1.2])
def test_reflection_is_fresnels_from_both_sides(n):
    angles = np.radians([0.0, 10.0, 30.0, 45.0, 48.0, 53.3, 60.0, 75.0, 89.0])
    found = reflectance(np.cos(angles).astype(np.float32), n)
    expected = [fresnel(a, n) for a in angles]
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-5)


def test_refraction_is_snells_and_the_mirror_keeps_the_angle():
    theta = np.radians([0.0, 20.0, 50.0, 80.0])
    direction = np.stack([np.sin(theta), 0 * theta, np.cos(theta)]).astype(np.float32)
    normal = np.tile(np.float32([[0], [0], [-1]]), (1, 4))
    bent = refracted(direction, normal, np.cos(theta).astype(np.float32), 1.34)
    np.testing.assert_allclose(np.linalg.norm(bent, axis=0), 1.0, atol=1e-6)
    np.testing.assert_allclose(bent[0], np.sin(theta) / 1.34, atol=1e-6)
    back = mirrored(direction, normal, np.cos(theta).astype(np.float32))
    np.testing.assert_allclose(back, direction * [[1], [1], [-1]], atol=1e-6)


def test_glints_send_back_what_facets_mirror():
    """Over all directions of a sun, a sea with small slopes sends the share R of it to an eye
    above: the integral of glint times the cosine of the sun over the sphere."""
    rng = np.random.default_rng(3)
    variance, count = 0.01, 200_000
    slopes = rng.uniform(-0.5, 0.5, (2, count))
    facet = np.stack([-slopes[0], -slopes[1], -np.ones(count)])
    facet /= np.linalg.norm(facet, axis=0)
    eye = np.array([0.0, 0.0, -1.0])
    sun = 2.0 * (facet.T @ eye) * facet - eye[:, None]
    shine = np.array(
        [
            glint(
                eye.astype(np.float32)[:, None],
                sun[:, i],
                np.float32([[0], [0], [-1]]),
                np.float32([variance]),
                1.34,
            )[0]
            for i in range(0, count, 200)
        ]
    )
    # By reciprocity the same as the light of a sky of radiance 1 that facets mirror to the eye:
    # dΩ of the sun is 4 (n·eye) dω of the facet, and dω is n_up³ d(slopes).
    n_up = -facet[2, ::200]
    solid = 4.0 * n_up * n_up**3
    total = np.mean(shine * solid)
    assert total == pytest.approx(fresnel(0.0, 1.34), rel=0.08)


def test_types_of_water_are_jerlovs():
    """I, IA, 7C and 9C give back his K_d by Kirk's relation; all grow murkier in their order."""
    at = np.array([450.0, 550.0])
    for name, stated in {"I": (0.019, 0.063), "9C": (1.6, 0.63), "7C": (0.89, 0.46)}.items():
        a, b = water.absorption_at(name, at), water.scattering_at(name, at)
        np.testing.assert_allclose(water.daylight_attenuation(a, b), stated, rtol=1e-6)
    for row in (("I", "IA", "IB", "II", "III"), ("1C", "3C", "5C", "7C", "9C")):
        murk = [water.medium(name).attenuation[1] for name in row]
        assert murk == sorted(murk)
        assert all(np.all(water.medium(n).absorption > 0) for n in row)
    clear, coast = water.medium("I").veil, water.medium("9C").veil
    assert np.argmax(clear) == 2  # the open ocean is blue,
    assert np.argmax(coast) == 0  # a muddy coast brown


JERLOV = {
    "IB": "36 33 42 54 72 99 245 315 375 435 580",
    "II": "68 62 70 76 89 115 260 335 400 465 610",
    "III": "135 116 115 116 120 148 295 375 445 520 660",
    "1C": "250 170 140 130 120 150 300 370 450 510 650",
    "3C": "390 290 220 200 190 210 330 400 460 560 710",
    "5C": "560 430 360 310 300 330 400 480 540 650 800",
}
"""1000 K_d from 450 to 700 nm, 1/m (Jerlov 1976, Marine Optics, table XXVII)."""


def test_measured_coefficients_go_with_jerlovs_daylight():
    """K_d of what was measured of types is at most as far from what defines them as the docstring
    of `water` says, and nearer to its own type than to the next but one."""
    at = np.linspace(450.0, 700.0, 11)
    table = {name: 1e-3 * np.array(row.split(), float) for name, row in JERLOV.items()}
    names = list(table)
    for place, name in enumerate(names):
        a, b = water.absorption_at(name, at), water.scattering_at(name, at)
        ratio = water.daylight_attenuation(a, b) / table[name]
        assert np.all((ratio > 0.8) & (ratio < (1.82 if name == "IB" else 1.44))), (name, ratio)
        own = np.abs(np.log(ratio)).mean()
        for other in (*names[: max(place - 1, 0)], *names[place + 2 :]):
            off = np.log(water.daylight_attenuation(a, b) / table[other])
            assert np.abs(off).mean() > own, (name, other)


def test_turbidity_adds_sediment_and_wavelengths_surround_the_bands():
    clear, muddy = water.medium("II"), water.medium("II", 2.0)
    assert muddy.scattering - clear.scattering == pytest.approx(2.0 * 0.51)
    absorbed = 2.0 * 0.041 * np.exp(-0.0123 * (water.BANDS - 443.0))
    assert muddy.absorption - clear.absorption == pytest.approx(absorbed)
    assert np.all(muddy.backscatter > 4.0 * clear.backscatter)
    assert len(clear.parts) == water.PARTS
    spread = np.array([part.absorption for part in clear.parts])
    assert np.all((spread.min(axis=0) < clear.absorption) & (clear.absorption < spread.max(axis=0)))


@pytest.mark.parametrize("name", ["I", "IB", "9C"])
def test_the_phase_function_sends_back_what_the_water_does(name):
    """Henyey and Greenstein's, added up over the backward half, against bb / b."""
    kind = water.medium(name)
    g, cosine = kind.mean_cosine, np.linspace(-1.0, 0.0, 20_001)
    phase = 0.5 * (1.0 - g * g) / (1.0 + g * g - 2.0 * g * cosine) ** 1.5
    backward = np.trapezoid(phase, cosine)
    assert backward == pytest.approx(kind.backscatter.sum() / kind.scattering.sum(), rel=1e-4)


def test_the_fjord_is_the_seeds():
    fjord = water.medium("fjord")
    np.testing.assert_allclose(fjord.scattering, 0.125 * np.array([0.014061, 0.146473, 0.34509]))
    assert fjord.absorption[0] == pytest.approx(0.125 * (1 - 0.014061))
    assert fjord.absorption[2] == 0.0
    assert fjord.mean_cosine == 0.8


def test_the_sun_stands_where_almanacs_put_it():
    """Greenwich at noon of the longest day: 90° − latitude + the obliquity; and west later."""
    high, azimuth = sun_place(datetime.fromisoformat("2026-06-21T12:02Z"), 51.477, 0.0)
    assert math.degrees(high) == pytest.approx(90.0 - 51.477 + 23.436, abs=0.05)
    assert math.degrees(azimuth) == pytest.approx(180.0, abs=0.5)
    later, west = sun_place(datetime.fromisoformat("2026-06-21T20:00+02:00"), 51.477, 0.0)
    assert later < high
    assert 260.0 < math.degrees(west) < 300.0


def test_the_sky_is_blue_overhead_red_at_dusk_and_grey_in_clouds():
    day, dusk, grey = (Sky(math.radians(e), 0.0, c) for e, c in ((50, 0), (3, 0), (50, 1)))
    overhead = np.array([0.0, 0.0, -1.0])
    assert day.radiance(overhead)[2] > 1.5 * day.radiance(overhead)[0]
    assert dusk.sun_irradiance[0] > 3.0 * dusk.sun_irradiance[2]
    assert np.ptp(grey.radiance(overhead)) < 1e-9
    # An overcast sky of three times the radiance overhead: 7/9 π of it fall on a level surface.
    expected = 7.0 / 9.0 * math.pi * grey.radiance(overhead)
    np.testing.assert_allclose(grey.sky_irradiance, expected, rtol=0.01)


def test_a_night_is_as_deep_as_one_likes():
    """By an angle as by a time of day: the sun below −6° leaves no light."""
    deep = World(name="night", light={"sun_elevation_deg": -60, "sun_azimuth_deg": 0}).light
    assert deep.sun_elevation == pytest.approx(math.radians(-60))
    for elevation in (deep.sun_elevation, math.radians(-6.01)):
        sky = Sky(elevation, 0.0)
        assert not np.any([sky.sun_irradiance, sky.sky_irradiance])
    with pytest.raises(SpecError, match=r"in deg, at least -90.* and at most 90"):
        World(name="night", light={"sun_elevation_deg": -100, "sun_azimuth_deg": 0})


def test_the_tabulated_sky_is_the_same():
    rng = np.random.default_rng(0)
    towards = rng.standard_normal((3, 500))
    towards[2] = -np.abs(towards[2])
    towards /= np.linalg.norm(towards, axis=0)
    for cloud in (0.0, 0.4):
        sky = Sky(0.4, 1.0, cloud)
        found = sky.table.radiance(towards.astype(np.float32))
        np.testing.assert_allclose(found, sky.radiance(towards), rtol=0.02)


def test_a_black_body_has_plancks_radiance_in_the_band():
    """Shares of all radiation below λT of 2400 and 4200 µm K are 0.14026 and 0.51600 by the usual
    tables: between 8 and 14 µm at 300 K lies their difference."""
    sigma = 5.670374419e-8
    expected = (0.51600 - 0.14026) * sigma * 300.0**4 / math.pi
    assert heat.radiance(300.0) == pytest.approx(expected, rel=1e-3)
    assert heat.brightness(heat.radiance(np.array([288.2])))[0] == pytest.approx(288.2, abs=1e-3)


def test_flats_are_sand_and_steeps_rock():
    flat, steep = np.array([[0.0], [0.0], [-1.0]]), np.array([[0.0], [0.8], [-0.6]])
    fine = np.float32([1e3])  # a pixel so large that the grain is gone
    place = np.zeros((3, 1))
    sand = appearance.material_index("sand")
    table = appearance.colours()
    on_flat = appearance.bottom_colour(sand, flat, place, fine)[:, 0]
    on_steep = appearance.bottom_colour(sand, steep, place, fine)[:, 0]
    np.testing.assert_allclose(on_flat, table[:, sand], rtol=0.02)
    np.testing.assert_allclose(on_steep, table[:, appearance.material_index("rock")], rtol=0.02)


def test_markers_differ_in_every_turn():
    codes = patterns.dictionary()
    turned = np.stack([np.rot90(codes, k, axes=(1, 2)) for k in range(4)], axis=1)
    flat = turned.reshape(len(codes) * 4, -1)
    apart = np.sum(flat[:, None] != flat[None], axis=2)
    assert np.min(apart + 99 * np.eye(len(flat), dtype=int)) >= patterns.APART
    assert patterns.markers(2, 3).shape == (3 * 8 + 2, 2 * 8 + 2)
    assert not patterns.marker(7)[0].any()


def test_a_board_is_averaged_over_a_pixel():
    checker = np.array([[0.0, 1.0], [1.0, 0.0]])
    low, high = appearance.BLACK, appearance.WHITE

    def seen(u, v, size):
        return appearance.board_albedo(checker, *(np.array([a]) for a in (u, v, size, size)))[0]

    assert seen(0.25, 0.25, 0.1) == pytest.approx(low, abs=1e-6)
    assert seen(0.75, 0.25, 0.1) == pytest.approx(high, abs=1e-6)
    assert seen(0.5, 0.5, 0.2) == pytest.approx(0.5 * (low + high), abs=1e-6)
    # A quarter of the pixel is over the edge.
    assert seen(0.475, 0.25, 0.1) == pytest.approx(low + 0.25 * (high - low), abs=1e-6)


def test_slopes_are_cox_and_munks():
    assert cox_munk(10.0) == pytest.approx(0.0542)
