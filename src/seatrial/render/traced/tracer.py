"""Path-traced pictures of a stage.

    tracer = Tracer(stage, seed=7)
    passes = tracer.render(shot, Tracing(samples=64), passes=("colour", "depth"))

Names of passes, and the letters of Zwilgmeyer (2021, table 4.5):

    A colour   with water and lamps       E shadow    what of the light arrives
    B uniform  evenly lit, no water       F direct    light that water scattered once
    C normals  of the world               G indirect  light that it scattered again
    D depth    along the camera's axis

and `albedo`, `instance`, `category`. Truths (`truth`) are exact; the rest is drawn with random
numbers of the stated seed: on one machine and backend the same seed gives the same bytes.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from seatrial.render.picture import NOTHING, SURFACE, Passes, Shot, Stage
from seatrial.render.traced import plain
from seatrial.render.traced.backend import Backend, backend, mitsuba
from seatrial.render.traced.denoise import Picture, denoised
from seatrial.render.traced.lighting import light
from seatrial.render.traced.lighting.background import background, fogged
from seatrial.render.traced.lighting.ripples import ripples
from seatrial.render.traced.settings import USUAL, Bounces, Tracing
from seatrial.render.traced.split import AIR, Split, Water
from seatrial.render.traced.things.props import Props
from seatrial.render.traced.truth import Truth
from seatrial.render.traced.view import View

Array = NDArray[np.float64]

TRUTHS = ("depth", "normals", "instance", "category")
TRACED = ("colour", "direct", "indirect")
PASSES = (*TRACED, "uniform", "albedo", "shadow", *TRUTHS)
EXACT = {"shadow", *TRUTHS}
"""Those that rays tell, without a random path."""

EVEN_SAMPLES = 20
"""Paths per pixel of what is evenly lit (Zwilgmeyer 2021, table 5.5)."""
EVEN_BOUNCES = Bounces(4)


class Tracer:
    """Draws a stage with so many flakes of marine snow per m³; what stands still is built once."""

    def __init__(self, stage: Stage, seed: int = 0, snow: float = 0.0) -> None:
        self.stage, self.seed = stage, seed
        self._props = Props(stage, seed, snow)

    @property
    def backend(self) -> Backend:
        """On what it runs."""
        return backend()

    def render(
        self,
        shot: Shot,
        settings: Tracing = USUAL,
        passes: Sequence[str] = ("colour",),
        frame: int = 0,
        velocity: Array | None = None,
    ) -> Passes:
        """Passes by name.

        `frame` is the number in a sequence, from which the random numbers come, and `velocity` (3,)
        that of the camera, NED, m/s, for streaks of marine snow.
        """
        unknown = sorted(set(passes) - set(PASSES))
        if unknown:
            raise ValueError(f"no passes {', '.join(unknown)}; there are {', '.join(PASSES)}")
        view, truth = View(shot), Truth(self.stage, shot)
        with ThreadPoolExecutor(1, thread_name_prefix="truth") as aside:
            # The processor casts the rays of the truth while a GPU follows light.
            exact = aside.submit(_exact, truth, passes)
            if set(passes) <= EXACT or not self.backend.compiled:
                exact.result()  # plain code asks for distances itself
            found = self._light(view, truth, settings, passes, frame, velocity) | exact.result()
        if "albedo" in found:
            # The sea, which is met there, has no colour of its own; nor where it is too far away.
            away = view.rays[:, 2] < 0.0 if view.under_water else view.rays[:, 2] > 0.0
            sea = (truth.instance == SURFACE) | ((truth.instance == NOTHING) & away)
            found["albedo"][sea.reshape(view.height, view.width)] = 0.0
        return found

    def _light(
        self,
        view: View,
        truth: Truth,
        settings: Tracing,
        passes: Sequence[str],
        frame: int,
        velocity: Array | None,
    ) -> Passes:
        """Those of the passes that are drawn with random paths."""
        found: Passes = {}
        if set(TRACED) & set(passes):
            # By parts, so that they still add up to the whole where a denoiser was at work.
            surface, direct, indirect = (
                denoised(part, settings.denoise)
                for part in self._drawn(view, truth, settings, frame, velocity)
            )
            drawn = {"colour": surface + direct + indirect, "direct": direct, "indirect": indirect}
            found |= {name: made for name, made in drawn.items() if name in passes}
        dry = self._props.at(view, truth, None, sea=False)
        if "uniform" in passes:
            split = self._follow(
                *(dry, view, AIR, light.beams(()), light.EVEN),
                *(EVEN_SAMPLES, EVEN_BOUNCES, self._number(frame)),
            )
            found["uniform"] = np.asarray(split.surface + split.clear)
        if "albedo" in passes:
            found["albedo"] = plain.albedo(dry, view, EVEN_SAMPLES, self._number(frame))
        return found

    def _drawn(
        self, view: View, truth: Truth, settings: Tracing, frame: int, velocity: Array | None
    ) -> tuple[Picture, Picture, Picture]:
        """What comes straight from surfaces and sky, and what water scattered once and more often:
        together the picture."""
        stage, shot = self.stage, view.shot
        short = ripples(stage.ocean, self.seed, shot.time)
        day = None
        if np.any(stage.sky.sky_irradiance > 0.0):
            day = (
                light.in_water(stage, view.position, shot.time, short)
                if view.under_water
                else light.in_air(stage.sky)
            )
        lamps, shapes = light.beams(shot.lights), self._props.at(view, truth, velocity)
        waters = self._waters(view, settings.spectral)
        each = math.ceil(settings.samples / len(waters))
        splits = [
            self._follow(
                *(shapes, view, water, lamps, day),
                *(each, settings.bounces, self._number(frame, part)),
            )
            for part, water in enumerate(waters)
        ]
        split = Split(*(np.mean(parts, axis=0) for parts in zip(*splits, strict=True)))
        straight = split.surface
        if day is not None:
            straight = straight + split.clear * background(stage, view, short)
        if not view.under_water:
            straight = fogged(straight, truth, stage.sky)
        return straight, split.direct, split.indirect

    def _waters(self, view: View, spectral: bool) -> list[Water]:
        """In which paths go, one for each set of wavelengths."""
        if not view.under_water:
            return [AIR]
        medium = self.stage.water
        media = medium.parts if spectral else (medium,)
        if not media:
            raise ValueError("this water has no spectrum: only types of `water.medium` have one")
        return [Water(m.attenuation, m.scattering, m.mean_cosine) for m in media]

    @property
    def _follow(self) -> Callable[..., Split]:
        """Paths of light, by a kernel of ours or by Mitsuba's own integrators."""
        mitsuba()  # chooses what it runs on, also where there is nothing to be built
        if self.backend.compiled:
            from seatrial.render.traced import transport

            return transport.follow
        return plain.follow

    def _number(self, frame: int, part: int = 0) -> int:
        """Of the stream of random numbers of a frame, and of a part of its wavelengths."""
        entropy = [self.seed, frame, part] if part else [self.seed, frame]
        return int(np.random.SeedSequence(entropy).generate_state(1)[0])


def _exact(truth: Truth, passes: Sequence[str]) -> Passes:
    """Those of the passes that rays tell exactly."""
    found: Passes = {}
    if set(TRUTHS) & set(passes):
        found |= {name: made for name, made in truth.passes().items() if name in passes}
    if "shadow" in passes:
        found["shadow"] = truth.shadow()
    return found
