"""The ideal inertial sensor put back together: integrated, it returns the true trajectory."""

import functools

import gtsam
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import motions
import seatrial
from sampling import sampled
from seatrial.channels import resolve_channels
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.conventions import GRAVITY
from seatrial.core.step import derivative, step
from seatrial.core.types import State
from seatrial.gnc.navigation.strapdown import Navigated
from seatrial.spatial.rotations import from_euler
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World
from strapdown import integrate

RATE = 200
SECONDS = 60
PER_METRE = 1e-5
"""1 mm per 100 m."""

AHEAD = {"front_starboard": 20, "rear_starboard": 20, "front_port": 8, "rear_port": 8}
TURNING = {
    "bluerov2": AHEAD | {"vertical_starboard": 9.0, "vertical_port": 9.5},
    "bluerov2_heavy": AHEAD
    | {f"vertical_{place}": 4.5 for place in ("front_port", "front_starboard", "rear_port")}
    | {"vertical_rear_starboard": 5.0},
    "kvlcc2_l7": {"propeller": 11.85, "rudder_deg": 20},
    "mariner": {"rudder_deg": 20},
    "otter": {"left_rpm": 900, "right_rpm": 300},
    "remus100": {"propeller": 8.0, "rudder_deg": -10, "stern_plane_deg": 2},
    "remus100_mss": {"propeller_rpm": 1300, "rudder_deg": -10, "stern_plane_deg": 2},
    "sf30k": {"main_port": 700, "main_starboard": 400, "vertical_rear": -150},
    "slocum": {"pump": 0.1, "battery_fore": 0.2, "battery_aft": -0.2, "rudder_deg": 10},
    "smarty": {"fore_port": 10, "aft_port": 10, "fore_starboard": 8, "aft_starboard": 8},
    # Its rudder turns at 1 rad/s and stops: 0.3 rad are a whole number of pairs of samples.
    "sookshma": {"propeller_rpm": 1000, "rudder": 0.3},
    "wamv": {"left": 400, "right": 100},
}
"""Orders under which every vehicle of the library travels and turns as it can."""

LAGGING = {"bluerov2", "bluerov2_heavy", "mariner", "otter", "sf30k", "sookshma"}
"""Those whose actuators follow orders with a lag. They start with actuators at rest, and are told
to turn the other way halfway. The orders of the others stand from the start: an actuator that
jumps makes the acceleration jump between two samples, where no sensor sees it; a test below shows
what that costs. With a lag it bends instead, which costs nothing at the border of two of Simpson's
pairs. Control periods are whole numbers of pairs, so that is where orders change in practice.
"""

