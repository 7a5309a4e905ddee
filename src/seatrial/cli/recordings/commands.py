"""What can be typed about a recording: look into it, draw it, turn it into other files."""

from pathlib import Path
from typing import Annotated

import typer

from seatrial.cli.arguments import JsonOption, RecordingArgument
from seatrial.cli.bridges import DomainOption, replay_recording


def replay(
    recording: RecordingArgument,
    domain: DomainOption = 0,
    pace: Annotated[
        float, typer.Option(help="Simulated over wall time, 0 for as fast as it goes.", min=0.0)
    ] = 1.0,
) -> None:
    """Publish a recording on ROS 2's topics."""
    replay_recording(recording, domain, pace)


def info(recording: RecordingArgument, as_json: JsonOption = False) -> None:
    """Tell what is in a recording: run, vehicles, sensors, events, and whether it is whole."""
    from seatrial.cli.recordings.info import show_info

    show_info(recording, as_json)


def recover(
    recording: RecordingArgument,
    out: Annotated[
        Path | None, typer.Option(help="File to write; RUN-recovered.mcap by default.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file to write if it exists.")
    ] = False,
) -> None:
    """Write a whole MCAP file out of one that a kill cut short, for other programs to open."""
    from seatrial.cli.recordings.info import show_recovery

    show_recovery(
        recording, out or recording.parent / f"{recording.stem}-recovered.mcap", overwrite
    )


def plot(
    recordings: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Recordings: .mcap or .zarr.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Picture (.png, .pdf, .svg) or film (.gif, .mp4); RUN.png by default."),
    ] = None,
    panels: Annotated[
        str | None, typer.Option(help="Only these: track,speed,heading,actuators … in this order.")
    ] = None,
    width: Annotated[str | None, typer.Option(help="Of the figure: 180mm, 9cm or 7in.")] = None,
    height: Annotated[str | None, typer.Option(help="Of the figure.")] = None,
    start: Annotated[float | None, typer.Option("--from", help="Begin at this time, s.")] = None,
    end: Annotated[float | None, typer.Option("--to", help="End at this time, s.")] = None,
    vehicle: Annotated[
        list[str] | None, typer.Option(help="Only this vehicle; may be repeated.")
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="Of a film: times as fast as the run; 10 s in all without.")
    ] = None,
) -> None:
    """Draw a page of figures from a recording; several are compared in one figure."""
    from seatrial.cli.progress import working
    from seatrial.figures.plot import plot as draw

    names = None if panels is None else [name.strip() for name in panels.split(",")]
    with working("drawing") as tell:
        picture = draw(
            recordings,
            out or recordings[0].parent / f"{recordings[0].stem or 'figure'}.png",
            panels=names,
            width=width,
            height=height,
            start=start,
            end=end,
            vehicles=vehicle,
            speed=speed,
            progress=tell,
        )
    typer.echo(f"{'film' if picture.suffix in ('.gif', '.mp4') else 'figure'}: {picture}")


def export(
    recording: RecordingArgument,
    to: Annotated[str, typer.Option(help="csv, netcdf or foxglove.")],
    out: Annotated[Path | None, typer.Option(help="File to write; beside RUN by default.")] = None,
) -> None:
    """Write a recording as CSV (a file per vehicle), as NetCDF, or with its scene for Foxglove."""
    from dataclasses import replace

    from seatrial.cli.progress import working
    from seatrial.compile.vehicles.shapes import with_recorded_shapes
    from seatrial.record.export import export as write
    from seatrial.record.reader import read

    with working(f"writing {to}") as tell:
        run = read(recording)
        run = replace(run, header=with_recorded_shapes(run.header))
        paths = write(run, to, out, tell)
    for path in paths:
        typer.echo(f"written: {path}")
    if not run.complete:
        typer.echo(f"{recording}: the recording is cut short; this is as far as it goes", err=True)


def allan_deviation(
    recording: RecordingArgument,
    sensor: Annotated[
        str | None, typer.Option(help="Name of the IMU; needed with several.")
    ] = None,
    vehicle: Annotated[str | None, typer.Option(help="Name of the vehicle.")] = None,
    out: Annotated[Path | None, typer.Option(help="Picture to write: .png, .pdf or .svg.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Allan deviation of a recorded IMU: fitted N, B and K with confidence, and a figure."""
    from seatrial.cli.recordings.allan import show_allan

    show_allan(recording, sensor, vehicle, out, as_json)


def navigate(
    recording: RecordingArgument,
    vehicle: Annotated[str | None, typer.Option(help="Name of the vehicle.")] = None,
    smooth: Annotated[
        bool, typer.Option("--smooth", help="Use what came later too: Rauch–Tung–Striebel.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Picture to write: .png, .pdf or .svg.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run the navigation filter over recorded measurements and compare it with the truth."""
    from seatrial.programs import foresee

    foresee(f"{'smooth' if smooth else 'navigate'} {recording.stem}")
    from seatrial.cli.recordings.navigate import show_navigation

    show_navigation(recording, vehicle, smooth, as_json, out)
