"""The command line: assembles everything; nobody imports it."""

import gc
import os
import sys
import warnings

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Entry point: errors that a person can mend go to stderr with exit code 2, no stack trace."""
    # Modules stay to the end: looking for garbage among them takes a tenth of every start.
    gc.set_threshold(50_000, 20, 50)
    # Nor do the descriptions' classes need plugins, for which pydantic asks every package there is.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from seatrial.cli.commands import app
    from seatrial.errors import SeatrialError

    # What is doubtful is for whoever typed the command: the text, and not where it was said.
    warnings.formatwarning = lambda message, *where: f"warning: {message}\n"
    try:
        app()
    except SeatrialError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    except SystemExit as ending:
        if ending.code == INTERRUPTED:  # XLA may be compiling beside us: nobody waits for it
            print("interrupted", file=sys.stderr, flush=True)
            sys.stdout.flush()
            os._exit(INTERRUPTED)
        raise
