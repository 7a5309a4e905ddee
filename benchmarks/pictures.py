"""How long a path-traced frame takes, and how much of it is not path tracing; prints JSON.

python benchmarks/pictures.py --width 1280 --height 720 --samples 375 --frames 5
python benchmarks/pictures.py --width 320 --height 180 --samples 32 --denoise --frames 5

python benchmarks/pictures.py --width 400 --samples 96 --sheet passes.jpg

A sequence in portions of eight minutes, the same command again until nothing is `missing`:

python benchmarks/pictures.py --width 1280 --height 720 --samples 375 --frames 200 \\
    --sequence build/sequence --limit 480

Frames spread over it, every eighth of 200, and what they are reported for:

python benchmarks/pictures.py --width 1280 --height 720 --samples 375 --frames 200 --every 8 \\
    --sequence build/sequence --commit $(git rev-parse HEAD) > benchmarks/results/NAME.json

A pipeline with flanges, blocks and boulders on a rolling bottom of 320,000 triangles, in the fjord
of Zwilgmeyer (2021, docs/datasets.md) at night, by two lamps, with marine snow and the thin lens of
table 5.3 there; a camera passes by at 0.5 m/s, ten frames a second. All passes A to G are drawn.
The first frame of a process, in which patterns are made and kernels compiled, is told apart; times
of a sequence include the writing of its pictures.
"""

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from seatrial.geometry import mesh as meshes
from seatrial.geometry.bodies import Body
from seatrial.geometry.rays import RayScene
from seatrial.geometry.terrain import Terrain, terrain
from seatrial.ocean import Ocean
from seatrial.render.picture import LETTERS, Lens, Light, Shot, Stage, aperture, srgb
from seatrial.render.sky import Sky
from seatrial.render.traced import plain
from seatrial.render.traced.settings import Bounces, Tracing
from seatrial.render.traced.things.surfaces import noise
from seatrial.render.traced.tracer import PASSES, Tracer
from seatrial.render.traced.truth import Truth
from seatrial.render.water import medium

DEPTH = 90.0
SIDE, NODES = 60.0, 401
SPEED, RATE = 0.5, 10.0
FOCAL_LENGTH, PIXEL, COLUMNS, F_NUMBER = 3.4e-3, 3.45e-6, 1920, 1.7
"""Of Zwilgmeyer (2021), table 5.3: m, m, columns of the chip."""
ALONG_EAST = np.array([math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0])


def bottom() -> Terrain:
    low, fine = noise(512, 1.0, 2.2, "hills"), noise(512, 1.0, 1.7, "ground")
    depth = DEPTH - 1.2 * low - 0.12 * fine
    step = SIDE / (NODES - 1)
    return terrain((-0.5 * SIDE, -0.5 * SIDE), (step, step), depth[:NODES, :NODES])


def boulder(random: np.random.Generator) -> meshes.Mesh:
    ball = meshes.sphere(1.0, 12)
    wave = random.standard_normal((6, 3))
    lumps = np.cos(2.0 * ball.vertices @ wave.T + random.uniform(0, 6, 6)).mean(axis=1)
    size = random.uniform(0.15, 0.6) * np.array([1.0, 1.0, 0.7])
    return meshes.Mesh(ball.vertices * (1.0 + 0.4 * lumps[:, None]) * size, ball.faces)


def stage() -> Stage:
    ground, random = bottom(), np.random.default_rng(5)
    bodies = []
    for k in range(60):
        north, east = random.uniform(-8.0, 25.0), random.uniform(-12.0, 12.0)
        mesh = boulder(random)
        place = np.array([north, east, float(ground.at(north, east))])
        bodies.append(
            Body(f"boulder {k}", "mesh", position=place, vertices=mesh.vertices,
                 faces=mesh.faces, material="rock", kind="boulder")
        )  # fmt: skip
    north, level = 5.0, float(ground.at(5.0, 0.0)) - 1.1
    yellow = np.array([0.6, 0.38, 0.03])
    for k in range(10):
        east = -13.5 + 3.0 * k
        for name, radius, length, at in (
            ("pipe", 0.25, 3.0, east),
            ("flange", 0.36, 0.14, east + 1.5),
        ):
            bodies.append(
                Body(f"{name} {k}", "cylinder", radius=radius, height=length, attitude=ALONG_EAST,
                     position=np.array([north, at, level]), material="steel", kind="pipe",
                     colour=yellow)
            )  # fmt: skip
        under = float(ground.at(north, east)) + 0.2 - level
        bodies.append(
            Body(f"block {k}", "box", length=0.2, beam=0.8, height=under, material="concrete",
                 position=np.array([north, east, level + 0.5 * under]), kind="support")
        )  # fmt: skip
    return Stage(
        RayScene(bodies, ground.grid()), Ocean(water=None), Sky(-0.2, 0.0), medium("fjord")
    )


