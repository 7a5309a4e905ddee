"""Descriptions of failsafes to what a pilot watches: limits, sensors, faults and actions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.compile.autonomy.obstacles import turning_of
from seatrial.compile.sensors.fitting import FittedOut
from seatrial.compile.swarm import Member
from seatrial.compile.vehicles.actuators import expand
from seatrial.compile.vehicles.vehicle import CompiledVehicle, compile_vehicle
from seatrial.core.actuators.drive import Drive
from seatrial.engine.command.answering import LEVEL, Nominal
from seatrial.faults import drive_of
from seatrial.gnc.allocation.authority import strength
from seatrial.gnc.allocation.effectors import Effectors
from seatrial.gnc.failsafes import CODE, Answer, Failsafes, Monitors
from seatrial.gnc.guidance.circling import Circle
from seatrial.ocean import Ocean, Water
from seatrial.pytree import constant
from seatrial.signals import FAILSAFES
from seatrial.spec import failsafes as spec
from seatrial.spec import faults
from seatrial.spec.scenario import Participant
from seatrial.spec.sensors.machinery import Encoder, Shaft
from seatrial.spec.vehicle import Vehicle

if TYPE_CHECKING:
    from seatrial.design.tuning import Tuning

DType = np.dtype[Any]

ACTIONS: dict[str, tuple[str | None, str]] = {
    "position": ("hold", "surface"),
    "fence": ("hold", "hold"),
    "link": ("return", "return"),
    "battery": ("return", "return"),
    "ingress": ("return", "surface"),
    "depth": (None, "surface"),
    "altitude": (None, "surface"),
    "actuator": ("warn", "warn"),
    "capsize": ("abort", "abort"),
    "progress": ("warn", "warn"),
}
"""What is done when nothing else is said, by craft on the surface and under water; None where the
failsafe has no meaning."""

STAYS = ("depth", "altitude", "progress")
"""Failsafes that, having taken a vehicle off its mission, would else send it back for more."""

EASE = 5.0
"""Least time for which a cause must be away before the mission goes on, s."""

RETRY = 60.0
"""After which an actuator that was found dead is tried again, s."""

FEWEST, LENGTHS = 30.0, 2.0
"""Deviation of the position that is too large, m and vehicle lengths; the greater counts."""

DEEPER, DEEPER_SHARE = 5.0, 0.2
"""How much deeper than its mission a vehicle may be, m and as a share; both count."""

UNANSWERED, LISTENING = 0.35, 30.0
"""Share of the authority that may be missing in surge and yaw, where actuators explain it, and the
time over which it is averaged, s. In sea state 4 with gusts an Otter and a REMUS miss up to 0.15 of
it, with half a thruster or a stuck rudder about 0.6."""

WITNESSES = (0, 1, 3, 4, 5)
"""Degrees of freedom that are looked at under water: what is missing in heave is missing for water
that is lighter or heavier than the vehicle is trimmed for."""

FAINT, CERTAIN = 0.05, 5.0
"""Share of the authority by which a single effector of a craft under water gives itself away, and
for how long it must, s. In five degrees of freedom nothing else pushes as one thruster does; on the
surface wind does."""

COUNTED = 0.25
"""Share of what all effectors together make along a degree of freedom that counts at least as its
authority."""

ROOM = 1.3
"""Radius of the circle on which a craft stays that cannot stop, over that of its tightest turn: a
current carries it on while it turns."""

STRAYS = 0.25
"""Of that radius, how far it strays off its circle."""

PATIENCE, PATIENT_LENGTHS = 120.0, 40.0
"""For a leg that does not get shorter, s and in times that it takes for a length."""


def build_failsafes(
    members: Sequence[Member],
    vehicle: CompiledVehicle,
    sensors: FittedOut,
    effectors: Effectors,
    tuning: "Tuning",
    nominal: Nominal,
    deepest: Sequence[float],
    slowest: float,
    period: float,
    dtype: DType,
) -> Failsafes:
    """Of vehicles of one kind; `deepest` is the deepest place of each one's mission, m, `slowest`
    the least speed of their legs, m/s."""
    first = members[0].participant
    described, length = first.failsafes, first.vehicle.length
    battery, altimeter = _place(first, "battery"), _place(first, "dvl", "altimeter")
    heard = [(battery, "charge", 1.0)] if battery >= 0 else []
    if altimeter >= 0:
        told = "altitude" if sensors.infos[altimeter].type == "dvl" else "range"
        heard.append((altimeter, told, math.inf))
    measured = _measured(first, effectors)
    heard += [(place, sensors.infos[place].components[0], 0.0) for place, _ in measured]
    actions = np.array([action_of(first, name) for name in FAILSAFES])
    after = np.array([_after(getattr(described, name), length, tuning) for name in FAILSAFES])
    stays = np.isin(FAILSAFES, STAYS) & (actions >= CODE["hold"])

    def column(values: Any) -> Any:
        return constant(np.array(values, np.float64)[:, None], dtype)

    own = [DEEPER + (1.0 + DEEPER_SHARE) * depth for depth in deepest]
    limit = None if described.depth is None else described.depth.limit
    return Failsafes(
        action=constant(actions[:, None], np.int32),
        rise=column(period / np.maximum(after, period)),
        fall=column(np.where(stays, 0.0, period / np.maximum(after, EASE))),
        deviation=constant(deviation_of(first), dtype),
        charge=constant(0.0 if described.battery is None else described.battery.charge, dtype),
        depth=constant(own if limit is None else [limit] * len(members), dtype),
        altitude=constant(0.0 if described.altitude is None else described.altitude.limit, dtype),
        upright=constant(
            -1.0 if described.capsize is None else math.cos(described.capsize.limit), dtype
        ),
        step=constant(0.5 * length, dtype),
        braking=constant(braking_of(first, tuning), dtype),
        slack=constant(slack_of(first, tuning, slowest), dtype),
        circle=_circle(tuning, slowest, dtype),
        unheard=column([before for _, _, before in heard]),
        monitors=_monitors(first, vehicle, effectors, measured, period, dtype),
        answer=_answer(nominal, effectors, tuning, period, dtype),
        ears=tuple((p, sensors.infos[p].components.index(c)) for p, c, _ in heard),
        battery=0 if battery >= 0 else -1,
        altimeter=-1 if altimeter < 0 else int(battery >= 0),
        link=_rows(first, faults.LinkLoss),
        ingress=_rows(first, faults.Ingress),
    )


def action_of(participant: Participant, name: str) -> int:
    """Code of what a failsafe does; 0 where it is off."""
    described = getattr(participant.failsafes, name)
    dives = participant.vehicle.buoyancy.craft == "submerged"
    if described is None:
        return 0
    action: str | None = described.action or ACTIONS[name][dives]
    if action is None:
        return 0
    if action == "surface" and not dives:
        raise participant.failsafes.error(
            (name, "action"),
            "a craft on the surface cannot come up",
            value=action,
            expected="warn, slow, hold, return or abort",
            mend="use `hold`, or leave `action` out",
        )
    return CODE[action]


def deviation_of(participant: Participant) -> float:
    """Of the position that is too large, m."""
    described = participant.failsafes.position
    if described is None or described.limit is None:
        return max(FEWEST, LENGTHS * participant.vehicle.length)
    return described.limit


def _after(
    described: spec.Failsafe | spec.ProgressFailsafe | None, length: float, tuning: "Tuning"
) -> float:
    """How long a cause must last, s."""
    if isinstance(described, spec.ProgressFailsafe) and described.after is None:
        return max(PATIENCE, PATIENT_LENGTHS * length / tuning.trim.speed)
    if described is None or isinstance(described, spec.ActuatorFailsafe):
        return 0.0  # each actuator has a count of its own
    return described.after or 0.0


def slack_of(participant: Participant, tuning: "Tuning", slowest: float) -> float:
    """How far it drifts off a station before it comes back, or off its circle, m; nothing for
    those that hold it."""
    if "position" in tuning.autopilot.follows:
        return 0.0
    turns = turning_away(tuning, slowest)
    return max(participant.vehicle.length, 0.0 if turns is None else STRAYS * turns.radius)


def braking_of(participant: Participant, tuning: "Tuning") -> float:
    """Deceleration with which it stops: what the surge loop may ask for at its service speed."""
    surge = tuning.autopilot.surge
    if surge is None:
        return participant.guidance.deceleration
    limits = np.asarray(surge.acceleration_limit, np.float64)
    return float(np.interp(tuning.trim.speed, np.asarray(tuning.autopilot.speeds), limits))


@dataclass(frozen=True)
class TurningAway:
    """How a craft turns away that needs way on to be steered."""

    radius: float
    """m."""
    lag: float
    """s."""
    least: float
    """Speed that it needs, m/s."""


def turning_away(tuning: "Tuning", slowest: float) -> TurningAway | None:
    """At the slowest of the speeds of its legs; None for those that turn on the spot."""
    autopilot = tuning.autopilot
    least = float(np.asarray(autopilot.speeds)[0])
    if least <= 0.0 or autopilot.heading is None:
        return None
    speed = max(slowest, least)
    turning = turning_of(autopilot, speed)
    return TurningAway(ROOM * speed / turning.rate, turning.lag, least)


def room_ahead(participant: Participant, tuning: "Tuning", slowest: float, speed: float) -> float:
    """From a fence that it heads for at a speed, within which it is turned away, m."""
    slack, turns = slack_of(participant, tuning, slowest), turning_away(tuning, slowest)
    if turns is None:
        return slack + speed**2 / (2.0 * braking_of(participant, tuning))
    return slack + turns.lag * speed + turns.radius


def _circle(tuning: "Tuning", slowest: float, dtype: DType) -> Circle | None:
    turns = turning_away(tuning, slowest)
    if turns is None:
        return None
    return Circle(*(constant(number, dtype) for number in (turns.radius, turns.lag, turns.least)))


def _place(participant: Participant, *types: str) -> int:
    """Of the first sensor of some types; −1 without one."""
    return next((i for i, s in enumerate(participant.fitted) if s.type in types), -1)


def _rows(participant: Participant, kind: type[faults.FaultSpec]) -> tuple[int, ...]:
    """Of all faults of a kind."""
    return tuple(i for i, f in enumerate(participant.faults) if isinstance(f, kind))


def _measured(participant: Participant, effectors: Effectors) -> list[tuple[int, str]]:
    """Sensors that tell what an effector does: places, and command channels."""
    return [
        (place, sensor.channel)
        for place, sensor in enumerate(participant.fitted)
        if isinstance(sensor, Shaft | Encoder) and _effector(sensor.channel) in effectors.names
    ]


def _effector(channel: str) -> str:
    """Name of the effector of a channel: an azimuth thruster has two."""
    return channel.removesuffix("_angle")


def nominal_of(vehicle: Vehicle, dtype: DType) -> Nominal:
    """A vehicle as it is described, in calm water of the usual density."""
    density = constant(vehicle.hydrodynamics.reference_density, dtype)
    ocean = Ocean(water=Water(density, density, density, density))
    compiled = compile_vehicle(vehicle, ocean, dtype)
    return Nominal(compiled.model, ocean, vehicle.buoyancy.craft == "surface")


def _answer(
    nominal: Nominal, effectors: Effectors, tuning: "Tuning", period: float, dtype: DType
) -> Answer:
    """What is missing is judged in surge and yaw; the other degrees of freedom tell what it is."""
    reports = {report.name: report.authority for report in tuning.loops}
    largest = np.sum(np.abs(strength(effectors, tuning.trim.speed)), axis=1)
    judged = {dof: reports[name] for dof, name in ((0, "surge"), (5, "heading")) if name in reports}
    dofs = LEVEL if nominal.floats else WITNESSES
    inertia = nominal.model.inertia
    mass = np.asarray(inertia.rigid_body, np.float64) + np.asarray(inertia.added_mass, np.float64)

    def unit(dof: int) -> float:
        """A craft that could, but may not, push harder lest it tilt is not weaker for it."""
        like = (judged.get(0), judged.get(5))[dof > 2] or 0.0
        return max(judged.get(dof, 0.0), COUNTED * float(largest[dof])) or like or math.inf

    def column(values: Any) -> Any:
        return constant(np.array(values, np.float64)[:, None], dtype)

    return Answer(
        mass=constant(mass[list(dofs)], dtype),
        authority=column([unit(dof) for dof in dofs]),
        judged=column([float(dof in judged) for dof in dofs]),
        most=constant(UNANSWERED, dtype),
        faint=constant(math.inf if nominal.floats else FAINT, dtype),
        rise=constant(period / CERTAIN, dtype),
        fall=constant(period / RETRY, dtype),
        time=constant(LISTENING, dtype),
        share=constant(-math.expm1(-period / LISTENING), dtype),
        dofs=dofs,
    )


def _monitors(
    participant: Participant,
    vehicle: CompiledVehicle,
    effectors: Effectors,
    measured: list[tuple[int, str]],
    period: float,
    dtype: DType,
) -> Monitors | None:
    described = participant.failsafes.actuator or spec.ActuatorFailsafe()
    if not measured:
        return None
    names = [channel.name for channel in vehicle.channels]
    channels = [names.index(channel) for _, channel in measured]
    owners = [a.name for a in expand(participant.vehicle.actuators)]
    drives = [
        drive_of(vehicle.model.actuators[owners.index(_effector(names[c]))], c) for c in channels
    ]

    def column(pick: Callable[[Drive], float]) -> Any:
        return constant(np.array([[pick(drive)] for drive in drives], np.float64), dtype)

    def share(drive: Drive) -> float:
        return 1.0 if drive.time_constant is None else -math.expm1(-period / drive.time_constant)

    def most(drive: Drive) -> float:
        return math.inf if drive.rate_limit is None else period * float(drive.rate_limit)

    return Monitors(
        low=column(lambda drive: float(drive.low)),
        high=column(lambda drive: float(drive.high)),
        dead_band=column(lambda drive: float(drive.dead_band or 0.0)),
        share=column(share),
        most=column(most),
        tolerance=column(
            lambda drive: described.tolerance * max(float(drive.high), -float(drive.low))
        ),
        rise=constant(period / max(described.after, period), dtype),
        fall=constant(period / RETRY, dtype),
        channels=tuple(channels),
        effectors=tuple(effectors.names.index(_effector(names[c])) for c in channels),
    )
