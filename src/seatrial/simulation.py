"""A scenario stepped from Python."""

import time as wall_clock
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seatrial.api import Run
from seatrial.compile.control.controllers import prepare
from seatrial.engine.assembly import Block
from seatrial.engine.engine import Engine, VehicleState
from seatrial.engine.exchange.controllers import AnyController
from seatrial.engine.exchange.deliveries import Deliveries, Measured
from seatrial.engine.exchange.orders import as_commands
from seatrial.engine.frames import Sink
from seatrial.engine.output.gathering import Gatherer
from seatrial.engine.output.outlets import Outlets
from seatrial.engine.plan import Plan
from seatrial.errors import Problem, SpecError
from seatrial.record.choose import recorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.place import as_path
from seatrial.signals import Command, Measurements
from seatrial.spec.scenario import Scenario


class Simulation:
    """A scenario that is stepped from Python, one control period at a time.

    `step(command)` takes a mapping from channels to values (`{"left_rpm": 900}`), a `Command`, or a
    mapping from vehicle names to either. An order stays in force until it is replaced or released;
    a channel that has none follows the scenario's own timetable, manoeuvre or mission. Without any
    command the numbers are those of `run`.

    Controllers steer here as they do in `run`; a command of a step stands above theirs.

    With `record=True`, or with a name for a recording in `out`, frames are kept from the start, and
    `finish()` gives what `run` gives: dataset, figures, what became of every vehicle.

    >>> simulation = st.Simulation("otter-turning-circle", record=True)
    >>> for _ in range(50):
    ...     _ = simulation.step({"left_rpm": 900, "right_rpm": 700})
    >>> simulation.finish().dataset.sizes["time"]
    50
    """

    def __init__(
        self,
        scenario: str | Path | Scenario | Plan,
        *,
        seed: int | None = None,
        controllers: Mapping[str, AnyController] | None = None,
        allow_code: bool = False,
        out: str | Path | None = None,
        record: bool = False,
    ) -> None:
        plan, self._controllers = prepare(scenario, controllers, allow_code, seed)
        self._names = [v.name for v in plan.header.vehicles]
        self._out, self._record = out, record or out is not None
        self._log: _Log | None = None
        self._engine = Engine(plan, stepped=True)
        self._start()

    def reset(self) -> None:
        """Back to the start, where a recording begins anew."""
        self._engine.reset()
        self._start()

    def _start(self) -> None:
        self._deliveries = Deliveries(self._engine.plan, self._engine.opening)
        self._controllers.start(self._engine)
        if self._log is not None:
            self._log.close()
        plan = self._engine.plan
        self._log = _Log(plan, self._engine.opening, self._out) if self._record else None

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
        began = wall_clock.perf_counter()
        block = self._engine.advance(1)
        if self._log is not None:
            self._log.take(block, wall_clock.perf_counter() - began)
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

    def finish(self) -> Run:
        """End the recording here; the next step begins another one only after `reset`.

        A vehicle whose mission has legs left is `unfinished`.
        """
        if self._log is None or self._engine.periods == 0:
            raise SpecError(
                Problem(
                    "this simulation has recorded nothing",
                    expected="a step, and `record=True` or a name for a recording in `out`",
                    mend="say so where the `Simulation` is made; after `finish` call `reset`",
                )
            )
        finished, self._log = self._log.close(), None
        return finished

    def set_fault(self, fault: str, on: bool = True, vehicle: str | None = None) -> None:
        """Strike a vehicle with one of the faults that its scenario describes, or call it off.

        A fault that is switched off here still sets in when its own trigger says so.
        """
        self._engine.set_fault(fault, on, vehicle)


class _Log:
    """Keeps what a simulation gives, as `run` does."""

    def __init__(self, plan: Plan, opening: list[Measured], out: str | Path | None) -> None:
        self._plan, self._wall_time = plan, 0.0
        self._kept: MemoryRecorder | Path = MemoryRecorder() if out is None else as_path(out)
        sink: Sink = (
            self._kept
            if isinstance(self._kept, MemoryRecorder)
            else recorder(self._kept, len(plan.header.vehicles))
        )
        self._gatherer = Gatherer(plan, opening, endless=True)
        self._outlets = Outlets([sink], plan.header, plan.scene)

    def take(self, block: Block, wall_time: float) -> None:
        """Keep the frames of a block that took so long to compute."""
        self._wall_time += wall_time
        for frames in self._gatherer.add(block):
            self._outlets.write(frames)

    def close(self) -> Run:
        """The recording up to here."""
        for frames in self._gatherer.finish():
            self._outlets.write(frames)
        summary = self._gatherer.summary(stopped=False)
        for lost in self._outlets.close(summary):
            raise lost.error
        return Run(self._plan.header, summary, self._wall_time, self._kept)
