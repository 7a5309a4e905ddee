"""Encounters of two full vessels, drawn from a seed: how many obey the COLREGs; prints JSON.

    python benchmarks/encounters.py --each 67

Hull, sensors, filter, autopilot and avoidance are the library's; the vessels hear each other by
AIS. Every encounter would bring them within a few metres of each other if nobody acted. All of
them are one batch: `seatrial.engine.batch`.
"""

import argparse
import json
import math
import time
from collections import Counter

import numpy as np

from seatrial.compile.scenario import compile_scenario
from seatrial.engine.batch import run_batch
from seatrial.record.memory import MemoryRecorder
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario, Start

KINDS = ("head-on", "crossing", "overtaking")
SAFE = 2.0 * math.hypot(2.0, 1.08)
"""Both safety circles together, m."""


def draw(kind: str, rng: np.random.Generator) -> list[dict[str, float]]:
    """Place, heading and speed of both vessels; the first one steers north."""
    own = rng.uniform(1.2, 1.7)
    if kind == "overtaking":
        other, course, meet = own * rng.uniform(0.35, 0.6), rng.uniform(-10.0, 10.0), 80.0
    elif kind == "crossing":
        other, course, meet = rng.uniform(1.2, 1.7), -rng.uniform(45.0, 115.0), 40.0
    else:
        other, course, meet = rng.uniform(1.2, 1.7), 180.0 + rng.uniform(-8.0, 8.0), 40.0
    meet += rng.uniform(-3.0, 3.0)
    c, s = math.cos(math.radians(course)), math.sin(math.radians(course))
    aside = rng.uniform(-3.0, 3.0, 2).tolist()
    return [
        {"north": -own * meet, "east": 0.0, "course": 0.0, "speed": own},
        {
            "north": -other * meet * c + aside[0],
            "east": -other * meet * s + aside[1],
            "course": math.radians(course),
            "speed": other,
        },
    ]


def scenario(kind: str, seed: int) -> tuple[Scenario, list[dict[str, float]]]:
    """The library's crossing with other starts and waypoints, and noise of its own."""
    base = load("otters-crossing", Scenario)
    drawn = draw(kind, np.random.default_rng([seed, KINDS.index(kind)]))
    vehicles = []
    for participant, v in zip(base.vehicles, drawn, strict=True):
        c, s = math.cos(v["course"]), math.sin(v["course"])
        goal = (v["north"] + 400.0 * c, v["east"] + 400.0 * s)
        task = participant.mission[0].model_copy(update={"waypoints": (goal,), "speed": v["speed"]})
        start = Start(position=(v["north"], v["east"], 0.0), heading=v["course"], speed=v["speed"])
        vehicles.append(participant.model_copy(update={"start": start, "mission": (task,)}))
    return base.model_copy(update={"vehicles": tuple(vehicles), "seed": seed}), drawn


def judge(kind: str, tracks: np.ndarray, drawn: list[dict[str, float]]) -> dict[str, bool]:
    """What the rules ask; `tracks` are (T, 2 vessels, north and east)."""
    first, second = tracks[:, 0], tracks[:, 1]
    apart = np.hypot(*(first - second).T)
    near = int(apart.argmin())
    found = {"no collision": bool(apart.min() > 2.0), "clear": bool(apart.min() > SAFE)}
    off = [
        math.cos(v["course"]) * (t[:, 1] - t[0, 1]) - math.sin(v["course"]) * (t[:, 0] - t[0, 0])
        for t, v in ((first, drawn[0]), (second, drawn[1]))
    ]
    if kind == "head-on":  # both to starboard, port to port
        found["right side"] = bool(off[0][near] > 1.0 and off[1][near] > 1.0)
    elif kind == "crossing":  # the first has the other to starboard: astern of her
        course = np.array([math.cos(drawn[1]["course"]), math.sin(drawn[1]["course"])])
        aside = (first - second[0]) @ np.array([-course[1], course[0]])
        crossed = np.flatnonzero(np.sign(aside[1:]) != np.sign(aside[:-1]))
        ahead = ((first - second) @ course)[crossed[0]] if len(crossed) else -math.inf
        found["right side"] = bool(ahead < 0.0)
        found["stood on"] = bool(np.abs(off[1][: near + 1]).max() < 3.0)
    else:
        found["right side"] = bool(np.abs(off[0]).max() > 5.0)
        found["stood on"] = bool(np.abs(off[1]).max() < 3.0)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=67, help="encounters of each kind")
    parser.add_argument("--seed", type=int, default=1000, help="of the first; the others follow")
    given = parser.parse_args()
    began = time.perf_counter()
    cases = [(kind, given.seed + i) for kind in KINDS for i in range(given.each)]
    made = [scenario(kind, seed) for kind, seed in cases]
    plans = [compile_scenario(described) for described, _ in made]
    sinks = [MemoryRecorder() for _ in plans]
    run_batch(plans, [[sink] for sink in sinks])
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    closest: dict[str, list[float]] = {kind: [] for kind in KINDS}
    wrong = []
    for (kind, seed), (_, drawn), sink in zip(cases, made, sinks, strict=True):
        tracks = sink.recording().dataset.position.values[:, :, :2]
        found = judge(kind, tracks, drawn)
        counts[kind].update(name for name, kept in found.items() if kept)
        closest[kind].append(float(np.hypot(*(tracks[:, 0] - tracks[:, 1]).T).min()))
        wrong += [(kind, seed, name) for name, kept in found.items() if not kept]
    print(
        json.dumps(
            {
                "each": given.each,
                "kept": {kind: dict(count) for kind, count in counts.items()},
                "closest_m": {
                    kind: {"least": min(d), "median": float(np.median(d))}
                    for kind, d in closest.items()
                },
                "not_kept": wrong,
                "wall_s": time.perf_counter() - began,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
