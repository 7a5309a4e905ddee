"""What runs inside an exported unit: one vehicle, its orders in, its state out.

A unit holds a scenario (`scenario.yaml` among its resources) and a few lines that hand FMI's calls
to a `Vessel`. The engine is the one of `seatrial run`; Python, JAX and seatrial are those of the
machine on which the unit is used.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from seatrial.channels import Channel
from seatrial.compile.variations import with_overrides
from seatrial.engine.engine import VehicleState
from seatrial.errors import Problem, SpecError
from seatrial.simulation import Simulation
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario

SCENARIO = "scenario.yaml"

OUTPUTS: dict[str, tuple[str, Callable[[VehicleState], float]]] = {
    **{
        f"position.{axis}": ("m", lambda s, i=i: float(s.position[i]))  # type: ignore[misc]
        for i, axis in enumerate(("north", "east", "down"))
    },
    **{
        f"attitude.{angle}": ("rad", lambda s, i=i: float(s.euler[i]))  # type: ignore[misc]
        for i, angle in enumerate(("roll", "pitch", "yaw"))
    },
    **{
        f"velocity.{name}": (unit, lambda s, i=i: float(s.velocity[i]))  # type: ignore[misc]
        for i, (name, unit) in enumerate(
            zip("uvwpqr", ("m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"), strict=True)
        )
    },
}
"""Name -> unit, and how it is read: NED and forward-starboard-down, SI."""

STARTS = {
    "start.north": "m",
    "start.east": "m",
    "start.down": "m",
    "start.heading": "rad",
    "start.speed": "m/s",
}
"""Parameters beside the seed: where and how it begins."""


class Variable(NamedTuple):
    """A number that the unit shows."""

    name: str
    unit: str
    causality: str
    """independent, input, output or parameter."""
    get: Callable[[], float]
    set: Callable[[float], None] | None


class Vessel:
    """The vehicle of a unit's scenario."""

    def __init__(self, resources: str | Path) -> None:
        self._scenario = load(Path(resources) / SCENARIO, Scenario)
        start = self._scenario.vehicles[0].start
        self._begin: dict[str, float] = dict(
            zip(STARTS, (*start.position, start.heading, start.speed), strict=True)
        )
        self._begin["seed"] = float(self._scenario.seed)
        self._simulation: Simulation | None = None
        self._start_time = 0.0
        """What the clock of whoever uses the unit shows when its sea begins, s. The first step
        tells it: what is said of it before does not reach the unit in FMI 3."""
        self._begun = False
        self.channels = channels_of(self._scenario)
        self._orders = {channel.name: 0.0 for channel in self.channels}

    def variables(self) -> list[Variable]:
        """Everything that the unit shows."""
        units = {**STARTS, "seed": "1"}
        found = [Variable("time", "s", "independent", self._now, None)]
        found += [self._parameter(name, unit) for name, unit in units.items()]
        found += [self._input(channel) for channel in self.channels]
        found += [self._output(name, unit) for name, (unit, _) in OUTPUTS.items()]
        found += [self._actuator(channel) for channel in self.channels]
        return found

    def _parameter(self, name: str, unit: str) -> Variable:
        def change(value: float) -> None:
            if self._begun:
                raise SpecError(
                    Problem(
                        f"`{name}` is fixed since the unit was initialised",
                        value=value,
                        expected="a parameter before the end of the initialisation",
                        mend="set it before, or reset the unit",
                    )
                )
            self._begin[name] = value
            self._simulation = None  # somebody may have looked at its outputs already

        return Variable(name, unit, "parameter", lambda: self._begin[name], change)

    def _input(self, channel: Channel) -> Variable:
        def change(value: float) -> None:
            self._orders[channel.name] = value

        name = f"order.{channel.name}"
        return Variable(name, channel.unit, "input", lambda: self._orders[channel.name], change)

    def _output(self, name: str, unit: str) -> Variable:
        return Variable(name, unit, "output", lambda: OUTPUTS[name][1](self.state), None)

    def _actuator(self, channel: Channel) -> Variable:
        def get() -> float:
            return float(self.state.actuators[channel.name])

        return Variable(f"actuator.{channel.name}", channel.unit, "output", get, None)

    def begin(self) -> None:
        """Its parameters are set: refuse them now, if they are to be, and not at the first step."""
        self._running()
        self._begun = True

    @property
    def state(self) -> VehicleState:
        """The vehicle now; the simulation is made when it is first asked for."""
        return next(iter(self._running().vehicles.values()))

    def _running(self) -> Simulation:
        if self._simulation is None:
            begin = self._begin
            if not (begin["seed"].is_integer() and begin["seed"] >= 0.0):
                raise SpecError(
                    Problem(
                        "`seed` is no number of a sea",
                        value=begin["seed"],
                        expected="a whole number, 0 or more",
                        mend="leave it out for the seed of the unit",
                    )
                )
            vehicle = self._scenario.vehicles[0]
            north, east, down, heading, speed = (begin[name] for name in STARTS)
            start = type(vehicle.start)(position=(north, east, down), heading=heading, speed=speed)
            placed = vehicle.model_copy(update={"start": start})
            described = self._scenario.model_copy(update={"vehicles": (placed,)})
            self._simulation = Simulation(with_overrides(described, seed=int(begin["seed"])))
        return self._simulation

    def _now(self) -> float:
        return self._start_time + self._running().time

    def step(self, time: float, length: float) -> str:
        """Move on by a whole number of control periods; what is wrong, or nothing."""
        simulation = self._running()
        period = simulation.control_period
        count = round(length / period) if math.isfinite(length) else 0
        if count < 1 or not math.isclose(count * period, length, rel_tol=1e-6):
            return f"a step of {length:g} s is not a whole number of periods of {period:g} s"
        if simulation.time == 0.0 and math.isfinite(time):
            self._start_time = time
        if not math.isclose(self._now(), time, abs_tol=1e-6 + 1e-9 * abs(time)):
            return f"asked to go on at {time:g} s, but it is at {self._now():g} s"
        if not np.all(np.isfinite(list(self._orders.values()))):
            return "an order is not a number"
        for _ in range(count):
            simulation.step(dict(self._orders))
        status = self.state.status
        return "" if status == "running" else f"the vehicle has {status}"


def channels_of(scenario: Scenario) -> tuple[Channel, ...]:
    """Command channels of the scenario's vehicle."""
    from seatrial.compile.vehicles.actuators import channels_of, expand

    return tuple(channels_of(expand(scenario.vehicles[0].vehicle.actuators)))


def declare(unit: Any, vessel: Vessel, number: Any, causality: Any, variability: Any) -> None:
    """Register every variable of a vessel with a unit, by the classes of its FMI version."""
    for variable in vessel.variables():
        if not hasattr(causality, variable.causality):
            continue  # FMI 2 does not ask for the time
        fixed = variable.causality == "parameter"
        unit.register_variable(
            number(
                variable.name,
                causality=getattr(causality, variable.causality),
                variability=variability.fixed if fixed else variability.continuous,
                description=f"{variable.name.replace('.', ', ')}, {variable.unit}",
                getter=variable.get,
                setter=variable.set,
            ),
            nested=False,
        )


def complete(described: Element) -> Element:
    """The description of a unit with what FMI 2 wants to know of every output: that it is computed
    when the unit is initialised."""
    structure = described.find("ModelStructure")
    if structure is not None and (outputs := structure.find("Outputs")) is not None:
        unknown = SubElement(structure, "InitialUnknowns")
        unknown.extend(Element("Unknown", dict(output.attrib)) for output in outputs)
    return described
