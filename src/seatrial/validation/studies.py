"""Published results reproduced: the studies by name, and the files that they leave."""

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from seatrial._version import __version__
from seatrial.errors import Problem, SpecError
from seatrial.validation.findings import Findings, Nobody, Watch

STUDIES = {
    "asvlite-speed": "asvlite.study:speed",
    "asvlite-tank": "asvlite.study:tank",
    "asvlite-trends": "asvlite.study:trends",
    "buoyancy": "buoyancy.study:buoyancy",
    "colregs": "colregs.study:colregs",
    "consistency": "consistency.study:consistency",
    "detection": "detection.study:detection",
    "handover": "handover.study:handover",
    "hull-cards": "hull_cards.study:hull_cards",
    "loop-closure": "loop_closure.study:loop_closure",
    "missions": "missions.study:missions",
    "outage": "outage.study:outage",
}
"""Name -> module of this room and function; imported when one is asked for."""

BY_CASE = ("missions", "consistency")
"""Those whose cases can be run by themselves."""


@dataclass(frozen=True)
class Report:
    """A finished study."""

    document: dict[str, Any]
    """As in its JSON file."""
    findings: Findings

    @property
    def holds(self) -> bool:
        """Whether all its claims do."""
        return all(claim.holds for claim in self.findings.claims)


def run_study(name: str, out: Path, *, sample: bool = False, watch: Watch | None = None) -> Report:
    """Run a study and write `out`/NAME.json, NAME.md and its pictures."""
    if name not in STUDIES:
        raise SpecError(Problem("unknown study", value=name, expected=", ".join(STUDIES)))
    module, _, function = STUDIES[name].partition(":")
    study: Callable[[Path, bool, Watch], Findings]
    study = getattr(import_module(f"{__package__}.{module}"), function)
    return _reported(name, out, sample, lambda: study(out, sample, watch or Nobody()))


def sail_cases(name: str, out: Path, cases: list[str], seeds: int | None, watch: Watch) -> None:
    """Sail cases of a study that is run case by case, and keep each in a file for its page."""
    study = _by_case(name)
    _make(out)
    study.sail(out, cases, seeds or study.SEEDS, watch)


def merge_cases(name: str, out: Path) -> Report:
    """The page of such a study, of the cases that are kept."""
    study = _by_case(name)
    return _reported(name, out, False, lambda: study.merged(out))


def _by_case(name: str) -> Any:
    """The module of a study that is run case by case: `SEEDS`, `sail` and `merged`."""
    if name not in BY_CASE:
        raise SpecError(
            Problem(
                f"only the studies {' and '.join(BY_CASE)} are run case by case",
                value=name,
                mend="leave out --case, --seeds and --merge, or name one of them",
            )
        )
    return import_module(f"{__package__}.{STUDIES[name].partition(':')[0]}")


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(
            Problem("the folder cannot be made", value=str(out), mend=str(error.strerror))
        ) from None


def _reported(name: str, out: Path, sample: bool, study: Callable[[], Findings]) -> Report:
    """Run a study and write its files."""
    _make(out)
    began = time.perf_counter()
    found = study()
    document = {
        "study": name,
        "sample": sample,
        "seatrial": __version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "wall_s": round(time.perf_counter() - began, 3),
        "claims": [claim.as_json() for claim in found.claims],
        **found.numbers,
    }
    text = json.dumps(document, indent=2)
    (out / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (out / f"{name}.md").write_text(_markdown(document, found), encoding="utf-8")
    return Report(document, found)


def _markdown(document: dict[str, Any], found: Findings) -> str:
    command = f"seatrial study {document['study']}{' --sample' if document['sample'] else ''}"
    text = [
        f"# {document['study']}",
        "",
        f"`{command}`, seatrial {document['seatrial']}, {document['machine']}, "
        f"{document['wall_s']:.1f} s.",
    ]
    for title, headings, rows in found.tables:
        text += ["", f"**{title}**", "", f"| {' | '.join(headings)} |"]
        text.append("|" + "---|" * len(headings))
        text += [f"| {' | '.join(row)} |" for row in rows]
    text += ["", "**Claims**", ""]
    text += [
        f"- {'holds' if c.holds else 'does not hold'}: {c.statement} ({c.evidence})"
        for c in found.claims
    ]
    return "\n".join(text) + "\n"
