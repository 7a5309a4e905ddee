"""A boat that turns on the spot twice in a harbour, in still water and in waves.

After table 2 of *Digital Twin Platform for Unmanned Surface Vehicles* (2024), section 5.4.2:
RTAB-Map found 35 loop closures and rejected 42 with 180 pictures of still water, 5 and 88 with 196
of water in waves. There the platform stood still and only the water moved; here waves move the boat
as well.
"""

import math
import os
import tempfile
from pathlib import Path
from typing import Any

from seatrial.datasets import make_dataset
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario
from seatrial.spec.world import World
from seatrial.validation.claims import Claim
from seatrial.validation.findings import Findings, Table, Watch
from seatrial.validation.loop_closure.closing import Closures, close_loops, opencv
from seatrial.validation.loop_closure.figures import draw_closures

TURNS = 2.0
LASTS = 120.0
"""s; the thesis: 116 and 121."""
PICTURES = 90
SIZE = (360, 225)
SEAS: dict[str, dict[str, Any]] = {
    "still water": {},
    "with waves": {
        "waves": {
            "spectrum": "jonswap",
            "significant_height": 0.35,
            "peak_period": 3.0,
            "towards_deg": 20,
        },
        "wind": {"speed": 4.0, "towards_deg": 20},
    },
}
"""What the world has besides the harbour; wind draws ripples."""
PRINTED = {"still water": (180, 35, 42), "with waves": (196, 5, 88)}
"""Pictures, closures detected and rejected, of the thesis."""


def loop_closure(out: Path, sample: bool, watch: Watch) -> Findings:
    """Both runs; a sample takes every third picture."""
    opencv()
    rate = PICTURES / LASTS / (3.0 if sample else 1.0)
    found: dict[str, Closures] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for k, (name, weather) in enumerate(SEAS.items()):
            data = make_dataset(
                scenario(weather, rate),
                Path(scratch) / str(k),
                frames=round(rate * LASTS) - 1,
                workers=1 if sample else os.cpu_count() or 1,
            )
            watch.line(f"{name}: {data.cameras[0].frames} pictures")
            found[name] = close_loops(data, apart=0.7 * LASTS / TURNS)
            watch.share((k + 1) / len(SEAS))
            if k == 0 or not sample:
                draw_closures(data, found[name], name, out / f"loop-closure-{k}.png")
    return _findings(found)


def scenario(weather: dict[str, Any], rate: float) -> Scenario:
    """A WAM-V that turns in the middle of the harbour's basin."""
    harbour = load("harbour", World)
    world = harbour.model_dump(exclude={"waves", "wind"}) | {"name": "basin"} | weather
    camera = {
        "type": "camera",
        "name": "camera",
        "rate": rate,
        "position": [0.8, 0.0, -1.6],
        "pitch_deg": -6.0,
        "width": SIZE[0],
        "height": SIZE[1],
        "field_of_view_deg": 75.0,
    }
    turning = {
        "do": "velocity",
        "yaw_rate": TURNS * math.tau / LASTS,
        "duration": 2.0 * LASTS,
    }
    boat = {
        "name": "boat",
        "vehicle": "wamv",
        "start": {"position": [-10.0, 0.0, 0.0]},
        "feedback": "truth",
        "sensors": [camera],
        "mission": [turning],
    }
    whole: dict[str, Any] = {"world": world, "vehicles": [boat]}
    return Scenario(name="turning", duration=LASTS, seed=3, stop_when_done=False, **whole)


def _findings(found: dict[str, Closures]) -> Findings:
    calm, rough = found.values()
    rows = [
        [
            name,
            str(c.pictures),
            f"{c.features:.0f}",
            str(c.accepted),
            str(c.rejected),
            str(c.right),
            str(c.wrong),
            f"{c.missed} of {c.possible}",
            "{1} / {2} of {0}".format(*PRINTED[name]),
        ]
        for name, c in found.items()
    ]
    headings = [
        *("", "pictures", "features", "accepted", "rejected", "right", "wrong", "missed"),
        "thesis: accepted / rejected",
    ]
    claims = [
        Claim(
            "fewer loops are closed in waves than in still water",
            rough.accepted < calm.accepted,
            f"{rough.accepted} against {calm.accepted}",
        ),
        Claim(
            "and a greater share of the hypotheses is rejected",
            rough.rejected * (calm.accepted + calm.rejected)
            > calm.rejected * (rough.accepted + rough.rejected),
            f"{rough.rejected} of {rough.accepted + rough.rejected} against "
            f"{calm.rejected} of {calm.accepted + calm.rejected}",
        ),
    ]
    numbers = {name: vars(c) | {"wrong": c.wrong} for name, c in found.items()}
    return Findings(numbers, [Table("Loop closures", headings, rows)], claims)
