"""Wave loads against pressure integrated panel by panel, and motions in long waves."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import craft
import seatrial as st
from sampling import sampled
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.conventions import GRAVITY
from seatrial.core.environment import surroundings
from seatrial.core.step import wrench
from seatrial.core.types import State
from seatrial.hull.blocks import Block, hydrostatics
from seatrial.hull.froude_krylov import HullInWaves, Sea, transfer

RHO, G = craft.RHO, craft.G


def face(centre, edge1, edge2, n=24):
    """Gauss points, weights and the normal (edge1 × edge2) of a rectangular face."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    a, b = np.meshgrid(nodes, nodes, indexing="ij")
    points = centre + 0.5 * (a[..., None] * edge1 + b[..., None] * edge2)
    normal = np.cross(edge1, edge2)
    return points.reshape(-1, 3), (np.outer(weights, weights) * 0.25).ravel(), normal


def panel_loads(blocks, waterline, k, heading, depth=None):
    """Complex −∮ p n dS and its moment about the origin, over the wetted sides and bottoms."""
    kx, ky = k * math.cos(heading), k * math.sin(heading)
    total = np.zeros(6, complex)
    for b in blocks:
        L, B, T = (
            np.array(e, float) for e in ([b.length, 0, 0], [0, b.beam, 0], [0, 0, b.draught])
        )
        middle = np.array([b.x, b.y, waterline + 0.5 * b.draught])
        faces = [
            face(middle + 0.5 * T, L, B),  # bottom, outward normal down
            face(middle + 0.5 * L, B, T),
            face(middle - 0.5 * L, T, B),
            face(middle + 0.5 * B, T, L),
            face(middle - 0.5 * B, L, T),
        ]
        for points, weights, normal in faces:
            below = points[:, 2] - waterline
            if depth is None:
                profile = np.exp(-k * below)
            else:
                profile = np.cosh(k * (depth - below)) / math.cosh(k * depth)
            p = RHO * G * profile * np.exp(-1j * (kx * points[:, 0] + ky * points[:, 1]))
            push = -(p * weights)[:, None] * normal
            total[:3] += push.sum(axis=0)
            total[3:] += np.cross(points, push).sum(axis=0)
    return total


def hull_of(blocks, waterline=0.0):
    figures = hydrostatics(blocks)
    return HullInWaves(
        blocks=blocks,
        waterline=waterline,
        volume=figures.volume,
        buoyancy=figures.buoyancy,
        transverse_radius=figures.transverse_radius,
        longitudinal_radius=figures.longitudinal_radius,
        density=RHO,
    )


def sea_of(wavelengths, depth=None):
    k = 2 * math.pi / np.asarray(wavelengths, float)
    omega = np.sqrt(G * k * (1.0 if depth is None else np.tanh(k * depth)))
    one = np.ones_like(k)
    return Sea(amplitude=one, omega=omega, wavenumber=k, direction=0 * one, depth=depth)


def whole_force(hull, sea, headings):
    """Transfer functions with the heave of the waterplane, which restoring adds in a run."""
    found = transfer(hull, sea, headings)
    lift = -RHO * G * hydrostatics(hull.blocks).area * found[6]
    loads = found[:6].copy()
    loads[2] += lift
    loads[4] -= hydrostatics(hull.blocks).flotation * lift
    return loads


BOX = (Block(False, 4.0, 1.6, 0.5, 0.0, 0.0),)
CATAMARAN = tuple(Block(False, 3.0, 0.4, 0.3, 0.2, y) for y in (-0.9, 0.9))
STEPPED = (Block(False, 2.0, 1.0, 0.3, -1.0, 0.0), Block(False, 2.0, 1.2, 0.6, 1.0, 0.0))


