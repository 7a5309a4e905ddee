"""Sensors that feel the water and the air."""

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.context import Built, Context
from seatrial.conventions import GRAVITY, SEAWATER_DENSITY
from seatrial.ocean import Ocean
from seatrial.ocean import water as water_now
from seatrial.ocean.curves import Curve, curve
from seatrial.ocean.water import GRID_STEP, Water
from seatrial.programs import call
from seatrial.pytree import constant
from seatrial.sensors.ranging.bottom_rays import reach_of
from seatrial.sensors.ranging.solid_rays import sight_of
from seatrial.sensors.water.anemometer import Anemometer
from seatrial.sensors.water.anemometer import Flaws as AnemometerFlaws
from seatrial.sensors.water.anemometer import Noise as AnemometerNoise
from seatrial.sensors.water.ctd import Ctd
from seatrial.sensors.water.dvl import BEAMS, Device, Dvl, WaterLock
from seatrial.sensors.water.medium import (
    DECIBAR,
    absorption,
    column_of,
    hydrostatic,
    mackenzie,
    practical_salinity,
)
from seatrial.sensors.water.pressure import Flaws as PressureFlaws
from seatrial.sensors.water.pressure import Pressure
from seatrial.sensors.water.speed_log import SpeedLog
from seatrial.spec.sensors import water as spec

Array = NDArray[np.float64]

FARTHEST = 1e4
"""Up to which a beam is followed on a map that nothing else limits, m."""


def pressure(described: spec.Pressure, context: Context) -> Built:
    """A pressure sensor."""
    dtype, full = context.dtype, described.fidelity == "full"
    offset = 0.0 if described.zeroed else described.offset
    flaws = PressureFlaws(
        offset=constant(offset, dtype),
        drift=constant(described.drift, dtype),
        drift_time=constant(described.drift_time, dtype),
        period=constant(context.period, dtype),
        resolution=_some(described.resolution, dtype),
        range=constant(described.range, dtype),
    )
    sensor = Pressure(
        mount=context.mount,
        column=column_of(context.ocean.water, dtype),
        density=constant(described.density, dtype),
        noise=None if described.fidelity == "ideal" else constant(described.noise, dtype),
        flaws=flaws if full else None,
    )
    deviation = 0.0 if described.fidelity == "ideal" else described.noise
    if full:
        step = described.resolution / math.sqrt(12.0)
        deviation = math.hypot(deviation, offset, described.drift, step)
    per_metre = described.density * GRAVITY
    return Built(sensor, ("pressure", "depth"), ("Pa", "m"), (deviation, deviation / per_metre))


def dvl(described: spec.Dvl, context: Context) -> Built:
    """A Doppler velocity log."""
    dtype, ideal = context.dtype, described.fidelity == "ideal"
    sin, cos = math.sin(described.beam_angle), math.cos(described.beam_angle)
    azimuths = [math.radians(45.0 + 90.0 * k) for k in range(BEAMS)]
    beams = [(sin * math.cos(a), sin * math.sin(a), cos) for a in azimuths]
    device = None if ideal else _device(described, context)
    farthest = FARTHEST if device is None else _farthest(device, cos)
    sensor = Dvl(
        mount=context.mount,
        beams=constant(beams, dtype),
        device=device,
        reach=reach_of(context.ocean.seabed, farthest, dtype),
        sight=sight_of(context.ocean, farthest, dtype),
    )
    axes = "xyz"
    share = np.array([1.0 / (math.sqrt(2.0) * sin)] * 2 + [1.0 / (2.0 * cos)])
    over_ground, through_water = (
        tuple(0.0 if ideal else float(noise * s) for s in share)
        for noise in (described.noise, described.water_noise)
    )
    return Built(
        sensor,
        (
            *(f"velocity_{a}" for a in axes),
            "altitude",
            *(f"range_{k + 1}" for k in range(BEAMS)),
            "lock",
        ),
        (*("m s-1",) * 3, *("m",) * (1 + BEAMS), "1"),
        # lengths have errors in proportion, so no one number
        (*over_ground, *(0.0,) * (2 + BEAMS)),
        {f"beam_{k + 1}": beam for k, beam in enumerate(beams)}
        | {"water_deviation": through_water},
    )


