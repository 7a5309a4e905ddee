"""Avoidance: another course or speed when the wished one would lead into a vessel or a shape."""

from seatrial.gnc.avoidance.avoid import Avoidance, AvoidanceState, Info, Seen, avoid, begin
from seatrial.gnc.avoidance.contacts import Contacts, Targets
from seatrial.gnc.avoidance.echoes import Echoes, Eye, Sight, Told
from seatrial.gnc.avoidance.shapes import Circles, Polygons
from seatrial.gnc.avoidance.tracking import Ear, Tracks, Watch

__all__ = [
    "Avoidance",
    "AvoidanceState",
    "Circles",
    "Contacts",
    "Ear",
    "Echoes",
    "Eye",
    "Info",
    "Polygons",
    "Seen",
    "Sight",
    "Targets",
    "Told",
    "Tracks",
    "Watch",
    "avoid",
    "begin",
]
