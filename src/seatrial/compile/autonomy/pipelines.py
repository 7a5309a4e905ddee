"""Tasks that follow a pipeline by a sonar, to what a pilot needs; refuses what cannot work."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from seatrial.compile.autonomy.navigation.aids import matrix_of
from seatrial.compile.sensors.fitting import samples_underway
from seatrial.compile.swarm import Member
from seatrial.gnc.guidance.pipeline import Tracker
from seatrial.pytree import constant
from seatrial.signals import SensorInfo
from seatrial.spec import mission as spec
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.sensors.ranging import ObstacleSonar
from seatrial.spec.wording import did_you_mean

HALF = 0.5
"""Share of a pipe's diameter by which a return is above the bottom that is the pipe's."""
SHARP = 3.0
"""A pipe is told from the bottom where it is so many deviations of a range high."""
CENTRED = 0.25
"""Deviation of the place of a pipe that is seen, in diameters."""


def build_tracker(
    scenario: Scenario,
    members: Sequence[Member],
    infos: Sequence[SensorInfo],
    ahead: float,
    dtype: np.dtype[Any],
) -> Tracker | None:
    """Of vehicles of one kind; None where none of their missions follows a pipeline by a sonar."""
    participants = {m.index: m.participant for m in members}.values()
    tasks = [
        (participant, number, task)
        for participant in participants
        for number, task in enumerate(participant.mission)
        if isinstance(task, spec.Follow) and task.by is not None
    ]
    if not tasks:
        return None
    first, number, chosen = tasks[0]
    for participant, other, task in tasks[1:]:
        if task.by != chosen.by:
            raise participant.error(
                ("mission", other, "by"),
                "one vehicle follows pipelines by one sonar",
                value=task.by,
                expected=f"`{chosen.by}`, as in the task before",
                mend="name the same sonar in all tasks",
            )
    place, sonar = _sonar(first, number, chosen)
    info = infos[place]
    beams = np.array([info.facts[f"beam_{k + 1}"] for k in range(sonar.beams)])
    beams = beams @ matrix_of(info).T
    if np.ptp(beams[:, 0]) > np.ptp(beams[:, 1]) or beams[:, 2].min() < 0.0:
        raise first.error(
            ("mission", number, "by"),
            "its fan does not look down across the way",
            value=chosen.by,
            expected="a fan from side to side under the vehicle, no beam above the horizon",
            mend="mount it with `roll_deg: 90, pitch_deg: -90`, and a `sector_deg` below 180",
        )
    noise = 0.0 if sonar.fidelity == "ideal" else sonar.noise
    slimmest = min(_diameter(scenario, task) for _, _, task in tasks)
    if slimmest < SHARP * noise:
        raise first.error(
            ("mission", number, "by"),
            f"it does not tell a pipe of {slimmest:g} m from the bottom",
            value=f"noise of {noise:g} m",
            expected=f"`noise` of at most {slimmest / SHARP:.3g} m",
            mend="fit a finer sonar",
        )
    return Tracker(
        arm=constant(info.position, dtype),
        beams=constant(beams, dtype),
        rise=constant(max(HALF * slimmest, 2.0 * noise), dtype),
        noise=constant(CENTRED * slimmest, dtype),
        ahead=constant(ahead, dtype),
        place=place,
        box=max(1, samples_underway(first, sonar)),
    )


def _sonar(participant: Participant, number: int, task: spec.Follow) -> tuple[int, ObstacleSonar]:
    fitted = {s.name: i for i, s in enumerate(participant.fitted) if isinstance(s, ObstacleSonar)}
    if task.by not in fitted:
        raise participant.error(
            ("mission", number, "by"),
            f"`{participant.name}` has no obstacle sonar `{task.by}`",
            value=task.by,
            expected=f"one of {', '.join(fitted)}" if fitted else "a sensor of that type",
            mend=did_you_mean(str(task.by), fitted)
            or "add `{type: obstacle_sonar, name: fan, rate: 5, roll_deg: 90, pitch_deg: -90}`"
            " to its `sensors`",
        )
    sonar = participant.fitted[fitted[task.by]]
    assert isinstance(sonar, ObstacleSonar)
    return fitted[task.by], sonar


def _diameter(scenario: Scenario, task: spec.Follow) -> float:
    """Of the pipeline, m; that it is in the world was checked with the legs."""
    pipe = next(b.pipe for b in scenario.world.bodies if b.name == task.pipeline)
    assert pipe is not None
    return pipe.diameter
