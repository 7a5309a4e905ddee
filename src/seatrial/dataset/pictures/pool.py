"""Work that several processes share, in any order, and that may be killed at any time.

A worker is told a piece of work, does it, and tells what came of it; when whoever told it is gone,
the pipe between them is closed and it ends by itself.
"""

import multiprocessing
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from seatrial.errors import DatasetError, SeatrialError

Maker = Callable[[], Callable[[Any], Any]]
"""Makes, in the worker, the function that does the work; goes over as what pickles."""


def shared_out(maker: Maker, pieces: Sequence[Any], workers: int) -> Iterator[Any]:
    """What came of every piece, as it comes; in this process where there is one worker."""
    if workers == 1 or len(pieces) < 2:
        work = maker()
        for piece in pieces:
            yield work(piece)
        return
    context = multiprocessing.get_context("spawn")  # threads of JAX and Mitsuba do not fork
    waiting = list(reversed(pieces))
    crew: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(min(workers, len(pieces))):
            ours, theirs = context.Pipe()
            process: BaseProcess = context.Process(target=_serve, args=(maker, theirs), daemon=True)
            process.start()
            theirs.close()
            ours.send(waiting.pop())
            crew[ours] = process
        while crew:
            ready = wait(list(crew))
            for ours in [one for one in crew if one in ready]:
                yield _heard(ours)
                if waiting:
                    ours.send(waiting.pop())
                else:
                    ours.close()
                    crew.pop(ours).join()
    finally:
        for ours, worker in crew.items():
            ours.close()
            worker.terminate()
            worker.join()


def _heard(ours: Connection) -> Any:
    try:
        found = ours.recv()
    except EOFError:
        raise DatasetError(
            "a worker ended before its work was done\n"
            "  expected: memory enough for every worker\n"
            "  to mend:  say the same again, with fewer --workers"
        ) from None
    if isinstance(found, BaseException):
        raise found
    return found


def _serve(maker: Maker, theirs: Connection) -> None:
    """The worker's side."""
    try:
        work = maker()
        while True:
            piece = theirs.recv()
            theirs.send(work(piece))
    except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        return
    except SeatrialError as error:
        theirs.send(error)
    except Exception:
        theirs.send(RuntimeError(traceback.format_exc()))
