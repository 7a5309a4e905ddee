"""The small detector of the study: boxes, targets, confusion, and that it learns."""

import numpy as np
import pytest

from seatrial.validation.detection.detector import (
    STRIDE,
    Box,
    begin,
    confusion,
    detect,
    forward,
    overlap,
    targets,
    train,
)


def test_overlap_of_boxes():
    a = Box(0, 0.0, 0.0, 10.0, 10.0)
    assert overlap(a, a) == 1.0
    assert overlap(a, a._replace(left=5.0, right=15.0)) == pytest.approx(1.0 / 3.0)
    assert overlap(a, a._replace(left=10.0, right=20.0)) == 0.0


def test_confusion_counts_hits_mix_ups_misses_and_ghosts():
    here = Box(0, 0.0, 0.0, 10.0, 10.0)
    there = Box(1, 50.0, 50.0, 60.0, 60.0)
    lost = Box(1, 90.0, 0.0, 99.0, 9.0)
    ghost = Box(0, 200.0, 0.0, 210.0, 9.0)
    found = [[here, there._replace(kind=0), ghost]]
    counts = confusion(found, [[here, there, lost]], 2, 0.45)
    # Rows: predicted as 0, as 1, not at all; columns: was 0, was 1, was nothing.
    assert counts.tolist() == [[1, 1, 1], [0, 0, 0], [0, 1, 0]]
    twice = confusion([[here, here]], [[here]], 2, 0.45)
    assert twice.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_targets_lead_back_to_the_box():
    box = Box(1, 13.0, 21.0, 30.0, 60.0)
    goal = targets([[box]], (96, 128), 3)
    (row,), (column,) = np.nonzero(goal.there[0])
    assert goal.heat[0, row, column].tolist() == [0.0, 1.0, 0.0]
    dx, dy, wide, high = goal.box[0, row, column]
    assert STRIDE * (column + dx) == pytest.approx(21.5)
    assert STRIDE * (row + dy) == pytest.approx(40.5)
    assert STRIDE * np.exp([wide, high]) == pytest.approx([17.0, 39.0], rel=1e-5)


def test_it_learns_to_find_squares_and_tell_their_colours():
    random = np.random.default_rng(0)
    pictures = np.full((24, 48, 64, 3), 110, np.uint8)
    boxes = []
    for picture in pictures:
        kind, left, top = random.integers(2), random.integers(4, 44), random.integers(4, 28)
        picture[top : top + 14, left : left + 14] = (220, 40, 30) if kind else (20, 60, 200)
        boxes.append([Box(int(kind), left, top, left + 14.0, top + 14.0)])
    assert forward(begin(0, 2), pictures[:1] / 255.0)[0].shape == (1, 6, 8, 2)
    layers = train(pictures[:16], boxes[:16], 2, steps=120)
    counts = confusion(detect(layers, pictures[16:], 0.25), boxes[16:], 2, 0.45)
    assert counts.trace() >= 7  # of eight that it has not seen
    untrained = confusion(detect(begin(0, 2), pictures[16:], 0.25), boxes[16:], 2, 0.45)
    assert untrained.trace() == 0
