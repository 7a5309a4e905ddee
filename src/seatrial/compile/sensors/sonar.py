"""Descriptions of sensors that draw with sound or radio waves, to sensors."""

import math

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.context import Built, Context, tap_of
from seatrial.compile.sensors.water import depths_of, profile_of
from seatrial.geometry.materials import MATERIALS, material_column
from seatrial.sensors.radar.picture import LIGHT, WARMTH, RadarPicture, elevations
from seatrial.sensors.sonar.column import Column
from seatrial.sensors.sonar.fan import Fan, fan
from seatrial.sensors.sonar.fan_sonar import FanSonar, Sweep
from seatrial.sensors.sonar.multibeam import Multibeam
from seatrial.sensors.sonar.targets import targets
from seatrial.sensors.tap import DenseSensor
from seatrial.sensors.water.medium import absorption
from seatrial.spec.sensors import sonar as spec

Array = NDArray[np.float64]
Facts = dict[str, tuple[float, ...]]

SPEED = "sound_speed"
FORWARD = np.eye(3)


def imaging_sonar(described: spec.ImagingSonar, context: Context) -> Built:
    """An imaging sonar."""
    half = 0.5 * described.field_of_view
    bearings = np.linspace(-half, half, described.beams)
    shape = fan(
        bearings, described.beamwidth, described.vertical_beamwidth, described.rays, two_way=False
    )
    dense = _fan_sonar(described, context, (shape,), (FORWARD,), None, "sonar_image")
    facts: Facts = {
        "bearings": tuple(bearings.tolist()),
        **_widths(described.vertical_beamwidth, described.beamwidth, described.beams),
    }
    return _built(described, context, dense, (SPEED,), ("m s-1",), facts)


def mechanical_sonar(described: spec.MechanicalSonar, context: Context) -> Built:
    """A mechanically scanning sonar."""
    whole = described.sector >= 2.0 * math.pi - 1e-9
    pings = max(round(described.sector / described.step) + (0 if whole else 1), 2)
    step = described.sector / (pings if whole else pings - 1)
    sweep = Sweep(-0.5 * described.sector, step, pings, whole)
    shape = fan(
        np.zeros(1), described.beamwidth, described.vertical_beamwidth, described.rays, two_way=True
    )
    dense = _fan_sonar(described, context, (shape,), (FORWARD,), sweep, "echogram")
    facts: Facts = {
        "step": (step,),
        "sector": (described.sector,),
        "rx_angles": (0.0,),  # from the head's axis, whose bearing is told with every ping
        **_widths(described.vertical_beamwidth, described.beamwidth, 1),
    }
    return _built(described, context, dense, (SPEED, "bearing"), ("m s-1", "rad"), facts)


def side_scan(described: spec.SideScan, context: Context) -> Built:
    """A side-scan sonar: port, then starboard."""
    shape = fan(
        np.zeros(1), described.beamwidth, described.vertical_beamwidth, described.rays, two_way=True
    )
    level, down = math.cos(described.depression), math.sin(described.depression)
    mounted = []
    for side in (-1.0, 1.0):
        out = np.array([0.0, side * level, down])
        along = np.array([-side, 0.0, 0.0])
        mounted.append(np.stack([out, along, np.cross(out, along)], axis=1))
    dense = _fan_sonar(described, context, (shape, shape), tuple(mounted), None, "echogram")
    facts: Facts = {
        "rx_angles": (-math.pi / 2.0, math.pi / 2.0),
        **_widths(described.vertical_beamwidth, described.beamwidth, 2),
    }
    return _built(described, context, dense, (SPEED,), ("m s-1",), facts)


def multibeam(described: spec.Multibeam, context: Context) -> Built:
    """A multibeam echo sounder."""
    ideal, full = described.fidelity == "ideal", described.fidelity == "full"
    half = 0.5 * described.swath
    angles = np.linspace(-half, half, described.beams)
    dense = Multibeam(
        scene=context.rays,
        angles=angles,
        along=described.beamwidth_along,
        across=described.beamwidth_across,
        targets=targets(_wind(context)),
        column=_column(described.frequency, context),
        source=_ratio(described.source_level),
        noise=_noise(described, described.beamwidth_along * described.beamwidth_across),
        over_noise=_ratio(described.detection_over_noise),
        pulse=described.pulse_length,
        range=described.range,
        range_noise=described.range_noise,
        angle_noise=described.angle_noise,
        sound_speed=described.sound_speed if full else None,
        period=context.period,
        exact=ideal,
    )
    facts: Facts = {
        "frequency": (described.frequency,),
        "range_noise": (0.0 if ideal else described.range_noise,),
        "angle_noise": (0.0 if ideal else described.angle_noise,),
        "rx_angles": tuple(angles.tolist()),
        **_widths(described.beamwidth_along, described.beamwidth_across, described.beams),
    }
    if dense.sound_speed is not None:
        facts["told_speed"] = (dense.sound_speed,)
    tap = tap_of(context, 2, "water", sweeps=False)
    return Built(tap, ("soundings", SPEED), ("1", "m s-1"), (0.0, 0.0), facts, dense=dense)


