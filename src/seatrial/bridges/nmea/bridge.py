"""The bridge of one vehicle's instruments, and of the AIS traffic about it."""

import math
from typing import Any

import numpy as np

from seatrial.bridges.bridge import Answer, Bridge, Order, Request, Setting, Turn
from seatrial.bridges.lines import open_lines
from seatrial.bridges.nmea.ais import (
    STATIC_PERIOD,
    SUBMERGED,
    Bits,
    Report,
    Sequence,
    Station,
    mmsi_of,
    period_of,
    position_report,
    static_reports,
)
from seatrial.bridges.nmea.sentences import SPOKEN, read_sentence, rotated, sentence
from seatrial.bridges.nmea.steering import Steering
from seatrial.engine.frames import (
    Body,
    RunSummary,
    VehicleInfo,
    VehicleState,
)
from seatrial.errors import Problem, SpecError

FASTEST = 10.0
"""Samples of one sensor per second that are told: more than serial instruments send."""
SLOW = {"battery": 1.0, "pressure": 1.0, "ctd": 1.0}
"""The same for those whose readings hardly change."""
MOST_LINES = 200
"""Lines that are read in one turn; what comes faster is not heard."""


class NmeaBridge(Bridge):
    """Speaks for one vehicle, its own ship, at one place."""

    name = "nmea"

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
        """Find the own ship and everybody who has a transponder."""
        header = setting.header
        self._datum = header.datum
        self._ship = _own_ship(header.vehicles, self._wanted)
        self._steering = Steering(self._ship)
        self._told: dict[str, float] = {}
        self._speed = 0.0
        self._sequence = Sequence()
        self._stations = {
            v.name: Station(mmsi_of(i + 1), v.name, v.length, v.beam)
            for i, v in enumerate(header.vehicles)
        }
        others = [b for b in setting.scene.bodies if b.shape == "vessel" or b.kind == "buoy"]
        self._bodies = {b.name: b for b in others}
        first = len(header.vehicles) + 1
        for i, body in enumerate(others):
            aid = body.kind == "buoy"
            length, beam = body.length or 2.0 * body.radius, body.beam or 2.0 * body.radius
            number = mmsi_of(first + i, aid)
            self._stations[body.name] = Station(number, body.name, length, beam, aid)
        self._due = dict.fromkeys(self._stations, -math.inf)
        self._static_due = dict.fromkeys(self._stations, -math.inf)

    def drives(self) -> set[str]:
        """The own ship."""
        return {self._ship.name}

    def write(self, turn: Turn) -> None:
        """What the instruments say of the samples that arrived, then AIS."""
        spoken: list[str] = []
        measured = turn.frames.measurements.get(self._ship.name, {})
        for info in self._ship.sensors:
            if info.type in SPOKEN and info.name in measured:
                spoken += self._sensor(info, measured[info.name])
        state = turn.vehicles[self._ship.name]
        self._speed = _report(state).speed
        for name, station in self._stations.items():
            report = self._report(name, turn)
            if report is not None:
                for message in self._messages(station, report):
                    spoken += self._sequence.spoken(message, name == self._ship.name)
        if spoken:
            self.counts["sent"] += len(spoken)
            self._lines.send("".join(spoken).encode("ascii"))

    def _sensor(self, info: Any, samples: Any) -> list[str]:
        shortest = 1.0 / SLOW.get(info.type, FASTEST)
        spoken = []
        for k, time in enumerate(samples.time):
            values = dict(zip(info.components, samples.values[k].tolist(), strict=True))
            told = samples.valid[k] or values.get("fix") == 0.0  # a receiver says that it is lost
            if told and time >= self._told.get(info.name, -math.inf) + shortest - 1e-9:
                self._told[info.name] = time
                spoken += [sentence(b) for b in SPOKEN[info.type](info, time, values, self._datum)]
        return spoken

    def _report(self, name: str, turn: Turn) -> Report | None:
        if name in turn.vehicles:
            state = turn.vehicles[name]
            return _report(state) if state.position[2] < SUBMERGED else None
        return _body_report(self._bodies[name], turn.time)

    def _messages(self, station: Station, report: Report) -> list[Bits]:
        found, name = [], station.name
        if report.time >= self._static_due[name] - 1e-9:
            self._static_due[name] = report.time + STATIC_PERIOD
            found += static_reports(station)
        if report.time >= self._due[name] - 1e-9:
            self._due[name] = report.time + period_of(station, report)
            found.append(position_report(station, report, self._datum))
        return found

    def heard(self, wait: float) -> list[tuple[Request, Answer]]:
        """Orders of the sentences that came."""
        if wait > 0.0:
            self._lines.wait(wait)
        lines = self._lines.receive()
        self.counts["dropped"] += max(len(lines) - MOST_LINES, 0)
        found: list[tuple[Request, Answer]] = []
        for line in lines[-MOST_LINES:]:
            fields = read_sentence(line)
            if fields is None:
                self.counts["garbled"] += 1
                continue
            order = self._steering.order(fields, self._speed)
            if order is None:
                self.counts["ignored"] += 1
            elif isinstance(order, str):
                self.counts["refused"] += 1
            else:
                self.counts["heard"] += 1
                found.append((Order(self._ship.name, order), self.refuse))
        return found

    def close(self, summary: RunSummary) -> None:
        """Close the line."""
        self._lines.close()


def _own_ship(vehicles: tuple[VehicleInfo, ...], wanted: str | None) -> VehicleInfo:
    found = next((v for v in vehicles if wanted in (None, v.name)), None)
    names = [v.name for v in vehicles]
    if found is None:
        raise SpecError(
            Problem(
                f"there is no vehicle `{wanted}` in this scenario",
                value=wanted,
                expected=f"one of {', '.join(names[:20])}",
                mend="name one of these, as in `--nmea otter@tcp://127.0.0.1:10110`",
            )
        )
    return found


def _report(state: VehicleState) -> Report:
    north, east, _ = rotated(tuple(state.attitude.tolist()), state.velocity[:3])
    return Report(
        time=state.time,
        north=float(state.position[0]),
        east=float(state.position[1]),
        course=math.atan2(east, north),
        speed=math.hypot(north, east),
        heading=float(state.euler[2]),
        yaw_rate=float(state.velocity[5]),
    )


def _body_report(body: Body, time: float) -> Report:
    place, rotation = body.pose(time)
    north = east = 0.0
    if body.motion is not None:
        north, east = (float(v) for v in np.ravel(body.motion.at(time)[1]))
    heading = math.atan2(rotation[1, 0], rotation[0, 0])
    speed, course = math.hypot(north, east), math.atan2(east, north)
    return Report(time, float(place[0]), float(place[1]), course, speed, heading, 0.0)
