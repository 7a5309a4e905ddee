"""A long recording of dense sensors: opened, plotted and exported without being held in memory.

    python judges/harbour.py --seconds 300

A WAM-V goes round the harbour of the library with a 3-D LiDAR, a radar and a depth camera. What
each command needs beyond the same command on ten seconds is measured; the arrays are several times
that large. A second run is killed halfway, and opened. Prints a row for each, and exits with 1
where one fails.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_GROWTH = 200.0
"""MB that a command on the whole recording may need beyond the same on a short one."""

SENSORS = """
      - {type: lidar, name: lidar, rate: 5, position: [0, 0, -2.5], model: vlp16}
      - {type: radar_image, name: radar, rate: 0.5, position: [0, 0, -3], range: 200}
      - {type: depth_camera, name: camera, rate: 2, position: [1, 0, -2], range: 60}
"""

SCENARIO = """
kind: scenario
name: harbour
seed: 1
duration: 300
world: harbour
vehicles:
  - name: wamv
    vehicle: wamv
    feedback: truth
    start: {position: [-95, 0, 0], heading_deg: 0}
    sensors:SENSORS
    mission:
      - do: goto
        waypoints: [[-45, 0], [-38, -38], [38, -38], [50, 0], [24, 12], [25, 40], [25, 8], [-4, 10]]
        speed: 1.5
        acceptance: 5
""".replace("SENSORS", SENSORS.rstrip())


def main() -> int:
    """Everything, in a folder that is deleted."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--seconds", type=float, default=300.0)
    seconds = asked.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        return judge(Path(folder), seconds)


def judge(folder: Path, seconds: float) -> int:
    """How many commands failed or needed too much."""
    described = folder / "harbour.yaml"
    described.write_text(SCENARIO)
    whole, brief, killed = (folder / f"{name}.mcap" for name in ("whole", "brief", "killed"))
    wrong, peaks = 0, {}
    for recording, lasts in ((brief, 10.0), (whole, seconds)):
        commands = {
            "run": ["run", described, "--duration", lasts, "--out", recording],
            "info": ["info", recording],
            "plot": ["plot", recording, "--out", recording.with_suffix(".png")],
            "export": ["export", recording, "--to", "netcdf"],
        }
        for name, words in commands.items():
            code, peak = measured(words)
            peaks.setdefault(name, []).append(peak)
            wrong += code != 0
            if recording == whole:
                growth = peak - peaks[name][0]
                wrong += growth > MOST_GROWTH
                print(f"{name:8} exit code {code}, {peak:6.0f} MB, {growth:+6.0f} MB", flush=True)
    print(f"recording {whole.stat().st_size / 1e6:.0f} MB, arrays {arrays(whole) / 1e6:.0f} MB")
    return wrong + kill_and_open(described, killed, whole.stat().st_size // 2, seconds)


def measured(words: list[object]) -> tuple[int, float]:
    """Exit code of a command, and the most memory that it held, MB."""
    command = [sys.executable, "-m", "seatrial", *map(str, words)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_maxrss / 1e3


def arrays(path: Path) -> int:
    """Bytes of all arrays of a recording."""
    from seatrial.record.reader import read

    recording = read(path)
    some = (recording.payload("wamv", name) for name in ("lidar", "radar", "camera"))
    return sum(len(a) * a[0].nbytes for a in some)


def kill_and_open(described: Path, path: Path, size: int, seconds: float) -> int:
    """Kill a run when its file is so large, and read what is there."""
    from seatrial.record.reader import read

    words = ["run", described, "--duration", seconds, "--out", path]
    command = [sys.executable, "-m", "seatrial", *map(str, words)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while child.poll() is None and not (path.exists() and path.stat().st_size > size):
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    recording = read(path)
    frames = recording.vehicle("wamv")
    last = float(frames.time[-1])
    wrong = not 0.2 * seconds < last < 0.9 * seconds
    for name in ("lidar", "radar", "camera"):
        samples, payload = recording.samples("wamv", name), recording.payload("wamv", name)
        wrong |= len(samples.time) != len(payload) or last - samples.time[-1] > 10.0
        payload[len(payload) - 1]
    print(f"killed:  opens up to {last:.0f} s of {seconds:.0f} s, {'wrong' if wrong else 'good'}")
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(1 if main() else 0)
