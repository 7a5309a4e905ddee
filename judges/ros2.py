"""A C++ program on Debian's Fast DDS exchanges messages with a run, both ways.

    python judges/ros2.py [FOLDER]

The packages are downloaded and unpacked below the folder, `fastdds/peer.cpp` is compiled with them.
The run publishes odometry, IMU and clouds of 6 MB; the peer answers every odometry with an actuator
command that carries its number. Nothing may be lost on reliable topics, and every order that the
recording shows must be one that was sent, in order. A second one calls the services as
`rmw_fastrtps` does: pause, step, resume, reset, and another sea, which the recording must show.
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


def compiled(root: Path, folder: Path, name: str) -> Path:
    """One of the peers."""
    libraries = next(root.glob("usr/lib/*/libfastrtps.so")).parent
    source, program = Path(__file__).parent / "fastdds" / f"{name}.cpp", folder / name
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


def services(root: Path, folder: Path) -> dict[str, bool]:
    """Ask them all."""
    program, bridge = compiled(root, folder, "asker"), Ros2Bridge(DOMAIN + 1)
    otter = {"name": "otter", "vehicle": "otter"}
    described = st.Scenario(seed=3, duration=15.0, world="sea-state-4", vehicles=[otter])
    with subprocess.Popen([program, str(DOMAIN + 1)], stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdout is not None
        peer.stdout.readline()
        finished = run_bridged(described, [bridge], pace=1.0, out=folder / "asked.mcap")
        answers = json.loads(peer.stdout.readline())
    print(answers, dict(bridge.counts))
    height = 4.0 * float(finished.dataset.wave_elevation.std())
    print(f"significant height of the recording: {height:.2f} m (0.3 m of sea and 0.8 m of swell)")
    return {
        "services that can be done are": all(
            answers[name] == 1 for name in ("pause", "step", "again", "resume", "reset", "sea")
        ),
        "one that cannot be is refused": answers["absurd"] == 0,
        "the sea is another": "significant_height: 0.3" in finished.header.description
        and height < 1.5,
    }


def main(folder: Path) -> None:
    """Run both, compare."""
    root = unpack(PACKAGES, folder)
    asked = services(root, folder)
    program = compiled(root, folder, "peer")
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
    checks |= asked
    for check, passed in checks.items():
        print("passed" if passed else "FAILED", check)
    if not all(checks.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="seatrial-dds-")))
