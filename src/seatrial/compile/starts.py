"""Refuses vehicles that begin where they cannot be: in the bottom, on land, within a body, or
within each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.swarm import Member
from seatrial.core.contact import Contact, within
from seatrial.core.types import State
from seatrial.engine.plan import Fleet
from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.shapes import placed
from seatrial.geometry.solids import Solids
from seatrial.ocean import Ocean
from seatrial.ocean.seabed import under
from seatrial.programs import compile_program
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3
from seatrial.spec import scenario as spec
from seatrial.spec.vehicle import SurfaceBuoyancy

Array = NDArray[np.float64]

START_DENT = 0.05
"""How deep a vehicle may be in a body or in another vehicle at the start, m: one that lies
alongside."""


def check_afloat(
    scenario: spec.Scenario,
    members: list[Member],
    contact: Contact | None,
    ocean: Ocean,
    initial: State,
) -> None:
    """Refuse vehicles that begin in the bottom, which would throw them up."""
    if ocean.seabed is None or contact is None:
        return
    position = np.asarray(initial.position, np.float64)
    below, depths = position[2] + float(contact.extent), under(ocean.seabed, *position[:2])
    for member, lowest, depth in zip(members, below.tolist(), depths.tolist(), strict=True):
        if depth <= 0.0:
            raise scenario.error(
                ("vehicles", member.index, "start", "position"),
                f"`{member.name}` begins on land, {-depth:.3g} m above the water",
                value=list(member.position),
                expected="a place where there is water",
                mend="start it elsewhere",
            )
        if lowest > depth:
            raise scenario.error(
                ("vehicles", member.index, "start", "position"),
                f"`{member.name}` begins {lowest - depth:.3g} m deep in the bottom",
                value=list(member.participant.start.position),
                expected=f"its lowest point, now at {lowest:.4g} m, above {depth:.4g} m",
                mend="start it higher, or give the world a deeper `seabed`",
            )


def check_clear(
    scenario: spec.Scenario,
    members: list[Member],
    contact: Contact | None,
    bodies: tuple[Body, ...],
    ocean: Ocean,
    initial: State,
) -> None:
    """Refuse vehicles that begin within a body, which would throw them out."""
    solids = ocean.solids
    if solids is None or contact is None:
        return
    position = np.asarray(initial.position, np.float64)
    away = position[:, None] - np.asarray(solids.position, np.float64)[:, :, None]
    gap = np.linalg.norm(away, axis=0) - np.asarray(solids.reach, np.float64).T
    if np.all(gap > float(contact.reach)):  # the usual case, and cheap
        return
    program = compile_program(_begins_within, contact, solids, initial)
    into, which = (np.asarray(a) for a in program(contact, solids, initial))
    for member, depth, body in zip(members, into.tolist(), which.tolist(), strict=True):
        if depth > START_DENT:
            raise scenario.error(
                ("vehicles", member.index, "start", "position"),
                f"`{member.name}` begins {depth:.3g} m deep in `{bodies[body].name}`",
                value=list(member.position),
                expected="a place beside the bodies of the world and the scenario's obstacles",
                mend="start it elsewhere, or move the body",
            )


def check_apart(scenario: spec.Scenario, members: list[Member], fleets: Sequence[Fleet]) -> None:
    """Refuse vehicles that push each other and begin within each other: they would be thrown apart,
    or stay locked together."""
    outlines = list(_outlines(members, fleets))
    places = np.array([one.place for one in outlines])
    reach = np.array([one.reach for one in outlines])
    for i, one in enumerate(outlines[:-1]):
        away = np.linalg.norm(places[i + 1 :] - one.place, axis=1)
        for j in i + 1 + np.flatnonzero(away < reach[i + 1 :] + one.reach):
            other = outlines[j]
            depth = max(one.inside(other), other.inside(one))
            if depth > START_DENT:
                first, later = sorted((one, other), key=lambda o: o.member.index)
                raise scenario.error(
                    ("vehicles", later.member.index, "start", "position"),
                    f"`{later.member.name}` begins {depth:.3g} m deep in `{first.member.name}`",
                    value=list(later.member.position),
                    expected="a place beside the other vehicles: here they push each other",
                    mend="start it elsewhere, or write `vehicles_touch: false`",
                )


@dataclass(frozen=True, slots=True)
class _Outline:
    """A hull at its start: balls that fill a box with rounded edges."""

    member: Member
    place: Array
    turned: Array
    """(3, 3) body to world."""
    balls: Array
    """(P, 3) their centres, body axes, m."""
    radius: float
    reach: float
    afloat: bool

    def inside(self, other: "_Outline") -> float:
        """How deep the deepest ball of the other one is in this box, m; negative beside it. Craft
        afloat are to each other upright walls."""
        level = self.afloat and other.afloat
        turned = self.turned
        if level:
            c, s = turned[0, 0], turned[1, 0]
            c, s = np.array([c, s]) / np.hypot(c, s)
            turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        low, high = self.balls.min(axis=0), self.balls.max(axis=0)
        centres = other.place + other.balls @ other.turned.T
        beyond = np.abs((centres - self.place) @ turned - 0.5 * (low + high)) - 0.5 * (high - low)
        if level:
            beyond = beyond[:, :2]
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
        gap = outside + np.minimum(beyond.max(axis=1), 0.0) - self.radius - other.radius
        return float(-gap.min())


def _outlines(members: list[Member], fleets: Sequence[Fleet]) -> Iterator[_Outline]:
    by_name = {member.name: member for member in members}
    for fleet in fleets:
        hull = fleet.group.model.contact
        assert hull is not None  # of vehicles that may touch
        places = np.asarray(fleet.group.initial.position, np.float64).T
        attitudes = np.asarray(fleet.group.initial.attitude, np.float64).T
        balls = np.asarray(hull.point, np.float64).T
        for name, place, attitude in zip(fleet.names, places, attitudes, strict=True):
            member = by_name[name]
            yield _Outline(
                member=member,
                place=place,
                turned=rotation_matrix(attitude),
                balls=balls,
                radius=float(hull.radius),
                reach=float(hull.reach),
                afloat=isinstance(member.participant.vehicle.buoyancy, SurfaceBuoyancy),
            )


@jax.jit
def _begins_within(hull: Contact, solids: Solids, initial: State) -> tuple[jax.Array, jax.Array]:
    now = placed(solids, 0.0)
    return within(hull, now, vec3(initial.position), rotation(initial.attitude))
