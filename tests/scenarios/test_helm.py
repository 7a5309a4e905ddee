"""What a helm must bear: squares and slants of ROVs, shallow dives, stations, docks."""

import numpy as np
import pytest
import yaml

import seatrial as st
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

CURRENT = {"speed": 0.3, "towards_deg": 70}
SEA_3 = {"spectrum": "sea_state", "code": 3, "towards_deg": 45}


def sailed(vehicle, missions, duration, feedback="truth", start=(0.0, 0.0), **world):
    """Missions of one kind of vehicle side by side, 200 m apart; name -> dataset and legs."""
    depth, speed = start
    crafts = []
    for i, (name, mission) in enumerate(missions.items()):
        shifted = []
        for task in mission:
            task = dict(task)
            if "waypoints" in task:
                task["waypoints"] = [[n, e + 200.0 * i, d] for n, e, d in task["waypoints"]]
            if "position" in task:
                n, e, d = task["position"]
                task["position"] = [n, e + 200.0 * i, d]
            shifted.append(task)
        crafts.append(
            {
                "name": name,
                "vehicle": vehicle,
                "feedback": feedback,
                "start": {"position": [0.0, 200.0 * i, depth], "speed": speed},
                "mission": shifted,
            }
        )
    described = {
        "kind": "scenario",
        "name": "helm",
        "seed": 11,
        "duration": duration,
        "world": {"name": "w", "seabed": {"depth": 200}, **world},
        "vehicles": crafts,
    }
    run = st.run(load_text(yaml.safe_dump(described), Scenario))
    legs = {info.name: info.legs for info in run.header.vehicles}
    return {name: (run.recording.vehicle(name), legs[name]) for name in missions}


def tilt(data):
    _, x, y, _ = data["attitude"].values.T
    return np.degrees(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))


def goto(*waypoints, **more):
    return [{"do": "goto", "waypoints": [list(w) for w in waypoints], "acceptance": 0.7, **more}]


def slant(degrees):
    level, down = 5 * np.cos(np.radians(degrees)), 5 * np.sin(np.radians(degrees))
    level, down = round(float(level), 3), round(float(down), 3)
    return goto((level, 0, 10 + down), (2 * level, 0, 10), speed=0.5)


@pytest.mark.parametrize(
    ("vehicle", "current"),
    [
        ("bluerov2", CURRENT),
        pytest.param("bluerov2_heavy", None, marks=pytest.mark.rest),
        pytest.param("bluerov2", None, marks=pytest.mark.rest),
        pytest.param("bluerov2_heavy", CURRENT, marks=pytest.mark.rest),
    ],
)
def test_an_rov_stays_upright_and_reaches_every_waypoint(vehicle, current):
    ways = {
        "square": goto((6, 0, 10), (6, 6, 10), (0, 6, 10), speed=0.5),
        "gentle": slant(15),
        "steep": slant(60),
        "back": goto((7, 0, 10), (0.1, 1.2, 10), speed=0.5),  # a turn by 170°
        "fast": goto((12, 5, 10), speed=0.5),
        "sideways": [
            {"do": "velocity", "sway": 0.3, "duration": 20},
            {"do": "velocity", "surge": 0.2, "sway": -0.2, "duration": 20},
        ],
    }
    world = {} if current is None else {"current": current}
    for name, (data, legs) in sailed(vehicle, ways, 140, start=(10.0, 0.0), **world).items():
        assert tilt(data).max() < 15.0, name
        for leg in legs:
            if leg.kind == "track":
                away = np.linalg.norm(data["position"].values - np.array(leg.end), axis=1)
                assert away.min() < 0.7, (name, leg.name)
        assert int(data["leg"].values[-1]) == len(legs), name
        if name == "fast":  # bow first, or broadside where that is the faster way
            speed = np.linalg.norm(data["velocity"].values[:, :2], axis=1)
            assert np.abs(speed[100:200] - 0.5).max() < 0.05


@pytest.fixture(scope="module")
def dives():
    """An AUV that dives in sea state 3, shallow and deeper, and that turns by 120° below."""
    ways = {
        "shallow": goto((50, 0, 1.5), (900, 0, 1.5), speed=1.5),
        "deeper": goto((50, 0, 3), (900, 0, 3), speed=1.5),
        "sharp": goto((80, 0, 8), (30, 86.6, 8), speed=1.5),
    }
    return sailed("remus100", ways, 240, start=(0.5, 1.5), waves=SEA_3)


