"""The studies of the ASVLite paper: what they measure, as tables, numbers and claims."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from seatrial.validation.asvlite import paper, trend_claims
from seatrial.validation.asvlite import speed as timed
from seatrial.validation.asvlite import tank as moved
from seatrial.validation.asvlite import trends as swept
from seatrial.validation.asvlite.figures import draw_tank, draw_trends
from seatrial.validation.findings import Findings, Table, Watch, rounded

_DIGITS = {"heave": 3, "roll": 2, "pitch": 2}


def speed(out: Path, sample: bool, watch: Watch) -> Findings:
    """Tables III and IV: how much faster than real time."""
    rounds = 1 if sample else timed.ROUNDS
    alone = [_said(row, watch) for row in timed.components_table(rounds, sample)]
    swarm = [_said(row, watch) for row in timed.swarm_table(rounds, sample)]
    tables = [
        Table(
            "Table III: one vessel, by number of wave components (real time / simulation time)",
            ["components", "paper", "seatrial", "ratio"],
            [
                [
                    f"{r.components} ({r.directions}×{r.frequencies})",
                    f"{r.paper[0]:,.0f}×",
                    f"{r.real_time_factor:,.0f}×",
                    f"{r.ratio:.1f}",
                ]
                for r in alone
            ],
        ),
        Table(
            "Table IV: swarms in 75 waves (real time / simulation time)",
            ["vessels", "paper A", "paper B", "paper C", "seatrial", "ratio to C", "µs per vessel"],
            [
                [
                    f"{r.vessels:,}",
                    *([f"{p:,.0f}×" for p in r.paper] or ["–"] * 3),
                    f"{r.real_time_factor:,.1f}×",
                    f"{r.ratio:.0f}" if r.ratio else "–",
                    f"{r.us_per_vehicle_step:.3f}",
                ]
                for r in swarm
            ],
        ),
    ]
    numbers = {
        "time_step": paper.TIME_STEP,
        "table_iii": [asdict(r) | {"ratio": r.ratio} for r in alone],
        "table_iv": [asdict(r) | {"ratio": r.ratio} for r in swarm],
    }
    return Findings(numbers, tables, timed.judge([*alone, *swarm]))


def _said(row: timed.SpeedRow, watch: Watch) -> timed.SpeedRow:
    """The row, announced as it is measured."""
    watch.line(
        f"{row.vessels:>8,} × {row.components:<4} waves{row.real_time_factor:14,.1f} × real time"
    )
    return row


def tank(out: Path, sample: bool, watch: Watch) -> Findings:
    """Table II: motions in a regular wave, beside those of a towing tank."""
    found = moved.run_tank((1.1, moved.PERIOD, 1.5, 3.0) if sample else moved.PERIODS)
    draw_tank(found, out / "asvlite-tank.png")

    def shown(motion: str, span: paper.Range) -> str:
        scale, unit = (100.0, " cm") if motion == "heave" else (1.0, "°")
        return f"{scale * span.least:.1f} … {scale * span.greatest:.1f}{unit}"

    bow = 180 - moved.HEADING_DEG
    tables = [
        Table(
            f"Table II: wave period {moved.PERIOD:g} s, from {bow}° off the bow",
            ["motion", "towing tank", "ASVLite", "seatrial"],
            [
                [
                    m,
                    shown(m, paper.TANK[m]),
                    shown(m, paper.TANK_ASVLITE[m]),
                    shown(m, found.at(m, moved.PERIOD)),
                ]
                for m in _DIGITS
            ],
        ),
        Table(
            "The same over wave periods",
            ["period", *_DIGITS],
            [[f"{p:g} s", *(shown(m, found.at(m, p)) for m in _DIGITS)] for p in found.periods],
        ),
    ]
    numbers = {
        "period": moved.PERIOD,
        "heading_deg": moved.HEADING_DEG,
        "implied_period": moved.implied_period(found),
        "periods": found.periods,
        "headings_deg": found.headings_deg,
        "ranges": {m: rounded(r) for m, r in found.ranges.items()},
        "drift": rounded(found.drift),
        "periods_closer": {m: moved.periods_closer(found, m) for m in ("heave", "roll", "pitch")},
    }
    return Findings(numbers, tables, moved.judge(found))


def trends(out: Path, sample: bool, watch: Watch) -> Findings:
    """Figure 2: motions over wave height and heading."""
    grid = swept.SAMPLE if sample else swept.Grid()
    found = swept.run_trends(grid, watch.share)
    still = swept.run_trends(swept.at_rest(grid))
    draw_trends(found, out / "asvlite-trends.png")
    by_height: list[list[str]] = []
    for i, height in enumerate(grid.heights):
        means = [trend_claims.over_headings(found, m)[i].mean() for m in swept.MOTIONS]
        by_height.append([f"{height:g}", f"{means[0]:.3f}", f"{means[1]:.2f}", f"{means[2]:.2f}"])
    by_heading = [
        [f"{heading:g}", *(f"{found.mean(m)[:, j].mean():.{d}f}" for m, d in _DIGITS.items())]
        for j, heading in enumerate(grid.headings_deg)
        if heading % 45.0 == 0.0 and heading <= 180.0
    ]
    columns = ["heave [m]", "roll [°]", "pitch [°]"]
    tables = [
        Table("Significant amplitude 2σ, mean over headings", ["height [m]", *columns], by_height),
        Table("Significant amplitude 2σ, mean over heights", ["heading [°]", *columns], by_heading),
    ]
    numbers = {
        "runs": grid.runs,
        "integrator": swept.INTEGRATOR,
        "time_step": paper.TIME_STEP,
        "vessel_steps": found.vessel_steps,
        "prepare_s": round(found.prepare_s, 3),
        "run_s": round(found.run_s, 3),
        "overturned": found.overturned,
        "unfinished": found.unfinished,
        "heights": grid.heights,
        "headings_deg": grid.headings_deg,
        "mean": {m: rounded(found.mean(m)) for m in swept.MOTIONS},
        "standard_error": {m: rounded(found.error(m)) for m in swept.MOTIONS},
        "mean_time": rounded(np.mean(found.times, axis=-1)),
        "at_rest": {
            "headings_deg": still.grid.headings_deg,
            "mean": {m: rounded(still.mean(m)) for m in swept.MOTIONS},
        },
    }
    return Findings(numbers, tables, trend_claims.judge(found, still))
