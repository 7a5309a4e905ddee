"""Camera: a picture of the scene, drawn when its tap is expanded.

The tap tells where the camera is, how fast it moves and how it turns at the time of the sample: the
middle of the exposure, of its middle row with a rolling shutter. Row v of a rolling shutter is
taken (v − (H − 1)/2) · line time later, with the camera moved on by that much. While the shutter is
open the picture moves: with the blur of b pixels that this is at most, b + 1 pictures (at most
`MOST_BLUR`) spread evenly over the exposure are drawn and averaged. Waves stand still meanwhile.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.live.surface import Surface, surface_at
from seatrial.render.picture import Lens, Light, Motion, Shot, Stage, categories
from seatrial.render.renderers import Draw, drawing
from seatrial.render.sky import Sky
from seatrial.render.water import Medium
from seatrial.sensors.noise.streams import stream
from seatrial.sensors.tap import Expanded, Views
from seatrial.sensors.vision.chip import Chip, developed
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]
Single = NDArray[np.float32]

MOST_BLUR = 8
"""Pictures that are averaged."""
NEAR = 0.1
"""Share of the picture that may lie nearer than where its motion is judged."""
FAR = 1e6
"""m; what lies beyond is as good as without end, and between two of that is no number."""
PREVIEW = 20
"""Rows of the small picture by which light and motion are measured."""

KINDS = {
    "colour": ("uint8", "1", (3,)),
    "depth": ("float32", "m", ()),
    "normals": ("float32", "1", (3,)),
    "instance": ("uint16", "1", ()),
    "category": ("uint8", "1", ()),
}
"""What a camera shows -> type of its numbers, unit, shape of a pixel."""


@dataclass(frozen=True)
class Camera:
    """A camera: the half that lives outside the compiled loop."""

    rays: RayScene
    sky: Sky
    water: Medium
    lens: Lens
    shows: str
    chip: Chip
    vignetting: float
    """v of cos(angle from the axis)^(4 v)."""
    moving: bool
    """Whether the motion during an exposure is seen."""
    line_time: float
    """From row to row, s; 0 for a global shutter."""
    lights: tuple[Light, ...]
    """In the camera's own axes."""
    period: float
    """From sample to sample, s."""
    encoding: str
    """How the picture is sent: `jpeg:90`, `png`, or nothing for as it is."""
    renderer: str = "rays"
    """Who draws: a name of `render.renderers`."""

    @property
    def _draw(self) -> Draw:
        return drawing(self.renderer)

    @property
    def payload(self) -> PayloadInfo:
        """A picture."""
        kind, unit, pixel = KINDS[self.shows]
        names = categories(self.rays) if self.shows == "category" else ()
        shape = (self.lens.height, self.lens.width, *pixel)
        return PayloadInfo("image", shape, kind, unit, names, self.encoding)

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """Pictures."""
        count, info = len(views.number), self.payload
        payload = np.empty((count, *info.shape), info.dtype)
        values = np.zeros((count, 3))
        stage = Stage(self.rays, ocean, self.sky, self.water)
        for i in range(count):
            shot = self._shot(views, i)
            surface = surface_at(ocean, shot.position[:2], shot.time)
            if self.shows != "colour":
                payload[i] = self._draw(stage, shot, (self.shows,), surface)[self.shows]
                continue
            preview = self._draw(
                stage, replace(shot, lens=self._small, motion=None), ("colour", "depth"), surface
            )
            exposure = self.chip.exposure(preview["colour"].reshape(-1, 3))
            pictures = self._pictures(views, i, exposure.time, preview["depth"])
            light = self._light(stage, views, i, shot, surface, exposure.time, pictures)
            share = self.chip.share(light, exposure)
            values[i] = exposure.time, exposure.gain, float(np.minimum(share, 1.0).mean())
            random = stream(views.keys[i], int(views.number[i]))
            payload[i] = developed(self.chip.noise(share, exposure, random))
        return Expanded(values, np.ones(count, np.bool_), payload)

    def _shot(self, views: Views, i: int) -> Shot:
        attitude = views.attitude[i]
        matrix = rotation_matrix(attitude)
        place = views.position[i]
        lights = tuple(
            light._replace(
                position=place + matrix @ light.position, direction=matrix @ light.direction
            )
            for light in self.lights
        )
        time = float(views.number[i]) * self.period
        others = None if views.others is None else views.others[i]
        motion = None
        if self.moving and self.line_time > 0.0 and views.velocity is not None:
            assert views.turn is not None
            rows = np.arange(self.lens.height, dtype=np.float64) - 0.5 * (self.lens.height - 1)
            motion = Motion(views.velocity[i], views.turn[i], self.line_time * rows)
        return Shot(place, attitude, time, self.lens, lights, others, motion)

    @cached_property
    def _small(self) -> Lens:
        """The same view in a few pixels, without distortion."""
        lens = self.lens
        rows = min(PREVIEW, lens.height)
        share = rows / lens.height
        columns = max(1, round(share * lens.width))
        return Lens(columns, rows, share * lens.focal_length)

    def _light(
        self,
        stage: Stage,
        views: Views,
        i: int,
        shot: Shot,
        surface: Surface,
        time: float,
        pictures: int,
    ) -> Single:
        """(H, W, 3) radiance behind the lens, over an exposure, as the mean of some pictures."""
        if pictures == 1:
            light = self._draw(stage, shot, ("colour",), surface)["colour"]
        else:
            assert views.velocity is not None
            assert views.turn is not None
            late = np.zeros(self.lens.height) if shot.motion is None else shot.motion.late
            light = np.zeros((self.lens.height, self.lens.width, 3), np.float32)
            for j in range(pictures):
                apart = ((j + 0.5) / pictures - 0.5) * time
                motion = Motion(views.velocity[i], views.turn[i], late + apart)
                moved = replace(shot, motion=motion)
                light += self._draw(stage, moved, ("colour",), surface)["colour"]
            light *= np.float32(1.0 / pictures)
        if self.vignetting > 0.0:
            light *= self._falloff
        return light

    def _pictures(self, views: Views, i: int, time: float, depth: Single) -> int:
        """How many are averaged: one more than pixels of blur."""
        if not self.moving or views.velocity is None or views.turn is None:
            return 1
        across = float(np.linalg.norm(views.turn[i]))
        near = max(float(np.quantile(np.minimum(depth, FAR), NEAR)), 0.1)
        across += float(np.linalg.norm(views.velocity[i])) / near
        blur = time * across * self.lens.focal_length
        return min(1 + math.floor(blur), MOST_BLUR)

    @cached_property
    def _falloff(self) -> Single:
        """(H, W, 1) what vignetting leaves."""
        cosine = self.lens.columns[0].reshape(self.lens.height, self.lens.width, 1)
        return np.asarray(np.power(cosine, np.float32(4.0 * self.vignetting)), np.float32)
