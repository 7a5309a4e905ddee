"""What people did to a run while it ran: who, what, when and with which numbers.

An act is obeyed at the beginning of a control period. It goes to the sinks with the frames among
which it happened, so that a recording tells why its vehicles did what their scenario does not say.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from seatrial.engine.scene import Scene, read_scene, write_scene

_SEA = "sea"


@dataclass(frozen=True)
class Act:
    """Something that somebody asked for and that was obeyed."""

    time: float
    """s since the start."""
    who: str
    """Role of whoever asked, for example `instructor`."""
    what: str
    """Kind of request, for example `fault`."""
    value: dict[str, Any] = field(default_factory=dict)
    """What was asked for, as plain data: `{"vehicle": "otter", "fault": "left: stuck"}`."""
    sea: Scene | None = None
    """Of a change of the weather, waves, wind, current and floating bodies that it leads to."""

    @property
    def text(self) -> str:
        """For people, for example `instructor: fault otter, left: power_loss, on`."""
        return f"{self.who}: {self._told(self.value)}"

    @property
    def deed(self) -> str:
        """The same where who did it and to which vehicle is told beside it."""
        return self._told({k: v for k, v in self.value.items() if k != "vehicle"})

    def _told(self, value: dict[str, Any]) -> str:
        parts = [_shown(name, part) for name, part in value.items()]
        return f"{self.what} {', '.join(parts)}".rstrip()


def write_details(act: Act) -> str:
    """Value and sea of an act as JSON."""
    details = dict(act.value)
    if act.sea is not None:
        details[_SEA] = write_scene(act.sea)
    return json.dumps(details, ensure_ascii=False, allow_nan=False)


def read_act(time: float, who: str, what: str, details: str) -> Act:
    """An act back from its details; a ValueError, KeyError or TypeError says that it is none."""
    value = json.loads(details)
    if not isinstance(value, dict):
        raise ValueError(f"expected the details of an act, found {details[:80]!r}")
    sea = value.pop(_SEA, None)
    return Act(time, who, what, value, None if sea is None else read_scene(sea))


def _shown(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(_shown(key, part) for key, part in value.items())
    if isinstance(value, bool):
        return name if value else "off" if name == "on" else f"not {name}"
    if isinstance(value, str):
        return value
    return f"{name.replace('_', ' ')} {value:.4g}"
