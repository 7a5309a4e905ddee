"""How long a person waits: from the command to the first frame, of every library scenario; JSON.

A first start fills a cache folder of its own. Each second start is a fresh process that does what
`seatrial run` does; the best of several is taken. Beside the wall time stands the time that its
processor was busy, which is what counts where other work shares the machine. The shares:

interpreter  from the command to the first line of Python
importing    modules
planning     from the scenario's name to a plan: reading, checking, building arrays
loading      programs from the cache as far as planning has not hidden it, and the first state
computing    the first block of frames

    python benchmarks/startup.py --scenario otter-survey --repeats 5
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

STAGES = ("interpreter", "importing", "planning", "loading", "computing")

CHILD = """
import sys, time
stamps = [(time.monotonic(), time.process_time())]
def stamp():
    stamps.append((time.monotonic(), time.process_time()))
import seatrial.cli
seatrial.cli.quicken()  # as the command does
import seatrial.cli.commands
from seatrial.programs import foresee
foresee(sys.argv[1])
import seatrial.cli.running
stamp()
from seatrial.compile.control.controllers import prepare
plan, steering = prepare(sys.argv[1], None, False)
stamp()
from seatrial import programs
from seatrial.engine.run import run
class FirstFrame:
    def open(self, header, scene):
        stamp()
    def write(self, frames):
        stamp()
        import json, os
        print(json.dumps({"stamps": stamps, "programs": programs.counts}), flush=True)
        os._exit(0)
    def close(self, summary):
        pass
run(plan, [FirstFrame()], None, steering)
"""


def start(scenario: str, cache: str) -> dict[str, object]:
    """One start in a fresh process."""
    environment = os.environ | {"SEATRIAL_CACHE_DIR": cache}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
    began = time.monotonic()
    command = [sys.executable, "-c", CHILD, scenario]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    told = json.loads(done.stdout.splitlines()[-1])
    wall, busy = zip((began, 0.0), *told["stamps"], strict=True)
    return {
        "wall_s": wall[-1] - began,
        "busy_s": busy[-1],
        "share_wall_s": _differences(wall),
        "share_busy_s": _differences(busy),
        "programs": told["programs"],
    }


def _differences(stamps: tuple[float, ...]) -> dict[str, float]:
    steps = zip(stamps[1:], stamps[:-1], strict=True)
    return {name: round(b - a, 3) for name, (b, a) in zip(STAGES, steps, strict=True)}


def main() -> None:
    from seatrial.spec.library import library_names

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenario", action="append", help="only this one; may be repeated")
    parser.add_argument("--repeats", type=int, default=3, help="second starts of each scenario")
    parser.add_argument("--cache", help="a folder that may be filled already")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as fresh:
        cache = chosen.cache or fresh
        found = {}
        for scenario in chosen.scenario or library_names("scenario"):
            first = start(scenario, cache)
            again = [start(scenario, cache) for _ in range(chosen.repeats)]
            assert all("compiled" not in one["programs"] for one in again)
            found[scenario] = {
                "first": {k: round(first[k], 3) for k in ("wall_s", "busy_s")},
                "second": min(again, key=lambda one: one["wall_s"])
                | {k: round(min(one[k] for one in again), 3) for k in ("wall_s", "busy_s")},
            }
            print(scenario, found[scenario]["second"], file=sys.stderr, flush=True)
    summary = {
        f"{what}_{name}": round(figure([one["second"][name] for one in found.values()]), 3)
        for name in ("wall_s", "busy_s")
        for what, figure in (("largest", max), ("median", statistics.median))
    }
    print(json.dumps({**summary, "scenarios": found}, indent=2))


if __name__ == "__main__":
    main()