@pytest.mark.parametrize("depth", [None, 2.5])
@pytest.mark.parametrize(
    ("blocks", "waterline"), [(BOX, 0.0), (CATAMARAN, -0.2), (STEPPED, 0.15)],
    ids=["box", "catamaran", "stepped"],
)  # fmt: skip
def test_froude_krylov_loads_are_the_wave_pressure_integrated_over_the_panels(
    blocks, waterline, depth
):
    lengths = np.array([30.0, 8.0, 3.0, 1.5])
    headings = np.radians([0.0, 35.0, 90.0, 140.0, 180.0, 250.0])
    hull = hull_of(blocks, waterline)
    area = hydrostatics(blocks).area
    sea = sea_of(lengths, depth)
    found = whole_force(hull, sea, headings)
    for c, k in enumerate(sea.wavenumber):
        for h, heading in enumerate(headings):
            exact = panel_loads(blocks, waterline, k, heading, depth)
            assert np.abs(found[:, c, h] - exact).max() < 1e-9 * RHO * G * area


def test_long_waves_push_a_hull_as_their_slope_and_lift_it_as_their_height():
    # Limits of linear theory for kL → 0: X = −ρg∇ ∂ζ/∂x, Z = −ρgA ζ, K and M of the metacentre.
    hull = hull_of(BOX, 0.1)
    sea = sea_of([40000.0])
    k, heading = float(sea.wavenumber[0]), 0.6
    load = whole_force(hull, sea, np.array([heading]))[:, 0, 0]
    slope_x, slope_y = -1j * k * math.cos(heading), -1j * k * math.sin(heading)
    volume, centre = hull.volume, 0.1 + 0.25
    expected = np.array(
        [
            -volume * slope_x,
            -volume * slope_y,
            -hydrostatics(hull.blocks).area,
            -volume * (hull.transverse_radius - centre) * slope_y,
            volume * (hull.longitudinal_radius - centre) * slope_x,
        ]
    )
    assert load[:5] / (RHO * G) == pytest.approx(expected, rel=1e-3)
    assert abs(load[5]) < 1e-2 * abs(load[3])


def water_at(k, omega, towards, depth):
    """Complex acceleration of the water and rate of its turning per amplitude, along and across the
    hull and down, in deep water."""
    c, s = math.cos(towards), math.sin(towards)
    a = 1j * omega**2 * math.exp(-k * depth) * np.array([c, s, -1j])
    return a, 1j * omega * np.array([-omega * k * s, omega * k * c, 0.0])


def test_pressure_over_the_displaced_mass_is_the_acceleration_of_the_water():
    hull = hull_of((Block(True, 0.4, 0.4, 0.2, 0.0, 0.0),))
    sea = sea_of([3000.0])
    found = transfer(hull, sea, np.array([0.3]))[:, 0, 0]
    a, spin = water_at(float(sea.wavenumber[0]), float(sea.omega[0]), 0.3, 0.1)
    assert found[:3] / (RHO * hull.volume) == pytest.approx(a, rel=1e-3)
    assert found[14:16] == pytest.approx(spin[:2], rel=1e-3)


def test_diffraction_is_added_mass_times_the_acceleration_of_the_water_in_the_axes_of_the_hull():
    """M_A Rᵀa, not Rᵀ M_A a: a hull has more added mass in heave than in surge, and a vertical
    force on it that stayed vertical when it pitched drove it ahead in any sea."""
    period, towards, height = 40.0, 0.3, 2e-7
    ocean = regular(period, towards, height)
    k, omega = float(ocean.waves.wavenumber[0]), 2 * math.pi / period
    coupled = craft.added(3.0, 4.0, 9.0, 0.1, 0.2, 0.3) | {"Y_rd": -0.7, "N_vd": -0.7}
    bare, moving = (
        craft.compiled(craft.barge(0.4, 0.4, 0.2, "ellipse", coefficients=c), ocean)
        for c in ({}, coupled)
    )
    matrix = np.diag([3.0, 4.0, 9.0, 0.1, 0.2, 0.3])
    matrix[1, 5] = matrix[5, 1] = 0.7
    a, spin = (0.5 * height * v for v in water_at(k, omega, towards, 0.1))
    for attitude in ((0.0, 0.0, 0.0), (0.0, 0.4, 0.9), (-0.5, 0.2, 2.0)):
        at = craft.state(moving, euler=attitude)
        for t in (0.0, -0.25 * period):
            gap = craft.wrench(moving, ocean, at, t) - craft.wrench(bare, ocean, at, t)
            turn = craft.euler_matrix(*attitude).T
            now = np.exp(1j * omega * t)
            water = np.concatenate([turn @ (v * now).real for v in (a, spin)])
            expected = matrix @ water
            assert gap == pytest.approx(expected, rel=2e-3, abs=2e-3 * np.abs(expected).max())


