"""Pictures of the camera against what light, lenses, shutters and chips do."""

import math
from dataclasses import replace

import numpy as np
import pytest

import craft
import seatrial as st
from instruments import fit
from seatrial.errors import SpecError
from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.render import heat
from seatrial.render.live.draw import draw
from seatrial.render.live.surface import surface_at
from seatrial.render.picture import FIRST_BODY, Lens, Light, Shot, Stage, categories
from seatrial.render.sky import Sky
from seatrial.render.water import INDEX, medium
from seatrial.sensors.tap import Views
from seatrial.sensors.vision.chip import Chip, Exposure

CALM = craft.calm()
NOON = Sky(math.radians(50.0), math.radians(90.0))
WATER = medium("IB")
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
WHITE = {"pattern": np.ones((1, 1)), "attitude": np.array([0.0, 0.0, 0.0, 1.0])}
"""A box that faces south with an even white of 0.85."""


def pitched(degrees):
    half = math.radians(degrees) / 2.0
    return np.array([math.cos(half), 0.0, math.sin(half), 0.0])


def box(at, size, name="box", **more):
    length, beam, height = size
    return Body(
        name, "box", "box", length=length, beam=beam, height=height, position=np.array(at), **more
    )


def picture(position, attitude=LEVEL, bodies=(), sky=NOON, lens=None, wanted=("colour",), **more):
    stage = Stage(RayScene(bodies, more.pop("bottom", None)), CALM, sky, more.pop("water", WATER))
    shot = Shot(np.array(position, float), attitude, 0.0, lens or Lens(64, 48, 60.0), **more)
    found = draw(stage, shot, wanted)
    return found[wanted[0]] if len(wanted) == 1 else found


def test_contrast_under_water_fades_by_beer_and_lambert():
    """White against black, so that the veil drops out: exp(−c d) of each band within 2 %."""
    contrast = {}
    for distance in (2.0, 6.0, 12.0):
        shown = []
        for shade in (0.8, 0.1):
            wall = box((distance + 0.5, 0.0, 10.0), (1.0, 40.0, 16.0), colour=np.full(3, shade))
            shown.append(picture((0, 0, 10.0), bodies=(wall,))[24, 32])
        contrast[distance] = shown[0] - shown[1]
    for near, far in ((2.0, 6.0), (6.0, 12.0), (2.0, 12.0)):
        expected = np.exp(-WATER.attenuation * (far - near))
        np.testing.assert_allclose(contrast[far] / contrast[near], expected, rtol=0.02)


def test_far_water_has_the_colour_of_its_veil_and_daylight_fades_with_depth():
    deep = [picture((0, 0, depth))[24, 32] for depth in (5.0, 15.0)]
    np.testing.assert_allclose(deep[1] / deep[0], np.exp(-10.0 * WATER.daylight), rtol=0.02)


def test_the_horizon_lies_in_its_row():
    lens = Lens(64, 480, 500.0)
    for pitch in (-10.0, 0.0, 7.0):
        wet = picture((0, 0, -2.0), pitched(pitch), lens=lens, wanted=("instance",))[:, 32] == 1
        first = int(np.flatnonzero(wet)[0])
        # A camera that looks up has the horizon below the middle.
        expected = 239.5 + 500.0 * math.tan(math.radians(pitch) + 2.0 / 20_000.0)
        assert first == pytest.approx(expected + 0.5, abs=1.0)
        assert wet[first:].all()


def test_the_sun_glints_where_a_mirror_would_show_it():
    elevation = math.radians(20.0)
    lens = Lens(65, 480, 500.0)
    seen = picture((0, 0, -3.0), sky=Sky(elevation, 0.0), lens=lens)
    row, column = np.unravel_index(np.argmax(seen[260:, :, 1]), (220, 65))
    assert row + 260 == pytest.approx(239.5 + 500.0 * math.tan(elevation), abs=1.5)
    assert column == 32


def test_a_calm_sea_mirrors_the_sky_by_fresnel():
    sky = Sky(math.radians(40.0), math.pi, cloud=1.0)
    lens = Lens(3, 480, 500.0)
    seen = picture((0, 0, -3.0), sky=sky, lens=lens)[:, 1]
    down = np.arctan((np.arange(480) - 239.5) / 500.0)

    def mirrored(row):
        """Share that is mirrored, and what of the sky."""
        angle = 0.5 * math.pi - down[row]
        bent = math.asin(math.sin(angle) / INDEX)
        s = math.sin(angle - bent) / math.sin(angle + bent)
        p = math.tan(angle - bent) / math.tan(angle + bent)
        towards = np.array([math.cos(down[row]), 0.0, -math.sin(down[row])])
        return 0.5 * (s * s + p * p), sky.radiance(towards)

    # What comes from below is the same everywhere; the steepest row tells it.
    share, above = mirrored(479)
    up = (seen[479] - share * above) / (1.0 - share)
    assert np.all(up > 0.0)
    for row in (300, 350, 420):
        share, above = mirrored(row)
        np.testing.assert_allclose(seen[row], share * above + (1.0 - share) * up, rtol=0.02)


