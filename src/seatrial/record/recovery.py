"""A whole MCAP file out of one that a kill cut short, or that was damaged.

The file of a killed run has its chunks but perhaps the last, and neither index nor end: our reader
takes it as it is, other programs refuse it. Here its whole chunks go over, message by message with
the numbers and times that they have, into a file that is closed as it should be. What never
reached the disk stays missing, also the summary, which is written at the end of a run. Of a damaged
file, in which a chunk was changed, lost or moved, what comes before the damage goes over.
"""

import os
from pathlib import Path

from seatrial.errors import RecordingError
from seatrial.record.mcap import description
from seatrial.record.mcap.copying import Copy
from seatrial.record.mcap.file import McapFile, open_file, open_whole_part
from seatrial.record.reader import read_description


def recover(path: Path, out: Path, overwrite: bool = False) -> bool:
    """Write `out`; False, and nothing written, where `path` is whole already.

    With `overwrite` it may be `path` itself: it is replaced at the end, in one move.
    """
    if path.is_dir():
        raise RecordingError(
            f"{path}: a Zarr store is whole up to its last block at any moment\n"
            "  expected: an MCAP file\n"
            "  to mend:  use the store as it is"
        )
    if out.suffix != ".mcap":
        raise RecordingError(
            f"{out}: a recording is recovered into an MCAP file\n"
            "  expected: a name that ends in .mcap\n"
            f"  to mend:  --out {path.stem}-recovered.mcap"
        )
    found = _usable_part(path)
    if found is None:
        return False
    header = read_description(found)[0]
    if out.exists() and not overwrite:
        raise RecordingError(
            f"{out}: exists already\n"
            "  expected: a new name\n"
            "  to mend:  choose another one with --out, or say --overwrite"
        )
    partial = out.with_name(f"{out.name}.partial")
    try:
        _rewrite(found, description.metadata(header), partial)
        os.replace(partial, out)
    except OSError as error:
        raise RecordingError(
            f"{out}: cannot write the recording ({error.strerror or error})\n"
            "  expected: a file in a folder that exists, is writable and has space\n"
            "  to mend:  choose another place with --out FILE.mcap"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return True


def _usable_part(path: Path) -> McapFile | None:
    """What can go over; None where everything is as it should be."""
    try:
        found = open_file(path)
        for place in found.places if found.indexed else ():
            found.read(place, set())
    except RecordingError:
        found = open_whole_part(path)
        if not found.places:
            raise
    return None if found.indexed else found


def _rewrite(found: McapFile, metadata: dict[str, str], target: Path) -> None:
    with target.open("wb") as file:
        copy = Copy(found, metadata, "recovered", file)
        for place in found.places:
            copy.copy(place)
        copy.finish()
