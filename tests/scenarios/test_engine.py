"""One engine: the same bytes whoever drives it, orders taken over and given back, sinks apart."""

import textwrap
import threading
import time as wall_clock

import numpy as np
import pytest

import seatrial as st
from sampling import sampled
from seatrial.compile.scenario import compile_scenario, plan_of
from seatrial.engine.engine import Engine
from seatrial.engine.output import gathering
from seatrial.engine.output import outlets as handing_out
from seatrial.engine.output.gathering import Gatherer
from seatrial.engine.output.outlets import Outlets
from seatrial.engine.run import run
from seatrial.errors import SpecError
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.memory import MemoryRecorder
from seatrial.signals import RELEASE, Command, Setpoint
from seatrial.spec.library import library_names
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario


def described(text: str) -> Scenario:
    return load_text(textwrap.dedent(text), Scenario)


def grounding():
    """A torpedo that dives into the bottom between two frames, and a boat above it."""
    return described("""
        kind: scenario
        name: grounding
        duration: 14
        frame_period: 0.5
        world: {name: shallow, seabed: {depth: 6}, waves: {spectrum: sea_state, code: 3}}
        vehicles:
          - name: diver
            vehicle: remus100_mss
            start: {position: [0, 0, 4], pitch_deg: -20, speed: 1.5}
            commands: {propeller_rpm: 1200}
            sensors:
              - {type: imu, name: imu, rate: 50, errors: lsm6dsr}
              - {type: gnss, name: gnss, rate: 5, latency: 0.13}
              - {type: dvl, name: dvl, rate: 5}
          - {name: boat, vehicle: otter, start: {position: [40, 0, 0]}, sensors: []}
    """)


def diverging():
    """A step far too long for a light float with a strong propeller."""
    return described("""
        kind: scenario
        name: diverging
        duration: 12
        time_step: 0.5
        control_period: 0.5
        frame_period: 1.0
        integrator: semi_implicit
        vehicles:
          - {name: a, vehicle: bluerov2, start: {position: [0, 0, 5]}, sensors: [],
             commands: {front_starboard: 40, front_port: -40}}
          - {name: b, vehicle: mariner, sensors: [], start: {speed: 7}}
    """)


def capsizing():
    """A diver with its centre of gravity above the one of buoyancy, and one that is in order."""
    top_heavy = st.load("remus100_mss").model_dump()
    x, y, z = top_heavy["inertia"]["centre_of_gravity"]
    top_heavy["inertia"]["centre_of_gravity"] = (x, y, -z)
    top_heavy["stable"] = False
    start = {"position": [0.0, 0.0, 10.0], "roll_deg": 5.0}
    return Scenario.model_validate(
        {
            "kind": "scenario",
            "name": "capsizing",
            "duration": 30.0,
            "vehicles": [
                {"name": "a", "vehicle": top_heavy, "start": start, "sensors": []},
                {"name": "b", "vehicle": st.load("otter"), "sensors": []},
            ],
        }
    )


def colliding():
    """Two boats that run into each other between two frames, and one that meets nobody."""
    return described("""
        kind: scenario
        name: colliding
        duration: 8
        frame_period: 0.5
        stop_when_collided: true
        world: {name: sound, waves: {spectrum: sea_state, code: 3}}
        vehicles:
          - {name: a, vehicle: otter, start: {speed: 1.5}, sensors: [],
             commands: {left_rpm: 800, right_rpm: 800}}
          - {name: b, vehicle: otter, start: {position: [9, 0.3, 0], heading_deg: 180, speed: 1.5},
             commands: {left_rpm: 800, right_rpm: 800},
             sensors: [{type: gnss, name: gnss, rate: 5, latency: 0.13}]}
          - {name: c, vehicle: otter, start: {position: [0, 50, 0]}, sensors: []}
    """)


