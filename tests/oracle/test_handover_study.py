"""Section 2 of Zwilgmeyer's thesis (2021), reproduced by `seatrial study handover`."""

import json
import math

import numpy as np
import pytest

from seatrial.cli.measured.studies import show_study
from seatrial.validation.handover import course as handover


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    folder = tmp_path_factory.mktemp("handover")
    holds = show_study("handover", folder, as_json=False, sample=True)
    for name in ("step", "course", "corners"):
        assert (folder / f"handover-{name}.png").stat().st_size > 10_000
    table = (folder / "handover.md").read_text(encoding="utf-8")
    assert "| thesis (limit not printed) | ≈ 0.85 m | ≈ 0.95 m |" in table
    return json.loads((folder / "handover.json").read_text(encoding="utf-8")) | {"holds": holds}


def test_claims_of_the_thesis_hold(document):
    assert document["holds"]
    assert len(document["claims"]) == 7


def test_vehicle_has_the_printed_poles():
    # 6 π ζ r / (2/5 m r²) in the three forms of eqs. 2.5 to 2.7, with r², r and 1 above.
    drag = 6.0 * math.pi * handover.VISCOSITY * handover.RADIUS
    for power in (0, 1, 2):
        pole = -drag * handover.RADIUS**power / handover.INERTIA
        assert pole == pytest.approx(handover.POLE_ROTATION, abs=5e-6)
    poles = np.sort(np.linalg.eigvals(handover.system()[0]).real)
    assert poles[:6] == pytest.approx([-0.07854] * 3 + [-0.00358] * 3)
    assert poles[6:] == pytest.approx(0.0)


def test_step_settles_as_the_second_order_system_that_the_slow_poles_make(document):
    # Below the input poles the loop is λ² m s² + (λ² d + k₂) s + k₁ with k₁ = √(q₁/r).
    k1 = math.sqrt(100.0 / 0.005)
    drag = -handover.POLE * handover.MASS
    k2 = math.sqrt(drag**2 + 2.0 * handover.MASS * k1 + 2000.0 / 0.005) - drag
    for axis, pole in ((0, 8.0), (2, 10.0)):
        natural = math.sqrt(k1 / (pole**2 * handover.MASS))
        damping = (pole**2 * drag + k2) / (2.0 * natural * pole**2 * handover.MASS)
        expected = math.exp(-math.pi * damping / math.sqrt(1.0 - damping**2))
        assert document["overshoot"][axis] == pytest.approx(expected, abs=0.012)


def test_soft_handover_is_faster_at_every_waypoint_and_hard_comes_nearer(document):
    hard, soft = (np.array(document["handover_speed"][k]) for k in ("hard", "soft"))
    assert np.all(soft > 1.4 * hard)
    assert document["handover_time"]["soft"][-1] < 0.9 * document["handover_time"]["hard"][-1]
    assert np.all(np.array(document["nearest"]["hard"]) < document["nearest"]["soft"])


def test_double_waypoints_come_closer_by_about_as_much_as_printed(document):
    single, double = (np.array(document["height"][k]) for k in ("single", "double"))
    assert np.all(double > single)
    printed = document["height_printed"]
    shown = document["limits"].index(handover.LIMIT_SHOWN)
    free = document["limits"].index(None)
    # One number, the limit, was chosen; both heights and their difference then come out.
    assert single[shown] == pytest.approx(printed["single"], abs=0.05)
    assert double[shown] == pytest.approx(printed["double"], abs=0.05)
    assert double[shown] - single[shown] == pytest.approx(
        printed["double"] - printed["single"], abs=0.02
    )
    # Without a limit both come as close: it is the limit that a second waypoint helps against.
    assert double[free] - single[free] < 0.25 * (double[shown] - single[shown])
