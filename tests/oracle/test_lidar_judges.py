"""LiDARs before judges that nobody here wrote: odometry, registration, and a map of a maze."""

import math
from itertools import pairwise

import jax
import numpy as np
import pytest

import craft
import seatrial as st
from instruments import fit
from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.grid import height_grid
from seatrial.geometry.rays import RayScene
from seatrial.sensors.tap import Views
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors.optical import LidarModel

HARBOUR = """
kind: scenario
name: tour
seed: 5
duration: 50
time_step: 0.02
world:
  name: basin
  seabed: {depth: 8}
  waves: {spectrum: jonswap, significant_height: 0.1, peak_period: 2.5, spreading: long_crested}
  bodies:
    - {name: quay, wall: {points: [[-60, -45], [60, -45], [60, 45], [-60, 45]], height: 16,
       thickness: 2}}
    - {name: pier, pier: {length: 30, width: 4, piles: 10}, position: [40, 20, -2], heading_deg: 90}
    - {name: jetty, pier: {length: 20, width: 3, piles: 8}, position: [-50, -25, -2],
       heading_deg: 90}
    - {name: breakwater, rock: {size: 5}, position: [0, 0, -1],
       scatter: {count: 40, area: [[-58, 36], [58, 36], [58, 43], [-58, 43]]}}
    - {name: mole, rock: {size: 4}, position: [0, 0, -1],
       scatter: {count: 30, area: [[-58, -43], [58, -43], [58, -38], [-58, -38]]}}
    - {name: barge, box: {size: [16, 5, 4]}, position: [-52, 15, 0], heading_deg: 80,
       material: steel}
vehicles:
  - name: wamv
    vehicle: wamv
    start: {position: [-10, -26, 0], speed: 1.8}
    commands: {left: 345, right: 300}
    sensors:
      - {type: lidar, name: lidar, rate: 5, position: [0, 0, -2.2], model: vlp16}
"""


@pytest.fixture(scope="module")
def tour():
    return st.run(load_text(HARBOUR, Scenario)).recording


def poses_of(recording):
    """(K, 4, 4) of the LiDAR in the world, at its samples."""
    (info,) = (s for s in recording.info("wamv").sensors if s.name == "lidar")
    frames, times = recording.vehicle("wamv"), recording.samples("wamv", "lidar").time
    rows = np.rint(np.interp(times, frames.time.values, np.arange(frames.time.size))).astype(int)
    np.testing.assert_allclose(frames.time.values[rows], times, atol=1e-9)
    found = np.tile(np.eye(4), (len(rows), 1, 1))
    for pose, row in zip(found, rows, strict=True):
        pose[:3, :3] = rotation_matrix(frames.attitude.values[row])
        pose[:3, 3] = frames.position.values[row] + pose[:3, :3] @ np.array(info.position)
    return found


def undone(recording, k, points, late):
    """Points of sample k as from the pose at the end of its sweep: moved on for what the vehicle
    moved since each ray left, to first order in the time."""
    (info,) = (s for s in recording.info("wamv").sensors if s.name == "lidar")
    frames, t = recording.vehicle("wamv"), recording.samples("wamv", "lidar").time[k]
    row = int(np.argmin(np.abs(frames.time.values - t)))
    turn = frames.angular_velocity.values[row]
    moves = frames.velocity.values[row] + np.cross(turn, np.array(info.position) + points)
    return points + late[:, None] * moves


@pytest.mark.rest
def test_kiss_icp_finds_the_way_through_a_harbour(tour):
    """Odometry by the sweeps alone, their own motion undone by it, within 1 % of the distance."""
    from kiss_icp.config import KISSConfig
    from kiss_icp.kiss_icp import KissICP

    config = KISSConfig()
    config.data.max_range, config.data.min_range, config.data.deskew = 80.0, 2.0, True
    config.mapping.voxel_size = 0.8
    odometry, clouds, found = KissICP(config), tour.payload("wamv", "lidar"), []
    for k in range(len(clouds)):
        points = clouds[k].astype(np.float64)
        points = points[np.isfinite(points[:, 0])]
        when = points[:, 5] - points[:, 5].min()
        odometry.register_frame(points[:, :3], when / when.max())
        found.append(odometry.last_pose)
    true = poses_of(tour)
    true = np.linalg.inv(true[0]) @ true
    track = np.array(found)[:, :3, 3]
    distance = np.linalg.norm(np.diff(true[:, :3, 3], axis=0), axis=1).sum()
    assert distance > 80.0
    error = np.linalg.norm(track - true[:, :3, 3], axis=1)
    print(f"kiss-icp: {error[-1]:.3f} m off after {distance:.1f} m, {error.max():.3f} m at most")
    assert error.max() < 0.01 * distance


@pytest.fixture(scope="module")
def coast():
    """A shore of hills that rises to 25 m in the north, with sheds, and a LiDAR of 64 beams."""
    rng = np.random.default_rng(7)
    north, east = np.meshgrid(np.arange(-60, 100, 2.0), np.arange(-90, 90, 2.0), indexing="ij")
    depth = 8.0 - 0.35 * np.maximum(north + 20.0, 0.0)
    for _ in range(12):
        length, direction = rng.uniform(8.0, 30.0), rng.uniform(0.0, 2.0 * np.pi)
        along = north * np.cos(direction) + east * np.sin(direction)
        depth += 0.02 * length * np.sin(2.0 * np.pi * along / length + rng.uniform(0.0, 6.0))
    with jax.enable_x64(True):
        bottom = height_grid((-60.0, -90.0), (2.0, 2.0), depth)
    sheds = [
        Body(f"shed {y}", "box", length=6, beam=9, height=8, position=np.array([30.0, y, -10.0]))
        for y in (-30.0, 5.0, 32.0)
    ]
    scene = RayScene(sheds, bottom, "rock")
    model = load("os1_64", LidarModel)
    return fit("lidar", craft.calm(), rays=scene, model=model, fidelity="nominal").dense


