"""What a description may say and can hardly mean: speeds and orders beyond what a vehicle has."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from seatrial.compile.vehicles.actuators import channels_of, expand, limits_of
from seatrial.compile.vehicles.limits import FALL, own_speed
from seatrial.errors import Path, Problem, SpecError
from seatrial.spec.base import Spec
from seatrial.spec.scenario import Scenario


@contextmanager
def within_reach(described: Spec) -> Iterator[None]:
    """Refuse a description whose numbers overflow, divide by nothing or leave no inverse."""
    try:
        yield
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise described.error(
            (),
            "holds numbers too extreme to compute with",
            value=str(error),
            expected="numbers as real vehicles, sensors and seas have them",
            mend="look for a number that is very large or very small",
        ) from error


def check_start(scenario: Scenario, index: int) -> None:
    """Refuse a vehicle that begins faster than anything of its size, or with orders beyond its
    actuators."""
    participant = scenario.vehicles[index]
    start, fastest = participant.start, own_speed(participant.vehicle) + FALL
    if abs(start.speed) > fastest:
        raise scenario.error(
            ("vehicles", index, "start", "speed"),
            f"no vehicle of the mass and thrust of `{participant.vehicle.name}` is as fast",
            value=start.speed,
            expected=f"less than {fastest:.3g} m/s",
            mend="start it slower",
        )
    states = {key: [value] for key, value in start.actuators.items()}
    beyond = list(_beyond(scenario, index, ("start", "actuators"), states))
    if beyond:
        raise SpecError(beyond)


def doubtful_orders(scenario: Scenario, index: int) -> list[Problem]:
    """Orders of a timetable that the actuators cut off at their limits."""
    commands = scenario.vehicles[index].commands
    orders = {
        key: [value for _, value in rows] if isinstance(rows, tuple) else [rows]
        for key, rows in commands.items()
    }
    return list(_beyond(scenario, index, ("commands",), orders))


def _beyond(
    scenario: Scenario, index: int, place: Path, orders: dict[str, list[float]]
) -> Iterator[Problem]:
    actuators = expand(scenario.vehicles[index].vehicle.actuators)
    limits = limits_of(actuators)
    path = ("vehicles", index, *place)
    named = ((c, key, c.split(key)) for key in orders for c in channels_of(actuators))
    for channel, key, factor in named:
        if factor is None or channel.name not in limits:
            continue
        low, high = (side / factor for side in limits[channel.name])
        values = orders[key]
        value = max(values, key=lambda order: max(order - high, low - order))
        if max(value - high, low - value) > 1e-6 * max(abs(low), abs(high)):
            yield scenario.problem(
                (*path, key),
                f"`{channel.name}` goes no farther than its limits",
                value=value,
                expected=f"from {low:.4g} to {high:.4g}",
                mend="order less, or change the limits of the actuator",
            )
