"""Hull forms and their hydrostatics against bodies that have closed forms."""

import math

import numpy as np
import pytest

from seatrial.errors import SpecError
from seatrial.geometry.mesh import Mesh, cylinder, merged
from seatrial.hull.shape import forms
from seatrial.hull.shape.floating import float_hull, righting_arms, rotation
from seatrial.hull.shape.hydrostatics import hydrostatics, section_areas
from seatrial.hull.shape.shells import volume

FORMS = {
    "barge": lambda: forms.barge(4.0, 2.0, 0.5, 1.25, 0.4),
    "wigley": lambda: forms.wigley(4.0, 0.5, 0.25, 0.2, 0.1),
    "otter": lambda: forms.wigley(2.0, 0.25, 0.134, 0.2, 0.07, 3.0, 1.143),
    "v_hull": lambda: forms.v_hull(6.0, 2.0, 0.4, 0.8, 0.3, 0.3),
    "catamaran": lambda: forms.catamaran(forms.wigley(4.0, 0.5, 0.25, 0.2, 0.1), 1.5),
    "torpedo": lambda: forms.torpedo(1.6, 0.19, 0.2, 0.45, 0.05),
    "sphere": lambda: forms.sphere(1.0, 0.3),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_closed_and_wound_outwards(form):
    mesh = FORMS[form]()
    sides = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    forward = {tuple(s) for s in sides.tolist()}
    assert len(forward) == len(sides)
    assert forward == {(b, a) for a, b in forward}
    assert volume(mesh) > 0.0


def test_panels_are_as_large_as_asked():
    for panel in (0.1, 0.3):
        for mesh in (forms.barge(4.0, 2.0, 0.5, 1.25, panel), forms.sphere(1.0, panel)):
            corners = mesh.vertices[mesh.faces]
            edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
            legs = np.sort(edges, axis=1)[:, :2]  # the third is a diagonal
            assert 0.4 * panel < legs.max() <= panel * (1.0 + 1e-9)


def test_a_box_has_the_figures_of_a_box():
    found = hydrostatics(forms.barge(4.0, 2.0, 0.5, 1.25, 0.3))
    assert found.volume == pytest.approx(4.0)
    assert found.buoyancy_centre == pytest.approx([0.0, 0.0, 0.25])
    assert found.wetted_area == pytest.approx(8.0 + 0.5 * 12.0)
    assert found.waterplane_area == pytest.approx(8.0)
    assert found.metacentric_radii == pytest.approx((2.0**2 / 12 / 0.5, 4.0**2 / 12 / 0.5))


def test_a_wigley_hull_converges_to_its_volume_and_section():
    exact = 4.0 * 0.5 * 0.25 * 4.0 / 9.0
    errors = []
    for panel in (0.1, 0.05, 0.025):
        found = hydrostatics(forms.wigley(4.0, 0.5, 0.25, 0.2, panel))
        errors.append(1.0 - found.volume / exact)
    assert 0.0 < errors[2] < 0.005
    assert errors[2] < errors[1] <= errors[0]
    areas = section_areas(forms.wigley(4.0, 0.5, 0.25, 0.2, 0.025), np.array([-1.0, 0.0, 1.0]))
    assert areas == pytest.approx(2.0 / 3.0 * 0.5 * 0.25 * np.array([0.75, 1.0, 0.75]), rel=0.01)


def test_a_torpedo_has_the_volume_of_its_profile():
    mesh = forms.torpedo(1.6, 0.19, 0.2, 0.45, 0.02)
    x = np.linspace(0.0, 1.6, 200_001)
    s = np.maximum(x - 1.15, 0.0)
    tan = math.tan(math.radians(25.0))
    r = 0.095 * np.sqrt(1.0 - np.clip((0.2 - x) / 0.2, 0.0, 1.0) ** 2)
    r = r - (1.5 * 0.19 / 0.45**2 - tan / 0.45) * s**2 + (0.19 / 0.45**3 - tan / 0.45**2) * s**3
    assert r[-1] == pytest.approx(0.0, abs=1e-12)
    assert volume(mesh) == pytest.approx(np.trapezoid(np.pi * r * r, x), rel=4e-3)


@pytest.mark.parametrize("subdivisions", [1, 2, 3, 4])
def test_the_cut_of_a_sphere_adds_nothing_to_the_error_of_its_mesh(subdivisions):
    """Seed table: at most 0.0663, 0.0177, 0.0045 and 0.0011 m³ for a half-sunken sphere."""
    mesh = forms.icosphere(1.0, subdivisions)
    whole = volume(mesh)
    for level in np.linspace(-1.1, 1.1, 23):
        below = hydrostatics(mesh, level)
        above = hydrostatics(Mesh(mesh.vertices * [1, -1, -1], mesh.faces), -level)
        assert below.volume + above.volume == pytest.approx(whole, rel=1e-12)
    half = hydrostatics(mesh, 0.0)
    assert half.volume == pytest.approx(0.5 * whole, rel=1e-12)  # an icosphere is its own mirror


def test_buoyancy_is_the_gradient_of_potential_energy():
    """dV/dz is the waterplane's area, and dM_z/dz its moment, at any cut."""
    mesh = FORMS["v_hull"]()
    h = 1e-6
    for level in (-0.31, 0.03, 0.17):
        at = hydrostatics(mesh, level)
        up, down = hydrostatics(mesh, level - h), hydrostatics(mesh, level + h)
        slope = (up.volume - down.volume) / (2 * h)
        assert slope == pytest.approx(at.waterplane_area, rel=1e-6)
        moment = (up.volume * up.buoyancy_centre - down.volume * down.buoyancy_centre) / (2 * h)
        assert moment[:2] == pytest.approx(at.waterplane_area * at.flotation, rel=1e-5, abs=1e-7)


def test_a_box_floats_level_and_rights_itself_as_wall_sides_do():
    """GZ = sin φ (GM + ½ BM tan² φ) until the deck goes under or the bilge comes out."""
    mesh = forms.barge(4.0, 2.0, 0.5, 1.25, 0.5)
    gravity = np.array([0.0, 0.0, 0.1])
    found = float_hull(mesh, 4.0, gravity)
    assert (found.depth, found.heel, found.trim) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    bm = 2.0**2 / 12 / 0.5
    gm = bm - 0.25 + 0.1
    assert found.heights == pytest.approx((gm, 4.0**2 / 12 / 0.5 - 0.15))
    angles = np.radians([5.0, 15.0, 25.0])
    wall = np.sin(angles) * (gm + 0.5 * bm * np.tan(angles) ** 2)
    assert righting_arms(mesh, 4.0, gravity, angles, 0.0) == pytest.approx(wall, rel=1e-9)


def test_the_angle_at_which_a_box_capsizes():
    """On its side, φ = 90°, the arm is that of the box's middle over its centre of gravity. Some
    way back from there it is wall-sided about that side: with t = cot φ, e from its middle to its
    centre of gravity and BM = H³/12A, e + BM t = (z_G − z_B − ½ BM t²) t where it capsizes."""
    mesh = forms.barge(4.0, 2.0, 0.5, 1.25, 0.5)
    gravity = np.array([0.0, 0.0, -0.4])
    angles = np.radians(np.arange(0.0, 91.0, 1.0))
    arms = righting_arms(mesh, 4.0, gravity, angles, 0.0)
    # on its side G lies 0.4 m above the old waterline, the box's middle 0.125 m: it capsizes
    assert arms[-1] == pytest.approx(-(0.4 - 0.125), abs=1e-9)
    bm, e, height = 1.25**3 / 12.0, 0.4 - 0.125, 1.0 - 0.4
    t = 1.0 / np.tan(angles[40:])
    wall = -(e + bm * t) * np.sin(angles[40:]) + (height - 0.5 * bm * t**2) * np.cos(angles[40:])
    assert arms[40:] == pytest.approx(wall, abs=1e-9)
    roots = np.roots([0.5 * bm, 0.0, bm - height, e])
    vanishing = np.degrees(np.arctan(1.0 / roots[(roots > 0.0) & (roots < 0.8 / 0.625)].real))
    assert vanishing == pytest.approx([55.4], abs=0.1)
    # work done against the arms is the rise of G over B: ∫ GZ dφ = change of (z_B − z_G)
    energy = []
    for heel in (0.0, angles[30]):
        turn = rotation(float(heel), 0.0)
        level = Mesh(mesh.vertices @ turn.T, mesh.faces)
        low, high = -2.0, 2.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            if hydrostatics(level, middle).volume > 4.0:
                low = middle
            else:
                high = middle
        energy.append(hydrostatics(level, low).buoyancy_centre[2] - (turn @ gravity)[2])
    work = np.trapezoid(arms[:31], angles[:31])
    assert energy[1] - energy[0] == pytest.approx(work, rel=1e-3)


def test_floats_at_two_corners_fall_over_between_roll_and_pitch():
    """Two floats of 0.6 x 0.6 m, 2 m ahead and aside of the middle and behind it: BM is 4 + 0.6²/12
    over the draught in roll and in pitch, and only the second term about the line between them."""
    box = forms.barge(0.6, 0.6, 0.5, 1.0, 0.6)
    pair = merged([Mesh(box.vertices + np.array([s, s, 0.0]), box.faces) for s in (2.0, -2.0)])
    for height, stands in ((-0.5, False), (0.24, True)):
        found = float_hull(pair, 2 * 0.6 * 0.6 * 0.5, np.array([0.0, 0.0, height]))
        assert min(found.heights) > 5.0
        assert found.least_height == pytest.approx(0.06 - 0.25 + height)
        assert found.stable is stands


def test_a_round_log_floats_in_neutral_equilibrium():
    """The metacentre of a cylinder is on its axis, whatever its draught and heel."""
    log = cylinder(0.5, 3.0, 96)
    lying = Mesh(log.vertices[:, [2, 0, 1]], log.faces)
    for share in (0.2, 0.5, 0.8):
        sunk = share * volume(lying)
        found = float_hull(lying, sunk, np.zeros(3))
        assert found.heights[0] == pytest.approx(0.0, abs=2e-3)
        arms = righting_arms(lying, sunk, np.zeros(3), np.radians([10.0, 40.0, 80.0]), 0.0)
        assert np.abs(arms).max() < 1e-3


def test_weight_off_centre_heels_and_trims_until_the_centres_are_in_line():
    mesh = FORMS["catamaran"]()
    for gravity in ([0.1, 0.05, -0.1], [-0.2, -0.1, 0.0]):
        found = float_hull(mesh, 0.3, np.array(gravity))
        centre, weight = found.hydrostatics.buoyancy_centre, found.rotation @ gravity
        assert found.hydrostatics.volume == pytest.approx(0.3, rel=1e-9)
        assert centre[:2] == pytest.approx(weight[:2], abs=1e-8)
        assert np.sign(found.heel) == np.sign(gravity[1])
        assert np.sign(found.trim) == -np.sign(gravity[0])


def test_a_hull_too_heavy_or_with_its_weight_outside_is_refused():
    mesh = FORMS["barge"]()
    with pytest.raises(SpecError, match="would sink"):
        float_hull(mesh, 11.0, np.zeros(3))
    with pytest.raises(SpecError, match="centre of gravity"):
        float_hull(mesh, 4.0, np.array([0.0, 3.0, 0.0]))
