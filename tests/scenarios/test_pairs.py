"""Newton's third law between vehicles: what one does to another it suffers itself, whatever their
kinds, their integrator and however long the control period is beside the time step."""

import re

import numpy as np
import pytest

import craft
import seatrial as st
from craft import RHO
from seatrial.compile.scenario import compile_scenario

pytestmark = pytest.mark.filterwarnings("ignore::seatrial.SpecWarning")  # crates have no engine


def crate(name="crate", mass=400.0, size=(2.0, 1.0, 0.4)):
    """A box that hovers in water which neither holds nor drags it."""
    length, width, height = size
    sides = ((width, height), (length, height), (length, width))
    return craft.vehicle(
        name=name,
        length=length,
        beam=width,
        height=height,
        inertia={"mass": mass, "moments": [mass / 12 * (a * a + b * b) for a, b in sides]},
        buoyancy={"craft": "submerged", "volume": mass / RHO},
        hydrodynamics={"coefficients": {}},
    )


SMALL, LARGE = crate(), crate("container", 900.0, (3.0, 1.5, 0.6))


def scenario(*vehicles, **keys):
    keys = {"duration": 4.0, "vehicles_touch": True, "world": {"name": "w"}} | keys
    return st.Scenario(name="pair", vehicles=list(vehicles), **keys)


def run(*vehicles, **keys):
    return st.run(scenario(*vehicles, **keys))


def one(name, vehicle, position, speed=0.0, **more):
    start = {"position": list(position), "speed": speed} | more
    return {"name": name, "vehicle": vehicle, "start": start}


def twist(run, name):
    """(T, 6) velocity in body axes."""
    data = run.dataset.sel(vehicle=name)
    return np.hstack([data.velocity.values, data.angular_velocity.values])


def axes(run, name):
    """(T, 3, 3) from a vehicle's axes to the world's."""
    w, x, y, z = run.dataset.sel(vehicle=name).attitude.values.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def over_ground(run, name):
    """(T, 3) velocity in the world's axes."""
    return np.einsum("tij,tj->ti", axes(run, name), twist(run, name)[:, :3])


def felt(run, name):
    """Impulse of all touches that are told of a vehicle, N s."""
    told = [re.search(r": ([\d.e+-]+) N s", e.text) for e in run.summary.vehicles[name].events]
    return sum(float(found[1]) for found in told if found)


def energy(run, name, described):
    """(T,) of a crate's motion, J."""
    v, spin = twist(run, name)[:, :3], twist(run, name)[:, 3:]
    mass, moments = described.inertia.mass, np.asarray(described.inertia.moments)
    return 0.5 * (mass * (v**2).sum(axis=1) + spin**2 @ moments)


def whirl(run, name, described):
    """(T, 3) angular momentum of a crate about a place near which they meet, N m s."""
    turning = twist(run, name)[:, 3:] * np.asarray(described.inertia.moments)
    at = run.dataset.sel(vehicle=name).position.values - np.array([2.0, 0.0, 20.0])
    carried = np.cross(at, described.inertia.mass * over_ground(run, name))
    return carried + np.einsum("tij,tj->ti", axes(run, name), turning)


PERIODS = [
    {"control_period": 0.005, "time_step": 0.005},
    {"control_period": 0.1, "time_step": 0.02},
    {"control_period": 1.0, "time_step": 0.02, "frame_period": 1.0},
    {"control_period": 0.1, "time_step": 0.02, "integrator": "semi_implicit"},
]


@pytest.mark.parametrize("keys", PERIODS)
@pytest.mark.parametrize("other", [SMALL, LARGE], ids=["same", "different"])
def test_a_blow_between_free_bodies_keeps_their_momentum_and_is_felt_alike(other, keys):
    # off the middle, so that both turn and rub
    met = run(one("a", SMALL, (0, 0, 20), 1.0), one("b", other, (3.2, 0.45, 20.1)), **keys)
    a, b = (
        described.inertia.mass * np.diff(over_ground(met, name)[[0, -1]], axis=0)[0]
        for name, described in (("a", SMALL), ("b", other))
    )
    given = np.linalg.norm(a)
    assert given > 100.0
    assert np.linalg.norm(a + b) < 0.01 * given
    spun = [
        np.diff(whirl(met, name, described)[[0, -1]], axis=0)[0]
        for name, described in (("a", SMALL), ("b", other))
    ]
    # to first order: the two move by σ h Δv while the impulse acts, which is a lever of at most the
    # way that they go against each other in a time step, at 1 m/s
    assert np.linalg.norm(spun[0] + spun[1]) < keys["time_step"] * 1.0 * given
    assert felt(met, "a") == pytest.approx(felt(met, "b"), rel=0.01)
    assert felt(met, "a") > 0.99 * given
    after = energy(met, "a", SMALL) + energy(met, "b", other)
    assert after[-1] < after[0]


