"""Light followed through water that scatters, as one kernel: for CUDA and LLVM.

One thread follows the paths of one pixel, one after another, so nothing is kept but sums, no two
threads add to the same number, and the same seed gives the same bytes. A path goes from the camera
to a distance s, drawn so that it stops in the water or at a surface; there lamps and sun are asked
for directly, and the path goes on, after the phase function or the surface. Light of the sky is
what paths find that leave the water. Russian roulette ends weak paths, without bias.

Bands fade at different rates c. The distance is drawn for one of them, and weighted with the mean
of the densities of all (one-sample balance heuristic, Veach 1997, section 9.2):

    w = exp(−c s) σ_s / mean(c exp(−c s))  in the water,  exp(−c D) / mean(exp(−c D))  at a surface

What comes back is split by what the path met first: `surface` light that came from surfaces,
`direct` light of lamps, sun and sky that the water scattered once, `indirect` what it scattered
after further meetings; their sum is the picture. `clear` is the share of the background that is
seen through what lies before it.
"""

from typing import Any, NamedTuple

import drjit as dr
import mitsuba as mi
import numpy as np
from numpy.typing import NDArray

from seatrial.render.traced.lighting.light import LAMP_SIZE, SKY_NODES, Beams, Daylight
from seatrial.render.traced.settings import Bounces
from seatrial.render.traced.split import Shapes, Split, Water
from seatrial.render.traced.view import View

Array = NDArray[np.float64]

ROULETTE = 3
"""Meetings after which weak paths may end."""
KEEP = 0.95
"""Greatest chance of going on."""
LAMPLIGHT = 8.0
"""Distance from the camera, m, beyond which paths end the more often at night."""
ABSENT = 1e6
"""Distance of a horizon, m, that stands for none."""


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
    """What a camera sees with so many paths per pixel, each of at most so many meetings
    with water and surfaces."""
    scene = mi.load_dict({"type": "scene", **{f"shape{k}": s for k, s in enumerate(shapes())}})
    kept = _Light.of(water, beams, daylight)
    sums = _kernel(
        scene,
        _Camera.of(view),
        kept,
        dr.opaque(mi.UInt32, samples),
        [dr.opaque(mi.UInt32, n) for n in (bounces.total, *bounces.by_kind)],
        dr.opaque(mi.UInt64, seed),
    )
    dr.eval(*sums)
    parts = [np.array(part, np.float32).reshape(3, view.height, view.width) for part in sums]
    surface, direct, indirect, clear = (
        np.ascontiguousarray(np.moveaxis(p, 0, 2) / np.float32(samples)) for p in parts
    )
    return Split(surface, direct, indirect, clear)


class _Camera(NamedTuple):
    """A thin lens: rays through a pixel leave a disc and meet where the lens is focused."""

    width: int
    height: int
    corners: Any
    """(H + 1, W + 1, 2) tangents of the rays at the corners of the pixels, as two flat arrays."""
    origin: Any
    axes: tuple[Any, Any, Any]
    """Forward, right and down in the world."""
    radius: Any
    focus: Any

    @classmethod
    def of(cls, view: View) -> "_Camera":
        flat = [
            mi.Float(np.ascontiguousarray(view.corners[..., k], np.float32).ravel()) for k in (0, 1)
        ]
        axes = tuple(_vector(column) for column in view.axes.T)
        return cls(
            view.width, view.height, flat, _vector(view.position), (axes[0], axes[1], axes[2]),
            dr.opaque(mi.Float, view.aperture.radius), dr.opaque(mi.Float, view.aperture.focus),
        )  # fmt: skip

    def ray(self, pixel: Any, u: Any, v: Any, disc: Any) -> Any:
        """Through the place (u, v) of a pixel, each from 0 to 1, and one of the lens."""
        row = pixel // self.width
        corner = pixel + row  # rows of corners are one longer
        below = corner + (self.width + 1)
        tangents = []
        for table in self.corners:
            a, b = (dr.gather(mi.Float, table, corner + k) for k in (0, 1))
            c, d = (dr.gather(mi.Float, table, below + k) for k in (0, 1))
            upper, lower = dr.lerp(a, b, u), dr.lerp(c, d, u)
            tangents.append(dr.lerp(upper, lower, v))
        forward, right, down = self.axes
        x, y = tangents
        aside = self.radius * disc
        through = self.focus * (forward + x * right + y * down)
        off = aside.x * right + aside.y * down
        return mi.Ray3f(mi.Point3f(self.origin + off), dr.normalize(through - off))


