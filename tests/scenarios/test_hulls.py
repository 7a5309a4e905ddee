"""From a mesh to a vessel that floats right, and runs with the models of its hull."""

import base64
import io
import json
import math
import re
import warnings

import numpy as np
import pytest
import trimesh
from rich.console import Console
from scipy.interpolate import CubicSpline
from typer.testing import CliRunner

import craft
import seatrial as st
from seatrial.cli.commands import app
from seatrial.cli.tables import show_table
from seatrial.compile.checking import check_description
from seatrial.compile.vehicles.hull_forces import hull_mesh
from seatrial.compile.vehicles.shapes import recorded_shapes
from seatrial.engine.frames import Scene
from seatrial.errors import SpecError, SpecWarning
from seatrial.geometry.mesh import Mesh, merged
from seatrial.hull.examination import Load, examine
from seatrial.hull.potential import panelling, solver
from seatrial.hull.shape import forms
from seatrial.hull.shape.floating import float_hull
from seatrial.hull.shape.shells import volume
from seatrial.hull.vehicle_file import vehicle_yaml
from seatrial.ros.profiles import profile_of
from seatrial.ros.streams import Streams
from seatrial.spec.vehicle import Vehicle
from seatrial.validation.findings import Nobody
from seatrial.validation.hull_cards import study as hull_cards
from seatrial.validation.studies import run_study
from seatrial.viewer.world import hello_of, vehicle_card

RHO = 1025.0


def write(path, mesh, scale=1.0):
    vertices = scale * mesh.vertices * [1.0, -1.0, -1.0]
    trimesh.Trimesh(vertices, mesh.faces, process=False).export(path)
    return path


TEN = {
    "barge": forms.barge(4.0, 2.0, 0.5, 1.25, 0.5),
    "long_barge": forms.barge(20.0, 3.0, 0.8, 2.0, 1.0),
    "wigley": forms.wigley(4.0, 0.6, 0.25, 0.2, 0.2),
    "full_wigley": forms.wigley(2.0, 0.5, 0.2, 0.2, 0.1, 4.0, 4.0),
    "boat": forms.v_hull(2.4, 0.8, 0.15, 0.3, 0.3, 0.12),
    "flat_boat": forms.v_hull(6.0, 2.4, 0.3, 0.9, 0.05, 0.4),
    "catamaran": forms.catamaran(forms.wigley(2.0, 0.25, 0.134, 0.3, 0.1, 3.0, 1.143), 0.79),
    "pontoons": forms.catamaran(forms.torpedo(4.9, 0.426, 0.9, 0.6, 0.3), 2.06),
    "slender_catamaran": forms.catamaran(forms.wigley(8.0, 0.5, 0.4, 0.4, 0.4), 4.0),
    "box_catamaran": forms.catamaran(forms.barge(3.0, 0.3, 0.2, 0.6, 0.3), 1.4),
}


@pytest.mark.parametrize("name", TEN)
def test_ten_hulls_float_upright_at_a_third_of_what_they_can_carry(name):
    mesh = TEN[name]
    found = float_hull(mesh, volume(mesh) / 3.0, np.array([0.0, 0.0, 0.0]))
    assert found.stable
    assert abs(found.heel) < 1e-6
    assert found.hydrostatics.volume == pytest.approx(volume(mesh) / 3.0, rel=1e-9)


def blocks_in(path):
    return path.read_text(encoding="utf-8").count("shape: box")


