"""Adds a run up as it goes: distance, speeds, extremes, and the indices of its manoeuvres.

A swarm is added up in a fixed amount of memory; only the tracks of vehicles under a standard
manoeuvre are kept, because their indices need all of them.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seatrial.scenario.frames import (
    Array,
    GroupFrames,
    RunHeader,
    RunSummary,
    VehicleSummary,
    euler_angles,
    ground_speed,
)
from seatrial.scenario.indices import indices

Codes = NDArray[np.int32]


@dataclass
class Track:
    """Every frame of a vehicle under a standard manoeuvre."""

    time: list[Array] = field(default_factory=list)
    position: list[Array] = field(default_factory=list)
    euler: list[Array] = field(default_factory=list)
    velocity: list[Array] = field(default_factory=list)


class Tally:
    """Running figures of vehicles of one kind; arrays hold one number per vehicle."""

    def __init__(self, names: tuple[str, ...], watched: set[str]) -> None:
        self.names = names
        self.tracks = {name: Track() for name in names if name in watched}
        self.frames = 0
        count = len(names)
        self._last: Array | None = None
        self._distance = np.zeros(count)
        self._speed_sum, self._speed_max = np.zeros(count), np.zeros(count)
        self._depth_max = np.full(count, -np.inf)
        self._roll_max, self._pitch_max = np.zeros(count), np.zeros(count)
        self._alive_frames = np.zeros(count)
        self._ended_at = np.zeros(count)
        self._status: Codes = np.zeros(count, np.int32)

    def add(self, time: Array, group: GroupFrames, status: Codes) -> None:
        """Take a block of frames; `status` is (T, N), 0 while a vehicle is alive."""
        frames = group.frames
        position = np.asarray(frames.position, np.float64)
        joined = position if self._last is None else np.concatenate([self._last[None], position])
        self._distance += np.linalg.norm(np.diff(joined, axis=0), axis=2).sum(axis=0)
        self._last = position[-1]
        euler = euler_angles(frames.attitude)
        speed = ground_speed(frames.attitude, frames.velocity[..., :3])
        alive = status == 0
        self._speed_sum += np.where(alive, speed, 0.0).sum(axis=0)
        self._speed_max = np.maximum(self._speed_max, speed.max(axis=0))
        self._depth_max = np.maximum(self._depth_max, position[..., 2].max(axis=0))
        self._roll_max = np.maximum(self._roll_max, np.abs(euler[..., 0]).max(axis=0))
        self._pitch_max = np.maximum(self._pitch_max, np.abs(euler[..., 1]).max(axis=0))
        self._alive_frames += alive.sum(axis=0)
        self._ended_at = np.maximum(self._ended_at, np.where(alive, time[:, None], 0.0).max(axis=0))
        self._status = status[-1]
        self.frames += len(time)
        for name, track in self.tracks.items():
            i = self.names.index(name)
            track.time.append(time)
            track.position.append(position[:, i])
            track.euler.append(euler[:, i])
            track.velocity.append(np.asarray(frames.velocity[:, i], np.float64))

    @property
    def all_ended(self) -> bool:
        """Whether no vehicle is alive any more."""
        return bool(np.all(self._status != 0))

    def summaries(
        self,
        words: dict[int, str],
        manoeuvres: dict[str, tuple[str, dict[str, float]]],
        length: float,
    ) -> dict[str, VehicleSummary]:
        """Figures by vehicle; `words` says what the status codes mean."""
        result: dict[str, VehicleSummary] = {}
        for i, name in enumerate(self.names):
            figures: dict[str, float] = {}
            if name in self.tracks:
                track = self.tracks[name]
                kind, parameters = manoeuvres[name]
                figures = indices(
                    kind,
                    parameters,
                    np.concatenate(track.time),
                    np.concatenate(track.position),
                    np.concatenate(track.euler),
                    np.concatenate(track.velocity),
                    length,
                )
            result[name] = VehicleSummary(
                status=words[int(self._status[i])],
                ended_at=float(self._ended_at[i]),
                distance=float(self._distance[i]),
                speed_mean=float(self._speed_sum[i] / self._alive_frames[i]),
                speed_max=float(self._speed_max[i]),
                depth_max=float(self._depth_max[i]),
                roll_max_deg=math.degrees(self._roll_max[i]),
                pitch_max_deg=math.degrees(self._pitch_max[i]),
                indices=figures,
            )
        return result


def summarise(
    header: RunHeader,
    tallies: list[Tally],
    duration: float,
    words: dict[int, str],
    manoeuvres: dict[str, tuple[str, dict[str, float]]],
) -> RunSummary:
    """Figures of every vehicle, and the status of the whole: the worst of its vehicles."""
    lengths = {v.name: v.length for v in header.vehicles}
    found: dict[str, VehicleSummary] = {}
    for tally in tallies:
        found |= tally.summaries(words, manoeuvres, lengths[tally.names[0]])
    vehicles = {v.name: found[v.name] for v in header.vehicles}
    order = ("diverged", "grounded", "stopped", "completed")
    worst = min((v.status for v in vehicles.values()), key=order.index)
    return RunSummary(status=worst, duration=duration, vehicles=vehicles)
