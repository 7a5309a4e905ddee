"""Datasets of scenarios: tables, pictures, and what becomes of a kill."""

import errno
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import seatrial as st
from seatrial.dataset import files
from seatrial.dataset.detection.making import make_detection_sets
from seatrial.dataset.flight import Motion, Mounting, rotate
from seatrial.dataset.making import camera_name
from seatrial.dataset.names import Picture, read_name
from seatrial.dataset.pictures import pixels
from seatrial.dataset.pictures.objects import things
from seatrial.dataset.sequence import read_dataset
from seatrial.dataset.stream import read_stream
from seatrial.dataset.tables import read_table
from seatrial.datasets import make_dataset
from seatrial.datasets.cameras import cameras_of, cut, listed
from seatrial.datasets.flying import truths_beside
from seatrial.errors import DatasetError, SpecError
from seatrial.geometry.bodies import rotation_matrix
from seatrial.spec.sensors import cameras as spec
from tank import BOTTOM, CAMERA, FRAMES, every_file, scenario


def test_names_and_folders_are_the_seeds(made):
    assert [camera.camera for camera in made.cameras] == ["L0", "R0"]
    path = made.picture(made.cameras[0], "A", 0)
    assert path.name == "seq02_veh0_camL0_A-00000000.png"
    assert path.parent.parent.name == "camL0"
    assert read_name(path.name) == Picture("02", 0, "L0", "A", 0)
    assert {p.name for p in (made.folder / "veh0").iterdir()} == {
        "imu0",
        "depth0",
        "camL0",
        "camR0",
    }
    assert st.load(made.folder / "scenario.yaml").seed == 3
    with pytest.raises(ValueError, match="no name of a picture"):
        read_name("seq02_camM0_A-00000000.png")


def test_tables_hold_what_was_measured_beside_the_truth(made):
    columns, stamps, noisy = read_table(made.folder / "veh0/imu0/noisy.csv")
    _, same, exact = read_table(made.folder / "veh0/imu0/noise_free.csv")
    assert columns[0] == "a_x [m s^-2]"
    assert np.array_equal(stamps, same)
    assert set(np.diff(stamps)) == {5_000_000}
    assert 0 < np.abs(noisy - exact).std() < 0.5
    motion = made.motion("veh0/imu0").of(made.sensors[0].mounting)
    # The specific force is the acceleration of the IMU's own place, less gravity.
    velocity = rotate(motion.attitude, motion.velocity)
    felt = rotate(motion.attitude, exact[:, :3])
    drawn = np.gradient(velocity, 0.005, axis=0)[5:-5] - [0.0, 0.0, 9.80665]
    assert np.allclose(felt[5:-5], drawn, atol=0.02)
    assert np.allclose(motion.rate, exact[:, 3:], atol=1e-12)
    _, _, depth = read_table(made.folder / "veh0/depth0/noise_free.csv")
    gauge = made.motion("veh0/depth0").of(made.sensors[1].mounting)
    assert np.allclose(depth[:, 0], gauge.position[:, 2], atol=1e-12)


def test_the_motion_of_a_sensor_leads_back_to_its_vehicle():
    random = np.random.default_rng(0)
    turn = random.normal(size=(5, 4))
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    body = Motion(
        np.arange(5), *(random.normal(size=(5, 3)),), turn, *random.normal(size=(2, 5, 3))
    )
    mounting = Mounting((0.3, -0.2, 0.1), tuple(turn[0]))
    back = body.of(mounting).without(mounting)
    for name in ("position", "attitude", "velocity", "rate"):
        assert np.allclose(getattr(back, name), getattr(body, name), atol=1e-12), name


@pytest.mark.parametrize("which", [0, 1])
def test_depths_put_back_into_the_world_lie_where_things_are(made, which):
    camera = made.cameras[which]
    motion = made.motion(camera.folder).of(camera.mounting)
    fx, fy, cx, cy = camera.intrinsics
    column, row = np.meshgrid(np.arange(camera.width), np.arange(camera.height))
    rays = np.stack([np.ones_like(column), (column - cx) / fx, (row - cy) / fy], axis=-1)
    for frame in (0, FRAMES - 1):
        depth = pixels.read_depth(made.picture(camera, "D", frame), made.manifest["depth_range"])
        near = np.isfinite(depth)
        depth = np.where(near, depth, 0.0)
        mask = np.where(near, pixels.read_png(made.picture(camera, "I", frame)), 0)
        place = (
            motion.position[frame]
            + (rays * depth[..., None]) @ rotation_matrix(motion.attitude[frame]).T
        )
        assert np.allclose(place[mask == 2][:, 2], BOTTOM, atol=2e-3)  # a step of the PNG is 1 mm
        (crate,) = [t for t in things(made, camera, frame) if t.kind == "crate"]
        on_it = place[mask == crate.number]
        assert len(on_it) > 20
        assert np.all(np.abs(on_it - [2.4, 0.3, BOTTOM - 0.3]) < [0.301, 0.401, 0.301])
        left, top, right, bottom = crate.box
        assert crate.mask[top:bottom, left:right].sum() == crate.mask.sum()


