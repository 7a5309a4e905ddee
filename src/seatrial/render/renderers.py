"""Ways to draw a live picture, by name: rays with Embree, or shaders on a card or in Mesa."""

from typing import Protocol

from seatrial.render.live.surface import Surface
from seatrial.render.picture import Passes, Shot, Stage


class Draw(Protocol):
    """Draws passes of a shot, as `render.picture` states them."""

    def __call__(
        self,
        stage: Stage,
        shot: Shot,
        wanted: tuple[str, ...] = ("colour",),
        surface: Surface | None = None,
    ) -> Passes:
        """The passes by name; `surface` is that of the sea where somebody has it already."""


def drawing(renderer: str) -> Draw:
    """The function that draws."""
    if renderer == "shaders":
        from seatrial.render.shaders.draw import draw

        return draw
    from seatrial.render.live import draw as rays

    return rays.draw


def trouble(renderer: str) -> tuple[str, str] | None:
    """Why a renderer cannot draw here, and what mends it; None where it can."""
    if renderer == "shaders":
        from seatrial.render.shaders import context

        return context.trouble()
    return None
