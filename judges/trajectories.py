"""evo reads the trajectories of a dataset in three layouts, and finds that all tell the same way.

    python judges/trajectories.py

It is installed into build/judges beside this checkout's own environment. A BlueROV2 is flown for a
few seconds, and its dataset is exported as EuRoC, TUM and KITTI. evo's own readers take them in;
the body's way of EuRoC is carried to the camera by that layout's calibration. The verdict: against
the way that TUM tells, which is compared with the dataset's own truth, the absolute pose errors of
the others are below a micrometre and a microradian.
"""

import json
import shutil
from pathlib import Path

from packages import bring

PLACE = Path("build/judges/trajectories")
FRAMES = 40
ENOUGH = 1e-6


def judge() -> bool:
    """Fly, export, read, compare."""
    import numpy as np
    from evo.core import metrics, sync, trajectory
    from evo.tools import file_interface
    from ruamel.yaml import YAML

    from seatrial.dataset.exports import export
    from seatrial.datasets import make_dataset

    shutil.rmtree(PLACE / "seq", ignore_errors=True)
    data = make_dataset("bluerov2-inspection", PLACE / "seq", frames=FRAMES, width=32)
    for name in ("euroc", "tum", "kitti"):
        shutil.rmtree(PLACE / name, ignore_errors=True)
        export(data.folder, name, PLACE / name)
    tum = file_interface.read_tum_trajectory_file(PLACE / "tum/veh0_camM0/groundtruth.txt")
    camera = data.cameras[0]
    place = data.motion(camera.folder).of(camera.mounting).position
    own = place[:, [1, 0, 2]] * [1.0, 1.0, -1.0]  # east, north, up
    errors = {"tum_truth_m": float(np.abs(tum.positions_xyz - own).max())}

    mav = PLACE / "euroc" / "mav0"
    body = file_interface.read_euroc_csv_trajectory(mav / "state_groundtruth_estimate0/data.csv")
    sheet = YAML(typ="safe").load(mav / "cam0" / "sensor.yaml")
    body.transform(np.array(sheet["T_BS"]["data"]).reshape(4, 4), right_mul=True)
    reference, carried = sync.associate_trajectories(tum, body, max_diff=1e-6)
    kitti = file_interface.read_kitti_poses_file(PLACE / "kitti/poses/00.txt")
    first = trajectory.PoseTrajectory3D(
        poses_se3=[np.linalg.inv(tum.poses_se3[0]) @ pose for pose in tum.poses_se3],
        timestamps=tum.timestamps,
    )
    pairs = {"euroc": (reference, carried), "kitti": (first, kitti)}
    for name, pair in pairs.items():
        for part, relation in (
            ("m", metrics.PoseRelation.translation_part),
            ("rad", metrics.PoseRelation.rotation_angle_rad),
        ):
            ape = metrics.APE(relation)
            ape.process_data(pair)
            errors[f"{name}_{part}"] = float(ape.get_statistic(metrics.StatisticsType.max))
    poses = {name: pair[1].num_poses for name, pair in pairs.items()}
    whole = all(count == FRAMES for count in poses.values())
    passed = whole and max(errors.values()) < ENOUGH
    print(json.dumps({"poses": poses, "way_m": tum.path_length} | errors | {"passed": passed}))
    return passed


if __name__ == "__main__":
    bring(PLACE, "evo", "--no-deps", "evo>=1.31", "natsort")
    raise SystemExit(0 if judge() else 1)
