"""`seatrial study`: published results reproduced, one command each."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import typer

from seatrial import __version__
from seatrial.errors import Problem, SpecError
from seatrial.validation import asvlite
from seatrial.validation.claims import Claim, lines

Table = tuple[str, list[str], list[list[str]]]
"""Title, headings, rows."""
Result = tuple[dict[str, Any], list[Table], list[Claim]]


def show_study(name: str, out: Path, as_json: bool, sample: bool) -> bool:
    """Run a study, write its files, print what it found; returns whether all claims hold."""
    if name not in STUDIES:
        problem = Problem("unknown study", value=name, expected=", ".join(STUDIES))
        raise SpecError(problem)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(
            Problem("the folder cannot be made", value=str(out), mend=str(error.strerror))
        ) from None
    began = time.perf_counter()
    figures, tables, claims = STUDIES[name](out, sample, as_json)
    document = {
        "study": name,
        "sample": sample,
        "seatrial": __version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "wall_s": round(time.perf_counter() - began, 3),
        "claims": [claim.as_json() for claim in claims],
        **figures,
    }
    text = json.dumps(document, indent=2)
    (out / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (out / f"{name}.md").write_text(_markdown(document, tables, claims), encoding="utf-8")
    if as_json:
        typer.echo(text)
    else:
        _print(tables, claims)
        typer.echo(f"written: {out / name}.* in {document['wall_s']:.1f} s")
    return all(claim.holds for claim in claims)


def _speed(out: Path, sample: bool, quiet: bool) -> Result:
    from seatrial.cli.bench import time_case
    from seatrial.validation import speed

    rounds = 1 if sample else speed.ROUNDS
    alone = list(_watched(speed.components_table(time_case, rounds, sample), quiet))
    swarm = list(_watched(speed.swarm_table(time_case, rounds, sample), quiet))
    tables: list[Table] = [
        (
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
        (
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
    rows = [*alone, *swarm]
    slowest = min(r.ratio for r in rows if r.ratio is not None)
    claims = [
        Claim(
            "every row of tables III and IV is faster than the paper's best column",
            slowest > 1.0,
            f"at least {slowest:.1f} times",
        )
    ]
    figures = {
        "time_step": asvlite.TIME_STEP,
        "table_iii": [asdict(r) | {"ratio": r.ratio} for r in alone],
        "table_iv": [asdict(r) | {"ratio": r.ratio} for r in swarm],
    }
    return figures, tables, claims


def _tank(out: Path, sample: bool, quiet: bool) -> Result:
    from seatrial.validation import tank
    from seatrial.validation.figures import draw_tank

    found = tank.run_tank((1.1, tank.PERIOD, 1.5, 3.0) if sample else tank.PERIODS)
    draw_tank(found, out / "asvlite-tank.png")

    def shown(motion: str, span: asvlite.Range) -> str:
        scale, unit = (100.0, " cm") if motion == "heave" else (1.0, "°")
        return f"{scale * span.least:.1f} … {scale * span.greatest:.1f}{unit}"

    bow = 180 - tank.HEADING_DEG
    tables: list[Table] = [
        (
            f"Table II: wave period {tank.PERIOD:g} s, from {bow}° off the bow",
            ["motion", "towing tank", "ASVLite", "seatrial"],
            [
                [
                    m,
                    shown(m, asvlite.TANK[m]),
                    shown(m, asvlite.TANK_ASVLITE[m]),
                    shown(m, found.at(m, tank.PERIOD)),
                ]
                for m in _DIGITS
            ],
        ),
        (
            "The same over wave periods",
            ["period", *_DIGITS],
            [[f"{p:g} s", *(shown(m, found.at(m, p)) for m in _DIGITS)] for p in found.periods],
        ),
    ]
    figures = {
        "period": tank.PERIOD,
        "heading_deg": tank.HEADING_DEG,
        "implied_period": tank.implied_period(found),
        "periods": found.periods,
        "headings_deg": found.headings_deg,
        "ranges": {m: _rounded(r) for m, r in found.ranges.items()},
        "drift": _rounded(found.drift),
        "periods_closer": {m: tank.periods_closer(found, m) for m in ("heave", "roll", "pitch")},
    }
    return figures, tables, tank.judge(found)


def _trends(out: Path, sample: bool, quiet: bool) -> Result:
    from seatrial.validation import trend_claims, trends
    from seatrial.validation.figures import draw_trends

    grid = trends.SAMPLE if sample else trends.Grid()
    with _progress("running", quiet) as report:
        found = trends.run_trends(grid, report)
    still = trends.run_trends(trends.at_rest(grid))
    draw_trends(found, out / "asvlite-trends.png")
    by_height: list[list[str]] = []
    for i, height in enumerate(grid.heights):
        means = [trend_claims.over_headings(found, m)[i].mean() for m in trends.MOTIONS]
        by_height.append([f"{height:g}", f"{means[0]:.3f}", f"{means[1]:.2f}", f"{means[2]:.2f}"])
    by_heading = [
        [f"{heading:g}", *(f"{found.mean(m)[:, j].mean():.{d}f}" for m, d in _DIGITS.items())]
        for j, heading in enumerate(grid.headings_deg)
        if heading % 45.0 == 0.0 and heading <= 180.0
    ]
    columns = ["heave [m]", "roll [°]", "pitch [°]"]
    tables: list[Table] = [
        ("Significant amplitude 2σ, mean over headings", ["height [m]", *columns], by_height),
        ("Significant amplitude 2σ, mean over heights", ["heading [°]", *columns], by_heading),
    ]
    figures = {
        "runs": grid.runs,
        "integrator": trends.INTEGRATOR,
        "time_step": asvlite.TIME_STEP,
        "vessel_steps": found.vessel_steps,
        "prepare_s": round(found.prepare_s, 3),
        "run_s": round(found.run_s, 3),
        "overturned": found.overturned,
        "unfinished": found.unfinished,
        "heights": grid.heights,
        "headings_deg": grid.headings_deg,
        "mean": {m: _rounded(found.mean(m)) for m in trends.MOTIONS},
        "standard_error": {m: _rounded(found.error(m)) for m in trends.MOTIONS},
        "mean_time": _rounded(np.mean(found.times, axis=-1)),
        "at_rest": {
            "headings_deg": still.grid.headings_deg,
            "mean": {m: _rounded(still.mean(m)) for m in trends.MOTIONS},
        },
    }
    return figures, tables, trend_claims.judge(found, still)


def _handover(out: Path, sample: bool, quiet: bool) -> Result:
    from seatrial.validation import handover
    from seatrial.validation.handover_figures import draw_corners, draw_course, draw_step

    found = handover.run_study(sample)
    draw_step(found.step, out / "handover-step.png")
    draw_course(found.hard, found.soft, out / "handover-course.png")
    draw_corners(found, out / "handover-corners.png")
    past, settled = handover.overshoot(found.step), handover.settling_time(found.step)
    runs = {"hard": found.hard, "soft": found.soft}
    speeds = {name: run.speed()[run.handovers()] for name, run in runs.items()}
    near = {name: handover.nearest(run, handover.COURSE) for name, run in runs.items()}
    heights = {c: [found.height(c, v) for v in found.limits] for c in found.corners}
    limits = ["none" if np.isinf(v) else f"{v:g} N/s" for v in found.limits]
    tables: list[Table] = [
        (
            "Figure 2.3: unit step",
            ["", "s_x", "s_y", "s_z", "θ_x", "θ_y", "θ_z"],
            [
                ["overshoot", *(f"{100 * v:.1f} %" for v in past)],
                ["within 2 % after", *(f"{v:.1f} s" for v in settled)],
            ],
        ),
        (
            "Figures 2.4 and 2.7: at the handovers",
            ["waypoint", "threshold", "speed, hard", "soft", "nearest, hard", "soft"],
            [
                [
                    str(i + 1),
                    f"{handover.COURSE_THRESHOLDS[i]:g}",
                    *(f"{speeds[name][i]:.2f} m/s" for name in runs),
                    *(f"{near[name][i]:.2f} m" for name in runs),
                ]
                for i in range(len(near["hard"]))
            ],
        ),
        (
            "Figure 2.11: largest s_z on the way to (1, 1, 1)",
            ["limit on v₁", "single", "double", "eq. 2.23 to the letter"],
            [
                ["thesis (limit not printed)", "≈ 0.85 m", "≈ 0.95 m", "–"],
                *(
                    [limit, *(f"{heights[c][i]:.2f} m" for c in ("single", "double", "eq. 2.23"))]
                    for i, limit in enumerate(limits)
                ),
            ],
        ),
    ]
    figures = {
        "mass": handover.MASS,
        "radius": handover.RADIUS,
        "degree": handover.DEGREE,
        "overshoot": _rounded(past),
        "settling_time": _rounded(settled),
        "waypoints": handover.COURSE.tolist(),
        "handover_speed": {name: _rounded(v) for name, v in speeds.items()},
        "nearest": {name: _rounded(v) for name, v in near.items()},
        "handover_time": {n: _rounded(r.time[r.handovers()]) for n, r in runs.items()},
        "limits": [None if np.isinf(v) else v for v in found.limits],
        "height": {case: _rounded(v) for case, v in heights.items()},
        "height_printed": handover.PRINTED,
    }
    return figures, tables, handover.judge(found)


def _colregs(out: Path, sample: bool, quiet: bool) -> Result:
    from seatrial.validation import colregs, colregs_claims
    from seatrial.validation.colregs_figures import draw_encounters, draw_failures

    encounters = colregs.draw_encounters(100 if sample else colregs.ENCOUNTERS)
    both, alone = (colregs.run_encounters(encounters, passive) for passive in (False, True))
    draw_encounters(both, alone, out / "colregs.png")
    sets = {"both avoid": both, "the other keeps on": alone}
    failed = []
    for name, voyages in sets.items():
        draw_failures(
            voyages, out / f"colregs-failures-{'alone' if voyages.passive else 'both'}.png"
        )
        failed += [
            colregs_claims.describe(voyages, i) | {"set": name}
            for i in colregs_claims.failures(voyages)
        ]
    heads = ["", "number", "hits", "closest", "median", "right side", "stood on"]
    tables: list[Table] = [
        (f"Where {name}", heads, colregs_claims.rows(voyages)) for name, voyages in sets.items()
    ]
    figures = {
        "encounters": encounters.kind.size,
        "seed": colregs.SEED,
        "safety_radius": colregs.RADIUS,
        "clearance": colregs.CLEARANCE,
        "closest": {name: _rounded(voyages.closest) for name, voyages in sets.items()},
        "kinds": encounters.kind.tolist(),
        "failures": failed,
    }
    return figures, tables, colregs_claims.judge(both, alone)


def _outage(out: Path, sample: bool, quiet: bool) -> Result:
    from seatrial.cli.navigate import navigate
    from seatrial.validation import outage
    from seatrial.validation.outage_figures import draw_outage

    seeds = 2 if sample else outage.SEEDS
    with _progress("running", quiet) as report:
        found = outage.run_study(navigate, seeds, report)
    draw_outage(found, out / "outage.png")
    heads = ["velocity from", "error", "spread", "largest", "at the end", "3σ stated"]
    title = f"Position error after {outage.OUTAGE / 60:g} min without a fix, {seeds} seeds"
    figures = {
        "outage": outage.OUTAGE,
        "seeds": seeds,
        "cited_share": outage.CITED,
        "distance": _rounded([t.distance[-1] for t in found.tracks[outage.WITH]]),
        "share": {case: _rounded(found.shares(case)) for case in found.tracks},
        "stated_deviations": {case: _rounded(found.claimed(case)) for case in found.tracks},
    }
    return figures, [(title, heads, outage.rows(found))], outage.judge(found)


_DIGITS = {"heave": 3, "roll": 2, "pitch": 2}

STUDIES: dict[str, Callable[[Path, bool, bool], Result]] = {
    "asvlite-speed": _speed,
    "asvlite-tank": _tank,
    "asvlite-trends": _trends,
    "colregs": _colregs,
    "handover": _handover,
    "outage": _outage,
}


def _rounded(values: Any) -> Any:
    return np.round(np.asarray(values, np.float64), 5).tolist()


def _watched(rows: Iterable[Any], quiet: bool) -> Iterable[Any]:
    """The rows, each announced as it is measured."""
    for row in rows:
        if not quiet:
            typer.echo(
                f"{row.vessels:>8,} × {row.components:<4} waves"
                f"{row.real_time_factor:14,.1f} × real time",
                err=True,
            )
        yield row


def _progress(label: str, quiet: bool) -> Any:
    """A progress bar on stderr that is told the share done."""
    from contextlib import contextmanager

    from rich.console import Console
    from rich.progress import Progress

    @contextmanager
    def bar() -> Any:
        with Progress(console=Console(stderr=True), disable=quiet, transient=True) as shown:
            task = shown.add_task(label, total=1.0)
            yield lambda share: shown.update(task, completed=share)

    return bar()


def _print(tables: list[Table], claims: list[Claim]) -> None:
    from rich.console import Console
    from rich.table import Table as Drawn

    console = Console()
    for title, headings, rows in tables:
        drawn = Drawn(title=title, title_justify="left")
        for i, heading in enumerate(headings):
            drawn.add_column(heading, justify="left" if i == 0 else "right")
        for row in rows:
            drawn.add_row(*row)
        console.print(drawn)
    for line in lines(claims):
        console.print(line, highlight=False)


def _markdown(document: dict[str, Any], tables: list[Table], claims: list[Claim]) -> str:
    command = f"seatrial study {document['study']}{' --sample' if document['sample'] else ''}"
    text = [
        f"# {document['study']}",
        "",
        f"`{command}`, seatrial {document['seatrial']}, {document['machine']}, "
        f"{document['wall_s']:.1f} s.",
    ]
    for title, headings, rows in tables:
        text += ["", f"**{title}**", "", f"| {' | '.join(headings)} |"]
        text.append("|" + "---|" * len(headings))
        text += [f"| {' | '.join(row)} |" for row in rows]
    text += ["", "**Claims**", ""]
    text += [
        f"- {'holds' if c.holds else 'does not hold'}: {c.statement} ({c.evidence})" for c in claims
    ]
    return "\n".join(text) + "\n"
