"""KITTI's layout of odometry (Geiger and others 2012): pictures, times, calibration, poses.

A sequence per vehicle. The first camera is `image_2`, as the left one in colour is there; the right
one of a pair is `image_3`. Poses are those of the first camera, seen from its first one, with
optical axes. `Tr`, which is the laser scanner's there and without which readers such as pykitti
refuse the calibration, carries from the vehicle's axes, forward, left and up as that scanner's are,
to those of the first camera.
"""

import io
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seatrial.dataset.exports.axes import matrix, optical, relative
from seatrial.dataset.flight import NANOSECONDS, Mounting
from seatrial.dataset.sequence import Camera, Dataset
from seatrial.errors import DatasetError

_FROM_LEFT_AND_UP = Mounting((0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0))
"""Axes forward, left and up, on a vehicle whose own are forward, starboard and down."""


def write(data: Dataset, out: Path) -> int:
    """All vehicles; returns the number of pictures."""
    vehicles = sorted({camera.vehicle for camera in data.cameras})
    pairs = [pair([c for c in data.cameras if c.vehicle == vehicle]) for vehicle in vehicles]
    for camera in (one for both in pairs for one in both if one is not None):
        _check_lens(data, camera)
    (out / "poses").mkdir(parents=True)
    count = 0
    for vehicle, (left, right) in zip(vehicles, pairs, strict=True):
        home = out / "sequences" / f"{vehicle:02d}"
        count += _pictures(data, left, home / "image_2")
        if right is not None:
            count += _pictures(data, right, home / "image_3")
        _times(data, left, home)
        _calibration(left, right, home)
        _poses(data, left, out / "poses" / f"{vehicle:02d}.txt")
    return count


def pair(cameras: Sequence[Camera]) -> tuple[Camera, Camera | None]:
    """The camera of a vehicle that counts as the left one, and the right one beside it."""
    left = next((c for c in cameras if c.camera[0] in "ML"), cameras[0])
    beside = (c for c in cameras if left.camera[0] == "L" and _stands_beside(c, left))
    return left, next(beside, None)


def _stands_beside(camera: Camera, left: Camera) -> bool:
    """Whether it is the right one of a pair with a left one."""
    apart = relative(optical(camera.mounting), optical(left.mounting))
    alike = np.allclose(apart[:3, :3], np.eye(3)) and np.allclose(apart[1:3, 3], 0.0, atol=1e-6)
    return camera.camera[0] == "R" and alike and bool(apart[0, 3] > 0.0)


def _check_lens(data: Dataset, camera: Camera) -> None:
    if any(camera.distortion):
        raise DatasetError(
            f"{data.folder}: the lens of `{camera.name}` distorts, which this layout cannot tell\n"
            f"  found:    {list(camera.distortion)}\n"
            "  expected: pictures of a pinhole camera\n"
            "  to mend:  set k1 … p2 of the camera to 0 in the scenario, or export to euroc or tum"
        )


def _pictures(data: Dataset, camera: Camera, home: Path) -> int:
    home.mkdir(parents=True)
    for i in range(camera.frames):
        shutil.copyfile(data.picture(camera, "A", i), home / f"{i:06d}.png")
    return camera.frames


def _times(data: Dataset, camera: Camera, home: Path) -> None:
    stamps = data.motion(camera.folder).stamp
    rows = "".join(f"{(stamp - stamps[0]) / NANOSECONDS:.9e}\n" for stamp in stamps)
    (home / "times.txt").write_text(rows, encoding="utf-8")


def _calibration(left: Camera, right: Camera | None, home: Path) -> None:
    """P0 … P3: the grey cameras are those in colour once more. Tr: where the vehicle is."""
    first = _projection(left, 0.0)
    second = first
    if right is not None:
        apart = relative(optical(right.mounting), optical(left.mounting))
        second = _projection(right, float(apart[0, 3]))
    rows = [first, second, first, second]
    vehicle = relative(_FROM_LEFT_AND_UP, optical(left.mounting))[:3].ravel().tolist()
    named = {**{f"P{i}": row for i, row in enumerate(rows)}, "Tr": vehicle}
    text = "".join(f"{k}: {' '.join(repr(v) for v in row)}\n" for k, row in named.items())
    (home / "calib.txt").write_text(text, encoding="utf-8")


def _projection(camera: Camera, baseline: float) -> list[float]:
    fx, fy, cx, cy = camera.intrinsics
    return [fx, 0.0, cx, -fx * baseline, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0]


def _poses(data: Dataset, camera: Camera, target: Path) -> None:
    motion = data.motion(camera.folder).of(optical(camera.mounting))
    poses = [matrix(p, q) for p, q in zip(motion.position, motion.attitude, strict=True)]
    back = np.linalg.inv(poses[0])
    out = io.StringIO()
    for pose in poses:
        out.write(" ".join(f"{v:.12e}" for v in (back @ pose)[:3].ravel()) + "\n")
    target.write_text(out.getvalue(), encoding="utf-8")
