"""An AUV with an X tail: what its fins can do against the same fins as a plus, and a dive."""

import numpy as np
import pytest

import craft
import seatrial as st
from seatrial.validation.missions.voyages import drives, sail_missions

SPEED, ANGLE, RADIUS, ARM = 1.7, 0.1, 0.12, 0.80768
LIFT = 0.5 * 1026.0 * 0.00665 * 0.6 * SPEED**2 * ANGLE
"""Of one fin at a small angle, N: half the pair of MSS, with the mean of its two coefficients."""

SPANS = np.radians([-45.0, 45.0, 135.0, -135.0])
PLUS = np.radians([-90.0, 0.0, 90.0, 180.0])


@pytest.fixture(scope="module")
def wrench():
    """Load that angles of the four fins add at some speed ahead, by arrangement."""
    sea = {"profile": "constant", "density": 1026.0, "temperature": 10.0, "salinity": 35.0}
    ocean = craft.ocean_of(water=sea)
    vehicle = st.load("remus100_x", st.Vehicle)

    def turned(a):
        return a.model_copy(update={"arrangement": "plus"}) if a.kind == "fin_set" else a

    fins = {"x": vehicle.actuators, "plus": tuple(map(turned, vehicle.actuators))}
    buoyancy = vehicle.buoyancy.model_copy(update={"trim": None, "volume": 31.9 / 1026.0})
    models = {
        name: craft.compiled(
            vehicle.model_copy(
                update={"actuators": actuators, "buoyancy": buoyancy, "manoeuvring": None}
            )
        )
        for name, actuators in fins.items()
    }

    def load(name, angles):
        model = models[name]
        states = [
            craft.state(model, (0, 0, 10), velocity=(SPEED, 0, 0, 0, 0, 0), actuators=(0.0, *a))
            for a in (angles, np.zeros(4))
        ]
        return craft.wrench(model, ocean, states[0]) - craft.wrench(model, ocean, states[1])

    return load


def signs(values):
    return np.sign(np.round(values, 9))


def test_four_fins_of_an_x_pitch_and_yaw_by_root_two_more_than_two_of_a_plus(wrench):
    for mix, force, moment in ((np.sin, 1, 5), (np.cos, 2, 4)):
        x = wrench("x", ANGLE * signs(mix(SPANS)))
        plus = wrench("plus", ANGLE * signs(mix(PLUS)))
        assert abs(x[force]) == pytest.approx(2 * np.sqrt(2) * LIFT, rel=1e-6)
        assert abs(plus[force]) == pytest.approx(2 * LIFT, rel=1e-6)
        assert x[moment] / plus[moment] == pytest.approx(np.sqrt(2), rel=1e-6)
        assert abs(x[moment]) == pytest.approx(ARM * abs(x[force]), rel=1e-6)
        others = [i for i in range(1, 6) if i not in (force, moment)]
        assert x[others] == pytest.approx(0.0, abs=1e-9)


def test_both_roll_alike(wrench):
    for name in ("x", "plus"):
        found = wrench(name, np.full(4, ANGLE))
        assert found[3] == pytest.approx(-4 * LIFT * RADIUS, rel=1e-6)
        assert found[[1, 2, 4, 5]] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.rest
def test_the_dive_of_the_library_goes_to_its_depth_upright_and_comes_back():
    run = st.run("remus100_x-dive")
    auv = run.summary.vehicles["auv"]
    assert run.summary.status == "completed"
    depth = run.dataset["position"].sel(vehicle="auv", axis="down").values
    assert depth.max() == pytest.approx(12.0, abs=0.7)
    assert depth[-1] < 3.1  # `acceptance` of the surface
    assert auv.indices["legs_reached"] == 3
    assert auv.roll_max_deg < 2.0  # the propeller's torque is held by the fins


def test_it_reaches_random_waypoints_without_weaving():
    """Its tail is a weathervane, which a heading loop must not lean on: it passed six of ten by."""
    (drive,) = drives(["remus100_x"])
    voyages = sail_missions(drive, "calm", "truth", range(1, 5), 3)
    assert all(v.reached == v.waypoints for v in voyages)
    assert max(v.off_track for v in voyages) < 2.0