class _Light(NamedTuple):
    """Water and light as the kernel reads them."""

    attenuation: Any
    scattering: Any
    g: Any
    level: Any
    """Depth of the water's surface; far above where there is none."""
    in_water: bool
    lamps: int
    lamp: Any
    """Flat array, ten numbers each."""
    sun: bool
    sun_towards: Any
    sun_irradiance: Any
    caustics: Any
    """3-D texture over depth, east and north."""
    sky: Any
    """2-D texture over azimuth and cosine."""
    daylight: Any

    @classmethod
    def of(cls, water: Water, beams: Beams, daylight: Daylight | None) -> "_Light":
        lamp = mi.Float(np.ascontiguousarray(beams.table(), np.float32).ravel())
        sun = daylight is not None and bool(np.any(daylight.irradiance > 0.0))
        caustics = None
        if daylight is not None and daylight.caustics is not None:
            caustics = mi.Texture3f(
                mi.TensorXf(daylight.caustics.gain[..., None].astype(np.float32)),
                wrap_mode=dr.WrapMode.Mirror,
            )
        return cls(
            attenuation=_colour(water.attenuation),
            scattering=_colour(water.scattering),
            g=dr.opaque(mi.Float, max(water.mean_cosine, 1e-3)),
            level=dr.opaque(mi.Float, 0.0 if daylight is not None else -ABSENT),
            in_water=bool(np.any(water.attenuation > 0.0)),
            lamps=len(beams.position),
            lamp=lamp,
            sun=sun,
            sun_towards=_vector(daylight.towards) if daylight is not None else None,
            sun_irradiance=_colour(daylight.irradiance) if daylight is not None else None,
            caustics=caustics,
            sky=None
            if daylight is None
            else mi.Texture2f(
                mi.TensorXf(daylight.sky.astype(np.float32)), wrap_mode=dr.WrapMode.Repeat
            ),
            daylight=daylight,
        )

    def to_surface(self, at: Any, along: Any) -> Any:
        """Way through the water to its surface, m; none for what stands out of the water."""
        up = along.z < 0.0
        way = dr.maximum((self.level - at.z) / dr.select(up, along.z, -1.0), 0.0)
        return dr.select(up, way, dr.inf)

    def from_lamp(self, at: Any, sample: Any) -> tuple[Any, Any, Any]:
        """Direction, distance and irradiance, square to it and without water, of one lamp."""
        if self.lamps == 0:
            return mi.Vector3f(0, 0, 1), mi.Float(1.0), mi.Color3f(0.0)
        which = dr.minimum(mi.UInt32(sample * self.lamps), self.lamps - 1)
        row = [dr.gather(mi.Float, self.lamp, which * 10 + k) for k in range(10)]
        off = mi.Point3f(*row[:3]) - at
        distance = dr.norm(off)
        towards = off / dr.maximum(distance, 1e-6)
        cosine = dr.maximum(-dr.dot(towards, mi.Vector3f(*row[3:6])), 0.0)
        profile = dr.select(cosine > 0.0, dr.power(dr.maximum(cosine, 1e-6), row[9]), 0.0)
        strength = self.lamps * profile / (distance * distance + LAMP_SIZE * LAMP_SIZE)
        return mi.Vector3f(towards), distance, mi.Color3f(*row[6:9]) * strength

    def from_sun(self, at: Any) -> Any:
        """Irradiance square to the rays of the sun at the water's surface above a place, with what
        the waves gather or spread on the way."""
        if self.caustics is None:
            return self.sun_irradiance
        field = self.daylight.caustics
        where = field.place(at, self.sun_towards)
        return self.sun_irradiance * self.caustics.eval(mi.Point3f(*where))[0]

    def from_sky(self, along: Any) -> Any:
        """Radiance that comes from above the surface against a direction."""
        if self.sky is None:
            return mi.Color3f(0.0)
        rows = SKY_NODES[0]
        azimuth = dr.atan2(along.y, along.x) * dr.inv_two_pi
        cosine = dr.clip(-along.z, 0.0, 1.0)
        place = mi.Point2f(azimuth - dr.floor(azimuth), (cosine * (rows - 1.0) + 0.5) / rows)
        found = self.sky.eval(place)
        return dr.select(
            along.z < 0.0, mi.Color3f(*found[:3]), mi.Color3f(*map(float, self.daylight.below))
        )


