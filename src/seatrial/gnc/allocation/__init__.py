"""Allocation: which orders to thrusters, fins and tanks make a demanded wrench."""

from seatrial.gnc.allocation.effectors import Azimuths, Effectors, Group
from seatrial.gnc.allocation.orders import Allocation, allocate, wrench

__all__ = ["Allocation", "Azimuths", "Effectors", "Group", "allocate", "wrench"]
