"""Positioning by sound: from description to sensor."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.context import Built, Context, check_triangle
from seatrial.compile.sensors.position import POSITION, Facts, dilution, solver_of
from seatrial.compile.sensors.water import depths_of, profile_of
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.terrain import terrain_of
from seatrial.ocean import Ocean, seabed
from seatrial.ocean.curves import Curve, curve
from seatrial.pytree import constant
from seatrial.sensors.position import lbl as long
from seatrial.sensors.position import modem as chat
from seatrial.sensors.position import usbl as short
from seatrial.sensors.water.medium import absorption
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors import position as spec

Array = NDArray[np.float64]

BURIED = 2.0
"""How far below the bottom a transponder may lie, m: a map is no more exact than that."""


def lbl(described: spec.Lbl, context: Context) -> Built:
    """Long baseline."""
    _check_transponders(described, context.ocean)
    places = np.array(described.transponders).T
    count, ideal = places.shape[1], described.fidelity == "ideal"
    components = (*POSITION, *(f"range_{i + 1}" for i in range(count)))
    facts: Facts = {f"anchor_{i + 1}": place for i, place in enumerate(described.transponders)}
    device, deviation = None, np.zeros(3 + count)
    if not ideal:
        # In the middle of the transponders, half way up.
        start = places.mean(axis=1) * [1.0, 1.0, 0.5]
        weight = (max(described.noise, 0.01) / described.depth_change) ** 2
        device = long.Device(
            maximum_range=constant(described.maximum_range, context.dtype),
            noise=constant(described.noise, context.dtype),
            travel=travel_of(context.ocean, context.dtype),
            solver=solver_of(places, start, weight, context),
            failures=_lbl_failures(described, context),
            sound_speed=_assumed(described, context),
        )
        solved = described.noise * dilution(places, start, weight)
        deviation = np.append(solved, np.full(count, described.noise))
    sensor = long.Lbl(context.mount, constant(places, context.dtype), device)
    units = ("m",) * len(components)
    return Built(sensor, components, units, tuple(deviation.tolist()), facts)


def usbl(described: spec.Usbl, context: Context) -> Built:
    """Ultra-short baseline."""
    ideal, fixed = described.fidelity == "ideal", described.transponder
    told = 0.0 if described.target is None else described.place_noise
    deviation = (described.range_noise, *(described.angle_noise,) * 2, *(told,) * 3)
    failures = None
    if described.fidelity == "full" and (described.dropout or described.outlier_probability):
        failures = short.Failures(
            dropout=constant(described.dropout, context.dtype),
            outlier=constant(described.outlier_probability, context.dtype),
        )
    device = short.Device(
        maximum_range=constant(described.maximum_range, context.dtype),
        deviation=constant(deviation, context.dtype),
        travel=travel_of(context.ocean, context.dtype),
        failures=failures,
        sound_speed=_assumed(described, context),
    )
    sensor = short.Usbl(
        mount=context.mount,
        place=None if fixed is None else constant(fixed, context.dtype),
        number=None if described.target is None else constant(_number(described, context)),
        device=None if ideal else device,
    )
    return Built(
        sensor,
        ("range", "bearing", "elevation", *POSITION),
        ("m", "rad", "rad", *("m",) * 3),
        (0.0,) * 6 if ideal else deviation,
        contacts=described.target is not None,
    )


def modem(described: spec.Modem, context: Context) -> Built:
    """Acoustic modem."""
    own = {context.name: described}
    numbers = context.numbers or {context.name: 1}
    if context.name not in numbers:
        raise described.error(
            ("type",),
            f"the vessels of the swarm `{context.name}` cannot talk: a modem's turn is its own",
            expected="a modem on single vehicles",
            mend="describe the vehicles one by one, or leave the modem out",
        )
    everybody = {name: m for name, m in (context.modems or own).items() if name in numbers}
    for name, other in everybody.items():
        if _alike(other) != _alike(described):
            raise described.error(
                ("type",),
                f"this modem and that of `{name}` are described differently, so that they do not "
                "understand each other",
                expected="modems that differ in name, place and slot alone",
                mend="give both the same numbers",
            )
    cycle, count = 1.0 / described.rate, len(everybody)
    slots = [
        cycle * i / count if other.slot is None else other.slot
        for i, other in enumerate(everybody.values())
    ]
    z = depths_of(context.ocean)
    here = profile_of(context.ocean, z)
    alpha = absorption(described.frequency, here.celsius, here.salinity, z)
    level = described.source_level - described.noise_level
    device = chat.Device(
        level=constant(level - 10.0 * math.log10(described.bandwidth), context.dtype),
        absorption=curve(z, alpha, context.dtype, uniform=True),
        travel=travel_of(context.ocean, context.dtype),
        bits=constant(described.bits, context.dtype),
        duration=constant(described.bits / described.bit_rate, context.dtype),
        place_noise=constant(described.place_noise, context.dtype),
    )
    ideal = described.fidelity == "ideal"
    sensor = chat.Modem(
        mount=context.mount,
        senders=constant([numbers[name] for name in everybody]),
        slots=constant(slots, context.dtype),
        device=None if ideal else device,
    )
    told = 0.0 if ideal else described.place_noise
    return Built(
        sensor,
        tuple(f"{part}_{i + 1}" for i in range(count) for part in chat.PACKET),
        ("1", "s", "dB", "m", "m", "m") * count,
        (0.0, 0.0, 0.0, told, told, told) * count,
        contacts=True,
    )


def modems_of(scenario: Scenario) -> dict[str, spec.Modem]:
    """The modem of every vehicle of a scenario that has one."""
    return {
        participant.name: sensor
        for participant in scenario.vehicles
        for sensor in participant.fitted
        if isinstance(sensor, spec.Modem)
    }


_OWN = frozenset(
    ("name", "slot", "latency", "jitter", "fidelity", "position", "roll", "pitch", "yaw")
)
"""What may differ between modems of a run."""


def _alike(described: spec.Modem) -> dict[str, Any]:
    return {name: value for name, value in described if name not in _OWN}


def travel_of(ocean: Ocean, dtype: np.dtype[Any]) -> Curve:
    """Time of sound from the surface over depth, s."""
    z = depths_of(ocean)
    slowness = 1.0 / profile_of(ocean, z).sound_speed
    steps = 0.5 * np.diff(z) * (slowness[1:] + slowness[:-1])
    return Curve(
        knots=constant(z, np.float64),
        values=constant(np.concatenate([[0.0], np.cumsum(steps)]), dtype),
        slopes=constant(slowness, dtype),
        uniform=True,
    )


def _assumed(described: spec.Lbl | spec.Usbl, context: Context) -> Any:
    if described.fidelity != "full" or described.sound_speed is None:
        return None
    return constant(described.sound_speed, context.dtype)


def _lbl_failures(described: spec.Lbl, context: Context) -> long.Failures | None:
    if described.fidelity != "full" or not (described.dropout or described.outlier_probability):
        return None
    return long.Failures(
        dropout=constant(described.dropout, context.dtype),
        outlier=constant(described.outlier_probability, context.dtype),
        detour=constant(described.outlier_detour, context.dtype),
    )


def _number(described: spec.Usbl, context: Context) -> int:
    """Of the vehicle that carries the transponder; a vehicle by itself has nobody to ask."""
    if context.numbers is None:
        return 1
    assert described.target is not None
    if described.target not in context.numbers or described.target == context.name:
        others = [name for name in context.numbers if name != context.name]
        raise described.error(
            ("target",),
            f"no other vehicle of this run is called `{described.target}`",
            value=described.target,
            expected=f"one of {', '.join(others[:8])}" if others else "another vehicle in the run",
            mend="give the name of the vehicle that carries the transponder, or the place of a "
            "fixed one as `transponder`",
        )
    return context.numbers[described.target]


def _check_transponders(described: spec.Lbl, ocean: Ocean) -> None:
    for i, place in enumerate(described.transponders):
        if place[2] <= 0.0:
            raise described.error(
                ("transponders", i),
                "this transponder is not under water",
                value=place,
                expected="[north, east, down] with down positive",
                mend="put it on the bottom: down is the depth of the water",
            )
        bottom = _bottom_under(ocean, place)
        if place[2] > bottom + BURIED:
            raise described.error(
                ("transponders", i),
                f"this transponder lies {place[2] - bottom:.4g} m below the bottom",
                value=place,
                expected=f"at most {bottom:.4g} m down there",
                mend="put it on the bottom: down is the depth of the water",
            )
    check_triangle(described, "transponders", "a transponder")


def _bottom_under(ocean: Ocean, place: tuple[float, float, float]) -> float:
    """Depth there; none that is known outside of the part of a map that a run loads."""
    if ocean.seabed is None:
        return math.inf
    if isinstance(ocean.seabed.depth, HeightGrid):
        known = terrain_of(ocean.seabed.depth)
        inside = (known.origin <= place[:2]) & (place[:2] <= known.corner)
        if not inside.all():
            return math.inf
    return float(seabed.under(ocean.seabed, place[0], place[1]))
