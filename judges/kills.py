"""A path-traced dataset is killed ten times while it is drawn, and ends as an undisturbed one.

    python judges/kills.py [--renderer traced|live] [--kills 10] [--frames 30] [--workers 1]

The verdict: after SIGKILL at random instants of the drawing, the same command said again each time,
the finished folder holds the same bytes as one made in one go.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

PLACE = Path("build/judges/kills")
WIDTH, SAMPLES = 48, 4


def command(folder: Path, given: argparse.Namespace) -> list[str]:
    """What makes the dataset."""
    asked = ["--frames", str(given.frames), "--width", str(WIDTH), "--workers", str(given.workers)]
    if given.renderer == "traced":
        asked += ["--samples", str(SAMPLES)]
    made = [sys.executable, "-m", "seatrial", "dataset", "bluerov2-inspection", "--out"]
    return [*made, str(folder), "--renderer", given.renderer, *asked]


def pictures(folder: Path) -> int:
    """How many are there."""
    return sum(1 for _ in folder.rglob("*_*-*.*"))


def kill_once(folder: Path, given: argparse.Namespace, chance: random.Random) -> bool:
    """Whether it was killed, and not done before."""
    before = pictures(folder)
    process = subprocess.Popen(command(folder, given), stdout=subprocess.DEVNULL)
    while process.poll() is None and pictures(folder) == before:
        time.sleep(0.1)
    try:
        process.wait(chance.uniform(0.0, given.longest))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False


def every_file(folder: Path) -> dict[str, bytes]:
    """Bytes by name."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def main() -> None:
    """Make one undisturbed and one with kills, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renderer", choices=("traced", "live"), default="traced")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=1.0, help="s from a picture to a kill")
    given = parser.parse_args()
    shutil.rmtree(PLACE, ignore_errors=True)
    whole, broken = PLACE / "whole", PLACE / "broken"
    subprocess.run(command(whole, given), check=True, stdout=subprocess.DEVNULL)
    chance = random.Random(given.seed)
    killed, left = 0, []
    while killed < given.kills and kill_once(broken, given, chance):
        killed += 1
        left.append(pictures(broken))
    subprocess.run(command(broken, given), check=True, stdout=subprocess.DEVNULL)
    same = every_file(whole) == every_file(broken)
    row = {"renderer": given.renderer, "frames": given.frames, "kills": killed}
    row |= {"pictures_at_kills": left, "files": len(every_file(whole)), "same_bytes": same}
    print(json.dumps(row | {"passed": same and killed == given.kills}))
    raise SystemExit(0 if same and killed == given.kills else 1)


if __name__ == "__main__":
    main()