def _device(described: spec.Dvl, context: Context) -> Device:
    dtype, full = context.dtype, described.fidelity == "full"
    cos = math.cos(described.beam_angle)
    farthest = described.maximum_altitude / cos
    reference = absorption(
        described.frequency,
        np.array(described.reference_temperature),
        np.array(described.reference_salinity),
        np.array(0.0),
    )
    z = depths_of(context.ocean)
    here = profile_of(context.ocean, z)
    alpha = absorption(described.frequency, here.celsius, here.salinity, z)
    dropout = None
    if full and described.dropout > 0.0:
        dropout = constant(NormalDist().inv_cdf(described.dropout), dtype)
    water = None
    if described.water_layer is not None:
        water = WaterLock(
            distance=constant(described.water_layer, dtype),
            noise=constant(described.water_noise, dtype),
        )
    flaws = (described.scale, *(described.misalignment,) * 3, *(described.bias,) * 3)
    return Device(
        noise=constant(described.noise, dtype),
        range_noise=constant(described.range_noise, dtype),
        shortest=constant(described.minimum_altitude / cos, dtype),
        budget=constant(20.0 * math.log10(farthest) + 2.0 * float(reference) * farthest, dtype),
        absorption=curve(z, alpha, dtype, uniform=True),
        water=water,
        flaws=constant(flaws, dtype) if full and any(flaws) else None,
        sound_speed=_some(described.sound_speed, dtype) if full else None,
        dropout=dropout,
    )


def _farthest(device: Device, cos: float) -> float:
    """Longest beam that may be heard, m: one that meets the bottom squarely, 20 log₁₀ (r cos β) +
    2 α r within the budget, in the water that absorbs least."""
    absorbs, budget = float(np.min(device.absorption.values)), float(device.budget)
    low, high = 0.0, FARTHEST
    for _ in range(60):
        r = 0.5 * (low + high)
        heard = 20.0 * math.log10(r * cos) + 2.0 * absorbs * r <= budget
        low, high = (r, high) if heard else (low, r)
    return high


def speed_log(described: spec.SpeedLog, context: Context) -> Built:
    """A log of the speed through the water."""
    dtype, full = context.dtype, described.fidelity == "full"
    ideal = described.fidelity == "ideal"
    sensor = SpeedLog(
        mount=context.mount,
        noise=None if ideal else constant(described.noise, dtype),
        scale=_some(described.scale, dtype) if full else None,
        resolution=_some(described.resolution, dtype) if full else None,
    )
    deviation = 0.0 if ideal else _rounded(described.noise, described.resolution, full)
    return Built(sensor, ("speed_x", "speed_y"), ("m s-1",) * 2, (deviation,) * 2)


def ctd(described: spec.Ctd, context: Context) -> Built:
    """A CTD."""
    dtype, full = context.dtype, described.fidelity == "full"
    ideal = described.fidelity == "ideal"
    noise = (
        described.conductivity_noise,
        described.temperature_noise,
        described.pressure_noise,
    )
    steps = (
        described.conductivity_resolution,
        described.temperature_resolution,
        described.pressure_resolution,
    )
    column = column_of(context.ocean.water, np.float64)
    z = depths_of(context.ocean)
    here = profile_of(context.ocean, z)
    conductivity = _conductivity(here, np.asarray(call(_hydrostatic, column, z)))
    share = None
    if full and described.temperature_lag > 0.0:
        share = constant(-math.expm1(-context.period / described.temperature_lag), dtype)
    sensor = Ctd(
        mount=context.mount,
        column=column_of(context.ocean.water, dtype),
        conductivity=curve(z, conductivity, dtype, uniform=True),
        density=constant(SEAWATER_DENSITY, dtype),
        noise=None if ideal else constant(noise, dtype),
        share=share,
        resolution=constant(steps, dtype) if full else None,
    )
    deviation: tuple[float, ...] = (0.0,) * 5
    if not ideal:
        cells = [_rounded(n, step, full) for n, step in zip(noise, steps, strict=True)]
        at = float(conductivity[0]), float(here.celsius[0]), 0.0
        deviation = (*cells, *_propagated(cells, at, float(here.salinity[0])))
    return Built(
        sensor,
        ("conductivity", "temperature", "pressure", "salinity", "sound_speed"),
        ("S m-1", "degree_Celsius", "Pa", "1e-3", "m s-1"),
        deviation,
    )


