"""A short run that bridges speak of; its program is compiled once."""

import pytest

import seatrial as st
from seatrial.bridging import run_bridged

SCENARIO = {
    "seed": 5,
    "duration": 6.0,
    "world": "calm",
    "vehicles": [
        {
            "name": "otter",
            "vehicle": "otter",
            "start": {"speed": 1.0, "heading_deg": 30},
            "commands": {"left_rpm": 600, "right_rpm": 500},
        }
    ],
}


@pytest.fixture(scope="session")
def plan():
    return st.compile_scenario(st.Scenario(**SCENARIO))


@pytest.fixture
def bridged(plan):
    """Runs that plan with bridges, as fast as it goes unless told otherwise."""

    def run(*bridges, pace=None, **more):
        return run_bridged(plan, bridges, pace=pace, **more)

    return run
