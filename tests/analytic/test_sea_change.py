"""One sea becomes another: nothing jumps, the energy goes over, and the physics follows."""

import math
from dataclasses import asdict, replace

import jax
import numpy as np
import pytest

import seatrial as st
from seatrial.compile.scenario import compile_scenario
from seatrial.compile.surroundings.weather import CLEAR, weather_of, with_weather
from seatrial.core.forces.wave_excitation import evaluate
from seatrial.engine.engine import Engine
from seatrial.engine.other_sea import OtherSea
from seatrial.engine.scene import Scene, WaveComponents, WindField
from seatrial.engine.sea_change import SPAN, SeaChange, turned
from seatrial.errors import SpecError
from seatrial.geometry.bodies import Body, Ride
from seatrial.hull.heading_table import refined
from seatrial.programs import counts
from seatrial.spatial.rotations import from_euler, rotation
from shown import SCENARIO


def sea(seed, height=2.0, count=60, longest=100.0, current=0.0):
    rng = np.random.default_rng(seed)
    k = 2.0 * math.pi / np.linspace(10.0, longest, count)
    direction = rng.uniform(-1.0, 1.0, count)
    return WaveComponents(
        amplitude=np.full(count, height / 4.0 * math.sqrt(2.0 / count)),
        omega=np.sqrt(9.81 * k) + k * current * np.cos(direction),
        wavenumber=k,
        direction=direction,
        phase=rng.uniform(-math.pi, math.pi, count),
    )


def height(waves):
    return 4.0 * math.sqrt(0.5 * float(np.sum(waves.amplitude**2)))


PLACES = np.meshgrid(np.linspace(-2000.0, 2000.0, 7), np.linspace(-2000.0, 2000.0, 7))


@pytest.mark.parametrize(
    "other",
    [sea(2), sea(1, height=5.0), sea(1, current=1.5), sea(3, height=0.5, longest=200.0)],
    ids=["direction", "height", "current", "period"],
)
def test_the_surface_is_continuous_everywhere_while_the_sea_changes(other):
    change = SeaChange(Scene(waves=sea(1)), Scene(waves=other), start=300.0)
    # In a millisecond a component that fades changes by less than π/(0.3 SPAN) 1e-3 of itself.
    most = (
        math.pi / (0.3 * SPAN) * 1e-3 * float(np.sum(np.maximum(sea(1).amplitude, other.amplitude)))
    )
    for t in np.linspace(300.0, 300.0 + SPAN, 41):
        before, after = (change.scene(t + d).elevation(*PLACES, t) for d in (-5e-4, 5e-4))
        assert np.max(np.abs(after - before)) < most


def test_a_change_begins_and_ends_with_the_seas_themselves():
    old, new = Scene(waves=sea(1)), Scene(waves=sea(2, height=4.0))
    change = SeaChange(old, new, start=100.0)
    t = np.linspace(0.0, 50.0, 20)
    assert np.allclose(change.scene(100.0).elevation(30.0, 40.0, t), old.elevation(30.0, 40.0, t))
    assert np.allclose(change.scene(500.0).elevation(30.0, 40.0, t), new.elevation(30.0, 40.0, t))


def test_most_of_the_energy_is_there_at_any_time():
    change = SeaChange(Scene(waves=sea(1)), Scene(waves=sea(2)), start=0.0)
    heights = [height(change.scene(t).waves) for t in np.linspace(0.0, SPAN, 200)]
    # 0.3/0.7 of the components fade at once, and the mean of cos⁴ over a fade is 3/8.
    assert min(heights) == pytest.approx(2.0 * math.sqrt(1.0 - 5.0 / 8.0 * 0.3 / 0.7), abs=0.02)
    assert max(heights) <= 2.0 + 1e-9


def test_a_higher_sea_of_the_same_shape_keeps_its_waves():
    change = SeaChange(Scene(waves=sea(1)), Scene(waves=sea(1, height=4.0)), start=50.0)
    half = change.scene(50.0 + SPAN / 2.0).waves
    assert height(half) == pytest.approx(3.0)
    assert np.allclose(half.phase, sea(1).phase)


