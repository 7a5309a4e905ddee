"""Adds a run up as it goes: distance, speeds, extremes, and the indices of its manoeuvre."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seatrial.scenario.frames import (
    Array,
    RunHeader,
    RunSummary,
    VehicleFrames,
    VehicleSummary,
    euler_angles,
    ground_speed,
)
from seatrial.scenario.indices import indices


@dataclass
class Track:
    """What the summary and the indices need of one vehicle's frames."""

    time: list[Array] = field(default_factory=list)
    position: list[Array] = field(default_factory=list)
    euler: list[Array] = field(default_factory=list)
    velocity: list[Array] = field(default_factory=list)
    speed: list[Array] = field(default_factory=list)
    status: list[NDArray[np.int32]] = field(default_factory=list)
    """Codes of the runner; 0 while the vehicle is alive."""

    def append(self, time: Array, frames: VehicleFrames, status: NDArray[np.int32]) -> None:
        """Take a block of frames."""
        self.time.append(time)
        self.status.append(status)
        self.position.append(frames.position)
        self.euler.append(euler_angles(frames.attitude))
        self.velocity.append(frames.velocity)
        self.speed.append(ground_speed(frames.attitude, frames.velocity[:, :3]))


def summarise(
    header: RunHeader,
    tracks: dict[str, Track],
    words: dict[int, str],
    manoeuvres: dict[str, tuple[str, dict[str, float]]],
) -> RunSummary:
    """Figures of every vehicle, and the status of the whole: the worst of its vehicles.

    `words` says what the runner's status codes mean.
    """
    lengths = {v.name: v.length for v in header.vehicles}
    vehicles: dict[str, VehicleSummary] = {}
    end = 0.0
    for name, track in tracks.items():
        time = np.concatenate(track.time)
        position = np.concatenate(track.position)
        euler = np.concatenate(track.euler)
        velocity = np.concatenate(track.velocity)
        end = float(time[-1])
        moved = np.linalg.norm(np.diff(position, axis=0), axis=1)
        speed = np.concatenate(track.speed)
        status = np.concatenate(track.status)
        alive = int(np.flatnonzero(status == 0)[-1])
        figures: dict[str, float] = {}
        if name in manoeuvres:
            kind, parameters = manoeuvres[name]
            figures = indices(kind, parameters, time, position, euler, velocity, lengths[name])
        vehicles[name] = VehicleSummary(
            status=words[int(status[-1])],
            ended_at=float(time[alive]),
            distance=float(moved.sum()),
            speed_mean=float(speed[: alive + 1].mean()),
            speed_max=float(speed.max()),
            depth_max=float(position[:, 2].max()),
            roll_max_deg=math.degrees(float(np.abs(euler[:, 0]).max())),
            pitch_max_deg=math.degrees(float(np.abs(euler[:, 1]).max())),
            indices=figures,
        )
    order = ("diverged", "grounded", "stopped", "completed")
    worst = min((v.status for v in vehicles.values()), key=order.index)
    return RunSummary(status=worst, duration=end, vehicles=vehicles)
