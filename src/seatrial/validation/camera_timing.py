"""How many pictures a second cameras make, on all cores, as a run expands them.

The basin, quays, piers and buoys are those of `ray_timing`, in waves and wind. `share_of_rays` is
the time that Embree alone needs for the same rays, over the whole.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from seatrial.compile.scenario import compile_scenario
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario
from seatrial.validation.ray_timing import BASIN, SECONDS, curve, stretch_of, timed
from seatrial.validation.timing import Row

WAVES = """
  waves: {spectrum: jonswap, significant_height: 0.3, peak_period: 3, towards_deg: 120}
  wind: {speed: 5, towards_deg: 120}
"""
CAMERAS = """
      - {type: camera, name: above, rate: 5, position: [1, 0, -2]}
      - {type: camera, name: below, rate: 5, position: [1, 0, 4]}
      - {type: camera, name: masks, rate: 5, position: [1, 0, -2], shows: instance}
      - {type: thermal_camera, name: thermal, rate: 5, position: [1, 0, -2]}
"""
REPEATS = 3


def camera_rows() -> Iterator[Row]:
    """A camera above the water, one below it, one of masks and one of heat."""
    world, _ = BASIN.split("    sensors:")
    text = world.replace("  name: basin\n", "  name: basin" + WAVES) + "    sensors:" + CAMERAS
    described = load_text(text, Scenario)
    fleet = compile_scenario(described).fleets[0]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for sensor in described.vehicles[0].fitted:
            dense = fleet.dense[sensor.name]
            height, width = dense.payload.shape[:2]
            views = curve(np.array(sensor.position), sensor.rate)
            stretch = stretch_of(dense, views, fleet.ocean)
            turns = [(timed(stretch.jobs, pool), timed(stretch.raw, pool)) for _ in range(REPEATS)]
            wall, raw = (min(times) for times in zip(*turns, strict=True))
            yield {
                "sensor": sensor.name,
                "width": width,
                "height": height,
                "frames_per_s": SECONDS * sensor.rate / wall,
                "share_of_rays": raw / wall,
                "rays": stretch.rays,
            }
