"""One writer at a time."""

import os
from io import BufferedRandom
from pathlib import Path


def open_alone(path: Path) -> BufferedRandom:
    """Open a file for writing, made if it is not there and left as it is; a BlockingIOError where
    another process has it.

    The lock goes with the open file: a killed process leaves none behind.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    file = os.fdopen(descriptor, "r+b")
    try:
        _lock(descriptor)
    except BlockingIOError:
        file.close()
        raise
    return file


def _lock(descriptor: int) -> None:
    """Take the lock or raise BlockingIOError; some network file systems have none to take."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            os.lseek(descriptor, 1 << 40, os.SEEK_SET)  # a byte that nobody reads
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            raise BlockingIOError from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return
