"""Errors that a person can act on: where, what, what was expected and how to mend it."""

from collections.abc import Sequence
from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a description."""

    message: str
    """What is wrong, in one sentence, without the location."""
    path: Path = ()
    """Keys and indices from the top of the document to the value."""
    value: object = None
    """What was found there; None when nothing was."""
    expected: str = ""
    mend: str = ""
    file: str = ""
    line: int = 0
    """One-based line of the value in `file`; 0 when the description did not come from a file."""

    def where(self) -> str:
        """`file:line: path`, as much of it as is known."""
        parts = [self.file] if self.file else []
        if self.line:
            parts.append(str(self.line))
        place = ":".join(parts)
        path = format_path(self.path)
        return ": ".join(p for p in (place, path) if p)

    def __str__(self) -> str:
        where = self.where()
        lines = [f"{where}: {self.message}" if where else self.message]
        if self.value is not None:
            lines.append(f"  found:    {shorten(self.value)}")
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.mend:
            lines.append(f"  to mend:  {self.mend}")
        return "\n".join(lines)


class SeatrialError(Exception):
    """Base of every error that seatrial raises on purpose; the command line exits with 2."""


class SpecError(SeatrialError):
    """A vehicle, world or scenario description that cannot be used.

    Its `problems` say where, what was expected and how to mend it; its text says them all.

    >>> try:
    ...     st.Scenario(world="calmm", vehicles=[{"vehicle": "otter"}])
    ... except st.SpecError as error:
    ...     error.problems[0].mend
    'did you mean `calm`?'
    """

    def __init__(self, problems: Problem | Sequence[Problem]):
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


class SpecWarning(UserWarning):
    """A description that can be used but may not do what was meant; its text is a Problem's.

    >>> import warnings
    >>> boat = {"vehicle": "otter", "commands": {"left_rpm": 5000}}
    >>> with warnings.catch_warnings(record=True) as doubts:
    ...     warnings.simplefilter("always", st.SpecWarning)
    ...     plan = st.compile_scenario(st.Scenario(world="calm", vehicles=[boat], duration=1.0))
    >>> print(str(doubts[0].message).splitlines()[0])
    vehicles[0].commands.left_rpm: `left` goes no farther than its limits
    """


class RecordingError(SeatrialError):
    """A recording that cannot be written or read.

    >>> try:
    ...     st.read("nowhere.mcap")
    ... except st.RecordingError as error:
    ...     print(str(error).splitlines()[0])
    nowhere.mcap: cannot read the recording (No such file or directory)
    """


class DatasetError(SeatrialError):
    """A dataset that cannot be made, gone on with or read."""


def format_path(path: Sequence[str | int]) -> str:
    """Render ('vehicles', 0, 'start') as vehicles[0].start."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shorten(value: object, limit: int = 80) -> str:
    """Show a value on one line, cut to `limit` characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
