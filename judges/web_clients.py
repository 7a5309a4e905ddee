"""roslibjs and Foxglove's client, of npm, hear and steer a run, and canboatjs reads its NMEA 2000.

    python judges/web_clients.py [FOLDER]

The packages are installed below the folder with npm.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import seatrial as st
from seatrial.bridges.foxglove.bridge import FoxgloveBridge
from seatrial.bridges.nmea.bridge2000 import Nmea2000Bridge
from seatrial.bridges.rosbridge.bridge import RosbridgeBridge
from seatrial.bridging import run_bridged
from seatrial.spatial.geodesy import to_ned

SCENARIO = {
    "seed": 5,
    "duration": 15.0,
    "world": "calm",
    "vehicles": [
        {
            "name": "otter",
            "vehicle": "otter",
            "start": {"speed": 1.0},
            "sensors": [
                {"type": "gnss", "name": "gnss", "rate": 5, "position": [0, 0, -1]},
                {"type": "compass", "name": "compass", "rate": 10},
            ],
        }
    ],
}


def main(folder: Path) -> None:
    """Install, run, compare."""
    shutil.copytree(Path(__file__).parent / "javascript", folder, dirs_exist_ok=True)
    got = subprocess.run(["npm", "install", "--silent"], cwd=folder, capture_output=True, text=True)
    if got.returncode:
        raise SystemExit(f"cannot be judged here: npm says\n{got.stderr}")
    plan = st.compile_scenario(st.Scenario(**SCENARIO))
    rosbridge, foxglove = RosbridgeBridge(0), FoxgloveBridge(0)
    can = Nmea2000Bridge("tcp://127.0.0.1:0")
    peers = {"roslib.mjs": rosbridge, "foxglove.mjs": foxglove, "canboat.mjs": can}
    clients = [
        subprocess.Popen(
            ["node", script, re.split("[: ]", bridge.place)[-1]],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        for script, bridge in peers.items()
    ]
    finished = run_bridged(plan, list(peers.values()), pace=1.0, out=folder / "run.mcap")
    roslib, fox, boat = (json.loads(client.communicate(timeout=30)[0]) for client in clients)
    print("roslibjs:", roslib, dict(rosbridge.counts))
    print("Foxglove:", fox, dict(foxglove.counts))
    print("canboatjs:", boat["counts"], dict(can.counts))
    samples = finished.recording.sensor("otter", "gnss")
    errors = [
        np.hypot(*(np.subtract(to_ned(*place, 0.0, plan.header.datum)[:2], [north, east])))
        for place, north, east in zip(
            boat["places"], samples.north.values, samples.east.values, strict=False
        )
    ]
    print(f"places at most {max(errors):.3f} m off")
    command = finished.dataset.command.values[:, 0]
    checks = {
        "roslibjs heard every odometry": roslib["heard"]
        == round((roslib["last"] - roslib["first"]) * 10.0) + 1,
        "roslibjs paused, resumed and ordered": rosbridge.counts["heard"] == 3,
        "its order was in force": bool((command[:, 1] == 3.0).any()),
        "Foxglove's order was in force": bool((command[:, 0] == 2.0).any()),
        "Foxglove heard the time and odometries": fox["times"] > 50 and fox["heard"] > 50,
        "as long as they are": fox["bytes"] > 700,
        "canboatjs read every place": len(boat["places"]) == samples.sizes["time"],
        "as they are": max(errors) < 0.02,
        "and every fast packet": len(boat["whole"]) in (15, 16) and not boat["failed"],
        "and the headings": boat["counts"]["127250"] >= 150,
        "nothing was refused": not rosbridge.counts["refused"] and not foxglove.counts["refused"],
    }
    for check, passed in checks.items():
        print("passed" if passed else "FAILED", check)
    if not all(checks.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="seatrial-ws-")))
