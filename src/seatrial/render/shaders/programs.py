"""Programs of the card, put together from files with the constants of the rooms that own them."""

import math
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from seatrial.geometry import tiles
from seatrial.render import appearance
from seatrial.render import sky as air
from seatrial.render.live import between, draw, solids, surface
from seatrial.render.picture import BOTTOM, FIRST_BODY, NOTHING, REACH, SURFACE
from seatrial.render.shaders import bodies
from seatrial.render.shaders.uniforms import block
from seatrial.render.water import INDEX

NEAREST = 0.01
"""Of what is rasterised, m."""
APART = 2
"""Size of the pixels in which bodies by way of waves are drawn; in a calm it is 1."""
PIECE = 16
"""Cells along each side of a piece of a mapped bottom."""
KINDS = {
    name: (k + 1) / 8 for k, name in enumerate(("SKY", "WATER", "CLEAR", "FLOOR", "BODY", "BOARD"))
}
"""Depths that stand for what a pixel meets: water, and water through which one looks, apart."""
BEHIND = 1.0 - 1e-6
"""Depth behind all that is rasterised."""
NEARBY_STEPS = 5
"""In which steep rays are followed to waves near by."""
LOOKS = 10
"""Distances at which a row of a rolling shutter looks for what it sees, each three times the one
before."""
CLOSER_LOOKS = 3
"""At what was found so: each follows the face that the frame shows where the last one met it."""
MOST_PASSING = 5
"""Velocities of bodies that are looked for so, with that of all that stand still."""
FLOOR_STEPS = (2, 4)
"""In which the bottom is looked for through the surface from above, and in its mirror from below:
more where ways may be level."""

UNITS = (
    *("bodies", "planes", "met", "lens", "rows", "heights", "slopes", "ripples", "sky", "fine"),
    *("coarse", "shadows", "movers", "map", "falls", "shade", "lamps", "cells", "layer"),
    *("reflections", "passages"),
)
"""Textures by the places at which programs look for them."""

CONSTANTS: dict[str, float | int] = {
    "NOTHING": NOTHING,
    "SURFACE": SURFACE,
    "BOTTOM": BOTTOM,
    "FIRST_BODY": FIRST_BODY,
    "INDEX": INDEX,
    "NEAREST": NEAREST,
    "FARTHEST": 2.0 * REACH,
    "REACH": REACH,
    "GRAZING": draw.GRAZING,
    "MIRROR_REACH": draw.MIRRORED,
    "DRY_REACH": solids.DRY,
    "NODES": float(surface.NODES),
    "FINE": surface.HALVES[0],
    "COARSE": surface.HALVES[1],
    "STEPS": surface.STEPS,
    "MOST_STEPS": surface.MOST_STEPS,
    "CLOSE": surface.CLOSE,
    "PAUSE": surface.PAUSE,
    "LEVEL": surface.LEVEL,
    "SMOOTH": surface.SMOOTH,
    "TILE": surface.TILE,
    "RIPPLES": float(surface.RIPPLES),
    "SKY_STEPS": float(air.SkyTable.STEPS),
    "HAZE_COSINE": air.HAZE_COSINE,
    "AGAIN": air.AGAIN,
    "SUN_RADIUS": air.SUN_RADIUS,
    "SUN_EDGE": math.cos(air.SUN_RADIUS),
    "SUN_SHARPNESS": 1.0 / (math.pi * math.sin(air.SUN_RADIUS) ** 2),
    "FOG_HEIGHT": between.FOG_HEIGHT,
    "LAMP_STEPS": between.LAMP_STEPS,
    "LAMP_REACH": between.LAMP_REACH,
    "CLEARANCE": solids.CLEARANCE,
    "PARTS": solids.PARTS,
    "GRAIN_TILE": appearance.TILE,
    "GRAIN_NODES": float(appearance.NODES),
    "GRAIN_STEP": appearance.TILE / appearance.NODES,
    "CONTRAST": appearance.CONTRAST,
    "BODY_CONTRAST": appearance.BODY_CONTRAST,
    "GENTLE": math.cos(appearance.FLAT),
    "ROCKY": math.cos(appearance.STEEP),
    "BLACK": appearance.BLACK,
    "WHITE": appearance.WHITE,
    "BEYOND": tiles.BEYOND,
    "PIECE": PIECE,
    "BODY_COLUMNS": bodies.COLUMNS,
    "BODY_ROWS": bodies.ROWS,
    "NEARBY_STEPS": NEARBY_STEPS,
    "LOOKS": LOOKS,
    "CLOSER_LOOKS": CLOSER_LOOKS,
    "MOST_PASSING": MOST_PASSING,
    **{f"KIND_{name}": depth for name, depth in KINDS.items()},
}
_SHADED = (
    *("rays.glsl", "meeting.glsl", "optics.glsl", "sea.glsl", "between.glsl", "floor.glsl"),
    "light.glsl",
)
_PARTS: dict[str, tuple[str, ...]] = {
    "solids": (),
    "floor": ("floor.glsl",),
    "kind": (),
    "first": ("rays.glsl", "optics.glsl", "sea.glsl"),
    "truth": ("rays.glsl", "meeting.glsl"),
    **dict.fromkeys(("sky", "solid", "water", "beside"), _SHADED),
}
"""Program -> what it is put together from, beside what all have."""


class Programs:
    """All that were asked for so far."""

    def __init__(self, gl: Any) -> None:
        self._gl = gl
        self._known: dict[tuple[str, frozenset[str]], tuple[Any, Any]] = {}

    def get(self, name: str, defined: Iterable[str]) -> tuple[Any, Any]:
        """A program and, where it draws over the whole picture, what to render it with."""
        key = name, frozenset(defined)
        if key not in self._known:
            self._known[key] = self._made(*key)
        return self._known[key]

    def _made(self, name: str, defined: frozenset[str]) -> tuple[Any, Any]:
        raster = name in ("solids", "floor")
        parts = ["common.glsl", *_PARTS[name]]
        vertex = _text("part.vert")
        if raster:
            vertex = "".join(_text(part) for part in (*parts, f"{name}.vert"))
        last = "nothing.frag" if "SHADOWS" in defined else f"{name}.frag"
        fragment = "".join(_text(part) for part in (*parts, last))
        head = _head(defined)
        program = self._gl.program(vertex_shader=head + vertex, fragment_shader=head + fragment)
        for member in program:
            if member in UNITS:
                program[member].value = UNITS.index(member)
            elif member == "Shot":
                program[member].binding = 0
        return program, None if raster else self._gl.vertex_array(program, [])


def _head(defined: frozenset[str]) -> str:
    lines = ["#version 330"]
    lines += [f"#define {name} {_written(value)}" for name, value in CONSTANTS.items()]
    coarse = appearance.patterns()[1].shape[0]
    lines.append(f"#define COARSE_GRAIN_NODES {float(coarse)!r}")
    lines.append(f"#define FLOOR_STEPS {FLOOR_STEPS[int('WET' in defined)]}")
    lines += [f"#define {name.replace('=', ' ')}" for name in sorted(defined)]
    lines.append(f"const bool wet = {'true' if 'WET' in defined else 'false'};")
    return "\n".join(lines) + "\n" + block()


def _written(value: float | int) -> str:
    return repr(value)


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath("glsl", name).read_text(encoding="utf-8")
