"""What the loop turns: vehicles of one kind, what they carry on, and how time is cut."""

from typing import Any, NamedTuple

import jax

from seatrial.core.types import Model, State
from seatrial.engine.command.commanders import Commander
from seatrial.engine.command.compiled_controller import CompiledController, ControllerState
from seatrial.engine.compiled.judging import Limits
from seatrial.engine.compiled.suite import Fitted, Sample, Sensing
from seatrial.engine.compiled.touches import Touch
from seatrial.engine.compiled.traffic import Passing, looks_out
from seatrial.faults import Faults, FaultState
from seatrial.ocean import Ocean
from seatrial.pytree import batched, pytree, static


@pytree
class Group:
    """Vehicles of one kind that take orders in the same way: one Model, N states."""

    model: Model = batched(where="varied")
    commander: Commander
    initial: State = batched()
    suite: tuple[Fitted, ...]
    """Sensors."""
    faults: Faults | None
    """What may break; None where nothing does."""
    limits: Limits
    """Beyond which a vehicle's run has ended."""
    size: jax.Array
    """(2,) length and beam, m."""
    passing: Passing | None
    """Vessels on a timetable, for those who look for others."""
    controller: CompiledController | None
    """Code of the user's own that gives orders in the commander's place."""
    varied: tuple[bool, ...] = static()
    """For each array of the Model whether its last axis counts the vehicles."""
    touches_others: bool = static(default=False)
    """Whether other vehicles push it, or it passes through them; the same for all of a run."""

    @property
    def meets_others(self) -> bool:
        """Whether a vehicle of it looks for others, or may touch them."""
        return looks_out(self.suite) or self.limits.stop_when_collided or self.touches_others

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return int(self.initial.position.shape[-1])


class Carry(NamedTuple):
    """What one control period hands to the next."""

    state: State
    memory: Any
    """Of the commander; arrays with the vehicles last."""
    controller: ControllerState | None
    sensing: tuple[Sensing, ...]
    faults: FaultState | None
    status: jax.Array
    """(N,) codes of `judging.STATUS`."""
    upset: jax.Array
    """(N,) for how long a vehicle has been upside down, s."""
    touch: tuple[Touch, ...]
    """What was touched: of the bottom and solids, and of other vehicles. Those who pass through
    others have the first only, those who can touch nothing neither."""


Samples = tuple[Sample, ...]
"""What each sensor measured in a stretch of time; samples on the first axis."""


class Schedule(NamedTuple):
    """How time is cut; static in a compiled program."""

    time_step: float
    substeps: int
    """Time steps per control period."""
    controls: int
    """Control periods per frame."""

    @property
    def frame_steps(self) -> int:
        """Time steps per frame."""
        return self.substeps * self.controls


Groups = tuple[Group, ...]
Oceans = tuple[Ocean, ...]
Carries = tuple[Carry, ...]
