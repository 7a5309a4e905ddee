"""An AUV surveys hills with a multibeam sounder, and its soundings give back the map.

The survey is `remus100-seabed-survey`, its first two lines, with a sounder without noise. Soundings
are put where they were taken from, by the vehicle's true pose, and the bottom between three of them
that are neighbours is a flat facet. At the nodes of the map these facets are held against it.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import LinearNDInterpolator

import seatrial as st
from seatrial.geometry.bodies import rotation_matrix
from seatrial.spec.loading import load

survey = load("remus100-seabed-survey", st.Scenario)
(remus,) = survey.vehicles
quiet = [
    sensor.model_copy(update={"fidelity": "ideal"}) if sensor.type == "multibeam" else sensor
    for sensor in remus.fitted
]
remus = remus.model_copy(update={"sensors": tuple(quiet)})
run = st.run(survey.model_copy(update={"vehicles": (remus,), "duration": 330.0}))

frames, pings = run.recording.vehicle("remus"), run.recording.samples("remus", "multibeam")
clouds = run.recording.payload("remus", "multibeam")
rows = np.rint(np.interp(pings.time, frames.time, np.arange(frames.time.size))).astype(int)
assert np.allclose(frames.time.values[rows], pings.time, atol=1e-9)
points = []
for cloud, row in zip(clouds, rows, strict=True):
    turned = rotation_matrix(frames.attitude.values[row])
    points.append(frames.position.values[row] + cloud[:, :3].astype(float) @ turned.T)
points = np.concatenate(points)
points = points[np.isfinite(points[:, 0])]

terrain = run.recording.scene.terrain
single = points[:, 2] - terrain.at(points[:, 0], points[:, 1])
north = terrain.north[(terrain.north > 60.0) & (terrain.north < 240.0)]
east = terrain.east[(terrain.east > 0.0) & (terrain.east < 40.0)]
true = terrain.at(*np.meshgrid(north, east, indexing="ij"))
surveyed = LinearNDInterpolator(points[:, :2], points[:, 2])(
    *np.meshgrid(north, east, indexing="ij")
)
error = surveyed - true
share = 100.0 * np.sqrt(np.nanmean(error**2)) / true.mean()
print(
    f"{len(points)} soundings in {len(clouds)} pings,"
    f" {np.abs(single).max() * 1e3:.1f} mm off at most"
)
print(f"{error.size} nodes: {share:.4f} % of the depth off (root mean square)")

page = Figure(figsize=(9.0, 4.2), layout="constrained")
for axes, what, title, colours in zip(
    page.subplots(1, 3, sharey=True),
    (true, surveyed, 1e3 * error),
    ("map [m]", "soundings, gridded again [m]", "difference [mm]"),
    ("YlGnBu", "YlGnBu", "coolwarm"),
    strict=True,
):
    picture = axes.pcolormesh(east, north, what, cmap=colours, shading="nearest")
    page.colorbar(picture, ax=axes, shrink=0.7)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("east [m]")
    axes.set_aspect("equal")
page.savefig("survey-map.png", dpi=130)

assert np.isfinite(surveyed).mean() > 0.95
assert np.abs(single).max() < 1e-3 * true.mean()
assert share < 0.1