def excitation_in_run(model, ocean, period, heading=0.0, position=(0.0, 0.0, 0.0)):
    """Complex amplitude of the whole load on a hull held at rest, from two instants."""
    at = craft.state(model, position, (0.0, 0.0, heading))
    real = craft.wrench(model, ocean, at, 0.0)
    imaginary = craft.wrench(model, ocean, at, -0.25 * period)
    return real + 1j * imaginary


def regular(period, towards, height=2e-7, **parts):
    # So low that loads of second order, which grow with the draught a wave adds, stay below 1e-6.
    wave = {"spectrum": "regular", "height": height, "period": period, "towards": towards}
    return craft.ocean_of(waves=wave, **parts)


@pytest.mark.parametrize("depth", [None, 2.5])
def test_loads_of_a_run_are_those_of_the_panels_at_any_heading(depth):
    period, towards = 1.9, 0.4
    ocean = regular(period, towards, **({} if depth is None else {"seabed": {"depth": depth}}))
    k = float(ocean.waves.wavenumber[0])
    model = craft.compiled(craft.barge(4.0, 1.6, 0.5), ocean)
    found, exact = [], []
    for heading in np.linspace(-3.0, 3.1, 9):
        place = np.array([1.7, -0.8, 0.0])
        load = excitation_in_run(model, ocean, period, heading, place)
        phase = np.exp(-1j * k * (place[0] * math.cos(towards) + place[1] * math.sin(towards)))
        found.append(load)
        exact.append(1e-7 * phase * panel_loads(BOX, 0.0, k, towards - heading, depth))
    gap = np.abs(np.array(found) - exact)
    size = np.sqrt(np.mean(np.abs(exact) ** 2, axis=0))
    assert (np.sqrt(np.mean(gap**2, axis=0)) / size < 1e-2).all()  # 0.5 % of the heading table


def test_wave_of_the_length_of_the_hull_neither_lifts_nor_pushes_it():
    # Head sea, λ = L: ∫exp(−ikx)dx = 0 over a box, so crest and trough cancel.
    period = math.sqrt(2 * math.pi * 4.0 / G)
    head, long = regular(period, 0.0), regular(4 * period, 0.0)
    loads = []
    for ocean, time in ((head, period), (long, 4 * period)):
        model = craft.compiled(craft.barge(4.0, 1.6, 0.5), ocean)
        loads.append(np.abs(excitation_in_run(model, ocean, time)))
    assert loads[0][2] < 1e-2 * loads[1][2]
    assert loads[0][0] < 2e-2 * loads[1][0]


@pytest.mark.parametrize(("speed", "heading"), [(2.0, math.pi), (1.5, 0.0), (2.0, 2.2)])
def test_moving_hull_meets_the_waves_at_the_encounter_frequency(speed, heading):
    period, towards = 3.0, 0.0
    ocean = regular(period, towards)
    k, omega = float(ocean.waves.wavenumber[0]), 2 * math.pi / period
    model = craft.compiled(craft.barge(4.0, 1.6, 0.5), ocean)
    still = excitation_in_run(model, ocean, period, heading)
    meeting = omega - k * speed * math.cos(towards - heading)
    for t in np.linspace(0.0, 7.0, 8):
        way = speed * t * np.array([math.cos(heading), math.sin(heading), 0.0])
        at = craft.state(model, way, (0.0, 0.0, heading))
        expected = (still * np.exp(1j * meeting * t)).real
        assert craft.wrench(model, ocean, at, t) == pytest.approx(
            expected, abs=1e-6 * np.abs(still).max()
        )


