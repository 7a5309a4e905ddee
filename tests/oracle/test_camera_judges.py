"""OpenCV as the judge of the camera: markers are found where they are, and lenses as described."""

import math

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

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


BOARDS = 12
SIZE = np.array([1920, 1440])
COLUMNS, ROWS, CELL = 9, 7, 0.1
"""Of the checker board; it has a white margin besides."""
WINDOW, BLUR = 0.35, 0.1
"""Half side of the window about a corner in straight pictures and spread of the blur before, over
the least distance between corners: no other edge is in it."""
STOP = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 100, 1e-6)


def random_lens(random):
    """Of 80 to 96° across, with distortions as lenses have them, of either sign; and how many
    columns and rows of its picture are cut off, so that the axis is not in its middle."""
    while True:
        focal = float(random.uniform(0.45, 0.6) * SIZE[0])
        sizes = random.uniform([0.1, 0.05, 0.0015, 0.0015], [0.3, 0.1, 0.003, 0.003])
        k1, k2, p1, p2 = (float(c) for c in sizes * random.choice([-1.0, 1.0], 4))
        lens = Lens(*(int(side) for side in SIZE), focal, Distortion(k1, k2, 0.0, p1, p2))
        try:
            _ = lens.rays
        except ValueError:  # it folds the picture over
            continue
        return lens, random.integers(0, 120, 2)


def described(lens, cut):
    """OpenCV's matrix and coefficients of a lens."""
    matrix = np.diag([lens.focal_length, lens.focal_length, 1.0])
    matrix[:2, 2] = 0.5 * (SIZE - 1) - cut
    k1, k2, _, p1, p2 = lens.distortion
    return matrix, np.array([k1, k2, p1, p2])


def spacing(corners):
    """Least distance between neighbouring corners of a board."""
    grid = corners.reshape(ROWS - 1, COLUMNS - 1, 2)
    return min(np.linalg.norm(np.diff(grid, axis=k), axis=2).min() for k in (0, 1))


def random_board(random, lens, cut):
    """A checker board of which all inner corners are in the picture, large enough for the window
    about them, and which reaches the edges as often as the middle: k2 shows there only."""
    inner = [(i, j) for i in range(1, ROWS) for j in range(1, COLUMNS)]
    own = [[0.01, (0.5 * COLUMNS - j) * CELL, (i - 0.5 * ROWS) * CELL] for i, j in inner]
    wide = 0.5 * SIZE[0] / lens.focal_length
    while True:
        turned = random.uniform(-0.6, 0.6, 3) + np.array([0.0, 0.0, math.pi])
        distance, aside, below = random.uniform([0.3, -0.75, -0.56], [0.9, 0.75, 0.56])
        place = distance * np.array([1.0 / wide, aside, below])
        ahead, right, down = (place + own @ craft.euler_matrix(*turned).T).T
        if np.any(ahead < 0.1):
            continue
        points = np.column_stack([right, down, ahead])
        matrix, coefficients = described(lens, cut)
        seen = cv2.projectPoints(points, np.zeros(3), np.zeros(3), matrix, coefficients)[0]
        # Beyond where the lens folds, points are seen at places that belong to others.
        back = lens.distortion.undo(*(seen[:, 0] - matrix[:2, 2]).T / lens.focal_length)
        if back is None or np.abs(np.stack(back) - points.T[:2] / ahead).max() > 1e-6:
            continue
        if spacing(seen) > 80 and np.all(seen > 100) and np.all(seen < SIZE - cut - 101):
            return board(patterns.checker(COLUMNS, ROWS), CELL, turned, place - np.array([0, 0, 5]))


def linear(picture):
    """Light of an sRGB picture: its curve would shift the edges between black and white."""
    share = picture / 255.0
    curved = ((share + 0.055) / 1.055) ** 2.4
    return np.where(share <= 0.04045, share / 12.92, curved).astype(np.float32)