def test_an_rov_that_is_put_in_to_drift_knows_the_current_and_stays_upright_by_its_own_sensors():
    """It tilts by its speed through the water, which is not the one over ground: one that took
    the water to be still leaned by 25 degrees until it had learnt better."""
    described = {
        "kind": "scenario",
        "name": "helm",
        "duration": 20,
        "world": {"name": "w", "seabed": {"depth": 60}, "current": CURRENT},
        "vehicles": [
            {
                "name": "rov",
                "vehicle": "bluerov2",
                "start": {"position": [0, 100, 10]},
                "mission": goto((4.83, 100.0, 11.29), (9.66, 100.0, 10.0), speed=0.5),
                "sensors": [
                    {"type": "imu", "name": "imu", "rate": 50, "errors": "lsm6dsr"},
                    {"type": "ahrs", "name": "ahrs", "rate": 10},
                    {"type": "pressure", "name": "depth", "rate": 10},
                    {"type": "dvl", "name": "dvl", "rate": 5},
                ],
            }
        ],
    }
    data = st.run(load_text(yaml.safe_dump(described), Scenario)).recording.vehicle("rov")
    wrong = np.linalg.norm(data["estimate_current"].values - data["current"].values, axis=1)
    assert wrong.max() < 0.1
    assert tilt(data).max() < 15.0


def test_a_vehicle_steered_by_fins_does_not_go_past_the_leg_after_a_sharp_turn(dives):
    data, legs = dives["sharp"]
    along = np.array(legs[1].end[:2]) - legs[1].start[:2]
    along /= np.linalg.norm(along)
    away = data["position"].values[data["leg"].values.ravel() == 1, :2] - legs[1].start[:2]
    cross = away @ np.array([-along[1], along[0]])
    widest = np.argmax(np.abs(cross))
    assert abs(cross[widest]) > 10.0  # its turning circle has a diameter of 24 m
    assert np.max(-np.sign(cross[widest]) * cross[widest:]) < 0.5
    assert int(data["leg"].values[-1]) == 2


def test_an_auv_near_the_surface_neither_plunges_nor_reverses_its_propeller(dives):
    for name, depth in (("shallow", 1.5), ("deeper", 3.0)):
        data, _ = dives[name]
        late = data["time"].values > 90.0
        down = data["position"].values[late, 2]
        assert abs(down.mean() - depth) < 0.4, name
        assert down.std() < 0.6, name
        assert down.max() < depth + 2.0, name
        propeller = data["command"].sel(channel="propeller").values
        assert propeller.min() >= 0.0, name


def test_an_auv_dives_after_a_long_way_at_the_surface_as_after_a_short_one():
    """Told to be at 0 m, it can come no higher than it floats: it wound its stern plane to 0.16 rad
    in ten minutes of that, and dived eight seconds later than after one."""
    ways = {
        "short": goto((100, 0, 0), (220, 0, 8), speed=1.5),
        "long": goto((1000, 0, 0), (1120, 0, 8), speed=1.5),
    }
    found = {}
    for name, (data, _) in sailed("remus100_mss", ways, 720, start=(0.2, 1.5)).items():
        time, depth = data["time"].values, data["position"].values[:, 2]
        dives = np.argmax(data["leg"].values.ravel() == 1)
        assert abs(data["command"].sel(channel="stern_plane").values[dives].item()) < 0.02
        under = np.argmax(depth[dives:] > 1.0)
        found[name] = time[dives + under] - time[dives]
    assert found["short"] < 17.0
    assert abs(found["long"] - found["short"]) < 0.5


def test_azimuth_thrusters_do_not_fight_and_a_dock_is_approached_at_its_speed():
    ways = {
        "hold": [{"do": "hold", "position": [0, 0, 0], "heading_deg": 30, "duration": 200}],
        "dock": [
            {
                "do": "dock",
                "position": [30, 5, 0],
                "heading_deg": 10,
                "approach": 8,
                "final_speed": 0.2,
                "acceptance": 0.5,
                "duration": 5,
            }
        ],
    }
    found = sailed("wamv_azimuth", ways, 130, feedback="estimate")
    data, _ = found["hold"]
    names = [str(c) for c in data["channel"].values if not str(c).endswith("_angle")]
    late = data["time"].values > 60.0
    thrust = data["command"].sel(channel=names).values[late]
    assert np.sqrt(np.mean(thrust**2, axis=0)).max() < 5.0
    data, legs = found["dock"]
    leg = data["leg"].values.ravel()
    assert int(leg[-1]) == len(legs)
    last = np.flatnonzero(leg == len(legs) - 1)[80:]  # after it has slowed down
    speed = np.linalg.norm(data["velocity"].values[last, :2], axis=1)
    assert 0.1 < speed.max() < 0.25


def test_hold_and_dock_end_for_a_craft_that_holds_neither_station_nor_heading():
    """In a current across the berth, with less acceptance than it is long."""
    ways = {
        "hold": [{"do": "hold", "position": [15, 8, 0], "duration": 10, "acceptance": 1.0}],
        "dock": [
            {
                "do": "dock",
                "position": [40, 10, 0],
                "heading_deg": 30,
                "approach": 12,
                "final_speed": 0.5,
                "acceptance": 1.0,
                "duration": 10,
            }
        ],
    }
    for name, (data, legs) in sailed("otter", ways, 150, current=CURRENT).items():
        assert int(data["leg"].values[-1]) == len(legs), name
