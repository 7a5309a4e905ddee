"""Two ways to follow light must agree: our kernel, and the integrators that Mitsuba brings.

They share the scene and nothing else: neither how distances are drawn, nor how lamps, sun and sky
are asked for, nor how the parts of a picture come apart.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.ocean.wind import Wind
from seatrial.render.picture import Lens, Light, Shot, Stage
from seatrial.render.sky import Sky
from seatrial.render.traced import backend
from seatrial.render.traced.settings import Bounces, Tracing
from seatrial.render.traced.tracer import Tracer
from seatrial.render.water import Medium, medium

PARTS = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_traced_kernel import bounces_of_a_kind, floor_under_waves, scene_of_parts, under_a_pier
from seatrial.render.traced.backend import backend
kind = backend().kind
found = {"kind": kind, **scene_of_parts(), "waves": floor_under_waves(), "pier": under_a_pier()}
if kind != "scalar":
    found["kinds"] = bounces_of_a_kind()
print(json.dumps(found))
"""


def scene_of_parts():
    """Means of all parts of a picture with lamps, sun, sky, water, floor and a box before it."""
    bands = np.array([0.10, 0.06, 0.04]), np.full(3, 0.15)
    medium = Medium(*bands, 0.02 * bands[1], 0.6)
    block = Body("block", "box", length=1.0, beam=1.0, height=1.0,
                 position=np.array([3.0, 0.5, 4.5]), material="concrete")  # fmt: skip
    stage = Stage(RayScene([block], 5.0), Ocean(water=None), Sky(0.7, 0.5), medium)
    lights = (Light(np.array([0.0, -0.5, 3.5]), np.array([0.97, 0.1, 0.2]), 5e4, 0.6),)
    at = Shot(
        np.array([0.0, 0.0, 3.5]), np.array([1.0, 0.0, 0.0, 0.0]), 0.0, Lens(32, 24, 24.0), lights
    )
    tracer = Tracer(stage, seed=2)
    found = tracer.render(at, Tracing(128), ("colour", "direct", "indirect", "uniform"))
    again = tracer.render(at, Tracing(2, Bounces(4)), ("colour",), frame=1)["colour"].tobytes()
    assert (
        again == tracer.render(at, Tracing(2, Bounces(4)), ("colour",), frame=1)["colour"].tobytes()
    )
    assert (
        again != tracer.render(at, Tracing(2, Bounces(4)), ("colour",), frame=2)["colour"].tobytes()
    )
    return {name: made.mean(axis=(0, 1)).tolist() for name, made in found.items()}


def floor_under_waves():
    """(24, 32) brightness of a floor 3 m down in clear water, seen from above under a wind."""
    wind = Wind(*(np.array(v) for v in (6.0, 0.7, 1e-4)))
    stage = Stage(RayScene([], 3.0), Ocean(water=None, wind=wind), Sky(0.9, 0.5), medium("I"))
    down = np.array([math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0])
    at = Shot(np.array([0.0, 0.0, 1.0]), down, 1.0, Lens(32, 24, 24.0))
    found = Tracer(stage, seed=4).render(at, Tracing(192, Bounces(3)))
    return found["colour"].mean(axis=2).tolist()


def under_a_pier():
    """Means of a picture, looking up by day at piles that stand out of the water and the deck on
    them: paths meet what is above the surface, and go on from there."""
    piles = [
        Body(f"pile {k}", "box", length=0.6, beam=0.6, height=8.0, material="concrete",
             position=np.array([3.0 + 2.0 * (k // 2), -1.5 + 3.0 * (k % 2), 1.0]))
        for k in range(4)
    ]  # fmt: skip
    deck = Body("deck", "box", length=6.0, beam=4.0, height=0.4,
                position=np.array([4.0, 0.0, -1.6]), material="concrete")  # fmt: skip
    stage = Stage(RayScene([*piles, deck], 5.0), Ocean(water=None), Sky(0.7, 0.5), medium("IB"))
    lamp = Light(np.array([0.0, -0.5, 2.0]), np.array([0.97, 0.1, -0.2]), 5e5, 0.6)
    up = np.array([math.cos(0.4), 0.0, math.sin(0.4), 0.0])
    at = Shot(np.array([0.0, 0.0, 2.0]), up, 0.0, Lens(32, 24, 24.0), (lamp,))
    return Tracer(stage, seed=3).render(at, Tracing(512))["colour"].mean(axis=(0, 1)).tolist()


def bounces_of_a_kind():
    """Means of light that water scattered again and of all, where it may scatter as often as it
    likes, and not go on from there at all."""
    bands = np.full(3, 0.05), np.full(3, 0.3)
    stage = Stage(
        RayScene([], 5.0), Ocean(water=None), Sky(-0.5, 0.0), Medium(*bands, 0.02 * bands[1], 0.6)
    )
    lights = (Light(np.array([0.0, -0.5, 3.5]), np.array([0.97, 0.1, 0.2]), 5e4, 0.6),)
    level = np.array([1.0, 0.0, 0.0, 0.0])
    at = Shot(np.array([0.0, 0.0, 3.5]), level, 0.0, Lens(16, 12, 12.0), lights)
    tracer, asked = Tracer(stage, seed=2), ("direct", "indirect")
    return [
        {k: float(v.mean()) for k, v in tracer.render(at, Tracing(64, most), asked).items()}
        for most in (Bounces(16), Bounces(16, volume=0))
    ]


def test_our_kernel_and_mitsubas_integrators_draw_the_same_picture():
    """The whole of one is the sum of the parts of the other, and each part is the same."""
    here = scene_of_parts()
    choice = subprocess.run(
        [sys.executable, "-c", PARTS, str(Path(__file__).parent)],
        env={k: v for k, v in os.environ.items() if k != backend.CHOICE},
        capture_output=True,
        text=True,
    )
    assert choice.returncode == 0, choice.stderr[-2000:]
    there = json.loads(choice.stdout.splitlines()[-1])
    if there.pop("kind") == "scalar":
        pytest.skip("no GPU and no LLVM 19 or newer")
    free, held = there.pop("kinds")
    assert held["indirect"] == 0.0
    assert free["indirect"] > 0.2 * free["direct"]
    assert held["direct"] == pytest.approx(free["direct"], rel=0.05)
    # Waves gather the sun at the same places, by as much.
    ours, theirs = (np.array(p) for p in (there.pop("waves"), floor_under_waves()))
    assert theirs.mean() == pytest.approx(ours.mean(), rel=0.02)
    assert theirs.std() / theirs.mean() > 0.1
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.9
    assert theirs.std() == pytest.approx(ours.std(), rel=0.15)
    assert there["pier"] == pytest.approx(under_a_pier(), rel=0.03)
    for name, tolerance in (("colour", 0.02), ("direct", 0.02), ("indirect", 0.05)):
        assert there[name] == pytest.approx(here[name], rel=tolerance), name
    assert there["uniform"] == pytest.approx(here["uniform"], rel=0.02)
