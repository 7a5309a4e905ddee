"""Arguments and options that several commands have."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer


def library(*kinds: str) -> Callable[[str], list[str]]:
    """Completes names of the library for a shell; where none fits, the shell names files."""

    def names(incomplete: str) -> list[str]:
        from seatrial.spec.library import FOLDERS, library_names

        known = [name for kind in kinds or FOLDERS for name in library_names(kind)]
        return [name for name in known if name.startswith(incomplete)]

    return names


ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file, or the name of one in the library.",
        autocompletion=library("scenario"),
    ),
]
VehicleArgument = Annotated[
    str,
    typer.Argument(help="A vehicle file, or a library name.", autocompletion=library("vehicle")),
]
RecordingArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A recording: .mcap or .zarr.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]
