"""Find the vehicles, worlds, scenarios and sensors that ship with the package."""

import re
from importlib.resources import files
from pathlib import Path as FilePath

from seatrial.errors import Problem, SpecError
from seatrial.spec.reading import read_text
from seatrial.spec.wording import did_you_mean

FOLDERS = {
    "vehicle": "vehicles",
    "world": "worlds",
    "scenario": "scenarios",
    "imu": "sensors",
    "lidar": "sensors/lidars",
}
"""Kind of document -> its folder in the library."""


def library_names(kind: str | None = None) -> list[str]:
    """Names of what ships with the package, of one kind or of all, in alphabetical order.

    >>> "otter" in st.library_names("vehicle")
    True
    """
    if kind is not None and kind not in FOLDERS:
        raise SpecError(
            Problem(
                "the library has nothing of this kind",
                value=kind,
                expected=f"one of {', '.join(FOLDERS)}",
            )
        )
    kinds = list(FOLDERS) if kind is None else [kind]
    return sorted(path.stem for k in kinds for path in _folder(k).glob("*.yaml"))


def library_file(name: str, kind: str | None = None) -> FilePath:
    """Path of the library's file called `name`; of any kind unless one is given."""
    kinds = list(FOLDERS) if kind is None else [kind]
    known: dict[str, list[str]] = {k: library_names(k) for k in kinds}
    for k, names in known.items():
        if name in names:
            return _folder(k) / f"{name}.yaml"
    listing = "; ".join(f"{FOLDERS[k]}: {', '.join(names) or 'none'}" for k, names in known.items())
    mend = did_you_mean(name, [n for names in known.values() for n in names])
    for other in FOLDERS:
        if name in library_names(other):
            mend = f"`{name}` is a {other}: name a {kind} here"
    raise SpecError(
        Problem(
            f"the library has no {kind or 'entry'} called `{name}`",
            expected=f"the path of a .yaml file, or a name from the library ({listing})",
            mend=mend,
        )
    )


def description_in(file: FilePath) -> str:
    """What a file of the library says of itself; only that part of it is read as YAML."""
    text = file.read_text(encoding="utf-8")
    part = re.search(r"^description:.*\n(?:[ \t].*\n|\n)*", text, re.MULTILINE)
    return "" if part is None else str(read_text(part[0], str(file))[0]["description"])


def _folder(kind: str) -> FilePath:
    return FilePath(str(files("seatrial"))) / "library" / FOLDERS[kind]
