"""The same pictures by Mitsuba's own integrators: for machines without GPU and without LLVM.

Its volumetric path tracer returns the whole picture. The parts come from further ones: with black
surfaces and two segments only what water scatters once is left, and with a camera that stands in a
vacuum, before surfaces that stand in water, light of surfaces comes back without the water on the
way to the camera, which then takes exp(−c d) of it. What remains of the whole is light that water
scattered again.

A sun whose rays waves gather is none of Mitsuba's lights. Its emitters shine as below a level sea,
and what waves add or take is put onto that: at surfaces the light that came straight from the sun,
times the gain there less 1; in the water the same of what it scatters once, summed along rays of
pixels. Light that goes on from there is that of a level sea.

Cameras are straight: a picture by a lens that distorts is bent from one of theirs (`bent`).

Simpler than `transport` in that, in lamps without size, and in that bounces are counted in all.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.render.traced.backend import mitsuba
from seatrial.render.traced.bent import bent, paths, straight
from seatrial.render.traced.lighting.gathered import gathered
from seatrial.render.traced.lighting.light import SKY_NODES, Beams, Daylight
from seatrial.render.traced.settings import Bounces
from seatrial.render.traced.split import Shapes, Split, Water
from seatrial.render.traced.view import View

Array = NDArray[np.float64]
Picture = NDArray[np.float32]
Plan = dict[str, Any]

PROFILE = 256
"""Texels along the picture of a beam."""
FAINT = 1e-3
"""Share of a beam's intensity at which it is cut off."""
SKY_PICTURE = (128, 256)
EDGE = 4_000.0
"""Half of the side of the water's surface, m."""