def radar_image(described: spec.RadarImage, context: Context) -> Built:
    """A marine radar's picture."""
    full = described.fidelity == "full"
    late = np.arange(1.0 - described.azimuths, 1.0) * (context.period / described.azimuths)
    wavelength = LIGHT / described.frequency
    gain = 4.0 * math.pi / (described.beamwidth * described.vertical_beamwidth)
    dense = RadarPicture(
        scene=context.rays,
        reflects=material_column("radar"),
        frequency=described.frequency,
        constant=described.power * (gain * wavelength) ** 2 / (4.0 * math.pi) ** 3,
        noise=WARMTH * _ratio(described.noise_figure) / described.pulse_length,
        pulse=0.5 * LIGHT * described.pulse_length,
        width=described.beamwidth,
        height=described.vertical_beamwidth,
        range=described.range,
        least_range=described.minimum_range,
        azimuths=described.azimuths,
        bins=described.bins,
        elevation=elevations(described.vertical_beamwidth),
        period=context.period,
        late=late if full else None,
        exact=described.fidelity == "ideal",
    )
    facts: Facts = {
        "bin_width": (described.range / described.bins,),
        "frequency": (described.frequency,),
        "beamwidth": (described.beamwidth,),
        "sweep_time": (context.period if full else 0.0,),
    }
    tap = tap_of(context, 1, "air", sweeps=full, passing=full)
    return Built(tap, ("peak",), ("dBm",), (0.0,), facts, dense=dense)


def _fan_sonar(
    described: spec.ImagingSonar | spec.MechanicalSonar | spec.SideScan,
    context: Context,
    fans: tuple[Fan, ...],
    mounted: tuple[Array, ...],
    sweep: Sweep | None,
    kind: str,
) -> FanSonar:
    beam = described.beamwidth * described.vertical_beamwidth
    return FanSonar(
        scene=context.rays,
        fans=fans,
        mounted=mounted,
        sweep=sweep,
        targets=targets(_wind(context)),
        column=_column(described.frequency, context),
        source=_ratio(described.source_level),
        noise=_noise(described, beam),
        pulse=described.pulse_length,
        range=described.range,
        bins=described.bins,
        least_range=described.minimum_range,
        period=context.period,
        multipath=described.multipath,
        bottom_reflection=MATERIALS[context.bottom].reflection,
        exact=described.fidelity == "ideal",
        kind=kind,
    )


def _built(
    described: spec.ImagingSonar | spec.MechanicalSonar | spec.SideScan,
    context: Context,
    dense: DenseSensor,
    components: tuple[str, ...],
    units: tuple[str, ...],
    facts: Facts,
) -> Built:
    width = described.range / described.bins
    column = _column(described.frequency, context)
    common: Facts = {
        "absorption": (column.absorption_at(0.0),),
        "bin_width": (width,),
        "frequency": (described.frequency,),
        "sound_speed": (column.speed_at(0.0),),
        "sample_rate": (column.speed_at(0.0) / (2.0 * width),),
        "pulse_length": (described.pulse_length,),
    }
    tap = tap_of(context, len(components), "water", sweeps=False)
    deviation = (0.0,) * len(components)
    return Built(tap, components, units, deviation, common | facts, dense=dense)


def _widths(sent: float, heard: float, beams: int) -> Facts:
    """Half-power widths of the beams."""
    return {"tx_beamwidths": (sent,) * beams, "rx_beamwidths": (heard,) * beams}


def _column(frequency: float, context: Context) -> Column:
    z = depths_of(context.ocean)
    here = profile_of(context.ocean, z)
    return Column(
        depth=z,
        speed=here.sound_speed,
        absorption=absorption(frequency, here.celsius, here.salinity, z),
    )


def _noise(described: spec.Sonar, solid_angle: float) -> float:
    """Mean intensity of the noise in the bandwidth of the pulse, µPa²; the heat of the water comes
    from all around, of which a beam hears its share (Mellen 1952)."""
    heat = -15.0 + 20.0 * math.log10(1e-3 * described.frequency)
    heard = _ratio(heat) * solid_angle / (4.0 * math.pi)
    return (heard + _ratio(described.self_noise)) / described.pulse_length


def _wind(context: Context) -> float:
    return 0.0 if context.ocean.wind is None else float(context.ocean.wind.speed)


def _ratio(decibels: float) -> float:
    return float(10.0 ** (0.1 * decibels))
