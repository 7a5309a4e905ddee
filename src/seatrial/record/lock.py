"""One writer at a time: a recording that a run is writing is not taken by another run."""

from io import BufferedRandom
from pathlib import Path

from seatrial import locking
from seatrial.errors import RecordingError


def open_alone(path: Path) -> BufferedRandom:
    """Open a file for writing, made if it is not there and left as it is, or refuse."""
    try:
        return locking.open_alone(path)
    except BlockingIOError:
        raise RecordingError(
            f"{path}: another run is recording there\n"
            "  expected: a place of its own for every run\n"
            "  to mend:  wait until the other run has ended, or choose another name with --out"
        ) from None
