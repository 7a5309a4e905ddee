"""Vehicles that sail by the truth, and the filters that run over what their sensors measured.

Each set of sensors is sailed by many vehicles at once, every one in a sea and with errors of its
own. Looked at is what the filter works with, the place of the IMU in the world: horizontal
position, depth, velocity, tilt (the errors of attitude about north and east) and heading.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.navigation.navigator import (
    NavigationSetup,
    build_navigator,
    first_estimate,
)
from seatrial.compile.scenario import plan_of
from seatrial.compile.surroundings.world import build_ocean
from seatrial.engine.batch import run_batch
from seatrial.errors import SpecWarning
from seatrial.gnc.navigation import consistency, dispatch, offline
from seatrial.gnc.navigation.aiding import attitude_error
from seatrial.gnc.navigation.state import Filter
from seatrial.gnc.navigation.watching import REJECTED
from seatrial.record.memory import MemoryRecorder
from seatrial.signals import Measurements
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3
from seatrial.spec.loading import load_text
from seatrial.spec.navigation import Dynamics, Navigation
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors.position import Usbl
from seatrial.validation.consistency.dynamics import as_told

Array = NDArray[np.float64]

SEA = (
    "{name: sea, seabed: {depth: 40}, current: {speed: 0.3, towards_deg: 160}, "
    "waves: {spectrum: sea_state, code: 3, towards_deg: 45}, wind: {speed: 6, towards_deg: 120}}"
)
FRAME = 0.1
"""s."""
LOOKS = 50
"""Inertial samples from one look at the errors to the next."""
SETTLED = 60.0
"""From when on errors count, s."""
SIDE_BY_SIDE = 32
"""Vehicles whose filters run at once: each leaves 7 MB of covariances behind."""

PARTS = {"position": (0, 1), "depth": (2,), "velocity": (3, 4, 5), "tilt": (6, 7), "heading": (8,)}
"""Rows of the error state."""

SURFACE = (
    "mission: [{do: survey, area: [[20, 0], [140, 0], [140, 90], [20, 90]], spacing: 30, "
    "speed: 1.5, acceptance: 6}]"
)
DIVES = (
    "start: {position: [0, 0, 10], speed: 1.5}\n"
    "    mission: [{do: survey, area: [[40, 0], [240, 0], [240, 120], [40, 120]], spacing: 40, "
    "depth: 10, speed: 1.5, acceptance: 12}]"
)
WORKS = (
    "start: {position: [0, 0, 5]}\n"
    "    mission: [{do: goto, waypoints: [[12, 0, 5], [12, 12, 6], [0, 12, 5], [0, 0, 5], "
    "[12, 0, 5], [12, 12, 6], [0, 12, 5], [0, 0, 5]], speed: 0.3, acceptance: 1}]"
)
BASIN = (
    "mission: [{do: goto, waypoints: [[-4, -10], [8, -5], [9, 9], [-8, 4], [-4, -10], [8, -5], "
    "[9, 9], [-8, 4]], speed: 0.4, acceptance: 2.5}]"
)
BESIDE = Usbl(type="usbl", name="usbl", rate=0.5, transponder=(4.0, 0.0, 38.0))
"""What bounds the position of a ROV beside its ship."""
MISSIONS = {
    "otter": SURFACE,
    "wamv": SURFACE,
    "wamv_azimuth": SURFACE,
    "sookshma": BASIN,
    "remus100": DIVES,
    "remus100_mss": DIVES,
    "remus100_x": DIVES,
    "bluerov2": WORKS,
    "bluerov2_heavy": WORKS,
    "sf30k": WORKS,
}
"""Of every library vehicle that has an IMU."""


@dataclass(frozen=True)
class Sailed:
    """What vehicles measured, beside the truth; vehicles on the last axis."""

    navigator: NavigationSetup
    names: tuple[str, ...]
    """Of the IMU and the sensors behind the aids."""
    measured: tuple[Measurements, ...]
    truth: dict[str, Array]
    """Frames first."""
    seeds: tuple[int, ...]
    speed: float
    """Through the water at the start, m/s."""


class Spread(NamedTuple):
    """Errors of one part of the state beside what is stated of them."""

    nees: float
    """Over its degrees of freedom: 1 on average."""
    inside: float
    """Share within the region that holds 95 %."""
    error: float
    """Rms, m, m/s or rad."""
    stated: float
    """Rms of the standard deviations."""


@dataclass(frozen=True)
class Judged:
    """How true a filter's sigma is."""

    parts: dict[str, Spread]
    nis: dict[str, float]
    """Mean over the degrees of freedom, by sensor or by sensor and number of the group."""
    known: dict[str, float]
    """The same of what the vehicle knows without a sensor."""
    alarms: int
    """How often a sensor was found rejected, frozen, stale or silent, of all vehicles."""
    hours: float


