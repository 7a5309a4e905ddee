"""Descriptions of LiDARs, to sensors."""

import math

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.context import Built, Context, tap_of
from seatrial.geometry.materials import material_column
from seatrial.render.air import extinction
from seatrial.sensors.ranging.lidar import Errors, Lidar
from seatrial.spec.sensors import optical as spec

Array = NDArray[np.float64]


def lidar(described: spec.Lidar, context: Context) -> Built:
    """A LiDAR."""
    model = described.model
    ideal, full = described.fidelity == "ideal", described.fidelity == "full"
    azimuth, elevation = _azimuths(model), np.linspace(model.lowest, model.highest, model.beams)
    sweep = abs(model.last_azimuth - model.first_azimuth) / math.tau * context.period
    a, e = azimuth[:, None], elevation[None]
    level = np.cos(e)
    x, y, z = np.broadcast_arrays(
        level * np.cos(a), level * np.sin(a), -np.sin(e) * np.ones_like(a)
    )
    directions = np.stack([x, y, z])
    late = np.arange(1.0 - model.columns, 1.0) * (sweep / model.columns)
    dense = Lidar(
        rays=context.rays,
        reflectance=material_column("reflectance"),
        directions=directions.astype(np.float32),
        azimuth=azimuth,
        elevation=elevation,
        late=late if full else None,
        period=context.period,
        minimum_range=model.minimum_range,
        range=model.range,
        errors=None if ideal else _errors(model, context, full),
    )
    deviation = 0.0 if ideal else model.noise
    return Built(
        tap_of(context, 2, "" if ideal else "air", sweeps=full, passing=full),
        ("nearest", "returns"),
        ("m", "1"),
        (deviation, 0.0),
        {
            "first_azimuth": (float(azimuth[0]),),
            "last_azimuth": (float(azimuth[-1]),),
            "sweep_time": (sweep if full else 0.0,),
            "minimum_range": (model.minimum_range,),
            "maximum_range": (model.range,),
        },
        dense=dense,
    )


def _azimuths(model: spec.LidarModel) -> Array:
    """(C,) of the columns: a full circle does not come back to its first one."""
    closed = math.isclose(abs(model.last_azimuth - model.first_azimuth), math.tau, rel_tol=1e-6)
    return np.linspace(model.first_azimuth, model.last_azimuth, model.columns, endpoint=not closed)


def _errors(model: spec.LidarModel, context: Context, full: bool) -> Errors:
    weather, wind = context.weather, context.ocean.wind
    alpha = 0.0
    if weather is not None:
        alpha = extinction(weather.visibility, weather.rain)
    speed = 0.0 if wind is None else float(wind.speed)
    return Errors(
        noise=model.noise,
        intensity_noise=model.intensity_noise,
        dropout=model.dropout,
        faintest=model.reference_reflectance / model.reference_range**2,
        extinction=alpha,
        ripples=0.003 + 0.00512 * speed,
        divergence=model.divergence if full else 0.0,
        resolution=model.resolution if full else 0.0,
    )
