"""Mean second-order loads by the far field, and vessels that drift by them."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
import pytest
import trimesh

import craft
import seatrial as st
from seatrial.compile.vehicles.drift import DOUBLE, measured, waves_at
from seatrial.compile.vehicles.hull_forces import solve_hull
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.forces import wave_excitation
from seatrial.core.forces.memory import memory_at_rest
from seatrial.hull.examination import examine
from seatrial.hull.potential import panelling, solver
from seatrial.hull.potential.drift import far_waves, finer, mean_drift
from seatrial.hull.potential.solution import responses
from seatrial.hull.shape import forms
from seatrial.hull.shape.hydrostatics import hydrostatics
from seatrial.hull.vehicle_file import vehicle_yaml
from seatrial.ocean import Ocean
from seatrial.spatial.rotations import from_euler, rotation

BOX = {
    "barge": {"length": 4.0, "beam": 2.0, "draught": 0.5, "freeboard": 0.75},
    "panel": 0.5,
    "hydrodynamics": "potential",
}


@pytest.fixture(scope="module")
def box():
    """The box of 4 x 2 x 0.5 m, coarse: what is compared shares its panels."""
    return solve_hull(craft.barge(hull=BOX), None)


def free(solved):
    """Motions, and the far field's drift, both over frequency and heading."""
    mass = np.array(craft.compiled(craft.barge(hull=BOX)).inertia.rigid_body)
    motions = responses(solved, mass, solved.stiffness)
    return solved, motions, mean_drift(solved, motions, np.zeros(motions.shape[1:]))


@pytest.fixture(scope="module")
def freely(box):
    """The box without damping at the frequencies that were solved for."""
    return free(box)


def test_waves_far_away_carry_what_the_moving_hull_works(box):
    """½ω² B of a motion of unit amplitude against ∫ flux |I|² dθ."""
    far = box.far_field
    sent = np.mean(np.abs(far.radiated) ** 2, axis=2) * 2.0 * math.pi * far.flux
    worked = 0.5 * box.omega**2 * np.einsum("wii->iw", box.damping)
    for i, error in ((0, 0.04), (1, 0.04), (2, 0.02), (4, 0.08), (5, 0.06)):
        strong = (worked[i] > 0.2 * worked[i].max()) & (box.omega < 3.2)
        assert sent[i, strong] == pytest.approx(worked[i, strong], rel=error), i


def test_what_a_free_hull_scatters_is_missing_from_the_wave_behind_it(freely):
    """Without damping the incident wave loses ½ρg Re I(β), which is all that is scattered.

    In following sea: what rolling radiates is too little for panels as coarse as these.
    """
    solved, motions, _ = freely
    far, total = solved.far_field, far_waves(solved.far_field, motions)
    lost = 0.5 * far.density * craft.G * np.einsum("whh->wh", total).real
    sent = far.flux[:, None] * np.mean(np.abs(total) ** 2, axis=2) * 2.0 * math.pi
    strong = (sent[:, 0] > 0.1 * sent[:, 0].max()) & (solved.omega < 3.6)
    assert lost[strong, 0] == pytest.approx(sent[strong, 0], rel=0.04)


def test_the_moment_about_another_point_differs_by_that_of_the_force(freely):
    """N' = N − d × F, from Kochin functions about that point."""
    solved, motions, drift = freely
    k, angle = solved.far_field.wavenumber[:, None], solved.headings
    aside = np.array([0.7, -0.4])
    towards = aside[0] * np.cos(angle) + aside[1] * np.sin(angle)
    # about d a wave exp(−ik·r) is one of the phase −k·d; time is exp(iωt) here
    moved = far_waves(solved.far_field, motions) * np.exp(
        -1j * k[:, :, None] * (towards[None, None, :] - towards[None, :, None])
    )
    field = dataclasses.replace(solved.far_field, scattered=moved)
    still = np.zeros_like(motions)
    found = mean_drift(dataclasses.replace(solved, far_field=field), still, still[0].real)
    long = solved.omega < 3.6  # the shift adds harmonics, which the headings must tell
    expected = drift[2] - (aside[0] * drift[1] - aside[1] * drift[0])
    assert found[:2, long] == pytest.approx(drift[:2, long], abs=1e-6 * np.abs(drift).max())
    assert np.abs(found[2] - expected)[long].max() < 0.05 * np.abs(drift[:2]).max()


