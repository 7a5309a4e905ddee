"""`seatrial dataset`: sequences, detection sets, exports and their checking."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from seatrial.cli.arguments import ScenarioArgument
from seatrial.cli.progress import working

OutOption = Annotated[Path, typer.Option(help="Folder to write.")]
WorkersOption = Annotated[
    int | None, typer.Option(help="Processes that draw; one per core by default.", min=1, max=256)
]
FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a dataset.")]
SeedOption = Annotated[int | None, typer.Option(help="Another seed than the scenario's.", min=0)]
WidthOption = Annotated[int | None, typer.Option(help="Columns of the pictures.", min=8, max=8192)]
HeightOption = Annotated[int | None, typer.Option(help="Rows of the pictures.", min=8, max=8192)]


class _MakeByDefault(TyperGroup):
    """`seatrial dataset SCENARIO` is `seatrial dataset make SCENARIO`."""

    default = "make"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help"):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


dataset_app = typer.Typer(
    cls=_MakeByDefault,
    help="Pictures, measurements and truth in folders: `seatrial dataset SCENARIO --out DIR`.",
    no_args_is_help=True,
)


@dataset_app.command("make")
def make(
    scenario: ScenarioArgument,
    out: OutOption,
    frames: Annotated[
        int | None, typer.Option(help="Of each camera; all of the duration by default.", min=1)
    ] = None,
    width: WidthOption = None,
    height: HeightOption = None,
    renderer: Annotated[
        str,
        typer.Option(
            help="live (as each camera says) or traced (paths; needs the extra `pictures`)."
        ),
    ] = "live",
    samples: Annotated[
        int | None, typer.Option(help="Paths per pixel of the traced renderer.", min=1)
    ] = None,
    sequence: Annotated[str, typer.Option(help="Two letters or digits in all names.")] = "01",
    seed: SeedOption = None,
    workers: WorkersOption = None,
) -> None:
    """Fly a scenario and draw what its cameras see; a folder that was begun is gone on with."""
    from seatrial.datasets import make_dataset

    with working("flying and drawing") as progress:
        made = make_dataset(
            scenario,
            out,
            frames=frames,
            width=width,
            height=height,
            renderer=renderer,
            samples=samples,
            sequence=sequence,
            seed=seed,
            workers=_workers(workers, renderer),
            progress=progress,
        )
    taken = sum(camera.frames for camera in made.cameras)
    typer.echo(
        f"{out}: {taken} frames of {len(made.cameras)} camera(s), {len(made.sensors)} sensors"
    )


@dataset_app.command("detection")
def detection(
    out: OutOption,
    images: Annotated[int, typer.Option(help="Of each set.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.", min=0)] = 0,
    width: Annotated[int, typer.Option(help="Columns of the pictures.", min=32, max=8192)] = 640,
    height: Annotated[int, typer.Option(help="Rows of the pictures.", min=32, max=8192)] = 480,
    workers: WorkersOption = None,
) -> None:
    """Draw buoys, vessels and markers twice: clear and still, and foggy and wavy."""
    from seatrial.dataset.detection.making import make_detection_sets

    with working("drawing") as progress:
        made = make_detection_sets(
            out, images, seed, width, height, _workers(workers, "live"), progress
        )
    for data in made:
        typer.echo(f"{data.folder}: {data.cameras[0].frames} pictures")


@dataset_app.command("export")
def export(
    folder: FolderArgument,
    to: Annotated[str, typer.Option(help="euroc, kitti, tum, coco or yolo.")],
    out: OutOption,
) -> None:
    """Write a finished dataset in the layout of another one."""
    from seatrial.dataset import exports

    typer.echo(f"{out}: {exports.export(folder, to, out)} pictures")


@dataset_app.command("sheet")
def sheet(
    folder: FolderArgument,
    out: Annotated[Path, typer.Option(help="Picture to write: .jpg or .png.")],
    frame: Annotated[int, typer.Option(help="Number of the frame.", min=0)] = 0,
) -> None:
    """Draw a contact sheet: the passes of a frame, or pictures of the sets in a folder."""
    from seatrial.dataset.sheet import contact_sheet

    typer.echo(str(contact_sheet(folder, out, frame)))


@dataset_app.command("verify")
def verify(folder: FolderArgument) -> None:
    """Read every file of a finished dataset and compare it with its checksum."""
    from seatrial.dataset import files

    typer.echo(f"{folder}: {files.verify(folder)} files as they were written")


def _workers(asked: int | None, renderer: str) -> int:
    """The path tracer uses all cores by itself."""
    return asked or (1 if renderer == "traced" else os.cpu_count() or 1)
