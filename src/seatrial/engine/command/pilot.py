"""What a pilot is: the parts that find a vehicle's way, and what it carries from one instant to the
next. `piloting` says what it does.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.engine.command.answering import Nominal
from seatrial.engine.command.sample_queue import SampleQueue
from seatrial.gnc.allocation import Effectors
from seatrial.gnc.avoidance import Avoidance, Echoes, Sight, Tracks, Watch
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.gnc.control.regulator import Regulator
from seatrial.gnc.failsafes import Failsafes, FailsafeState
from seatrial.gnc.guidance.laws import Law
from seatrial.gnc.guidance.pipeline import Line, Tracker
from seatrial.gnc.guidance.terrain import Plane, Terrain
from seatrial.gnc.mission import Leg, Mission, Progress
from seatrial.gnc.navigation.dispatch import AnyFilter
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.pytree import batched, pytree, static


@pytree
class Navigator:
    """A filter and the sensors that feed it; places are those in the suite."""

    filter: AnyFilter
    start: Estimate = batched()
    """What the vehicles are told of their start."""
    behind: jax.Array
    """By how much the filter stands behind the instant at which the pilot decides, s: it hears an
    inertial sample when the next one is taken."""
    imu: int = static()
    aids: tuple[int, ...] = static()
    boxes: tuple[int, ...] = static()
    """How many samples of each aid may be on their way at once."""


@pytree
class Alarm:
    """What the vehicle's own monitoring reports of a broken actuator."""

    delay: jax.Array
    """From the onset to the report, s."""
    fault: int = static()
    """Row in `Trouble.since`."""
    effector: int = static()
    """Which one is then left out."""


@pytree
class Pilot:
    """Everything that decides."""

    navigator: Navigator | None
    """None where the truth is fed back."""
    mission: Mission = batched()
    law: Law
    autopilot: Autopilot
    effectors: Effectors
    avoidance: Avoidance | None
    watch: Watch | None
    """What tells it of other vessels; None where it has no such sensor."""
    fence: jax.Array | None
    """(P, 2) corners of the area that it must not leave."""
    failsafes: Failsafes
    nominal: Nominal
    """By what it judges its vehicle's answer."""
    alarms: tuple[Alarm, ...]
    """Faults that it is told of."""
    deceleration: jax.Array
    """With which it slows down before a station, m/s²."""
    reach: jax.Array
    """Distance from a station below which a vehicle that cannot hold it stops its engines, m; half
    the radius of acceptance where that is less."""
    climb: jax.Array | None
    """Largest rate at which it changes its depth by heave, m/s; None where it dives by pitching."""
    fastest: jax.Array | None
    """Speed through the water above which it would tilt too far, m/s; None without such a one."""
    sideways: jax.Array | None
    """The same to the side."""
    holds_station: bool = static()
    """Whether it can move sideways at will."""
    soft: bool = static()
    """Whether it aims at the next waypoint gradually, before the current one is reached."""
    period: float = static()
    """Of control, s."""
    terrain: Terrain | None = None
    """How it keeps an altitude; None where no task asks for one."""
    sight: Sight | None = None
    """What tells it of solids in its way; None where it has no such sensor."""
    tracker: Tracker | None = None
    """By what it follows pipelines; None where it goes by the chart."""
    regulator: Regulator | None = None
    """What steers in the autopilot's place, and goes for the waypoints themselves."""


class Wishes(NamedTuple):
    """What a pilot is told from outside, in place of its mission; NaN where nothing is asked."""

    steered: jax.Array
    """(N,) whether anything is asked; elsewhere the mission goes on."""
    surge: jax.Array
    """(N,) m/s; zero is to stop."""
    heading: jax.Array
    """(N,) rad."""
    course: jax.Array
    """(N,) of the track over ground, rad."""
    yaw_rate: jax.Array
    """(N,) rad/s."""
    depth: jax.Array
    """(N,) m."""
    waypoint: jax.Array
    """(2, N) to go to, north and east, m."""


def nothing_wished(count: int, dtype: Any) -> Wishes:
    """The mission goes on."""
    none = jnp.full(count, jnp.nan, dtype)
    return Wishes(jnp.zeros(count, bool), none, none, none, none, none, jnp.stack([none, none]))


class PilotState(NamedTuple):
    """What a pilot carries from one instant to the next."""

    filter: Any
    boxes: tuple[SampleQueue, ...]
    progress: Progress
    law: jax.Array
    autopilot: Any
    """Or its regulator's."""
    avoidance: Any
    reports: tuple[SampleQueue, ...]
    """Of the sensors of the watch."""
    tracks: Tracks | None
    orders: jax.Array
    """(A, N) last in force: its own, or those that stood above them."""
    achieved: jax.Array
    """(6, N) wrench that they make."""
    asked: jax.Array
    """(8, N) what guidance asked for last, for the record."""
    failsafes: FailsafeState
    stream: jax.Array
    """(3, N) current, NED, where the truth is fed back; zero elsewhere."""
    soundings: tuple[SampleQueue, ...] = ()
    """Of the sensors that the bottom is followed by."""
    plane: Plane | None = None
    """The bottom as it is known."""
    glances: tuple[SampleQueue, ...] = ()
    """Of the sensors of its sight that are in the loop."""
    echoes: Echoes | None = None
    """What it sees around."""
    profiles: SampleQueue | None = None
    """Of the sonar that pipelines are followed by."""
    line: Line | None = None
    """A pipeline as it is known."""


class Way(NamedTuple):
    """Where a pilot is and where it is to go."""

    believed: Estimate
    leg: Leg
    setpoint: Setpoint
    health: jax.Array
    """(E, N) share of its wrench that each effector is known to make."""
    stopped: jax.Array
    """(N,) whether a failsafe has stopped all actuators."""


class Belief(NamedTuple):
    """What navigation tells a controller of the user's own; the truth itself, without deviations,
    where that is fed back."""

    position: jax.Array
    """(3,) NED, m."""
    attitude: jax.Array
    """(4,) quaternion, scalar first, body to world."""
    euler: jax.Array
    """(3,) roll, pitch, yaw, rad."""
    velocity: jax.Array
    """(6,) u v w p q r over ground, body axes."""
    current: jax.Array
    """(3,) velocity of the water, NED, m/s."""
    deviation: jax.Array
    """(3,) standard deviations of the position, NED, m."""
    attitude_deviation: jax.Array
    """(3,) of the attitude, about north, east and down, rad."""
    velocity_deviation: jax.Array
    """(6,) of the velocity."""


class LegInForce(NamedTuple):
    """The leg of its mission that a vehicle is on."""

    number: jax.Array
    """Counted from 0; the number of legs when all are done."""
    kind: jax.Array
    """A code of `gnc.mission.KINDS`: 0 track, 1 hold, 2 surface, 3 dock, 4 velocity."""
    start: jax.Array
    """(3,) NED, m."""
    end: jax.Array
    """(3,) the waypoint, or the station."""
    following: jax.Array
    """(3,) end of the leg after it, or of itself where it is the last."""
    speed: jax.Array
    """Asked for over ground, m/s."""
    acceptance: jax.Array
    """Radius around the end within which it counts as reached, m."""
    done: jax.Array
    """Whether the mission is over."""


class Outlook(NamedTuple):
    """What a pilot tells a controller of the user's own, who steers in its autopilot's place."""

    estimate: Belief
    leg: LegInForce
    setpoint: Setpoint
    through_water: jax.Array
    """(6,) velocity relative to the water, body axes, for the allocation."""
    orders: jax.Array
    """(A,) last in force."""
    health: jax.Array
    """(E,) share of its wrench that each effector is known to make."""
