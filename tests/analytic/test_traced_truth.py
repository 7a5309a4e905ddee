"""Truths of pictures: depth, normals, masks, shadow and flow against each other and against
what Mitsuba itself meets."""

import math
from dataclasses import replace

import numpy as np
import pytest

import craft
from seatrial.geometry.bodies import Body, Timetable
from seatrial.geometry.rays import RayScene
from seatrial.geometry.terrain import terrain
from seatrial.hull.shape.shells import volume
from seatrial.ocean import Ocean
from seatrial.render.appearance import BLACK, WHITE
from seatrial.render.lens import Distortion
from seatrial.render.live.draw import draw
from seatrial.render.picture import BOTTOM, FIRST_BODY, SURFACE, Lens, Light, Shot, Stage
from seatrial.render.sky import Sky
from seatrial.render.traced.backend import mitsuba
from seatrial.render.traced.settings import Bounces, Tracing
from seatrial.render.traced.things import meshes, surfaces
from seatrial.render.traced.things.edges import rolled
from seatrial.render.traced.things.props import Props
from seatrial.render.traced.things.snow import BOX, flakes
from seatrial.render.traced.tracer import Tracer
from seatrial.render.traced.truth import Truth
from seatrial.render.traced.view import View
from seatrial.render.water import medium

NIGHT = Sky(-0.5, 0.0)


def turned(yaw, pitch):
    a, b = 0.5 * yaw, 0.5 * pitch
    return np.array(
        [math.cos(a) * math.cos(b), -math.sin(a) * math.sin(b),
         math.cos(a) * math.sin(b), math.sin(a) * math.cos(b)]
    )  # fmt: skip


def reef():
    """A rolling bottom with a box, a ball and a pipe, 20 m down."""
    north = np.linspace(-10.0, 30.0, 60)
    depth = 20.0 + 0.6 * np.sin(0.7 * north[:, None]) * np.cos(0.5 * north[None])
    bottom = terrain((-10.0, -20.0), (40.0 / 59, 40.0 / 59), depth).grid()
    bodies = [
        Body("box", "box", length=1.0, beam=2.0, height=1.5, position=np.array([6.0, 1.0, 18.5]),
             attitude=turned(0.4, 0.0), material="steel", kind="crate"),
        Body("ball", "sphere", radius=0.7, position=np.array([5.0, -1.5, 18.0])),
        Body("pipe", "cylinder", radius=0.3, height=4.0, position=np.array([9.0, 0.0, 18.5]),
             attitude=np.array([math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0]), material="steel"),
    ]  # fmt: skip
    return Stage(RayScene(bodies, bottom), Ocean(water=None), NIGHT, medium("II"))


def camera(north=0.0, east=0.0, yaw=0.0, width=48, lens=None):
    lens = lens or Lens(width, 36, 0.8 * width, Distortion(k1=-0.12, p1=0.004))
    return Shot(np.array([north, east, 17.0]), turned(yaw, -0.2), 0.0, lens)


def back_projected(shot, depth):
    """(P, 3) from a depth along the camera's axis, by the lens alone."""
    rays = shot.lens.rays
    return (depth.ravel() / rays[:, 0])[:, None] * rays


def test_depths_of_two_frames_agree_with_the_known_motion_to_a_millimetre():
    """Each frame's depth becomes points; carried over by the known motion, the points of the first
    lie on what the second sees in their direction, and nowhere before it."""
    stage, first, second = reef(), camera(), camera(0.6, 0.4, 0.15)
    views = View(first), View(second)
    depth = Truth(stage, first).passes()["depth"].astype(np.float64)
    solid = Truth(stage, first).instance >= BOTTOM
    depth[~solid.reshape(depth.shape)] = 1.0
    points = views[0].position + back_projected(first, depth) @ views[0].axes.T
    off = points - views[1].position
    far = np.linalg.norm(off, axis=1)
    hits = stage.rays.cast(views[1].position[None], off / far[:, None])
    seen = np.full(len(far), np.inf)
    seen[hits.ray] = hits.distance
    visible = solid & (seen > far - 1e-3)
    assert visible.mean() > 0.5
    assert seen[visible] == pytest.approx(far[visible], abs=1e-3)
    # And the flow leads to the pixel in which the second frame has them.
    flow = Truth(stage, first).flow(second)
    rows, columns = np.mgrid[0:36, 0:48]
    local = off @ views[1].axes
    x, y = second.lens.distortion.apply(local[:, 1] / local[:, 0], local[:, 2] / local[:, 0])
    expected = np.stack([38.4 * x + 23.5, 38.4 * y + 17.5], axis=1).reshape(36, 48, 2)
    landed = flow + np.stack([columns, rows], axis=2)
    flat = solid.reshape(36, 48)
    assert landed[flat] == pytest.approx(expected[flat], abs=2e-3)


