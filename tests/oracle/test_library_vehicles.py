"""The vehicles of the library against their sources, with numbers worked out here by hand."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from seatrial.compile.scenario import compile_scenario
from seatrial.conventions import GRAVITY
from seatrial.hull.blocks import Block, hydrostatics
from seatrial.spec.library import library_file, library_names
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import SurfaceBuoyancy, Vehicle

VEHICLES = (
    "bluerov2",
    "bluerov2_heavy",
    "kvlcc2_l7",
    "mariner",
    "otter",
    "remus100",
    "remus100_mss",
    "remus100_x",
    "sf30k",
    "slocum",
    "smarty",
    "sookshma",
    "wamv",
)


def coefficients(name):
    return load(name, Vehicle).hydrodynamics.coefficients


def block_hydrostatics(vehicle):
    assert isinstance(vehicle.buoyancy, SurfaceBuoyancy)
    return hydrostatics(
        tuple(
            Block(b.shape == "ellipse", b.length, b.beam, b.draught, *b.at)
            for b in vehicle.buoyancy.blocks
        )
    )


def test_example_of_the_guide_is_a_vehicle_that_floats_at_its_mark():
    guide = Path(__file__).parents[2] / "docs" / "describe-a-vehicle.md"
    example = re.search(r"```yaml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    vehicle = load_text(example.group(1), Vehicle)
    assert block_hydrostatics(vehicle).volume * 1025 == pytest.approx(
        vehicle.inertia.mass, rel=2e-3
    )
    scenario = Scenario(
        kind="scenario",
        name="trial",
        duration=1.0,
        vehicles=({"name": "skiff", "vehicle": vehicle},),
    )
    assert len(compile_scenario(scenario).fleets) == 1


def test_library_holds_the_promised_vehicles():
    assert set(VEHICLES) <= set(library_names("vehicle"))


@pytest.mark.parametrize("name", library_names("vehicle"))
def test_vehicle_file_is_valid_and_names_its_source(name):
    vehicle = load(name, Vehicle)
    assert vehicle.name == name
    assert vehicle.description
    assert re.search(r"(19|20)\d\d|osrf/vrx", vehicle.source), "the source names no publication"
    assert "#" in library_file(name, "vehicle").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["kvlcc2_l7", "mariner", "otter", "smarty", "sookshma", "wamv"])
def test_surface_craft_blocks_displace_the_mass(name):
    vehicle = load(name, Vehicle)
    displaced = block_hydrostatics(vehicle).volume * vehicle.hydrodynamics.reference_density
    assert displaced == pytest.approx(vehicle.inertia.mass, rel=2e-3)


@pytest.mark.parametrize(
    ("name", "mass", "expected"),
    [
        (
            "remus100",
            30.48,
            {"X_u_au": -1.62, "X_ud": -0.93, "Y_vd": -35.5, "M_qd": -4.88, "Z_w_aw": -131.0}
            | {"Y_v_av": -131.0, "M_q_aq": -188.0, "Y_uu_deltar": 9.64, "N_uu_deltar": -6.15},
        ),
        (
            "bluerov2",
            11.5,
            {"X_ud": -5.5, "Y_vd": -12.7, "Z_wd": -14.57, "K_pd": -0.12, "X_u": -4.03}
            | {"Y_v": -6.22, "Z_w": -5.18, "X_u_au": -18.18, "Y_v_av": -21.66, "Z_w_aw": -36.99},
        ),
        ("bluerov2_heavy", 13.5, {"X_u_au": -141.0, "Y_v_av": -217.0, "Z_w_aw": -190.0}),
        ("sookshma", 7.65, {"X_u": -0.01, "Y_v": -0.010659050686665396}),
        ("smarty", 8.4, {}),
        ("otter", 55.0, {}),
        ("remus100_mss", 31.9, {}),
    ],
)
def test_mass_and_key_coefficients_are_the_published_ones(name, mass, expected):
    vehicle = load(name, Vehicle)
    assert vehicle.inertia.mass == mass
    found = vehicle.hydrodynamics.coefficients
    assert {key: found[key] for key in expected} == expected


def test_remus_inertia_about_its_origin_is_the_published_one():
    vehicle = load("remus100", Vehicle)
    z_g = vehicle.inertia.centre_of_gravity[2]
    roll, pitch, yaw = vehicle.inertia.moments
    parallel_axis = vehicle.inertia.mass * z_g**2
    assert roll + parallel_axis == pytest.approx(0.177, abs=5e-4)
    assert pitch + parallel_axis == pytest.approx(3.45, abs=5e-4)
    assert yaw == 3.45


def test_remus_cruise_thrust_balances_its_drag_at_three_knots():
    vehicle = load("remus100", Vehicle)
    speed = math.sqrt(vehicle.manoeuvring.ahead["propeller"] / 1.62)
    assert speed == pytest.approx(1.54, abs=0.01)


def test_remus_cross_terms_hold_the_added_mass_coriolis():
    c = coefficients("remus100")
    assert (c["X_wq"], c["X_vr"]) == (c["Z_wd"], -c["Y_vd"])
    assert (c["Y_wp"], c["Z_vp"]) == (-c["Z_wd"], c["Y_vd"])
    assert not load("remus100", Vehicle).hydrodynamics.added_mass_coriolis


def lamb_spheroid(a, b):
    """Added-mass factors k1, k2, k' of a prolate spheroid (Lamb 1932, article 114)."""
    e = math.sqrt(1 - (b / a) ** 2)
    log = math.log((1 + e) / (1 - e))
    alpha = 2 * (1 - e**2) / e**3 * (log / 2 - e)
    beta = 1 / e**2 - (1 - e**2) / (2 * e**3) * log
    spin = e**4 * (beta - alpha) / ((2 - e**2) * (2 * e**2 - (2 - e**2) * (beta - alpha)))
    return alpha / (2 - alpha), beta / (2 - beta), spin


