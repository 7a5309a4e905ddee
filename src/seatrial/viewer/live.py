"""A run that is computed while it is watched, and that the page may steer."""

import time as wall_clock
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from seatrial.engine.assembly import Block
from seatrial.engine.command.pilot import Pilot
from seatrial.engine.compiled.judging import RUNNING
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import Controllers
from seatrial.engine.exchange.deliveries import Deliveries
from seatrial.engine.frames import Act, RunHeader, RunSummary, Sink
from seatrial.engine.output.gathering import Gatherer
from seatrial.engine.output.outlets import Outlets
from seatrial.engine.plan import Plan
from seatrial.errors import Problem, SeatrialError, SpecError
from seatrial.ocean.sea_states import SEA_STATES
from seatrial.signals import RELEASE, Command, Measurements, Setpoint, join
from seatrial.viewer.guests import Guests, Order
from seatrial.viewer.helm import Helm, helms_of
from seatrial.viewer.messages import (
    REQUESTS,
    Bottom,
    Channels,
    Hello,
    Release,
    Request,
    Samples,
    SetWeather,
    Stick,
    Waypoint,
)
from seatrial.viewer.pictures import grows, newest, samples_of
from seatrial.viewer.stage import TICK, Answer, Stage
from seatrial.viewer.states import Rows, parts_of, rows_of
from seatrial.viewer.weather import Changing, Maker, known
from seatrial.viewer.workshop import Workshop
from seatrial.viewer.world import STATUSES, bottom_card, drawn_bodies, hello_of, vehicle_card

BLOCKS_KEPT = 16
"""Of samples: what a fast run brings between two messages to a page."""

_MAY = tuple(name for name in REQUESTS if name != "seek")


