"""How well vehicles that dive by fins keep a small depth under waves: a table over seeds.

python benchmarks/depth.py --seeds 10 --feedback estimate

Each row is one vehicle, sea and depth. Sigma is about the mean of each seed. Depths are those below
the mean surface, from two minutes on; the order of the propeller is its least ever.
"""

import argparse

import numpy as np

import seatrial as st
from seatrial.spec.loading import load_text

VEHICLES = ("remus100", "remus100_mss", "remus100_x")
SEAS = range(5)
DEPTHS = (1.0, 1.5, 3.0, 10.0)
SETTLED = 120.0
ENTRY = """
  - name: at_{k}
    vehicle: {vehicle}
    feedback: {feedback}
    start: {{position: [0, {east}, 1], speed: 1.5}}
    failsafes: {{position: null}}
    mission: [{{do: goto, waypoints: [[60, {east}, {depth}], [2000, {east}, {depth}]], speed: 1.5}}]
"""


def described(vehicle: str, sea: int, feedback: str) -> st.Scenario:
    waves = f", waves: {{spectrum: sea_state, code: {sea}, towards_deg: 45}}" if sea else ""
    head = (
        "kind: scenario\nname: depth\nduration: 300\nframe_period: 0.5\n"
        f"world: {{name: shelf, seabed: {{depth: 100}}{waves}}}\nvehicles:"
    )
    rows = [
        ENTRY.format(k=k, vehicle=vehicle, feedback=feedback, east=400 * k, depth=depth)
        for k, depth in enumerate(DEPTHS)
    ]
    return load_text(head + "".join(rows), st.Scenario)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--feedback", choices=("truth", "estimate"), default="truth")
    parser.add_argument("--vehicle", choices=VEHICLES, action="append")
    parser.add_argument("--sea", type=int, choices=SEAS, action="append")
    given = parser.parse_args()
    print("| vehicle | sea state | asked m | mean m | sigma m | range m | propeller, least 1/s |")
    print("|---|---|---|---|---|---|---|")
    for vehicle in given.vehicle or VEHICLES:
        for sea in given.sea or SEAS:
            seeds = range(1, given.seeds + 1)
            data = st.run_many(described(vehicle, sea, given.feedback), seeds=seeds)
            late = data.sel(time=data.time > SETTLED)
            for k, asked in enumerate(DEPTHS):
                depth = late.position.sel(vehicle=f"at_{k}").values[..., 2]
                sigma = np.sqrt(np.mean((depth - depth.mean(axis=1, keepdims=True)) ** 2))
                orders = data.command.sel(vehicle=f"at_{k}", channel="propeller").values
                print(
                    f"| {vehicle} | {sea} | {asked:g} | {depth.mean():.2f} | {sigma:.2f} | "
                    f"{depth.min():.2f} to {depth.max():.2f} | {orders.min():.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
