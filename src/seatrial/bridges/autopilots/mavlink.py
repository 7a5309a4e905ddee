"""Hardware-in-the-loop messages of MAVLink, as PX4's SITL speaks them over TCP.

The run listens; the autopilot connects. Every control period it is sent HIL_SENSOR and
HIL_STATE_QUATERNION, and HIL_GPS when the receiver has a fix to tell; it answers HIL_SENSOR with
HIL_ACTUATOR_CONTROLS, for which the next control period waits. The IMU and the GNSS receiver are
the vehicle's own, with their errors, where it has them, else ideal ones at its origin; the magnetic
field is that of a dipole at the datum's latitude, the pressure that of the height above the water.
"""

import math
import select
import socket
from collections.abc import Mapping

import numpy as np

from seatrial.bridges.autopilots.frames import (
    HEARTBEAT,
    HIL_ACTUATOR_CONTROLS,
    HIL_GPS,
    HIL_SENSOR,
    HIL_STATE_QUATERNION,
    Framer,
)
from seatrial.bridges.autopilots.vehicle import Array, Driven, Inertial, place_of, rotation
from seatrial.bridges.bridge import Answer, Bridge, Order, Request, Setting, Turn
from seatrial.bridges.lines import listening_stream
from seatrial.conventions import GRAVITY
from seatrial.engine.frames import RunSummary, VehicleState
from seatrial.signals import Measurements, SensorInfo
from seatrial.spatial.geodesy import to_geodetic

USUAL_PORT = 4560
GPS_PERIOD = 0.1
"""Of an ideal receiver, s."""
MOST_BYTES = 65_536
MOST_UNSENT = 1 << 18
ALL_UPDATED = 0x1FFF
SEA_LEVEL_PRESSURE = 1013.25
"""hPa."""
AIR_LAPSE = GRAVITY / 287.05 / 288.15
"""Share of the pressure that is lost per metre at the ground, 1/m."""
DIPOLE = 0.31
"""Strength of the Earth's magnetic field at its equator, gauss."""