class Live(Stage):
    """Drives an engine; frames go to a sink as well where one is asked for."""

    def __init__(
        self,
        engine: Engine,
        controllers: Controllers,
        sink: Callable[[], Sink] | None = None,
        maker: Maker | None = None,
        whole: bool = False,
        guests: Guests | None = None,
    ) -> None:
        """`sink` makes the recorder of a run, and a reset begins another recording; `maker` makes
        plans of other weather and seeds, where the plan has a description. A `whole` run ends where
        its scenario does, and needs a sink."""
        super().__init__([b for b in drawn_bodies(engine.plan.scene) if b.moves])
        self._engine, self._controllers, self._sink = engine, controllers, sink
        self._whole, self.guests = whole, guests
        self.summary: RunSummary | None = None
        """Of the last recording that was closed."""
        self._maker, self._workshop = maker, Workshop()
        self._plan = engine.plan
        """Of the start, whatever the weather became."""
        self._changing = Changing(engine, maker, self._workshop)
        self._last_act: dict[tuple[str, str, str], dict[str, Any]] = {}
        """By who, what and vehicle, so that an order that is only repeated is noted once."""
        self._helms = helms_of(engine.plan)
        self._taken: dict[str, str] = {}
        """How the page steers a vehicle: by channel, by stick or by waypoint."""
        self._places = {
            name: (g, i) for g, f in enumerate(engine.plan.fleets) for i, name in enumerate(f.names)
        }
        """Of every vehicle its fleet, and its number there."""
        self._infos = {v.name: v for v in engine.plan.header.vehicles}
        self._measured: dict[tuple[int, str], tuple[Measurements, ...]] = {}
        """By fleet and sensor what the last blocks with samples brought."""
        every = [sensor for info in self._infos.values() for sensor in info.sensors]
        self._lasting = {s.name: s.payload is None or grows(s) for s in every}
        """Sensors of which more than the latest block is kept; of large pictures only the last."""
        self._gatherer: Gatherer | None = None
        self._outlets: Outlets | None = None
        self._begin()
        self.hello = self._hello()

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._engine.time

    @property
    def header(self) -> RunHeader:
        """Of the run as it is now, whose seed may have been changed."""
        return self._plan.header

    def _begin(self) -> None:
        plan, opening = self._engine.plan, self._engine.opening
        self._deliveries = Deliveries(plan, opening) if self._controllers else None
        self._controllers.start(self._engine)
        if self._sink is not None:
            self._gatherer = Gatherer(plan, opening, endless=not self._whole)
            self._outlets = Outlets([self._sink()], plan.header, plan.scene)
        self._taken.clear()
        self._measured.clear()
        self._last_act.clear()
        self.ended = False
        if self.guests is not None:
            self.guests.begin(self._engine)
        self._block = self._advance(plan.schedule.controls)

    def _advance(self, periods: int) -> Block:
        """Go on by some control periods, as far as nobody outside must be heard before."""
        engine = self._engine
        periods = min(periods, engine.block, self._changing.periods or periods)
        if self.guests is not None and self.guests.present:
            periods = 1
        if self._whole:  # the last frame tells the orders of the period that it begins
            last = (self._plan.frames - 1) * self._plan.schedule.controls + 1
            periods = max(1, min(periods, last - engine.periods))
        if self._changing.go_on():
            self._tell_sea()
        if self._deliveries is not None:
            self._controllers.steer(engine, self._deliveries)
            periods = min(periods, self._controllers.rest(engine))
        block = engine.advance(periods)
        if block.moved:
            self._tell_bottom()
        if self._deliveries is not None:
            self._deliveries.take([group.measurements for group in block.frames.groups])
        for g, group in enumerate(block.frames.groups):
            for sensor, taken in group.measurements.items():
                if len(taken.time):
                    kept = self._measured.get((g, sensor), ()) if self._lasting[sensor] else ()
                    self._measured[g, sensor] = (*kept, taken)[-BLOCKS_KEPT:]
        if self._gatherer is not None and self._outlets is not None:
            for frames in self._gatherer.add(block):
                self._outlets.write(frames)
        if self.guests is not None and self.guests.present:
            self.guests.tell(engine, block.frames)
        return block

    def samples(self, vehicle: str, sensor: str, after: float) -> Samples | None:
        """Of the last blocks that brought any."""
        fleet, number = self._places.get(vehicle, (-1, -1))
        kept = [part for part in self._measured.get((fleet, sensor), ()) if part.time[-1] > after]
        if not kept:
            return None
        info = next(s for s in self._infos[vehicle].sensors if s.name == sensor)
        own = join([part.pick(number) for part in kept])
        new = newest(info, own, after, np.inf)
        return samples_of(self.run, vehicle, info, own.cut(new)) if len(new) else None

    def _hear(self) -> bool:
        """What is asked for, and what was asked for before and is ready now."""
        ready = self._workshop.collect()
        return bool(super()._hear() + self._hear_guests() + ready)

    def _hear_guests(self) -> bool:
        """What programs ask for; who asked is told what became of it."""
        heard = [] if self.guests is None else self.guests.heard()
        for asked, who, answer in heard:
            refused: list[str] = []
            if isinstance(asked, Order):
                try:
                    self._order(asked, who)
                except SeatrialError as error:
                    refused.append(str(error))
            else:
                self._take(asked, who, refused.append)
            answer("; ".join(refused))
        return bool(heard)

    def _order(self, order: Order, who: str) -> None:
        name, command = order.vehicle, order.command
        how = "a program" if order.command.channels or order.command.setpoint else ""
        anew = how != self._taken.get(name, "")
        if anew:  # what was held in another way is not held any more
            command = replace(command, release="all")
        self._engine.order({name: command})
        self._taken[name] = how
        if anew:
            self.tell(name, f"steered by {how}" if how else "given back", kind="act", who=who)
        self._note(Act(self.time, who, "order", order.value))

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
        if self._whole and self._gatherer is not None and self._gatherer.complete:
            self.playing, self.ended = False, True
            self._close_recording(stopped=False)
            self.over.set()
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
                text = f"fault {infos[name].faults[f].name} {word}"
                self.tell(name, text, time, kind="fault")
            if new.guidance.shape[-1]:
                for i in np.flatnonzero(old.guidance[-1, :, 0] != new.guidance[-1, :, 0]):
                    name, leg = group.names[i], int(new.guidance[-1, i, 0])
                    legs = infos[name].legs
                    text = f"leg {legs[leg].name} begins" if leg < len(legs) else "mission done"
                    self.tell(name, text, time)

    def _obey(self, request: Request, who: str, answer: Answer) -> bool:
        if request.type == "step":
            self.playing = False
            if not self.ended:
                self._go(self._engine.plan.schedule.controls)
        elif request.type == "reset":
            if request.seed is not None and request.seed != self._plan.header.seed:
                self._ask_for_seed(request.seed, who, answer)
                return False
            self._restart(self._plan)
        elif request.type == "weather":
            self._changing.ask(_changes(request), who, self._note, answer)
            return False
        elif request.type == "seek":
            raise _refusal("a live run has no timeline", "play a recording back: `seatrial view F`")
        elif request.type == "fault":
            self._engine.set_fault(request.fault, request.on, request.vehicle)
        elif isinstance(request, Channels | Stick | Waypoint | Release):
            name = request.vehicle
            helm = self._helms.get(name)
            if helm is None:
                raise _refusal(f"there is no vehicle `{name}`", "choose one of the list")
            self._steer(helm, request, who)
        return True

    def _note(self, act: Act) -> None:
        vehicle = str(act.value.get("vehicle", ""))
        key = (act.who, act.what, vehicle)
        if act.what in ("stick", "channels", "order"):
            if self._last_act.get(key) == act.value:
                return
            self._last_act[key] = act.value
        if self._gatherer is not None:
            self._gatherer.note(act)
        if act.what in ("fault", "weather", "reset"):  # steering is told when it begins
            self.tell(vehicle, act.deed, act.time, kind="act", who=act.who)

    def _restart(self, plan: Plan) -> None:
        self._close_recording()
        self._workshop.forget()
        self._changing.reset()
        self._engine.reset(plan)
        self._plan = plan
        self.run += 1
        self.events.clear()  # they are of the run before
        self._begin()
        self._moving = [b for b in drawn_bodies(plan.scene) if b.moves]
        self.hello = self._hello()
        self._tell_sea()
        if self.bottom[0]:  # the part that it began with
            self._tell_bottom()
        self.playing = True

    def _ask_for_seed(self, seed: int, who: str, answer: Answer) -> None:
        maker = known(self._maker)

        def make() -> Plan:
            plan = maker.with_seed(seed)
            self._engine.foresee(plan)
            return plan

        def take(plan: Plan) -> None:
            self._restart(plan)
            self._pace()
            self._note(Act(self.time, who, "reset", {"seed": seed}))

        self._workshop.wish(make, take, answer)

    def _tell_sea(self) -> None:
        """Tell the pages of a sea that has changed, and those that come later."""
        sea = self._changing.message()
        self._moving = [b for b in drawn_bodies(self._engine.plan.scene) if b.moves]
        self.hello = self.hello.model_copy(
            update={
                "waves": sea.waves,
                "wind_speed": sea.wind_speed,
                "visibility": sea.visibility,
                "weather": sea.weather,
            }
        )
        self.sea = (self.sea[0] + 1, sea.model_dump_json())

    def _tell_bottom(self) -> None:
        """Tell the pages of another part of a map, and those that come later."""
        terrain = self._engine.plan.scene.terrain
        assert terrain is not None
        card = bottom_card(terrain)
        self.hello = self.hello.model_copy(update={"bottom": card})
        self.bottom = (self.bottom[0] + 1, Bottom(bottom=card).model_dump_json())

    def _steer(self, helm: Helm, request: Channels | Stick | Waypoint | Release, who: str) -> None:
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
            self.tell(name, f"{told} from the page", kind="act", who=who)
        self._taken[name] = how

    def _close_recording(self, stopped: bool = True) -> None:
        if self._gatherer is None or self._outlets is None:
            return
        for frames in self._gatherer.finish():
            self._outlets.write(frames)
        self.summary = self._gatherer.summary(stopped=stopped)
        lost = self._outlets.close(self.summary)
        self._gatherer = self._outlets = None
        for one in lost:
            raise one.error

    def _finish(self) -> None:
        self._workshop.close()
        self._close_recording()

    def _hello(self) -> Hello:
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
        sea = self._changing.message()
        hello = hello_of(plan.header, plan.scene, cards, "live", _MAY, span)
        return hello.model_copy(update={"weather": sea.weather, "visibility": sea.visibility})


def _changes(request: SetWeather) -> dict[str, float]:
    """What is asked for, by the names of `Weather`."""
    asked = request.model_dump(exclude={"type", "sea_state"}, exclude_none=True)
    if request.sea_state is not None:
        height, period = SEA_STATES[request.sea_state]
        asked = (
            {"wave_height": height} | ({} if period is None else {"wave_period": period}) | asked
        )
    return asked


def _refusal(message: str, mend: str) -> SpecError:
    return SpecError(Problem(message, mend=mend))