def test_a_buoy_rides_the_waves_of_the_change():
    def ride(waves):
        return Ride(
            amplitude=waves.amplitude, sway=waves.amplitude, omega=waves.omega, phase=waves.phase,
            direction=waves.direction, lean=np.zeros(2), radius=5.0,
        )  # fmt: skip

    old, new = (
        Scene(waves=w, bodies=(Body("buoy", "sphere", position=np.zeros(3), ride=ride(w)),))
        for w in (sea(1), sea(2, height=3.0))
    )
    change = SeaChange(old, new, start=20.0)
    for t in (19.0, 20.0, 24.0, 31.0, 39.9, 60.0):
        now = change.scene(t)
        (buoy,) = now.bodies
        assert -buoy.pose(t)[0][2] == pytest.approx(float(now.elevation(0.0, 0.0, t)), abs=1e-9)


def test_the_wind_turns_the_shorter_way():
    assert turned(0.5, 3.0, -3.0) == pytest.approx(math.pi)
    old, new = (Scene(wind=WindField(s, d, "log", 2e-4)) for s, d in ((4.0, 3.0), (8.0, -3.0)))
    half = SeaChange(old, new, 0.0).scene(SPAN / 2.0).wind
    assert (half.speed, half.towards) == pytest.approx((6.0, math.pi))


def test_a_flat_sea_rises_from_calm():
    change = SeaChange(Scene(), Scene(waves=sea(1)), start=5.0)
    assert height(change.scene(5.0).waves) == 0.0
    assert height(change.scene(5.0 + SPAN).waves) == pytest.approx(2.0)


@pytest.mark.parametrize("rows", [48, 96])
def test_a_table_with_more_rows_is_the_same_function_of_the_heading(rows):
    rng = np.random.default_rng(5)
    coarse = rng.normal(size=(24, 2, 4)).astype(np.float32)
    # Smooth over the heading, as amplitudes are: harmonics up to the fourth.
    series = np.fft.fft(coarse, axis=0)
    series[5:-4] = 0.0
    smooth = np.fft.ifft(series, axis=0).real
    table = smooth[np.arange(-1, 26) % 24].astype(np.float32)
    finer = refined(table, rows + 3)
    assert finer.shape == (rows + 3, 2, 4)
    # By as much as a spline with 24 rows is off from the fourth harmonic itself.
    most = (2.0 * math.pi * 4 / 24) ** 3 / 174 * float(np.abs(table).max())
    for heading in np.linspace(0.0, 2.0 * math.pi, 37):
        assert np.allclose(spline(table, heading), spline(finer, heading), rtol=0.0, atol=most)
    assert refined(table, 27) is table


def spline(table, heading):
    count = table.shape[0] - 3
    along = heading / (2.0 * math.pi) % 1.0 * count + 0.5
    first, f = int(along), along % 1.0
    weights = (0.5 * (1.0 - f) ** 2, 0.5 + f * (1.0 - f), 0.5 * f * f)
    return sum(w * table[first + j] for j, w in enumerate(weights))


@pytest.fixture(scope="module")
def scenario():
    return st.Scenario(**SCENARIO)


@pytest.fixture(scope="module")
def engine(scenario):
    with Engine(compile_scenario(scenario), stepped=True) as made:
        yield made


def gone_over(engine, plan, seconds):
    """Frames of an otter that goes over to another sea, and that sea."""
    way, found = OtherSea(engine.plan, plan, engine.time), []
    with jax.enable_x64(True):
        while engine.time < way.change.start + seconds - 1e-6:
            engine.surround(way.plan(engine.time))
            block = engine.advance(1)
            if len(block.frames.time):
                found.append((block.frames.time[0], block.frames.groups[0].frames, engine.plan))
    return found


