"""A description of navigation and the sensors of a vehicle to a filter."""

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.navigation.aids import KNOWN, Makers, matrix_of
from seatrial.compile.autonomy.navigation.belief import FEW, NEVER, longest_repeat
from seatrial.compile.autonomy.navigation.deviations import MEMORY, lasting
from seatrial.compile.autonomy.navigation.knowledge import LULL, Knowledge
from seatrial.compile.autonomy.navigation.sea import sea_of
from seatrial.compile.autonomy.navigation.twin import DynamicsTwin, build_twin
from seatrial.compile.sensors.inertial import EARTH_RATE
from seatrial.compile.surroundings.world import forecast
from seatrial.conventions import GRAVITY
from seatrial.gnc.navigation import ekf15, state
from seatrial.gnc.navigation.aiding import Aid
from seatrial.gnc.navigation.consistency import threshold
from seatrial.gnc.navigation.dispatch import AnyFilter
from seatrial.gnc.navigation.kalman import Test
from seatrial.gnc.navigation.waves import Waves
from seatrial.gnc.types import Estimate
from seatrial.ocean import Ocean
from seatrial.programs import call
from seatrial.pytree import constant
from seatrial.seeding import generator
from seatrial.sensors.noise.processes import instability_deviation
from seatrial.signals import SensorInfo
from seatrial.spatial.rotations import multiply, rotation
from seatrial.spec import navigation as spec
from seatrial.spec.sensors import AnySensor
from seatrial.spec.sensors.inertial import AccelerometerErrors, GyroscopeErrors, Imu
from seatrial.spec.vehicle import SurfaceBuoyancy, Vehicle
from seatrial.spec.world import World

Array = NDArray[np.float64]

WARMING = 10.0
"""How far an IMU is from the temperature at which it was calibrated, K."""


# What is left where a description says that there is no error.
_LEAST_FORCE, _LEAST_RATE = 1e-4, 1e-6


@dataclass(frozen=True)
class NavigationSetup:
    """A filter, and which sensors of the vehicle feed it."""

    filter: AnyFilter
    imu: int
    """Place of the IMU among the sensors."""
    aids: tuple[int, ...]
    """Places of the sensors behind the first of `filter.aids`."""
    known: tuple[str, ...]
    """Names of the aids that follow them: what the vehicle knows without a sensor."""
    freedom: tuple[tuple[int, ...], ...]
    """Degrees of freedom of every group of every aid."""


def build_navigator(
    described: spec.Navigation,
    sensors: tuple[AnySensor, ...],
    infos: tuple[SensorInfo, ...],
    vehicle: Vehicle,
    world: World,
    ocean: Ocean,
    control_period: float,
) -> NavigationSetup:
    """Build the filter in double precision; call inside `jax.enable_x64(True)`.

    Of the ocean, in double precision, the water is used; of its waves what a forecast tells. What
    the vehicle knows without a sensor is taken in once every control period.
    """
    place = _find_imu(described, sensors, vehicle.name)
    imu, info = sensors[place], infos[place]
    assert isinstance(imu, Imu)
    errors = _Inertial.of(imu, info)
    floats = isinstance(vehicle.buoyancy, SurfaceBuoyancy)
    sea = sea_of(forecast(world, ocean.waves))
    makers = Makers(described, info, errors.rate, not floats, sea, ocean.water)
    knowledge = Knowledge(described, info, not floats, sea)
    aids: list[Aid] = []
    places = []
    for index, factor in _chosen(described, sensors):
        made = makers.make(sensors[index], infos[index], factor)
        if made is not None:
            aids.append(made)
            places.append(index)
    if described.filter == "direct" and "ahrs" not in [infos[i].type for i in places]:
        raise described.error(
            ("filter",),
            "the filter `direct` has roll and pitch from nowhere but an attitude reference",
            value=described.filter,
            expected="a sensor of `type: ahrs` among the aids",
            mend="add one, or use `filter: error_state`",
        )
    common = {"arm": constant(info.position), "matrix": constant(matrix_of(info).ravel())}
    known: tuple[str, ...] = ()
    if floats:
        known += ("floating",)
        aids.append(knowledge.floating(control_period))
    if described.filter == "direct":
        if described.dynamics is not None:
            raise described.error(
                ("dynamics",),
                "only the filter `error_state` can use the vehicle's own dynamics",
                value=described.filter,
                expected="`filter: error_state`",
                mend="remove `dynamics` or change `filter`",
            )
        filter: AnyFilter = _direct(described, errors, common, tuple(aids), floats)
    else:
        twin = None
        known += ("level",)
        aids.append(knowledge.level(control_period))
        if described.dynamics is not None:
            twin = build_twin(vehicle, ocean)
            known += ("dynamics",)
            aids.append(knowledge.dynamics(described.dynamics, twin, control_period))
        waves = None if sea is None else knowledge.waves(sea)
        filter = _error_state(
            described, errors, common, tuple(aids), known, twin, imu, world.datum.latitude_deg,
            waves, max(1, round(LULL / control_period)),
        )  # fmt: skip
    return NavigationSetup(filter, place, tuple(places), known, tuple(aid.groups for aid in aids))


