"""Gathers what an engine gives into blocks of fixed size for the sinks, and adds it up.

Whoever drives the engine, in whatever steps, a run is cut in the same places, so that its recording
has the same bytes.
"""

import sys
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seatrial.core.contact import BOTTOM
from seatrial.engine.assembly import Block, block_size
from seatrial.engine.compiled.judging import RUNNING, STATUS
from seatrial.engine.exchange.deliveries import TOLERANCE, Measured
from seatrial.engine.frames import (
    GUIDANCE,
    Act,
    Array,
    Frames,
    GroupFrames,
    RunSummary,
    VehicleFrames,
)
from seatrial.engine.loaded import Moved
from seatrial.engine.output.known import Known, new_parts
from seatrial.engine.output.tracks import Codes, Floor, Tally, summarise
from seatrial.engine.plan import Fleet, Plan
from seatrial.geometry.terrain import Terrain
from seatrial.signals import Measurements, join


class Gatherer:
    """Takes blocks of any length and gives frames in blocks of one length."""

    def __init__(self, plan: Plan, opening: list[Measured], *, endless: bool = False) -> None:
        """`opening` is what the sensors measured at t = 0, by fleet; one that is `endless` takes
        frames for as long as there are any."""
        self._plan = plan
        self._endless = endless
        self._size = block_size(plan) // plan.schedule.controls
        self._known = Known(plan)
        self._tallies = [
            Tally(
                fleet.names,
                set(plan.manoeuvres),
                _floor(fleet, self._known),
                _partners(plan),
                self._known,
            )
            for fleet in plan.fleets
        ]
        self._moved: list[Moved] = []
        """Parts of a map that were loaded, and not handed on."""
        self._loaded = plan.loaded
        """The part that was handed on last."""
        self._given = 0
        """Frames handed on."""
        self._frames: list[list[VehicleFrames]] = [[] for _ in plan.fleets]
        self._status: list[list[Codes]] = [[] for _ in plan.fleets]
        self._contact: list[list[Array]] = [[] for _ in plan.fleets]
        self._samples: list[list[Measured]] = [[measured] for measured in opening]
        self._acts: list[Act] = []
        self._waiting = 0
        """Frames taken and not handed on."""
        self._periods = 0
        """Control periods taken."""
        self._until = sys.maxsize if endless else plan.frames
        """Frames of the run, fewer when all its vehicles end, or end their missions, before."""
        self._legs = [
            np.array([len(fleet.legs.get(name, ())) for name in fleet.names])
            for fleet in plan.fleets
        ]

    @property
    def complete(self) -> bool:
        """Whether all frames of the run have been taken: its last vehicle may have ended."""
        return self._given + self._waiting >= self._until

    @property
    def time(self) -> float:
        """Of the last frame, s."""
        return max(self._given + self._waiting - 1, 0) * self._plan.header.frame_period

    def note(self, act: Act) -> None:
        """Let the frames of its time tell what somebody did."""
        self._acts.append(act)

    def add(self, block: Block) -> list[Frames]:
        """Take a block; gives those that are full."""
        for moved in block.moved:
            self._known.move(moved)
            self._moved.append(moved)
        for i, (group, codes) in enumerate(zip(block.frames.groups, block.status, strict=True)):
            self._frames[i].append(group.frames)
            self._status[i].append(codes)
            self._samples[i].append(group.measurements)
            self._contact[i].append(block.contact[i])
        new = len(block.frames.time)
        over = [codes != RUNNING for codes in block.status]
        if self._plan.stop_when_done:
            frames = (group.frames for group in block.frames.groups)
            legs = zip(over, frames, self._legs, strict=True)
            over = [ended | _done(part.guidance, count) for ended, part, count in legs]
        ended = np.all([np.all(vehicles, axis=1) for vehicles in over], axis=0)
        if ended.any() and not self._endless:
            last = self._given + self._waiting + int(np.argmax(ended)) + 1
            self._until = min(self._until, last)
        self._waiting += new
        self._periods += block.periods
        # Frames whose periods have passed: the samples of a whole period go with its frame.
        passed = self._periods // self._plan.schedule.controls
        # The last frame is kept for `finish`, which leaves out what was measured after it; of an
        # endless run it may be the one that came last.
        frames_known = self._given + self._waiting if self._endless else self._until
        full = []
        while self._given + self._size <= min(passed, frames_known - 1):
            full.append(self._hand_on(self._size))
        return full

    def finish(self) -> list[Frames]:
        """The frames that are left; the run ends with the last of them."""
        count = min(self._waiting, self._until - self._given)
        return [self._hand_on(count, last=True)] if count > 0 else []

    def summary(self, stopped: bool) -> RunSummary:
        """What became of every vehicle."""
        words = STATUS | {RUNNING: "stopped"} if stopped else STATUS
        end = max(self._given - 1, 0) * self._plan.header.frame_period
        return summarise(self._plan.header, self._tallies, end, words, self._plan.manoeuvres)

    def _hand_on(self, count: int, last: bool = False) -> Frames:
        """The next `count` frames with the samples that were taken before the frame after them."""
        period = self._plan.header.frame_period
        time = np.arange(self._given, self._given + count, dtype=np.float64) * period
        end = time[-1] + TOLERANCE if last else (self._given + count) * period - TOLERANCE
        groups = []
        for i, fleet in enumerate(self._plan.fleets):
            frames, status = _joined(self._frames[i]), np.concatenate(self._status[i])
            samples = {n: _together([part[n] for part in self._samples[i]]) for n in fleet.sensors}
            split = {n: int(np.searchsorted(m.time, end)) for n, m in samples.items()}
            taken = {n: m.cut(slice(0, split[n])) for n, m in samples.items()}
            group = GroupFrames(fleet.names, _part(frames, slice(0, count)), taken)
            contact = np.concatenate(self._contact[i])
            self._tallies[i].add(time, group, status[:count], contact[:count])
            groups.append(group)
            self._frames[i] = [_part(frames, slice(count, None))]
            self._status[i] = [status[count:]]
            self._contact[i] = [contact[count:]]
            self._samples[i] = [{n: m.cut(slice(split[n], None)) for n, m in samples.items()}]
        done = tuple(act for act in self._acts if last or act.time < end)
        self._acts = self._acts[len(done) :]
        self._given += count
        self._waiting -= count
        return Frames(time, tuple(groups), done, self._parts_until(end))

    def _parts_until(self, end: float) -> tuple[Terrain, ...]:
        """Parts of a map that were loaded before a time, and have not been handed on."""
        moved = [one for one in self._moved if one.time < end]
        self._moved = self._moved[len(moved) :]
        found = new_parts(moved, self._loaded)
        if moved:
            self._loaded = moved[-1].loaded
            self._known.forget(end)
        return found