def test_mitsuba_meets_what_the_rays_of_contact_meet():
    """Distance, facing and owner of what lies in every pixel are the same in both scenes."""
    stage, shot = reef(), camera(lens=Lens(24, 18, 20.0))
    truth, view = Truth(stage, shot), View(shot)
    mi = mitsuba()
    made = Props(stage, 0).at(view, truth, None)()
    scene = mi.load_dict({"type": "scene", **{f"s{k}": s for k, s in enumerate(made)}})
    owner = {f"s{k}": instance for k, instance in enumerate((2, *range(FIRST_BODY, 6)))}
    wrong = 0
    for pixel, ray in enumerate(view.rays):
        si = scene.ray_intersect(mi.Ray3f(view.position.tolist(), ray.tolist()))
        if truth.instance[pixel] < BOTTOM:
            assert not si.is_valid()
            continue
        if not si.is_valid() or owner[si.shape.id()] != truth.instance[pixel]:
            wrong += 1
            continue
        assert si.t == pytest.approx(truth.distance[pixel], abs=2e-3)
        assert np.array(si.n) @ truth.surface_normal[pixel] == pytest.approx(1.0, abs=1e-3)
    assert wrong <= 1  # an edge may fall to either side


def test_what_vertices_say_is_right_on_needles_too():
    """A bottom goes on for 20 km beyond its grid in cells as wide as those of the grid: how much
    of it is rock comes from the corners by linear interpolation, near and far."""
    north = 0.3 * np.arange(41)
    ridges = 10.0 + 0.8 * np.maximum(np.sin(2.0 * north), 0.0)[:, None] * np.ones(41)
    ridges += 1e-3 * (north[:, None] + north)  # no two rows are the same, and none is left out
    grid = terrain((0.0, 0.0), (0.3, 0.3), ridges).grid()
    mi = mitsuba()
    look = meshes.Look(mi.load_dict(surfaces.even_plan(np.ones(3))), None)
    made = meshes.bottom_mesh(grid, np.zeros(2), look)
    scene = mi.load_dict({"type": "scene", "bottom": made})
    rock = mi.load_dict({"type": "mesh_attribute", "name": "vertex_rock"})
    corners = np.array(mi.traverse(made)["vertex_rock"]).reshape(43, 43)
    assert np.ptp(corners[1:-1, 0]) > 0.5
    for east in (-1.0, -300.0, -5000.0):
        for along in np.arange(0.17, 11.9, 0.6):
            ray = mi.Ray3f([float(along), east, 0.0], [0.0, 0.0, 1.0])
            found = rock.eval_1(scene.ray_intersect(ray))
            near = corners[1:-1, :2][np.abs(north - along) <= 0.3]
            assert near.min() - 1e-3 <= found <= near.max() + 1e-3


def test_shadows_lie_where_the_lamp_does_not_see():
    stage, shot = reef(), camera(lens=Lens(48, 36, 40.0))
    lamp = Light(np.array([0.0, -3.0, 15.0]), turned_axis(), 1000.0, 1.0)
    lit = Truth(stage, replace(shot, lights=(lamp,))).shadow()
    dark = Truth(stage, shot).shadow()
    assert set(np.unique(lit)) == {0.0, 1.0}
    assert 0.02 < np.mean(lit == 0.0) < 0.6
    assert np.all(dark == 0.0)
    # A lamp at the camera casts no shadow that the camera sees.
    own = lamp._replace(position=shot.position, direction=View(shot).axes[:, 0])
    truth = Truth(stage, replace(shot, lights=(own,)))
    assert truth.shadow().ravel()[(truth.instance >= BOTTOM) & (truth.distance < 15.0)].min() == 1