def test_a_shallow_bottom_is_seen_through_a_surface_that_mirrors_most():
    """Beyond some incidence a ray is bent to the same slant under water, so that sand sends up as
    much there: where the surface mirrors a fifth of the light as where it mirrors two thirds."""
    sky = Sky(math.radians(40.0), math.pi, cloud=1.0)
    lens = Lens(64, 480, 500.0)
    seen = picture((0, 0, -3.0), sky=sky, lens=lens, bottom=2.0, water=medium("I")).mean(axis=1)
    down = np.arctan((np.arange(480) - 239.5) / 500.0)
    up = {}
    for row in range(250, 480):
        angle = 0.5 * math.pi - down[row]
        bent = math.asin(math.sin(angle) / INDEX)
        s = math.sin(angle - bent) / math.sin(angle + bent)
        p = math.tan(angle - bent) / math.tan(angle + bent)
        share = 0.5 * (s * s + p * p)
        above = sky.radiance(np.array([math.cos(down[row]), 0.0, -math.sin(down[row])]))
        up[round(share, 2)] = (seen[row] - share * above) / (1.0 - share)
    near, far = (
        np.mean([u for share, u in up.items() if abs(share - wanted) < 0.05], axis=0)
        for wanted in (0.2, 0.65)
    )
    np.testing.assert_allclose(far, near, rtol=0.1)


def test_snells_window_is_as_wide_as_the_index_says():
    """From below, all of the sky lies within asin(1/n) of straight up: 48.3° of sea water."""
    lens = Lens(401, 3, 150.0)
    north = Sky(math.radians(50.0), 0.0)  # across the row, out of the picture
    seen = picture((0, 0, 2.0), pitched(90.0), sky=north, lens=lens, water=medium("I"))[1, :, 1]
    step = np.abs(np.diff(seen))
    # Nothing is so steep as the edge of the window.
    edges = sorted(np.argsort(step)[-2:] + 0.5 - 200.0)
    for edge in edges:
        angle = math.degrees(math.atan(abs(edge) / 150.0))
        assert angle == pytest.approx(math.degrees(math.asin(1.0 / INDEX)), abs=0.5)
    assert edges[0] == pytest.approx(-edges[1], abs=1.0)


def test_what_stands_out_of_the_water_is_seen_from_below_however_it_is_described():
    """A post from 7 m below the surface to 3 m above it: as a box, as one laid down and set upright
    again, and as a mesh whose axes begin at its foot."""
    post = box((3.0, 0.0, 2.0), (0.4, 0.4, 10.0))
    laid = replace(box((3.0, 0.0, 2.0), (10.0, 0.4, 0.4)), attitude=pitched(90.0))
    mesh = post.mesh()
    foot, faces = np.array([3.0, 0.0, 7.0]), mesh.faces.astype(float)
    footed = Body("post", "mesh", position=foot, vertices=mesh.vertices - [0, 0, 5], faces=faces)
    above, *others = (
        picture((0.0, 0.0, 3.0), pitched(75.0), [body]) for body in (post, laid, footed)
    )
    nothing = picture((0.0, 0.0, 3.0), pitched(75.0))
    seen = np.abs(above - nothing).max(axis=2) > 0.02
    assert seen.mean() > 0.02
    for other in others:
        assert (np.abs(other - above).max(axis=2) > 0.02)[seen].mean() < 0.1


def test_something_in_the_sun_throws_a_shadow():
    table = box((10.0, 0.0, -3.0), (4.0, 4.0, 0.2))
    ground = box((10.0, 0.0, -0.5), (30.0, 30.0, 0.5), colour=np.full(3, 0.5))
    sky = Sky(math.radians(89.9), 0.0)
    lens = Lens(200, 200, 100.0)
    bare, shaded = (
        picture((0.0, 0.0, -2.0), LEVEL, bodies, sky, lens)
        for bodies in ((ground,), (table, ground))
    )
    # The ground under the table, 10 m ahead and 1.25 m below the camera; and beside it.
    assert shaded[112, 100, 1] < 0.35 * bare[112, 100, 1]
    assert shaded[112, 10, 1] == pytest.approx(bare[112, 10, 1], rel=1e-6)


