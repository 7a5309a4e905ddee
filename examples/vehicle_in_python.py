"""Describe a vehicle with typed objects instead of YAML, and check its top speed by hand."""

import math

import seatrial as st
from seatrial.spec.actuators import DirectThrust, FinSet, LiftCurve, Thruster
from seatrial.spec.scenario import Participant, Start
from seatrial.spec.vehicle import Hydrodynamics, Inertia, SubmergedBuoyancy

DRAG, THRUST = 4.0, 9.0
added_mass = {"X_ud": -1.5, "Y_vd": -28.0, "Z_wd": -28.0, "M_qd": -4.0, "N_rd": -4.0}
damping = {"X_u_au": -DRAG, "Y_v_av": -80, "Z_w_aw": -80, "K_p": -1, "M_q": -9, "N_r": -9}
motor = DirectThrust(model="direct", thrust_limits=(-20.0, 20.0))
fin = LiftCurve(area=0.02, aspect_ratio=3.0, zero_lift_drag=0.0)
fins = {"arrangement": "plus", "position": (-0.65, 0, 0), "radius": 0.1, "angle_limit_deg": 20}

torpedo = st.Vehicle(
    kind="vehicle",
    name="torpedo",
    source="made up for this example",
    length=1.5,
    beam=0.2,
    height=0.2,
    inertia=Inertia(mass=30.0, centre_of_gravity=(0.0, 0.0, 0.02), gyration=(0.07, 0.4, 0.4)),
    buoyancy=SubmergedBuoyancy(craft="submerged", volume_l=30.0 / 1.025),
    hydrodynamics=Hydrodynamics(coefficients=added_mass | damping),
    actuators=(
        Thruster(kind="thruster", name="propeller", thrust=motor),
        FinSet(kind="fin_set", name="tail", lift=fin, **fins),
    ),
)
depth = Start(position=(0.0, 0.0, 10.0))
one = Participant(name="t", vehicle=torpedo, start=depth, commands={"propeller": THRUST})
run = st.run(st.Scenario(kind="scenario", name="sprint", duration=60.0, vehicles=(one,)))
speed = float(run.dataset.speed[-1, 0])
print(f"{speed:.3f} m/s; thrust balances drag at {math.sqrt(THRUST / DRAG):.3f} m/s")
assert math.isclose(speed, math.sqrt(THRUST / DRAG), rel_tol=0.01)