def sensing():
    return described("""
        kind: scenario
        name: sensing
        duration: 11.3
        world: sea-state-4
        vehicles:
          - name: boat
            vehicle: otter
            commands: {left_rpm: [[0, 500], [3, 900]], right_rpm: 600}
            sensors:
              - {type: imu, name: imu, rate: 50, errors: lsm6dsr}
              - {type: gnss, name: gnss, rate: 5, latency: 0.13}
              - {type: compass, name: compass, rate: 25}
    """)


def swarming():
    return described("""
        kind: scenario
        name: swarming
        duration: 3
        world: sea-state-4
        vehicles:
          - {name: float, vehicle: smarty, count: 70, sensors: [{type: gnss, name: gnss, rate: 5}]}
    """)


CASES = {f.__name__: f for f in (grounding, diverging, capsizing, colliding, sensing, swarming)}


class Idle:
    """A controller that does nothing."""

    def start(self, vehicle):
        pass

    def control(self, time, measurements, truth=None):
        return {}


def by_a_live_client(plan, sink, lengths=(1, 3, 2, 7, 1, 40)):
    """Control periods asked for as they come, as somebody does who watches."""
    with Engine(plan, stepped=True) as engine:
        gatherer = Gatherer(plan, engine.opening)
        outlets = Outlets([sink], plan.header, plan.scene)
        k = 0
        while not gatherer.complete:
            length = min(lengths[k % len(lengths)], engine.block)
            for frames in gatherer.add(engine.advance(length)):
                outlets.write(frames)
            k += 1
        for frames in gatherer.finish():
            outlets.write(frames)
        assert not outlets.close(gatherer.summary(stopped=False))


@pytest.mark.parametrize("case", CASES)
def test_whoever_drives_the_recording_has_the_same_bytes(case, tmp_path, monkeypatch):
    # in several blocks: with samples between frames it matters when a block is handed on
    monkeypatch.setattr(gathering, "block_size", lambda plan: 4 * plan.schedule.controls)
    assert len(recordings(compile_scenario(CASES[case]()), tmp_path)) == 1


def test_a_run_that_fills_its_last_block_has_the_same_bytes_whoever_drives(tmp_path, monkeypatch):
    """One who steps on cannot know that a frame is the last until no other follows."""
    plan = compile_scenario(sensing())
    size = 6
    assert plan.frames % size == 0
    assert plan.schedule.controls == 1
    monkeypatch.setattr(gathering, "block_size", lambda plan: size)
    assert len(recordings(plan, tmp_path)) == 1


@pytest.mark.filterwarnings("ignore::seatrial.SpecWarning")  # of orders after the end
@pytest.mark.parametrize("name", sampled(library_names("scenario"), "demo"))
def test_a_scenario_of_the_library_has_the_same_bytes_whoever_drives(name, tmp_path):
    assert len(recordings(plan_of(name, duration=2.0), tmp_path)) == 1


def recordings(plan, folder):
    """What is in the files of a run, of one with an idle controller, of a watched and of a stepped
    one."""
    run(plan, [McapRecorder(folder / "run.mcap")])
    idle = {v.name: Idle() for v in plan.header.vehicles[:1]}
    st.run(plan, out=folder / "idle.mcap", controllers=idle)
    by_a_live_client(plan, McapRecorder(folder / "live.mcap"))
    simulation = st.Simulation(plan, out=folder / "stepped.mcap")
    for _ in range(1 + (plan.frames - 1) * plan.schedule.controls):
        simulation.step()
    simulation.finish()
    return {path.read_bytes() for path in folder.glob("*.mcap")}


