"""What rays meet, put together of what they meet of each thing."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.triangles import Met

Array = NDArray[np.float64]
Whole = NDArray[np.int32]
Rows = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]

BOTTOM = -2
"""In place of the index of a body."""


class Hits(NamedTuple):
    """What rays meet first: P of them that meet something, in their order; in the precision of
    their directions."""

    ray: Rows
    """(P,) which of them."""
    distance: Floats
    """(P,) along the ray, m."""
    cosine: Floats
    """(P,) of the incidence, between ray and normal, from 0 to 1."""
    normal: Floats
    """(P, 3) of the surface there, towards the side that the ray comes from; unit, NED."""
    body: Whole
    """(P,) index of the body, or `BOTTOM`."""
    material: Whole
    """(P,) index into `materials.MATERIAL_NAMES`."""

    def at(self, rows: NDArray[np.integer]) -> "Hits":
        """Some of them."""
        return Hits(*(part[rows] for part in self))


def of_one(rays: Rows, met: Met, body: int, material: int) -> Hits:
    """What some of the rays met of one body."""
    count = len(met.ray)
    owner, made_of = np.full(count, body, np.int32), np.full(count, material, np.int32)
    return Hits(rays[met.ray], *met[1:4], owner, made_of)


def shrunk(limit: Floats, hits: Hits) -> Hits:
    """The same; rays then go no farther than to what they met."""
    limit[hits.ray] = hits.distance
    return hits


def nearest(found: list[Hits]) -> Hits:
    """The nearest of all of it, ray by ray."""
    found = [hits for hits in found if len(hits.ray)]
    if not found:
        none, whole = np.empty(0), np.empty(0, np.int32)
        return Hits(np.empty(0, np.int64), none, none, np.empty((0, 3)), whole, whole)
    first, *more = found
    if not more:
        return first
    # Little comes after what stands still: it is put in where it belongs.
    later = Hits(*(np.concatenate(parts) for parts in zip(*more, strict=True)))
    order = np.lexsort((later.distance, later.ray))
    later = later.at(order[np.diff(later.ray[order], prepend=-1) > 0])
    place = np.searchsorted(first.ray, later.ray)
    known = first.ray.take(place, mode="clip") == later.ray
    nearer = known & (later.distance < first.distance.take(place, mode="clip"))
    pairs: list[tuple[NDArray[Any], NDArray[Any]]] = list(zip(first, later, strict=True))
    for old, new in pairs[1:]:
        old[place[nearer]] = new[nearer]
    if known.all():
        return first
    fresh = np.flatnonzero(~known)
    count = len(first.ray)
    order = np.insert(np.arange(count), place[fresh], count + np.arange(len(fresh)))
    # Normals lie component by component.
    joined = (np.concatenate([old.T, new[fresh].T], axis=-1) for old, new in pairs)
    return Hits(*(part.take(order, axis=-1).T for part in joined))
