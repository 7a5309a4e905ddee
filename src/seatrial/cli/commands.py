"""What can be typed after `seatrial`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from seatrial import __version__
from seatrial.errors import Problem, SpecError, SpecWarning

app = typer.Typer(
    help="Sea trials for marine vehicles before they meet the sea.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
bench_app = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")
waves_app = typer.Typer(help="Prepare seas for use elsewhere.", no_args_is_help=True)
app.add_typer(waves_app, name="waves")

sensors_app = typer.Typer(help="Look at what a vehicle measures.", no_args_is_help=True)
app.add_typer(sensors_app, name="sensors")

seabed_app = typer.Typer(help="Maps of the bottom.", no_args_is_help=True)
app.add_typer(seabed_app, name="seabed")

ScenarioArgument = Annotated[
    str,
    typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of one in the library."),
]
RecordingArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A recording: .mcap or .zarr.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]
PortOption = Annotated[int, typer.Option(help="Port of the page.", min=0, max=65535)]
FaultOption = Annotated[
    list[str] | None,
    typer.Option(help="Break something: 'imu: freeze @ 30s for 10s'; may be repeated."),
]
BrowserOption = Annotated[bool, typer.Option(help="Open the page in a browser.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"seatrial {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Sea trials for marine vehicles before they meet the sea."""


@app.command()
def run(
    scenario: ScenarioArgument,
    seed: Annotated[int | None, typer.Option(help="Another seed than the file's.")] = None,
    duration: Annotated[
        float | None, typer.Option(help="Another simulated time than the file's, s.")
    ] = None,
    fault: FaultOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Record to this .mcap file, or .zarr folder for swarms.")
    ] = None,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Let the controllers that it names run.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 unless every vehicle completed its run.")
    ] = False,
    as_json: JsonOption = False,
    view: Annotated[
        bool, typer.Option("--view", help="Show it in the browser while it runs.")
    ] = False,
    speed: Annotated[
        float, typer.Option(help="Times real time, 0.1 to 100, of a run with --view.")
    ] = 1.0,
    port: PortOption = 8520,
    browser: BrowserOption = True,
) -> None:
    """Run a scenario; record it, and print what became of every vehicle.

    The exit code is 0, or 1 when a vehicle diverged or a controller failed.
    """
    from seatrial.programs import foresee

    foresee(Path(scenario).stem)  # they load beside the imports; a file is mostly named so
    from seatrial.cli.running import ViewOptions, run_with_progress, show_run

    finished = run_with_progress(
        scenario,
        seed=seed,
        duration=duration,
        faults=fault or (),
        out=out,
        allow_code=allow_code,
        quiet=as_json,
        view=ViewOptions(speed, port, browser) if view else None,
    )
    show_run(finished, out, as_json)
    if finished.failure is not None:
        typer.echo(str(finished.failure), err=True)
    if finished.status in ("diverged", "failed") or (strict and finished.status != "completed"):
        raise typer.Exit(1)


@app.command()
def view(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|RUN", help="A scenario to run live, or a recording to play back."
        ),
    ],
    seed: Annotated[int | None, typer.Option(help="Another seed than the file's.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Record the live run to this .mcap file.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; elsewhere than on loopback with a token.")
    ] = "127.0.0.1",
    port: PortOption = 8520,
    browser: BrowserOption = True,
    watch_only: Annotated[
        bool, typer.Option("--watch-only", help="Pages may look and not steer.")
    ] = False,
    fault: FaultOption = None,
    drill: Annotated[
        bool, typer.Option("--drill", help="A link each for instructor, trainee and watchers.")
    ] = False,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Let the controllers that it names run.")
    ] = False,
) -> None:
    """Watch and drive a run in the browser, or play a recording back."""
    from seatrial.programs import foresee

    foresee(Path(what).stem)  # they load beside the imports
    from seatrial.cli.viewing import show_page
    from seatrial.viewing import view as serve

    page = serve(
        what,
        seed=seed,
        host=host,
        port=port,
        out=out,
        allow_code=allow_code,
        watch_only=watch_only,
        drill=drill,
        faults=fault or (),
    )
    show_page(page, browser)
    page.wait()