def _propagated(
    cells: list[float], at: tuple[float, float, float], salinity: float
) -> tuple[float, float]:
    """Deviations of salinity and sound speed that those of the cells bring about at `at`."""

    cases = np.array(at)[:, None] + np.diag([*cells, 0.0])[:3]  # each cell moved, then none
    made = np.asarray(call(_practical_salinity, *cases))
    salt = made[:3] - made[3]
    salty = constant(salinity + np.append(salt, 0.0))
    sound = np.asarray(mackenzie(constant(cases[1]), salty, 0.0))
    return math.hypot(*salt), math.hypot(*(sound[:3] - sound[3]))


def anemometer(described: spec.Anemometer, context: Context) -> Built:
    """An anemometer with a vane."""
    dtype, full = context.dtype, described.fidelity == "full"
    ideal = described.fidelity == "ideal"
    noise = AnemometerNoise(
        speed=constant(described.speed_noise, dtype),
        angle=constant(described.angle_noise, dtype),
    )
    flaws = AnemometerFlaws(
        scale=constant(described.scale, dtype),
        starting_speed=constant(described.starting_speed, dtype),
        range=constant(described.range, dtype),
        speed_resolution=_some(described.speed_resolution, dtype),
        angle_resolution=_some(described.angle_resolution, dtype),
    )
    sensor = Anemometer(
        mount=context.mount,
        noise=None if ideal else noise,
        flaws=flaws if full else None,
    )
    deviation = (
        _rounded(described.speed_noise, described.speed_resolution, full),
        _rounded(described.angle_noise, described.angle_resolution, full),
    )
    return Built(sensor, ("speed", "angle"), ("m s-1", "rad"), (0.0, 0.0) if ideal else deviation)


_hydrostatic, _practical_salinity = jax.jit(hydrostatic), jax.jit(practical_salinity)


class Profile(NamedTuple):
    """Water over depth."""

    celsius: Array
    salinity: Array
    sound_speed: Array
    """m/s."""


def profile_of(ocean: Ocean, z: Array) -> Profile:
    """The water at some depths."""
    values = call(_properties, ocean.water, z)
    return Profile(*(np.broadcast_to(np.asarray(v, np.float64), z.shape) for v in values))


@jax.jit
def _properties(water: Water, z: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    properties = (water_now.temperature, water_now.salinity, water_now.sound_speed)
    temperature, salinity, sound_speed = (value(water, z) for value in properties)
    return temperature, salinity, sound_speed


def depths_of(ocean: Ocean) -> Array:
    """Depths to tabulate a property of the water at: down to where the water itself is known."""
    sound = ocean.water.sound
    bottom = float(sound.knots[-1]) if isinstance(sound, Curve) else GRID_STEP
    steps = max(1, math.ceil(bottom / GRID_STEP))
    return np.linspace(0.0, steps * GRID_STEP, steps + 1)


def _conductivity(here: Profile, pressure: Array) -> Array:
    """S/m from temperature, salinity and Pa above the air's (PSS-78 inverted, TEOS-10 library)."""
    import gsw

    millisiemens_per_centimetre = gsw.C_from_SP(here.salinity, here.celsius, pressure / DECIBAR)
    return np.asarray(0.1 * millisiemens_per_centimetre)


def _rounded(noise: float, step: float, full: bool) -> float:
    """Deviation of noise, and in `full` of the rounding to a step as well."""
    return math.hypot(noise, step / math.sqrt(12.0)) if full else noise


def _some(value: float | None, dtype: Any) -> jax.Array | None:
    return constant(value, dtype) if value else None
