"""The bridge of one vehicle's instruments in NMEA 2000, as the text of `candump -L`."""

from seatrial.bridges.bridge import Answer, Request, Setting, Turn
from seatrial.bridges.nmea.can import MESSAGES, Message, Sender, candump, rudder
from seatrial.bridges.nmea.instruments import FASTEST, InstrumentBridge

SELDOM = 1.0
"""Between two messages that are long, s."""


class Nmea2000Bridge(InstrumentBridge):
    """Every sensor has an address of its own on the bus, and the rudders have one."""

    name = "nmea2000"

    def open(self, setting: Setting) -> None:
        """Give out the addresses."""
        super().open(setting)
        sensors = [info.name for info in self._ship.sensors]
        self._senders = {name: Sender(1 + i) for i, name in enumerate(sensors)}
        self._helm = Sender(0)
        self._rudders = [a.name for a in self._ship.actuators if "rudder" in a.name]

    def write(self, turn: Turn) -> None:
        """What the instruments say of the samples that arrived, and where the rudders are."""
        lines: list[str] = []

        def say(sender: Sender, message: Message, time: float) -> None:
            lines.extend(candump(frame, time) for frame in sender.frames(message))

        for info, time, values in self._samples(turn, MESSAGES):
            seldom = self._due(f"{info.name}/seldom", time, SELDOM)
            for message in MESSAGES[info.type](info, time, values, self._datum, seldom):
                say(self._senders[info.name], message, time)
        if self._rudders and self._due("/rudders", turn.time, 1.0 / FASTEST):
            state = turn.vehicles[self._ship.name]
            for i, name in enumerate(self._rudders):
                # A positive rudder turns the bow to port in the literature's sign, to starboard
                # in NMEA's.
                say(self._helm, rudder(i, -state.actuators[name]), turn.time)
        self._send(lines)

    def heard(self, wait: float) -> list[tuple[Request, Answer]]:
        """Nothing steers by it: what comes is counted."""
        if wait > 0.0:
            self._lines.wait(wait)
        self.counts["ignored"] += len(self._lines.receive())
        return []
