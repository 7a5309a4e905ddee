"""A scenario in other weather: what changes while a run goes on keeps its program.

The number of wave components stays, so another sea has arrays of the same shape. A sea that was
described by a code, by the wind or by two systems goes on as one of the asked height and period
(Bretschneider); a swell beside it stays as it is.
"""

import math
from typing import Any

from seatrial.compile.surroundings.world import wave_frequency
from seatrial.engine.weather import Weather
from seatrial.ocean.sea_states import SEA_STATES
from seatrial.spec import waves as wave_spec
from seatrial.spec import world as world_spec
from seatrial.spec.scenario import Scenario
from seatrial.spec.world import World

CALM = 0.001
"""Lowest sea that is computed, m; lower ones are this high."""

CLEAR = 100_000.0
"""Visibility of clear air, m."""

_USUAL_PERIOD = 6.0
"""Of a sea that was flat so far, s."""


def weather_of(world: World) -> Weather:
    """The weather at the start of a run in a world."""
    wind, current, air = world.wind, world.current, world.weather
    frequency = wave_frequency(world)
    return Weather(
        wave_height=_height(world.waves),
        wave_period=_USUAL_PERIOD if frequency is None else math.tau / frequency,
        wave_towards=getattr(world.waves, "towards", 0.0),
        wind_speed=0.0 if wind is None else wind.speed,
        wind_towards=0.0 if wind is None else wind.towards,
        current_speed=(current.speed or 0.0) if current is not None else 0.0,
        current_towards=(current.towards or 0.0) if current is not None else 0.0,
        visibility=CLEAR if air is None or air.visibility is None else air.visibility,
    )


def with_weather(scenario: Scenario, weather: Weather) -> Scenario:
    """The scenario in other weather; refused where its description leaves no room for it."""
    before = weather_of(scenario.world)
    changes: dict[str, object] = {}
    if _waves(weather) != _waves(before):
        changes["waves"] = _other_waves(scenario.world, weather)
    if (weather.wind_speed, weather.wind_towards) != (before.wind_speed, before.wind_towards):
        changes["wind"] = _other_wind(scenario.world.wind, weather)
    if _current(weather) != _current(before):
        changes["current"] = _other_current(scenario.world, weather)
    if weather.visibility != before.visibility:
        air = scenario.world.weather or world_spec.Weather()
        changes["weather"] = _copied(air, visibility=weather.visibility)
    world = _copied(scenario.world, **changes)
    changed: Scenario = _copied(scenario, world=world)
    return changed


def _copied(spec: Any, **changes: object) -> Any:
    """A description with other values, checked like any other."""
    fields = {name: getattr(spec, name) for name in type(spec).model_fields}
    copy = type(spec)(**fields | changes)
    copy._source = spec._source
    return copy


def _waves(weather: Weather) -> tuple[float, float, float]:
    return weather.wave_height, weather.wave_period, weather.wave_towards


def _current(weather: Weather) -> tuple[float, float]:
    return weather.current_speed, weather.current_towards


def _height(sea: Any) -> float:
    """Of the wind sea that a description asks for, m."""
    match sea:
        case None:
            return 0.0
        case wave_spec.SeaState():
            return SEA_STATES[sea.code][0]
        case wave_spec.PiersonMoskowitz(wind_speed=float(speed)):
            return float((0.7304 * speed / 5.0) ** 2)  # as its `wind_sea_peak_period` has it
        case wave_spec.Regular():
            return sea.height
        case wave_spec.ComponentList():
            return 4.0 * math.sqrt(0.5 * sum(c.amplitude**2 for c in sea.components))
        case wave_spec.OchiHubble():
            return math.hypot(*(s.significant_height for s in sea.systems))
    height: float = sea.significant_height
    return height


def _other_waves(world: World, weather: Weather) -> Any:
    sea, height, period = world.waves, max(weather.wave_height, CALM), weather.wave_period
    if isinstance(sea, wave_spec.ComponentList):
        raise world.error(
            ("waves", "components"),
            "a sea that is given component by component has no height and period to change",
            expected="waves by a spectrum, or a regular wave",
            mend="describe the sea by `spectrum: jonswap` or another spectrum",
        )
    if isinstance(sea, wave_spec.Regular):
        return _copied(sea, height=height, period=period, towards=weather.wave_towards)
    asked: dict[str, Any] = {"significant_height": height, "peak_period": period}
    asked["towards"] = weather.wave_towards
    if isinstance(sea, wave_spec.Bretschneider | wave_spec.Jonswap | wave_spec.Torsethaugen):
        return _copied(sea, **asked)
    kept = set(wave_spec.Bretschneider.model_fields) - {"spectrum", *asked}
    same = {} if sea is None else {n: getattr(sea, n) for n in kept if hasattr(sea, n)}
    return wave_spec.Bretschneider(spectrum="bretschneider", **same | asked)


def _other_wind(wind: world_spec.Wind | None, weather: Weather) -> world_spec.Wind:
    speed, towards = weather.wind_speed, weather.wind_towards
    if wind is None:
        return world_spec.Wind(speed=speed, towards=towards)
    other: world_spec.Wind = _copied(wind, speed=speed, towards=towards)
    return other


def _other_current(world: World, weather: Weather) -> world_spec.Current:
    current, speed, towards = world.current, weather.current_speed, weather.current_towards
    if current is None:
        return world_spec.Current(speed=speed, towards=towards)
    if current.series is not None:
        raise world.error(
            ("current", "series"),
            "a current that follows a series has no steady part to change",
            expected="a steady current, with tides if need be",
            mend="describe it by `speed` and `towards`",
        )
    other: world_spec.Current = _copied(current, speed=speed, towards=towards)
    return other
