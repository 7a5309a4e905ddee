"""Descriptions of the sensors inside the vehicle: angles, shaft speeds and the battery."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import Number, Plain, Radians, RevPerSecond, Unit
from seatrial.spec.sensors.base import SensorSpec

ChannelName = Annotated[str, Field(min_length=1, max_length=60)]
Volts = Annotated[Number, Unit("V")]
Watts = Annotated[Number, Unit("W")]


class Encoder(SensorSpec):
    """The angle of a fin or of a turning thruster, as it really stands.

    `full` adds offset and counts to the noise of `nominal`. The defaults are of the class of a
    12-bit magnetic encoder such as the ams AS5600.
    """

    type: Literal["encoder"]
    """Selects this sensor."""
    channel: ChannelName
    """Command channel whose angle is measured, for example `rudder` or `pod_angle`."""
    noise: Annotated[Radians, Field(ge=0)] = 0.00075
    """Standard deviation of a sample; 0.043°, the output noise with the fastest filter;
    unchecked."""
    offset: Annotated[Radians, Field(ge=0)] = 0.005
    """Standard deviation of the zero offset that a unit keeps; an assumption, 0.3°."""
    counts: Annotated[int, Field(ge=0, le=2**32)] = 4096
    """Steps of one turn; 0 for an output without steps."""


class Shaft(SensorSpec):
    """The speed of a thruster's shaft.

    `nominal` has noise. `full` counts pulses: those that pass between two samples, over the time
    between them, so that the output moves in steps of 1 / (pulses · period).
    """

    type: Literal["shaft"]
    """Selects this sensor."""
    channel: ChannelName
    """Command channel of a thruster that is driven by its shaft speed."""
    noise: Annotated[RevPerSecond, Field(ge=0)] = 0.02
    """Standard deviation of a sample; an assumption."""
    pulses: Annotated[int, Field(ge=0, le=10**7)] = 84
    """Pulses of one turn; 84 are the electrical steps of a 14-pole motor. 0 for an output without
    steps."""


class Battery(SensorSpec):
    """The battery that feeds the thrusters: voltage, current, power and charge. Those of
    `full_power` get no power when it is empty, as under the fault `power_loss`.

    Thrusters draw full power times (n / n_max)³ where they are driven by shaft speed, and times
    (T / T_max)^1.5 where they are driven in newtons. `nominal` and `full` add noise to voltage and
    current. The defaults are the Blue Robotics 14.8 V, 15.6 Ah lithium-ion pack (unchecked).
    """

    type: Literal["battery"]
    """Selects this sensor."""
    capacity: Annotated[Number, Field(gt=0), Unit("J")] = 831_168.0
    """Energy of the full battery, J; 14.8 V times 15.6 Ah."""
    nominal_voltage: Annotated[Volts, Field(gt=0)] = 14.8
    """Mean of the open-circuit voltage over the charge, unless `open_circuit` says otherwise."""
    open_circuit: (
        Annotated[
            tuple[Annotated[tuple[Number, Number], Field(strict=False)], ...],
            Field(strict=False, min_length=2, max_length=1000),
            Unit("V"),
        ]
        | None
    ) = None
    """Rows of [charge from 0 to 1, open-circuit voltage of the pack]; the curve of a lithium-ion
    cell (Chen and Rincón-Mora 2006) scaled to `nominal_voltage` when left out."""
    resistance: Annotated[Number, Field(ge=0), Unit("ohm")] = 0.05
    """Internal resistance of the pack; an assumption."""
    hotel: Annotated[Watts, Field(ge=0)] = 10.0
    """Power that computers and sensors draw all the time; an assumption."""
    full_power: dict[str, Annotated[Number, Field(ge=0), Unit("W")]] = {}
    """Electrical power of each thruster at its limit, by command channel, W; thrusters that are
    not named draw nothing."""
    charge: Annotated[Plain, Field(gt=0, le=1)] = 1.0
    """Charge at the start of the run, 1 for full."""
    voltage_noise: Annotated[Volts, Field(ge=0)] = 0.01
    """Standard deviation of a sample; an assumption."""
    current_noise: Annotated[Number, Field(ge=0), Unit("A")] = 0.05
    """Standard deviation of a sample; an assumption."""

    @model_validator(mode="after")
    def _curve_is_whole(self) -> Self:
        if self.open_circuit is None:
            return self
        charge = [row[0] for row in self.open_circuit]
        if charge[0] != 0 or charge[-1] != 1 or any(b <= a for a, b in pairwise(charge)):
            raise ValueError(
                f"the charge of `open_circuit` must rise from 0 to 1, found {charge}: give the "
                "voltage of the empty battery first and of the full one last"
            )
        volts = [row[1] for row in self.open_circuit]
        if volts[0] <= 0 or any(b < a for a, b in pairwise(volts)):
            raise ValueError(
                f"the voltage of `open_circuit` must be positive and not fall with the charge, "
                f"found {volts}"
            )
        return self
