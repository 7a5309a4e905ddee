"""A bar for whoever waits at a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def working(what: str, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """A bar on stderr, if that is a terminal, for as long as something works.

    It pulses until the function that it gives is told which share is done, 0 to 1.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda share: bar.update(task, total=1.0, completed=share)