def test_mss_remus_is_the_spheroid_of_its_source():
    a, b = 1.0096 * 0.8, 1.0096 * 0.095
    mass = 4 / 3 * math.pi * 1025 * a * b**2
    water = mass * 1026 / 1025
    k1, k2, spin = lamb_spheroid(a, b)
    vehicle = load("remus100_mss", Vehicle)
    c = vehicle.hydrodynamics.coefficients
    assert vehicle.inertia.mass == pytest.approx(mass, rel=1e-4)
    assert vehicle.inertia.moments[0] == pytest.approx(0.4 * mass * b**2, rel=1e-4)
    assert vehicle.inertia.moments[1] == pytest.approx(0.2 * mass * (a**2 + b**2), rel=1e-4)
    assert c["X_ud"] == pytest.approx(-k1 * water, rel=1e-4)
    assert c["Y_vd"] == c["Z_wd"] == pytest.approx(-k2 * water, rel=1e-4)
    added_pitch = spin * 0.2 * water * (a**2 + b**2)
    assert c["M_qd"] == pytest.approx(-added_pitch, rel=1e-4)
    total = vehicle.inertia.moments[1] + mass * 0.02**2 + added_pitch
    stiffness = mass * 9.81 * 0.02
    assert c["M_q"] == pytest.approx(-2 * 0.8 * math.sqrt(stiffness * total), rel=1e-3)
    assert c["Y_v"] == pytest.approx(-(mass + k2 * water) / 20, rel=1e-4)


