"""AIS: who is where, as transponders tell it (ITU-R M.1371-5).

A ship of 20 m or more carries a class A transponder (messages 1 and 5), anything smaller one of
class B (18 and 24); a buoy is an aid to navigation (21). A transponder has a receiver of its own,
which here errs by nothing, and a submerged vehicle says nothing. Reports come as often as the
recommendation asks of the speed; those on names come every six minutes, and once at the beginning.
"""

import math
from dataclasses import dataclass

from seatrial.bridges.nmea.sentences import KNOT, sentence
from seatrial.spatial.geodesy import to_geodetic

CLASS_A_LENGTH = 20.0
"""m."""
SUBMERGED = 1.0
"""Depth from which no aerial is above the water, m."""
STATIC_PERIOD = 360.0
AID_PERIOD = 180.0
NO_COMMUNICATION_STATE = 0b1100000000000000110
"""What a transponder by carrier sense says in place of one (M.1371-5, annex 8, message 18)."""

_SYMBOLS = "@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_ !\"#$%&'()*+,-./0123456789:;<=>?"
_SYMBOLS_PER_SENTENCE = 56
"""Of the armoured payload, so that the sentence keeps within 82 characters."""


@dataclass(frozen=True)
class Station:
    """One that is heard by AIS."""

    mmsi: int
    name: str
    length: float
    beam: float
    aid: bool = False
    """Whether it is an aid to navigation."""

    @property
    def class_a(self) -> bool:
        """Whether it is a large ship."""
        return not self.aid and self.length >= CLASS_A_LENGTH


def mmsi_of(number: int, aid: bool = False) -> int:
    """A number that no real station has: 200 is the code of no country."""
    return 992_000_000 + number if aid else 200_000_000 + number


@dataclass(frozen=True)
class Report:
    """Where a station is and how it moves."""

    time: float
    north: float
    east: float
    course: float
    """Over ground, rad."""
    speed: float
    """Over ground, m/s."""
    heading: float
    """rad."""
    yaw_rate: float
    """rad/s."""


def period_of(station: Station, report: Report) -> float:
    """Seconds from one report of a place to the next (M.1371-5, annex 1, tables 1 and 2)."""
    if station.aid:
        return AID_PERIOD
    knots, turning = report.speed / KNOT, abs(math.degrees(report.yaw_rate)) > 0.2
    if not station.class_a:  # by carrier sense
        return 180.0 if knots <= 2.0 else 30.0
    if knots > 23.0:
        return 2.0
    if knots > 14.0:
        return 2.0 if turning else 6.0
    return 10.0 / 3.0 if turning else 10.0


class Bits:
    """A message as it grows."""

    def __init__(self) -> None:
        self._text = ""

    def number(self, value: int, width: int) -> "Bits":
        """A whole number, two's complement where it is negative."""
        self._text += format(value & ((1 << width) - 1), f"0{width}b")
        return self

    def text(self, value: str, symbols: int) -> "Bits":
        """Letters of six bits, filled with @."""
        for symbol in value.upper().ljust(symbols, "@")[:symbols]:
            self.number(max(_SYMBOLS.find(symbol), 0) if symbol in _SYMBOLS else 63, 6)
        return self

    def join(self, other: "Bits") -> "Bits":
        """Another message's bits behind these."""
        self._text += other._text
        return self

    def armoured(self) -> tuple[str, int]:
        """The characters of a sentence, and how many bits were filled up."""
        fill = -len(self._text) % 6
        bits = self._text + "0" * fill
        numbers = (int(bits[i : i + 6], 2) for i in range(0, len(bits), 6))
        return "".join(chr(n + 48 if n < 40 else n + 56) for n in numbers), fill


def _place(report: Report, datum: tuple[float, float]) -> tuple[int, int]:
    """Longitude and latitude in 1/10,000 minutes."""
    latitude, longitude, _ = to_geodetic([report.north, report.east, 0.0], datum)
    return round(float(longitude) * 600_000.0), round(float(latitude) * 600_000.0)


def _course(report: Report) -> int:
    """In tenths of degrees."""
    return round(math.degrees(report.course) * 10.0) % 3600


def _heading(report: Report) -> int:
    return round(math.degrees(report.heading)) % 360


def _speed(report: Report) -> int:
    """In tenths of knots; 1022 is that or faster."""
    return min(round(report.speed / KNOT * 10.0), 1022)