def test_the_shadow_of_a_box_is_the_boxs_seen_from_the_lamp():
    """On a flat floor: where the line to the lamp passes through the box, by its six planes."""
    half, middle = np.array([0.5, 0.4, 0.3]), np.array([4.0, 0.5, 18.5])
    box = Body("box", "box", length=1.0, beam=0.8, height=0.6, position=middle)
    stage = Stage(RayScene([box], 20.0), Ocean(water=None), NIGHT, medium("II"))
    lamp = Light(np.array([2.5, 0.0, 15.0]), np.array([0.5, 0.1, 0.86]), 1000.0, 1.2)
    shot = Shot(np.array([4.0, 0.0, 13.0]), turned(0.0, -0.5 * math.pi), 0.0, Lens(40, 30, 40.0))
    truth = Truth(stage, replace(shot, lights=(lamp,)))
    floor = truth.instance == BOTTOM
    at = truth.points[floor]
    enters, leaves = np.zeros(len(at)), np.ones(len(at))
    for axis in range(3):
        way = lamp.position[axis] - at[:, axis]
        ends = [(middle[axis] + side * half[axis] - at[:, axis]) / way for side in (-1.0, 1.0)]
        enters, leaves = (
            np.maximum(enters, np.minimum(*ends)),
            np.minimum(leaves, np.maximum(*ends)),
        )
    hidden = enters < leaves
    assert 20 < hidden.sum() < 0.5 * len(at)
    assert np.array_equal(truth.shadow().ravel()[floor] == 0.0, hidden)


def test_what_moves_flows_by_its_speed_and_what_stands_does_not():
    """A camera that stands sees a vessel pass at 10 m: f v Δt / depth, sideways."""
    way = Timetable(np.zeros(1), np.array([[10.0, -1.0]]), np.array([[0.0, 2.0]]))
    passing = Body("ship", "vessel", length=4.0, beam=2.0, height=2.0, motion=way)
    mark = Body("mark", "box", length=1.0, beam=1.0, height=3.0, position=np.array([8.0, 4.0, 0.0]))
    stage = Stage(RayScene([passing, mark]), Ocean(water=None), Sky(0.5, 0.0), medium("II"))
    shots = [
        Shot(np.array([0.0, 0.0, -0.5]), turned(0.0, 0.0), t, Lens(48, 36, 40.0))
        for t in (0.0, 0.25)
    ]
    truth = Truth(stage, shots[0])
    flow, seen = truth.flow(shots[1]), truth.instance.reshape(36, 48)
    depth = truth.passes()["depth"]
    ship = seen == FIRST_BODY
    assert min(ship.sum(), (seen == FIRST_BODY + 1).sum()) > 20
    assert flow[ship][:, 0] == pytest.approx(40.0 * 0.5 / depth[ship], abs=1e-4)
    assert flow[ship][:, 1] == pytest.approx(0.0, abs=1e-4)
    assert flow[seen == FIRST_BODY + 1] == pytest.approx(0.0, abs=1e-4)


