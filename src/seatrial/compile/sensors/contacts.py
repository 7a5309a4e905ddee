"""AIS receiver and radar: from description to sensor."""

import math

import jax.numpy as jnp

from seatrial.compile.sensors.context import Built, Context
from seatrial.sensors.contacts import ais as receiver
from seatrial.sensors.contacts import radar as plotter
from seatrial.spec.sensors import contacts as spec

UNITS = {
    "identity": "1",
    "north": "m",
    "east": "m",
    "range": "m",
    "bearing": "rad",
    "course": "rad",
    "speed": "m s-1",
    "heading": "rad",
    "length": "m",
    "beam": "m",
}


def ais(described: spec.Ais, context: Context) -> Built:
    """AIS receiver."""
    ideal = described.fidelity == "ideal"
    deviation = (
        described.position_noise,
        described.position_noise,
        described.course_noise,
        described.speed_noise,
        described.heading_noise,
    )
    errors = None
    if not ideal:
        step = list(receiver.STEPS)
        step[1] *= math.cos(math.radians(context.datum[0]))
        errors = receiver.Errors(
            deviation=jnp.asarray(deviation, context.dtype),
            step=jnp.asarray(step, context.dtype),
            loss=jnp.asarray(described.loss, context.dtype),
        )
    sensor = receiver.Ais(
        mount=context.mount,
        reach=jnp.asarray(described.reach, context.dtype),
        errors=errors,
        margin=None if ideal else jnp.asarray(described.margin, context.dtype),
        room=described.contacts,
    )
    spread = (0.0,) * 8 if ideal else (0.0, *deviation, 0.0, 0.0)
    return _built(sensor, receiver.REPORT, spread, described.contacts)


def radar(described: spec.Radar, context: Context) -> Built:
    """Radar with automatic plotting."""
    ideal = described.fidelity == "ideal"
    deviation = (
        described.range_noise,
        described.bearing_noise,
        described.course_noise,
        described.speed_noise,
        described.length_noise,
    )

    def number(value: float) -> jnp.ndarray:
        return jnp.asarray(value, context.dtype)

    sensor = plotter.Radar(
        mount=context.mount,
        reach=number(described.reach),
        least_range=number(0.0 if ideal else described.least_range),
        blind=number(0.0 if ideal else 0.5 * described.blind),
        errors=None
        if ideal
        else plotter.Errors(
            deviation=jnp.asarray(deviation, context.dtype),
            half_range=number(described.half_range),
            half_length=number(described.half_length),
            margin=number(described.margin),
        ),
        room=described.contacts,
    )
    spread = (0.0,) * 6 if ideal else (0.0, *deviation)
    return _built(sensor, plotter.PLOT, spread, described.contacts)


def _built(
    sensor: receiver.Ais | plotter.Radar,
    names: tuple[str, ...],
    deviation: tuple[float, ...],
    room: int,
) -> Built:
    """Components of one contact after the other: `north_1`, … `north_2`, …"""
    return Built(
        sensor,
        tuple(f"{name}_{i + 1}" for i in range(room) for name in names),
        tuple(UNITS[name] for name in names) * room,
        deviation * room,
        contacts=True,
    )
