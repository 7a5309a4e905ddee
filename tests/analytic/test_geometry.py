"""Grids and meshes against plane geometry."""

import jax
import numpy as np
import pytest

from seatrial.geometry import mesh
from seatrial.geometry.grid import HeightGrid, cast, facet, height_grid

RNG = np.random.default_rng(12)


@pytest.fixture(autouse=True)
def _wide():
    with jax.enable_x64(True):
        yield


def grid_of(function, rows=21, columns=31, origin=(-40.0, 15.0), spacing=(4.0, 2.5)) -> HeightGrid:
    north = origin[0] + spacing[0] * np.arange(rows)[:, None]
    east = origin[1] + spacing[1] * np.arange(columns)[None]
    return height_grid(origin, spacing, function(north, east) + 0.0 * north * east)


def test_a_plane_is_itself_everywhere_on_the_grid():
    grid = grid_of(lambda n, e: 30.0 + 0.2 * n - 0.1 * e)
    x, y = RNG.uniform(-40.0, 40.0, 500), RNG.uniform(15.0, 90.0, 500)
    found = facet(grid, x, y)
    np.testing.assert_allclose(found.depth, 30.0 + 0.2 * x - 0.1 * y, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.north, 0.2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.east, -0.1, rtol=0, atol=1e-12)


def test_the_edge_goes_on_beyond_the_grid():
    grid = grid_of(lambda n, e: 30.0 + 0.2 * n - 0.1 * e)
    inside = facet(grid, 40.0, 50.0).depth
    assert float(facet(grid, 400.0, 50.0).depth) == pytest.approx(float(inside), abs=1e-12)


def test_the_mesh_is_the_surface_that_is_sampled():
    grid = grid_of(lambda n, e: 20.0 + 3.0 * np.sin(0.31 * n) * np.cos(0.47 * e))
    bottom = mesh.bottom_mesh(grid)
    corners = bottom.vertices[bottom.faces]
    share = RNG.dirichlet([1.0, 1.0, 1.0], len(corners))
    points = np.einsum("fk,fkc->fc", share, corners)
    found = facet(grid, points[:, 0], points[:, 1])
    np.testing.assert_allclose(found.depth, points[:, 2], rtol=0, atol=1e-9)
    assert np.all(bottom.normals[:, 2] < 0.0)


def test_a_slanted_beam_meets_a_slope_where_geometry_says():
    grid = grid_of(lambda n, e: 25.0 + 0.3 * n + 0.0 * e)
    start = (np.full(200, 3.0), np.full(200, 50.0), np.full(200, 5.0))
    angles = RNG.uniform(-0.5, 0.5, (2, 200))
    along = np.stack([np.tan(angles[0]), np.tan(angles[1]), np.ones(200)])
    along /= np.linalg.norm(along, axis=0)
    found = cast(grid, start, tuple(along), 60.0, 32)
    exact = (25.0 + 0.3 * 3.0 - 5.0) / (along[2] - 0.3 * along[0])
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-9)


def test_a_beam_over_rough_ground_ends_on_it():
    grid = grid_of(lambda n, e: 20.0 + 2.0 * np.sin(0.31 * n) * np.cos(0.47 * e))
    start = (RNG.uniform(-30, 30, 300), RNG.uniform(25, 80, 300), RNG.uniform(0, 10, 300))
    along = np.stack([*RNG.uniform(-0.6, 0.6, (2, 300)), np.ones(300)])
    along /= np.linalg.norm(along, axis=0)
    found = np.asarray(cast(grid, start, tuple(along), 60.0, 64))
    x, y, z = (p + found * d for p, d in zip(start, along, strict=True))
    np.testing.assert_allclose(np.asarray(facet(grid, x, y).depth), z, rtol=0, atol=1e-3)


def test_a_beam_that_meets_nothing_reaches_its_end():
    grid = grid_of(lambda n, e: 20.0 + 0.0 * n)
    assert float(cast(grid, (0.0, 50.0, 5.0), (0.0, 0.0, 1.0), 10.0, 8)) == 10.0
    assert float(cast(grid, (0.0, 50.0, 5.0), (0.0, 0.0, -1.0), 10.0, 8)) == 10.0
    assert float(cast(grid, (0.0, 50.0, 25.0), (0.0, 0.0, 1.0), 10.0, 8)) == 0.0


def volume(shape: mesh.Mesh) -> float:
    """By the divergence theorem; negative for a mesh that is inside out."""
    a, b, c = (shape.vertices[shape.faces[:, i]] for i in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6.0)


@pytest.mark.parametrize("radius", [0.1, 2.0, 20.0])
def test_facets_of_round_bodies_lie_hardly_inside_them(radius):
    ball = mesh.sphere(radius)
    inside = radius - np.linalg.norm(ball.vertices[ball.faces].mean(axis=1), axis=1)
    assert inside.min() >= 0.0
    assert inside.max() < 2.2 * mesh.TOLERANCE  # a facet bends both ways
    pile = mesh.cylinder(radius, 3.0)
    walls = pile.faces[np.abs(pile.normals[:, 2]) < 0.5]
    inside = radius - np.linalg.norm(pile.vertices[walls].mean(axis=1)[:, :2], axis=1)
    assert inside.max() < mesh.TOLERANCE


@pytest.mark.parametrize(
    ("shape", "expected", "error"),
    [
        (mesh.box((2.0, 3.0, 4.0)), 24.0, 1e-12),
        (mesh.cylinder(1.5, 2.0, 256), np.pi * 1.5**2 * 2.0, 2e-3),
        (mesh.sphere(2.0, 64), 4.0 / 3.0 * np.pi * 8.0, 2e-2),
        (mesh.prism(np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), -1.0, 4.0), 15.0, 1e-12),
        (mesh.prism(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 2.0]]), -1.0, 4.0), 15.0, 1e-12),
    ],
)
def test_meshes_are_closed_and_turned_outwards(shape, expected, error):
    assert volume(shape) == pytest.approx(expected, rel=error)
    edges = np.concatenate([shape.faces[:, [0, 1]], shape.faces[:, [1, 2]], shape.faces[:, [2, 0]]])
    there = {tuple(e) for e in edges.tolist()}
    assert len(there) == len(edges)
    assert all((b, a) in there for a, b in there)
