"""The layout of TUM's RGB-D benchmark (Sturm and others 2012): lists of pictures and a trajectory.

A folder per camera. Stamps are seconds; depths are 16-bit, 5000 to the metre, 0 where nothing was
met or it lies beyond 13.1 m; the trajectory is that of the optical frame, in a world that is east,
north, up.
"""

import io
import shutil
from pathlib import Path

import numpy as np

from seatrial.dataset.exports.axes import in_enu, optical
from seatrial.dataset.flight import NANOSECONDS
from seatrial.dataset.pictures.pixels import png, read_depth
from seatrial.dataset.sequence import Camera, Dataset

PER_METRE = 5000.0


def write(data: Dataset, out: Path) -> int:
    """All cameras; returns the number of pictures."""
    return sum(
        _camera(data, camera, out / camera.folder.replace("/", "_")) for camera in data.cameras
    )


def _camera(data: Dataset, camera: Camera, home: Path) -> int:
    (home / "rgb").mkdir(parents=True)
    (home / "depth").mkdir()
    motion = data.motion(camera.folder).of(optical(camera.mounting))
    stamps = [seconds(stamp) for stamp in motion.stamp.tolist()]
    for i, stamp in enumerate(stamps):
        shutil.copyfile(data.picture(camera, "A", i), home / "rgb" / f"{stamp}.png")
        depth = PER_METRE * read_depth(data.picture(camera, "D", i), data.manifest["depth_range"])
        seen = np.where(depth <= 65535.0, np.rint(depth), 0.0).astype(np.uint16)
        (home / "depth" / f"{stamp}.png").write_bytes(png(seen))
    for kind in ("rgb", "depth"):
        rows = "".join(f"{stamp} {kind}/{stamp}.png\n" for stamp in stamps)
        head = f"# {kind} images\n# timestamp filename\n"
        (home / f"{kind}.txt").write_text(head + rows, encoding="utf-8")
    places, turns, _ = in_enu(motion)
    out = io.StringIO()
    out.write("# ground truth trajectory\n# timestamp tx ty tz qx qy qz qw\n")
    for stamp, place, (w, x, y, z) in zip(stamps, places.tolist(), turns.tolist(), strict=True):
        out.write(f"{stamp} " + " ".join(repr(v) for v in (*place, x, y, z, w)) + "\n")
    (home / "groundtruth.txt").write_text(out.getvalue(), encoding="utf-8")
    fx, fy, cx, cy = camera.intrinsics
    numbers = " ".join(repr(v) for v in (fx, fy, cx, cy, *camera.distortion))
    text = f"# fx fy cx cy k1 k2 p1 p2 k3\n{numbers}\n"
    (home / "camera.txt").write_text(text, encoding="utf-8")
    return len(stamps)


def seconds(stamp: int) -> str:
    """Nanoseconds as seconds, all of them."""
    return f"{stamp // NANOSECONDS}.{stamp % NANOSECONDS:09d}"
