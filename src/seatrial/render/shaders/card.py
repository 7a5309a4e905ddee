"""Everything that stays on the card between pictures: programs, tables, scenes, and sheets on which
pictures are drawn."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.grid import HeightGrid
from seatrial.render.live.solids import Shader
from seatrial.render.shaders.bodies import Bodies
from seatrial.render.shaders.context import Context
from seatrial.render.shaders.floor import Floor
from seatrial.render.shaders.programs import KINDS, Programs
from seatrial.render.shaders.shadows import Shadows
from seatrial.render.shaders.tables import Shelf, Tables
from seatrial.render.shaders.uniforms import Uniforms

MOST_SCENES, MOST_SIZES = 4, 4
"""That are kept."""


class Sheet:
    """Something that is drawn onto: textures of four numbers, and depths."""

    def __init__(
        self,
        gl: Any,
        size: tuple[int, int],
        count: int = 1,
        like: "Sheet | None" = None,
    ) -> None:
        """With depths of its own, or those of another of the same size."""
        self._gl, self._like = gl, like
        self.textures = [gl.texture(size, 4, dtype="f4") for _ in range(count)]
        for texture in self.textures:
            texture.filter = gl.NEAREST, gl.NEAREST
            texture.repeat_x = texture.repeat_y = False
        self._depths: Any = gl.depth_texture(size) if like is None else like._depths
        self._buffer = gl.framebuffer(self.textures, self._depths)

    def use(self, test: str, keep: bool = True, empty: bool = False) -> None:
        """Draw onto it from now on, where depths compare so with what is there (`1`: everywhere),
        and `keep` the new ones; `empty` it before."""
        self._gl.enable_only(self._gl.DEPTH_TEST)
        self._gl.depth_func = test
        self._buffer.depth_mask = keep
        self._buffer.use()
        if empty:
            self._buffer.clear()

    def read(self, number: int = 0) -> NDArray[np.float32]:
        """(rows, columns, 4) of one of its textures."""
        columns, rows = self.textures[number].size
        found = np.empty((rows, columns, 4), np.float32)
        self._buffer.read_into(found, components=4, attachment=number, dtype="f4")
        return found

    def release(self) -> None:
        """Let go of it."""
        for thing in (self._buffer, *self.textures):
            thing.release()
        if self._like is None:
            self._depths.release()


class Sheets:
    """Those of pictures of one size."""

    def __init__(self, gl: Any, size: tuple[int, int], frame: tuple[int, int], apart: int) -> None:
        self._gl, self._size = gl, size
        self._frame = frame
        self._layer = -(-frame[0] // apart), -(-frame[1] // apart)

    @cached_property
    def planes(self) -> Sheet:
        """Faces in the rasterised frame."""
        return Sheet(self._gl, self._frame)

    @cached_property
    def met(self) -> Sheet:
        """What rays meet first; its depths are kinds."""
        return Sheet(self._gl, self._size)

    @cached_property
    def colour(self) -> Sheet:
        """Colour and albedo."""
        return Sheet(self._gl, self._size, 2, self.met)

    @cached_property
    def normals(self) -> Sheet:
        """Normals."""
        return Sheet(self._gl, self._size, 1, self.met)

    @cached_property
    def layer(self) -> Sheet:
        """Faces of bodies as a calm sea shows them."""
        return Sheet(self._gl, self._layer)

    @cached_property
    def reflections(self) -> Sheet:
        """Bodies in the mirror of the surface."""
        return Sheet(self._gl, self._layer, 1, self.layer)

    @cached_property
    def passages(self) -> Sheet:
        """Bodies through the surface."""
        return Sheet(self._gl, self._layer, 1, self.layer)

    def release(self) -> None:
        """Let go of all."""
        for thing in vars(self).values():
            if isinstance(thing, Sheet):
                thing.release()


class Scene:
    """A scene of rays on the card."""

    def __init__(self, gl: Any, shader: Shader) -> None:
        bottom = shader.stage.rays.bottom
        self.bodies = Bodies(gl, shader)
        self.floor = Floor(gl, bottom) if isinstance(bottom, HeightGrid) else None

    def release(self) -> None:
        """Let go of it."""
        self.bodies.release()
        if self.floor is not None:
            self.floor.release()


class Card:
    """All of it."""

    def __init__(self, context: Context) -> None:
        self.gl, self.finish = context.gl, context.finish
        self.programs = Programs(self.gl)
        self.tables = Tables(self.gl)
        self.shadows = Shadows(self.gl)
        self.block = self.gl.buffer(reserve=len(Uniforms().bytes))
        self._scenes, self._sheets = Shelf(MOST_SCENES), Shelf(MOST_SIZES)
        self.one_kind = self._test_of_kinds()
        """How depths are compared by a program for one kind."""

    def _test_of_kinds(self) -> str:
        """Equal, where the card finds kinds again that were written as depths. Where it rounds them
        otherwise, programs look at all pixels and leave out those of other kinds by themselves."""
        sheet, corners = Sheet(self.gl, (1, 1)), np.tile(np.array([[3.0, -1.0]]), (6, 1))
        corners[:2] = [-1.0, -1.0], [-1.0, 3.0]
        found = True
        for depth in KINDS.values():
            for name, test, keep in (("written", "1", True), ("found", "==", False)):
                program, array = self.programs.get("kind", {name.upper()})
                program["corners"].write(corners.astype(np.float32))
                program["kind"].value = depth
                sheet.use(test, keep, empty=keep)
                array.render(mode=self.gl.TRIANGLE_FAN, vertices=3)
            found &= bool(sheet.read()[0, 0, 0] == 1.0)
        sheet.release()
        return "==" if found else "1"

    def scene(self, shader: Shader) -> Scene:
        """Of the stage of a shot."""
        found: Scene = self._scenes.get(shader.stage.rays, lambda: Scene(self.gl, shader))
        return found

    def sheets(self, size: tuple[int, int], frame: tuple[int, int], apart: int) -> Sheets:
        """For pictures and frames of a size, in which bodies by way of the surface are drawn in
        pixels so many times as large."""
        key = size, frame, apart
        found: Sheets = self._sheets.get(key, lambda: Sheets(self.gl, *key))
        return found


def card_of(context: Context) -> Card:
    """That of a context, made with the first picture."""
    if "card" not in context.kept:
        context.kept["card"] = Card(context)
    found: Card = context.kept["card"]
    return found
