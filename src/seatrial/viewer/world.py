"""The greeting: vehicles, sea, bottom and bodies of a run as the page draws them."""

import base64
from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from seatrial.engine.frames import OUTCOMES, Body, RunHeader, Scene, VehicleInfo
from seatrial.engine.scene import WaveComponents
from seatrial.geometry.bodies import quaternion_of
from seatrial.geometry.terrain import Terrain
from seatrial.signals import SensorInfo
from seatrial.viewer.messages import (
    BodyCard,
    BottomCard,
    ChannelCard,
    Hello,
    HullCard,
    LegCard,
    Part,
    SensorCard,
    VehicleCard,
    WavesCard,
)

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
    may: tuple[str, ...],
    span: tuple[float, float],
) -> Hello:
    """The greeting of a run whose cards of vehicles are in the order of its states."""
    vehicles, suites = _with_suites(header, vehicles)
    vehicles, hulls = _with_hulls(header, vehicles)
    return Hello(
        mode=mode,
        control=True,
        may=list(may),
        scenario=header.scenario,
        seed=header.seed,
        start=span[0],
        duration=span[1],
        frame_period=header.frame_period,
        statuses=STATUSES,
        outcomes=list(OUTCOMES.values()),
        vehicles=vehicles,
        suites=suites,
        hulls=hulls,
        waves=waves_card(scene.waves),
        water_depth=scene.water_depth,
        bottom=None if scene.terrain is None else bottom_card(scene.terrain),
        bodies=[_body(body) for body in drawn_bodies(scene)],
        wind_speed=0.0 if scene.wind is None else scene.wind.speed,
    )


def waves_card(waves: WaveComponents | None) -> WavesCard | None:
    """The surface; None where it is flat."""
    names = ("amplitude", "omega", "wavenumber", "direction", "phase")
    return None if waves is None else WavesCard(**{n: getattr(waves, n).tolist() for n in names})


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
            ChannelCard(
                name=a.name,
                unit=a.unit,
                low=low,
                high=high,
                kind=a.kind,
                position=a.position,
                axis=a.axis,
                size=a.size,
            )
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
        fence=list(info.fence),
        autopilot=pilot,
        suite=0,
        hull=None,
        fields=fields,
    )


def _with_suites(
    header: RunHeader, vehicles: list[VehicleCard]
) -> tuple[list[VehicleCard], list[list[SensorCard]]]:
    """Cards that know their suite of sensors, and the suites: a swarm has one for all."""
    suites: dict[tuple[str, ...], int] = {}
    told: list[list[SensorCard]] = []
    found = []
    sensors = {v.name: v.sensors for v in header.vehicles}
    for card in vehicles:
        suite = [_sensor(one) for one in sensors[card.name]]
        key = tuple(one.model_dump_json() for one in suite)
        if key not in suites:
            suites[key] = len(told)
            told.append(suite)
        found.append(card.model_copy(update={"suite": suites[key]}))
    return found, told


def _with_hulls(
    header: RunHeader, vehicles: list[VehicleCard]
) -> tuple[list[VehicleCard], list[HullCard]]:
    """Cards that know their hull, and the hulls: a swarm has one for all."""
    places: dict[int, int] = {}
    told: list[HullCard] = []
    found = []
    for card in vehicles:
        hull = header.hulls.get(card.name)
        if hull is not None and id(hull) not in places:
            places[id(hull)] = len(told)
            vertices, faces = packed(hull.mesh.vertices, "<f4"), packed(hull.mesh.faces, "<u4")
            told.append(HullCard(form=hull.form, vertices=vertices, faces=faces))
        place = None if hull is None else places[id(hull)]
        found.append(card.model_copy(update={"hull": place}))
    return found, told


def _sensor(info: SensorInfo) -> SensorCard:
    payload = info.payload
    return SensorCard(
        name=info.name,
        type=info.type,
        components=list(info.components),
        units=list(info.units),
        rate=info.rate,
        position=info.position,
        orientation=info.orientation,
        facts={name: list(numbers) for name, numbers in info.facts.items()},
        payload="" if payload is None else payload.kind,
        shape=[] if payload is None else list(payload.shape),
        unit="" if payload is None else payload.unit,
    )


def bottom_card(terrain: Terrain) -> BottomCard:
    """A map as finely as pages draw it."""
    step = max(1, -(-max(terrain.depth.shape) // MOST_NODES))
    depth = terrain.filled[::step, ::step]
    return BottomCard(
        origin=(float(terrain.origin[0]), float(terrain.origin[1])),
        spacing=(float(terrain.spacing[0] * step), float(terrain.spacing[1] * step)),
        rows=depth.shape[0],
        columns=depth.shape[1],
        depth=packed(depth, "<f4"),
    )


def _body(body: Body) -> BodyCard:
    place, turned = body.pose(0.0)
    mesh = body.mesh()
    north, east, down = (float(v) for v in place)
    w, x, y, z = (float(v) for v in quaternion_of(turned))
    return BodyCard(
        name=body.name,
        kind=body.kind,
        material=body.material,
        moves=body.moves,
        position=(north, east, down),
        attitude=(w, x, y, z),
        vertices=packed(mesh.vertices, "<f4"),
        faces=packed(mesh.faces, "<u4"),
    )


def packed(numbers: ArrayLike, kind: str) -> str:
    """Base64 of numbers."""
    return base64.b64encode(np.ascontiguousarray(numbers, kind).tobytes()).decode()