def sail(vehicle: str, fidelity: str, seeds: range, duration: float) -> Sailed:
    """A vehicle of the library under every seed, by the truth, with sensors of one fidelity."""
    scenario = _scenario(vehicle, fidelity, duration)
    kept = [MemoryRecorder() for _ in seeds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpecWarning)
        run_batch((plan_of(scenario, seed) for seed in seeds), [[one] for one in kept])
    recordings = [one.recording() for one in kept]
    participant, header = scenario.vehicles[0], recordings[0].header
    infos = tuple(header.vehicles[0].sensors)
    with jax.enable_x64(True):
        navigator = build_navigator(
            Navigation(),
            participant.fitted,
            infos,
            participant.vehicle,
            scenario.world,
            build_ocean(scenario.world, seeds[0], np.dtype(np.float64)),
            FRAME,
        )
    names = tuple(infos[i].name for i in (navigator.imu, *navigator.aids))
    data = [recording.vehicle("craft") for recording in recordings]
    truth = {
        key: np.stack([d[key].values for d in data], axis=-1)
        for key in ("position", "attitude", "velocity", "angular_velocity", "command")
    } | {"time": data[0]["time"].values}
    measured = tuple(_together([r.samples("craft", name) for r in recordings]) for name in names)
    speed = participant.start.speed
    return Sailed(navigator, names, measured, truth, tuple(seeds), speed)


def _scenario(vehicle: str, fidelity: str, duration: float) -> Scenario:
    scenario = load_text(
        f"""
kind: scenario
name: consistency
duration: {duration}
frame_period: {FRAME}
stop_when_done: false
world: {SEA}
vehicles:
  - name: craft
    vehicle: {vehicle}
    feedback: truth
    {MISSIONS[vehicle]}
""",
        Scenario,
    )
    craft = scenario.vehicles[0]
    carried = craft.fitted
    if MISSIONS[vehicle] == WORKS:
        carried = (*carried, BESIDE)
    sensors = tuple(one.model_copy(update={"fidelity": fidelity}) for one in carried)
    return scenario.model_copy(
        update={"vehicles": (craft.model_copy(update={"sensors": sensors}),)}
    )


def _together(parts: list[Measurements]) -> Measurements:
    arrays = {
        name: np.stack([getattr(part, name) for part in parts], axis=1)
        for name in ("arrival", "values", "valid", "fault")
    }
    return Measurements(parts[0].time, **arrays)


def judge(sailed: Sailed) -> Judged:
    """Run the filters, and compare what they say with the truth."""
    with jax.enable_x64(True):
        return _judge(sailed)