@pytest.mark.parametrize(
    ("case", "ends"),
    [
        ("grounding", {"diver": "grounded", "boat": "completed"}),
        ("diverging", {"a": "diverged", "b": "completed"}),
        ("capsizing", {"a": "capsized", "b": "completed"}),
        ("colliding", {"a": "collided", "b": "collided", "c": "completed"}),
    ],
)
def test_a_vehicle_ends_at_the_same_instant_stepped_or_run(case, ends):
    plan = compile_scenario(CASES[case]())
    memory = MemoryRecorder()
    summary = run(plan, [memory]).summary
    assert {n: v.status for n, v in summary.vehicles.items()} == ends
    simulation = st.Simulation(plan)
    frames = memory.recording().dataset
    every = round(plan.header.frame_period / simulation.control_period)
    for k in range(frames.sizes["time"]):
        for name, state in simulation.vehicles.items():
            row = frames.sel(vehicle=name).isel(time=k)
            np.testing.assert_array_equal(
                state.position, row.position.values, err_msg=f"{name} {k}"
            )
        for _ in range(every):
            simulation.step()
    found = {n: v.status.replace("running", "completed") for n, v in simulation.vehicles.items()}
    assert found == ends


@pytest.mark.parametrize(
    ("case", "ended"), [("grounding", "diver"), ("capsizing", "a"), ("colliding", "a")]
)
def test_a_vehicle_that_has_ended_lies_still(case, ended):
    """It stayed where it was and was told to make the way that it had made before: to those who
    read the recording, who heard its AIS, and who ran into it."""
    plan = compile_scenario(CASES[case]())
    memory = MemoryRecorder()
    end = run(plan, [memory]).summary.vehicles[ended].ended_at
    frames = memory.recording().dataset.sel(vehicle=ended)
    over = frames.sel(time=slice(end + 1e-6, None))
    assert over.sizes["time"] > 2
    assert float(frames.speed.sel(time=end)) > 0.0
    np.testing.assert_array_equal(over.position, over.position[[0] * over.sizes["time"]])
    for name in ("velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        np.testing.assert_array_equal(over[name], 0.0, err_msg=name)


def test_a_grounded_vehicle_stops_within_a_control_period_whatever_the_frames():
    """Judged every control period: with frames every 0.5 s it is not carried on to the next."""
    rare = compile_scenario(grounding())
    often = compile_scenario(grounding().model_copy(update={"frame_period": 0.1}))
    last = []
    for plan in (rare, often):
        memory = MemoryRecorder()
        run(plan, [memory])
        last.append(memory.recording().dataset.sel(vehicle="diver").position.values[-1])
    np.testing.assert_array_equal(last[0], last[1])


def test_a_vehicle_faster_than_any_of_its_size_has_diverged():
    otter = st.load("otter", st.Vehicle)
    pushed = otter.hydrodynamics.coefficients | {"X_uu": 500.0}  # a resistance that pushes
    water = otter.hydrodynamics.model_copy(update={"coefficients": pushed})
    boat = otter.model_copy(update={"hydrodynamics": water})
    vehicles = [{"vehicle": boat, "start": {"speed": 10}, "sensors": []}]
    assert st.run(st.Scenario(vehicles=vehicles, duration=10.0)).status == "diverged"


def test_a_capsized_run_goes_on_where_the_scenario_says_so():
    plan = compile_scenario(capsizing().model_copy(update={"stop_when_capsized": False}))
    summary = run(plan).summary
    assert summary.duration == plan.header.duration
    assert summary.status == "capsized"  # as it still is at the end


# ── Taking over and giving back ───────────────────────────────────────────────────────────────


def mission(duration=60):
    return described(f"""
        kind: scenario
        name: mission
        duration: {duration}
        world: {{name: calm}}
        vehicles:
          - name: boat
            vehicle: otter
            start: {{speed: 1.0}}
            mission:
              - {{do: goto, waypoints: [[200, 0]], speed: 1.2}}
    """)


@pytest.fixture(scope="module")
def sailing():
    return st.Simulation(mission())


def advance(simulation, seconds, command=None):
    steps = round(seconds / simulation.control_period)
    for k in range(steps):
        simulation.step(command if k == 0 else None)
    return simulation.vehicles["boat"]


def test_an_order_stands_until_it_is_released(sailing):
    sailing.reset()
    advance(sailing, 5.0)
    held = advance(sailing, 5.0, Command(channels={"left_rpm": 0.0, "right_rpm": 0.0}))
    assert abs(held.actuators["left"]) < 0.1
    assert abs(held.actuators["right"]) < 0.1
    one = advance(sailing, 5.0, Command(release=["left"]))
    assert one.actuators["left"] > 1.0
    assert abs(one.actuators["right"]) < 0.1
    both = advance(sailing, 20.0, RELEASE)
    assert both.actuators["right"] > 1.0
    assert both.velocity[0] == pytest.approx(1.2, abs=0.15)


class Steady:
    """A controller that turns both propellers."""

    def start(self, vehicle):
        pass

    def control(self, time, measurements, truth=None):
        return {"left": 5.0, "right": 5.0}


def test_orders_from_outside_stand_above_a_controller_until_they_are_released():
    scenario = described("""
        kind: scenario
        name: two-hands
        duration: 60
        vehicles:
          - {name: boat, vehicle: otter, sensors: [], commands: {left: 9, right: 9}}
    """)
    simulation = st.Simulation(scenario, controllers={"boat": Steady()})
    held = advance(simulation, 8.0, Command(channels={"left": 12.0}))
    assert held.actuators["left"] == pytest.approx(12.0, abs=0.1)
    assert held.actuators["right"] == pytest.approx(5.0, abs=0.1)
    back = advance(simulation, 8.0, RELEASE)
    assert back.actuators["left"] == pytest.approx(5.0, abs=0.1)


def test_a_step_that_is_refused_orders_nothing(sailing):
    scenario = described("""
        kind: scenario
        name: two-boats
        duration: 60
        vehicles:
          - {name: a, vehicle: otter, sensors: []}
          - {name: b, vehicle: otter, sensors: [], start: {position: [0, 20, 0]}}
    """)
    simulation = st.Simulation(scenario)
    with pytest.raises(st.SpecError, match="no command channel"):
        simulation.step({"a": {"left": 3.0}, "b": {"xx": 1.0}})
    simulation.step()
    assert simulation.vehicles["a"].actuators["left"] == 0.0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (Command(channels=None), "`channels` of a command cannot be None"),
        (Command(release=None), "`release` of a command cannot be None"),
        (Command(release="left"), "`release` of a command cannot be 'left'"),
        (Command(setpoint={"surge": 1.0}), "`setpoint` of a command cannot be"),
        (Command(setpoint=Setpoint(surge=1.0, waypoint=3)), "says in one way where to go"),
        (
            Command(setpoint=Setpoint(surge=1.0, heading=0.0, depth=5.0)),
            "this depth cannot be kept",
        ),
        (Command(channels={"left": 5.0, "left_rpm": 600.0}), "are orders to one channel"),
    ],
)
def test_what_is_no_command_is_refused_with_the_reason(sailing, command, message):
    sailing.reset()
    with pytest.raises(st.SpecError, match=message):
        sailing.step(command)


