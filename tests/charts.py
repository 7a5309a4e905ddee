"""Maps in files, and scenarios over them, that several kinds of test share."""

import numpy as np

import seatrial as st
from seatrial.bathymetry.store import write_map
from seatrial.geometry.terrain import terrain

DATUM = (54.0, 8.0)
TEXT = """
kind: scenario
name: over_a_map
seed: {seed}
duration: {duration}
world:
  name: charted
  datum: {{latitude_deg: 54.0, longitude_deg: 8.0}}
  seabed: {seabed}
  {more}
vehicles:
  - name: craft
    vehicle: {vehicle}
    sensors: []
    feedback: truth
    start: {{position: {start}, speed: {speed}}}
    {extra}
"""


def described(folder, seabed="{map: map.nc}", more="", vehicle="remus100_mss", **other):
    usual = {"start": [0, 0, 10], "speed": 1.5, "extra": "", "seed": 1, "duration": 4}
    text = TEXT.format(seabed=seabed, more=more, vehicle=vehicle, **usual | other)
    path = folder / "scenario.yaml"
    path.write_text(text)
    return st.load(path, st.Scenario)


def ridge(north, east):
    """Forty metres, and a ridge along east through 100 m north that rises to fifteen."""
    return 40.0 - 25.0 * np.exp(-(((north - 100.0) / 15.0) ** 2)) + 0.0 * east


def write(folder, depth=ridge, half=1000.0, spacing=5.0, datum=DATUM, name="map.nc"):
    axis = np.arange(-half, half + 1e-9, spacing)
    north, east = np.meshgrid(axis, axis, indexing="ij")
    made = terrain((axis[0], axis[0]), (spacing, spacing), depth(north, east))
    write_map(folder / name, made, datum, {})
    return made
