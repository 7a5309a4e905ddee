"""`seatrial view`: puts a live run or a recording together with the page."""

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from seatrial.compile.control.controllers import prepare
from seatrial.engine.engine import Engine
from seatrial.errors import Problem, SpecError
from seatrial.record.choose import recorder
from seatrial.record.reader import read
from seatrial.viewer.live import Live
from seatrial.viewer.playback import Playback
from seatrial.viewer.server import LOOPBACK, require_page, serve
from seatrial.viewer.stage import Stage

_RECORDINGS = (".mcap", ".zarr")


def view(
    what: str | Path,
    *,
    seed: int | None = None,
    host: str = "127.0.0.1",
    port: int = 8520,
    out: Path | None = None,
    allow_code: bool = False,
    watch_only: bool = False,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Show a scenario live, or a recording, in the browser until Ctrl-C.

    Elsewhere than on loopback the page needs a token, which is part of the address that is said.
    """
    require_page()
    token = None if host in LOOPBACK else secrets.token_urlsafe(16)
    _require_port(host, port)
    stage = stage_of(what, seed=seed, out=out, allow_code=allow_code, control=not watch_only)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/" + ("" if token is None else f"?token={token}")
    say(f"{address}  (Ctrl-C ends it)")
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    serve(stage, host, port, token)


def stage_of(
    what: str | Path,
    *,
    seed: int | None = None,
    out: Path | None = None,
    allow_code: bool = False,
    control: bool = True,
) -> Stage:
    """What is shown: a recording, or an engine that is ready to go."""
    if Path(what).suffix in _RECORDINGS:
        if out is not None or seed is not None:
            raise SpecError(
                Problem(
                    "a recording is played back as it is",
                    expected="no --out and no --seed",
                    mend="name a scenario to run one",
                )
            )
        recording = read(what)
        return Playback(
            recording.header,
            recording.scene,
            recording.summary,
            recording.dataset,
            recording.samples,
            recording.payload,
        )
    plan, controllers = prepare(what, None, allow_code, seed)
    vehicles = len(plan.header.vehicles)
    sink = None if out is None else lambda: recorder(out, vehicles)
    if sink is not None:  # a name that cannot be used is refused before the page opens
        sink()
    return Live(Engine(plan, stepped=True), controllers, sink, control)


def _require_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            raise SpecError(
                Problem(
                    f"cannot listen on {host} port {port} ({error.strerror})",
                    value=port,
                    expected="an address of this machine and a port that nobody else uses",
                    mend="name another one with --port",
                )
            ) from None
