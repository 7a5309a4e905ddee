"""A swarm recorded while it runs: wall time, peak memory and size on disk; prints JSON.

The defaults take a few seconds. Ten thousand vessels for ten minutes of sea time:

    python benchmarks/swarm_recording.py --vessels 10000 --duration 600
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import xarray

import seatrial as st
from seatrial.spec.scenario import Scenario


def described(vessels: int, duration: float, frame_period: float) -> Scenario:
    """The library's swarm, of equal boats, in another number and for another time."""
    base = st.load("smarty-swarm", Scenario)
    swarm = base.vehicles[0].model_copy(update={"count": vessels, "vary": {}})
    changes = {"duration": duration, "frame_period": frame_period, "vehicles": (swarm,)}
    return base.model_copy(update=changes)


def peak_memory() -> float:
    """Largest resident memory of this process so far, MiB."""
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kibibytes / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--vessels", type=int, default=1000)
    arguments.add_argument("--duration", type=float, default=60.0, help="sea time, s")
    arguments.add_argument("--frame-period", type=float, default=1.0, help="s")
    arguments.add_argument("--out", type=Path, help="keep the store here")
    given = arguments.parse_args()
    scenario = described(given.vessels, given.duration, given.frame_period)
    with tempfile.TemporaryDirectory() as folder:
        out = given.out or Path(folder) / "swarm.zarr"
        before = peak_memory()
        began = time.perf_counter()
        run = st.run(scenario, out=out)
        total = time.perf_counter() - began
        peak = peak_memory()
        with xarray.open_zarr(out) as data:
            frames, vessels = data.sizes["time"], data.sizes["vehicle"]
            variables = sorted(v for v in data.data_vars if "time" in data[v].dims)
            raw = sum(data[v].nbytes for v in variables)
            last = float(data["time"][-1])
        result = {
            "vessels": vessels,
            "duration_s": last,
            "frames": frames,
            "variables": variables,
            "status": run.status,
            "cores": os.cpu_count(),
            "total_s": total,
            "simulation_and_recording_s": run.wall_time,
            "real_time_factor": run.real_time_factor,
            "peak_memory_mib": peak,
            "memory_before_mib": before,
            "raw_mib": raw / 2**20,
            "on_disk_mib": sum(f.stat().st_size for f in out.rglob("*") if f.is_file()) / 2**20,
        }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
