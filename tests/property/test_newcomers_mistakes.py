"""Mistakes of somebody who has read the first page: each is told with its line and a way out.

The files are those of `docs/first-hour.md`, and a world; every row changes one thing in one of
them, and names words of the message that it must lead to.
"""

import warnings
from pathlib import Path

import pytest

from seatrial.compile.checking import check_description
from seatrial.errors import SpecError, SpecWarning
from test_docs import DOCS, blocks_of

FILES = {
    block.note.removeprefix("file: "): block.text
    for block in blocks_of(DOCS / "first-hour.md")
    if block.note.startswith("file: ")
}
FILES["bay.yaml"] = """kind: world
name: bay
waves: {spectrum: jonswap, significant_height: 0.5, peak_period: 4.0, towards_deg: 90}
current: {speed: 0.3, towards_deg: 45}
wind: {speed: 6.0, towards_deg: 0}
seabed: {depth: 20}
"""
WAVES = FILES["bay.yaml"].splitlines()[2]
POINTS = "waypoints: [[25, 0], [25, 15], [0, 15]]"

REFUSED = {
    "plover.yaml": [
        ("mass: 40.0", "mass: 40 kg", "write `mass: 40`: it is in kg already"),
        ("mass: 40.0", "mass: 40000", "39.02 m³ of water weigh as much"),
        ("mass: 40.0", "mass: .nan", "inertia.mass: not a finite number"),
        ("mass: 40.0", "weight: 40", "did you mean `mass`?"),
        ("length: 1.6\n", "length: 160 cm\n", "write `length_cm: 160`"),
        ("beam: 0.7", "width: 0.7", "did you mean `beam`?"),
        ("beam: 0.7", "beam: 0,7", "write `0.7`, with a point"),
        ("[0.0, 0.0, -0.05]", "[0.0, 0.0, -0.9]", "would capsize|GM = -0.428 m"),
        ("[0.25, 0.4, 0.4]", "[0.25, 0.4]", "holds 2 entries|3 numbers in m"),
        ("[0.25, 0.4, 0.4]", "[0.01, 0.01, 2.0]", "no body has these moments"),
        ("X_u: -5.0", "X_u: 5.0", "drives the motion|write `X_u: -5`"),
        ("X_ud: -2.0", "X_udot: -2.0", "did you mean `X_ud`?"),
        ("X_u_au: -16.0", "Xuu: -16.0", "did you mean `X_u_au`?"),
        ("hydrodynamics:\n  coefficients:", "hydrodynamics:", "and 12 more|under `coefficients:`"),
        ("[-0.7, -0.25, 0.1]", "[-0.7, -0.25]", "write [-0.7, -0.25, 0]: the third"),
        ("name: right", "name: left", "two command channels are called `left`"),
        ("kind: thruster\n    name: left", "kind: propeller\n    name: left", "`thruster`?"),
        ("errors: lsm6dsr", "errors: lsm6ds3", "did you mean `lsm6dsr`?"),
        ("rate: 50", "rate: 50 Hz", "write `rate: 50`: it is in Hz already"),
        ("type: gnss", "type: gps", "did you mean `gnss`?"),
        ("craft: surface", "craft: boat", "did you mean `surface`?"),
        ("draught: 0.0507", "draught: 0.507", "0.3904 m³ of blocks"),
        ("draught: 0.0507", "draft: 0.0507", "did you mean `draught`?"),
        ("rate: 5,", "frequency: 5,", "did you mean `rate`?"),
        ("actuators:", "thrusters:", "did you mean `actuators`?"),
        ("type: compass", "type: depth", "did you mean `pressure`?"),
        ("mass: 40.0", "mass: 4_0", "write `40`"),
        ("name: plover", "name: Plövér", "write `plover`"),
        ("draught: 0.0507}", "draught: 0.0507, position: [0, 0]}", "did you mean `at`?"),
    ],
    "box.yaml": [
        ("plover.yaml", "plover", "write `plover.yaml` for the file of that name"),
        ("plover.yaml", "box.yaml", "vehicles[0].vehicle: this file describes a scenario"),
        ("plover.yaml", "harbour-current", "`harbour-current` is a world: name a vehicle"),
        ("harbour-current", "plover.yaml", "box.yaml:5: world: this file describes a vehicle"),
        ("duration_min: 2", "duration_minutes: 2", "`duration_min`"),
        ("duration_min: 2", "duration: 1e9", "at most 1e+07"),
        ("duration_min: 2", "duration: 60\ntime_step: 1.0", "try `time_step: 0.1`"),
        ("do: goto", "task: goto", "write `do: goto`"),
        ("do: goto", "do: waypoints", "did you mean `goto`?"),
        (POINTS, "waypoints: [25, 0]", "also a single one: `[[1, 2]]`"),
        (POINTS, "waypoints: [[25; 0]]", "text where a number belongs"),
        ("name: plover", "name: pl over/1", "write `pl_over_1`"),
        ("mission:", "tasks:", "did you mean `mission`?"),
        ("mission:", "faults: ['gnss: dropout @ 20s']\n    mission:", "here write `{target: gnss"),
        ("mission:", "feedback: ground_truth\n    mission:", "did you mean `truth`?"),
        ("mission:", "start: {position: [0, 0]}\n    mission:", "write [0, 0, 0]: the third"),
        ("mission:", "start: [0, 0, 0]\n    mission:", "write `{position: [0, 0, 0]}`"),
        ("  - name: plover\n    vehicle", "  - otter\n  - vehicle", "write `{vehicle: otter}`"),
        ("mission:", "start: {latitude: 63}\n    mission:", "`position: [north, east, down]`"),
        ("mission:", "start: {yaw_deg: 30}\n    mission:", "did you mean `heading_deg`?"),
        ("mission:", "control: {gains: {heading: {Kp: 3}}}\n    mission:", "`proportional`?"),
        (
            "mission:",
            "control: {gains: {headin: {proportional: 3}}}\n    mission:",
            "found:    'headin'|one of `surge`|did you mean `heading`?",
        ),
        ("mission:", "navigation: {filter: EKF}\n    mission:", "did you mean `error_state`?"),
        ("mission:", "guidance: {law: LOS}\n    mission:", "did you mean `line_of_sight`?"),
        ("mission:", "faults: [{target: gnss, kind: outage}]\n    mission:", "`dropout`?"),
        ("mission:", "faults: [{target: gnss, kind: dropout, at: 9}]\n    mission:", "`start`?"),
        ("duration_min: 2", "duration: 00:02:30", "write `150`: it is in s"),
        ("duration_min: 2", "duration: 2:30", "write `150`: it is in s"),
        ("seed: 1", "seed: 99999999999999999999", "a quantity may be written as 1.5e20"),
        ("world: harbour-current", "world: ~/bay.yaml", "`~` is not replaced|whole path"),
        (f"{{do: goto, {POINTS}, speed: 1.2, acceptance: 3}}", "surface", "`{do: surface}`"),
    ],
    "bay.yaml": [
        ("spectrum: jonswap", "spectrum: jonswop", "did you mean `jonswap`?"),
        ("peak_period: 4.0", "peak_period: 0.4", "would break at a peak period of 0.4 s"),
        ("wind: {speed: 6.0, towards_deg: 0}", "wind: {speed: 6, from_deg: 180}", "`towards_deg`"),
        ("significant_height: 0.5", "Hs: 0.5", "did you mean `significant_height`?"),
        ("peak_period: 4.0", "peak_frequency: 0.25", "write `peak_period`, one over it"),
        ("seabed: {depth: 20}", "seabed: {map: .}", "(Is a directory)|--out bottom.nc"),
        ("seabed:", "datum: {lat: 63, lon: 10}\nseabed:", "`latitude_deg`?|`longitude_deg`?"),
        (WAVES, "waves: {sea_state: 4}", "write `spectrum: sea_state`"),
        ("seabed: {depth: 20}", "seabed: {depth: -20}", "above 0"),
    ],
}