def test_keys_of_path_tracing_reach_the_pictures(tmp_path):
    """Paths, bounces, filter, wavelengths, lens and marine snow are those of the descriptions, and
    each of them shows."""
    camera = {"type": "camera", "name": "camera", "rate": 10, "width": 48, "height": 36,
              "focal_length": 0.01, "pixel_size": 2e-4, "f_number": 1.0, "focus": 0.3,
              "position": [0.2, 0.0, 0.0], "pitch_deg": -30, "exposure_time": 0.05}  # fmt: skip
    plain = scenario()
    rov = plain.vehicles[0]
    kept = tuple(s for s in rov.sensors if not isinstance(s, spec.Camera))
    murky = plain.world.model_copy(update={"turbidity": 0.5, "marine_snow": 40.0})
    described = scenario(
        path_tracing={"samples": 3, "bounces": 5, "denoise": "box", "spectral": True},
        world=murky,
        vehicles=[rov.model_copy(update={"sensors": (*kept, spec.Camera(**camera))})],
    )
    data = make_dataset(described, tmp_path / "seq", frames=1, renderer="traced", width=24)
    assert data.manifest["options"] == {
        "samples": 3,
        "bounces": {"total": 5, "diffuse": None, "glossy": None, "volume": None},
        "denoise": "box",
        "spectral": True,
        "snow": 40.0,
        "backend": "scalar",
    }
    (one,) = data.cameras
    assert one.intrinsics[0] == pytest.approx(0.01 / 4e-4)
    assert pixels.read_png(data.picture(one, "A", 0)).std() > 1.0
    kinds = described.model_copy(
        update={"path_tracing": described.path_tracing.model_copy(update={"glossy_bounces": 4})}
    )
    with pytest.raises(DatasetError, match="counted on a GPU or with LLVM"):
        make_dataset(kinds, tmp_path / "other", frames=1, renderer="traced")


def test_a_camera_says_its_view_by_pixels_or_by_an_angle():
    eely = {"type": "camera", "name": "camera", "rate": 10, "width": 1920, "height": 1080,
            "focal_length": 3.4e-3, "pixel_size": 3.45e-6}  # fmt: skip
    assert np.degrees(spec.Camera(**eely).field_of_view) == pytest.approx(88.49, abs=0.01)
    with pytest.raises(SpecError, match="leave one of them out"):
        spec.Camera(**eely, field_of_view=1.0)
    with pytest.raises(SpecError, match="`focus` needs the `focal_length`"):
        spec.Camera(type="camera", name="camera", rate=10, focus=2.0)


def test_every_camera_takes_as_many_frames_as_are_asked_for():
    """Also the faster one of two, and one that is faster than the frames of a recording."""
    slow = {"name": "slow", "rate": 4, "position": [0.2, 0.0, 0.0]}
    fast = {"name": "fast", "rate": 50, "position": [0.2, 0.0, 0.1]}
    rov = {"vehicle": "bluerov2_heavy", "name": "rov", "sensors": [CAMERA | slow, CAMERA | fast]}
    both = scenario(vehicles=[rov])
    fitted = cameras_of(both)
    taken = [camera.frames for camera in listed(fitted, cut(both, fitted, 3), 3)]
    assert taken == [3, 3]
    assert [camera.frames for camera in listed(fitted, both, None)] == [8, 100]
    late = scenario(vehicles=[rov], duration=0.2)
    with pytest.raises(SpecError, match="ends before `slow` has taken a picture"):
        listed(cameras_of(late), late, None)


