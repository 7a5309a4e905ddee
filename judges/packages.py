"""Packages of the index in a folder of their own; this checkout's environment is left alone."""

import subprocess
import sys
from pathlib import Path


def bring(place: Path, module: str, *wanted: str) -> None:
    """Install packages below a place, once, and let this process find them after its own."""
    if not (place / module).is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(place)]
        subprocess.run([*pip, *wanted], check=True)
    sys.path.append(str(place))