def test_small_float_follows_a_long_wave_in_heave_pitch_and_surge():
    # Started on a crest with the motion of the water, a float moves as a particle of the surface.
    period, amplitude = 8.0, 0.05
    ocean = regular(period, 0.0, 2 * amplitude)
    k, omega = float(ocean.waves.wavenumber[0]), 2 * math.pi / period
    damping = {"X_u": -2.0, "Z_w": -20.0, "M_q": -1.0, "K_p": -1.0, "Y_v": -2.0, "N_r": -1.0}
    described = craft.barge(
        0.6, 0.4, 0.08, gravity_depth=0.02,
        coefficients=damping | craft.added(3.0, 8.0, 20.0, 0.1, 0.3, 0.4),
    )  # fmt: skip
    model = craft.compiled(described, ocean)
    first = craft.state(
        model, (0, 0, -amplitude), velocity=(amplitude * omega, 0, 0, 0, k * amplitude * omega, 0)
    )
    time, position, attitude, *_ = craft.simulate(model, ocean, first, 4 * period, 0.02, every=10)
    heave, pitch = -position[:, 2], 2 * attitude[:, 2]
    assert np.abs(heave - amplitude * np.cos(omega * time)).max() < 0.01 * amplitude
    assert np.abs(pitch - k * amplitude * np.sin(omega * time)).max() < 0.03 * k * amplitude
    surge = amplitude * np.sin(omega * time) + stokes_drift(k, omega, amplitude) * time
    assert np.abs(position[:, 0] - surge).max() < 0.03 * amplitude


def stokes_drift(k, omega, amplitude):
    """Mean speed of a particle at the surface, ω k a² (Stokes 1847)."""
    return omega * k * amplitude**2


def test_float_in_a_beam_sea_rolls_with_the_slope_and_sways_with_the_particles():
    period, amplitude = 8.0, 0.05
    ocean = regular(period, math.pi / 2, 2 * amplitude)
    k, omega = float(ocean.waves.wavenumber[0]), 2 * math.pi / period
    described = craft.barge(
        0.6, 0.4, 0.08, gravity_depth=0.02,
        coefficients={"Z_w": -20.0, "K_p": -1.0, "Y_v": -2.0}
        | craft.added(3.0, 8.0, 20.0, 0.1, 0.3, 0.4),
    )  # fmt: skip
    model = craft.compiled(described, ocean)
    first = craft.state(
        model, (0, 0, -amplitude), velocity=(0, amplitude * omega, 0, -k * amplitude * omega, 0, 0)
    )
    time, position, attitude, *_ = craft.simulate(model, ocean, first, 4 * period, 0.02, every=10)
    roll = 2 * attitude[:, 1]  # the surface rises to starboard ahead of the crest: heel to port
    assert np.abs(roll + k * amplitude * np.sin(omega * time)).max() < 0.03 * k * amplitude
    sway = amplitude * np.sin(omega * time) + stokes_drift(k, omega, amplitude) * time
    assert np.abs(position[:, 1] - sway).max() < 0.03 * amplitude
    assert np.abs(position[:, 2] + amplitude * np.cos(omega * time)).max() < 0.01 * amplitude


@pytest.mark.parametrize("depth", [2.0, 5.0, 12.0])
def test_submerged_body_feels_displaced_and_added_mass_times_orbital_acceleration(depth):
    period, towards, amplitude = 4.0, 0.8, 0.2
    ocean = regular(period, towards, 2 * amplitude)
    k, omega = float(ocean.waves.wavenumber[0]), 2 * math.pi / period
    radius = 0.2
    model = craft.compiled(craft.sphere(radius), ocean)
    mass = 1.5 * RHO * 4 / 3 * math.pi * radius**3
    for t in (0.0, 0.7, 1.9):
        load = craft.wrench(model, ocean, craft.state(model, (0, 0, depth)), t)
        size = mass * amplitude * omega**2 * math.exp(-k * depth)
        along = -size * math.sin(omega * t)
        expected = [along * math.cos(towards), along * math.sin(towards)]
        assert load[:2] == pytest.approx(expected, abs=1e-9 * mass)
        # (v·∇)v of a deep-water wave is −k (aω)² exp(−2kz): upwards, and the same at all times
        convective = -mass * k * (amplitude * omega * math.exp(-k * depth)) ** 2
        vertical = size * math.cos(omega * t) + convective
        assert load[2] == pytest.approx(vertical, abs=1e-9 * mass)


