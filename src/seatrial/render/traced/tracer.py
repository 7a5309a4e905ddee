"""Path-traced pictures of a stage.

    tracer = Tracer(stage, seed=7)
    passes = tracer.render(shot, samples=64, passes=("colour", "depth"))

Names of passes, and the letters of Zwilgmeyer (2021, table 4.5):

    A colour   with water and lamps       E shadow    what of the light arrives
    B uniform  evenly lit, no water       F direct    light that water scattered once
    C normals  of the world               G indirect  light that it scattered again
    D depth    along the camera's axis

and `albedo`, `instance`, `category`. Truths (`truth`) are exact; the rest is drawn with random
numbers of the stated seed: on one machine and backend the same seed gives the same bytes.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from seatrial.render.picture import Passes, Shot, Stage
from seatrial.render.traced import plain
from seatrial.render.traced.backend import Backend, backend
from seatrial.render.traced.denoise import denoised
from seatrial.render.traced.lighting import light
from seatrial.render.traced.lighting.background import background, fogged
from seatrial.render.traced.lighting.ripples import ripples
from seatrial.render.traced.split import AIR, Split, Water
from seatrial.render.traced.things.props import Props
from seatrial.render.traced.things.snow import Snow
from seatrial.render.traced.truth import Truth
from seatrial.render.traced.view import PINHOLE, Aperture, View

Array = NDArray[np.float64]

TRUTHS = ("depth", "normals", "instance", "category")
TRACED = ("colour", "direct", "indirect")
PASSES = (*TRACED, "uniform", "albedo", "shadow", *TRUTHS)

EVEN_SAMPLES = 20
"""Paths per pixel of what is evenly lit (Zwilgmeyer 2021, table 5.5)."""
EVEN_DEPTH = 4


class Tracer:
    """Draws a stage; what stands still is built once."""

    def __init__(self, stage: Stage, seed: int = 0, snow: Snow | None = None) -> None:
        self.stage, self.seed = stage, seed
        self._props = Props(stage, seed, snow)

    @property
    def backend(self) -> Backend:
        """On what it runs."""
        return backend()

    def render(
        self,
        shot: Shot,
        samples: int = 64,
        depth: int = 16,
        passes: Sequence[str] = ("colour",),
        aperture: Aperture = PINHOLE,
        frame: int = 0,
        velocity: Array | None = None,
        denoise: bool = False,
    ) -> Passes:
        """Passes by name.

        `samples` paths per pixel of at most `depth` meetings with water and surfaces; `frame` is
        the number in a sequence, from which the random numbers come, and `velocity` (3,) that of
        the camera, NED, m/s, for streaks of marine snow. With `denoise` colour, direct and indirect
        light go through Open Image Denoise.
        """
        unknown = sorted(set(passes) - set(PASSES))
        if unknown:
            raise ValueError(f"no passes {', '.join(unknown)}; there are {', '.join(PASSES)}")
        view, truth = View(shot, aperture), Truth(self.stage, shot)
        found: Passes = {}
        if set(TRUTHS) & set(passes):
            found |= {name: made for name, made in truth.passes().items() if name in passes}
        if "shadow" in passes:
            found["shadow"] = truth.shadow()
        if set(TRACED) & set(passes):
            drawn = self._drawn(view, truth, samples, depth, frame, velocity)
            clean = denoised if denoise else np.asarray
            found |= {name: clean(made) for name, made in drawn.items() if name in passes}
        dry = self._props.at(view, truth, None, sea=False)
        if "uniform" in passes:
            split = self._follow(
                *(dry, view, AIR, light.beams(()), light.EVEN),
                *(EVEN_SAMPLES, EVEN_DEPTH, self._number(frame)),
            )
            found["uniform"] = np.asarray(split.surface + split.clear)
        if "albedo" in passes:
            found["albedo"] = plain.albedo(dry, view, EVEN_SAMPLES, self._number(frame))
        return found

    def _drawn(
        self,
        view: View,
        truth: Truth,
        samples: int,
        depth: int,
        frame: int,
        velocity: Array | None,
    ) -> Passes:
        """Colour and the light in the water."""
        stage, shot = self.stage, view.shot
        short = ripples(stage.ocean, self.seed, shot.time)
        water, day = AIR, None
        if view.under_water:
            medium = stage.water
            water = Water(medium.attenuation, medium.scattering, medium.mean_cosine)
        if np.any(stage.sky.sky_irradiance > 0.0):
            day = (
                light.in_water(stage, view.position, shot.time, short)
                if view.under_water
                else light.in_air(stage.sky)
            )
        split = self._follow(
            *(self._props.at(view, truth, velocity), view, water, light.beams(shot.lights), day),
            *(samples, depth, self._number(frame)),
        )
        colour = split.surface + split.direct + split.indirect
        if day is not None:
            colour += split.clear * background(stage, view, short)
        if not view.under_water:
            colour = fogged(colour, truth, stage.sky)
        return {"colour": colour, "direct": split.direct, "indirect": split.indirect}

    @property
    def _follow(self) -> Callable[..., Split]:
        """Paths of light, by a kernel of ours or by Mitsuba's own integrators."""
        if self.backend.compiled:
            from seatrial.render.traced import transport

            return transport.follow
        return plain.follow

    def _number(self, frame: int) -> int:
        """Of the stream of random numbers of a frame."""
        return int(np.random.SeedSequence([self.seed, frame]).generate_state(1)[0])
