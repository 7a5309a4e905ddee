"""OpenCV as the judge of the camera: markers are found where they are, and lenses as described."""

import math

import numpy as np
import pytest

import craft
from seatrial.geometry import patterns
from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.render.lens import Distortion
from seatrial.render.live.draw import draw
from seatrial.render.picture import Lens, Shot, Stage, srgb
from seatrial.render.sky import Sky
from seatrial.render.water import medium

cv2 = pytest.importorskip("cv2", reason="OpenCV comes with the dev extra")

SKY = Sky(0.8, math.pi)
LENS = Lens(640, 480, 560.0, Distortion(-0.25, 0.08, 0.0, 0.001, -0.0015))
MATRIX = np.array([[560.0, 0.0, 319.5], [0.0, 560.0, 239.5], [0.0, 0.0, 1.0]])
COEFFICIENTS = np.array([-0.25, 0.08, 0.001, -0.0015, 0.0])


def board(cells, cell, turned, place):
    """A board and where its grid lines cross, in the camera's optical axes (right, down, ahead)."""
    rows, columns = cells.shape
    matrix = craft.euler_matrix(*turned)
    return Body(
        "board",
        "box",
        length=0.02,
        beam=cell * columns,
        height=cell * rows,
        position=np.array(place),
        attitude=quaternion(matrix),
        pattern=cells.astype(np.float64),
    )


def quaternion(matrix):
    w = 0.5 * math.sqrt(1.0 + np.trace(matrix))
    off = matrix - matrix.T
    return np.array([w, off[2, 1] / (4 * w), off[0, 2] / (4 * w), off[1, 0] / (4 * w)])


def grey(body, depth, lens=LENS, water="I"):
    stage = Stage(RayScene((body,)), craft.calm(), SKY, medium(water))
    shot = Shot(np.array([0.0, 0.0, depth]), np.array([1.0, 0, 0, 0]), 0.0, lens)
    colour = draw(stage, shot)["colour"]
    return srgb(0.6 * colour / np.quantile(colour, 0.98)).mean(axis=2).astype(np.uint8)


POSES = [
    (0.1, 0.1, 0.45, -0.2, -0.15),
    (-0.1, 0.2, -0.45, 0.2, 0.1),
    (0.2, 0.5, 0.1, 0.15, -0.15),
    (-0.2, -0.5, 0.0, -0.15, 0.15),
    (0.3, -0.3, 0.5, 0.2, 0.16),
    (0.0, -0.3, -0.5, -0.2, -0.16),
    (-0.3, 0.4, 0.3, 0.18, -0.16),
    (0.0, 0.02, 0.05, 0.0, 0.0),
]
"""Roll, pitch and yaw of boards that face the camera, and where they are over the distance."""


def test_calibration_returns_the_lens():
    """Focal length and middle within 0.1 %, and everywhere in the picture a direction is seen
    within 0.1 % of the width of where the description puts it."""
    cells, cell, distance = patterns.checker(10, 7), 0.1, 1.35
    flat = np.array([[j, i, 0] for i in range(6) for j in range(9)], np.float32) * cell
    objects, images = [], []
    for roll, pitch, yaw, aside, below in POSES:
        place = (distance, aside * distance, -5.0 + below * distance)
        picture = grey(board(cells, cell, (roll, pitch, math.pi + yaw), place), -5.0)
        found, corners = cv2.findChessboardCorners(picture, (9, 6))
        if found:
            stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 50, 1e-4)
            corners = cv2.cornerSubPix(picture, corners, (5, 5), (-1, -1), stop)
            objects.append(flat)
            images.append(np.ascontiguousarray(corners, np.float32).reshape(-1, 1, 2))
    assert len(objects) >= 6
    error, matrix, found, *_ = cv2.calibrateCamera(objects, images, (640, 480), None, None)
    assert error < 0.1
    np.testing.assert_allclose([matrix[0, 0], matrix[1, 1]], 560.0, rtol=1e-3)
    np.testing.assert_allclose(matrix[:2, 2], [319.5, 239.5], atol=0.64)
    k1, k2, p1, p2, k3 = found.ravel()[:5]
    y, x = np.mgrid[-0.42:0.42:9j, -0.55:0.55:9j]
    there = LENS.distortion.apply(x, y)
    calibrated = Distortion(k1, k2, k3, p1, p2).apply(x, y)
    for axis in (0, 1):
        off = matrix[axis, axis] * calibrated[axis] + matrix[axis, 2]
        off -= 560.0 * there[axis] + MATRIX[axis, 2]
        assert np.abs(off).max() < 0.64


@pytest.mark.parametrize(("depth", "distance"), [(-5.0, 4.0), (8.0, 4.0)], ids=["air", "water"])
def test_markers_are_found_and_their_pose_is_right_to_a_hundredth(depth, distance):
    """Four markers of half a metre, as on Zwilgmeyer's board (2021), in air and in clear water:
    by their corners the pose is within 1 % of the range."""
    cell = 0.5 / 6.0
    place = np.array([distance, 0.3, depth - 0.2])
    turned = (0.1, 0.25, math.pi + 0.3)
    cells = patterns.markers(2, 2)
    body = board(cells, cell, turned, place)
    picture = grey(body, depth)
    codes = [cv2.aruco.Dictionary.getByteListFromBits(code) for code in patterns.dictionary()]
    dictionary = cv2.aruco.Dictionary(np.concatenate(codes), patterns.BITS)
    corners, numbers, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(picture)
    assert sorted(numbers.ravel().tolist()) == [0, 1, 2, 3]
    # Corners of marker n in the board's own plane: columns and rows of cells from its first one.
    side, flat, seen = patterns.BITS + 2, [], []
    for number, four in zip(numbers.ravel(), corners, strict=True):
        i, j = divmod(int(number), 2)
        left, top = (patterns.MARGIN + k * (side + patterns.MARGIN) for k in (j, i))
        for u, v in ((0, 0), (side, 0), (side, side), (0, side)):
            flat.append([(left + u) * cell, (top + v) * cell, 0.0])
        seen.append(four.reshape(4, 2))
    done, turn, shift = cv2.solvePnP(
        np.array(flat), np.concatenate(seen).astype(np.float64), MATRIX, COEFFICIENTS
    )
    assert done
    rows, columns = cells.shape
    # The first cell's corner, from the middle of the forward face.
    matrix = craft.euler_matrix(*turned)
    corner = place + matrix @ [0.01, 0.5 * cell * columns, -0.5 * cell * rows]
    corner -= [0.0, 0.0, depth]
    expected = np.array([corner[1], corner[2], corner[0]])
    assert np.linalg.norm(shift.ravel() - expected) < 0.01 * distance
    # The board's normal, away from the camera in OpenCV's axes of a board.
    normal = cv2.Rodrigues(turn)[0][:, 2]
    facing = -matrix[:, 0]
    assert normal @ [facing[1], facing[2], facing[0]] > math.cos(math.radians(1.0))
