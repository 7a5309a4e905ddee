"""Names of actuators that would change what coefficients mean are refused, with the place."""

import jax
import numpy as np
import pytest

import craft
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.errors import SpecError
from seatrial.spec.loading import load_text
from seatrial.spec.vehicle import Vehicle

BOAT = """\
kind: vehicle
name: boat
source: made up
length: 2.0
beam: 1.0
height: 0.5
inertia: {{mass: 205.0, gyration: [0.3, 0.5, 0.5]}}
buoyancy:
  craft: surface
  blocks: [{{shape: box, length: 2.0, beam: 1.0, draught: 0.1}}]
hydrodynamics:
  coefficients: {{X_u: -20.0, Y_v: -50.0, Z_w: -500.0, K_p: -50.0, M_q: -90.0, N_r: -40.0{more}}}
actuators:
{actuators}
"""


def compiled(actuators, more=""):
    text = BOAT.format(actuators="\n".join(f"  - {a}" for a in actuators), more=more)
    with jax.enable_x64(True):
        return compile_vehicle(load_text(text, Vehicle), craft.calm(), np.dtype(np.float64))


def thruster(name):
    return f"{{kind: thruster, name: {name}, thrust: {{model: direct, thrust_limits: [-9, 9]}}}}"


def rudder(name, symbol):
    return f"{{kind: fin, name: {name}, symbol: {symbol}, angle_limit_deg: 30}}"


@pytest.mark.parametrize("name", ["u", "v", "w", "p", "q", "r", "up", "ar", "uv", "u_v", "vd"])
def test_a_thruster_named_like_a_velocity_is_refused_with_line_and_remedy(name):
    with pytest.raises(SpecError) as caught:
        compiled([thruster("screw"), thruster(name)])
    text = str(caught.value)
    assert f"an actuator called `{name}` would take over the coefficients" in text
    assert ":15" in text  # the line of the second actuator
    assert f"thruster_{name}" in text


@pytest.mark.parametrize("symbol", ["r", "ar", "qd"])
def test_a_symbol_that_reads_as_a_velocity_is_refused(symbol):
    with pytest.raises(SpecError, match=f"called `{symbol}`"):
        compiled([rudder("rudder", symbol)], f", M_{symbol}: -9.0")


@pytest.mark.parametrize(
    "actuators",
    [
        [rudder("port", "delta"), rudder("starboard", "delta")],
        [rudder("port", "delta"), thruster("delta")],
        [thruster("delta"), rudder("port", "delta")],
    ],
)
def test_a_symbol_of_two_actuators_is_refused(actuators):
    with pytest.raises(SpecError, match="`delta` names two actuators"):
        compiled(actuators, ", Y_delta: 9.0")


def test_a_coefficient_with_two_readings_is_refused():
    names = [thruster("bow"), thruster("side"), thruster("bow_side")]
    with pytest.raises(SpecError, match="`Y_bow_side` can be read in more than one way"):
        compiled(names, ", Y_bow_side: 1.0")


def test_ordinary_names_beside_all_coefficients_stay_as_they_are():
    names = ["rudder_1", "pump", "stern_v", "wave", "quad", "up_port", "a", "d", "rudderless"]
    alone, fitted = compiled([thruster("screw")]), compiled([thruster(n) for n in names])
    assert alone.model.coefficients.terms == fitted.model.coefficients.terms