def test_mss_remus_makes_two_and_a_half_metres_per_second_at_1525_rpm():
    vehicle = load("remus100_mss", Vehicle)
    propeller = vehicle.actuators[0].thrust
    hull = vehicle.actuators[3].lift
    n, d, rho = propeller.speed_limits[1], propeller.diameter, 1026.0
    drag = 0.5 * rho * hull.area * hull.zero_lift_drag
    factor = (1 - propeller.thrust_deduction) * rho * d**4
    kt0, slope = propeller.kt.line
    # drag u² = factor (kt0 n² + slope (1 − w) u n / d)
    linear = -factor * slope * (1 - propeller.wake) * n / d
    speed = (-linear + math.sqrt(linear**2 + 4 * drag * factor * kt0 * n**2)) / (2 * drag)
    assert speed == pytest.approx(2.5, rel=0.02)


def test_otter_follows_the_formulas_of_its_source():
    g, rho, length, beam, mass = 9.81, 1025.0, 2.0, 1.08, 55.0
    pontoon_beam, lever, waterplane, block = 0.25, 0.395, 0.75, 0.4
    volume = mass / rho
    draught = volume / (2 * block * pontoon_beam * length)
    area = waterplane * length * pontoon_beam
    fullness = 6 * waterplane**3 / ((1 + waterplane) * (1 + 2 * waterplane))
    inertia_t = 2 / 12 * length * pontoon_beam**3 * fullness + 2 * area * lever**2
    inertia_l = 0.8 * 2 / 12 * pontoon_beam * length**3
    kb = (5 * draught / 2 - 0.5 * volume / (length * pontoon_beam)) / 3
    gm_t = kb + inertia_t / volume - (draught + 0.2)
    gm_l = kb + inertia_l / volume - (draught + 0.2)
    moments = mass * np.array([(0.4 * beam) ** 2, 0.25, 0.25])
    added = np.array([2.7 * rho * volume ** (5 / 3) / length**2, 1.5 * mass, mass])
    added = np.concatenate([added, moments * [0.2, 0.8, 1.7]])
    about_origin = moments + mass * np.array([0.2**2, 2 * 0.2**2, 0.2**2])
    total = np.concatenate([np.full(3, mass), about_origin]) + added
    heave, roll, pitch = rho * g * 2 * area, mass * g * gm_t, mass * g * gm_l
    damping = [
        24.4 * g / (6 * 0.5144),
        total[1],
        0.6 * math.sqrt(heave * total[2]),
        0.4 * math.sqrt(roll * total[3]),
        0.8 * math.sqrt(pitch * total[4]),
        total[5],
    ]

    vehicle = load("otter", Vehicle)
    c = vehicle.hydrodynamics.coefficients
    assert draught == pytest.approx(0.134, abs=5e-4)
    assert vehicle.hydrodynamics.crossflow.draught == pytest.approx(draught, rel=1e-3)
    assert vehicle.buoyancy.transverse_metacentric_height == pytest.approx(gm_t, rel=1e-4)
    assert vehicle.buoyancy.longitudinal_metacentric_height == pytest.approx(gm_l, rel=1e-4)
    assert vehicle.buoyancy.waterplane_area == pytest.approx(2 * area)
    names = ["X_ud", "Y_vd", "Z_wd", "K_pd", "M_qd", "N_rd"]
    assert [-c[n] for n in names] == pytest.approx(added, rel=1e-4)
    assert [-c[n] for n in ("X_u", "Y_v", "Z_w", "K_p", "M_q", "N_r")] == pytest.approx(
        damping, rel=1e-4
    )
    assert c["N_r_ar"] == pytest.approx(10 * c["N_r"])


def test_otter_reaches_six_knots_with_its_bollard_pull():
    vehicle = load("otter", Vehicle)
    thrust = vehicle.actuators[0].thrust
    pull = 2 * thrust.ahead[2] * thrust.speed_limits[1] ** 2
    assert pull == pytest.approx(24.4 * 9.81, rel=2e-3)
    assert pull / -coefficients("otter")["X_u"] == pytest.approx(6 * 0.5144, rel=2e-3)
    back = 2 * thrust.astern[2] * thrust.speed_limits[0] ** 2
    assert back == pytest.approx(13.6 * 9.81, rel=2e-3)


