"""The command line: assembles everything; nobody imports it."""

import ctypes
import gc
import io
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from types import FrameType

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

PATIENCE = 0.7
"""After which a Ctrl-C that somebody else caught ends the process all the same, s."""

M_MXFAST = 1
"""Number of the setting in glibc's `malloc.h`: largest block that is not joined to others when it
is freed."""

FIRST_OBJECTS, USUAL_OBJECTS = 600_000, 50_000
"""Containers, such as lists and classes, after which garbage is looked for: at first, and from then
on. A start leaves three hundred thousand."""

_interrupted = threading.Event()


def main() -> None:
    """Entry point: errors that a person can mend go to stderr with exit code 2, no stack trace."""
    signal.signal(signal.SIGINT, _interrupt)
    _open_what_is_closed()
    # XLA would tell of a slow compile on a slow machine as of a fault; what fails, it raises.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if isinstance(sys.stdout, io.TextIOWrapper):  # an encoding that lacks a letter has its `?`
        sys.stdout.reconfigure(errors="replace")
    quicken()
    try:
        _obey()
    except SystemExit as ending:
        if ending.code == INTERRUPTED:  # XLA may be compiling beside us: nobody waits for it
            _leave()
        raise
    except BaseException:
        if _interrupted.is_set():  # whatever became of it on its way
            _leave()
        raise
    finally:
        gc.freeze()  # nor is garbage looked for among modules that go now: a tenth of every end


def _open_what_is_closed() -> None:
    """Give every stream that the caller closed to nobody: the next file would get its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def quicken() -> None:
    """Settings of the process by which a command starts sooner."""
    # Modules stay to the end: looking for garbage among them takes a tenth of every start.
    gc.set_threshold(FIRST_OBJECTS, 20, 50)
    gc.callbacks.append(_as_usual)
    # Nor do the descriptions' classes need plugins, for which pydantic asks every package there is.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # XLA builds a program out of a hundred thousand small pieces of memory. Those that it frees
    # meanwhile are put together anew with every large one that it asks for, unless glibc is told to
    # do that at once: a tenth of the time that loading takes.
    with suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).mallopt(M_MXFAST, 0)


def _as_usual(phase: str, info: dict[str, int]) -> None:
    """Once garbage was looked for the start is over: a long run must not let it lie for so long."""
    if phase == "stop":
        gc.callbacks.remove(_as_usual)
        gc.set_threshold(USUAL_OBJECTS, 20, 50)


def _obey() -> None:
    from seatrial.cli.commands import app
    from seatrial.errors import SeatrialError

    # What is doubtful is for whoever typed the command: the text, and not where it was said.
    warnings.formatwarning = lambda message, *where: f"warning: {message}\n"
    try:
        app()
    except SeatrialError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:  # a file that nobody expected to be so, or no room for what is printed
        place = "the output" if error.filename is None else os.fsdecode(error.filename)
        print(f"{place}: {error.strerror or error}", file=sys.stderr)
        print("  to mend:  choose another name or place", file=sys.stderr)
        with suppress(OSError):
            sys.stdout.close()  # what is still to be printed is not tried again
        raise SystemExit(2) from None


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C where nobody takes care of it: heard also by those who catch everything.

    Classes that are being built turn it into errors of their own, others swallow it, and XLA lets
    nobody in. Nothing is half written then: whoever writes defers Ctrl-C, see
    `interrupt_at_leisure`, or hears it himself, as the page does.
    """
    _interrupted.set()
    leaving = threading.Timer(PATIENCE, _leave)
    leaving.daemon = True
    leaving.start()
    raise KeyboardInterrupt


def _leave() -> None:
    print("interrupted", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(INTERRUPTED)
