"""What things look like close by: paint with rust, concrete with dirt, growth, sand and rock.

All patterns are made, none photographed: noise whose amplitudes fall with the wavenumber, which
repeats after its tile without a seam, and what lies above a level of such noise (patches of rust,
crusts of growth). A pattern is moved by the place of its body in the list: two alike differ. Mean
colours, and where sediment gives way to rock, are those of `render.appearance`.

Under water a coat of paint hardly shines: it is seen through water of the index 1.34, not air.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.materials import MATERIAL_NAMES, MATERIALS
from seatrial.render.appearance import BLACK, CONTRAST, WHITE, colours
from seatrial.render.traced.backend import mitsuba
from seatrial.render.water import INDEX

Array = NDArray[np.float64]
Plan = dict[str, Any]
"""What Mitsuba makes an object of."""

GROUND_TILE, GROUND_NODES = 12.0, 2048
"""Of the colours of a bottom, m."""
BODY_TILE, BODY_NODES = 4.0, 1024
"""Of the colours and patches of a body, m."""
RELIEF_TILE, RELIEF_NODES = 3.0, 1024
"""Of heights that only tilt the light, m."""
PAINT_INDEX = 1.5
RUST = np.array([0.13, 0.062, 0.03])
GROWTH = np.array([0.09, 0.09, 0.055])
DIRT = np.array([0.10, 0.085, 0.06])
"""Albedos; assumptions."""
PATCHES, PATCH_TILE = 0.35, 128.0
"""By how much patches of stones show on flats, and after how many metres they repeat."""
RUSTY = 0.3
GROWN = 0.18
DIRTY = 0.35
"""Shares of a surface; assumptions."""
WRECKED = 2.5
"""By which rust and growth are more on a wreck; an assumption."""
BUILT_CONTRAST = 0.10
UNEVEN = 0.08
"""Standard deviation of the roughness of paint and metal."""
RIPPLE = 0.16
"""Between crests of sand ripples, m."""


def bottom_plan(material: str) -> Plan:
    """Of a bottom: its material on flats, rock on steeps, by the attribute `vertex_rock`."""
    table = colours()
    stone = _ground("rock", table[:, MATERIAL_NAMES.index("rock")])
    if material == "rock":
        return {"type": "bumpmap", "arbitrary": _relief(False), "bsdf": stone}
    spots = PATCHES * np.clip(noise(256, 1.0, 1.4, "patches") - 0.8, 0.0, None)
    even = {
        "type": "blendbsdf",
        "weight": _texture(np.minimum(spots, 1.0)[..., None], PATCH_TILE),
        "even": _ground(material, table[:, MATERIAL_NAMES.index(material)]),
        "stones": stone,
    }
    return {
        "type": "blendbsdf",
        "weight": {"type": "mesh_attribute", "name": "vertex_rock"},
        "sediment": {"type": "bumpmap", "arbitrary": _relief(material == "sand"), "bsdf": even},
        "stone": {"type": "bumpmap", "arbitrary": _relief(False), "bsdf": stone},
    }


def body_plan(
    material: str, colour: Array | None, wet: bool, grown: bool, wrecked: bool = False
) -> Plan:
    """Of a body of a material, or a colour of its own; `wet` under water, `grown` where it stood
    there for long, `wrecked` for longer."""
    base = np.asarray(MATERIALS[material].colour if colour is None else colour, np.float64)
    if material in ("steel", "plastic", "aluminium"):
        worn = noise(BODY_NODES, 0.5, 1.3, "worn")
        rough = np.clip(MATERIALS[material].roughness + UNEVEN * worn, 0.2, 1.0)
        plan: Plan = {
            "type": "principled",
            "base_color": _colours(base, BUILT_CONTRAST, BODY_NODES, BODY_TILE, material),
            "roughness": _texture(rough[..., None], BODY_TILE),
            "metallic": 1.0 if material == "aluminium" and colour is None else 0.0,
            "eta": PAINT_INDEX / (INDEX if wet else 1.0),
        }
    else:
        contrast = CONTRAST if material in ("rock", "gravel") else BUILT_CONTRAST
        plan = {
            "type": "diffuse",
            "reflectance": _colours(base, contrast, BODY_NODES, BODY_TILE, material),
        }
    if not grown:
        return {"type": "twosided", "bsdf": plan}
    if material == "steel":
        plan = _patches(plan, RUST, 0.5, WRECKED * RUSTY if wrecked else RUSTY, "rust")
    if material == "concrete":
        plan = _patches(plan, DIRT, 0.3, DIRTY, "dirt")
    plan = _patches(plan, GROWTH, 0.5, WRECKED * GROWN if wrecked else GROWN, "growth")
    return {
        "type": "twosided",
        "bsdf": {"type": "bumpmap", "arbitrary": _relief(False, 0.4), "bsdf": plan},
    }


def board_plan(pattern: Array) -> Plan:
    """Of the face of a board, with coordinates from 0 to 1 to the right and down."""
    albedo = BLACK + (WHITE - BLACK) * np.asarray(pattern, np.float64)
    return {
        "type": "diffuse",
        "reflectance": {
            "type": "bitmap",
            "bitmap": _bitmap(np.repeat(albedo[..., None], 3, axis=2)),
            "raw": True,
            "filter_type": "nearest",
            "wrap_mode": "clamp",
        },
    }


def even_plan(colour: Array) -> Plan:
    """One even colour, on both sides."""
    return {
        "type": "twosided",
        "bsdf": {
            "type": "diffuse",
            "reflectance": {"type": "rgb", "value": list(map(float, colour))},
        },
    }


def snow_plan() -> Plan:
    """Of marine snow, by the attribute `vertex_albedo`."""
    albedo = {"type": "mesh_attribute", "name": "vertex_albedo"}
    return {"type": "twosided", "bsdf": {"type": "diffuse", "reflectance": albedo}}


def sea_plan(reflectance: Array, slope_variance: float) -> Plan:
    """Of the sea from above: a rough skin over light that the water itself sends back up."""
    return {
        "type": "roughplastic",
        "distribution": "beckmann",
        "diffuse_reflectance": {"type": "rgb", "value": list(map(float, reflectance))},
        "alpha": float(np.sqrt(max(slope_variance, 1e-4))),
        "int_ior": INDEX,
        "ext_ior": 1.0,
        "nonlinear": False,
    }


@cache
def noise(nodes: int, longest: float, power: float, name: str) -> NDArray[np.float32]:
    """(nodes, nodes) with mean 0 and variance 1, without a seam: amplitudes fall with a power of
    the wavenumber, from `longest` over the tile on. Names are places in one and the same field."""
    shift = np.random.Generator(np.random.Philox(key=sum(name.encode())))
    return np.roll(_field(nodes, longest, power), shift.integers(0, nodes, 2), axis=(0, 1))


@cache
def _field(nodes: int, longest: float, power: float) -> NDArray[np.float32]:
    random = np.random.Generator(np.random.Philox(key=4))
    k = np.fft.fftfreq(nodes, 1.0 / nodes)
    square = k[:, None] ** 2 + k[None, : nodes // 2 + 1] ** 2
    amplitude = np.where(square >= longest**-2, np.maximum(square, 1.0) ** (-0.5 * power), 0.0)
    drawn = np.fft.rfft2(random.standard_normal((nodes, nodes)))
    made = np.fft.irfft2(amplitude * drawn, (nodes, nodes))
    return np.asarray((made - made.mean()) / made.std(), np.float32)


def _ground(name: str, colour: NDArray[np.floating[Any]]) -> Plan:
    """Grain of all sizes from the tile down to millimetres."""
    texture = _colours(np.asarray(colour, np.float64), CONTRAST, GROUND_NODES, GROUND_TILE, name)
    return {"type": "diffuse", "reflectance": texture}


def _colours(base: Array, contrast: float, nodes: int, tile: float, name: str) -> Plan:
    """A colour whose brightness varies, and a little its hue."""
    fine = noise(nodes, 0.5, 1.0, name)
    bright = np.maximum(1.0 + np.float32(contrast) * fine, np.float32(0.15))
    tint = np.roll(bright, nodes // 3, axis=0) ** np.float32(0.3)
    made = np.stack([base[0] * bright * tint, base[1] * bright, base[2] * bright / tint], axis=2)
    return _texture(np.clip(made, 0.0, 0.98), tile)


def _patches(under: Plan, colour: Array, contrast: float, share: float, name: str) -> Plan:
    """A crust over a share of a surface, with ragged edges."""
    shape = noise(BODY_NODES, 0.2, 1.3, f"{name} shape")
    level = float(np.quantile(shape, 1.0 - share))
    there = np.clip(0.5 + 4.0 * (shape - level), 0.0, 1.0)
    over = {
        "type": "diffuse",
        "reflectance": _colours(colour, contrast, BODY_NODES, BODY_TILE / 2.0, name),
    }
    return {
        "type": "blendbsdf",
        "weight": _texture(there[..., None], BODY_TILE),
        "under": under,
        "over": over,
    }


def _relief(rippled: bool, strength: float = 1.0) -> Plan:
    """Heights in metres: roughness of all sizes, and on sand the ripples that waves leave."""
    height = 0.004 * strength * noise(RELIEF_NODES, 0.25, 1.5, "relief")
    if rippled:
        bent = noise(RELIEF_NODES, 1.0, 2.2, "bent")
        crests = round(RELIEF_TILE / RIPPLE)
        across = np.arange(RELIEF_NODES) / RELIEF_NODES * crests
        height = 0.5 * height + 0.007 * np.sin(2.0 * np.pi * (across[None] + 0.55 * bent)) * (
            0.6 + 0.4 * np.tanh(noise(RELIEF_NODES, 1.0, 2.2, "calm"))
        )
    # Mitsuba takes slopes per unit of the texture's own coordinates.
    return _texture(height[..., None], RELIEF_TILE)


def _texture(values: NDArray[np.floating[Any]], tile: float) -> Plan:
    transform = mitsuba().ScalarTransform4f().scale([1.0 / tile, 1.0 / tile, 1.0])
    return {"type": "bitmap", "bitmap": _bitmap(values), "raw": True, "to_uv": transform}


def _bitmap(values: NDArray[np.floating[Any]]) -> Any:
    return mitsuba().Bitmap(np.ascontiguousarray(values, np.float32))
