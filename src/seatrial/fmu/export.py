"""Writes Functional Mock-up Units: FMI 2 and 3, co-simulation."""

import importlib
import keyword
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

from seatrial.errors import Problem, SpecError
from seatrial.fmu.files import brought_along
from seatrial.fmu.vessel import SCENARIO
from seatrial.spec.loading import dump, load
from seatrial.spec.scenario import Participant, Scenario, usual_start
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

FOLDER = "files"
"""Of a unit's resources, with the meshes and maps of its descriptions."""

_SCRIPT = '''"""{title}; made by seatrial {version}."""

from {package} import Fmi{fmi}Causality, Fmi{fmi}Slave, Fmi{fmi}Variability, {number}
from {package}.enums import Fmi{fmi}Status

from seatrial.fmu.vessel import Vessel, complete, declare


class {name}(Fmi{fmi}Slave):
    """{title}."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.description = "{title}"
        self.vessel = Vessel(self.resources)
        declare(self, self.vessel, {number}, Fmi{fmi}Causality, Fmi{fmi}Variability)

    def to_xml(self, *options):
        return complete(super().to_xml(*options))

    def exit_initialization_mode(self):
        try:
            self.vessel.begin()
        except Exception as error:
            self.log(str(error), Fmi{fmi}Status.error)
            raise

    def do_step(self, current_time, step_size):
        wrong = self.vessel.step(current_time, step_size)
        if wrong:
            self.log(wrong, Fmi{fmi}Status.error)
        return not wrong
'''


def export_fmu(
    vehicle: str | Path,
    world: str | Path,
    out: Path,
    fmi: Literal[2, 3] = 2,
    *,
    period: float = 0.02,
    seed: int = 0,
) -> Path:
    """Write a vehicle in a world as one unit; who uses it steps by multiples of `period`."""
    from seatrial._version import __version__

    package = {2: "pythonfmu", 3: "pythonfmu3"}[fmi]
    builder = _builder(package)
    if out.suffix != ".fmu":
        raise SpecError(
            Problem(
                "a unit is written to a file that ends in `.fmu`",
                value=str(out),
                expected="a name such as otter.fmu",
                mend="name it with --out",
            )
        )
    described, sea = load(vehicle, Vehicle), load(world, World)
    name = _identifier(described.name)
    scenario = Scenario(
        kind="scenario",
        name=name,
        seed=seed,
        duration=3600.0,
        control_period=period,
        frame_period=period,
        world=sea,
        vehicles=(
            Participant(name=name, vehicle=described, start=usual_start(described), sensors=()),
        ),
    )
    title = f"The vehicle {described.name} in the world {sea.name}"
    with tempfile.TemporaryDirectory() as folder:
        # Units of both kinds can run in one process, which keeps their modules by name.
        script = Path(folder) / f"{name}_fmi{fmi}.py"
        words = {"title": title, "version": __version__, "package": package, "name": name}
        number = {2: "Real", 3: "Float64"}[fmi]
        script.write_text(_SCRIPT.format(**words, fmi=fmi, number=number))
        resource, files = Path(folder) / SCENARIO, Path(folder) / FOLDER
        resource.write_text(dump(brought_along(scenario, files)))
        before = list(sys.path)
        sys.modules.pop(script.stem, None)  # of a unit of this name that the process has run
        try:
            built: Path = builder.FmuBuilder.build_FMU(
                script, dest=folder, project_files=[f for f in (resource, files) if f.exists()]
            )
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_bytes(Path(built).read_bytes())
        finally:
            sys.path[:] = before
            sys.modules.pop(script.stem, None)
    return out


def _builder(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        raise SpecError(
            Problem(
                f"writing this kind of unit needs the package {package}",
                expected="the extra `fmi`",
                mend="pip install 'seatrial[fmi]'",
            )
        ) from None


def _identifier(name: str) -> str:
    """A name that C and Python take."""
    clean = re.sub(r"\W", "_", name)
    return f"{clean}_" if keyword.iskeyword(clean) else clean
