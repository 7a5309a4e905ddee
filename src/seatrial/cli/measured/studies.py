"""`seatrial study`: runs a study behind a progress bar and prints what it found."""

import json
import sys
from pathlib import Path
from types import TracebackType

import typer
from rich.console import Console
from rich.progress import Progress

from seatrial.cli.tables import show_table, terminal
from seatrial.errors import Problem, SpecError
from seatrial.validation.claims import lines
from seatrial.validation.findings import Findings
from seatrial.validation.studies import Report, merge_cases, run_study, sail_cases


def show_study(name: str, out: Path, as_json: bool, sample: bool) -> bool:
    """Run a study, write its files, print what it found; returns whether all claims hold."""
    with _Watch(quiet=as_json) as watch:
        report = run_study(name, out, sample=sample, watch=watch)
    return _show(report, name, out, as_json)


def show_cases(
    name: str, out: Path, as_json: bool, cases: list[str], seeds: int | None, merge: bool
) -> bool:
    """Sail cases of a study, then the page of all that are kept if it is wanted."""
    if seeds is not None and not cases:
        raise SpecError(
            Problem("--seeds belongs to --case", value=seeds, mend="name cases: --case otter:sea3")
        )
    with _Watch(quiet=as_json) as watch:
        if cases:
            sail_cases(name, out, cases, seeds, watch)
    return _show(merge_cases(name, out), name, out, as_json) if merge else True


def _show(report: Report, name: str, out: Path, as_json: bool) -> bool:
    if as_json:
        typer.echo(json.dumps(report.document, indent=2))
    else:
        _print(report.findings)
        typer.echo(f"written: {out / name}.* in {report.document['wall_s']:.1f} s")
    return report.holds


class _Watch:
    """Lines and a progress bar on stderr; the bar appears when it is first told a share."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        hidden = quiet or not sys.stderr.isatty()
        self._bar = Progress(console=Console(stderr=True), disable=hidden, transient=True)
        self._task = self._bar.add_task("running", total=1.0)

    def __enter__(self) -> "_Watch":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar.live.is_started:  # stopping one that never ran prints an empty line
            self._bar.stop()

    def share(self, done: float) -> None:
        """Move the bar."""
        self._bar.start()
        self._bar.update(self._task, completed=done)

    def line(self, text: str) -> None:
        """Print a line."""
        if not self._quiet:
            typer.echo(text, err=True)


def _print(found: Findings) -> None:
    console = terminal()
    for title, headings, rows in found.tables:
        show_table(console, title, headings, rows)
    for line in lines(found.claims):
        console.print(line)
