"""Twelve faults on two library missions, by seeds: what they do to position and mission; JSON.

    python benchmarks/faults.py --scenario otter-survey --seeds 20

Processes can share the seeds, and one table is made of what they keep:

    python benchmarks/faults.py --scenario otter-survey --first 500 --seeds 10 --keep a.json
    python benchmarks/faults.py --scenario otter-survey --first 510 --seeds 10 --keep b.json
    python benchmarks/faults.py --merge a.json b.json

Every run carries all twelve faults, of which at most one sets in before its end, so that all of
them share one program. Per fault: the largest error of the position believed, from the onset on;
how long after the onset the sensor is found wrong or silent, or the failsafe of an actuator comes
on; how long after the fault's end the vehicle has recovered, in two senses that must each last for
half a minute, or up to the end; how the runs end, and legs that were reached. Of the runs without a
fault: how often sensors were rejected or missed, and in how many hours.

`recovered` is a vehicle whose position errs by at most a metre more than in the run of the same
seed without a fault. `as sound` is one whose position, velocity and attitude all err by no more
than three of the standard deviations that the filter of that run states: it is as good again as
one that nothing has happened to claims to be. They differ where nothing bounds a position that was
reckoned for the time of the fault.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from seatrial.compile.scenario import compile_scenario
from seatrial.compile.variations import with_overrides
from seatrial.engine.batch import run_batch
from seatrial.record.memory import MemoryRecorder
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario

NEVER = 1e5
"""When a fault of another row sets in, s."""
ONSET = 100.0
SURE = 3.0
"""Standard deviations."""
LASTING = 30.0
"""How long a run must be well again to count as recovered, s."""

KEPT = ("time", "far", "stated")
"""Of a sound run, for those with a fault."""

FAULTS = {
    "otter-survey": {
        "gnss: dropout": 60.0,
        "gnss: freeze": 60.0,
        "gnss: bias components=north value=10": 60.0,
        "gnss: bias components=north value=30": 60.0,
        "gnss: delay delay=3s": 60.0,
        "compass: freeze": 60.0,
        "compass: bias value=30deg": 60.0,
        "compass: dropout": 60.0,
        "imu: freeze": 60.0,
        "imu: dropout": 60.0,
        "left: reduced effectiveness=0.5": 60.0,
        "left: power_loss": 60.0,
    },
    "remus100-survey": {
        "dvl: dropout": 300.0,
        "dvl: freeze": 60.0,
        "dvl: bias components=velocity_x value=0.3": 60.0,
        "ahrs: freeze": 60.0,
        "ahrs: dropout": 60.0,
        "ahrs: delay delay=1s": 60.0,
        "depth: freeze": 60.0,
        "depth: dropout": 60.0,
        "depth: bias components=pressure,depth value=20000,2": 60.0,
        "imu: freeze": 60.0,
        "imu: dropout": 60.0,
        "rudder: jam": 30.0,
    },
}
"""Fault -> how long it lasts, s."""


def described(name: str, seed: int, chosen: str | None) -> Scenario:
    """The mission under a seed, with one fault to come or none."""
    texts = [
        f"{fault} @ {ONSET if fault == chosen else NEVER:g}s for {lasts:g}s"
        for fault, lasts in FAULTS[name].items()
    ]
    return with_overrides(load(name, Scenario), seed, None, texts)


def found(
    recorder: MemoryRecorder, chosen: str | None, lasts: float, sound: dict[str, Any]
) -> dict[str, Any]:
    """What became of a run; `sound` is the same seed without a fault."""
    recording = recorder.recording()
    data = recording.dataset.isel(vehicle=0)
    (vehicle,) = recording.header.vehicles
    summary = recording.summary.vehicles[vehicle.name]
    t = data.time.values
    alive = np.isfinite(data.position.values[:, 0])
    t = t[alive]
    errors, stated = (part[:, alive] for part in misjudged(data))
    far = errors[0]
    wrong, silent = (
        data[f"estimate_{what}"].values[alive].astype(int) for what in ("rejected", "silent")
    )
    result: dict[str, Any] = {
        "status": summary.status,
        "reached": summary.indices.get("legs_reached", 0.0) / len(vehicle.legs),
        "hours": float(t[-1]) / 3600.0,
        "alarms": int(
            np.sum(np.diff((wrong | silent) != 0, prepend=False) & ((wrong | silent) != 0))
        ),
    }
    if chosen is None:
        return result | {"error": float(far.max()), "time": t, "far": far, "stated": stated}
    late, after = t >= ONSET, t >= ONSET + lasts
    target = chosen.partition(":")[0]
    names = [s.name for s in vehicle.sensors]
    if target in names:
        bit = 1 << names.index(target)
        heard = ((wrong | silent) & bit) != 0
    else:
        heard = data.failsafes.values[alive].astype(int) != 0
    detected = t[late & heard]
    well = far <= np.interp(t, sound["time"], sound["far"]) + 1.0
    bounds = [SURE * np.interp(t, sound["time"], one) for one in sound["stated"]]
    as_sound = np.all(errors <= bounds, axis=0)
    depth = np.abs(data.estimate_position.values[alive, 2] - data.position.values[alive, 2])
    return result | {
        "error": float(far[late].max()),
        "depth": float(depth[late].max()),
        "detect": float(detected[0] - ONSET) if len(detected) else np.nan,
        "recover": recovered(t[after], well[after]) - ONSET - lasts,
        "as_sound": recovered(t[after], as_sound[after]) - ONSET - lasts,
    }


def misjudged(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """(3, T) by how much position, velocity and attitude err, m, m/s and rad, and the roots of the
    summed variances that are stated of them."""
    off = data.estimate_attitude.values * data.attitude.values
    turned = 2.0 * np.arccos(np.clip(np.abs(np.sum(off, axis=1)), 0.0, 1.0))
    errors = [
        np.linalg.norm((data.estimate_position - data.position).values, axis=1),
        np.linalg.norm((data.estimate_velocity - data.velocity).values, axis=1),
        turned,
    ]
    names = ("estimate_deviation", "estimate_velocity_deviation", "estimate_attitude_deviation")
    return np.array(errors), np.array([np.linalg.norm(data[n].values, axis=1) for n in names])


def recovered(t: np.ndarray, well: np.ndarray) -> float:
    """The first instant from which on it is well for `LASTING`, or up to the end; NaN for none, or
    where the mission ended before the fault."""
    if not len(t):
        return np.nan
    ill = np.append(t[~well], np.inf)
    lasting = well & (np.minimum(ill[np.searchsorted(ill, t)], t[-1] + LASTING) - t >= LASTING)
    return float(t[lasting][0]) if lasting.any() else np.nan


def row(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Of all seeds: the worst, and how they ended."""

    def worst(name: str) -> float | None:
        values = np.array([r[name] for r in runs if name in r])
        return round(float(np.nanmax(values)), 2) if np.isfinite(values).any() else None

    detected = [r for r in runs if np.isfinite(r.get("detect", np.nan))]
    return {
        "largest_error_m": worst("error"),
        "median_error_m": round(float(np.median([r["error"] for r in runs])), 2),
        "largest_depth_error_m": worst("depth"),
        "detected": len(detected),
        "slowest_to_detect_s": worst("detect"),
        "slowest_to_recover_s": worst("recover"),
        "recovered": sum(bool(np.isfinite(r.get("recover", np.nan))) for r in runs),
        "slowest_as_sound_s": worst("as_sound"),
        "as_sound": sum(bool(np.isfinite(r.get("as_sound", np.nan))) for r in runs),
        "ended": dict(Counter(r["status"] for r in runs)),
        "legs_reached": round(float(np.mean([r["reached"] for r in runs])), 3),
    }


