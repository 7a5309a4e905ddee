"""Tables of a dataset: comma-separated, a first column of whole nanoseconds, numbers to the last
bit."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seatrial.dataset.flight import Array, Motion, Stamps

STAMP = "#timestamp [ns]"
MOTION = (
    *("p_north [m]", "p_east [m]", "p_down [m]"),
    *("q_w []", "q_x []", "q_y []", "q_z []"),
    *("v_forward [m s^-1]", "v_starboard [m s^-1]", "v_down [m s^-1]"),
    *("w_forward [rad s^-1]", "w_starboard [rad s^-1]", "w_down [rad s^-1]"),
)
"""Columns of `ground_truth.csv`: place of the vehicle (NED), quaternion from its axes to the
world's, velocity over ground and angular rate in its axes."""


def table(columns: tuple[str, ...], stamp: Stamps, values: Array) -> bytes:
    """Rows of numbers; what is not there is left empty."""
    out = io.StringIO()
    out.write(",".join((STAMP, *columns)) + "\n")
    for when, row in zip(stamp.tolist(), values.tolist(), strict=True):
        out.write(f"{when}," + ",".join("" if v != v else repr(v) for v in row) + "\n")
    return out.getvalue().encode()


def words(columns: tuple[str, ...], stamp: Stamps, rows: Sequence[tuple[str, ...]]) -> bytes:
    """Rows of words."""
    lines = [",".join((STAMP, *columns))]
    lines += [f"{when},{','.join(row)}" for when, row in zip(stamp.tolist(), rows, strict=True)]
    return ("\n".join(lines) + "\n").encode()


def motion_table(motion: Motion) -> bytes:
    """The truth about a vehicle."""
    values = np.hstack([motion.position, motion.attitude, motion.velocity, motion.rate])
    return table(MOTION, motion.stamp, values)


def read_table(path: Path) -> tuple[tuple[str, ...], Stamps, Array]:
    """Columns, stamps and numbers of a table; NaN where a place is empty."""
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    columns = tuple(head.split(",")[1:])
    stamps = np.empty(len(rows), np.int64)
    values = np.empty((len(rows), len(columns)))
    for i, row in enumerate(rows):
        when, *numbers = row.split(",")
        stamps[i] = int(when)
        values[i] = [float(v) if v else np.nan for v in numbers]
    return columns, stamps, values


def read_motion(path: Path) -> Motion:
    """The truth about a vehicle, back."""
    _, stamp, values = read_table(path)
    return motion_of(stamp, values)


def motion_of(stamp: Stamps, values: NDArray[np.float64]) -> Motion:
    """Rows (S, 13) as a motion."""
    return Motion(stamp, values[:, :3], values[:, 3:7], values[:, 7:10], values[:, 10:13])


def read_words(path: Path) -> list[list[str]]:
    """Rows of a table of words, stamps and all, without its head."""
    return [row.split(",") for row in path.read_text(encoding="utf-8").splitlines()[1:]]
