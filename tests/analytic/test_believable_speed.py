"""The speed beyond which a vehicle's model is not believed."""

import math

import pytest

import craft
from seatrial.compile.vehicles.limits import believable_speed
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle

TOP_SPEEDS = {
    # m/s, of the vehicle's own data sheet or source
    "bluerov2": 1.5,
    "bluerov2_heavy": 1.5,
    "kvlcc2_l7": 1.179,
    "mariner": 7.7175,
    "otter": 3.1,
    "remus100": 2.9,
    "remus100_mss": 2.6,
    "remus100_x": 2.6,
    "sf30k": 1.883,
    "slocum": 0.7,
    "smarty": 1.5,
    "sookshma": 2.0,
    "wamv": 7.7,
    "wamv_azimuth": 7.7,
}


@pytest.mark.parametrize("name", library_names("vehicle"))
def test_every_vehicle_of_the_library_stays_far_below_it_and_a_blow_up_does_not(name):
    limit = believable_speed(load(name, Vehicle), craft.calm())
    assert limit > 2.0 * TOP_SPEEDS[name]
    assert limit < 100.0  # 859 m/s was called completed
    assert limit < TOP_SPEEDS[name] * 25.0


def test_more_thrust_and_less_displacement_make_it_higher():
    """U = √(2T/(ρ C_V ∇^(2/3))) with a volume of 0.1 m³ and 100 N, and its scaling."""

    def limit(thrust, mass=102.5):
        described = craft.vehicle(
            inertia={"mass": mass, "moments": [4.0, 6.0, 7.0]},
            buoyancy={"craft": "submerged", "trim": "neutral"},
            actuators=[
                {
                    "kind": "thruster",
                    "name": "screw",
                    "thrust": {"model": "direct", "thrust_limits": [-thrust, 0.5 * thrust]},
                }
            ],
        )
        return believable_speed(described, craft.calm()) / 1.5 - 5.0

    alone = math.sqrt(2 * 100.0 / (1025.0 * 0.02 * 0.1 ** (2 / 3)))
    assert limit(100.0) == pytest.approx(alone)
    assert limit(400.0) == pytest.approx(2.0 * alone)
    assert limit(100.0, 8 * 102.5) == pytest.approx(0.5 * alone)
    assert limit(1e6) == pytest.approx(6.0 * math.sqrt(9.80665))  # Froude number 6 on 1 m


def test_what_carries_a_craft_counts_too():
    buoy = craft.barge()
    calm = believable_speed(buoy, craft.calm())
    current = craft.ocean_of(current={"speed": 3.0, "towards_deg": 30.0})
    assert believable_speed(buoy, current) - calm == pytest.approx(1.5 * 3.0, rel=0.25)
    storm = craft.ocean_of(waves={"spectrum": "sea_state", "code": 9})
    # r.m.s. orbital speed of Bretschneider's sea: π Hs/(4 T₁) √… ≈ 1.1 m/s at 14 m and 20 s
    assert 1.5 * 4.0 < believable_speed(buoy, storm) - calm < 1.5 * 12.0
    assert believable_speed(buoy, craft.calm(), start_speed=20.0) - calm == pytest.approx(30.0)
