"""Restoring forces of a submerged body for any attitude and any centres."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import craft


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_submerged_restoring_is_fossens_g_of_eta(seed):
    """Panisim's eq. 2.20, after Fossen: six formulas in Euler angles, weight W, buoyancy B."""
    rng = np.random.default_rng(seed)
    mass, volume = rng.uniform(50, 150), rng.uniform(0.05, 0.15)
    xg, yg, zg = rng.uniform(-0.3, 0.3, 3)
    xb, yb, zb = rng.uniform(-0.3, 0.3, 3)
    model = craft.compiled(
        craft.vehicle(
            inertia={"mass": mass, "centre_of_gravity": [xg, yg, zg], "moments": [4.0, 5.0, 6.0]},
            buoyancy={"craft": "submerged", "volume": volume, "centre": [xb, yb, zb]},
        )
    )
    n = 20
    roll, pitch, yaw = rng.uniform(-1, 1, (3, n)) * [[math.pi], [1.5], [math.pi]]
    found = craft.wrench(
        model,
        craft.calm(),
        craft.state(model, np.full((3, n), 30.0), (roll, pitch, yaw), np.zeros((6, n))),
    )
    W, B = mass * craft.G, craft.RHO * volume * craft.G
    sf, cf, st_, ct = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
    g = np.stack(
        [
            (W - B) * st_,
            -(W - B) * ct * sf,
            -(W - B) * ct * cf,
            -(yg * W - yb * B) * ct * cf + (zg * W - zb * B) * ct * sf,
            (zg * W - zb * B) * st_ + (xg * W - xb * B) * ct * cf,
            -(xg * W - xb * B) * ct * sf - (yg * W - yb * B) * st_,
        ]
    )
    assert np.abs(found + g).max() < 1e-10 * (W + B)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_restoring_force_of_a_floating_body_has_no_horizontal_part(seed):
    """Weight and hydrostatic lift are vertical at any attitude."""
    rng = np.random.default_rng(seed)
    model = craft.compiled(craft.barge())
    roll, pitch, yaw = rng.uniform(-1, 1, 3) * [0.6, 0.6, 3.0]
    at = craft.state(model, (0, 0, rng.uniform(-0.3, 0.3)), (roll, pitch, yaw))
    world = craft.euler_matrix(roll, pitch, yaw) @ craft.wrench(model, craft.calm(), at)[:3]
    assert np.abs(world[:2]).max() < 1e-9 * craft.RHO * 4.0 * craft.G


@pytest.mark.parametrize("pitch", np.linspace(-1.4, 1.4, 5))
def test_slices_share_the_buoyancy_without_trimming_a_body_under_water(pitch):
    model = craft.compiled(craft.torpedo())
    at = craft.state(model, (0, 0, 10.0), (0.0, pitch, 0.3))
    weight, lever = craft.RHO * 0.07 * craft.G, 0.03
    moment = craft.wrench(model, craft.calm(), at)[4]
    assert moment == pytest.approx(-weight * lever * math.sin(pitch), abs=1e-9)
