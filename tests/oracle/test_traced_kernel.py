"""Two ways to follow light must agree: our kernel, and the integrators that Mitsuba brings.

They share the scene and nothing else: neither how distances are drawn, nor how lamps, sun and sky
are asked for, nor how the parts of a picture come apart.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.picture import Lens, Light, Shot, Stage
from seatrial.render.sky import Sky
from seatrial.render.traced import backend
from seatrial.render.traced.settings import Bounces, Tracing
from seatrial.render.traced.tracer import Tracer
from seatrial.render.water import Medium

PARTS = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_traced_kernel import scene_of_parts
from seatrial.render.traced.backend import backend
found = scene_of_parts()
print(json.dumps({"kind": backend().kind, **found}))
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
    for name, tolerance in (("colour", 0.02), ("direct", 0.02), ("indirect", 0.05)):
        assert there[name] == pytest.approx(here[name], rel=tolerance), name
    assert there["uniform"] == pytest.approx(here["uniform"], rel=0.02)
