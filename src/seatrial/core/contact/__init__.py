"""Contact of a hull with the bottom, with solids and with other vehicles.

A hull is balls of one radius, spread so that their common skin is a box with rounded edges as
long, wide and high as it (`compile.surroundings.contact`). Each ball that would reach into a
surface by δ at the end of a time step is pushed out along the surface's normal n and rubs along it:

    F_n = max(k δ⁺ + c s(δ) δ̇⁺, 0)                 spring and damper (Kelvin–Voigt)
    F_t = −μ F_n v_t⁺ / √(|v_t⁺|² + ε²)            Coulomb's friction, rounded

⁺ marks what is at the end of the step with these forces in it: they are implicit in velocity, so
that springs may be as stiff and friction as sudden as one likes at any step (`solve`). s rises from
0 to 1 over the first half millimetre, so that the damper does not jump in. A hull that friction
holds creeps by less than ε. A surface with a fender has its spring in series and at most its
damper.

A ball touches at most one solid, the nearest, one other vehicle, and the bottom.
"""

from seatrial.core.contact.hull import BOTTOM, NOTHING, Contact
from seatrial.core.contact.load import Load, untouched
from seatrial.core.contact.sides import Moved, Side
from seatrial.core.contact.solve import Pushed, near, pushed
from seatrial.core.contact.surfaces import penetration, within
from seatrial.core.contact.touch import FRICTION

__all__ = [
    "BOTTOM",
    "FRICTION",
    "NOTHING",
    "Contact",
    "Load",
    "Moved",
    "Pushed",
    "Side",
    "near",
    "penetration",
    "pushed",
    "untouched",
    "within",
]
