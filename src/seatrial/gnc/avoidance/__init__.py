"""Avoidance: another course or speed when the wished one would lead into a vessel or a shape."""

from seatrial.gnc.avoidance.avoid import Avoidance, Info, Memory, avoid, begin
from seatrial.gnc.avoidance.contacts import Contacts, Targets
from seatrial.gnc.avoidance.shapes import Circles, Polygons

__all__ = [
    "Avoidance",
    "Circles",
    "Contacts",
    "Info",
    "Memory",
    "Polygons",
    "Targets",
    "avoid",
    "begin",
]
