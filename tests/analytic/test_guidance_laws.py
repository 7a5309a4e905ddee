"""Guidance laws on a vehicle that does at once what it is told, against closed solutions."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.gnc.guidance.laws import (
    AdaptiveLineOfSight,
    IntegralLineOfSight,
    LineOfSight,
    LineOfSight3D,
    PurePursuit,
)
from seatrial.gnc.guidance.speed import braking_speed
from seatrial.gnc.guidance.track import track_errors
from seatrial.gnc.types import Estimate

pytestmark = pytest.mark.usefixtures("x64")

SPEED, LOOKAHEAD = 2.0, 8.0
CRAB = math.asin(0.5 / SPEED)
"""What a current of 0.5 m/s across the path asks for."""


def estimate(position):
    n = position.shape[1]
    level = jnp.zeros((4, n)).at[0].set(1.0)
    return Estimate(position, level, jnp.zeros((6, n)), jnp.zeros((3, n)))


def column(*values):
    return jnp.asarray(values, float)[:, None]


def sail(law, position, start, end, seconds, drift=(0.0, 0.0, 0.0), attack=0.0, dt=0.02):
    """Follow a leg with the heading, course and pitch asked for; positions (T, 3, N)."""
    drift = column(*drift)

    def body(carry, _):
        memory, place = carry
        memory, asked, errors = law.guide(memory, estimate(place), start, end, SPEED, dt)
        by_course = jnp.isnan(asked.heading)
        angle = jnp.where(by_course, asked.course, asked.heading)
        climb = jnp.where(jnp.isnan(asked.pitch), 0.0, asked.pitch) - attack
        way = jnp.stack(
            [jnp.cos(climb) * jnp.cos(angle), jnp.cos(climb) * jnp.sin(angle), -jnp.sin(climb)]
        )
        moved = place + dt * (asked.velocity[0] * way + jnp.where(by_course, 0.0, drift))
        return (memory, moved), (errors, angle)

    n = position.shape[1]
    (memory, _), seen = jax.lax.scan(
        body, (law.begin(n), position), None, length=round(seconds / dt)
    )
    return memory, *seen


NORTH = (column(0.0, 0.0, 0.0), column(1e4, 0.0, 0.0))
"""A leg to the north."""


def test_cross_track_error_follows_the_closed_solution_of_line_of_sight():
    # w/y dy = −U dt with w = √(Δ² + y²), so F(y) = w − Δ asinh(Δ/y) falls by U t.
    law = LineOfSight(lookahead=jnp.asarray(LOOKAHEAD))
    _, errors, _ = sail(law, column(0.0, 40.0, 0.0), *NORTH, 30.0, dt=0.002)
    y = np.asarray(errors.cross)[:, 0]
    fallen = [np.hypot(LOOKAHEAD, v) - LOOKAHEAD * np.arcsinh(LOOKAHEAD / v) for v in (y[0], y[-1])]
    assert fallen[0] - fallen[1] == pytest.approx(SPEED * 30.0, rel=1e-3)


def test_near_the_leg_the_error_decays_with_speed_over_lookahead():
    law = LineOfSight(lookahead=jnp.asarray(LOOKAHEAD))
    _, errors, _ = sail(law, column(0.0, 0.01, 0.0), *NORTH, 12.0, dt=0.002)
    y = np.asarray(errors.cross)[:, 0]
    assert y[-1] / y[0] == pytest.approx(math.exp(-SPEED / LOOKAHEAD * 12.0), rel=2e-3)


def test_a_leg_is_joined_on_the_circle_that_the_vehicle_can_turn():
    ahead, radius = 4.0, 20.0
    law = LineOfSight(jnp.asarray(ahead), jnp.asarray(radius), leads=True)
    _, errors, angle = sail(law, column(0.0, 30.0, 0.0), *NORTH, 60.0, dt=0.002)
    y, off = np.asarray(errors.cross)[:, 0], -np.asarray(angle)[:, 0]
    assert off[0] == pytest.approx(math.pi / 2)
    turning = (off > math.asin(ahead / radius)) & (off < 1.57)
    # s = R ε along the circle; the vehicle goes U dt in each step.
    bend = -np.diff(off[turning]) / (SPEED * 0.002)
    np.testing.assert_allclose(bend, 1.0 / radius, rtol=2e-3)
    late = off < 0.9 * math.asin(ahead / radius)
    np.testing.assert_allclose(off[late], y[late] / ahead, atol=1e-9)
    assert abs(y[-1]) < 1e-2


def test_the_rate_of_the_course_is_that_of_the_angle_that_is_asked():
    law = LineOfSight(jnp.asarray(6.0), jnp.asarray(20.0), leads=True)
    moving = jnp.array([[SPEED], [-0.7], [0.0], [0.0], [0.0], [0.0]])
    for across in (1.0, -4.0, 15.0):
        angles, rates = [], []
        for step in (0.0, 1e-3):
            place = column(0.0, across, 0.0) + step * moving[:3]
            believed = Estimate(place, column(1.0, 0.0, 0.0, 0.0), moving, column(0.0, 0.0, 0.0))
            _, asked, _ = law.guide(law.begin(1), believed, *NORTH, jnp.array([SPEED]), 0.1)
            angles.append(float(asked.course[0]))
            rates.append(float(asked.yaw_rate[0]))
        assert (angles[1] - angles[0]) / 1e-3 == pytest.approx(rates[0], rel=2e-3)


def test_heading_by_plain_line_of_sight_leaves_the_offset_that_a_current_forces():
    law = LineOfSight(lookahead=jnp.asarray(LOOKAHEAD), steer="heading")
    _, errors, _ = sail(law, column(0.0, 0.0, 0.0), *NORTH, 120.0, drift=(0.0, 0.5, 0.0))
    assert errors.cross[-1, 0] == pytest.approx(LOOKAHEAD * math.tan(CRAB), rel=1e-6)


def test_course_by_line_of_sight_knows_no_current():
    law = LineOfSight(lookahead=jnp.asarray(LOOKAHEAD))
    _, errors, _ = sail(law, column(0.0, 5.0, 0.0), *NORTH, 120.0, drift=(0.0, 0.5, 0.0))
    assert abs(errors.cross[-1, 0]) < 1e-9


def test_integral_line_of_sight_removes_the_offset_and_finds_the_crab_angle():
    law = IntegralLineOfSight(lookahead=jnp.asarray(LOOKAHEAD), gain=jnp.asarray(0.8))
    memory, errors, angle = sail(law, column(0.0, 5.0, 0.0), *NORTH, 400.0, drift=(0.0, 0.5, 0.0))
    assert abs(errors.cross[-1, 0]) < 1e-4
    assert angle[-1, 0] == pytest.approx(-CRAB, abs=1e-5)
    assert 0.8 * memory[0, 0] / LOOKAHEAD == pytest.approx(math.tan(CRAB), abs=1e-5)


def test_integral_does_not_wind_up_on_a_long_way_to_the_leg():
    law = IntegralLineOfSight(lookahead=jnp.asarray(LOOKAHEAD), gain=jnp.asarray(0.8))
    memory, errors, _ = sail(law, column(0.0, 100.0 * LOOKAHEAD, 0.0), *NORTH, 410.0)
    # Far away ż < Δ/y and ẏ is nearly −U, so z grows as (Δ/U) ln(y₀/Δ); the error itself would
    # have added up to 1.6e5 m s.
    assert abs(errors.cross[-1, 0]) < LOOKAHEAD
    assert memory[0, 0] < LOOKAHEAD / SPEED * (1.0 + math.log(100.0))
    _, errors, _ = sail(law, column(0.0, 100.0 * LOOKAHEAD, 0.0), *NORTH, 600.0)
    assert np.asarray(errors.cross).min() > -LOOKAHEAD
    assert abs(errors.cross[-1, 0]) < 1e-6


def test_adaptive_line_of_sight_removes_the_offset_and_estimates_the_crab_angle():
    law = AdaptiveLineOfSight(
        lookahead=jnp.asarray(LOOKAHEAD), gain=jnp.asarray(0.01), limit=jnp.asarray(0.5)
    )
    memory, errors, _ = sail(law, column(0.0, 5.0, 0.0), *NORTH, 300.0, drift=(0.0, 0.5, 0.0))
    assert abs(errors.cross[-1, 0]) < 1e-5
    assert memory[0, 0] == pytest.approx(CRAB, abs=1e-5)


def test_estimate_of_the_crab_angle_stays_within_its_limit():
    law = AdaptiveLineOfSight(
        lookahead=jnp.asarray(LOOKAHEAD), gain=jnp.asarray(0.1), limit=jnp.asarray(0.2)
    )
    memory, *_ = sail(law, column(0.0, 500.0, 0.0), *NORTH, 60.0)
    assert memory[0, 0] == pytest.approx(0.2)


def test_pure_pursuit_runs_straight_to_the_end():
    start, end = column(0.0, 0.0, 0.0), column(30.0, 40.0, 0.0)
    law = PurePursuit()
    _, errors, angle = sail(law, column(0.0, 40.0, 0.0), start, end, 14.0)
    assert np.asarray(angle)[:, 0] == pytest.approx(0.0, abs=1e-9)
    # The end is 30 m ahead, and the leg's course is not the vehicle's.
    assert errors.remaining[-1, 0] == pytest.approx(0.6 * (30.0 - 13.98 * SPEED), abs=0.01)


SLANT = (column(0.0, 0.0, 10.0), column(4000.0, 3000.0, 1010.0))


def test_three_dimensional_line_of_sight_converges_in_both_planes():
    law = LineOfSight3D(
        lookahead=jnp.asarray(LOOKAHEAD),
        lookahead_vertical=jnp.asarray(5.0),
        pitch_limit=jnp.asarray(0.6),
    )
    _, errors, angle = sail(law, column(0.0, 6.0, 4.0), *SLANT, 200.0)
    assert abs(errors.cross[-1, 0]) < 1e-6
    assert abs(errors.vertical[-1, 0]) < 1e-6
    assert angle[-1, 0] == pytest.approx(math.atan2(3.0, 4.0))
    assert errors.slope[0, 0] == pytest.approx(-math.atan2(1000.0, 5000.0))
    # On the line the way along it grows with the speed.
    gone = np.diff(np.asarray(errors.along)[-500:, 0]).sum()
    assert gone == pytest.approx(SPEED * 499 * 0.02, rel=1e-6)


def test_angle_of_attack_leaves_an_offset_that_adaptation_removes():
    plain = LineOfSight3D(
        lookahead=jnp.asarray(LOOKAHEAD),
        lookahead_vertical=jnp.asarray(5.0),
        pitch_limit=jnp.asarray(0.6),
    )
    _, errors, _ = sail(plain, column(0.0, 0.0, 10.0), *SLANT, 200.0, attack=0.05)
    assert errors.vertical[-1, 0] == pytest.approx(5.0 * math.tan(0.05), rel=1e-4)
    adaptive = LineOfSight3D(
        lookahead=plain.lookahead,
        lookahead_vertical=plain.lookahead_vertical,
        pitch_limit=plain.pitch_limit,
        adaptation=jnp.asarray([0.01, 0.01]),
    )
    memory, errors, _ = sail(
        adaptive, column(0.0, 0.0, 10.0), *SLANT, 500.0, attack=0.05, drift=(0.15, -0.2, 0.0)
    )
    assert abs(errors.vertical[-1, 0]) < 1e-4
    assert abs(errors.cross[-1, 0]) < 1e-4
    assert memory[0, 0] < 0.0 < memory[1, 0]


def test_pitch_stays_within_its_limit():
    law = LineOfSight3D(
        lookahead=jnp.asarray(LOOKAHEAD),
        lookahead_vertical=jnp.asarray(5.0),
        pitch_limit=jnp.asarray(0.3),
    )
    _, asked, _ = law.guide(
        law.begin(1), estimate(column(0.0, 0.0, 500.0)), *SLANT, jnp.asarray(1.0), 0.1
    )
    assert asked.pitch[0] == pytest.approx(0.3)
    assert np.isnan(asked.depth[0])


def test_errors_are_the_position_in_the_axes_of_the_leg():
    start, end = column(2.0, -1.0, 3.0), column(5.0, 3.0, -9.0)
    position = column(4.0, 7.0, 2.0)
    found = track_errors(position, start, end, flat=False)
    ahead = np.array([3.0, 4.0, -12.0]) / 13.0
    starboard = np.array([-4.0, 3.0, 0.0]) / 5.0
    below = np.cross(ahead, starboard)
    away = np.array([2.0, 8.0, -1.0])
    assert found.along[0] == pytest.approx(away @ ahead)
    assert found.cross[0] == pytest.approx(away @ starboard)
    assert found.vertical[0] == pytest.approx(away @ below)
    assert found.remaining[0] == pytest.approx(13.0 - away @ ahead)
    assert found.slope[0] == pytest.approx(math.asin(12.0 / 13.0))


def test_leg_without_length_leads_from_the_vehicle_to_it():
    place = column(3.0, 4.0, 0.0)
    law = LineOfSight(lookahead=jnp.asarray(LOOKAHEAD))
    _, asked, errors = law.guide(
        law.begin(1), estimate(column(0.0, 0.0, 0.0)), place, place, jnp.asarray(1.0), 0.1
    )
    assert asked.course[0] == pytest.approx(math.atan2(4.0, 3.0))
    assert errors.cross[0] == 0.0
    assert errors.remaining[0] == pytest.approx(5.0)
    _, asked, _ = law.guide(law.begin(1), estimate(place), place, place, jnp.asarray(1.0), 0.1)
    assert np.isfinite(asked.course[0])


@pytest.mark.parametrize("off", [0.0, 0.4])
def test_a_leg_straight_down_asks_for_the_depth_of_its_end(off):
    law = LineOfSight(lookahead=jnp.asarray(LOOKAHEAD))
    start, end, place = column(1.0, 2.0, 3.0), column(1.0, 2.0, 9.0), column(1.0, 2.0 + off, 3.0)
    _, asked, _ = law.guide(law.begin(1), estimate(place), start, end, jnp.asarray(1.0), 0.1)
    assert asked.depth[0] == 9.0


def test_each_vehicle_of_a_batch_is_guided_as_it_would_be_alone():
    law = IntegralLineOfSight(
        lookahead=jnp.asarray([4.0, 8.0, 12.0]), gain=jnp.asarray([0.2, 0.5, 0.8])
    )
    position = jnp.asarray([[0.0, 3.0, -2.0], [5.0, -7.0, 1.0], [0.0, 0.0, 0.0]])
    end = jnp.asarray([[900.0, 0.0, -900.0], [0.0, 900.0, 500.0], [0.0, 0.0, 0.0]])
    start = jnp.zeros((3, 3))
    memory, _, angle = sail(law, position, start, end, 20.0)
    for i in range(3):
        own = IntegralLineOfSight(lookahead=law.lookahead[i : i + 1], gain=law.gain[i : i + 1])
        one = slice(i, i + 1)
        alone, _, turned = sail(own, position[:, one], start[:, one], end[:, one], 20.0)
        assert np.asarray(alone)[:, 0] == pytest.approx(np.asarray(memory)[:, i], abs=1e-12)
        assert np.asarray(turned)[:, 0] == pytest.approx(np.asarray(angle)[:, i], abs=1e-12)


def test_braking_speed_runs_down_to_the_final_speed_at_the_end():
    a, final = jnp.asarray(0.1), jnp.asarray(0.3)
    way = jnp.asarray((SPEED**2 - 0.09) / 0.2)  # (U² − U_f²) / 2a
    assert braking_speed(jnp.asarray(SPEED), way, a, final) == pytest.approx(SPEED)
    assert braking_speed(jnp.asarray(SPEED), 0.25 * way, a, final) == pytest.approx(
        math.sqrt(0.09 + 0.25 * (4.0 - 0.09))
    )
    assert braking_speed(jnp.asarray(SPEED), jnp.asarray(-1.0), a, final) == pytest.approx(0.3)
