"""Eighteen minutes under water without a fix: a cheap IMU alone, and with the vehicle's dynamics.

R. Sharma, *Dynamics assisted Dead Reckoning for Marine Vessels in a high-fidelity Simulator using a
low-cost IMU*, cites M. T. Sabet et al. (IEEE Journal of Oceanic Engineering 43(4), 2018) with a
position error of 8 % in an outage of 18 minutes, from a low-cost IMU and a model of an AUV's speed.
Neither the vehicle, nor the course, nor the current of that experiment is known here: theirs is a
number to stand beside ours, measured at sea where ours is simulated.

A REMUS 100 with an IMU as in a phone, an attitude reference, a pressure sensor and a satellite
receiver runs two legs at right angles 1 m below the surface, its antenna on a float 2 m above it;
from these its filter learns the current. It dives, which pulls the float under, and follows legs at
8 m depth. It steers by its own estimate, with dynamics aiding, so that the errors are those of the
closed loop. The filters that are compared run over the recording: the same filter; some whose
vehicle has more or less drag and damping than the true one; one without dynamics; and, for
reference, two with a Doppler log, on the bottom and on the water.

The true vehicle obeys the same equations as the filter's but for that drag. Waves, wind and a
current that changes with depth and time are left out; so this is what the method can do at best.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.record.reader import Recording
from seatrial.spec.actuators import Fin
from seatrial.spec.loading import load_text
from seatrial.spec.navigation import Navigation
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle
from seatrial.validation.claims import Claim
from seatrial.validation.navigation import Rerun, navigate
from seatrial.validation.sailing import sail

Array = NDArray[np.float64]

SEEDS = 8
OUTAGE = 1080.0
"""s."""
CITED = 0.08
"""Of Sabet et al. as cited by Sharma."""
CHANCE = 3.0
"""Standard errors by which means must differ to tell anything."""
MISTAKES = (0.1, -0.1, 0.3, -0.3)
"""Drag and damping of the filter's vehicle, less those of the true one, as a share of them."""

WITH, WITHOUT, WATER, BOTTOM = "dynamics", "no velocity aid", "log on water", "log on bottom"

SCENARIO = """
kind: scenario
name: outage
description: REMUS 100 finds the current near the surface, dives and runs on without a fix
duration_min: 24
world: {name: shelf, seabed: {depth: 40}, current: {speed: 0.2, towards_deg: 120}}
vehicles:
  - name: auv
    vehicle: remus100_mss
    start: {position: [0, 0, 1], speed: 1.5}
    sensors:
      - {type: imu, name: imu, rate: 50, position: [0.2, 0.0, 0.0], errors: lsm6dsr}
      - {type: ahrs, name: ahrs, rate: 10, position: [0.2, 0.0, 0.0]}
      - {type: pressure, name: depth, rate: 10, position: [0.3, 0.0, 0.0]}
      - {type: gnss, name: gnss, rate: 1, position: [0.0, 0.0, -2.0]}
      - {type: dvl, name: dvl, rate: 5, position: [0.4, 0.0, 0.08]}
      - {type: dvl, name: water_log, rate: 5, position: [0.4, 0.0, 0.08], maximum_altitude: 8}
    navigation: {aids: [{sensor: ahrs}, {sensor: depth}, {sensor: gnss}], dynamics: {}}
    failsafes: {position: null}    # to be lost is what it is out for
    mission:
      - do: goto
        waypoints: [[120, 0], [120, 120]]
        depth: 1
        speed: 1.5
        acceptance: 8
      - do: goto
        waypoints: [[620, 120], [620, 520], [320, 820], [320, 1700]]
        depth: 8
        speed: 1.5
        acceptance: 8
"""


