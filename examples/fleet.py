"""A fleet of two kinds of vehicle in one YAML file, and how the same sea lifts each of them."""

from pathlib import Path

import seatrial as st

FLEET = """
kind: scenario
name: fleet
seed: 3
duration: 60
world: sea-state-4
vehicles:
  - {name: boat, vehicle: wamv, commands: {left: 200, right: 200}}
  - {name: north, vehicle: smarty, start: {position: [50, 0, 0]}}
  - {name: east, vehicle: smarty, start: {position: [0, 50, 0], heading_deg: 90}}
"""

Path("fleet.yaml").write_text(FLEET, encoding="utf-8")
run = st.run("fleet.yaml", out="fleet.mcap")
for name, vehicle in run.summary.vehicles.items():
    print(
        f"{name:>6}: {vehicle.status}, {vehicle.distance:5.1f} m, roll {vehicle.roll_max_deg:.0f}°"
    )

data = st.read("fleet.mcap").dataset  # an xarray.Dataset; run.dataset holds the same
heave, sea = data.position.sel(axis="down").std("time"), data.wave_elevation.std("time")
for name, ratio in zip(data.vehicle.values, (heave / sea).values, strict=True):
    print(f"{name:>6}: heaves {ratio:.2f} times as much as the water under it")
assert run.status == "completed"