def test_fog_hides_what_is_beyond_its_visibility():
    """A black target at the visibility has 2 % contrast against the horizon."""
    sky = replace(NOON, visibility=200.0)
    wall = box((200.5, 0.0, -10.0), (1.0, 400.0, 100.0), colour=np.zeros(3))
    seen = picture((0, 0, -5.0), bodies=(wall,), sky=sky)[24, 32]
    contrast = (sky.horizon - seen) / sky.horizon
    np.testing.assert_allclose(contrast, 0.02, rtol=0.02)


def test_a_lamp_lights_by_the_square_of_its_distance():
    night = Sky(math.radians(-6.0), 0.0)
    lamp = Light(np.array([0.0, 0.0, -5.0]), np.array([1.0, 0.0, 0.0]), 1000.0, 0.6)
    seen = []
    for distance in (2.0, 4.0):
        wall = box((distance + 0.5, 0.0, -5.0), (1.0, 20.0, 8.0), **WHITE)
        seen.append(picture((0, 0, -5.0), bodies=(wall,), sky=night, lights=(lamp,))[24, 32, 1])
    assert seen[0] / seen[1] == pytest.approx(4.0, rel=0.01)
    # E = I / r² in lux, of which 133 klx are π; a Lambert surface sends ρ E / π.
    assert seen[0] == pytest.approx(0.85 * 1000.0 / 4.0 / 133_000.0, rel=0.01)


def test_passes_tell_depth_normals_and_what_is_what():
    wall = box((10.5, 0.0, -3.0), (1.0, 4.0, 2.0))
    found = picture(
        (0, 0, -3.0), bodies=(wall,), wanted=("depth", "normals", "instance", "category", "albedo")
    )
    assert found["depth"][24, 32] == pytest.approx(10.0, abs=1e-5)
    np.testing.assert_allclose(found["normals"][24, 32], [-1.0, 0.0, 0.0], atol=1e-6)
    assert found["instance"][24, 32] == FIRST_BODY
    assert found["instance"][0, 0] == 0
    assert found["instance"][47, 32] == 1
    names = categories(RayScene((wall,)))
    assert names[found["category"][24, 32]] == "box"
    assert found["depth"][47, 32] == pytest.approx(3.0 * 60.0 / 23.5, rel=1e-4)
    assert np.isinf(found["depth"][0, 0])


# The sensor.


def camera(bodies=(), fidelity="ideal", rays=None, **described):
    given = {"width": 64, "height": 48, "field_of_view": 1.0, **described}
    return fit("camera", CALM, 10.0, rays=rays or RayScene(bodies), fidelity=fidelity, **given)


def views(count=1, position=(0.0, 0.0, -5.0), velocity=None, turn=None, attitude=LEVEL):
    def tiled(values):
        return None if values is None else np.tile(np.array(values, float), (count, 1))

    return Views(
        tiled(position),
        tiled(attitude),
        np.arange(count),
        np.tile(np.array([1, 2], np.uint32), (count, 1)),
        tiled(velocity),
        tiled(turn),
    )


CHIP = Chip(0.01, 16.0, False, 0.18, 16.0, 10_000.0, 3.0, None, True)


def test_shot_noise_grows_with_the_mean_and_the_gain():
    """var s = s g / F + (g σ/F)²; with 200,000 numbers a variance is known to 0.3 %, five of
    which are allowed."""
    random = np.random.default_rng(5)
    for gain in (1.0, 8.0):
        for share in (0.05, 0.2, 0.8):
            even = np.full((200_000, 1), share, np.float32)
            seen = CHIP.noise(even, Exposure(0.01, gain), random)
            expected = share * gain / 1e4 + (gain * 3.0 / 1e4) ** 2
            assert np.var(seen) == pytest.approx(expected, rel=0.016)
            assert np.mean(seen) == pytest.approx(share, abs=5 * math.sqrt(expected / 2e5))


