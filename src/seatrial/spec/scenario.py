"""Description of a run: which vehicles, in which world, told to do what, for how long."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from seatrial.spec.base import (
    Metres,
    MetresPerSecond,
    Number,
    Plain,
    Position,
    Radians,
    Seconds,
    Spec,
    Unit,
)
from seatrial.spec.failsafes import Failsafes
from seatrial.spec.faults import Fault, LinkLoss
from seatrial.spec.mission import AnyTask, Control, Guidance
from seatrial.spec.navigation import Navigation
from seatrial.spec.obstacles import Avoidance, Obstacle
from seatrial.spec.sensors import AnySensor
from seatrial.spec.sensors.cameras import PathTracing
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

CommandRow = Annotated[tuple[Number, Number], Field(strict=False)]
Timetable = Annotated[tuple[CommandRow, ...], Field(strict=False, min_length=1)]
Commands = dict[str, Number | Timetable]


def _check_class(reference: str) -> str:
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", reference):
        names = re.findall(r"[^\W\d]\w*", reference.removesuffix(".py"))
        guess = ":".join((".".join(names[:-1]), names[-1])) if len(names) > 1 else ""
        guess = guess or f"{''.join(names) or 'module'}:Class"
        raise ValueError(f"name a class in a module, written `module:Class`, for example `{guess}`")
    return reference


class Start(Spec):
    """Where and how a vehicle begins."""

    position: Position = (0.0, 0.0, 0.0)
    """Of the vehicle's origin, NED. A surface craft's z counts from the water surface where it
    starts, wave included, so that 0 puts its origin on the water."""
    roll: Radians = 0.0
    """Starboard side down is positive."""
    pitch: Radians = 0.0
    """Bow up is positive."""
    heading: Radians = 0.0
    """Clockwise from north."""
    speed: MetresPerSecond = 0.0
    """Surge speed through the water; a surface craft also moves with the waves at first."""
    actuators: dict[str, Number] = {}
    """Actuator states at the start by channel, units as in `commands`; zero when left out."""


WORKING_DEPTH = 5.0
"""At which vehicles that dive begin where nobody says otherwise, m."""


def usual_start(vehicle: Vehicle) -> Start:
    """At rest in the middle, afloat or at the usual depth: for runs that a program makes up."""
    dives = vehicle.buoyancy.craft == "submerged"
    return Start(position=(0.0, 0.0, WORKING_DEPTH if dives else 0.0))


class TurningCircle(Spec):
    """Helm hard over after a straight approach; ITTC 7.5-04-02-01, IMO MSC.137(76)."""

    type: Literal["turning_circle"]
    """Selects this manoeuvre."""
    helm: Radians
    """Helm angle, positive to starboard."""
    approach: Annotated[Seconds, Field(ge=0)] = 10.0
    """Time straight ahead before the helm is put over."""
    engine: Annotated[Plain, Field(ge=-1, le=1)] = 1.0
    """Engine order."""


class ZigZag(Spec):
    """Kempf's zig-zag: helm reversed whenever the heading has changed by a set angle."""

    type: Literal["zigzag"]
    """Selects this manoeuvre."""
    helm: Annotated[Radians, Field(gt=0)]
    """Helm angle; the first execute is to starboard."""
    heading_change: Annotated[Radians, Field(gt=0)]
    """Change of heading at which the helm is reversed."""
    approach: Annotated[Seconds, Field(ge=0)] = 10.0
    """Time straight ahead before the first execute."""
    engine: Annotated[Plain, Field(ge=-1, le=1)] = 1.0
    """Engine order."""


class Spiral(Spec):
    """Dieudonné's spiral: a ladder of helm angles, each held until the yaw rate has settled."""

    type: Literal["spiral"]
    """Selects this manoeuvre."""
    helm: Annotated[Radians, Field(gt=0)]
    """Largest helm angle; the ladder runs from +helm to −helm and back."""
    steps: Annotated[int, Field(ge=2, le=40)] = 6
    """Number of equal steps from +helm to −helm."""
    hold: Annotated[Seconds, Field(gt=0)]
    """Time at each step."""
    approach: Annotated[Seconds, Field(ge=0)] = 10.0
    """Time straight ahead before the first step."""
    engine: Annotated[Plain, Field(ge=-1, le=1)] = 1.0
    """Engine order."""