class MavlinkBridge(Bridge):
    """One vehicle, driven by one autopilot in lock-step."""

    name = "mavlink"
    paces = True

    def __init__(self, place: str = str(USUAL_PORT)) -> None:
        super().__init__()
        self._wanted = place_of(place, "--mavlink")
        self._server = listening_stream("127.0.0.1", self._wanted.port, 4)
        self._server.setblocking(False)
        self._peer: socket.socket | None = None
        self._unsent = bytearray()
        self._framer = Framer(1, 200, self.counts)
        self._last: bytes = b""
        self._spoken = False
        """Whether the peer has said anything that MAVLink knows."""

    @property
    def place(self) -> str:
        """The port."""
        return f"TCP on 127.0.0.1 port {self._server.getsockname()[1]}"

    def open(self, setting: Setting) -> None:
        """Find the vehicle and its instruments."""
        self._datum = setting.header.datum
        self._driven = Driven(setting, self._wanted)
        self._inertial = Inertial()
        sensors = self._driven.info.sensors
        self._imu = next((s for s in sensors if s.type == "imu"), None)
        self._gnss = next((s for s in sensors if s.type == "gnss"), None)
        self._felt: tuple[Array, Array] | None = None
        self._gps_due = 0.0

    def drives(self) -> set[str]:
        """The one vehicle."""
        return {self._driven.info.name}

    # ── Out ───────────────────────────────────────────────────────────────────────────────────

    def write(self, turn: Turn) -> None:
        """The sensors of the instant; a peer that comes later is told the last of them."""
        state = turn.vehicles[self._driven.info.name]
        velocity, force = self._inertial.feel(state)
        if not np.isfinite(force).all():
            return
        measured = turn.frames.measurements.get(self._driven.info.name, {})
        time = round(turn.time * 1e6)
        rate = state.velocity[3:]
        if self._imu is not None and self._imu.name in measured:
            self._felt = _newest_imu(self._imu, measured[self._imu.name]) or self._felt
            if self._felt is not None:
                force, rate = self._felt
        height = -float(state.position[2])
        self._last = b"".join(
            [
                self._gps(turn.time, state, velocity, measured),
                self._state(time, state, velocity, force),
                self._framer.frame(
                    HIL_SENSOR,
                    *(time, *force, *rate, *(rotation(state.attitude).T @ self._field())),
                    *(SEA_LEVEL_PRESSURE * math.exp(-AIR_LAPSE * height), 0.0, height, 15.0),
                    *(ALL_UPDATED, 0),
                ),
            ]
        )
        self._send(self._last)

    def _field(self) -> Array:
        """Of a dipole along the Earth's axis, NED, gauss."""
        latitude = math.radians(self._datum[0])
        return DIPOLE * np.array([math.cos(latitude), 0.0, 2.0 * math.sin(latitude)])

    def _state(self, time: int, state: VehicleState, velocity: Array, force: Array) -> bytes:
        latitude, longitude, height = to_geodetic(state.position, self._datum)
        return self._framer.frame(
            HIL_STATE_QUATERNION,
            *(time, *state.attitude, *state.velocity[3:]),
            *(round(float(latitude) * 1e7), round(float(longitude) * 1e7)),
            round(float(height) * 1e3),
            *(_short(v * 100.0) for v in velocity),
            *(0, 0),
            *(_short(f / GRAVITY * 1e3) for f in force),
        )

    def _gps(
        self,
        now: float,
        state: VehicleState,
        velocity: Array,
        measured: Mapping[str, Measurements],
    ) -> bytes:
        place, fix = state.position, 3
        if self._gnss is not None:
            samples = measured.get(self._gnss.name)
            if samples is None or not samples.valid.any():
                return b""
            values = samples.values[np.flatnonzero(samples.valid)[-1]]
            named = dict(zip(self._gnss.components, values.tolist(), strict=True))
            place = np.array([named["north"], named["east"], named["down"]])
            velocity = np.array([named[f"velocity_{way}"] for way in ("north", "east", "down")])
            fix = 3 + max(int(named["fix"]) - 1, 0)
        elif now < self._gps_due - 1e-9:
            return b""
        self._gps_due = now + GPS_PERIOD
        latitude, longitude, height = (float(a) for a in to_geodetic(place, self._datum))
        speed = math.hypot(velocity[0], velocity[1])
        course = math.degrees(math.atan2(velocity[1], velocity[0])) % 360.0
        return self._framer.frame(
            HIL_GPS,
            *(round(now * 1e6), round(latitude * 1e7), round(longitude * 1e7)),
            round(height * 1e3),
            *(100, 100, _short(speed * 100.0)),
            *(_short(v * 100.0) for v in velocity),
            *(round(course * 100.0) % 36000, fix, 12, 0, 0),
        )

    def _send(self, data: bytes) -> None:
        if self._peer is None or not data:
            return
        self._unsent += data
        try:
            del self._unsent[: self._peer.send(self._unsent)]
            self.counts["sent"] += 1
        except BlockingIOError:
            pass
        except OSError:
            self._leave()
        if len(self._unsent) > MOST_UNSENT:
            self.counts["dropped"] += 1
            self._leave()

    # ── In ────────────────────────────────────────────────────────────────────────────────────

    def heard(self, wait: float) -> list[tuple[Request, Answer]]:
        """The controls that came."""
        self._accept()
        if wait > 0.0:
            ready = [self._server] + ([] if self._peer is None else [self._peer])
            select.select(ready, [], [], wait)
            self._accept()
        if self._peer is None:
            return []
        try:
            data = self._peer.recv(MOST_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self._leave()
            return []
        found: list[tuple[Request, Answer]] = []
        for kind, fields in self._framer.found(data):
            self._spoken = True
            if kind is HIL_ACTUATOR_CONTROLS:
                self.counts["heard"] += 1
                shares = np.array(fields[2:18])
                order = Order(self._driven.info.name, self._driven.command(shares))
                found.append((order, self.refuse))
            else:
                self.counts["ignored"] += 1
        return found

    def _accept(self) -> None:
        try:
            peer, _ = self._server.accept()
        except OSError:
            return
        if self._peer is not None:
            self.counts["refused"] += 1
            if self._spoken:  # one autopilot drives
                peer.close()
                return
            self._leave()  # who has said nothing of use gives up its place
        peer.setblocking(False)
        self._peer, self._unsent, self._spoken = peer, bytearray(), False
        self._framer = Framer(1, 200, self.counts)
        self._send(self._framer.frame(HEARTBEAT, 0, 10, 8, 0, 4, 3) + self._last)

    def _leave(self) -> None:
        if self._peer is not None:
            self._peer.close()
        self._peer = None

    def close(self, summary: RunSummary) -> None:
        """Close the port."""
        self._leave()
        self._server.close()


def _newest_imu(info: SensorInfo, samples: Measurements) -> tuple[Array, Array] | None:
    """Specific force and rate in body axes, of the last valid sample."""
    rows = np.flatnonzero(samples.valid)
    if not len(rows):
        return None
    turn = rotation(np.array(info.orientation))
    values = np.asarray(samples.values[rows[-1]], np.float64)
    parts = [
        turn @ values[[info.components.index(f"{what}_{axis}") for axis in "xyz"]]
        for what in ("acceleration", "angular_velocity")
    ]
    return parts[0], parts[1]


def _short(value: float) -> int:
    return int(np.clip(round(value), -32_768, 32_767))
