"""Allocation: which orders to thrusters, fins and tanks make a demanded wrench."""

from seatrial.gnc.allocation.effectors import Azimuths, EffectorGroup, Effectors
from seatrial.gnc.allocation.orders import Allocation, allocate, wrench, wrenches

__all__ = [
    "Allocation",
    "Azimuths",
    "EffectorGroup",
    "Effectors",
    "allocate",
    "wrench",
    "wrenches",
]
