"""Descriptions of failsafes: what a vehicle on a mission watches, and what it does then."""

import math
from typing import Annotated, Literal

from pydantic import Field

from seatrial.spec.base import Metres, Plain, Radians, Seconds, Spec

Action = Literal["warn", "slow", "hold", "return", "surface", "abort"]
After = Annotated[Seconds, Field(ge=0, le=1e5)]


class _Watched(Spec):
    """What every failsafe shares."""

    action: Action | None = None
    """What is done while it lasts. `warn`: an event only. `slow`: at half the speed. `hold`:
    stay where it began, or go round there if it cannot stop. `return`: go to the start and
    stay. `surface`: come up and stay. `abort`: stop all actuators. From `hold` on the mission
    waits; of several actions the last in this list is done. When left out: `return` for a lost
    link, a low battery and, on the surface, water in the hull; `hold` at the fence and, on the
    surface, for an uncertain position; `abort` for a capsize; `warn` for actuators and
    progress; `surface` else."""


class Failsafe(_Watched):
    """Something that is watched without a number of its own."""

    after: After = 0.0
    """How long the cause must last."""


class PositionFailsafe(Failsafe):
    """The vehicle does not know where it is."""

    limit: Annotated[Metres, Field(gt=0, le=1e6)] | None = None
    """Standard deviation of the estimated horizontal position that is too large; 30 m, or two
    vehicle lengths where that is more, when left out."""
    after: After = 2.0
    """How long the cause must last."""


class LinkFailsafe(Failsafe):
    """Nobody outside is heard: the fault `link: lost`."""

    after: After = 10.0
    """How long the cause must last."""


class BatteryFailsafe(Failsafe):
    """The battery runs low, by the vehicle's sensor of `type: battery`."""

    charge: Annotated[Plain, Field(gt=0, lt=1)] = 0.2
    """Share of the full charge that is too little."""
    after: After = 5.0
    """How long the cause must last."""


class DepthFailsafe(Failsafe):
    """Too deep; for vehicles that dive."""

    limit: Annotated[Metres, Field(gt=0, le=12_000)] | None = None
    """Depth that is too large; 5 m and a fifth more than the deepest place of its own mission when
    left out."""
    after: After = 1.0
    """How long the cause must last."""


class AltitudeFailsafe(Failsafe):
    """Too near to the bottom, by the vehicle's DVL or altimeter, the first that it has."""

    limit: Annotated[Metres, Field(gt=0, le=1000)] = 1.0
    """Altitude over the bottom that is too small."""
    after: After = 1.0
    """How long the cause must last."""


class ActuatorFailsafe(Failsafe):
    """An actuator does not do what it is told: its `shaft` or `encoder` measures something else.
    The allocation then leaves it out, and tries it again after a minute in which it stood where it
    was told. Where nothing measures it, the vehicle is heard to answer its orders with less surge
    force or yawing moment than its own model says, and goes on with what it has."""

    tolerance: Annotated[Plain, Field(gt=0, le=1)] = 0.15
    """Difference that is too large, as a share of the largest order."""
    after: After = 2.0
    """How long the cause must last."""


class CapsizeFailsafe(Failsafe):
    """It leans too far."""

    limit: Annotated[Radians, Field(gt=0, le=math.pi)] = math.radians(75.0)
    """Angle between its own down axis and the world's that is too large."""
    after: After = 2.0
    """How long the cause must last."""


class ProgressFailsafe(_Watched):
    """A leg is not getting shorter."""

    after: Annotated[Seconds, Field(gt=0, le=1e6)] | None = None
    """How long it may take to come nearer to the end of the leg by half a vehicle length; two
    minutes, or the time for forty vehicle lengths where that is more, when left out."""


class Failsafes(Spec):
    """What a vehicle on a mission watches by itself; `null` switches one off."""

    position: PositionFailsafe | None = PositionFailsafe()
    """Uncertain position."""
    fence: Failsafe | None = Failsafe()
    """The fence of its guidance: within twice the standard deviation of the position, and the
    distance in which it stops or turns away, of leaving it."""
    link: LinkFailsafe | None = LinkFailsafe()
    """Lost link."""
    battery: BatteryFailsafe | None = BatteryFailsafe()
    """Low battery."""
    ingress: Failsafe | None = Failsafe()
    """Water in the hull: the fault `hull: ingress`, which its leak detector sees after a second."""
    depth: DepthFailsafe | None = DepthFailsafe()
    """Too deep."""
    altitude: AltitudeFailsafe | None = AltitudeFailsafe()
    """Too near to the bottom."""
    actuator: ActuatorFailsafe | None = ActuatorFailsafe()
    """An actuator that does not follow, or that is reported broken (`detected_after`)."""
    capsize: CapsizeFailsafe | None = CapsizeFailsafe()
    """Capsizing."""
    progress: ProgressFailsafe | None = ProgressFailsafe()
    """No progress."""