def corners_of(picture):
    """(N, 1, 2) as OpenCV's detector finds them in a third of the size, for which it is made, and a
    small window about each in the whole."""
    small = cv2.resize(picture, None, fx=1 / 3, fy=1 / 3, interpolation=cv2.INTER_AREA)
    found, corners = cv2.findChessboardCorners(small, (COLUMNS - 1, ROWS - 1))
    assert found
    corners = 3.0 * corners + 1.0
    soft = cv2.GaussianBlur(linear(picture), (0, 0), 2.0)
    return cv2.cornerSubPix(soft, corners, (10, 10), (-1, -1), STOP)


def straightened(picture, corners, matrix, coefficients):
    """The same once a lens is about known, in a picture without its distortion: there edges are
    straight, and windows can be large without being pulled to the inside of a bend."""
    focal = matrix[0, 0]
    seen = focal * cv2.undistortPoints(corners, matrix, coefficients)[:, 0].astype(np.float64)
    low = np.floor(seen.min(axis=0)) - 150.0
    width, height = (int(side) for side in np.ceil(seen.max(axis=0)) + 150.0 - low)
    plain = np.array([[focal, 0.0, -low[0]], [0.0, focal, -low[1]], [0.0, 0.0, 1.0]])
    columns, rows = cv2.initUndistortRectifyMap(
        matrix, coefficients, None, plain, (width, height), cv2.CV_32FC1
    )
    # By splines: cv2.remap rounds places to 1/32 px.
    straight = map_coordinates(linear(picture), [rows, columns], order=3, mode="nearest")
    apart = spacing(seen)
    soft = cv2.GaussianBlur(straight, (0, 0), BLUR * apart)
    window = (int(WINDOW * apart),) * 2
    start = np.ascontiguousarray(seen - low, np.float32)
    found = cv2.cornerSubPix(soft, start, window, (-1, -1), STOP)
    rays = np.column_stack([(found + low) / focal, np.ones(len(found))])
    return cv2.projectPoints(rays, np.zeros(3), np.zeros(3), matrix, coefficients)[0]


@pytest.mark.parametrize("seed", [6, *(pytest.param(n, marks=pytest.mark.rest) for n in (1, 2, 7))])
def test_calibration_returns_the_lens(seed):
    """Focal lengths, middle, k1, k2, p1 and p2 within 0.1 % by twelve boards at random.

    Corners are found to 0.0016 px. p1 and p2 suffer most from it, the more the less a lens sees
    aside: by OpenCV's own estimate their standard deviation is 3e-7 to 4e-7 by a lens of barrel
    distortion, 0.015 % of them, and 1e-6 by one that magnifies its edges, 0.03 and 0.06 %.
    What limits them is that pixels are squares with sharp edges: an edge between black and
    white is seen in steps, of which a window averages the more the larger it is. Pictures of 640 ×
    480 have room for windows of ±10 px, by which corners are found to 0.006 px and p1 and p2 to
    0.2 %. k3 is not asked for: the lenses have none.
    """
    random = np.random.default_rng(seed)
    lens, cut = random_lens(random)
    size = tuple(int(side) for side in SIZE - cut)
    pictures = []
    for _ in range(BOARDS):
        whole = grey(random_board(random, lens, cut), -5.0, lens)
        pictures.append(np.ascontiguousarray(whole[cut[1] :, cut[0] :]))
    flat = [[CELL * j, CELL * i, 0.0] for i in range(ROWS - 1) for j in range(COLUMNS - 1)]

    def calibrated(corners):
        boards = [np.array(flat, np.float32)] * BOARDS
        seen = [found.astype(np.float32) for found in corners]
        return cv2.calibrateCamera(boards, seen, size, None, None, flags=cv2.CALIB_FIX_K3)

    corners = [corners_of(picture) for picture in pictures]
    _, matrix, coefficients, *_ = calibrated(corners)
    finer = [
        straightened(picture, found, matrix, coefficients)
        for picture, found in zip(pictures, corners, strict=True)
    ]
    error, matrix, coefficients, *_ = calibrated(finer)
    assert error < 0.005
    true_matrix, true_coefficients = described(lens, cut)
    np.testing.assert_allclose(matrix, true_matrix, rtol=1e-3)
    np.testing.assert_allclose(coefficients.ravel()[:4], true_coefficients, rtol=1e-3)


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
