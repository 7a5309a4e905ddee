"""Light that is followed path by path obeys the laws that can be written down.

All by Mitsuba's scalar variant (see conftest), which runs wherever the suite does.
"""

import math
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from seatrial.errors import SeatrialError
from seatrial.geometry.bodies import Body
from seatrial.geometry.mesh import box
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.live.solids import Shader
from seatrial.render.picture import Aperture, Lens, Light, Shot, Stage
from seatrial.render.sky import Sky
from seatrial.render.traced import backend, plain
from seatrial.render.traced.denoise import denoised
from seatrial.render.traced.lighting import light
from seatrial.render.traced.lighting.ripples import NODES, Ripples
from seatrial.render.traced.settings import Bounces, Tracing
from seatrial.render.traced.split import AIR, Water
from seatrial.render.traced.things import meshes, surfaces
from seatrial.render.traced.tracer import Tracer
from seatrial.render.traced.view import View
from seatrial.render.water import Medium, medium

NIGHT = Sky(-0.5, 0.0)
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
SALT = Ocean(water=None)


def water(absorption, scattering, cosine=0.6):
    bands = np.array(absorption, float), np.array(scattering, float)
    return Medium(*bands, 0.02 * bands[1], cosine)


def wall(distance):
    """A white wall across the view, of a paint without pattern."""
    return Body(
        "wall", "box", length=0.1, beam=20.0, height=20.0,
        position=np.array([distance + 0.05, 0.0, 50.0]), pattern=np.ones((2, 2)),
        attitude=np.array([0.0, 0.0, 0.0, 1.0]), material="concrete",
    )  # fmt: skip


def shot(width=24, height=24, lights=()):
    return Shot(np.array([0.0, 0.0, 50.0]), LEVEL, 0.0, Lens(width, height, 60.0), lights)


def lamp(x, y=0.0):
    """One kilocandela straight ahead."""
    return Light(np.array([x, y, 50.0]), np.array([1.0, 0.0, 0.0]), 1000.0, math.radians(40.0))


def shapes(parts):
    """What light may meet, by hand: meshes with a colour each, before `truth`."""

    def made(black=False, exterior=None):
        bsdf = backend.mitsuba().load_dict
        return [
            meshes.built(
                f"part {k}",
                mesh,
                meshes.Look(bsdf(surfaces.even_plan(0.0 * colour if black else colour)), exterior),
            )
            for k, (mesh, colour) in enumerate(parts)
        ]

    made.truth = SimpleNamespace(distance=np.full(1, np.inf))
    return made


def test_a_target_fades_with_distance_by_beer_and_lambert():
    """With its lamp at a fixed place before it, a wall that is 2, 4 and 8 m away has exp(−c d) of
    its radiance, in bands of different c."""
    thick = water([0.30, 0.12, 0.05], [1e-4, 1e-4, 1e-4])
    seen = []
    for distance in (2.0, 4.0, 8.0):
        stage = Stage(RayScene([wall(distance)]), SALT, NIGHT, thick)
        # The same patch of the wall fills the picture, from farther and farther away.
        taken = replace(shot(lights=(lamp(distance - 1.5),)), lens=Lens(24, 24, 400.0 * distance))
        found = Tracer(stage, seed=1).render(taken, Tracing(192, Bounces(2)))
        seen.append(found["colour"].mean(axis=(0, 1)))
    # Water takes of the light on its way from the lamp as well.
    lit = 0.85 * 1000.0 / 1.5**2 / 133_000.0 * np.exp(-thick.attenuation * (1.5 + 2.0))
    assert seen[0] == pytest.approx(lit, rel=0.02)
    for near, far, apart in ((0, 1, 2.0), (0, 2, 6.0)):
        fade = seen[far] / seen[near]
        assert fade == pytest.approx(np.exp(-thick.attenuation * apart), rel=0.02)


