"""Sensors side by side: the samples of all vehicles that have the same sensor as one table."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from seatrial.engine.frames import Frames, RunHeader
from seatrial.record.dataset import Labelled
from seatrial.record.samples import payload_dimensions
from seatrial.signals import Measurements, SensorInfo

FOLDER = "sensors"
GROWING = ("time", "arrival", "values", "valid", "fault")
"""Tables of every sensor that grow sample by sample; fields of `Measurements`."""
PAYLOAD = "payload"
"""One more, of a dense sensor."""


@dataclass(frozen=True)
class Fitting:
    """A sensor, and the vehicles on which it takes its samples at the same times."""

    place: str
    """Its folder in the store."""
    info: SensorInfo
    vehicles: tuple[str, ...]

    @property
    def growing(self) -> tuple[str, ...]:
        """Its tables that grow."""
        return GROWING if self.info.payload is None else (*GROWING, PAYLOAD)

    @property
    def payload_place(self) -> str:
        """Where the arrays of a dense sensor are in the store."""
        return f"{self.place}/{PAYLOAD}"

    def join(self, frames: Frames) -> Measurements:
        """Samples of a block, (S, N, ...)."""
        row = {name: i for i, name in enumerate(self.vehicles)}
        parts = [
            ([row[name] for name in group.names], group.measurements[self.info.name])
            for group in frames.groups
            if group.names[0] in row
        ]
        time, vehicles = parts[0][1].time, len(self.vehicles)

        def table(field: str) -> Any:
            first = getattr(parts[0][1], field)
            kind = np.result_type(*(getattr(part, field) for _, part in parts))
            joined = np.empty((len(time), vehicles, *first.shape[2:]), kind)
            for rows, part in parts:
                joined[:, rows] = getattr(part, field)
            return joined

        return Measurements(time=time, **{field: table(field) for field in self.growing[1:]})

    def tables(self, samples: Measurements) -> Iterator[tuple[str, Labelled]]:
        """What grows, by its place in the store."""
        about = {
            "time": {"units": "s", "long_name": "simulated time at which a sample was taken"},
            "arrival": {"units": "s", "long_name": "time at which it was there to be used"},
            "values": {
                "long_name": f"measurements by {self.info.name}",
                "comment": "units are in the coordinate unit; SI, in the sensor's axes",
            },
            "valid": {"long_name": "whether the sensor gave a measurement"},
            "fault": {"long_name": "bits of the faults that distort the sample"},
        }
        if self.info.payload is not None:
            about[PAYLOAD] = {
                "long_name": f"{self.info.payload.kind} by {self.info.name}",
                "units": self.info.payload.unit,
            }
        for name in self.growing:
            rest: tuple[str, ...] = ("component",)
            if name == PAYLOAD and self.info.payload is not None:
                rest = payload_dimensions(self.info.payload)
            dims = ("sample", "vehicle", *rest)[: getattr(samples, name).ndim]
            yield f"{self.place}/{name}", (dims, getattr(samples, name), about[name])

    def labels(self) -> Iterator[tuple[str, Labelled]]:
        """What does not grow, by its place in the store."""
        names: dict[str, tuple[str, tuple[str, ...], str]] = {
            "vehicle": ("vehicle", self.vehicles, "vehicle name"),
            "component": ("component", self.info.components, "name of the number"),
            "unit": ("component", self.info.units, "unit of the number"),
        }
        for name, (dim, words, meaning) in names.items():
            array = np.array(words, dtype=str)
            yield f"{self.place}/{name}", ((dim,), array, {"long_name": meaning})


def list_fittings(header: RunHeader) -> list[Fitting]:
    """Every sensor of the run; those of one name but different numbers or rates are apart."""
    members: dict[tuple[Any, ...], list[str]] = {}
    infos: dict[tuple[Any, ...], SensorInfo] = {}
    for vehicle in header.vehicles:
        for sensor in vehicle.sensors:
            kind = (
                *(sensor.name, sensor.type, sensor.components, sensor.units, sensor.rate),
                sensor.payload,
            )
            members.setdefault(kind, []).append(vehicle.name)
            infos.setdefault(kind, sensor)
    count: dict[str, int] = {}
    fittings = []
    for kind, names in members.items():
        name = infos[kind].name
        count[name] = count.get(name, 0) + 1
        folder = f"{FOLDER}/{name}" if count[name] == 1 else f"{FOLDER}/{name}-{count[name]}"
        fittings.append(Fitting(folder, infos[kind], tuple(names)))
    return fittings