def test_names_of_sensors_are_free_for_those_who_describe_them():
    """Also the longest, and those that look like names of what tells the truth beside them."""
    names = ["i" * 40, "imu", "imu_truth", "at_10_hz_truth"]
    sensors = [
        {"type": "imu", "name": name, "rate": 200, "errors": "adis16448"} for name in names
    ]  # fmt: skip
    fitted = [*sensors, CAMERA | {"name": "camera"}]
    rov = {"vehicle": "bluerov2_heavy", "name": "rov", "sensors": fitted}
    (participant,) = scenario(vehicles=[rov]).vehicles
    joined = truths_beside(participant, [10.0, 10.0000001])
    assert [s.name for s in joined[:4]] == names
    assert len({s.name for s in joined}) == len(joined) == 10


def test_more_cameras_than_digits_have_one_letter_each():
    taken = []
    for _ in range(12):
        taken.append(camera_name(False, "", taken))
    assert taken[9:] == ["M9", "Ma", "Mb"]
    assert read_name(Picture("02", 0, taken[-1], "A", 0).file).camera == "Mb"


def test_the_box_in_space_is_the_crate(made):
    camera = made.cameras[0]
    box = next(
        b
        for b in json.loads(made.picture(camera, "L", 1, "json").read_text())
        if b["class"] == "crate"
    )
    assert box["size"] == pytest.approx([0.6, 0.8, 0.6])
    motion = made.motion(camera.folder).of(camera.mounting)
    middle = motion.position[1] + rotation_matrix(motion.attitude[1]) @ box["centre"]
    assert middle == pytest.approx([2.4, 0.3, BOTTOM - 0.3], abs=1e-9)


def test_one_that_is_stopped_goes_on_to_the_same_bytes(made, tmp_path, monkeypatch):
    """Stopped after each frame in turn, with a line of the journal cut short."""
    from seatrial.dataset import making

    folder = tmp_path / "seq"
    drawn = []
    plain = making.put

    def stop_after_some(where, name, data):
        if name.endswith("_D-00000001.exr") and not drawn:
            drawn.append(name)
            raise KeyboardInterrupt
        return plain(where, name, data)

    monkeypatch.setattr(making, "put", stop_after_some)
    with pytest.raises(KeyboardInterrupt):
        make_dataset(scenario(), folder, frames=FRAMES, sequence="02")
    monkeypatch.undo()
    first = folder / "veh0/camL0/A/seq02_veh0_camL0_A-00000000.png"
    before = first.stat().st_mtime_ns
    with (folder / files.JOURNAL).open("a") as journal:
        journal.write("0123")
    make_dataset(scenario(), folder, frames=FRAMES, sequence="02")
    assert first.stat().st_mtime_ns == before, "a frame that was there was drawn again"
    assert every_file(folder) == every_file(made.folder)


@pytest.mark.rest
def test_a_stopped_path_tracing_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    """With a lens of finite aperture and snow in the water; judges/kills.py kills ten times."""
    pytest.importorskip("mitsuba", reason="Mitsuba comes with the extra `pictures`")
    from seatrial.dataset import making

    lens = {"focal_length": 0.0034, "f_number": 1.7, "focus": 2.0}
    small = [
        s.model_copy(update={"width": 16, "height": 12, **lens}) if s.name == "left" else s
        for s in scenario().vehicles[0].sensors
        if s.name in ("imu", "left")
    ]
    plain = scenario()
    rov = plain.vehicles[0].model_copy(update={"sensors": tuple(small)})
    world = plain.world.model_copy(update={"marine_snow": 200.0})
    deep = plain.model_copy(update={"vehicles": (rov,), "world": world})
    asked = {"frames": 2, "renderer": "traced", "samples": 2}
    put = making.put

    def stop(where, name, data):
        if name.endswith("_F-00000001.exr"):
            raise KeyboardInterrupt
        return put(where, name, data)

    whole = make_dataset(deep, tmp_path / "whole", **asked)
    assert whole.manifest["options"]["snow"] == 200.0
    monkeypatch.setattr(making, "put", stop)
    with pytest.raises(KeyboardInterrupt):
        make_dataset(deep, tmp_path / "broken", **asked)
    monkeypatch.undo()
    make_dataset(deep, tmp_path / "broken", **asked)
    assert every_file(tmp_path / "broken") == every_file(tmp_path / "whole")


