"""GNSS, UWB, compass, attitude reference and magnetometer: from description to sensor."""

import math
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.context import Built, Context, check_triangle
from seatrial.programs import call
from seatrial.pytree import constant
from seatrial.sensors.inertial.ahrs import Ahrs
from seatrial.sensors.inertial.compass import Compass
from seatrial.sensors.inertial.magnetometer import Iron, Magnetometer, dipole
from seatrial.sensors.noise.drift import Drift
from seatrial.sensors.position.gnss import Gnss, Reception
from seatrial.sensors.position.ranges import Solver
from seatrial.sensors.position.uwb import Detours, Radio, Shadow, Uwb
from seatrial.spatial.rotations import from_euler
from seatrial.spec.sensors import position as spec

Facts = dict[str, tuple[float, ...]]


class Accuracy(NamedTuple):
    """Standard deviations of a GNSS receiver, horizontal (per axis) then vertical."""

    noise: tuple[float, float]
    """m."""
    drift: tuple[float, float]
    """m."""
    drift_time: tuple[float, float]
    """s."""
    velocity_noise: tuple[float, float] = (0.074, 0.15)
    """m/s. u-blox M8 data sheet: 0.05 m/s (50 %), which is 0.674 σ; twice that vertically, as the
    satellites are all on one side."""


FIXES = {"autonomous": 1, "differential": 2, "rtk_float": 3, "rtk_fixed": 4}

# White noise of 0.4 m and 0.7 m, a vertical error of twice the horizontal one and a correlation
# time of 1100 s are from Beard and McLain (2012), section 7.5, after Rankin (1994). A circular
# error probable (CEP) is 1.177 σ per axis; the drift is what the data sheet leaves for it.
TYPICAL = {
    # u-blox M8 data sheet: CEP 2.5 m, so σ = 2.1 m.
    "autonomous": Accuracy((0.4, 0.7), (2.1, 4.1), (1100.0, 1100.0)),
    # u-blox M8 data sheet with SBAS corrections: CEP 2.0 m, so σ = 1.7 m.
    "differential": Accuracy((0.4, 0.7), (1.65, 3.3), (1100.0, 1100.0)),
    # Ambiguities not yet fixed: decimetres; no data sheet states it.
    "rtk_float": Accuracy((0.05, 0.1), (0.2, 0.4), (100.0, 100.0)),
    # u-blox ZED-F9P data sheet: CEP 0.01 m and 0.01 m (50 %) vertically, so σ = 0.0085 m and
    # 0.015 m; what remains is multipath of the carrier, which changes within minutes.
    "rtk_fixed": Accuracy((0.005, 0.01), (0.007, 0.011), (100.0, 100.0)),
}

POSITION = ("north", "east", "down")
VELOCITY = tuple(f"velocity_{axis}" for axis in POSITION)
RATES = tuple(f"angular_velocity_{axis}" for axis in "xyz")

SOLVER_NOISE = 0.01
"""The UWB solver takes ranges to be no better than this, m."""


class GnssErrors(NamedTuple):
    """Standard deviations north, east and down, m and m/s."""

    noise: list[float]
    drift: list[float]
    drift_time: list[float]
    """s."""
    velocity_noise: list[float]


def gnss_errors(described: spec.Gnss) -> GnssErrors:
    """What a description gives, and what is typical of its kind of fix where it is silent."""
    typical = TYPICAL[described.fix]

    def axes(given: tuple[float | None, float | None], usual: tuple[float, float]) -> list[float]:
        horizontal, down = (u if g is None else g for g, u in zip(given, usual, strict=True))
        return [horizontal, horizontal, down]

    times = axes((described.drift_time, described.vertical_drift_time), typical.drift_time)
    if described.fidelity == "ideal":
        return GnssErrors([0.0] * 3, [0.0] * 3, times, [0.0] * 3)
    return GnssErrors(
        axes((described.noise, described.vertical_noise), typical.noise),
        axes((described.drift, described.vertical_drift), typical.drift),
        times,
        axes((described.velocity_noise, described.vertical_velocity_noise), typical.velocity_noise),
    )


def gnss(described: spec.Gnss, context: Context) -> Built:
    """Satellite receiver."""
    fix = constant(FIXES[described.fix], context.dtype)
    noise, drift, times, velocity = gnss_errors(described)
    components = (*POSITION, *VELOCITY, "fix")
    units = (*("m",) * 3, *("m s-1",) * 3, "1")
    if described.fidelity == "ideal":
        return Built(Gnss(context.mount, fix), components, units, (0.0,) * 7)
    sensor = Gnss(
        mount=context.mount,
        fix=fix,
        white=_some(noise + velocity, context),
        drift=_drift(drift, times, context),
        reception=Reception(
            margin=constant(described.margin, context.dtype),
            delay=constant(_samples(described.reacquisition, context), context.dtype),
            cold_start=described.cold_start,
        ),
    )
    position = (math.hypot(n, d) for n, d in zip(noise, drift, strict=True))
    return Built(sensor, components, units, (*position, *velocity, 0.0))


