"""COLMAP reconstructs a reef, and the way of the camera over it, from rendered pictures alone.

    python judges/pictures.py [--renderer live|traced] [--frames 36]

It is installed into build/judges beside this checkout's own environment. A camera of known
intrinsics swims a curve over a reef in clear water by daylight, with waves above. The verdict: all
pictures are placed, and after the similarity that no camera can know (place, turn and scale) the
root mean square of their errors is below 0.5 % of the way.
"""

import argparse
import json
import math
import shutil
from pathlib import Path

from packages import bring

PLACE = Path("build/judges/pictures")
FRAMES, WIDTH, HEIGHT, FOCAL = 36, 640, 480, 480.0
SAMPLES = 32
ENOUGH = 0.005
WORLD = """
kind: world
name: reef under clear water
water_type: I
light: {sun_elevation_deg: 60, sun_azimuth_deg: 140}
waves: {spectrum: jonswap, significant_height: 0.2, peak_period: 4.0, towards_deg: 90}
seabed: {shape: reef, depth: 8.0, count: 40, height: 1.5, radius: 4.0, relief: 0.15,
  extent: [60, 60], spacing: 0.25, type: sand}
bodies:
  - {name: stone, rock: {size: 0.6}, on_bottom: true,
     scatter: {count: 120, area: [[-14, -14], [14, -14], [14, 14], [-14, 14]]}}
"""


def judge(renderer: str, frames: int) -> bool:
    """Draw, reconstruct, compare."""
    import numpy as np
    import pycolmap

    places = drawn(renderer, frames)
    pictures, database = PLACE / "frames", PLACE / "reef.db"
    database.unlink(missing_ok=True)
    camera = ",".join(str(v) for v in (FOCAL, FOCAL, 0.5 * WIDTH, 0.5 * HEIGHT))
    pycolmap.set_random_seed(1)
    pycolmap.extract_features(
        database,
        pictures,
        camera_mode=pycolmap.CameraMode.SINGLE,
        reader_options=pycolmap.ImageReaderOptions(camera_model="PINHOLE", camera_params=camera),
    )
    pycolmap.match_exhaustive(database)
    options = pycolmap.IncrementalPipelineOptions()
    options.ba_refine_focal_length = options.ba_refine_extra_params = False
    shutil.rmtree(PLACE / "models", ignore_errors=True)
    (PLACE / "models").mkdir()
    models = pycolmap.incremental_mapping(database, pictures, PLACE / "models", options)
    best = max(models.values(), key=lambda model: model.num_reg_images())
    found = {
        int(Path(image.name).stem): image.projection_center()
        for image in best.images.values()
        if image.has_pose
    }
    order = sorted(found)
    truth = places[order]
    fitted = aligned(np.array([found[k] for k in order]), truth)
    error = float(np.sqrt(np.mean(np.sum((fitted - truth) ** 2, axis=1))))
    way = float(np.sum(np.linalg.norm(np.diff(places, axis=0), axis=1)))
    passed = len(order) == frames and error < ENOUGH * way
    row = {
        "renderer": renderer,
        "frames": frames,
        "placed": len(order),
        "points": best.num_points3D(),
    }
    row |= {"way_m": way, "error_m": error, "error_of_way": error / way, "passed": passed}
    print(json.dumps(row))
    return passed


def drawn(renderer: str, frames: int):  # type: ignore[no-untyped-def]
    """Writes the frames; (N, 3) where they were taken."""
    import jax
    import numpy as np
    from PIL import Image

    from seatrial.compile.surroundings.bodies import world_bodies
    from seatrial.compile.surroundings.light import stage_of
    from seatrial.compile.surroundings.scene import ray_scene
    from seatrial.compile.surroundings.world import build_ocean
    from seatrial.render.live.draw import draw
    from seatrial.render.picture import Lens, Shot, srgb
    from seatrial.render.traced.settings import Tracing
    from seatrial.render.traced.tracer import Tracer
    from seatrial.spec.loading import load_text
    from seatrial.spec.scenario import Scenario

    head = "kind: scenario\nname: reef\nduration: 10\nvehicles: [{vehicle: bluerov2}]\nworld:"
    body = "".join(f"\n  {line}" for line in WORLD.strip().splitlines())
    scenario = load_text(head + body, Scenario)
    with jax.enable_x64(True):
        ocean = build_ocean(scenario.world, 1, np.dtype(np.float64), None)
        bodies = world_bodies(scenario.world.bodies, ocean, 1)
        stage = stage_of(scenario.world, ray_scene(scenario, [], bodies, ocean), ocean)
    pictures = PLACE / "frames"
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    lens = Lens(WIDTH, HEIGHT, FOCAL)
    tracer = Tracer(stage, seed=1) if renderer == "traced" else None
    places = []
    for k in range(frames):
        s = k / (frames - 1)
        heading = 0.9 * math.sin(2.4 * s)
        place = np.array(
            [-7.0 + 14.0 * s, 4.0 * math.sin(2.5 * s) - 2.0, 4.0 + 0.5 * math.sin(5.0 * s)]
        )
        a, b = 0.5 * heading, 0.5 * math.radians(-50.0)
        (ca, sa), (cb, sb) = ((math.cos(angle), math.sin(angle)) for angle in (a, b))
        turned = np.array([ca * cb, -sa * sb, ca * sb, sa * cb])
        shot = Shot(place, turned, 0.5 * k, lens)
        if tracer is None:
            colour = draw(stage, shot, ("colour",))["colour"]
        else:
            colour = tracer.render(shot, Tracing(SAMPLES, denoise="oidn"), frame=k)["colour"]
        Image.fromarray(srgb(0.2 / colour.mean() * colour)).save(pictures / f"{k:04d}.png")
        places.append(place)
    return np.array(places)


def aligned(points, truth):  # type: ignore[no-untyped-def]
    """Points after the similarity that brings them nearest to the truth (Umeyama 1991)."""
    import numpy as np

    a, b = points - points.mean(axis=0), truth - truth.mean(axis=0)
    u, d, v = np.linalg.svd(b.T @ a)
    sign = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v))])
    turn = u @ sign @ v
    scale = np.trace(np.diag(d) @ sign) / np.sum(a * a)
    return scale * a @ turn.T + truth.mean(axis=0)


def main() -> None:
    """Install, then judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renderer", choices=("live", "traced"), default="live")
    parser.add_argument("--frames", type=int, default=FRAMES)
    given = parser.parse_args()
    bring(PLACE, "pycolmap", "--no-deps", "pycolmap>=3.11")
    raise SystemExit(0 if judge(given.renderer, given.frames) else 1)


if __name__ == "__main__":
    main()
