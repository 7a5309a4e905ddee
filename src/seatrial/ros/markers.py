"""What a 3-D viewer draws around a vehicle: its hull, the sea about it, the bottom and bodies.

They are visualization_msgs/MarkerArray, which Foxglove and RViz know. A hull is told once, in the
vehicle's own frame, and moves with it; the sea is a patch of triangles whose heights change.
"""

from collections.abc import Sequence

import numpy as np

from seatrial.engine.frames import Body, HullShape, VehicleInfo
from seatrial.geometry.mesh import surface
from seatrial.ros.axes import swap_body
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.topics import POINT, QUATERNION, VECTOR, WORLD_FRAME

MARKERS = "visualization_msgs/msg/MarkerArray"
FIX = "sensor_msgs/msg/NavSatFix"
CELLS = 24
"""Squares of a patch of sea along each side."""
_MARKER = "visualization_msgs/msg/Marker"
_TRIANGLES = 11
COLOUR = "std_msgs/msg/ColorRGBA"
_SHALLOW, _DEEP = np.array([0.87, 0.80, 0.62]), np.array([0.16, 0.27, 0.38])
_HULL, _SEA, _BODY = (0.95, 0.6, 0.1, 1.0), (0.1, 0.4, 0.6, 0.6), (0.5, 0.5, 0.55, 1.0)


def patch_size(vehicle: VehicleInfo) -> float:
    """Side of the patch of sea around a vehicle, m."""
    return max(4.0 * vehicle.length, 30.0)


def patch_points(vehicle: VehicleInfo) -> Array:
    """(V, 2) east and north of the patch's middle, of every corner of every triangle in turn."""
    edge = (np.arange(CELLS + 1) / CELLS - 0.5) * patch_size(vehicle)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(CELLS), np.arange(CELLS), indexing="ij"))
    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j), (i + 1, j + 1), (i, j + 1)]
    points = [np.stack([edge[a], edge[b]], axis=-1) for a, b in corners]
    found: Array = np.stack(points, axis=1).reshape(-1, 2)
    return found


def build_sea(f: MessageFactory, vehicle: VehicleInfo) -> Message:
    """Open: east and north of the patch's middle, then the height of every point of it."""
    middle = f.make(POINT, f.slot(), f.slot(), 0.0)
    points = [
        f.make(POINT, float(x), float(y), f.slot()) for x, y in patch_points(vehicle).tolist()
    ]
    return _array(f, [_marker(f, WORLD_FRAME, 0, _TRIANGLES, _SEA, middle, points=points)])


def build_hull(
    f: MessageFactory, vehicle: VehicleInfo, frame: str, shape: HullShape | None = None
) -> Message:
    """The triangles of its hull, or a box with a bow as long, wide and high as the vehicle, in its
    frame: forward, left, up."""
    if shape is not None:
        corners = swap_body(shape.mesh.vertices)[shape.mesh.faces].reshape(-1, 3)
    else:
        corners = _box_with_bow(vehicle)
    middle = f.make(POINT, 0.0, 0.0, 0.0)
    points = _points(f, corners)
    hull = _marker(f, frame, 0, _TRIANGLES, _HULL, middle, points=points, locked=True)
    return _array(f, [hull])


def _box_with_bow(vehicle: VehicleInfo) -> Array:
    """Corners of its triangles in turn."""
    size = np.array([vehicle.length, vehicle.beam, vehicle.height]) * 0.5
    deck = np.array([(1.0, 0.0), (0.45, -1.0), (-1.0, -0.8), (-1.0, 0.8), (0.45, 1.0)])
    top, bottom = (np.column_stack([deck, np.full(5, z)]) * size for z in (1.0, -1.0))
    sides = []
    for a in range(5):
        b = (a + 1) % 5
        sides += [bottom[a], bottom[b], top[b], bottom[a], top[b], top[a]]
    lids = [c for end in (top, bottom) for k in (1, 2, 3) for c in (end[0], end[k], end[k + 1])]
    return np.array([*sides, *lids])