def test_small_gicp_registers_two_scans_to_a_centimetre(coast):
    """2.3 m and 9 degrees apart, with their noise, from a guess that is 0.3 m and 2 degrees off."""
    import small_gicp

    poses, clouds = [], []
    for number, (place, heading) in enumerate([((0, 0, -3), 0.1), ((2, 1, -3.3), 0.25)]):
        turn = np.array([math.cos(0.5 * heading), 0.02 * number, 0.01, math.sin(0.5 * heading)])
        turn /= np.linalg.norm(turn)
        view = Views(
            np.array([place], float), turn[None], np.array([number]), np.array([[1, 2]], np.uint32)
        )
        points = coast.expand(view, craft.calm()).payload[0, :, :3].astype(np.float64)
        clouds.append(points[np.isfinite(points[:, 0])])
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rotation_matrix(turn), place
        poses.append(pose)
    true = np.linalg.inv(poses[0]) @ poses[1]
    off = np.eye(4)
    off[:3, :3] = rotation_matrix([math.cos(0.0175), 0.0, 0.0, math.sin(0.0175)])
    off[:3, 3] = (0.2, -0.2, 0.05)
    result = small_gicp.align(
        *clouds,
        init_T_target_source=true @ off,
        downsampling_resolution=0.2,
        max_correspondence_distance=1.0,
        max_iterations=100,
        translation_epsilon=1e-5,
        rotation_epsilon=1e-5,
    )
    error = np.linalg.inv(true) @ result.T_target_source
    print(f"small-gicp: {1e3 * np.linalg.norm(error[:3, 3]):.1f} mm off, {len(clouds[0])} points")
    assert np.linalg.norm(error[:3, 3]) < 0.01
    assert np.arccos(0.5 * (np.trace(error[:3, :3]) - 1.0)) < math.radians(0.05)


MAZE = """
kind: scenario
name: maze
seed: 2
duration: 50
time_step: 0.02
world:
  name: maze
  seabed: {depth: 3}
  bodies:
    - {name: outside, wall: {points: [[-12, -12], [12, -12], [12, 12], [-12, 12], [-12, -12]],
       height: 6, thickness: 0.3}}
    - {name: inside, wall: {points: [[-4, -12], [-4, -4], [4, -4]], height: 6, thickness: 0.3}}
    - {name: other, wall: {points: [[12, 3], [5, 3], [5, 7]], height: 6, thickness: 0.3}}
    - {name: third, wall: {points: [[-12, 5], [-6, 5]], height: 6, thickness: 0.3}}
vehicles:
  - name: wamv
    vehicle: otter
    start: {position: [0, 0, 0], speed: 0.6}
    commands: {left_rpm: 420, right_rpm: 280}
    sensors:
      - {type: lidar, name: lidar, rate: 5, position: [0, 0, -0.6], model: tim571}
"""
WALLS = (
    ((-12, -12), (12, -12), (12, 12), (-12, 12), (-12, -12)),
    ((-4, -12), (-4, -4), (4, -4)),
    ((12, 3), (5, 3), (5, 7)),
    ((-12, 5), (-6, 5)),
)
"""Their middle lines."""
THICK = 0.3


@pytest.mark.rest
def test_a_map_of_the_maze_has_its_walls_where_they_are():
    """Cells of 0.1 m that at least three rays ended in, by the true pose at the end of each sweep
    with the motion in it undone: 95 % of them within 0.15 m of the face of a wall."""
    recording = st.run(load_text(MAZE, Scenario)).recording
    scans = recording.payload("wamv", "lidar")
    azimuth = np.radians(np.linspace(135.0, -135.0, 811))
    beams = np.column_stack([np.cos(azimuth), np.sin(azimuth), 0.0 * azimuth])
    late = np.arange(-810, 1) * (0.75 / 5.0 / 811)
    ends = []
    for k, pose in enumerate(poses_of(recording)):
        reach = scans[k][0].astype(np.float64)
        seen = np.isfinite(reach)
        local = undone(recording, k, reach[seen][:, None] * beams[seen], late[seen])
        ends.append(local @ pose[:3, :3].T + pose[:3, 3])
    cells, hits = np.unique(np.floor(np.concatenate(ends)[:, :2] / 0.1), axis=0, return_counts=True)
    centres = 0.1 * (cells[hits >= 3] + 0.5)
    away = np.min([to_line(centres, *ends) for line in WALLS for ends in pairwise(line)], axis=0)
    good = np.mean(np.abs(away - 0.5 * THICK) < 0.15)
    print(f"maze: {good:.1%} of {len(centres)} cells within 0.15 m of a wall")
    assert len(centres) > 800
    assert good > 0.95


def to_line(points, start, end):
    """Distance of points (P, 2) from a stretch."""
    start, end = np.array(start, float), np.array(end, float)
    way = end - start
    share = np.clip((points - start) @ way / (way @ way), 0.0, 1.0)
    return np.linalg.norm(points - start - share[:, None] * way, axis=1)