def test_the_seeds_noise_multiplies_within_its_bounds():
    chip = replace(CHIP, factor=(1.0, 0.9, 1.1), full_well=1e12, read_noise=0.0)
    even = np.full((100, 100, 3), 0.5, np.float32)
    seen = chip.noise(even, Exposure(0.01, 1.0), np.random.default_rng(1))
    assert seen.min() == pytest.approx(0.45, abs=1e-4)
    assert seen.max() == pytest.approx(0.55, abs=1e-4)
    # N(0, 1) lies beyond ±0.1 in 92 % of cases.
    assert np.mean((seen > 0.4501) & (seen < 0.5499)) == pytest.approx(0.08, abs=0.02)
    np.testing.assert_allclose(seen[..., 0], seen[..., 2], rtol=1e-4)


def test_exposure_is_time_aperture_and_gain():
    light = np.full((4, 3), 0.3, np.float32)
    base = CHIP.share(light, Exposure(0.01, 1.0))
    np.testing.assert_allclose(base, light)  # sunny 16
    np.testing.assert_allclose(CHIP.share(light, Exposure(0.02, 3.0)), 6.0 * base)
    np.testing.assert_allclose(
        replace(CHIP, f_number=8.0).share(light, Exposure(0.01, 1.0)), 4.0 * base
    )
    auto = replace(CHIP, automatic=True)
    bright, dim, dark = (auto.exposure(np.full((9, 3), b, np.float32)) for b in (1.0, 0.05, 1e-6))
    assert (bright.time, bright.gain) == (pytest.approx(0.0018), 1.0)
    assert (dim.time, dim.gain) == (0.01, pytest.approx(3.6))
    assert (dark.time, dark.gain) == (0.01, 16.0)


def test_automatic_exposure_reaches_its_brightness():
    for depth in (-5.0, 20.0):
        found = camera(brightness=0.25).dense.expand(views(position=(0, 0, depth)), CALM)
        assert found.values[0, 2] == pytest.approx(0.25, rel=0.15)


def test_the_picture_darkens_towards_its_corners():
    wall = box((5.5, 0.0, -30.0), (1.0, 60.0, 60.0))
    given = {"auto_exposure": False, "gain": 1, "exposure_time": 0.001, "read_noise": 0}
    given |= {"full_well": 1e6}
    plain, falling = (camera((wall,), "nominal", vignetting=v, **given).dense for v in (0.0, 1.0))
    one, other = (
        np.power(d.expand(views(position=(0, 0, -30.0)), CALM).payload[0] / 255.0, 2.2)
        for d in (plain, falling)
    )
    cosine = falling.lens.columns[0].reshape(48, 64)
    ratio = other[2:8, 2:8].mean() / one[2:8, 2:8].mean()
    assert ratio == pytest.approx(np.power(cosine, 4)[2:8, 2:8].mean(), rel=0.03)


def test_a_rolling_shutter_skews_by_the_rate_of_turn():
    """An upright edge moves f ω t from row to row while the camera turns."""
    post = box((20.0, 5.0, -20.0), (1.0, 10.0, 60.0), colour=np.full(3, 0.9))
    built = camera(
        (post,), "full", shutter="rolling", line_time=0.0004, width=320, height=240,
        auto_exposure=False, exposure_time=1e-5, gain=1000, vignetting=0, read_noise=0,
    )  # fmt: skip
    rate = 0.8
    shot = built.dense._shot(
        views(position=(0, 0, -20.0), velocity=(0, 0, 0), turn=(0, 0, rate)), 0
    )
    stage = Stage(built.dense.rays, CALM, NOON, WATER)
    mask = draw(stage, shot, ("instance",))["instance"] >= FIRST_BODY
    rows = np.arange(20, 220)
    edge = np.array([np.flatnonzero(mask[r])[0] for r in rows])
    focal = built.facts["focal_length"][0]
    slope = np.polyfit(rows, edge, 1)[0]
    assert slope == pytest.approx(-focal * rate * 0.0004, rel=0.05)


def test_motion_blurs_by_speed_times_exposure():
    """An edge across the way is smeared over f v t / d pixels."""
    wall = box((10.5, 10.0, -20.0), (1.0, 20.0, 60.0), **WHITE)
    black = {**WHITE, "pattern": np.zeros((1, 1))}
    behind = box((10.6, 0.0, -20.0), (1.0, 80.0, 80.0), **black)
    speed, time = 4.0, 0.02
    built = camera(
        (wall, behind), "full", width=160, height=8, field_of_view=0.5, auto_exposure=False,
        exposure_time=time, gain=1, f_number=16, full_well=1e6, read_noise=0, vignetting=0,
    )  # fmt: skip
    dense = built.dense
    focal = built.facts["focal_length"][0]
    moving = views(position=(0, 0, -20.0), velocity=(0, speed, 0), turn=(0, 0, 0))
    still = views(position=(0, 0, -20.0), velocity=(0, 0, 0), turn=(0, 0, 0))
    profile = [
        np.power(dense.expand(v, CALM).payload[0, 4, :, 1] / 255.0, 2.2) for v in (moving, still)
    ]
    blurred = []
    for row in profile:
        low, high = row[:20].mean(), row[-20:].mean()
        share = np.clip((row - low) / (high - low), 0.0, 1.0)
        blurred.append(np.sum((share > 0.02) & (share < 0.98)))
    expected = focal * speed * time / 10.0
    assert blurred[1] <= 1
    assert blurred[0] == pytest.approx(expected, abs=0.2 * expected + 1.0)