DOUBTED = [
    ("length: 1.6\n", "length: 1600\n", "plover.yaml:5: length: the hull under water is 1.4 m"),
    ("[0.0, 0.0, -0.05]", "[0.6, 0.0, -0.05]", "0.6 m beside|a trim of about 11°"),
    ("[0.25, 0.4, 0.4]", "[25, 40, 40]", "in roll, 25 m, reaches out|at most 0.391 m"),
    ("X_ud: -2.0", "X_ud: 2.0", "lighter than its mass|write `X_ud: -2`"),
    ("    K_p: -20.0\n", "", "nothing damps its roll|`K_p`, or `K_p_ap`, below 0"),
    ("    N_r: -12.0\n    N_r_ar: -20.0\n", "", "nothing damps its yaw"),
    ("    N_r: -12.0\n    N_r_ar: -20.0\n", "    N_right: -0.1\n", "nothing damps its yaw"),
    ("X_u_au: -16.0", "X_uu: -16.0", "whichever way it moves|write `X_u_au: -16`"),
    ("[-0.7, -0.25, 0.1]", "[-70, -25, 10]", "`left` sits far outside|at most 3.2 m"),
    ("[-0.3, 0.0, -0.5]", "[-0.3, 0.0, 0.5]", "antenna of `gnss` is 0.5 m under|0.0, -0.5]"),
    ("mass: 40.0", "mass: 30.0", "displace 40.01 kg of water and the vehicle weighs 30 kg|0.75"),
    ("[-0.7, -0.25, 0.1]", "[-0.7, -0.25, -0.1]", "`left` is 0.1 m above the water|-0.25, 0.1]"),
    (
        "gyration: [0.25, 0.4, 0.4]",
        "moments: [0.25, 0.4, 0.4]",
        "in pitch, 0.1 m, is that of a needle|0.16 m",
    ),
    (
        "{model: direct, thrust_limits: [-25.0, 40.0]}\n    time_constant: 0.1\n\n",
        "{model: direct, thrust_limits_kN: [-25.0, 40.0]}\n    time_constant: 0.1\n\n",
        "`right` pushes with 4e+04 N, 102 times the weight|far less than 7.85e+03 N|are in N",
    ),
    (
        "{model: direct, thrust_limits: [-25.0, 40.0]}\n    time_constant: 0.1\n\n",
        "{model: polynomial, ahead: [0, 0, 0.05], speed_limits: [-1000, 1200]}\n\n",
        "`right` pushes with 7.2e+04 N|written `speed_limits_rpm`|those per minute",
    ),
    (
        "{model: direct, thrust_limits: [-25.0, 40.0]}\n    time_constant: 0.1\n\n",
        "{model: polynomial, ahead: [0, 0, -0.05], speed_limits_rpm: [-1000, 1200]}\n\n",
        "`right` pushes astern when it turns ahead|a thrust above 0 at 20 rev/s",
    ),
]

