"""The scene that goes to the sinks: the sea that pushed, and every body that can be drawn."""

import dataclasses

import numpy as np
import pytest
import record_frames as rf

import seatrial as st
from seatrial.engine.frames import Scene, read_scene, vehicle_bodies, write_scene
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder
from seatrial.spec.loading import load_text

SCENARIO = """
kind: scenario
name: everything-moves
seed: 11
duration: 12
frame_period: 0.5
control_period: 0.5
world:
  name: stirred
  seabed: {depth: 60}
  waves: {spectrum: jonswap, significant_height: 1.2, peak_period: 6.0, towards_deg: 70,
          frequencies: 25, spreading: cos2s, spreading_exponent: 6}
  current:
    series: {time: [0, 5, 20], speed: [0.2, 0.6, 0.4], towards_deg: [20, 60, 80]}
    tide: [{amplitude: 0.3, period: 44714, towards_deg: 30, phase_deg: 40}]
    profile: {depth: [0, 10, 60], factor: [1.0, 0.7, 0.2]}
  wind: {speed: 7, towards_deg: 80, gusts: {spectrum: norsok}}
  turbulence: {dissipation_rate: 1.0e-5, outer_length: 4.0}
obstacles:
  - vessel: {position: [50, 0], course_deg: 90, speed: 2, length: 10, beam: 3}
  - vessel:
      position: [0, 80]
      waypoints: [{time: 10, position: [20, 80]}, {time: 20, position: [20, 60]}]
      length: 8
      beam: 2
  - circle: {centre: [-30, 10], radius: 4}
  - polygon: {corners: [[-60, 0], [-60, 20], [-40, 10]]}
vehicles:
  - {name: boat, vehicle: otter, sensors: [], start: {position: [3, -4, 0], speed: 1.0}}
  - name: auv
    vehicle: remus100_mss
    sensors: []
    start: {position: [0, 8, 9], speed: 1.0}
    commands: {propeller_rpm: 1000}
"""


class Witness:
    """A sink that keeps what it is given."""

    def open(self, header, scene):
        self.header, self.scene, self.blocks = header, scene, []

    def write(self, frames):
        self.blocks.append(frames)

    def close(self, summary):
        self.summary = summary


@pytest.fixture(scope="module")
def witness():
    from seatrial.compile.scenario import compile_scenario
    from seatrial.engine.run import run

    sink = Witness()
    run(compile_scenario(load_text(SCENARIO, st.Scenario)), [sink])
    return sink


def test_scene_alone_gives_the_surface_that_the_physics_sampled(witness):
    (frames,) = witness.blocks
    boat = frames.vehicles["boat"]
    north, east, _ = boat.position.T
    again = witness.scene.elevation(north, east, frames.time)
    assert np.ptp(again) > 0.3
    np.testing.assert_allclose(again, boat.wave_elevation, rtol=0, atol=1e-9)


def test_scene_alone_gives_current_turbulence_and_wind_that_the_physics_sampled(witness):
    (frames,) = witness.blocks
    for name in ("boat", "auv"):
        vehicle = frames.vehicles[name]
        x, y, z = vehicle.position.T
        flow = witness.scene.flow(x, y, z, frames.time)
        np.testing.assert_allclose(flow, vehicle.current, rtol=0, atol=1e-9, err_msg=name)
        air = witness.scene.air(x, y, np.full_like(z, -10.0), frames.time)
        np.testing.assert_allclose(air, vehicle.wind, rtol=0, atol=1e-9, err_msg=name)
    assert np.ptp(frames.vehicles["boat"].wind) > 0.1


def test_surface_is_given_for_a_whole_grid_at_once(witness):
    x, y = np.meshgrid(np.linspace(-20, 20, 5), np.linspace(0, 30, 4), indexing="ij")
    grid = witness.scene.elevation(x, y, 3.0)
    assert grid.shape == (5, 4)
    assert grid[2, 1] == witness.scene.elevation(x[2, 1], y[2, 1], 3.0)


def test_scene_names_every_body_and_how_it_moves(witness):
    boat, auv, straight, turning, rock, quay = witness.scene.bodies
    assert (boat.name, boat.shape, boat.kind, boat.length) == ("boat", "vehicle", "otter", 2.0)
    assert auv.kind == "remus100_mss"
    position, velocity = straight.motion.at(4.0)
    np.testing.assert_allclose(position, (50.0, 8.0), atol=1e-12)
    np.testing.assert_allclose(velocity, (0.0, 2.0), atol=1e-12)
    for t, place in ((0.0, (0, 80)), (5.0, (10, 80)), (15.0, (20, 70)), (30.0, (20, 40))):
        np.testing.assert_allclose(turning.motion.at(t)[0], place, atol=1e-12)
    assert (rock.radius, rock.outline.tolist()) == (4.0, [[-30.0, 10.0]])
    assert quay.outline.shape == (3, 2)
    assert witness.scene.water_depth == 60.0


def same(one, other):
    """Equality of scenes, whose arrays have no plain one."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other) and one.shape == other.shape
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one)
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_scene_survives_text_to_the_last_bit(witness):
    assert same(read_scene(write_scene(witness.scene)), witness.scene)
    assert same(read_scene(write_scene(Scene())), Scene())
    for wrong in ("[]", '{"kind_of_part": "Ship"}', '{"kind_of_part": "Scene", "moon": 1}', "{}"):
        with pytest.raises((ValueError, KeyError, TypeError)):
            read_scene(wrong)


@pytest.mark.parametrize("recorder", [McapRecorder, ZarrRecorder, MemoryRecorder])
@pytest.mark.parametrize("finished", [True, False])
def test_recording_gives_the_scene_back(witness, recorder, finished, tmp_path):
    path = tmp_path / ("run.mcap" if recorder is McapRecorder else "run.zarr")
    sink = MemoryRecorder() if recorder is MemoryRecorder else recorder(path)
    sink.open(witness.header, witness.scene)
    for block in witness.blocks:
        sink.write(block)
    if finished:
        sink.close(witness.summary)
    recording = sink.recording() if recorder is MemoryRecorder else read(path)
    assert same(recording.scene, witness.scene)


@pytest.mark.parametrize("recorder", [McapRecorder, ZarrRecorder])
def test_recording_made_without_a_scene_still_opens(recorder, tmp_path):
    path = tmp_path / ("run.mcap" if recorder is McapRecorder else "run.zarr")
    sink = recorder(path)
    sink.open(rf.header())
    sink.write(rf.frames(duration=1.0))
    sink.close(rf.summary())
    assert read(path).scene is None


def test_vehicles_of_a_swarm_are_not_repeated_in_the_text_of_a_recording(tmp_path):
    many = tuple(dataclasses.replace(rf.BOAT, name=f"boat_{i}") for i in range(500))
    scene = Scene(water_depth=30.0, bodies=vehicle_bodies(many))
    sink = ZarrRecorder(tmp_path / "a.zarr")
    sink.open(rf.header(many), scene)
    recording = read(tmp_path / "a.zarr")
    assert same(recording.scene, scene)
    assert len(recording.dataset.attrs["scene"]) < 200