def sail(name: str, seeds: range) -> dict[str, list[dict[str, Any]]]:
    """What became of the runs, by fault; those without one are `none`."""
    faults: dict[str | None, float] = {None: 0.0, **FAULTS[name]}
    found_of: dict[str, list[dict[str, Any]]] = {}
    sound: list[dict[str, Any]] = [{}] * len(seeds)
    for fault, lasts in faults.items():
        plans = [compile_scenario(described(name, seed, fault)) for seed in seeds]
        sinks = [MemoryRecorder() for _ in plans]
        run_batch(plans, [[sink] for sink in sinks])
        runs = [found(sink, fault, lasts, s) for sink, s in zip(sinks, sound, strict=True)]
        if fault is None:
            sound = runs
            runs = [{k: v for k, v in r.items() if k not in KEPT} for r in runs]
        found_of[fault or "none"] = runs
        print(fault or "none", row(runs), file=sys.stderr, flush=True)
    return found_of


def table(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """A row for every fault."""
    rows = {fault: row(its) for fault, its in runs.items()}
    hours = sum(r["hours"] for r in runs["none"])
    rows["none"] |= {"alarms": sum(r["alarms"] for r in runs["none"]), "hours": round(hours, 2)}
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", choices=tuple(FAULTS), default="otter-survey")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=500, help="seed of the first")
    parser.add_argument("--keep", type=Path, help="file for the runs, to be merged")
    parser.add_argument("--merge", type=Path, nargs="+", help="files of runs of one scenario")
    given = parser.parse_args()
    began = time.perf_counter()
    if given.merge:
        parts = [json.loads(path.read_text(encoding="utf-8")) for path in given.merge]
        name = parts[0]["scenario"]
        assert all(part["scenario"] == name for part in parts), "runs of several scenarios"
        runs = {f: [run for p in parts for run in p["runs"][f]] for f in parts[0]["runs"]}
    else:
        name = given.scenario
        runs = sail(name, range(given.first, given.first + given.seeds))
    if given.keep:
        text = json.dumps({"scenario": name, "runs": runs})
        given.keep.write_text(text + "\n", encoding="utf-8")
    wall = round(time.perf_counter() - began, 1)
    count = len(runs["none"])
    print(json.dumps({"scenario": name, "seeds": count, "rows": table(runs), "wall_s": wall}))


if __name__ == "__main__":
    main()
