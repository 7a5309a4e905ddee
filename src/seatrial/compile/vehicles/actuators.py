"""Actuator descriptions to runtime actuators and their command channels."""

import math
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.channels import Channel
from seatrial.core.actuators import Actuator
from seatrial.core.actuators import ballast as ballast_runtime
from seatrial.core.actuators import fin as fin_runtime
from seatrial.core.actuators import rudder as rudder_runtime
from seatrial.core.actuators import thruster as thruster_runtime
from seatrial.core.actuators.drive import Drive
from seatrial.engine.frames import ActuatorInfo
from seatrial.pytree import constant
from seatrial.spec import actuators as spec

DType = np.dtype[Any]

FIN_ANGLES: dict[str, dict[str, float]] = {
    "plus": {"top": -90.0, "starboard": 0.0, "bottom": 90.0, "port": 180.0},
    "x": {
        "upper_starboard": -45.0,
        "lower_starboard": 45.0,
        "lower_port": 135.0,
        "upper_port": -135.0,
    },
    "three": {"top": -90.0, "lower_starboard": 30.0, "lower_port": 150.0},
}
"""Angle of each fin's span from starboard towards down, degrees."""


def expand(actuators: tuple[spec.Actuator, ...]) -> list[spec.Thruster | spec.Fin | spec.Ballast]:
    """Write fin sets out as single fins."""
    result: list[spec.Thruster | spec.Fin | spec.Ballast] = []
    for actuator in actuators:
        if isinstance(actuator, spec.FinSet):
            result += _fins_of(actuator)
        else:
            result.append(actuator)
    return result


def _fins_of(fins: spec.FinSet) -> list[spec.Fin]:
    x, y, z = fins.position
    result = []
    for place, degrees in FIN_ANGLES[fins.arrangement].items():
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        result.append(
            spec.Fin(
                kind="fin",
                name=f"{fins.name}_{place}",
                position=(x, y + fins.radius * c, z + fins.radius * s),
                axis=(0.0, c, s),
                lift=fins.lift,
                table=fins.table,
                angle_limit=fins.angle_limit,
                rate_limit=fins.rate_limit,
                time_constant=fins.time_constant,
                backlash=fins.backlash,
                angle_error=fins.angle_error,
            )
        )
    return result


def channels_of(actuators: list[spec.Thruster | spec.Fin | spec.Ballast]) -> list[Channel]:
    """Command channels in the order of the command vector."""
    result: list[Channel] = []
    for actuator in actuators:
        if isinstance(actuator, spec.Thruster):
            unit = "N" if isinstance(actuator.thrust, spec.DirectThrust) else "rev/s"
            result.append(Channel(actuator.name, unit))
            if actuator.azimuth is not None:
                result.append(Channel(f"{actuator.name}_angle", "rad"))
        elif isinstance(actuator, spec.Ballast):
            result.append(Channel(actuator.name, "kg"))
        elif actuator.angle_limit > 0:  # a fixed fin takes no orders
            result.append(Channel(actuator.name, "rad"))
    return result


def infos_of(
    actuators: list[spec.Thruster | spec.Fin | spec.Ballast],
) -> tuple[ActuatorInfo, ...]:
    """What a reader of a run is told of every channel, in the order of `channels_of`."""
    units = {channel.name: channel.unit for channel in channels_of(actuators)}
    found: list[ActuatorInfo] = []
    for actuator in actuators:
        if actuator.name not in units:
            continue
        unit, place = units[actuator.name], actuator.position
        if isinstance(actuator, spec.Thruster):
            axis = _direction(actuator.direction)
            size = getattr(actuator.thrust, "diameter", 0.0)
            found.append(ActuatorInfo(actuator.name, unit, "thruster", place, axis, size))
            if actuator.azimuth is not None:
                angle, down = f"{actuator.name}_angle", (0.0, 0.0, 1.0)
                found.append(ActuatorInfo(angle, units[angle], "azimuth", place, down, size))
        elif isinstance(actuator, spec.Fin):
            shape = actuator.lift or actuator.table or actuator.race
            size = 0.0 if shape is None else math.sqrt(shape.area)
            axis = _direction(actuator.axis)
            found.append(ActuatorInfo(actuator.name, unit, "fin", place, axis, size))
        else:
            found.append(ActuatorInfo(actuator.name, unit, "ballast", place))
    return tuple(found)


