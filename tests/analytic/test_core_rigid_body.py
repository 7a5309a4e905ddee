"""Inertia and Coriolis forces against closed solutions and against a cloud of point masses."""

import math

import numpy as np
import pytest
from scipy.special import ellipj

import craft

MOMENTS = np.array([2.0, 3.0, 4.5])


def free_body(products=(0.0, 0.0, 0.0)):
    return craft.vehicle(
        inertia={"mass": craft.RHO * 0.1, "moments": list(MOMENTS), "products": list(products)},
        buoyancy={"craft": "submerged", "volume": 0.1},
    )


def spin(model, rate, seconds, dt, velocity=(0.0, 0.0, 0.0), every=1):
    first = craft.state(model, position=(0, 0, 100), velocity=(*velocity, *rate))
    return craft.simulate(model, craft.calm(), first, seconds, dt, every=every)


def test_torque_free_rotation_follows_the_elliptic_functions_of_euler():
    # Landau and Lifshitz, Mechanics, section 37: ω = (a cn, b sn, c dn) for L² > 2 E I₂.
    rate = np.array([1.2, 0.0, 0.9])
    I1, I2, I3 = MOMENTS
    twice_energy = float(MOMENTS @ rate**2)
    momentum2 = float(MOMENTS**2 @ rate**2)
    assert momentum2 > twice_energy * I2
    fast = math.sqrt((I3 - I2) * (momentum2 - twice_energy * I1) / (I1 * I2 * I3))
    modulus = (I2 - I1) * (twice_energy * I3 - momentum2)
    modulus /= (I3 - I2) * (momentum2 - twice_energy * I1)

    time, _, _, velocity, _ = spin(craft.compiled(free_body()), rate, 20.0, 0.01, every=20)
    sn, cn, dn, _ = ellipj(fast * time, modulus)
    middle = math.sqrt((twice_energy * I3 - momentum2) / (I2 * (I3 - I2)))
    exact = np.stack([rate[0] * cn, middle * sn, rate[2] * dn], axis=1)
    assert np.abs(velocity[:, 3:] - exact).max() < 2e-8  # order 4: (0.01 ω)⁴ over 20 s


def test_torque_free_tumbling_keeps_energy_and_world_angular_momentum_to_fourth_order():
    # Spin about the middle axis: the body flips over and over (Dzhanibekov).
    products = (0.1, -0.2, 0.15)
    model = craft.compiled(free_body(products))
    tensor = np.diag(MOMENTS) - np.array([[0, 0.1, -0.2], [0.1, 0, 0.15], [-0.2, 0.15, 0]])
    drift = []
    for dt in (0.04, 0.02):
        _, _, attitude, velocity, _ = spin(model, (0.02, 2.0, 0.02), 40.0, dt, (0.3, 0.1, -0.2))
        energy = np.einsum("ti,ij,tj->t", velocity[:, 3:], tensor, velocity[:, 3:]) / 2
        momentum = np.array(
            [
                craft.rotation_matrix(q) @ tensor @ w
                for q, w in zip(attitude[::50], velocity[::50, 3:], strict=True)
            ]
        )
        assert velocity[:, 4].min() < -1.5  # it did flip
        drift.append(
            (
                np.abs(energy / energy[0] - 1).max(),
                np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0]),
            )
        )
    coarse, fine = np.array(drift)
    assert (fine < 1e-6).all()
    assert (coarse / fine > 14).all(), "halving the step divides the drift by 2⁴ or more"


def test_free_body_moves_straight_on_while_it_tumbles():
    model = craft.compiled(free_body())
    velocity = (0.3, 0.1, -0.2)
    time, position, *_ = spin(model, (0.02, 2.0, 0.02), 10.0, 0.01, velocity)
    straight = np.array([0, 0, 100]) + time[:, None] * np.array(velocity)
    assert np.abs(position - straight).max() < 1e-7


def cloud_of_masses(rng, offset):
    points = rng.normal(size=(40, 3)) * [0.6, 0.3, 0.2] + offset
    masses = rng.uniform(0.5, 3.0, 40)
    return points, masses


def body_of_cloud(points, masses, **parts):
    """Describe the cloud as a vehicle, neutrally buoyant at its centre of gravity."""
    mass = masses.sum()
    centre = masses @ points / mass
    r = points - centre
    second = np.einsum("n,ni,nj->ij", masses, r, r)
    moments = np.trace(second) - np.diag(second)
    return craft.vehicle(
        inertia={
            "mass": mass,
            "centre_of_gravity": list(centre),
            "moments": list(moments),
            "products": [second[0, 1], second[0, 2], second[1, 2]],
        },
        buoyancy={"craft": "submerged", "volume": mass / craft.RHO, "centre": list(centre)},
        **parts,
    )


def test_mass_and_coriolis_matrices_are_those_of_a_cloud_of_point_masses():
    # Newton for every mass: a = v̇ + ω̇ × r + ω × v + ω × (ω × r); no matrix is involved.
    rng = np.random.default_rng(3)
    for _ in range(5):
        points, masses = cloud_of_masses(rng, rng.normal(size=3))
        model = craft.compiled(body_of_cloud(points, masses))
        nu = rng.normal(size=6)
        rate = craft.acceleration(
            model, craft.calm(), craft.state(model, position=(0, 0, 50), velocity=nu)
        )
        v, w = nu[:3], nu[3:]
        accelerations = (
            rate[:3]
            + np.cross(rate[3:], points)
            + np.cross(w, v)
            + np.cross(w, np.cross(w, points))
        )
        forces = masses[:, None] * accelerations
        assert forces.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-10)
        assert np.cross(points, forces).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-10)


