"""Rays against plane geometry, against triangles one by one, and against themselves elsewhere."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

from seatrial.engine.exchange import taps
from seatrial.geometry import mesh, rays
from seatrial.geometry.bodies import Body, Timetable
from seatrial.geometry.grid import facet, height_grid
from seatrial.geometry.materials import MATERIAL_NAMES, MATERIALS, material_column
from seatrial.geometry.rays import BOTTOM, RayScene
from seatrial.geometry.triangles import Triangles
from seatrial.signals import PayloadInfo
from seatrial.validation.timing import rays as ray_timing

NORTH, EAST, DOWN = np.eye(3)
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
NOTHING = -1


def random_directions(rng, count):
    found = rng.standard_normal((count, 3))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def one(scene, origin, direction, **given):
    """Distance, normal, body and name of the material that one ray meets."""
    unit = np.asarray(direction, float) / np.linalg.norm(direction)
    hits = scene.cast(np.atleast_2d(np.asarray(origin, float)), unit[None], **given)
    if not len(hits.ray):
        return np.inf, np.zeros(3), NOTHING, ""
    return hits.distance[0], hits.normal[0], int(hits.body[0]), MATERIAL_NAMES[hits.material[0]]


def brute_force(shape, origins, directions):
    """Möller and Trumbore (1997), every ray against every triangle, in double precision."""
    a, b, c = (shape.vertices[shape.faces[:, i]] for i in range(3))
    along, across = b - a, c - a
    p = np.cross(directions[:, None], across)
    determinant = np.einsum("fc,rfc->rf", along, p)
    from_a = origins[:, None] - a
    u = np.einsum("rfc,rfc->rf", from_a, p) / determinant
    q = np.cross(from_a, along)
    v = np.einsum("rc,rfc->rf", directions, q) / determinant
    t = np.einsum("fc,rfc->rf", across, q) / determinant
    inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 0.0)
    return np.where(inside, t, np.inf).min(axis=1)


@pytest.mark.parametrize("shift", [0.0, 3_000.0, 50_000.0])
def test_random_triangles_are_met_where_each_of_them_is(shift):
    rng = np.random.default_rng(4)
    vertices = (
        rng.uniform(-80.0, 80.0, (300, 1, 3)) + rng.uniform(-16.0, 16.0, (300, 3, 3))
    ).reshape(-1, 3)
    faces = np.arange(900).reshape(-1, 3)
    offset = np.array([shift, -shift, 0.0])
    body = Body("rubble", "mesh", position=offset, vertices=vertices, faces=faces)
    origins, directions = rng.uniform(-60.0, 60.0, (1500, 3)), random_directions(rng, 1500)
    hits = RayScene([body]).cast(origins + offset, directions)
    expected = brute_force(mesh.Mesh(vertices, faces), origins, directions)
    assert 300 < np.isfinite(expected).sum() < 1400
    np.testing.assert_array_equal(hits.ray, np.flatnonzero(np.isfinite(expected)))
    np.testing.assert_allclose(hits.distance, expected[hits.ray], rtol=0, atol=1e-6)
    ahead = np.einsum("rc,rc->r", hits.normal, directions[hits.ray])
    np.testing.assert_allclose(ahead, -hits.cosine, rtol=0, atol=1e-6)
    assert np.all(ahead < 0.0)
    np.testing.assert_allclose(np.linalg.norm(hits.normal, axis=1), 1.0, atol=1e-12)


def test_a_body_far_from_the_others_is_met_to_the_millimetre():
    near, far = (
        Body(n, "box", length=4, beam=4, height=4, position=np.array([x, x, 0.0]))
        for n, x in (("near", 0.0), ("far", 8_000.0))
    )
    rng = np.random.default_rng(5)
    target = np.column_stack(
        [
            np.full(500, 7998.0),
            8000.0 + rng.uniform(-1.9, 1.9, (500, 1)),
            rng.uniform(-1.9, 1.9, 500),
        ]
    )
    origins = np.tile([7800.0, 7990.0, -3.0], (500, 1))
    way = target - origins
    distance = np.linalg.norm(way, axis=1)
    hits = RayScene([near, far]).cast(origins, way / distance[:, None])
    assert hits.body.tolist() == [1] * 500
    np.testing.assert_allclose(hits.distance, distance, rtol=0, atol=1e-6)
    np.testing.assert_allclose(hits.normal, np.tile(-NORTH, (500, 1)), atol=1e-12)


def test_a_flat_bottom_is_a_plane():
    scene = RayScene([], bottom=20.0, bottom_material="mud")
    distance, normal, body, material = one(scene, [1e6, -1e6, 5.0], [1.0, 0.0, 1.0])
    assert distance == pytest.approx(15.0 * np.sqrt(2.0), rel=1e-12)
    assert (normal == -DOWN).all()
    assert (body, material) == (BOTTOM, "mud")
    assert one(scene, [0.0, 0.0, 5.0], NORTH)[::2] == (np.inf, NOTHING)
    assert one(scene, [0.0, 0.0, 5.0], -DOWN)[0] == np.inf
    assert one(scene, [0.0, 0.0, 5.0], DOWN, reach=14.0)[0] == np.inf
    assert RayScene([]).cast(np.zeros((3, 3)), np.eye(3)).ray.tolist() == []


def test_every_shape_is_where_it_is_described():
    half = np.sqrt(0.5)
    bodies = [
        Body(
            "pier",
            "box",
            length=10,
            beam=2,
            height=6,
            position=np.array([50.0, 0.0, 0.0]),
            attitude=np.array([half, 0.0, 0.0, half]),
            material="wood",
        ),
        Body(
            "buoy", "sphere", radius=1.0, position=np.array([-30.0, 0.0, 0.5]), material="plastic"
        ),
        Body("pile", "cylinder", radius=0.5, height=8.0, position=np.array([0.0, 30.0, 1.0])),
        Body(
            "rock",
            "circle",
            radius=3.0,
            height=15.0,
            outline=np.array([[0.0, -40.0]]),
            position=np.array([0.0, -40.0, 4.5]),
        ),
        Body(
            "quay",
            "polygon",
            height=15.0,
            outline=np.array([[200.0, -50.0], [200.0, 50.0], [260.0, 50.0], [260.0, -50.0]]),
            position=np.array([230.0, 0.0, 4.5]),
        ),
    ]
    scene = RayScene(bodies, bottom=12.0)
    assert one(scene, [0, 0, 0], [1, 0.01, 0])[0] == pytest.approx(
        49.0 * np.hypot(1, 0.01), rel=1e-6
    )
    assert one(scene, [0, 0, 0], [1, 0.01, 0])[2:] == (0, "wood")
    assert one(scene, [0, 0, 0.5], -NORTH)[0] == pytest.approx(29.0, abs=0.01)  # facets of a sphere
    assert one(scene, [0, 0, 0.5], -NORTH)[3] == "plastic"
    assert one(scene, [0, 0, 4.9], EAST)[0] == pytest.approx(29.5, abs=0.005)
    assert one(scene, [0, 0, 5.1], EAST)[0] == np.inf
    distance, normal, body, material = one(scene, [0, 0, 11.9], -EAST)
    assert distance == pytest.approx(37.0, abs=0.02)
    assert normal[1] == pytest.approx(1.0, abs=0.01)
    assert (body, material) == (3, "concrete")
    assert one(scene, [0, 0, -2.9], -EAST)[2] == 3
    assert one(scene, [0, 0, -3.1], -EAST)[2] == NOTHING
    assert one(scene, [100, 0, 0], NORTH)[::2] == (pytest.approx(100.0, abs=1e-5), 4)
    assert one(scene, [230, 0, -10], DOWN)[0] == pytest.approx(7.0, abs=1e-5)  # its roof


def test_a_vessel_is_met_where_she_then_is():
    motion = Timetable(
        np.array([0.0, 10.0]),
        np.array([[100.0, -20.0], [100.0, 20.0]]),
        np.array([[0.0, 4.0], [3.0, 0.0]]),
    )
    ship = Body("ship", "vessel", length=12.0, beam=4.0, height=5.0, motion=motion)
    scene = RayScene([ship], bottom=30.0)
    # She heads east: at t = 5 she lies across the ray, 2 m of half beam nearer than her middle.
    assert one(scene, [0, 0, 0], NORTH, t=5.0)[::2] == (pytest.approx(98.0, abs=1e-9), 0)
    assert one(scene, [0, 0, 0], NORTH, t=0.0)[0] == np.inf
    # On her second stretch she heads north, with her stern towards us.
    assert one(scene, [0, 20, 0], NORTH, t=14.0)[0] == pytest.approx(112.0 - 6.0, abs=1e-9)
    assert one(scene, [0, 0, 0], NORTH, t=5.0, reach=90.0)[0] == np.inf
    assert one(scene, [0, 0, -3.1], NORTH, t=5.0)[0] == np.inf  # above her
    # During a sweep each ray sees her where she was then: her bow comes by at t = 3.5.
    times = np.array([3.4, 3.6, 6.4, 6.6])
    hits = scene.cast(np.zeros((4, 3)), np.tile(NORTH, (4, 1)), times)
    assert hits.ray.tolist() == [1, 2]


def test_other_vehicles_are_met_in_their_attitude_and_the_own_one_is_not():
    boats = [Body(n, "vehicle", length=4.0, beam=2.0, height=1.0) for n in ("own", "other")]
    pillar = Body(
        "pillar", "cylinder", radius=1.0, height=50.0, position=np.array([60.0, 0.0, 0.0])
    )
    scene = RayScene([boats[0], pillar, boats[1]], bottom=50.0)
    assert scene.vehicles == [0, 2]
    rolled = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])  # on her side: 1 m wide, 2 m high
    poses = np.array([np.full(7, np.nan), [20.0, 0.0, 0.0, *rolled]])
    distance, normal, body, material = one(scene, [19.0, -10.0, 0.9], EAST, others=poses)
    assert distance == pytest.approx(9.5, abs=1e-9)
    np.testing.assert_allclose(normal, -EAST, atol=1e-9)
    assert (body, material) == (2, "aluminium")
    assert one(scene, [0.0, 0.0, 0.0], NORTH, others=poses)[::2] == (
        pytest.approx(18.0, abs=1e-9),
        2,
    )
    assert one(scene, [0.0, 0.0, 0.0], NORTH)[2] == 1
    poses[1, :3] = (80.0, 0.0, 0.0)  # behind the pillar
    assert one(scene, [0.0, 0.0, 0.0], NORTH, others=poses)[2] == 1


@pytest.fixture
def rough():
    rng = np.random.default_rng(8)
    with jax.enable_x64(True):
        yield height_grid((-40.0, 15.0), (4.0, 2.5), 20.0 + rng.uniform(-2.0, 2.0, (41, 61)))


def test_rays_end_on_the_bottom_that_the_compiled_loop_samples(rough):
    rng = np.random.default_rng(9)
    origins = np.column_stack(
        [rng.uniform(-90, 190, 800), rng.uniform(-50, 250, 800), rng.uniform(0, 12, 800)]
    )
    directions = np.column_stack([rng.uniform(-3, 3, (800, 2)), np.ones(800)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    hits = RayScene([], rough, "rock").cast(origins, directions)
    assert hits.body.tolist() == [BOTTOM] * 800
    x, y, z = (origins + hits.distance[:, None] * directions).T
    found = facet(rough, x, y)
    np.testing.assert_allclose(found.depth, z, rtol=0, atol=1e-4)
    up = np.column_stack([found.north, found.east, -np.ones(800)])
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    inside = (x > -40.0) & (x < 120.0) & (y > 15.0) & (y < 165.0)
    same = np.abs(up - hits.normal).max(axis=1) < 1e-6
    assert np.mean(same[inside]) > 0.995  # others lie on an edge


def test_a_bottom_in_tiles_is_the_same_bottom(rough, monkeypatch):
    rng = np.random.default_rng(10)
    origins = np.column_stack(
        [rng.uniform(-90, 190, 3000), rng.uniform(-50, 250, 3000), rng.uniform(0, 30, 3000)]
    )
    directions = random_directions(rng, 3000)
    pile = Body("pile", "cylinder", radius=5.0, height=60.0, position=np.array([30.0, 80.0, 0.0]))
    whole = RayScene([pile], rough).cast(origins, directions)
    monkeypatch.setattr(rays, "MOST_FACES", 10)
    monkeypatch.setattr("seatrial.geometry.tiles.CELLS", 16)
    tiled = RayScene([pile], rough).cast(origins, directions)
    assert {BOTTOM, 0} == set(whole.body.tolist())
    assert 500 < len(whole.ray) < 2500
    np.testing.assert_array_equal(tiled.ray, whole.ray)
    np.testing.assert_array_equal(tiled.body, whole.body)
    np.testing.assert_allclose(tiled.distance, whole.distance, rtol=0, atol=1e-6)


@pytest.mark.parametrize("groups", [1, 5])
@pytest.mark.parametrize(("mapped", "depth"), [(True, 2.0), (True, 18.1), (False, 2.0)])
def test_rays_too_short_to_meet_anything_are_left_out_and_nothing_else(
    rough, mapped, depth, groups, monkeypatch
):
    """Whatever is met without a limit is met up to one behind it, and nothing up to one before it;
    a rock lies nearer than most rays go."""
    rng = np.random.default_rng(14)
    rock = Body("rock", "sphere", radius=2.0, position=np.array([35.0, 30.0, depth]))
    pile = Body("pile", "cylinder", radius=2.0, height=60.0, position=np.array([20.0, 15.0, 0.0]))
    scene = RayScene([rock, pile], rough if mapped else None)
    middle = np.array([30.0, 30.0, depth])
    origins = middle + rng.uniform(-0.2, 0.2, (groups, 3))
    directions = random_directions(rng, 30_000).astype(np.float32)
    short = rng.uniform(1.0, 3.2, 30_000)
    reach = np.where(rng.random(30_000) < 0.9, short, 40.0).astype(np.float32)
    cast: list[int] = []
    first = Triangles.first

    def counted(self, origins, directions, reach, some=None):
        cast.append(len(directions) if some is None else len(some))
        return first(self, origins, directions, reach, some)

    monkeypatch.setattr(Triangles, "first", counted)
    told = scene.cast(origins, directions, reach=reach)
    # From under the shallowest place of the bottom any ray may meet it.
    assert (cast[0] < 25_000) == (not mapped or depth < 10.0)
    whole = scene.cast(origins, directions)
    there = whole.distance <= reach[whole.ray]
    assert 200 < there.sum() < len(there)
    np.testing.assert_array_equal(told.ray, whole.ray[there])
    np.testing.assert_array_equal(told.distance, whole.distance[there])
    np.testing.assert_array_equal(told.body, whole.body[there])


def test_rays_do_not_depend_on_those_beside_them(rough):
    rng = np.random.default_rng(11)
    origins, directions = rng.uniform(0, 60, (1000, 3)) * (1, 1, 0.2), random_directions(rng, 1000)
    ship = Body(
        "ship",
        "vessel",
        length=30.0,
        beam=9.0,
        motion=Timetable(np.zeros(1), np.array([[30.0, 40.0]]), np.ones((1, 2))),
    )
    scene = RayScene([ship], rough)
    together = scene.cast(origins, directions, 3.0)
    assert {BOTTOM, 0} == set(together.body.tolist())
    starts = range(0, 1000, 7)
    apart = [scene.cast(origins[i : i + 7], directions[i : i + 7], 3.0) for i in starts]
    apart = [hits._replace(ray=hits.ray + i) for i, hits in zip(starts, apart, strict=True)]
    for part, whole in zip(zip(*apart, strict=True), together, strict=True):
        assert np.concatenate(part).tobytes() == whole.tobytes()


def test_samples_that_are_cast_together_each_see_their_own_instant(rough):
    """Two pings, between which a vessel and another vehicle move on."""
    rng = np.random.default_rng(12)
    ship = Body(
        "ship",
        "vessel",
        length=30.0,
        beam=9.0,
        motion=Timetable(np.zeros(1), np.array([[30.0, 40.0]]), np.array([[9.0, 4.0]])),
    )
    boat = Body("boat", "vehicle", length=12.0, beam=6.0, height=4.0)
    scene = RayScene([ship, boat], rough)
    places = rng.uniform(10, 60, (2, 3)) * (1, 1, 0.1)
    directions = random_directions(rng, 8000)
    times = np.array([1.0, 5.0])
    poses = np.zeros((2, 1, 7))
    poses[:, 0, :3], poses[:, 0, 3:] = [[20.0, 20.0, 1.0], [45.0, 10.0, 3.0]], LEVEL
    together = scene.cast(places, directions, times[:, None], poses, 80.0)
    apart = [
        scene.cast(places[k : k + 1], directions[4000 * k :][:4000], times[k], poses[k], 80.0)
        for k in (0, 1)
    ]
    assert {BOTTOM, 0, 1} == set(apart[0].body.tolist()) == set(apart[1].body.tolist())
    apart = [hits._replace(ray=hits.ray + 4000 * k) for k, hits in enumerate(apart)]
    for part, whole in zip(zip(*apart, strict=True), together, strict=True):
        assert np.concatenate(part).tobytes() == whole.tobytes()


@pytest.mark.parametrize("way", [0.0, 3.0])
def test_no_ray_that_meets_what_moves_is_left_out(rough, way):
    """Many small vessels, with rays in fans as sensors have them, beside the same ones moored; from
    one place and from several along a way."""
    rng = np.random.default_rng(13)
    places = np.column_stack([rng.uniform(0, 60, (40, 2)), np.zeros(40)])
    azimuth, elevation = np.meshgrid(np.linspace(0, 6.2, 200), np.linspace(-0.4, 0.6, 24))
    level = np.cos(elevation)
    directions = np.stack(
        [level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)]
    ).reshape(3, -1)
    found = []
    for moves in (True, False):
        bodies = [
            Body(
                str(i),
                "sphere",
                radius=1.5,
                position=place,
                motion=Timetable(np.zeros(1), place[None, :2], np.zeros((1, 2))) if moves else None,
            )
            for i, place in enumerate(places)
        ]
        origins = [30.0, 30.0, -1.0] + way * np.linspace(0.0, 1.0, 24)[:, None] * [1.0, 0.5, 0.1]
        found.append(RayScene(bodies, rough).cast(origins, directions.T.astype(np.float32)))
    moved, moored = found
    assert len(set(moored.body.tolist())) > 20
    np.testing.assert_array_equal(moved.ray, moored.ray)
    assert np.mean(moved.body == moored.body) > 0.999  # others graze an edge
    np.testing.assert_allclose(moved.distance, moored.distance, rtol=1e-4)


def test_every_material_has_its_row():
    assert tuple(MATERIALS) == MATERIAL_NAMES
    assert material_column("radar")[MATERIAL_NAMES.index("steel")] == 1.0
    for material in MATERIALS.values():
        assert 0.0 < material.reflectance < 1.0
        assert 0.0 < material.reflection < 1.0
        assert 0.0 < material.radar <= 1.0


@pytest.mark.parametrize("cores", [1, 2, 16])
@pytest.mark.parametrize("count", [1, 2, 20, 40, 64, 65, 200])
def test_small_samples_are_shared_out_evenly_large_ones_one_by_one(monkeypatch, cores, count):
    """Forty pings in portions of 32 and 8 would leave one of two cores idle most of the time."""
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    small, large = (
        SimpleNamespace(payload=PayloadInfo("cloud", (beams, 6), "float32", "1"))
        for beams in (512, 65536)
    )
    size = taps.samples_together(small, count)
    parts = [min(size, count - first) for first in range(0, count, size)]
    assert max(parts) <= taps.PART
    busiest = max(sum(parts[core::cores]) for core in range(cores))
    assert busiest <= -(-count // cores) + len(parts) / cores  # as even as whole samples allow
    assert taps.samples_together(large, count) == 1


@pytest.mark.rest
def test_the_bench_times_every_sensor_beside_embree(monkeypatch):
    """Shares and factors are left to a quiet machine; rays are counted exactly."""
    monkeypatch.setattr("seatrial.validation.timing.rays.REPEATS", 1)
    monkeypatch.setattr("seatrial.validation.timing.rays.SECONDS", 2.0)
    rows = {row["sensor"]: row for row in ray_timing.ray_rows()}
    assert rows["lidar_64x1024"]["rays"] == 20 * 64 * 1024
    assert rows["depth_camera_640x480"]["rays"] == 10 * 640 * 480
    assert {"side_scan", "mechanical_sonar", "radar_image"} < set(rows)
    together = sum(rows[name]["rays"] for name in ray_timing.TOGETHER)
    assert rows["together"]["rays"] == together
    for row in rows.values():
        assert 2.0 * row["rays_per_s"] == pytest.approx(row["rays"] * row["real_time_factor"])
        assert row["share_of_raw"] == pytest.approx(row["rays_per_s"] / row["raw_rays_per_s"])
        assert min(row["share_of_ended"], row["share_in_processor_time"]) > 0.0
