"""The bridge of one vehicle's instruments, and of the AIS traffic about it."""

import math

import numpy as np

from seatrial.bridges.bridge import Answer, Order, Request, Setting, Turn
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
from seatrial.bridges.nmea.instruments import InstrumentBridge, rotated
from seatrial.bridges.nmea.sentences import SPOKEN, read_sentence, sentence
from seatrial.bridges.nmea.steering import Steering
from seatrial.engine.frames import Body, VehicleState

MOST_LINES = 200
"""Lines that are read in one turn; what comes faster is not heard."""


class NmeaBridge(InstrumentBridge):
    """Sentences of one vehicle's instruments, and of everybody's transponders."""

    name = "nmea"

    def open(self, setting: Setting) -> None:
        """Find everybody who has a transponder."""
        super().open(setting)
        header = setting.header
        self._steering = Steering(self._ship)
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
        self._next = dict.fromkeys(self._stations, -math.inf)
        self._static_due = dict.fromkeys(self._stations, -math.inf)

    def drives(self) -> set[str]:
        """The own ship, where somebody can be heard who steers it."""
        return {self._ship.name} if self._lines.hears else set()

    def write(self, turn: Turn) -> None:
        """What the instruments say of the samples that arrived, then AIS."""
        spoken: list[str] = []
        for info, time, values in self._samples(turn, SPOKEN):
            spoken += [sentence(b) for b in SPOKEN[info.type](info, time, values, self._datum)]
        state = turn.vehicles[self._ship.name]
        self._speed = _report(state).speed
        for name, station in self._stations.items():
            report = self._report(name, turn)
            if report is not None:
                for message in self._messages(station, report):
                    spoken += self._sequence.spoken(message, name == self._ship.name)
        self._send(spoken)

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
        if report.time >= self._next[name] - 1e-9:
            self._next[name] = report.time + period_of(station, report)
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
