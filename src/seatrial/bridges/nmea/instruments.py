"""One vehicle whose instruments speak at one place, in whichever NMEA."""

import math
from collections.abc import Collection, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from seatrial.bridges.bridge import Bridge, Setting, Turn
from seatrial.bridges.lines import open_lines
from seatrial.engine.frames import RunSummary, VehicleInfo
from seatrial.errors import Problem, SpecError
from seatrial.signals import SensorInfo

FASTEST = 10.0
"""Samples of one sensor per second that are told: more than serial instruments send."""
SLOW = {"battery": 1.0, "pressure": 1.0, "ctd": 1.0}
"""The same for those whose readings hardly change."""

Values = Mapping[str, float]
"""A sample by component."""


class InstrumentBridge(Bridge):
    """Speaks for one vehicle, its own ship."""

    def __init__(self, address: str, vehicle: str | None = None) -> None:
        """`vehicle` is the own ship; the first of the scenario when None."""
        super().__init__()
        self._wanted = vehicle
        self._lines = open_lines(address, self.counts)

    @property
    def place(self) -> str:
        """Where it speaks."""
        return self._lines.place

    def open(self, setting: Setting) -> None:
        """Find the own ship."""
        self._datum = setting.header.datum
        self._ship = _own_ship(setting.header.vehicles, self._wanted, self.name)
        self._told: dict[str, float] = {}

    def forget(self) -> None:
        """Sentences of before the start are not obeyed at it."""
        self._lines.forget()

    def _samples(
        self, turn: Turn, types: Collection[str]
    ) -> Iterator[tuple[SensorInfo, float, Values]]:
        """The samples of the own ship's sensors of some types that are to be told."""
        measured = turn.frames.measurements.get(self._ship.name, {})
        for info in self._ship.sensors:
            if info.type not in types or info.name not in measured:
                continue
            samples = measured[info.name]
            for k, time in enumerate(samples.time.tolist()):
                values = dict(zip(info.components, samples.values[k].tolist(), strict=True))
                # A receiver says that it is lost.
                told = samples.valid[k] or values.get("fix") == 0.0
                if told and self._due(info.name, time, 1.0 / SLOW.get(info.type, FASTEST)):
                    yield info, time, values

    def _due(self, what: str, time: float, shortest: float) -> bool:
        """Whether something may be told again; it is then taken as told."""
        if time < self._told.get(what, -math.inf) + shortest - 1e-9:
            return False
        self._told[what] = time
        return True

    def _send(self, lines: list[str]) -> None:
        if lines:
            self.counts["sent"] += len(lines)
            self._lines.send("".join(lines).encode("ascii"))

    def close(self, summary: RunSummary) -> None:
        """Close the line."""
        self._lines.close()


def _own_ship(vehicles: tuple[VehicleInfo, ...], wanted: str | None, option: str) -> VehicleInfo:
    found = next((v for v in vehicles if wanted in (None, v.name)), None)
    names = [v.name for v in vehicles]
    if found is None:
        raise SpecError(
            Problem(
                f"there is no vehicle `{wanted}` in this scenario",
                value=wanted,
                expected=f"one of {', '.join(names[:20])}",
                mend=f"name one of these, as in `--{option} otter@tcp://127.0.0.1:10110`",
            )
        )
    return found


# ── What several sentences and messages have in common ────────────────────────────────────────


def turn_rate(info: SensorInfo, v: Values) -> float:
    """About the body's down axis, rad/s."""
    rate = [v[f"angular_velocity_{axis}"] for axis in "xyz"]
    return float(rotated(info.orientation, np.array(rate))[2])


def attitude(info: SensorInfo, v: Values) -> tuple[float, float, float]:
    """Roll, pitch and heading of the body, rad, of a sensor that measures its own attitude."""
    # From the sensor's axes to the world's; the mounting undone, from the body's.
    w, x, y, z = info.orientation
    w, x, y, z = _product([v[f"orientation_{part}"] for part in "wxyz"], [w, -x, -y, -z])
    heading = math.atan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z))
    roll = math.atan2(2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))
    return roll, math.asin(max(-1.0, min(1.0, 2.0 * (w * y - x * z)))), heading


def _product(p: list[float], q: list[float]) -> list[float]:
    """Hamilton product."""
    a, b, c, d = p
    w, x, y, z = q
    return [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]


def rotated(
    quaternion: tuple[float, float, float, float], vector: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A vector turned by a unit quaternion: v + 2 q × (q × v + w v)."""
    w, axis = quaternion[0], np.array(quaternion[1:])
    turned: NDArray[np.float64] = vector + 2.0 * np.cross(axis, np.cross(axis, vector) + w * vector)
    return turned