def moved_matrix(matrix, r):
    """A 6 × 6 matrix about a point that lies at `r` from the old origin: H⁻ᵀ M H⁻¹."""
    h = np.block([[np.eye(3), -craft.skew(r)], [np.zeros((3, 3)), np.eye(3)]])
    inverse = np.linalg.inv(h)
    return inverse.T @ matrix @ inverse


def by_name(added, damping):
    names = {}
    for i, force in enumerate(craft.FORCES):
        for j, letter in enumerate(craft.DOF):
            names[f"{force}_{letter}d"] = -added[i, j]
            names[f"{force}_{letter}"] = -damping[i, j]
    return names


def test_motion_does_not_depend_on_the_origin_of_the_description():
    rng = np.random.default_rng(8)
    points, masses = cloud_of_masses(rng, np.zeros(3))
    root = rng.normal(size=(6, 6))
    added = root @ root.T * 2.0 + np.diag([5, 30, 30, 1, 8, 8])
    root = rng.normal(size=(6, 6))
    damping = root @ root.T + np.diag([2, 20, 20, 1, 5, 5])
    shift = np.array([0.4, -0.2, 0.3])
    thrust = {"model": "direct", "thrust_limits": [-50.0, 50.0]}
    current = craft.ocean_of(current={"speed": 0.4, "towards": 1.0})

    def track(r):
        screw = {
            "kind": "thruster",
            "name": "screw",
            "position": list(np.array([-0.6, 0.1, 0.05]) - r),
            "direction": [1.0, 0.1, -0.2],
            "thrust": thrust,
        }
        coefficients = by_name(moved_matrix(added, r), moved_matrix(damping, r))
        model = craft.compiled(
            body_of_cloud(
                points - r,
                masses,
                hydrodynamics={"coefficients": coefficients},
                actuators=[screw],
            ),
            current,
        )
        turn = np.array([0.1, -0.2, 0.5])
        attitude = craft.euler_matrix(0.2, -0.3, 0.7)
        v = np.array([0.5, 0.2, -0.1]) + np.cross(turn, r)
        first = craft.state(
            model,
            position=np.array([0, 0, 50]) + attitude @ r,
            euler=(0.2, -0.3, 0.7),
            velocity=(*v, *turn),
        )
        _, position, attitude, velocity, _ = craft.simulate(
            model, current, first, 20.0, 0.01, command=[20.0], every=100
        )
        back = np.array([craft.rotation_matrix(q) @ r for q in attitude])
        return position - back, attitude, velocity[:, 3:]

    one, other = track(np.zeros(3)), track(shift)
    assert np.linalg.norm(one[0][-1] - one[0][0]) > 3.0
    assert np.abs(one[1] - other[1]).max() < 1e-11  # the velocities are a linear map of each other
    assert np.abs(one[2] - other[2]).max() < 1e-11
    assert np.abs(one[0] - other[0]).max() < 1e-8  # RK4 on the position: order 4 only


def hull_with_added_mass(a11=5.0, a22=60.0, a33=90.0):
    return craft.compiled(
        craft.vehicle(hydrodynamics={"coefficients": craft.added(a11, a22, a33, 1.0, 8.0, 9.0)})
    )


@pytest.mark.parametrize(("u", "v", "w"), [(1.5, 0.2, 0.0), (2.0, -0.3, 0.0), (1.0, 0.4, 0.3)])
def test_munk_moment_is_the_difference_of_added_masses_times_drift(u, v, w):
    model = hull_with_added_mass()
    load = craft.wrench(
        model, craft.calm(), craft.state(model, position=(0, 0, 50), velocity=(u, v, w, 0, 0, 0))
    )
    assert load[:3] == pytest.approx(np.zeros(3), abs=1e-9)  # d'Alembert: no force
    assert load[3] == pytest.approx(-(90.0 - 60.0) * v * w, abs=1e-12)
    assert load[4] == pytest.approx(-(5.0 - 90.0) * u * w, abs=1e-12)
    assert load[5] == pytest.approx(-(60.0 - 5.0) * u * v, abs=1e-12)


def test_munk_moment_turns_a_slender_body_broadside():
    model = hull_with_added_mass()
    for drift in (0.05, -0.05):  # nose to port of the course, then to starboard
        first = craft.state(
            model,
            position=(0, 0, 50),
            velocity=(math.cos(drift), math.sin(drift), 0, 0, 0, 0),
        )
        rate = craft.acceleration(model, craft.calm(), first)
        # The course lies at angle atan(v/u) from the nose; turning away from it is dr/dt < 0.
        assert rate[5] * drift < 0
    straight = craft.state(model, position=(0, 0, 50), velocity=(1.0, 0, 0, 0, 0, 0))
    assert craft.acceleration(model, craft.calm(), straight) == pytest.approx(
        np.zeros(6), abs=1e-12
    )


def test_body_in_perfect_fluid_keeps_its_energy_and_total_impulse():
    # Kirchhoff's equations conserve ½ νᵀ(M_RB + M_A)ν and the impulse seen from the world.
    model = hull_with_added_mass()
    first = craft.state(model, position=(0, 0, 500), velocity=(1.0, 0.3, 0.1, 0.4, 0.2, 0.3))
    _, _, attitude, velocity, _ = craft.simulate(model, craft.calm(), first, 20.0, 0.01, every=50)
    mass = np.asarray(model.inertia.rigid_body) + np.asarray(model.inertia.added_mass)
    energy = np.einsum("ti,ij,tj->t", velocity, mass, velocity) / 2
    impulse = np.array(
        [
            craft.rotation_matrix(q) @ (mass @ nu)[:3]
            for q, nu in zip(attitude, velocity, strict=True)
        ]
    )
    assert np.abs(energy / energy[0] - 1).max() < 1e-8
    assert np.abs(impulse - impulse[0]).max() / np.linalg.norm(impulse[0]) < 1e-8
