"""The house itself: what importing costs, what the README promises, what the examples do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sampling import sampled
from seatrial.spec.base import Spec
from seatrial.spec.loading import load_text

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ["gsw", "h5netcdf", "jax", "matplotlib", "mcap", "pandas", "rosbags", "scipy", "xarray"]
TEXT = {".py", ".md", ".yaml", ".yml", ".toml", ".cfg", ".txt", ".sh", ".json", ""}

# Commands of the README that a test must not run, each with its reason.
NOT_RUN = {
    "make": "`make test` would start itself again, and `make demo` builds a second environment",
    "git": "fetches from a network that a test may not have",
    "cd": "belongs to the `git clone` before it",
    "pip": "installs into the environment that the tests run in",
    "python -m pip": "the same",
}


def _environment() -> dict[str, str]:
    """Put the commands of this environment first, as an activated one does; draw no windows."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | {"PATH": path, "MPLBACKEND": "agg"}


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )


def test_importing_seatrial_imports_nothing_heavy(tmp_path: Path):
    code = f"import seatrial, sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = _run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_the_command_line_starts_without_heavy_imports(tmp_path: Path):
    heavy = [m for m in HEAVY if m != "jax"]
    code = f"import seatrial.cli, sys; print(*[m for m in {heavy!r} if m in sys.modules])"
    done = _run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_a_start_looks_for_no_garbage_and_a_long_run_does(tmp_path: Path):
    """Of what a start makes nothing goes, but everything would be looked at."""
    code = """
import gc, seatrial.cli
seatrial.cli.quicken()
def looked():
    return sum(generation["collections"] for generation in gc.get_stats())
before = looked()
import seatrial.cli.commands, seatrial.cli.running
start = looked() - before
kept = [[] for _ in range(seatrial.cli.FIRST_OBJECTS)]
before = looked()
kept += [[] for _ in range(10 * seatrial.cli.USUAL_OBJECTS)]
print(start, looked() - before)
"""
    done = _run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr
    start, later = map(int, done.stdout.split())
    assert start == 0
    assert later >= 9


def test_recordings_are_read_and_drawn_without_jax(tmp_path: Path):
    code = "import seatrial.record.reader, seatrial.figures.plot, sys; print('jax' in sys.modules)"
    done = _run([sys.executable, "-c", code], tmp_path)
    assert done.stdout.split() == ["False"], done.stderr


def _tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_holds_a_path_of_the_machine_it_was_written_on():
    # Written in pieces so that this file does not find itself.
    folders = ["home", "Users", "root", "work", "tmp", "private", "mnt"]
    pattern = re.compile(rf"(?<![\w.~/}}>)\]*-])/(?:{'|'.join(folders)})/[\w.-]")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in _tracked_files()
        if path.suffix in TEXT and path.name != "LICENSE"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_every_room_stands_in_the_table_for_those_who_contribute():
    table = re.findall(
        r"^\| (`.*?) \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
    listed = set(re.findall(r"`(\w+)/?`", " ".join(table)))
    house = ROOT / "src" / "seatrial"
    rooms = {path.parent.name for path in house.glob("*/*") if path.suffix in (".py", ".yaml")}
    rooms |= {"library"} | {path.stem for path in house.glob("*.py") if path.stem[0] != "_"}
    assert rooms <= listed, f"not in the table of rooms: {sorted(rooms - listed)}"
    folders = {"analytic", "property", "oracle", "stochastic", "scenarios", "page", "browser"}
    assert listed <= rooms | folders, f"no such room: {sorted(listed - rooms - folders)}"


EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONG_EXAMPLES = {"survey_map", "learn_path_following"}
"""Which fly a whole survey, and learn for minutes."""


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize(
    "example",
    sampled(EXAMPLES, *(path for path in EXAMPLES if path.stem not in LONG_EXAMPLES)),
    ids=lambda path: path.stem,
)
def test_the_example_runs(example: Path, tmp_path: Path):
    done = _run([sys.executable, str(example)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def _blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def _commands() -> list[str]:
    lines = "".join(_blocks("bash")).replace("\\\n", " ").splitlines()
    commands = [line.partition(" #")[0].strip().removeprefix("$ ") for line in lines]
    commands = [c for c in commands if c and not c.startswith("#")]
    return [c for c in commands if not any(c == n or c.startswith(f"{n} ") for n in NOT_RUN)]


def test_the_readme_shows_the_two_commands():
    assert "make demo" in "".join(_blocks("bash"))
    assert "make test" in "".join(_blocks("bash"))


def test_the_commands_of_the_readme_run(tmp_path: Path):
    assert _commands(), "the README shows no command"
    for command in _commands():  # in one folder: a later one may read what an earlier one wrote
        # Compiled as for users, not as for the tests.
        done = _run(["env", "--unset=XLA_FLAGS", "bash", "-c", command], tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_the_python_of_the_readme_runs(tmp_path: Path):
    assert _blocks("python"), "the README shows no Python"
    # The blocks share one namespace, as they would in a notebook.
    done = _run([sys.executable, "-c", "\n".join(_blocks("python"))], tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_yaml_of_the_readme_loads():
    blocks = _blocks("yaml")
    assert blocks, "the README shows no YAML"
    assert all(isinstance(load_text(block, file="README.md"), Spec) for block in blocks)


def test_every_file_that_the_documents_point_to_exists():
    missing = []
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target and not (document.parent / target).exists():
                missing.append(f"{document.relative_to(ROOT)}: {target}")
    assert missing == []


def test_every_file_of_the_house_that_the_documents_name_is_there():
    missing = []
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for name in re.findall(
            r"`([a-z_]+(?:/[\w.]+)+\.py)`", document.read_text(encoding="utf-8")
        ):
            places = [ROOT / name, ROOT / "src" / name, ROOT / "src" / "seatrial" / name]
            if not any(place.is_file() for place in places):
                missing.append(f"{document.relative_to(ROOT)}: {name}")
    assert missing == []


def test_every_public_name_is_on_the_page_of_python_names():
    import seatrial as st

    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^::: seatrial\.(\w+)$", page, re.MULTILINE))
    assert shown == set(st.__all__) - {"__version__"}


def test_the_version_to_cite_is_that_of_the_package():
    import seatrial as st

    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {st.__version__}\n" in citation