def particle(period, amplitude):
    """Velocity (north, down) and material acceleration of the water in a regular deep-water wave,
    written out: Dv/Dt = [−aω² E sin θ, aω² E cos θ − k (aωE)²], E = exp(−kz)."""
    omega = 2 * math.pi / period
    k = omega**2 / G

    def velocity(t, place):
        size = amplitude * omega * math.exp(-k * place[1])
        phase = omega * t - k * place[0]
        return size * np.array([math.cos(phase), math.sin(phase)])

    def acceleration(t, place):
        size = amplitude * omega * math.exp(-k * place[1])
        phase = omega * t - k * place[0]
        return omega * size * np.array([-math.sin(phase), math.cos(phase) - k * size / omega])

    return velocity, acceleration


def test_small_neutral_body_drifts_with_the_water_particle_it_replaces():
    # Orbit and Stokes drift together, from the particle's own equation dx/dt = v(x, t).
    period, amplitude, depth = 6.0, 0.2, 3.0
    ocean = regular(period, 0.0, 2 * amplitude)
    k, omega = float(ocean.waves.wavenumber[0]), 2 * math.pi / period
    velocity, _ = particle(period, amplitude)
    drag = {"X_u": -100.0, "Z_w": -100.0}
    orbit = amplitude * math.exp(-k * depth)
    for coefficients in (drag, {}):  # with Dv/Dt it needs no drag to stay with the water
        model = craft.compiled(craft.sphere(0.1, coefficients=coefficients), ocean)
        u, w = velocity(0.0, (0.0, depth))
        first = craft.state(model, (0, 0, depth), velocity=(u, 0, w, 0, 0, 0))
        time, position, *_ = craft.simulate(model, ocean, first, 5 * period, 0.02, every=50)
        path = solve_ivp(velocity, (0, 5 * period), (0.0, depth), t_eval=time, rtol=1e-9, atol=1e-9)
        assert path.y[0][-1] > 0.5 * omega * k * orbit**2 * 5 * period  # it does drift
        assert np.abs(position[:, 0] - path.y[0]).max() < 1e-5 * orbit
        assert np.abs(position[:, 2] - path.y[1]).max() < 1e-5 * orbit


def test_ball_left_at_rest_under_a_swell_stays_near_its_depth_and_drifts_at_stokes_speed():
    """Neutral ball of 0.2 m at rest at 10 m, H = 4 m, T = 10 s, quadratic drag (C_d = 0.47).

    Its equation, (ρ∇ + A)(dv/dt − Dv_f/Dt) = −½ρ C_d S |v_r| v_r by component, is integrated
    apart, with the particle's acceleration written out. With ∂v/∂t in its place the ball sinks to
    49 m in ten minutes.
    """
    period, amplitude, radius, seconds = 10.0, 2.0, 0.1, 600.0
    ocean = regular(period, 0.0, 2 * amplitude)
    k, omega = float(ocean.waves.wavenumber[0]), 2 * math.pi / period
    velocity, acceleration = particle(period, amplitude)
    drag = 0.5 * RHO * 0.47 * math.pi * radius**2
    mass = 1.5 * RHO * 4 / 3 * math.pi * radius**3

    def rates(t, at):
        relative = at[2:] - velocity(t, at[:2])
        force = -drag * np.abs(relative) * relative
        return np.concatenate([at[2:], acceleration(t, at[:2]) + force / mass])

    described = craft.sphere(radius, coefficients={"X_u_au": -drag, "Z_w_aw": -drag})
    model = craft.compiled(described, ocean)
    first = craft.state(model, (0, 0, 10.0))
    time, position, *_ = craft.simulate(model, ocean, first, seconds, 0.05, every=10)
    exact = solve_ivp(rates, (0, seconds), (0, 10.0, 0, 0), t_eval=time, rtol=1e-8, atol=1e-9)
    assert np.abs(position[:, 0] - exact.y[0]).max() < 2e-3
    assert np.abs(position[:, 2] - exact.y[1]).max() < 2e-3
    assert abs(position[-1, 2] - 8.0) < 1.5
    # Over the last ten waves: Stokes' drift at the mean depth, a²ωk exp(−2kz), but for what is left
    # of the slip that it began with; a drag with the square of the slip lets go of it slowly.
    last = slice(-201, None)
    speed = np.polyfit(time[last], position[last, 0], 1)[0]
    stokes = amplitude**2 * omega * k * math.exp(-2 * k * position[last, 2].mean())
    assert speed == pytest.approx(stokes, rel=0.1)


