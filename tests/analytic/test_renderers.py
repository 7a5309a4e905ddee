"""Two live renderers, one picture; and what a camera says where one of them cannot draw."""

import numpy as np
import pytest
from test_camera import box

import pictured
import seatrial as st
from agreement import BOUNDS, PASSES, ROLLING, apart
from seatrial.errors import SpecError
from seatrial.render.renderers import drawing
from seatrial.render.shaders import context
from seatrial.render.shaders.bodies import closed, cut
from seatrial.sensors.vision.camera import Camera
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

CAMERA = """
kind: scenario
name: one-camera
seed: 3
duration: 1
world: {name: basin, seabed: {depth: 8}}
vehicles:
  - name: otter
    vehicle: otter
    sensors: [{type: camera, name: eye, rate: 1, position: [0.8, 0, -1], renderer: RENDERER}]
"""


def test_pictures_by_shaders_are_those_by_rays_but_for_stated_bounds(shaders):
    rays, by_shaders = drawing("rays"), drawing("shaders")
    beyond = {}
    for name, (stage, shot) in pictured.scenes().items():
        found = apart(rays(stage, shot, PASSES), by_shaders(stage, shot, PASSES))
        faults = found.faults(BOUNDS if shot.motion is None else ROLLING)
        if faults:
            beyond[name] = faults
    assert not beyond


def test_other_pictures_are_not_within_those_bounds():
    """Half a degree to the side, or 2 % brighter, is told from the same picture."""
    stage, shot = pictured.scenes()["chop"]
    aside = pictured.shot_at(shot.position, 0.5, -4.0)
    same, other = (drawing("rays")(stage, one, PASSES) for one in (shot, aside))
    assert not apart(same, same).faults(BOUNDS)
    assert len(apart(same, other).faults(BOUNDS)) > 3
    brighter = {**same, "colour": 1.02 * same["colour"]}
    assert apart(same, brighter).faults(BOUNDS)


def test_a_camera_is_refused_where_its_renderer_cannot_draw(monkeypatch):
    monkeypatch.setattr(
        "seatrial.compile.sensors.cameras.trouble",
        lambda name: ("no card", "buy one") if name == "shaders" else None,
    )
    with pytest.raises(SpecError, match=r"(?s)renderer: .*no card.*to mend: .*buy one.*by rays"):
        st.compile_scenario(load_text(CAMERA.replace("RENDERER", "shaders"), Scenario))
    plan = st.compile_scenario(load_text(CAMERA.replace("RENDERER", "rays"), Scenario))
    camera = plan.fleets[0].dense["eye"]
    assert isinstance(camera, Camera)
    assert camera.renderer == "rays"


def test_what_is_missing_is_named_with_what_mends_it(monkeypatch):
    trouble = context.trouble.__wrapped__
    monkeypatch.setattr(context, "find_spec", lambda name: None)
    assert "seatrial[shaders]" in trouble()[1]

    def no_driver(work):
        raise RuntimeError("libEGL.so.1 not loaded")

    monkeypatch.setattr(context, "find_spec", lambda name: name)
    monkeypatch.setattr(context, "on_card", no_driver)
    reason, mend = trouble()
    assert "libEGL.so.1 not loaded" in reason
    assert "apt-get install libegl1" in mend


def test_cutting_faces_keeps_their_area_and_closed_bodies_are_known():
    mesh = box((0.0, 0.0, 0.0), (30.0, 6.0, 2.0)).mesh()
    faces = cut(mesh, 2.0)
    sides = np.linalg.norm(np.roll(faces, -1, axis=1) - faces, axis=2)
    assert sides.max() <= 2.0
    area = 0.5 * np.linalg.norm(
        np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0]), axis=1
    )
    assert area.sum() == pytest.approx(2.0 * (30 * 6 + 30 * 2 + 6 * 2))
    assert closed(mesh)
    assert not closed(mesh._replace(faces=mesh.faces[1:]))
    assert not closed(mesh._replace(faces=mesh.faces[:, ::-1]))
