"""Faults: when they set in, and what each does to a sensor, an actuator, the hull or a link.

`types` says what may go wrong and what has; `triggers` when; `sensors` and `vehicle` what it does.
"""

from seatrial.faults.sensors import ORDER as ORDER
from seatrial.faults.sensors import LosesLock as LosesLock
from seatrial.faults.sensors import SensorFault as SensorFault
from seatrial.faults.sensors import distort as distort
from seatrial.faults.triggers import begin as begin
from seatrial.faults.triggers import update as update
from seatrial.faults.types import MOST_FAULTS as MOST_FAULTS
from seatrial.faults.types import Condition as Condition
from seatrial.faults.types import Faults as Faults
from seatrial.faults.types import FaultState as FaultState
from seatrial.faults.types import Trigger as Trigger
from seatrial.faults.types import VehicleFault as VehicleFault
from seatrial.faults.types import Windows as Windows
from seatrial.faults.vehicle import drive_of as drive_of
from seatrial.faults.vehicle import impair as impair
from seatrial.faults.vehicle import obey as obey
