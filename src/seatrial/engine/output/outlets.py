"""Hands blocks to the sinks, each in a thread of its own.

A sink that fails or stalls neither loses nor slows what the others get. A recorder must lose
nothing: what it has not written yet waits in memory, and when that is full the run waits for it as
long as it goes on writing. A sink that may drop frames (`lossy`) is never waited for.
"""

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from seatrial.engine.frames import Frames, RunHeader, RunSummary, Scene, Sink

MOST_BYTES = 1 << 30
"""Of blocks that wait for one sink, before the run waits for it."""

LOSSY_BLOCKS = 4
"""Blocks that wait for a lossy sink; older ones are dropped."""

PATIENCE = 30.0
"""A sink that has been busy with one block for so long has stalled, s."""


@dataclass(frozen=True)
class SinkFailure:
    """A sink that did not get all of the run."""

    sink: str
    """Its class."""
    error: BaseException
    """What it raised, or what it did not do."""


class Outlets:
    """All sinks of a run."""

    def __init__(self, sinks: Sequence[Sink], header: RunHeader, scene: Scene) -> None:
        opened: list[Sink] = []
        for sink in sinks:
            try:
                sink.open(header, scene)
            except BaseException:  # one that cannot even begin is an error of the caller's
                for other in opened:
                    with suppress(Exception):
                        other.close(RunSummary("stopped", 0.0, {}))
                raise
            opened.append(sink)
        self._outlets = [_Outlet(sink) for sink in opened]

    def write(self, frames: Frames) -> None:
        """Hand a block to all of them."""
        for outlet in self._outlets:
            outlet.put(frames)

    @property
    def useless(self) -> bool:
        """Whether there were sinks and none is left."""
        return bool(self._outlets) and all(o.failure is not None for o in self._outlets)

    def close(self, summary: RunSummary) -> list[SinkFailure]:
        """Wait until all have written everything; returns those that did not."""
        for outlet in self._outlets:
            outlet.put(summary)
        for outlet in self._outlets:
            outlet.join()
        return [o.failure for o in self._outlets if o.failure is not None]


class _Outlet:
    """One sink, its thread, and what waits for it."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._lossy = bool(getattr(type(sink), "lossy", False))
        self._waiting: deque[Frames | RunSummary] = deque()
        self._bytes = 0
        self._written = 0
        self._changed = threading.Condition()
        self._closed = False
        self.failure: SinkFailure | None = None
        self._thread = threading.Thread(target=self._work, name=type(sink).__name__, daemon=True)
        self._thread.start()

    def put(self, item: Frames | RunSummary) -> None:
        """Let it be written; waits for a lossless sink whose backlog is full."""
        with self._changed:
            if self._lossy and isinstance(item, Frames):
                while len(self._waiting) >= LOSSY_BLOCKS:
                    self._bytes -= _size(self._waiting.popleft())
            while self.failure is None and not self._lossy and self._bytes > MOST_BYTES:
                self._wait_for_progress()
            if self.failure is None:
                self._waiting.append(item)
                self._bytes += _size(item)
                self._changed.notify_all()

    def join(self) -> None:
        """Wait until it has written everything, or has failed."""
        with self._changed:
            while self.failure is None and not self._closed:
                self._wait_for_progress()

    def _wait_for_progress(self) -> None:
        written = self._written
        self._changed.wait_for(
            lambda: self._written > written or self._closed or self.failure is not None, PATIENCE
        )
        if self._written == written and not self._closed and self.failure is None:
            self._fail(TimeoutError(f"it has not taken a block for {PATIENCE:g} s"))

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self.failure is not None)
                if self.failure is not None:
                    return
                item = self._waiting.popleft()
            try:
                if isinstance(item, RunSummary):
                    self._sink.close(item)
                else:
                    self._sink.write(item)
            except BaseException as error:  # whatever it is, the other sinks go on
                with self._changed:
                    self._fail(error)
                return
            with self._changed:
                self._written += 1
                self._bytes -= _size(item)
                self._closed = isinstance(item, RunSummary)
                self._changed.notify_all()
                if self._closed:
                    return

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = SinkFailure(type(self._sink).__name__, error)
        self._waiting.clear()
        self._changed.notify_all()


def _size(item: Frames | RunSummary) -> int:
    if isinstance(item, RunSummary):
        return 0
    arrays = [a for g in item.groups for a in vars(g.frames).values()]
    arrays += [a for g in item.groups for m in g.measurements.values() for a in vars(m).values()]
    return sum(a.nbytes for a in arrays if a is not None)