def first_estimate(
    described: spec.Navigation,
    position: Any,
    attitude: Any,
    velocity: Any,
    speed: Any,
    seed: int,
    names: tuple[str, ...],
) -> Estimate:
    """What vehicles are told of their start: the truth (·, N) with errors drawn as described.

    `velocity` is that over ground and `speed` (N,) the way ahead through the water with which they
    are put in; whatever else they move with is the water's.
    """
    errors = described.start
    drawn = [generator(seed, f"navigation/{name}").normal(size=9) for name in names]
    draws = np.stack(drawn, axis=-1)
    deviation = _start_deviation(errors)[:, None]
    estimate: Estimate = call(_mistaken, position, attitude, velocity, speed, deviation * draws)
    return estimate


@jax.jit
def _mistaken(
    position: jax.Array,
    attitude: jax.Array,
    velocity: jax.Array,
    speed: jax.Array,
    wrong: jax.Array,
) -> Estimate:
    """Position, velocity and attitude with errors (9, N) in this order."""
    turn = jnp.concatenate([jnp.ones_like(wrong[:1]), 0.5 * wrong[6:]])
    tilted = multiply(turn / jnp.sqrt(jnp.sum(turn**2, axis=0)), attitude)
    in_world = rotation(tilted).to_body((wrong[3], wrong[4], wrong[5]))
    moving = velocity + jnp.concatenate([jnp.stack(in_world), jnp.zeros_like(wrong[:3])])
    north, east, down = rotation(tilted).to_world((moving[0] - speed, moving[1], moving[2]))
    # Water rises and falls with waves, and does not flow that way.
    return Estimate(
        position + wrong[:3], tilted, moving, jnp.stack([north, east, jnp.zeros_like(down)])
    )


def _start_deviation(errors: spec.StartErrors) -> Array:
    return np.array(
        [errors.position] * 3 + [errors.velocity] * 3 + [errors.tilt] * 2 + [errors.heading]
    )


