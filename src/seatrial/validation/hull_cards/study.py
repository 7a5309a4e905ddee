"""`seatrial study hull-cards`: published numbers of library vehicles beside those of their hulls.

A card per vehicle: hydrostatics by an exact cut of its hull, added mass by a boundary-element
solution at the ends of the frequency axis, damping by the waves that the hull makes at its natural
frequencies (with slow added mass), and what its file says, with why they differ.
"""

from pathlib import Path

import jax
import numpy as np

from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.hull_forces import hull_mesh, panelled_hull
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.conventions import GRAVITY
from seatrial.core.forces.restoring import SurfaceRestoring
from seatrial.core.types import Model
from seatrial.hull.potential.solver import frequencies, panels, solve
from seatrial.hull.shape.hydrostatics import hydrostatics
from seatrial.ocean import Ocean
from seatrial.spec.loading import load
from seatrial.spec.vehicle import SurfaceBuoyancy, Vehicle
from seatrial.spec.world import World
from seatrial.validation.claims import Claim
from seatrial.validation.findings import Findings, Table, Watch

VEHICLES = ("otter", "wamv", "sookshma")
MOTIONS = ("X_ud", "Y_vd", "Z_wd", "K_pd", "M_qd", "N_rd")
DAMPED = {"Z_w": 2, "K_p": 3, "M_q": 4}
"""Linear damping of motions that something rights."""

WHY = {
    "otter": {
        "draught": "the form has the published block coefficient; flat panels in its curves hold "
        "a little less, so that it floats deeper",
        "area": "the form has the published waterplane coefficient of 3/4",
        "flotation": "the source puts it 0.2 m aft; the form is symmetric about amidships",
        "GM_T": "the source takes KB by Morrish's formula and BM of boxes; the hull is cut exactly",
        "GM_L": "the source adds 0.8 of a box's second moment; the pontoons end in points",
        "X_ud": "Söding's regression for ships; slender pontoons move less water",
        "Y_vd": "a rule of thumb, 1.5 times the mass, which meets the hull in slow sway",
        "Z_wd": "a rule of thumb, the mass itself, which meets the hull in fast heave; four times "
        "as much water follows a slow heave of its wide waterplane",
        "K_pd": "a fifth of the moment of inertia, a rule for one hull; two of them roll by "
        "heaving at half of their distance",
        "M_qd": "a rule of thumb, 0.8 of the moment of inertia, between the hull in slow and fast "
        "pitch",
        "N_rd": "a rule of thumb, 1.7 of the moment of inertia, which meets the hull in slow yaw",
        "Z_w": "a damping ratio of 0.3 by the source; waves alone make a little more",
        "K_p": "a damping ratio of 0.2 by the source; waves alone make as much",
        "M_q": "a damping ratio of 0.4 by the source, of which waves make a quarter",
    },
    "wamv": {
        "draught": "rounded ends carry less than the cylinders of VRX, so the hull sinks deeper",
        "area": "VRX takes boxes as long as the hulls; these are pointed at both ends",
        "flotation": "the hull lies where VRX has it; nose and tail differ in length",
        "GM_T": "a smaller waterplane has less second moment",
        "GM_L": "pointed ends have less second moment than boxes",
        **dict.fromkeys(MOTIONS, "VRX sets all added masses to zero"),
        "Z_w": "VRX names no source; waves make less than half of it",
        "K_p": "VRX names no source; waves alone make more",
        "M_q": "VRX names no source; waves alone make twice as much",
    },
    "sookshma": {
        "draught": "the form has the published block coefficient; flat panels in its curves hold "
        "a little less, so that it floats deeper",
        "area": "the form has the published waterplane coefficient",
        "flotation": "the form, symmetric fore and aft, is placed there",
        "GM_T": "the source's hull has another section than this form",
        "GM_L": "the source's hull is fuller aft, with a transom",
        "X_ud": "a transom moves more water than the fine stern of this form",
        **dict.fromkeys(
            MOTIONS[1:],
            "the source solved for slow motion of a hull with a transom; the form is fine aft",
        ),
        "Z_w": "a damping ratio of 0.3, estimated for this library; waves make half of it",
        "K_p": "a damping ratio of 0.1, estimated for this library; waves make a quarter of it",
        "M_q": "a damping ratio of 0.3, estimated for this library; waves make a third of it",
    },
}
"""Why the published number is not the hull's."""


def hull_cards(out: Path, sample: bool, watch: Watch) -> Findings:
    """A table per vehicle; a sample is the smallest vehicle alone."""
    names = VEHICLES[-1:] if sample else VEHICLES
    tables, numbers, claims = [], {}, []
    with jax.enable_x64(True):
        ocean = build_ocean(World(name="still"), 0, np.dtype(np.float64))
        for i, name in enumerate(names):
            card, found = _card(name, ocean)
            tables += card
            numbers[name] = found
            share = found["draught_m"]["hull"] / found["draught_m"]["published"]
            claims.append(
                Claim(
                    f"the hull of {name} floats as deep as published, within 15 %",
                    abs(share - 1.0) < 0.15,
                    f"{share:.3f} of the published draught",
                )
            )
            watch.share((i + 1) / len(names))
    return Findings(numbers={"cards": numbers}, tables=tables, claims=claims)


