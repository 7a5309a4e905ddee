"""An AUV surveys hills with a multibeam sounder, and its soundings give back the map.

The survey is `remus100-seabed-survey`, its first two lines, with a sounder without noise and fed
back the truth. Soundings are put where they were taken from, by the vehicle's pose, and the bottom
between three of them that are neighbours is a flat facet. At the nodes of the map that have a
sounding within a metre these facets are held against it.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import LinearNDInterpolator
from scipy.spatial import cKDTree

import seatrial as st
from seatrial.geometry.bodies import rotation_matrix
from seatrial.spec.loading import load

survey = load("remus100-seabed-survey", st.Scenario)
(remus,) = survey.vehicles
(sounder,) = (sensor for sensor in remus.fitted if sensor.type == "multibeam")
quiet = sounder.model_copy(update={"fidelity": "ideal"})
remus = remus.model_copy(update={"sensors": (quiet,), "feedback": "truth"})
run = st.run(survey.model_copy(update={"vehicles": (remus,), "duration": 360.0}))

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
north = terrain.north[(terrain.north > 45.0) & (terrain.north < 255.0)]
east = terrain.east[(terrain.east > -20.0) & (terrain.east < 60.0)]
nodes = np.stack(np.meshgrid(north, east, indexing="ij"), axis=-1)
true = terrain.at(nodes[..., 0], nodes[..., 1])
away, _ = cKDTree(points[:, :2]).query(nodes)
surveyed = LinearNDInterpolator(points[:, :2], points[:, 2])(nodes)
surveyed[away > 1.0] = np.nan
error = surveyed - true
share = 100.0 * np.sqrt(np.nanmean(error**2)) / true.mean()
covered = np.isfinite(error).mean()
print(f"{len(points)} soundings, {1e3 * np.abs(single).max():.2f} mm off the map at most")
print(f"{covered:.0%} of {error.size} nodes: {share:.4f} % of the depth off (root mean square)")

page = Figure(figsize=(9.0, 6.0), layout="constrained")
low, high, most = true.min(), true.max(), 1e3 * np.nanmax(np.abs(error))
for axes, what, title, colours, ends in zip(
    page.subplots(1, 3, sharey=True),
    (true, surveyed, 1e3 * error),
    ("map [m]", "soundings, gridded again [m]", "difference [mm]"),
    ("YlGnBu", "YlGnBu", "coolwarm"),
    ((low, high), (low, high), (-most, most)),
    strict=True,
):
    picture = axes.pcolormesh(east, north, what, cmap=colours, vmin=ends[0], vmax=ends[1])
    page.colorbar(picture, ax=axes, shrink=0.7)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("east [m]")
    axes.set_aspect("equal")
page.savefig("survey-map.png", dpi=130)

assert covered > 0.8
assert np.abs(single).max() < 1e-3
assert share < 0.1