def _direction(vector: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = _unit(vector).tolist()
    return x, y, z


def limits_of(
    actuators: list[spec.Thruster | spec.Fin | spec.Ballast],
) -> dict[str, tuple[float, float]]:
    """Least and greatest order by channel, in its SI unit."""
    result: dict[str, tuple[float, float]] = {}
    for actuator in actuators:
        if isinstance(actuator, spec.Thruster):
            thrust, turns = actuator.thrust, actuator.azimuth
            result[actuator.name] = (
                thrust.thrust_limits
                if isinstance(thrust, spec.DirectThrust)
                else thrust.speed_limits
            )
            if turns is not None and turns.angle_limit < math.pi:
                result[f"{actuator.name}_angle"] = (-turns.angle_limit, turns.angle_limit)
        elif isinstance(actuator, spec.Ballast):
            result[actuator.name] = actuator.mass_limits
        else:
            result[actuator.name] = (-actuator.angle_limit, actuator.angle_limit)
    return result


def symbols_of(
    actuators: list[spec.Thruster | spec.Fin | spec.Ballast], channels: list[Channel]
) -> dict[str, int]:
    """Names by which coefficients may refer to actuator states."""
    symbols = {channel.name: i for i, channel in enumerate(channels)}
    for actuator in actuators:
        if isinstance(actuator, spec.Fin) and actuator.symbol and actuator.name in symbols:
            symbols[actuator.symbol] = symbols[actuator.name]
    return symbols


def compile_actuators(
    actuators: list[spec.Thruster | spec.Fin | spec.Ballast],
    channels: list[Channel],
    default_size: float,
    dtype: DType,
) -> tuple[tuple[Actuator, ...], int]:
    """Runtime actuators and the length of their state vector."""
    index = {channel.name: i for i, channel in enumerate(channels)}
    propellers = {
        a.name: _thruster(a, index, default_size, dtype)
        for a in actuators
        if isinstance(a, spec.Thruster)
    }
    result: list[Actuator] = []
    inner = len(channels)
    for actuator in actuators:
        if isinstance(actuator, spec.Thruster):
            result.append(propellers[actuator.name])
        elif isinstance(actuator, spec.Fin):
            channel = servo = index.get(actuator.name, fin_runtime.FIXED)
            if actuator.backlash > 0 and channel != fin_runtime.FIXED:
                servo, inner = inner, inner + 1
            result.append(_fin(actuator, channel, servo, propellers, dtype))
        else:
            result.append(_ballast(actuator, index[actuator.name], dtype))
    return tuple(result), inner


def _optional(value: float | None, dtype: DType) -> jax.Array | None:
    return None if not value else constant(value, dtype)


def _drive(
    limits: tuple[float, float],
    time_constant: float,
    rate_limit: float | None,
    dead_band: float,
    dtype: DType,
) -> Drive:
    return Drive(
        low=constant(limits[0], dtype),
        high=constant(limits[1], dtype),
        time_constant=_optional(time_constant, dtype),
        rate_limit=_optional(rate_limit, dtype),
        dead_band=_optional(dead_band, dtype),
    )


def _unit(vector: tuple[float, float, float]) -> NDArray[np.float64]:
    length = math.sqrt(sum(c * c for c in vector))
    return np.array(vector) / length


def _thruster(
    actuator: spec.Thruster, index: dict[str, int], default_size: float, dtype: DType
) -> thruster_runtime.Thruster:
    thrust = actuator.thrust
    size = default_size
    propulsor: (
        thruster_runtime.ThrustCurve | thruster_runtime.OpenWater | thruster_runtime.DirectThrust
    )
    if isinstance(thrust, spec.DirectThrust):
        limits, rate = thrust.thrust_limits, thrust.thrust_rate_limit
        propulsor = thruster_runtime.DirectThrust(constant(thrust.torque_per_thrust, dtype))
    elif isinstance(thrust, spec.ShaftSpeedThrust):
        limits, rate = thrust.speed_limits, thrust.speed_rate_limit
        propulsor = thruster_runtime.ThrustCurve(
            ahead=constant(thrust.ahead, dtype),
            astern=constant(thrust.astern or thrust.ahead, dtype),
            torque_per_thrust=constant(thrust.torque_per_thrust, dtype),
        )
    else:
        limits, rate = thrust.speed_limits, thrust.speed_rate_limit
        size = thrust.diameter
        propulsor = _open_water(thrust, dtype)
    azimuth = None
    if actuator.azimuth is not None:
        a = actuator.azimuth
        azimuth = _drive((-a.angle_limit, a.angle_limit), a.time_constant, a.rate_limit, 0.0, dtype)
    return thruster_runtime.Thruster(
        position=constant(actuator.position, dtype),
        direction=constant(_unit(actuator.direction), dtype),
        size=constant(size, dtype),
        drive=_drive(limits, actuator.time_constant, rate, thrust.dead_band, dtype),
        azimuth=azimuth,
        propulsor=propulsor,
        channel=index[actuator.name],
        azimuth_channel=index.get(f"{actuator.name}_angle", -1) if azimuth is not None else -1,
        handedness={"none": 0, "right": 1, "left": -1}[actuator.rotation],
    )


def _open_water(thrust: spec.OpenWaterThrust, dtype: DType) -> thruster_runtime.OpenWater:
    def curve(c: spec.Characteristic) -> thruster_runtime.Characteristic:
        if c.line is not None:
            return thruster_runtime.Characteristic(
                constant(c.line, dtype), None, constant(c.line[0], dtype)
            )
        advance, values = np.array(c.table).T
        return thruster_runtime.Characteristic(
            constant(values, dtype),
            constant(advance, dtype),
            constant(np.interp(0.0, advance, values), dtype),
        )

    return thruster_runtime.OpenWater(
        diameter=constant(thrust.diameter, dtype),
        kt=curve(thrust.kt),
        kq=None if thrust.kq is None else curve(thrust.kq),
        wake_factor=constant(1.0 - thrust.wake, dtype),
        deduction_factor=constant(1.0 - thrust.thrust_deduction, dtype),
        astern_factor=constant(thrust.astern_factor, dtype),
        torque_factor=constant(thrust.torque_factor, dtype),
        drift=None if thrust.drift_wake is None else _drift_wake(thrust.drift_wake, dtype),
    )


def _drift_wake(wake: spec.DriftWake, dtype: DType) -> thruster_runtime.DriftWake:
    return thruster_runtime.DriftWake(
        rate=constant(wake.rate, dtype),
        starboard=constant(wake.starboard, dtype),
        port=constant(wake.port, dtype),
    )


def _fin(
    actuator: spec.Fin,
    channel: int,
    servo: int,
    propellers: dict[str, thruster_runtime.Thruster],
    dtype: DType,
) -> fin_runtime.Fin:
    limits = (-actuator.angle_limit, actuator.angle_limit)
    return fin_runtime.Fin(
        drive=_drive(limits, actuator.time_constant, actuator.rate_limit, 0.0, dtype),
        half_backlash=_optional(0.5 * actuator.backlash, dtype),
        angle_error=_optional(actuator.angle_error, dtype),
        surface=_surface(actuator, propellers, dtype),
        channel=channel,
        servo=servo,
    )


def _race_rudder(
    actuator: spec.Fin,
    race: spec.RaceRudder,
    propellers: dict[str, thruster_runtime.Thruster],
    dtype: DType,
) -> rudder_runtime.RaceRudder:
    propeller = propellers.get(race.propeller)
    if propeller is None or not isinstance(propeller.propulsor, thruster_runtime.OpenWater):
        raise race.error(
            ("propeller",),
            "a rudder needs the open-water diagram of the propeller in whose race it stands",
            value=race.propeller,
            expected="the name of a thruster of the model `open_water`; thrusters of this "
            f"vehicle: {', '.join(propellers) or 'none'}",
            mend="name that thruster, or describe the rudder by `lift` instead of `race`",
        )
    return rudder_runtime.RaceRudder(
        position=constant(actuator.position, dtype),
        area=constant(race.area, dtype),
        lift_slope=constant(race.lift_slope, dtype),
        in_race=constant(min(float(propeller.propulsor.diameter) / race.height, 1.0), dtype),
        wake_ratio=constant(race.wake_ratio, dtype),
        acceleration=constant(race.acceleration, dtype),
        drag_factor=constant(1.0 - race.resistance_deduction, dtype),
        side_factor=constant(1.0 + race.hull_force, dtype),
        yaw_lever=constant(actuator.position[0] + race.hull_force * race.hull_force_at, dtype),
        straightening_starboard=constant(race.straightening_starboard, dtype),
        straightening_port=constant(race.straightening_port, dtype),
        turning_lever=constant(race.turning_lever, dtype),
        propeller=propeller.propulsor,
        propeller_position=propeller.position,
        propeller_channel=propeller.channel,
    )


def _surface(
    actuator: spec.Fin, propellers: dict[str, thruster_runtime.Thruster], dtype: DType
) -> fin_runtime.Surface | rudder_runtime.RaceRudder | None:
    if actuator.race is not None:
        return _race_rudder(actuator, actuator.race, propellers, dtype)
    section: fin_runtime.LiftCurve | fin_runtime.LiftTable
    if actuator.lift is not None:
        lift = actuator.lift
        slope = lift.lift_slope or fin_runtime.lift_slope(lift.aspect_ratio)
        section = fin_runtime.LiftCurve(
            slope=constant(slope, dtype),
            zero_lift_drag=constant(lift.zero_lift_drag, dtype),
            induced=constant(1.0 / (math.pi * lift.efficiency * lift.aspect_ratio), dtype),
            stall=constant(lift.stall, dtype),
        )
        area = lift.area
    elif actuator.table is not None:
        section = _table(actuator.table, dtype)
        area = actuator.table.area
    else:
        return None
    span = _unit(actuator.axis)
    chord = np.array([1.0, 0.0, 0.0]) - span[0] * span
    chord /= np.linalg.norm(chord)
    return fin_runtime.Surface(
        position=constant(actuator.position, dtype),
        chord=constant(chord, dtype),
        normal=constant(np.cross(span, chord), dtype),
        area=constant(area, dtype),
        section=section,
    )


def _table(table: spec.LiftTable, dtype: DType) -> fin_runtime.LiftTable:
    rows = np.array(table.rows)
    if rows[0, 0] == 0.0:  # symmetric section given for positive angles only
        mirrored = rows[:0:-1] * np.array([-1.0, -1.0, 1.0])
        rows = np.vstack([mirrored, rows])
    return fin_runtime.LiftTable(
        angle=constant(np.radians(rows[:, 0]), dtype),
        lift=constant(rows[:, 1], dtype),
        drag=constant(rows[:, 2], dtype),
    )


def _ballast(actuator: spec.Ballast, channel: int, dtype: DType) -> ballast_runtime.Ballast:
    drive = _drive(actuator.mass_limits, 0.0, actuator.mass_rate_limit, 0.0, dtype)
    return ballast_runtime.Ballast(constant(actuator.position, dtype), drive, channel=channel)
