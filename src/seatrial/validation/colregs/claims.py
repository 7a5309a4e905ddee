"""What became of the encounters at sea: who collided, who was on the wrong side, who stood on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.validation.claims import Claim
from seatrial.validation.colregs.encounters import (
    HEAD_ON,
    KINDS,
    OVERTAKING,
    PORT,
    RADIUS,
    STARBOARD,
    Array,
    Encounters,
    Voyages,
)


def unavoided(encounters: Encounters) -> Array:
    """(M,) closest distance if both vessels kept on, m."""
    e = encounters
    velocity = e.speed * np.stack([np.cos(e.course), np.sin(e.course)])
    closing = velocity[:, 0] - velocity[:, 1]
    place = e.start[:, 1] - e.start[:, 0]
    aside = closing[0] * place[1] - closing[1] * place[0]
    distance: Array = np.abs(aside) / np.linalg.norm(closing, axis=0)
    return distance


def collided(voyages: Voyages) -> NDArray[np.bool_]:
    """(M,) whose safety circles met."""
    return voyages.closest < 2.0 * RADIUS


def right_side(voyages: Voyages) -> Array:
    """(M,) 1 where the right side was given, 0 where not, NaN where the rules ask for none.

    Head-on: at the closest approach each vessel had the other on her port side. Crossing: the
    vessel that gives way, where she is one that obeys, was astern of the other when she first
    crossed her track; a faster one may overtake her later.
    """
    kind = voyages.encounters.kind
    north, east = np.cos(voyages.encounters.course), np.sin(voyages.encounters.course)
    place = voyages.track[:, :, 1] - voyages.track[:, :, 0]
    nearest = np.argmin(np.linalg.norm(place, axis=1), axis=0)
    p = np.take_along_axis(place, nearest[None, None], axis=0)[0]
    port = (north[0] * p[1] - east[0] * p[0] < 0.0) & (north[1] * p[1] - east[1] * p[0] > 0.0)
    result = np.full(kind.size, np.nan)
    result[kind == HEAD_ON] = port[kind == HEAD_ON]
    crossing = kind == STARBOARD if voyages.passive else (kind == STARBOARD) | (kind == PORT)
    giver = np.where(kind == STARBOARD, 0, 1)
    for i in np.flatnonzero(crossing):
        other = 1 - giver[i]
        sign = 1.0 if giver[i] == 1 else -1.0
        x, y = sign * place[:, :, i].T
        ahead = north[other, i] * x + east[other, i] * y
        abeam = north[other, i] * y - east[other, i] * x
        cut = np.flatnonzero(np.diff(np.sign(abeam)) != 0)[:1]
        result[i] = float(np.all(ahead[cut] < 0.0))
    return result


def failures(voyages: Voyages) -> NDArray[np.int64]:
    """Numbers of the encounters with a collision or the wrong side."""
    return np.flatnonzero(collided(voyages) | (right_side(voyages) == 0.0))


def describe(voyages: Voyages, i: int) -> dict[str, Any]:
    """All that is needed to look at one encounter again."""
    e = voyages.encounters
    return {
        "number": int(i),
        "kind": str(e.kind[i]),
        "collision": bool(collided(voyages)[i]),
        "closest": float(voyages.closest[i]),
        "start": e.start[..., i].T.tolist(),
        "course_deg": np.degrees(e.course[:, i]).tolist(),
        "speed": e.speed[:, i].tolist(),
    }


def stood_on(voyages: Voyages) -> Array:
    """(M,) 1 where the vessel that should stand on did, 0 where not, NaN where nobody obeys so."""
    kind = voyages.encounters.kind
    second = np.isin(kind, (STARBOARD, OVERTAKING))
    altered = np.where(second, voyages.altered[1], voyages.altered[0])
    unasked = (kind == HEAD_ON) | (voyages.passive & second)
    return np.where(unasked, np.nan, 1.0 - altered)


def rows(voyages: Voyages) -> list[list[str]]:
    """A line of a table per kind of encounter."""
    kind, hit = voyages.encounters.kind, collided(voyages)
    lines = []
    for name in KINDS:
        its = kind == name
        lines.append(
            [
                name,
                f"{its.sum()}",
                f"{hit[its].sum()}",
                f"{voyages.closest[its].min():.1f} m",
                f"{np.median(voyages.closest[its]):.1f} m",
                *(_share(values[its]) for values in (right_side(voyages), stood_on(voyages))),
            ]
        )
    return lines


def _share(values: Array) -> str:
    asked = np.isfinite(values)
    return f"{int(values[asked].sum())} of {asked.sum()}" if asked.any() else "–"


def judge(both: Voyages, alone: Voyages) -> list[Claim]:
    """Whether nobody collides and the right side is given."""
    count = both.closest.size
    doomed = np.sum(unavoided(both.encounters) < 2.0 * RADIUS)
    claims = []
    for voyages, who in ((both, "both vessels avoid"), (alone, "the other keeps on")):
        hit, least = collided(voyages), voyages.closest.min()
        side = right_side(voyages)
        asked = np.isfinite(side)
        claims += [
            Claim(
                f"no collision where {who}",
                not hit.any(),
                f"{hit.sum()} in {count:,}, {doomed} if nobody acted; closest {least:.1f} m, "
                f"safety circles meet at {2.0 * RADIUS:.1f} m",
            ),
            Claim(
                f"the right side is given where {who}",
                bool(np.all(side[asked] == 1.0)),
                f"{int(np.sum(side[asked]))} of {asked.sum()} head-on and crossing encounters",
            ),
        ]
    stood = stood_on(both)
    standing = np.isfinite(stood)
    late = alone.encounters.kind == PORT
    claims.append(
        Claim(
            "a vessel that stands on keeps course and speed while the other gives way",
            bool(np.all(stood[standing] == 1.0)),
            f"{int(stood[standing].sum())} of {standing.sum()}",
        )
    )
    claims.append(
        Claim(
            "compelled to act for a vessel on her port side she never alters to port",
            not bool(np.any(alone.to_port[0, late])),
            f"{np.sum(alone.altered[0, late])} of {late.sum()} had to act",
        )
    )
    return claims
