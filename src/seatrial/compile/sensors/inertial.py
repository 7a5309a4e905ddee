"""Descriptions of inertial sensors to sensors."""

import math

import jax
import numpy as np

from seatrial.compile.sensors.context import Built, Context
from seatrial.pytree import constant
from seatrial.sensors.inertial import imu as runtime
from seatrial.sensors.inertial import truth
from seatrial.sensors.noise.processes import instability_deviation
from seatrial.spec.sensors.base import Fidelity
from seatrial.spec.sensors.inertial import (
    AccelerometerErrors,
    GroundTruth,
    GyroscopeErrors,
    Imu,
)

EARTH_RATE = 7.292115e-5
"""Rotation of the Earth against the stars, rad/s (WGS 84)."""

AT_ONCE = 0.99
"""Share of a step that the next sample shows, from which on a bandwidth is left out."""

COMPONENTS = tuple(
    f"{what}_{axis}" for what in ("acceleration", "angular_velocity") for axis in "xyz"
)


def imu(spec: Imu, context: Context) -> Built:
    """An IMU with the errors that its fidelity asks for.

    `nominal` has white noise, bias instability, random walk and the bias of switching on; `full`
    has the rest as well.
    """
    accelerometer, gyroscope = runtime.Triad(), runtime.Triad()
    deviation: tuple[float, ...] = (0.0,) * len(COMPONENTS)
    facts: dict[str, tuple[float, ...]] = {}
    if spec.fidelity != "ideal":
        if spec.errors is None:
            raise spec.error(
                ("errors",),
                f"an IMU of `fidelity: {spec.fidelity}` needs to know its errors",
                expected="the name of a make in the library, a file, or the errors in place",
                mend="add for example `errors: adis16448`, or `fidelity: ideal` for the truth",
            )
        force, rate = spec.errors.accelerometer, spec.errors.gyroscope
        accelerometer = _triad(force, spec.fidelity, context)
        gyroscope = _triad(rate, spec.fidelity, context)
        deviation = (_white(force, context),) * 3 + (_white(rate, context),) * 3
        facts = _facts("accelerometer", force) | _facts("gyroscope", rate)
    return Built(
        sensor=runtime.Imu(
            mount=context.mount,
            accelerometer=accelerometer,
            gyroscope=gyroscope,
            period=constant(context.period, context.dtype),
            earth_rate=_earth_rate(context) if spec.earth_rate else None,
            vibration=_vibration(spec, accelerometer, context),
        ),
        components=COMPONENTS,
        units=("m s-2",) * 3 + ("rad s-1",) * 3,
        deviation=deviation,
        facts=facts,
    )


def ground_truth(spec: GroundTruth, context: Context) -> Built:
    """The motion itself."""
    return Built(
        sensor=truth.GroundTruth(
            mount=context.mount,
            turn=constant(np.array(context.orientation)[:, None], context.dtype),
            earth_rate=_earth_rate(context) if spec.earth_rate else None,
        ),
        components=truth.COMPONENTS,
        units=("m",) * 3 + ("1",) * 4 + ("m s-1",) * 3 + ("m s-2",) * 3 + ("rad s-1",) * 3,
        deviation=(0.0,) * len(truth.COMPONENTS),
        facts={},
    )


def _triad(
    errors: AccelerometerErrors | GyroscopeErrors, fidelity: Fidelity, context: Context
) -> runtime.Triad:
    def array(value: float) -> jax.Array:
        return constant(value, context.dtype)

    def wanted(value: float | None, everywhere: bool = False) -> jax.Array | None:
        return array(value) if value and (everywhere or fidelity == "full") else None

    full = fidelity == "full"
    return runtime.Triad(
        white=wanted(_white(errors, context), everywhere=True),
        instability=None
        if not errors.bias_instability or errors.bias_time_constant is None
        else runtime.Instability(
            deviation=array(instability_deviation(errors.bias_instability)),
            time_constant=array(errors.bias_time_constant),
        ),
        walk=wanted(errors.random_walk, everywhere=True),
        turn_on=wanted(errors.turn_on_bias, everywhere=True),
        crookedness=runtime.Crookedness(
            array(errors.scale), array(errors.misalignment), array(errors.frame)
        )
        if full and (errors.scale or errors.misalignment or errors.frame)
        else None,
        warmth=runtime.Warmth(
            array(errors.temperature_coefficient), array(errors.reference_temperature)
        )
        if full and errors.temperature_coefficient
        else None,
        g_sensitivity=wanted(errors.g_sensitivity) if isinstance(errors, GyroscopeErrors) else None,
        step=wanted(errors.resolution),
        limit=wanted(errors.range),
        follows=_follows(errors, context) if full else None,
    )


def _follows(errors: AccelerometerErrors | GyroscopeErrors, context: Context) -> jax.Array | None:
    """Share of the way to a new value that a sample goes; None for one that goes all of it."""
    if errors.bandwidth is None:
        return None
    share = -math.expm1(-2.0 * math.pi * errors.bandwidth * context.period)
    return constant(share, context.dtype) if share < AT_ONCE else None


def _vibration(
    spec: Imu, accelerometer: runtime.Triad, context: Context
) -> runtime.Vibration | None:
    shafts = tuple(i for i, channel in enumerate(context.channels) if channel.unit == "rev/s")
    if spec.fidelity != "full" or not spec.vibration or not shafts:
        return None
    # A pole that the samples pass weakens what is in them by itself.
    bandwidth = None
    if spec.errors is not None and accelerometer.follows is None:
        bandwidth = spec.errors.accelerometer.bandwidth
    return runtime.Vibration(
        strength=constant(2.0 * math.pi * spec.vibration / runtime.REFERENCE_SPEED, context.dtype),
        bandwidth=None if bandwidth is None else constant(bandwidth, context.dtype),
        shafts=shafts,
    )


def _facts(
    triad: str, errors: AccelerometerErrors | GyroscopeErrors
) -> dict[str, tuple[float, ...]]:
    """The coefficients that an Allan deviation should find again."""
    return {
        f"{triad}_noise_density": (errors.noise_density,),
        f"{triad}_bias_instability": (errors.bias_instability,),
        f"{triad}_random_walk": (errors.random_walk,),
    }


def _white(errors: AccelerometerErrors | GyroscopeErrors, context: Context) -> float:
    """Standard deviation of the white noise of a sample: N/√Δt."""
    return errors.noise_density / math.sqrt(context.period)


def _earth_rate(context: Context) -> jax.Array:
    """At the datum, north, east, down: Ω (cos φ, 0, −sin φ)."""
    latitude = math.radians(context.datum[0])
    components = EARTH_RATE * np.array([math.cos(latitude), 0.0, -math.sin(latitude)])
    return constant(components, context.dtype)