@pytest.mark.parametrize("speed", [-2.0, -1.0, 1.0, 2.0])
def test_body_in_a_current_moves_with_the_orbits_of_the_water_and_no_more(speed):
    """A neutral body that moves with the water has the orbital velocity aω exp(−kz) and its period
    also where a current carries both it and the waves. With ∂v/∂t it would be (ω + kU)/ω of that:
    1.16 at 1 m/s with waves of 4 s, 0.84 against them.
    """
    period, amplitude, depth = 4.0, 0.02, 2.0
    omega = 2 * math.pi / period
    k = omega**2 / G
    ocean = regular(
        period,
        0.0,
        2 * amplitude,
        current={"speed": abs(speed), "towards": 0.0 if speed > 0 else math.pi},
    )
    model = craft.compiled(craft.sphere(0.1), ocean)
    size = amplitude * omega * math.exp(-k * depth)
    first = craft.state(model, (0, 0, depth), velocity=(speed + size, 0, 0, 0, 0, 0))
    time, _, _, velocity, _ = craft.simulate(model, ocean, first, 4 * period, 0.01)
    for found, shape in ((velocity[:, 0] - speed, np.cos), (velocity[:, 2], np.sin)):
        response = 2 * np.mean(found * shape(omega * time)) / size
        assert response == pytest.approx(1.0, abs=0.01)
    assert abs(k * speed / omega) > 0.1  # what this excludes


@pytest.mark.parametrize("code", sampled([3, 4, 5], 4))
def test_neutral_remus_without_thrust_keeps_its_depth_in_a_sea(code):
    """Within half a metre in 300 s of where it is in calm water, from 5 m and without thrust.

    With ∂v/∂t it sinks by 4 m in sea state 3, 7 m in 4 and 11 m in 5.
    """
    remus = st.load("remus100_mss")
    neutral = {"profile": "constant", "density": 1026.0}
    depths = []
    for parts in ({}, {"waves": {"spectrum": "sea_state", "code": code}}):
        ocean = craft.ocean_of(water=neutral, **parts)
        model = craft.compiled(remus, ocean)
        first = craft.state(model, (0, 0, 5.0))
        orders = np.zeros(model.channels)
        _, position, *_ = craft.simulate(model, ocean, first, 300.0, 0.05, orders, every=20)
        depths.append(position[-200:, 2].mean())
    assert abs(depths[1] - depths[0]) < 0.5


