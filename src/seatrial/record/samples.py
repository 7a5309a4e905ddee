"""A sensor's samples as a labelled xarray.Dataset."""

from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.engine.frames import VehicleInfo
from seatrial.signals import Measurements, PayloadInfo, SensorInfo

if TYPE_CHECKING:
    import xarray


def label_samples(
    vehicle: VehicleInfo, sensor: SensorInfo, samples: Measurements
) -> "xarray.Dataset":
    """The valid samples over the time at which they were taken, a variable per component."""
    import xarray

    valid = samples.cut(samples.valid)
    data: dict[str, Any] = {}
    for i, (name, unit) in enumerate(zip(sensor.components, sensor.units, strict=True)):
        about: dict[str, Any] = {
            "units": unit,
            "long_name": f"{name.replace('_', ' ')} by {sensor.name}",
        }
        if sensor.deviation[i] > 0.0:
            about["standard_deviation"] = sensor.deviation[i]
        data[name] = ("time", valid.values[:, i], about)
    late = {"units": "s", "long_name": "simulated time at which the sample was there to be used"}
    data["arrival"] = ("time", valid.arrival, late)
    data["fault"] = ("time", valid.fault, _flags(vehicle))
    time = {"units": "s", "long_name": "simulated time at which the sample was taken", "axis": "T"}
    return xarray.Dataset(data, {"time": ("time", valid.time, time)}, _attributes(vehicle, sensor))


def _flags(vehicle: VehicleInfo) -> dict[str, Any]:
    """Meaning of the bits after the CF conventions, which separate names by blanks."""
    about: dict[str, Any] = {"long_name": "bits of the faults that distort the sample"}
    if vehicle.faults:
        about["flag_masks"] = (1 << np.arange(len(vehicle.faults))).astype(np.int32)
        about["flag_meanings"] = " ".join(f.name.replace(" ", "_") for f in vehicle.faults)
    return about


def _attributes(vehicle: VehicleInfo, sensor: SensorInfo) -> dict[str, Any]:
    return {
        "Conventions": "CF-1.11",
        "vehicle": vehicle.name,
        "sensor": sensor.name,
        "type": sensor.type,
        "rate_hz": sensor.rate,
        "position_m": np.array(sensor.position),
        "orientation": np.array(sensor.orientation),
        **{name: np.array(numbers) for name, numbers in sensor.facts.items()},
    }


def payload_dimensions(payload: PayloadInfo) -> tuple[str, ...]:
    """Names of the dimensions of one sample's array."""
    names = {
        "echogram": ("beam", "range_bin"),
        "sonar_image": ("beam", "range_bin"),
        "image": ("row", "column", "channel"),
        "cloud": ("point", "field"),
        "scan": ("field", "beam"),
    }
    return names[payload.kind][: len(payload.shape)]
