"""What leaves a run: a header, then blocks of frames, then a summary.

Arrays here are NumPy, time first: (T, ...). Frames and units are seatrial's own (NED, forward
starboard down, SI); a sink converts to whatever its readers expect.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.acts import Act as Act
from seatrial.engine.acts import read_act as read_act
from seatrial.engine.acts import write_details as write_details
from seatrial.engine.scene import Body as Body
from seatrial.engine.scene import Scene as Scene
from seatrial.engine.scene import read_scene as read_scene
from seatrial.engine.scene import write_scene as write_scene
from seatrial.geometry.mesh import Mesh
from seatrial.geometry.terrain import Terrain as Terrain
from seatrial.signals import OUTCOMES as OUTCOMES
from seatrial.signals import FaultInfo, Measurements, SensorInfo

Array = NDArray[np.float64]

ESTIMATE = {
    "position": slice(0, 3),
    "attitude": slice(3, 7),
    "velocity": slice(7, 13),
    "current": slice(13, 16),
    "deviation": slice(16, 19),
    "attitude_deviation": slice(19, 22),
    "velocity_deviation": slice(22, 28),
    "rejected": slice(28, 29),
    "silent": slice(29, 30),
}
"""Where the parts of a navigation filter's estimate lie in `VehicleFrames.estimate`."""

GUIDANCE = (
    *("leg", "outcome", "cross_track", "distance", "rule", "failsafes", "action"),
    *("asked", "direction", "surge", "depth", "sway", "yaw_rate", "north", "east"),
)
"""The numbers of `VehicleFrames.guidance`, in order."""

ASKED = {
    **{1: "heading", 2: "course", 4: "surge", 8: "depth"},
    **{16: "sway", 32: "yaw rate", 64: "position"},
}
"""What guidance may ask for, as the number `asked` of `GUIDANCE` sums it up."""


@dataclass(frozen=True)
class ActuatorInfo:
    """One command channel of a vehicle."""

    name: str
    unit: str
    """Unit of command and state: rev/s, N, rad or kg."""
    kind: str = ""
    """`thruster`, `azimuth` (the angle of one), `fin` or `ballast`; empty where it is not known."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where it acts, body frame, m."""
    axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Body frame: direction of positive thrust, or the hinge about which an angle is right-handed;
    zero where there is none."""
    size: float = 0.0
    """Diameter of a propeller, root of the area of a fin, m; 0 where it is not known."""


@dataclass(frozen=True)
class LegInfo:
    """One leg of a vehicle's mission."""

    name: str
    """As an event calls it, for example `goto 2`."""
    kind: str
    """`track`, `hold`, `surface`, `dock` or `velocity`."""
    start: tuple[float, float, float]
    """Where it begins, NED, m."""
    end: tuple[float, float, float]
    """Where it ends, or the station that it holds, NED, m."""
    acceptance: float
    """Radius around the end within which it counts as reached, m."""
    heading: float | None = None
    """To be held at its end, rad."""

    @property
    def has_place(self) -> bool:
        """Whether it leads to its end: one that keeps a velocity ends wherever it may."""
        return self.kind != "velocity"


@dataclass(frozen=True)
class VehicleInfo:
    """A vehicle of the run, as far as a reader needs to know it."""

    name: str
    kind: str
    """Name of the vehicle description, for example `otter`."""
    craft: str
    """`surface` or `submerged`."""
    length: float
    beam: float
    height: float
    actuators: tuple[ActuatorInfo, ...]
    sensors: tuple[SensorInfo, ...] = ()
    faults: tuple[FaultInfo, ...] = ()
    legs: tuple[LegInfo, ...] = ()
    """The mission; empty without one."""
    estimated: bool = False
    """Whether a navigation filter runs, whose estimate is recorded."""
    fence: tuple[tuple[float, float], ...] = ()
    """Corners of the area that it must not leave, north and east, m; empty without one."""


class HullShape(NamedTuple):
    """The hull of a vehicle as it is drawn."""

    mesh: Mesh
    """Closed, in body axes."""
    form: str
    """`file`, or the form that it was made from, on which deckhouse and mast are missing."""


@dataclass(frozen=True)
class RunHeader:
    """Everything known before the first frame."""

    scenario: str
    version: str
    seed: int
    describe: Callable[[], str] = field(compare=False, repr=False)
    """Writes `description`, which takes longer than a short run of a batch."""
    frame_period: float
    duration: float
    water_depth: float | None
    datum: tuple[float, float]
    """Latitude and longitude of the world's origin, degrees."""
    vehicles: tuple[VehicleInfo, ...]
    shapes: Callable[[], dict[str, HullShape]] = field(default=dict, compare=False, repr=False)
    """Makes `hulls`, which takes longer than a short run of a batch."""

    @cached_property
    def hulls(self) -> dict[str, HullShape]:
        """By name, of the vehicles whose description has one; recordings leave them out."""
        return self.shapes()

    @cached_property
    def description(self) -> str:
        """The scenario with every default written out, as YAML."""
        return self.describe()


