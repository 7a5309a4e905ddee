"""Where recordings and what is made of them lie."""

import os
from pathlib import Path

from seatrial.errors import RecordingError, shorten


def as_path(given: object) -> Path:
    """What a program gave as a path, which may be anything."""
    if not isinstance(given, str | os.PathLike) or "\0" in str(given):
        raise RecordingError(
            f"{shorten(given)}: this is no path of a recording or a picture\n"
            "  expected: the name of a file, as text or a Path\n"
            "  to mend:  write for example 'run.mcap'"
        )
    return Path(given)