def test_what_leaves_the_sight_of_a_lens_flows_out_of_the_picture_or_nowhere():
    """A camera that turns by 40° between two frames: what the first shows at its left edge is then
    74° off the axis, where Brown's polynomial has come back into the picture. What is shown there
    again, pixels of the second frame know: their rays meet what flowed to them."""
    stage = reef()
    lens = Lens(48, 36, 40.0, Distortion(k1=-0.25))
    first, second = camera(lens=lens), camera(yaw=math.radians(40.0), lens=lens)
    truth = Truth(stage, first)
    rows, columns = np.mgrid[0:36, 0:48]
    landed = truth.flow(second) + np.stack([columns, rows], axis=2)
    known = np.isfinite(landed[..., 0])
    assert 100 < known.sum() < np.isfinite(truth.points[:, 0]).sum()
    inside = known & np.all((landed > 0.0) & (landed < [47.0, 35.0]), axis=2)
    assert inside.sum() > 100
    turned_to = (truth.points.reshape(36, 48, 3)[inside] - second.position) @ View(second).axes
    pixel = np.rint(landed[inside]).astype(int)
    looks = second.lens.rays.reshape(36, 48, 3)[pixel[:, 1], pixel[:, 0]]
    cosine = np.sum(looks * turned_to, axis=1) / np.linalg.norm(turned_to, axis=1)
    assert np.degrees(np.arccos(np.minimum(cosine, 1.0))).max() < 3.0


def test_the_albedo_of_a_board_is_that_of_its_print():
    """Half black, half white, whatever the light: in the live and in the traced picture."""
    cells = np.array([[1.0, 0.0]])
    board = Body(
        "board",
        "box",
        length=0.1,
        beam=4.0,
        height=4.0,
        pattern=cells,
        position=np.array([3.0, 0.0, 15.0]),
        attitude=np.array([0.0, 0.0, 0.0, 1.0]),
    )
    stage = Stage(RayScene([board]), Ocean(water=None), NIGHT, medium("II"))
    shot = Shot(np.array([0.0, 0.0, 15.0]), turned(0.0, 0.0), 0.0, Lens(8, 6, 8.0))
    for drawn in (draw(stage, shot, ("albedo",)), Tracer(stage).render(shot, passes=("albedo",))):
        left, right = drawn["albedo"][:, :3], drawn["albedo"][:, 5:]
        np.testing.assert_allclose(left, WHITE, rtol=0.02)
        np.testing.assert_allclose(right, BLACK, rtol=0.02)


@pytest.mark.parametrize(("down", "pitch"), [(-2.0, -0.3), (3.0, 0.4)])
def test_the_albedo_is_that_of_what_is_met_first_also_where_it_is_the_sea(down, pitch):
    """A pile through the surface, over a bottom that lies in sight without it: above the water and
    below, traced as live, the surface is black, and not what lies behind it."""
    pile = Body("pile", "cylinder", radius=0.6, height=9.0, position=np.array([7.0, 0.5, 0.5]))
    stage = Stage(RayScene([pile], 5.0), Ocean(water=None), Sky(0.6, 0.0), medium("II"))
    shot = Shot(np.array([0.0, 0.0, down]), turned(0.0, pitch), 0.0, Lens(32, 24, 25.0))
    live = draw(stage, shot, ("albedo", "instance"))
    traced = Tracer(stage).render(shot, passes=("albedo", "instance"))
    for drawn in (live, traced):
        sea, seen = drawn["instance"] == SURFACE, drawn["instance"] == FIRST_BODY
        assert min(sea.sum(), seen.sum()) > 20
        assert drawn["albedo"][sea].max() == 0.0
        assert np.median(drawn["albedo"][seen]) > 0.05


