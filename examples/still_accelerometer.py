"""A boat lies still. Integrate its accelerometer twice, and see how far it believes to have gone.

Three makes of IMU, from a telephone's to a tactical one, each twice: as it comes, and after the
mean of the first ten seconds was taken off. Smoothing does not help: a low-pass filter keeps
exactly the slow part of the noise that runs away.
"""

from pathlib import Path

import matplotlib
import numpy as np

import seatrial as st

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the backend is chosen

MAKES = ("lsm6dsr", "adis16448", "stim300")
RATE, CALIBRATION, DURATION = 100, 10, 130

sensors = "".join(
    f"      - {{type: imu, name: {make}, rate: {RATE}, errors: {make}}}\n" for make in MAKES
)
Path("still.yaml").write_text(
    f"kind: scenario\nname: still\nseed: 4\nduration: {DURATION}\nworld: calm\n"
    f"vehicles:\n  - name: boat\n    vehicle: otter\n    sensors:\n{sensors}",
    encoding="utf-8",
)
run = st.run("still.yaml")
assert float(np.abs(run.dataset.velocity).max()) < 1e-9, "the boat does not move"


def twice(acceleration):
    """Position from acceleration, both starting at zero."""
    velocity = np.cumsum(acceleration) / RATE
    return np.cumsum(velocity) / RATE


figure, (felt, raw, calibrated) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
for make, colour in zip(MAKES, ("#d55e00", "#0072b2", "#009e73"), strict=True):
    data = run.recording.sensor("boat", make)
    first = CALIBRATION * RATE
    ahead, time = data.acceleration_x.values, data.time.values[first:] - CALIBRATION
    smooth = np.convolve(ahead, np.full(RATE, 1.0 / RATE), mode="same")
    felt.plot(time, ahead[first:], color=colour, lw=0.3, alpha=0.5)
    felt.plot(time[:-RATE], smooth[first:-RATE], color=colour, label=make)
    for axes, bias in ((raw, 0.0), (calibrated, ahead[:first].mean())):
        gone = twice(ahead[first:] - bias)
        axes.plot(time, gone, color=colour, label=f"{make}: {gone[-1]:+.0f} m")
    filtered = twice(smooth[first:-RATE] - ahead[:first].mean())
    calibrated.plot(time[:-RATE], filtered, ":", color="black", lw=1.0)
    print(
        f"{make:>10}: {twice(ahead[first:])[-1]:+8.1f} m as it comes, {gone[-1]:+7.1f} m calibrated"
    )

felt.set(title="Acceleration ahead of a boat at rest\nsamples, and their mean over 1 s")
felt.set(ylabel="m/s²")
raw.set(title="Integrated twice", ylabel="distance ahead [m]")
calibrated.set(title="Integrated twice after calibration\ndotted: the mean over 1 s, integrated")
calibrated.set(ylabel="distance ahead [m]")
for axes in (felt, raw, calibrated):
    axes.set(xlabel="time [s]")
    axes.grid(alpha=0.3)
    axes.legend(loc="best", frameon=False)
figure.savefig("still_accelerometer.png", dpi=120)
