"""Sentences of NMEA 0183: what each instrument of a vehicle says of a sample.

The fields are those of the standard's edition 4.10, as GNSS receivers, compasses, logs and echo
sounders send them: degrees, knots, metres. Talkers: GN a satellite receiver, HE a north-seeking
compass, TI a rate-of-turn indicator, SD a sounder, WI a weather instrument, VW a log, YX a
transducer.
"""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np

from seatrial.bridges.nmea.instruments import Values, attitude, turn_rate
from seatrial.signals import SensorInfo
from seatrial.spatial.geodesy import to_geodetic

EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
"""What a clock shows at simulated time 0: receivers tell the date, and a scenario has none."""
KNOT = 1852.0 / 3600.0
LONGEST = 82
"""Characters of a sentence, `$` and the end of line included."""

_QUALITY = (0, 1, 2, 5, 4)
"""In GGA, by fix: none, autonomous, differential, RTK float, RTK fixed."""
_MODE = "NADFR"
"""The same in RMC and VTG."""


def sentence(body: str, start: str = "$") -> str:
    """With its checksum, the exclusive or of all characters between start and `*`."""
    checksum = 0
    for octet in body.encode("ascii"):
        checksum ^= octet
    return f"{start}{body}*{checksum:02X}\r\n"


def read_sentence(line: bytes) -> list[str] | None:
    """The fields of a sentence, or None if it is none: not ASCII, no checksum or a wrong one."""
    try:
        text = line.decode("ascii").strip()
    except UnicodeDecodeError:
        return None
    body, _, checksum = text[1:].partition("*")
    if not body or not body.isprintable() or len(text) > LONGEST:
        return None
    return body.split(",") if f"{text[:1]}{body}*{checksum.upper()}\r\n" == sentence(body) else None


def _degrees(value: float, width: int, letters: str) -> str:
    """Degrees and minutes with the hemisphere: `5930.12345,N`."""
    minutes = round(abs(value) * 60.0, 5)
    whole, rest = divmod(minutes, 60.0)
    return f"{int(whole):0{width}d}{rest:08.5f},{letters[0] if value >= 0.0 else letters[1]}"


def _clock(time: float) -> tuple[str, str]:
    """Time of the day and date."""
    now = EPOCH + timedelta(milliseconds=10 * round(time * 100.0))
    return f"{now:%H%M%S}.{now.microsecond // 10_000:02d}", f"{now:%d%m%y}"


def bearing(angle: float) -> float:
    """Degrees from 0 to below 360, also after rounding to a tenth."""
    return round(math.degrees(angle), 1) % 360.0


def _gnss(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    fix = int(np.clip(round(v["fix"]), 0, 4))
    clock, date = _clock(time)
    if fix == 0:
        return [
            f"GNGGA,{clock},,,,,0,00,,,M,,M,,",
            f"GNRMC,{clock},V,,,,,,,{date},,,N",
            "GNVTG,,T,,M,,N,,K,N",
        ]
    latitude, longitude, height = (
        float(a) for a in to_geodetic([v["north"], v["east"], v["down"]], datum)
    )
    place = f"{_degrees(latitude, 2, 'NS')},{_degrees(longitude, 3, 'EW')}"
    speed = math.hypot(v["velocity_north"], v["velocity_east"])
    course = bearing(math.atan2(v["velocity_east"], v["velocity_north"]))
    knots, mode = speed / KNOT, _MODE[fix]
    return [
        f"GNGGA,{clock},{place},{_QUALITY[fix]},12,1.0,{height:.2f},M,0.0,M,,",
        f"GNRMC,{clock},A,{place},{knots:.2f},{course:.1f},{date},,,{mode}",
        f"GNVTG,{course:.1f},T,,M,{knots:.2f},N,{speed * 3.6:.2f},K,{mode}",
    ]


def _compass(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    return [f"HEHDT,{bearing(v['heading']):.1f},T"]


def _turn(info: SensorInfo, v: Values) -> str:
    return f"TIROT,{math.degrees(turn_rate(info, v)) * 60.0:.1f},A"


def _imu(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    return [_turn(info, v)]


def _ahrs(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    roll, pitch, heading = attitude(info, v)
    return [
        f"HEHDT,{bearing(heading):.1f},T",
        _turn(info, v),
        f"YXXDR,A,{math.degrees(pitch):.2f},D,PTCH,A,{math.degrees(roll):.2f},D,ROLL",
    ]


def _depth(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    farthest = info.facts.get("limits", (0.0, 0.0))[1]
    offset = info.position[2]  # the waterline is this far above the transducer
    return [f"SDDPT,{v['range']:.2f},{offset:.2f},{f'{farthest:.1f}' if farthest else ''}"]


def _wind(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    return [f"WIMWV,{bearing(v['angle']):.1f},R,{v['speed']:.2f},M,A"]


def _log(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    ahead = v["speed_x"]
    return [f"VWVHW,,T,,M,{ahead / KNOT:.2f},N,{ahead * 3.6:.2f},K"]


def _transducer(info: SensorInfo) -> str:
    """Its name in an XDR: few letters and digits, since three must fit into a sentence."""
    return re.sub(r"[^A-Z0-9_]", "_", info.name.upper())[:8]


def _battery(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    name = _transducer(info)
    measured = f"U,{v['voltage']:.2f},V,{name},I,{v['current']:.2f},A,{name}"
    return [f"YXXDR,{measured},G,{100.0 * v['charge']:.1f},P,{name}"]


def _pressure(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    return [f"YXXDR,P,{v['pressure'] / 1e5:.5f},B,{_transducer(info)}"]


def _water(info: SensorInfo, time: float, v: Values, datum: tuple[float, float]) -> list[str]:
    name = _transducer(info)
    measured = f"C,{v['temperature']:.3f},C,{name},P,{v['pressure'] / 1e5:.5f},B,{name}"
    return [f"YXXDR,{measured},L,{v['salinity']:.3f},S,{name}"]


SPOKEN: dict[str, Callable[[SensorInfo, float, Values, tuple[float, float]], list[str]]] = {
    "gnss": _gnss,
    "compass": _compass,
    "imu": _imu,
    "ahrs": _ahrs,
    "altimeter": _depth,
    "echo_sounder": _depth,
    "anemometer": _wind,
    "speed_log": _log,
    "battery": _battery,
    "pressure": _pressure,
    "ctd": _water,
}
"""By the type of a sensor, the sentences of a sample without their checksums."""
