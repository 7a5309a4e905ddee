"""What every sensor's description shares."""

from typing import Annotated, Literal

from pydantic import Field

from seatrial.spec.base import Number, Position, Radians, Seconds, Spec, Unit

Hertz = Annotated[Number, Unit("Hz")]
Fidelity = Literal["ideal", "nominal", "full"]
SensorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class SensorSpec(Spec):
    """A sensor on a vehicle; `type` selects which."""

    name: SensorName
    """Unique on the vehicle; also the last part of its topic."""
    rate: Annotated[Hertz, Field(ge=1e-4, le=10_000)]
    """Samples per second; its period must be a whole number of time steps."""
    position: Position = (0.0, 0.0, 0.0)
    """Where it sits, in the body frame."""
    roll: Radians = 0.0
    """Mounting angles (yaw, then pitch, then roll) that turn the body's axes into the sensor's."""
    pitch: Radians = 0.0
    """See `roll`."""
    yaw: Radians = 0.0
    """See `roll`."""
    latency: Annotated[Seconds, Field(ge=0, le=60)] = 0.0
    """From taking a sample to having it."""
    jitter: Annotated[Seconds, Field(ge=0, le=10)] = 0.0
    """Standard deviation of the latency, normal, cut at four of them and at zero latency."""
    fidelity: Fidelity = "full"
    """`ideal`: the truth, always there and at once. `nominal`: the random errors of the data
    sheet, and silence where the device cannot work. `full`: everything described."""
