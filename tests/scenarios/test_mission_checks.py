"""Missions that cannot work are refused, and those that may not are doubted, with the number."""

import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import seatrial as st
from seatrial.cli.commands import app
from seatrial.compile.checking import check_description, check_vehicle
from seatrial.compile.scenario import compile_scenario
from seatrial.spec.loading import load_text

TEXT = """
kind: scenario
name: doubtful
duration: {duration}
world: {world}
vehicles:
  - name: craft
    vehicle: {vehicle}
    {extra}
"""


def described(task=None, vehicle="otter", world="{name: calm}", duration=60, depth=0, extra=""):
    """A scenario of one craft; with a task it knows the truth and has no sensors."""
    if task is not None:
        extra += f"\n    feedback: truth\n    sensors: []\n    mission: [{task}]"
        extra += f"\n    start: {{position: [0, 0, {depth}]}}"
    text = TEXT.format(duration=duration, world=world, vehicle=vehicle, extra=extra.lstrip())
    return load_text(text, st.Scenario)


NORTH = "{do: goto, waypoints: [[100, 0]], speed: 1.5}"
STRONG = "{name: race, current: {speed: 3.5, towards_deg: 180}}"
SHALLOW = "{name: shelf, seabed: {depth: 30}}"
DIVE = "{{do: goto, waypoints: [[100, 0, {depth}]]}}"
FENCE = "guidance: {fence: [[-20, -20], [120, -20], [120, 20], [-20, 20]]}"
NOTCHED = (
    "guidance: {fence: [[-10, -10], [110, -10], [110, 110], [-10, 110], [-10, 90], [80, 90], "
    "[80, 10], [-10, 10]]}"
)

