"""A scenario stepped from Python."""

from collections.abc import Mapping
from pathlib import Path

from seatrial.engine.runner import Plan
from seatrial.errors import Problem, SpecError
from seatrial.signals import Measurements
from seatrial.spec.scenario import Scenario
from seatrial.stepped.controllers import Controller, prepare
from seatrial.stepped.stepper import Orders, Stepper, VehicleState


class Simulation:
    """A scenario that is stepped from Python, one control period at a time.

    `step(command)` takes a mapping from channels to values (`{"left_rpm": 900}`), or from vehicle
    names to such mappings. An order stays in force until it is replaced; a channel that never got
    one follows the scenario's own timetable or manoeuvre. Without any command the numbers are
    those of `run`.

    Controllers steer here as they do in `run`; a command of a step stands above theirs.
    """

    def __init__(
        self,
        scenario: str | Path | Scenario | Plan,
        *,
        seed: int | None = None,
        controllers: Mapping[str, Controller] | None = None,
        allow_code: bool = False,
    ) -> None:
        self._plan, self._crew = prepare(scenario, controllers, allow_code, seed)
        self._stepper = Stepper(self._plan)
        self._crew.start(self._plan, self.control_period)

    def reset(self) -> None:
        """Back to the start."""
        self._stepper.reset()
        self._crew.start(self._plan, self.control_period)

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._stepper.time

    @property
    def control_period(self) -> float:
        """Time that one step takes, s."""
        return self._stepper.control_period

    @property
    def vehicles(self) -> dict[str, VehicleState]:
        """Every vehicle now."""
        return self._stepper.vehicles

    def step(self, command: Orders | Mapping[str, Orders] | None = None) -> dict[str, VehicleState]:
        """Advance by one control period; a controller that fails raises ControllerError."""
        commands = self._by_vehicle(command)
        self._crew.steer(self._stepper)
        for name, orders in commands.items():
            self._stepper.order(name, orders)
        self._stepper.advance()
        return self.vehicles

    @property
    def measurements(self) -> dict[str, dict[str, Measurements]]:
        """By vehicle and sensor, the samples that arrived in the last step, oldest first.

        Samples of this very instant are among them, unless their sensor has a latency. Inertial
        sensors deliver theirs with the next step, which they feel.
        """
        return self._stepper.arrived

    def set_fault(self, fault: str, on: bool = True, vehicle: str | None = None) -> None:
        """Strike a vehicle with one of the faults that its scenario describes, or call it off.

        A fault that is switched off here still sets in when its own trigger says so.
        """
        self._stepper.set_fault(fault, on, vehicle)

    def _by_vehicle(self, command: Orders | Mapping[str, Orders] | None) -> dict[str, Orders]:
        names = [v.name for v in self._plan.header.vehicles]
        if not command:
            return {}
        nested = {k: v for k, v in command.items() if isinstance(v, Mapping)}
        if not nested and len(names) == 1:
            return {names[0]: command}  # type: ignore[dict-item]  # no mappings in it
        unknown = [k for k in command if k not in names]
        if unknown:
            raise SpecError(
                Problem(
                    f"there is no vehicle `{unknown[0]}` in this simulation",
                    value=unknown[0],
                    expected=f"one of {', '.join(names)}",
                    mend="with several vehicles, give {vehicle: {channel: value}}",
                )
            )
        return nested
