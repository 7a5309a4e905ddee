"""How many pings of an echo sounder are expanded per second, on one core and on all."""

import time

import numpy as np

from seatrial.compile.scenario import compile_scenario
from seatrial.engine.exchange import taps
from seatrial.sensors.tap import VIEW, rows
from seatrial.signals import Measurements
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

PINGS, REPEATS = 1024, 7


def pings_per_second(bins: int, beamwidth: float) -> tuple[float, float]:
    scenario = load_text(
        "kind: scenario\nname: pings\nduration: 1\nworld: {name: bay, seabed: {depth: 40}}\n"
        "vehicles:\n  - name: boat\n    vehicle: otter\n    sensors:\n"
        f"      - {{type: echo_sounder, name: sounder, rate: 5, bins: {bins},"
        f" beamwidth_deg: {beamwidth}}}\n",
        Scenario,
    )
    (fleet,) = compile_scenario(scenario).fleets
    dense = fleet.dense["sounder"]
    rng = np.random.default_rng(0)
    values = np.zeros((PINGS, 1, rows(2)))
    values[:, 0, 2] = rng.uniform(0.0, 38.0, PINGS)
    tilt = rng.uniform(0.0, 0.5, PINGS)
    values[:, 0, 3], values[:, 0, 4] = np.cos(tilt / 2), np.sin(tilt / 2)
    values[:, 0, VIEW - 1] = np.arange(PINGS)
    instant, valid = np.zeros((PINGS, 1)), np.ones((PINGS, 1), bool)
    whole = Measurements(instant[:, 0], instant, values, valid, valid.astype(np.int32))
    keys = np.ones((2, 1), np.uint32)

    def best(part: int) -> float:
        fastest = np.inf
        for _ in range(REPEATS):
            began = time.perf_counter()
            for first in range(0, PINGS, part):
                taps.expand(dense, whole.cut(slice(first, first + part)), keys, fleet.ocean)
            fastest = min(fastest, time.perf_counter() - began)
        return PINGS / fastest

    return best(taps.PART), best(PINGS)


if __name__ == "__main__":
    for bins, beamwidth in ((512, 7.0), (512, 2.0), (2048, 7.0)):
        one, every = pings_per_second(bins, beamwidth)
        print(
            f"{bins:5d} bins, beam {beamwidth:3g}°: {one:7.0f} pings/s on one core, {every:7.0f}"
            " on all"
        )
