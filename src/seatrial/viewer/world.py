"""The greeting: vehicles, sea, bottom and bodies of a run as the page draws them."""

import base64
from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from seatrial.engine.frames import OUTCOMES, Body, RunHeader, Scene, VehicleInfo
from seatrial.geometry.terrain import Terrain
from seatrial.viewer.messages import (
    BodyCard,
    BottomCard,
    ChannelCard,
    Hello,
    LegCard,
    Part,
    VehicleCard,
    WavesCard,
)
from seatrial.viewer.states import quaternion

Limits = Mapping[str, Mapping[str, tuple[float, float]]]
"""By vehicle and channel what it can be ordered to, SI."""

MOST_NODES = 384
"""Along a side of the bottom that is drawn; a finer grid is thinned out."""

STATUSES = ["running", "diverged", "grounded", "capsized", "collided", "failed", "ended"]
"""Words for the codes in a state; those of the engine come first, in its order."""


def hello_of(
    header: RunHeader,
    scene: Scene,
    vehicles: list[VehicleCard],
    mode: Literal["live", "playback"],
    control: bool,
    span: tuple[float, float],
) -> Hello:
    """The greeting of a run whose cards of vehicles are in the order of its states."""
    waves = scene.waves
    names = ("amplitude", "omega", "wavenumber", "direction", "phase")
    return Hello(
        mode=mode,
        control=control,
        scenario=header.scenario,
        seed=header.seed,
        start=span[0],
        duration=span[1],
        frame_period=header.frame_period,
        statuses=STATUSES,
        outcomes=list(OUTCOMES.values()),
        vehicles=vehicles,
        waves=None
        if waves is None
        else WavesCard(**{n: getattr(waves, n).tolist() for n in names}),
        water_depth=scene.water_depth,
        bottom=None if scene.terrain is None else _bottom(scene.terrain),
        bodies=[_body(body) for body in drawn_bodies(scene)],
        wind_speed=0.0 if scene.wind is None else scene.wind.speed,
    )


def drawn_bodies(scene: Scene) -> list[Body]:
    """What is in the world beside the vehicles."""
    return [body for body in scene.bodies if body.shape != "vehicle"]


def vehicle_card(
    info: VehicleInfo, fields: list[Part], limits: Mapping[str, tuple[float, float]], pilot: bool
) -> VehicleCard:
    """A vehicle; a channel without known limits has those of its orders."""
    return VehicleCard(
        name=info.name,
        kind=info.kind,
        craft=info.craft,
        length=info.length,
        beam=info.beam,
        height=info.height,
        channels=[
            ChannelCard(name=a.name, unit=a.unit, low=low, high=high)
            for a in info.actuators
            for low, high in [limits.get(a.name, (-1.0, 1.0))]
        ],
        faults=[fault.name for fault in info.faults],
        legs=[
            LegCard(
                name=leg.name,
                kind=leg.kind,
                start=leg.start,
                end=leg.end,
                acceptance=leg.acceptance,
            )
            for leg in info.legs
        ],
        autopilot=pilot,
        fields=fields,
    )


def _bottom(terrain: Terrain) -> BottomCard:
    step = max(1, -(-max(terrain.depth.shape) // MOST_NODES))
    depth = np.nan_to_num(terrain.depth[::step, ::step], nan=float(np.nanmax(terrain.depth)))
    return BottomCard(
        origin=(float(terrain.origin[0]), float(terrain.origin[1])),
        spacing=(float(terrain.spacing[0] * step), float(terrain.spacing[1] * step)),
        rows=depth.shape[0],
        columns=depth.shape[1],
        depth=_base64(depth, "<f4"),
    )


def _body(body: Body) -> BodyCard:
    place, turned = body.pose(0.0)
    mesh = body.mesh()
    north, east, down = (float(v) for v in place)
    w, x, y, z = (float(v) for v in quaternion(turned))
    return BodyCard(
        name=body.name,
        kind=body.kind,
        material=body.material,
        moves=body.moves,
        position=(north, east, down),
        attitude=(w, x, y, z),
        vertices=_base64(mesh.vertices, "<f4"),
        faces=_base64(mesh.faces, "<u4"),
    )


def _base64(numbers: ArrayLike, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, kind).tobytes()).decode()
