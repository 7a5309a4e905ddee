"""What can be typed after `seatrial` in two words: `bench step`, `seabed import` …"""

from pathlib import Path
from typing import Annotated

import typer

from seatrial.cli.arguments import JsonOption, VehicleArgument

bench_app = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True)
waves_app = typer.Typer(help="Prepare seas for use elsewhere.", no_args_is_help=True)
sensors_app = typer.Typer(help="Look at what a vehicle measures.", no_args_is_help=True)
seabed_app = typer.Typer(help="Maps of the bottom.", no_args_is_help=True)


@bench_app.command("step")
def bench_step(
    as_json: JsonOption = False,
    vehicle: Annotated[
        list[str] | None, typer.Option(help="Only this vehicle; may be repeated.")
    ] = None,
    precision: Annotated[str, typer.Option(help="double or single.")] = "double",
) -> None:
    """Time one step of every library vehicle, alone and 500 at once, calm and in 75 waves."""
    from seatrial.cli.measured import bench
    from seatrial.validation.timing import steps as timing

    bench.show_steps(timing.step_cases(vehicle, precision), as_json)


@bench_app.command("waves")
def bench_waves(
    as_json: JsonOption = False,
    precision: Annotated[str, typer.Option(help="double or single.")] = "single",
) -> None:
    """Time a step over the number of wave components, for one vessel and for 500."""
    from seatrial.cli.measured import bench
    from seatrial.validation.timing import steps as timing

    bench.show_steps(timing.wave_cases(precision), as_json)


@bench_app.command("swarm")
def bench_swarm(
    as_json: JsonOption = False,
    vehicles: Annotated[
        list[int] | None, typer.Option(help="Size of the swarm; may be repeated.", min=1)
    ] = None,
    precision: Annotated[str, typer.Option(help="double or single.")] = "single",
) -> None:
    """Time a step over the size of a swarm in 75 waves, on all cores or on the GPU."""
    from seatrial.cli.measured import bench
    from seatrial.validation.timing import steps as timing

    bench.show_steps(timing.swarm_cases(vehicles, precision), as_json)


@bench_app.command("sensors")
def bench_sensors(
    as_json: JsonOption = False,
    duration: Annotated[float, typer.Option(help="Simulated time, s.", min=1.0)] = 600.0,
) -> None:
    """Time a vehicle with an IMU at 200 Hz and five more sensors, and the same without them."""
    from seatrial.cli.measured import bench
    from seatrial.validation.timing import steps as timing

    bench.show_runs(timing.sensor_cases(duration), as_json)


@bench_app.command("closed-loop")
def bench_closed_loop(
    as_json: JsonOption = False,
    duration: Annotated[float | None, typer.Option(help="Simulated time, s.", min=1.0)] = None,
) -> None:
    """Time `sookshma-waypoints` with sensors, filter, guidance and control in the loop."""
    from seatrial.cli.measured import bench
    from seatrial.validation.timing import steps as timing

    bench.show_runs(timing.closed_loop_cases(duration), as_json)


@bench_app.command("hulls")
def bench_hulls(as_json: JsonOption = False) -> None:
    """Time a step with every model of a hull, alone and many at once, calm and in waves."""
    from seatrial.cli.measured import bench

    bench.show_hulls(as_json)


@bench_app.command("rays")
def bench_rays(as_json: JsonOption = False) -> None:
    """Time LiDAR, sonars and depth camera in a basin, beside Embree itself on the same rays."""
    from seatrial.cli.measured import bench

    bench.show_rays(as_json)


@bench_app.command("camera")
def bench_camera(as_json: JsonOption = False) -> None:
    """Time cameras above and below the water, in waves."""
    from seatrial.cli.measured import bench

    bench.show_camera(as_json)


@bench_app.command("gym")
def bench_gym(
    parallel: Annotated[int, typer.Option(help="Vehicles at once.", min=1)] = 4096,
    as_json: JsonOption = False,
) -> None:
    """Time the environments for agents that learn, calm and in 75 waves."""
    from seatrial.cli.measured import bench

    bench.show_gym(parallel, as_json)


