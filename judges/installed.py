"""What a release holds runs without the checkout: wheel and sdist, in empty environments.

    python judges/installed.py dist

Each archive of the folder is installed into a virtual environment of its own in a temporary
folder, with dependencies from the package index. There the version is asked for, the demo is run,
the library's files find the schema that they name for editors, and mypy reads a program that uses
the package, as it would a stranger's.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

STRANGER = """\
import seatrial as st

trial: st.Scenario = st.load("otter-zigzag", st.Scenario)
done: st.Run = st.run(trial, seed=3, duration=2.0)
print(done.status, float(done.dataset.speed[-1, 0]))
"""


def main(dist: Path) -> None:
    """Try every archive of the folder."""
    archives = sorted([*dist.glob("seatrial-*.whl"), *dist.glob("seatrial-*.tar.gz")])
    if {archive.suffix for archive in archives} != {".whl", ".gz"}:
        raise SystemExit(f"{dist} holds no wheel and sdist of seatrial: run `make wheel` first")
    for archive in archives:
        with tempfile.TemporaryDirectory(prefix="seatrial-") as folder:
            _try(archive.resolve(), Path(folder))


def _try(archive: Path, folder: Path) -> None:
    print(f"{archive.name}", flush=True)
    python = str(folder / "venv" / "bin" / "python")
    work = folder / "work"
    work.mkdir()
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "XLA_FLAGS")}
    environment |= {"SEATRIAL_CACHE_DIR": str(folder / "cache"), "MPLBACKEND": "agg"}

    def call(*command: str) -> str:
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
        return done.stdout.strip()

    call(sys.executable, "-m", "venv", str(folder / "venv"))
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(archive))
    home = call(python, "-c", "import seatrial; print(seatrial.__file__)")
    if not Path(home).is_relative_to(folder):
        raise SystemExit(f"not the installed package, but {home}")
    for file in (Path(home).parent / "library").rglob("*.yaml"):
        named = file.read_text(encoding="utf-8").partition("\n")[0].partition("$schema=")[2]
        if not (file.parent / named).is_file():
            raise SystemExit(f"{file.name} names the schema {named!r}, which is not there")
    version = call(python, "-m", "seatrial", "--version")
    if archive.name.split("-")[1].removesuffix(".tar.gz") not in version:
        raise SystemExit(f"{archive.name} says that it is {version}")
    call(str(folder / "venv" / "bin" / "seatrial"), "demo")
    made = {path.name for path in (work / "demo").iterdir() if path.stat().st_size > 0}
    if not made >= {"demo.mcap", "demo.png"}:
        raise SystemExit(f"the demo wrote only {sorted(made)}")
    (work / "stranger.py").write_text(STRANGER, encoding="utf-8")
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mypy")
    call(python, "-m", "mypy", "--strict", "stranger.py")
    print(f"  {version}: installed, demo run, typed ({call(python, 'stranger.py')})", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