@dataclass(frozen=True)
class _Inertial:
    """Errors of an IMU as one bias that walks and one white noise."""

    force: float
    """Density, (m/s²)/√Hz."""
    rate: float
    """Density, (rad/s)/√Hz."""
    force_walk: float
    rate_walk: float
    force_bias: float
    """m/s²; without what crooked axes make of gravity."""
    rate_bias: float
    """rad/s."""
    sample_rate: float
    crooked: tuple[float, float, float]
    """Of the accelerometers: by which angle they sit wrong, by which share their scales are off,
    and how far their axes are from square (`aiding.leaked`)."""
    leaks: tuple[float, float, float]
    """The same of the gyroscopes."""
    pulled: float
    """Rate that a specific force pretends, (rad/s)/(m/s²)."""
    still: int
    """Identical samples in a row after which it counts as frozen."""
    stuck: tuple[int, int]
    """The same of one accelerometer and of one gyroscope alone."""

    @staticmethod
    def of(imu: Imu, info: SensorInfo) -> "_Inertial":
        """A Gauss–Markov bias starts like a random walk of density σ √(2/τ); later it wanders
        less, so the filter is cautious. What turns gravity into a constant error counts as bias."""
        if imu.errors is None or imu.fidelity == "ideal":
            return _Inertial(
                _LEAST_FORCE, _LEAST_RATE, 1e-6, 1e-8, 1e-3, 1e-5, info.rate, (0, 0, 0), (0, 0, 0),
                0.0, NEVER, (NEVER, NEVER),
            )  # fmt: skip
        force, rate = imu.errors.accelerometer, imu.errors.gyroscope
        full = imu.fidelity == "full"
        steps = (force.resolution, rate.resolution) if full else (None, None)
        repeats, alone = (
            [
                longest_repeat(info.deviation[3 * i], step or 0.0, axes, info.rate)
                for i, step in enumerate(steps)
            ]
            for axes in (3, 1)
        )
        return _Inertial(
            force=max(force.noise_density, _LEAST_FORCE),
            rate=max(rate.noise_density, _LEAST_RATE),
            force_walk=_walk(force),
            rate_walk=_walk(rate),
            force_bias=_bias(force, 0.0, full),
            rate_bias=_bias(rate, GRAVITY * rate.g_sensitivity, full),
            sample_rate=info.rate,
            crooked=_crooked(force, full),
            leaks=_crooked(rate, full),
            pulled=rate.g_sensitivity if full else 0.0,
            still=min(repeats),
            stuck=(alone[0], alone[1]),
        )


def _crooked(
    errors: AccelerometerErrors | GyroscopeErrors, full: bool
) -> tuple[float, float, float]:
    """Angle of all axes, scale, and what is left from square."""
    if not full:
        return 0.0, 0.0, 0.0
    askew = errors.misalignment / math.sqrt(2.0)  # half of the angles turn, half of them shear
    return math.hypot(errors.frame, askew), errors.scale, askew


def _walk(errors: AccelerometerErrors | GyroscopeErrors) -> float:
    wandering = 0.0
    if errors.bias_instability and errors.bias_time_constant:
        sigma = instability_deviation(errors.bias_instability)
        wandering = sigma * math.sqrt(2.0 / errors.bias_time_constant)
    return math.hypot(errors.random_walk, wandering)


def _bias(errors: AccelerometerErrors | GyroscopeErrors, pulled: float, full: bool) -> float:
    more = (WARMING * errors.temperature_coefficient, pulled) if full else ()
    wandering = instability_deviation(errors.bias_instability)
    return max(math.hypot(errors.turn_on_bias, wandering, *more), 1e-6)


def _find_imu(described: spec.Navigation, sensors: tuple[AnySensor, ...], vehicle: str) -> int:
    imus = [i for i, s in enumerate(sensors) if isinstance(s, Imu)]
    if described.imu is not None:
        imus = [i for i in imus if sensors[i].name == described.imu]
    if len(imus) == 1:
        return imus[0]
    names = [s.name for s in sensors if isinstance(s, Imu)]
    raise described.error(
        ("imu",),
        f"the navigation of `{vehicle}` needs one IMU, and "
        + (f"there are {len(imus)}" if described.imu is None else "there is none of that name"),
        value=described.imu,
        expected=f"the name of one of: {', '.join(names)}" if names else "an IMU on the vehicle",
        mend="add a sensor of `type: imu`, or say `feedback: truth` on the vehicle"
        if not names
        else "name one of them",
    )


