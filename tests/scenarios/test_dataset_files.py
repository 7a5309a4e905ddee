"""Detection sets, and files of datasets that other programs read."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from seatrial.dataset import files
from seatrial.dataset.detection.making import make_detection_sets
from seatrial.dataset.pictures import pixels


def test_both_detection_sets_show_the_same_things(tmp_path):
    sets = make_detection_sets(tmp_path, 3, 5, 96, 72)
    for frame in range(3):
        names = [
            {b["name"] for b in json.loads(d.picture(d.cameras[0], "L", frame, "json").read_text())}
            for d in sets
        ]
        assert names[0]
        assert len(names[0] & names[1]) >= len(names[0]) - 1  # waves may hide one
    grey = [pixels.read_png(d.picture(d.cameras[0], "A", 0)).astype(float) for d in sets]
    colour = [np.abs(g - g.mean(axis=-1, keepdims=True)).mean() for g in grey]
    assert colour[1] < 0.5 * colour[0]  # fog is grey


def test_pixels_are_read_back_by_another_program():
    random = np.random.default_rng(0)
    for shape, dtype in (((5, 7), np.uint8), ((5, 7), np.uint16), ((6, 9, 3), np.uint8)):
        picture = random.integers(0, np.iinfo(dtype).max, shape).astype(dtype)
        with Image.open(io.BytesIO(pixels.png(picture))) as found:
            assert np.array_equal(np.asarray(found), picture)


def test_openexr_is_read_back_by_mitsuba(tmp_path):
    mi = pytest.importorskip("mitsuba")
    mi.set_variant("scalar_rgb")
    picture = np.random.default_rng(0).random((37, 50, 3)).astype(np.float32)
    path = tmp_path / "a.exr"
    path.write_bytes(pixels.exr({n: picture[..., i] for i, n in enumerate("RGB")}, half=True))
    assert np.allclose(np.array(mi.Bitmap(str(path))), picture, atol=5e-4)


def test_a_list_of_checksums_with_a_damaged_line_is_still_read(tmp_path):
    sums = tmp_path / "SHA256SUMS"
    good = files.line("a.csv", b"1").encode()
    sums.write_bytes(good + files.line("b.csv", b"2").encode().replace(b"b.csv", b"\xb2.csv"))
    found = files.read_sums(sums)
    assert "a.csv" in found
    assert "b.csv" not in found


def test_a_list_of_checksums_that_names_no_file_that_can_be_is_refused_in_words(tmp_path, seatrial):
    (tmp_path / "a.csv").write_bytes(b"1")
    damaged = files.line("b\0.csv", b"2")
    (tmp_path / files.SUMS).write_text(files.line("a.csv", b"1") + damaged)
    code, _, err = seatrial("dataset", "verify", tmp_path)
    assert code == 2
    assert "1 of 2 files are not as they were written" in err
    assert "b\0.csv: no name of a file" in err
    assert "Traceback" not in err
