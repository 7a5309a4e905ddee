"""roslibjs and Foxglove's client, of npm, hear and steer a run.

    python judges/web_clients.py [FOLDER]

The packages are installed below the folder with npm.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import seatrial as st
from seatrial.bridges.foxglove.bridge import FoxgloveBridge
from seatrial.bridges.rosbridge.bridge import RosbridgeBridge
from seatrial.bridging import run_bridged

SCENARIO = {
    "seed": 5,
    "duration": 15.0,
    "world": "calm",
    "vehicles": [{"name": "otter", "vehicle": "otter", "start": {"speed": 1.0}}],
}


def main(folder: Path) -> None:
    """Install, run, compare."""
    shutil.copytree(Path(__file__).parent / "javascript", folder, dirs_exist_ok=True)
    got = subprocess.run(["npm", "install", "--silent"], cwd=folder, capture_output=True, text=True)
    if got.returncode:
        raise SystemExit(f"cannot be judged here: npm says\n{got.stderr}")
    plan = st.compile_scenario(st.Scenario(**SCENARIO))
    rosbridge, foxglove = RosbridgeBridge(0), FoxgloveBridge(0)
    clients = [
        subprocess.Popen(
            ["node", script, bridge.place.rpartition(":")[2]],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        for script, bridge in (("roslib.mjs", rosbridge), ("foxglove.mjs", foxglove))
    ]
    finished = run_bridged(plan, [rosbridge, foxglove], pace=1.0, out=folder / "run.mcap")
    roslib, fox = (json.loads(client.communicate(timeout=30)[0]) for client in clients)
    print("roslibjs:", roslib, dict(rosbridge.counts))
    print("Foxglove:", fox, dict(foxglove.counts))
    command = finished.dataset.command.values[:, 0]
    checks = {
        "roslibjs heard every odometry": roslib["heard"]
        == round((roslib["last"] - roslib["first"]) * 10.0) + 1,
        "roslibjs paused, resumed and ordered": rosbridge.counts["heard"] == 3,
        "its order was in force": bool((command[:, 1] == 3.0).any()),
        "Foxglove's order was in force": bool((command[:, 0] == 2.0).any()),
        "Foxglove heard the time and odometries": fox["times"] > 50 and fox["heard"] > 50,
        "as long as they are": fox["bytes"] > 700,
        "nothing was refused": not rosbridge.counts["refused"] and not foxglove.counts["refused"],
    }
    for check, passed in checks.items():
        print("passed" if passed else "FAILED", check)
    if not all(checks.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="seatrial-ws-")))
