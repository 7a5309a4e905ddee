"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

ScenarioArgument = Annotated[
    str,
    typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of one in the library."),
]
RecordingArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A recording: .mcap or .zarr.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]