@pytest.mark.parametrize(("down", "pitch"), [(-1.5, -0.2), (3.0, 0.3)])
def test_depths_of_the_sea_are_those_of_its_waves_live_and_traced(down, pitch):
    """Within 30 m what the rays of pixels end on lies as high as the sum of the waves there; and
    normals, but for ripples that only rough the surface up, are that sum's slopes."""
    waves = {"spectrum": "jonswap", "significant_height": 0.5, "peak_period": 3.5}
    ocean = craft.ocean_of(waves=waves | {"towards_deg": 60.0})
    stage = Stage(RayScene([]), ocean, Sky(0.6, 0.0), medium("II"))
    place = np.array([0.3, 0.7, down])
    shot = Shot(place, turned(0.0, pitch), 2.0, Lens(48, 36, 45.0))
    traced, live = Truth(stage, shot), draw(stage, shot, ("depth", "instance", "normals"))
    near = (traced.instance == SURFACE) & (traced.distance < 30.0)
    assert near.sum() > 500
    x, y, z = traced.points[near].T
    w = ocean.waves
    parts = (w.amplitude, w.wavenumber, w.direction, w.phase, w.observed)
    amplitude, k, mu, phase, omega = (np.asarray(p, np.float64)[:, None] for p in parts)
    angle = omega * shot.time + phase - k * (np.cos(mu) * x + np.sin(mu) * y)
    assert np.abs(z + (amplitude * np.cos(angle)).sum(axis=0)).max() < 0.02
    north, east = (np.sum(amplitude * k * f(mu) * np.sin(angle), axis=0) for f in (np.cos, np.sin))
    up = np.stack([-north, -east, -np.ones_like(north)], axis=1)
    up *= np.sign(-down) / np.linalg.norm(up, axis=1, keepdims=True)
    assert np.sum(up * traced.surface_normal[near], axis=1).min() > 0.99
    found = traced.passes()
    assert np.array_equal(found["instance"], live["instance"])
    for name in ("depth", "normals"):
        np.testing.assert_allclose(found[name], live[name], atol=1e-4, rtol=1e-4)


def test_from_high_above_live_and_traced_see_the_sea_end_where_it_ends():
    """At 400 m the surface is met as far as 20 km, 2 pixels below the horizon; what lies between
    is nothing, and no bottom."""
    stage = Stage(RayScene([], 5.0), Ocean(water=None), Sky(0.6, 0.0), medium("II"))
    shot = Shot(np.array([0.0, 0.0, -400.0]), turned(0.0, 0.0), 0.0, Lens(8, 48, 100.0))
    names = ("albedo", "instance", "depth")
    live, traced = draw(stage, shot, names), Tracer(stage).render(shot, passes=names)
    assert np.array_equal(live["instance"], traced["instance"])
    assert 20 < (live["instance"][:, 0] == SURFACE).sum() < 24
    np.testing.assert_allclose(traced["depth"], live["depth"], rtol=1e-4)
    for drawn in (live, traced):
        assert drawn["albedo"].max() == 0.0


@pytest.mark.parametrize("distortion", [(-0.25, 0.06, 0.0, 0.01, -0.02), (0.2, 0, 0, 0, 0)])
def test_a_lens_that_distorts_bends_what_is_traced_as_it_bends_the_rest(distortion):
    """A checker in the air by its albedo, evenly lit and by a lamp, beside the live picture by the
    same lens; straight lines would lie pixels off."""
    cells = np.indices((16, 16)).sum(axis=0) % 2.0
    board = Body(
        *("board", "box"), length=0.1, beam=12.0, height=12.0, pattern=cells,
        position=np.array([3.0, 0.0, -15.0]), attitude=np.array([0.0, 0.0, 0.0, 1.0]),
    )  # fmt: skip
    stage = Stage(RayScene([board]), Ocean(water=None), NIGHT, medium("I"))
    lens = Lens(32, 24, 20.0, Distortion(*distortion))
    lamp = Light(np.array([0.0, 0.0, -15.0]), np.array([1.0, 0.0, 0.0]), 1e6, 1.2)
    shot = Shot(np.array([0.0, 0.0, -15.0]), turned(0.0, 0.0), 0.0, lens, (lamp,))
    expected = draw(stage, shot, ("albedo",))["albedo"][..., 1]
    asked = Tracing(32, Bounces(2))
    found = Tracer(stage).render(shot, asked, ("albedo", "uniform", "colour"))
    for name in ("albedo", "uniform"):
        assert np.corrcoef(found[name][..., 1].ravel(), expected.ravel())[0, 1] > 0.98, name
    # Of the lamp there is less towards the edges.
    inner = slice(6, 18), slice(8, 24)
    lit = found["colour"][..., 1][inner].ravel()
    assert np.corrcoef(lit, expected[inner].ravel())[0, 1] > 0.95


def turned_axis():
    axis = np.array([0.8, 0.35, 0.4])
    return axis / np.linalg.norm(axis)


