"""Debian packages unpacked into a folder of their own: a judge needs no root for them."""

import subprocess
from pathlib import Path


def unpack(packages: list[str], folder: Path) -> Path:
    """Download packages and unpack them below a folder, or end where they cannot be had."""
    root, archives = folder / "root", folder / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    if not root.is_dir():
        got = subprocess.run(
            ["apt-get", "download", *packages], cwd=archives, capture_output=True, text=True
        )
        if got.returncode:
            raise SystemExit(f"cannot be judged here: apt-get download says\n{got.stderr}")
        for archive in sorted(archives.glob("*.deb")):
            subprocess.run(["dpkg", "-x", archive, root], check=True)
    return root
