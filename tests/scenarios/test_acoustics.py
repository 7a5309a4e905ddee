"""A vehicle under water that knows where it is by sound."""

import numpy as np
import pytest

import seatrial as st
from seatrial.spec.loading import load_text

TEXT = """
kind: scenario
name: acoustics
seed: 5
duration: 200
frame_period: 0.5
world: {{name: shelf, seabed: {{depth: 60}}, current: {{speed: 0.25, towards_deg: 60}}}}
vehicles:
  - name: auv
    vehicle: remus100_x
    start: {{position: [0, 0, 10], speed: 1.5}}
    navigation: {{current: 0.3}}
    mission: [{{do: goto, waypoints: [[150, 0], [150, 100], [0, 100]], depth: 10, acceptance: 8}}]
    sensors:
      - {{type: imu, name: imu, rate: 50, errors: adis16448}}
      - {{type: ahrs, name: ahrs, rate: 10}}
      - {{type: pressure, name: depth, rate: 10}}
      - {acoustic}
  - name: ship
    vehicle: otter
    start: {{position: [60, 40, 0]}}
    feedback: truth
    sensors: []
    mission: [{{do: hold, position: [60, 40], duration: 1000}}]
"""
LBL = (
    "{type: lbl, name: lbl, rate: 0.5, "
    "transponders: [[-50, -50, 60], [200, -50, 58], [75, 200, 59]]}"
)
USBL = "{type: usbl, name: usbl, rate: 0.5, target: ship, place_noise: 0.5}"


@pytest.mark.parametrize(("acoustic", "bound"), [(LBL, 1.0), (USBL, 4.0)])
def test_sound_bounds_the_position_of_a_vehicle_without_a_dvl(acoustic, bound):
    """By its own dynamics alone it would be off by the current that it does not know, 50 m."""
    run = st.run(load_text(TEXT.format(acoustic=acoustic), st.Scenario))
    data = run.recording.vehicle("auv")
    error = (data["estimate_position"] - data["position"]).values[100:, :2]
    spread = data["estimate_deviation"].values[100:, :2]
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < bound
    assert spread.max() < 1.5 * bound
    assert np.mean(np.abs(error) < 3.0 * spread) > 0.95
    found = run.recording.samples("auv", acoustic[7:11].strip(" ,"))
    delay = 2.0 * np.max(found.values[:, 3:] if "lbl" in acoustic else found.values[:, :1], axis=1)
    late = (found.arrival - found.time)[found.valid]
    np.testing.assert_allclose(late, delay[found.valid] / 1500.0, rtol=0.05, atol=0.02)