def test_the_pilot_knows_the_orders_that_are_in_force(sailing):
    """Its allocator starts from them and its filter's model obeys them, not its own."""
    sailing.reset()
    advance(sailing, 3.0)
    advance(sailing, 1.0, Command(channels={"left_rpm": 120.0, "right_rpm": -60.0}))
    memory = sailing._engine._carries[0][0].memory
    np.testing.assert_allclose(np.asarray(memory.orders)[:, 0], [2.0, -1.0])
    forward, turning = np.asarray(memory.achieved)[0, 0], np.asarray(memory.achieved)[5, 0]
    advance(sailing, 1.0, Command(channels={"left_rpm": -60.0, "right_rpm": 120.0}))
    memory = sailing._engine._carries[0][0].memory
    np.testing.assert_allclose(np.asarray(memory.achieved)[5, 0], -turning, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(memory.achieved)[0, 0], forward, rtol=1e-6)


def consistency(dataset, since, until):
    """NEES over degrees of freedom of the place and of the velocity, both in the level; the
    deviations along the axes stand for the covariance."""
    late = dataset.isel(vehicle=0).sel(time=slice(since, until))
    place = (late.estimate_position - late.position) / late.estimate_deviation
    way = (late.estimate_velocity - late.velocity) / late.estimate_velocity_deviation
    return [float((error[:, :2] ** 2).mean()) for error in (place, way)]


