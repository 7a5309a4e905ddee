"""The page: puts a live run or a recording together with its server.

`seatrial view`, `seatrial run --view` and `st.view` all come here.
"""

import html
import numbers
import secrets
import signal
import socket
import threading
import time as wall_clock
import webbrowser
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from seatrial.api import Run
from seatrial.compile.control.controllers import prepare
from seatrial.compile.scenario import compile_scenario, described_by
from seatrial.compile.surroundings.weather import weather_of, with_weather
from seatrial.compile.variations import with_overrides
from seatrial.compile.vehicles.shapes import with_recorded_shapes
from seatrial.engine.engine import Engine
from seatrial.engine.frames import Sink
from seatrial.engine.plan import Plan
from seatrial.engine.weather import Weather
from seatrial.errors import Problem, SpecError
from seatrial.guests import RosbridgeGuests
from seatrial.record.choose import recorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import Recording, read
from seatrial.spec.scenario import Scenario
from seatrial.viewer.live import Live
from seatrial.viewer.messages import FASTEST, SLOWEST
from seatrial.viewer.playback import Playback
from seatrial.viewer.roles import ROLES
from seatrial.viewer.server import LOOPBACK, Links, application, require_page, settings
from seatrial.viewer.stage import Stage

_RECORDINGS = (".mcap", ".zarr")

DRILL = ("instructor", "trainee", "watcher")
"""Roles that have a link each in a drill."""

OUTAGE = "power_loss"
"""What an instructor may do to every thruster in a drill."""

LINGERING = 1.0
"""For which a page that has seen a whole run may still fetch its end, s."""


class Page:
    """A run or a recording behind an address; in a notebook it is shown in its cell.

    It is served until `close`, or until the program ends; `wait` stays until Ctrl-C. `links` are
    the addresses by role.
    """

    def __init__(self, stage: Stage, host: str, port: int, links: Links) -> None:
        import uvicorn

        self.stage = stage
        self._socket = _listening(host, port)
        port = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.links = {
            role.name: f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
            for token, role in links.items()
        }
        served = application(stage, links)
        self._server = uvicorn.Server(uvicorn.Config(served, **settings(stage)))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        stage.start()
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            wall_clock.sleep(0.005)

    @property
    def url(self) -> str:
        """The address, of the first role where there are several."""
        return next(iter(self.links.values()))

    @property
    def counts(self) -> Counter[str]:
        """How many requests of pages were refused, how many knocked in vain, and what programs
        that speak rosbridge here were sent and refused."""
        guests = self.stage.guests
        return self.stage.counts + (Counter() if guests is None else guests.counts)

    def wait(self) -> None:
        """Stay until Ctrl-C, or until a run to its end has come there; raises what made it fail."""
        here = threading.current_thread() is threading.main_thread()
        # heard here and by nobody else: a recording is closed before the program ends
        usual = signal.signal(signal.SIGINT, signal.default_int_handler) if here else None
        with suppress(KeyboardInterrupt):
            while not self.stage.over.wait(0.2):
                pass
            wall_clock.sleep(LINGERING)
        self.close()
        if here:
            signal.signal(signal.SIGINT, usual)
        if self.stage.failure is not None:
            raise self.stage.failure

    def close(self) -> None:
        """End the run and the server."""
        self.stage.close()
        self._server.should_exit = True
        self._thread.join(5.0)
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Page({self.url!r})"

    def _repr_html_(self) -> str:
        address = html.escape(self.url, quote=True)
        return (
            f'<iframe src="{address}" width="100%" height="620" style="border:0" '
            f'allow="fullscreen; gamepad; clipboard-write"></iframe>'
            f'<div><a href="{address}" target="_blank">in a window of its own</a></div>'
        )


def view(
    what: str | Path | Scenario | Plan | Run | Recording,
    *,
    seed: int | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    out: str | Path | None = None,
    allow_code: bool = False,
    watch_only: bool = False,
    drill: bool = False,
    faults: Sequence[str] = (),
    speed: float = 1.0,
) -> Page:
    """Show a scenario live, or a recording or a finished run, behind an address of this machine.

    In a notebook the page appears in the cell; `st.view("demo").wait()` is a script. Any free port
    is taken for `port=0`. Elsewhere than on loopback the page needs the token that is part of its
    address. A `drill` has a link for each role, and every thruster may fail in it; further `faults`
    are those of `seatrial run --fault`.

    >>> page = st.view(st.run("otter-turning-circle", duration=1.0))
    >>> page.url.startswith("http://127.0.0.1:")
    True
    >>> page.close()
    """
    require_page()
    links = _links(host, watch_only, drill)
    _listening(host, port).close()  # refused before anything is compiled
    if not _recorded(what) and (drill or faults):
        scenario = with_overrides(described_by(what), faults=faults)  # type: ignore[arg-type]
        what = for_drill(scenario) if drill else scenario
    stage = stage_of(what, seed=seed, out=out, allow_code=allow_code)
    stage.speed = _speed(speed)
    return Page(stage, host, port, links)


