"""A pipeline followed by a sonar and the navigation filter: off its chart, around bends, lost and
found; refusals."""

import itertools

import numpy as np
import pytest

import seatrial as st
from seatrial.errors import SpecError

PIPE = [[0, 0, 0], [40, 0, 0], [70, 20, 0]]
FAN = {"type": "obstacle_sonar", "name": "fan", "rate": 5, "roll_deg": 90, "pitch_deg": -90,
       "sector_deg": 110, "beams": 64, "range": 15, "noise": 0.05}  # fmt: skip
NAVIGATION = [
    {"type": "imu", "name": "imu", "rate": 50, "errors": "lsm6dsr"},
    {"type": "ahrs", "name": "ahrs", "rate": 10},
    {"type": "pressure", "name": "depth", "rate": 10},
    {"type": "dvl", "name": "dvl", "rate": 5, "position": [0, 0, 0.15]},
]


def scenario(chart, duration=150.0, sonar=FAN, **task):
    follow = {"do": "follow", "pipeline": "line", "chart": chart, "altitude": 3, "speed": 0.5}
    body = {"name": "line", "pipe": {"waypoints": PIPE, "diameter": 0.5}, "on_bottom": True}
    return st.Scenario(
        name="pipe",
        duration=duration,
        world={"name": "sand", "seabed": {"depth": 20}, "bodies": [body]},
        vehicles=[
            {
                "name": "rov",
                "vehicle": "bluerov2_heavy",
                "start": {"position": [-3, chart[0][1], 17]},
                "sensors": [*NAVIGATION, sonar],
                "mission": [follow | {"by": "fan"} | task],
            }
        ],
    )


def beside(run):
    """(T,) north, and (T,) distance from the pipeline."""
    place = run.dataset.position.sel(vehicle="rov").values[:, :2]
    found = []
    for a, b in itertools.pairwise(np.array(PIPE, float)[:, :2]):
        share = np.clip((place - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        found.append(np.linalg.norm(place - a - share[:, None] * (b - a), axis=1))
    return place[:, 0], np.min(found, axis=0)


def test_a_pipeline_that_lies_three_metres_off_its_chart_is_followed_by_the_sonar():
    north, off = beside(st.run(scenario([[2, -2.5], [41, -3], [72, 18]])))
    on = (north > 8.0) & (north < 67.0)
    assert north.max() > 60.0
    assert np.median(off[on]) < 0.1
    assert off[on].max() < 1.0  # at the bend, which is charted somewhere else


def test_a_bend_that_no_chart_has_is_followed():
    north, off = beside(st.run(scenario([[0, -3], [40, -3], [75, -3]])))
    on = (north > 8.0) & (north < 60.0)
    assert north.max() > 55.0
    assert np.quantile(off[on], 0.9) < 0.7


def test_a_pipeline_beyond_the_fan_is_searched_for_and_found():
    north, off = beside(st.run(scenario([[0, -6], [40, -6], [70, 14]])))
    assert off[north < 5.0].min() > 4.0  # the fan reaches 4.3 m to either side
    later = (north > 18.0) & (north < 38.0)
    assert off[later].max() < 0.5


@pytest.mark.parametrize(
    ("task", "sonar", "told"),
    [
        ({"by": "fann"}, FAN, "has no obstacle sonar `fann`"),
        ({}, FAN | {"pitch_deg": 0}, "does not look down across"),
        ({}, FAN | {"noise": 0.3}, "does not tell a pipe of 0.5 m from the bottom"),
    ],
)
def test_what_cannot_work_is_refused(task, sonar, told):
    with pytest.raises(SpecError, match=told):
        st.compile_scenario(scenario([[0, 0], [40, 0]], sonar=sonar, **task))
