"""The server of the page without a run behind it."""

import sys
from pathlib import Path

import numpy as np
import pytest

from seatrial.errors import Problem, SpecError
from seatrial.viewer.messages import REQUESTS, Hello
from seatrial.viewer.stage import Stage

sys.path.append(str(Path(__file__).resolve().parents[1] / "browser"))


class Counter(Stage):
    """Counts frames of a tenth of a second; its rows are as long as asked for."""

    def __init__(self, numbers=3):
        super().__init__([])
        self.steps, self._numbers, self.obeyed = 0, numbers, []
        self.hello = Hello(
            mode="live", control=True, may=list(REQUESTS), scenario="counter", seed=1, start=0.0,
            duration=60.0,
            frame_period=0.1, statuses=["running"], outcomes=[], vehicles=[], suites=[],
            hulls=[], waves=None,
            water_depth=None, bottom=None, bodies=[], wind_speed=0.0,
        )  # fmt: skip

    @property
    def time(self):
        return 0.1 * self.steps

    def _reach(self, time):
        before, self.steps = self.steps, max(self.steps, int(10.0 * time + 1e-6))
        return self.steps != before

    def _obey(self, request, who, answer):
        if request.type == "seek":
            raise SpecError(Problem("no timeline here"))
        self.obeyed.append((who, request))
        return True

    def _rows(self):
        return self.time, [np.full((1, self._numbers), self.steps, np.float32)]


@pytest.fixture
def counter():
    return Counter