def run_in_view(
    scenario: Scenario,
    *,
    out: Path | None,
    allow_code: bool = False,
    port: int = 0,
    speed: float = 1.0,
    shown: Callable[[Page], None],
) -> Run:
    """Run a scenario to its end while pages of this machine watch and steer; `shown` is told
    where."""
    require_page()
    host = LOOPBACK[0]
    links = _links(host, watch_only=False, drill=False)
    _listening(host, port).close()
    pace = _speed(speed)
    plan, controllers = prepare(scenario, None, allow_code)
    memory, vehicles = MemoryRecorder(), len(plan.header.vehicles)

    def sink() -> Sink:
        nonlocal memory
        memory = MemoryRecorder()
        return memory if out is None else recorder(out, vehicles)

    engine = Engine(plan, stepped=True)
    stage = Live(engine, controllers, sink, _Maker(plan), whole=True, guests=RosbridgeGuests())
    stage.speed = pace
    began = wall_clock.perf_counter()
    page = Page(stage, host, port, links)
    shown(page)
    page.wait()
    elapsed = wall_clock.perf_counter() - began
    assert stage.summary is not None
    return Run(stage.header, stage.summary, elapsed, memory if out is None else out)


def open_browser(page: Page) -> None:
    """Open the page where somebody sits in front of the machine."""
    threading.Thread(target=webbrowser.open, args=[page.url], daemon=True).start()


def stage_of(
    what: str | Path | Scenario | Plan | Run | Recording,
    *,
    seed: int | None = None,
    out: str | Path | None = None,
    allow_code: bool = False,
) -> Stage:
    """What is shown: a recording, or an engine that is ready to go."""
    if _recorded(what):
        if out is not None or seed is not None:
            raise SpecError(
                Problem(
                    "a recording is played back as it is",
                    expected="no --out and no --seed",
                    mend="name a scenario to run one",
                )
            )
        return _playback(what)
    plan, controllers = prepare(what, None, allow_code, seed)  # type: ignore[arg-type]  # no run
    vehicles = len(plan.header.vehicles)
    sink = None if out is None else lambda: recorder(out, vehicles)
    if sink is not None:  # a name that cannot be used is refused before the page opens
        sink()
    engine = Engine(plan, stepped=True)
    return Live(engine, controllers, sink, _Maker(plan), guests=RosbridgeGuests())


def for_drill(scenario: Scenario) -> Scenario:
    """The scenario with faults that only an instructor switches on: each thruster may fail."""
    missing = []
    for vehicle in scenario.vehicles:
        known = {(fault.target, fault.kind) for fault in vehicle.faults}
        missing += [
            f"{vehicle.name}/{actuator.name}: {OUTAGE}"
            for actuator in vehicle.vehicle.actuators
            if actuator.kind == "thruster" and (actuator.name, OUTAGE) not in known
        ]
    return with_overrides(scenario, faults=missing)


def _recorded(what: object) -> bool:
    if isinstance(what, str | Path):
        return Path(what).suffix in _RECORDINGS
    return isinstance(what, Run | Recording)


def _playback(what: Any) -> Playback:
    run = what.recording if isinstance(what, Run) else what
    recording = run if isinstance(run, Recording) else read(run)
    return Playback(
        with_recorded_shapes(recording.header),
        recording.scene,
        recording.summary,
        recording.dataset,
        recording.acts,
        recording.samples,
        recording.payload,
    )


class _Maker:
    """Plans of a scenario in other weather, or with another seed."""

    def __init__(self, plan: Plan) -> None:
        self._described = described_by(plan)

    @property
    def weather(self) -> Weather:
        """At the start."""
        return weather_of(self._described.world)

    def in_weather(self, weather: Weather, seed: int) -> Plan:
        """The scenario in other weather."""
        return compile_scenario(with_overrides(with_weather(self._described, weather), seed))

    def with_seed(self, seed: int) -> Plan:
        """The scenario with other random numbers."""
        return compile_scenario(with_overrides(self._described, seed))


def _links(host: str, watch_only: bool, drill: bool) -> Links:
    """A token for each role; one role on this machine needs none."""
    if drill:
        return {secrets.token_urlsafe(16): ROLES[name] for name in DRILL}
    role = ROLES["watcher" if watch_only else "operator"]
    return {"" if host in LOOPBACK else secrets.token_urlsafe(16): role}


def _speed(speed: float) -> float:
    if not isinstance(speed, numbers.Real) or not SLOWEST <= speed <= FASTEST:
        expected = f"{SLOWEST:g} to {FASTEST:g} times real time"
        raise SpecError(Problem("the page cannot keep this speed", value=speed, expected=expected))
    return speed


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; refused where somebody else does."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError, TypeError) as error:
        made.close()
        raise SpecError(
            Problem(
                f"cannot listen on {host} port {port} ({getattr(error, 'strerror', error)})",
                value=port,
                expected="an address of this machine and a port that nobody else uses",
                mend="name another one with --port",
            )
        ) from None
    return made
