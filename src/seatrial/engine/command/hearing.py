"""What a pilot takes in of its sensors: as they deliver, and what has arrived since it last asked.

The navigation filter moves with the inertial samples and is corrected by the others; soundings and
reports of others wait in queues until the pilot is asked for orders.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from seatrial.engine.command import sample_queue
from seatrial.engine.command.pilot import Navigator, Pilot, PilotState
from seatrial.engine.compiled.suite import MOST_JITTER, Fitted, Sample, Sensing
from seatrial.gnc import mission as legs
from seatrial.gnc.guidance import pipeline
from seatrial.gnc.guidance import terrain as following
from seatrial.gnc.guidance.pipeline import Tracker
from seatrial.gnc.guidance.terrain import Bottom, Terrain
from seatrial.gnc.navigation import dispatch as navigation
from seatrial.gnc.types import Estimate
from seatrial.ocean import Ocean, seabed


def hear(
    pilot: Pilot,
    memory: PilotState,
    suite: tuple[Fitted, ...],
    sensing: tuple[Sensing, ...],
    which: list[int],
    index: jax.Array,
    t: jax.Array,
) -> PilotState:
    """Take in what some sensors deliver at this instant, but not the inertial ones."""
    heard = memory.failsafes.heard
    for row, (place, part) in enumerate(pilot.failsafes.ears):
        if place in which:
            sample = sensing[place].last
            value, due = sample.values[part], index % suite[place].period == 0
            # A distance of zero is no echo.
            told = due & sample.valid & ((row != pilot.failsafes.altimeter) | (value > 0.0))
            heard = heard.at[row].set(jnp.where(told, value, heard[row]))
    memory = memory._replace(failsafes=memory.failsafes._replace(heard=heard))
    if pilot.watch is not None:
        reports = list(memory.reports)
        for k, ear in enumerate(pilot.watch.ears):
            if ear.place in which:
                due = index % suite[ear.place].period == 0
                reports[k] = sample_queue.post(reports[k], sensing[ear.place].last, due, t)
        memory = memory._replace(reports=tuple(reports))
    if pilot.sight is not None:
        glances = list(memory.glances)
        for k, eye in enumerate(e for e in pilot.sight.eyes if e.beams is not None):
            if eye.place in which:
                due = index % suite[eye.place].period == 0
                glances[k] = sample_queue.post(glances[k], sensing[eye.place].last, due, t)
        memory = memory._replace(glances=tuple(glances))
    if pilot.terrain is not None:
        soundings = list(memory.soundings)
        for k, sounder in enumerate(pilot.terrain.heard):
            if sounder.place in which:
                due = index % suite[sounder.place].period == 0
                sample = sensing[sounder.place].last
                soundings[k] = sample_queue.post(soundings[k], sample, due, t)
        memory = memory._replace(soundings=tuple(soundings))
    tracker = pilot.tracker
    if tracker is not None and tracker.place in which and memory.profiles is not None:
        due = index % suite[tracker.place].period == 0
        profiles = sample_queue.post(memory.profiles, sensing[tracker.place].last, due, t)
        memory = memory._replace(profiles=profiles)
    navigator = pilot.navigator
    if navigator is None:
        return memory
    # The filter stands at the last inertial sample, one of its periods ago.
    last = t - suite[navigator.imu].interval
    for k, i in enumerate(navigator.aids):
        if i in which:
            due = index % suite[i].period == 0
            memory = _correct(navigator, memory, k, sensing[i].last, due, t, last)
    return memory


def _correct(
    navigator: Navigator,
    memory: PilotState,
    k: int,
    sample: Sample,
    due: jax.Array,
    t: jax.Array,
    last: jax.Array,
) -> PilotState:
    """Correct the filter, which stands at `last`, by what aid `k` delivers."""

    def update(before: Any, values: jax.Array, usable: jax.Array, age: jax.Array) -> Any:
        return navigation.update(navigator.filter, before, k, values, usable, age)

    if navigator.boxes[k] == 0:
        filter = jax.lax.cond(
            due,
            lambda before: update(before, sample.values, sample.valid, last - t),
            lambda before: before,
            memory.filter,
        )
        return memory._replace(filter=filter)
    box, arrival = sample_queue.catch_up(sample_queue.post(memory.boxes[k], sample, due, t), t)
    filter = jax.lax.cond(
        jnp.any(arrival.arrived),
        lambda before: update(before, arrival.values, arrival.arrived, last - arrival.stamp),
        lambda before: before,
        memory.filter,
    )
    boxes = tuple(box if j == k else other for j, other in enumerate(memory.boxes))
    return memory._replace(filter=filter, boxes=boxes)


def feel(
    pilot: Pilot,
    memory: PilotState,
    suite: tuple[Fitted, ...],
    sensing: tuple[Sensing, ...],
    index: jax.Array,
    tick: int,
) -> PilotState:
    """Move the filter on by the inertial sample of this instant."""
    navigator = pilot.navigator
    if navigator is None:
        return memory
    fitted, sample = suite[navigator.imu], sensing[navigator.imu].last
    there = sample.valid
    if fitted.faults:
        # The filter moves on with the IMU: a sample that has not come by the next one is lost.
        jitter = 0.0 if fitted.jitter is None else MOST_JITTER * fitted.jitter
        there = there & (sample.delay <= fitted.latency + jitter + fitted.interval)

    def predict(before: Any) -> Any:
        return navigation.predict(navigator.filter, before, sample.values, fitted.interval, there)

    if fitted.period == tick:
        return memory._replace(filter=predict(memory.filter))
    due = index % fitted.period == 0
    moved = jax.lax.cond(due, predict, lambda before: before, memory.filter)
    return memory._replace(filter=moved)


def take_profiles(
    pilot: Pilot,
    tracker: Tracker,
    memory: PilotState,
    believed: Estimate,
    leg: legs.Leg,
    t: jax.Array,
) -> tuple[PilotState, jax.Array]:
    """Take in what a sonar has told of a pipeline; also how far (3, N) it lies from the chart."""
    assert memory.line is not None
    assert memory.profiles is not None
    assert leg.pipe is not None
    charted = pipeline.Charted(leg.start, leg.end, leg.pipe)
    fresh = t - memory.progress.began < 1.5 * pilot.period
    line = pipeline.move(memory.line, charted, fresh, believed, pilot.period)
    profiles, arrival = sample_queue.catch_up(memory.profiles, t)
    age = (t - arrival.stamp).astype(arrival.values.dtype)
    line = jax.lax.cond(
        jnp.any(arrival.arrived),
        partial(pipeline.see, tracker),
        lambda before, *_: before,
        line,
        charted,
        believed,
        arrival.values,
        arrival.arrived,
        age,
    )
    memory = memory._replace(profiles=profiles, line=line)
    return memory, pipeline.beside(tracker, line, charted)


def take_soundings(
    pilot: Pilot,
    terrain: Terrain,
    memory: PilotState,
    believed: Estimate,
    leg: legs.Leg,
    ocean: Ocean,
    t: jax.Array,
) -> tuple[PilotState, Bottom]:
    """Take in what the beams have told of the bottom, and say at which depth to follow it."""
    assert memory.plane is not None
    assert leg.altitude is not None
    plane = following.move(terrain, memory.plane, believed, pilot.period)
    soundings = list(memory.soundings)
    for k, sounder in enumerate(terrain.sounders):
        soundings[k], arrival = sample_queue.catch_up(soundings[k], t)
        age = (t - arrival.stamp).astype(arrival.values.dtype)
        plane = jax.lax.cond(
            jnp.any(arrival.arrived),
            partial(following.sound, terrain, sounder),
            lambda before, *_: before,
            plane,
            believed,
            arrival.values,
            arrival.arrived,
            age,
        )
    if terrain.lookout is not None:
        soundings[-1], arrival = sample_queue.catch_up(soundings[-1], t)
        age = (t - arrival.stamp).astype(arrival.values.dtype)
        seen = arrival.values, arrival.arrived, age
        plane = following.look_ahead(terrain.lookout, plane, believed, *seen)
    if pilot.navigator is None and ocean.seabed is not None:
        facet = seabed.facet(ocean.seabed, believed.position[0], believed.position[1])
        rows = [jnp.broadcast_to(part, plane.heard.shape) for part in facet]
        plane = plane._replace(
            mean=jnp.stack(rows).astype(plane.mean.dtype), heard=jnp.ones_like(plane.heard)
        )
    memory = memory._replace(soundings=tuple(soundings), plane=plane)
    return memory, following.wanted(terrain, plane, believed, leg.altitude)
