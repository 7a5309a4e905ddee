"""Small good descriptions, and every good description that ships with the package."""

from seatrial.spec.library import FOLDERS, library_file, library_names

VEHICLE = """\
# A tug that uses every sort of key.
kind: vehicle
name: tug
description: A small tug for tests
source: made up
length: 2.0
beam_cm: 108
height: 0.5
inertia:
  mass: 55
  centre_of_gravity: [0.2, 0, -0.2]
  gyration: [0.4, 0.5, 0.5]
buoyancy:
  craft: surface
  blocks:
    - {shape: box, length: 2, beam: 0.25, draught: 0.13, at: [0, -0.4]}
    - {shape: box, length: 2, beam: 0.25, draught: 0.13, at: [0, 0.4]}
hydrodynamics:
  coefficients:
    X_u: -10
    X_ud: -5.5
  nondimensional: {length: 2, speed: instantaneous}
actuators:
  - kind: thruster
    name: screw
    position: [-0.9, 0, 0.1]
    thrust:
      model: polynomial
      ahead: [0, 0, 0.01]
      speed_limits_rpm: [-1000, 1000]
  - kind: fin
    name: rudder
    angle_limit_deg: 35
    lift: {area: 0.02, aspect_ratio: 1.5}
manoeuvring:
  helm: {rudder: 1}
  ahead: {screw_rpm: 900}
"""

SCENARIO = """\
kind: scenario
name: harbour
duration_min: 2
vehicles:
  - name: one
    start: {position: [0, 10, 0], heading_deg: 90, speed_kn: 3}
    manoeuvre: {type: zigzag, helm_deg: 20, heading_change_deg: 20}
    vehicle:
""" + "".join(f"      {line}\n" for line in VEHICLE.splitlines()[1:])


def good_documents() -> dict[str, str]:
    """Name -> YAML text of the samples and of everything in the library."""
    documents = {"tug": VEHICLE, "harbour": SCENARIO}
    for kind in FOLDERS:
        for name in library_names(kind):
            documents[name] = library_file(name, kind).read_text(encoding="utf-8")
    return documents
