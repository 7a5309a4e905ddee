"""Worlds that cannot be are refused with the number, and with the place of it in the file."""

import pytest

import seatrial as st
from seatrial.compile.surroundings.scene import bodies_of
from seatrial.errors import SpecError
from seatrial.spec.loading import load_text

TEXT = """
kind: scenario
name: s
duration: 1
world:
  name: w
  seabed: {{depth: 12}}
  bodies:
    - {{name: buoy, sphere: {{radius: 1}}, position: [90, 0, 3]}}
    - {body}
vehicles:
  - {{name: boat, vehicle: otter}}
"""
CASES = {
    "a wall of two equal points": (
        "{name: mole, wall: {points: [[0, 0], [9, 0], [9, 0]], height: 4}, position: [50, 0]}",
        r"<text>:10: world\.bodies\[1\]\.wall\.points\[2\]: two points of the wall",
    ),
    "a pipe of two equal points": (
        "{name: oil, pipe: {waypoints: [[0, 0, 0], [0, 0, 0]], diameter: 1}, position: [50, 0, 5]}",
        r"world\.bodies\[1\]\.pipe\.waypoints\[1\]: two corners",
    ),
    "a mine on a tether longer than the water is deep": (
        "{name: mine, mine: {diameter: 1, tether: 20}, position: [50, 0], on_bottom: true}",
        r"(?s)world\.bodies\[1\]\.mine\.tether: .*8\.5 m above the water.*found: +20.*11\.5",
    ),
    "a mine that is fastened too high": (
        "{name: mine, mine: {diameter: 1, tether: 8}, position: [50, 0, 6]}",
        r"2\.5 m above the water",
    ),
    "a third number beside on_bottom": (
        "{name: box, box: {size: [1, 1, 1]}, position: [50, 0, 6], on_bottom: true}",
        r"`on_bottom` says how deep it is, and so does `position` \(6 m",
    ),
    "a body named like a vehicle": (
        "{name: boat, box: {size: [1, 1, 1]}, position: [50, 0, 6]}",
        r"(?s)vehicles\[0\]\.name: .*body.*`boat`.*rename",
    ),
    "a mesh that is not there": (
        "{name: hull, mesh: {file: nowhere.stl}, position: [50, 0, 5]}",
        r"<text>:10: world\.bodies\[1\]\.mesh\.file: there is no file `nowhere\.stl`",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_worlds_that_cannot_be_are_refused_where_they_say_it(case):
    body, message = CASES[case]
    text = TEXT.format(body=body)
    with pytest.raises(SpecError, match=message):
        st.compile_scenario(load_text(text, st.Scenario))


def test_a_mine_may_hang_close_under_the_surface():
    body = "{name: mine, mine: {diameter: 1, tether: 11.4}, position: [50, 0], on_bottom: true}"
    found = bodies_of(load_text(TEXT.format(body=body), st.Scenario), 0)
    assert [b.name for b in found] == ["buoy", "mine/mine", "mine/tether"]


LBL = "{type: lbl, name: lbl, rate: 1, transponders: [[0, 0, 10], [90, 0, %g], [0, 90, 10]]}"


@pytest.mark.parametrize("depth", [13.0, 25.0])
def test_a_transponder_below_the_bottom_is_refused_with_both_depths(depth):
    text = TEXT.format(body="{name: box, box: {size: [1, 1, 1]}, position: [50, 0, 6]}")
    text = text.replace("vehicle: otter", f"vehicle: otter, sensors: [{LBL % depth}]")
    scenario = load_text(text, st.Scenario)
    if depth < 14.0:  # which a map of the bottom is not exact to
        st.compile_scenario(scenario)
        return
    with pytest.raises(
        SpecError, match=r"(?s)vehicles\[0\]\.sensors\[0\]\.transponders\[1\]: .*13 m below.*12 m"
    ):
        st.compile_scenario(scenario)


def test_the_target_of_a_usbl_is_refused_with_its_place():
    text = TEXT.format(body="{name: box, box: {size: [1, 1, 1]}, position: [50, 0, 6]}")
    usbl = "{type: usbl, name: usbl, rate: 1, target: nobody}"
    text = text.replace("vehicle: otter", f"vehicle: otter, sensors: [{usbl}]")
    with pytest.raises(
        SpecError, match=r"<text>:12: vehicles\[0\]\.sensors\[0\]\.target: no other"
    ):
        st.compile_scenario(load_text(text, st.Scenario))
