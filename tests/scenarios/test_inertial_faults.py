"""What is wrong with an IMU, beside the sensors that tell of it: those are not to pay for it."""

import numpy as np
import pytest

import seatrial as st
from seatrial.spec.loading import load

OFF = 9e4
"""When a fault of another run sets in, s."""

GYROSCOPE = {"target": "imu", "components": ["angular_velocity_z"], "duration": 60.0, "start": OFF}
FAULTS = (
    {"kind": "bias", "value": [0.01], **GYROSCOPE},
    {"kind": "bias", "value": [0.02], **GYROSCOPE},
    {"kind": "freeze", **GYROSCOPE},
)


@pytest.fixture(scope="module")
def surveys():
    """`remus100-survey` without a fault and with each from 110 s on; those with a step that is
    told apart from a jump by a hair (seed 8) among them."""
    survey = load("remus100-survey", st.Scenario)
    vehicle = survey.vehicles[0].model_copy(update={"faults": FAULTS})
    survey = survey.model_copy(update={"duration": 230.0, "vehicles": (vehicle,)})
    chosen = [None, *range(len(FAULTS))]
    vary = {
        f"vehicles[0].faults[{k}].start": [110.0 if k == one else OFF for one in chosen]
        for k in range(len(FAULTS))
    }
    runs = st.run_many(survey, seeds=[8] * len(chosen), vary=vary).isel(vehicle=0).load()
    names = [sensor.name for sensor in vehicle.fitted]
    return runs, names


def _off_course(run):
    """How far the heading is from what is believed, rad."""
    ahead = []
    for attitude in (run.attitude.values, run.estimate_attitude.values):
        w, x, y, z = attitude.T
        ahead.append(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    return np.abs((ahead[1] - ahead[0] + np.pi) % (2 * np.pi) - np.pi)


@pytest.mark.parametrize("run", [1, 2, 3])
def test_a_gyroscope_that_drifts_or_sticks_does_not_cost_the_attitude_reference(surveys, run):
    """With 0.02 rad/s the AHRS was left out to the end, the place 136 m off with 4 m stated;
    one gyroscope that repeated itself while the others went on was not found at all."""
    runs, names = surveys
    faulty, sound = runs.isel(run=run), runs.isel(run=0)
    off, without = (
        np.linalg.norm((one.estimate_position - one.position).values[:, :2], axis=1)
        for one in (faulty, sound)
    )
    assert np.nanmax(off) < np.nanmax(without) + 3.0
    assert np.nanmax(_off_course(faulty)) < np.radians(6.0)
    rejected = np.nan_to_num(faulty.estimate_rejected.values).astype(int)
    missed = rejected >> names.index("ahrs") & 1
    assert np.mean(missed[faulty.time.values > 185.0]) == 0.0


def test_one_gyroscope_that_repeats_itself_is_found(surveys):
    runs, names = surveys
    stuck = runs.isel(run=3)
    rejected = np.nan_to_num(stuck.estimate_rejected.values).astype(int)
    late = stuck.time.values[(rejected >> names.index("imu") & 1) == 1]
    assert 110.0 < late[0] < 111.0
    assert late[-1] < 171.0


def test_who_lost_everything_for_a_minute_is_found_again():
    """IMU and compass frozen and no fix: a boat may turn round twice meanwhile. The filter's own
    dynamics diverged when the heading came back, one run in three ended as no numbers, and the
    receiver was left out for five minutes since it contradicted 60 m of dead reckoning."""
    survey = load("otter-survey", st.Scenario)
    vehicle = survey.vehicles[0]
    kinds = {"imu": "freeze", "compass": "freeze", "gnss": "dropout"}
    faults = [
        {"target": target, "kind": kind, "start": 100.0, "duration": 60.0}
        for target, kind in kinds.items()
    ]
    vehicle = vehicle.model_copy(update={"faults": faults})
    survey = survey.model_copy(update={"duration": 200.0, "vehicles": (vehicle,)})
    runs = st.run_many(survey, seeds=[31, 36, 38, 53, 54, 59]).isel(vehicle=0).load()
    off = np.linalg.norm((runs.estimate_position - runs.position).values[..., :2], axis=-1)
    assert np.isfinite(off).all()
    assert off[:, runs.time.values > 199.0].max() < 12.0
