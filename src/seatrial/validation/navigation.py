"""A navigation filter run over the samples of a recording, beside the truth that it holds."""

import math
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.navigation.navigator import (
    NavigationSetup,
    build_navigator,
    first_estimate,
)
from seatrial.compile.surroundings.world import build_ocean
from seatrial.engine.frames import VehicleInfo
from seatrial.errors import RecordingError
from seatrial.gnc.navigation import consistency, offline, smoother
from seatrial.gnc.navigation.state import Filter
from seatrial.gnc.types import Estimate
from seatrial.record.reader import Recording
from seatrial.spec.navigation import Navigation
from seatrial.spec.scenario import Participant, Scenario

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rerun:
    """An estimate beside the truth, at the frames of the recording."""

    vehicle: str
    time: Array
    """(T,) s."""
    true: Array
    """(T, 3) position of the origin, NED, m."""
    believed: Array
    """(T, 3)."""
    deviation: Array
    """(T, 3) that the filter states, m."""
    nis: dict[str, consistency.Verdict]
    """By sensor, or by sensor and number of the group."""
    nees: float
    """Mean normalised error squared of the position; 3 is expected."""

    @property
    def error(self) -> Array:
        """(T, 3) m."""
        return self.believed - self.true

    @property
    def verdict(self) -> str:
        """Whether the filter errs by as much as it says, and which sensors by more.

        NEES over its degrees of freedom is 1 on average; a slow error makes one run differ from
        that by a factor of a few, so that nothing is said of what lies between a tenth and four.
        """
        share = self.nees / 3.0
        if share > 4.0:
            words = f"the filter is too sure: it errs by {math.sqrt(share):.1f} times what it says"
        elif share < 0.1:
            words = f"the filter is too careful: it errs by {math.sqrt(share):.2f} of what it says"
        else:
            words = "the filter errs by about as much as it says"
        loud = [name for name, v in self.nis.items() if v.mean > 2.0 * 0.5 * sum(v.band)]
        if loud:
            words += f"; {', '.join(loud)} by more than their descriptions"
        return words

    def report(self) -> dict[str, Any]:
        """Numbers for people and programs."""
        level = np.linalg.norm(self.error[:, :2], axis=1)
        distance = float(np.linalg.norm(np.diff(self.true[:, :2], axis=0), axis=1).sum())
        jump = np.linalg.norm(np.diff(self.error, axis=0), axis=1)
        return {
            "vehicle": self.vehicle,
            "duration_s": float(self.time[-1] - self.time[0]),
            "distance_m": distance,
            "horizontal_error_rms_m": float(np.sqrt(np.mean(level**2))),
            "horizontal_error_end_m": float(level[-1]),
            "horizontal_error_end_share": float(level[-1] / distance) if distance else None,
            "depth_error_rms_m": float(np.sqrt(np.mean(self.error[:, 2] ** 2))),
            "largest_jump_m": float(jump.max(initial=0.0)),
            "position_nees_mean": self.nees,
            "verdict": self.verdict,
            "nis": {
                name: {
                    "mean": v.mean,
                    "band_95": list(v.band),
                    "samples": v.samples,
                    "rejected": v.rejected,
                }
                for name, v in self.nis.items()
            },
        }


def navigate(
    recording: Recording,
    scenario: Scenario,
    vehicle: str,
    described: Navigation | None = None,
    *,
    smooth: bool = False,
) -> Rerun:
    """Run the filter of the scenario, or another, over what a vehicle measured.

    The filter takes samples as they arrived, as it does aboard; the smoother, which is for
    afterwards, by the time at which they were taken.
    """
    info = recording.info(vehicle)
    participant = _participant(scenario, vehicle)
    if described is None:
        described = participant.navigation or Navigation()
    with jax.enable_x64(True):
        return _navigate(recording, scenario, participant, info, described, smooth)