_WHITE: Plan = {"sky": {"type": "constant", "radiance": {"type": "rgb", "value": [1.0, 1.0, 1.0]}}}
_POLE = [[0.0, 0.0, -1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
"""Turns the axes of an environment so that its pole is up and its azimuth counts from north."""


def albedo(shapes: Shapes, view: View, samples: int, seed: int) -> Picture:
    """(H, W, 3) colours of what is seen, without light."""
    plan = {
        "type": "scene",
        "sensor": _sensor(view),
        "integrator": {"type": "aov", "aovs": "albedo:albedo"},
        **{f"shape{k}": shape for k, shape in enumerate(shapes())},
    }
    return _rendered(plan, view, samples, seed)


def follow(
    shapes: Shapes,
    view: View,
    water: Water,
    beams: Beams,
    daylight: Daylight | None,
    samples: int,
    bounces: Bounces,
    seed: int,
) -> Split:
    """As `transport.follow`, but that kinds of bounces are not told apart."""
    depth = bounces.total
    lights = {**_lamps(beams), **_day(daylight)}
    black = _plan(shapes(black=True), view, _WHITE, "path", 2)
    covered = 1.0 - _rendered(black, view, samples, seed)
    if not np.any(water.attenuation > 0.0):
        surface = _rendered(_plan(shapes(), view, lights, "path", depth + 1), view, samples, seed)
        none = np.zeros_like(surface)
        return Split(surface, none, none, 1.0 - covered)
    medium = _medium(tuple(water.attenuation), tuple(water.scattering), water.mean_cosine)
    lid = {} if daylight is None else {"lid": _lid(medium)}

    def drawn(black: bool, segments: int, within: Any) -> Picture:
        parts = shapes(black=black, exterior=medium)
        plan = _plan(parts, view, {**lights, **lid}, "volpathmis", segments, within)
        return _rendered(plan, view, samples, seed)

    whole, direct = drawn(False, depth + 1, medium), drawn(True, 2, medium)
    rest = whole - direct
    far = shapes.truth.distance.reshape(view.height, view.width, 1)
    fade = np.exp(-water.attenuation * np.where(np.isfinite(far), far, 1e4))
    surface = (drawn(False, depth + 1, None) * fade).astype(np.float32)
    rest -= surface
    if daylight is not None and daylight.caustics is not None and "sun" in lights:
        sunny = _plan(shapes(), view, {"sun": lights["sun"]}, "path", 2)
        lit = _rendered(sunny, view, samples, seed)
        more = gathered(view, shapes.truth, water, daylight, daylight.caustics, seed)
        surface += (lit * fade * more.at_surfaces).astype(np.float32)
        direct += more.scattered
    up = -view.rays[:, 2].reshape(view.height, view.width, 1)
    way = np.where(up > 0.0, view.position[2] / np.maximum(up, 1e-6), np.inf)
    clear = (1.0 - covered) * np.exp(-np.where(np.isfinite(way), way, 1e4) * water.attenuation)
    return Split(surface, direct, rest, clear.astype(np.float32))


def _plan(
    shapes: list[Any],
    view: View,
    lights: Plan,
    integrator: str,
    segments: int,
    medium: Any = None,
) -> Plan:
    inside = {
        "type": integrator,
        "max_depth": segments,
        "rr_depth": 5,
        "hide_emitters": lights is not _WHITE,  # what is behind is drawn elsewhere
    }
    return {
        "type": "scene",
        "sensor": _sensor(view, medium),
        "integrator": inside,
        **lights,
        **{f"shape{k}": shape for k, shape in enumerate(shapes)},
    }


@cache
def _medium(attenuation: tuple[float, ...], scattering: tuple[float, ...], cosine: float) -> Any:
    scale = max(attenuation)  # colours above 1 are refused
    return mitsuba().load_dict(
        {
            "type": "homogeneous",
            "sigma_t": _rgb(np.array(attenuation) / scale),
            "scale": scale,
            "albedo": _rgb(np.array(scattering) / np.array(attenuation)),
            "phase": {"type": "hg", "g": cosine},
        }
    )


def _lid(medium: Any) -> Plan:
    """The surface of the water, which bends nothing here: `light` has seen to that."""
    mi = mitsuba()
    over = mi.ScalarTransform4f().rotate([1.0, 0.0, 0.0], 180.0).scale(EDGE)
    return {"type": "rectangle", "to_world": over, "bsdf": {"type": "null"}, "interior": medium}


def _lamps(beams: Beams) -> Plan:
    """Spots whose profile is a picture of I₀ cos^n θ, cut off where it is faint."""
    mi = mitsuba()
    made: Plan = {}
    for k, (position, direction, intensity, exponent) in enumerate(zip(*beams, strict=True)):
        wide = min(math.acos(FAINT ** (1.0 / max(exponent, 1e-3))), math.radians(80.0))
        # The picture lies on a plane before the lamp, up to the edge of the cone.
        across = np.linspace(-1.0, 1.0, PROFILE) * math.tan(wide)
        square = across[:, None] ** 2 + across[None] ** 2
        profile = (1.0 + square) ** (-0.5 * exponent)
        texture = np.repeat(profile[..., None], 3, axis=2).astype(np.float32)
        aside = [0.0, 0.0, 1.0] if abs(direction[2]) < 0.9 else [1.0, 0.0, 0.0]
        made[f"lamp{k}"] = {
            "type": "spot",
            "to_world": mi.ScalarTransform4f().look_at(
                origin=position.tolist(), target=(position + direction).tolist(), up=aside
            ),
            "intensity": _rgb(intensity),
            "cutoff_angle": math.degrees(wide),
            "beam_width": math.degrees(wide) * 0.999,
            "texture": {"type": "bitmap", "bitmap": mi.Bitmap(texture), "raw": True},
        }
    return made


def _day(daylight: Daylight | None) -> Plan:
    if daylight is None:
        return {}
    mi = mitsuba()
    made: Plan = {}
    if np.any(daylight.irradiance > 0.0):
        made["sun"] = {
            "type": "directional",
            "direction": (-daylight.towards).tolist(),
            "irradiance": _rgb(daylight.irradiance),
        }
    rows, columns = SKY_PICTURE
    # An environment of Mitsuba's has its pole along y; here up is −z.
    polar = math.pi * (np.arange(rows) + 0.5) / rows
    around = 2.0 * math.pi * (np.arange(columns) + 0.5) / columns
    picture = np.empty((rows, columns, 3))
    table = daylight.sky
    cosine = np.cos(polar)
    at = np.clip(cosine, 0.0, 1.0) * (SKY_NODES[0] - 1)
    low = np.minimum(at.astype(int), SKY_NODES[0] - 2)
    share = (at - low)[:, None, None]
    column = (around / (2.0 * math.pi) * SKY_NODES[1]).astype(int) % SKY_NODES[1]
    picture = table[low][:, column] * (1.0 - share) + table[low + 1][:, column] * share
    picture[cosine < 0.0] = daylight.below
    made["sky"] = {
        "type": "envmap",
        "bitmap": mi.Bitmap(picture.astype(np.float32)),
        "to_world": mi.ScalarTransform4f(_POLE),
    }
    return made


def _rgb(values: Array) -> Plan:
    return {"type": "rgb", "value": [float(v) for v in values]}


def _sensor(view: View, medium: Any = None) -> Plan:
    """The camera of a view, or the straight one from which its picture is bent."""
    mi = mitsuba()
    lens = straight(view)
    forward, _, down = view.axes.T
    origin = view.position
    plan: Plan = {
        "type": "thinlens" if view.aperture.radius > 0.0 else "perspective",
        "fov_axis": "x",
        "fov": math.degrees(2.0 * math.atan(0.5 * lens.width / lens.focal_length)),
        "near_clip": 0.01,
        "far_clip": 1e5,
        "to_world": mi.ScalarTransform4f().look_at(
            origin=origin.tolist(), target=(origin + forward).tolist(), up=(-down).tolist()
        ),
        "film": {
            "type": "hdrfilm",
            "width": lens.width,
            "height": lens.height,
            "pixel_format": "rgb",
            "component_format": "float32",
            "rfilter": {"type": "box"},
        },
        "sampler": {"type": "independent"},
    }
    if view.aperture.radius > 0.0:
        plan["aperture_radius"] = view.aperture.radius
        plan["focus_distance"] = view.aperture.focus
    if medium is not None:
        plan["medium"] = medium
    return plan


def _rendered(plan: Plan, view: View, samples: int, seed: int) -> Picture:
    """(H, W, 3); of several things that an integrator gives, the last."""
    mi = mitsuba()
    found = mi.render(mi.load_dict(plan), spp=paths(view, samples), seed=seed % 2**31)
    return bent(np.asarray(found, np.float32)[..., -3:], view)
