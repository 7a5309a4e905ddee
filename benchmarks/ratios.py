"""The benches of this tree and of an older commit, in turns in one run; prints ratios as JSON.

    python benchmarks/ratios.py 0b2a0cb step swarm sensors closed-loop --rounds 3

Both trees run on the packages of this environment, each with caches of its own. Of every row the
best of all rounds counts, each of which repeats a case many times, so that what else the machine
does strikes neither. A row is matched by
all that describes it; rows that only one tree has are left out and named. A ratio above 1 means
that this tree takes longer.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MEASURED = ("us_per_vehicle_step", "real_time_factor", "compile_s", "wall_s", "duration")
"""Of a row; everything else describes it."""
HERE = Path(__file__).resolve().parents[1]
CALL = """
import sys
try:
    from seatrial.validation import timing
    timing.STEP_REPEATS = int(sys.argv.pop(1))
except ImportError:  # an old tree
    from seatrial.cli import bench
    bench.REPEATS = int(sys.argv.pop(1))
from seatrial.cli import main
main()
"""

Row = dict[str, Any]


def rows_of(tree: Path, bench: str, repeats: int, more: list[str], cache: str) -> list[Row]:
    """What `seatrial bench` of a tree prints."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "SEATRIAL_CACHE_DIR": cache}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    command = [sys.executable, "-c", CALL, str(repeats), "bench", bench, *more, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{tree}: {done.stderr[-2000:]}")
    told = json.loads(done.stdout)
    return told if isinstance(told, list) else [told]


def described(row: Row) -> str:
    """All of a row that was not measured."""
    return json.dumps({k: v for k, v in row.items() if k not in MEASURED}, sort_keys=True)


def cost(row: Row) -> float:
    """What is compared: time per step, or the inverse of how much faster than real time."""
    if "us_per_vehicle_step" in row:
        return float(row["us_per_vehicle_step"])
    return 1.0 / float(row["real_time_factor"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("benches", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=60, help="of every case in a round")
    parser.add_argument("--vehicle", action="append", default=[], help="of `step`; default: all")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "tree"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(old), given.commit], check=True)
        try:
            told = [row for bench in given.benches for row in compared(old, folder, bench, given)]
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True)
    print(json.dumps(told, indent=2))


def compared(old: Path, folder: str, bench: str, given: argparse.Namespace) -> list[Row]:
    """Rows of both trees with their ratio."""
    more = [w for name in given.vehicle for w in ("--vehicle", name)] if bench == "step" else []
    best: dict[str, list[float | None]] = {}
    for _ in range(given.rounds):
        for i, tree in enumerate((old, HERE)):
            for row in rows_of(tree, bench, given.repeats, more, f"{folder}/cache{i}"):
                costs = best.setdefault(described(row), [None, None])
                costs[i] = min(cost(row), costs[i] or cost(row))
    found = []
    for row, (before, after) in best.items():
        if before is None or after is None:
            print(f"only in one tree: {bench} {row}", file=sys.stderr)
            continue
        ratio = after / before
        found.append(
            {"bench": bench, **json.loads(row), "before": before, "after": after} | {"ratio": ratio}
        )
        print(f"{ratio:6.3f}  {bench} {row}", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    main()
