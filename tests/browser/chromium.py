"""Headless Chromium for tests and screenshots, and a server of the page in this process."""

import json
import runpy
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from seatrial.viewer.roles import ROLES
from seatrial.viewer.server import Links, application
from seatrial.viewer.stage import Stage

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Chromium:
    """Pages by name; every method waits for its answer."""

    def __init__(self) -> None:
        _, environment = runpy.run_path(str(ROOT / "web" / "build.py"))["node"]()
        self._process = subprocess.Popen(
            [shutil.which("node", path=environment["PATH"]), str(HERE / "browser.mjs")],
            cwd=HERE,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, verb: str, page: str = "a", **more: Any) -> Any:
        """Ask; raises RuntimeError with the browser's words."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"verb": verb, "page": page, **more}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the browser ended"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def js(self, script: str, page: str = "a") -> Any:
        """The value of an expression in a page."""
        return self("evaluate", page, script=script)

    def until(self, script: str, page: str = "a", seconds: float = 60.0) -> Any:
        """Wait until an expression in a page is true; its value.

        A page that is just being loaded answers with an error: it is asked again like one
        that answers no, and its words are told when the time is over.
        """
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.js(script, page)
            except RuntimeError as error:
                value = None if time.monotonic() < end else error
            if value and not isinstance(value, RuntimeError):
                return value
            assert time.monotonic() < end, f"{script} stayed {value!r}"
            time.sleep(0.1)

    def ready(self, page: str = "a") -> None:
        """Wait for the first picture."""
        self.until(
            "window.seatrial?.page()?.buffer.last !== undefined && seatrial.page().world.time >= 0",
            page,
        )

    def quit(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()


class Served:
    """A stage behind a server on a port of its own; the server may be stopped and started."""

    def __init__(self, stage: Stage, links: Links) -> None:
        self.stage, self.links = stage, links
        self.port = 0
        stage.start()
        self.start()

    def start(self) -> None:
        config = uvicorn.Config(
            application(self.stage, self.links), port=self.port, log_level="error"
        )
        config.timeout_graceful_shutdown = 1
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@contextmanager
def serving(stage: Stage, **links: str) -> Iterator[Served]:
    """Behind a link for each role, whose tokens are given; an operator's on loopback without."""
    made = {token: ROLES[role] for role, token in links.items()} or {"": ROLES["operator"]}
    served = Served(stage, made)
    try:
        yield served
    finally:
        served.stop()
        stage.close()