def vehicle_bodies(vehicles: tuple[VehicleInfo, ...]) -> tuple[Body, ...]:
    """The vehicles as bodies of a scene; where they are is told by their frames."""
    return tuple(
        Body(v.name, "vehicle", v.kind, length=v.length, beam=v.beam, height=v.height)
        for v in vehicles
    )


@dataclass(frozen=True)
class VehicleFrames:
    """A block of consecutive frames of one vehicle."""

    position: Array
    """(T, 3) of the vehicle's origin, NED, m."""
    attitude: Array
    """(T, 4) quaternion, scalar first, body to world."""
    velocity: Array
    """(T, 6) u v w p q r, body axes."""
    acceleration: Array
    """(T, 6) time derivative of `velocity` in the body frame, at the start of the frame."""
    actuators: Array
    """(T, A) actual actuator states."""
    command: Array
    """(T, A) commands in force."""
    current: Array
    """(T, 3) water velocity without waves (current and turbulence) at the vehicle, NED."""
    wave_elevation: Array
    """(T,) of the surface above the vehicle, positive up, m."""
    wave_velocity: Array
    """(T, 3) orbital velocity of the waves at the vehicle, NED."""
    wind: Array
    """(T, 3) air velocity at 10 m above the vehicle, NED."""
    density: Array
    """(T,) of the water at the vehicle, kg/m³."""
    wet_fraction: Array
    """(T,) share of the displaced volume that is under water, 0 to 1."""
    faults: Array
    """(T, F) 1 while a fault of the vehicle is in force, else 0."""
    estimate: Array
    """(T, E) what the navigation filter believes: position (3, NED), attitude (4), velocity over
    ground (6, u v w p q r), current (3, NED), standard deviations of the position (3, NED), of the
    attitude (3, about north, east and down) and of the velocity (6), and two numbers in which bit i
    stands for sensor i of the vehicle: those that the filter rejects (found wrong, frozen or
    stale) and those that it waits for in vain; as `ESTIMATE` says. E is 0 for a vehicle without a
    filter."""
    guidance: Array
    """(T, G) how the mission goes: number of the leg in force (the number of legs when all are
    done), outcome of the last leg that ended (a code of `OUTCOMES`, 0 before), cross-track error
    (m, positive to starboard of the track, 0 on a leg that has none), distance to go on the leg
    (m), the rule that applies towards the nearest vessel that it watches (a code of `RULES`), the
    failsafes that are on (bit i for `FAILSAFES[i]`) and what they make the vehicle do (a code of
    `ACTIONS`); then what guidance asks for: which of it (the sum of 1 heading, 2 course, 4 surge,
    8 depth), the heading or course (rad), surge (m/s) and depth (m), zero where it does not ask. G
    is 0 for a vehicle without a mission."""


@dataclass(frozen=True)
class VehicleState:
    """One vehicle at one instant."""

    time: float
    position: Array
    """(3,) NED, m."""
    attitude: Array
    """(4,) quaternion, scalar first, body to world."""
    velocity: Array
    """(6,) u v w p q r, body axes."""
    actuators: dict[str, float]
    """Actual state by channel, SI."""
    status: str
    """running, or why its run ended: diverged, grounded or capsized."""

    @property
    def euler(self) -> Array:
        """Roll, pitch, yaw, rad."""
        angles: Array = euler_angles(self.attitude[None])[0]
        return angles


@dataclass(frozen=True)
class GroupFrames:
    """A block of frames of vehicles of one kind, all at once."""

    names: tuple[str, ...]
    frames: VehicleFrames
    """Arrays with the vehicles on the second axis: (T, N, ...)."""
    measurements: dict[str, Measurements] = field(default_factory=dict)
    """Samples by sensor, vehicles on the second axis. They were taken from the first frame of the
    block on and before the frame that follows its last; every sensor has its own times."""


@dataclass(frozen=True)
class Frames:
    """A block of consecutive frames of the whole run."""

    time: Array
    """(T,) s since the start."""
    groups: tuple[GroupFrames, ...]
    acts: tuple[Act, ...] = ()
    """What people did from its first frame on and before the frame that follows its last."""
    bottom: tuple[Terrain, ...] = ()
    """Further parts of the map of the bottom that were loaded in that time."""

    @cached_property
    def vehicles(self) -> dict[str, VehicleFrames]:
        """The same, vehicle by vehicle."""
        return {
            name: VehicleFrames(**{f: a[:, i] for f, a in vars(group.frames).items()})
            for group in self.groups
            for i, name in enumerate(group.names)
        }

    @cached_property
    def measurements(self) -> dict[str, dict[str, Measurements]]:
        """Samples by vehicle and sensor."""
        return {
            name: {sensor: m.pick(i) for sensor, m in group.measurements.items()}
            for group in self.groups
            for i, name in enumerate(group.names)
        }


