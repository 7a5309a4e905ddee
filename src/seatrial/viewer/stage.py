"""What the pages of a run look at: its latest state, its events, and who asks for what.

A stage runs in a thread of its own, paced by the wall clock. It leaves its latest state where the
server finds it and waits for nobody: a page that is slow misses states.
"""

import queue
import threading
import time as wall_clock
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable
from typing import Literal

from seatrial.engine.frames import Act, Body
from seatrial.errors import SeatrialError
from seatrial.viewer.guests import Guests
from seatrial.viewer.messages import FLAGS, Event, Hello, History, Request, Samples
from seatrial.viewer.states import Rows, poses_of, state_message

TICK = 1.0 / 60.0
"""Shortest time between two states, and longest that a request waits, s."""

MOST_REQUESTS = 256
"""Requests that wait; further ones are refused."""

MOST_EVENTS = 1000
"""Events that are kept for pages that come later."""

ON_PACE = 0.97
"""Share of the speed asked for that counts as keeping it."""

MOST_LAG = 1.0
"""A run that falls behind by more than this goes on from where it is, slower than asked, s."""

Answer = Callable[[str], None]
"""Tells whoever asked why the request was refused."""


class Stage(ABC):
    """A run that is shown; `start` begins its thread."""

    hello: Hello

    def __init__(self, moving: list[Body]) -> None:
        self.playing = True
        self.ended = False
        self.speed = 1.0
        self.run = 1
        """Number of the run; every reset begins another."""
        self.latest: tuple[int, bytes] = (0, b"")
        """Number and bytes of the last state."""
        self.events: deque[Event] = deque(maxlen=MOST_EVENTS)
        self.told = 0
        """Events ever told; the last of them are in `events`."""
        self.sea: tuple[int, str] = (0, "")
        """Number and JSON of the last `Sea`; none before the sea changes."""
        self.bottom: tuple[int, str] = (0, "")
        """Number and JSON of the last `Bottom`; none before another part of a map is loaded."""
        self.guests: Guests | None = None
        """Programs that hear and steer it beside the pages."""
        self.counts: Counter[str] = Counter()
        """Requests of pages that were refused unread, and who was turned away."""
        self.changed: Callable[[], None] = lambda: None
        """Called, in the stage's thread, when there is something new; never waits."""
        self.over = threading.Event()
        """Set when there is nothing more to come: a run to its end, or a failure."""
        self.failure: BaseException | None = None
        self._moving = moving
        self._requests: queue.Queue[tuple[Request, str, Answer]] = queue.Queue(MOST_REQUESTS)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="stage", daemon=True)
        self._anchor = (0.0, 0.0)
        """Wall time and simulated time from which the pace is counted, s."""
        self._kept = 0.0
        """Speed that was really kept."""
        self._last_pace = (0.0, 0.0)

    @property
    def behind(self) -> bool:
        """Whether it does not keep the speed that was asked for."""
        return self.playing and self._kept < ON_PACE * self.speed

    @property
    @abstractmethod
    def time(self) -> float:
        """Simulated time, s."""

    @abstractmethod
    def _reach(self, time: float) -> bool:
        """Go on to a simulated time, or part of the way; whether anything changed."""

    @abstractmethod
    def _obey(self, request: Request, who: str, answer: Answer) -> bool:
        """Do what only this kind of stage can do, whether it is done by then or will be noted
        later; raises SeatrialError if it cannot."""

    def _note(self, act: Act) -> None:
        """Keep what somebody did."""
        return

    @abstractmethod
    def _rows(self) -> tuple[float, list[Rows]]:
        """Time of the latest frame, and its rows by group."""

    def samples(self, vehicle: str, sensor: str, after: float) -> Samples | None:
        """What a sensor measured later than a time, None if nothing or if there is no such sensor.

        Called by threads of the server, and may take its time.
        """
        return None

    def history(self, vehicle: str) -> History | None:
        """Everything that is known of a vehicle; None of a run that goes on, or of nobody."""
        return None

    def _finish(self) -> None:
        """At the very end, in the stage's thread."""
        return

    def start(self) -> None:
        """Begin."""
        self._publish()
        self._thread.start()

    def close(self) -> None:
        """End, and wait for it."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def ask(self, request: Request, answer: Answer, who: str = "operator") -> None:
        """Called by the server's thread: never waits."""
        try:
            self._requests.put_nowait((request, who, answer))
        except queue.Full:
            answer("too many requests wait already")

    def tell(
        self,
        vehicle: str,
        text: str,
        time: float | None = None,
        kind: Literal["event", "fault", "act"] = "event",
        who: str = "",
    ) -> None:
        """Tell the pages something that happened, or that somebody did."""
        now = self.time if time is None else time
        self.events.append(
            Event(run=self.run, time=now, vehicle=vehicle, text=text, kind=kind, who=who)
        )
        self.told += 1
        self.changed()

    def _work(self) -> None:
        try:
            self._pace()
            due = wall_clock.perf_counter()
            while not self._closing.is_set():
                changed = self._hear()
                if self.playing:
                    changed |= self._go_on(wall_clock.perf_counter())
                if changed:
                    self._publish()
                # counted from when it was due: a wait that took too long does not add up
                now = wall_clock.perf_counter()
                due = max(due + TICK, now)
                self._closing.wait(max(due - now, 0.001))
        except Exception as error:  # told to all pages, and raised where the stage was made
            self.failure = error
            self.tell("", f"the run failed: {error}")
            self.over.set()
        finally:
            self._finish()

    def _go_on(self, now: float) -> bool:
        wall, simulated = self._anchor
        goal = simulated + self.speed * (now - wall)
        changed = self._reach(goal)
        if (goal - self.time) / self.speed > MOST_LAG:
            self._anchor = (wall_clock.perf_counter(), self.time)
        since, before = self._last_pace
        if now - since >= 0.5:
            self._kept = (self.time - before) / (now - since)
            self._last_pace = (now, self.time)
        return changed

    def _hear(self) -> bool:
        """Obey what was asked for since the last time."""
        heard = False
        while True:
            try:
                request, who, answer = self._requests.get_nowait()
            except queue.Empty:
                return heard
            heard = True
            self._take(request, who, answer)

    def _take(self, request: Request, who: str, answer: Answer) -> None:
        try:
            done = self._do(request, who, answer)
        except SeatrialError as error:
            answer(str(error))
        else:
            if done:
                value = request.model_dump(exclude={"type"}, exclude_none=True)
                self._note(Act(self.time, who, request.type, value))

    def _do(self, request: Request, who: str, answer: Answer) -> bool:
        done = True
        if request.type == "play":
            self.playing = not self.ended
        elif request.type == "pause":
            self.playing = False
        elif request.type == "speed":
            self.speed = request.factor
        else:
            done = self._obey(request, who, answer)
        self._pace()
        return done

    def _pace(self) -> None:
        """Count the pace from here on."""
        now = wall_clock.perf_counter()
        self._anchor = self._last_pace = (now, self.time)
        self._kept = self.speed

    def _publish(self) -> None:
        at, rows = self._rows()
        flags = FLAGS["playing"] * self.playing + FLAGS["ended"] * self.ended
        kept = min(self._kept, self.speed) if self.playing else 0.0
        number = self.latest[0] + 1
        moving = [poses_of(self._moving, at)]
        self.latest = (number, state_message(at, number, self.run, kept, flags, rows + moving))
        self.changed()
