"""Adds a run up as it goes: distance, speeds, extremes, and the indices of its manoeuvres.

A swarm is added up in a fixed amount of memory; only the tracks of vehicles under a standard
manoeuvre are kept, because their indices need all of them. Of a mission the ends of its legs are
kept, and the cross-track errors leg by leg, since only the legs that are tracks count.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import (
    ESTIMATE,
    GUIDANCE,
    OUTCOMES,
    Array,
    Event,
    GroupFrames,
    LegInfo,
    RunHeader,
    RunSummary,
    VehicleInfo,
    VehicleSummary,
    euler_angles,
    ground_speed,
)
from seatrial.engine.output.indices import against_the_helm, indices
from seatrial.engine.output.known import Known
from seatrial.engine.output.touched import Touches
from seatrial.signals import ACTIONS, FAILSAFES

Codes = NDArray[np.int32]

LOST, LOST_LENGTHS = 30.0, 2.0
"""A vehicle that believes to be farther than this from where it is, in m and in vehicle lengths,
is lost."""


@dataclass
class ManoeuvreTrack:
    """Every frame of a vehicle under a standard manoeuvre."""

    time: list[Array] = field(default_factory=list)
    position: list[Array] = field(default_factory=list)
    euler: list[Array] = field(default_factory=list)
    velocity: list[Array] = field(default_factory=list)


@dataclass(frozen=True)
class _LegEnd:
    """When a leg ended, which, how, and where the vehicle truly was."""

    time: float
    leg: int
    word: str
    position: Array
    heading: float

    def told(self, leg: LegInfo) -> str:
        """For people; a station is held so many metres and degrees off."""
        if self.word != "held" or leg.kind not in ("hold", "dock"):
            return f"{leg.name} {'ended' if self.word == 'unknown' else self.word}"
        away = f"{math.dist(self.position, leg.end):.1f} m"
        if leg.heading is not None:
            off = math.remainder(self.heading - leg.heading, math.tau)
            away += f" and {abs(math.degrees(off)):.0f}°"
        return f"{leg.name} held, {away} off"


class Voyage:
    """Running figures of missions; arrays are (K, N), legs first, and grow with the legs begun."""

    def __init__(self, count: int) -> None:
        self.leg = np.zeros(count, np.int64)
        """Number of the leg that each vehicle is on, or of its legs when all are done."""
        self._squares, self._frames, self._worst = (np.zeros((0, count)) for _ in range(3))
        self._ends: list[list[_LegEnd]] = [[] for _ in range(count)]
        self._on = np.zeros(count, np.int64)
        """Bits of the failsafes that are on."""
        self._alarms: list[list[Event]] = [[] for _ in range(count)]
        """Per vehicle: failsafes that came and went."""
        self.aborted = np.zeros(count, bool)
        """Whether a failsafe has stopped the actuators."""

    def add(
        self,
        time: Array,
        guidance: Array,
        alive: NDArray[np.bool_],
        position: Array,
        heading: Array,
    ) -> None:
        """Take a block of frames; `guidance` is (T, N, G), what is true (T, N, 3) and (T, N)."""
        leg = np.rint(guidance[..., GUIDANCE.index("leg")]).astype(np.int64)
        outcome = np.rint(guidance[..., GUIDANCE.index("outcome")]).astype(np.int64)
        away = np.where(alive, np.abs(guidance[..., GUIDANCE.index("cross_track")]), 0.0)
        missing = int(leg.max()) + 1 - len(self._frames)
        if missing > 0:
            more = np.zeros((missing, leg.shape[1]))
            self._squares, self._frames, self._worst = (
                np.concatenate([a, more]) for a in (self._squares, self._frames, self._worst)
            )
        place = (leg, np.broadcast_to(np.arange(leg.shape[1]), leg.shape))
        np.add.at(self._squares, place, away * away)
        np.add.at(self._frames, place, alive.astype(np.float64))
        np.maximum.at(self._worst, place, away)
        before = np.concatenate([self.leg[None], leg[:-1]])
        for k, i in np.argwhere(leg > before):
            for ended in range(int(before[k, i]), int(leg[k, i])):
                # The frame tells how the last leg ended, not those that came and went before it.
                last = ended == leg[k, i] - 1
                word = OUTCOMES[int(outcome[k, i])] if last else "unknown"
                end = _LegEnd(float(time[k]), ended, word, position[k, i], float(heading[k, i]))
                self._ends[i].append(end)
        self.leg = leg[-1]
        self._add_alarms(time, guidance, leg)

    def _add_alarms(self, time: Array, guidance: Array, leg: NDArray[np.int64]) -> None:
        on = np.rint(guidance[..., GUIDANCE.index("failsafes")]).astype(np.int64)
        action = np.rint(guidance[..., GUIDANCE.index("action")]).astype(np.int64)
        before = np.concatenate([self._on[None], on[:-1]])
        for k, i in np.argwhere(on != before):
            for bit, name in enumerate(FAILSAFES):
                comes, was = (bool(int(bits[k, i]) >> bit & 1) for bits in (on, before))
                if comes != was:
                    says = f": {ACTIONS[int(action[k, i])]}" if comes else " is over"
                    word = "failsafe" if comes else "failsafe over"
                    event = Event(float(time[k]), f"failsafe {name}{says}", word, int(leg[k, i]))
                    self._alarms[i].append(event)
        self._on = on[-1]
        self.aborted = np.array([ACTIONS[int(code)] == "abort" for code in action[-1]])

    def events(self, vehicle: int, legs: tuple[LegInfo, ...]) -> tuple[Event, ...]:
        """What happened to one vehicle."""
        ends = [Event(e.time, e.told(legs[e.leg]), e.word, e.leg) for e in self._ends[vehicle]]
        return tuple(sorted(ends + self._alarms[vehicle], key=lambda event: event.time))

    def figures(self, vehicle: int, legs: tuple[LegInfo, ...]) -> dict[str, float]:
        """Legs done and reached, and the cross-track error on those that are tracks."""
        words = [end.word for end in self._ends[vehicle]]
        found = {
            "legs": float(len(legs)),
            "legs_done": float(len(words)),
            "legs_reached": float(sum(word in ("reached", "held") for word in words)),
        }
        if "timed out" in words:
            found["legs_timed_out"] = float(words.count("timed out"))
        begun = min(len(legs), len(self._frames))
        tracks = [k for k in range(begun) if legs[k].kind == "track"]
        frames = self._frames[tracks, vehicle].sum()
        if frames > 0:
            squares = self._squares[tracks, vehicle].sum()
            found["cross_track_rms"] = math.sqrt(squares / frames)
            found["cross_track_max"] = float(self._worst[tracks, vehicle].max())
        return found


Floor = Callable[[float, float], float]
"""Depth at which a vehicle lies on the bottom, m, by north and east."""


class Tally:
    """Running figures of vehicles of one kind; arrays hold one number per vehicle."""

    def __init__(
        self,
        names: tuple[str, ...],
        watched: set[str],
        floor: Floor | None = None,
        partners: dict[int, str] | None = None,
        known: Known | None = None,
    ) -> None:
        """`watched` are under a standard manoeuvre; an origin deeper than `floor` is aground;
        `partners` are the names of what they may touch; `known` is what is known of the bottom."""
        self.names = names
        self._known = known
        self._left: dict[tuple[int, str], Event] = {}
        """By vehicle and by what it has left."""
        self._touches = Touches(partners or {})
        self._floor = floor
        self.tracks = {name: ManoeuvreTrack() for name in names if name in watched}
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
        self._voyage = Voyage(count)
        self._error_squares, self._error_max = np.zeros(count), np.zeros(count)
        self._error, self._upright = np.zeros(count), np.ones(count)
        """Of the last frame: the error of the estimated position, m, and cos of the tilt."""

    def add(
        self, time: Array, group: GroupFrames, status: Codes, contact: Array | None = None
    ) -> None:
        """Take a block of frames; `status` is (T, N), 0 while a vehicle is alive, and `contact`
        what they touched, as `assembly.Block` says."""
        if contact is not None and contact.shape[-1]:
            self._touches.add(time, contact)
        frames = group.frames
        position = np.asarray(frames.position, np.float64)
        joined = position if self._last is None else np.concatenate([self._last[None], position])
        self._distance += np.linalg.norm(np.diff(joined[..., :2], axis=0), axis=2).sum(axis=0)
        self._last = position[-1]
        euler = euler_angles(frames.attitude)
        speed = ground_speed(frames.attitude, frames.velocity[..., :3])
        self._upright = 1.0 - 2.0 * np.sum(frames.attitude[-1, :, 1:3] ** 2, axis=-1)
        alive = status == 0
        if self._known is not None:
            self._left = self._known.left(time, position, alive) | self._left
        self._speed_sum += np.where(alive, speed, 0.0).sum(axis=0)
        self._speed_max = np.maximum(self._speed_max, speed.max(axis=0))
        self._depth_max = np.maximum(self._depth_max, position[..., 2].max(axis=0))
        self._roll_max = np.maximum(self._roll_max, np.abs(euler[..., 0]).max(axis=0))
        self._pitch_max = np.maximum(self._pitch_max, np.abs(euler[..., 1]).max(axis=0))
        self._alive_frames += alive.sum(axis=0)
        self._ended_at = np.maximum(self._ended_at, np.where(alive, time[:, None], 0.0).max(axis=0))
        self._status = status[-1]
        self.frames += len(time)
        if frames.guidance.shape[-1]:
            guidance = np.asarray(frames.guidance, np.float64)
            self._voyage.add(time, guidance, alive, position, euler[..., 2])
        if frames.estimate.shape[-1]:
            error = frames.estimate[..., ESTIMATE["position"]] - position
            away = np.where(alive, np.linalg.norm(error, axis=2), 0.0)
            self._error_squares += (away * away).sum(axis=0)
            self._error_max = np.maximum(self._error_max, away.max(axis=0))
            self._error = away[-1]
        for name, track in self.tracks.items():
            i = self.names.index(name)
            track.time.append(time)
            track.position.append(position[:, i])
            track.euler.append(euler[:, i])
            track.velocity.append(np.asarray(frames.velocity[:, i], np.float64))

    def _ending(self, i: int, info: VehicleInfo) -> str:
        """What is wrong at the end with a vehicle whose run was not ended by it; '' for nothing."""
        assert self._last is not None
        wrong = {
            "capsized": self._upright[i] < 0.0,
            "grounded": self._floor is not None
            and self._last[i, 2] > self._floor(self._last[i, 0], self._last[i, 1]),
            "lost": self._error[i] > max(LOST, LOST_LENGTHS * info.length),
            "aborted": self._voyage.aborted[i],
        }
        running = int(self._status[i]) == 0
        return next((word for word, is_so in wrong.items() if is_so and running), "")

    def summaries(
        self,
        words: dict[int, str],
        manoeuvres: dict[str, tuple[str, dict[str, float]]],
        infos: dict[str, VehicleInfo],
    ) -> dict[str, VehicleSummary]:
        """Figures by vehicle; `words` says what the status codes mean."""
        result: dict[str, VehicleSummary] = {}
        for i, name in enumerate(self.names):
            info = infos[name]
            figures: dict[str, float] = {}
            wrong_way: list[Event] = []
            if name in self.tracks:
                track = self.tracks[name]
                kind, parameters = manoeuvres[name]
                time, euler = np.concatenate(track.time), np.concatenate(track.euler)
                figures = indices(
                    kind,
                    parameters,
                    time,
                    np.concatenate(track.position),
                    euler,
                    np.concatenate(track.velocity),
                    info.length,
                )
                wrong_way = against_the_helm(parameters, time, euler)
            if info.legs:
                figures |= self._voyage.figures(i, info.legs)
            if info.estimated:
                mean = self._error_squares[i] / self._alive_frames[i]
                figures["position_error_rms"] = math.sqrt(mean)
                figures["position_error_max"] = float(self._error_max[i])
            status = self._ending(i, info) or words[int(self._status[i])]
            begun = self._voyage.leg[i] < len(info.legs)
            if status == "completed" and (begun or "legs_timed_out" in figures):
                status = "unfinished"
            result[name] = VehicleSummary(
                status=status,
                ended_at=float(self._ended_at[i]),
                distance=float(self._distance[i]),
                speed_mean=float(self._speed_sum[i] / self._alive_frames[i]),
                speed_max=float(self._speed_max[i]),
                depth_max=float(self._depth_max[i]),
                roll_max_deg=math.degrees(self._roll_max[i]),
                pitch_max_deg=math.degrees(self._pitch_max[i]),
                indices=figures,
                events=tuple(
                    sorted(
                        (
                            *self._voyage.events(i, info.legs),
                            *self._touches.events(i),
                            *wrong_way,
                            *(event for (who, _), event in self._left.items() if who == i),
                        ),
                        key=lambda event: event.time,
                    )
                ),
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
    infos = {v.name: v for v in header.vehicles}
    found: dict[str, VehicleSummary] = {}
    for tally in tallies:
        found |= tally.summaries(words, manoeuvres, infos)
    vehicles = {v.name: found[v.name] for v in header.vehicles}
    order = (
        *("failed", "diverged", "collided", "capsized", "grounded", "lost", "aborted"),
        *("stopped", "unfinished", "completed"),
    )
    worst = min((v.status for v in vehicles.values()), key=order.index)
    return RunSummary(status=worst, duration=duration, vehicles=vehicles)
