"""Pictures by shaders against what light, lenses and shutters do: the claims of `test_camera`, and
those that only shaders make."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import test_camera
from test_camera import (
    box,
    picture,
    test_a_calm_sea_mirrors_the_sky_by_fresnel,  # noqa: F401
    test_a_camera_level_with_a_calm_sea_sees_its_surface_and_not_through_it,  # noqa: F401
    test_a_camera_shows_what_it_is_asked_for,  # noqa: F401
    test_a_camera_that_moves_and_sees_nothing_but_sky_takes_its_picture,  # noqa: F401
    test_a_lamp_lights_by_the_square_of_its_distance,  # noqa: F401
    test_a_rolling_shutter_skews_by_the_rate_of_turn,  # noqa: F401
    test_a_shallow_bottom_is_seen_through_a_surface_that_mirrors_most,  # noqa: F401
    test_automatic_exposure_reaches_its_brightness,  # noqa: F401
    test_contrast_under_water_fades_by_beer_and_lambert,  # noqa: F401
    test_far_water_has_the_colour_of_its_veil_and_daylight_fades_with_depth,  # noqa: F401
    test_fog_hides_what_is_beyond_its_visibility,  # noqa: F401
    test_motion_blurs_by_speed_times_exposure,  # noqa: F401
    test_passes_tell_depth_normals_and_what_is_what,  # noqa: F401
    test_snells_window_is_as_wide_as_the_index_says,  # noqa: F401
    test_something_in_the_sun_throws_a_shadow,  # noqa: F401
    test_the_horizon_lies_in_its_row,  # noqa: F401
    test_the_picture_darkens_towards_its_corners,  # noqa: F401
    test_the_same_sample_has_the_same_bytes_alone_or_among_others,  # noqa: F401
    test_the_sun_glints_where_a_mirror_would_show_it,  # noqa: F401
    test_what_stands_out_of_the_water_is_seen_from_below_however_it_is_described,  # noqa: F401
)

import craft
from pictured import turned
from seatrial.geometry.bodies import Body, Timetable
from seatrial.geometry.rays import RayScene
from seatrial.render.live.draw import draw as by_rays
from seatrial.render.picture import FIRST_BODY, Lens, Motion, Shot, Stage
from seatrial.render.renderers import drawing
from seatrial.render.shaders import bodies as on_card
from seatrial.render.shaders.card import card_of
from seatrial.render.shaders.context import on_card as having
from seatrial.render.shaders.programs import CONSTANTS, Programs
from seatrial.render.sky import Sky


@pytest.fixture(autouse=True)
def _by_shaders(monkeypatch, shaders):
    """The functions of `test_camera` draw by shaders."""
    monkeypatch.setattr(test_camera, "draw", drawing("shaders"))
    plain = test_camera.camera
    by_shaders = lambda *given, **more: plain(*given, renderer="shaders", **more)  # noqa: E731
    monkeypatch.setattr(test_camera, "camera", by_shaders)


def both(stage, shot, wanted):
    return by_rays(stage, shot, wanted), drawing("shaders")(stage, shot, wanted)


def test_a_lens_as_wide_as_they_come_sees_what_rays_see():
    """172° across: half of all pixels look at things more than 80° aside."""
    ring = [
        box((9.0 * math.cos(a), 9.0 * math.sin(a), -2.0), (1.0, 1.0, 3.0), name=f"post {k}")
        for k, a in enumerate(np.linspace(-1.4, 1.4, 9))
    ]
    stage = Stage(RayScene(ring, 6.0), test_camera.CALM, test_camera.NOON, test_camera.WATER)
    lens = Lens(400, 200, 200.0 / math.tan(1.5))
    rays, shaders = both(stage, Shot(np.array([0, 0, -2.0]), turned(), 0.0, lens), ("instance",))
    assert len(np.unique(rays["instance"])) > 8
    assert np.mean(rays["instance"] != shaders["instance"]) < 1e-3


def test_a_camera_that_turns_around_while_its_rows_are_taken_sees_what_rays_see():
    """Two thirds of a turn from the first row to the last: no single frame would hold that."""
    ring = [
        box((9.0 * math.cos(a), 9.0 * math.sin(a), -2.0), (1.0, 1.5, 9.0), name=f"post {k}")
        for k, a in enumerate(np.linspace(-3.0, 3.0, 12))
    ]
    stage = Stage(RayScene(ring, 6.0), test_camera.CALM, test_camera.NOON, test_camera.WATER)
    late = np.linspace(-1.0, 1.0, 120)
    motion = Motion(np.array([0.3, 0.1, 0.0]), np.array([0.0, 0.0, 2.1]), late)
    shot = Shot(np.array([0, 0, -2.0]), turned(), 0.0, Lens(160, 120, 100.0), motion=motion)
    rays, shaders = both(stage, shot, ("instance", "depth"))
    same = rays["instance"] == shaders["instance"]
    assert len(np.unique(rays["instance"])) > 8
    assert np.mean(~same) < 0.01
    there = same & np.isfinite(rays["depth"])
    apart = np.abs(rays["depth"][there] - shaders["depth"][there])
    assert np.quantile(apart, 0.98) < 1e-3


def test_what_passes_while_rows_are_taken_is_seen_where_it_is_in_each():
    """A boat that goes 12 m/s to the right, 20 m away: its middle moves on from row to row, and its
    edges, up to a quarter of a pixel off, are those of rays."""
    way = Timetable(np.zeros(1), np.array([[20.0, -12.0]]), np.array([[0.0, 12.0]]))
    boat = Body("boat", "vessel", length=6.0, beam=2.0, height=4.0, motion=way)
    boat = replace(boat, position=np.array([0.0, 0.0, -1.0]))
    stage = Stage(RayScene([boat], 6.0), test_camera.CALM, test_camera.NOON, test_camera.WATER)
    motion = Motion(np.zeros(3), np.zeros(3), np.linspace(-0.5, 0.5, 120))
    shot = Shot(np.array([0, 0, -2.0]), turned(), 1.0, Lens(160, 120, 150.0), motion=motion)
    rays, shaders = both(stage, shot, ("instance",))
    assert np.sum(rays["instance"] == FIRST_BODY) > 500
    edges = np.sum(np.diff(rays["instance"], axis=1) != 0)
    edges += np.sum(np.diff(rays["instance"], axis=0) != 0)
    assert np.sum(rays["instance"] != shaders["instance"]) < 0.25 * edges
    rows, columns = np.nonzero(shaders["instance"] == FIRST_BODY)
    first, last = (columns[rows == row].mean() for row in (rows.min(), rows.max()))
    between = motion.late[rows.max()] - motion.late[rows.min()]
    assert last - first == pytest.approx(12.0 * between / 20.0 * shot.lens.focal_length, abs=1.0)
    assert last - first > 10.0


def test_it_is_as_exact_far_from_the_origin_as_near_it():
    """A million metres away, where single precision knows places to 6 cm."""
    far = np.array([1e6, -1e6, 0.0])
    found = []
    for origin in (np.zeros(3), far):
        eye = origin - [0.0, 0.0, 3.0]
        wall = box(eye + np.array([10.5, 0.0, 0.0]), (1.0, 4.0, 2.0))
        found.append(picture(eye, bodies=(wall,), wanted=("depth",)))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_more_bodies_than_one_block_of_the_table_holds_are_told_apart(monkeypatch):
    def new_programs():
        having(lambda context: setattr(card_of(context), "programs", Programs(context.gl)))

    monkeypatch.setattr(on_card, "ROWS", 8)
    monkeypatch.setitem(CONSTANTS, "BODY_ROWS", 8)
    new_programs()
    posts = [box((10.0, k - 10.0, -2.0), (0.5, 0.5, 3.0), name=f"post {k}") for k in range(20)]
    stage = Stage(RayScene(posts), test_camera.CALM, test_camera.NOON, test_camera.WATER)
    lens = Lens(200, 40, 90.0)
    rays, shaders = both(stage, Shot(np.array([0, 0, -2.0]), turned(), 0.0, lens), ("instance",))
    monkeypatch.undo()
    new_programs()
    assert len(np.unique(rays["instance"])) > 15
    assert np.mean(rays["instance"] != shaders["instance"]) < 1e-3


def test_many_threads_get_the_pictures_that_one_gets():
    wall = box((10.5, 0.0, -3.0), (1.0, 4.0, 2.0))
    stage = Stage(RayScene((wall,), 5.0), craft.calm(), Sky(0.6, 1.0), test_camera.WATER)
    draw, lens = drawing("shaders"), Lens(64, 48, 60.0)
    shots = [Shot(np.array([0.1 * k, 0, -3.0]), turned(2.0 * k), 0.0, lens) for k in range(12)]
    alone = [draw(stage, shot)["colour"].tobytes() for shot in shots]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda shot: draw(stage, shot)["colour"].tobytes(), shots))
    assert alone == together
    assert len(set(alone)) == len(alone)


def test_hundreds_of_pictures_of_ever_new_scenes_and_sizes_leave_nothing_behind():
    """After 60 pictures to warm up, 140 more take less than 10 MB of memory: a scene and the sheets
    of a size would be about 0.3 MB each."""
    draw, sky = drawing("shaders"), Sky(0.6, 1.0)

    def some(count, first):
        for k in range(first, first + count):
            wall = box((10.5, 0.01 * k, -3.0), (1.0, 4.0, 2.0))
            stage = Stage(RayScene((wall,), 5.0), test_camera.CALM, sky, test_camera.WATER)
            lens = Lens(40 + k % 7, 30, 40.0)
            draw(stage, Shot(np.array([0, 0, -3.0]), turned(), 0.0, lens))

    def memory():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    some(60, 0)
    before = memory()
    some(140, 60)
    assert memory() - before < 10e6
