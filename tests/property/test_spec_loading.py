"""Loading, references between files, lines in messages, and writing out again."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import SCENARIO, VEHICLE, good_documents
from seatrial.errors import SpecError
from seatrial.spec import loading
from seatrial.spec.base import Spec
from seatrial.spec.library import FOLDERS, library_file, library_names
from seatrial.spec.loading import dump, load, load_text
from seatrial.spec.reading import read_text
from seatrial.spec.scenario import Scenario, Start
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World


def _refusal(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        load_text(text, file="tug.yaml")
    return str(caught.value)


def _line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def _same(one: Spec, other: Spec) -> bool:
    return type(one) is type(other) and one.model_dump() == other.model_dump()


# Reading


def test_numbers_text_and_constants_follow_the_yaml_1_2_core_schema():
    text = "a: 1\nb: 1e3\nc: .5\nd: no\ne: 2026-11-15\nf: 1:30\ng: '1'\nh: ~\ni: true\nj: 0x1F\n"
    data, _ = read_text(text, "x.yaml")
    assert list(data.values()) == [
        *(1, 1000.0, 0.5, "no", "2026-11-15", "1:30", "1", None, True, 31)
    ]
    assert [type(v) for v in data.values()][:3] == [int, float, float]


def test_every_value_knows_its_line():
    _, source = read_text("# note\na:\n  b:\n    - 1\n    - {c: 2}\nd: |\n  two\n", "x.yaml")
    assert source.lines[("a", "b", 1, "c")] == 5
    assert source.lines[("a", "b", 0)] == 4
    assert source.lines[("d",)] == 6
    assert source.line(("a", "b", 7)) == 3


def test_an_alias_repeats_what_its_anchor_holds():
    data, _ = read_text("a: &x {b: [1, 2]}\nc: *x\nd: [*x, *x]\n", "x.yaml")
    assert data == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": [{"b": [1, 2]}] * 2}


def test_a_byte_order_mark_and_windows_line_ends_are_accepted():
    windows = b"\xef\xbb\xbf" + VEHICLE.replace("\n", "\r\n").encode()
    assert _same(load_text(windows), load_text(VEHICLE))


def test_a_key_with_a_unit_is_converted_to_si():
    scenario = load_text(SCENARIO, Scenario)
    assert scenario.duration == 120.0
    assert scenario.vehicles[0].start.heading == pytest.approx(math.pi / 2)
    assert scenario.vehicles[0].start.speed == pytest.approx(3 * 1852 / 3600)
    assert scenario.vehicles[0].vehicle.beam == pytest.approx(1.08)


# References


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    (tmp_path / "craft").mkdir()
    (tmp_path / "craft" / "tug.yaml").write_text(VEHICLE)
    scenario = tmp_path / "harbour.yaml"
    scenario.write_text(
        "kind: scenario\nname: harbour\nduration: 5\nvehicles:\n"
        "  - name: one\n    vehicle: craft/tug.yaml\n"
        "  - name: two\n    vehicle: craft/tug.yaml\n"
    )
    return scenario


def test_a_path_in_a_scenario_starts_where_the_scenario_lies(fleet: Path):
    scenario = load(fleet, Scenario)
    assert _same(scenario.vehicles[1].vehicle, load_text(VEHICLE))
    assert isinstance(scenario.world, World)


def test_an_error_in_a_file_that_is_referred_to_names_that_file(fleet: Path):
    bad = fleet.parent / "craft" / "tug.yaml"
    bad.write_text(VEHICLE.replace("mass: 55", "mass: heavy"))
    fleet.write_text(fleet.read_text().replace("duration: 5", "duration: -5"))
    with pytest.raises(SpecError) as caught:
        load(fleet)
    first, *others = caught.value.problems
    assert (first.file, first.line) == (str(fleet), 3)
    assert {(p.file, p.line) for p in others} == {(str(bad), _line_of(VEHICLE, "mass"))}


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("craft/tag.yaml", "did you mean `tug.yaml`?"),
        ("craft", "the library has no vehicle called `craft`"),
        ("craft/", "not a YAML file"),
        ("harbour.yaml", "this file describes a scenario"),
        ("harbour", "write `harbour.yaml` for the file of that name"),
    ],
)
def test_a_reference_to_nothing_is_refused_where_it_stands(fleet: Path, reference: str, words: str):
    fleet.write_text(fleet.read_text().replace("craft/tug.yaml", reference, 1))
    with pytest.raises(SpecError, match=r"harbour\.yaml") as caught:
        load(fleet)
    assert words in str(caught.value)


def test_a_later_error_in_a_nested_description_points_at_its_line(fleet: Path):
    thrust = load(fleet, Scenario).vehicles[0].vehicle.actuators[0].thrust
    problem = thrust.problem(("speed_limits",), "too fast")
    assert problem.file == str(fleet.parent / "craft" / "tug.yaml")
    assert problem.line == _line_of(VEHICLE, "speed_limits_rpm")
    inline = load_text(SCENARIO, Scenario, file="inline.yaml").vehicles[0]
    problem = inline.vehicle.inertia.problem(("mass",), "too heavy")
    assert (problem.file, problem.line) == ("inline.yaml", _line_of(SCENARIO, "mass: 55"))


def test_a_file_of_another_kind_is_refused(fleet: Path):
    with pytest.raises(SpecError, match="this file describes a scenario"):
        load(fleet, Vehicle)


@pytest.mark.parametrize(
    "reference", ["no/such.yaml", "such.yaml", "a\0b.yaml", "x" * 5000 + ".yaml"]
)
def test_a_file_that_is_not_there_is_refused_by_name(reference: str):
    with pytest.raises(SpecError) as caught:
        load(reference)
    assert caught.value.problems[0].file == reference


def test_a_folder_is_refused(tmp_path: Path):
    folder = tmp_path / "folder.yaml"
    folder.mkdir()
    with pytest.raises(SpecError, match=r"folder\.yaml: this is a directory"):
        load(folder)


# The library


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_library_file_is_called_what_it_says(kind: str):
    for name in library_names(kind):
        spec = load(name)
        assert spec.model_dump()["kind"] == kind
        assert spec.model_dump()["name"] == name


def test_no_library_name_is_used_twice():
    names = [name for kind in FOLDERS for name in library_names(kind)]
    assert len(names) == len(set(names))


def test_an_unknown_library_name_lists_what_there_is():
    known = library_names("vehicle")[0]
    with pytest.raises(SpecError) as caught:
        library_file(known[:-1] + "zq", "vehicle")
    assert f"did you mean `{known}`?" in str(caught.value)
    assert all(name in str(caught.value) for name in library_names("vehicle"))


# Messages


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("length: 2.0", "lenght: 2.0", "unknown key `lenght`|did you mean `length`?"),
        ("height: 0.5", "height_rpm: 5", "`rpm` is not a unit of `height`|`height_cm`"),
        ("height: 0.5", "height_m: 5", "`m` is not a unit of `height`|write `height`"),
        ("height: 0.5", "height: 50 cm", "expected: a number in m|write `height_cm: 50`"),
        ("height: 0.5", "height: 0.5 m", "write `height: 0.5`: it is in m already"),
        ("height: 0.5", 'height: "0.5"', "write it without quotes"),
        ("height: 0.5", "height: -1", "height: out of range|above 0"),
        ("height: 0.5", "height:", "height: has no value|a number in m"),
        ("height: 0.5\n", "\n", "missing key `height`"),
        (
            "angle_limit_deg: 35",
            "angle_limit_deg: 350",
            "found:    350|in deg, at least 0 and at most 90.5273",
        ),
        ("craft: surface", "craft: surfase", "unknown craft|did you mean `surface`?"),
        ("craft: surface", "", "buoyancy.craft: missing key `craft`|`submerged`"),
        ("model: polynomial", "model: poly", "unknown model|`open_water`"),
        ("shape: box", "shape: bax", "not an accepted value|did you mean `box`?"),
        ("[0.2, 0, -0.2]", "[0.2, 0]", "holds 2 entries|a list of 3 numbers in m"),
        ("[0.2, 0, -0.2]", "[0.2, 0, low]", "centre_of_gravity[2]: text where a number belongs"),
        ("speed: instantaneous", "speed: 5 knots", "a number in m/s|write `speed_kn: 5`"),
        ("speed: instantaneous", "speed: -5", "out of range"),
        ("name: tug", "name: The Tug", "not an accepted text|write `the_tug`"),
        ("gyration:", "moments: [1, 1, 1]\n  gyration:", "give either `gyration`"),
        ("X_u: -10", "X_u: ten", "hydrodynamics.coefficients.X_u: text where a number belongs"),
        ("kind: vehicle", "kind: vehical", "unknown kind|did you mean `vehicle`?"),
        ("kind: vehicle", "", "missing key `kind`"),
    ],
)
def test_a_message_says_what_to_do(good: str, bad: str, words: str):
    assert good in VEHICLE
    message = _refusal(VEHICLE.replace(good, bad, 1))
    for part in words.split("|"):
        assert part in message
    assert message.count("tug.yaml:") == 1, "one mistake, one message"


TRIAL = """kind: scenario
name: trial
seed: 1
duration: 60
world: calm
vehicles:
  - name: boat
    vehicle: otter
    start: {position: [0, 0, 0], heading_deg: 0}
    mission:
      - {do: goto, waypoints: [[40, 0], [40, 40]], speed: 1.0}
    faults:
      - {target: left, kind: power_loss, start: 10}
