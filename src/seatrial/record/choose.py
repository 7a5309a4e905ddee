"""Which recorder a run needs: the file's name says it."""

import tempfile
from pathlib import Path

from seatrial.engine.frames import Sink
from seatrial.errors import RecordingError
from seatrial.record.lock import open_alone
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.place import as_path
from seatrial.record.swarm.store import ZarrRecorder

MOST_IN_MCAP = 100
"""MCAP has ten topics per vehicle; with more vehicles than this no viewer is of use."""


def recorder(path: str | Path, vehicles: int) -> Sink:
    """A recorder for a run of so many vehicles: `.mcap` or `.zarr`; nothing is written yet.

    A place that cannot be used is refused here, before a program is compiled, and not when it has
    run: one without a folder, one where nothing can be written, one that another run records to.
    """
    path = as_path(path)
    if not path.parent.is_dir():
        raise RecordingError(
            f"{path}: there is no folder {path.parent}\n"
            "  expected: a name in a folder that exists\n"
            f"  to mend:  make it: mkdir -p {path.parent}"
        )
    if path.suffix == ".zarr":
        store = ZarrRecorder(path)
        store.check_room()
        _try_to_write(path)
        return store
    if path.suffix != ".mcap":
        name = path if path.name else "run"
        raise RecordingError(
            f"{path}: cannot record to a file of this kind\n"
            "  expected: a name that ends in .mcap (ROS 2 messages) or .zarr (columns for swarms)\n"
            f"  to mend:  --out {name}{'.mcap' if vehicles <= MOST_IN_MCAP else '.zarr'}"
        )
    if vehicles > MOST_IN_MCAP:
        raise RecordingError(
            f"{path}: {vehicles:,} vehicles are too many for an MCAP file\n"
            f"  expected: at most {MOST_IN_MCAP} vehicles, or a Zarr store\n"
            f"  to mend:  --out {path.with_suffix('.zarr')}"
        )
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "a device or a pipe"
        raise RecordingError(f"{path}: is {what}\n  expected: a file to record to")
    _try_to_write(path)
    return McapRecorder(path)


def _try_to_write(path: Path) -> None:
    """Refuse a place where a recording could not be begun; leaves it as it is."""
    try:
        if path.is_file():
            open_alone(path).close()
        else:
            with tempfile.TemporaryFile(dir=path if path.is_dir() else path.parent):
                pass
    except OSError as error:
        raise RecordingError(
            f"{path}: cannot write the recording ({error.strerror or error})\n"
            "  expected: a name in a folder that is writable and has space\n"
            f"  to mend:  choose another place with --out {path.name}"
        ) from error
