"""Results of WAMIT and Nemoh are read as the solution that they were written from."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import craft
from seatrial.compile.vehicles.hull_forces import solve_hull
from seatrial.errors import SpecError
from seatrial.hull.examination import Examination
from seatrial.hull.potential.solver import TURN

OMEGA = np.linspace(0.2, 12.0, 60)
HEADINGS = np.arange(0.0, 360.0, 30.0)
G, RHO = craft.G, craft.RHO
BOX = {"barge": {"length": 4.0, "beam": 2.0, "draught": 0.5, "freeboard": 0.75}, "panel": 1.0}

DAMPING = 3000.0 * OMEGA**2 / (1.0 + (OMEGA - 2.0) ** 2) ** 2
"""Of heave alone, made up."""
INFINITE = 5000.0


def _added():
    """A(ω) that belongs to the damping by Kramers and Kronig, on a fine grid of time."""
    time = np.arange(0.0, 60.0, 0.02)
    fine = np.linspace(0.0, 40.0, 4000)
    wide = 3000.0 * fine**2 / (1.0 + (fine - 2.0) ** 2) ** 2
    kernel = 2.0 / math.pi * np.cos(time[:, None] * fine) @ wide * (fine[1] - fine[0])
    return INFINITE - np.sin(OMEGA[:, None] * time) @ kernel * 0.02 / OMEGA


ADDED = _added()


def load(w, degrees):
    """Heave and pitch in the file's axes (z up), exp(iωt)."""
    b = math.radians(degrees)
    k = w * w / G
    return 7.0e4 * np.exp(-k) * np.exp(0.3j * k), 2.0e4 * k * 1j * math.cos(b) + 10.0 * math.sin(b)


def write_wamit(folder, headings=HEADINGS):
    lines = [f"0.0 3 3 {INFINITE / RHO:.9e}"]
    for w, a, b in zip(OMEGA, ADDED, DAMPING, strict=True):
        lines.append(f"{2 * math.pi / w:.12e} 3 3 {a / RHO:.9e} {b / RHO / w:.9e}")
    (folder / "box.1").write_text("\n".join(lines))
    lines = []
    for w in OMEGA:
        for degrees in headings:
            for i, value in zip((3, 5), load(w, degrees), strict=True):
                f = value / RHO / G
                lines.append(f"{2 * math.pi / w:.12e} {degrees} {i} {abs(f):.6e} 0.0 "
                             f"{f.real:.9e} {f.imag:.9e}")  # fmt: skip
    (folder / "box.3").write_text("\n".join(lines))


def write_nemoh(folder, headings=HEADINGS):
    zones = ["VARIABLES=w"]
    for i in range(6):
        zones.append(f'Zone t="Motion {i + 1}", I={len(OMEGA)}')
        for w, a, b in zip(OMEGA, ADDED, DAMPING, strict=True):
            row = [w] + [v for j in range(6) for v in ((a, b) if i == j == 2 else (0.0, 0.0))]
            zones.append(" ".join(f"{v:.9e}" for v in row))
    (folder / "RadiationCoefficients.tec").write_text("\n".join(zones))
    zones = ["VARIABLES=w"]
    for degrees in headings:
        zones.append(f'Zone t="Diffraction - beta = {degrees:.3f} deg", I={len(OMEGA)}')
        for w in OMEGA:
            heave, pitch = load(w, degrees)
            row = [w]
            for i in range(6):
                value = np.conj(heave if i == 2 else pitch if i == 4 else 0.0)  # exp(−iωt)
                row += [abs(value), math.atan2(value.imag, value.real)]
            zones.append(" ".join(f"{v:.9e}" for v in row))
    (folder / "ExcitationForce.tec").write_text("\n".join(zones))