@sensors_app.command("check")
def sensors_check(
    vehicle: VehicleArgument,
    out: Annotated[
        Path | None, typer.Option(help="Picture to write; VEHICLE-sensors.png by default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of sea and noise.", min=0)] = 0,
) -> None:
    """Draw a minute of each sensor of a vehicle against the truth."""
    from seatrial.programs import foresee

    foresee(f"sensors check {Path(vehicle).stem}")  # they load beside the imports
    from seatrial.cli.descriptions.sensors import show_check

    show_check(vehicle, out, seed)


@sensors_app.command("gallery")
def sensors_gallery(
    out: Annotated[Path, typer.Option(help="Page to write (.html).")] = Path("gallery.html"),
    seed: Annotated[int, typer.Option(help="Seed of sea, bottom and noise.", min=0)] = 0,
) -> None:
    """Draw what sonars, radar, LiDAR and depth camera see of library worlds, on one page."""
    from seatrial.cli.descriptions.sensors import show_gallery

    show_gallery(out, seed)


@sensors_app.command("document")
def sensors_document(
    vehicle: VehicleArgument,
    out: Annotated[
        Path | None, typer.Option(help="Page to write (.md); printed without it.")
    ] = None,
) -> None:
    """Tell how each sensor of a vehicle speaks: message, rate, units, bytes and an example."""
    from seatrial.cli.descriptions.sensors import write_document

    write_document(vehicle, out)


@waves_app.command("precompute")
def waves_precompute(
    vehicle: Annotated[str, typer.Argument(help="A surface craft: a file or a library name.")],
    world: Annotated[str, typer.Argument(help="A world with waves: a file or a library name.")],
    out: Annotated[Path, typer.Option(help="File to write (.npz).")],
    seed: Annotated[int, typer.Option(help="Seed of the sea.", min=0)] = 0,
) -> None:
    """Integrate the waves over a hull once and save the force amplitudes (stage one).

    A scenario uses them with `wave_forces: FILE`, so that a small computer runs stage two only.
    """
    from seatrial.cli.progress import working
    from seatrial.compile.vehicles.wave_forces import precompute
    from seatrial.spec.loading import load
    from seatrial.spec.vehicle import Vehicle
    from seatrial.spec.world import World

    with working("integrating over the hull"):
        made = precompute(load(vehicle, Vehicle), load(world, World), seed, out)
    rows, components = made.table.shape[0], made.north.shape[0]
    headings = f"a table of {rows - 3} headings" if rows > 1 else "the same at every heading"
    typer.echo(f"{out}: {components} components, {headings}")


@seabed_app.command("import")
def import_seabed(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Soundings (.xyz, .csv, .txt), rasters (.tif, .asc, .nc, .bag) or meshes "
            "(.stl, .obj, .ply, .glb); several are merged, the first has the say.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The map to write; a picture goes beside it.")],
    datum: Annotated[
        str | None,
        typer.Option(
            metavar="LAT,LON", help="Origin of the map; the middle of the survey when left out."
        ),
    ] = None,
    spacing: Annotated[
        float | None, typer.Option(metavar="M", help="Between nodes, m; by the files otherwise.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="grid|mesh",
            help="Soundings as means by node, or every one as a corner of a triangle.",
        ),
    ] = "grid",
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="up|down", help="Where the files' numbers count; as they seem otherwise."
        ),
    ] = None,
    offset: Annotated[
        float, typer.Option(metavar="M", help="Added to all depths, for another level of zero, m.")
    ] = 0.0,
    holes: Annotated[
        str, typer.Option(metavar="fill|leave", help="What becomes of nodes without soundings.")
    ] = "fill",
    crs: Annotated[
        str | None,
        typer.Option(
            metavar="EPSG:N", help="Reference system of files that name none; `local` for metres."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Of text without a header: longitude,latitude,depth."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a map of survey files, with a shaded picture and a report."""
    from seatrial.cli.descriptions.seabed import choices_of, import_files

    choices = choices_of(datum, spacing, method, positive, offset, holes, crs, columns)
    import_files(files, out, choices, as_json)
