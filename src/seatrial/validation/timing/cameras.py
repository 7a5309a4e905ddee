"""How many pictures a second cameras make, on all cores, as a run expands them.

The basin, quays, piers and buoys are those of `rays`, in waves and wind. `share_of_rays` is
the time that Embree alone needs for the same rays, over the whole. Where shaders can draw, cameras
are drawn by them as well, by turns with rays, so that what else the machine does strikes both.
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from seatrial.compile.scenario import compile_scenario
from seatrial.render.renderers import trouble
from seatrial.sensors.tap import DenseSensor
from seatrial.sensors.vision.camera import Camera
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors import AnySensor
from seatrial.validation.timing.rays import BASIN, SECONDS, curve, stretch_of, timed
from seatrial.validation.timing.steps import Row

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
            views = curve(np.array(sensor.position), sensor.rate)
            stretch = stretch_of(dense, views, fleet.ocean)
            jobs = {"rays": stretch.jobs}
            if isinstance(dense, Camera) and trouble("shaders") is None:
                other = replace(dense, renderer="shaders")
                # The first picture of all waits for its programs.
                other.expand(views.part(slice(0, 1)), fleet.ocean)
                parts = [views.part(slice(i, i + 1)) for i in range(len(views.number))]
                jobs["shaders"] = [partial(other.expand, part, fleet.ocean) for part in parts]
            turns = [
                {name: _measured(some, pool) for name, some in {**jobs, "raw": stretch.raw}.items()}
                for _ in range(REPEATS)
            ]
            raw = min(turn["raw"][0] for turn in turns)
            for name in jobs:
                wall, cpu = (min(turn[name][k] for turn in turns) for k in (0, 1))
                yield _row(sensor, dense, name, wall, cpu, raw, stretch.rays)


def _measured(jobs: list[Callable[[], Any]], pool: Executor) -> tuple[float, float]:
    """Time on the clock and of the processor, s."""
    began = time.process_time()
    wall = timed(jobs, pool)
    return wall, time.process_time() - began


def _row(
    sensor: AnySensor,
    dense: DenseSensor,
    name: str,
    wall: float,
    cpu: float,
    raw: float,
    rays: int,
) -> Row:
    height, width = dense.payload.shape[:2]
    frames = SECONDS * sensor.rate
    cast = name == "rays"
    return {
        "sensor": sensor.name,
        "renderer": name,
        "width": width,
        "height": height,
        "frames_per_s": frames / wall,
        "cpu_ms_per_frame": 1e3 * cpu / frames,
        "share_of_rays": raw / wall if cast else 0.0,
        "rays": rays if cast else 0,
    }