@pytest.mark.parametrize(("write", "name"), [(write_wamit, "box.1"), (write_nemoh, ".")])
def test_results_are_read_into_body_axes(tmp_path, write, name):
    write(tmp_path)
    described = craft.barge(
        hull=BOX | {"hydrodynamics": "potential", "results": str(tmp_path / name)}
    )
    found = solve_hull(described, None)
    assert found.omega == pytest.approx(OMEGA)
    assert found.added_mass[:, 2, 2] == pytest.approx(ADDED, rel=1e-6)
    assert found.damping[:, 2, 2] == pytest.approx(DAMPING, rel=1e-6)
    assert found.infinite[2, 2] == pytest.approx(INFINITE, rel=1e-6 if "." not in name[0] else 0.03)
    for i, w in ((5, OMEGA[5]), (40, OMEGA[40])):
        for degrees in (0.0, 90.0, 240.0):
            heave, pitch = load(w, -degrees)  # through port in the file, through starboard here
            h = round(degrees / 30.0)
            assert found.diffraction[2, i, h] == pytest.approx(TURN[2] * heave, rel=1e-6)
            assert found.diffraction[4, i, h] == pytest.approx(TURN[4] * pitch, rel=1e-6, abs=1e-3)


@pytest.mark.parametrize(("write", "name"), [(write_wamit, "box.1"), (write_nemoh, ".")])
def test_results_of_one_side_are_mirrored(tmp_path, write, name):
    """Most who have a hull that is its own mirror image compute waves from 0 to 180 degrees."""
    write(tmp_path, np.arange(0.0, 181.0, 30.0))
    described = craft.barge(
        hull=BOX | {"hydrodynamics": "potential", "results": str(tmp_path / name)}
    )
    found = solve_hull(described, None)
    assert np.degrees(found.headings) == pytest.approx(HEADINGS)
    for h in range(12):
        mirrored = found.diffraction[:, :, -h % 12] * np.array([1, -1, 1, -1, 1, -1])[:, None]
        assert found.diffraction[:, :, h] == pytest.approx(mirrored)
    pitch = load(OMEGA[40], 60.0)[1]  # through port in the file
    assert found.diffraction[4, 40, 10] == pytest.approx(TURN[4] * pitch, rel=1e-6)
    assert found.diffraction[4, 40, 2] == pytest.approx(TURN[4] * pitch, rel=1e-6)
    write(tmp_path, np.arange(0.0, 91.0, 30.0))
    with pytest.raises(SpecError, match="from 0 to 180 degrees"):
        solve_hull(described, None)


def test_results_that_cannot_be_used_are_refused(tmp_path):
    def asked(**hull):
        return craft.barge(hull=BOX | {"hydrodynamics": "potential"} | hull)

    with pytest.raises(SpecError, match="cannot be used"):
        solve_hull(asked(results=str(tmp_path / "none.1")), None)
    (tmp_path / "bad.1").write_text("1.0 3\n")
    with pytest.raises(SpecError, match="too few numbers"):
        solve_hull(asked(results=str(tmp_path / "bad.1")), None)
    write_wamit(tmp_path)
    for name, line in (("box.1", "1.0 3 3 5.0\n"), ("box.3", "1.0 0.0 3 1.0 2.0\n")):
        whole = (tmp_path / name).read_text()
        (tmp_path / name).write_text(f"{whole}\n{line}")
        with pytest.raises(SpecError, match="too few numbers"):
            solve_hull(asked(results=str(tmp_path / "box.1")), None)
        (tmp_path / name).write_text(whole)
    with pytest.raises(ValueError, match="hydrostatics: linear"):
        asked(results="box.1", hydrostatics="mesh")


def test_natural_frequencies_are_found_where_sloshing_makes_the_added_mass_negative():
    """A catamaran of 200 kg whose added mass falls below −200 kg beneath its natural frequency."""
    omega = np.linspace(1.0, 8.0, 29)
    added = np.full(len(omega), 120.0)
    added[8:11] = (900.0, -700.0, -300.0)
    matrix = np.zeros((len(omega), 6, 6))
    matrix[:, 2, 2] = added
    stiffness, mass = np.zeros((6, 6)), np.diag(np.full(6, 200.0))
    stiffness[2, 2] = 6.0**2 * 320.0
    solved = SimpleNamespace(omega=omega, added_mass=matrix, damping=np.abs(matrix))
    craft = SimpleNamespace(solution=solved, mass_matrix=mass, stiffness=stiffness)
    craft._inertia = partial(Examination._inertia, craft)
    frequency, at, damping = Examination.natural(craft, 2)
    assert frequency == pytest.approx(6.0, rel=1e-12)
    assert (at, damping) == (120.0, 120.0)
