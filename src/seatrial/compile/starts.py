"""Refuses vehicles that begin where they cannot be: in the bottom, on land, or within a body."""

import jax
import numpy as np

from seatrial.compile.swarm import Member
from seatrial.core.contact import Contact, within
from seatrial.core.types import State
from seatrial.geometry.bodies import Body
from seatrial.geometry.shapes import placed
from seatrial.geometry.solids import Solids
from seatrial.ocean import Ocean
from seatrial.ocean.seabed import under
from seatrial.programs import compile_program
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3
from seatrial.spec import scenario as spec

START_DENT = 0.05
"""How deep a vehicle may be in a body at the start, m: one that lies alongside."""


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


@jax.jit
def _begins_within(hull: Contact, solids: Solids, initial: State) -> tuple[jax.Array, jax.Array]:
    now = placed(solids, 0.0)
    return within(hull, now, vec3(initial.position), rotation(initial.attitude))
