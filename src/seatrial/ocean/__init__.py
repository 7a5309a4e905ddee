"""One seeded ocean: waves, current, wind, water, turbulence and the seabed.

Each field is a pytree with a `sample` function in the module of its name. Physics, sensors and
pictures read the same fields.
"""

from seatrial.geometry.solids import Solids
from seatrial.ocean.current import Current
from seatrial.ocean.seabed import Seabed
from seatrial.ocean.turbulence import Turbulence
from seatrial.ocean.water import Water
from seatrial.ocean.waves import Waves
from seatrial.ocean.wind import Wind
from seatrial.pytree import pytree

__all__ = ["Current", "Ocean", "Seabed", "Turbulence", "Water", "Waves", "Wind"]


@pytree
class Ocean:
    """Everything around the vehicles; a part that is None is absent from the compiled program."""

    water: Water
    waves: Waves | None = None
    current: Current | None = None
    wind: Wind | None = None
    turbulence: Turbulence | None = None
    seabed: Seabed | None = None
    solids: Solids | None = None
    """What stands, floats and passes in it."""