@app.command()
def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Vehicle, world or scenario files.")
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse also what is merely doubtful.")
    ] = False,
) -> None:
    """Check descriptions without running anything; exit code 2 if one cannot be used."""
    import warnings

    from seatrial.cli.progress import working
    from seatrial.compile.checking import check_description

    problems: list[Any] = []
    for file in files:
        try:
            with warnings.catch_warnings(), working(f"checking {file}"):
                warnings.simplefilter("error" if strict else "default", SpecWarning)
                kind = check_description(file)
            typer.echo(f"{file}: a usable {kind}")
        except SpecWarning as doubt:
            problems.append(Problem(str(doubt)))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)


@app.command("list")
def list_library(as_json: JsonOption = False) -> None:
    """List the vehicles, worlds and scenarios that come with seatrial."""
    from seatrial.cli.library import show_library

    show_library(as_json)


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete all of it.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show, or clear, the compiled programs and designed autopilots that are kept on disk."""
    from seatrial.cli.kept import clear_cache, show_cache

    if clear:
        clear_cache(as_json)
    else:
        show_cache(as_json)


@app.command()
def show(name: Annotated[str, typer.Argument(help="A library name or a file.")]) -> None:
    """Print a description with every default written out."""
    from seatrial.spec.loading import dump, load

    typer.echo(dump(load(name)), nl=False)


@app.command()
def keys(
    topic: Annotated[
        str | None, typer.Argument(help="Whose keys: scenario, goto, dvl, thruster …")
    ] = None,
) -> None:
    """Explain the keys of a YAML file; list what can be explained when no topic is named."""
    from seatrial.cli.library import show_keys

    show_keys(topic)


@app.command()
def schema() -> None:
    """Print a JSON Schema of all YAML files, by which an editor completes and checks them."""
    from seatrial.spec.json_schema import as_text

    typer.echo(as_text(), nl=False)


@app.command()
def info(recording: RecordingArgument, as_json: JsonOption = False) -> None:
    """Tell what is in a recording: run, vehicles, sensors, events, and whether it is whole."""
    from seatrial.cli.info import show_info

    show_info(recording, as_json)


@app.command()
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
    from seatrial.cli.info import show_recovery

    show_recovery(
        recording, out or recording.with_name(f"{recording.stem}-recovered.mcap"), overwrite
    )


@app.command()
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
            out or recordings[0].with_suffix(".png"),
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


@app.command()
def export(
    recording: RecordingArgument,
    to: Annotated[str, typer.Option(help="csv, netcdf or foxglove.")],
    out: Annotated[Path | None, typer.Option(help="File to write; beside RUN by default.")] = None,
) -> None:
    """Write a recording as CSV (a file per vehicle), as NetCDF, or with its scene for Foxglove."""
    from seatrial.cli.progress import working
    from seatrial.record.export import export as write
    from seatrial.record.reader import read

    with working(f"writing {to}") as tell:
        run = read(recording)
        paths = write(run, to, out, tell)
    for path in paths:
        typer.echo(f"written: {path}")
    if not run.complete:
        typer.echo(f"{recording}: the recording is cut short; this is as far as it goes", err=True)


@app.command("allan")
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
    from seatrial.cli.allan import show_allan

    show_allan(recording, sensor, vehicle, out, as_json)


@app.command()
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
    from seatrial.cli.navigate import show_navigation

    show_navigation(recording, vehicle, smooth, as_json, out)


@app.command()
def tune(
    vehicle: Annotated[str, typer.Argument(help="A vehicle file, or a library name.")],
    speed: Annotated[float | None, typer.Option(help="Design speed, m/s.")] = None,
    period: Annotated[float, typer.Option(help="Control period, s.", min=1e-3)] = 0.1,
    wave_frequency: Annotated[
        float | None, typer.Option(help="At which waves are met; for station keeping, rad/s.")
    ] = None,
    gain: Annotated[
        list[str] | None,
        typer.Option(help="Gains of your own, Kp,Ki,Kd: heading=107,14.5,83; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Design an autopilot from a vehicle's own model: trim, gains, bandwidths and margins."""
    from seatrial.cli.tune import show_tuning

    show_tuning(vehicle, speed, period, wave_frequency, gain or (), as_json)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the recording and figure.")] = Path(
        "demo"
    ),
) -> None:
    """A surface vessel and an underwater vehicle in the same sea state 4, from run to picture."""
    from seatrial.cli.running import show_demo

    show_demo(folder)


