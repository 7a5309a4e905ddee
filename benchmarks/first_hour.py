"""How long a newcomer waits: every command of the first page and of the README, and a few beside
them, each typed twice into an empty folder with an empty cache; JSON.

The second time all programs are in the cache. `slow` lists the commands that then still take over
three seconds; beside the wall time stands the time that processors were busy, which is what counts
where other work shares the machine. With a folder of its own it goes on where it was stopped.

    python benchmarks/first_hour.py --only 'keys|check'
    timeout 300 python benchmarks/first_hour.py --folder hour
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(?:^<!-- (.*?) -->\n)?^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LIMIT = 3.0

BESIDE = [
    "seatrial --help",
    "seatrial run --help",
    "seatrial show otter",
    "seatrial show box.yaml",
    "seatrial export box.mcap --to netcdf",
    "seatrial tune plover.yaml",
    "seatrial navigate box.mcap",
    "seatrial navigate box.mcap --smooth",
    "seatrial sensors check plover.yaml",
    "seatrial run box.yaml --seed 2 --fault 'gnss: dropout @ 20s'",
    "seatrial demo",
]
"""What the two pages name without a line of its own to type."""


def commands(folder: Path) -> list[str]:
    """Write the files of the pages into the folder; the commands in the order of the pages."""
    found = []
    for page in (ROOT / "docs" / "first-hour.md", ROOT / "README.md"):
        for note, language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            if note.startswith("file: "):
                (folder / note.removeprefix("file: ")).write_text(text, encoding="utf-8")
            if language == "bash":
                lines = [line.partition(" #")[0].strip() for line in text.splitlines()]
                found += [line for line in lines if line.startswith(("seatrial ", "python "))]
    return list(dict.fromkeys(found + BESIDE))


def typed(command: str, folder: Path, environment: dict[str, str]) -> dict[str, float]:
    """Wall and processor time of one command, s."""
    began, busy = time.monotonic(), _busy()
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True
    )
    wall, used = time.monotonic() - began, _busy() - busy
    if done.returncode != 0:
        raise SystemExit(f"{command}\n{done.stdout}\n{done.stderr}")
    print(f"{wall:6.1f} s  {command}", file=sys.stderr, flush=True)
    return {"wall_s": round(wall, 2), "busy_s": round(used, 2)}


def _busy() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--only", default="", help="a regular expression that commands contain")
    parser.add_argument("--folder", type=Path, help="keep files, cache and times here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = (given.folder or Path(place)).resolve()
        folder.mkdir(exist_ok=True)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {
            "PATH": path,
            "MPLBACKEND": "agg",
            "SEATRIAL_CACHE_DIR": f"{folder}/.cache",
        }
        environment.pop("JAX_COMPILATION_CACHE_DIR", None)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
        chosen = [command for command in commands(folder) if re.search(given.only, command)]
        times = folder / "times.json"
        found = json.loads(times.read_text()) if times.exists() else {}
        for turn in ("first", "second"):
            for command in chosen:
                if turn not in found.setdefault(command, {}):
                    found[command][turn] = typed(command, folder, environment)
                    times.write_text(json.dumps(found, indent=2))
    slow = [command for command in chosen if found[command]["second"]["wall_s"] > LIMIT]
    print(json.dumps({"slow": slow, "commands": {c: found[c] for c in chosen}}, indent=2))


if __name__ == "__main__":
    main()
