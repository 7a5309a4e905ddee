"""Parts of wrecks: closed solids of the size that is asked for, the same for the same seed."""

import numpy as np
import pytest

from seatrial.compile.surroundings.wreck_parts import wreck
from seatrial.geometry.rays import RayScene
from seatrial.spec.bodies import Wreck

SIZES = {
    "plate": (2.4, 1.6, 0.4),
    "ribs": (6.0, 5.0, 2.5),
    "bow": (8.0, 5.0, 4.0),
    "mast": (0.4, 3.0, 9.0),
}


def made(part, seed=1, tilt=0.0):
    described = Wreck(part=part, size=SIZES[part], tilt=tilt)
    return wreck(described, np.random.default_rng(seed))


@pytest.mark.parametrize("part", SIZES)
def test_parts_are_closed_and_as_large_as_they_say(part):
    bodies = made(part)
    for body in bodies:
        mesh = body.mesh()
        edges = np.concatenate([mesh.faces[:, [i, (i + 1) % 3]] for i in range(3)])
        assert len(np.unique(edges, axis=0)) == len(edges)  # each edge once in each direction
        assert {tuple(e) for e in edges.tolist()} == {tuple(e[::-1]) for e in edges.tolist()}
        a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
        assert np.sum(a * np.cross(b, c)) > 0.0
        assert np.all(np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-9)
    every = np.concatenate([body.mesh().vertices for body in bodies])
    length, width, height = np.ptp(every, axis=0)
    assert height == pytest.approx(SIZES[part][2], rel=0.35)
    assert width == pytest.approx(SIZES[part][1], rel=0.3)
    if part != "mast":
        assert length == pytest.approx(SIZES[part][0], rel=0.2)


def test_the_seed_says_how_they_broke():
    first, same, other = (made("plate", seed)[0].mesh().vertices for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.allclose(first, other, atol=0.01)


def test_a_bow_is_hollow_and_a_mast_leans():
    """Rays from inside the bow meet its shell all around but not aft; a mast that leans by a right
    angle lies."""
    scene = RayScene([b for b in made("bow") if b.name != "/beam"])
    inside = np.array([[-1.0, 0.0, -2.5]])
    ways = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [-1, 0, 0]], np.float32)
    assert scene.cast(inside, ways).ray.tolist() == [0, 1, 2, 3]
    lying = np.concatenate([b.mesh().vertices for b in made("mast", tilt=np.pi / 2)])
    assert np.ptp(lying[:, 0]) == pytest.approx(9.0, rel=0.1)