def test_marine_snow_stays_where_it_is_and_streaks_when_passed():
    """The same flakes lie around a camera that comes back; those of one that moves are longer and
    as much darker."""
    still = np.zeros(3)
    here = np.array([3.0, 4.0, 30.0])
    first = flakes(20.0, 5, here, still, still, 2.0, 0.02)
    assert np.array_equal(
        first.mesh.vertices, flakes(20.0, 5, here, still, still, 2.0, 0.02).mesh.vertices
    )
    moved = flakes(20.0, 5, here + np.array([0.5, 0.0, 0.0]), still, still, 2.0, 0.02)
    centres = [
        np.sort(f.mesh.vertices.reshape(-1, 6, 3).mean(axis=1)[:, 0] % BOX) for f in (first, moved)
    ]
    assert len(np.intersect1d(*(c.round(6) for c in centres))) > 0.9 * len(centres[0])
    fast = flakes(20.0, 5, here, np.array([2.0, 0.0, 0.0]), still, 2.0, 0.02)

    def length(found):
        return np.ptp(found.mesh.vertices.reshape(-1, 6, 3)[:, :, 0], axis=1)

    assert (length(fast) - length(first)).mean() == pytest.approx(2.0 * 0.02, rel=0.03)
    assert fast.albedo.mean() < 0.2 * first.albedo.mean()
    assert flakes(0.0, 5, here, still, still, 2.0, 0.02) is None


@pytest.mark.parametrize(
    "body",
    [
        Body("box", "box", length=1.0, beam=0.004, height=3.0),
        Body("cylinder", "cylinder", radius=0.3, height=2.0),
        Body("coin", "cylinder", radius=0.1, height=0.003),
    ],
    ids=lambda body: body.name,
)
def test_rolled_edges_leave_the_surface_and_turn_its_normals(body):
    """The same closed surface as contact's; normals are those of the faces, and halfway between
    two of them along their edge."""
    mesh, normals = rolled(body)
    plain = body.mesh()
    assert volume(mesh) == pytest.approx(volume(plain), rel=1e-9)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx(np.ptp(plain.vertices, axis=0))
    corners = mesh.vertices[mesh.faces]
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = 0.5 * np.linalg.norm(crossed, axis=1)
    crossed /= 2.0 * areas[:, None]
    facing = np.einsum("fkc,fc->fk", normals[mesh.faces], crossed)
    assert facing.min() > math.sqrt(1.0 / 3.0) - 0.02  # at the corner of three faces
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0)
    flat = areas[facing.min(axis=1) > 0.97].sum()
    assert 0.3 * areas.sum() < flat < areas.sum()
    # Halfway between faces: two equal components, or, around a cylinder, the axis has half of it.
    leaning = np.abs(normals[:, 2]) if body.shape == "cylinder" else np.abs(normals).max(axis=1)
    assert np.any(np.abs(leaning - math.sqrt(0.5)) < 1e-6)


def test_the_edge_of_a_box_shines():
    """Two faces at 45° to a lamp at the camera have cos 45° of the light; the edge between them
    faces it, and without its rounding would have no more."""
    box = Body("box", "box", length=0.3, beam=0.3, height=2.0, position=np.array([1.0, 0.0, 50.0]),
               attitude=turned(math.pi / 4, 0.0), material="concrete",
               colour=np.full(3, 0.5))  # fmt: skip
    stage = Stage(RayScene([box]), Ocean(water=None), NIGHT, medium("I"))
    lamp = Light(np.array([0.0, 0.0, 50.0]), np.array([1.0, 0.0, 0.0]), 1000.0, 1.0)
    shot = Shot(np.array([0.0, 0.0, 50.0]), turned(0.0, 0.0), 0.0, Lens(41, 8, 1500.0), (lamp,))
    row = Tracer(stage, seed=1).render(shot, Tracing(1000, Bounces(2)))["colour"].mean(axis=(0, 2))
    beside = 0.5 * (row[:8].mean() + row[-8:].mean())
    assert 1.25 < row[19:22].mean() / beside < 1.45