@dr.syntax  # type: ignore[untyped-decorator]
def _kernel(scene: Any, camera: Any, light: Any, samples: Any, most: Any, seed: Any) -> Any:
    pixels = camera.width * camera.height
    pixel = dr.arange(mi.UInt32, pixels)
    random = mi.PCG32(size=pixels, initstate=seed, initseq=mi.UInt64(pixel))
    surface, direct, indirect, clear = (mi.Color3f(0.0) for _ in range(4))
    left = mi.UInt32(samples) + dr.zeros(mi.UInt32, pixels)
    fresh = dr.full(mi.Bool, True, pixels)
    ray = dr.zeros(mi.Ray3f, pixels)
    weight = mi.Color3f(1.0)
    met, matt, shiny, watery = (mi.UInt32(0) for _ in range(4))
    by_water = mi.Bool(False)
    context = mi.BSDFContext()
    active = left > 0
    while active:
        if fresh:
            u, v = random.next_float32(), random.next_float32()
            disc = mi.warp.square_to_uniform_disk_concentric(
                mi.Point2f(random.next_float32(), random.next_float32())
            )
            ray = camera.ray(pixel, u, v, disc)
            weight = mi.Color3f(1.0)
            met, matt, shiny, watery = mi.UInt32(0), mi.UInt32(0), mi.UInt32(0), mi.UInt32(0)
            by_water = mi.Bool(False)
        si = scene.ray_intersect(ray, active)
        inside = mi.Bool(False)
        stop = si.t
        if dr.hint(light.in_water, mode="scalar"):
            end = dr.minimum(dr.select(si.is_valid(), si.t, dr.inf), light.to_surface(ray.o, ray.d))
            band = random.next_float32() * 3.0
            c = dr.select(
                band < 1.0,
                light.attenuation.x,
                dr.select(band < 2.0, light.attenuation.y, light.attenuation.z),
            )
            stop = -dr.log(1.0 - random.next_float32()) / c
            inside = stop < end
            through = dr.exp(-light.attenuation * dr.minimum(stop, end))
            density = dr.select(inside, dr.mean(light.attenuation * through), dr.mean(through))
            weight *= through * dr.select(inside, light.scattering, 1.0) / density
        first = met == 0
        by_water = dr.select(first, inside, by_water)
        gone = ~inside & ~si.is_valid()
        sky = dr.select(gone & ~first, weight * light.from_sky(ray.d), 0.0)
        clear = dr.select(gone & first, clear + weight, clear)
        surface = dr.select(by_water, surface, surface + sky)
        once = by_water & (met == 1)
        direct = dr.select(once, direct + sky, direct)
        indirect = dr.select(by_water & ~once, indirect + sky, indirect)
        # Light asked for where the path is.
        here = dr.select(inside, ray(stop), si.p)
        lit = active & ~gone
        bsdf = si.bsdf(ray)
        found = mi.Color3f(0.0)
        if dr.hint(light.lamps > 0, mode="scalar"):
            towards, distance, irradiance = light.from_lamp(here, random.next_float32())
            asked = lit & (dr.max(irradiance) > 0.0)
            value = _scattered(light, context, si, bsdf, inside, ray.d, towards, asked)
            start = mi.Ray3f(si.spawn_ray(towards))
            start.o = dr.select(inside, here, start.o)
            start.maxt = distance * (1.0 - 1e-4)
            asked &= (dr.max(value) > 0.0) & ~scene.ray_test(start, asked)
            fade = dr.exp(
                -light.attenuation * dr.minimum(distance, light.to_surface(here, towards))
            )
            found += dr.select(asked, value * irradiance * fade, 0.0)
        if dr.hint(light.sun, mode="scalar"):
            towards = light.sun_towards
            value = _scattered(light, context, si, bsdf, inside, ray.d, towards, lit)
            start = mi.Ray3f(si.spawn_ray(towards))
            start.o = dr.select(inside, here, start.o)
            asked = lit & (dr.max(value) > 0.0)
            asked &= ~scene.ray_test(start, asked)
            fade = dr.exp(-light.attenuation * light.to_surface(here, towards))
            found += dr.select(asked, value * light.from_sun(here) * fade, 0.0)
        found *= weight
        surface = dr.select(by_water, surface, surface + found)
        direct = dr.select(by_water & first, direct + found, direct)
        indirect = dr.select(by_water & ~first, indirect + found, indirect)
        # Where it goes on.
        u, v = random.next_float32(), random.next_float32()
        drawn, share = bsdf.sample(
            context, si, random.next_float32(), mi.Point2f(u, v), lit & ~inside
        )
        onward = dr.select(inside, _turned(light.g, ray.d, u, v), si.to_world(drawn.wo))
        weight = dr.select(inside, weight, weight * share)
        ray = mi.Ray3f(si.spawn_ray(onward))
        ray.o = dr.select(inside, here, ray.o)
        met += 1
        dull = mi.has_flag(drawn.sampled_type, mi.BSDFFlags.Diffuse)
        watery += dr.select(inside, mi.UInt32(1), mi.UInt32(0))
        matt += dr.select(~inside & dull, mi.UInt32(1), mi.UInt32(0))
        shiny += dr.select(~inside & ~dull, mi.UInt32(1), mi.UInt32(0))
        top = dr.max(weight)
        chance = dr.select(met > ROULETTE, dr.minimum(top, KEEP), 1.0)
        if dr.hint(light.sky is None, mode="scalar"):
            # By lamps alone: where a path is far from them, little light is left to find.
            away = dr.squared_norm(here - camera.origin)
            chance *= dr.minimum(LAMPLIGHT * LAMPLIGHT / dr.maximum(away, 1e-6), 1.0)
        often = (matt > most[1]) | (shiny > most[2]) | (watery > most[3])
        ends = gone | (met >= most[0]) | often | (top <= 0.0) | (random.next_float32() >= chance)
        weight /= dr.maximum(chance, 1e-9)
        fresh = ends
        left = dr.select(ends, left - 1, left)
        active = left > 0
    return surface, direct, indirect, clear


