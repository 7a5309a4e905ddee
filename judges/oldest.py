"""The lower bounds of `pyproject.toml` hold: a part of the tests with the oldest dependencies.

The part touches every dependency: water by gsw, whole runs by JAX and SciPy, recordings and exports
by mcap, rosbags, h5netcdf and Zarr, figures, descriptions by pydantic and ruamel.yaml, the command
line by typer and rich.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TESTS = [
    "tests/analytic/test_ocean_water.py",
    "tests/property/test_spec_schema.py",
    "tests/scenarios/test_command_line.py",
    "tests/scenarios/test_record_outputs.py",
    "tests/scenarios/test_record_stores.py",
    "tests/scenarios/test_recording.py",
]

NEEDED = ["pytest", "hypothesis", "jsonschema"]
"""By the tests alone; of these the newest."""


def main() -> None:
    """Install the oldest into an environment of their own, and run the tests there."""
    with tempfile.TemporaryDirectory(prefix="seatrial-") as folder:
        python = f"{folder}/venv/bin/python"
        install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment |= {"SEATRIAL_CACHE_DIR": f"{folder}/cache"}
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for command in (
            [*pip, "uv"],
            [sys.executable, "-m", "venv", f"{folder}/venv"],
            [*install, "--resolution", "lowest-direct", str(ROOT)],
            [*install, *NEEDED],
            [sys.executable, "-m", "uv", "pip", "list", "--python", python],
            [python, "-m", "pytest", "-p", "no:cacheprovider", *TESTS],
        ):
            done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
            if done.returncode != 0:
                raise SystemExit(f"failed: {' '.join(command)}")


if __name__ == "__main__":
    main()
