"""EuRoC's layout, which is the ASL's (Burri and others 2016): a folder per sensor, with `data.csv`
and `sensor.yaml`.

The body is the first IMU, with its own axes; the world is east, north, up. A vehicle after the
first is `mav1` and so on. Measurements are those with noise; a depth gauge is told as in AQUALOC,
stamp and depth.
"""

import shutil
from pathlib import Path

import numpy as np

from seatrial.dataset.exports.axes import in_enu, optical, relative
from seatrial.dataset.flight import Array, Mounting
from seatrial.dataset.sequence import Camera, Dataset, DatasetSensor
from seatrial.dataset.tables import read_table, table, words
from seatrial.errors import DatasetError

_IMU = (
    *(f"w_RS_S_{axis} [rad s^-1]" for axis in "xyz"),
    *(f"a_RS_S_{axis} [m s^-2]" for axis in "xyz"),
)
_STATE = (
    *(f"p_RS_R_{axis} [m]" for axis in "xyz"),
    *(f"q_RS_{part} []" for part in "wxyz"),
    *(f"v_RS_R_{axis} [m s^-1]" for axis in "xyz"),
    *(f"b_w_RS_S_{axis} [rad s^-1]" for axis in "xyz"),
    *(f"b_a_RS_S_{axis} [m s^-2]" for axis in "xyz"),
)


def write(data: Dataset, out: Path) -> int:
    """All vehicles; returns the number of pictures."""
    count = 0
    carriers = sorted({s.vehicle for s in data.sensors} | {c.vehicle for c in data.cameras})
    bodies = {s.vehicle for s in data.sensors if s.kind == "imu"}
    for vehicle in carriers:
        if vehicle not in bodies:
            name = data.manifest["vehicles"][vehicle]
            raise DatasetError(
                f"{data.folder}: `{name}` carries no IMU, which is the body of this layout\n"
                "  expected: an IMU on every vehicle with a camera\n"
                "  to mend:  give it one in the scenario, or export to tum or kitti"
            )
    for vehicle in carriers:
        sensors = [s for s in data.sensors if s.vehicle == vehicle]
        cameras = [c for c in data.cameras if c.vehicle == vehicle]
        imus = [s for s in sensors if s.kind == "imu"]
        home = out / f"mav{vehicle}"
        body = imus[0].mounting
        for i, camera in enumerate(cameras):
            count += _camera(data, camera, body, home / f"cam{i}")
        for i, imu in enumerate(imus):
            _imu(data, imu, body, home / f"imu{i}")
        for i, gauge in enumerate(s for s in sensors if s.kind == "depth"):
            _gauge(data, gauge, body, home / f"depth{i}")
        _state(data, imus[0], home / "state_groundtruth_estimate0")
    return count


def _camera(data: Dataset, camera: Camera, body: Mounting, home: Path) -> int:
    (home / "data").mkdir(parents=True)
    stamps = data.motion(camera.folder).stamp
    for i, stamp in enumerate(stamps.tolist()):
        shutil.copyfile(data.picture(camera, "A", i), home / "data" / f"{stamp}.png")
    names = [(f"{stamp}.png",) for stamp in stamps.tolist()]
    (home / "data.csv").write_bytes(words(("filename",), stamps, names))
    k1, k2, p1, p2, k3 = camera.distortion
    _describe(
        home,
        "camera",
        camera.name,
        relative(optical(camera.mounting), body),
        f"rate_hz: {camera.rate:g}",
        f"resolution: [{camera.width}, {camera.height}]",
        "camera_model: pinhole",
        f"intrinsics: {list(camera.intrinsics)} # fu, fv, cu, cv",
        "distortion_model: radial-tangential",
        f"distortion_coefficients: {[k1, k2, p1, p2]}",
        f"third_radial_coefficient: {k3!r} # beyond what this layout has",
    )
    return len(stamps)


def _imu(data: Dataset, imu: DatasetSensor, body: Mounting, home: Path) -> None:
    home.mkdir(parents=True)
    _, stamps, values = read_table(data.folder / imu.folder / "noisy.csv")
    (home / "data.csv").write_bytes(table(_IMU, stamps, np.hstack([values[:, 3:6], values[:, :3]])))
    noise = {
        "gyroscope_noise_density": imu.noise.get("gyroscope_noise_density", 0.0),
        "gyroscope_random_walk": imu.noise.get("gyroscope_random_walk", 0.0),
        "accelerometer_noise_density": imu.noise.get("accelerometer_noise_density", 0.0),
        "accelerometer_random_walk": imu.noise.get("accelerometer_random_walk", 0.0),
    }
    told = [f"{name}: {value!r}" for name, value in noise.items()]
    _describe(home, "imu", imu.name, relative(imu.mounting, body), f"rate_hz: {imu.rate:g}", *told)


def _gauge(data: Dataset, gauge: DatasetSensor, body: Mounting, home: Path) -> None:
    home.mkdir(parents=True)
    shutil.copyfile(data.folder / gauge.folder / "noisy.csv", home / "data.csv")
    place = relative(gauge.mounting, body)
    _describe(home, "depth", gauge.name, place, f"rate_hz: {gauge.rate:g}")


def _state(data: Dataset, imu: DatasetSensor, home: Path) -> None:
    """The truth about the body; biases of the simulated units are not told, and are 0 in their
    columns, because readers such as evo refuse a row with an empty place."""
    home.mkdir(parents=True)
    motion = data.motion(imu.folder).of(imu.mounting)
    unknown = np.zeros((len(motion.stamp), 6))
    values = np.hstack([*in_enu(motion), unknown])
    (home / "data.csv").write_bytes(table(_STATE, motion.stamp, values))
    _describe(home, "pose", "truth", np.eye(4))


def _describe(home: Path, kind: str, name: str, place: Array, *more: str) -> None:
    numbers = ", ".join(repr(float(v)) for v in place.ravel())
    lines = [
        f"sensor_type: {kind}",
        f"comment: {name}, simulated",
        "T_BS: # from the sensor to the body, which is the first IMU",
        "  cols: 4",
        "  rows: 4",
        f"  data: [{numbers}]",
        *more,
    ]
    (home / "sensor.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