DIVER = """kind: vehicle
name: diver
source: a spheroid
length: 2.0
beam: 0.2
height: 0.2
inertia: {mass: 44.0, centre_of_gravity: [0.0, 0.0, 0.015], gyration: [0.07, 0.48, 0.48]}
buoyancy: {craft: submerged, volume: 0.0431}
hydrodynamics:
  coefficients: {X_ud: -1, Y_vd: -42, Z_wd: -42, K_pd: -0.05, M_qd: -8, N_rd: -8, X_u_au: -6.5}
actuators:
  - kind: fin_set
    name: tail
    arrangement: x
    position: [-0.9, 0, 0]
    radius: 0.15
    angle_limit_deg: 25
    lift: {area: 0.012, aspect_ratio: 2.0}
"""

DOUBTED_DIVERS = [
    ("volume: 0.0431", "volume: 0.431", "displaces 441.8 kg|weighs 44 kg: it shoots up|0.04293"),
    ("volume: 0.0431", "force: 44.0", "sinks like a stone|about 431.5 N|`trim: neutral`"),
    ("X_u_au: -6.5", "X_u_au: -0.065", "so little drag|-1.3 kg/m"),
    ("area: 0.012", "area: 120", "`tail` is larger than the vehicle|at most 1.2"),
    ("radius: 0.15", "radius: 15", "fins of `tail` sit far outside `diver`|at most 4 m"),
]


def changed(folder: Path, name: str, good: str, bad: str) -> Path:
    """The files with one of them spoilt."""
    for other, text in FILES.items():
        (folder / other).write_text(text, encoding="utf-8")
    assert FILES[name].count(good) == 1
    (folder / name).write_text(FILES[name].replace(good, bad), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("name", "good", "bad", "words"),
    [(name, *row) for name, rows in REFUSED.items() for row in rows],
)
def test_a_mistake_is_refused_with_its_line_and_a_way_out(tmp_path, name, good, bad, words):
    with pytest.raises(SpecError) as refused:
        check_description(str(changed(tmp_path, name, good, bad)))
    text = str(refused.value).replace(f"{tmp_path}/", "")
    assert text.startswith(f"{name}:")
    assert all(word in text for word in words.split("|")), text


@pytest.mark.parametrize(("good", "bad", "words"), DOUBTED)
def test_numbers_that_do_not_fit_each_other_are_doubted(tmp_path, good, bad, words):
    path = changed(tmp_path, "plover.yaml", good, bad)
    with pytest.warns(SpecWarning) as doubts:
        check_description(str(path))
    text = "\n".join(str(doubt.message) for doubt in doubts)
    assert all(word in text for word in words.split("|")), text


@pytest.mark.parametrize(("good", "bad", "words"), DOUBTED_DIVERS)
def test_numbers_of_divers_that_do_not_fit_are_doubted(tmp_path, good, bad, words):
    (tmp_path / "diver.yaml").write_text(DIVER)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpecWarning)
        check_description(str(tmp_path / "diver.yaml"))
    (tmp_path / "diver.yaml").write_text(DIVER.replace(good, bad))
    with pytest.warns(SpecWarning) as doubts:
        check_description(str(tmp_path / "diver.yaml"))
    text = "\n".join(str(doubt.message) for doubt in doubts)
    assert all(word in text for word in words.split("|")), text


@pytest.mark.parametrize("name", ["otter", "mariner", "slocum", "wamv_azimuth", "sf30k"])
def test_vehicles_of_the_library_are_not_doubted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpecWarning)
        assert check_description(name) == "vehicle"
