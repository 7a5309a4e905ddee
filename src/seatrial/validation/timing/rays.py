"""How fast sensors that cast rays are, beside Embree itself with the same rays in the same run.

Samples are expanded as a run does it: large ones one by one, small ones some at once, on all cores.
Embree gets the rays in the same portions, once to the range of the sensor and once as short as the
sensor makes them, where it knows that the water ends them. Processor times, of one portion after
another, tell something on a busy machine as well.
"""

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.scenario import compile_scenario
from seatrial.engine.exchange.taps import samples_together
from seatrial.geometry import mesh as meshes
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.rays import Hits, RayScene
from seatrial.geometry.tiles import extended
from seatrial.ocean import Ocean
from seatrial.sensors.tap import DenseSensor, Views
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario
from seatrial.validation.timing.steps import Row

Array = NDArray[np.float64]

BASIN = """
kind: scenario
name: rays
duration: 1
time_step: 0.02
world:
  name: basin
  seabed: {shape: fractal, depth: 12, relief: 1, extent: [450, 450], spacing: 2}
  bodies:
    - {name: quay, wall: {points: [[-80, -60], [80, -60], [80, 60]], height: 18, thickness: 3}}
    - {name: pier, pier: {length: 60, width: 6, piles: 24}, position: [20, 30, -2]}
    - {name: jetty, pier: {length: 40, width: 4, piles: 16}, position: [-40, -20, -2]}
    - {name: rocks, rock: {size: 4}, on_bottom: true,
       scatter: {count: 100, area: [[-80, -60], [80, -60], [80, 60], [-80, 60]]}}
    - {name: buoys, buoy: {diameter: 1.5, height: 3}, afloat: {mooring: 3},
       scatter: {count: 4, area: [[-60, 0], [60, 0], [60, 50], [-60, 50]]}}
    - {name: barge, box: {size: [30, 8, 5]}, position: [-20, 40, 0], material: steel}
vehicles:
  - name: wamv
    vehicle: wamv
    sensors:
      - {type: lidar, name: lidar_64x1024, rate: 10, position: [0, 0, -2.5], model: os1_64}
      - {type: multibeam, name: multibeam_512, rate: 10, position: [0, 0, 0.5], range: 60}
      - {type: imaging_sonar, name: imaging_sonar_512x1000, rate: 5, position: [1, 0, 0.6],
         pitch_deg: -10, range: 40}
      - {type: depth_camera, name: depth_camera_640x480, rate: 5, position: [1, 0, -2], range: 60}
      - {type: side_scan, name: side_scan, rate: 10, position: [0, 0, 0.6], range: 40}
      - {type: mechanical_sonar, name: mechanical_sonar, rate: 10, position: [0, 0, 0.6], range: 40}
      - {type: radar_image, name: radar_image, rate: 0.5, position: [0, 0, -3]}
"""
"""What the speed of rays is stated for: a basin of a hundred thousand triangles."""

TOGETHER = ("lidar_64x1024", "multibeam_512", "imaging_sonar_512x1000")
"""Sensors that are to run together in real time."""
SECONDS = 20.0
"""Of simulated time that is timed: in less, small sensors are done before two threads are awake."""
REPEATS = 5


class Watched(RayScene):
    """A scene that notes the rays that are cast against it, and how far they go."""

    def __init__(self, scene: RayScene) -> None:
        super().__init__(scene.bodies, scene.bottom)
        self._watched = scene
        self.rays: list[tuple[Array, NDArray[np.floating[Any]], NDArray[np.floating[Any]]]] = []

    def cast(
        self,
        origins: Array,
        directions: NDArray[np.floating[Any]],
        t: float | Array = 0.0,
        others: Array | None = None,
        reach: float | NDArray[np.floating[Any]] = np.inf,
    ) -> Hits:
        """As the scene that is watched."""
        each = len(directions) // len(origins)
        ends = np.array(np.broadcast_to(reach, len(directions)), np.float32)
        self.rays.append((np.repeat(origins, each, axis=0), directions, ends))
        return self._watched.cast(origins, directions, t, others, reach)


class Stretch(NamedTuple):
    """What a sensor does in `SECONDS`."""

    jobs: list[Callable[[], Any]]
    raw: list[Callable[[], Any]]
    """The same rays, with Embree alone, all to the range of the farthest."""
    ended: list[Callable[[], Any]]
    """The same, as short as the sensor makes them."""
    rays: int


def ray_rows() -> Iterator[Row]:
    """Every sensor alone, then those that are to run together, on all cores."""
    described = load_text(BASIN, Scenario)
    fleet = compile_scenario(described).fleets[0]
    stretches = {
        sensor.name: stretch_of(
            fleet.dense[sensor.name], curve(np.array(sensor.position), sensor.rate), fleet.ocean
        )
        for sensor in described.vehicles[0].fitted
        if sensor.name in fleet.dense
    }
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, stretch in stretches.items():
            yield _row(name, stretch, pool)
        some = [stretches[name] for name in TOGETHER]
        together = Stretch(
            [job for stretch in some for job in stretch.jobs],
            [job for stretch in some for job in stretch.raw],
            [job for stretch in some for job in stretch.ended],
            sum(stretch.rays for stretch in some),
        )
        yield _row("together", together, pool)