def test_smarty_floats_upright_and_low():
    vehicle = load("smarty", Vehicle)
    figures = block_hydrostatics(vehicle)
    gm = figures.transverse_radius - figures.buoyancy_depth + vehicle.inertia.centre_of_gravity[2]
    assert gm == pytest.approx(0.032, abs=5e-4)
    assert vehicle.buoyancy.blocks[0].draught == pytest.approx(0.11, rel=0.08)
    rho, r = 1025.0, 0.16
    c = vehicle.hydrodynamics.coefficients
    assert c["Z_wd"] == pytest.approx(-4 / 3 * rho * r**3, rel=1e-3)
    assert c["K_pd"] == c["M_qd"] == pytest.approx(-8 / 45 * rho * r**5, rel=1e-3)
    assert c["X_u_au"] == pytest.approx(-0.5 * rho * 0.70 * 2 * r * 0.1019, rel=1e-3)
    assert c["Z_w_aw"] == pytest.approx(-0.5 * rho * 1.12 * math.pi * r**2, rel=1e-3)


def test_wamv_draught_comes_from_the_circle_segment_of_its_hull():
    vehicle = load("wamv", Vehicle)
    radius, length, mass = 0.213, 4.9, 180.0 + 2 * 15.0 + 2 * 0.5
    section = mass / 1025.0 / 2 / length
    low, high = 0.0, math.pi
    for _ in range(60):
        half = (low + high) / 2
        too_small = radius**2 * (half - math.sin(half) * math.cos(half)) < section
        low, high = (half, high) if too_small else (low, half)
    block = vehicle.buoyancy.blocks[0]
    assert vehicle.inertia.mass == mass
    assert block.beam == pytest.approx(2 * radius * math.sin(low), rel=1e-3)
    depth = radius * (1 - math.cos(low))
    assert vehicle.inertia.centre_of_gravity[2] == pytest.approx(
        depth - (30 * 0.318237 - 0.191134) / mass, abs=1e-3
    )
    assert vehicle.actuators[0].thrust.thrust_limits[1] == pytest.approx(
        (51.3 + 72.4 * 7.71667) * 7.71667 / 2, rel=1e-4
    )


@pytest.mark.parametrize(("name", "net"), [("bluerov2", 2.0), ("remus100", 7.0)])
def test_underwater_vehicle_is_as_buoyant_as_published(name, net):
    vehicle = load(name, Vehicle)
    surplus = vehicle.buoyancy.force - vehicle.inertia.mass * GRAVITY
    assert surplus == pytest.approx(net, abs=0.15)


def test_heavy_rov_cancels_the_pitching_moment_when_going_ahead():
    vehicle = load("bluerov2_heavy", Vehicle)
    moment = np.zeros(3)
    for thruster in vehicle.actuators:
        direction = np.array(thruster.direction) / np.linalg.norm(thruster.direction)
        thrust = vehicle.manoeuvring.ahead.get(thruster.name, 0.0)
        moment += np.cross(thruster.position, thrust * direction)
    assert moment == pytest.approx(np.zeros(3), abs=0.01)


@pytest.mark.parametrize("name", ["smarty", "bluerov2", "bluerov2_heavy", "otter"])
def test_helm_to_starboard_turns_to_starboard_without_pushing_sideways(name):
    vehicle = load(name, Vehicle)
    force, moment = np.zeros(3), np.zeros(3)
    for thruster in vehicle.actuators:
        direction = np.array(thruster.direction) / np.linalg.norm(thruster.direction)
        orders = vehicle.manoeuvring.helm
        thrust = orders.get(thruster.name, orders.get(f"{thruster.name}_rpm", 0.0))
        force += thrust * direction
        moment += np.cross(thruster.position, thrust * direction)
    assert moment[2] > 0
    assert force[1] == pytest.approx(0.0, abs=1e-9)
