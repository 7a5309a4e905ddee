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


BOARDS = 16
WIDE = Lens(640, 480, 320.0, LENS.distortion)
"""Of 90° across, as action cameras have: what k2 does shows at the edge of the picture."""
WIDE_MATRIX = np.array([[320.0, 0.0, 319.5], [0.0, 320.0, 239.5], [0.0, 0.0, 1.0]])
COLUMNS, ROWS, CELL = 9, 7, 0.1
"""Of the checker board; it has a white margin besides."""


def random_board(random):
    """A checker board of which all inner corners are in the picture, large enough for the window of
    the detector, and which reaches the edges as often as the middle."""
    inner = [(i, j) for i in range(1, ROWS) for j in range(1, COLUMNS)]
    while True:
        turned = random.uniform(-0.6, 0.6, 3) + np.array([0.0, 0.0, math.pi])
        distance, aside, below = random.uniform([0.24, -0.75, -0.56], [0.54, 0.75, 0.56])
        place = distance * np.array([1.0, aside, below])
        own = [[0.01, (0.5 * COLUMNS - j) * CELL, (i - 0.5 * ROWS) * CELL] for i, j in inner]
        ahead, right, down = (place + own @ craft.euler_matrix(*turned).T).T
        slant = np.hypot(right, down) / np.maximum(ahead, 1e-3)
        if np.any(ahead < 0.1) or np.any(slant > 1.5):
            continue
        points = np.column_stack([right, down, ahead])
        seen = cv2.projectPoints(points, np.zeros(3), np.zeros(3), WIDE_MATRIX, COEFFICIENTS)[0]
        grid = seen.reshape(ROWS - 1, COLUMNS - 1, 2)
        apart = min(np.linalg.norm(np.diff(grid, axis=k), axis=2).min() for k in (0, 1))
        if apart > 18 and np.all(grid > 12) and np.all(grid < [627, 467]):
            return board(patterns.checker(COLUMNS, ROWS), CELL, turned, place - np.array([0, 0, 5]))


def linear(picture):
    """Light of an sRGB picture: its curve would shift the edges between black and white."""
    share = picture / 255.0
    curved = ((share + 0.055) / 1.055) ** 2.4
    return np.where(share <= 0.04045, share / 12.92, curved).astype(np.float32)


def corners_of(picture):
    """As a careful calibrator finds them: OpenCV's detector, then a window about every corner of a
    picture that is blurred by a pixel, because steps of single pixels pull the window's sums."""
    found, corners = cv2.findChessboardCorners(picture, (COLUMNS - 1, ROWS - 1))
    assert found
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 100, 1e-5)
    soft = cv2.GaussianBlur(linear(picture), (0, 0), 1.0)
    return cv2.cornerSubPix(soft, corners, (6, 6), (-1, -1), stop)


def test_calibration_returns_the_lens():
    """Focal lengths, middle, k1 and k2 within 0.1 % by sixteen boards at random.

    A corner is found to 0.04 px, which is OpenCV's own: pictures of four by four rays a pixel give
    the same. k1 and k2 stand in for each other where the lens sees only little aside: by 60° across
    k2 came to 1 %. p1 and p2 bend this lens by half a pixel at most, of which 0.1 % is nothing that
    a picture shows: they are held to 0.01 % of k1. k3 is not asked for: the lens has none.
    """
    random = np.random.default_rng(1)
    flat = [[CELL * j, CELL * i, 0.0] for i in range(ROWS - 1) for j in range(COLUMNS - 1)]
    images = [corners_of(grey(random_board(random), -5.0, WIDE)) for _ in range(BOARDS)]
    error, matrix, found, *_ = cv2.calibrateCamera(
        [np.array(flat, np.float32)] * BOARDS,
        images,
        (640, 480),
        None,
        None,
        flags=cv2.CALIB_FIX_K3,
    )
    assert error < 0.1
    np.testing.assert_allclose([matrix[0, 0], matrix[1, 1]], 320.0, rtol=1e-3)
    np.testing.assert_allclose(matrix[:2, 2], WIDE_MATRIX[:2, 2], rtol=1e-3)
    np.testing.assert_allclose(found.ravel()[:2], COEFFICIENTS[:2], rtol=1e-3)
    np.testing.assert_allclose(found.ravel()[2:4], COEFFICIENTS[2:4], atol=2.5e-5)


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
