"""What dense sensors see of worlds of the library, taken along a track without a run around it."""

import math
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.sensors.fitting import FittedOut
from seatrial.compile.surroundings.scene import bodies_of, ray_scene
from seatrial.compile.surroundings.world import build_ocean
from seatrial.figures.instruments import Shot
from seatrial.sensors.noise import draws
from seatrial.sensors.tap import Views
from seatrial.signals import SensorInfo
from seatrial.spatial.rotations import multiply
from seatrial.spec.loading import load
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

Array = NDArray[np.float64]

CARRIER = "bluerov2"
"""Any vehicle that can carry a sensor: only the sensor is built."""


@dataclass(frozen=True)
class Picture:
    """A picture to take: of what, with what, and from where."""

    title: str
    caption: str
    world: str | World
    """By its name in the library, or its description."""
    sensor: dict[str, Any]
    start: tuple[float, float, float]
    """Where the sensor is at first, NED, m."""
    heading: float = 0.0
    """Degrees."""
    speed: float = 0.0
    """Ahead, m/s."""
    samples: int = 1
    lines: tuple[float, ...] = field(default=(0.0,))
    """How far to starboard the lines of a survey lie, m, gone there and back."""


def take(picture: Picture, seed: int) -> Shot:
    """Take a picture."""
    described: Any = [{"name": "eye", **picture.sensor}]
    participant = Participant(name="carrier", vehicle=load(CARRIER, Vehicle), sensors=described)
    scenario = Scenario(
        name="gallery",
        seed=seed,
        duration=1.0,
        time_step=0.01,
        world=load(picture.world, World) if isinstance(picture.world, str) else picture.world,
        vehicles=(participant,),
    )
    dtype = np.dtype(np.float64)
    with jax.enable_x64(True):
        ocean = build_ocean(scenario.world, seed, dtype)
        rays = ray_scene(scenario, [], bodies_of(scenario, seed), ocean)
        fitted = FittedOut(scenario, participant, (), ocean, dtype, rays)
        (info,) = fitted.infos
        views = _views(picture, info, seed)
        some = fitted.dense[info.name].expand(views, ocean)
    return Shot(
        picture.title,
        picture.caption,
        info,
        some.values,
        some.payload,
        views.position,
        views.attitude,
    )


def _views(picture: Picture, info: SensorInfo, seed: int) -> Views:
    """Samples along the lines of the picture, one after the other."""
    places, attitudes, velocities = [], [], []
    ahead = math.radians(picture.heading)
    for k, beside in enumerate(picture.lines):
        along = np.array([math.cos(ahead), math.sin(ahead), 0.0])
        starboard = np.array([-along[1], along[0], 0.0])
        gone = picture.speed / info.rate * np.arange(picture.samples)
        back = k % 2 == 1
        gone = gone[::-1] if back else gone
        places.append(picture.start + beside * starboard + gone[:, None] * along)
        heading = ahead + math.pi * back
        yaw = jnp.array([math.cos(0.5 * heading), 0.0, 0.0, math.sin(0.5 * heading)])
        turned = np.asarray(multiply(yaw, jnp.array(info.orientation)))
        attitudes.append(np.tile(turned, (picture.samples, 1)))
        velocity = picture.speed * along * (-1.0 if back else 1.0)
        velocities.append(np.tile(velocity, (picture.samples, 1)))
    count = picture.samples * len(picture.lines)
    return Views(
        position=np.concatenate(places),
        attitude=np.concatenate(attitudes),
        number=np.arange(count),
        keys=np.tile(draws.key(seed, f"gallery/{picture.title}"), (count, 1)),
        velocity=np.concatenate(velocities),
        turn=np.zeros((count, 3)),
    )


PICTURES = (
    Picture(
        "Imaging sonar",
        "Looking ahead and down from 4 m over the bottom: a container with its long shadow, "
        "boulders, a pipeline to starboard, a mine to port, and far ahead the end of a wreck.",
        "wreck-site",
        {"type": "imaging_sonar", "rate": 5, "range": 35, "pitch_deg": -14, "rays": 384},
        start=(-56.0, 2.0, 16.0),
    ),
    Picture(
        "Side-scan waterfall",
        "Past the wreck at 9 m over the bottom, port and starboard over slant range: the silent "
        "water column, the bottom's first echo, shadows of wreck, pipeline and boulders.",
        "wreck-site",
        {"type": "side_scan", "rate": 10, "range": 60},
        start=(-70.0, 14.0, 11.0),
        speed=2.0,
        samples=700,
    ),
    Picture(
        "Multibeam bathymetry",
        "Four lines over a reef, 512 beams over 130 degrees; soundings averaged in cells and lit "
        "from the north-west, the track in white.",
        "reef",
        {"type": "multibeam", "rate": 5},
        start=(-100.0, -60.0, 1.0),
        speed=4.0,
        samples=250,
        lines=(0.0, 35.0, 70.0, 105.0),
    ),
    Picture(
        "Mechanical scanning sonar",
        "One revolution of the head in 200 pings from the bottom's own height beside the wreck.",
        "wreck-site",
        {"type": "mechanical_sonar", "rate": 10, "range": 45},
        start=(-24.0, -14.0, 17.5),
        samples=200,
    ),
    Picture(
        "Radar sweep",
        "One revolution on a roadstead, bow up: the coast, ships at anchor with their shadows, the "
        "buoys of the fairway, and the clutter of the waves that roll in.",
        "roadstead",
        {"type": "radar_image", "rate": 0.4, "range": 1000},
        start=(0.0, 0.0, -6.0),
    ),
    Picture(
        "LiDAR cloud",
        "Sweeps of 64 beams from three places in a harbour, put together by their true poses and "
        "coloured by height: moles with lights, piers, boats at their moorings, sheds and silos.",
        "harbour",
        {"type": "lidar", "rate": 10, "model": "os1_64"},
        start=(0.0, 0.0, -3.0),
        speed=1.5,
        samples=2,
        lines=(-40.0, 5.0, 18.0),
    ),
    Picture(
        "Depth image",
        "Towards a pier of the same harbour, boats beside it and sheds behind: near in red, far in "
        "blue.",
        "harbour",
        {"type": "depth_camera", "rate": 10, "range": 90, "pitch_deg": -12, "fidelity": "ideal"},
        start=(-6.0, 10.0, -5.0),
        heading=50.0,
    ),
    Picture(
        "Camera above the water",
        "A fairway in the evening: buoys, a barge, a pier, and the sun's glitter on the same waves "
        "that lift the boat.",
        "evening-buoys",
        {"type": "camera", "rate": 10, "fidelity": "nominal", "pitch_deg": -4},
        start=(0.0, 0.0, -1.8),
    ),
    Picture(
        "Camera below the water",
        "A reef at noon in clear oceanic water: red is gone after a few metres, and the distance "
        "fades into the light that the water scatters.",
        "reef-garden",
        {"type": "camera", "rate": 10, "fidelity": "nominal", "pitch_deg": -15},
        start=(0.0, 0.0, 6.0),
    ),
    Picture(
        "Thermal camera",
        "The same fairway between 8 and 14 µm: the sky cold, the sea as warm as it is, sunny sides "
        "warm.",
        "evening-buoys",
        {"type": "thermal_camera", "rate": 10, "width": 320, "height": 240, "pitch_deg": -4},
        start=(0.0, 0.0, -1.8),
    ),
)
