"""Frames as the numbers that go to the page: one row per vehicle, one message per instant."""

import struct

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import ESTIMATE, Body, VehicleFrames
from seatrial.geometry.bodies import quaternion_of
from seatrial.viewer.messages import STATE_HEAD, Part

Rows = NDArray[np.float32]

_HEAD = struct.Struct(
    "<" + "".join({"f8": "d", "u4": "I", "f4": "f"}[k] for k in STATE_HEAD.values())
)

_BELIEF = ("position", "attitude", "velocity", "deviation")
"""Of a navigation filter's estimate."""
_PROGRESS = 4
"""Of guidance: leg, outcome, cross-track error and distance to go."""


def parts_of(frames: VehicleFrames) -> list[Part]:
    """What a row of these vehicles holds, in order."""
    sizes = {
        "position": 3,
        "attitude": 4,
        "velocity": 6,
        "acceleration": 3,
        "actuators": frames.actuators.shape[-1],
        "command": frames.command.shape[-1],
        "elevation": 1,
        "current": 3,
        "wind": 3,
        "status": 1,
        "faults": frames.faults.shape[-1],
        "estimate": 16 if frames.estimate.shape[-1] else 0,
        "guidance": _PROGRESS if frames.guidance.shape[-1] else 0,
    }
    return [Part(name=name, size=size) for name, size in sizes.items() if size]


def rows_of(frames: VehicleFrames, status: NDArray[np.int32]) -> Rows:
    """(T, N, W) of a group's frames with its codes (T, N); what is unknown or over is NaN."""
    belief = [frames.estimate[..., ESTIMATE[name]] for name in _BELIEF]
    columns = [
        *(frames.position, frames.attitude, frames.velocity, frames.acceleration[..., :3]),
        *(frames.actuators, frames.command),
        *(frames.wave_elevation[..., None], frames.current, frames.wind, status[..., None]),
        frames.faults,
        *(belief if frames.estimate.shape[-1] else ()),
        frames.guidance[..., :_PROGRESS],
    ]
    return np.concatenate([np.asarray(c, np.float32) for c in columns], axis=-1)


def poses_of(bodies: list[Body], t: float) -> Rows:
    """(M, 7) positions and attitudes of bodies that move."""
    found = np.zeros((len(bodies), 7), np.float32)
    for row, body in zip(found, bodies, strict=True):
        place, turned = body.pose(t)
        row[:3], row[3:] = place, quaternion_of(turned)
    return found


def state_message(
    time: float, sequence: int, run: int, speed: float, flags: int, parts: list[Rows]
) -> bytes:
    """One instant as it goes over the wire."""
    head = _HEAD.pack(time, sequence, run, speed, flags)
    return head + b"".join(np.ascontiguousarray(p, "<f4").tobytes() for p in parts)