REFUSED = {
    "much slower than its fins work": (
        {
            "task": "{do: goto, waypoints: [[60, 0, 8]], speed: 0.2}",
            "vehicle": "remus100",
            "depth": 8,
        },
        r"goto 1` asks for 0.2 m/s, at which the fins.*at least 1.18 m/s.*more `speed`",
    ),
    "the current beats the speed": (
        {"task": NORTH, "world": STRONG},
        r"goto 1.*current of 3.5 m/s.*at most 3.1 m/s",
    ),
    "nothing drives it ahead": (
        {"task": DIVE.format(depth=20), "vehicle": "slocum", "depth": 5},
        r"no autopilot can be designed for `slocum`: nothing drives it ahead",
    ),
    "a smooth way beyond the horizon": (
        {"task": "{do: goto, smooth: circles, waypoints: [[20, 0], [1.0e+9, 30], [40, 60]]}"},
        r"mission\[0\].waypoints: the smooth way is 2e\+09 m long.*at most 10000 legs",
    ),
    "a smooth way beyond the stars": (
        {"task": "{do: goto, smooth: hermite, waypoints: [[20, 0], [1.0e+100, 30], [40, 60]]}"},
        r"mission\[0\].waypoints: the smooth way is .*at most 10000 legs",
    ),
    "the current beats the hold": (
        {"task": "{do: hold, position: [5, 0]}", "world": STRONG},
        r"hold 1.*current of 3.5 m/s",
    ),
    "the current carries past the berth": (
        {
            "task": "{do: dock, position: [40, 0], heading: 0}",
            "world": STRONG.replace("180", "0"),
        },
        r"`dock` cannot be reached: the current of 3.5 m/s.*at most 3.1 m/s",
    ),
    "below the bottom": (
        {"task": DIVE.format(depth=35), "vehicle": "remus100", "world": SHALLOW, "depth": 5},
        r"at 35 m, where the water is 30 m deep",
    ),
    "above the surface": (
        {"task": DIVE.format(depth=-2), "vehicle": "remus100", "depth": 5},
        "2 m above the surface",
    ),
    "deeper than its failsafe": (
        {
            "task": DIVE.format(depth=25),
            "vehicle": "remus100",
            "depth": 5,
            "extra": "failsafes: {depth: {limit: 20}}",
        },
        r"at 25 m, deeper than the failsafe.*at most 20 m",
    ),
    "a start outside the fence": (
        {"task": NORTH, "extra": FENCE.replace("-20", "50")},
        "begins outside the fence",
    ),
    "a way over a notch of the fence": (
        {"task": "{do: goto, waypoints: [[0, 0], [0, 100]]}", "extra": NOTCHED},
        r"guidance.fence: `goto 2` of the mission leaves the fence on its way, at 0 m north, 10 m "
        r"east.*found:    \[0.0, 10.0\].*move the waypoint",
    ),
    "a smooth way over the fence": (
        {
            "task": "{do: goto, smooth: hermite, waypoints: [[90, 0], [90, 18], [0, 18]]}",
            "extra": FENCE,
        },
        r"the way of `goto` that `smooth: hermite` makes of its waypoints leaves the fence at .* "
        r"north, 20 m east.*leave out `smooth`",
    ),
    "a circle over the fence": (
        {"task": "{do: loiter, centre: [50, 0], radius: 30}", "extra": FENCE},
        r"`loiter 4` of the mission lies outside the fence.*another `centre`",
    ),
    "a boat that is to surface": (
        {"task": NORTH, "extra": "failsafes: {battery: {action: surface}}"},
        "on the surface cannot come up",
    ),
    "gains of a loop that it does not have": (
        {"task": NORTH, "extra": "control: {gains: {pitch: {proportional: 3}}}"},
        r"<text>:9: vehicles\[0\]\.control\.gains\.pitch: `otter` has no loop `pitch`"
        ".*one of yaw_rate, heading, surge",
    ),
    "far more speed than it has": (
        {"task": NORTH.replace("1.5", "25")},
        r"goto 1` asks for 25 m/s.*at most 3.1 m/s, its top speed",
    ),
    "a depth for a boat": (
        {"task": "{do: goto, waypoints: [[50, 0, 7]]}"},
        r"goto 1` lies at 7 m, and otter floats",
    ),
    "a depth at which a boat is to keep its speed": (
        {"task": "{do: velocity, surge: 1, depth: 5, duration: 9}"},
        r"velocity 1` lies at 5 m, and otter floats",
    ),
    "a boat that is to go sideways": (
        {"task": "{do: velocity, sway: 0.5, duration: 10}"},
        r"asks for 0.5 m/s to the side.*otter cannot move sideways",
    ),
    "a velocity beyond the boat": (
        {"task": "{do: velocity, surge: 9, duration: 10}"},
        r"asks for 9 m/s ahead.*at most 3.1 m/s",
    ),
    "a turn beyond the boat": (
        {"task": "{do: velocity, surge: 0, yaw_rate: 5, duration: 10}"},
        r"velocity 1` asks for a turn of 5 rad/s.*at most 0.2[0-9] rad/s.*less `yaw_rate`",
    ),
    "a berth approached faster than it goes": (
        {"task": "{do: dock, position: [30, 0], heading: 0, final_speed: 9}"},
        r"dock` asks for a `final_speed` of 9 m/s.*at most 3.1 m/s.*less `final_speed`",
    ),
    "as low as the failsafe acts": (
        {
            "task": "{do: goto, waypoints: [[100, 0]], altitude: 1.0}",
            "vehicle": "remus100",
            "world": SHALLOW,
            "depth": 5,
        },
        r"altitude: it is less than the failsafe `altitude` allows.*expected: more than 1 m",
    ),
    "as deep as the failsafe acts": (
        {
            "task": DIVE.format(depth=20),
            "vehicle": "remus100",
            "depth": 5,
            "extra": "failsafes: {depth: {limit: 20}}",
        },
        r"at 20 m, deeper than the failsafe.*at most 20 m",
    ),
    "a start at an aircraft's speed": (
        {"extra": "start: {speed: 50}"},
        r":9: vehicles\[0\].start.speed: no vehicle.*found:    50.*less than 17.8 m/s",
    ),
    "a start deeper than any sea": (
        {"extra": "start: {position: [0, 0, 1.0e+9]}"},
        r":9: vehicles\[0\].start.position: no sea is as deep.*at most 11,000 m",
    ),
    "a start with more than the actuator has": (
        {"extra": "start: {actuators: {left_rpm: 5000}}"},
        r"start.actuators.left_rpm: `left` goes no farther.*found:    5000",
    ),
}

