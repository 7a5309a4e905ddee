"""A linear quadratic regulator for a vehicle's pose, from its own equations of motion at rest.

Weights of the states are Zwilgmeyer's (2021, section 2.4.5), 100 on the pose and 2000 on the
velocity: they alone decide how the pose is approached, in √(2000/100) = 4.5 s. Those of the inputs
belong to a vehicle: here they are such that its velocity answers with `SWIFTNESS`. Roll and pitch
are to be level sooner than a place is reached; the righting moment that helps them is not counted
on, because a hull at speed may lose it.
"""

import numpy as np

from seatrial.design.authority import Craft
from seatrial.design.linearisation import coupling, drag, linearise
from seatrial.gnc.control.lqr import SecondOrderInput, lqr
from seatrial.gnc.control.regulator import Regulator
from seatrial.pytree import constant

POSE, VELOCITY = 100.0, 2000.0
"""Weights."""
LEVEL_POSE = 2000.0
"""Of roll and pitch: level again in a second."""
SWIFTNESS, LEVEL_SWIFTNESS = 2.0, 3.0
"""Of the velocity, and of the rates of roll and pitch, rad/s: slow beside thrusters and, the
former, input dynamics."""
INPUT_POLES = (-8.0, -8.0, -10.0, -7.0, -7.0, -7.0)
"""As printed in section 2.4.4 there, rad/s."""


def regulator(craft: Craft, speed: float) -> Regulator:
    """For a vehicle that hovers; its drag is taken at a speed, m/s, and at as many rad/s."""
    rest = linearise(craft, 0.0)
    dofs = list(craft.dofs)
    kept = [*dofs, *(6 + i for i in dofs)]
    A = rest.A[np.ix_(kept, kept)]
    B = rest.B[np.ix_(kept, dofs)]
    count = len(dofs)
    A[count:, :count] = 0.0
    mass = np.diag(np.linalg.inv(B[count:]))
    tilt = np.isin(dofs, (3, 4))
    swift = np.where(tilt, LEVEL_SWIFTNESS, SWIFTNESS)
    Q = np.diag([*np.where(tilt, LEVEL_POSE, POSE), *np.full(count, VELOCITY)])
    K = lqr(A, B, Q, np.diag(VELOCITY / (swift * mass) ** 2))
    pose, velocity = np.zeros((6, 6)), np.zeros((6, 6))
    pose[np.ix_(dofs, dofs)], velocity[np.ix_(dofs, dofs)] = K[:, :count], K[:, count:]
    slowness, resistance = np.ones((6, 1)), np.zeros((6, 1))
    for dof in dofs:
        slowness[dof] = velocity[dof, dof] / pose[dof, dof]
        resistance[dof] = max(drag(craft, rest, dof, speed) / speed, 0.0)
    wrench = np.zeros((6, 1))
    wrench[dofs, 0] = rest.wrench[dofs]
    poles = constant(np.array(INPUT_POLES)[:, None])
    return Regulator(
        pose=constant(pose),
        velocity=constant(velocity),
        rest=constant(wrench),
        slowness=constant(slowness),
        drag=constant(resistance),
        coupling=constant([[coupling(craft, rest, 1, 3)], [coupling(craft, rest, 0, 4)]]),
        inputs=SecondOrderInput(poles, constant(np.full((6, 1), np.inf))),
    )