@pytest.mark.parametrize("seed", sampled([1, 2], 2))
def test_a_survey_goes_on_with_its_filter_consistent_after_it_was_taken_over_for_a_minute(seed):
    """The filter errs as in the run that nobody touched: its model obeyed the orders that were in
    force. One run has few independent places, so its own NEES is compared and not that of many,
    which the study of consistency has inside its band."""
    simulation = st.Simulation("otter-survey", seed=seed, record=True)
    period = simulation.control_period
    for k in range(round(520.0 / period)):
        time = round(k * period, 6)
        taken = Command(channels={"left_rpm": 500.0, "right_rpm": 300.0}) if time == 150.0 else None
        simulation.step(RELEASE if time == 210.0 else taken)
    found = simulation.finish()
    summary = found.summary.vehicles["otter"]
    assert summary.status == "completed"
    assert summary.indices["legs_reached"] == summary.indices["legs"]
    alone = st.run("otter-survey", seed=seed)
    # it was elsewhere for a minute, off its line
    apart = found.dataset.position[2100] - alone.dataset.position[2100]
    assert np.hypot(*apart.isel(vehicle=0).values[:2]) > 10.0
    until = float(alone.dataset.time[-1])
    place, velocity = consistency(found.dataset, 210.0, until)
    untouched = consistency(alone.dataset, 210.0, until)
    assert place == pytest.approx(untouched[0], abs=0.1)
    assert velocity == pytest.approx(untouched[1], abs=0.2)
    assert 0.7 < velocity < 1.4


@pytest.mark.parametrize(
    ("setpoint", "reached"),
    [
        (Setpoint(surge=0.8, heading=1.2), lambda v: (v.velocity[0], v.euler[2])),
        (Setpoint(surge=0.8, course=1.2), lambda v: (v.velocity[0], v.euler[2])),
    ],
)
def test_the_autopilot_follows_a_setpoint_and_then_its_mission_again(sailing, setpoint, reached):
    sailing.reset()
    advance(sailing, 3.0)
    speed, heading = reached(advance(sailing, 25.0, Command(setpoint=setpoint)))
    assert speed == pytest.approx(0.8, abs=0.1)
    assert heading == pytest.approx(1.2, abs=0.1)
    off = sailing.vehicles["boat"].position[1]
    back = advance(sailing, 60.0, Command(release=["setpoint"]))
    assert off > 10.0
    assert abs(back.position[1]) < 0.3 * off


def test_a_setpoint_may_be_a_yaw_rate_or_a_waypoint(sailing):
    sailing.reset()
    turning = advance(sailing, 15.0, Command(setpoint=Setpoint(surge=0.6, yaw_rate=0.1)))
    assert turning.velocity[5] == pytest.approx(0.1, abs=0.04)
    sailing.reset()
    there = advance(sailing, 60.0, Command(setpoint=Setpoint(surge=1.0, waypoint=(0.0, 60.0))))
    assert np.hypot(there.position[0], there.position[1] - 60.0) < 15.0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Command(channels={"lef": 1.0}), "did you mean `left`"),
        (Command(channels={"left": float("nan")}), "finite number"),
        (Command(release=["lft"]), "no command channel `lft`"),
        (Command(setpoint=Setpoint(surge=1.0)), "in one way where to go"),
        (Command(setpoint=Setpoint(surge=1.0, heading=0.0, course=0.0)), "in one way"),
        (Command(setpoint=Setpoint(surge=float("inf"), heading=0.0)), "finite number"),
        ([1.0, 2.0], "a command cannot be"),
        ("left", "a command cannot be"),
        ({"boot": {"left": 1.0}}, "no vehicle `boot`"),
    ],
)
def test_a_command_that_cannot_be_obeyed_is_refused_and_changes_nothing(sailing, command, words):
    with pytest.raises(SpecError, match=words):
        sailing.step(command)