def uwb(described: spec.Uwb, context: Context) -> Built:
    """Ultra-wideband tag."""
    _check_anchors(described)
    anchors = np.array(described.anchors).T
    count = anchors.shape[1]
    components = (*POSITION, *(f"range_{i + 1}" for i in range(count)))
    units = ("m",) * (3 + count)
    facts: Facts = {f"anchor_{i + 1}": anchor for i, anchor in enumerate(described.anchors)}
    placed = constant(anchors, context.dtype)
    if described.fidelity == "ideal":
        return Built(Uwb(context.mount, placed), components, units, (0.0,) * len(units), facts)
    # A tag on a floating vehicle, amid the anchors.
    start = np.append(anchors[:2].mean(axis=1), described.position[2])
    weight = (max(described.noise, SOLVER_NOISE) / described.depth_change) ** 2
    sensor = Uwb(
        mount=context.mount,
        anchors=placed,
        radio=Radio(
            maximum_range=constant(described.maximum_range, context.dtype),
            margin=constant(described.margin, context.dtype),
            solver=solver_of(anchors, start, weight, context),
        ),
        white=_some(described.noise, context),
        detours=_detours(described, context) if described.fidelity == "full" else None,
    )
    deviation = described.noise * dilution(anchors, start, weight)
    return Built(sensor, components, units, (*deviation, *(described.noise,) * count), facts)


def solver_of(
    anchors: NDArray[np.float64], start: NDArray[np.float64], weight: float, context: Context
) -> Solver:
    """How a place is found from distances to some places (3, A)."""
    return Solver(
        start=constant(start, context.dtype),
        depth_weight=constant(weight, context.dtype),
        longest_step=constant(np.linalg.norm(np.ptp(anchors, axis=1)), context.dtype),
    )


def compass(described: spec.Compass, context: Context) -> Built:
    """Magnetic compass."""
    ideal, full = described.fidelity == "ideal", described.fidelity == "full"
    noise = 0.0 if ideal else described.noise
    resolution = described.resolution if full else 0.0
    sensor = Compass(
        mount=context.mount,
        declination=constant(described.declination, context.dtype),
        correction=constant(described.declination if described.corrected else 0.0, context.dtype),
        white=_some(noise, context),
        deviation=_some(described.deviation, context) if full else None,
        # A² + (B sin ψ)² + (C cos ψ)² + … of equal coefficients is three squares at any heading.
        residual=_some(described.residual / math.sqrt(3.0), context) if full else None,
        resolution=_some(resolution, context),
    )
    facts: Facts = {"declination": (described.declination,)}
    return Built(sensor, ("heading",), ("rad",), (_rounded(noise, resolution),), facts)


_from_euler = jax.jit(from_euler)


def ahrs(described: spec.Ahrs, context: Context) -> Built:
    """Attitude and heading reference."""
    ideal = described.fidelity == "ideal"
    tilt = 0.0 if ideal else described.tilt_error
    heading = 0.0 if ideal else described.heading_error
    rate = 0.0 if ideal else described.rate_noise / math.sqrt(context.period)
    times = [described.tilt_time, described.tilt_time, described.heading_time]
    angles = np.array([described.roll, described.pitch, described.yaw])
    sensor = Ahrs(
        mount=context.mount,
        quaternion=constant(call(_from_euler, *angles), context.dtype),
        drift=_drift([tilt, tilt, heading], times, context),
        heading_bias=_some(described.heading_bias, context)
        if described.fidelity == "full"
        else None,
        white=_some(rate, context),
    )
    # ½ ε ⊗ q of a level sensor, its mean square over all headings.
    turned, tilted = heading / math.sqrt(8.0), tilt / 2.0
    return Built(
        sensor,
        (*(f"orientation_{axis}" for axis in "wxyz"), *RATES),
        (*("1",) * 4, *("rad s-1",) * 3),
        (turned, tilted, tilted, turned, rate, rate, rate),
        {"attitude_deviation": (tilt, tilt, heading)},
    )