def _done(guidance: Array, legs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(T, N) whether vehicles with so many legs have none left; never for those without any."""
    if not guidance.shape[-1]:
        return np.zeros(guidance.shape[:2], bool)
    done: NDArray[np.bool_] = (guidance[..., GUIDANCE.index("leg")] >= legs) & (legs > 0)
    return done


def _floor(fleet: Fleet, known: Known) -> Floor | None:
    """Depth of the origin at which a vehicle lies on the bottom, by the place."""
    contact = fleet.group.model.contact
    if contact is None or fleet.ocean.seabed is None:
        return None
    extent = float(np.max(np.asarray(contact.extent)))
    return lambda north, east: known.under(north, east) - extent


def _partners(plan: Plan) -> dict[int, str]:
    """What the numbers of `core.contact.BOTTOM` stand for."""
    others = [body.name for body in plan.scene.bodies if body.shape != "vehicle"]
    vehicles = [name for fleet in plan.fleets for name in fleet.names]
    return (
        dict(enumerate(others))
        | {BOTTOM: "the bottom"}
        | {BOTTOM - 1 - i: name for i, name in enumerate(vehicles)}
    )


def _joined(parts: list[VehicleFrames]) -> VehicleFrames:
    parts = [p for p in parts if len(p.position)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    names = vars(parts[0])
    return VehicleFrames(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in names})


def _together(parts: list[Measurements]) -> Measurements:
    parts = [p for p in parts if len(p.time)] or parts[:1]
    return parts[0] if len(parts) == 1 else join(parts)


def _part(frames: VehicleFrames, which: slice) -> VehicleFrames:
    return replace(frames, **{name: a[which] for name, a in vars(frames).items()})
