"""One scenario under many seeds: as one batch, and as single runs; prints JSON.

python benchmarks/seeds.py --scenario otter-turning-circle --seeds 1000 --duration 30
"""

import argparse
import json
import resource
import time
from collections import Counter

import seatrial as st
from seatrial import programs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="otter-turning-circle")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--duration", type=float, default=30.0)
    parser.add_argument("--single", type=int, default=20, help="single runs to take the mean of")
    given = parser.parse_args()
    first = time.perf_counter()
    many = st.run_many(given.scenario, seeds=range(given.seeds), duration=given.duration)
    batch_s = time.perf_counter() - first
    made = dict(programs.counts)
    st.run(given.scenario, seed=0, duration=given.duration)
    walls, computing = [], []
    for seed in range(1, given.single + 1):
        began = time.perf_counter()
        run = st.run(given.scenario, seed=seed, duration=given.duration)
        walls.append(time.perf_counter() - began)
        computing.append(run.wall_time)
    single = sum(walls) / len(walls)
    print(
        json.dumps(
            {
                "scenario": given.scenario,
                "seeds": given.seeds,
                "duration": given.duration,
                "statuses": Counter(many.status.values.ravel().tolist()),
                "dataset_MB": many.nbytes / 1e6,
                "peak_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
                "programs": made,
                "batch_s": batch_s,
                "single_run_s": single,
                "single_run_computing_s": sum(computing) / len(computing),
                "worst_more_than_computing_s": max(
                    w - c for w, c in zip(walls, computing, strict=True)
                ),
                "as_single_runs_s": single * given.seeds,
                "ratio": single * given.seeds / batch_s,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
