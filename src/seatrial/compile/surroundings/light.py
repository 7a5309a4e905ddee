"""What there is to see in a world, and by which light."""

from datetime import datetime

from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.picture import Stage
from seatrial.render.sky import CLEAR, Sky, sun_place
from seatrial.render.water import medium
from seatrial.spec.world import World

USUAL_ELEVATION, USUAL_AZIMUTH = 0.7, 2.4
"""Of the sun, where nothing is said, rad."""


def stage_of(world: World, rays: RayScene, ocean: Ocean) -> Stage:
    """Everything that can be seen, and the light on it."""
    return Stage(rays, ocean, sky_of(world), medium(world.water_type, world.turbidity))


def sky_of(world: World) -> Sky:
    """Sun, clouds and fog of a world; they stay as at the start of a run."""
    light, weather = world.light, world.weather
    if light.time is not None:
        datum = world.datum
        when = datetime.fromisoformat(light.time)
        elevation, azimuth = sun_place(when, datum.latitude_deg, datum.longitude_deg)
    else:
        given = light.sun_elevation, light.sun_azimuth
        elevation = USUAL_ELEVATION if given[0] is None else given[0]
        azimuth = USUAL_AZIMUTH if given[1] is None else given[1]
    visibility = None if weather is None else weather.visibility
    return Sky(elevation, azimuth, light.cloud, CLEAR if visibility is None else visibility)
