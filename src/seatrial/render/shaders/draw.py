"""A picture of the stage, by rasterising: the same passes as `render.live.draw` gives by rays.

Solids are rasterised into a frame (`frame`) that says which face each pixel sees. Every pixel's own
ray then meets that face, or the sea, whose waves lie on textures and which rays are followed to.
What is met first is shaded by programs for each kind of it apart: Mesa's software computes both
sides of every branch, but leaves out pixels whose depth is not that of a program's kind.

The sun's shadows are maps (`shadows`, `floor`). Bodies that are seen mirrored in the surface or
through it are rasterised once more, as a calm sea would show them, and looked up from there by the
ray that the waves send.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.materials import material_index
from seatrial.render.appearance import TILE as GRAIN_TILE
from seatrial.render.appearance import colours
from seatrial.render.live.between import (
    FOG_HEIGHT,
    Between,
    reach_from_above,
    reach_of_mirror,
)
from seatrial.render.live.draw import TRUTHS
from seatrial.render.live.solids import DRY, SHADOW, Shader
from seatrial.render.live.surface import HALVES, LEVEL, TILE, Surface, surface_at
from seatrial.render.picture import REACH, Passes, Shot, Stage, category_of_instance
from seatrial.render.shaders.card import Card, Sheet, card_of
from seatrial.render.shaders.context import on_card
from seatrial.render.shaders.frame import WHOLE, bands_of, frame_of, three_of
from seatrial.render.shaders.programs import APART, BEHIND, KINDS, MOST_PASSING, UNITS
from seatrial.render.shaders.shadows import Sunlight
from seatrial.render.shaders.tables import table
from seatrial.render.shaders.uniforms import Uniforms

Array = NDArray[np.float64]

GRAIN_REPEAT = 4.0 * GRAIN_TILE
"""After which both halves of the grain repeat, m."""
OPAQUE = 10.0
"""Optical depth beyond which no colour comes through water: less than 1e-4 of it."""
ENDLESS = float("inf")
DEEPEST = 10.0
"""Below which nothing reaches out of the water, m."""
TINY = 2048
"""Pixels of a picture that is drawn to measure the light: it shows no bodies by way of the sea."""
STEEPEST = 6.0
"""How far off, in heights of the camera, the sea is still looked through from above."""


def draw(
    stage: Stage,
    shot: Shot,
    wanted: tuple[str, ...] = ("colour",),
    surface: Surface | None = None,
) -> Passes:
    """The passes of a shot, by name, as `render.picture` states them; `surface` is that of the sea
    where somebody has it already."""
    sea = surface or surface_at(stage.ocean, shot.position[:2], shot.time)
    bands = bands_of(shot)
    parts = on_card(
        lambda context: [
            _Sitting(card_of(context), stage, shot, sea, wanted, band).passes() for band in bands
        ]
    )
    if len(parts) == 1:
        return parts[0]
    return {
        name: np.concatenate([part[name][band] for part, band in zip(parts, bands, strict=True)])
        for name in wanted
    }


class _Sitting:
    """A shot that is being drawn."""

    def __init__(
        self,
        card: Card,
        stage: Stage,
        shot: Shot,
        surface: Surface,
        wanted: tuple[str, ...],
        band: slice,
    ) -> None:
        """Only some rows of its passes will be right."""
        self.card, self.stage, self.shot, self.surface = card, stage, shot, surface
        self.asked = wanted
        self.wanted = {"instance" if name == "category" else name for name in wanted}
        self.shader = Shader(stage, shot)
        self.scene = card.scene(self.shader)
        self.wet = surface.covers(shot.position)
        self.frame = frame_of(shot, band)
        self.scene.bodies.place(shot, self.frame.eye, self.frame.time)
        calm = surface.grids is None and surface.ripples is None
        size = shot.lens.width, shot.lens.height
        self.sheets = card.sheets(size, self.frame.size, 1 if calm else APART)
        self.towards = WHOLE
        """Part of the picture in which the sea may be seen."""
        self.uniforms = Uniforms()
        self.loose: list[Any] = []
        """Textures of this shot alone."""
        flags = {
            "WET": self.wet,
            "WAVES": surface.grids is not None,
            "RIPPLED": surface.ripples is not None,
            "BENT": any(shot.lens.distortion),
            "ROLLING": self.frame.rows is not None,
            "MAPPED": self.scene.floor is not None,
            "FLAT": isinstance(stage.rays.bottom, float | int),
        }
        self.shape = {name for name, there in flags.items() if there}
        sunny = self.shader.sunny
        flags = {
            f"LAMPS={len(shot.lights)}": bool(shot.lights),
            "HILLS": sunny and self.scene.floor is not None,
            "CASTERS": sunny and self.shader.bodies,
            "MOVERS": sunny and bool((self.scene.bodies.moving & self.scene.bodies.shown).any()),
            "FOGGY": stage.sky.extinction * FOG_HEIGHT > 0.05,
        }
        self.lit = self.shape | {name for name, there in flags.items() if there}

    def passes(self) -> Passes:
        """What was asked for."""
        try:
            return self._passes()
        finally:
            for texture in self.loose:
                texture.release()

    def _passes(self) -> Passes:
        self._prepare()
        self._rasterise()
        self._first()
        found: Passes = {}
        if "colour" in self.wanted:
            self._beside()
        if self.wanted & {"colour", "albedo"}:
            self._shade()
        if "normals" in self.wanted:
            self.sheets.normals.use("1", keep=False)
            self._run("truth", self.shape & {"WET"})
        self.card.finish()
        for name, sheet, number in (
            ("colour", "colour", 0),
            ("albedo", "colour", 1),
            ("normals", "normals", 0),
        ):
            if name in self.wanted:
                found[name] = three_of(getattr(self.sheets, sheet).read(number))
        if self.wanted & {"depth", "instance"}:
            first = self.sheets.met.read()
            axial = self.shot.lens.columns[0].reshape(first.shape[:2])
            distance = np.where(first[..., 3] > 0.0, first[..., 2], np.float32(np.inf))
            found["depth"] = distance * axial
            found["instance"] = first[..., 3].astype(np.uint16)
        if "category" in self.asked:
            found["category"] = category_of_instance(self.stage.rays)[found["instance"]]
        return {name: found[name] for name in self.asked}

    # What programs look up.

    def _prepare(self) -> None:
        card, bodies, floor, eye = self.card, self.scene.bodies, self.scene.floor, self.frame.eye
        tables = card.tables
        tables.lay(self.surface)
        self._tell()
        self._bind("bodies", bodies.texture)
        sun = self.shader.sun_in_water if self.wet else self.stage.sky.sun_direction
        if "CASTERS" in self.lit and "colour" in self.wanted:
            # What throws a shadow onto something lies higher, which cannot be under water for a
            # camera above it; down there, shadows are lost with depth and distance.
            light = Sunlight(sun, DEEPEST, SHADOW)
            if self.wet:
                light = Sunlight(sun, self.shader.shadow_depth, self._visible())
            program, _ = card.programs.get("solids", {"SHADOWS"})
            card.shadows.cast(program, bodies, eye, light, self.uniforms)
        card.block.write(self.uniforms.bytes)
        card.block.bind_to_uniform_block(0)
        for name in ("heights", "slopes", "ripples", "fine", "coarse"):
            self._bind(name, getattr(tables, name))
        self._bind("sky", tables.sky(self.stage.sky))
        self._bind("cells", bodies.cells)
        self._bind("shadows", card.shadows.texture)
        self._bind("movers", card.shadows.moving)
        if floor is not None:
            self._bind("map", floor.map)
            self._bind("falls", floor.falls)
            self._bind("shade", floor.shade(sun))
        if "BENT" in self.shape:
            self._bind("lens", tables.lens(self.shot.lens))
        if self.frame.rows is not None:
            self._bind("rows", self._own(table(card.gl, self.frame.rows)))
        if self.shot.lights:
            self._bind("lamps", self._own(tables.lamps(self.shot.lights, eye)))

    def _visible(self) -> float:
        """How far anything is seen through the water by its colour, m."""
        return OPAQUE / float(self.stage.water.attenuation.min())

    def _tell(self) -> None:
        """Write down the numbers of the shot."""
        put, shader, sky, water = self.uniforms.put, self.shader, self.stage.sky, self.stage.water
        lens, frame, surface, rays = self.shot.lens, self.frame, self.surface, self.stage.rays
        self.uniforms.put_rows("turn", list(frame.turn))
        put("frame", frame.first, 1.0 / frame.extent)
        put("raster", frame.extent / frame.size)
        put("picture", lens.width, lens.height, 1.0 / lens.focal_length)
        put("eye", np.mod(frame.eye[:2], GRAIN_REPEAT), frame.eye[2])
        put("sun", sky.sun_direction, shader.sunny)
        put("sun_irradiance", sky.sun_irradiance)
        put("molecular", sky.table.molecular)
        put("sky_irradiance", sky.sky_irradiance)
        put("upwelling", shader.upwelling)
        put("horizon", sky.horizon, sky.extinction)
        put("sun_in_water", shader.sun_in_water, -1.0 / shader.sun_in_water[2])
        put("beam", shader.daylight[0])
        put("even", shader.daylight[1])
        put("attenuation", water.attenuation)
        put("daylight", water.daylight)
        put("scattering", water.scattering)
        put("backscatter", water.backscatter)
        between, level = Between(self.stage, shader), np.zeros(1, np.float32)
        here = np.full(1, max(frame.eye[2], 0.0), np.float32)
        put("veiling", between.veil(level, level, None))
        put("veiling_here", between.veil(here, level, None))
        above, mirror = reach_from_above(water), reach_of_mirror(water)
        within = shader.anything_within(mirror if self.wet else above)
        put("reaches", above, mirror, shader.shadow_depth, within)
        put("waves", surface.middle - frame.eye[:2], surface.top, surface.steep)
        put("lost", *surface.lost, surface.ripple_variance)
        put("tiled", np.mod(frame.eye[:2], TILE))
        put("sediment", colours()[:, rays.floor])
        put("stone", colours()[:, material_index("rock")])
        if self.scene.floor is not None:
            self.scene.floor.put(self.uniforms, frame.eye)
        elif isinstance(rays.bottom, float | int):
            put("floor_step", 1.0, 1.0, rays.bottom)

    def _own(self, texture: Any) -> Any:
        self.loose.append(texture)
        return texture

    def _bind(self, name: str, texture: Any) -> None:
        texture.use(UNITS.index(name))

    def _show(self, name: str, sheet: Sheet) -> None:
        """Let programs look up what was drawn onto a sheet. They would wait for it themselves, but
        hold up all other threads of Python meanwhile."""
        self.card.finish()
        self._bind(name, sheet.textures[0])

    def _raster(self, name: str, more: Iterable[str] = ()) -> Any:
        """A program that rasterises faces."""
        return self.card.programs.get(name, {*more, *({"WET"} & self.shape)})[0]

    def _run(
        self,
        name: str,
        defined: Iterable[str],
        kind: str | None = None,
        corners: Array = WHOLE,
        **values: Any,
    ) -> None:
        """Run a program on pixels of one kind, or on all, in a part of a sheet of at most six
        corners."""
        program, array = self.card.programs.get(name, defined)
        filled = np.concatenate([corners, np.repeat(corners[-1:], 6 - len(corners), axis=0)])
        program["corners"].write(filled.astype(np.float32))
        program["kind"].value = BEHIND if kind is None else KINDS[kind]
        for key, value in values.items():
            program[key].value = value
        if len(corners) > 2:
            array.render(mode=self.card.gl.TRIANGLE_FAN, vertices=6)

    # What is met.

    def _rasterise(self) -> None:
        """Faces of solids that the frame shows."""
        frame, bodies, floor = self.frame, self.scene.bodies, self.scene.floor
        self.sheets.planes.use("<", empty=True)
        top, depth, reach = self.surface.top, bodies.middles[:, 2] + frame.eye[2], REACH
        chosen = bodies.shown & frame.within(bodies.middles, bodies.radii)
        self.built = WHOLE
        if self.wet:
            if not self.wanted & {*TRUTHS, "albedo"}:
                reach = min(reach, self._visible())
            chosen &= depth + bodies.radii > -top
            chosen &= np.linalg.norm(bodies.middles, axis=1) - bodies.radii < reach
        else:
            chosen &= depth - bodies.radii < top
        bodies.draw(self._raster("solids"), chosen, "cw")
        self.passing = bodies.velocities(chosen, MOST_PASSING)
        if not {"BENT", "ROLLING"} & self.shape:
            self.built = frame.around(bodies.middles[chosen], bodies.radii[chosen])
        self.ground = isinstance(self.stage.rays.bottom, float | int)
        if floor is not None:
            highest = None if self.wet else top
            self.ground = floor.draw(self._raster("floor"), frame, reach, highest)

    def _first(self) -> None:
        """What every ray meets first: those that fall towards the sea, graze it, or lead away."""
        met = self.sheets.met
        met.use("1")
        self._show("planes", self.sheets.planes)
        shape = self.shape & {"WET", "BENT", "ROLLING", "FLAT"}
        if self.frame.rows is not None:
            shape.add(f"PASSING={len(self.passing)}")
        sea = {*shape, "SEA", *(self.shape & {"WAVES", "RIPPLED"})}
        least = LEVEL
        if self.surface.grids is None:
            least = 0.0
        elif abs(float(self.shot.position[2])) < self.surface.top:
            least = -max(0.2, self.surface.steep)
        self.towards = self._falling(least, ENDLESS)
        if self.surface.grids is None:
            self._follow(sea, least, ENDLESS)
        elif self.wanted & TRUTHS:
            self._follow({*sea, "FOLLOWED"}, least, ENDLESS)
        else:
            # Rays that are steep enough meet the waves on the finer grid.
            near = (abs(float(self.frame.eye[2])) + self.surface.top) / (0.9 * HALVES[0])
            near, level = max(near, self.surface.steep), max(least, 0.0)
            self._follow({*sea, "NEARBY"}, near, ENDLESS)
            self._follow(sea, level, near)
            if least < level:
                self._follow({*sea, "FOLLOWED"}, least, level)
        self._follow(shape, -ENDLESS, least)
        self._show("met", met)

    def _follow(self, defined: Iterable[str], least: float, most: float) -> None:
        """Follow rays that fall towards the sea faster than stated, and no faster."""
        values: dict[str, Any] = {"band": (least, most)}
        if self.frame.rows is not None:
            still = np.zeros((MOST_PASSING - len(self.passing), 3))
            values["passing"] = [tuple(v) for v in np.concatenate([self.passing, still]).tolist()]
        self._run("first", defined, corners=self._falling(least, most), **values)

    def _falling(self, least: float, most: float) -> Array:
        """Corners of a part of the picture that holds them."""
        if {"BENT", "ROLLING"} & self.shape:
            return WHOLE
        towards = self.frame.turn[2] * (-1.0 if self.wet else 1.0)
        return self.frame.part(towards, max(least, -1.0), min(most, 1.0))

    def _beside(self) -> None:
        """Bodies by way of the surface, where there are any."""
        bodies, frame = self.scene.bodies, self.frame
        depth = bodies.middles[:, 2] + frame.eye[2]
        level = np.hypot(bodies.middles[:, 0], bodies.middles[:, 1]) - bodies.radii
        dry = bodies.shown & (depth - bodies.radii < 0.0)
        sunk = bodies.shown & (depth + bodies.radii > 0.0)
        flipped = bodies.middles * [1.0, 1.0, -1.0] - [0.0, 0.0, 2.0 * frame.eye[2]]
        mirrored = frame.within(flipped, bodies.radii)
        if self.wet:
            mirrored &= sunk & (level < 2.0 * reach_of_mirror(self.stage.water))
            through = dry & (level < DRY)
        else:
            mirrored &= dry
            reach, high = reach_from_above(self.stage.water), abs(float(frame.eye[2]))
            through = sunk & (level < STEEPEST * high + reach) & (depth - bodies.radii < reach)
        nothing = self.card.tables.nothing
        self._bind("reflections", nothing)
        self._bind("passages", nothing)
        tiny = self.shot.lens.width * self.shot.lens.height < TINY
        if tiny or not (mirrored.any() or through.any()):
            return
        if mirrored.any():
            self._layer("reflections", mirrored, "MIRRORED")
        if through.any():
            self._layer("passages", through, "THROUGH")

    def _layer(self, name: str, chosen: NDArray[np.bool_], way: str) -> None:
        layer, shown, straight = self.sheets.layer, getattr(self.sheets, name), way == "THROUGH"
        layer.use("<", empty=True)
        program, front = self._raster("solids", {way}), "cw" if straight else "ccw"
        self.scene.bodies.draw(program, chosen, front, pieces=straight)
        self._show("layer", layer)
        shown.use(">", keep=False, empty=True)
        self._run("beside", {*self.lit, way} - {"BENT", "ROLLING"})
        self._show(name, shown)

    # What it looks like.

    def _shade(self) -> None:
        lit, floor, bottom = self.lit, self.scene.floor, self.stage.rays.bottom
        self.sheets.colour.use(self.card.one_kind, keep=False)
        self._run("sky", lit, "SKY")
        self._run("water", lit, "WATER", self.towards)
        self._run("water", {*lit, "CLEAR"}, "CLEAR", self.towards)
        if self.ground:
            highest = float(bottom) if isinstance(bottom, float | int) else 0.0
            highest = highest if floor is None else floor.shallowest
            deep = self.wet and highest > self.shader.shadow_depth
            self._run("solid", lit - {"CASTERS", "MOVERS", "HILLS"} if deep else lit, "FLOOR")
        if self.shader.bodies:
            self._run("solid", {*lit, "BODIES"}, "BODY", self.built)
        if self.shader.boards:
            self._run("solid", {*lit, "BODIES", "BOARDS"}, "BOARD", self.built)
