"""Sea trials for marine vehicles before they meet the sea.

>>> import seatrial as st
>>> st.run("otter-turning-circle", seed=1).plot()

Names are loaded when first used, so that importing seatrial costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from seatrial._version import __version__
from seatrial.errors import RecordingError, SpecError, SpecWarning

if TYPE_CHECKING:
    from seatrial.api import Run, compile_scenario, run, run_many
    from seatrial.record.reader import read
    from seatrial.signals import RELEASE, Command, Setpoint
    from seatrial.simulation import Simulation
    from seatrial.spec.library import library_names
    from seatrial.spec.loading import load
    from seatrial.spec.scenario import Scenario
    from seatrial.spec.vehicle import Vehicle
    from seatrial.spec.world import World
    from seatrial.viewing import view

_HOMES = {
    "Command": "seatrial.signals",
    "RELEASE": "seatrial.signals",
    "Run": "seatrial.api",
    "Scenario": "seatrial.spec.scenario",
    "Setpoint": "seatrial.signals",
    "Simulation": "seatrial.simulation",
    "Vehicle": "seatrial.spec.vehicle",
    "World": "seatrial.spec.world",
    "compile_scenario": "seatrial.api",
    "library_names": "seatrial.spec.library",
    "load": "seatrial.spec.loading",
    "read": "seatrial.record.reader",
    "run": "seatrial.api",
    "run_many": "seatrial.api",
    "view": "seatrial.viewing",
}

__all__ = [
    "RELEASE",
    "Command",
    "RecordingError",
    "Run",
    "Scenario",
    "Setpoint",
    "Simulation",
    "SpecError",
    "SpecWarning",
    "Vehicle",
    "World",
    "__version__",
    "compile_scenario",
    "library_names",
    "load",
    "read",
    "run",
    "run_many",
    "view",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seatrial' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
