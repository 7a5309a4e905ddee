"""Short ways to build a sonar or a radar in a scene, and to ping from somewhere."""

import jax
import jax.numpy as jnp
import numpy as np

import craft
from instruments import BOAT
from seatrial.compile.sensors import sonar
from seatrial.compile.sensors.context import Context
from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.sensors.sensor import Mount
from seatrial.sensors.tap import Views
from seatrial.spec import sensors as spec

BUILDERS = {
    "imaging_sonar": (spec.ImagingSonar, sonar.imaging_sonar),
    "mechanical_sonar": (spec.MechanicalSonar, sonar.mechanical_sonar),
    "side_scan": (spec.SideScan, sonar.side_scan),
    "multibeam": (spec.Multibeam, sonar.multibeam),
    "radar_image": (spec.RadarImage, sonar.radar_image),
}
LEVEL = (1.0, 0.0, 0.0, 0.0)


def build(kind, ocean, bodies=(), rate=1.0, **described):
    """What a description builds in a sea with some bodies."""
    cls, builder = BUILDERS[kind]
    described = {"fidelity": "ideal", **described}
    described = cls.model_validate({"type": kind, "name": kind, "rate": rate, **described})
    bottom = None if ocean.seabed is None else ocean.seabed.depth
    if bottom is not None and not hasattr(bottom, "spacing"):
        bottom = float(bottom)
    with jax.enable_x64(True):
        context = Context(
            mount=Mount(jnp.zeros(3), jnp.eye(3).ravel()),
            dtype=np.dtype(np.float64),
            period=1.0 / rate,
            ocean=ocean,
            vehicle=BOAT,
            channels=(),
            datum=(0.0, 0.0),
            rays=RayScene(tuple(bodies), bottom),
        )
        return builder(described, context)


def views(positions, attitudes=LEVEL, first=0, key=(7, 9), others=None, velocity=None, turn=None):
    """Pings from some places."""
    positions = np.atleast_2d(np.asarray(positions, float))
    count = len(positions)
    return Views(
        position=positions,
        attitude=np.broadcast_to(np.asarray(attitudes, float), (count, 4)),
        number=first + np.arange(count),
        keys=np.tile(np.array(key, np.uint32), (count, 1)),
        others=others,
        velocity=None if velocity is None else np.tile(np.asarray(velocity, float), (count, 1)),
        turn=None if turn is None else np.tile(np.asarray(turn, float), (count, 1)),
    )


def turned(roll=0.0, pitch=0.0, yaw=0.0):
    """A quaternion of angles in degrees."""
    with jax.enable_x64(True):
        from seatrial.spatial.rotations import from_euler

        return tuple(np.asarray(from_euler(*(jnp.radians(a) for a in (roll, pitch, yaw)))))


def intensity(levels):
    """µPa² of levels; 0 where nothing is told."""
    levels = np.asarray(levels, np.float64)
    return np.where(levels > 0.0, 10.0 ** (0.1 * levels), 0.0)


def ball(north, east, down, radius=0.25, material="steel"):
    """A sphere."""
    place = np.array([north, east, down], float)
    return Body("ball", "sphere", radius=radius, position=place, material=material)


def block(north, east, down, length, beam, height, material="concrete"):
    """A box about its middle."""
    place = np.array([north, east, down], float)
    return Body(
        "block", "box", length=length, beam=beam, height=height, position=place, material=material
    )


def sea(**world):
    """An ocean of a world."""
    return craft.ocean_of(**world)