def test_a_killed_detection_set_goes_on_to_the_same_bytes(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    make_detection_sets(whole, 5, 7, 64, 48)
    command = [sys.executable, "-m", "seatrial", "dataset", "detection", "--images", "5",
               "--seed", "7", "--width", "64", "--height", "48", "--out", str(broken)]  # fmt: skip
    process = subprocess.Popen([*command, "--workers", "2"])
    patience = time.monotonic() + 120
    while len(list(broken.rglob("*_A-*.png"))) < 2 and time.monotonic() < patience:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    make_detection_sets(broken, 5, 7, 64, 48)
    assert every_file(broken) == every_file(whole)


def test_checksums_are_those_of_sha256sum_and_find_what_was_changed(made, tmp_path, seatrial):
    folder = tmp_path / "seq"
    shutil.copytree(made.folder, folder)
    judged = subprocess.run(["sha256sum", "-c", "--quiet", files.SUMS], cwd=folder, check=False)
    assert judged.returncode == 0
    code, out, _ = seatrial("dataset", "verify", folder)
    assert (code, "as they were written" in out) == (0, True)
    picture = made.picture(made.cameras[1], "A", 2).relative_to(made.folder)
    (folder / picture).write_bytes(b"nothing")
    code, _, err = seatrial("dataset", "verify", folder)
    assert (code, str(picture) in err) == (2, True)
    make_dataset(scenario(), folder, frames=FRAMES, sequence="02")
    assert every_file(folder) == every_file(made.folder), "a spoilt picture was not drawn again"
    table = folder / "veh0/imu0/ground_truth.csv"
    table.write_text(table.read_text() + "0\n")
    with pytest.raises(DatasetError, match=r"ground_truth\.csv: other bytes"):
        make_dataset(scenario(), folder, frames=FRAMES, sequence="02")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"frames": 2}, r"`cameras\[0\]\.frames`"),
        ({"width": 32}, r"`cameras\[0\]\.width`"),
        ({"sequence": "03"}, "`sequence`"),
        ({"seed": 4}, "`seed`"),
        ({"samples": 5}, "no random paths"),
        ({"renderer": "painted"}, "live or traced"),
        ({"sequence": "2"}, "two letters or digits"),
        ({"frames": 500}, "at most 20 frames"),
        ({"frames": 0}, "--frames 0: out of range"),
        ({"renderer": "traced", "samples": 0}, "--samples 0: out of range"),
        ({"workers": 0}, "--workers 0: out of range"),
    ],
)
def test_other_settings_than_it_was_begun_with_are_refused(made, changes, words):
    before = every_file(made.folder)
    with pytest.raises((DatasetError, SpecError), match=words):
        make_dataset(scenario(), made.folder, **{"frames": FRAMES, "sequence": "02"} | changes)
    assert every_file(made.folder) == before


def test_scenarios_without_a_camera_and_folders_of_others_are_refused(tmp_path, seatrial):
    code, _, err = seatrial("dataset", "otter-turning-circle", "--out", tmp_path / "a")
    assert (code, "type: camera" in err) == (2, True)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "note.txt").write_text("mine")
    with pytest.raises(DatasetError, match=r"note\.txt"):
        make_dataset(scenario(), tmp_path / "letters")
    with pytest.raises(DatasetError, match="is a file"):
        make_dataset(scenario(), tmp_path / "letters" / "note.txt")
    (tmp_path / "fleet" / "vehicles").mkdir(parents=True)
    with pytest.raises(DatasetError, match="vehicles"):
        make_dataset(scenario(), tmp_path / "fleet")


def test_one_that_was_killed_while_its_manifest_was_written_goes_on(tmp_path):
    for name in ("manifest.json", "scenario.yaml", "SHA256SUMS", "SHA256SUMS.partial"):
        (tmp_path / f"{name}.4711.partial").write_text("{")
    (tmp_path / ".lock").touch()
    make_detection_sets(tmp_path.parent, 1, width=16, height=12, sets=("clear",))
    (tmp_path.parent / "clear").rename(tmp_path.parent / "undisturbed")
    tmp_path.rename(tmp_path.parent / "clear")
    make_detection_sets(tmp_path.parent, 1, width=16, height=12, sets=("clear",))
    assert every_file(tmp_path.parent / "clear") == every_file(tmp_path.parent / "undisturbed")


