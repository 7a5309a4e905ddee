"""Plans that are made beside a run: describing, compiling and loading never hold it up."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from seatrial.engine.plan import Plan
from seatrial.errors import SeatrialError

Answer = Callable[[str], None]
"""Tells whoever asked why it cannot be done."""


@dataclass(frozen=True)
class _Wish:
    make: Callable[[], Plan]
    """Makes the plan, in another thread."""
    take: Callable[[Plan], None]
    """Takes it, in the thread of the run."""
    answer: Answer


class Workshop:
    """Makes one plan at a time; of several wishes that wait the last one counts."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="workshop")
        self._made: tuple[_Wish, Future[Plan]] | None = None
        self._next: _Wish | None = None

    def wish(self, make: Callable[[], Plan], take: Callable[[Plan], None], answer: Answer) -> None:
        """Ask for a plan; `collect` hands it over."""
        self._next = _Wish(make, take, answer)
        self._begin()

    def collect(self) -> bool:
        """Hand over what is ready; called by the thread of the run, and never waits."""
        if self._made is None or not self._made[1].done():
            return False
        wish, made = self._made
        self._made = None
        try:
            wish.take(made.result())
        except SeatrialError as error:
            wish.answer(str(error))
        self._begin()
        return True

    def forget(self) -> None:
        """Want nothing any more."""
        self._made = self._next = None

    def close(self) -> None:
        """Let go of the thread; what it works on is finished and dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> None:
        if self._made is None and self._next is not None:
            self._made, self._next = (self._next, self._pool.submit(self._next.make)), None
