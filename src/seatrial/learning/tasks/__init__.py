"""What can be learnt: one file for each task."""

from typing import Literal

from seatrial.learning.task import Task
from seatrial.learning.tasks.altitude import Altitude
from seatrial.learning.tasks.avoidance import Avoidance
from seatrial.learning.tasks.docking import Docking
from seatrial.learning.tasks.heading import HeadingHold
from seatrial.learning.tasks.inspection import Inspection
from seatrial.learning.tasks.path import PathFollowing
from seatrial.learning.tasks.station import StationKeeping

TASKS: dict[str, tuple[Task, str, str, Literal["actuators", "forces"]]] = {
    "HeadingHold": (HeadingHold(), "otter", "calm", "actuators"),
    "PathFollowing": (PathFollowing(), "otter", "calm", "actuators"),
    "StationKeeping": (StationKeeping(), "bluerov2_heavy", "harbour-current", "forces"),
    "Docking": (Docking(), "otter", "calm", "actuators"),
    "Avoidance": (Avoidance(), "otter", "calm", "actuators"),
    "Altitude": (Altitude(), "remus100", "rolling-seabed", "actuators"),
    "Inspection": (Inspection(), "bluerov2_heavy", "calm", "forces"),
}
"""Name -> the task, and the vehicle, the world and the kind of actions with which it is posed
unless others are named."""
