"""Descriptions of LiDARs and depth cameras, to sensors."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.context import Built, Context
from seatrial.geometry.materials import material_column
from seatrial.pytree import constant
from seatrial.render.air import extinction
from seatrial.render.lens import Distortion, pixel_rays
from seatrial.sensors.ranging.lidar import Errors, Lidar
from seatrial.sensors.tap import Tap
from seatrial.sensors.vision.depth_camera import DepthCamera, Noise
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
        _tap(context, 2, "" if ideal else "air", sweeps=full),
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


def depth_camera(described: spec.DepthCamera, context: Context) -> Built:
    """A depth camera."""
    width, height = described.width, described.height
    focal = 0.5 * width / math.tan(0.5 * described.field_of_view)
    d = described
    distortion = Distortion(d.k1, d.k2, d.k3, d.p1, d.p2)
    directions = pixel_rays(width, height, focal, distortion)
    if directions is None:
        raise described.error(
            ("k1",),
            "this distortion folds the image over within its frame",
            value=list(distortion),
            expected="coefficients with which every pixel sees one direction",
            mend="use smaller ones, or a smaller `field_of_view`",
        )
    noise = None
    if described.fidelity != "ideal":
        noise = Noise(described.noise_scale, described.noise_low, described.noise_high)
    dense = DepthCamera(
        rays=context.rays,
        directions=np.ascontiguousarray(directions.T, np.float32),
        width=width,
        height=height,
        period=context.period,
        minimum_range=described.minimum_range,
        range=described.range,
        noise=noise,
    )
    return Built(
        _tap(context, 1, "", sweeps=False),
        ("nearest",),
        ("m",),
        (0.0,),
        {"focal_length": (focal,), "distortion": (d.k1, d.k2, d.p1, d.p2, d.k3)},
        dense=dense,
    )


def _tap(context: Context, components: int, needs: Literal["air", ""], sweeps: bool) -> Tap:
    return Tap(
        mount=context.mount,
        turn=constant(np.array(context.orientation)[:, None], context.dtype),
        rate=constant(1.0 / context.period, np.float64),
        components=components,
        needs=needs,
        sweeps=sweeps,
        vehicles=max(1, len(context.rays.vehicles)),
    )
