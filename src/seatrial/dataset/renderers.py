"""Who draws: the live renderer by a few rays for every pixel, or the path tracer."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from seatrial.dataset.drawing import Draughtsman, Take
from seatrial.errors import DatasetError
from seatrial.render.live.draw import draw
from seatrial.render.picture import Passes, Stage
from seatrial.render.traced.truth import Truth

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


class Renderer(NamedTuple):
    """A way to draw."""

    letters: str
    """Of the passes that it gives."""
    options: dict[str, Any]
    """That decide the bytes, for the manifest."""
    make: Callable[[Stage], Draughtsman]


def choose(name: str, samples: int | None, seed: int) -> Renderer:
    """A renderer by its name; `seed` is that of the scenario."""
    if name == "live":
        if samples is not None:
            raise DatasetError(
                "--samples: the live renderer draws no random paths\n"
                "  to mend:  leave it out, or use --renderer traced"
            )
        return Renderer(LIVE_LETTERS, {}, live)
    if name != "traced":
        raise DatasetError(f"--renderer {name}: unknown renderer\n  expected: live or traced")
    from seatrial.render.traced.backend import backend

    count = SAMPLES if samples is None else samples
    options = {"samples": count, "bounces": BOUNCES, "backend": backend().kind}
    return Renderer(TRACED_LETTERS, options, partial(traced, samples=count, seed=seed))


def live(stage: Stage) -> Draughtsman:
    """By rays with embreex."""
    return lambda take: _with_flow(stage, take, draw(stage, take.shot, _LIVE))


def traced(stage: Stage, samples: int, seed: int) -> Draughtsman:
    """By Mitsuba."""
    from seatrial.render.traced.tracer import Tracer

    tracer = Tracer(stage, seed=seed)

    def drawn(take: Take) -> Passes:
        found = tracer.render(
            take.shot,
            samples=samples,
            depth=BOUNCES,
            passes=_TRACED,
            frame=take.number,
            denoise=True,
        )
        return _with_flow(stage, take, found)

    return drawn


def _with_flow(stage: Stage, take: Take, passes: Passes) -> Passes:
    return passes | {"flow": Truth(stage, take.shot).flow(take.following)}
