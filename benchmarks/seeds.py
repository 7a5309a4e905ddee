"""One scenario under many seeds: as one batch, and as single runs; prints JSON.

    python benchmarks/seeds.py --scenario otter-survey --seeds 1000 --duration 60

Beside the wall times stand those that processors were busy, which are what counts where other work
shares the machine. With `--out` frames go into a folder instead of memory.
"""

import argparse
import json
import resource
import time
from collections import Counter
from pathlib import Path

import seatrial as st
from seatrial import programs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="otter-turning-circle")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--duration", type=float, default=30.0)
    parser.add_argument("--single", type=int, default=20, help="single runs to take the mean of")
    parser.add_argument("--out", type=Path, help="folder ending in .zarr for the frames")
    given = parser.parse_args()
    first, busy = time.perf_counter(), time.process_time()
    many = st.run_many(
        given.scenario, seeds=range(given.seeds), duration=given.duration, out=given.out
    )
    batch_s, batch_busy_s = time.perf_counter() - first, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made = dict(programs.counts)
    st.run(given.scenario, seed=0, duration=given.duration)
    walls, computing, busy = [], [], time.process_time()
    for seed in range(1, given.single + 1):
        began = time.perf_counter()
        run = st.run(given.scenario, seed=seed, duration=given.duration)
        walls.append(time.perf_counter() - began)
        computing.append(run.wall_time)
    single = sum(walls) / len(walls)
    single_busy_s = (time.process_time() - busy) / len(walls)
    print(
        json.dumps(
            {
                "scenario": given.scenario,
                "seeds": given.seeds,
                "duration": given.duration,
                "statuses": Counter(many.status.values.ravel().tolist()),
                "dataset_MB": many.nbytes / 1e6,
                "peak_MB": peak / 1e3,
                "programs": made,
                "batch_s": batch_s,
                "batch_busy_s": batch_busy_s,
                "single_run_s": single,
                "single_run_busy_s": single_busy_s,
                "single_run_computing_s": sum(computing) / len(computing),
                "worst_more_than_computing_s": max(
                    w - c for w, c in zip(walls, computing, strict=True)
                ),
                "as_single_runs_s": single * given.seeds,
                "ratio": single * given.seeds / batch_s,
                "ratio_busy": single_busy_s * given.seeds / batch_busy_s,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
