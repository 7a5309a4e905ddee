"""The study of an outage, as a table, numbers and claims."""

from pathlib import Path

from seatrial.validation.findings import Findings, Table, Watch, rounded
from seatrial.validation.outage import voyage
from seatrial.validation.outage.figures import draw_outage


def outage(out: Path, sample: bool, watch: Watch) -> Findings:
    """Position error after the outage, by what gives the filter its velocity."""
    seeds = 2 if sample else voyage.SEEDS
    found = voyage.run_study(seeds, watch.share)
    draw_outage(found, out / "outage.png")
    heads = ["velocity from", "error", "spread", "largest", "at the end", "3σ stated"]
    title = f"Position error after {voyage.OUTAGE / 60:g} min without a fix, {seeds} seeds"
    numbers = {
        "outage": voyage.OUTAGE,
        "seeds": seeds,
        "cited_share": voyage.CITED,
        "distance": rounded([t.distance[-1] for t in found.tracks[voyage.WITH]]),
        "share": {case: rounded(found.shares(case)) for case in found.tracks},
        "stated_deviations": {case: rounded(found.claimed(case)) for case in found.tracks},
    }
    return Findings(numbers, [Table(title, heads, voyage.rows(found))], voyage.judge(found))
