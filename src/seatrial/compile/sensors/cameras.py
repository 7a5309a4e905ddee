"""Descriptions of cameras, to sensors."""

import math

import numpy as np

from seatrial.compile.sensors.context import Built, Context, tap_of
from seatrial.compile.surroundings.scene import hull_of
from seatrial.geometry.bodies import rotation_matrix
from seatrial.render.lens import Distortion
from seatrial.render.picture import PINHOLE, Lens, Light, aperture
from seatrial.render.renderers import trouble
from seatrial.sensors.vision.camera import Camera
from seatrial.sensors.vision.chip import Chip
from seatrial.sensors.vision.depth_camera import DepthCamera, Noise
from seatrial.sensors.vision.thermal_camera import FREEZING, ThermalCamera
from seatrial.spec.sensors import cameras as spec
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import Weather

CLEAR = 0.1
"""How far off its hull a lens must be to have the hull in its picture, m."""


def camera(described: spec.Camera, context: Context) -> Built:
    """A camera."""
    d, lens = described, lens_of(described)
    check_renderer(d)
    noisy, full = d.fidelity != "ideal", d.fidelity == "full"
    chip = Chip(
        time=d.exposure_time,
        gain=d.gain,
        automatic=d.auto_exposure,
        brightness=d.brightness,
        f_number=d.f_number,
        full_well=d.full_well,
        read_noise=d.read_noise,
        factor=None if d.noise_scale is None else (d.noise_scale, d.noise_low, d.noise_high),
        noisy=noisy,
    )
    dense = Camera(
        rays=context.rays,
        sky=context.sky,
        water=context.water,
        lens=lens,
        shows=d.shows,
        chip=chip,
        vignetting=d.vignetting if noisy else 0.0,
        moving=full,
        line_time=d.line_time if d.shutter == "rolling" else 0.0,
        lights=_lights(d, context),
        period=context.period,
        renderer=d.renderer,
        encoding={"none": "", "png": "png", "jpeg": f"jpeg:{d.quality}"}[d.compression],
    )
    return Built(
        tap_of(context, 3, "", sweeps=full, itself=sees_itself(d, context.vehicle)),
        ("exposure", "gain", "brightness"),
        ("s", "1", "1"),
        (0.0, 0.0, 0.0),
        {**lens_facts(lens), "baseline": (d.baseline,)},
        dense=dense,
    )


def check_renderer(described: spec.Camera) -> None:
    """Refuse a camera that nobody can draw for here."""
    found = trouble(described.renderer)
    if found is None:
        return
    reason, mend = found
    raise described.error(
        ("renderer",),
        f"shaders cannot draw here: {reason}",
        value=described.renderer,
        expected="OpenGL by way of EGL, and the package moderngl",
        mend=f"{mend}; or leave `renderer` out, which draws by rays",
    )


def sees_itself(described: spec.Imager, vehicle: Vehicle) -> bool:
    """Whether the hull that carries a camera is to be seen by it: where lens and lamps are off it.

    The hull is an outline with straight sides: a lens within it looks through a port that nobody
    describes, and a lamp within it would shine on its inside.
    """
    hull = hull_of("", vehicle).mesh()
    corner, normal = hull.vertices[hull.faces[:, 0]], hull.normals
    places = [described.position, *(lamp.position for lamp in vehicle.lights)]
    # It is convex: a place is outside where it lies before one of the faces.
    return all(np.max(np.sum((place - corner) * normal, axis=1)) > CLEAR for place in places)


def _lights(described: spec.Camera, context: Context) -> tuple[Light, ...]:
    """Lamps of the vehicle in the axes of one of its cameras."""
    back = rotation_matrix(np.array(context.orientation)).T
    here = np.array(described.position)
    return tuple(
        lamp._replace(position=back @ (lamp.position - here), direction=back @ lamp.direction)
        for lamp in lamps_of(context.vehicle)
    )


def lamps_of(vehicle: Vehicle) -> tuple[Light, ...]:
    """Lamps of a vehicle in its own axes."""
    found = []
    for lamp in vehicle.lights:
        level = math.cos(lamp.pitch)
        ahead = np.array(
            [level * math.cos(lamp.yaw), level * math.sin(lamp.yaw), -math.sin(lamp.pitch)]
        )
        place = np.array(lamp.position)
        found.append(Light(place, ahead, lamp.luminous_intensity, lamp.half_angle))
    return tuple(found)


def thermal_camera(described: spec.ThermalCamera, context: Context) -> Built:
    """A thermal camera."""
    lens = lens_of(described)
    noise = 0.0 if described.fidelity == "ideal" else described.noise
    weather = context.weather
    air = Weather().air_temperature if weather is None else weather.air_temperature
    dense = ThermalCamera(context.rays, context.sky, lens, air + FREEZING, noise, context.period)
    return Built(
        tap_of(context, 2, "", sweeps=False, itself=sees_itself(described, context.vehicle)),
        ("lowest", "highest"),
        ("K", "K"),
        (noise, noise),
        lens_facts(lens),
        dense=dense,
    )


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
    opening = PINHOLE
    if isinstance(d, spec.Camera) and d.focus is not None and d.focal_length is not None:
        opening = aperture(d.focal_length, d.f_number, d.focus)
    lens = Lens(d.width, d.height, focal, Distortion(d.k1, d.k2, d.k3, d.p1, d.p2), opening)
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
