"""Geofence: whether a place lies within a polygon, and how far from its boundary.

The same functions serve NumPy arrays on the host and JAX arrays in the loop.
"""

from typing import Any


def signed_distance(polygon: Any, position: Any) -> Any:
    """Distance (...) to the boundary of a polygon (P, 2), m, positive inside.

    `position` is (2, ...) or (3, ...), of which north and east count. The polygon closes itself and
    may run either way round; where it crosses itself, places enclosed twice count as outside.
    """
    xp = position.__array_namespace__()
    north, east = position[0][None], position[1][None]
    shape = (-1, *(1,) * (position.ndim - 1))
    a_n, a_e = (polygon[:, i].reshape(shape) for i in (0, 1))
    b_n, b_e = (xp.roll(v, -1, axis=0) for v in (a_n, a_e))
    side_n, side_e = b_n - a_n, b_e - a_e
    square = side_n * side_n + side_e * side_e
    share = ((north - a_n) * side_n + (east - a_e) * side_e) / xp.where(square > 0, square, 1.0)
    share = xp.clip(share, 0.0, 1.0)
    off_n, off_e = north - a_n - share * side_n, east - a_e - share * side_e
    distance = xp.sqrt(xp.min(off_n * off_n + off_e * off_e, axis=0))
    # A ray to the north crosses the sides whose ends lie on both sides of its meridian.
    crosses = (a_e > east) != (b_e > east)
    level = xp.where(crosses, side_e, 1.0)
    at = a_n + (east - a_e) * side_n / level
    odd = xp.sum(crosses & (north < at), axis=0) % 2 == 1
    return xp.where(odd, distance, -distance)


def inside(polygon: Any, position: Any) -> Any:
    """Whether positions lie within the polygon."""
    return signed_distance(polygon, position) > 0.0
