"""Blocks put together from what the parts of a plan computed."""

from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.engine.compiled.block import Outcome
from seatrial.engine.compiled.group import Schedule
from seatrial.engine.compiled.observation import Observation
from seatrial.engine.exchange import taps
from seatrial.engine.exchange.samples import measured_in
from seatrial.engine.frames import Array, Frames, GroupFrames, VehicleFrames
from seatrial.engine.loaded import Moved
from seatrial.engine.parts import Part
from seatrial.engine.plan import Fleet, Plan
from seatrial.signals import join

FRAMES_PER_BLOCK = 100
"""Frames computed by one call of the compiled program, and lost at most when a run is killed."""

SAMPLES_PER_BLOCK = 200_000
"""Frames and measurements that a block holds at most; bounds the memory of a swarm."""

PIXELS_PER_BLOCK = 600_000
"""Of pictures, two of 640 by 480: half a second of one core, after which something is seen of the
run. Clouds, scans and pings take no time beside them."""


class Block(NamedTuple):
    """What some control periods gave."""

    frames: Frames
    """Those that began in the block, perhaps none. The samples are those of the instants after its
    beginning up to its end; inertial sensors feel its beginning, not its end."""
    status: tuple[NDArray[np.int32], ...]
    """(T, N) of each fleet, codes of `judging.STATUS`."""
    contact: tuple[Array, ...]
    """(T, N, 6) of each fleet: impulse of all touches since the frame before (N s), the largest
    force (N), its place (NED, m) and what it came from, a number of `core.contact.BOTTOM`;
    (T, N, 12) of vehicles that touch each other, whose touches follow, and (T, N, 0) of those that
    can touch nothing."""
    periods: int
    """Control periods that it holds."""
    moved: tuple[Moved, ...] = ()
    """Other parts of a map that were loaded in it."""


def block_size(plan: Plan) -> int:
    """Control periods of a full block: whole frames, bounded in number and in memory."""
    rows = sum(fleet.group.count * _rows(fleet, plan.schedule) for fleet in plan.fleets)
    pixels = sum(fleet.group.count * _pixels(fleet, plan.schedule) for fleet in plan.fleets)
    most = min(SAMPLES_PER_BLOCK // rows, PIXELS_PER_BLOCK // max(1, pixels))
    return min(FRAMES_PER_BLOCK, max(1, most)) * plan.schedule.controls


def _rows(fleet: Fleet, schedule: Schedule) -> int:
    """Frames and samples that one vehicle gives per frame period; arrays count by their size."""
    total = 1
    for name, fitted in zip(fleet.sensors, fleet.group.suite, strict=True):
        weight = taps.weight(fleet.dense[name]) if name in fleet.dense else 1
        total += weight * schedule.frame_steps // fitted.period
    return total


def _pixels(fleet: Fleet, schedule: Schedule) -> int:
    """Of the pictures that one vehicle takes per frame period."""
    total = 0
    for name, fitted in zip(fleet.sensors, fleet.group.suite, strict=True):
        if name in fleet.dense and (info := fleet.dense[name].payload).kind == "image":
            total += info.shape[0] * info.shape[1] * schedule.frame_steps // fitted.period
    return total


def by_fleet(plan: Plan, parts: list[Part], found: list[tuple[Any, ...]]) -> list[Any]:
    """What each part found for its members, vehicles last, put together by fleet."""
    trees: list[list[Any]] = [[] for _ in plan.fleets]
    for part, members in zip(parts, found, strict=True):
        for member, tree in zip(part, members, strict=True):
            new = jax.tree.map(lambda a, n=member.count: np.asarray(a)[..., :n], tree)
            trees[member.fleet].append(new)
    return [
        t[0] if len(t) == 1 else jax.tree.map(lambda *a: np.concatenate(a, axis=-1), *t)
        for t in trees
    ]


def block_of(
    plan: Plan, parts: list[Part], outcomes: list[tuple[Outcome, ...]], first: int, periods: int
) -> Block:
    """What the parts computed in some control periods from time step `first` on."""
    schedule = plan.schedule
    end = first + periods * schedule.substeps
    frames = range(-(-first // schedule.frame_steps), -(-end // schedule.frame_steps))
    seen = by_fleet(plan, parts, [tuple(o.seen for o in members) for members in outcomes])
    taken = by_fleet(plan, parts, [tuple(o.taken for o in members) for members in outcomes])
    time: Array = np.asarray(frames, np.float64) * plan.header.frame_period
    groups, status, contact = [], [], []
    for fleet, observation, samples in zip(plan.fleets, seen, taken, strict=True):
        arrays = {
            name: np.moveaxis(a[: len(frames)], -1, 1)
            for name, a in zip(Observation._fields, observation, strict=True)
        }
        status.append(arrays.pop("status"))
        contact.append(arrays.pop("contact"))
        measured = measured_in(fleet, samples, first, periods, schedule)
        groups.append(GroupFrames(fleet.names, VehicleFrames(**arrays), measured))
    return Block(Frames(time, tuple(groups)), tuple(status), tuple(contact), periods)


def join_blocks(blocks: list[Block]) -> Block:
    """Consecutive blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    groups = []
    for parts in zip(*(block.frames.groups for block in blocks), strict=True):
        frames = {
            name: np.concatenate([getattr(part.frames, name) for part in parts])
            for name in vars(parts[0].frames)
        }
        measured = {
            name: join([part.measurements[name] for part in parts])
            for name in parts[0].measurements
        }
        groups.append(GroupFrames(parts[0].names, VehicleFrames(**frames), measured))
    status = zip(*(block.status for block in blocks), strict=True)
    contact = zip(*(block.contact for block in blocks), strict=True)
    return Block(
        Frames(np.concatenate([block.frames.time for block in blocks]), tuple(groups)),
        tuple(np.concatenate(rows) for rows in status),
        tuple(np.concatenate(rows) for rows in contact),
        sum(block.periods for block in blocks),
        tuple(moved for block in blocks for moved in block.moved),
    )
