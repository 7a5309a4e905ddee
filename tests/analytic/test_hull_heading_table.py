"""The table of wave force amplitudes over the heading, against the amplitudes themselves."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import craft
import seatrial as st
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.compile.vehicles.wave_forces import load_wave_forces, precompute
from seatrial.core.forces import wave_excitation
from seatrial.hull import heading_table as tables
from seatrial.hull.froude_krylov import KINDS, transfer
from seatrial.spatial.rotations import from_euler, rotation
from seatrial.spec.library import library_names

F64 = np.dtype(np.float64)

SHORT = {"spectrum": "jonswap", "significant_height": 0.15, "peak_period": 2.5, "towards": 3.5}
WORLDS = {
    "short": st.World.model_validate({"kind": "world", "name": "short", "waves": SHORT}),
    "harbour": st.load("harbour-current"),
    "sea-state-4": st.load("sea-state-4"),
    "winter": st.load("north-atlantic-winter"),
    "tank": st.load("towing-tank"),
}
SURFACE = [name for name in library_names("vehicle") if st.load(name).buoyancy.craft == "surface"]


def stages(name, world, seed, monkeypatch):
    """A vehicle compiled into a sea, and the hull and sea that its amplitudes are made of."""
    given = []

    def noted(hull, sea, typical):
        given.append((hull, sea))
        return tables.heading_table(hull, sea, typical)

    monkeypatch.setattr("seatrial.compile.vehicles.hull.heading_table", noted)
    ocean = build_ocean(world, seed, F64)
    model = compile_vehicle(st.load(name), ocean, F64).model
    return model.excitation, *given[0]


def looked_up(table, headings):
    """Complex amplitudes (O, C, H) as a step finds them: of cos φ, and −i times that of sin φ."""
    if len(table) == 1:
        found = np.repeat(table[0].astype(float)[..., None], len(headings), axis=2)
    else:
        first, weights = wave_excitation._place(jnp.asarray(headings), len(table) - 3)
        first, weights = np.asarray(first), np.asarray(weights)
        found = sum(weights[:, j] * table[first + j].transpose(1, 2, 0) for j in range(3))
    cosine, sine = np.split(found, 2, axis=1)
    return cosine - 1j * sine


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", SURFACE)
def test_interpolated_amplitudes_are_the_hulls_within_half_a_percent(name, world, monkeypatch, x64):
    """Error of every output over random headings, as a share of its root mean square in the sea."""
    excitation, hull, sea = stages(name, WORLDS[world], 7, monkeypatch)
    table = np.asarray(excitation.table)
    # one at random in each of 500 sectors
    headings = 2 * math.pi / 500 * (np.arange(500) + np.random.default_rng(1).uniform(size=500))
    exact = transfer(hull, sea, sea.direction[:, None] - headings) * sea.amplitude[:, None]
    found = tables._level(looked_up(table, headings), -headings)  # back to along and across
    error = np.sqrt(np.sum(np.abs(found - exact) ** 2, axis=(1, 2)))
    size = np.sqrt(np.sum(np.abs(exact) ** 2, axis=(1, 2)))
    for kind in KINDS:
        floor = 1e-6 * size[kind].max()  # where symmetry leaves nothing but rounding
        assert np.all(error[kind] < 5e-3 * size[kind] + floor)
    if name == "smarty":
        assert len(table) == 1
        assert np.all(error <= 1e-6 * size.max())


def test_a_harmonic_is_kept_up_to_the_known_error_of_a_spline():
    """Least-squares fit of exp(inψ) by quadratic B-splines: (2πn/H)³/√30240 of it is lost.

    Blu and Unser (1999), Quantitative Fourier analysis of approximation techniques, part I: the
    constant of a spline space of order L is √(B_2L/(2L)!), here L = 3 and B_6 = 1/42.
    """
    rows, n = 96, 5
    psi = tables._headings(4 * rows)
    fitted = tables._fitted(np.exp(1j * n * psi)[None, None], rows)
    table = np.concatenate([fitted.real, -fitted.imag], axis=1).transpose(2, 0, 1)
    table = table[np.arange(-1, rows + 2) % rows]
    at = np.random.default_rng(0).uniform(-10.0, 10.0, 4000)
    error = looked_up(table, at)[0, 0] - np.exp(1j * n * at)
    expected = (2 * math.pi * n / rows) ** 3 / math.sqrt(30240)
    assert np.sqrt(np.mean(np.abs(error) ** 2)) == pytest.approx(expected, rel=0.05)
    assert tables._loss(4 * rows, rows)[n] == pytest.approx(expected**2, rel=0.1)


def test_what_the_rows_cannot_resolve_is_averaged_away():
    psi = tables._headings(192)
    fitted = tables._fitted(np.exp(1j * 30 * psi)[None, None], 24)
    assert np.abs(fitted).max() < 0.1  # sampled at the rows it would be whole, as exp(6iψ)


def test_no_seed_changes_the_shape_of_the_table(x64, monkeypatch):
    for world in ("short", "sea-state-4"):
        found = [stages("otter", WORLDS[world], seed, monkeypatch)[0].table for seed in range(6)]
        assert len({table.shape for table in found}) == 1
        assert not np.array_equal(found[0], found[1])


def test_taller_waves_of_the_same_period_share_the_shape_of_the_table(x64, monkeypatch):
    for height in (0.05, 0.1, 0.3):
        waves = SHORT | {"significant_height": height}
        world = st.World.model_validate({"kind": "world", "name": "short", "waves": waves})
        table = stages("otter", world, 0, monkeypatch)[0].table
        assert table.shape == (99, 16, 150)


@jax.jit
def loads(excitation, waves, heading):
    level = jnp.zeros_like(heading)
    turned = rotation(from_euler(level, level, heading))
    found = wave_excitation.evaluate(excitation, waves, level, level, turned, jnp.float64(3.0))
    return jnp.stack([*found.wrench, found.elevation, *found.slope, *found.motion])


def barge_in_short_sea():
    ocean = build_ocean(WORLDS["short"], 3, F64)
    return craft.compiled(craft.barge(4.0, 1.6, 0.5), ocean).excitation, ocean.waves


def test_one_vessel_and_many_feel_the_same(x64):
    excitation, waves = barge_in_short_sea()
    headings = jnp.linspace(-7.0, 7.0, 40)
    many = loads(excitation, waves, headings)
    alone = jnp.stack([loads(excitation, waves, psi) for psi in headings], axis=-1)
    each = jax.vmap(lambda psi: loads(excitation, waves, psi), out_axes=-1)(headings)
    size = np.abs(np.asarray(alone)).max(axis=1, keepdims=True)
    assert np.abs(many - alone).max() <= 1e-12 * size.max()
    assert np.all(np.abs(each - alone) <= 1e-12 * size)


def test_loads_and_their_slope_over_the_heading_are_continuous_all_around(x64):
    excitation, waves = barge_in_short_sea()
    rows = excitation.table.shape[0] - 3
    # where the middle row changes, halfway between rows; south is where the heading wraps
    seams = 2 * math.pi * (np.arange(rows) + 0.5) / rows - math.pi
    slope = jax.jit(jax.jacfwd(lambda psi: loads(excitation, waves, psi)))
    for seam in (*seams[::7], math.pi, 0.0):
        before, after = (jnp.float64(seam + e) for e in (-1e-9, 1e-9))
        for function in (lambda psi: loads(excitation, waves, psi), slope):
            gap = np.abs(function(after) - function(before))
            assert np.all(gap <= 1e-5 * (np.abs(function(before)) + 1.0))
    at, step = jnp.float64(0.3), 1e-4
    change = loads(excitation, waves, at + step) - loads(excitation, waves, at - step)
    assert np.asarray(slope(at)) == pytest.approx(np.asarray(change) / (2 * step), rel=1e-3, abs=1)
    back = jax.grad(lambda psi: loads(excitation, waves, psi)[1])(at)
    assert float(back) == pytest.approx(float(slope(at)[1]), rel=1e-9)


def test_a_table_kept_in_a_file_is_the_one_computed(x64, tmp_path):
    file = tmp_path / "otter.npz"
    precompute(st.load("otter"), WORLDS["short"], 5, file)
    scenario = st.Scenario.model_validate(
        {
            "kind": "scenario",
            "name": "kept",
            "duration": 1.0,
            "seed": 5,
            "world": WORLDS["short"],
            "vehicles": [{"name": "otter", "vehicle": st.load("otter"), "wave_forces": str(file)}],
        }
    )
    ocean = build_ocean(WORLDS["short"], 5, F64)
    kept = load_wave_forces(scenario, 0, ocean, F64)
    computed = compile_vehicle(st.load("otter"), ocean, F64).model.excitation
    assert kept.table.dtype == np.float32
    for found, expected in zip(jax.tree.leaves(kept), jax.tree.leaves(computed), strict=True):
        np.testing.assert_array_equal(found, expected)
    with np.load(file) as data:
        cut = {key: data[key] for key in data.files} | {"table": data["table"][:, :, :-2]}
    np.savez(file, **cut)
    with pytest.raises(st.SpecError, match="no wave force amplitudes can be read"):
        load_wave_forces(scenario, 0, ocean, F64)