def test_a_vehicle_without_an_autopilot_takes_no_setpoint():
    plain = st.Simulation(capsizing())
    with pytest.raises(SpecError, match="no autopilot"):
        plain.step({"b": Command(setpoint=Setpoint(surge=1.0, heading=0.0))})


class Slow(Idle):
    """A controller that is asked every half second."""

    period = 0.5

    def start(self, vehicle):
        self.asked, self.samples = [], 0
        assert vehicle.control_period == pytest.approx(0.5)

    def control(self, time, measurements):
        self.asked.append(time)
        self.samples += len(measurements["compass"].time)
        return {}


def test_a_controller_with_a_period_of_its_own_is_heard_that_often():
    slow = Slow()
    st.run(sensing(), duration=3.0, controllers={"boat": slow})
    assert slow.asked == pytest.approx(np.arange(7) * 0.5)
    assert slow.samples == 1 + 25 * 3


def test_a_period_that_a_run_cannot_keep_is_refused():
    slow = Slow()
    slow.period = 0.25
    finished = st.run(sensing(), duration=1.0, controllers={"boat": slow})
    assert finished.status == "failed"
    assert "whole number of control periods" in str(finished.failure)


# ── Sinks ─────────────────────────────────────────────────────────────────────────────────────


class Failing(MemoryRecorder):
    def write(self, frames):
        raise OSError("no space left on device")


class Stalled(MemoryRecorder):
    def __init__(self):
        super().__init__()
        self.free = threading.Event()

    def write(self, frames):
        self.free.wait(60.0)


class Slowly(MemoryRecorder):
    lossy = True

    def write(self, frames):
        wall_clock.sleep(0.2)
        super().write(frames)


def long():
    return compile_scenario(
        described("""
        kind: scenario
        name: long
        duration: 200
        vehicles: [{name: boat, vehicle: otter, sensors: []}]
    """)
    )


def test_a_sink_that_fails_takes_nothing_from_the_others():
    good, bad = MemoryRecorder(), Failing()
    ending = run(long(), [bad, good])
    assert ending.summary.status == "completed"
    assert good.recording().dataset.sizes["time"] == 2001
    assert [(f.sink, type(f.error)) for f in ending.lost] == [("Failing", OSError)]


class Shut(MemoryRecorder):
    def open(self, header, scene):
        raise OSError("cannot begin")


def test_a_sink_that_cannot_begin_leaves_no_other_open(tmp_path):
    for _ in range(2):  # the second time nobody holds the file any more
        with pytest.raises(OSError, match="cannot begin"):
            run(long(), [McapRecorder(tmp_path / "run.mcap"), Shut()])


def test_a_run_whose_only_sink_fails_says_so():
    with pytest.raises(OSError, match="no space left"):
        run(long(), [Failing()])


def test_a_sink_that_stalls_is_given_up_and_the_others_have_everything(monkeypatch):
    monkeypatch.setattr(handing_out, "PATIENCE", 0.3)
    stalled, good = Stalled(), MemoryRecorder()
    ending = run(long(), [stalled, good])
    stalled.free.set()
    assert good.recording().dataset.sizes["time"] == 2001
    assert [(f.sink, type(f.error)) for f in ending.lost] == [("Stalled", TimeoutError)]


def test_a_lossy_sink_drops_frames_and_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(handing_out, "MOST_BYTES", 1)  # at which a recorder would be waited for
    lossy, good = Slowly(), MemoryRecorder()
    ending = run(long(), [lossy, good])
    assert not ending.lost
    assert good.recording().dataset.sizes["time"] == 2001
    assert 0 < lossy.recording().dataset.sizes["time"] < 2001
