"""An AUV dives over a flat bottom with an echo sounder, and its echogram is drawn.

The bottom is flat; what bends it in the picture is the vehicle. As it dives the bottom comes
nearer, and as it pitches down its beam looks ahead instead of down: the echo comes later than the
altitude tells, lasts longer, and is weaker, for sand throws most of the sound away from a beam
that meets it at a slant. Below it lies the second echo, by way of the surface.
"""

from pathlib import Path

import numpy as np

import seatrial as st
from seatrial.figures import echogram
from seatrial.figures.plot import save

BOTTOM, SOUNDER = 25.0, 0.09

Path("sounding.yaml").write_text(
    f"""
kind: scenario
name: sounding
seed: 3
duration: 60
world:
  name: bay
  seabed: {{depth: {BOTTOM}, type: sand}}
  water: {{profile: preset, ocean: atlantic, season: summer}}
vehicles:
  - name: remus
    vehicle: remus100
    start: {{position: [0, 0, 0.3], speed: 1.5, actuators: {{propeller: 8}}}}
    commands:
      rudder_deg: -6
      stern_plane_deg: [[0, 0], [5, 10], [20, -13.6], [45, 0]]
      propeller: [[0, 8], [30, 3.86], [45, 6]]
    sensors:
      - {{type: echo_sounder, name: sounder, rate: 10, position: [0, 0, {SOUNDER}], range: 60}}
""",
    encoding="utf-8",
)
run = st.run("sounding.yaml")
pings = echogram.pings(run.recording, "remus", "sounder")
levels = pings.payload[:, 0]
print(f"{len(levels)} pings of {levels.shape[1]} bins, {levels.nbytes / 1e6:.1f} MB")

remus = run.recording.vehicle("remus")
height = BOTTOM - SOUNDER - np.interp(pings.time, remus.time, remus.depth)
pitch = np.interp(pings.time, remus.time, remus.euler.sel(angle="pitch"))
error = pings.values[:, 0] - height
for name, some in (("level", abs(pitch) < 0.06), ("pitched by 10° and more", abs(pitch) > 0.17)):
    some &= pings.valid
    print(f"range less altitude, {name}: {np.median(error[some]):+.2f} m in {some.sum()} pings")
save(echogram.figure(run.recording, "remus", "sounder"), "echogram.png")