def test_tables_that_a_kill_left_of_another_flight_are_not_taken_for_ones_own(made, tmp_path):
    """Killed before its manifest was there, and begun anew with other options: nothing of it stays,
    neither in the checksums nor, as poses of other vehicles, in the pictures."""
    lines = []
    for name in ("veh0/camL0/others.csv", "veh0/camM7/ground_truth.csv", "scenario.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"of another flight\n")
        lines.append(files.line(name, b"of another flight\n"))
    # The first one was renamed, but its line never came; the last one was never in the folder.
    lines = [*lines[1:], files.line("../mine.txt", b"mine")]
    (tmp_path.parent / "mine.txt").write_bytes(b"mine")
    (tmp_path / files.JOURNAL).write_text("".join(lines))
    make_dataset(scenario(), tmp_path, frames=FRAMES, sequence="02")
    assert every_file(tmp_path) == every_file(made.folder)
    assert (tmp_path.parent / "mine.txt").read_bytes() == b"mine"


def test_one_that_was_killed_before_its_manifest_had_its_checksum_goes_on(made, tmp_path):
    folder = tmp_path / "seq"
    shutil.copytree(made.folder, folder)
    sums = (folder / files.SUMS).read_text().splitlines(keepends=True)
    (folder / files.SUMS).unlink()
    kept = [row for row in sums if not row.endswith("  manifest.json\n")]
    (folder / files.JOURNAL).write_text("".join(kept))
    make_dataset(scenario(), folder, frames=FRAMES, sequence="02")
    assert every_file(folder) == every_file(made.folder)


def test_tables_whose_checksums_are_lost_are_not_believed(made, tmp_path):
    folder = tmp_path / "seq"
    shutil.copytree(made.folder, folder)
    (folder / files.SUMS).unlink()
    before = every_file(folder)
    with pytest.raises(DatasetError, match="its checksum is lost"):
        make_dataset(scenario(), folder, frames=FRAMES, sequence="02")
    assert {n: b for n, b in every_file(folder).items() if files.SUMS not in n} == before


@pytest.mark.parametrize(
    "changes",
    [
        {"cameras": 3},
        {"cameras": [{"folder": "veh0/camM0"}]},
        {"sequence": "../.."},
        {"passes": ["A"]},
        {"passes": {"A": ["../png"]}},
        {"depth_range": [0.0, math.nan]},
        {"vehicles": None},
        {"sensors": [7]},
    ],
    ids=str,
)
def test_a_manifest_that_tells_nonsense_is_refused(made, tmp_path, changes):
    told = json.loads((made.folder / "manifest.json").read_text(encoding="utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(told | changes), encoding="utf-8")
    with pytest.raises(DatasetError, match="cannot be"):
        read_dataset(tmp_path)


@pytest.mark.parametrize("folder", ["../veh0/camM0", "veh0/camM1", "/tmp"])
def test_folders_of_a_manifest_are_the_datasets_own(made, tmp_path, folder):
    told = json.loads((made.folder / "manifest.json").read_text(encoding="utf-8"))
    told["cameras"][0]["folder"] = folder
    (tmp_path / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(DatasetError, match="folder"):
        read_dataset(tmp_path)


def test_a_full_disk_is_told_and_gone_on_from(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(DatasetError, match="make room and say the same again"):
        make_detection_sets(tmp_path / "sets", 1, 0, 64, 48)
    monkeypatch.undo()
    assert not list((tmp_path / "sets").rglob("*.png"))
    make_detection_sets(tmp_path / "sets", 1, 0, 64, 48)
    assert not list((tmp_path / "sets").rglob("*.partial"))


def test_the_stream_tells_everything_in_the_order_of_time(made, tmp_path):
    path = made.folder / "seq02.stream"
    assert path.read_bytes()[:4] == b"$BST"
    head, messages = read_stream(path)
    listed = list(messages)
    stamps = [m.stamp for m in listed]
    assert stamps == sorted(stamps)
    kinds = {k["kind"]: k for k in head["kinds"]}
    pictures = [m for m in listed if kinds[m.kind].get("pictures") == "A"]
    assert len(pictures) == 2 * 2 * FRAMES  # two cameras, PNG and EXR
    assert all((made.folder / m.path).is_file() for m in pictures)
    noisy = next(
        k for k in kinds.values() if (k["folder"], k.get("table")) == ("veh0/imu0", "noisy")
    )
    numbers = [m.numbers for m in listed if m.kind == noisy["kind"]]
    _, _, values = read_table(made.folder / "veh0/imu0/noisy.csv")
    assert np.array_equal(numbers, values)
    cut = tmp_path / "cut.stream"
    cut.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(DatasetError, match="no message begins"):
        list(read_stream(cut)[1])
