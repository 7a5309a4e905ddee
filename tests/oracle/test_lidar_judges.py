"""LiDARs before judges that nobody here wrote: odometry, registration, and a map of a maze."""

import math

import jax
import numpy as np
import pytest

import craft
import seatrial as st
from instruments import fit
from sampling import sampled
from seatrial.compile.surroundings.scene import bodies_of
from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.grid import height_grid
from seatrial.geometry.rays import RayScene
from seatrial.sensors.tap import Views
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors.optical import Lidar, LidarModel


def sailed(name, duration, seed=1, **sensor):
    """A run of the library with a LiDAR alone, told where it is."""
    scenario = load(name, Scenario)
    (vehicle,) = scenario.vehicles
    lidar = Lidar(type="lidar", name="lidar", **sensor)
    vehicle = vehicle.model_copy(update={"sensors": (lidar,), "feedback": "truth"})
    update = {"vehicles": (vehicle,), "duration": duration, "seed": seed}
    return scenario.model_copy(update=update)


def poses_of(recording):
    """(K, 4, 4) of the LiDAR in the world, at its samples."""
    boat = recording.header.vehicles[0]
    (info,) = boat.sensors
    frames, times = recording.vehicle(boat.name), recording.samples(boat.name, "lidar").time
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
    boat = recording.header.vehicles[0]
    (info,) = boat.sensors
    frames, t = recording.vehicle(boat.name), recording.samples(boat.name, "lidar").time[k]
    row = int(np.argmin(np.abs(frames.time.values - t)))
    turn = frames.angular_velocity.values[row]
    moves = frames.velocity.values[row] + np.cross(turn, np.array(info.position) + points)
    return points + late[:, None] * moves


@pytest.mark.parametrize("seed", sampled([1, 2, 3], 1))
def test_kiss_icp_finds_the_way_through_a_harbour(seed):
    """Odometry by the sweeps alone, their own motion undone by it, with its own settings for a
    LiDAR of 100 m: within 1 % of the distance in space at every instant.

    It takes the first and the last time that it is given for the ends of the sweep. Beams without a
    return are given too, at 0, where `min_range` drops them: else the few that come back from ahead
    would be stretched over the whole turn.
    """
    from kiss_icp.config import KISSConfig
    from kiss_icp.kiss_icp import KissICP

    model = load("vlp16", LidarModel)
    scenario = sailed(
        "wamv-harbour-tour", 60.0, seed, rate=10.0, position=(0, 0, -1.5), model=model
    )
    tour = st.run(scenario).recording
    config = KISSConfig()
    config.data.max_range, config.data.min_range, config.data.deskew = 100.0, 2.0, True
    config.mapping.voxel_size = 0.01 * config.data.max_range
    odometry, clouds, found = KissICP(config), tour.payload("wamv", "lidar"), []
    for k in range(len(clouds)):
        points = clouds[k].astype(np.float64)
        odometry.register_frame(np.nan_to_num(points[:, :3]), points[:, 5])
        found.append(odometry.last_pose)
    true = poses_of(tour)
    true = np.linalg.inv(true[0]) @ true
    distance = np.linalg.norm(np.diff(true[:, :3, 3], axis=0), axis=1).sum()
    assert distance > 80.0
    error = np.array(found)[:, :3, 3] - true[:, :3, 3]
    level, whole = (np.linalg.norm(part, axis=1).max() for part in (error[:, :2], error))
    print(f"kiss-icp: {level:.3f} m off in the plane, {whole:.3f} m in space, of {distance:.1f} m")
    assert whole < 0.01 * distance


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


@pytest.mark.rest
def test_a_map_of_the_maze_has_its_walls_where_they_are():
    """Cells of 0.1 m that at least three rays ended in, by the true pose at the end of each sweep
    with the motion in it undone: 95 % of them within 0.15 m of the face of a wall."""
    model = load("tim571", LidarModel)
    scenario = sailed("otter-maze", 160.0, rate=5.0, position=(0, 0, -0.5), model=model)
    recording = st.run(scenario).recording
    scans = recording.payload("otter", "lidar")
    azimuth = np.linspace(model.first_azimuth, model.last_azimuth, model.columns)
    beams = np.column_stack([np.cos(azimuth), np.sin(azimuth), 0.0 * azimuth])
    late = np.arange(1 - model.columns, 1) * (0.75 / 5.0 / model.columns)
    ends = []
    for k, pose in enumerate(poses_of(recording)):
        reach = scans[k][0].astype(np.float64)
        seen = np.isfinite(reach)
        local = undone(recording, k, reach[seen][:, None] * beams[seen], late[seen])
        ends.append(local @ pose[:3, :3].T + pose[:3, 3])
    cells, hits = np.unique(np.floor(np.concatenate(ends)[:, :2] / 0.1), axis=0, return_counts=True)
    centres = 0.1 * (cells[hits >= 3] + 0.5)
    away = np.min([outside(body, centres) for body in bodies_of(scenario, 1)], axis=0)
    good = np.mean(np.abs(away) < 0.15)
    print(f"maze: {good:.1%} of {len(centres)} cells within 0.15 m of a wall")
    assert len(centres) > 2000
    assert good > 0.95


def outside(body, points):
    """How far places (P, 2) lie outside a box or a post that stands upright; negative within."""
    place, matrix = body.pose(0.0)
    local = (points - place[:2]) @ matrix[:2, :2]
    if body.shape == "cylinder":
        return np.linalg.norm(local, axis=1) - body.radius
    over = np.abs(local) - 0.5 * np.array([body.length, body.beam])
    return np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0)
