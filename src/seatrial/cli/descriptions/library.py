"""`seatrial list`."""

import json
import textwrap
from typing import Any

import typer

from seatrial.spec.library import description_in, library_file, library_names

KINDS = ("vehicle", "world", "scenario", "imu", "lidar")


def show_library(as_json: bool) -> None:
    """Names and one-line descriptions of everything that ships."""
    entries = {
        kind: {name: description_in(library_file(name, kind)) for name in library_names(kind)}
        for kind in KINDS
    }
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
        return
    from rich.table import Table

    from seatrial.cli.tables import terminal

    console = terminal()
    for kind, found in entries.items():
        table = Table(title=f"{kind}s", title_justify="left", show_header=False, box=None)
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for name, description in found.items():
            table.add_row(name, " ".join(description.split()))
        console.print(table)
        console.print()


def show_keys(topic: str | None) -> None:
    """The keys of one description, or what there are keys of."""
    from seatrial.spec.reference import explain, topics

    if topic is not None:
        typer.echo(explain(topic), nl=False)
        return
    for title, names in topics().items():
        typer.echo(f"{title}:\n{textwrap.fill(', '.join(names), 78, **_INDENT)}")
    typer.echo("\nseatrial keys TOPIC explains one of them, as in: seatrial keys goto")


_INDENT: dict[str, Any] = {"initial_indent": "    ", "subsequent_indent": "    "}