def lens_of(width: int, height: int) -> Lens:
    opening = aperture(FOCAL_LENGTH, F_NUMBER, 4.0)
    return Lens(width, height, FOCAL_LENGTH / PIXEL * width / COLUMNS, aperture=opening)


def shot(frame: int, lens: Lens) -> Shot:
    east = -5.0 + SPEED * frame / RATE
    place = np.array([0.5, east, DEPTH - 2.4])
    yaw, pitch = 0.35, -0.22
    a, b = 0.5 * yaw, 0.5 * pitch
    (ca, sa), (cb, sb) = ((math.cos(angle), math.sin(angle)) for angle in (a, b))
    turned = np.array([ca * cb, -sa * sb, ca * sb, sa * cb])
    ahead = np.array(
        [math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw), -math.sin(pitch)]
    )
    aside = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    lamps = tuple(
        Light(
            place + 0.1 * ahead + side * 0.5 * aside - [0, 0, 0.15],
            ahead,
            4000.0,
            math.radians(32.0),
        )
        for side in (-1.0, 1.0)
    )
    return Shot(place, turned, frame / RATE, lens, lamps)


def sheet(path: Path, width: int, samples: int) -> None:
    """All passes of one frame side by side, for the documents."""
    from PIL import Image

    world = stage()
    tracer = Tracer(world, seed=1, snow=80.0)
    frame, lens = 16, lens_of(width, width * 9 // 16)
    taken, following = shot(frame, lens), shot(frame + 1, lens)
    settings, velocity = Tracing(samples, denoise="oidn"), np.array([0.0, SPEED, 0.0])
    made = tracer.render(taken, settings, PASSES, frame, velocity)
    gain = 0.2 / made["colour"].mean()
    flow = np.nan_to_num(Truth(world, taken).flow(following))
    angle = np.arctan2(flow[..., 1], flow[..., 0])
    turns = np.stack([0.5 + 0.5 * np.cos(angle - k * 2.0 * np.pi / 3.0) for k in range(3)], axis=2)
    fast = np.clip(np.linalg.norm(flow, axis=2) / (0.02 * width), 0.0, 1.0)[..., None]
    colours = np.random.default_rng(3).uniform(0.1, 1.0, (256, 3))
    pictures = [
        srgb(gain * made["colour"]),
        srgb(made["uniform"]),
        np.rint(127.5 + 127.5 * made["normals"] * [1, 1, -1]).astype(np.uint8),
        _grey(1.0 - np.clip(made["depth"] / 20.0, 0.0, 1.0)),
        _grey(made["shadow"]),
        srgb(gain * made["direct"]),
        srgb(gain * made["indirect"]),
        srgb(np.clip(made["albedo"], 0.0, 1.0)),
        srgb(colours[made["instance"] % 256]),
        srgb(colours[200 + made["category"]]),
        srgb(turns * fast),
    ]
    pictures.append(np.full_like(pictures[0], 255))
    rows = [np.concatenate(pictures[k : k + 3], axis=1) for k in range(0, len(pictures), 3)]
    Image.fromarray(np.concatenate(rows)).save(path, quality=85)


def _grey(values: np.ndarray) -> np.ndarray:
    return np.repeat(np.rint(255.0 * values).astype(np.uint8)[..., None], 3, axis=2)


def timed(given: argparse.Namespace) -> dict[str, object]:
    world = stage()
    tracer = Tracer(world, seed=1, snow=150.0)
    passes = (
        tuple(LETTERS[x] for x in "ABCDEFG")
        if given.passes is None
        else tuple(given.passes.split(","))
    )
    home = plain
    if tracer.backend.compiled:
        from seatrial.render.traced import transport as home  # type: ignore[no-redef]
    follow, spent = home.follow, []

    def watched(*arguments):  # type: ignore[no-untyped-def]
        start = time.perf_counter()
        found = follow(*arguments)
        spent.append(time.perf_counter() - start)
        return found

    home.follow = watched
    velocity, lens = np.array([0.0, SPEED, 0.0]), lens_of(given.width, given.height)
    settings = Tracing(given.samples, Bounces(given.depth), "oidn" if given.denoise else "none")
    begun, colour = time.perf_counter(), None
    known = Times(given.sequence, vars(given))
    asked = range(0, given.frames + (given.sequence is None), given.every)
    wanted = [k for k in asked if k not in known.frames]
    for number, frame in enumerate(wanted):
        spent.clear()
        start = time.perf_counter()
        colour = tracer.render(shot(frame, lens), settings, passes, frame, velocity)["colour"]
        if given.sequence is not None:
            save(colour, given.sequence / f"{frame:08d}.png")
        known.add(frame, number == 0, time.perf_counter() - start, sum(spent))
        if given.limit is not None and time.perf_counter() - begun > given.limit:
            break
    if given.picture and colour is not None:
        save(colour, Path(given.picture))
    firsts = [row["s"] for row in known.rows if row["first"]]
    rows = [row for row in known.rows if not row["first"]] or known.rows
    usual, traced = (float(np.median([row[k] for row in rows])) for k in ("s", "tracing_s"))
    return {
        "commit": given.commit,
        "backend": tracer.backend.said,
        "width": given.width,
        "height": given.height,
        "samples": given.samples,
        "bounces": given.depth,
        "denoised": given.denoise,
        "passes": passes,
        "frames": len(rows),
        "portions": len(firsts),
        "every": given.every,
        "missing": len(set(asked) - known.frames) if given.sequence is not None else 0,
        "first_frame_s": round(max(firsts), 2),
        "frame_s": round(usual, 3),
        "slowest_frame_s": round(max(row["s"] for row in rows), 3),
        "all_s": round(sum(row["s"] for row in known.rows), 1),
        "samples_per_s": round(given.width * given.height * given.samples / traced),
        "share_outside_path_tracing": round(1.0 - traced / usual, 3),
    }


class Times:
    """How long frames took: kept in the folder of a sequence, so that it can be gone on with."""

    def __init__(self, folder: Path | None, given: dict[str, object]) -> None:
        self.rows: list[dict[str, Any]] = []
        self._file = None
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        asked = {k: given[k] for k in ("width", "height", "samples", "depth", "denoise", "passes")}
        path = folder / "times.jsonl"
        lines = path.read_text().splitlines() if path.is_file() else [json.dumps(asked)]
        if json.loads(lines[0]) != asked:
            raise SystemExit(f"{path}: is of a sequence with other settings: {lines[0]}")
        self.rows = [json.loads(line) for line in lines[1:] if line.endswith("}")]
        path.write_text("".join(line + "\n" for line in (lines[0], *map(json.dumps, self.rows))))
        self._file = path.open("a")

    @property
    def frames(self) -> set[int]:
        """Those that are there."""
        return {row["frame"] for row in self.rows}

    def add(self, frame: int, first: bool, seconds: float, tracing: float) -> None:
        """One more; `first` of its process, in which patterns are made and kernels compiled."""
        self.rows.append({"frame": frame, "first": first, "s": seconds, "tracing_s": tracing})
        if self._file is not None:
            self._file.write(json.dumps(self.rows[-1]) + "\n")
            self._file.flush()


def save(colour: np.ndarray, path: Path) -> None:
    from PIL import Image

    Image.fromarray(srgb(0.2 / colour.mean() * colour)).save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--height", type=int, default=180)
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--depth", type=int, default=16)
    parser.add_argument("--frames", type=int, default=3)
    parser.add_argument("--every", type=int, default=1, help="draw each of so many frames only")
    parser.add_argument("--denoise", action="store_true")
    parser.add_argument("--passes", help="names with commas between; A to G if left out")
    parser.add_argument("--picture", help="where to write the last frame, PNG")
    parser.add_argument(
        "--sheet", type=Path, help="draw all passes of a frame into this file instead"
    )
    parser.add_argument(
        "--sequence", type=Path, help="folder for the frames; what is there is not drawn again"
    )
    parser.add_argument("--commit", help="of the code, for the result")
    parser.add_argument("--limit", type=float, help="s after which no further frame is begun")
    given = parser.parse_args()
    if given.sheet is not None:
        sheet(given.sheet, given.width, given.samples)
    else:
        print(json.dumps(timed(given), indent=1))


if __name__ == "__main__":
    main()