def test_wavelengths_of_a_colour_fade_each_at_its_own_rate():
    """Of a band of which water takes one part ten times as fast as the other, the slower one is
    left: its mean fades by the mean of exp(−c d), more slowly than by the mean of c."""
    parts = tuple(water([c] * 3, [1e-5] * 3) for c in (0.06, 0.6))
    seen = []
    for distance in (1.0, 4.0):
        fluid = replace(water([0.33] * 3, [1e-5] * 3), parts=parts)
        stage = Stage(RayScene([wall(distance)]), SALT, NIGHT, fluid)
        taken = replace(shot(lights=(lamp(distance - 0.5),)), lens=Lens(24, 24, 400.0 * distance))
        found = Tracer(stage, seed=1).render(taken, Tracing(96, Bounces(2), spectral=True))
        seen.append(found["colour"].mean())
    near, far = (np.mean(np.exp(-np.array([0.06, 0.6]) * (d + 0.5))) for d in (1.0, 4.0))
    assert seen[1] / seen[0] == pytest.approx(far / near, rel=0.02)
    assert far / near > 1.3 * np.exp(-0.33 * 3.0)
    plain_water = Stage(RayScene([wall(4.0)]), SALT, NIGHT, water([0.1] * 3, [0.1] * 3))
    with pytest.raises(ValueError, match="has no spectrum"):
        Tracer(plain_water).render(shot(), Tracing(1, spectral=True))


def test_a_box_filter_takes_noise_and_leaves_light():
    noisy = np.random.default_rng(0).standard_normal((60, 80, 3)).astype(np.float32) + 5.0
    made = denoised(noisy, "box")
    assert made.mean() == pytest.approx(noisy.mean(), abs=0.01)
    assert made.std() == pytest.approx(noisy.std() / 3.0, rel=0.05)
    assert denoised(noisy, "none") is noisy


def test_parts_of_a_denoised_picture_add_up_to_it():
    """What is left without the light that water scattered is that of the lamp on the wall, which is
    nowhere negative, and none at all where the wall ends."""
    stage = Stage(RayScene([wall(4.0)]), SALT, NIGHT, water([0.05] * 3, [0.3] * 3))
    wide = replace(shot(24, 16), lens=Lens(24, 16, 6.0), lights=(lamp(0.0),))
    asked = "colour", "direct", "indirect"
    found = Tracer(stage, seed=2).render(wide, Tracing(4, Bounces(4), "oidn"), asked)
    whole, direct, indirect = (found[name] for name in asked)
    assert min(direct.max(), indirect.max()) > 0.0
    assert np.all(whole - direct - indirect > -1e-6 * whole.max())


@pytest.mark.parametrize("scale", [1e-6, 1e-10])
def test_the_denoiser_draws_no_light_into_the_dark(scale):
    """Something lit in the corner of a dark picture: what is so many times fainter comes out so
    many times fainter, without light elsewhere; and nothing where there is no light at all."""
    pytest.importorskip("mitsuba_oidn", reason="Open Image Denoise comes with the extra `pictures`")
    random = np.random.default_rng(1)
    noisy = np.zeros((72, 96, 3), np.float32)
    noisy[5:12, 5:12] = random.gamma(4.0, 0.25, (7, 7, 3))
    bright, faint = denoised(noisy, "oidn"), denoised(np.float32(scale) * noisy, "oidn") / scale
    assert bright[5:12, 5:12].mean() == pytest.approx(1.0, rel=0.2)
    assert faint == pytest.approx(bright, rel=1e-3, abs=1e-5)
    assert bright[40:].max() < 1e-3
    assert not denoised(np.zeros_like(noisy), "oidn").any()


def test_a_lamp_lights_a_wall_by_the_inverse_square():
    """Without water (its coefficients next to nothing) the radiance on the axis is
    albedo / π · I / r², in units in which 133 klx count as π."""
    clear = water([1e-5] * 3, [1e-6] * 3)
    for away in (1.0, 2.5):
        stage = Stage(RayScene([wall(4.0)]), SALT, NIGHT, clear)
        small = replace(shot(8, 8), lens=Lens(8, 8, 800.0), lights=(lamp(4.0 - away),))
        picture = Tracer(stage).render(small, Tracing(8, Bounces(2)))["colour"]
        expected = 0.85 / math.pi * 1000.0 / away**2 * math.pi / 133_000.0
        assert picture.mean() == pytest.approx(expected, rel=0.01)


