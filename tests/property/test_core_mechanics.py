"""Algebra that must hold for every body and every motion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import craft
from sampling import sampled
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.rigid_body import coriolis, rigid_body_matrix
from seatrial.spatial.vectors import Twist
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.vehicle import SurfaceBuoyancy, Vehicle

FULL = tuple((True,) * 6 for _ in range(6))
seeds = st.integers(0, 2**32 - 1)


def coriolis_force(matrix, nu):
    with jax.enable_x64(True):
        return np.array([float(c) for c in coriolis(jnp.asarray(matrix), FULL, Twist(*nu))])


def random_mass_matrix(rng):
    root = rng.normal(size=(6, 6))
    return root @ root.T + 0.1 * np.eye(6)


@settings(max_examples=40)
@given(seeds)
def test_coriolis_forces_do_no_work(seed):
    rng = np.random.default_rng(seed)
    matrix, nu = random_mass_matrix(rng), rng.normal(size=6) * 3
    force = coriolis_force(matrix, nu)
    assert abs(nu @ force) <= 1e-13 * np.linalg.norm(nu) * np.linalg.norm(force) + 1e-13


@settings(max_examples=40)
@given(seeds)
def test_coriolis_force_is_fossens_matrix_times_velocity(seed):
    # Fossen (2021) theorem 3.2, the 6 × 6 matrix in blocks of S(·).
    rng = np.random.default_rng(seed)
    m, nu = random_mass_matrix(rng), rng.normal(size=6)
    linear = craft.skew(m[:3, :3] @ nu[:3] + m[:3, 3:] @ nu[3:])
    angular = craft.skew(m[3:, :3] @ nu[:3] + m[3:, 3:] @ nu[3:])
    matrix = np.block([[np.zeros((3, 3)), -linear], [-linear, -angular]])
    assert coriolis_force(m, nu) == pytest.approx(matrix @ nu, abs=1e-12)


@settings(max_examples=40)
@given(seeds)
def test_rigid_body_coriolis_is_newtons_law_for_the_centre_of_gravity(seed):
    # Force m (ω × v + ω × (ω × r)); moment about the origin r × that force plus ω × I ω.
    rng = np.random.default_rng(seed)
    mass, r = rng.uniform(1, 50), rng.normal(size=3)
    root = rng.normal(size=(3, 3))
    tensor = root @ root.T
    nu = rng.normal(size=6)
    v, w = nu[:3], nu[3:]
    force = mass * (np.cross(w, v) + np.cross(w, np.cross(w, r)))
    moment = np.cross(r, force) + np.cross(w, tensor @ w)
    found = coriolis_force(rigid_body_matrix(mass, r, tensor), nu)
    assert found == pytest.approx(np.concatenate([force, moment]), abs=1e-10)


@pytest.mark.parametrize("sea", [{}, {"waves": {"spectrum": "sea_state", "code": 4}}])
@pytest.mark.parametrize(
    "name", sampled(library_names("vehicle"), "mariner", "otter", "remus100", "bluerov2")
)
def test_uniform_current_changes_nothing_in_the_frame_of_the_water(name, sea):
    """ν̇ − (−ω × v_f) in the current is ν̇ of the relative velocity in water without it, for any
    state: the current carries the waves along too, a long way after twenty minutes.
    """
    described = load(name, Vehicle)
    ocean = craft.ocean_of(current={"speed": 1.3, "towards": 0.8}, **sea)
    without = craft.ocean_of(**sea)
    t = 1200.0
    rng = np.random.default_rng(11)
    n = 50
    surface = isinstance(described.buoyancy, SurfaceBuoyancy)
    tilt = 0.3 if surface else 1.2
    euler = rng.uniform(-1, 1, (3, n)) * np.array([tilt, tilt, np.pi])[:, None]
    position = rng.normal(size=(3, n)) * [[50], [50], [0.02]] + [[0], [0], [0 if surface else 40]]
    relative = rng.normal(size=(6, n)) * np.array([2, 0.5, 0.3, 0.3, 0.3, 0.5])[:, None]
    relative[0] = np.abs(relative[0]) + 0.2
    flow_world = 1.3 * np.array([np.cos(0.8), np.sin(0.8), 0.0])
    flow = np.stack([craft.euler_matrix(*e).T @ flow_world for e in euler.T], axis=1)

    with jax.enable_x64(True):
        drifting = compile_vehicle(described, ocean, np.dtype(float)).model
        still = compile_vehicle(described, without, np.dtype(float)).model
    channels = rng.uniform(-0.2, 0.4, (drifting.channels, n))
    over_ground = relative + np.vstack([flow, np.zeros_like(flow)])
    carried = position + t * flow_world[:, None]
    found = craft.acceleration(
        drifting, ocean, craft.state(drifting, carried, euler, over_ground, channels), t
    )
    expected = craft.acceleration(
        still, without, craft.state(still, position, euler, relative, channels), t
    )
    expected[:3] -= np.cross(relative[3:], flow, axis=0)
    size = np.abs(expected).max(axis=1, keepdims=True) + 1e-3
    assert np.abs((found - expected) / size).max() < (
        1e-7 if sea else 1e-10
    )  # the table of wave forces is in single precision
