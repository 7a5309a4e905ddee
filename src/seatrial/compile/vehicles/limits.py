"""How fast a vehicle can believably be: beyond this its model has left what it describes.

A generous bound, not an estimate: nothing that floats or dives gets there, and a model that blows
up passes it at once. Its own speed is that of the most streamlined body of its displacement under
all of its thrust, T + W = ½ρ C_V ∇^(2/3) U² with C_V = 0.02 (bodies of revolution at their best,
Hoerner 1965, have 0.022), but no more than a Froude number U/√(gL) of 6, which racing boats and
torpedoes do not reach; or twice the service speed where the coefficients hold the propeller.
Current, waves and wind carry it on top.
"""

import math

import numpy as np

from seatrial.conventions import GRAVITY
from seatrial.ocean import Current, Ocean
from seatrial.ocean.curves import Curve
from seatrial.spec import actuators as actuator_spec
from seatrial.spec import vehicle as spec

STREAMLINED = 0.02
"""Least drag over ½ρ ∇^(2/3) U²."""
FROUDE = 6.0
"""Largest Froude number on its length."""
IN_WAVES = 4.0
"""Largest orbital speed over its root mean square."""
WIND_DRIFT = 0.2
"""Largest share of the wind's speed at which a craft drifts: √(ρ_air/ρ) = 0.035 times the root of
the ratio of what it shows to the air and to the water."""
FALL = 5.0
"""Speed of what drops out of a wave or off a crane, m/s."""
MARGIN = 1.5


def believable_speed(vehicle: spec.Vehicle, ocean: Ocean, start_speed: float = 0.0) -> float:
    """Upper bound on the speed over ground of a vehicle in a sea, m/s."""
    own = max(own_speed(vehicle), abs(start_speed))
    return MARGIN * (own + _carried(ocean) + FALL)


def own_speed(vehicle: spec.Vehicle) -> float:
    """Upper bound on its speed through the water, m/s."""
    density = vehicle.hydrodynamics.reference_density
    volume = vehicle.inertia.mass / density
    push = sum(largest_thrust(a, density) for a in vehicle.actuators)
    if isinstance(vehicle.buoyancy, spec.SubmergedBuoyancy):
        push += net_weight(vehicle, vehicle.buoyancy)
    terminal = math.sqrt(2.0 * push / (density * STREAMLINED * volume ** (2.0 / 3.0)))
    fastest = FROUDE * math.sqrt(GRAVITY * vehicle.length)
    return max(min(terminal, fastest), 2.0 * vehicle.hydrodynamics.about_speed)


def largest_thrust(actuator: actuator_spec.Actuator, density: float) -> float:
    """Largest push of an actuator at rest, to either side, N."""
    if isinstance(actuator, actuator_spec.Ballast):
        return GRAVITY * max(abs(m) for m in actuator.mass_limits)
    if not isinstance(actuator, actuator_spec.Thruster):
        return 0.0
    thrust = actuator.thrust
    if isinstance(thrust, actuator_spec.DirectThrust):
        return max(abs(t) for t in thrust.thrust_limits)
    slowest, fastest = thrust.speed_limits
    if isinstance(thrust, actuator_spec.ShaftSpeedThrust):
        astern = thrust.astern or thrust.ahead
        ahead = np.polyval(thrust.ahead[::-1], fastest)
        return float(max(abs(ahead), abs(np.polyval(astern[::-1], -slowest))))
    curve = thrust.kt
    if curve.line is not None:
        largest = abs(curve.line[0])
    else:
        largest = max(abs(row[1]) for row in curve.table or ())
    turns = max(abs(slowest), abs(fastest))
    return (1.0 - thrust.thrust_deduction) * density * thrust.diameter**4 * largest * turns**2


def net_weight(vehicle: spec.Vehicle, buoyancy: spec.SubmergedBuoyancy) -> float:
    """How far weight and buoyancy in water of the reference density are apart, N."""
    weight = vehicle.inertia.mass * GRAVITY
    if buoyancy.force is not None:
        return abs(weight - buoyancy.force)
    if buoyancy.volume is not None:
        return abs(weight - buoyancy.volume * vehicle.hydrodynamics.reference_density * GRAVITY)
    return 0.0


def _carried(ocean: Ocean) -> float:
    speed = 0.0 if ocean.current is None else _current(ocean.current)
    if ocean.waves is not None:
        orbital = np.asarray(ocean.waves.amplitude) * np.asarray(ocean.waves.omega)
        speed += IN_WAVES * math.sqrt(0.5 * float(np.sum(orbital**2)))
    if ocean.wind is not None:
        speed += WIND_DRIFT * float(ocean.wind.speed)
    return speed


def _current(current: Current) -> float:
    def largest(part: object) -> float:
        values = part.values if isinstance(part, Curve) else part
        return float(np.max(np.abs(np.asarray(values))))

    speed = math.hypot(largest(current.north), largest(current.east))
    if current.tide is not None:
        tide = np.hypot(np.asarray(current.tide.north), np.asarray(current.tide.east))
        speed += float(np.sum(tide))
    return speed * (1.0 if current.profile is None else largest(current.profile))