@pytest.mark.parametrize("pitch", [20.0, 90.0])
def test_a_camera_that_moves_and_sees_nothing_but_sky_takes_its_picture(pitch):
    """What is without end does not blur, however fast the camera goes."""
    built = camera(fidelity="full", full_well=1e6, read_noise=0)
    moving = views(velocity=(3.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), attitude=pitched(pitch))
    still = views(velocity=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), attitude=pitched(pitch))
    seen, expected = (built.dense.expand(v, CALM).payload[0] for v in (moving, still))
    assert seen.min() > 0
    np.testing.assert_array_equal(seen, expected)


def test_a_camera_level_with_a_calm_sea_sees_its_surface_and_not_through_it():
    seen = picture((0, 0, 0), pitched(-30.0), bottom=5.0, wanted=("instance", "depth"))
    assert np.all(seen["instance"] == 1)
    assert seen["depth"].max() < 0.01


def test_the_same_sample_has_the_same_bytes_alone_or_among_others():
    built = camera((box((8.0, 0.0, -1.0), (2, 2, 2)),), "full")
    some = views(3, velocity=(1, 0, 0), turn=(0, 0, 0.1))
    together = built.dense.expand(some, CALM)
    alone = built.dense.expand(some.part(slice(2, 3)), CALM)
    assert together.payload[2].tobytes() == alone.payload[0].tobytes()
    np.testing.assert_array_equal(together.values[2], alone.values[0])
    assert together.payload[1].tobytes() != together.payload[2].tobytes()


@pytest.mark.parametrize("shows", ["depth", "normals", "instance", "category"])
def test_a_camera_shows_what_it_is_asked_for(shows):
    wall = box((10.5, 0.0, -5.0), (1.0, 40.0, 40.0), name="quay")
    dense = camera((wall,), shows=shows).dense
    found = dense.expand(views(), CALM).payload[0]
    assert found.shape == dense.payload.shape
    assert found.dtype == dense.payload.dtype
    middle = found[24, 32]
    expected = {"depth": 10.0, "normals": (-1.0, 0.0, 0.0), "instance": 3, "category": 3}[shows]
    np.testing.assert_allclose(middle, expected, atol=1e-5)
    if shows == "category":
        assert dense.payload.fields == ("nothing", "water", "bottom", "box")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"shows": "depth", "compression": "jpeg"}, "spoil depth"),
        ({"shows": "normals", "compression": "png"}, "single precision"),
        ({"noise_low": 1.2}, "must not be above"),
        ({"exposure_time": 1.0}, "longer than"),
        ({"shutter": "rolling", "line_time": 0.009}, "take longer"),
        ({"width": 8000, "height": 8000}, "pixels"),
    ],
)
def test_what_no_camera_can_do_is_refused(given, reason):
    with pytest.raises(ValueError, match=reason):
        camera(**given)


def test_a_lens_that_folds_the_picture_is_refused():
    with pytest.raises(SpecError, match="folds the image"):
        camera(k1=-2.0, field_of_view=2.0)


