"""Which recorder a run needs: the file's name says it."""

from pathlib import Path

from seatrial.engine.frames import Sink
from seatrial.errors import RecordingError
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.swarm.store import ZarrRecorder

MOST_IN_MCAP = 100
"""MCAP has ten topics per vehicle; with more vehicles than this no viewer is of use."""


def recorder(path: str | Path, vehicles: int) -> Sink:
    """A recorder for a run of so many vehicles: `.mcap` or `.zarr`; nothing is written yet."""
    path = Path(path)
    if not path.parent.is_dir():  # said before a program is compiled, not when it has run
        raise RecordingError(
            f"{path}: there is no folder {path.parent}\n"
            "  expected: a name in a folder that exists\n"
            f"  to mend:  make it: mkdir -p {path.parent}"
        )
    if path.suffix == ".zarr":
        return ZarrRecorder(path)
    if path.suffix != ".mcap":
        raise RecordingError(
            f"{path}: cannot record to a file of this kind\n"
            "  expected: a name that ends in .mcap (ROS 2 messages) or .zarr (columns for swarms)\n"
            f"  to mend:  --out {path}{'.mcap' if vehicles <= MOST_IN_MCAP else '.zarr'}"
        )
    if vehicles > MOST_IN_MCAP:
        raise RecordingError(
            f"{path}: {vehicles:,} vehicles are too many for an MCAP file\n"
            f"  expected: at most {MOST_IN_MCAP} vehicles, or a Zarr store\n"
            f"  to mend:  --out {path.with_suffix('.zarr')}"
        )
    if path.is_dir():
        raise RecordingError(f"{path}: is a folder\n  expected: a file to record to")
    return McapRecorder(path)
