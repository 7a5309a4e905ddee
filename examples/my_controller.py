"""A controller of your own: a heading autopilot for the Otter that sees its compass, not the truth.

`my_controller.yaml` names it. `seatrial run my_controller.yaml --allow-code` does the same as this.
"""

import math
from pathlib import Path

TARGET = math.radians(90)


class HeadingAutopilot:
    """Turns to 90° and stays there."""

    def start(self, vehicle):
        """Set the memory up; called before every run."""
        self.period = vehicle.control_period
        self.error, self.rate = None, 0.0

    def control(self, time, measurements):
        """Give the orders of one control period from what has arrived since the last."""
        compass = measurements["compass"]
        if not compass.time.size:
            return {}  # nothing new: the orders stay as they are
        error = math.remainder(TARGET - compass.values[-1, 0], math.tau)
        if self.error is not None:  # the turn of the boat, through a filter of half a second
            turned = math.remainder(self.error - error, math.tau)
            self.rate += 2.0 * self.period * (turned / self.period - self.rate)
        self.error = error
        steer = max(-250.0, min(250.0, 300.0 * error - 250.0 * self.rate))
        return {"left_rpm": 650.0 + steer, "right_rpm": 650.0 - steer}


if __name__ == "__main__":
    import seatrial as st

    run = st.run(Path(__file__).with_suffix(".yaml"), allow_code=True)
    heading = math.degrees(run.dataset.euler.sel(angle="yaw")[-1, 0])
    print(f"{run.status}: heading {heading:.1f}° after {run.summary.duration:g} s")
    assert run.status == "completed"
    assert abs(heading - 90.0) < 10.0