def test_the_command_writes_a_vehicle_that_runs(tmp_path, monkeypatch):

    monkeypatch.setattr(solver, "FREQUENCIES", 5)  # a coarse solution: what is written is the same
    monkeypatch.setattr(panelling, "FEWEST", 40)
    monkeypatch.setattr(panelling, "MOST", 80)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "boat.stl", forms.barge(4.0, 2.0, 0.5, 1.25, 9.0), 1000.0)  # 20 triangles
    called = CliRunner().invoke(
        app, ["hull", "boat.stl", "--mass", "4100", "--out", "vessel.yaml", "--json"]
    )
    assert called.exit_code == 0, called.output
    report = json.loads(called.stdout)
    assert report["displacement_m3"] == pytest.approx(4.0, rel=1e-6)
    assert report["draught_m"] == pytest.approx(0.5, rel=1e-4)
    assert report["waterplane_area_m2"] == pytest.approx(8.0, rel=1e-4)
    assert blocks_in(tmp_path / "vessel.yaml") == 1
    assert [area for _, area in report["section_areas_m_m2"]] == pytest.approx([1.0] * 21, rel=1e-3)
    assert "taken to be in mm" in " ".join(report["notes"])
    text = (tmp_path / "vessel.yaml").read_text(encoding="utf-8")
    for line in text.splitlines():  # every number says where it comes from
        if line.startswith(("  mass", "  draught", "  waterplane", "    X_", "    Z_", "    K_")):
            assert any(word in line for word in ("given", "computed", "estimated")), line
    vessel = st.load("vessel.yaml", Vehicle)
    assert volume(hull_mesh(vessel)) == pytest.approx(10.0, rel=1e-4)
    scenario = st.Scenario(
        vehicles=[{"vehicle": "vessel.yaml", "start": {"position": [0, 0, 0.0]}}], duration=5.0
    )
    finished = st.run(scenario)
    assert finished.status == "completed"
    # what goes away with waves is apart, so that `potential` does not count it twice
    assert set(vessel.hydrodynamics.radiation_damping) == {"Z_w", "K_p", "M_q"}
    assert not {"Z_w", "M_q"} & set(vessel.hydrodynamics.coefficients)
    assert (tmp_path / "vessel.png").stat().st_size > 20_000


def test_the_mesh_that_is_read_is_never_written_over(tmp_path, monkeypatch):
    """The mended hull took the place of the user's own, upside down for who read it again."""
    monkeypatch.setattr(solver, "FREQUENCIES", 3)
    monkeypatch.setattr(panelling, "FEWEST", 40)
    monkeypatch.setattr(panelling, "MOST", 80)
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "boat.stl", TEN["barge"])
    given = path.read_bytes()
    called = CliRunner().invoke(app, ["hull", "boat.stl", "--mass", "4100", "--out", "boat.yaml"])
    assert called.exit_code == 0, called.output
    assert path.read_bytes() == given
    written = sorted(p.name for p in tmp_path.iterdir())
    assert written == ["boat.png", "boat.stl", "boat.yaml", "boat_hull.stl"]
    for mesh, out, message in (
        ("boat_hull.stl", "boat.yaml", "would be written over"),
        ("boat.stl", "boat.stl", "written as YAML"),
        ("boat.stl", "nowhere/boat.yaml", "cannot be written"),
    ):
        called = CliRunner().invoke(app, ["hull", mesh, "--mass", "4100", "--out", out])
        assert isinstance(called.exception, SpecError)
        assert message in str(called.exception)


@pytest.mark.parametrize("name", ["boat.yaml", "boat_hull.stl", "boat.png"])
def test_what_is_there_already_is_written_over_only_when_asked_to(tmp_path, monkeypatch, name):
    """Engine and sensors that were written into the vehicle's file were lost without a word."""
    monkeypatch.setattr(solver, "FREQUENCIES", 3)
    monkeypatch.setattr(panelling, "FEWEST", 40)
    monkeypatch.setattr(panelling, "MOST", 80)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "boat.stl", TEN["barge"])
    (tmp_path / name).write_text("mine")
    asked = ["hull", "boat.stl", "--mass", "4100", "--out", "boat.yaml"]
    called = CliRunner().invoke(app, asked)
    assert isinstance(called.exception, SpecError)
    assert f"{name}: exists already" in str(called.exception)
    assert "--overwrite" in str(called.exception)
    assert (tmp_path / name).read_text() == "mine"
    called = CliRunner().invoke(app, [*asked, "--overwrite"])
    assert called.exit_code == 0, called.output
    assert (tmp_path / name).stat().st_size > 1000


