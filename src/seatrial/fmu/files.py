"""The files that descriptions name, brought along: who uses a unit has nothing but the unit."""

import shutil
from pathlib import Path
from typing import Any, TypeVar

from seatrial.spec.base import Source, Spec
from seatrial.spec.bodies import MeshFile
from seatrial.spec.hull import Hull
from seatrial.spec.seabed import SeabedMap

FILES: dict[type[Spec], tuple[str, ...]] = {
    Hull: ("file", "results"),
    MeshFile: ("file",),
    SeabedMap: ("map",),
}
"""Keys of descriptions that name a file, from where the description lies."""

AnySpec = TypeVar("AnySpec", bound=Spec)


def brought_along(described: AnySpec, folder: Path) -> AnySpec:
    """The same description with copies of its files in a folder, which it names from beside it."""
    found: AnySpec = _brought(described, folder, None)
    return found


def _brought(value: Any, folder: Path, home: Source | None) -> Any:
    if isinstance(value, tuple):
        return tuple(_brought(one, folder, home) for one in value)
    if isinstance(value, dict):
        return {key: _brought(one, folder, home) for key, one in value.items()}
    if not isinstance(value, Spec):
        return value
    home = value._source or home
    parts = {
        name: _brought(getattr(value, name), folder, home) for name in type(value).model_fields
    }
    for key in FILES.get(type(value), ()):
        if parts[key] is not None:
            beside = Path() if home is None else Path(home.file).parent
            parts[key] = _copied(value, key, beside / parts[key], folder)
    return value.model_copy(update=parts)


def _copied(described: Spec, key: str, file: Path, folder: Path) -> str:
    """Where the copy lies; of WAMIT's results all files of that name."""
    if not file.exists():
        raise described.error(
            (key,),
            f"there is no file `{getattr(described, key)}` that the unit could take along",
            value=getattr(described, key),
            expected=f"a file, from {file.parent}",
            mend="check its path",
        )
    place = folder / str(len(list(folder.iterdir())) if folder.exists() else 0)
    place.mkdir(parents=True)
    if file.is_dir():
        shutil.copytree(file, place / file.name)
    for one in file.parent.glob(f"{file.stem}.*") if key == "results" else [file]:
        if one.is_file():
            shutil.copy2(one, place)
    return (place / file.name).relative_to(folder.parent).as_posix()
