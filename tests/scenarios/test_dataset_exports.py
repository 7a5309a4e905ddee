"""Datasets in the layouts of others, and their sheets."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from ruamel.yaml import YAML

from seatrial.dataset import exports
from seatrial.dataset.detection.making import make_detection_sets
from seatrial.dataset.exports import euroc, kitti
from seatrial.dataset.flight import Mounting, rotate
from seatrial.dataset.pictures import pixels
from seatrial.dataset.pictures.objects import things
from seatrial.dataset.sequence import Camera, Dataset, read_dataset
from seatrial.dataset.sheet import contact_sheet
from seatrial.errors import DatasetError
from tank import FRAMES


def test_euroc(made, tmp_path):
    from ruamel.yaml import YAML

    assert exports.export(made.folder, "euroc", tmp_path / "out") == 2 * FRAMES
    home = tmp_path / "out" / "mav0"
    sheet = YAML(typ="safe").load(home / "cam0" / "sensor.yaml")
    place = np.array(sheet["T_BS"]["data"]).reshape(4, 4)
    assert np.allclose(place[:3, :3] @ place[:3, :3].T, np.eye(3))
    # From the IMU the camera sits 0.1 m ahead, 0.3 m to port and 0.1 m lower, less the IMU's pitch.
    pitch = np.radians(20.0)
    turned = np.array(
        [[np.cos(pitch), 0, -np.sin(pitch)], [0, 1, 0], [np.sin(pitch), 0, np.cos(pitch)]]
    )
    assert np.allclose(place[:3, 3], turned @ [0.1, -0.3, 0.1])
    rows = np.genfromtxt(home / "state_groundtruth_estimate0" / "data.csv", delimiter=",")
    truth = made.motion("veh0/imu0").of(made.sensors[0].mounting)
    assert np.allclose(rows[:, 3], -truth.position[:, 2])
    assert np.allclose(rows[:, 1], truth.position[:, 1])
    # Specific force turned to the world points up and is about g: body, axes and world agree.
    imu = np.genfromtxt(home / "imu0" / "data.csv", delimiter=",")
    up = rotate(rows[:, 4:8], imu[:, 4:7]).mean(axis=0)
    assert up == pytest.approx([0.0, 0.0, 9.8], abs=0.8)
    names = (home / "cam0" / "data.csv").read_text().splitlines()
    assert names[2].split(",")[0] == "100000000"
    assert (home / "cam0" / "data" / "100000000.png").is_file()


def test_kitti_and_tum(made, tmp_path):
    exports.export(made.folder, "kitti", tmp_path / "kitti")
    poses = np.loadtxt(tmp_path / "kitti/poses/00.txt").reshape(-1, 3, 4)
    assert np.allclose(poses[0], np.eye(4)[:3])
    camera = made.cameras[0]
    place = made.motion(camera.folder).of(camera.mounting).position
    assert np.linalg.norm(poses[-1][:, 3]) == pytest.approx(np.linalg.norm(place[-1] - place[0]))
    lines = dict(
        r.split(": ") for r in (tmp_path / "kitti/sequences/00/calib.txt").read_text().splitlines()
    )
    right = np.array(lines["P3"].split(), float).reshape(3, 4)
    assert right[0, 3] == pytest.approx(-camera.intrinsics[0] * 0.2)
    # The left camera sits 0.2 m ahead of the vehicle's origin and 0.1 m to port, and looks down
    # by 30°; Tr tells of places ahead, to port and up.
    carried = np.array(lines["Tr"].split(), float).reshape(3, 4)
    assert carried @ [0.2, 0.1, 0.0, 1.0] == pytest.approx(np.zeros(3), abs=1e-12)
    along = 0.2 + np.cos(np.radians(30.0)), 0.1, -np.sin(np.radians(30.0))
    assert carried @ [*along, 1.0] == pytest.approx([0.0, 0.0, 1.0])
    assert carried @ [0.2, -0.9, 0.0, 1.0] == pytest.approx([1.0, 0.0, 0.0])
    assert (tmp_path / "kitti/sequences/00/image_3/000002.png").is_file()
    exports.export(made.folder, "tum", tmp_path / "tum")
    track = np.loadtxt(tmp_path / "tum/veh0_camL0/groundtruth.txt")
    assert np.allclose(track[:, 3], -place[:, 2])
    x, y, z, w = track[0, 4:]
    ahead = rotate(np.array([w, x, y, z]), np.array([0.0, 0.0, 1.0]))
    assert ahead[2] < -0.4  # the optical axis points down, ahead and a little east
    assert ahead[1] > 0.5
    depth = pixels.read_png(tmp_path / "tum/veh0_camL0/depth/0.000000000.png") / 5000.0
    ours = pixels.read_depth(made.picture(camera, "D", 0), made.manifest["depth_range"])
    assert np.allclose(depth[depth > 0], ours[(depth > 0)], atol=1.1e-4)


def test_coco_and_yolo(made, tmp_path):
    exports.export(made.folder, "coco", tmp_path / "coco")
    exports.export(made.folder, "yolo", tmp_path / "yolo")
    document = json.loads((tmp_path / "coco/annotations/instances.json").read_text())
    assert len(document["images"]) == 2 * FRAMES
    names = {c["id"]: c["name"] for c in document["categories"]}
    one = document["annotations"][0]
    counts = one["segmentation"]["counts"]
    bits = np.repeat(np.arange(len(counts)) % 2, counts).reshape(64, 48).T.astype(bool)
    (crate,) = [t for t in things(made, made.cameras[0], 0) if t.kind == "crate"]
    assert names[one["category_id"]] == "crate"
    assert np.array_equal(bits, crate.mask)
    left, top, right, bottom = crate.box
    assert one["bbox"] == [left, top, right - left, bottom - top]
    label = (tmp_path / "yolo/labels/seq02_veh0_camL0_A-00000000.txt").read_text().split()
    assert float(label[1]) == pytest.approx((left + right) / 2 / 64, abs=1e-5)
    assert float(label[4]) == pytest.approx((bottom - top) / 48, abs=1e-5)
    # Found from wherever a training is started: readers look beside the file for what has no path.
    told = YAML(typ="safe").load(tmp_path / "yolo/data.yaml")
    root = Path(told.get("path") or tmp_path / "yolo")
    assert (root / told["train"]).resolve() == tmp_path / "yolo/images"
    assert list(told["names"].values()) == list(names.values())


def test_pycocotools_reads_the_masks(made, tmp_path):
    coco = pytest.importorskip("pycocotools.coco")
    exports.export(made.folder, "coco", tmp_path / "coco")
    read = coco.COCO(str(tmp_path / "coco/annotations/instances.json"))
    for annotation in read.loadAnns(read.getAnnIds()):
        assert read.annToMask(annotation).sum() == annotation["area"]


def test_a_pair_of_kitti_is_a_pair(tmp_path):
    """Before a pair there is a camera that looks elsewhere, and two pairs are listed crosswise."""
    ahead = Mounting((0.2, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    lower = [Mounting((0.2, y, 0.5), ahead.orientation) for y in (0.0, 0.3)]
    upper = [Mounting((0.2, y, -0.5), ahead.orientation) for y in (0.0, 0.4)]
    places = {"M0": ahead, "L0": lower[0], "L1": upper[0], "R0": upper[1], "R1": lower[1]}
    cameras = {
        name: Camera("", name, 0, name, 10.0, 1, 8, 6, (8.0, 8.0, 3.5, 2.5), (0.0,) * 5, place)
        for name, place in places.items()
    }
    assert kitti.pair(list(cameras.values())) == (cameras["M0"], None)
    del cameras["M0"]
    assert kitti.pair(list(cameras.values())) == (cameras["L0"], cameras["R1"])
    assert kitti.pair([cameras["R0"]]) == (cameras["R0"], None)


@pytest.mark.parametrize("layout", ["euroc", "kitti", "tum"])
def test_pictures_of_places_apart_are_no_trajectory(layout, tmp_path):
    (clear,) = make_detection_sets(tmp_path, 1, width=32, height=32, sets=("clear",))
    with pytest.raises(DatasetError, match="export to coco or yolo"):
        exports.export(clear.folder, layout, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_a_layout_cannot_tell_is_refused_before_anything_is_written(made, tmp_path):
    told = json.loads((made.folder / "manifest.json").read_text(encoding="utf-8"))
    told["cameras"][1]["distortion"] = [0.1, 0.0, 0.0, 0.0, 0.0]
    bent = Dataset(made.folder, told)
    with pytest.raises(DatasetError, match="the lens of `right` distorts"):
        kitti.write(bent, tmp_path / "out")
    blind = Dataset(made.folder, told | {"sensors": told["sensors"][1:]})
    with pytest.raises(DatasetError, match="carries no IMU"):
        euroc.write(blind, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_places_that_cannot_be_written_or_read_are_told_in_words(made, tmp_path, seatrial):
    note, spoilt = tmp_path / "note.txt", tmp_path / "seq"
    note.write_text("mine")
    shutil.copytree(made.folder, spoilt)
    (spoilt / made.picture(made.cameras[0], "C", 0).relative_to(made.folder)).write_bytes(b"no")
    for words, *command in (
        ("cannot be written", "export", made.folder, "--to", "tum", "--out", note / "x"),
        ("SHA256SUMS", "verify", note),
        ("jpg or .png", "sheet", made.folder, "--out", tmp_path / "sheet.xyz"),
        ("is no picture", "sheet", spoilt, "--out", tmp_path / "sheet.png"),
    ):  # fmt: skip
        code, _, err = seatrial("dataset", *command)
        assert (code, words in err, "Traceback" in err) == (2, True, False), err


def test_a_sheet_of_small_sets_shows_what_there_is(tmp_path):
    make_detection_sets(tmp_path / "sets", 2, width=64, height=48)
    contact_sheet(tmp_path / "sets", tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.size == (2 * 320 + 4, 2 * (240 + 16))
    with pytest.raises(DatasetError, match="has no frame 2"):
        contact_sheet(tmp_path / "sets", tmp_path / "sheet.png", 2)


def test_exports_of_unfinished_and_to_unknown_are_refused(made, tmp_path):
    with pytest.raises(DatasetError, match="unknown layout"):
        exports.export(made.folder, "imagenet", tmp_path / "out")
    with pytest.raises(DatasetError, match=r"has no manifest\.json"):
        exports.export(tmp_path, "euroc", tmp_path / "out")
    with pytest.raises(DatasetError, match="is not empty"):
        exports.export(made.folder, "euroc", made.folder)
    half = tmp_path / "half"
    half.mkdir()
    shutil.copy(made.folder / "manifest.json", half)
    with pytest.raises(DatasetError, match="is not finished"):
        read_dataset(half)
