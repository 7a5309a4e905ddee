"""What is known when a sensor is compiled, and what comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from seatrial.channels import Channel
from seatrial.compile.surroundings.light import USUAL_AZIMUTH, USUAL_ELEVATION
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.pytree import constant
from seatrial.render.sky import Sky
from seatrial.render.water import Medium, medium
from seatrial.sensors.sensor import Mount, Sensor
from seatrial.sensors.tap import DenseSensor, Tap
from seatrial.spec.sensors.base import SensorSpec
from seatrial.spec.sensors.position import Modem
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import Weather


@dataclass(frozen=True)
class Context:
    """Everything around a sensor."""

    mount: Mount
    dtype: np.dtype[Any]
    period: float
    """From sample to sample, s."""
    ocean: Ocean
    vehicle: Vehicle
    channels: tuple[Channel, ...]
    """Command channels of the vehicle, in the order of the actuator states."""
    datum: tuple[float, float]
    """Latitude and longitude of the world's origin, degrees."""
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Quaternion, scalar first, from the sensor's axes to the body's; as `mount` says it."""
    bottom: str = "sand"
    """Material of the seabed, one of `geometry.materials.MATERIALS`."""
    rays: RayScene = field(default_factory=lambda: RayScene(()))
    """What rays meet: the vehicles of the run in the order of its traffic, then all other bodies,
    and the bottom."""
    weather: Weather | None = None
    """Of the air; None for a clear day."""
    sky: Sky = field(default_factory=lambda: Sky(USUAL_ELEVATION, USUAL_AZIMUTH))
    """Sun, clouds and fog."""
    water: Medium = field(default_factory=lambda: medium("II"))
    """What the water does to light."""
    name: str = ""
    """Of the vehicle."""
    numbers: Mapping[str, int] | None = None
    """Of all vehicles of the run, as in `Traffic.identity`; None outside of one."""
    modems: Mapping[str, Modem] = field(default_factory=dict)
    """Of the run, by the name of the vehicle."""


@dataclass(frozen=True)
class Built:
    """A sensor and what readers of its measurements need to know."""

    sensor: Sensor
    components: tuple[str, ...]
    units: tuple[str, ...]
    deviation: tuple[float, ...]
    facts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    dense: DenseSensor | None = None
    """What expands the taps of a dense sensor, whose `sensor` is a Tap."""
    contacts: bool = False
    """Whether it looks for other vehicles."""


def check_triangle(described: SensorSpec, key: str, one: str) -> None:
    """Refuse places, under `key` of a description, from which distances tell no side."""
    places = getattr(described, key)
    level = np.array(places)[:, :2]
    spread = np.linalg.svd(level - level.mean(axis=0), compute_uv=False)
    if spread[1] < 1e-3 * spread[0] or spread[0] == 0.0:
        raise described.error(
            (key,),
            f"all {key} lie on one line, so the two sides of it look the same",
            value=places,
            expected=f"at least three {key} that form a triangle seen from above",
            mend=f"move {one} off the line",
        )


def tap_of(
    context: Context,
    components: int,
    needs: Literal["air", "water", ""],
    sweeps: bool,
    itself: bool = False,
    passing: bool = False,
) -> Tap:
    """What a sensor that looks at the world leaves in the compiled loop."""
    return Tap(
        mount=context.mount,
        turn=constant(np.array(context.orientation)[:, None], context.dtype),
        rate=constant(1.0 / context.period, np.float64),
        components=components,
        needs=needs,
        sweeps=sweeps,
        passing=passing,
        vehicles=max(1, len(context.rays.vehicles)),
        itself=itself and bool(context.rays.vehicles),
    )