def _chosen(described: spec.Navigation, sensors: tuple[AnySensor, ...]) -> list[tuple[int, float]]:
    """Places of the sensors that aid, and the factors on their errors."""
    if described.aids is None:
        return [(i, 1.0) for i in range(len(sensors))]
    names = [s.name for s in sensors]
    chosen = []
    for k, aid in enumerate(described.aids):
        able = aid.sensor in names and sensors[names.index(aid.sensor)].type in KNOWN
        if not able:
            raise described.error(
                ("aids", k, "sensor"),
                f"`{aid.sensor}` cannot aid the navigation",
                value=aid.sensor,
                expected="a sensor of the vehicle of type " + ", ".join(KNOWN),
                mend="choose another sensor or leave it out",
            )
        chosen.append((names.index(aid.sensor), aid.factor))
    return chosen


def _error_state(
    described: spec.Navigation,
    errors: _Inertial,
    common: dict[str, Any],
    aids: tuple[Aid, ...],
    known: tuple[str, ...],
    twin: DynamicsTwin | None,
    imu: Imu,
    latitude: float,
    waves: Waves | None,
    lull: int,
) -> state.Filter:
    deviation = np.concatenate(
        [
            np.maximum(_start_deviation(described.start), 1e-6),
            [errors.force_bias] * 3,
            [errors.rate_bias] * 3,
            [max(described.current, 1e-6)] * 3,
            np.repeat(np.maximum([*errors.leaks, *errors.crooked], 1e-7), 3),
        ]
    )
    turning = None
    if imu.earth_rate:
        angle = math.radians(latitude)
        turning = constant(EARTH_RATE * np.array([math.cos(angle), 0.0, -math.sin(angle)]))
    return state.Filter(
        **common,
        accelerometer_noise=constant(errors.force),
        gyroscope_noise=constant(errors.rate),
        rate_noise=constant(errors.rate * math.sqrt(errors.sample_rate)),
        accelerometer_walk=constant(errors.force_walk),
        gyroscope_walk=constant(errors.rate_walk),
        gyroscope_pulled=constant(errors.pulled),
        current_walk=constant(np.full(3, described.current_walk)),
        deviation=constant(deviation),
        lull=constant(lull, np.int32),
        still=constant(errors.still, np.int32),
        stuck=constant(np.repeat(errors.stuck, 3), np.int32),
        aids=aids,
        known=known,
        twin=twin,
        earth_rate=turning,
        waves=waves,
    )


def _direct(
    described: spec.Navigation,
    errors: _Inertial,
    common: dict[str, Any],
    aids: tuple[Aid, ...],
    floats: bool,
) -> ekf15.Filter:
    start = np.maximum(_start_deviation(described.start), 1e-6)
    deviation = np.concatenate([start[:3], start[6:9], start[3:6], [0.1] * 3, [0.5] * 3])
    samples, period = math.sqrt(errors.sample_rate), 1.0 / errors.sample_rate
    # This filter has no state for a bias: it can only trust the IMU less.
    felt = math.hypot(errors.force_bias, *(GRAVITY * share for share in errors.crooked[:2]))
    force = lasting(errors.force * samples, felt, MEMORY, period)
    rate = lasting(errors.rate * samples, errors.rate_bias, MEMORY, period)
    inertial = np.repeat([force, rate], 3)
    # Manoeuvres of a small vehicle: its acceleration changes by 1 m/s² and its rate by 1 rad/s
    # within a second; positions, angles and velocities have no noise of their own.
    noise = [0.0] * 9 + [1.0] * 6
    return ekf15.Filter(
        **common,
        inertial=constant(inertial),
        noise=constant(noise),
        deviation=constant(deviation),
        inertial_test=_inertial_test(described),
        aids=aids,
        floats=floats,
    )


def _inertial_test(described: spec.Navigation) -> Test:
    """Each sample is judged by itself, for ever."""
    never = constant(NEVER, np.int32)
    return Test(
        threshold=constant([threshold(3, described.gate)] * 2),
        lasting=constant([math.inf] * 2),
        fading=constant(0.0),
        unstated=constant(0.0),
        few=constant(FEW, np.int32),
        back=constant(1, np.int32),
        patience=never,
        haste=never,
        still=never,
        stale=constant(math.inf),
        silence=constant(math.inf),
    )
