"""Datasets of scenarios: assembles a flight, its tables and its pictures."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import jax

from seatrial.compile.scenario import described_by
from seatrial.compile.sensors.cameras import check_renderer, lamps_of, lens_of
from seatrial.compile.surroundings.site import Site
from seatrial.compile.swarm import members_of
from seatrial.compile.variations import with_overrides
from seatrial.dataset.making import (
    Making,
    Settings,
    check_counts,
    draw_sequence,
    manifest_of,
    write_tables,
)
from seatrial.dataset.names import LETTERS
from seatrial.dataset.pictures import renderers
from seatrial.dataset.pictures.boxes import instances
from seatrial.dataset.pictures.drawing import Painter, Viewpoint
from seatrial.dataset.sequence import Dataset, read_dataset
from seatrial.datasets.cameras import cameras_of, cut, listed, resized
from seatrial.datasets.flying import fly
from seatrial.errors import DatasetError
from seatrial.render.traced.settings import Bounces, Tracing
from seatrial.spec.loading import dump
from seatrial.spec.scenario import Scenario


def make_dataset(
    scenario: str | Path | Scenario,
    out: str | Path,
    *,
    frames: int | None = None,
    width: int | None = None,
    height: int | None = None,
    renderer: str = "live",
    samples: int | None = None,
    sequence: str = "01",
    seed: int | None = None,
    workers: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Dataset:
    """Fly a scenario and draw what its cameras see into a folder; one that was begun is gone on
    with.

    `frames` is how many each camera takes, all of the scenario's duration when left out. `width`
    and `height` take the place of the cameras' own; their fields of view stay. `renderer` is
    `live`, by rays or shaders as each camera says, or `traced`, as the scenario's `path_tracing`
    says, but for `samples` where they are given.
    """
    check_counts(frames=frames, samples=samples, workers=workers)
    described = resized(with_overrides(described_by(scenario), seed, None), width, height)
    fitted = cameras_of(described)
    described = cut(described, fitted, frames)
    folder = Path(out)
    if renderer == "live":
        for camera in fitted:
            check_renderer(camera.described)
    chosen = renderers.choose(
        renderer,
        samples,
        described.seed,
        _tracing(described),
        described.world.marine_snow,
        tuple(camera.described.renderer for camera in fitted),
    )
    settings = Settings(_sequence(sequence), renderer, chosen.letters, chosen.options)
    with jax.enable_x64(True):
        site = Site(described)
        stage = site.stage()
    cameras = listed(fitted, described, frames)
    names = _names(described)
    text = dump(described)
    wanted = manifest_of(
        {
            "scenario": described.name,
            "seed": described.seed,
            "description_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "vehicles": names,
        },
        settings,
        cameras,
        instances(stage.rays.bodies).classes,
    )
    making = Making(folder, wanted)
    try:
        if making.manifest is None:
            write_tables(making, fly(described, names, fitted, cameras, site), text)
        viewpoints = [
            Viewpoint(
                *(c.mounting, lens_of(f.described), lamps_of(f.carrier)), f.described.exposure_time
            )
            for c, f in zip(cameras, fitted, strict=True)
        ]
        painter = Painter(stage, settings.letters, chosen.make)
        draw_sequence(making, painter, viewpoints, workers, progress)
    finally:
        making.close()
    return read_dataset(folder)


def _tracing(scenario: Scenario) -> Tracing:
    """How paths of light are followed."""
    asked = scenario.path_tracing
    kinds = asked.diffuse_bounces, asked.glossy_bounces, asked.volume_bounces
    return Tracing(asked.samples, Bounces(asked.bounces, *kinds), asked.denoise, asked.spectral)


def _sequence(text: str) -> str:
    if len(text) != 2 or any(letter not in LETTERS for letter in text):
        raise DatasetError(
            f"--sequence {text}: is no number of a sequence\n"
            "  expected: two letters or digits, such as 02"
        )
    return text


def _names(scenario: Scenario) -> list[str]:
    return [
        member.name
        for i, participant in enumerate(scenario.vehicles)
        for member in members_of(participant, i, scenario.seed)
    ]
