"""ArduPilot's JSON interface: SITL sends its outputs, is told the state, and waits for it.

A packet of SITL (little-endian): magic 18458 (16 outputs) or 29569 (32), the frame rate that it
would like, the number of the frame, and the outputs as pulse lengths in µs, 1100 to 1900 about
1500; 0 is an output that is off. Every new frame is one control period, whatever the rate asked
for; SITL takes the time from the answer, a line of JSON. A frame that comes again is answered
again, and one whose number is lower than before comes from an autopilot that began anew.
Start it with `sim_vehicle.py -v Rover --model JSON:127.0.0.1` (or `-v ArduSub`).
"""

import json
import select
import struct

import numpy as np

from seatrial.bridges.autopilots.vehicle import Driven, Inertial, place_of
from seatrial.bridges.bridge import Answer, Bridge, Control, Order, Request, Setting, Turn
from seatrial.bridges.lines import listening_datagrams
from seatrial.engine.frames import RunSummary

PACKETS = {18458: struct.Struct("<HHI16H"), 29569: struct.Struct("<HHI32H")}
"""By magic."""
NEUTRAL, SPAN = 1500.0, 400.0
"""µs."""
MOST_PACKETS = 64
"""Read in one turn."""
USUAL_PORT = 9002


class ArduPilotBridge(Bridge):
    """One vehicle, driven by one SITL in lock-step."""

    name = "ardupilot"
    paces = True

    def __init__(self, place: str = str(USUAL_PORT)) -> None:
        super().__init__()
        self._wanted = place_of(place, "--ardupilot")
        self._socket = listening_datagrams("127.0.0.1", self._wanted.port)
        self._peer: tuple[str, int] | None = None
        self._frame = -1
        self._answer = b""
        self._restarts = False
        """Whether the run begins anew for the autopilot's sake, which is answered after a step."""

    @property
    def place(self) -> str:
        """The port."""
        return f"UDP on 127.0.0.1 port {self._socket.getsockname()[1]}"

    def open(self, setting: Setting) -> None:
        """Find the vehicle."""
        self._driven = Driven(setting, self._wanted)
        self._inertial = Inertial()

    def drives(self) -> set[str]:
        """The one vehicle."""
        return {self._driven.info.name}

    def write(self, turn: Turn) -> None:
        """The state, to whoever sent the last packet."""
        state = turn.vehicles[self._driven.info.name]
        velocity, force = self._inertial.feel(state)
        told = {
            "timestamp": turn.time,
            "imu": {"gyro": state.velocity[3:].tolist(), "accel_body": force.tolist()},
            "position": state.position.tolist(),
            "quaternion": state.attitude.tolist(),
            "velocity": velocity.tolist(),
        }
        if not np.isfinite(force).all():
            return
        self._answer = b"\n" + json.dumps(told, allow_nan=False).encode("ascii") + b"\n"
        if not self._restarts:
            self._send()
        self._restarts = False

    def _send(self) -> None:
        if self._peer is not None and self._answer:
            try:
                self._socket.sendto(self._answer, self._peer)
                self.counts["sent"] += 1
            except OSError:
                self.counts["dropped"] += 1

    def heard(self, wait: float) -> list[tuple[Request, Answer]]:
        """Orders of new frames."""
        if wait > 0.0:
            select.select([self._socket], [], [], wait)
        found: list[tuple[Request, Answer]] = []
        for _ in range(MOST_PACKETS):
            try:
                data, peer = self._socket.recvfrom(2048)
            except OSError:
                break
            found += self._packet(data, peer)
        return found

    def _packet(self, data: bytes, peer: tuple[str, int]) -> list[tuple[Request, Answer]]:
        magic = int.from_bytes(data[:2], "little")
        if magic not in PACKETS or len(data) != PACKETS[magic].size:
            self.counts["garbled"] += 1
            return []
        _, _, frame, *pulses = PACKETS[magic].unpack(data)
        self._peer = peer
        if frame == self._frame:
            self.counts["repeated"] += 1
            self._send()
            return []
        found: list[tuple[Request, Answer]] = []
        if frame < self._frame:
            self._restarts = True
            found.append((Control("reset"), self.refuse))
        self._frame = frame
        self.counts["heard"] += 1
        lengths = np.array(pulses, np.float64)
        shares = np.where(lengths > 0.0, (lengths - NEUTRAL) / SPAN, 0.0)
        order = Order(self._driven.info.name, self._driven.command(shares))
        return [*found, (order, self.refuse)]

    def close(self, summary: RunSummary) -> None:
        """Close the port."""
        self._socket.close()
