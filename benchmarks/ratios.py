"""The benches of this tree and of an older commit, turn by turn in one run; prints ratios as JSON.

    python benchmarks/ratios.py 0b2a0cb step swarm sensors closed-loop --vehicle otter

Both trees run on the packages of this environment, each with a cache of its own, and wait for each
other: every repetition of a case in one is followed by the same in the other, so that a machine
that is slower for a while is so for both. Of each the best of all turns counts, in the time that
processors were busy, which is what counts where other work shares the machine. Programs are called
in the thread that asks for them: what another thread has just spent is told late, and the best of
many turns would be the one of which most is missing. A row is matched by all that describes it;
those that only one tree has are left out and named. A ratio above 1 means that this tree takes
longer.
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
FORMERLY = {"sookshma": "sookshma, a body under water", "sookshma_awash": "sookshma"}
"""Vehicles of 0b2a0cb, by what became of them."""
HERE = Path(__file__).resolve().parents[1]
CALL = """
import builtins, sys, time

import jax

jax.config.update("jax_cpu_enable_async_dispatch", False)
time.perf_counter = time.process_time

class Repeats(int):
    pass

def turns(*of):
    for i in builtins.range(*of):
        if isinstance(of[-1], Repeats):
            print("turn", file=sys.stderr, flush=True)
            sys.stdin.readline()
        yield i

def by_turns(module, name, count):
    setattr(module, name, Repeats(count))
    module.range = turns

steps, runs = int(sys.argv.pop(1)), int(sys.argv.pop(1))
try:
    try:
        from seatrial.validation.timing import steps as timing
    except ImportError:  # a tree of November 2026 or before
        from seatrial.validation import timing
    by_turns(timing, "STEP_REPEATS", steps)
    by_turns(timing, "RUN_REPEATS", runs)
except ImportError:  # an old tree
    from seatrial.cli import bench, bench_runs
    by_turns(bench, "REPEATS", steps)
    by_turns(bench_runs, "REPEATS", runs)
from seatrial.cli import main
main()
"""

Row = dict[str, Any]


class Bench:
    """`seatrial bench` of a tree, which waits before every repetition."""

    def __init__(self, tree: Path, words: list[str], cache: str, repeats: tuple[int, int]) -> None:
        environment = os.environ | {"PYTHONPATH": str(tree / "src"), "SEATRIAL_CACHE_DIR": cache}
        environment.pop("JAX_COMPILATION_CACHE_DIR", None)
        command = [sys.executable, "-c", CALL, *map(str, repeats), "bench", *words, "--json"]
        pipe = subprocess.PIPE
        self._running = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        self._said: list[str] = []

    def ready(self) -> bool:
        """Wait until it is about to repeat something; False when it has ended."""
        assert self._running.stderr is not None
        for line in self._running.stderr:
            if line == "turn\n":
                return True
            self._said.append(line)
        return False

    def go(self) -> None:
        """Let it repeat once."""
        assert self._running.stdin is not None
        self._running.stdin.write("\n")
        self._running.stdin.flush()

    def rows(self) -> list[Row]:
        """What it printed."""
        told, _ = self._running.communicate()
        if self._running.returncode != 0:
            raise SystemExit("".join(self._said[-40:]))
        found = json.loads(told)
        return found if isinstance(found, list) else [found]


def rows_of(trees: list[Bench]) -> list[list[Row]]:
    """Of all, repeating by turns until each has ended: while one works the others wait."""
    waiting = [bench for bench in trees if bench.ready()]
    while waiting:
        for bench in list(waiting):
            bench.go()
            if not bench.ready():
                waiting.remove(bench)
    return [bench.rows() for bench in trees]


def described(row: Row, names: dict[str, str]) -> str:
    """All of a row that was not measured, with a vehicle's name of today."""
    told = {k: v for k, v in row.items() if k not in MEASURED}
    told["vehicle"] = names.get(told["vehicle"], told["vehicle"])
    return json.dumps(told, sort_keys=True)


def cost(row: Row) -> float:
    """What is compared: time per step, or the inverse of how much faster than real time."""
    if "us_per_vehicle_step" in row:
        return float(row["us_per_vehicle_step"])
    return 1.0 / float(row["real_time_factor"])


def compared(old: Path, folder: str, words: list[str], repeats: tuple[int, int]) -> list[Row]:
    """Rows of both trees with their ratio."""
    trees = [
        Bench(tree, words, f"{folder}/cache{i}", repeats) for i, tree in enumerate((old, HERE))
    ]
    awash = old / "src/seatrial/library/vehicles/sookshma_awash.yaml"
    before, after = (
        {described(row, names): cost(row) for row in rows}
        for rows, names in zip(
            rows_of(trees), (FORMERLY if awash.exists() else {}, {}), strict=True
        )
    )
    for row in before.keys() ^ after.keys():
        print(f"only in one tree: {words} {row}", file=sys.stderr)
    found = []
    for row in before.keys() & after.keys():
        ratio = after[row] / before[row]
        told = json.loads(row) | {"before": before[row], "after": after[row], "ratio": ratio}
        found.append({"bench": words[0], **told})
    return sorted(found, key=lambda row: -row["ratio"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("benches", nargs="+")
    parser.add_argument("--repeats", type=int, default=60, help="of a case of steps")
    parser.add_argument("--runs", type=int, default=10, help="of a case of whole runs")
    parser.add_argument("--vehicle", action="append", default=[], help="of `step`; default: all")
    given = parser.parse_args()
    vehicles = [word for name in given.vehicle for word in ("--vehicle", name)]
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "tree"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(old), given.commit], check=True)
        try:
            told = [
                row
                for bench in given.benches
                for row in compared(
                    *(old, folder, [bench, *(vehicles if bench == "step" else [])]),
                    (given.repeats, given.runs),
                )
            ]
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True)
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
