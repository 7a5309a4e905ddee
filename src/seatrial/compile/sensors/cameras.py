"""Descriptions of cameras, to sensors."""

import math

import numpy as np

from seatrial.compile.sensors.context import Built, Context, tap_of
from seatrial.render.lens import Distortion
from seatrial.render.picture import Lens
from seatrial.sensors.vision.depth_camera import DepthCamera, Noise
from seatrial.spec.sensors import cameras as spec


def depth_camera(described: spec.DepthCamera, context: Context) -> Built:
    """A depth camera."""
    lens = lens_of(described)
    noise = None
    if described.fidelity != "ideal":
        noise = Noise(described.noise_scale, described.noise_low, described.noise_high)
    dense = DepthCamera(
        rays=context.rays,
        directions=np.ascontiguousarray(lens.rays.T, np.float32),
        width=lens.width,
        height=lens.height,
        period=context.period,
        minimum_range=described.minimum_range,
        range=described.range,
        noise=noise,
    )
    return Built(
        tap_of(context, 1, "", sweeps=False),
        ("nearest",),
        ("m",),
        (0.0,),
        lens_facts(lens),
        dense=dense,
    )


def lens_of(described: spec.Imager) -> Lens:
    """The lens of a camera; refused where it shows a direction twice."""
    d = described
    focal = 0.5 * d.width / math.tan(0.5 * d.field_of_view)
    lens = Lens(d.width, d.height, focal, Distortion(d.k1, d.k2, d.k3, d.p1, d.p2))
    try:
        _ = lens.rays
    except ValueError:
        raise described.error(
            ("k1",),
            "this distortion folds the image over within its frame",
            value=list(lens.distortion),
            expected="coefficients with which every pixel sees one direction",
            mend="use smaller ones, or a smaller `field_of_view`",
        ) from None
    return lens


def lens_facts(lens: Lens) -> dict[str, tuple[float, ...]]:
    """What readers of pictures need to know of it."""
    k1, k2, k3, p1, p2 = lens.distortion
    return {"focal_length": (lens.focal_length,), "distortion": (k1, k2, p1, p2, k3)}