FJORD = "{name: fjord, datum: {latitude_deg: 63.43, longitude_deg: 10.395}}"
PLACES = "{{do: goto, places: [{place}]}}"
REFUSED |= {
    "longitude before latitude": (
        {"task": PLACES.format(place="[10.3952, 63.4306]"), "world": FJORD},
        r"\[10.3952, 63.4306\] is 6823 km from the datum.*latitude, then longitude",
    ),
    "metres where degrees belong": (
        {"task": PLACES.format(place="[50, 20]"), "world": FJORD},
        r"\[50, 20\] is 15[0-9]+ km from the datum.*metres are written as `waypoints`",
    ),
    "degrees in a world without a datum": (
        {"task": PLACES.format(place="[63.4306, 10.3952]")},
        r"km from the datum of the world, \[0, 0\].*give the world a `datum` there",
    ),
}

DOUBTED = {
    "slower than its fins work": (
        {
            "task": "{do: goto, waypoints: [[60, 0, 8]], speed: 0.4}",
            "vehicle": "remus100_mss",
            "depth": 8,
        },
        r"goto 1` asks for 0.4 m/s, at which the fins.*at least 0.517 m/s.*more `speed`",
    ),
    "a berth that is come into slower than fins work": (
        {
            "task": "{do: dock, position: [60, 0, 8], heading_deg: 90, final_speed: 0.3}",
            "vehicle": "remus100_mss",
            "depth": 8,
        },
        r"dock` asks for 0.3 m/s, at which the fins.*ask for more `final_speed`",
    ),
    "a mission without tasks": (
        {"extra": "mission: []"},
        r"\[0\].mission: the mission is empty: `craft` drifts.*do: goto",
    ),
    "degrees where metres belong": (
        {"task": "{do: goto, waypoints: [[63.4306, 10.3952]]}", "world": FJORD},
        r"waypoints: looks like a latitude and a longitude.*63.43°, 10.395°.*`places`",
    ),
    "longitude and latitude where metres belong": (
        {"task": "{do: hold, position: [10.395, 63.431], duration: 5}", "world": FJORD},
        r"position: looks like a latitude.*give metres",
    ),
    "a survey in degrees without a datum": (
        {
            "task": "{do: survey, area: [[63.431, 10.395], [63.432, 10.395], [63.432, 10.398]], "
            "spacing: 20}"
        },
        r"area: looks like a latitude and a longitude.*0°, 0°",
    ),
    "a start in degrees": (
        {"world": FJORD, "extra": "start: {position: [63.4306, 10.3952, 0]}"},
        r"start.position: looks like a latitude",
    ),
    "a circle of acceptance around everything": (
        {"task": "{do: goto, waypoints: [[20, 0], [30, 0]], speed: 1, acceptance: 500}"},
        r"acceptance: all waypoints are within reach.*found:    500.*less than 30 m",
    ),
    "a fault after the end": (
        {"extra": "sensors: []\n    faults: [{target: left, kind: power_loss, start: 100}]"},
        r"the fault of `left` comes at 100 s, and the run ends at 60 s",
    ),
    "an order after the end": (
        {"extra": "commands: {left: [[0, 10], [60, 12]]}"},
        r"the last order of `left` comes at 60 s, and the run ends at 60 s",
    ),
    "a start in the air": (
        {"vehicle": "remus100", "extra": "start: {position: [0, 0, -15]}"},
        r"`craft` begins 15 m above the surface.*counts downwards",
    ),
    "a dive that counts upwards": (
        {"vehicle": "remus100", "extra": "start: {position: [0, 0, -5]}"},
        r"`craft` begins 5 m above the surface.*counts downwards",
    ),
    "avoidance by one who sees nobody": (
        {"task": NORTH, "extra": "avoidance: {}"},
        r":\d+: vehicles\[0\].avoidance: `craft` sees nobody.*`obstacles`.*type: ais",
    ),
    "more helm than a rudder has": (
        {
            "vehicle": "remus100_mss",
            "extra": "start: {position: [0, 0, 5]}\n"
            "    manoeuvre: {type: turning_circle, helm_deg: 80}",
        },
        r":10: vehicles\[0\].manoeuvre.helm: `rudder` goes no farther.*at most .*which are",
    ),
    "a boat under water": (
        {"extra": "start: {position: [0, 0, 15]}"},
        r"`craft` begins 15 m below the surface",
    ),
    "a start in knots": (
        {"extra": "start: {speed: 15}"},
        r"start.speed: `otter` does not make as much.*found:    15.*`speed_kn`",
    ),
    "a sensor ashore": (
        {"extra": "sensors: [{type: gnss, name: gnss, rate: 1, position: [0, 150, 0]}]"},
        r"sensors\[0\].position: `gnss` sits far outside `otter`, which is 2 m long",
    ),
    "steeper than it climbs": (
        {"task": DIVE.format(depth=45), "vehicle": "remus100", "depth": 5},
        r"goto 1` lies 40 m deeper, 100 m ahead.*at most 1[0-9] m on such a way, a slope of 0.1",
    ),
    "slower than asked": (
        {"task": NORTH, "world": STRONG.replace("3.5", "2.5")},
        r"1.5 m/s over ground, which takes 4 m/s.*makes good 0.58 m/s",
    ),
    "a tide that may be too strong": (
        {
            "task": NORTH,
            "world": "{name: race, current: {tide: [{amplitude: 4, period_h: 12, towards: 0}]}}",
        },
        r"with its tide the current is 4 m/s",
    ),
    "a heading that it cannot hold": (
        {"task": "{do: hold, position: [5, 0], heading_deg: 90, duration: 5}"},
        r"hold 1.*heading of 90° on station, which otter cannot hold",
    ),
    "a station in a current that turns it away": (
        {
            "vehicle": "bluerov2",
            "world": "{name: stream, seabed: {depth: 40}, current: {speed: 0.3, towards: 0}}",
            "extra": """feedback: truth
    mission: [{do: hold, position: [0, 0, 5], heading_deg: 180, duration: 5}]
    start: {position: [0, 0, 5]}""",
        },
        r"hold 1` is a station in a current of 0.3 m/s.*bluerov2 may.*at most 0.22 m/s on station",
    ),
    "lines closer than the turning circle": (
        {"task": "{do: survey, area: [[0, 0], [90, 0], [90, 40]], spacing: 8, speed: 1.8}"},
        r"circle is 17.6 m wide at 1.8 m/s, and there are 8 m",
    ),
    "a circle tighter than the turning circle": (
        {"task": "{do: loiter, centre: [0, 0], radius: 4, speed: 1.8}"},
        r"circle is 17.6 m wide at 1.8 m/s, and there are 8 m",
    ),
    "a waypoint at the fence": (
        {"task": "{do: goto, waypoints: [[119, 0]], acceptance: 0.5}", "extra": FENCE},
        r"lies 1 m from the fence, and the failsafe `fence` acts 2.9 m from it",
    ),
    "a turn that swings over the fence": (
        {"task": "{do: goto, waypoints: [[114, 0], [0, 0]]}", "extra": FENCE},
        r"goto 1` ends in a turn of 180° with a radius of 6.5 m at 1.4 m/s, which leads to 1.1 m "
        r"from the fence: the failsafe `fence` stops it there.*at least 2 m.*move the waypoint",
    ),
    "a waypoint inside the turning circle": (
        {
            "task": "{do: goto, waypoints: [[100, 0, 8], [100, 30, 8]]}",
            "vehicle": "remus100_mss",
            "world": SHALLOW,
            "depth": 8,
        },
        r"`goto 2` lies 6.3 m inside the circle in which remus100_mss turns by 90° towards it, "
        r"19.3 m in radius.*outside that circle",
    ),
    "a waypoint next to where it comes up": (
        {
            "task": "{do: goto, waypoints: [[60, 0, 8]]}, {do: surface}, "
            "{do: goto, waypoints: [[120, 0, 8]]}",
            "vehicle": "remus100_mss",
            "world": SHALLOW,
            "depth": 5,
            "duration": 200,
        },
        r"lies 60 m from `surface`, where remus100_mss goes round on a circle 3[0-9.]+ m wide",
    ),
    "half a frame": ({"task": NORTH, "duration": 10.05}, r"ends with its last frame, at 10 s"),
    "nothing bounds the position": (
        {
            "vehicle": "bluerov2",
            "extra": "mission: [{do: hold, position: [0, 0, 5]}]\n    start: {position: [0, 0, 5]}",
            "duration": 400,
        },
        r"known to 0.1 m/s at first.*to about 42.7 m after 400 s.*at most 30 m.*after 27. s",
    ),
    "a compass that deviates": (
        {
            "vehicle": "remus100",
            "world": SHALLOW,
            "extra": """sensors:
      - {type: imu, name: imu, rate: 50, errors: adis16448}
      - {type: compass, name: compass, rate: 10}
      - {type: pressure, name: depth, rate: 10}
      - {type: dvl, name: dvl, rate: 5}
    start: {position: [0, 0, 10], speed: 1.5}
    mission: [{do: goto, waypoints: [[3000, 0, 10]], speed: 1.5}]""",
            "duration": 2000,
        },
        # The compass by 1.02°, the log by its mounting and scale.
        r"0.018 of the way is wrong by the DVL and the heading.*to about 55.1 m after 2000 s",
    ),
    "a waypoint beyond the horizon": (
        {"task": NORTH.replace("100", "100000")},
        r"takes about 18.5 h at the speeds that it asks for, and the run ends after 0.0167 h",
    ),
    "a waypoint beyond the stars over a map": (
        {
            "task": "{do: goto, waypoints: [[1.0e+100, 0, 4]]}",
            "vehicle": "bluerov2",
            "world": "inspection-site",
            "depth": 4,
        },
        r"takes about .*e\+9. h at the speeds that it asks for",
    ),
    "a battery too small": (
        {
            "duration": 1500,
            "extra": f"""feedback: truth
    sensors:
      - {{type: battery, name: cells, rate: 1, capacity: 3.0e+5, hotel: 100,
         full_power: {{left: 500, right: 500}}}}
    mission: [{NORTH.replace("100", "1500")}]""",
        },
        r"takes about 4[0-9]{2} kJ.*battery has 240 kJ until `failsafes.battery` acts at 0.2.*%",
    ),
    "gains that make it unstable": (
        {
            "task": NORTH,
            "extra": "control: {gains: {heading: {proportional: 2000, derivative: 0}}}",
        },
        r"control.gains: with these gains it falls short: track at 0 m/s.*unstable",
    ),
    "a little more speed than it has": (
        {"task": NORTH.replace("1.5", "4")},
        r"asks for 4 m/s.*at most 3.1 m/s, its top speed",
    ),
    "orders beyond the limits": (
        {"extra": "commands: {left_rpm: 100000, right_rpm: [[0, 10], [5, -990]]}"},
        r"commands.left_rpm: `left` goes no farther.*found:    100000.*from -971.5 to 992.5",
    ),
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"extra": "start: {heading: 90}"}, r":9: .*heading: out of range.*`heading_deg: 90`"),
        (
            {"world": "{name: race, current: {speed: 1, towards: 90}}"},
            r":5: world.current.towards: out of range.*`towards_deg: 90`",
        ),
        (
            {"task": "{do: survey, area: [[0, 0], [1.0e+9, 0], [0, 1.0e+9]], spacing: 20}"},
            r"takes 5e\+07 lines, and 1000 are the most",
        ),
        (
            {"task": "{do: survey, area: [[0, 0], [50, 0], [90, 0]], spacing: 20}"},
            "the corners of the area lie on one line",
        ),
        ({"task": "{do: goto, places: [[200, 10]]}"}, r"\[200, 10\] is no place"),
        ({"extra": "controller: hands.Weave"}, r":9: vehicles\[0\].controller.*`hands:Weave`"),
        ({"extra": "controller: hands.py"}, r":9: vehicles\[0\].controller.*`hands:Class`"),
        (
            {"extra": "commands: {left: [[10, 5], [0, 3]]}"},
            r":9: vehicles\[0\].commands: times of `left` in `commands` must.*increase",
        ),
        ({"duration": 0.05}, r"`frame_period` \(0.1 s\) is longer than `duration` \(0.05 s\)"),
        (
            {"extra": "sensors: [{type: gnss, name: gnss, rate: 2.0e-6}]"},
            "rate: out of range.*at least 0.0001",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_read(changed, message):
    with pytest.raises(st.SpecError, match=f"(?s){message}"):
        described(**changed)


@pytest.mark.parametrize("helm", [{}, {"left_rpm": 0.0}])
def test_a_turn_by_a_helm_that_moves_nothing_is_refused(helm):
    otter = st.load("otter", st.Vehicle)
    idle = otter.model_copy(
        update={"manoeuvring": otter.manoeuvring.model_copy(update={"helm": helm})}
    )

    def scenario(manoeuvre):
        return st.Scenario(vehicles=[{"vehicle": idle, "manoeuvre": manoeuvre}])

    assert scenario({"type": "crash_stop"})  # which needs the engine alone
    with pytest.raises(st.SpecError, match=r"(?s)needs a helm.*`helm: \{rudder: -1.0\}`"):
        scenario({"type": "turning_circle", "helm_deg": 20})


@pytest.mark.parametrize(("name", "value"), [("X_u", 77.0), ("N_r", 40.0), ("Y_v_av", 3.0)])
def test_a_drag_that_drives_is_refused(name, value):
    otter = st.load("otter", st.Vehicle)
    told = dict(otter.hydrodynamics.coefficients) | {name: value}
    wrong = otter.model_copy(
        update={"hydrodynamics": otter.hydrodynamics.model_copy(update={"coefficients": told})}
    )
    with pytest.raises(
        st.SpecError, match=f"`{name}` drives the motion(?s:.)*`{name}: -{value:g}`"
    ):
        check_vehicle(wrong)


@pytest.mark.parametrize(
    "task",
    [
        "{do: goto, waypoints: [[0, 0], [50, 0], [50, 0], [50, 50]], smooth: hermite}",
        "{do: goto, waypoints: [[0, 0], [50, 0], [50, 0], [50, 50]], smooth: circles}",
        "{do: goto, waypoints: [[0, 0]], smooth: hermite}",
        "{do: goto, places: [[63.4306, 10.3952]]}",
    ],
)
@pytest.mark.filterwarnings("ignore::seatrial.SpecWarning")
def test_places_and_smooth_ways_with_repeated_waypoints_are_taken(task):
    world = "{name: fjord, datum: {latitude_deg: 63.43, longitude_deg: 10.395}}"
    legs = compile_scenario(described(task, world=world)).header.vehicles[0].legs
    assert all(np.isfinite(leg.end).all() for leg in legs)
    if "places" in task:
        # 0.0006° of latitude and 0.0002° of longitude at 63.43°: 66.9 m and 10.0 m.
        np.testing.assert_allclose(legs[0].end, (66.9, 10.0, 0.0), atol=0.1)


def test_of_a_million_vessels_some_are_checked(tmp_path):
    path = tmp_path / "swarm.yaml"
    path.write_text(
        TEXT.format(duration=60, world="calm", vehicle="smarty", extra="count: 1000000")
    )
    assert check_description(str(path)) == "scenario"


def test_what_is_doubtful_is_refused_where_strictness_is_asked_for(tmp_path):
    path = tmp_path / "doubtful.yaml"
    text = TEXT.format(duration=60, world="calm", vehicle="otter", extra="commands: {left: 1000}")
    path.write_text(text)
    arguments = ["check", str(path)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    refused = CliRunner().invoke(app, [*arguments, "--strict"])
    assert isinstance(refused.exception, st.SpecError)
    assert "doubtful.yaml:9: vehicles[0].commands.left" in str(refused.exception)


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_work_is_refused_with_the_number(case):
    given, message = REFUSED[case]
    with pytest.raises(st.SpecError) as refused:
        compile_scenario(described(**given))
    assert refused.match(f"(?s){message}")
    assert "expected:" in str(refused.value)
    assert "to mend:" in str(refused.value)


@pytest.mark.parametrize("case", DOUBTED)
def test_what_may_not_work_is_doubted_with_the_number(case):
    given, message = DOUBTED[case]
    with pytest.warns(st.SpecWarning, match=f"(?s){message}"):
        compile_scenario(described(**given))


def test_a_speed_that_nobody_asked_for_is_refused_by_where_it_comes_from():
    """The orders of `manoeuvring.ahead` are 660 rpm, and these shafts make 400."""
    otter = st.load("otter").model_dump(mode="json", exclude_unset=True)
    for shaft in otter["actuators"]:
        shaft["thrust"]["speed_limits"] = [-400 / 60, 400 / 60]
    boat = {"name": "weak", "vehicle": otter, "feedback": "truth", "sensors": []}
    boat["mission"] = [{"do": "goto", "waypoints": [[50, 0]]}]
    scenario = st.Scenario(kind="scenario", name="weak", duration=60, world="calm", vehicles=[boat])
    with pytest.raises(st.SpecError) as refused:
        compile_scenario(scenario)
    assert refused.match(r"(?s)names no `speed`, and goes at the 1.4 m/s.*`manoeuvring.ahead`")
    assert refused.match(r"(?s)expected: at most 0.5 m/s.*give the task a `speed` of at most 0.5")


def test_a_current_that_carries_it_to_its_goal_is_not_doubted():
    """Faster than the boat, without a tide: it is there after 20 s."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_scenario(described(NORTH, world=STRONG.replace("180", "0")))


def test_a_run_without_a_world_says_which_water_it_is_in():
    text = TEXT.format(duration=1, world="calm", vehicle="otter", extra="sensors: []")
    with pytest.warns(st.SpecWarning, match=r"world: no world is named(?s:.)*`world: calm`"):
        compile_scenario(load_text(text.replace("world: calm\n", ""), st.Scenario))


@pytest.mark.parametrize(
    "task",
    [
        "{do: goto, waypoints: [[63, 10], [60, 40]], speed: 1.5}",
        "{do: goto, waypoints: [[63.5, 10.5], [20, 10]], speed: 1.5}",
        "{do: goto, waypoints: [[3.1415, 2.7182], [3.2, 2.9]], speed: 1.5, acceptance: 1}",
    ],
)
def test_metres_are_not_taken_for_degrees(task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_scenario(described(task, world=FJORD))


@pytest.mark.parametrize("vehicle", ["remus100", "remus100_mss"])
def test_a_berth_is_come_into_at_a_speed_that_fins_bear_unless_one_is_named(vehicle):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task = "{do: dock, position: [60, 0, 8], heading_deg: 90}"
        compile_scenario(described(task, vehicle=vehicle, depth=8))


def test_what_works_is_not_doubted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_scenario(described(NORTH, extra=FENCE))


@pytest.mark.parametrize(
    "task",
    [
        # 12 m from the fence at which it turns, with 6.5 m of radius.
        "{do: goto, waypoints: [[108, 0], [0, 0]]}",
        "{do: goto, waypoints: [[112, 0], [112, 10], [20, 10]], speed: 0.5}",
        # Somewhere on its way the first ends, and nobody knows where.
        "{do: goto, waypoints: [[60, 0]], until: {quantity: time, above: 5}}",
    ],
)
def test_ways_and_turns_inside_the_fence_are_not_doubted(task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_scenario(described(task, extra=FENCE))


@pytest.mark.parametrize(("vehicle", "depth"), [("mariner", 0), ("remus100", 4.95)])
def test_a_start_in_the_bottom_is_refused(vehicle, depth):
    extra = f"start: {{position: [0, 0, {depth}]}}"
    scenario = described(vehicle=vehicle, world="{name: flat, seabed: {depth: 5}}", extra=extra)
    with pytest.raises(st.SpecError, match=r"deep in the bottom(?s:.)*to mend"):
        compile_scenario(scenario)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("failsafes: {battery: null}", "`failsafes` is of a vehicle with a `mission`"),
        ("avoidance: {}", "`avoidance` is of a vehicle with a `mission`"),
        (FENCE, "`guidance` is of a vehicle with a `mission`"),
        ("faults: [{target: link, kind: lost}]", "`link: lost` is of a vehicle with a `mission`"),
    ],
)
def test_what_only_a_mission_uses_is_refused_beside_a_controller(key, message):
    with pytest.raises(st.SpecError, match=message):
        described(extra=f"controller: mine:Helm\n    {key}")


def test_a_fault_of_a_vehicle_that_is_not_there_names_the_vehicle():
    faults = "sensors: []\n    faults: [{target: left, kind: power_loss}]"
    simulation = st.Simulation(described(extra=faults))
    with pytest.raises(st.SpecError, match=r"no vehicle `otter`(?s:.)*one of craft"):
        simulation.set_fault("left: power_loss", vehicle="otter")
    with pytest.raises(st.SpecError, match="no fault `right: jam` in the scenario for `craft`"):
        simulation.set_fault("right: jam", vehicle="craft")


def test_a_vehicle_that_ends_upside_down_or_on_the_bottom_is_not_completed():
    """Whether or not that ends its run."""
    text = """
kind: scenario
name: sunk
duration: 1
stop_when_grounded: false
stop_when_capsized: false
world: {name: pond, seabed: {depth: 6}}
vehicles:
  - {name: rov, vehicle: bluerov2, sensors: [], start: {position: [0, 0, 5.8]},
     commands: {vertical_port: 20, vertical_starboard: 20}}
  - {name: rolled, vehicle: bluerov2, sensors: [], start: {position: [0, 5, 3], roll_deg: 180}}
"""
    run = st.run(load_text(text, st.Scenario))
    status = {name: vehicle.status for name, vehicle in run.summary.vehicles.items()}
    assert status == {"rov": "grounded", "rolled": "capsized"}
    assert run.status == "capsized"


def test_a_task_is_doubted_once_however_many_legs_it_has():
    square = "{do: goto, waypoints: [[90, 0], [180, 0], [270, 0]], speed: 1.5}"
    with pytest.warns(st.SpecWarning) as told:
        compile_scenario(described(square, world=STRONG.replace("3.5", "2.5")))
    assert len(told) == 1
