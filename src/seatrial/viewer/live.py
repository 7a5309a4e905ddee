"""A run that is computed while it is watched, and that the page may steer."""

import time as wall_clock
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from seatrial.engine.assembly import Block
from seatrial.engine.command.pilot import Pilot
from seatrial.engine.compiled.judging import RUNNING
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import Controllers
from seatrial.engine.exchange.deliveries import Deliveries
from seatrial.engine.frames import Sink
from seatrial.engine.output.gathering import Gatherer
from seatrial.engine.output.outlets import Outlets
from seatrial.errors import Problem, SpecError
from seatrial.signals import RELEASE, Command, Measurements, Setpoint
from seatrial.viewer.helm import Helm, helms_of
from seatrial.viewer.messages import Channels, Hello, Release, Request, Samples, Stick, Waypoint
from seatrial.viewer.pictures import newest, samples_of
from seatrial.viewer.stage import TICK, Stage
from seatrial.viewer.states import Rows, parts_of, rows_of
from seatrial.viewer.world import STATUSES, drawn_bodies, hello_of, vehicle_card


class Live(Stage):
    """Drives an engine; frames go to a sink as well where one is asked for."""

    def __init__(
        self,
        engine: Engine,
        controllers: Controllers,
        sink: Callable[[], Sink] | None = None,
        control: bool = True,
    ) -> None:
        """`sink` makes the recorder of a run; a reset begins another recording."""
        super().__init__([b for b in drawn_bodies(engine.plan.scene) if b.moves])
        self._engine, self._controllers, self._sink = engine, controllers, sink
        self._helms = helms_of(engine.plan)
        self._taken: dict[str, str] = {}
        """How the page steers a vehicle: by channel, by stick or by waypoint."""
        self._places = {
            name: (g, i) for g, f in enumerate(engine.plan.fleets) for i, name in enumerate(f.names)
        }
        """Of every vehicle its fleet, and its number there."""
        self._infos = {v.name: v for v in engine.plan.header.vehicles}
        self._measured: dict[tuple[int, str], Measurements] = {}
        """By fleet and sensor what the last block with samples brought."""
        self._gatherer: Gatherer | None = None
        self._outlets: Outlets | None = None
        self._begin()
        self.hello = self._hello(control)

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._engine.time

    def _begin(self) -> None:
        plan, opening = self._engine.plan, self._engine.opening
        self._deliveries = Deliveries(plan, opening) if self._controllers else None
        self._controllers.start(self._engine)
        if self._sink is not None:
            self._gatherer = Gatherer(plan, opening, endless=True)
            self._outlets = Outlets([self._sink()], plan.header, plan.scene)
        self._taken.clear()
        self._measured.clear()
        self.ended = False
        self._block = self._advance(plan.schedule.controls)

    def _advance(self, periods: int) -> Block:
        """Go on by some control periods, as far as nobody outside must be heard before."""
        engine = self._engine
        periods = min(periods, engine.block)
        if self._deliveries is not None:
            self._controllers.steer(engine, self._deliveries)
            periods = min(periods, self._controllers.rest(engine))
        block = engine.advance(periods)
        if self._deliveries is not None:
            self._deliveries.take([group.measurements for group in block.frames.groups])
        for g, group in enumerate(block.frames.groups):
            for sensor, taken in group.measurements.items():
                if len(taken.time):
                    self._measured[g, sensor] = taken
        if self._gatherer is not None and self._outlets is not None:
            for frames in self._gatherer.add(block):
                self._outlets.write(frames)
        return block

    def samples(self, vehicle: str, sensor: str, after: float) -> Samples | None:
        """Of the last block that brought any."""
        fleet, number = self._places.get(vehicle, (-1, -1))
        taken = self._measured.get((fleet, sensor))
        if taken is None:
            return None
        own = taken.pick(number)
        new = newest(own, after, np.inf)
        info = next(s for s in self._infos[vehicle].sensors if s.name == sensor)
        return samples_of(self.run, vehicle, info, own.cut(new)) if len(new) else None

    def _reach(self, time: float) -> bool:
        engine, began, changed = self._engine, wall_clock.perf_counter(), False
        while not self.ended and wall_clock.perf_counter() - began < TICK:
            due = int((time - engine.time) / engine.control_period + 1e-6)
            if due < 1:
                break
            changed |= self._go(due)
        return changed

    def _go(self, periods: int) -> bool:
        before, block = self._block, self._advance(periods)
        if not len(block.frames.time):
            return False
        self._block = block
        self._notice(before, block)
        if all(np.all(codes[-1] != RUNNING) for codes in block.status):
            self.playing, self.ended = False, True
        return True

    def _rows(self) -> tuple[float, list[Rows]]:
        frames, status = self._block.frames, self._block.status
        rows = [rows_of(g.frames, s)[-1] for g, s in zip(frames.groups, status, strict=True)]
        return float(frames.time[-1]), rows

    def _notice(self, before: Block, now: Block) -> None:
        """Tell what changed between the last frames of two blocks."""
        time = float(now.frames.time[-1])
        infos = self._infos
        for g, group in enumerate(now.frames.groups):
            old, new = before.frames.groups[g].frames, group.frames
            codes = before.status[g][-1], now.status[g][-1]
            for i in np.flatnonzero(codes[0] != codes[1]):
                self.tell(group.names[i], STATUSES[int(codes[1][i])], time)
            for i, f in np.argwhere((old.faults[-1] > 0.5) != (new.faults[-1] > 0.5)):
                name = group.names[i]
                word = "sets in" if new.faults[-1, i, f] > 0.5 else "is over"
                self.tell(name, f"fault {infos[name].faults[f].name} {word}", time)
            if new.guidance.shape[-1]:
                for i in np.flatnonzero(old.guidance[-1, :, 0] != new.guidance[-1, :, 0]):
                    name, leg = group.names[i], int(new.guidance[-1, i, 0])
                    legs = infos[name].legs
                    text = f"leg {legs[leg].name} begins" if leg < len(legs) else "mission done"
                    self.tell(name, text, time)

    def _obey(self, request: Request) -> None:
        if request.type == "step":
            self.playing = False
            if not self.ended:
                self._go(self._engine.plan.schedule.controls)
        elif request.type == "reset":
            self._close_recording()
            self._engine.reset()
            self.run += 1
            self._begin()
            self.playing = True
        elif request.type == "seek":
            raise _refusal("a live run has no timeline", "play a recording back: `seatrial view F`")
        elif request.type == "fault":
            self._engine.set_fault(request.fault, request.on, request.vehicle)
            word = "asked for" if request.on else "called off"
            self.tell(request.vehicle, f"fault {request.fault} {word} from the page")
        elif isinstance(request, Channels | Stick | Waypoint | Release):
            name = request.vehicle
            helm = self._helms.get(name)
            if helm is None:
                raise _refusal(f"there is no vehicle `{name}`", "choose one of the list")
            self._steer(helm, request)

    def _steer(self, helm: Helm, request: Channels | Stick | Waypoint | Release) -> None:
        name, how = helm.vehicle, str(request.type)
        command = Command()
        if request.type == "release":
            command, how = RELEASE, ""
        elif request.type == "channels":
            command = Command(channels=dict(helm.bounded(request.values)))
        elif request.type == "stick":
            depth = float(self._engine.vehicles[name].position[2])
            command = helm.steered(request.ahead, request.starboard, request.dive, depth)
        elif request.type == "waypoint":
            place = (request.north, request.east)
            command = Command(setpoint=Setpoint(surge=request.surge, waypoint=place))
        if how != self._taken.get(name, ""):  # what was held in another way is not held any more
            command = replace(command, release="all")
        self._engine.order({name: command})
        told = {"": "given back", "waypoint": "sent to a waypoint"}.get(how, f"steered by {how}")
        if how != self._taken.get(name, "") or how == "waypoint":
            self.tell(name, f"{told} from the page")
        self._taken[name] = how

    def _close_recording(self) -> None:
        if self._gatherer is None or self._outlets is None:
            return
        for frames in self._gatherer.finish():
            self._outlets.write(frames)
        lost = self._outlets.close(self._gatherer.summary(stopped=True))
        self._gatherer = self._outlets = None
        for one in lost:
            raise one.error

    def _finish(self) -> None:
        self._close_recording()

    def _hello(self, control: bool) -> Hello:
        plan = self._engine.plan
        infos = self._infos
        cards = []
        for fleet, group in zip(plan.fleets, self._block.frames.groups, strict=True):
            fields = parts_of(group.frames)
            pilot = isinstance(fleet.group.commander, Pilot)
            cards += [
                vehicle_card(infos[name], fields, self._helms[name].limits, pilot)
                for name in fleet.names
            ]
        span = (0.0, plan.header.duration)
        return hello_of(plan.header, plan.scene, cards, "live", control, span)


def _refusal(message: str, mend: str) -> SpecError:
    return SpecError(Problem(message, mend=mend))