@pytest.mark.parametrize("other", [SMALL, LARGE], ids=["same", "different"])
def test_what_strikes_another_vehicle_hardly_bounces(other):
    met = run(one("a", SMALL, (0, 0, 20), 1.0), one("b", other, (3.2, 0, 20)))
    after = [over_ground(met, name)[-1, 0] for name in "ab"]
    assert 0.0 < after[1] - after[0] < 0.25  # of 1 m/s with which they met
    common = SMALL.inertia.mass / (SMALL.inertia.mass + other.inertia.mass)
    assert after[1] == pytest.approx(common, abs=0.25)


@pytest.mark.parametrize("other", [SMALL, LARGE], ids=["same", "different"])
def test_vehicles_that_go_side_by_side_do_not_brake_each_other(other):
    beam = 0.5 * (SMALL.beam + other.beam) - 0.002  # they dent each other by 2 mm
    met = run(one("a", SMALL, (0, 0, 20), 1.0), one("b", other, (0, beam, 20), 1.0), duration=2.0)
    for name in "ab":
        assert felt(met, name) > 0.0
        assert over_ground(met, name)[-1, 0] == pytest.approx(1.0, abs=0.01)


AHEAD = {"left_rpm": 500, "right_rpm": 500}


@pytest.mark.parametrize(("period", "step"), [(0.005, 0.005), (0.1, 0.02), (0.1, 0.005)])
def test_an_otter_that_pushes_a_wamv_feels_what_it_gives(period, step):
    met = run(
        one("a", "otter", (4, 0, 0), 1.0) | {"commands": AHEAD, "sensors": []},
        one("big", "wamv", (10, 0.3, 0)) | {"sensors": []},
        duration=10.0,
        control_period=period,
        time_step=step,
    )
    boat, big = (met.dataset.position.sel(vehicle=n).values for n in ("a", "big"))
    assert (big - boat)[:, 0].min() > 1.5  # of half their lengths, 3.05 m at the bow and the stern
    assert big[-1, 0] > 10.1  # the smaller pushes the larger along
    assert felt(met, "a") > 100.0
    assert felt(met, "a") == pytest.approx(felt(met, "big"), rel=0.01)


def inertia(plan, name):
    """M of a vehicle and what the water adds to it, (6, 6)."""
    fleet = next(f for f in plan.fleets if name in f.names)
    found = fleet.group.model.inertia
    return np.asarray(found.rigid_body) + np.asarray(found.added_mass)


@pytest.mark.parametrize(("other", "ahead"), [("otter", 2.3), ("wamv", 4.0)])
def test_the_first_step_of_a_blow_takes_from_one_craft_what_it_gives_the_other(other, ahead):
    # Against a run in which they pass through each other: the water takes nothing of what contact
    # has added at the end of the same time step.
    keys = {"control_period": 0.005, "time_step": 0.005, "frame_period": 0.005, "duration": 0.6}
    pair = (
        one("a", "otter", (0, 0, 0), 1.0) | {"sensors": []},
        one("b", other, (ahead, 0.3, 0)) | {"sensors": []},
    )
    met, passed = run(*pair, **keys), run(*pair, vehicles_touch=False, **keys)
    plan, given = compile_scenario(scenario(*pair, **keys)), []
    for name in "ab":
        change = twist(met, name) - twist(passed, name)
        first = int(np.argmax(np.abs(change).max(axis=1) > 1e-6))
        impulse = axes(passed, name)[first] @ (inertia(plan, name) @ change[first])[:3]
        given.append((first, impulse[:2]))  # craft afloat push each other level
    (began, a), (also, b) = given
    assert began == also > 10
    assert np.linalg.norm(a) > 5.0
    assert np.linalg.norm(a + b) < 1e-4 * np.linalg.norm(a)