class PullOut(Spec):
    """A steady turn, then helm amidships: the rest yaw rate tells course stability."""

    type: Literal["pull_out"]
    """Selects this manoeuvre."""
    helm: Radians
    """Helm angle of the turn, positive to starboard."""
    turn: Annotated[Seconds, Field(gt=0)]
    """Time with the helm over."""
    approach: Annotated[Seconds, Field(ge=0)] = 10.0
    """Time straight ahead before the helm is put over."""
    engine: Annotated[Plain, Field(ge=-1, le=1)] = 1.0
    """Engine order."""


class CrashStop(Spec):
    """Engine full astern from a straight run until the craft is dead in the water."""

    type: Literal["crash_stop"]
    """Selects this manoeuvre."""
    approach: Annotated[Seconds, Field(ge=0)] = 10.0
    """Time straight ahead before the order."""
    engine: Annotated[Plain, Field(ge=-1, le=1)] = 1.0
    """Engine order of the approach."""
    astern: Annotated[Plain, Field(ge=-1, lt=0)] = -1.0
    """Engine order of the stop."""


Manoeuvre = Annotated[
    TurningCircle | ZigZag | Spiral | PullOut | CrashStop, Field(discriminator="type")
]


class Variation(Spec):
    """How a number of the description differs from vessel to vessel of a swarm."""

    relative: Annotated[Plain, Field(gt=0, lt=1)]
    """Spread as a share of the number: half the width of a uniform distribution, or the standard
    deviation of a normal one, which is cut at three of them."""
    distribution: Literal["uniform", "normal"] = "uniform"
    """Its shape."""


