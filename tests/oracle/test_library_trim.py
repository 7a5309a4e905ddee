"""Vehicles that are called neutral stay at their depth without thrust, in any water."""

import gsw
import jax
import numpy as np
import pytest

import craft
from sampling import sampled
from seatrial.compile.scenario import compile_scenario
from seatrial.compile.vehicles.trim import settle_trim
from seatrial.errors import SpecError
from seatrial.spec.library import library_names
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import SubmergedBuoyancy, Vehicle
from seatrial.spec.world import World

WATERS = {
    "calm": "calm",
    "fresh": {"water": {"profile": "constant", "density": 998.2}},
    "dense": {"water": {"profile": "constant", "density": 1030.0}},
    "compressed": {"water": {"profile": "constant", "temperature": 12.0, "salinity": 35.0}},
    "stratified": {"water": {"profile": "preset", "ocean": "atlantic", "season": "summer"}},
}


def neutral():
    vehicles = {name: load(name, Vehicle).buoyancy for name in library_names("vehicle")}
    return [
        name
        for name, buoyancy in vehicles.items()
        if isinstance(buoyancy, SubmergedBuoyancy) and buoyancy.trim == "neutral"
    ]


def described(name, world, depth=20.0):
    made = {"kind": "world", "name": "w"}
    world = load(world, World) if isinstance(world, str) else made | world
    return Scenario.model_validate(
        {
            "kind": "scenario",
            "name": "left-alone",
            "duration": 10.0,
            "world": world,
            "vehicles": [
                {
                    "name": "auv",
                    "vehicle": load(name, Vehicle),
                    "sensors": [],
                    "start": {"position": [0.0, 0.0, depth]},
                }
            ],
        }
    )


def test_the_library_has_neutral_vehicles():
    assert "remus100_mss" in neutral()


@pytest.mark.parametrize("water", WATERS)
@pytest.mark.parametrize("name", sampled(neutral(), "remus100_mss"))
def test_left_alone_for_half_an_hour_it_stays_where_it_is(name, water):
    plan = compile_scenario(described(name, WATERS[water]))
    group, ocean = plan.fleets[0].group, plan.fleets[0].ocean
    first = craft.state(group.model, position=(0.0, 0.0, 20.0))
    idle = np.zeros(group.model.channels)
    _, position, *_ = craft.simulate(group.model, ocean, first, 1800.0, 0.05, idle, every=600)
    assert np.abs(position[:, 2] - 20.0).max() < 0.1
    assert np.abs(position[:, :2]).max() < 0.1


def test_volume_is_the_mass_over_the_density_where_it_starts():
    """Against TEOS-10 itself at a row of the table."""
    profile = {"profile": "table", "depth": [0, 10, 30], "temperature": [18, 12, 6]}
    world = {"water": profile | {"salinity": [30, 33, 35]}}
    scenario = described("remus100_mss", world, 10.0)
    plan = compile_scenario(scenario)
    datum = scenario.world.datum
    pressure = gsw.p_from_z(-10.0, datum.latitude_deg)
    absolute = gsw.SA_from_SP(33.0, pressure, datum.longitude_deg, datum.latitude_deg)
    density = gsw.rho(absolute, gsw.CT_from_t(absolute, 12.0, pressure), pressure)
    volume = float(plan.fleets[0].group.model.restoring.volume)
    assert volume == pytest.approx(31.9 / density, rel=1e-6)
    assert "trim: neutral" in plan.header.description


def test_two_of_a_kind_that_start_at_different_depths_are_trimmed_each_for_its_own():
    text = """
kind: scenario
name: two
duration: 10
world: {name: w, water: {profile: preset, ocean: pacific, season: summer}}
vehicles:
  - {name: shallow, vehicle: remus100_mss, sensors: [], start: {position: [0, 0, 5]}}
  - {name: deep, vehicle: remus100_mss, sensors: [], start: {position: [50, 0, 300]}}
"""
    with jax.enable_x64(True):
        settled = settle_trim(load_text(text, Scenario))
    volumes = [p.vehicle.buoyancy.volume for p in settled.vehicles]
    assert volumes[0] > 1.001 * volumes[1]
    assert len(compile_scenario(load_text(text, Scenario)).fleets) == 2


def test_exactly_one_way_to_say_how_buoyant_a_vehicle_is():
    for given in ({}, {"volume": 1.0, "trim": "neutral"}, {"force": 1.0, "volume": 1.0}):
        with pytest.raises(ValueError, match="trim: neutral"):
            SubmergedBuoyancy.model_validate({"craft": "submerged"} | given)
    text = """
kind: scenario
name: bad
duration: 1
vehicles:
  - name: a
    vehicle: {kind: vehicle, name: b, source: s, length: 1.0, beam: 0.2, height: 0.2,
      inertia: {mass: 9.0, gyration: [0.1, 0.2, 0.2]}, buoyancy: {craft: submerged, trim: heavy}}
"""
    with pytest.raises(SpecError, match="neutral"):
        load_text(text, Scenario)