def test_a_white_furnace_stays_white():
    """Nothing absorbs and a radiance of 1 comes from everywhere: white boxes in the air,
    and a slab of milk over a white floor, are seen as 1 all over."""
    corner = [
        (box((1.0, 1.0, 1.0)).moved(np.array([3.0, 0.0, 50.0]), np.eye(3)), np.ones(3)),
        (box((4.0, 4.0, 0.2)).moved(np.array([3.0, 0.0, 50.6]), np.eye(3)), np.ones(3)),
    ]
    view = View(replace(shot(12, 12), lens=Lens(12, 12, 8.0)))
    found = plain.follow(
        shapes(corner), view, AIR, light.beams(()), light.EVEN, 256, Bounces(200), 1
    )
    assert 0.2 < found.clear.mean() < 0.8  # they cover a part of the picture
    assert found.surface + found.clear == pytest.approx(1.0, abs=0.15)
    assert (found.surface + found.clear).mean() == pytest.approx(1.0, abs=0.005)
    floor = [(box((400.0, 400.0, 0.2)).moved(np.array([0.0, 0.0, 2.1]), np.eye(3)), np.ones(3))]
    milk = Water(np.full(3, 0.6), np.full(3, 0.6), 0.3)
    at = Shot(np.array([0.0, 0.0, 1.0]), LEVEL, 0.0, Lens(8, 8, 8.0))
    parts, view = shapes(floor), View(at)
    down = view.rays[:, 2]
    parts.truth.distance = np.where(down > 0.0, 1.0 / np.maximum(down, 1e-6), np.inf)
    found = plain.follow(parts, view, milk, light.beams(()), light.EVEN, 256, Bounces(1000), 1)
    whole = found.surface + found.direct + found.indirect + found.clear
    assert whole.mean() == pytest.approx(1.0, abs=0.01)
    assert found.indirect.mean() > 0.2


def once_scattered(medium, source, direction, length=60.0):
    """Radiance along a ray of light of a lamp that water scattered once, by a sum of 20,000
    terms."""
    s = (np.arange(20_000) + 0.5) * length / 20_000
    at = np.array([0.0, 0.0, 50.0]) + s[:, None] * direction
    off = source.position - at
    far = np.linalg.norm(off, axis=1)
    towards = off / far[:, None]
    beam = np.maximum(-towards @ source.direction, 0.0) ** source.exponent
    cosine = towards @ direction
    g = medium.mean_cosine
    phase = (1 - g * g) / (1 + g * g - 2 * g * cosine) ** 1.5 / (4 * math.pi)
    irradiance = source.intensity * math.pi / 133_000.0 * beam / far**2
    fades = np.exp(-np.outer(s + far, medium.attenuation))
    return (
        medium.scattering * np.sum((irradiance * phase)[:, None] * fades, axis=0) * length / 20_000
    )


def test_light_that_water_scatters_once_is_its_integral():
    """A lamp 2 m beside the camera, open water: `direct` is the integral along each ray; what is
    scattered again adds to it, and nothing comes from surfaces. Water that scatters little has no
    indirect light to speak of."""
    medium = water([0.08, 0.05, 0.02], [0.20, 0.15, 0.30])
    source = lamp(0.0, 2.0)
    view = View(shot(12, 12, (source,)))
    given = light.beams(view.shot.lights)
    found = {}
    for name, share in (("much", 1.0), ("little", 0.02)):
        fluid = Water(medium.absorption + share * medium.scattering, share * medium.scattering, 0.6)
        parts = shapes([])
        parts.truth.distance = np.full(view.width * view.height, np.inf)
        found[name] = plain.follow(parts, view, fluid, given, None, 512, Bounces(), 3)
    rays = view.rays
    expected = np.mean([once_scattered(medium, source, ray) for ray in rays], axis=0)
    much, little = found["much"], found["little"]
    assert much.direct.mean(axis=(0, 1)) == pytest.approx(expected, rel=0.02)
    assert np.all(much.surface == 0.0)
    assert np.all(much.indirect.mean(axis=(0, 1)) > 0.1 * expected)
    share = little.indirect.mean() / little.direct.mean()
    assert share < 0.02 * 1.5 * much.indirect.mean() / much.direct.mean() + 0.02


def test_a_lens_wide_open_blurs_what_is_out_of_focus():
    """The edge of a near wall is spread over as many pixels as the circle of confusion has."""
    half = Body("half", "box", length=0.1, beam=4.0, height=20.0,
                position=np.array([1.05, 2.0, 50.0]), pattern=np.ones((2, 2)))  # fmt: skip
    stage = Stage(RayScene([half]), SALT, NIGHT, water([1e-4] * 3, [1e-6] * 3))
    edge = []
    for opening in (Aperture(), Aperture(0.05, 10.0)):
        lens = Lens(64, 8, 64.0, aperture=opening)
        taken = Shot(np.array([0.0, 0.0, 50.0]), LEVEL, 0.0, lens)
        found = Tracer(stage).render(taken, passes=("albedo",))["albedo"]
        share = found.mean(axis=(0, 2)) / 0.85
        edge.append(int(np.sum((share > 0.02) & (share < 0.98))))
    # 2 r f |1/d − 1/focus| pixels
    assert edge[0] <= 3
    assert edge[1] == pytest.approx(2 * 0.05 * 64.0 * (1.0 - 0.1), abs=2.5)


