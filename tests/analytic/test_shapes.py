"""Signed distances of solids against plane geometry, and of meshes against the solids they copy."""

import math

import jax
import numpy as np
import pytest

from seatrial import cache
from seatrial.geometry import fields, mesh, shapes
from seatrial.geometry.bodies import Body, Timetable
from seatrial.geometry.fields import NODES, distance_field
from seatrial.geometry.solids import build_solids


def solids(*bodies):
    with jax.enable_x64(True):
        return jax.device_put(build_solids(bodies))  # as a compiled scenario does


def measured(made, *points):
    with jax.enable_x64(True):
        at = np.array(points, np.float64).T
        found, normal, row = shapes.distance(made, tuple(at))
        return np.asarray(found), np.stack([np.asarray(n) for n in normal], axis=1), np.asarray(row)


def turned(heading):
    return np.array([math.cos(0.5 * heading), 0, 0, math.sin(0.5 * heading)])


BOX = Body("box", "box", length=4, beam=2, height=1, position=np.array([10.0, 0, 5]))


def test_box_cylinder_and_sphere_are_as_far_as_geometry_says():
    found, normal, _ = measured(solids(BOX), [13, 0, 5], [13, 2, 5], [10, 0.9, 5], [10, 0, 3])
    assert found == pytest.approx([1.0, math.sqrt(2), -0.1, 1.5], abs=1e-8)
    root = math.sqrt(0.5)
    expected = [[1, 0, 0], [root, root, 0], [0, 1, 0], [0, 0, -1]]
    np.testing.assert_allclose(normal, expected, atol=1e-8)
    pile = Body("pile", "cylinder", radius=0.5, height=6, position=np.array([0.0, 0, 3]))
    found, normal, _ = measured(solids(pile), [3, 4, 3], [0.1, 0, 3], [0.2, 0, 7], [1.5, 0, 7])
    assert found == pytest.approx([4.5, -0.4, 1.0, math.sqrt(2)], abs=1e-8)
    np.testing.assert_allclose(normal[0], [0.6, 0.8, 0], atol=1e-8)
    ball = Body("ball", "sphere", radius=2, position=np.array([1.0, 1, 1]))
    found, normal, _ = measured(solids(ball), [1, 1, 5], [1, 2, 1])
    assert found == pytest.approx([2.0, -1.0], abs=1e-8)
    np.testing.assert_allclose(normal, [[0, 0, 1], [0, 1, 0]], atol=1e-8)


def test_a_turned_box_is_the_box_seen_from_turned_places():
    heading = 0.7
    made = solids(Body("box", "box", length=4, beam=2, height=1, position=np.array([3.0, -2, 1]),
                       attitude=turned(heading)))  # fmt: skip
    straight = solids(Body("box", "box", length=4, beam=2, height=1, position=np.zeros(3)))
    c, s = math.cos(heading), math.sin(heading)
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    local = np.random.default_rng(0).uniform(-4, 4, (200, 3))
    found, normal, _ = measured(made, *(local @ rotation.T + [3, -2, 1]))
    expected, along, _ = measured(straight, *local)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(normal, along @ rotation.T, atol=1e-9)


def test_the_nearest_of_many_solids_counts_and_rows_of_padding_never():
    rng = np.random.default_rng(1)
    places = rng.uniform(-50, 50, (11, 3))
    made = solids(*(Body(str(i), "sphere", radius=1.0, position=p) for i, p in enumerate(places)))
    assert made.position.shape == (3, 16)
    points = rng.uniform(-50, 50, (300, 3))
    found, _, row = measured(made, *points)
    away = np.linalg.norm(points[:, None] - places, axis=2)
    assert (row == away.argmin(axis=1)).all()
    np.testing.assert_allclose(found, away.min(axis=1) - 1.0, atol=1e-8)
    with jax.enable_x64(True):
        close = shapes.near(made, tuple(points[:, i] for i in range(3)), 4)
        same, _, _ = shapes.distance(close, tuple(points[:, i] for i in range(3)))
    np.testing.assert_allclose(same, found, atol=1e-12)


def test_a_polygon_is_the_prism_between_its_top_and_bottom():
    corners = np.array([[0.0, 0], [4, 0], [4, 3]])
    for outline in (corners, corners[::-1]):
        made = solids(Body("quay", "polygon", outline=outline, height=10.0,
                           position=np.array([2.0, 1.0, 3.0])))  # fmt: skip
        found, normal, _ = measured(made, [2, -1, 3], [5, 1, 3], [3, 1, 3], [3.5, 0.5, 9])
        assert found[[0, 1, 3]] == pytest.approx([1.0, 1.0, 1.0], abs=1e-9)
        # inside, the long side y = 3/4 x is (3·3/4 − 1) · 4/5 away, the wall at x = 4 one metre
        assert found[2] == pytest.approx(-1.0, abs=1e-9)
        np.testing.assert_allclose(normal[[0, 1]], [[0, -1, 0], [1, 0, 0]], atol=1e-9)