"""


@pytest.mark.parametrize(
    ("good", "bad", "line", "words"),
    [
        ("  - name: boat", "\t- name: boat", 7, "a tab stands where|indent with spaces"),
        ("kind: scenario", "kind: scenari", 1, "unknown kind|did you mean `scenario`?"),
        ("duration: 60", "duration: 10 min", 4, "text where a number|write `duration_min: 10`"),
        ("duration: 60", "duration: -5", 4, "out of range|above 0"),
        ("duration: 60", "duration: yes", 4, "text where a number belongs"),
        ("seed: 1", "seed: one", 3, "text where a whole number belongs"),
        ("seed: 1", "seed: 1.5", 3, "a number where a whole number belongs"),
        ("seed: 1", "seed: 1\nseed: 2", 4, "given twice|the first is in line 3"),
        ("seed: 1", "seed: 1\nrecord: run.mcap", 4, "unknown key `record`|one of the keys kind"),
        ("seed: 1", "seed: 1\ntime_step: 5", 4, "out of range|at most 1"),
        ("world: calm", "world: sea_state_4", 5, "no world called|did you mean `sea-state-4`?"),
        ("world: calm", "world: {name: w, wind: 5}", 5, "a number where a mapping|keys speed"),
        ("  - name: boat\n    vehicle", "  boat:\n    vehicle", 6, "a mapping where a list|`- `"),
        ("vehicle: otter", "vehicle: ./plover.yaml", 8, "there is no such file"),
        ("vehicle: otter", "vehicle: otter\n    count: 0", 9, "out of range|at least 1"),
        ("heading_deg: 0", "heading: 270", 9, "out of range|`heading_deg: 270`"),
        ("position: [0, 0, 0]", "position: [0, 0]", 9, "holds 2 entries|a list of 3 numbers in m"),
        ("position: [0, 0, 0]", "position: harbour", 9, "text where a list belongs"),
        ("do: goto", "do: go_to", 11, "unknown do|did you mean `goto`?"),
        ("[[40, 0], [40, 40]]", "[40, 0]", 11, "a number where a list|a list of its own"),
        ("[40, 40]]", "[40, 40]", 11, "closing bracket is missing|close the list"),
        ("waypoints", "waypoint", 11, "unknown key `waypoint`|did you mean `waypoints`?"),
        ("waypoints", "waypoints_deg", 11, "`deg` is not a unit|`waypoints` is in m"),
        ("speed: 1.0", "speed: 2 kn", 11, "text where a number|write `speed_kn: 2`"),
        ("speed: 1.0", "speed: 1,5", 11, "a key is not a word|a point, no comma"),
        ("speed: 1.0", "speed: 0", 11, "out of range|above 0 and at most 50"),
        ("speed: 1.0", "speed: .nan", 11, "not a finite number"),
        ("power_loss", "powerloss", 13, "unknown kind|did you mean `power_loss`?"),
        ("start: 10", "at: 10", 13, "unknown key `at`|one of the keys target, start"),
        (
            "    faults:",
            "  - {name: boat, vehicle: otter}\n    faults:",
            13,
            "not valid YAML",
        ),
    ],
)
def test_thirty_mistakes_of_a_stranger_are_told_where_they_stand(
    good: str, bad: str, line: int, words: str
):
    assert TRIAL.count(good) == 1
    message = _refusal(TRIAL.replace(good, bad))
    assert message.splitlines()[0].split(":")[1] == str(line)
    for word in words.split("|"):
        assert word in message


def test_two_vehicles_of_one_name_are_told_where_they_stand():
    entry = TRIAL[TRIAL.index("  - name") :]
    message = _refusal(TRIAL + entry)
    assert message.startswith("tug.yaml:6: vehicles: ")
    assert "used more than once: boat" in message
    assert "`count`" in message


def test_a_message_names_the_line():
    text = VEHICLE.replace("mass: 55", "mass: heavy").replace("X_u: -10", "X_u: [1]")
    lines = [f"tug.yaml:{_line_of(text, part)}:" for part in ("mass: heavy", "X_u: [1]")]
    message = _refusal(text)
    assert all(line in message for line in lines)
    assert message.index(lines[0]) < message.index(lines[1])


def test_a_syntax_error_names_line_and_column():
    message = _refusal("kind: vehicle\nname: a: b\n")
    assert message.startswith("tug.yaml:2: not valid YAML")
    assert "column" in message


# Writing


@pytest.mark.parametrize("name", sorted(good_documents()))
def test_a_dump_loads_again_and_is_equal(name: str):
    spec = load_text(good_documents()[name])
    text = dump(spec)
    again = load_text(text)
    assert _same(again, spec)
    assert dump(again) == text
    assert _same(load_text(dump(spec, usual_units=True)), spec)


numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
sizes = st.floats(min_value=1e-300, max_value=1e300)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.text(
    "ab  :#-\n", min_size=100, max_size=300
)
tricky = st.sampled_from(
    [
        *("", "1", "1e3", "0x1F", "0o7", ".5", "+.5", "1.", ".inf", "~", "null", "true", "yes"),
        *("a: b", "a #b", "#", "'", '"', "---", "...", "2026-11-15", "=", "<<", " x ", "- a"),
        *("a\nb\n", "\ufeff", "\x85", "\u2028", "\t", "\x00", "\x7f"),
    ]
)


@given(
    description=words | tricky,
    source=words | tricky,
    length=sizes,
    gravity=st.tuples(numbers, numbers, numbers),
    coefficients=st.dictionaries(st.text("XYZKMNuvwpqrd_", min_size=1, max_size=12), numbers),
)
def test_any_description_survives_writing_and_loading(
    description: str,
    source: str,
    length: float,
    gravity: tuple[float, float, float],
    coefficients: dict[str, float],
):
    data, _ = read_text(VEHICLE, "tug.yaml")
    data |= {"description": description, "source": source, "length": length}
    data["inertia"]["centre_of_gravity"] = list(gravity)
    data["hydrodynamics"]["coefficients"] = coefficients
    spec = Vehicle.model_validate(data)
    assert _same(load_text(dump(spec)), spec)
    assert _same(load_text(dump(spec, usual_units=True)), spec)


@given(heading=st.floats(-math.tau, math.tau), speed=st.floats(-30.0, 30.0))
def test_any_angle_and_speed_survives_being_written_in_usual_units(heading, speed):
    start = Start(heading=heading, speed=speed)
    text = dump(start, usual_units=True)
    assert Start(**read_text(text, "start.yaml")[0]) == start


def test_angles_are_shown_in_degrees_and_endless_numbers_in_the_unit_they_were_written_in():
    world = dump(load("sea-state-4"), usual_units=True)
    assert "  towards_deg: " in world
    assert "towards: " not in world
    assert "  speed_kn: 17.5\n" in world
    assert "  peak_period: 13.0\n" in world, "what is short in SI stays so"
    assert "speed_limits_rpm: [-971.5, 992.5]\n" in dump(load("otter"), usual_units=True)


def test_a_dump_is_readable():
    text = dump(load_text(VEHICLE))
    assert text.startswith("kind: vehicle\nname: tug\n")
    assert "  centre_of_gravity: [0.2, 0.0, -0.2]\n" in text
    assert "stable: true\n" in text, "defaults are written out"


def test_the_direct_filter_does_without_dynamics_also_when_it_is_written_out_and_read_again():
    """Every default is written out; one that this filter cannot use would be refused."""
    text = SCENARIO + "    navigation: {filter: direct}\n"
    described = load_text(text, Scenario)
    assert described.vehicles[-1].navigation.dynamics is None
    assert load_text(dump(described), Scenario) == described


# ── Kept ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """An empty cache, and a scenario that names a world of its own."""
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    world = tmp_path / "pond.yaml"
    world.write_text("kind: world\nname: pond\ncurrent: {speed: 0.1, towards: 0.0}\n")
    scenario = tmp_path / "trial.yaml"
    scenario.write_text(
        "kind: scenario\nname: trial\nduration: 10\nworld: pond.yaml\n"
        "vehicles: [{name: boat, vehicle: otter}]\n"
    )
    return scenario, world


def read_anew(monkeypatch):
    """How often a YAML file is parsed from here on."""
    files = []
    usual = loading.read_file
    monkeypatch.setattr(loading, "read_file", lambda path: files.append(path.name) or usual(path))
    return files


def test_a_description_is_read_once(kept, monkeypatch):
    scenario, _ = kept
    first = loading.load(scenario)
    files = read_anew(monkeypatch)
    again = loading.load(scenario)
    assert files == []
    assert again == first
    assert again._source == first._source
    assert again.problem(("duration",), "is wrong").line == 3
    assert again.world.problem(("current", "speed"), "is wrong").file.endswith("pond.yaml")


@pytest.mark.parametrize("changed", ["trial.yaml", "pond.yaml"])
def test_a_change_of_any_file_is_seen(kept, monkeypatch, changed):
    scenario, world = kept
    loading.load(scenario)
    scenario.write_text(scenario.read_text().replace("duration: 10", "duration: 20"))
    world.write_text(world.read_text().replace("0.1", "0.2"))
    found = loading.load(scenario)
    assert (found.duration, found.world.current.speed) == (20.0, 0.2)
    (scenario if changed == scenario.name else world).write_text("kind: nonsense\n")
    with pytest.raises(SpecError, match="unknown kind"):
        loading.load(scenario)


def test_a_file_that_has_gone_is_missed(kept):
    scenario, world = kept
    loading.load(scenario)
    world.unlink()
    with pytest.raises(SpecError, match="no such file"):
        loading.load(scenario)


def test_another_folder_is_another_description(kept, monkeypatch, tmp_path):
    scenario, world = kept
    loading.load("trial.yaml")
    other = tmp_path / "elsewhere"
    other.mkdir()
    monkeypatch.chdir(other)
    (other / "trial.yaml").write_text(scenario.read_text().replace("10", "30"))
    (other / "pond.yaml").write_text(world.read_text())
    assert loading.load("trial.yaml").duration == 30.0


def test_a_damaged_entry_is_not_believed(kept, tmp_path):
    scenario, _ = kept
    first = loading.load(scenario)
    for entry in (tmp_path / "cache").glob("description-*"):
        content = bytearray(entry.read_bytes())
        content[len(content) // 2] ^= 1
        entry.write_bytes(content)
    assert loading.load(scenario) == first
