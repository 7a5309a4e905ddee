"""The weather of a live run: what it is, what was asked for, and the way there."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Protocol

import jax

from seatrial.engine.acts import Act
from seatrial.engine.engine import Engine
from seatrial.engine.other_sea import OtherSea
from seatrial.engine.plan import Plan
from seatrial.engine.sea_change import graded
from seatrial.engine.weather import Weather
from seatrial.errors import Problem, SpecError
from seatrial.viewer.messages import CLEAR, Sea, WeatherCard
from seatrial.viewer.workshop import Answer, Workshop
from seatrial.viewer.world import waves_card

STEP = 0.1
"""Longest time between two stages of a sea that changes, s."""


class Maker(Protocol):
    """Makes plans of the scenario that is shown; knows its description."""

    @property
    def weather(self) -> Weather:
        """At the start."""

    def in_weather(self, weather: Weather, seed: int) -> Plan:
        """The scenario in other weather; raises SpecError where it leaves no room for it."""

    def with_seed(self, seed: int) -> Plan:
        """The scenario with other random numbers."""


def known(maker: Maker | None) -> Maker:
    """The one who makes plans, or a refusal."""
    if maker is None:
        raise SpecError(
            Problem(
                "this run was not made from a description that could be changed",
                mend="show a scenario by its name, its file or as an object",
            )
        )
    return maker


_UNKNOWN = Weather(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, CLEAR)


class Changing:
    """Takes a run from one sea to the next."""

    def __init__(self, engine: Engine, maker: Maker | None, workshop: Workshop) -> None:
        self._engine, self._maker, self._workshop = engine, maker, workshop
        self.reset()

    def reset(self) -> None:
        """The weather of the start again."""
        start = None if self._maker is None else self._maker.weather
        self.asked = self._before = start or _UNKNOWN
        """What it is, or becomes."""
        self._pending: list[tuple[str, dict[str, float]]] = []
        self._way: OtherSea | None = None
        self._since = 0.0

    def ask(
        self,
        changes: dict[str, float],
        who: str,
        begun: Callable[[Act], None],
        answer: Answer,
    ) -> None:
        """Ask for other weather; `begun` is told when the sea begins to change."""
        maker = known(self._maker)
        self._pending.append((who, changes))
        pending, engine = list(self._pending), self._engine
        wanted = self.asked
        for _, some in pending:
            wanted = replace(wanted, **some)
        seed = engine.plan.header.seed

        def make() -> Plan:
            plan = maker.in_weather(wanted, seed)
            with jax.enable_x64(True):
                engine.foresee(OtherSea(engine.plan, plan, 0.0).plan(0.0))
            return plan

        def take(plan: Plan) -> None:
            del self._pending[: len(pending)]
            now = engine.time
            self._way = OtherSea(engine.plan, plan, now)
            self._before, self.asked, self._since = self.visible(now), wanted, now
            *others, (last, value) = pending
            for name, some in others:
                begun(Act(now, name, "weather", dict(some)))
            begun(Act(now, last, "weather", dict(value), self._way.change.destination))

        def refuse(text: str) -> None:
            del self._pending[: len(pending)]
            answer(text)

        self._workshop.wish(make, take, refuse)

    def go_on(self) -> bool:
        """Bring the sea to the engine's time; whether it changed."""
        if self._way is None:
            return False
        now = self._engine.time
        with jax.enable_x64(True):
            self._engine.surround(self._way.plan(now))
        if now >= self._way.change.end:
            self._way = None
        return True

    @property
    def periods(self) -> int | None:
        """Control periods until the next stage is due; None in a sea that stays as it is."""
        if self._way is None:
            return None
        return max(1, int(STEP / self._engine.control_period + 1e-6))

    def visible(self, t: float) -> Weather:
        """The weather with the visibility on its way, by equal ratios in equal times."""
        share = 1.0 if self._way is None else self._way.change.mix(t).share
        visibility = graded(share, self._before.visibility, self.asked.visibility)
        return replace(self.asked, visibility=visibility)

    def message(self) -> Sea:
        """What the pages draw."""
        scene, now = self._engine.plan.scene, self._engine.time
        wind = scene.wind
        return Sea(
            time=now,
            waves=waves_card(scene.waves),
            wind_speed=0.0 if wind is None else wind.speed,
            wind_towards=0.0 if wind is None else wind.towards,
            visibility=self.visible(now).visibility,
            weather=None if self._maker is None else WeatherCard(**asdict(self.asked)),
        )