def test_very_short_waves_are_thrown_back_whole(freely):
    """Towards ½ρg a² times the breadth that meets them, of a side that they hardly pass under."""
    solved, _, drift = freely
    whole = 0.5 * craft.RHO * craft.G
    ahead, beam = drift[0, -1, 0], drift[1, -1, len(solved.headings) // 4]
    assert 0.6 * 2.0 < ahead / whole < 1.2 * 2.0
    assert 0.6 * 4.0 < beam / whole < 1.2 * 4.0


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("towards", "period"), [(180.0, 1.9), (90.0, 2.0), (45.0, 1.9)])
def test_a_box_drifts_as_the_far_field_says(box, towards, period):
    """The mean acceleration in a regular wave of 1 cm, times mass and added mass at rest."""
    solved, _, drift = free(finer(box, 8))
    amplitude, w = 0.01, 2.0 * math.pi / period
    wave = {"amplitude": amplitude, "period": period, "towards_deg": towards}
    ocean = craft.ocean_of(waves={"spectrum": "components", "components": [wave]})
    model = craft.compiled(craft.barge(hull=BOX), ocean)
    first = craft.state(model)
    memory = memory_at_rest(model.memory_forces, first.velocity)
    first = dataclasses.replace(first, memory=memory)
    time, position, _, _, _ = craft.simulate(model, ocean, first, 80.0, 0.04, every=4)
    late = time[time > 25.0]
    columns = [np.ones_like(late), late, 0.5 * late**2]
    for turn in (np.cos, np.sin):
        columns += [turn(w * late), late * turn(w * late), turn(2.0 * w * late)]
    fitted = np.linalg.lstsq(np.stack(columns, 1), position[time > 25.0, :2], rcond=None)[0][2]
    A, B, C = (np.array(m) for m in (lambda f: (f.A, f.B, f.C))(model.memory_forces[0]))
    slow = np.array(model.inertia.added_mass) - C @ np.linalg.inv(A @ A) @ B
    mass = (np.array(model.inertia.rigid_body) + slow)[:2, :2]
    values = np.concatenate([np.zeros((3, 1, len(solved.headings))), drift], axis=1)
    heading = np.array([[math.radians(towards)]])
    exact = solved.between(values.astype(complex), np.array([w]), heading).real[:2, 0, 0]
    found = mass @ fitted / amplitude**2
    assert np.linalg.norm(found - exact) < 0.1 * np.linalg.norm(exact)


@pytest.mark.usefixtures("x64")
def test_two_waves_push_with_the_mean_of_their_coefficients_at_their_difference():
    """F = a₁²D₁ + a₂²D₂ + a₁a₂(D₁ + D₂) cos(φ₁ − φ₂): Newman's approximation."""
    waves = [
        {"amplitude": 0.2, "period": 2.0, "towards_deg": 180},
        {"amplitude": 0.1, "period": 2.3, "towards_deg": 150},
    ]
    ocean = craft.ocean_of(waves={"spectrum": "components", "components": waves})
    with_drift = craft.compiled(craft.barge(hull=BOX), ocean).excitation
    count = len(wave_excitation.OUTPUTS)
    without = dataclasses.replace(with_drift, table=with_drift.table[:, :count])
    turned = rotation(from_euler(*(jnp.float64(a) for a in (0.0, 0.0, 0.4))))
    pushes = []
    omega = np.array(ocean.waves.omega)
    beat = 2.0 * math.pi / abs(omega[0] - omega[1])
    times = 3.0 + beat * np.arange(8) / 8.0
    for t in times:
        a, b = (
            wave_excitation.evaluate(
                m, ocean.waves, jnp.float64(3.0), jnp.float64(-1.0), turned, jnp.float64(t)
            ).wrench
            for m in (with_drift, without)
        )
        pushes.append(np.array(turned.to_world(a.force)) - np.array(turned.to_world(b.force)))
    pushes = np.array(pushes)[:, :2]
    series = np.fft.rfft(pushes, axis=0) / len(times)
    single = []
    for i in (0, 1):  # a wave alone pushes steadily: a² D
        alone = craft.ocean_of(waves={"spectrum": "components", "components": waves[i : i + 1]})
        table = np.array(with_drift.table)[:, :, [i, i + 2]]
        model = dataclasses.replace(
            with_drift,
            table=jnp.asarray(table),
            north=with_drift.north[i : i + 1],
            east=with_drift.east[i : i + 1],
        )
        bare = dataclasses.replace(model, table=model.table[:, :count])
        a, b = (
            wave_excitation.evaluate(
                m, alone.waves, 0.0 * turned.r00, 0.0 * turned.r00, turned, 0.0
            )
            for m in (model, bare)
        )
        force = np.array(turned.to_world(a.wrench.force)) - np.array(
            turned.to_world(b.wrench.force)
        )
        single.append(force[:2])
    assert series[0].real == pytest.approx(single[0] + single[1], rel=1e-3)
    ratio = 0.1 / 0.2
    swing = single[0] * ratio + single[1] / ratio  # a₁a₂ (D₁ + D₂)
    assert 2.0 * np.abs(series[1]) == pytest.approx(np.abs(swing), rel=1e-3)
    assert np.abs(series[2:]).max() < 1e-3 * np.abs(swing).max()