def _scattered(
    light: Any, context: Any, si: Any, bsdf: Any, inside: Any, along: Any, towards: Any, asked: Any
) -> Any:
    """Share per steradian that goes on towards the camera, of light that comes from a direction."""
    value = bsdf.eval(context, si, si.to_local(towards), asked & ~inside)
    if not light.in_water:
        return value
    g, cosine = light.g, dr.dot(along, towards)
    base = 1.0 + g * g - 2.0 * g * cosine
    phase = dr.inv_four_pi * (1.0 - g * g) / (base * dr.sqrt(base))
    return dr.select(inside, mi.Color3f(phase), value)


def _turned(g: Any, along: Any, u: Any, v: Any) -> Any:
    """A direction drawn by Henyey and Greenstein's phase function."""
    part = (1.0 - g * g) / (1.0 - g + 2.0 * g * u)
    cosine = dr.clip((1.0 + g * g - part * part) / (2.0 * g), -1.0, 1.0)
    sine = dr.safe_sqrt(1.0 - cosine * cosine)
    s, c = dr.sincos(dr.two_pi * v)
    return mi.Frame3f(along).to_world(mi.Vector3f(sine * c, sine * s, cosine))


def _vector(values: Array) -> Any:
    return mi.Vector3f(*(dr.opaque(mi.Float, float(v)) for v in values))


def _colour(values: Array) -> Any:
    return mi.Color3f(*(dr.opaque(mi.Float, float(v)) for v in values))