def drift_of(described, period, amplitude, towards=0.0, waves=120):
    """Mean velocity (north, east) over whole waves met in the second half of a run."""
    ocean = regular(period, towards, 2 * amplitude)
    k, omega = float(ocean.waves.wavenumber[0]), 2 * math.pi / period
    model = craft.compiled(described, ocean)
    way = np.array([math.cos(towards), math.sin(towards)])
    first = craft.state(
        model, (0, 0, -amplitude), velocity=(*(amplitude * omega * way), 0, 0, 0, 0)
    )
    orders = np.zeros(model.channels)
    time, position, *_ = craft.simulate(
        model, ocean, first, waves * period, period / 200, orders, every=10
    )
    met = (omega * time - k * position[:, :2] @ way) / (2 * math.pi)
    between = [math.ceil(met[len(met) // 2]), math.floor(met[-1])]
    when = np.interp(between, met, time)
    return [np.diff(np.interp(when, time, position[:, i]))[0] / np.diff(when)[0] for i in (0, 1)]


@pytest.mark.parametrize("steepness", [0.005, 0.03, 0.1, 0.2])
@pytest.mark.parametrize("drag", [-2.0, -20.0])
def test_float_that_follows_the_surface_drifts_at_stokes_drift(steepness, drag):
    """A small float in long waves drifts as the water at the surface does, at a²ωk (Stokes 1847).

    The wave forces have no mean on a float that moves with the water, so its drift is where the
    mean drag vanishes: the mean velocity of the water around it. Half of that comes from going
    along with the crest, ⟨ξ ∂u/∂x⟩ = ½ a²ωk, half from being higher there, ⟨z ∂u/∂z⟩ = ½ a²ωk.
    What is of higher order is (ka)² of it.
    """
    period = 8.0
    omega = 2 * math.pi / period
    k = omega**2 / G
    amplitude = steepness / k
    damping = {"X_u": drag, "Y_v": drag, "Z_w": -20.0, "K_p": -1.0, "M_q": -1.0, "N_r": -1.0}
    described = craft.barge(
        0.6, 0.4, 0.08, gravity_depth=0.02,
        coefficients=damping | craft.added(3.0, 8.0, 20.0, 0.1, 0.3, 0.4),
    )  # fmt: skip
    towards = 1.0
    north, east = drift_of(described, period, amplitude, towards)
    along = north * math.cos(towards) + east * math.sin(towards)
    across = east * math.cos(towards) - north * math.sin(towards)
    stokes = stokes_drift(k, omega, amplitude)
    assert along == pytest.approx(stokes, rel=0.015 + 2.5 * steepness**2)
    assert abs(across) < 0.02 * stokes


@pytest.mark.parametrize(("period", "amplitude"), [(6.0, 0.3), (4.0, 0.2)])
def test_a_free_smarty_drifts_with_long_waves_at_stokes_drift(period, amplitude):
    float_ = st.load("smarty").model_dump()
    damping = {"K_p": -0.3, "M_q": -0.3, "X_u": -3.0, "Y_v": -3.0}
    float_["hydrodynamics"]["coefficients"] |= damping
    north, _ = drift_of(st.Vehicle.model_validate(float_), period, amplitude)
    omega = 2 * math.pi / period
    assert north == pytest.approx(stokes_drift(omega**2 / G, omega, amplitude), rel=0.05)


@pytest.mark.parametrize("period", [1.3, 1.5, 2.5])
def test_smarty_drifts_with_a_regular_wave(period):
    waves = {"spectrum": "regular", "height": 0.12, "period": period}
    scenario = st.Scenario.model_validate(
        {
            "kind": "scenario",
            "name": "drift",
            "duration": 60.0,
            "world": {"kind": "world", "name": "tank", "waves": waves},
            "vehicles": [{"name": "smarty", "vehicle": st.load("smarty")}],
        }
    )
    north = st.run(scenario).dataset.position.values[:, 0, 0]
    assert north[-1] - north[300] > 0.0


def test_a_float_that_takes_power_from_a_wave_is_pushed_along_with_power_over_phase_speed(x64):
    """Heave that lags the wave by δ takes P = ½ρgA ω a² |H| sin δ; momentum asks for P/c.

    The float is moved by hand, upright and without drag, and the horizontal force is averaged
    over a period.
    """
    amplitude, period, response, lag = 0.05, 3.0, 0.8, 0.6
    box = st.load("smarty").model_dump()
    box["hydrodynamics"]["coefficients"] = {}
    world = st.World.model_validate(
        {
            "kind": "world",
            "name": "regular",
            "waves": {"spectrum": "regular", "height": 2 * amplitude, "period": period},
        }
    )
    ocean = build_ocean(world, 0, np.dtype(np.float64))
    model = compile_vehicle(st.Vehicle.model_validate(box), ocean, np.dtype(np.float64)).model
    omega = float(ocean.waves.omega[0])
    times = np.arange(200) * period / 200
    forces = []
    for t in times:
        phase = omega * t + float(ocean.waves.phase[0])
        heave = amplitude * response * math.cos(phase - lag)
        state = State(
            jnp.array([[0.0], [0.0], [-heave]]),
            jnp.array([[1.0], [0.0], [0.0], [0.0]]),
            jnp.zeros((6, 1)),
            jnp.zeros((4, 1)),
        )
        around = surroundings(model, ocean, state, jnp.float64(t))
        forces.append(float(wrench(model, ocean, state, around, jnp.float64(t)).X[0]))
    area = math.pi * 0.16**2
    stiffness = 1025.0 * GRAVITY * area
    power = 0.5 * stiffness * omega * amplitude**2 * response * math.sin(lag)
    speed = GRAVITY / omega
    # The hull is 0.32 m across in a wave of 14 m, and the pressure decays over its draught.
    assert np.mean(forces) == pytest.approx(power / speed, rel=0.05)
