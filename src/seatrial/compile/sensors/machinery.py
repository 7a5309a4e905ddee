"""Sensors inside the vehicle."""

import math
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.context import Built, Context
from seatrial.compile.vehicles.actuators import expand
from seatrial.errors import Path
from seatrial.ocean.integrals import integral
from seatrial.pytree import constant
from seatrial.sensors.machinery.battery import Battery, Load
from seatrial.sensors.machinery.battery import Noise as BatteryNoise
from seatrial.sensors.machinery.encoder import Encoder
from seatrial.sensors.machinery.shaft import Shaft
from seatrial.spec import actuators as actuator_spec
from seatrial.spec.base import Spec
from seatrial.spec.sensors import machinery as spec
from seatrial.spec.wording import did_you_mean

Array = NDArray[np.float64]

CELL_ROWS = 201
"""Rows of the table of the default cell."""


def encoder(described: spec.Encoder, context: Context) -> Built:
    """An angle encoder."""
    dtype, full = context.dtype, described.fidelity == "full"
    ideal = described.fidelity == "ideal"
    index = _find(described, ("channel",), described.channel, {"rad"}, "an angle", context)
    step = 2.0 * math.pi / described.counts if described.counts and full else 0.0
    sensor = Encoder(
        noise=None if ideal else constant(described.noise, dtype),
        offset=constant(described.offset, dtype) if full and described.offset else None,
        step=constant(step, dtype) if step else None,
        channel=index,
    )
    deviation = 0.0 if ideal else math.hypot(described.noise, step / math.sqrt(12.0))
    if full:
        deviation = math.hypot(deviation, described.offset)
    return Built(sensor, ("angle",), ("rad",), (deviation,))


def shaft(described: spec.Shaft, context: Context) -> Built:
    """A tachometer."""
    dtype, ideal = context.dtype, described.fidelity == "ideal"
    index = _find(described, ("channel",), described.channel, {"rev/s"}, "a shaft speed", context)
    counted = described.pulses * context.period if described.fidelity == "full" else 0.0
    sensor = Shaft(
        noise=None if ideal else constant(described.noise, dtype),
        pulses=constant(counted, dtype) if counted else None,
        channel=index,
    )
    deviation = 0.0 if ideal else described.noise
    if counted:
        # The start and the end of a window each cut a pulse at a place of their own.
        deviation = math.hypot(deviation, 1.0 / (counted * math.sqrt(6.0)))
    return Built(sensor, ("speed",), ("rev s-1",), (deviation,))


def battery(described: spec.Battery, context: Context) -> Built:
    """A battery."""
    dtype, ideal = context.dtype, described.fidelity == "ideal"
    charges, volts = _open_circuit(described)
    coulombs = described.capacity / integral(volts, charges)
    noise = BatteryNoise(
        voltage=constant(described.voltage_noise, dtype),
        current=constant(described.current_noise, dtype),
    )
    sensor = Battery(
        loads=tuple(_load(described, name, full, context) for name, full in _powers(described)),
        hotel=constant(described.hotel, dtype),
        charges=constant(charges, np.float64),
        voltages=constant(volts, np.float64),
        resistance=constant(described.resistance, np.float64),
        drain=constant(context.period / coulombs, np.float64),
        start=constant(described.charge, np.float64),
        noise=None if ideal else noise,
    )
    deviation = (0.0, 0.0) if ideal else (described.voltage_noise, described.current_noise)
    return Built(
        sensor,
        ("voltage", "current", "power", "charge"),
        ("V", "A", "W", "1"),
        # the error of the power depends on what is drawn; the charge is known exactly
        (*deviation, 0.0, 0.0),
        {"capacity_J": (described.capacity,), "capacity_C": (coulombs,)},
    )


def _powers(described: spec.Battery) -> list[tuple[str, float]]:
    return [(name, full) for name, full in described.full_power.items() if full > 0.0]


def _load(described: spec.Battery, name: str, full: float, context: Context) -> Load:
    path = ("full_power", name)
    index = _find(described, path, name, {"rev/s", "N"}, "a thruster's speed or thrust", context)
    thruster = next(
        a
        for a in expand(context.vehicle.actuators)
        if isinstance(a, actuator_spec.Thruster) and a.name == name
    )
    thrust = thruster.thrust
    if isinstance(thrust, actuator_spec.DirectThrust):
        by_speed, limits = False, thrust.thrust_limits
    else:
        by_speed, limits = True, thrust.speed_limits
    return Load(
        full=constant(full, context.dtype),
        limit=constant(max(abs(limit) for limit in limits), context.dtype),
        by_speed=by_speed,
        channel=index,
    )


def _open_circuit(described: spec.Battery) -> tuple[Array, Array]:
    """Charge and open-circuit voltage of the pack."""
    if described.open_circuit is not None:
        charges, volts = np.array(described.open_circuit, np.float64).T
        return charges, volts
    charges = np.linspace(0.0, 1.0, CELL_ROWS)
    cell = lithium_ion(charges)
    return charges, cell * (described.nominal_voltage / integral(cell, charges))


def lithium_ion(charge: Array) -> Array:
    """Open-circuit voltage of a lithium-ion cell over its charge, V (Chen and Rincón-Mora 2006).

    V = 3.685 − 1.031 exp(−35 s) + 0.2156 s − 0.1178 s² + 0.3201 s³
    """
    polynomial = 3.685 + charge * (0.2156 + charge * (-0.1178 + charge * 0.3201))
    return np.asarray(polynomial - 1.031 * np.exp(-35.0 * charge))


def _find(
    described: Spec, path: Path, name: str, units: set[str], what: str, context: Context
) -> int:
    """Index of a channel that is measured in one of `units`."""
    fitting = [c.name for c in context.channels if c.unit in units]
    for index, channel in enumerate(context.channels):
        if channel.name == name:
            if channel.unit in units:
                return index
            _refuse(
                described, path, f"channel `{name}` is in {channel.unit}, not {what}", name, fitting
            )
    _refuse(described, path, f"this vehicle has no channel `{name}`", name, fitting)


def _refuse(described: Spec, path: Path, message: str, name: str, fitting: list[str]) -> NoReturn:
    listed = ", ".join(f"`{f}`" for f in fitting)
    raise described.error(
        path,
        message,
        value=name,
        expected=f"one of {listed}" if fitting else "no channel of this vehicle can be measured so",
        mend=did_you_mean(name, fitting),
    )