def test_a_keel_rolls_about_a_point_of_its_own(tmp_path, monkeypatch):
    """A spar of 4.5 m whose weight and added mass lie far below the waterline: sway follows its
    roll. Alone about the waterline it would take 10.5 s instead of 6.1."""
    monkeypatch.setattr(solver, "FREQUENCIES", 8)
    monkeypatch.setattr(panelling, "FEWEST", 100)
    monkeypatch.setattr(panelling, "MOST", 200)
    spar = trimesh.creation.cylinder(radius=0.3, height=6.0, sections=16)
    spar.export(tmp_path / "spar.stl")
    found = examine(
        tmp_path / "spar.stl", 1280.0, RHO, up="z", forward="x", gravity=(0.0, 0.0, -1.5)
    )
    frequency = found.natural(3)[0]
    added = CubicSpline(found.solution.omega, found.solution.added_mass)(frequency)
    squares = np.linalg.eigvals(np.linalg.solve(found.mass_matrix + added, found.stiffness)).real
    assert np.abs(np.sqrt(np.maximum(squares, 0.0)) / frequency - 1.0).min() < 0.01
    assert 2.0 * math.pi / frequency == pytest.approx(6.1, rel=0.05)
    # and so does the vehicle that is written
    (tmp_path / "spar.yaml").write_text(vehicle_yaml(found, "spar", "spar.stl"))
    vessel = st.load(str(tmp_path / "spar.yaml"), Vehicle)
    model = craft.compiled(vessel)
    inertia = np.array(model.inertia.rigid_body) + np.array(model.inertia.added_mass)
    squares = np.linalg.eigvals(np.linalg.solve(inertia, found.stiffness)).real
    assert np.abs(np.sqrt(np.maximum(squares, 0.0)) / frequency - 1.0).min() < 0.02
    # of the draught of 4.46 m its section drag takes that of its keel, all along
    assert vessel.hydrodynamics.crossflow.draught == pytest.approx(found.draught, rel=1e-3)


def test_a_proa_is_pressed_down_without_heel(tmp_path, monkeypatch):
    """Its float aside is lighter than its hull. With the origin halfway between their outer sides
    its stiffness rolled it when it heaved: in long waves three times as much as its triangles."""
    monkeypatch.setattr(solver, "FREQUENCIES", 3)
    monkeypatch.setattr(panelling, "FEWEST", 40)
    monkeypatch.setattr(panelling, "MOST", 150)
    hull, aside = TEN["wigley"], forms.wigley(2.0, 0.2, 0.1, 0.15, 0.3)
    proa = merged([hull, Mesh(aside.vertices + np.array([0.0, 1.2, 0.0]), aside.faces)])
    found = examine(write(tmp_path / "proa.stl", proa), 180.0, RHO)
    assert found.figures.flotation[1] == pytest.approx(0.0, abs=1e-9)
    trimesh.Trimesh(*found.mesh, process=False).export(tmp_path / "a.stl")
    (tmp_path / "a.yaml").write_text(vehicle_yaml(found, "proa", "a.stl"))
    written = st.load(str(tmp_path / "a.yaml"), Vehicle)
    for hydrostatics in ("linear", "mesh"):
        own = written.hull.model_copy(update={"hydrostatics": hydrostatics})
        model = craft.compiled(written.model_copy(update={"hull": own}))
        push = craft.wrench(model, craft.calm(), craft.state(model, position=(0, 0, 0.01)))
        assert push[2] == pytest.approx(-RHO * craft.G * found.figures.waterplane_area * 0.01, 0.01)
        assert abs(push[3]) < 0.01 * found.beam * abs(push[2])


