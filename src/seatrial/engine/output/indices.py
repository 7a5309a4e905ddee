"""Manoeuvring indices from a track: IMO MSC.137(76), ITTC 7.5-04-02-01.

Distances are over the vehicle's length; an index that the track did not reach is left out.
"""

import math

import numpy as np

from seatrial.engine.frames import Array, Event

CLEARLY = math.radians(20.0)
"""A turn that no wave makes."""


def indices(
    kind: str,
    parameters: dict[str, float],
    time: Array,
    position: Array,
    euler: Array,
    velocity: Array,
    length: float,
) -> dict[str, float]:
    """Indices of a manoeuvre; `parameters` are those of its description, SI."""
    approach = parameters["approach"]
    heading = np.unwrap(euler[:, 2])
    start = int(np.searchsorted(time, approach - 1e-9))
    if start >= len(time) - 1:
        return {}
    track = _relative(position, heading, start) / length
    run = time[start:] - time[start]
    turn = heading[start:] - heading[start]
    motion = velocity[start:]
    if kind == "turning_circle":
        return _turning_circle(run, track, turn, motion, velocity[start], length)
    if kind == "zigzag":
        return _zigzag(run, turn, parameters["heading_change"])
    if kind == "spiral":
        return _spiral(run, motion, parameters)
    if kind == "pull_out":
        return _pull_out(run, motion, parameters["turn"])
    return _crash_stop(run, track, turn, motion)


def against_the_helm(parameters: dict[str, float], time: Array, euler: Array) -> list[Event]:
    """Whether she turned the other way than the helm said, told at the time when it showed.

    Indices of such a run are those of another manoeuvre, or there are none.
    """
    helm, start = parameters.get("helm", 0.0), int(np.searchsorted(time, parameters["approach"]))
    turn = np.unwrap(euler[:, 2])[start:]
    turned = np.flatnonzero(np.abs(turn - turn[:1]) > CLEARLY)
    if helm == 0.0 or len(turned) == 0 or (turn[turned[0]] - turn[0]) * helm > 0.0:
        return []
    way, said = ("port", "starboard") if helm > 0.0 else ("starboard", "port")
    text = f"turned to {way} by helm to {said}: the vehicle's `manoeuvring.helm` has a wrong sign"
    return [Event(float(time[start + turned[0]]), text, "helm", -1)]


def _relative(position: Array, heading: Array, start: int) -> Array:
    """Track from the execute on, ahead and to starboard of the approach course."""
    c, s = math.cos(heading[start]), math.sin(heading[start])
    north, east = (position[start:, :2] - position[start, :2]).T
    return np.stack([c * north + s * east, c * east - s * north], axis=1)


def _first_crossing(values: Array, level: float) -> float | None:
    """Fractional sample at which `values` first reaches `level` from below."""
    above = np.flatnonzero(values >= level)
    if len(above) == 0 or above[0] == 0:
        return None
    i = int(above[0])
    return i - 1 + float((level - values[i - 1]) / (values[i] - values[i - 1]))


def _at(values: Array, sample: float) -> float:
    return float(np.interp(sample, np.arange(len(values)), values))


def _turning_circle(
    run: Array, track: Array, turn: Array, motion: Array, before: Array, length: float
) -> dict[str, float]:
    side = 1.0 if turn[-1] >= 0 else -1.0
    result: dict[str, float] = {}
    quarter = _first_crossing(side * turn, math.radians(90))
    half = _first_crossing(side * turn, math.radians(180))
    if quarter is not None:
        result["advance_over_length"] = _at(track[:, 0], quarter)
        result["transfer_over_length"] = side * _at(track[:, 1], quarter)
        result["time_to_90_deg"] = _at(run, quarter)
    if half is not None:
        result["tactical_diameter_over_length"] = side * _at(track[:, 1], half)
        result["time_to_180_deg"] = _at(run, half)
    last = motion[-max(2, len(motion) // 10) :]
    speed = float(np.hypot(last[:, 0], last[:, 1]).mean())
    rate = abs(float(last[:, 5].mean()))
    if half is not None and rate > 1e-6:
        result["steady_diameter_over_length"] = 2.0 * speed / rate / length
        result["speed_in_turn_over_approach"] = speed / max(
            float(np.hypot(before[0], before[1])), 1e-9
        )
    return result


def _zigzag(run: Array, turn: Array, change: float) -> dict[str, float]:
    """Overshoots: how far the heading swings past the angle at which the helm was reversed."""
    result: dict[str, float] = {}
    names = ("first", "second", "third", "fourth")
    side, begin = 1.0, 0
    crossings: list[float] = []
    for name in names:
        reached = _first_crossing(side * turn[begin:], change)
        if reached is None:
            break
        at = begin + math.ceil(reached)
        crossings.append(_at(run, begin + reached))
        swing = side * turn[at:]
        back = np.flatnonzero(swing < change)
        if len(back) == 0:  # still swinging when the run ended
            break
        peak = at + int(np.argmax(swing[: back[0]]))
        result[f"{name}_overshoot_deg"] = math.degrees(side * turn[peak] - change)
        side, begin = -side, peak
    if crossings:
        result["initial_turning_time"] = crossings[0]
    if len(crossings) >= 3:
        result["period"] = crossings[2] - crossings[0]
    return result


def _spiral(run: Array, motion: Array, parameters: dict[str, float]) -> dict[str, float]:
    """Settled yaw rate at each helm angle; the loop's height at helm zero tells instability."""
    steps, hold = int(parameters["steps"]), parameters["hold"]
    settled: dict[tuple[int, bool], float] = {}
    for rung in range(2 * steps + 1):
        window = (run >= (rung + 0.8) * hold) & (run < (rung + 1) * hold)
        if window.any():
            returning = rung > steps
            share = 2 * (rung - steps) - steps if returning else steps - 2 * rung
            settled[share, returning] = float(motion[window, 5].mean())
    result = {
        f"yaw_rate_at_helm_{math.degrees(parameters['helm'] * share / steps):+.1f}_deg_"
        f"{'returning' if returning else 'going'}": math.degrees(rate)
        for (share, returning), rate in settled.items()
    }
    if (0, False) in settled and (0, True) in settled:
        loop = abs(settled[0, False] - settled[0, True])
        result["loop_height_deg_s"] = math.degrees(loop)
    return result


def _pull_out(run: Array, motion: Array, turn: float) -> dict[str, float]:
    during = motion[(run > 0.8 * turn) & (run <= turn), 5]
    after = motion[-max(2, len(motion) // 10) :, 5]
    if len(during) == 0 or run[-1] <= turn:
        return {}
    steady = float(during.mean())
    return {
        "turning_rate_deg_s": math.degrees(steady),
        "residual_rate_deg_s": math.degrees(float(after.mean())),
        "residual_over_turning_rate": float(after.mean()) / steady if abs(steady) > 1e-9 else 0.0,
    }


def _crash_stop(run: Array, track: Array, turn: Array, motion: Array) -> dict[str, float]:
    stopped = _first_crossing(-motion[:, 0], 0.0)
    if stopped is None:
        return {}
    end = math.ceil(stopped) + 1
    legs = np.linalg.norm(np.diff(track[:end], axis=0), axis=1)
    return {
        "stopping_time": _at(run, stopped),
        "head_reach_over_length": _at(track[:, 0], stopped),
        "lateral_deviation_over_length": _at(track[:, 1], stopped),
        "track_reach_over_length": float(legs.sum()),
        "heading_change_deg": math.degrees(_at(turn, stopped)),
    }