@bench_app.command("step")
def bench_step(
    as_json: JsonOption = False,
    vehicle: Annotated[
        list[str] | None, typer.Option(help="Only this vehicle; may be repeated.")
    ] = None,
    precision: Annotated[str, typer.Option(help="double or single.")] = "double",
) -> None:
    """Time one step of every library vehicle, alone and 500 at once, calm and in 75 waves."""
    from seatrial.cli import bench
    from seatrial.validation import timing

    bench.show_steps(timing.step_cases(vehicle, precision), as_json)


@bench_app.command("waves")
def bench_waves(
    as_json: JsonOption = False,
    precision: Annotated[str, typer.Option(help="double or single.")] = "single",
) -> None:
    """Time a step over the number of wave components, for one vessel and for 500."""
    from seatrial.cli import bench
    from seatrial.validation import timing

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
    from seatrial.cli import bench
    from seatrial.validation import timing

    bench.show_steps(timing.swarm_cases(vehicles, precision), as_json)


@bench_app.command("sensors")
def bench_sensors(
    as_json: JsonOption = False,
    duration: Annotated[float, typer.Option(help="Simulated time, s.", min=1.0)] = 600.0,
) -> None:
    """Time a vehicle with an IMU at 200 Hz and five more sensors, and the same without them."""
    from seatrial.cli import bench
    from seatrial.validation import timing

    bench.show_runs(timing.sensor_cases(duration), as_json)


@bench_app.command("closed-loop")
def bench_closed_loop(
    as_json: JsonOption = False,
    duration: Annotated[float | None, typer.Option(help="Simulated time, s.", min=1.0)] = None,
) -> None:
    """Time `sookshma-waypoints` with sensors, filter, guidance and control in the loop."""
    from seatrial.cli import bench
    from seatrial.validation import timing

    bench.show_runs(timing.closed_loop_cases(duration), as_json)


@bench_app.command("rays")
def bench_rays(as_json: JsonOption = False) -> None:
    """Time LiDAR, sonars and depth camera in a basin, beside Embree itself on the same rays."""
    from seatrial.cli import bench

    bench.show_rays(as_json)


@sensors_app.command("check")
def sensors_check(
    vehicle: Annotated[str, typer.Argument(help="A vehicle file, or a library name.")],
    out: Annotated[
        Path | None, typer.Option(help="Picture to write; VEHICLE-sensors.png by default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of sea and noise.", min=0)] = 0,
) -> None:
    """Draw a minute of each sensor of a vehicle against the truth."""
    from seatrial.cli.sensors import show_check

    show_check(vehicle, out, seed)


@sensors_app.command("gallery")
def sensors_gallery(
    out: Annotated[Path, typer.Option(help="Page to write (.html).")] = Path("gallery.html"),
    seed: Annotated[int, typer.Option(help="Seed of sea, bottom and noise.", min=0)] = 0,
) -> None:
    """Draw what sonars, radar, LiDAR and depth camera see of library worlds, on one page."""
    from seatrial.cli.sensors import show_gallery

    show_gallery(out, seed)


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


@app.command()
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="asvlite-speed, asvlite-tank, asvlite-trends, handover, missions, colregs, outage."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the files of the study.")] = Path("studies"),
    as_json: JsonOption = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="A small part of the study, for a quick look.")
    ] = False,
) -> None:
    """Reproduce published results: tables, figures and whether their claims hold.

    The exit code is 0, or 1 when a claim does not hold.
    """
    from seatrial.cli.studies import show_study

    if not show_study(name, out, as_json, sample):
        raise typer.Exit(1)


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
    from seatrial.cli.seabed import choices_of, import_files

    choices = choices_of(datum, spacing, method, positive, offset, holes, crs, columns)
    import_files(files, out, choices, as_json)
