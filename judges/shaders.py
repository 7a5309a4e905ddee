"""Live pictures by shaders are those by rays, in every world of the library and from anywhere.

    python judges/shaders.py [--views 3] [--size 320]

Where moderngl or EGL is missing, they are brought into build/judges/shaders: the one from the
package index, the other, with Mesa, from Debian, unpacked and not installed. In each world cameras
stand above the water, below it and well above it, at random places not inside of anything; their
pictures are held against each other by the bounds of `tests/agreement.py`, with the scenes of the
tests beside them. A picture drawn by another process must have the same bytes. Prints a row for
each, with the processor time of both, and exits with 1 where one is beyond its bounds.
"""

import argparse
import hashlib
import math
import os
import subprocess
import sys
import time
from pathlib import Path

from debian import unpack
from packages import bring

ROOT = Path(__file__).resolve().parents[1]
PLACE = Path("build/judges/shaders")
sys.path.insert(0, str(ROOT / "tests"))
DRIVERS = ["libegl1", "libegl-mesa0", "libgl1-mesa-dri"]
SYSTEMS = ("libc6", "libgcc-s1", "gcc-12-base", "gcc-14-base", "libcrypt1", "libc-bin")
"""What every Debian has: never brought, since one C library is enough for a process."""
DEPTHS = (-2.5, 2.5, -8.0)
"""Of the cameras, m."""
SEED = 1


def compare(views: int, width: int) -> bool:
    """All worlds and scenes; whether all are within their bounds."""
    import jax
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from agreement import BOUNDS, PASSES, ROLLING, apart
    from pictured import WORLD, scenes, shot_at
    from seatrial.compile.surroundings.site import Site
    from seatrial.render.picture import Lens
    from seatrial.render.renderers import drawing
    from seatrial.spec.loading import load_text
    from seatrial.spec.scenario import Scenario

    rays, shaders = drawing("rays"), drawing("shaders")
    lens = Lens(width, 3 * width // 4, 0.75 * width)
    heads = ("picture", *BOUNDS._fields, "ms by rays", "ms by shaders", "verdict")
    table, passed = Table(*heads), True

    def row(name, stage, shot):  # type: ignore[no-untyped-def]
        nonlocal passed
        found = apart(rays(stage, shot, PASSES), shaders(stage, shot, PASSES))
        faults = found.faults(BOUNDS if shot.motion is None else ROLLING)
        spent = []
        for draw in (rays, shaders):
            draw(stage, shot)  # its program is made
            began = time.process_time()
            draw(stage, shot)
            spent.append(f"{1e3 * (time.process_time() - began):.0f}")
        passed &= not faults
        numbers = [f"{value:.5f}" for value in found]
        table.add_row(name, *numbers, *spent, "; ".join(faults) or "passed")

    for name, (stage, shot) in scenes().items():
        row(name, stage, shot)
    rng = np.random.default_rng(SEED)
    for world in sorted((ROOT / "src/seatrial/library/worlds").glob("*.yaml")):
        with jax.enable_x64(True):
            stage = Site(load_text(WORLD.format(world=world.stem), Scenario)).stage()
        for k in range(views):
            place, yaw = _view(stage.rays.bodies, DEPTHS[k % len(DEPTHS)], rng)
            shot = shot_at(place, yaw, rng.uniform(-20.0, 10.0), lens)
            row(f"{world.stem} {k + 1}", stage, shot)
    Console(width=170).print(table)
    return passed


def _view(bodies, depth, rng):  # type: ignore[no-untyped-def]
    """A place that is not inside a body, and a heading towards one where there is any."""
    import numpy as np

    def inside(body):  # type: ignore[no-untyped-def]
        middle, turned = body.pose(0.0)
        own, corners = turned.T @ (place - middle), body.mesh().vertices
        return bool(np.all((own > corners.min(axis=0) - 0.3) & (own < corners.max(axis=0) + 0.3)))

    fixed = [body for body in bodies if body.shape != "vehicle"]
    while True:
        heading, away = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(6.0, 30.0)
        aim = fixed[rng.integers(len(fixed))].pose(0.0)[0][:2] if fixed else np.zeros(2)
        level = aim - away * np.array([math.cos(heading), math.sin(heading)])
        place = np.array([*level, depth])
        if not any(inside(body) for body in fixed):
            return place, math.degrees(heading)


def digest() -> str:
    """Of some pictures of this process."""
    from agreement import PASSES
    from pictured import scenes
    from seatrial.render.renderers import drawing

    found = hashlib.sha256()
    for name, (stage, shot) in scenes().items():
        if name in ("chop", "reef", "rolling"):
            for one in drawing("shaders")(stage, shot, PASSES).values():
                found.update(one.tobytes())
    return found.hexdigest()


def brought() -> dict[str, str]:
    """The environment in which moderngl and Mesa are found."""
    bring(PLACE / "packages", "moderngl", "moderngl>=5.12")
    command = ["apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests"]
    command += ["--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", *DRIVERS]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {line for line in listed.splitlines() if line and line[0] not in " <|"}
    root = unpack(sorted(names - set(SYSTEMS)), PLACE).resolve()
    libraries = next(root.glob("usr/lib/*/libEGL.so.1")).parent
    paths = [str(libraries), *(str(path) for path in root.glob("lib/*-linux-gnu"))]
    return os.environ | {
        "LD_LIBRARY_PATH": ":".join(paths),
        "LIBGL_DRIVERS_PATH": str(libraries / "dri"),
        "__EGL_VENDOR_LIBRARY_DIRS": str(root / "usr/share/glvnd/egl_vendor.d"),
        "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{(PLACE / 'packages').resolve()}",
    }


def main() -> None:
    """Bring what is missing, then judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--views", type=int, default=3, help="of each world")
    parser.add_argument("--size", type=int, default=320, help="columns of a picture")
    parser.add_argument("--bring", action="store_true", help="even what is there already")
    parser.add_argument("--digest", action="store_true", help="of three pictures, and no more")
    given = parser.parse_args()
    from seatrial.render.renderers import trouble
    from seatrial.render.shaders.context import on_card

    found = trouble("shaders")
    if given.bring or found is not None:
        if "SEATRIAL_BROUGHT" in os.environ:
            raise SystemExit(f"cannot be judged here: {found}")
        command = [sys.executable, *(word for word in sys.argv if word != "--bring")]
        os.execve(sys.executable, command, brought() | {"SEATRIAL_BROUGHT": "1"})
    if given.digest:
        print(digest())
        return
    print(f"drawn by {on_card(lambda context: context.name)}")
    passed = compare(given.views, given.size)
    again = [sys.executable, __file__, "--digest"]
    other = subprocess.run(again, capture_output=True, text=True, check=True).stdout.strip()
    same = digest() == other
    print(f"another process draws {'the same bytes' if same else 'OTHER bytes'}")
    raise SystemExit(0 if passed and same else 1)


if __name__ == "__main__":
    main()