def frames_of(
    time: Array,
    vehicles: dict[str, VehicleFrames],
    measurements: dict[str, dict[str, Measurements]] | None = None,
) -> Frames:
    """Frames of single vehicles, with their samples by vehicle and sensor."""
    taken = measurements or {}
    return Frames(
        time,
        tuple(
            GroupFrames(
                (name,),
                VehicleFrames(**{f: a[:, None] for f, a in vars(v).items()}),
                {sensor: _alone(m) for sensor, m in taken.get(name, {}).items()},
            )
            for name, v in vehicles.items()
        ),
    )


def _alone(one: Measurements) -> Measurements:
    """Samples of one vehicle as those of a group."""
    there = {name: a for name, a in vars(one).items() if a is not None and name != "time"}
    return Measurements(time=one.time, **{name: a[:, None] for name, a in there.items()})


@dataclass(frozen=True)
class Event:
    """Something that happened on the way: a leg ended, a failsafe came or went, something was
    touched, the helm worked the wrong way, or what is known of a map was left."""

    time: float
    """Of the first frame that shows it, s."""
    text: str
    """For people, for example `goto 2 reached` or `failsafe battery: return`."""
    outcome: str
    """A word of `OUTCOMES`, or `unknown` when the leg began and ended between two frames;
    `failsafe` and `failsafe over` of a failsafe; `touched`; `helm`; `left the map`."""
    leg: int
    """Number of the leg, counted from 0; -1 of what belongs to none."""


INDEX_UNITS = {
    **dict.fromkeys(
        ("cross_track_rms", "cross_track_max", "position_error_rms", "position_error_max"), "m"
    ),
    **dict.fromkeys(("time_to_90_deg", "time_to_180_deg", "initial_turning_time", "period"), "s"),
}
"""Units of indices whose names do not tell them; the others are pure numbers."""


@dataclass(frozen=True)
class VehicleSummary:
    """What became of one vehicle."""

    status: str
    """completed, unfinished, stopped, aborted, lost, grounded, capsized, collided, diverged or
    failed."""
    ended_at: float
    """Time of the last frame in which the vehicle was alive, s."""
    distance: float
    """Length of the track over ground, seen from above, m."""
    speed_mean: float
    speed_max: float
    depth_max: float
    roll_max_deg: float
    pitch_max_deg: float
    indices: dict[str, float] = field(default_factory=dict)
    """Figures of a standard manoeuvre, a mission and a navigation filter, by name."""
    events: tuple[Event, ...] = ()
    """What happened, in order."""

    @property
    def ending(self) -> str:
        """The status for people, such as `unfinished: 3 of 7 legs`."""
        if self.status != "unfinished":
            return self.status
        late = self.indices.get("legs_timed_out", 0.0)
        done = self.indices["legs_done"] - late
        told = f"unfinished: {done:.0f} of {self.indices['legs']:.0f} legs"
        return f"{told}, {late:.0f} timed out" if late else told


@dataclass(frozen=True)
class RunSummary:
    """Everything known after the last frame; holds no wall-clock time, so files repeat exactly."""

    status: str
    duration: float
    vehicles: dict[str, VehicleSummary]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


class Sink(Protocol):
    """Something that receives a run. Sinks know nothing of each other."""

    def open(self, header: RunHeader, scene: Scene) -> None:
        """Start; called once."""

    def write(self, frames: Frames) -> None:
        """Take a block of frames; whatever was taken must survive a kill after this returns."""

    def close(self, summary: RunSummary) -> None:
        """Finish; not called when the run was killed."""


def euler_angles(attitude: Array) -> Array:
    """Roll, pitch, yaw of (..., 4) quaternions; as `spatial.to_euler`, without loading JAX."""
    w, x, y, z = np.moveaxis(attitude, -1, 0)
    return np.stack(
        [
            np.arctan2(2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
            -np.arcsin(np.clip(2 * (x * z - w * y), -1.0, 1.0)),
            np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)),
        ],
        axis=-1,
    )


def ground_speed(attitude: Array, velocity: Array) -> Array:
    """Horizontal speed: |v|² less the square of its component along the world's down axis."""
    w, x, y, z = np.moveaxis(attitude, -1, 0)
    down = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)
    vertical = np.sum(down * velocity, axis=-1)
    squared: Array = np.sum(velocity * velocity, axis=-1) - vertical * vertical
    return np.sqrt(np.maximum(squared, 0.0))
