"""A recording played back: the same states as live, from frames that were kept."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import Act, RunHeader, RunSummary, Scene, VehicleInfo
from seatrial.errors import Problem, SpecError
from seatrial.signals import Measurements, SensorInfo
from seatrial.viewer.messages import History, Part, Request, Samples, VehicleCard
from seatrial.viewer.pictures import grows, newest, samples_of
from seatrial.viewer.seas import Seas
from seatrial.viewer.stage import Answer, Stage
from seatrial.viewer.states import Rows
from seatrial.viewer.world import STATUSES, drawn_bodies, hello_of, packed, vehicle_card

if TYPE_CHECKING:
    import xarray

_MAY = ("play", "pause", "step", "reset", "speed", "seek")

MOST_HISTORY = 2000
"""Frames of a vehicle that a page gets at once for its charts."""
MOST_BYTES = 256 << 20
"""Of rows in memory; of a longer recording every second, third … frame is shown."""

_VARIABLES = {
    "position": ("position",),
    "attitude": ("attitude",),
    "velocity": ("velocity", "angular_velocity"),
    "acceleration": ("acceleration",),
    "actuators": ("actuator",),
    "command": ("command",),
    "elevation": ("wave_elevation",),
    "current": ("current",),
    "wind": ("wind",),
    "status": (),
    "faults": ("fault",),
    "estimate": (
        *("estimate_position", "estimate_attitude", "estimate_velocity"),
        *("estimate_angular_velocity", "estimate_deviation"),
    ),
    "guidance": ("leg", "leg_outcome", "cross_track_error", "distance_to_go"),
}
"""Part of a row -> variables of the dataset."""


class Playback(Stage):
    """Rows of all frames, and a place among them."""

    def __init__(
        self,
        header: RunHeader,
        scene: Scene | None,
        summary: RunSummary | None,
        dataset: "xarray.Dataset",
        acts: tuple[Act, ...],
        measured: Callable[[str, str], Measurements],
        arrays: Callable[[str, str], Any],
    ) -> None:
        """`measured` and `arrays` read what a sensor of a vehicle gave; row i of the arrays belongs
        to the i-th valid sample."""
        scene = scene or Scene()  # of recordings of older versions
        super().__init__([b for b in drawn_bodies(scene) if b.moves])
        self._times, self._groups, cards = _rows_by_vehicle(header, summary, dataset)
        self._now = float(self._times[0])
        self._measured, self._arrays = measured, arrays
        self._sensors = {(v.name, s.name): s for v in header.vehicles for s in v.sensors}
        self._reading = threading.Lock()
        self._read: tuple[tuple[str, str], Measurements, Any] | None = None
        """The sensor that was watched last: what it is called, what it measured, and its arrays."""
        span = (self._now, float(self._times[-1]))
        self.hello = hello_of(header, scene, cards, "playback", _MAY, span)
        for name, end in (summary.vehicles if summary is not None else {}).items():
            for event in end.events:
                self.tell(name, event.text, event.time)
            if end.status != "completed":
                self.tell(name, end.status, end.ended_at)
        for act in acts:
            if act.what not in ("stick", "channels"):
                vehicle = str(act.value.get("vehicle", ""))
                self.tell(vehicle, act.deed, act.time, kind="act", who=act.who)
        self._seas = Seas(scene, acts)
        self._shown: object = None
        """The sea that was told last."""

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._now

    @property
    def _index(self) -> int:
        """Of the last frame that is not later than now."""
        return max(int(np.searchsorted(self._times, self._now + 1e-9, side="right")) - 1, 0)

    def _publish(self) -> None:
        """Before the state the sea, where that is not the one before."""
        which = self._seas.which(self._now)
        if which != self._shown:
            if self._shown is not None:
                sea, scene = self._seas.message(self._now)
                self._moving = [b for b in drawn_bodies(scene) if b.moves]
                update = {"waves": sea.waves, "visibility": sea.visibility}
                self.hello = self.hello.model_copy(update=update)
                self.sea = (self.sea[0] + 1, sea.model_dump_json())
            self._shown = which
        super()._publish()

    def _rows(self) -> tuple[float, list[Rows]]:
        i = self._index
        return float(self._times[i]), [rows[i] for rows in self._groups]

    def samples(self, vehicle: str, sensor: str, after: float) -> Samples | None:
        """Up to now, from the file."""
        info = self._sensors.get((vehicle, sensor))
        if info is None:
            return None
        with self._reading:
            taken, arrays = self._samples_of(vehicle, info)
            new = newest(info, taken, after, self._now + 1e-9)
            if not len(new):
                return None
            some = taken.cut(new)
            if info.payload is not None:
                shown = new if grows(info) else new[-1:]
                some = replace(some, payload=arrays[shown])
        return samples_of(self.run, vehicle, info, some)

    def _samples_of(self, vehicle: str, info: SensorInfo) -> tuple[Measurements, Any]:
        asked = (vehicle, info.name)
        if self._read is None or self._read[0] != asked:
            taken = self._measured(*asked)
            arrays = None if info.payload is None else self._arrays(*asked)
            self._read = asked, taken.cut(taken.valid), arrays
        return self._read[1:]

    def history(self, vehicle: str) -> History | None:
        """Of the whole recording."""
        names = [card.name for card in self.hello.vehicles]
        if vehicle not in names:
            return None
        rows = self._groups[names.index(vehicle)][:, 0]
        some = slice(None, None, max(1, -(-len(self._times) // MOST_HISTORY)))
        return History(
            vehicle=vehicle,
            times=packed(self._times[some], "<f8"),
            numbers=packed(rows[some], "<f4"),
        )

    def _reach(self, time: float) -> bool:
        before, last = self._index, float(self._times[-1])
        self._now = min(max(time, self._now), last)
        if self._now >= last:
            self.playing, self.ended = False, True
        return self._index != before or self.ended

    def _obey(self, request: Request, who: str, answer: Answer) -> bool:
        if request.type == "step":
            self.playing = False
            self._to(min(self._index + 1, len(self._times) - 1))
        elif request.type == "reset":
            self._to(0)
            self.playing = True
        elif request.type == "seek":
            after = int(np.searchsorted(self._times, request.time + 1e-9, side="right"))
            self._to(max(after - 1, 0))
        else:
            raise SpecError(
                Problem(
                    "a recording cannot be steered",
                    mend="`seatrial view SCENARIO` runs one live",
                )
            )
        return True

    def _to(self, index: int) -> None:
        """Jump; the page forgets what it showed before, as after a reset."""
        self._now = float(self._times[index])
        self.ended = index == len(self._times) - 1
        self.run += 1


def _rows_by_vehicle(
    header: RunHeader, summary: RunSummary | None, dataset: "xarray.Dataset"
) -> tuple[NDArray[np.float64], list[Rows], list[VehicleCard]]:
    times = np.asarray(dataset["time"].values, np.float64)
    if not len(times):
        raise SpecError(Problem("this recording holds no frame", mend="record the run again"))
    width = sum(2 * len(v.actuators) + len(v.faults) + 48 for v in header.vehicles)
    step = max(1, -(-4 * width * len(times) // MOST_BYTES))
    data = dataset.isel(time=slice(None, None, step))
    times = times[::step]
    groups, cards = [], []
    for i, info in enumerate(header.vehicles):
        own = data.isel(vehicle=i)
        fields, rows = _row(info, own, times, summary)
        groups.append(rows)
        actuators = np.asarray(own["actuator"].sel(channel=[a.name for a in info.actuators]).values)
        limits = {
            a.name: (float(np.nanmin(v, initial=0.0)), float(np.nanmax(v, initial=0.0)))
            for a, v in zip(info.actuators, actuators.T, strict=True)
        }
        cards.append(vehicle_card(info, fields, limits, bool(info.legs)))
    return times, groups, cards


def _row(
    info: VehicleInfo,
    own: "xarray.Dataset",
    times: NDArray[np.float64],
    summary: RunSummary | None,
) -> tuple[list[Part], Rows]:
    """The rows of one vehicle (T, 1, W); after its end it stays where it was."""
    there = {"faults": info.faults, "estimate": info.estimated, "guidance": info.legs}
    absent = {part for part, has in there.items() if not has}
    fields, columns = [], []
    for part, variables in _VARIABLES.items():
        if part == "status":
            values = [_status(info, times, summary)]
        elif part in absent:
            continue
        else:
            found = [own[v] for v in variables if v in own]
            if len(found) < len(variables):
                continue
            if part in ("actuators", "command"):
                found = [v.sel(channel=[a.name for a in info.actuators]) for v in found]
            if part == "faults":
                found = [v.sel(fault_name=[f.name for f in info.faults]) for v in found]
            values = [np.asarray(v.values, np.float32).reshape(len(times), -1) for v in found]
        fields.append(Part(name=part, size=sum(v.shape[1] for v in values)))
        columns += values
    rows = np.concatenate(columns, axis=1)
    alive = np.flatnonzero(np.isfinite(rows[:, 0]))
    if len(alive):
        last = alive[-1]
        rows[last + 1 :] = np.where(np.isfinite(rows[last + 1 :]), rows[last + 1 :], rows[last])
    return fields, rows[:, None, :]


def _status(
    info: VehicleInfo, times: NDArray[np.float64], summary: RunSummary | None
) -> NDArray[np.float32]:
    """(T, 1) codes of `STATUSES`: running up to the end of the vehicle."""
    code = np.zeros((len(times), 1), np.float32)
    end = None if summary is None else summary.vehicles.get(info.name)
    if end is not None and end.status in STATUSES:
        code[times > end.ended_at + 1e-9] = STATUSES.index(end.status)
    return code
