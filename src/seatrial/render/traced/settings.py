"""How much work a path-traced picture is, and what is done to its noise."""

from typing import Literal, NamedTuple

Denoise = Literal["none", "box", "oidn"]


class Bounces(NamedTuple):
    """How often light on its way may meet something, by kind; None of a kind as often as in all.

    Those of Zwilgmeyer (2021, table 5.6) are 16 in all, 4 diffuse, 4 glossy and 14 of the volume;
    nothing here lets light through but the water, so that the other two rows have no meaning.
    """

    total: int = 16
    diffuse: int | None = None
    glossy: int | None = None
    volume: int | None = None

    @property
    def by_kind(self) -> tuple[int, int, int]:
        """Diffuse, glossy and volume."""
        kinds = (self.diffuse, self.glossy, self.volume)
        low, mid, high = (self.total if n is None else n for n in kinds)
        return low, mid, high


class Tracing(NamedTuple):
    """Of a picture."""

    samples: int = 64
    """Paths per pixel."""
    bounces: Bounces = Bounces()
    denoise: Denoise = "none"
    """What takes the noise out of colour, direct and indirect light: a mean over 3 x 3 pixels, or
    Open Image Denoise."""
    spectral: bool = False
    """Whether the water is followed at several wavelengths of each colour (`Medium.parts`)."""


USUAL = Tracing()