def curve(position: Array, rate: float) -> Views:
    """A gentle curve through the basin."""
    count = round(SECONDS * rate)
    t = np.arange(count) / rate
    half, zero = 0.1 * t, np.zeros(count)
    return Views(
        position=position + np.column_stack([2.0 * t, zero, zero]),
        attitude=np.column_stack([np.cos(half), zero, zero, np.sin(half)]),
        number=np.arange(count),
        keys=np.tile(np.array([1, 2], np.uint32), (count, 1)),
        velocity=np.tile([2.0, 0.0, 0.0], (count, 1)),
        turn=np.tile([0.0, 0.0, 0.2], (count, 1)),
    )


def stretch_of(dense: DenseSensor, views: Views, ocean: Ocean) -> Stretch:
    """What a sensor does for some views, and Embree alone with the same rays."""
    held: Any = dense  # every sensor that casts rays is a dataclass that holds its scene
    name, scene = next(
        (f.name, getattr(held, f.name))
        for f in dataclasses.fields(held)
        if isinstance(getattr(held, f.name), RayScene)
    )
    watched = Watched(scene)
    seen: Any = dataclasses.replace(held, **{name: watched})
    size = samples_together(dense, len(views.number))
    parts = [views.part(slice(i, i + size)) for i in range(0, len(views.number), size)]
    for part in parts:
        seen.expand(part, ocean)
    rays = sum(len(directions) for _, directions, _ in watched.rays)
    return Stretch([_job(dense, part, ocean) for part in parts], *_raw(scene, watched), rays)


def _row(name: str, stretch: Stretch, pool: Executor) -> Row:
    # By turns, so that what else the machine does strikes both.
    what = (stretch.jobs, stretch.raw, stretch.ended)
    turns = [[timed(jobs, pool) for jobs in what] for _ in range(REPEATS)]
    wall, raw, ended = (min(times) for times in zip(*turns, strict=True))
    alone = [[spent(jobs) for jobs in (stretch.jobs, stretch.raw)] for _ in range(REPEATS)]
    ours, embree = (sum(map(min, zip(*times, strict=True))) for times in zip(*alone, strict=True))
    return {
        "sensor": name,
        "rays": stretch.rays,
        "rays_per_s": stretch.rays / wall,
        "raw_rays_per_s": stretch.rays / raw,
        "share_of_raw": raw / wall,
        "share_of_ended": ended / wall,
        "share_in_processor_time": embree / ours,
        "real_time_factor": SECONDS / wall,
    }


def _raw(
    scene: RayScene, watched: Watched
) -> tuple[list[Callable[[], Any]], list[Callable[[], Any]]]:
    """The same rays cast with Embree alone, against all that stands still as one structure: to the
    range of the farthest, and to where each ends."""
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    standing = [b for b in scene.bodies if b.shape != "vehicle" and not b.moves]
    parts = [b.mesh().moved(*b.pose(0.0)) for b in standing]
    if isinstance(scene.bottom, HeightGrid):
        parts.append(meshes.surface(*extended(scene.bottom)))
    whole = meshes.merged(parts)
    embree = EmbreeScene()
    TriangleMesh(embree, whole.vertices.astype(np.float32), whole.faces.astype(np.int32))
    embree.run(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32))

    def job(origins: Array, directions: NDArray[np.floating[Any]], reach: Any) -> Any:
        single = [np.ascontiguousarray(a, np.float32) for a in (origins, directions)]
        # With distance and normal, which every sensor needs. Embree writes over how far rays go.
        return lambda: embree.run(*single, np.copy(reach) if np.ndim(reach) else reach, output=1)

    far = [
        job(origins, directions, float(ends.max())) for origins, directions, ends in watched.rays
    ]
    return far, [job(*rays) for rays in watched.rays]


def _job(dense: DenseSensor, view: Views, ocean: Ocean) -> Callable[[], Any]:
    return lambda: dense.expand(view, ocean)


def timed(jobs: list[Callable[[], Any]], pool: Executor) -> float:
    """Time of all jobs on all cores, s."""
    began = time.perf_counter()
    list(pool.map(lambda job: job(), jobs))
    return time.perf_counter() - began


def spent(jobs: list[Callable[[], Any]]) -> list[float]:
    """Processor time of all threads, s, for each of the jobs, one after the other."""
    found = [time.process_time()]
    for job in jobs:
        job()
        found.append(time.process_time())
    return [after - before for before, after in pairwise(found)]
