"""What can be typed after `seatrial` in one word; `groups` has the commands of two."""

from pathlib import Path
from typing import Annotated, Any

import typer

from seatrial import __version__
from seatrial.cli import groups
from seatrial.cli.arguments import JsonOption, RecordingArgument, ScenarioArgument
from seatrial.cli.bridges import (
    ArduPilotOption,
    Asked,
    DomainOption,
    DriveOption,
    FoxgloveOption,
    LockStepOption,
    MavlinkOption,
    Nmea2000Option,
    NmeaOption,
    PaceOption,
    ProfileOption,
    Ros2Option,
    RosbridgeOption,
    replay_recording,
    run_with_bridges,
)
from seatrial.cli.datasets import dataset_app
from seatrial.cli.fmu import export_fmu
from seatrial.errors import Problem, SpecError, SpecWarning

app = typer.Typer(
    help="Sea trials for marine vehicles before they meet the sea.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for group, name in (
    (groups.bench_app, "bench"),
    (groups.waves_app, "waves"),
    (groups.sensors_app, "sensors"),
    (groups.seabed_app, "seabed"),
    (dataset_app, "dataset"),
):
    app.add_typer(group, name=name)
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
    port: PortOption = 8520,
    browser: BrowserOption = True,
    nmea: NmeaOption = None,
    nmea2000: Nmea2000Option = None,
    ros2: Ros2Option = False,
    domain: DomainOption = 0,
    profile: ProfileOption = "seatrial",
    rosbridge: RosbridgeOption = None,
    foxglove: FoxgloveOption = None,
    ardupilot: ArduPilotOption = None,
    mavlink: MavlinkOption = None,
    drive: DriveOption = None,
    pace: PaceOption = None,
    lock_step: LockStepOption = False,
) -> None:
    """Run a scenario; record it, and print what became of every vehicle.

    The exit code is 0, or 1 when a vehicle diverged or a controller failed.
    """
    asked = Asked(
        nmea=nmea,
        nmea2000=nmea2000,
        ros2=ros2,
        domain=domain,
        profile=profile,
        rosbridge=rosbridge,
        foxglove=foxglove,
        ardupilot=ardupilot,
        mavlink=mavlink,
        drive=drive,
        pace=pace,
        lock_step=lock_step,
        view=view,
    )
    bridges = asked.bridges()
    from seatrial.programs import foresee

    foresee(Path(scenario).stem)  # they load beside the imports; a file is mostly named so
    from seatrial.cli.running import ViewOptions, run_with_progress, show_run

    if bridges:
        finished = run_with_bridges(
            scenario,
            bridges,
            asked,
            seed=seed,
            duration=duration,
            faults=fault or [],
            out=out,
            allow_code=allow_code,
        )
    else:
        finished = run_with_progress(
            scenario,
            seed=seed,
            duration=duration,
            faults=fault or (),
            out=out,
            allow_code=allow_code,
            quiet=as_json,
            view=ViewOptions(1.0 if pace is None else pace, port, browser) if view else None,
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
def replay(
    recording: RecordingArgument,
    domain: DomainOption = 0,
    pace: Annotated[
        float, typer.Option(help="Simulated over wall time, 0 for as fast as it goes.", min=0.0)
    ] = 1.0,
) -> None:
    """Publish a recording on ROS 2's topics."""
    replay_recording(recording, domain, pace)


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


@app.command()
def hull(
    file: Annotated[
        Path, typer.Argument(metavar="MESH", help="STL, OBJ, PLY, GLB, glTF, DAE or WAMIT GDF.")
    ],
    mass: Annotated[
        float, typer.Option(help="Of the vessel with everything on board, kg.", min=1e-3)
    ],
    out: Annotated[
        Path | None, typer.Option(help="Vehicle file to write; its mesh and figures lie beside it.")
    ] = None,
    density: Annotated[float, typer.Option(help="Of the water, kg/m³.", min=500.0)] = 1025.0,
    units: Annotated[str | None, typer.Option(help="Of the file: m, cm, mm, in or ft.")] = None,
    up: Annotated[
        str | None, typer.Option(help="Axis of the file that points up, as z or -y.")
    ] = None,
    forward: Annotated[str | None, typer.Option(help="Axis of the file that points ahead.")] = None,
    centre_of_gravity: Annotated[
        str | None, typer.Option(help="X,Y,Z in the file's own axes and unit.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Float a mesh, solve for its waves, and write a vehicle whose every number has its source."""
    from seatrial.cli.hull import show_hull

    show_hull(file, mass, out, density, units, up, forward, centre_of_gravity, as_json)


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
    """Show, or clear, what is kept on disk: programs, autopilots, descriptions that were read."""
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
    from seatrial.programs import foresee

    foresee(f"{'smooth' if smooth else 'navigate'} {recording.stem}")
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


@app.command()
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="asvlite-speed, asvlite-tank, asvlite-trends, handover, missions, "
            "consistency, colregs, outage, buoyancy, hull-cards."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the files of the study.")] = Path("studies"),
    as_json: JsonOption = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="A small part of the study, for a quick look.")
    ] = False,
    case: Annotated[
        list[str] | None,
        typer.Option(
            help="Of missions and consistency: sail and keep only this case, otter:sea3 or "
            "'wamv*:*', otter:full or '*:matched'."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Voyages of every case that is named.")
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="The page of all cases that are kept.")
    ] = False,
) -> None:
    """Reproduce published results: tables, figures and whether their claims hold.

    The exit code is 0, or 1 when a claim does not hold.
    """
    from seatrial.cli.studies import show_cases, show_study

    if case or seeds or merge:
        holds = show_cases(name, out, as_json, case or [], seeds, merge)
    else:
        holds = show_study(name, out, as_json, sample)
    if not holds:
        raise typer.Exit(1)


app.command("export-fmu")(export_fmu)
