"""Everything of a stage that light may meet, at the instant of a shot, as meshes of Mitsuba."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.materials import MATERIAL_NAMES
from seatrial.geometry.rays import USUAL_MATERIAL
from seatrial.ocean import current as currents
from seatrial.render.appearance import WHITE
from seatrial.render.optics import cox_munk
from seatrial.render.picture import Stage
from seatrial.render.traced.backend import mitsuba
from seatrial.render.traced.lighting.background import sea_mesh
from seatrial.render.traced.lighting.ripples import resolved_slope, wind_speed
from seatrial.render.traced.split import Shapes
from seatrial.render.traced.things import meshes, surfaces
from seatrial.render.traced.things.meshes import Look
from seatrial.render.traced.things.snow import flakes
from seatrial.render.traced.truth import Truth
from seatrial.render.traced.view import View

Array = NDArray[np.float64]

REFLECTED = 0.33
"""Irradiance that water sends back up, over b_b / (a + b_b) of what goes down (Gordon, Brown and
Jacobs 1975, Applied Optics 14)."""
SQUARE = 1000.0
"""Side of the squares from whose middles a flat bottom reaches out, m."""
SMOOTHEST = 1e-3
"""Mean square slope of a sea at least."""


class Props:
    """What is to be seen; looks, and what stands still, are made once."""

    def __init__(self, stage: Stage, seed: int, snow: float = 0.0) -> None:
        self._stage, self._seed, self._snow = stage, seed, snow
        self._looks: dict[Any, Any] = {}
        self._still: dict[Any, list[Any]] = {}

    def at(self, view: View, truth: Truth, velocity: Array | None, sea: bool = True) -> Shapes:
        """At the instant of a shot of a camera that moves; without the sea and marine snow if not
        `sea`."""
        return _At(self, view, truth, velocity, sea)

    def standing(self, view: View, black: bool, exterior: Any) -> list[Any]:
        """The bottom and what stands still."""
        # Around a place that does not depend on which frame was drawn first.
        middle = SQUARE * np.round(view.position[:2] / SQUARE)
        key = black, id(exterior), *middle.tolist()
        if key not in self._still:
            rays = self._stage.rays
            made: list[Any] = []
            if rays.bottom is not None:
                floor = MATERIAL_NAMES[rays.floor]
                look = self._look(
                    ("bottom", floor), lambda: surfaces.bottom_plan(floor), black, exterior
                )
                made.append(meshes.bottom_mesh(rays.bottom, middle, look))
            for index, body in enumerate(rays.bodies):
                if not body.moves and body.shape != "vehicle":
                    made += self._body(index, body, *body.pose(0.0), black, exterior)
            self._still[key] = made
        return self._still[key]

    def moving(self, view: View, black: bool, exterior: Any) -> list[Any]:
        """Vessels, floats and vehicles where they are."""
        rays, shot = self._stage.rays, view.shot
        made: list[Any] = []
        for index, body in enumerate(rays.bodies):
            if body.shape == "vehicle" and shot.others is not None:
                row = np.asarray(shot.others, np.float64)[rays.vehicles.index(index)]
                if np.all(np.isfinite(row)):
                    turned = rotation_matrix(row[3:])
                    made += self._body(index, body, row[:3], turned, black, exterior)
            elif body.moves:
                made += self._body(index, body, *body.pose(shot.time), black, exterior)
        return made

    def sea(self, view: View, black: bool) -> list[Any]:
        """The waves of the instant, from above."""
        ocean, water = self._stage.ocean, self._stage.water
        back = REFLECTED * water.backscatter / (water.absorption + water.backscatter)
        rough = max(cox_munk(wind_speed(ocean)) - resolved_slope(ocean), SMOOTHEST)
        look = self._look("sea", lambda: surfaces.sea_plan(back, rough), black, None)
        mesh, normals = sea_mesh(ocean, view)
        return [meshes.built("sea", mesh, look, normals)]

    def snow(self, view: View, velocity: Array | None, black: bool, exterior: Any) -> list[Any]:
        """Marine snow around the camera."""
        drift = np.zeros(3)
        if self._stage.ocean.current is not None:
            x, y, z = view.position
            there = currents.sample(self._stage.ocean.current, (x, y, z), view.shot.time)
            drift = np.array([float(np.asarray(c)) for c in there])
        moving = np.zeros(3) if velocity is None else velocity
        shot = view.shot
        made = flakes(
            self._snow, self._seed, view.position, moving, drift, shot.time, shot.exposure
        )
        if made is None:
            return []
        look = self._look("snow", surfaces.snow_plan, black, exterior)
        return [meshes.built("snow", made.mesh, look, attributes={"vertex_albedo": made.albedo})]

    def _body(
        self,
        index: int,
        body: Body,
        position: Array,
        rotation: Array,
        black: bool,
        exterior: Any,
    ) -> list[Any]:
        material = body.material or USUAL_MATERIAL.get(body.shape, "concrete")
        wet = bool(position[2] > 0.0)
        grown = wet and not body.moves and body.shape != "vehicle"
        wrecked = body.kind == "wreck"
        pattern = body.pattern
        if pattern is None:
            colour = None if body.colour is None else tuple(float(c) for c in body.colour)
            look = self._look(
                (material, colour, wet, grown, wrecked),
                lambda: surfaces.body_plan(material, body.colour, wet, grown, wrecked),
                *(black, exterior),
            )
            return [meshes.body_mesh(body, position, rotation, look, index)]
        white = np.full(3, WHITE)
        margin = self._look("board", lambda: surfaces.even_plan(white), black, exterior)
        face = self._look(("face", index), lambda: surfaces.board_plan(pattern), black, exterior)
        return [
            meshes.body_mesh(body, position, rotation, margin, index),
            meshes.board_face(body, position, rotation, face, index),
        ]

    def _look(
        self, key: Any, plan: Callable[[], surfaces.Plan], black: bool, exterior: Any
    ) -> Look:
        """A surface of Mitsuba's, made once."""
        if black:
            key, plan = "black", lambda: surfaces.even_plan(np.zeros(3))
        if key not in self._looks:
            self._looks[key] = mitsuba().load_dict(plan())
        return Look(self._looks[key], exterior)


@dataclass
class _At:
    """The shapes of a shot."""

    props: Props
    view: View
    truth: Truth
    velocity: Array | None
    with_sea: bool

    _made: dict[Any, list[Any]] = field(default_factory=dict)

    def __call__(self, black: bool = False, exterior: Any = None) -> list[Any]:
        key = black, id(exterior)
        if key not in self._made:
            self._made[key] = self._build(black, exterior)
        return self._made[key]

    def _build(self, black: bool, exterior: Any) -> list[Any]:
        props, view = self.props, self.view
        shapes = props.standing(view, black, exterior) + props.moving(view, black, exterior)
        if not self.with_sea:
            return shapes
        if view.under_water:
            return shapes + props.snow(view, self.velocity, black, exterior)
        return shapes + props.sea(view, black)