def test_a_hull_that_is_wider_below_its_waterline_runs_on_its_triangles(tmp_path, monkeypatch):
    """A float that is nearly under water: blocks on its waterplane were deeper than the hull, and
    the file that was written was refused."""
    monkeypatch.setattr(solver, "FREQUENCIES", 5)
    monkeypatch.setattr(panelling, "FEWEST", 100)
    monkeypatch.setattr(panelling, "MOST", 230)
    monkeypatch.chdir(tmp_path)
    mesh = forms.icosphere(0.5, 2)
    write(tmp_path / "float.stl", mesh._replace(vertices=mesh.vertices * [2.0, 1.0, 1.0]))
    mass = 0.96 * RHO * volume(mesh) * 2.0
    asked = ["--mass", str(mass), "--centre-of-gravity", "0,0,-0.1", "--out", "vessel.yaml"]
    called = CliRunner().invoke(app, ["hull", "float.stl", *asked])
    assert called.exit_code == 0, called.output
    vessel = st.load("vessel.yaml", Vehicle)
    (block,) = vessel.buoyancy.blocks
    displaced = block.length * block.beam * block.draught
    assert displaced == pytest.approx(mass / RHO, rel=1e-3)
    assert block.draught <= vessel.buoyancy.draught
    assert vessel.hull.hydrostatics == "mesh"
    finished = st.run(st.Scenario(vehicles=[{"vehicle": "vessel.yaml"}], duration=10.0))
    assert finished.status == "completed"
    assert np.abs(finished.dataset.position.to_numpy()[..., 2]).max() < 0.02  # where it floats


