"""Who draws: the live renderer by a few rays for every pixel, or the path tracer."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from seatrial.dataset.pictures.drawing import Draughtsman, Take
from seatrial.errors import DatasetError
from seatrial.render.live.draw import draw
from seatrial.render.picture import Passes, Stage
from seatrial.render.traced.snow import Snow
from seatrial.render.traced.truth import Truth
from seatrial.render.traced.view import Aperture

LIVE_LETTERS = "ACDHIJKL"
TRACED_LETTERS = "ABCDEFGHIJKL"
SAMPLES = 64
"""Paths per pixel, where nobody says how many."""
BOUNCES = 16
"""Of a path at most (table 5.6 of the thesis)."""

_LIVE = ("colour", "normals", "depth", "albedo", "instance", "category")
_TRACED = (
    *("colour", "uniform", "normals", "depth", "shadow", "direct", "indirect"),
    *("albedo", "instance", "category"),
)


class Optics(NamedTuple):
    """What of a camera only the path tracer draws."""

    aperture: Aperture
    exposure_time: float
    """s, by which marine snow is drawn out to streaks."""


class Tracing(NamedTuple):
    """How the path tracer draws."""

    samples: int
    """Paths per pixel."""
    denoise: bool
    seed: int
    optics: tuple[Optics, ...]
    """Of the cameras."""


class Renderer(NamedTuple):
    """A way to draw."""

    letters: str
    """Of the passes that it gives."""
    options: dict[str, Any]
    """That decide the bytes, for the manifest."""
    make: Callable[[Stage], Draughtsman]


def choose(
    name: str, samples: int | None, denoise: bool, seed: int, optics: tuple[Optics, ...]
) -> Renderer:
    """A renderer by its name; `seed` is that of the scenario, and `optics` those of its cameras."""
    if name == "live":
        if samples is not None or not denoise:
            which = "--samples" if samples is not None else "--no-denoise"
            raise DatasetError(
                f"{which}: the live renderer draws no random paths\n"
                "  to mend:  leave it out, or use --renderer traced"
            )
        return Renderer(LIVE_LETTERS, {}, live)
    if name != "traced":
        raise DatasetError(f"--renderer {name}: unknown renderer\n  expected: live or traced")
    from seatrial.render.traced.backend import backend

    tracing = Tracing(SAMPLES if samples is None else samples, denoise, seed, optics)
    options = {
        "samples": tracing.samples,
        "bounces": BOUNCES,
        "denoised": denoise,
        "backend": backend().kind,
    }
    return Renderer(TRACED_LETTERS, options, partial(traced, tracing=tracing))


def live(stage: Stage) -> Draughtsman:
    """By rays with embreex."""
    return lambda take: _with_flow(stage, take, draw(stage, take.shot, _LIVE))


def traced(stage: Stage, tracing: Tracing) -> Draughtsman:
    """By Mitsuba."""
    from seatrial.render.traced.tracer import Tracer

    tracers = {
        time: Tracer(stage, seed=tracing.seed, snow=Snow(stage.snow, time))
        for time in {optics.exposure_time for optics in tracing.optics}
    }

    def drawn(take: Take) -> Passes:
        optics = tracing.optics[take.camera]
        apart = take.following.time - take.shot.time
        found = tracers[optics.exposure_time].render(
            take.shot,
            samples=tracing.samples,
            depth=BOUNCES,
            passes=_TRACED,
            aperture=optics.aperture,
            frame=take.number,
            velocity=(take.following.position - take.shot.position) / apart,
            denoise=tracing.denoise,
        )
        return _with_flow(stage, take, found)

    return drawn


def _with_flow(stage: Stage, take: Take, passes: Passes) -> Passes:
    return passes | {"flow": Truth(stage, take.shot).flow(take.following)}
