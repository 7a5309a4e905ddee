"""The study of encounters at sea, as tables, numbers and claims."""

from pathlib import Path

from seatrial.validation.colregs import claims
from seatrial.validation.colregs import encounters as meeting
from seatrial.validation.colregs.figures import draw_encounters, draw_failures
from seatrial.validation.findings import Findings, Table, Watch, rounded


def colregs(out: Path, sample: bool, watch: Watch) -> Findings:
    """Encounters of two vessels: both avoid, or one of them keeps on."""
    drawn = meeting.draw_encounters(100 if sample else meeting.ENCOUNTERS)
    both, alone = (meeting.run_encounters(drawn, passive) for passive in (False, True))
    draw_encounters(both, alone, out / "colregs.png")
    sets = {"both avoid": both, "the other keeps on": alone}
    failed = []
    for name, voyages in sets.items():
        draw_failures(
            voyages, out / f"colregs-failures-{'alone' if voyages.passive else 'both'}.png"
        )
        failed += [claims.describe(voyages, i) | {"set": name} for i in claims.failures(voyages)]
    heads = ["", "number", "hits", "closest", "median", "right side", "stood on"]
    tables = [Table(f"Where {name}", heads, claims.rows(voyages)) for name, voyages in sets.items()]
    numbers = {
        "encounters": drawn.kind.size,
        "seed": meeting.SEED,
        "safety_radius": meeting.RADIUS,
        "clearance": meeting.CLEARANCE,
        "closest": {name: rounded(voyages.closest) for name, voyages in sets.items()},
        "kinds": drawn.kind.tolist(),
        "failures": failed,
    }
    return Findings(numbers, tables, claims.judge(both, alone))
