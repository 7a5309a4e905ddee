"""`control: {law: lqr}`: a flight to waypoints as the thesis on underwater datasets has it."""

import numpy as np
import pytest

import seatrial as st
from seatrial.errors import SpecError

SPEED = 0.4
POINTS = [[3, 0, 6], [6, 1, 6.3], [8, 3, 6]]


def scenario(vehicle="bluerov2_heavy", law="lqr", **changes):
    rov = {"name": "rov", "vehicle": vehicle, "feedback": "truth",
           "start": {"position": [0, 0, 6], "heading_deg": 30},
           "guidance": {"handover": "soft"}, "control": {"law": law},
           "mission": [{"do": "goto", "waypoints": POINTS, "speed": SPEED, "acceptance": 0.5},
                       {"do": "hold", "position": [8, 3, 6], "heading_deg": 60, "duration": 20}],
           } | changes  # fmt: skip
    return st.Scenario(name="lqr", seed=1, duration=60.0, stop_when_done=False, vehicles=[rov])


def test_the_regulator_keeps_its_speed_through_the_waypoints_and_comes_to_rest():
    run = st.run(scenario()).dataset
    leg, speed = run.leg.values[:, 0], run.speed.values[:, 0]
    under_way = (leg >= 1) & (leg < len(POINTS) - 1)
    assert under_way.sum() > 20
    assert np.all(np.abs(speed[under_way] / SPEED - 1.0) < 0.1)
    assert np.abs(np.degrees(run.euler.values[:, 0, :2])).max() < 1.0
    passed = np.linalg.norm(run.position.values[:, 0, None] - np.array(POINTS), axis=2)
    assert np.all(passed.min(axis=0) < 0.5)
    end = run.isel(time=-1, vehicle=0)
    assert end.position.values == pytest.approx([8.0, 3.0, 6.0], abs=0.12)  # no integral
    assert np.degrees(end.euler.values[2]) == pytest.approx(60.0, abs=3.0)
    assert float(end.speed) < 0.01
    # The input's lags: from rest the acceleration grows over several periods, without a jump.
    first = run.acceleration.values[:12, 0, 0]
    assert first[0] < 0.1 * first.max()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"vehicle": "otter"}, "cannot be driven to a place from any side"),
        ({"avoidance": {}}, "would not heed `avoidance`"),
    ],
)
def test_what_the_regulator_cannot_do_is_refused(changes, words):
    if changes.get("vehicle") == "otter":
        changes = changes | {
            "start": {"position": [0, 0, 0]},
            "mission": [{"do": "goto", "waypoints": [[30, 0], [60, 10]]}],
        }
    with pytest.raises(SpecError, match=words):
        st.run(scenario(**changes))