def test_waves_gather_light_but_make_none():
    """Caustics have the mean 1 at every depth; without waves they are 1 everywhere."""
    stage = Stage(RayScene([], 6.0), SALT, Sky(0.9, 0.3), water([0.1] * 3, [0.1] * 3))
    calm = light.caustics(stage, np.zeros(2), 0.0, None, _towards(stage))
    assert calm.gain == pytest.approx(1.0, abs=1e-3)
    random = np.random.default_rng(0)
    k = np.fft.fftfreq(NODES, 1.0 / NODES)
    low = np.exp(-((k[:, None] ** 2 + k[None] ** 2) / 300.0))
    slope = np.fft.ifft2(low * np.fft.fft2(random.standard_normal((2, NODES, NODES)))).real
    rough = light.caustics(
        stage, np.zeros(2), 0.0, Ripples(0.12 * slope / slope.std()), _towards(stage)
    )
    means, deepest = rough.gain.mean(axis=(1, 2)), rough.gain.std(axis=(1, 2))
    assert means == pytest.approx(1.0, abs=0.01)
    assert deepest.max() > 0.4
    assert deepest[0] < deepest.max()  # below the surface at once nothing is gathered yet


def _towards(stage):
    return light.refracted(stage.sky.sun_direction[:, None])[:, 0]


@pytest.mark.parametrize("name", ["I", "III", "9C"])
def test_deep_water_sends_as_much_light_up_as_gordon_brown_and_jacobs_say(name):
    """R = 0.33 bb / (a + bb) of daylight just below the surface, with an upward radiance of π / Q
    of that; Q of the sea is 3 to 5.6 (Morel and Gentili 1996, Applied Optics 35)."""
    kind, sky = medium(name), Sky(math.radians(60.0), 0.0)
    stage = Stage(RayScene([]), SALT, sky, kind)
    down = np.array([math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0])
    taken = Shot(np.array([0.0, 0.0, 0.2]), down, 0.0, Lens(8, 6, 20.0))
    asked = Tracing(4000, denoise="none")
    upward = Tracer(stage, seed=2).render(taken, asked)["colour"].mean(axis=(0, 1))
    daylight = Shader(stage, taken).ambient * np.exp(-0.2 * kind.daylight)
    expected = 0.33 * kind.backscatter / (kind.absorption + kind.backscatter)
    found = math.pi * upward / daylight / expected
    assert np.all((found > math.pi / 5.6) & (found < math.pi / 3.0)), found


EMPTY = """
import numpy as np
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.picture import Lens, Shot, Stage
from seatrial.render.sky import Sky
from seatrial.render.traced.settings import Tracing
from seatrial.render.traced.tracer import Tracer
from seatrial.render.water import medium

stage = Stage(RayScene([]), Ocean(water=None), Sky(0.9, 0.0), medium("I"))
shot = Shot(np.array([0.0, 0.0, 5.0]), np.array([1.0, 0.0, 0.0, 0.0]), 0.0, Lens(4, 3, 4.0))
assert Tracer(stage).render(shot, Tracing(4, denoise="none"))["colour"].min() > 0.0
"""


def test_water_without_anything_in_it_is_a_picture_too():
    """In a process of its own, in which nothing has been built before, by what is fastest here."""
    asked, free = [sys.executable, "-c", EMPTY], dict(os.environ)
    free.pop(backend.CHOICE, None)
    ended = subprocess.run(asked, env=free, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_tracer_says_what_it_cannot_do(monkeypatch):
    stage = Stage(RayScene([], 60.0), SALT, NIGHT, water([0.1] * 3, [0.1] * 3))
    with pytest.raises(ValueError, match="no passes thermal; there are colour"):
        Tracer(stage).render(shot(), passes=("thermal",))
    monkeypatch.setenv(backend.CHOICE, "vulkan")
    with pytest.raises(SeatrialError, match="'vulkan', expected one of cuda, llvm, scalar"):
        backend.backend.__wrapped__()
    monkeypatch.setenv(backend.CHOICE, "llvm")
    monkeypatch.setenv("DRJIT_LIBLLVM_PATH", "/nowhere/libLLVM-19.so")
    with pytest.raises(SeatrialError, match="asks for llvm, which does not work here"):
        backend.backend.__wrapped__()