def magnetometer(described: spec.Magnetometer, context: Context) -> Built:
    """Three-axis magnetometer."""
    ideal, full = described.fidelity == "ideal", described.fidelity == "full"
    dip, strength = dipole(math.radians(context.datum[0]))
    dip = dip if described.inclination is None else described.inclination
    strength = strength if described.strength is None else described.strength
    level = strength * math.cos(dip)
    east = described.declination
    field = (level * math.cos(east), level * math.sin(east), strength * math.sin(dip))
    noise = 0.0 if ideal else described.noise
    resolution = described.resolution if full else 0.0
    sensor = Magnetometer(
        mount=context.mount,
        field=constant(field, context.dtype),
        white=_some(noise, context),
        iron=_iron(described, context) if full else None,
        limit=_some(described.limit, context) if full else None,
        resolution=_some(resolution, context),
    )
    return Built(
        sensor,
        ("field_x", "field_y", "field_z"),
        ("T",) * 3,
        (_rounded(noise, resolution),) * 3,
        {"field": field},
    )


def _some(value: Any, context: Context) -> jax.Array | None:
    """An array, or None where everything in it is zero and so nothing is to be computed."""
    return constant(value, context.dtype) if np.any(value) else None


def _drift(sigma: list[float], times: list[float], context: Context) -> Drift | None:
    if not any(sigma):
        return None
    return Drift(*(constant(v, context.dtype) for v in (sigma, times, context.period)))


def _samples(duration: float, context: Context) -> int:
    """Whole samples that last at least `duration`."""
    return math.ceil(duration / context.period - 1e-9)


def _rounded(noise: float, resolution: float) -> float:
    """Standard deviation with that of rounding: a uniform error within one step."""
    return math.sqrt(noise**2 + resolution**2 / 12.0)


def _iron(described: spec.Magnetometer, context: Context) -> Iron | None:
    soft = np.array(described.soft_iron)
    if np.linalg.cond(soft) > 1e6:
        raise described.error(
            ("soft_iron",),
            "this matrix flattens the field: it has no inverse",
            value=described.soft_iron,
            expected="a matrix near the identity, rows [x, y, z]",
            mend="leave `soft_iron` out for a sensor without iron around it",
        )
    if not np.any(described.hard_iron) and np.array_equal(soft, np.eye(3)):
        return None
    return Iron(constant(described.hard_iron, context.dtype), constant(soft, context.dtype))


def _detours(described: spec.Uwb, context: Context) -> Detours | None:
    if described.outlier_probability == 0.0 and not described.shadows:
        return None

    def array(value: Any) -> jax.Array:
        return constant(value, context.dtype)

    return Detours(
        probability=array(described.outlier_probability),
        detour=array(described.outlier_detour),
        shadows=tuple(
            Shadow(
                low=array(shadow.low),
                high=array(shadow.high),
                probability=array(shadow.probability),
                detour=array(shadow.detour),
                anchor=shadow.anchor - 1,
            )
            for shadow in described.shadows
        ),
    )


def _check_anchors(described: spec.Uwb) -> None:
    for i, anchor in enumerate(described.anchors):
        if anchor[2] >= 0.0:
            raise described.error(
                ("anchors", i),
                "this anchor is not above the water, where radio waves do not travel",
                value=anchor,
                expected="[north, east, down] with down negative",
                mend="raise it, for example to two metres above the water: down -2",
            )
    check_triangle(described, "anchors", "an anchor")
    for i, shadow in enumerate(described.shadows):
        if shadow.anchor > len(described.anchors):
            raise described.error(
                ("shadows", i, "anchor"),
                "there is no such anchor",
                value=shadow.anchor,
                expected=f"1 to {len(described.anchors)}",
                mend="count the anchors from 1, in the order of `anchors`",
            )


def dilution(
    anchors: NDArray[np.float64], place: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    """Standard deviation of a solved position at `place` over that of a range, (3,).

    Linearised with all anchors heard, an error e of the solution before and noise n of the ranges
    give (M + W)⁻¹ (W e + Hᵀ n), with H the direction cosines, M = Hᵀ H and W the weight on the
    previous depth. This is the covariance that such steps settle to. Detours are not in it.
    """
    away = (place[:, None] - anchors).T
    cosines = away / np.linalg.norm(away, axis=1, keepdims=True)
    held = np.diag([0.0, 0.0, weight])
    # Anchors and tag at one height say nothing of the depth; the limit is finite.
    normal = cosines.T @ cosines + 1e-9 * np.eye(3)
    inverse = np.linalg.inv(normal + held)
    carried, added = inverse @ held, inverse @ normal @ inverse
    settled = np.linalg.solve(np.eye(9) - np.kron(carried, carried), added.ravel())
    deviation: NDArray[np.float64] = np.sqrt(np.diag(settled.reshape(3, 3)))
    return deviation
