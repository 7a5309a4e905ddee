"""A scenario stepped from Python."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seatrial.compile.controllers import prepare
from seatrial.engine.engine import Engine, VehicleState
from seatrial.engine.exchange.controllers import AnyController
from seatrial.engine.exchange.deliveries import Deliveries
from seatrial.engine.exchange.orders import as_commands
from seatrial.engine.plan import Plan
from seatrial.signals import Command, Measurements
from seatrial.spec.scenario import Scenario


class Simulation:
    """A scenario that is stepped from Python, one control period at a time.

    `step(command)` takes a mapping from channels to values (`{"left_rpm": 900}`), a `Command`, or a
    mapping from vehicle names to either. An order stays in force until it is replaced or released;
    a channel that has none follows the scenario's own timetable, manoeuvre or mission. Without any
    command the numbers are those of `run`.

    Controllers steer here as they do in `run`; a command of a step stands above theirs.
    """

    def __init__(
        self,
        scenario: str | Path | Scenario | Plan,
        *,
        seed: int | None = None,
        controllers: Mapping[str, AnyController] | None = None,
        allow_code: bool = False,
    ) -> None:
        plan, self._controllers = prepare(scenario, controllers, allow_code, seed)
        self._names = [v.name for v in plan.header.vehicles]
        self._engine = Engine(plan, stepped=True)
        self._start()

    def reset(self) -> None:
        """Back to the start."""
        self._engine.reset()
        self._start()

    def _start(self) -> None:
        self._deliveries = Deliveries(self._engine.plan, self._engine.opening)
        self._controllers.start(self._engine)

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._engine.time

    @property
    def control_period(self) -> float:
        """Time that one step takes, s."""
        return self._engine.control_period

    @property
    def vehicles(self) -> dict[str, VehicleState]:
        """Every vehicle now."""
        return self._engine.vehicles

    def step(self, command: Command | Mapping[str, Any] | None = None) -> dict[str, VehicleState]:
        """Advance by one control period; a controller that fails raises ControllerError."""
        self._engine.order(as_commands(command, self._names))
        self._controllers.steer(self._engine, self._deliveries)
        block = self._engine.advance(1)
        self._deliveries.take([group.measurements for group in block.frames.groups])
        return self.vehicles

    @property
    def measurements(self) -> dict[str, dict[str, Measurements]]:
        """By vehicle and sensor, the samples that arrived in the last step, oldest first.

        Samples of this very instant are among them, unless their sensor has a latency. Inertial
        sensors deliver theirs with the next step, which they feel.
        """
        now = self.time
        return {n: self._deliveries.heard(n, now - self.control_period, now) for n in self._names}

    def set_fault(self, fault: str, on: bool = True, vehicle: str | None = None) -> None:
        """Strike a vehicle with one of the faults that its scenario describes, or call it off.

        A fault that is switched off here still sets in when its own trigger says so.
        """
        self._engine.set_fault(fault, on, vehicle)