def _navigate(
    recording: Recording,
    scenario: Scenario,
    participant: Participant,
    info: VehicleInfo,
    described: Navigation,
    smooth: bool,
) -> Rerun:
    period = recording.header.frame_period
    navigator = build_navigator(
        described,
        participant.fitted,
        tuple(info.sensors),
        participant.vehicle,
        scenario.world,
        build_ocean(scenario.world, scenario.seed, np.dtype(np.float64)),
        period,
    )
    if smooth and not isinstance(navigator.filter, Filter):
        raise described.error(
            ("filter",),
            "only the filter `error_state` can be smoothed",
            value=described.filter,
            mend="leave out `--smooth` or change `filter`",
        )
    imu = recording.samples(info.name, info.sensors[navigator.imu].name)
    dt = float(imu.time[1] - imu.time[0])
    every = max(1, round(period / dt))
    data = recording.vehicle(info.name)
    feeds = tuple(
        offline.feed(imu, recording.samples(info.name, info.sensors[i].name), live=not smooth)
        for i in navigator.aids
    )
    orders = data["command"].values[..., None]
    samples, valid = offline.inertial(imu)
    start = _start(described, participant.start.speed, recording, data, info.name)
    if smooth:
        assert isinstance(navigator.filter, Filter)
        track, better = smoother.smooth(
            navigator.filter, start, samples, valid, dt, feeds, orders, every, every
        )
        estimate, state = better.estimate, better.state
    else:
        track = offline.run(
            navigator.filter, start, samples, valid, dt, feeds, orders, every, every
        )
        estimate, state = track.estimate, track.state
    return _result(described, navigator, info, data, imu.time, every, estimate, state, track.nis)


def _result(
    described: Navigation,
    navigator: NavigationSetup,
    info: VehicleInfo,
    data: Any,
    ticks: Array,
    every: int,
    estimate: Estimate,
    state: Any,
    nis: tuple[Any, ...],
) -> Rerun:
    believed = np.asarray(estimate.position)[..., 0]
    time = ticks[every - 1 :: every][: len(believed)]
    inside = time <= float(data["time"].values[-1])
    time, believed = time[inside], believed[inside]
    truth = data["position"].values
    true = np.stack([np.interp(time, data["time"].values, truth[:, i]) for i in range(3)], axis=1)
    covariance = np.asarray(state.covariance)[inside, :3, :3]
    deviation = np.sqrt(np.einsum("tiin->ti", covariance))
    nees = consistency.nees((true - believed)[..., None], covariance)
    names = [info.sensors[i].name for i in navigator.aids]
    names += navigator.known
    verdicts = {}
    for name, values, sizes in zip(names, map(np.asarray, nis), navigator.freedom, strict=True):
        for group, freedom in enumerate(sizes):
            gate = consistency.threshold(freedom, described.gate)
            verdict = consistency.judge_nis(values[:, group], freedom, gate)
            if verdict is not None:
                verdicts[name if len(sizes) == 1 else f"{name} {group + 1}"] = verdict
    return Rerun(info.name, time, true, believed, deviation, verdicts, float(nees.mean()))


def _start(
    described: Navigation, speed: float, recording: Recording, data: Any, name: str
) -> Estimate:
    velocity = np.concatenate([data["velocity"].values[0], data["angular_velocity"].values[0]])
    return first_estimate(
        described,
        data["position"].values[0][:, None],
        data["attitude"].values[0][:, None],
        velocity[:, None],
        np.array([speed]),
        recording.header.seed,
        (name,),
    )


def _participant(scenario: Scenario, vehicle: str) -> Participant:
    """Whom a vehicle belongs to: vessels of a swarm are numbered."""
    for participant in scenario.vehicles:
        number = vehicle.removeprefix(f"{participant.name}_")
        if vehicle == participant.name or (participant.count > 1 and number.isdigit()):
            return participant
    raise RecordingError(f"no vehicle {vehicle!r} in the scenario of this recording")
