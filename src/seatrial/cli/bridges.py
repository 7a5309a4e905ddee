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
        help="Speak NMEA 0183 and AIS at `tcp://HOST:PORT`, `udp://HOST:PORT\\[/LISTEN]` or "
        "`pty:[LINK]`; may be repeated.",
        rich_help_panel=_PANEL,
    ),
]
Nmea2000Option = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[VEHICLE@]PLACE",
        help="Speak NMEA 2000, as the text of `candump -L`, at such places; may be repeated.",
        rich_help_panel=_PANEL,
    ),
]
Ros2Option = Annotated[
    bool,
    typer.Option(
        "--ros2", help="Publish and take orders on ROS 2's topics.", rich_help_panel=_PANEL
    ),
]
DomainOption = Annotated[
    int,
    typer.Option(
        help="DDS domain of --ros2.",
        envvar="ROS_DOMAIN_ID",
        min=0,
        max=232,
        rich_help_panel=_PANEL,
    ),
]
ProfileOption = Annotated[
    str,
    typer.Option(help="Names of ROS's topics: seatrial, panisim or vrx.", rich_help_panel=_PANEL),
]
RosbridgeOption = Annotated[
    int | None,
    typer.Option(
        metavar="PORT",
        help="Serve roslibjs and roslibpy at ws://127.0.0.1:PORT; 9090 is usual.",
        min=0,
        max=65535,
        rich_help_panel=_PANEL,
    ),
]
FoxgloveOption = Annotated[
    int | None,
    typer.Option(
        metavar="PORT",
        help="Serve Foxglove at ws://127.0.0.1:PORT; 8765 is usual.",
        min=0,
        max=65535,
        rich_help_panel=_PANEL,
    ),
]
ArduPilotOption = Annotated[
    str | None,
    typer.Option(
        metavar="[VEHICLE@]PORT[:OUTPUTS]",
        help="Be the physics of ArduPilot's SITL (`--model JSON`); 9002 is usual.",
        rich_help_panel=_PANEL,
    ),
]
MavlinkOption = Annotated[
    str | None,
    typer.Option(
        metavar="[VEHICLE@]PORT[:OUTPUTS]",
        help="Be the simulator of PX4's SITL, by MAVLink over TCP; 4560 is usual.",
        rich_help_panel=_PANEL,
    ),
]
DriveOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VEHICLE",
        help="In lock-step, wait for orders to this vehicle alone; may be repeated.",
        rich_help_panel=_PANEL,
    ),
]
PaceOption = Annotated[
    float | None,
    typer.Option(
        help="Simulated over wall time, with --view (0.1 to 100) or a bridge (0: as fast as it "
        "goes); 1 by default.",
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
    nmea2000: list[str] | None = None
    ros2: bool = False
    domain: int = 0
    profile: str = "seatrial"
    rosbridge: int | None = None
    foxglove: int | None = None
    ardupilot: str | None = None
    mavlink: str | None = None
    drive: list[str] | None = None
    pace: float | None = None
    lock_step: bool = False
    view: bool = False

    def bridges(self) -> "list[Bridge]":
        """Those that were asked for, listening already."""
        if self.drive and not self.lock_step:
            raise SpecError(
                Problem(
                    "only a run in lock-step waits for orders to a vehicle",
                    value="--drive",
                    expected="--lock-step beside it",
                    mend="add it, or leave out --drive",
                )
            )
        speaks = self.ros2 or self.rosbridge is not None or self.foxglove is not None
        if self.profile != "seatrial" and not speaks:
            raise SpecError(
                Problem(
                    "only bridges with ROS's topics have names for them",
                    value=f"--profile {self.profile}",
                    expected="--ros2, --rosbridge or --foxglove beside it",
                    mend="add one of them, or leave out --profile",
                )
            )
        made: list[Bridge] = []
        for place in self.nmea or ():
            from seatrial.bridges.nmea.bridge import NmeaBridge

            made.append(NmeaBridge(*_speaking(place)))
        for place in self.nmea2000 or ():
            from seatrial.bridges.nmea.bridge2000 import Nmea2000Bridge

            made.append(Nmea2000Bridge(*_speaking(place)))
        if self.ros2:
            from seatrial.bridges.ros2.bridge import Ros2Bridge

            drive = tuple(self.drive or ()) if self.lock_step else None
            made.append(Ros2Bridge(self.domain, self.profile, drive))
        if self.rosbridge is not None:
            from seatrial.bridges.rosbridge.bridge import RosbridgeBridge

            driven = tuple(self.drive or ())
            made.append(RosbridgeBridge(self.rosbridge, profile=self.profile, drive=driven))
        if self.foxglove is not None:
            from seatrial.bridges.foxglove.bridge import FoxgloveBridge

            driven = tuple(self.drive or ())
            made.append(FoxgloveBridge(self.foxglove, profile=self.profile, drive=driven))
        if self.ardupilot is not None:
            from seatrial.bridges.autopilots.ardupilot import ArduPilotBridge

            made.append(ArduPilotBridge(self.ardupilot))
        if self.mavlink is not None:
            from seatrial.bridges.autopilots.mavlink import MavlinkBridge

            made.append(MavlinkBridge(self.mavlink))
        if made and self.view:
            raise SpecError(
                Problem(
                    "a run is shown on the page or spoken to by bridges, not both",
                    value="--view",
                    expected="one of them",
                    mend="leave out --view and play the recording back with `seatrial view RUN`",
                )
            )
        if not made and (self.lock_step or (self.pace is not None and not self.view)):
            raise SpecError(
                Problem(
                    "nobody outside would be heard in this run",
                    value="--lock-step" if self.lock_step else "--pace",
                    expected="a bridge beside it",
                    mend="add one, for example `--nmea tcp://127.0.0.1:10110`, or leave it out",
                )
            )
        return made


def _speaking(place: str) -> tuple[str, str | None]:
    """Address and vehicle of `[VEHICLE@]PLACE`."""
    vehicle, at, address = place.rpartition("@")
    return address, vehicle if at else None


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

    waits = asked.lock_step or any(bridge.paces for bridge in bridges)
    pace = 1.0 if asked.pace is None and not waits else asked.pace
    return run_bridged(
        with_overrides(load(scenario, Scenario), seed, duration, faults),
        bridges,
        out=out,
        allow_code=allow_code,
        pace=pace or None,
        lock_step=asked.lock_step,
        say=lambda text: typer.echo(text, err=True),
    )


def replay_recording(recording: Path, domain: int, pace: float) -> None:
    """Publish a recording on ROS 2's topics until its end or Ctrl-C."""
    from seatrial.bridges.ros2.replay import replay
    from seatrial.engine.run import interrupt_at_leisure

    with interrupt_at_leisure() as interrupted:
        sent = replay(
            recording, domain, pace or None, lambda text: typer.echo(text, err=True), interrupted
        )
    typer.echo(f"{sent:,} messages")
