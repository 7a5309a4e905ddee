"""Take the path-traced waters of docs/pictures.md: `python website/pictures.py docs/images`."""

import math
import sys
from pathlib import Path

import jax
import numpy as np
from PIL import Image

import seatrial as st
from seatrial.compile.surroundings.site import Site
from seatrial.dataset.pictures.drawing import exposure
from seatrial.render.picture import Lens, Light, Shot, Stage, srgb
from seatrial.render.traced.settings import Tracing
from seatrial.render.traced.tracer import Tracer
from seatrial.spec.world import Daylight

LENS = Lens(320, 180, 240.0)
SAMPLES = 64
BOW = (-35.5, -9.5, 17.3), 20.0, 0.0
LINE = (2.0, -2.4, 9.6), 22.0, -18.0
"""Place, heading and pitch of a camera before the bow of the wreck, and above the flow line."""


def stage(world: str, **changes: object) -> Stage:
    """A world of the library, with some of it changed."""
    changed = st.load(world, st.World).model_copy(update=changes)
    scenario = st.Scenario(
        name="pictures", seed=1, duration=1, world=changed, vehicles=[{"vehicle": "bluerov2"}]
    )
    with jax.enable_x64(True):
        return Site(scenario).stage()


def taken(place: tuple[float, float, float], heading: float, pitch: float, lit: bool) -> Shot:
    """A shot from a place, by two lamps beside the camera or by day."""
    a, b = math.radians(heading), math.radians(pitch)
    (ca, sa), (cb, sb) = ((math.cos(half), math.sin(half)) for half in (0.5 * a, 0.5 * b))
    ahead = np.array([math.cos(b) * math.cos(a), math.cos(b) * math.sin(a), -math.sin(b)])
    aside, here = np.array([-math.sin(a), math.cos(a), 0.0]), np.array(place)
    lamps = tuple(
        Light(here + side * 0.3 * aside + [0, 0, 0.1], ahead, 390.0, math.radians(67.5))
        for side in (-1.0, 1.0)
    )
    turned = np.array([ca * cb, -sa * sb, ca * sb, sa * cb])
    return Shot(here, turned, 3.0, LENS, lamps if lit else ())


def photo(seen: Stage, shot: Shot, snow: float) -> np.ndarray:
    """Three bytes per pixel, exposed as in a dataset."""
    colour = Tracer(seen, seed=1, snow=snow).render(shot, Tracing(SAMPLES, denoise="oidn"))[
        "colour"
    ]
    return srgb(exposure(colour) * colour)


def main(folder: Path) -> None:
    """Four pictures on one sheet."""
    day = Daylight(sun_elevation_deg=50, sun_azimuth_deg=200)
    night = Daylight(sun_elevation_deg=-30, sun_azimuth_deg=0)
    site, wreck = "inspection-site", "wreck-site"
    pictures = [
        photo(stage(wreck, water_type="I", light=day), taken(*BOW, False), 0.0),
        photo(stage(wreck, water_type="II", light=day), taken(*BOW, False), 0.0),
        photo(stage(site, water_type="IB", light=day), taken(*LINE, False), 0.0),
        photo(stage(site, water_type="I", light=night), taken(*LINE, True), 40.0),
    ]
    gap = 4
    sheet = Image.new("RGB", (2 * LENS.width + gap, 2 * LENS.height + gap), "white")
    for i, picture in enumerate(pictures):
        row, column = divmod(i, 2)
        place = column * (LENS.width + gap), row * (LENS.height + gap)
        sheet.paste(Image.fromarray(picture), place)
    sheet.save(folder / "pictures-waters.jpg", quality=85)
    print(folder / "pictures-waters.jpg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