def test_blocks_of_a_hull_that_trims_nearly_under_water_lie_over_its_weight(tmp_path, monkeypatch):
    """At the middle of its small waterplane, far from the weight, they would trim by 78°, and who
    read the file that was written was warned of it."""
    monkeypatch.setattr(solver, "FREQUENCIES", 3)
    monkeypatch.setattr(panelling, "FEWEST", 60)
    monkeypatch.setattr(panelling, "MOST", 150)
    tower = forms.barge(0.6, 0.3, 0.1, 0.9, 0.3)
    boat = merged(
        [
            forms.torpedo(8.0, 1.2, 1.5, 2.0, 0.5),
            Mesh(tower.vertices + np.array([0.5, 0.0, -0.5]), tower.faces),
        ]
    )
    path = write(tmp_path / "drawn.stl", boat)
    found = examine(path, 0.93 * RHO * volume(boat), RHO, gravity=(0.0, 0.0, -0.2))
    assert abs(found.floating.trim) > math.radians(10.0)
    trimesh.Trimesh(*found.mesh, process=False).export(tmp_path / "hull.stl")
    (tmp_path / "boat.yaml").write_text(vehicle_yaml(found, "boat", "hull.stl"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpecWarning)
        check_description(str(tmp_path / "boat.yaml"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mass", "20000"], "too small for its mass"),
        (["--mass", "4100", "--units", "feet"], "unknown word after --units"),
        (["--mass", "4100", "--centre-of-gravity", "0,0"], "no centre of gravity"),
        (["--mass", "4100", "--centre-of-gravity", "0,0,5"], "capsize"),
        (["--mass", "4100", "--up", "x", "--forward", "x"], "same axis"),
        (["--mass", "4100", "--load", "5000,0,0,0"], "weighs more than the vessel"),
        (["--mass", "4100", "--load", "5,0,0"], "no load"),
        (["--mass", "4100", "--load", "-5,0,0,0"], "weighs nothing"),
        (["--mass", "4100", "--load", "5,0,0,0", "--centre-of-gravity", "0,0,0"], "together"),
    ],
)
def test_what_cannot_float_is_refused_in_words(tmp_path, arguments, message):
    path = write(tmp_path / "boat.stl", TEN["barge"])
    called = CliRunner().invoke(app, ["hull", str(path), *arguments])
    assert isinstance(called.exception, SpecError)
    assert message in str(called.exception)


def test_loads_say_where_a_vessel_is_heavy(tmp_path, monkeypatch):
    """A shell of 4,000 kg and two loads of 50 kg at its height, both 0.4 m to port and 0.1 m fore
    and aft: heel by the metacentric height, gyration by Steiner."""
    monkeypatch.setattr(solver, "FREQUENCIES", 3)
    monkeypatch.setattr(panelling, "FEWEST", 40)
    monkeypatch.setattr(panelling, "MOST", 80)
    path = write(tmp_path / "barge.stl", TEN["barge"])
    bare = examine(path, 4100.0, RHO)
    high = -float(bare.gravity[2])  # the file has its origin on the waterline, and z up
    loads = [Load(50.0, (x, 0.4, high)) for x in (-0.1, 0.1)]
    loaded = examine(path, 4100.0, RHO, loads=loads)
    aside = 100.0 / 4100.0 * 0.4
    assert loaded.floating.heel == pytest.approx(-math.atan(aside / bare.heights[0]), rel=0.02)
    assert loaded.gravity[1] == pytest.approx(loaded.figures.buoyancy_centre[1], abs=1e-6)
    blocks = re.search(r"at: \[[^,]+, ([^\]]+)\]", vehicle_yaml(loaded, "barge", "barge.stl"))
    assert float(blocks[1]) == pytest.approx(loaded.gravity[1], abs=1e-4)
    along = 4000.0 / 4100.0 * bare.gyration[2] ** 2 + 100.0 / 4100.0 * 0.1**2
    about = along + 4000.0 * 100.0 / 4100.0**2 * 0.4**2  # Steiner, of shell and loads
    assert about < 0.99 * bare.gyration[2] ** 2
    assert loaded.gyration[2] == pytest.approx(math.sqrt(about), rel=2e-3)


def test_a_round_hull_is_told_to_have_nothing_that_rights_it(tmp_path, monkeypatch):
    monkeypatch.setattr(solver, "FREQUENCIES", 3)
    monkeypatch.setattr(panelling, "FEWEST", 40)
    monkeypatch.setattr(panelling, "MOST", 80)
    path = write(tmp_path / "log.stl", forms.torpedo(1.6, 0.19, 0.2, 0.3, 0.1))
    # The few corners of its sections alone right it, by a millimetre.
    told = [examine(path, 20.0, RHO, gravity=(0.0, 0.0, z)).notes for z in (0.0, -0.02)]
    assert ["nothing rights it" in " ".join(notes) for notes in told] == [True, False]


def vessel(**hull):
    plain = st.load("wamv", Vehicle)
    return plain.model_copy(update={"hull": plain.hull.model_copy(update=hull)})


def test_a_catamaran_rides_a_sea_on_its_triangles():
    """Sea state 3: it stays afloat, moves with the waves and makes way under its engines."""
    described = vessel(hydrostatics="mesh", hydrodynamics="surface", panel=0.5)
    scenario = st.Scenario(
        world={"name": "sea", "waves": {"spectrum": "sea_state", "code": 3, "towards_deg": 120}},
        vehicles=[{"vehicle": described, "commands": {"left": 150, "right": 150}}],
        duration=20.0,
    )
    finished = st.run(scenario)
    assert finished.status == "completed"
    frames = finished.dataset
    heave = frames["position"].values.reshape(-1, 3)[:, 2]
    assert 0.05 < np.std(heave[len(heave) // 4 :]) < 0.5
    assert np.linalg.norm(frames["position"].values.reshape(-1, 3)[-1, :2]) > 5.0


def test_library_hulls_carry_their_vehicles():
    for name in ("otter", "wamv", "sookshma"):
        described = st.load(name, Vehicle)
        mesh = hull_mesh(described)
        displaced = described.inertia.mass / described.hydrodynamics.reference_density
        found = float_hull(mesh, displaced, np.array(described.inertia.centre_of_gravity))
        assert found.stable, name
        draught = mesh.vertices[:, 2].max()
        assert draught == pytest.approx(described.buoyancy.keel_depth, rel=0.15), name


def test_the_buoyancy_study_finds_the_error_of_the_mesh_and_no_jump(tmp_path):
    report = run_study("buoyancy", tmp_path, sample=True)
    decided = [c for c in report.findings.claims if "costs" not in c.statement]  # no timing decides
    assert len(decided) == 8
    assert all(c.holds for c in decided)
    assert (tmp_path / "buoyancy.png").stat().st_size > 20_000


def test_the_page_and_ros_are_given_a_vehicles_own_hull(tmp_path, monkeypatch):
    """Live and from a recording; one of two that share it; a vehicle without a hull has none."""
    monkeypatch.setenv("SEATRIAL_CACHE_DIR", str(tmp_path))
    scenario = st.Scenario(
        vehicles=[
            {"vehicle": "otter", "name": "a", "start": {"position": [0, 0, 0]}},
            {"vehicle": "smarty", "name": "b", "start": {"position": [20, 0, 0]}},
            {"vehicle": "otter", "name": "c", "count": 2, "start": {"position": [40, 0, 0]}},
        ],
        duration=1.0,
    )
    header = st.compile_scenario(scenario).header
    otter = hull_mesh(st.load("otter", Vehicle))
    again = recorded_shapes(header.description)
    assert set(header.hulls) == set(again) == {"a", "c_0", "c_1"}
    for hulls in (header.hulls, again):
        assert np.array_equal(hulls["a"].mesh.vertices, otter.vertices)
        assert hulls["c_0"] is hulls["c_1"]
    cards = [vehicle_card(info, [], {}, False) for info in header.vehicles]
    hello = hello_of(header, Scene(), cards, "live", (), (0.0, 1.0))
    by_name = {card.name: card.hull for card in hello.vehicles}
    assert by_name["b"] is None
    assert by_name["c_0"] == by_name["c_1"]
    drawn = hello.hulls[by_name["a"]]
    assert drawn.form == "wigley"
    vertices = np.frombuffer(base64.b64decode(drawn.vertices), "<f4").reshape(-1, 3)
    assert vertices == pytest.approx(otter.vertices, abs=1e-6)

    said = dict(Streams(header, profile_of("seatrial")).latched)
    assert b"<box" in said["/b/robot_description"]
    file = re.search(rb'<mesh filename="file://([^"]+)"/>', said["/a/robot_description"])[1]
    read = trimesh.load(file.decode())
    assert read.is_watertight
    assert read.volume == pytest.approx(volume(otter), rel=1e-5)
    # forward, left, up: the deck is up
    assert read.bounds[1][2] == pytest.approx(-otter.vertices[:, 2].min(), abs=1e-5)


def test_cards_of_hulls_print_every_sentence_whole_at_80_columns():
    """Sentences were cut off at the edge of the terminal; they fold. Every number has its unit."""
    for name, reasons in hull_cards.WHY.items():
        printed = io.StringIO()
        console = Console(file=printed, width=80)
        show_table(console, f"{name}: why they differ", ["number", "because"],
                   [[key, why] for key, why in reasons.items()])  # fmt: skip
        lines = printed.getvalue().splitlines()
        assert max(map(len, lines)) <= 80
        words = printed.getvalue().split()
        expected = [w for key, why in reasons.items() for w in (*key.split(), *why.split())]
        assert words[-len(expected) :] == expected


def test_a_card_has_units_and_no_left_overs_of_zero(tmp_path):
    pytest.importorskip("capytaine")
    found = hull_cards.hull_cards(tmp_path, sample=True, watch=Nobody())
    rows = {row[0]: row[1:] for row in found.tables[0].rows}
    assert set(rows) >= {"draught / m", "X_ud / kg", "N_rd / kg m²"}
    numbers = [v.split()[0] for row in rows.values() for v in row if v]
    assert all(abs(float(v)) > 1e-6 or v == "0" for v in numbers)
    assert hull_cards._n(7.6e-17) == hull_cards._n(-0.0) == "0"
    # damping by its waves is a share of what stands for all of it
    for key in ("Z_w / kg/s", "K_p / kg m²/s", "M_q / kg m²/s"):
        whole, waves = float(rows[key][0]), float(rows[key][1].split()[0])
        assert whole < waves < 0.0
    # slow added masses of the form beside those that its source solved for
    assert float(rows["Z_wd / kg"][1]) == pytest.approx(float(rows["Z_wd / kg"][0]), rel=0.1)