def _judge(sailed: Sailed) -> Judged:
    count = len(sailed.seeds)
    groups = np.array_split(np.arange(count), -(-count // SIDE_BY_SIDE))
    run = [_filtered(sailed, group) for group in groups]
    errors, covariance, found = (
        np.concatenate([getattr(one, what) for one in run], axis=-1)
        for what in ("errors", "covariance", "found")
    )
    parts = {}
    for name, rows in PARTS.items():
        e, P = errors[:, rows], covariance[:, rows][:, :, rows]
        nees = consistency.nees(e, P)
        most = consistency.threshold(len(rows), 0.95)
        stated = np.einsum("tiin->tin", P)
        parts[name] = Spread(
            float(nees.mean()) / len(rows),
            float(np.mean(nees < most)),
            float(np.sqrt(np.mean(e**2))),
            float(np.sqrt(stated.mean())),
        )
    hours = count * float(run[0].time[-1] - SETTLED) / 3600.0
    alarms = int(np.sum(found[0]) + np.sum(found[1:] & ~found[:-1]))
    heard = zip(*(one.nis for one in run), strict=True)
    nis = _nis(sailed, [np.concatenate(values, axis=-1) for values in heard])
    known = {name: nis.pop(name) for name in sailed.navigator.known if name in nis}
    return Judged(parts, nis, known, alarms, hours)


class _Filtered(NamedTuple):
    """What the filters of some vehicles say, once they have settled, beside the truth."""

    time: Array
    """(T,) of the looks, s."""
    errors: Array
    """(T, 9, N) true less believed."""
    covariance: Array
    """(T, 9, 9, N)."""
    found: NDArray[np.bool_]
    """(T, 1 + sensors, N) whether the IMU or a sensor is found wrong."""
    nis: tuple[Array, ...]
    """(S, G, N) of every aid."""


def _filtered(sailed: Sailed, group: NDArray[np.intp]) -> _Filtered:
    truth = {key: a if key == "time" else a[..., group] for key, a in sailed.truth.items()}
    imu, *aids = (
        Measurements(m.time, m.arrival[:, group], m.values[:, group], m.valid[:, group],
                     m.fault[:, group])
        for m in sailed.measured
    )  # fmt: skip
    moving = np.concatenate([truth["velocity"][0], truth["angular_velocity"][0]])
    seeds = tuple(sailed.seeds[k] for k in group)
    names = tuple(f"craft_{seed}" for seed in seeds)
    start = first_estimate(
        Navigation(),
        truth["position"][0],
        truth["attitude"][0],
        moving,
        np.full(len(names), sailed.speed),
        sailed.seeds[0],
        names,
    )
    feeds = tuple(offline.feed(imu, aid, live=True) for aid in aids)
    filter, commands = sailed.navigator.filter, truth["command"]
    assert isinstance(filter, Filter)
    filter, commands = as_told(filter, Dynamics(), commands, FRAME, seeds)
    samples, valid, feeds, orders = jax.tree.map(
        jnp.asarray, (*offline.inertial(imu), feeds, commands)
    )
    dt = float(imu.time[1] - imu.time[0])
    track = offline.run(filter, start, samples, valid, dt, feeds, orders, round(FRAME / dt), LOOKS)
    looks = imu.time[LOOKS - 1 :: LOOKS][: len(track.state.position)]
    late = (looks > SETTLED) & (looks < truth["time"][-1])
    state = jax.tree.map(lambda a: np.asarray(a)[late], track.state)
    health = jax.jit(jax.vmap(lambda s: dispatch.health(filter, s)))(state)
    settled = imu.time > SETTLED
    return _Filtered(
        looks[late],
        _errors(np.asarray(filter.arm), state, truth, looks[late]),
        state.covariance[:, :9, :9].copy(),
        np.asarray(health) >= REJECTED,
        tuple(np.asarray(one)[settled[: len(one)]] for one in track.nis),
    )


def _errors(arm: Array, state: Any, truth: dict[str, Array], at: Array) -> Array:
    """(T, 9, N) true less believed, at times between frames.

    Between two frames the truth lies on the cubic through four: on a straight line it would be off
    by half of 0.16 a FRAME² (a the acceleration), and in waves a craft rolls by 1 rad/s², which
    makes 0.05°.
    """
    first = np.clip(np.searchsorted(truth["time"], at) - 2, 0, len(truth["time"]) - 4)
    share = (at - truth["time"][first]) / FRAME
    weights = [
        np.prod([(share - j) / (i - j) for j in range(4) if j != i], axis=0)[:, None, None]
        for i in range(4)
    ]

    def between(key: str) -> Array:
        return np.asarray(sum(w * truth[key][first + i] for i, w in enumerate(weights)))

    attitude = between("attitude")
    attitude /= np.linalg.norm(attitude, axis=1, keepdims=True)
    true, believed = (np.moveaxis(a, 1, 0) for a in (attitude, state.attitude))
    turned = rotation(jnp.asarray(true))
    there = np.stack(turned.to_world(vec3(jnp.asarray(arm))), axis=1)
    around = np.cross(between("angular_velocity"), arm[None, :, None], axis=1)
    moving = np.moveaxis(between("velocity") + around, 1, 0)
    velocity = np.stack(turned.to_world(vec3(jnp.asarray(moving))), axis=1)
    tilt = np.moveaxis(np.asarray(attitude_error(jnp.asarray(true), jnp.asarray(believed))), 0, 1)
    return np.concatenate(
        [between("position") + there - state.position, velocity - state.velocity, tilt], axis=1
    )


def _nis(sailed: Sailed, nis: list[Array]) -> dict[str, float]:
    found = {}
    names = [*sailed.names[1:], *sailed.navigator.known]
    for name, values, sizes in zip(names, nis, sailed.navigator.freedom, strict=True):
        for group, freedom in enumerate(sizes):
            gate = consistency.threshold(freedom, Navigation().gate)
            verdict = consistency.judge_nis(values[:, group], freedom, gate)
            if verdict is not None:
                key = name if len(sizes) == 1 else f"{name} {group + 1}"
                found[key] = verdict.mean / (0.5 * sum(verdict.band))
    return found
