"""Descriptions of sensors that send sound and listen, to sensors."""

import math

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.context import Built, Context
from seatrial.compile.sensors.water import FARTHEST, depths_of, profile_of
from seatrial.geometry.materials import MATERIALS
from seatrial.ocean.curves import curve
from seatrial.pytree import constant
from seatrial.sensors.ranging.altimeter import RING, Altimeter, Device, Scattering
from seatrial.sensors.ranging.beam import HALF_POWER, beam
from seatrial.sensors.ranging.bottom_echo import bottom_tables, scattering_parts
from seatrial.sensors.ranging.bottom_rays import reach_of
from seatrial.sensors.ranging.detection import Detector
from seatrial.sensors.ranging.echo_sounder import EchoSounder, Medium
from seatrial.sensors.ranging.obstacle_sonar import Device as ObstacleDevice
from seatrial.sensors.ranging.obstacle_sonar import ObstacleSonar
from seatrial.sensors.ranging.solid_rays import sight_of
from seatrial.sensors.tap import Tap
from seatrial.sensors.water.medium import absorption
from seatrial.spec.seabed import AnySeabed
from seatrial.spec.sensors import ranging as spec

Array = NDArray[np.float64]

COMPONENTS = ("range", "excess")
TYPICAL_SOUND_SPEED = 1500.0
"""For what hardly depends on it: the size of the piston, m/s."""
FARTHER = 100.0
"""The water goes on with its last values so far above the surface and below the bottom, m."""


def echo_sounder(described: spec.EchoSounder, context: Context) -> Built:
    """A single-beam echo sounder."""
    ideal, full = described.fidelity == "ideal", described.fidelity == "full"
    shape = beam(described.beamwidth)
    material = MATERIALS[context.bottom]
    wavelength = TYPICAL_SOUND_SPEED / described.frequency
    radius = HALF_POWER / math.sin(0.5 * described.beamwidth) * wavelength / (2.0 * math.pi)
    source = _ratio(described.source_level)
    width = described.range / described.bins
    farthest, wide = FARTHEST if ideal else 2.0 * described.range, np.dtype(np.float64)
    dense = EchoSounder(
        tables=bottom_tables(shape, material),
        two_way=shape.two_way,
        near_field=math.pi * radius**2 / wavelength,
        medium=_medium(described.frequency, context),
        reflection=material.reflection,
        source=source,
        volume=_ratio(described.volume_scattering),
        noise=_noise(described, shape.solid_angle),
        pulse=described.pulse_length,
        range=described.range,
        bins=described.bins,
        sound_speed=described.sound_speed if full else None,
        detector=Detector(
            nearest=described.minimum_range,
            over_noise=_ratio(described.detection_over_noise),
            strength=_ratio(described.detection_strength),
            scale=source * shape.two_way,
        ),
        exact=ideal,
        ceiling=_ratio(described.saturation) if full else None,
        step=described.resolution if full and described.resolution > 0.0 else None,
        reach=reach_of(context.ocean.seabed, farthest, wide),
        sight=sight_of(context.ocean, farthest, wide),
        period=context.period,
    )
    tap = Tap(
        mount=context.mount,
        turn=constant(np.array(context.orientation)[:, None], context.dtype),
        rate=constant(1.0 / context.period, np.float64),
        components=len(COMPONENTS),
        needs="" if ideal else "water",
    )
    return Built(
        tap,
        COMPONENTS,
        ("m", "dB"),
        (0.0 if ideal else width / math.sqrt(12.0), 0.0),  # of a level device over a clear bottom
        {
            "bin_width": (width,),
            "frequency": (described.frequency,),
            "beamwidth": (described.beamwidth,),
            "pulse_length": (described.pulse_length,),
        },
        dense=dense,
    )