SPEED = {"kvlcc2_l7": 1.18, "mariner": 7.7, "remus100": 1.5, "remus100_mss": 1.5}


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@functools.partial(jax.jit, static_argnames=("frames",))
def rollout(model, ocean, first, orders, later, begin, dt, frames):
    """States and ν̇ at every sample, time last; the orders change halfway, at an even sample.

    Two steps are made from sample to sample, so that the trajectory's own error is well below that
    of the strapdown rule.
    """

    def frame(at, n):
        t = begin + n * dt
        told = jnp.where(n < frames // 4 * 2, orders, later)

        def half(k, state):
            return step(model, ocean, state, told, t + k * 0.5 * dt, 0.5 * dt)

        return jax.lax.fori_loop(0, 2, half, at), (at, derivative(model, ocean, at, t).velocity)

    seen = jax.lax.scan(frame, first, jnp.arange(frames))[1]
    return jax.tree.map(lambda a: jnp.moveaxis(a, 0, -1), seen)


@functools.cache
def ocean_of(sea):
    return build_ocean(World.model_validate(SEAS[sea]), 1, np.dtype(np.float64))


def short_crested(height, period):
    """A sea with wind and a current."""
    waves = {"spectrum": "jonswap", "significant_height": height, "peak_period": period,
             "towards_deg": 45, "spreading": "cos2", "frequencies": 8, "directions": 3}  # fmt: skip
    return {
        "kind": "world",
        "name": "short-crested",
        "waves": waves,
        "wind": {"speed": 8.0, "towards_deg": 45},
        "current": {"speed": 0.3, "towards_deg": 60},
    }


SEAS = {
    "calm": {"kind": "world", "name": "calm"},
    "waves": short_crested(1.5, 6.0),
    "long waves": short_crested(4.0, 14.0),
}


def mirrored(orders):
    """The same orders with port and starboard, or the sign of the rudder, exchanged."""
    other = {"port": "starboard", "starboard": "port", "left": "right", "right": "left"}

    def swapped(key):
        return "_".join(other.get(word, word) for word in key.split("_"))

    return {swapped(k): -v if k.startswith("rudder") else v for k, v in orders.items()}


def voyage(name, sea, rate=RATE, seconds=SECONDS, orders=None, later=None):
    """What sensors of a vehicle can see on its way.

    A surface craft is put on the water ten seconds before, so that it floats on the waves and does
    not fall into them.
    """
    ocean = ocean_of(sea)
    described = load(name, Vehicle)
    built = compile_vehicle(described, ocean, np.dtype(np.float64))
    orders = TURNING[name] if orders is None else orders
    if later is None:
        later = mirrored(orders) if name in LAGGING else orders
    orders, later = (
        jnp.array(resolve_channels(None, (), o, list(built.channels))) for o in (orders, later)
    )
    inner = jnp.zeros(built.actuator_states)
    if name not in LAGGING:
        inner = inner.at[: orders.shape[0]].set(orders)
    afloat = described.buoyancy.craft == "surface"
    first = State(
        jnp.array([0.0, 0.0, 0.0 if afloat else 10.0]),
        from_euler(*(jnp.float64(a) for a in (0.0, 0.0, 0.5))),
        jnp.array([SPEED.get(name, 0.5), 0.0, 0.0, 0.0, 0.0, 0.0]),
        inner,
    )
    settle = 10 if afloat else 0
    frames = (seconds + settle) * rate + 1
    states, rates = rollout(
        built.model, ocean, first, orders, later, float(-settle), 1.0 / rate, frames
    )
    cut = settle * rate
    return motions.look(jax.tree.map(lambda a: a[..., cut:], states), rates[:, cut:])


def travelled(seen):
    steps = np.diff(np.asarray(seen.state.position), axis=1)
    return np.linalg.norm(steps, axis=0).sum()


@jax.jit
def sensed(states, rates, fixed, axes):
    """Samples and true motion of a sensor."""
    seen = motions.look(states, rates)
    return motions.feel(seen, fixed), motions.truth(seen, fixed, axes)


together = jax.jit(integrate, static_argnames="order")


def missed(seen, fixed, rate=RATE, order=4, every=1):
    """Largest distance from the true place of the sensor, m, and from its attitude, rad."""
    samples, true = sensed(seen.state, seen.acceleration, fixed, motions.quaternion(fixed))
    total, samples = len(samples), np.asarray(samples)[::every]
    # The last sample is repeated, so that one compiled program serves every rate.
    padded = np.pad(samples, ((0, total - len(samples)), (0, 0)), mode="edge")
    start = jax.tree.map(lambda a: a[0], true)
    found = together(start, padded, every / rate, order)
    place, attitude = (np.asarray(a)[: len(samples)] for a in (found.position, found.attitude))
    right = np.asarray(true.attitude)[::every]
    away = np.linalg.norm(place - true.position[::every], axis=1).max()
    # |q − q'| is half the angle between them; q and −q are the same attitude.
    apart = np.minimum(*(np.linalg.norm(attitude + s * right, axis=1) for s in (1, -1)))
    return away, 2.0 * apart.max()


def test_every_vehicle_of_the_library_is_tried():
    variants = {"remus100_x", "wamv_azimuth"}  # the hull of another, driven otherwise
    assert set(TURNING) == set(library_names("vehicle")) - variants


@pytest.mark.parametrize("name", sampled(sorted(TURNING), "otter"))
def test_ideal_sensor_integrates_back_to_the_true_trajectory(name):
    """1 mm per 100 m at 200 Hz, in waves, at the origin and 0.5 m off it at an odd angle. The small
    craft turn with 2 to 3 rad/s."""
    comes_back(voyage(name, "long waves" if name == "mariner" else "waves"))


def test_ideal_sensor_integrates_back_in_calm_water_too():
    comes_back(voyage("wamv", "calm"))


def comes_back(seen):
    for fixed in (motions.mount((0, 0, 0)), motions.mount()):
        away, turned = missed(seen, fixed)
        assert away < PER_METRE * travelled(seen)
        assert turned < 1e-6


def orders_of_convergence(seen):
    """Order seen from 50 to 100, 100 to 200 and 200 to 400 Hz, for both rules."""
    for order in (2, 4):
        far = [missed(seen, motions.mount(), 400, order, every)[0] for every in (8, 4, 2, 1)]
        yield order, np.log2(np.array(far[:-1]) / far[1:])


def test_both_rules_converge_at_their_order_on_a_smooth_motion():
    seen = motions.spinning_helix().look(np.arange(12001) / 400)
    for order, found in orders_of_convergence(seen):
        np.testing.assert_allclose(found, order, atol=0.1)


def test_both_rules_converge_at_their_order_on_a_spinning_vehicle():
    """In waves, which bend nothing under water. At 400 Hz the error of the trajectory shows."""
    steady = TURNING["bluerov2_heavy"]
    seen = voyage("bluerov2_heavy", "waves", rate=400, seconds=30, later=steady)
    for order, found in orders_of_convergence(seen):
        np.testing.assert_allclose(found[:2], order, atol=0.2)
        assert found[2] > order - 0.5


def test_actuator_that_jumps_costs_its_jump_times_the_sample_time():
    """The sensor cannot know where between two samples the thrust came on, so that the velocity
    misses a part of |Δa| Δt from then on: first order only, whatever the rule."""
    seen = voyage(
        "wamv", "calm", orders={"left": 200, "right": 200}, later={"left": 400, "right": 400}
    )
    jump = np.abs(np.diff(np.asarray(seen.acceleration[0]))).max()
    away, twice = (missed(seen, motions.mount(), every=every)[0] for every in (1, 2))
    assert PER_METRE * travelled(seen) < away < jump / RATE * SECONDS
    assert twice / away == pytest.approx(2.0, rel=0.3)


def preintegrated(start, samples, rate):
    """The last motion by gtsam, which holds every sample until the next, in blocks of 20 ms.

    Blocks are short since gtsam's rotation vector must stay well below a turn.
    """
    none = gtsam.imuBias.ConstantBias()
    block = gtsam.PreintegratedImuMeasurements(
        gtsam.PreintegrationParams.MakeSharedD(GRAVITY), none
    )
    at = gtsam.NavState(
        gtsam.Rot3.Quaternion(*start.attitude), np.array(start.position), np.array(start.velocity)
    )
    for i, sample in enumerate(samples[:-1], 1):
        block.integrateMeasurement(sample[:3], sample[3:], 1.0 / rate)
        if i % (rate // 50) == 0:
            at = block.predict(at, none)
            block.resetIntegration()
    return np.concatenate([at.position(), at.velocity(), at.attitude().matrix().ravel()])


def test_independent_preintegration_comes_to_the_same_place():
    """gtsam's rule is of first order, so its limit is taken from 400, 800 and 1600 Hz together."""
    rate, seconds = 1600, 7.5
    fixed = motions.mount()
    seen = motions.spinning_helix().look(np.arange(int(seconds * rate) + 1) / rate)
    felt, true = sensed(seen.state, seen.acceleration, fixed, motions.quaternion(fixed))
    samples, start = np.asarray(felt), Navigated(*(np.asarray(a[0]) for a in true))
    coarse, middle, fine = (
        preintegrated(start, samples[:: rate // r], r) for r in (400, 800, 1600)
    )
    limit = (coarse - 6 * middle + 8 * fine) / 3
    ours = integrate(start, jnp.asarray(samples[::8]), 1 / 200)
    turned = Rotation.from_quat(np.array(ours.attitude[-1]), scalar_first=True).as_matrix().ravel()
    mine = np.concatenate([ours.position[-1], ours.velocity[-1], turned])
    assert np.abs(fine - middle).max() == pytest.approx(np.abs(middle - coarse).max() / 2, rel=0.01)
    np.testing.assert_allclose(limit, mine, atol=1e-6)


def test_recorded_ideal_imu_of_a_run_integrates_back_to_the_recorded_trajectory():
    yaw, pitch, roll = motions.ODD.as_euler("ZYX")
    imu = {"type": "imu", "name": "imu", "rate": RATE, "fidelity": "ideal",
           "position": tuple(motions.ARM), "roll": roll, "pitch": pitch, "yaw": yaw}  # fmt: skip
    other = mirrored(TURNING["bluerov2"])
    scenario = {
        "kind": "scenario",
        "name": "put-together",
        "duration": 60.0,
        "time_step": 0.5 / RATE,
        "world": SEAS["waves"],
        "vehicles": [
            {
                "name": "rov",
                "vehicle": load("bluerov2", Vehicle),
                "start": {"position": [0.0, 0.0, 10.0], "heading_deg": 30.0},
                "commands": {c: [[0, v], [30, other[c]]] for c, v in TURNING["bluerov2"].items()},
                "sensors": [imu],
            }
        ],
    }
    recording = seatrial.run(seatrial.Scenario.model_validate(scenario)).recording
    samples = recording.samples("rov", "imu")
    assert samples.valid.all()
    rov = recording.vehicle("rov")
    origin = rov.position.values
    axes = Rotation.from_quat(rov.attitude.values, scalar_first=True)
    place = origin + axes.apply(motions.ARM)
    spin = np.cross(rov.angular_velocity.values, motions.ARM)
    start = Navigated(
        jnp.asarray(place[0]),
        jnp.asarray(axes[0].apply(rov.velocity.values[0] + spin[0])),
        jnp.asarray((axes[0] * motions.ODD).as_quat(scalar_first=True)),
    )
    found = together(start, samples.values, 1 / RATE, 4)
    every = round(RATE * float(rov.time[1] - rov.time[0]))
    away = np.linalg.norm(np.asarray(found.position)[::every] - place, axis=1)
    path = np.linalg.norm(np.diff(origin, axis=0), axis=1).sum()
    assert len(away) == len(place)
    assert away.max() < PER_METRE * path
