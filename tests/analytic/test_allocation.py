"""Allocation against closed forms, and through the physics that must make the wrench."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft
from seatrial.compile.autonomy.allocation import build_effectors, reference_speed
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.errors import SpecError
from seatrial.gnc.allocation import EffectorGroup, allocate, sectors
from seatrial.gnc.allocation.authority import DOFS, strength
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.vehicle import SurfaceBuoyancy, Vehicle

pytestmark = pytest.mark.usefixtures("x64")
DOUBLE = np.dtype(np.float64)
AGES = 1e9
"""A control period in which no rate limit matters, s."""
run = jax.jit(allocate)
X, Y, Z, K, M, N = range(6)


def prepared(spec, dtype=DOUBLE):
    vehicle = compile_vehicle(spec, craft.ocean_of(precision=dtype), dtype)
    return vehicle, build_effectors(vehicle, spec, dtype)


@functools.cache
def library(name):
    with jax.enable_x64(True):
        return prepared(load(name, Vehicle))


def column(dofs):
    """A demand (6, 1) by degree of freedom."""
    demand = np.zeros((6, 1))
    for dof, value in dofs.items():
        demand[dof] = value
    return demand


def ordered(effectors, demand, previous=None, *, flow=0.0, period=AGES, health=None):
    """Orders for one demand {dof: value}, and the wrench they make."""
    if previous is None:
        count = 1 + max(effectors.channels + getattr(effectors.azimuths, "channels", ()))
        previous = np.zeros(count)
    through = column({X: flow})
    given = None if health is None else np.asarray(health)[:, None]
    last = jnp.asarray(previous, effectors.low.dtype)[:, None]
    result = run(effectors, column(demand), through, last, period, given)
    return np.asarray(result.orders)[:, 0], np.asarray(result.wrench)[:, 0]


def thruster(name, position, direction=(1.0, 0.0, 0.0), limits=(-50.0, 100.0), **more):
    thrust = more.pop("thrust", {"model": "direct", "thrust_limits": list(limits)})
    return {
        "kind": "thruster",
        "name": name,
        "position": list(position),
        "direction": list(direction),
        "thrust": thrust,
    } | more


def boat(*thrusters):
    """A body deep under water, so that thrusters lose nothing at the surface."""
    return craft.vehicle(actuators=thrusters)


def quad(azimuth=None, limits=(-50.0, 100.0), **others):
    """Four azimuth thrusters at the corners, some with an azimuth drive of their own."""
    corners = {"fp": (1, -1), "fs": (1, 1), "bp": (-1, -1), "bs": (-1, 1)}
    return boat(
        *(
            thruster(name, (x, y, 0), limits=limits, azimuth=others.get(name, azimuth or {}))
            for name, (x, y) in corners.items()
        )
    )


def physics(vehicle, spec, orders, speed=0.0):
    """What the core makes of orders once the actuators have followed: wrench less that of zero."""
    surface = isinstance(spec.buoyancy, SurfaceBuoyancy)
    states = np.zeros((vehicle.actuator_states, 2))
    states[: len(orders), 0] = orders
    model = vehicle.model
    ocean = craft.ocean_of(water={"profile": "constant", "density": float(model.reference_density)})
    at = craft.state(model, velocity=np.zeros((6, 2)), actuators=states)
    at = dataclasses.replace(
        at,
        position=jnp.zeros((3, 2)).at[2].set(0.0 if surface else 100.0),
        attitude=jnp.zeros((4, 2)).at[0].set(1.0),
        velocity=jnp.zeros((6, 2)).at[0].set(speed),
    )
    loads = craft.wrench(model, ocean, at)
    return loads[:, 0] - loads[:, 1]


# What the allocation knows of a vehicle.


@pytest.mark.parametrize(
    ("name", "rank", "dofs"),
    [
        ("bluerov2", 5, ("surge", "sway", "heave", "roll", "yaw")),
        ("bluerov2_heavy", 6, ("surge", "sway", "heave", "roll", "pitch", "yaw")),
        ("mariner", 1, ("yaw",)),
        ("otter", 2, ("surge", "yaw")),
        ("remus100", 3, ("surge", "pitch", "yaw")),
        ("remus100_mss", 3, ("surge", "pitch", "yaw")),
        ("smarty", 3, ("surge", "sway", "yaw")),
        ("sookshma", 2, ("surge", "yaw")),
        ("wamv", 3, ("surge", "sway", "yaw")),
    ],
)
def test_controllable_degrees_of_freedom_are_those_the_layout_has(name, rank, dofs):
    vehicle, effectors = library(name)
    assert tuple(DOFS[d] for d in effectors.dofs) == dofs
    units = np.repeat([1.0, load(name, Vehicle).length], 3)[:, None]
    assert np.linalg.matrix_rank(strength(effectors, reference_speed(vehicle)) / units) == rank


def in_one_group(effectors, dofs):
    """All effectors for these degrees of freedom, whether they can be had independently or not."""
    turning = () if effectors.azimuths is None else effectors.azimuths.effectors
    fixed = tuple(i for i in range(len(effectors.names)) if i not in turning)
    return dataclasses.replace(
        effectors, groups=(EffectorGroup(dofs, fixed, tuple(range(len(turning)))),)
    )


def sample(effectors, share, speed=0.0):
    """Random demands of a share of what everything together makes, fins in a stream."""
    rng = np.random.default_rng(3)
    most = np.abs(strength(effectors, speed)).sum(axis=1)
    return [{d: share * most[d] * rng.uniform(-1, 1) for d in effectors.dofs} for _ in range(5)]


@pytest.mark.parametrize("name", library_names("vehicle"))
def test_the_physics_makes_the_demanded_wrench_of_the_orders_at_rest(name):
    vehicle, effectors = library(name)
    for wanted in sample(effectors, 0.05):  # at rest, nothing is asked of fins
        orders, promised = ordered(effectors, wanted)
        made = physics(vehicle, load(name, Vehicle), orders)
        assert made == pytest.approx(promised, abs=1e-9 * max(1.0, np.abs(promised).max()))
        if name == "remus100_x":  # only its fins could hold the roll that its propeller makes
            continue
        for dof in effectors.dofs:
            assert made[dof] == pytest.approx(wanted[dof], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "speed", "share", "tolerance"),
    [
        ("remus100", 1.5, 0.5, 1e-6),
        ("remus100_mss", 1.5, 0.2, 1e-6),
        ("sookshma", 0.5, 0.2, 1e-6),
        ("mariner", 7.7175, 0.02, 1e-3),  # the force has a part that is cubic in the angle
    ],
)
def test_the_physics_makes_the_demanded_wrench_of_fins_and_propeller_in_a_stream(
    name, speed, share, tolerance
):
    vehicle, effectors = library(name)
    spec = load(name, Vehicle)
    for wanted in sample(effectors, share, speed):
        orders, _ = ordered(effectors, wanted, flow=speed)
        made = physics(vehicle, spec, orders, speed)
        # The drag of fins that are put over is not the propeller's to make up for.
        straight = np.where(effectors.fin[:, 0], 0.0, orders)
        made[X] = physics(vehicle, spec, straight, speed)[X]
        for dof in effectors.dofs:
            assert made[dof] == pytest.approx(wanted[dof], rel=tolerance)


def test_fin_columns_are_the_coefficients_of_the_model():
    _, effectors = library("remus100")
    rudder = effectors.names.index("rudder")
    column = np.asarray(effectors.columns)[:, rudder]
    assert column[[Y, N]] == pytest.approx([9.64, -6.15])
    assert np.asarray(effectors.astern)[:, rudder] == pytest.approx(column)


def test_a_lifting_fin_works_the_other_way_in_a_stream_from_astern():
    fin = {
        "kind": "fin",
        "name": "rudder",
        "position": [-0.5, 0, 0],
        "angle_limit": 0.5,
        "lift": {"area": 0.1, "aspect_ratio": 2.0, "zero_lift_drag": 0.0},
    }
    vehicle, effectors = prepared(boat(fin))
    slope = 2 * math.pi * 2.0 / (2.0 + math.sqrt(8.0))
    assert float(effectors.columns[N, 0]) == pytest.approx(-0.5 * 0.5 * 1025.0 * 0.1 * slope)
    ahead, _ = ordered(effectors, {N: 3.0}, flow=1.0)
    astern, _ = ordered(effectors, {N: 3.0}, flow=-1.0)
    assert ahead[0] < 0 < astern[0]
    assert physics(vehicle, boat(fin), astern, -1.0)[N] == pytest.approx(3.0, rel=0.1)


def test_tanks_are_left_alone_unless_they_are_alone():
    tank = {
        "kind": "ballast",
        "name": "tank",
        "position": [0, 0, 0],
        "mass_limits": [-5, 5],
        "mass_rate_limit": 0.1,
    }
    _, both = prepared(boat(thruster("push", (0, 0, 0), (0, 0, 1)), tank))
    orders, _ = ordered(both, {Z: 10.0}, previous=[0.0, 2.5])
    assert orders == pytest.approx([10.0, 2.5])
    _, alone = prepared(boat(tank))
    orders, _ = ordered(alone, {Z: 9.80665}, previous=[0.0], period=20.0)
    assert orders == pytest.approx([1.0])
    orders, _ = ordered(alone, {Z: 9.80665}, previous=[0.0], period=1.0)
    assert orders == pytest.approx([0.1])


# The programme.


def test_differential_thrust_has_its_closed_form():
    _, effectors = prepared(boat(thruster("left", (-1, -0.4, 0)), thruster("right", (-1, 0.4, 0))))
    orders, made = ordered(effectors, {X: 40.0, N: 8.0})
    assert orders == pytest.approx([20.0 + 8.0 / 0.8, 20.0 - 8.0 / 0.8])
    assert made[[X, N]] == pytest.approx([40.0, 8.0])


def test_four_azimuth_thrusters_get_the_moore_penrose_solution():
    """The scheme of a surface vehicle with four thrusters that turn: min uᵀu with τ = B u."""
    _, effectors = prepared(quad())
    places = [(1, -1), (1, 1), (-1, -1), (-1, 1)]
    matrix = np.array(
        [[1, 0] * 4, [0, 1] * 4, [v for x, y in places for v in (-y, x)]], dtype=float
    )
    wanted = np.array([60.0, -35.0, 50.0])
    forces = np.linalg.pinv(matrix) @ wanted
    orders, made = ordered(effectors, {X: 60.0, Y: -35.0, N: 50.0})
    found = [
        part
        for thrust, angle in orders.reshape(4, 2)
        for part in (thrust * math.cos(angle), thrust * math.sin(angle))
    ]
    assert found == pytest.approx(forces)
    assert made[[X, Y, N]] == pytest.approx(wanted)


def test_an_infeasible_demand_is_shrunk():
    spec = boat(thruster("left", (0, -1, 0)), thruster("right", (0, 1, 0)))
    _, effectors = prepared(spec)
    _, shrunk = ordered(effectors, {X: 400.0, N: 0.0})
    assert shrunk[[X, N]] == pytest.approx([200.0, 0.0])
    _, shrunk = ordered(effectors, {X: 300.0, N: 100.0})
    assert shrunk[[X, N]] == pytest.approx([150.0, 50.0])


def test_one_thruster_does_what_it_can_of_two_degrees_of_freedom():
    spec = boat(thruster("oblique", (0, 0, 0), (1, 1, 0)))
    effectors = in_one_group(prepared(spec)[1], (X, Y))
    orders, made = ordered(effectors, {X: 20.0})
    assert orders == pytest.approx([10.0 * math.sqrt(2.0)])
    assert made[[X, Y]] == pytest.approx([10.0, 10.0])


def test_a_weak_rudder_does_not_take_the_thrust_away():
    _, effectors = library("remus100")
    orders, made = ordered(effectors, {X: 8.0, N: 5.0}, flow=0.2)
    assert made[X] == pytest.approx(8.0)
    assert orders[1] == pytest.approx(-math.radians(13.6))


def test_fins_are_amidships_in_still_water():
    _, effectors = library("sookshma")
    orders, made = ordered(effectors, {X: 2.0, N: 5.0}, previous=[0.0, 0.3])
    assert orders[1] == 0.0
    assert made[X] == pytest.approx(2.0)


def test_a_dead_thruster_is_replaced_by_the_others():
    _, effectors = library("bluerov2_heavy")
    health = np.ones(8)
    health[4] = 0.0
    wanted = {X: 30.0, Y: 5.0, Z: 20.0, K: 1.0, M: 0.5, N: 2.0}
    orders, made = ordered(effectors, wanted, health=health)
    assert orders[4] == 0.0
    assert made == pytest.approx([wanted[d] for d in range(6)])


def test_a_craft_that_lost_a_side_does_what_is_left_to_do():
    """One engine beside the axis cannot push without turning; what is missed is least."""
    _, effectors = prepared(boat(thruster("left", (0, -1, 0)), thruster("right", (0, 1, 0))))
    orders, made = ordered(effectors, {X: 50.0}, health=[1.0, 0.0])
    assert orders == pytest.approx([25.0, 0.0])
    assert made[[X, N]] == pytest.approx([25.0, 25.0])


def test_single_precision_orders_agree_with_double():
    spec = load("bluerov2", Vehicle)
    wanted = {X: 30.0, Y: -5.0, Z: 20.0, K: 0.5, N: 2.0}
    double, _ = ordered(library("bluerov2")[1], wanted)
    single, _ = ordered(prepared(spec, np.dtype(np.float32))[1], wanted)
    assert single.dtype == np.float32
    assert single == pytest.approx(double, rel=1e-5)


# Rates.


def test_orders_keep_to_their_rates_and_reach_the_demand():
    thrust = {"model": "direct", "thrust_limits": [-50.0, 100.0], "thrust_rate_limit": 20.0}
    spec = boat(
        thruster("left", (0, -1, 0), thrust=thrust), thruster("right", (0, 1, 0), thrust=thrust)
    )
    _, effectors = prepared(spec)
    last = np.zeros(2)
    for _ in range(40):
        orders, _ = ordered(effectors, {X: 120.0, N: 40.0}, previous=last, period=0.1)
        assert np.all(np.abs(orders - last) <= 2.0 + 1e-9)
        last = orders
    assert last == pytest.approx([80.0, 40.0])


def test_a_slow_thruster_is_covered_by_a_fast_one():
    slow = {"model": "direct", "thrust_limits": [-50.0, 100.0], "thrust_rate_limit": 1.0}
    _, effectors = prepared(
        boat(thruster("slow", (0, 0, 0), thrust=slow), thruster("fast", (0, 0, 0)))
    )
    orders, made = ordered(effectors, {X: 40.0}, period=1.0)
    assert orders == pytest.approx([1.0, 39.0])
    assert made[X] == pytest.approx(40.0)


# Azimuth thrusters.


def test_the_angle_stays_when_next_to_no_force_is_wanted():
    _, effectors = prepared(quad())
    last = np.array([20.0, 0.7] * 4)
    for tiny in (0.0, 1e-9, 0.1):
        orders, made = ordered(effectors, {Y: tiny}, previous=last)
        assert orders[1::2] == pytest.approx([0.7] * 4)
        assert np.abs(made).max() < 0.5
    orders, _ = ordered(effectors, {Y: 40.0}, previous=last)
    assert orders[1::2] == pytest.approx([math.pi / 2] * 4)


def test_thrust_is_reversed_where_that_turns_less():
    _, effectors = prepared(quad())
    orders, made = ordered(effectors, {X: -40.0}, previous=np.array([10.0, 0.1] * 4))
    assert orders == pytest.approx([-10.0, 0.0] * 4)
    orders, made = ordered(effectors, {X: -320.0}, previous=np.array([10.0, 0.1] * 4))
    assert np.abs(orders[1::2]) == pytest.approx([math.pi] * 4)  # astern they make 200 N in all
    assert made[X] == pytest.approx(-320.0)


def test_thrusters_turn_no_faster_than_they_can_and_push_meanwhile():
    _, effectors = prepared(quad(azimuth={"rate_limit": 0.5}, limits=(0.0, 100.0)))
    last = np.array([25.0, 0.0] * 4)
    pushed = []
    for _ in range(45):
        orders, made = ordered(effectors, {Y: 100.0}, previous=last, period=0.1)
        assert np.all(np.abs(orders[1::2] - last[1::2]) <= 0.05 + 1e-9)
        assert np.all(orders[::2] >= -1e-9)
        pushed.append(made[Y])
        last = orders
    assert np.all(np.diff(pushed) > -1e-6)
    assert made[[X, Y, N]] == pytest.approx([0.0, 100.0, 0.0], abs=1e-6)


@pytest.mark.parametrize("limit", [0.5, 1.2, 2.0, 2.8])
@pytest.mark.parametrize("low", [0.0, -50.0])
def test_angles_keep_to_their_sector_and_make_as_much_as_any_do(limit, low):
    """One thruster in surge and sway: every direction against the best of all angles and thrusts.

    The polygon inside the circle may lose 1 − cos(7.5°) = 0.9 % of the thrust. A sector wider than
    half a circle is not convex, nor is the set that thrust astern adds.
    """
    spec = boat(thruster("pod", (0, 0, 0), limits=(low, 100.0), azimuth={"angle_limit": limit}))
    effectors = in_one_group(prepared(spec)[1], (X, Y))
    for direction in np.linspace(-math.pi, math.pi, 25):
        c, s = math.cos(direction), math.sin(direction)
        orders, made = ordered(effectors, {X: 300.0 * c, Y: 300.0 * s})
        assert abs(orders[1]) <= limit + 1e-9
        assert low - 1e-9 <= orders[0] <= 100.0 + 1e-9
        assert abs(made[X] * s - made[Y] * c) < 1e-4
        ahead, astern = abs(direction) <= limit, math.pi - abs(direction) <= limit
        best = max(100.0 * ahead, -low * astern)
        assert 0.991 * best - 1e-6 <= made[X] * c + made[Y] * s <= best + 1e-6


def test_nothing_is_pushed_into_a_forbidden_zone():
    zone = (math.radians(60), math.radians(120))
    plain, shy = ({"rate_limit": 0.5}, {"rate_limit": 0.5, "forbidden_deg": [[60.0, 120.0]]})
    spec = quad(azimuth=plain, limits=(0.0, 100.0), fp=shy)
    _, effectors = prepared(spec)
    last = np.array([25.0, 0.0] * 4)
    crossed = False
    for i in range(120):
        wanted = {Y: 100.0} if i < 40 else {X: -150.0}
        orders, made = ordered(effectors, wanted, previous=last, period=0.1)
        inside = zone[0] + 1e-5 < orders[1] < zone[1] - 1e-5
        crossed = crossed or inside
        assert not inside or orders[0] == pytest.approx(0.0, abs=1e-9)
        last = orders
        if i == 39:
            assert made[[X, Y, N]] == pytest.approx([0.0, 100.0, 0.0], abs=1e-6)
    assert crossed
    assert made[[X, Y, N]] == pytest.approx([-150.0, 0.0, 0.0], abs=1e-6)


def test_the_pieces_of_a_sector_cover_it_and_nothing_else():
    zones = [(math.radians(60), math.radians(100)), (math.radians(170), math.radians(190))]
    angles = sectors.allowed_angles(math.pi, zones)
    assert np.degrees(angles) == pytest.approx(np.array([[-170, 60], [100, 170]]))
    pieces = sectors.pieces(math.pi, zones, reversible=False)
    for degrees in np.arange(-179.5, 180.0):
        radians = math.radians(degrees)
        point = 0.99 * np.array([math.cos(radians), math.sin(radians)])
        allowed = any(a <= radians <= b for a, b in angles)
        covered = any(np.all(p.normals @ point <= p.reach) for p in pieces)
        assert covered == allowed


# Thrust curves.


CUBIC = {
    "model": "polynomial",
    "ahead": [0.0, 0.5, 0.4, 0.01],
    "astern": [0.0, 0.2, 0.3],
    "speed_limits": [-20.0, 30.0],
}
LINE = {
    "model": "open_water",
    "diameter": 0.3,
    "kt": {"line": [0.4, -0.45]},
    "wake": 0.1,
    "thrust_deduction": 0.15,
    "astern_factor": 0.7,
    "speed_limits": [-20.0, 30.0],
}
CURVED = LINE | {
    "kt": {"table": [[-0.2, 0.42], [0.0, 0.4], [0.4, 0.3], [0.8, 0.1], [1.0, -0.05], [1.4, -0.2]]}
}


@pytest.mark.parametrize("thrust", [CUBIC, LINE, CURVED], ids=["polynomial", "line", "table"])
@pytest.mark.parametrize("speed", [0.0, 1.5, 4.0, -1.0])
def test_shaft_speeds_give_the_thrust_that_was_asked_for(thrust, speed):
    spec = boat(thruster("screw", (0, 0, 0), thrust=thrust))
    vehicle, effectors = prepared(spec)
    high = physics(vehicle, spec, [30.0], speed)[X]
    low = physics(vehicle, spec, [-20.0], speed)[X]
    for wanted in [*np.linspace(0.99 * low, 0.99 * high, 23), -0.01, 0.01, -1.0, 1.0]:
        orders, promised = ordered(effectors, {X: wanted}, flow=speed)
        made = physics(vehicle, spec, orders, speed)[X]
        assert made == pytest.approx(wanted, rel=1e-6, abs=1e-6)
        assert promised[X] == pytest.approx(made, rel=1e-9, abs=1e-9)
    orders, promised = ordered(effectors, {X: 2.0 * high}, flow=speed)
    assert orders == pytest.approx([30.0])
    assert promised[X] == pytest.approx(high)


def test_a_demand_in_the_dead_band_becomes_nothing_or_its_edge():
    banded = CUBIC | {"ahead": [0.0, 0.0, 0.5], "dead_band": 2.0}
    spec = boat(thruster("screw", (0, 0, 0), thrust=banded))
    vehicle, effectors = prepared(spec)
    for wanted, expected in ((0.9, 0.0), (1.1, 2.0), (1.9, 2.0), (8.0, 4.0), (0.0, 0.0)):
        orders, promised = ordered(effectors, {X: wanted})
        assert orders == pytest.approx([expected])
        assert promised[X] == pytest.approx(physics(vehicle, spec, orders)[X])


# What cannot be built is refused.


def test_zones_that_leave_no_angle_are_refused():
    with pytest.raises(SpecError, match="forbidden zones of `fp`"):
        prepared(quad(fp={"forbidden": [[-4.0, 4.0]]}))


def test_a_zone_that_ends_before_it_begins_is_refused():
    with pytest.raises(ValueError, match="from < to"):
        quad(fp={"forbidden_deg": [[170.0, -170.0]]})


def test_an_azimuth_thruster_that_pushes_down_is_refused():
    with pytest.raises(SpecError, match="out of the plane"):
        prepared(boat(thruster("pod", (0, 0, 0), (1, 0, 1), azimuth={})))


def test_a_vehicle_without_actuators_is_refused():
    with pytest.raises(SpecError, match="no actuators"):
        prepared(boat())
