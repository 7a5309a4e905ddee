"""The depth camera against the pin-hole, Brown's lens, and its noise."""

import math

import jax
import numpy as np
import pytest

import craft
from instruments import fit
from seatrial.errors import SpecError
from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import waves as ocean_waves
from seatrial.render.lens import Distortion, pixel_rays
from seatrial.sensors.tap import Views

CALM = craft.ocean_of(seabed={"depth": 30.0})
WALL = Body(
    "wall", "box", length=2.0, beam=400.0, height=400.0, position=np.array([11.0, 0.0, 0.0])
)
LENS = {"k1": -0.2, "k2": 0.05, "k3": -0.01, "p1": 0.002, "p2": -0.003}


def camera(bodies=(WALL,), fidelity="ideal", ocean=CALM, **described):
    given = {"width": 64, "height": 48, "field_of_view": 1.2, **described}
    return fit("depth_camera", ocean, 5.0, rays=RayScene(bodies, 30.0), fidelity=fidelity, **given)


def image(built, position=(0.0, 0.0, -5.0), attitude=(1.0, 0.0, 0.0, 0.0), number=0, ocean=CALM):
    view = Views(
        np.array([position]),
        np.array([attitude]),
        np.array([number]),
        np.array([[1, 2]], np.uint32),
    )
    found = built.dense.expand(view, ocean)
    return found.payload[0].astype(np.float64), found.values[0, 0]


def test_a_wall_square_to_the_axis_has_one_depth():
    depth, nearest = image(camera(), position=(0.0, 0.0, -20.0))
    np.testing.assert_allclose(depth, 10.0, rtol=0, atol=1e-5)
    assert nearest == pytest.approx(10.0, abs=1e-9)


def test_every_pixel_looks_through_the_pinhole():
    """Rolled, pitched and turned before the wall: depth by the plane's equation, pixel by pixel."""
    turn = np.array([0.95, 0.1, 0.15, -0.2])
    turn /= np.linalg.norm(turn)
    matrix = rotation_matrix(turn)
    depth, _ = image(camera(), position=(1.0, 2.0, -15.0), attitude=turn)
    focal = 32.0 / math.tan(0.6)
    u, v = np.meshgrid(np.arange(64) - 31.5, np.arange(48) - 23.5)
    ray = np.stack([np.ones_like(u), u / focal, v / focal], axis=-1) @ matrix.T
    expected = 9.0 / ray[..., 0]  # along the axis, since the ray has depth 1
    surface = 15.0 / ray[..., 2]
    expected = np.where((surface > 0) & (surface < expected), surface, expected)
    np.testing.assert_allclose(depth, expected, rtol=1e-5)


def test_the_lens_is_undone_exactly_and_bends_straight_edges():
    lens = Distortion(**LENS)
    rays = pixel_rays(64, 48, 40.0, lens)
    x, y = rays[:, 1] / rays[:, 0], rays[:, 2] / rays[:, 0]
    seen = np.stack(lens.apply(x, y)).reshape(2, 48, 64)
    np.testing.assert_allclose(seen[0, 0], (np.arange(64) - 31.5) / 40.0, atol=1e-11)
    np.testing.assert_allclose(seen[1, :, 0], (np.arange(48) - 23.5) / 40.0, atol=1e-11)
    plain, _ = image(
        camera(range=100.0), position=(0.0, 0.0, -20.0), attitude=(0.98, 0.0, 0.0, 0.2)
    )
    bent, _ = image(
        camera(range=100.0, **LENS), position=(0.0, 0.0, -20.0), attitude=(0.98, 0.0, 0.0, 0.2)
    )
    assert np.nanmax(np.abs(plain - bent)[np.isfinite(plain) & np.isfinite(bent)]) > 0.2


def test_a_lens_that_folds_the_image_is_refused():
    with pytest.raises(SpecError, match="folds the image"):
        camera(k1=-2.0, field_of_view=2.0)


def test_depths_out_of_reach_are_told_as_such():
    near, _ = image(camera(minimum_range=12.0), position=(0.0, 0.0, -20.0))
    assert np.all(np.isneginf(near))
    far, nearest = image(camera(range=9.0), position=(0.0, 0.0, -20.0))
    assert np.all(np.isposinf(far))
    assert nearest == 9.0


@pytest.mark.parametrize("depth", [-2.0, 2.0])
def test_the_surface_ends_the_view_from_both_sides(depth):
    """Looking down from 2 m above a wavy sea, and up from 2 m below it."""
    ocean = craft.ocean_of(
        waves={"spectrum": "components", "components": [{"amplitude": 0.3, "period": 4.0}]}
    )
    pitch = -0.25 * math.pi if depth < 0 else 0.25 * math.pi
    attitude = (math.cos(pitch), 0.0, math.sin(pitch), 0.0)
    built = camera(bodies=(), ocean=ocean)
    found, _ = image(built, (3.0, 4.0, depth), attitude, 10, ocean)
    world = built.dense.directions.T @ rotation_matrix(attitude).T
    reach = (found.ravel() / built.dense.directions[0])[:, None]
    x, y, z = (np.array([3.0, 4.0, depth]) + reach * world).T
    with jax.enable_x64(True):
        zeta = np.asarray(ocean_waves.elevation(ocean.waves, x, y, 2.0))
    np.testing.assert_allclose(-z, zeta, rtol=0, atol=2e-3)


def test_noise_is_a_clamped_factor_of_the_stated_shares():
    """w = clamp(1 + N, 0.5, 2): half of N lies below 0, P(N < −0.5) = 0.3085 at the lower bound and
    P(N > 1) = 0.1587 at the upper one."""
    built = camera(
        fidelity="nominal", width=200, height=150, noise_low=0.5, noise_high=2.0, field_of_view=0.6
    )
    depth, _ = image(built, position=(0.0, 0.0, -20.0))
    factor = depth.ravel() / 10.0
    assert factor.min() == pytest.approx(0.5, abs=1e-6)
    assert factor.max() == pytest.approx(2.0, abs=1e-6)
    bound = 4.0 * math.sqrt(0.25 / factor.size)
    for share, expected in (
        (np.mean(factor < 0.5 + 1e-6), 0.3085),
        (np.mean(factor < 1.0), 0.5),
        (np.mean(factor > 2.0 - 1e-6), 0.1587),
    ):
        assert share == pytest.approx(expected, abs=bound)
    again, _ = image(built, position=(0.0, 0.0, -20.0))
    other, _ = image(built, position=(0.0, 0.0, -20.0), number=1)
    assert again.tobytes() == depth.tobytes()
    assert other.tobytes() != depth.tobytes()
