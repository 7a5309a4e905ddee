"""`seatrial run` with bridges: what is typed, and what is made of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.errors import Problem, SpecError

if TYPE_CHECKING:
    from seatrial.api import Run
    from seatrial.bridges.bridge import Bridge

_PANEL = "Bridges to other programs"

NmeaOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[VEHICLE@]PLACE",
        help="Speak NMEA 0183 and AIS at `tcp://HOST:PORT`, `udp://HOST:PORT[/LISTEN]` or "
        "`pty:[LINK]`; may be repeated.",
        rich_help_panel=_PANEL,
    ),
]
PaceOption = Annotated[
    float | None,
    typer.Option(
        help="Simulated over wall time with bridges, 0 for as fast as it goes; 1 by default.",
        min=0.0,
        rich_help_panel=_PANEL,
    ),
]
LockStepOption = Annotated[
    bool,
    typer.Option(
        "--lock-step",
        help="Every control period waits for an order to each vehicle.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True)
class Asked:
    """The options of `seatrial run` that are about bridges."""

    nmea: list[str] | None = None
    pace: float | None = None
    lock_step: bool = False

    def bridges(self) -> "list[Bridge]":
        """Those that were asked for, listening already."""
        made: list[Bridge] = []
        for place in self.nmea or ():
            from seatrial.bridges.nmea.bridge import NmeaBridge

            vehicle, at, address = place.rpartition("@")
            made.append(NmeaBridge(address, vehicle if at else None))
        if not made and (self.lock_step or self.pace is not None):
            raise SpecError(
                Problem(
                    "nobody outside would be heard in this run",
                    value="--lock-step" if self.lock_step else "--pace",
                    expected="a bridge beside it",
                    mend="add one, for example `--nmea tcp://127.0.0.1:10110`, or leave it out",
                )
            )
        return made


def run_with_bridges(
    scenario: str,
    bridges: "list[Bridge]",
    asked: Asked,
    *,
    seed: int | None,
    duration: float | None,
    faults: list[str],
    out: Path | None,
    allow_code: bool,
) -> "Run":
    """Run a scenario that others hear and steer; where they find it is said on stderr."""
    from seatrial.bridging import run_bridged
    from seatrial.compile.variations import with_overrides
    from seatrial.spec.loading import load
    from seatrial.spec.scenario import Scenario

    pace = 1.0 if asked.pace is None and not asked.lock_step else asked.pace
    return run_bridged(
        with_overrides(load(scenario, Scenario), seed, duration, faults),
        bridges,
        out=out,
        allow_code=allow_code,
        pace=pace or None,
        lock_step=asked.lock_step,
        say=lambda text: typer.echo(text, err=True),
    )
