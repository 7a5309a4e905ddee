"""Who draws: live, by rays or by shaders as each camera says, or the path tracer."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from seatrial.dataset.pictures.drawing import Draughtsman, Take
from seatrial.errors import DatasetError
from seatrial.render.picture import Passes, Stage
from seatrial.render.renderers import drawing
from seatrial.render.traced.settings import USUAL, Bounces, Tracing
from seatrial.render.traced.truth import Truth

LIVE_LETTERS = "ACDHIJKL"
TRACED_LETTERS = "ABCDEFGHIJKL"

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


def choose(
    name: str,
    samples: int | None,
    seed: int,
    settings: Tracing = USUAL,
    snow: float = 0.0,
    ways: tuple[str, ...] = (),
) -> Renderer:
    """A renderer by its name. `seed` is that of the scenario, `settings` are those of the path
    tracer but for `samples`, where they are given, `snow` is in the water, 1/m³, and `ways` are
    those in which live pictures of each camera are drawn: by rays where none are given."""
    if name == "live":
        if samples is not None:
            raise DatasetError(
                "--samples: the live renderer draws no random paths\n"
                "  to mend:  leave it out, or use --renderer traced"
            )
        chosen = {"renderers": list(ways)} if "shaders" in ways else {}
        return Renderer(LIVE_LETTERS, chosen, partial(live, ways=ways))
    if name != "traced":
        raise DatasetError(f"--renderer {name}: unknown renderer\n  expected: live or traced")
    from seatrial.render.traced.backend import backend

    asked = settings if samples is None else settings._replace(samples=samples)
    if not backend().compiled and asked.bounces != Bounces(asked.bounces.total):
        raise DatasetError(
            "path_tracing: bounces of single kinds are counted on a GPU or with LLVM 19 or newer, "
            "found neither\n"
            "  to mend:  leave out `diffuse_bounces`, `glossy_bounces` and `volume_bounces`"
        )
    options: dict[str, Any] = {
        **asked._asdict(),
        "bounces": asked.bounces._asdict(),
        "snow": snow,
        "backend": backend().kind,
    }
    make = partial(traced, settings=asked, seed=seed, snow=snow)
    return Renderer(TRACED_LETTERS, options, make)


def live(stage: Stage, ways: tuple[str, ...] = ()) -> Draughtsman:
    """By rays or by shaders, camera by camera."""

    def drawn(take: Take) -> Passes:
        draw = drawing(ways[take.camera] if ways else "rays")
        return _with_flow(stage, take, draw(stage, take.shot, _LIVE))

    return drawn


def traced(stage: Stage, settings: Tracing, seed: int, snow: float) -> Draughtsman:
    """By Mitsuba."""
    from seatrial.render.traced.tracer import Tracer

    tracer = Tracer(stage, seed=seed, snow=snow)

    def drawn(take: Take) -> Passes:
        shot, later = take.shot, take.following
        velocity = (later.position - shot.position) / (later.time - shot.time)
        found = tracer.render(shot, settings, _TRACED, take.number, velocity)
        return _with_flow(stage, take, found)

    return drawn


def _with_flow(stage: Stage, take: Take, passes: Passes) -> Passes:
    return passes | {"flow": Truth(stage, take.shot).flow(take.following)}