def _turn(report: Report) -> int:
    """4.733 √(degrees per minute), with its sign."""
    rate = math.degrees(report.yaw_rate) * 60.0
    return round(math.copysign(min(4.733 * math.sqrt(abs(rate)), 126.0), rate))


def _second(report: Report) -> int:
    return int(report.time) % 60


def _size(station: Station) -> Bits:
    """Bow, stern, port and starboard from the aerial, which is amidships: together they are the
    length and the beam."""
    length, beam = min(round(station.length), 1022), min(round(station.beam), 126)
    bow, port = length // 2, beam // 2
    return Bits().number(bow, 9).number(length - bow, 9).number(port, 6).number(beam - port, 6)


def position_report(station: Station, report: Report, datum: tuple[float, float]) -> Bits:
    """Message 1 of a large ship, 18 of a small one, 21 of an aid."""
    longitude, latitude = _place(report, datum)
    bits = Bits()
    if station.aid:
        # Type 0 (not specified), fixed by a surveyed place, on position, not virtual.
        bits.number(21, 6).number(0, 2).number(station.mmsi, 30).number(0, 5)
        bits.text(station.name, 20).number(1, 1).number(longitude, 28).number(latitude, 27)
        bits.join(_size(station))
        bits.number(7, 4).number(_second(report), 6).number(0, 1).number(0, 8)
        bits.number(0, 1).number(0, 1).number(0, 1).number(0, 1)
    elif station.class_a:
        # Under way using engine; position better than 10 m.
        bits.number(1, 6).number(0, 2).number(station.mmsi, 30).number(0, 4)
        bits.number(_turn(report), 8).number(_speed(report), 10).number(1, 1)
        bits.number(longitude, 28).number(latitude, 27).number(_course(report), 12)
        bits.number(_heading(report), 9).number(_second(report), 6).number(0, 2)
        bits.number(0, 3).number(0, 1).number(0, 19)
    else:
        # Carrier sense, no display, no DSC, whole band, no message 22, autonomous.
        bits.number(18, 6).number(0, 2).number(station.mmsi, 30).number(0, 8)
        bits.number(_speed(report), 10).number(1, 1).number(longitude, 28).number(latitude, 27)
        bits.number(_course(report), 12).number(_heading(report), 9).number(_second(report), 6)
        bits.number(0, 2).number(1, 1).number(0, 1).number(0, 1).number(1, 1).number(0, 1)
        bits.number(0, 1).number(0, 1).number(1, 1).number(NO_COMMUNICATION_STATE, 19)
    return bits


def static_reports(station: Station) -> list[Bits]:
    """Message 5 of a large ship, both parts of message 24 of a small one; none of an aid."""
    if station.aid:
        return []
    if station.class_a:
        bits = Bits().number(5, 6).number(0, 2).number(station.mmsi, 30).number(0, 2)
        bits.number(0, 30).text("", 7).text(station.name, 20).number(70, 8)  # cargo ship
        bits.join(_size(station))
        # Positioned by GPS; no arrival, draught and destination are known.
        bits.number(1, 4).number(0, 4).number(0, 5).number(24, 5).number(60, 6)
        bits.number(0, 8).text("", 20).number(0, 1).number(0, 1)
        return [bits]
    first = Bits().number(24, 6).number(0, 2).number(station.mmsi, 30).number(0, 2)
    first.text(station.name, 20).number(0, 8)
    second = Bits().number(24, 6).number(0, 2).number(station.mmsi, 30).number(1, 2)
    second.number(0, 8).text("SEA", 3).number(0, 4).number(0, 20).text("", 7)
    second.join(_size(station)).number(1, 4).number(0, 2)
    return [first, second]


class Sequence:
    """Numbers the messages that need several sentences, 0 to 9."""

    def __init__(self) -> None:
        self._next = 0

    def spoken(self, message: Bits, own: bool) -> list[str]:
        """The sentences of a message: VDO of the own ship, VDM of others."""
        payload, fill = message.armoured()
        size, kind = _SYMBOLS_PER_SENTENCE, "AIVDO" if own else "AIVDM"
        parts = [payload[i : i + size] for i in range(0, len(payload), size)]
        label = ""
        if len(parts) > 1:
            label, self._next = str(self._next), (self._next + 1) % 10
        return [
            sentence(
                f"{kind},{len(parts)},{i + 1},{label},A,{part},{fill if part is parts[-1] else 0}",
                "!",
            )
            for i, part in enumerate(parts)
        ]