def altimeter(described: spec.Altimeter, context: Context) -> Built:
    """An altimeter."""
    dtype, ideal = context.dtype, described.fidelity == "ideal"
    full = described.fidelity == "full"
    half = 0.5 * described.beamwidth
    turns = [2.0 * math.pi * k / RING for k in range(0 if ideal else RING)]
    ring = [(math.sin(half) * math.cos(a), math.sin(half) * math.sin(a)) for a in turns]
    rays = [(0.0, 0.0, 1.0), *((x, y, math.cos(half)) for x, y in ring)]
    farthest = FARTHEST if ideal else described.range
    sensor = Altimeter(
        mount=context.mount,
        rays=constant(rays, dtype),
        device=None if ideal else _altimeter_device(described, context),
        reach=reach_of(context.ocean.seabed, farthest, dtype),
        sight=sight_of(context.ocean, farthest, dtype),
    )
    step = described.resolution if full else 0.0
    deviation = 0.0 if ideal else math.hypot(described.noise, step / math.sqrt(12.0))
    limits = (described.minimum_range, described.range)
    facts = {"beamwidth": (described.beamwidth,), "limits": limits}
    return Built(sensor, ("range",), ("m",), (deviation,), facts)


def _altimeter_device(described: spec.Altimeter, context: Context) -> Device:
    dtype, full = context.dtype, described.fidelity == "full"
    z = depths_of(context.ocean)
    here = profile_of(context.ocean, z)
    alpha = absorption(described.frequency, here.celsius, here.salinity, z)
    material = MATERIALS[context.bottom]
    facets, diffuse = (float(s) for s in scattering_parts(material, np.zeros(())))
    r, known = described.range, described.sound_speed
    return Device(
        noise=constant(described.noise, dtype),
        shortest=constant(described.minimum_range, dtype),
        longest=constant(r, dtype),
        absorption=curve(z, alpha, dtype, uniform=True),
        budget=constant(20.0 * math.log10(r) + 2.0 * float(alpha[0]) * r, dtype),
        scattering=Scattering(
            facets=constant(facets / (facets + diffuse), dtype),
            slope=constant(material.slope, dtype),
        ),
        sound_speed=constant(known, dtype) if full and known is not None else None,
        resolution=constant(described.resolution, dtype)
        if full and described.resolution > 0.0
        else None,
        fades=full,
    )


def obstacle_sonar(described: spec.ObstacleSonar, context: Context) -> Built:
    """A forward-looking profile."""
    dtype, ideal = context.dtype, described.fidelity == "ideal"
    angles = described.sector * (np.linspace(0.0, 1.0, described.beams) - 0.5)
    beams = [(math.cos(a), 0.0, math.sin(a)) for a in angles]
    lost = described.dropout if described.fidelity == "full" else 0.0
    device = ObstacleDevice(
        noise=constant(described.noise, dtype),
        shortest=constant(described.minimum_range, dtype),
        dropout=constant(lost, dtype) if lost else None,
    )
    sensor = ObstacleSonar(
        mount=context.mount,
        beams=constant(beams, dtype),
        longest=constant(described.range, dtype),
        device=None if ideal else device,
        reach=reach_of(context.ocean.seabed, described.range, dtype),
    )
    return Built(
        sensor,
        tuple(f"range_{k + 1}" for k in range(described.beams)),
        ("m",) * described.beams,
        (0.0 if ideal else described.noise,) * described.beams,
        {f"beam_{k + 1}": beam for k, beam in enumerate(beams)},
    )


def _noise(described: spec.EchoSounder, solid_angle: float) -> float:
    """Mean intensity of the noise in the bandwidth of the pulse, µPa²."""
    heat = -15.0 + 20.0 * math.log10(1e-3 * described.frequency)
    heard = _ratio(heat) * solid_angle / (4.0 * math.pi)
    return (heard + _ratio(described.self_noise)) / described.pulse_length


def _medium(frequency: float, context: Context) -> Medium:
    z = depths_of(context.ocean)
    here = profile_of(context.ocean, z)
    slowness = 1.0 / here.sound_speed
    alpha = absorption(frequency, here.celsius, here.salinity, z)
    wide = np.concatenate([[-FARTHER], z, [z[-1] + FARTHER]])

    def summed(values: Array) -> Array:
        padded = np.concatenate([values[:1], values, values[-1:]])
        cells = 0.5 * np.diff(wide) * (padded[1:] + padded[:-1])
        return np.concatenate([[0.0], np.cumsum(cells)])

    return Medium(wide, summed(slowness), summed(alpha))


def bottom_of(seabed: AnySeabed | None) -> str:
    """Material of the bottom of a world; without a bottom it does not matter."""
    return "sand" if seabed is None else seabed.type


def _ratio(decibels: float) -> float:
    return float(10.0 ** (0.1 * decibels))
