"""What can be typed after `seatrial` in one word; `groups` has the commands of two,
`recordings.commands` those about a recording."""

from pathlib import Path
from typing import Annotated, Any

import typer

from seatrial import __version__
from seatrial.cli import groups
from seatrial.cli.arguments import JsonOption, ScenarioArgument, VehicleArgument, library
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
    run_with_bridges,
)
from seatrial.cli.datasets import dataset_app
from seatrial.cli.descriptions.fmu import export_fmu
from seatrial.cli.recordings import commands as recordings
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
            metavar="SCENARIO|RUN",
            help="A scenario to run live, or a recording to play back.",
            autocompletion=library("scenario"),
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
    from seatrial.cli.viewing import say_refusals, show_page
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
    say_refusals(page)


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
    load: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KG,X,Y,Z",
            help="Something heavy on board, part of the mass, and where, in the file's own axes "
            "and unit; may be given several times. The rest is an even shell.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the files to write if they exist.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Float a mesh, solve for its waves, and write a vehicle whose every number has its source."""
    from seatrial.cli.descriptions.hull import show_hull

    show_hull(
        *(file, mass, out, density, units, up, forward, centre_of_gravity, load or []),
        overwrite=overwrite,
        as_json=as_json,
    )


@app.command("list")
def list_library(as_json: JsonOption = False) -> None:
    """List the vehicles, worlds and scenarios that come with seatrial."""
    from seatrial.cli.descriptions.library import show_library

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
def show(
    name: Annotated[
        str, typer.Argument(help="A library name or a file.", autocompletion=library())
    ],
) -> None:
    """Print a description with every default written out."""
    from seatrial.spec.loading import dump, load

    typer.echo(dump(load(name), usual_units=True), nl=False)


@app.command()
def keys(
    topic: Annotated[
        str | None, typer.Argument(help="Whose keys: scenario, goto, dvl, thruster …")
    ] = None,
) -> None:
    """Explain the keys of a YAML file; list what can be explained when no topic is named."""
    from seatrial.cli.descriptions.library import show_keys

    show_keys(topic)


@app.command()
def schema() -> None:
    """Print a JSON Schema of all YAML files, by which an editor completes and checks them."""
    from seatrial.spec.json_schema import as_text

    typer.echo(as_text(), nl=False)


for command, name in (
    (recordings.info, "info"),
    (recordings.plot, "plot"),
    (recordings.export, "export"),
    (recordings.navigate, "navigate"),
    (recordings.allan_deviation, "allan"),
    (recordings.replay, "replay"),
    (recordings.recover, "recover"),
):
    app.command(name)(command)


@app.command()
def tune(
    vehicle: VehicleArgument,
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
    from seatrial.cli.descriptions.tune import show_tuning

    show_tuning(vehicle, speed, period, wave_frequency, gain or (), as_json)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the recording and figure.")] = Path(
        "demo"
    ),
) -> None:
    """A surface vessel and an underwater vehicle in the same sea state 4, from run to picture."""
    from seatrial.programs import foresee

    foresee("demo")  # they load beside the imports
    from seatrial.cli.running import show_demo

    show_demo(folder)


@app.command()
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="asvlite-speed, asvlite-tank, asvlite-trends, handover, missions, "
            "consistency, colregs, outage, buoyancy, hull-cards, detection, loop-closure."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the files of the study.")] = Path("studies"),
    as_json: JsonOption = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="A small part of the study, for a quick look.")
    ] = False,
    case: Annotated[
        list[str] | None,
        typer.Option(help="Of missions: sail and keep only this case, otter:sea3 or 'wamv*:*'."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Missions of every case that is named.")
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Of missions: the page of all cases that are kept.")
    ] = False,
) -> None:
    """Reproduce published results: tables, figures and whether their claims hold.

    The exit code is 0, or 1 when a claim does not hold.
    """
    from seatrial.cli.measured.studies import show_cases, show_study

    if case or seeds or merge:
        holds = show_cases(name, out, as_json, case or [], seeds, merge)
    else:
        holds = show_study(name, out, as_json, sample)
    if not holds:
        raise typer.Exit(1)


app.command("export-fmu")(export_fmu)