def test_a_float_on_its_triangles_drifts_as_the_water_it_lies_in():
    """Stokes: a² ω k exp(−2kd), between its keel and the surface; friction carries it along."""
    size = {"length": 0.4, "beam": 0.4, "draught": 0.1, "freeboard": 0.2}
    described = craft.barge(
        length=0.4,
        beam=0.4,
        draught=0.1,
        height=0.3,
        gravity_depth=0.02,
        coefficients=craft.added(1.0, 1.0, 8.0, 0.05, 0.05, 0.1)
        | {"X_u": -20.0, "Y_v": -20.0, "Z_w": -60.0, "M_q": -2.0, "K_p": -2.0},
        hull={"barge": size, "panel": 0.2, "hydrostatics": "mesh"},
    )
    a, w = 0.3, 2.0 * math.pi / 4.0
    k = w * w / craft.G
    wave = {"amplitude": a, "period": 4.0, "towards_deg": 0.0}
    ocean = craft.ocean_of(waves={"spectrum": "components", "components": [wave]})
    model = craft.compiled(described, ocean)
    phase = float(ocean.waves.phase[0])
    speed = (a * w * math.cos(phase), 0, a * w * math.sin(phase), 0, 0, 0)
    at = craft.state(model, position=(0, 0, -a * math.cos(phase)), velocity=speed)
    stokes = a * a * w * k
    met = 2.0 * math.pi / (w - k * stokes)  # the period that it meets
    time, position, _, _, _ = craft.simulate(model, ocean, at, 10.0 * met, met / 100.0, every=100)
    drift = (position[-1, 0] - position[5, 0]) / (time[-1] - time[5])
    assert stokes * math.exp(-2.0 * k * 0.1) < drift < 1.005 * stokes


@pytest.fixture(scope="module")
def boat(tmp_path_factory):
    """A V-hull of 4 m as `seatrial hull` writes it, with a coarse solution, and what was found."""
    folder = tmp_path_factory.mktemp("boat")
    mesh = forms.v_hull(4.0, 1.4, 0.3, 0.6, 0.3, 0.25)
    upright = trimesh.Trimesh(mesh.vertices * [1.0, -1.0, -1.0], mesh.faces, process=False)
    upright.export(folder / "drawn.stl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "FREQUENCIES", 12)
        patch.setattr(panelling, "FEWEST", 60)
        patch.setattr(panelling, "MOST", 120)
        found = examine(folder / "drawn.stl", craft.RHO * hydrostatics(mesh).volume, craft.RHO)
    trimesh.Trimesh(*found.mesh, process=False).export(folder / "hull.stl")
    (folder / "boat.yaml").write_text(vehicle_yaml(found, "boat", "hull.stl"))
    return found, st.load(str(folder / "boat.yaml"), st.Vehicle)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("model", ["linear", "mesh"])
def test_oblique_waves_turn_a_boat_as_far_as_momentum_says_without_a_solution_too(boat, model):
    """The mean moment in yaw on its first-order motions, in waves of six lengths: half to twice
    that of the far field. On triangles it was the other way."""
    found, vehicle = boat
    hull = vehicle.hull.model_copy(update={"hydrostatics": model})
    vehicle = vehicle.model_copy(update={"hull": hull})
    viscous = np.zeros((6, 6))
    viscous[3, 3] = found.roll_damping()
    solved = finer(found.solution, 8)
    motions = responses(solved, found.mass_matrix, found.stiffness, viscous)
    kept = 0.5 * (solved.omega[:, None] * np.abs(motions[3])) ** 2 * viscous[3, 3]
    drift = mean_drift(solved, motions, kept)
    omega = np.array([2.0 * math.pi / 4.0])
    headings = np.radians([30.0, 45.0, 60.0, 120.0, 135.0, 150.0])
    values = np.concatenate([np.zeros((3, 1, len(solved.headings))), drift], axis=1)
    far = solved.between(values.astype(complex), omega, headings[None])[2, 0].real
    sea = Ocean(water=craft.calm().water, waves=waves_at(omega))
    model = compile_vehicle(vehicle, sea, DOUBLE).model
    own = measured(sea.waves, headings, model).own[2, 0]
    assert np.all(own / far > 0.4)
    assert np.all(own / far < 2.0)
