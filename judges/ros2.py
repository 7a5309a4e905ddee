"""A C++ program on Debian's Fast DDS exchanges messages with a run, both ways.

    python judges/ros2.py [FOLDER]

The packages are downloaded and unpacked below the folder, `fastdds/peer.cpp` is compiled with them.
The run publishes odometry, IMU and clouds of 6 MB; the peer answers every odometry with an actuator
command that carries its number. Nothing may be lost on reliable topics, and every order that the
recording shows must be one that was sent, in order.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from debian import unpack

import seatrial as st
from seatrial.bridges.ros2.bridge import Ros2Bridge
from seatrial.bridging import run_bridged

PACKAGES = [
    *("libfastrtps-dev", "libfastrtps2.9", "libfastcdr-dev", "libfastcdr1", "libtinyxml2-9"),
    *("libfoonathan-memory-dev", "libfoonathan-memory0.7.2", "libasio-dev"),
]
DOMAIN = 77
SECONDS = 20.0
LIDAR = {
    "kind": "lidar",
    "name": "wide",
    "beams": 128,
    "lowest_deg": -20,
    "highest_deg": 20,
    "columns": 2400,
    "range": 100,
    "reference_range": 50,
}


def compiled(root: Path, folder: Path) -> Path:
    """The peer."""
    libraries = next(root.glob("usr/lib/*/libfastrtps.so")).parent
    source, program = Path(__file__).parent / "fastdds" / "peer.cpp", folder / "peer"
    includes = [f"-I{root}/usr/include", f"-I{root}/usr/include/{libraries.name}"]
    places = [
        "-Wl,--disable-new-dtags",
        f"-L{libraries}",
        f"-Wl,-rpath,{libraries}",
        f"-Wl,-rpath-link,{libraries}",
    ]
    links = ["-lfastrtps", "-lfastcdr", "-lpthread"]
    command = ["g++", "-std=c++17", "-O1", *includes, source, *places, *links, "-o", program]
    subprocess.run(command, check=True)
    return program


def main(folder: Path) -> None:
    """Run both, compare."""
    program = compiled(unpack(PACKAGES, folder), folder)
    sensors = [{"type": "imu", "name": "imu", "rate": 50, "errors": "adis16448"}]
    sensors += [
        {"type": "lidar", "name": "lidar", "rate": 1, "position": [0, 0, -1], "model": LIDAR}
    ]
    participant = {"name": "otter", "vehicle": "otter", "sensors": sensors}
    plan = st.compile_scenario(
        st.Scenario(seed=1, duration=SECONDS + 1.0, world="harbour", vehicles=[participant])
    )
    bridge = Ros2Bridge(DOMAIN)
    with subprocess.Popen(
        [program, str(DOMAIN), str(SECONDS)], stdout=subprocess.PIPE, text=True
    ) as peer:
        assert peer.stdout is not None
        peer.stdout.readline()
        finished = run_bridged(plan, [bridge], pace=1.0, out=folder / "run.mcap")
        told = peer.stdout.readline()
    if peer.returncode:
        raise SystemExit(f"the peer ended with {peer.returncode}")
    heard = json.loads(told)
    print(json.dumps(heard))
    print(dict(bridge.counts), f"{finished.real_time_factor:.2f} times real time")
    orders = finished.dataset.command.values[:, 0, 0] * 60.0
    kept = np.rint(orders[orders > 0.0])
    delays = np.arange(len(orders)) - np.rint(heard["first"] * 10.0) - orders + 1.0
    print(f"an order is in force {np.median(delays[orders > 0.0]) * 0.1:.2f} s after its odometry")
    odometry = round((heard["last"] - heard["first"]) * 10.0) + 1
    clouds = round(heard["last"] - heard["cloud_first"]) + 1
    checks = {
        "every odometry": heard["odometry"] == odometry,
        "every cloud": abs(heard["cloud"] - clouds) <= 1 and heard["points"] == 128 * 2400,
        "the samples of the IMU": heard["imu"] > 45 * (heard["last"] - heard["imu_first"]),
        "every order heard": bridge.counts["heard"] >= heard["sent"] - 1,
        "orders in order": bool(np.all(np.diff(kept) >= 0)) and len(kept) > 0.9 * odometry,
        "nothing garbled": not bridge.counts["garbled"] and not bridge.counts["refused"],
    }
    for check, passed in checks.items():
        print("passed" if passed else "FAILED", check)
    if not all(checks.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="seatrial-dds-")))