def test_a_thermal_camera_sees_a_cold_sky_and_sunny_sides():
    dark = box((10.0, 0.0, -2.0), (2.0, 2.0, 2.0), material="rubber", name="fender")
    sky = Sky(math.radians(40.0), math.pi)  # behind the camera
    built = fit(
        "thermal_camera", CALM, 10.0, rays=RayScene((dark,)), fidelity="ideal",
        width=64, height=48, field_of_view=1.0,
    )  # fmt: skip
    dense = replace(built.dense, sky=sky)
    kelvin = dense.expand(views(position=(0, 0, -2.0)), CALM).payload[0] / 100.0
    assert kelvin[0, 0] < 275.0 < kelvin[20, 0] + 5.0  # overhead colder than at the horizon
    assert kelvin[24, 32] > 300.0  # black rubber in the sun
    # Water of 10 °C, which mirrors some of the sky: of what a ray 22° below the horizon shows.
    down = math.atan(23.5 / built.facts["focal_length"][0])
    sine, index = math.sin(down), heat.INDEX
    bent = math.sqrt(1.0 - (1.0 - sine**2) / index**2)
    parallel = (bent - index * sine) / (bent + index * sine)
    share = 0.5 * ((sine - index * bent) / (sine + index * bent)) ** 2 + 0.5 * parallel**2
    mirrored = share * heat.sky_radiance(np.array([sine]), 288.15, 0.0)
    expected = heat.brightness((1.0 - share) * heat.radiance(283.15) + mirrored)[0]
    assert kelvin[47, 31:33] == pytest.approx(expected, abs=0.05)
    assert expected < 282.5
    under = dense.expand(views(position=(0, 0, 3.0)), CALM).payload[0] / 100.0
    np.testing.assert_allclose(under, 283.15, atol=0.02)


def test_a_camera_sees_the_vehicle_that_carries_it_but_not_from_within():
    """From a mast of 3 m the deck is as long and as wide as its size and distance say, upright in
    the picture whatever the heading, and each of two boats sees its own; within the hull there is
    nothing but the sea."""
    focal = 64.0
    common = {"type": "camera", "rate": 1, "width": 64, "height": 64, "shows": "instance",
              "field_of_view_deg": math.degrees(2.0 * math.atan(0.5))}  # fmt: skip
    sensors = [
        common | {"name": "mast", "position": [0, 0, -3], "pitch_deg": -90},
        common | {"name": "bow", "position": [0.8, 0, 0.05]},
    ]
    boats = [
        {"vehicle": "otter", "name": name, "sensors": sensors,
         "start": {"position": [0, east, 0], "heading_deg": heading}}
        for name, east, heading in (("first", 0, 30), ("second", 40, 200))
    ]  # fmt: skip
    world = {"name": "calm", "seabed": {"depth": 8}}
    described = st.Scenario(name="deck", duration=1.0, world=world, vehicles=boats)
    seen = st.run(described).recording
    hull = described.vehicles[0].vehicle
    for i, boat in enumerate(boats):
        own = seen.payload(boat["name"], "mast")[-1] == FIRST_BODY + i
        per_metre = focal / (3.0 - 0.5 * hull.height)
        wide, high = own.any(axis=0).sum(), own.any(axis=1).sum()
        expected = hull.beam * per_metre, hull.length * per_metre
        np.testing.assert_allclose([wide, high], expected, atol=1.5)
        assert FIRST_BODY + i not in seen.payload(boat["name"], "bow")[-1]


@pytest.mark.parametrize(("height", "tall"), [(2.0, 6.0), (0.3, 0.4), (-1.0, 4.0)])
def test_rays_from_among_the_waves_meet_what_small_steps_meet(height, tall):
    """A camera lower than the crests: level rays and those that rise meet a wave or the sky where a
    march in steps of 5 cm does (those that graze a crest may differ)."""
    waves = {"spectrum": "jonswap", "significant_height": tall, "peak_period": 4.0 * tall**0.5}
    ocean = craft.ocean_of(waves=waves | {"towards_deg": 70.0})
    wrong = met = 0
    for t in (0.0, 7.0, 31.0):
        surface = surface_at(ocean, np.zeros(2), t)
        place = np.array([[0.0], [0.0], [-height]], np.float32)
        assert height < surface.top
        wet = bool(surface.height(place[0], place[1])[0] > height)
        up, around = np.meshgrid(np.radians(np.linspace(-4.0, 20.0, 25)), np.linspace(0, 6.2, 32))
        rises = -up if wet else up
        way = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), -np.sin(rises)])
        way = way.reshape(3, -1).astype(np.float32)
        found = surface.distance(place, way, 20_000.0, exact=True)
        along = np.arange(0.05, 150.0, 0.05, dtype=np.float32)[:, None]
        above = surface.height(along * way[0], along * way[1]) - height + along * way[2]
        crossed = above < 0.0 if wet else above > 0.0
        exact = np.where(crossed.any(axis=0), along[np.argmax(crossed, axis=0), 0], np.inf)
        near = exact < 140.0
        met += int(near.sum())
        off = np.abs(found[near] - exact[near]) > 0.1 + 0.05 * exact[near]
        wrong += int(off.sum()) + int(np.sum(found[~near] < 140.0))
    assert met > 300
    assert wrong < 0.01 * 3 * way.shape[1]
