"""Where recordings and what is made of them lie."""

import os
from contextlib import suppress
from pathlib import Path

from seatrial.errors import RecordingError, shorten


def as_path(given: object) -> Path:
    """What a program gave as a path, which may be anything; there need be nothing yet.

    Whatever cannot be looked at, such as a name that is too long or a place within a folder that is
    closed to us, is refused here: `Path.exists` and its like would raise.
    """
    if not isinstance(given, str | os.PathLike) or "\0" in str(given):
        raise RecordingError(
            f"{shorten(given)}: this is no path of a recording or a picture\n"
            "  expected: the name of a file, as text or a Path\n"
            "  to mend:  write for example 'run.mcap'"
        )
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(given)
    except OSError as error:
        raise RecordingError(
            f"{given}: cannot be looked at ({error.strerror})\n"
            "  expected: a name of at most 255 letters, in folders that are open to you\n"
            "  to mend:  choose another name or place"
        ) from None
    return Path(given)