def _card(name: str, ocean: Ocean) -> tuple[list[Table], dict[str, dict[str, float]]]:
    vehicle = load(name, Vehicle)
    assert vehicle.hull is not None
    assert isinstance(vehicle.buoyancy, SurfaceBuoyancy)
    model = compile_vehicle(vehicle, ocean, np.dtype(np.float64)).model
    restoring = model.restoring
    assert isinstance(restoring, SurfaceRestoring)
    mesh = hull_mesh(vehicle)
    level = vehicle.buoyancy.waterline
    panelled = panelled_hull(vehicle, vehicle.hull, level)
    slowest = frequencies(panels(panelled, level))[:1]
    density = vehicle.hydrodynamics.reference_density
    solved = solve(panelled, level, density, None, name, omega=slowest)
    found = hydrostatics(mesh, level)
    below = float(found.buoyancy_centre[2]) - vehicle.inertia.centre_of_gravity[2]
    transverse, longitudinal = found.metacentric_radii
    published = np.diag(np.asarray(model.inertia.added_mass))
    why = WHY[name]
    rows: list[tuple[str, str, float, float, str]] = [
        ("draught_m", "draught / m", vehicle.buoyancy.keel_depth,
         float(mesh.vertices[:, 2].max()) - level, why["draught"]),
        ("waterplane_m2", "waterplane / m²", float(restoring.waterplane_area),
         found.waterplane_area, why["area"]),
        ("flotation_m", "centre of flotation / m", float(restoring.flotation[0]),
         float(found.flotation[0]), why["flotation"]),
        ("gm_transverse_m", "GM_T / m", float(restoring.gm_transverse), transverse - below,
         why["GM_T"]),
        ("gm_longitudinal_m", "GM_L / m", float(restoring.gm_longitudinal), longitudinal - below,
         why["GM_L"]),
    ]  # fmt: skip
    text = [[label, _n(a), _n(b), ""] for _, label, a, b, _ in rows]
    reasons = [[label.partition(" / ")[0], note] for _, label, _, _, note in rows]
    values = {key: {"published": a, "hull": b} for key, _, a, b, _ in rows}
    for i, key in enumerate(MOTIONS):
        slow, fast = float(solved.added_mass[0, i, i]), float(solved.infinite[i, i])
        own = float(published[i])
        unit = "kg" if i < 3 else "kg m²"
        text.append([f"{key} / {unit}", _n(-own), _n(-slow), _n(-fast)])
        reasons.append([key, why[key]])
        values[key] = {"published": -own, "hull": -slow, "hull_infinite_frequency": -fast}
    righting = np.array([density * GRAVITY * found.waterplane_area, *(
        vehicle.inertia.mass * GRAVITY * (radius - below) for radius in (transverse, longitudinal)
    )])  # fmt: skip
    inertia = np.asarray(model.inertia.rigid_body) + solved.added_mass[0]
    natural = np.sqrt(righting / np.diag(inertia)[2:5])
    order = np.argsort(natural)
    waves = solve(panelled, level, density, None, name, omega=natural[order])
    for place, (key, i) in zip(np.argsort(order), DAMPED.items(), strict=True):
        frequency, own = float(natural[i - 2]), _linear(model, i)
        radiated = float(waves.damping[place, i, i])
        unit = "kg/s" if i == 2 else "kg m²/s"
        text.append([f"{key} / {unit}", _n(own), f"{_n(-radiated)} ({frequency:.3g} rad/s)", ""])
        reasons.append([key, why[key]])
        values[key] = {"published": own, "hull": -radiated, "frequency_rad_s": frequency}
    title = f"{name}: published beside the hull ({solved.source})"
    headings = ["number", "published", "hull, slow", "hull, fast (ω → ∞)"]
    return [
        Table(title, headings, text),
        Table(f"{name}: why they differ", ["number", "because"], reasons),
    ], values


def _linear(model: Model, motion: int) -> float:
    """Coefficient of the velocity of a motion in its own force."""
    if model.coefficients is None:
        return 0.0
    terms = zip(model.coefficients.terms, model.coefficients.values, strict=True)
    own = (motion, (motion,), (), ())
    return sum(
        float(value)
        for term, value in terms
        if (term.dof, term.velocities, term.absolutes, term.actuators) == own
    )


def _n(value: float) -> str:
    """Four digits; what is left over of a zero is zero."""
    return f"{value if abs(value) > 1e-9 else 0.0:.4g}"