@dataclass(frozen=True)
class DeadReckoning:
    """One filter on one recording, from the last fix to the end of the outage."""

    time: Array
    """(T,) s since the last fix."""
    true: Array
    """(T, 2) north and east, m."""
    believed: Array
    """(T, 2)."""
    deviation: Array
    """(T,) that the filter states of its place, √(σ_N² + σ_E²), m."""

    @property
    def error(self) -> Array:
        """(T,) horizontal, m."""
        apart: Array = np.linalg.norm(self.believed - self.true, axis=1)
        return apart

    @property
    def distance(self) -> Array:
        """(T,) run over ground since the last fix, m."""
        steps = np.linalg.norm(np.diff(self.true, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def share(self) -> float:
        """Error at the end as a share of the distance."""
        return float(self.error[-1] / self.distance[-1])


@dataclass(frozen=True)
class Study:
    """Tracks of every filter, one for every seed."""

    tracks: dict[str, list[DeadReckoning]]

    def shares(self, case: str) -> Array:
        """Error at the end of the outage as a share of the distance, by seed."""
        return np.array([track.share for track in self.tracks[case]])

    def claimed(self, case: str) -> Array:
        """Error at the end in standard deviations that the filter states, by seed."""
        return np.array([t.error[-1] / t.deviation[-1] for t in self.tracks[case]])


def wrong(mistake: float) -> str:
    """Name of the case in which the filter's vehicle has so much more drag."""
    return f"dynamics, drag {100 * mistake:+.0f} %"


def run_study(seeds: int = SEEDS, report: Callable[[float], None] | None = None) -> Study:
    """Run the voyage with every seed, and every filter over its recording."""
    scenario = load_text(SCENARIO, Scenario)
    plain = _filter("ahrs", "depth", "gnss", dynamics=None)
    aided = _filter("ahrs", "depth", "gnss", dynamics={})
    cases = {WITH: (scenario, aided)}
    cases |= {wrong(m): (_with_drag(scenario, m), aided) for m in MISTAKES}
    cases |= {
        WITHOUT: (scenario, plain),
        WATER: (scenario, _filter("ahrs", "depth", "gnss", "water_log", dynamics=None)),
        BOTTOM: (scenario, _filter("ahrs", "depth", "gnss", "dvl", dynamics=None)),
    }
    tracks: dict[str, list[DeadReckoning]] = {case: [] for case in cases}
    for seed in range(1, seeds + 1):
        recording = sail(scenario, seed)
        for case, (described, filter) in cases.items():
            tracks[case].append(_outage(recording, navigate(recording, described, "auv", filter)))
        if report is not None:
            report(seed / seeds)
    return Study(tracks)


def _filter(*aids: str, **given: Any) -> Navigation:
    return Navigation.model_validate({"aids": [{"sensor": name} for name in aids], **given})


def _outage(recording: Recording, found: Rerun) -> DeadReckoning:
    fixes = recording.samples("auv", "gnss")
    last = float(fixes.time[fixes.valid][-1])
    assert last + OUTAGE <= found.time[-1], "the run ends before the outage does"
    inside = (found.time >= last) & (found.time <= last + OUTAGE)
    return DeadReckoning(
        time=found.time[inside] - last,
        true=found.true[inside, :2],
        believed=found.believed[inside, :2],
        deviation=np.linalg.norm(found.deviation[inside, :2], axis=1),
    )


def _with_drag(scenario: Scenario, mistake: float) -> Scenario:
    """The scenario with a vehicle of so much more drag and damping."""
    (auv,) = scenario.vehicles
    changed = auv.model_copy(update={"vehicle": with_drag(auv.vehicle, 1.0 + mistake)})
    return scenario.model_copy(update={"vehicles": (changed,)})


def with_drag(vehicle: Vehicle, factor: float) -> Vehicle:
    """A vehicle whose linear damping, cross-flow drag and drag of hull and fins are changed."""
    water = vehicle.hydrodynamics
    assert water is not None
    coefficients = {
        name: factor * value if name[2:] in tuple("uvwpqr") else value
        for name, value in water.coefficients.items()
    }
    changed: dict[str, Any] = {"coefficients": coefficients}
    if water.crossflow is not None:
        assert not isinstance(water.crossflow.drag, str)
        drag = factor * water.crossflow.drag
        changed["crossflow"] = water.crossflow.model_copy(update={"drag": drag})
    actuators = []
    for part in vehicle.actuators:
        if isinstance(part, Fin) and part.lift is not None:
            drag = factor * part.lift.zero_lift_drag
            lift = part.lift.model_copy(update={"zero_lift_drag": drag})
            part = part.model_copy(update={"lift": lift})
        actuators.append(part)
    return vehicle.model_copy(
        update={"hydrodynamics": water.model_copy(update=changed), "actuators": tuple(actuators)}
    )


def rows(study: Study) -> list[list[str]]:
    """A row of the table for every filter."""
    found = []
    for case, tracks in study.tracks.items():
        shares = 100.0 * study.shares(case)
        end = np.array([track.error[-1] for track in tracks])
        found.append(
            [
                case,
                f"{shares.mean():,.1f} %",
                f"{shares.std(ddof=1):,.1f} %",
                f"{shares.max():,.1f} %",
                f"{end.mean():,.0f} m",
                f"{np.mean([3.0 * track.deviation[-1] for track in tracks]):,.0f} m",
            ]
        )
    return [["Sabet et al., as cited", f"{100 * CITED:.0f} %", "–", "–", "–", "–"], *found]


def judge(study: Study) -> list[Claim]:
    """Whether the dynamics hold the estimate, how much they give, and what a wrong model costs."""
    aided, alone = study.shares(WITH), study.shares(WITHOUT)
    factor = alone / aided
    off = {m: study.shares(wrong(m)) for m in MISTAKES}
    worst = {size: max(off[m].mean() for m in off if abs(m) == size) for size in (0.1, 0.3)}
    stated = study.claimed(WITH)
    bottom = study.shares(BOTTOM)
    gain = aided - bottom
    chance = float(gain.std(ddof=1)) / math.sqrt(gain.size)
    return [
        Claim(
            f"with the vehicle's dynamics the error stays below the cited {100 * CITED:.0f} %",
            bool(np.all(aided < CITED)),
            f"{100 * aided.mean():.1f} % in the mean, {100 * aided.max():.1f} % at worst of "
            f"{aided.size}",
        ),
        Claim(
            "without a velocity aid it is more than ten times as large",
            bool(np.all(factor > 10.0)),
            f"{factor.min():.0f} to {factor.max():,.0f} times, "
            f"{100 * alone.mean():,.0f} % in the mean",
        ),
        Claim(
            "a model wrong by 10 % of its drag still keeps it below, in the mean",
            bool(worst[0.1] < CITED),
            f"{100 * worst[0.1]:.1f} % with the worse sign; {100 * worst[0.3]:.1f} % at 30 %",
        ),
        Claim(
            "the filter's own 3σ hold the error, with the right model",
            bool(np.all(stated < 3.0)),
            f"{stated.min():.1f} to {stated.max():.1f} σ at the end",
        ),
        Claim(
            f"a Doppler log on the bottom is no worse, by {CHANCE:g} standard errors",
            bool(gain.mean() > -CHANCE * chance),
            f"{100 * bottom.mean():.1f} %, better by {100 * gain.mean():.1f} ± "
            f"{100 * chance:.1f} % of {gain.size}",
        ),
    ]