def build_moving(f: MessageFactory, bodies: Sequence[Body]) -> Message:
    """Bodies that move, upright, in axes forward, left and up. Open: east, north, up, and z and w
    of the quaternion of each in turn."""
    markers = []
    for k, body in enumerate(bodies):
        place = f.make(POINT, f.slot(), f.slot(), f.slot())
        turned = f.make(QUATERNION, 0.0, 0.0, f.slot(), f.slot())
        shape = body.mesh()
        points = _points(f, shape.vertices[shape.faces].reshape(-1, 3) * (1.0, -1.0, -1.0))
        kind = _TRIANGLES
        markers.append(_marker(f, WORLD_FRAME, k, kind, _BODY, place, points=points, turned=turned))
    return _array(f, markers)


def build_standing(f: MessageFactory, bodies: Sequence[Body]) -> Message:
    """Bodies that stand still, one marker each."""
    markers = []
    middle = f.make(POINT, 0.0, 0.0, 0.0)
    for k, body in enumerate(bodies):
        shape = body.mesh().moved(*body.pose(0.0))
        points = _points(f, _enu(shape.vertices[shape.faces].reshape(-1, 3)))
        markers.append(_marker(f, WORLD_FRAME, k, _TRIANGLES, _BODY, middle, points=points))
    return _array(f, markers)


def build_bottom(f: MessageFactory, north: Array, east: Array, depth: Array) -> Message:
    """The bottom (A, B) between nodes north (A,) and east (B,), lighter where it is shallow."""
    shape = surface(north, east, depth)
    points = _enu(shape.vertices[shape.faces].reshape(-1, 3))
    low, high = float(depth.min()), float(depth.max())
    share = (high + points[:, 2]) / max(high - low, 1e-9)
    colours = _DEEP + share[:, None] * (_SHALLOW - _DEEP)
    middle = f.make(POINT, 0.0, 0.0, 0.0)
    marker = _marker(
        f,
        WORLD_FRAME,
        0,
        _TRIANGLES,
        _BODY,
        middle,
        points=_points(f, points),
        colours=[f.make(COLOUR, *map(float, c), 1.0) for c in colours],
    )
    return _array(f, [marker])


def _enu(points: Array) -> Array:
    """Points (P, 3) in north, east and down as east, north and up."""
    return points[:, [1, 0, 2]] * (1.0, 1.0, -1.0)


def _points(f: MessageFactory, points: Array) -> list[Message]:
    return [f.make(POINT, *p) for p in points.tolist()]


def build_fix(f: MessageFactory, frame: str) -> Message:
    """Where a vehicle is on Earth. Open: latitude, longitude (degrees) and height (m)."""
    status = f.make("sensor_msgs/msg/NavSatStatus", 0, 15)
    return f.make(FIX, f.header(frame), status, f.slot(), f.slot(), f.slot(), np.zeros(9), 0)


def _array(f: MessageFactory, markers: list[Message]) -> Message:
    return f.make(MARKERS, markers)


def _marker(
    f: MessageFactory,
    frame: str,
    number: int,
    kind: int,
    colour: tuple[float, float, float, float],
    place: Message,
    points: Sequence[Message] = (),
    locked: bool = False,
    turned: Message | None = None,
    colours: Sequence[Message] = (),
) -> Message:
    nothing = np.zeros(0, np.uint8)
    never = f.make("builtin_interfaces/msg/Time", 0, 0)
    no_header = f.make("std_msgs/msg/Header", never, "")
    attitude = turned or f.make(QUATERNION, 0.0, 0.0, 0.0, 1.0)
    # The array has one stamp to fill; the others of its markers stay zero, which means always.
    header = f.header(frame) if number == 0 else f.make("std_msgs/msg/Header", never, frame)
    return f.make(
        _MARKER,
        header,
        "seatrial",
        number,
        kind,
        0,
        f.make("geometry_msgs/msg/Pose", place, attitude),
        f.make(VECTOR, 1.0, 1.0, 1.0),
        f.make(COLOUR, *colour),
        f.make("builtin_interfaces/msg/Duration", 0, 0),
        locked,
        list(points),
        list(colours),
        "",
        f.make("sensor_msgs/msg/CompressedImage", no_header, "", nothing),
        [],
        "",
        "",
        f.make("visualization_msgs/msg/MeshFile", "", nothing),
        False,
    )