def test_the_physics_follows_and_nothing_is_compiled_again(engine, scenario):
    engine.reset(compile_scenario(scenario))
    engine.advance(20)
    start = weather_of(scenario.world)
    asked = replace(
        start, wave_height=0.9, wave_towards=start.wave_towards + 1.0, wind_speed=4.0,
        current_speed=0.8, current_towards=2.0,
    )  # fmt: skip
    plan = compile_scenario(with_weather(scenario, asked))
    before = counts["compiled"] + counts["loaded"]
    found = gone_over(engine, plan, SPAN + 2.0)
    assert counts["compiled"] + counts["loaded"] == before
    for t, frames, now in found:
        place = frames.position[0, 0]
        felt = frames.wave_elevation[0, 0]
        assert felt == pytest.approx(float(now.scene.elevation(*place[:2], t)), abs=1e-6)
    t, frames, now = found[-1]
    assert np.hypot(*frames.wind[0, 0, :2]) == pytest.approx(
        float(np.hypot(*now.scene.air(*frames.position[0, 0, :2], -10.0, t)[:2])), rel=1e-6
    )
    flow = 0.8 * np.array([math.cos(2.0), math.sin(2.0)])
    turbulent = 0.1
    assert np.allclose(frames.current[0, 0, :2], flow, atol=turbulent)
    assert np.all(np.isfinite(frames.position))


def test_the_forces_on_the_hull_are_those_of_the_sea_at_any_stage(scenario, x64):
    old = compile_scenario(scenario)
    start = weather_of(scenario.world)
    other = replace(start, wave_towards=start.wave_towards + 2.0, wave_height=3.0)
    way = OtherSea(old, compile_scenario(with_weather(scenario, other)), 100.0)
    north, east = np.random.default_rng(1).uniform(-500.0, 500.0, (2, 200))
    wrong = {}
    for t in (100.0, 107.0, 111.0, 118.0, 121.0):
        plan = way.plan(t)
        fleet = plan.fleets[0]
        level = rotation(from_euler(*np.zeros((2, 200)), np.linspace(-3.0, 3.0, 200)))
        felt = evaluate(fleet.group.model.excitation, fleet.ocean.waves, north, east, level, t)
        sea = plan.scene.elevation(north, east, t)
        wrong[t] = float(np.std(felt.elevation - sea) / np.std(sea))
    # A hull of two metres averages over the shortest waves, before the change as within it.
    assert max(wrong.values()) < 1.5 * max(wrong[100.0], wrong[121.0]) < 0.1


def test_weather_of_a_description_comes_back(scenario):
    start = weather_of(scenario.world)
    assert (start.wave_height, start.visibility) == (1.88, CLEAR)
    assert with_weather(scenario, start).world == scenario.world
    asked = replace(start, wave_height=1.0, wave_period=6.0, visibility=200.0, wind_speed=5.0)
    found = weather_of(with_weather(scenario, asked).world)
    assert asdict(found) == pytest.approx(asdict(asked))


@pytest.mark.parametrize(
    ("world", "change", "says"),
    [
        ("sea-state-4", {"wave_height": 9.0, "wave_period": 4.0}, "would break"),
        ("harbour", {"wave_height": 5.0, "wave_period": 12.0}, "breaks in water of this depth"),
        (
            {
                "name": "river",
                "current": {"series": {"time": [0, 60], "speed": [0, 1], "towards": [0, 0]}},
            },
            {"current_speed": 1.0},
            "no steady part to change",
        ),
        (
            {
                "name": "tank",
                "waves": {
                    "spectrum": "components",
                    "components": [{"amplitude": 0.1, "period": 4}],
                },
            },
            {"wave_height": 1.0},
            "no height and period to change",
        ),
    ],
)
def test_weather_that_cannot_be_is_refused(world, change, says):
    scenario = st.Scenario(**{**SCENARIO, "world": world})
    asked = replace(weather_of(scenario.world), **change)
    with pytest.raises(SpecError, match=says):
        compile_scenario(with_weather(scenario, asked))