class Participant(Spec):
    """One vehicle of the scenario, or a swarm of them."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)] = "vehicle"
    """Its own name, or that of the vehicle when left out; also the first part of its topics.
    Vessels of a swarm are numbered: NAME_0 …"""
    vehicle: Vehicle
    """The vehicle: a library name, a path to a file, or its description in place."""
    start: Start = Start()
    """Where and how it begins."""
    commands: Commands = {}
    """Commands by channel: a number, or a timetable of [time in s, value] rows, each held until
    the next. `rudder_deg` and `propeller_rpm` give a channel in other units than SI."""
    manoeuvre: Manoeuvre | None = None
    """A standard manoeuvre, in place of commands."""
    controller: Annotated[str, AfterValidator(_check_class)] | None = None
    """Code of your own that steers it: `module:Class`, the module beside this file or installed.
    It runs only where the user allows it, for example with `--allow-code`. A channel that it leaves
    alone follows `commands`, or the autopilot of a vehicle with a `mission`, whose estimate and
    setpoints it is told."""
    count: Annotated[int, Field(ge=1, le=10_000_000)] = 1
    """How many of them: more than one is a swarm around `start`."""
    formation: Literal["grid", "line", "circle", "random"] = "grid"
    """How a swarm is laid out: a square grid, a line abreast, a circle, or anywhere in the square
    that a grid would fill."""
    spacing: Annotated[Metres, Field(gt=0)] = 5.0
    """Distance between neighbours of a swarm."""
    vary: dict[str, Variation] = {}
    """Numbers of the vehicle's description that differ from vessel to vessel, by their path, for
    example `inertia.mass`. The wave forces stay those of the vehicle as described."""
    wave_forces: str | None = None
    """File of `seatrial waves precompute` to take the wave force amplitudes from."""
    sensors: Annotated[tuple[AnySensor, ...], Field(strict=False, max_length=50)] | None = None
    """Sensors in place of those that the vehicle's description names; `[]` for none."""
    faults: Annotated[tuple[Fault, ...], Field(strict=False, max_length=24)] = ()
    """What breaks, when and how."""
    mission: Annotated[tuple[AnyTask, ...], Field(strict=False, max_length=200)] = ()
    """Tasks that it works through by itself, in place of commands."""
    guidance: Guidance = Guidance()
    """How it follows the legs of its mission."""
    control: Control = Control()
    """How its autopilot is designed."""
    navigation: Navigation | None = None
    """How it finds out where it is, on its mission and in `seatrial navigate`; inertial navigation
    with every sensor that helps when left out."""
    feedback: Literal["estimate", "truth"] = "estimate"
    """What guidance and control see: what navigation believes, or the truth."""
    avoidance: Avoidance | None = None
    """How it keeps clear of the scenario's obstacles on its mission; `{}` for the usual numbers.
    It does not look out when left out."""

    failsafes: Failsafes = Failsafes()
    """What it watches on its mission, and what it does when something is wrong."""

    @property
    def fitted(self) -> tuple[AnySensor, ...]:
        """The sensors that it carries."""
        return self.vehicle.sensors if self.sensors is None else self.sensors

    @model_validator(mode="before")
    @classmethod
    def _name_after_vehicle(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "name" in data:
            return data
        vehicle = data.get("vehicle")
        name = vehicle.get("name") if isinstance(vehicle, dict) else getattr(vehicle, "name", None)
        return data if name is None else data | {"name": name}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.vary and self.count == 1:
            raise ValueError("`vary` needs a swarm: give a `count` greater than 1")
        given = [n for n in ("commands", "manoeuvre", "mission") if getattr(self, n)]
        if len(given) > 1:
            raise ValueError(f"give one of `commands`, `manoeuvre` and `mission`, found {given}")
        if self.manoeuvre is not None and self.vehicle.manoeuvring is None:
            raise ValueError(
                f"the vehicle `{self.vehicle.name}` has no `manoeuvring` section, which a standard "
                "manoeuvre needs; add it to the vehicle, or script `commands` instead"
            )
        if self.manoeuvre is not None and not isinstance(self.manoeuvre, CrashStop):
            assert self.vehicle.manoeuvring is not None
            if not any(self.vehicle.manoeuvring.helm.values()):
                raise ValueError(
                    f"the `manoeuvre` needs a helm, and `manoeuvring.helm` of the vehicle "
                    f"`{self.vehicle.name}` moves nothing: say there what one radian of helm adds "
                    "to each channel, for example `helm: {rudder: -1.0}`"
                )
        if self.controller is not None and self.manoeuvre is not None:
            raise ValueError("a `controller` takes the place of `manoeuvre`")
        if not self.mission:
            usual = {"guidance": Guidance(), "control": Control(), "failsafes": Failsafes()}
            idle = [
                name
                for name in ("guidance", "control", "avoidance", "failsafes")
                if getattr(self, name) != usual.get(name)
            ]
            if idle:
                raise ValueError(
                    f"`{idle[0]}` is of a vehicle with a `mission` and would have no effect here: "
                    "give it a mission, or leave it out"
                )
            if self.controller is not None and self.navigation is not None:
                raise ValueError(
                    "`navigation` would have no effect: a controller without a `mission` is told "
                    "what sensors measure, and nothing else; give it a mission, or leave it out"
                )
            if any(isinstance(fault, LinkLoss) for fault in self.faults):
                raise ValueError(
                    "the fault `link: lost` is of a vehicle with a `mission`, which is on its own "
                    "then: give it a mission, or use `comms: loss`, which cuts off its actuators"
                )
        for channel, rows in self.commands.items():
            if isinstance(rows, tuple):
                times = [row[0] for row in rows]
                if times != sorted(set(times)) or times[0] < 0:
                    raise ValueError(
                        f"times of `{channel}` in `commands` must start at 0 or later and "
                        f"increase, found {times}"
                    )
        return self


class Scenario(Spec):
    """A run.

    >>> boat = {"vehicle": "otter", "commands": {"left_rpm": 900, "right_rpm": 700}}
    >>> scenario = st.Scenario(world="calm", vehicles=[boat], duration_min=0.5)
    >>> scenario.duration, scenario.vehicles[0].name
    (30.0, 'otter')
    """

    kind: Literal["scenario"] = "scenario"
    """Says what this file describes."""
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)] = "run"
    """Short name: lower case, digits, hyphen, underscore."""
    description: str = ""
    """One line for people."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Every random stream of the run derives from it."""
    duration: Annotated[Seconds, Field(gt=0, le=1e7)] = 60.0
    """Simulated time; the longest, where all vehicles have missions that end."""
    time_step: Annotated[Seconds, Field(ge=1e-6, le=1.0)] | None = None
    """Of the integrator. When left out it is 0.02 s, or the longest below that which divides the
    periods of all sensors and the control period."""
    integrator: Literal["rk4", "semi_implicit"] = "rk4"
    """Classical Runge–Kutta of order 4, or semi-implicit (symplectic) Euler of order 1."""
    precision: Literal["double", "single"] | None = None
    """Of the vehicles' arithmetic; double when left out, but single for swarms. Time and the
    phases of the waves are always double."""
    control_period: Annotated[Seconds, Field(gt=0, le=1e5)] = 0.1
    """Commands change only at multiples of this; a whole number of time steps."""
    frame_period: Annotated[Seconds, Field(gt=0, le=1e5)] = 0.1
    """Time between recorded frames; a whole number of control periods."""
    stop_when_grounded: bool = True
    """Whether a vehicle that touches the bottom ends its run there, or goes on."""
    stop_when_capsized: bool = True
    """Whether a vehicle that has been upside down for five seconds ends its run, or goes on."""
    stop_when_collided: bool = False
    """Whether vehicles that touch each other, an obstacle or a body of the world end their runs
    there; otherwise they push each other and go on. All vehicles are then computed together, on one
    core."""
    collision_impulse: Annotated[Number, Field(gt=0), Unit("N s")] | None = None
    """Impulse of touches within a control period beyond which `stop_when_collided` counts them as a
    collision; any touch when left out."""
    vehicles_touch: bool | None = None
    """Whether vehicles push each other or pass through each other. When left out they push where
    they are computed together anyway: with `stop_when_collided`, and where a sensor looks for other
    vehicles. Swarms that do not are faster."""
    stop_when_done: bool = True
    """Whether the run ends when every vehicle has ended its mission, or lasts for its `duration`;
    one with a vehicle that has no mission lasts."""
    world: World = World(kind="world", name="calm")
    """The world: a library name, a path to a file, or its description in place."""
    vehicles: Annotated[tuple[Participant, ...], Field(strict=False, min_length=1)]
    """The vehicles."""
    obstacles: Annotated[tuple[Obstacle, ...], Field(strict=False, max_length=100)] = ()
    """Vessels on a timetable and fixed shapes, which vehicles with `avoidance` keep clear of."""
    path_tracing: PathTracing = PathTracing()
    """How its pictures are drawn by `seatrial dataset --renderer traced`."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        ladder = [("frame_period", self.frame_period, "control_period", self.control_period)]
        if self.time_step is not None:
            ladder.append(("control_period", self.control_period, "time_step", self.time_step))
        for name, period, unit_name, unit in ladder:
            ratio = period / unit
            if ratio < 0.999 or abs(ratio - round(ratio)) > 1e-6 * max(1.0, ratio):
                raise ValueError(
                    f"`{name}` ({period} s) must be a whole number of `{unit_name}` ({unit} s); "
                    f"try `{unit_name}: {period / max(1, round(ratio)):.6g}`"
                )
        if self.frame_period > self.duration:
            raise ValueError(
                f"`frame_period` ({self.frame_period:g} s) is longer than `duration` "
                f"({self.duration:g} s): nothing but the start would be recorded"
            )
        if self.collision_impulse is not None and not self.stop_when_collided:
            raise ValueError(
                "`collision_impulse` says when `stop_when_collided` ends a run: set that too, or "
                "leave it out"
            )
        names = [p.name for p in self.vehicles]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ValueError(
                f"`vehicles` have a name each; used more than once: {', '.join(twice)}: "
                "rename one, or write one entry with a `count`"
            )
        return self