def test_normals_are_the_gradient_of_the_distance():
    rng = np.random.default_rng(2)
    rock = mesh.sphere(1.0, 12)
    made = solids(
        BOX,
        Body("pile", "cylinder", radius=0.5, height=6, position=np.array([0.0, 4, 3]),
             attitude=np.array([math.cos(0.4), math.sin(0.4), 0, 0])),
        Body("ball", "sphere", radius=2, position=np.array([-4.0, 1, 1])),
        Body("rock", "mesh", vertices=rock.vertices, faces=rock.faces,
             position=np.array([4.0, -4, 2])),
    )  # fmt: skip
    points = rng.uniform(-6, 12, (300, 3))
    with jax.enable_x64(True):
        single = jax.vmap(jax.grad(lambda p: shapes.distance(made, (p[0], p[1], p[2]))[0]))
        gradient = np.asarray(single(points))
    _found, normal, row = measured(made, *points)
    assert np.isfinite(gradient).all()
    exact = row != 3  # the field is linear by pieces, its normal made to unit length
    np.testing.assert_allclose(normal[exact], gradient[exact], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-6)


def test_field_of_a_mesh_is_its_distance_within_a_share_of_its_cells():
    ball = mesh.sphere(1.0, 24)  # its corners lie on the ball, its faces 0.5 % of it within
    field = distance_field(ball)
    assert field.values.shape == (NODES,) * 3
    made = solids(Body("ball", "mesh", vertices=ball.vertices, faces=ball.faces,
                       position=np.zeros(3)))  # fmt: skip
    points = np.random.default_rng(3).uniform(-1.25, 1.25, (2000, 3))
    found, normal, _ = measured(made, *points)
    expected = np.linalg.norm(points, axis=1) - 1.0
    near = np.abs(expected) < 0.3
    assert np.abs(found - expected)[near].max() < 0.012
    cosine = np.sum(normal * points, axis=1) / np.linalg.norm(points, axis=1)
    assert cosine[near].min() > 0.98
    block = mesh.box((2.0, 1.0, 0.5))
    made = solids(Body("b", "mesh", vertices=block.vertices, faces=block.faces,
                       position=np.zeros(3)))  # fmt: skip
    straight = solids(Body("b", "box", length=2, beam=1, height=0.5, position=np.zeros(3)))
    points = np.random.default_rng(4).uniform(-1.2, 1.2, (2000, 3))
    found, _, _ = measured(made, *points)
    expected, _, _ = measured(straight, *points)
    cell = float(distance_field(block).spacing.max())
    size = np.array([2.0, 1.0, 0.5])
    within = (np.abs(points) < 0.5 * size + 0.3).all(axis=1)  # beyond it is a lower bound
    outer = (expected > -0.1) & within
    assert np.abs(found - expected)[outer].max() < 0.5 * cell
    # never beyond the surface where a ray would go on by it
    far = np.random.default_rng(5).uniform(-6, 6, (500, 3))
    far_found, far_expected = measured(made, *far)[0], measured(straight, *far)[0]
    assert (far_found <= far_expected + 0.5 * cell).all()


def test_a_field_is_kept_and_a_thousand_seeds_are_not(monkeypatch, tmp_path):
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(fields, "_kept", set())
    made = []
    original = fields._made
    monkeypatch.setattr(fields, "_made", lambda mesh: made.append(mesh) or original(mesh))
    block = mesh.box((2.0, 1.0, 0.5))
    first, again = distance_field(block), distance_field(block)
    assert len(made) == 1
    for one, other in zip(first, again, strict=True):
        assert one.tobytes() == other.tobytes()
    other = mesh.box((2.0, 1.0, np.nextafter(0.5, 1.0)))
    monkeypatch.setattr(fields, "MOST_KEPT", 1)
    distance_field(other)
    distance_field(other)
    assert len(made) == 3
    assert [entry.kind for entry in cache.entries()] == ["field"]


def test_rays_meet_solids_where_geometry_says():
    made = solids(BOX, Body("ball", "sphere", radius=1, position=np.array([0.0, 10, 0])))
    with jax.enable_x64(True):
        start = (np.zeros(4), np.zeros(4), np.array([5.0, 0, 5, 5]))
        root = math.sqrt(0.5)
        along = (np.array([1.0, 0, 0, root]), np.array([0.0, 1, 0, root]), np.array([0.0, 0, 1, 0]))
        way, row = shapes.cast(made, start, along, 30.0, 64)
    assert np.asarray(way) == pytest.approx([8.0, 9.0, 30.0, 30.0], abs=2e-3)
    assert np.asarray(row).tolist() == [0, 1, -1, -1]


def test_solids_on_a_path_are_where_their_body_says_and_look_ahead():
    way = Timetable(
        np.array([0.0, 10.0]), np.array([[0.0, 0], [20, 0]]), np.array([[2.0, 0], [0, 1]])
    )
    ferry = Body("ferry", "box", length=8, beam=2, height=2, motion=way,
                 position=np.array([0.0, 0, 0.5]))  # fmt: skip
    made = solids(ferry, BOX)
    for t in (0.0, 4.0, 17.0):
        with jax.enable_x64(True):
            now = shapes.placed(made, t)
        place, rotation = ferry.pose(t)
        np.testing.assert_allclose(np.asarray(now.position)[:, 0], place, atol=1e-12)
        np.testing.assert_allclose(np.asarray(now.axes)[:, 0], rotation.ravel(), atol=1e-12)
        np.testing.assert_allclose(np.asarray(now.velocity)[:2, 0], way.at(t)[1])
        assert not np.asarray(now.velocity)[:, 1].any()
