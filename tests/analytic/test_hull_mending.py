"""Hulls from files, whole and damaged: a floating vessel, or a message that says what to mend."""

import re
import subprocess
import sys

import numpy as np
import pytest
import trimesh

from seatrial.errors import SpecError
from seatrial.geometry.mesh import Mesh, merged
from seatrial.hull.shape import forms
from seatrial.hull.shape.floating import float_hull
from seatrial.hull.shape.reading import read_hull
from seatrial.hull.shape.shells import volume

DISPLACED = 0.12
"""m³: a third of what the hull of these tests holds."""


def boat():
    return forms.v_hull(2.4, 0.8, 0.15, 0.3, 0.3, 0.12)


def write(path, mesh, scale=1.0):
    """In the axes of a drawing office: x forward, y to port, z up."""
    vertices = scale * mesh.vertices * [1.0, -1.0, -1.0]
    trimesh.Trimesh(vertices, mesh.faces, process=False).export(path)
    return path


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "glb"])
def test_formats_give_the_same_hull(tmp_path, kind):
    mesh = boat()
    if kind == "glb":  # Y up, Z forward
        x, y, z = mesh.vertices.T
        path = tmp_path / "hull.glb"
        trimesh.Trimesh(np.stack([-y, -z, x], 1), mesh.faces, process=False).export(path)
    else:
        path = write(tmp_path / f"hull.{kind}", mesh)
    found = read_hull(path, DISPLACED)
    assert volume(found.mesh) == pytest.approx(volume(mesh), rel=1e-5)
    assert found.mesh.vertices.max(axis=0) == pytest.approx(mesh.vertices.max(axis=0), abs=1e-6)
    assert found.mesh.vertices.min(axis=0) == pytest.approx(mesh.vertices.min(axis=0), abs=1e-6)
    assert found.notes == ()


def test_a_collada_document_says_its_unit_and_its_axes(tmp_path):
    mesh = boat()
    vertices = 1000.0 * mesh.vertices * [1.0, -1.0, -1.0]
    middle = vertices.mean(axis=0)
    numbers = " ".join(f"{v:.9g}" for v in (vertices - middle).ravel())
    indices = " ".join(f"{i} 0" for i in mesh.faces.ravel())
    (tmp_path / "hull.dae").write_text(
        f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="millimetre" meter="0.001"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array count="{vertices.size}">{numbers}</float_array><technique_common>
<accessor source="#p" stride="3" count="{len(vertices)}"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="{len(mesh.faces)}"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="NORMAL" source="#n" offset="1"/><p>{indices}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene><node><translate>{" ".join(map(str, middle))}</translate>
<node><instance_geometry url="#g"/></node></node></visual_scene></library_visual_scenes>
</COLLADA>""",
        encoding="utf-8",
    )
    found = read_hull(tmp_path / "hull.dae", DISPLACED)
    assert volume(found.mesh) == pytest.approx(volume(mesh), rel=1e-6)
    assert found.mesh.vertices.min(axis=0) == pytest.approx(mesh.vertices.min(axis=0), abs=1e-6)


def test_panels_of_wamit_are_mirrored_and_closed_at_the_waterline(tmp_path):
    x, z = np.linspace(0.0, 2.0, 5), np.linspace(0.0, -0.5, 3)
    panels = []
    for i in range(4):
        for j in range(2):  # the side at y = 1
            panels.append([(x[i], 1, z[j]), (x[i], 1, z[j + 1]), (x[i + 1], 1, z[j + 1]),
                           (x[i + 1], 1, z[j])])  # fmt: skip
        panels.append([(x[i], 0, -0.5), (x[i + 1], 0, -0.5), (x[i + 1], 1, -0.5), (x[i], 1, -0.5)])
    for j in range(2):
        panels.append([(2, 0, z[j]), (2, 0, z[j + 1]), (2, 1, z[j + 1]), (2, 1, z[j])])
    text = "a box\n1.0 9.80665 ULEN GRAV\n1 1 ISX ISY\n" + f"{len(panels)}\n"
    text += "\n".join(" ".join(f"{c:.6f}" for p in panel for c in p) for panel in panels)
    inside = "0 0 0 1 0 0 1 1 0 0 1 0"  # the water inside, against irregular frequencies
    for more in ("", inside):
        (tmp_path / "box.gdf").write_text(
            text.replace(f"\n{len(panels)}\n", f"\n{len(panels) + bool(more)}\n") + "\n" + more
        )
        found = read_hull(tmp_path / "box.gdf", 4.0)
        assert volume(found.mesh) == pytest.approx(8.0)
        assert "sides drawn up by 0.5 m" in found.notes[0]
        assert any("closed by a flat deck" in note for note in found.notes)
        # with the mass for which it was drawn it floats where the file says
        afloat = float_hull(found.mesh, 4.0, np.zeros(3))
        assert (afloat.depth, afloat.stable) == (pytest.approx(0.0, abs=1e-9), True)


def holes(mesh):
    keep = np.ones(len(mesh.faces), bool)
    keep[[5, 200, 201, 333]] = False
    return Mesh(mesh.vertices, mesh.faces[keep])


def open_deck(mesh):
    return Mesh(mesh.vertices, mesh.faces[~(mesh.normals[:, 2] < -0.99)])


def bulkhead(mesh):
    middle = np.flatnonzero(np.isclose(mesh.vertices[:, 0], 0.0))
    angle = np.arctan2(*(mesh.vertices[middle, 1:] - [0.0, -0.1]).T)
    ring = middle[np.argsort(angle)]
    n = len(mesh.vertices)
    wall = [(ring[i], ring[(i + 1) % len(ring)], n) for i in range(len(ring))]
    vertices = np.concatenate([mesh.vertices, [[0.0, 0.0, -0.1]]])
    return Mesh(vertices, np.concatenate([mesh.faces, np.array(wall, np.int64)]))


def some_flipped(mesh):
    faces = mesh.faces.copy()
    faces[::3] = faces[::3, ::-1]
    return Mesh(mesh.vertices, faces)


def two_sided(mesh):
    return Mesh(mesh.vertices, np.concatenate([mesh.faces, mesh.faces[:, ::-1]]))


def soup(mesh):
    corners = mesh.vertices[mesh.faces]
    wobble = np.random.default_rng(1).normal(0.0, 1.5e-6, corners.shape)
    return Mesh((corners + wobble).reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def with_debris(mesh):
    """A triangle that was left lying far below the keel."""
    corners = np.array([[20.0, 0.0, 3.0], [20.1, 0.0, 3.0], [20.0, 0.1, 3.0]])
    return merged([mesh, Mesh(corners, np.array([[0, 1, 2]]))])


def with_plate_keel(mesh):
    """A fin drawn without thickness, which no water is displaced by."""
    corners = np.array([[-0.3, 0.0, 0.1], [0.3, 0.0, 0.1], [0.3, 0.0, 0.29], [-0.3, 0.0, 0.29]])
    return merged([mesh, Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))])


def with_fins_on_its_keel(mesh):
    """Two plates that share edges with the shell and end in the water below it."""
    keel = np.flatnonzero(np.isclose(mesh.vertices[:, 1], 0.0) & (mesh.vertices[:, 2] > 0.0))
    keel = keel[np.argsort(mesh.vertices[keel, 0])]
    vertices, faces = mesh.vertices, mesh.faces
    for a, b in ((keel[2], keel[3]), (keel[-4], keel[-3])):
        n = len(vertices)
        vertices = np.concatenate([vertices, vertices[[a, b]] + [0.0, 0.0, 0.1]])
        faces = np.concatenate([faces, np.array([[a, b, n], [b, n + 1, n]])])
    return Mesh(vertices, faces)


def with_deckhouse(mesh):
    house = forms.barge(0.6, 0.4, 0.1, 0.5, 0.2)
    return merged([mesh, Mesh(house.vertices - [0.2, 0.0, 0.15], house.faces)])


DAMAGED = {
    "holes": (holes, "small hole", 2e-3),
    "inside out": (lambda m: Mesh(m.vertices, m.faces[:, ::-1]), "face outwards", 1e-6),
    "some flipped": (some_flipped, "face outwards", 1e-6),
    "copies": (two_sided, "copies", 1e-6),
    "soup": (soup, "", 1e-5),
    "debris": (with_debris, "enclose nothing", 1e-6),
    "sheet": (with_plate_keel, "flat sheets", 1e-6),
    "fins": (with_fins_on_its_keel, "4 triangles dropped of sheets with a free edge", 1e-6),
    "non-manifold": (bulkhead, "walls inside", 1e-6),
    "open deck": (open_deck, "flat deck", 1e-5),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damage_is_mended_and_told(tmp_path, damage):
    harm, told, tolerance = DAMAGED[damage]
    mesh = boat()
    found = read_hull(write(tmp_path / "hull.ply", harm(mesh)), DISPLACED)
    assert volume(found.mesh) == pytest.approx(volume(mesh), rel=tolerance)
    assert np.ptp(found.mesh.vertices, axis=0) == pytest.approx(np.ptp(mesh.vertices, axis=0), 1e-3)
    assert told in " ".join(found.notes)
    floating = float_hull(found.mesh, DISPLACED, np.array([-0.1, 0.0, -0.1]))
    assert floating.stable


@pytest.mark.parametrize(
    ("unit", "scale"), [("mm", 1000.0), ("cm", 100.0), ("in", 1 / 0.0254), ("ft", 1 / 0.3048)]
)
def test_units_are_guessed_from_the_mass_or_obeyed(tmp_path, unit, scale):
    path = write(tmp_path / "hull.stl", boat(), scale)
    for found in (read_hull(path, DISPLACED), read_hull(path, DISPLACED, units=unit)):
        assert volume(found.mesh) == pytest.approx(volume(boat()), rel=1e-4)
    assert f"taken to be in {unit}" in " ".join(read_hull(path, DISPLACED).notes)


def test_a_deckhouse_that_cuts_the_hull_displaces_no_water_twice(tmp_path):

    mesh = boat()
    found = read_hull(write(tmp_path / "hull.ply", with_deckhouse(mesh)), DISPLACED)
    house = forms.barge(0.6, 0.4, 0.1, 0.5, 0.2)
    assert volume(found.mesh) < volume(mesh) + volume(house) - 0.01
    assert "united" in " ".join(found.notes)


def test_a_mesh_of_many_triangles_is_simplified(tmp_path):

    ball = forms.icosphere(1.0, 7)  # 327,680 triangles
    path = tmp_path / "fine.stl"
    vertices = ball.vertices * [2.0, 1.0, 0.5]
    trimesh.Trimesh(vertices, ball.faces, process=False).export(path)
    found = read_hull(path, 1.0)
    assert len(found.mesh.faces) <= 20_000
    assert volume(found.mesh) == pytest.approx(volume(ball), rel=3e-3)


def test_a_hull_drawn_along_y_is_turned(tmp_path):
    mesh = boat()
    vertices = mesh.vertices[:, [1, 0, 2]] * [1.0, 1.0, -1.0]
    path = tmp_path / "hull.stl"
    trimesh.Trimesh(vertices, mesh.faces[:, ::-1], process=False).export(path)
    found = read_hull(path, DISPLACED)
    assert np.ptp(found.mesh.vertices, axis=0) == pytest.approx(np.ptp(mesh.vertices, axis=0),
                                                                rel=1e-5)  # fmt: skip
    assert "longest level axis" in " ".join(found.notes)


def half(mesh):
    return Mesh(mesh.vertices, mesh.faces[mesh.vertices[mesh.faces][:, :, 1].mean(axis=1) > 0.0])


def soup_apart(mesh):
    """Triangles that meet nowhere: each shrunk by a tenth."""
    corners = mesh.vertices[mesh.faces]
    apart = corners.mean(axis=1, keepdims=True) + 0.9 * (corners - corners.mean(axis=1)[:, None])
    return Mesh(apart.reshape(-1, 3), np.arange(3 * len(apart)).reshape(-1, 3))


def swarm_of_pieces():
    """A thousand bolts."""
    bolt = forms.icosphere(0.01, 0)
    return [Mesh(bolt.vertices + np.array([0.05 * i, 2.0, 0.0]), bolt.faces) for i in range(1000)]


def sheet(mesh):
    return Mesh(mesh.vertices * [1.0, 1.0, 0.0], mesh.faces)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (half, "mirror it at that plane"),
        (sheet, "encloses no volume"),
        (lambda m: soup_apart(m), "flat sheets that share no corners"),
        (lambda m: merged([m, *swarm_of_pieces()]), "1001 that hang together nowhere"),
    ],
)
def test_what_cannot_be_mended_is_refused_with_what_to_mend(tmp_path, harm, message):
    with pytest.raises(SpecError, match=message) as refusal:
        read_hull(write(tmp_path / "hull.ply", harm(boat())), DISPLACED)
    assert refusal.value.problems[0].mend


def test_an_opening_is_told_where_the_file_has_it(tmp_path):
    """To port, y > 0 in the file, of millimetres: body axes have it at y < 0."""
    mesh = boat()
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    harmed = Mesh(mesh.vertices, mesh.faces[~((middle[:, 1] < 0.0) & (middle[:, 0] > -0.4))])
    with pytest.raises(SpecError) as refusal:
        read_hull(write(tmp_path / "hull.ply", harmed, 1000.0), DISPLACED)
    place = re.search(r"about \[(.+), (.+), (.+)\]", refusal.value.problems[0].value)
    assert 100.0 < float(place[1]) < 1000.0
    assert 100.0 < float(place[2]) < 400.0


def test_boxes_that_touch_along_an_edge_are_all_kept(tmp_path):
    """The smaller one was dropped as a wall inside the hull."""
    one, other = trimesh.creation.box([3.0, 1.0, 1.0]), trimesh.creation.box([3.0, 0.5, 0.5])
    other.apply_translation([0.0, 0.75, 0.75])
    path = tmp_path / "hull.ply"
    trimesh.util.concatenate([one, other]).export(path)
    found = read_hull(path, 1.0)
    assert volume(found.mesh) == pytest.approx(3.0 + 0.75, rel=1e-6)
    assert found.notes == ()


def test_a_mesh_of_millions_of_triangles_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "fine.stl"
    with path.open("wb") as file:
        file.write(b" " * 80 + (5_000_000).to_bytes(4, "little"))
        file.truncate(84 + 50 * 5_000_000)  # of nothing: a file with a hole
    monkeypatch.setattr("seatrial.hull.shape.reading.load_mesh", None)
    with pytest.raises(SpecError, match="too fine") as refusal:
        read_hull(path, DISPLACED)
    assert refusal.value.problems[0].value == "5,000,000 triangles"
    assert "decimate it" in refusal.value.problems[0].mend
    monkeypatch.undo()
    monkeypatch.setattr("seatrial.hull.shape.reading.MOST", 100)
    with pytest.raises(SpecError, match="too fine"):
        read_hull(write(tmp_path / "hull.obj", boat()), DISPLACED)


def test_files_that_hold_no_hull_are_refused(tmp_path):
    cases = {
        "hull.doc": b"x",
        "hull.stl": b"solid\n",
        "empty.stl": b"",
        "hull.gdf": b"a\n1 9.8\n",
        "hull.dae": b"<COLLADA",
        "nan.obj": b"v nan 0 0\nv 1 0 0\nv 0 1 1\nf 1 2 3\n",
        "symmetry.gdf": b"a\n1 9.8\n7 1\n1\n" + 12 * b"0.5 ",
        "unit.dae": b'<COLLADA><asset><unit meter="nan"/></asset></COLLADA>',
        "buffer.gltf": b'{"asset": {"version": "2.0"}, "buffers": [{"uri": "gone.bin"}]}',
    }
    whole = write(tmp_path / "whole.stl", boat()).read_bytes()
    cases["count.stl"] = whole[:80] + (5000).to_bytes(4, "little") + whole[84:]
    cases["short.stl"] = whole[: len(whole) // 2]
    told = {
        "nan.obj": "1 of 3 corners are not numbers",
        "symmetry.gdf": "ISX and ISY are 7 and 1",
        "unit.dae": "its unit is nan m",
        "buffer.gltf": "gone.bin",
        "count.stl": "says 5000 triangles",
        "short.stl": "triangles, and there is room for",
    }
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SpecError, match=told.get(name)):
            read_hull(tmp_path / name, 1.0)
    with pytest.raises(SpecError, match="No such file"):
        read_hull(tmp_path / "nowhere.stl", 1.0)
    with pytest.raises(SpecError, match="too small for its mass"):
        read_hull(write(tmp_path / "small.stl", boat()), 5.0)


def test_what_a_reader_of_meshes_says_to_itself_is_shown_to_nobody(tmp_path):
    rows = "outer loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    (tmp_path / "bad.stl").write_text(f"solid a\nfacet normal 0 0 oops\n{rows}endsolid a\n")
    program = (
        "import sys; from pathlib import Path; from seatrial.geometry.mesh_files import load_mesh\n"
        "print(len(load_mesh(Path(sys.argv[1])).faces))"
    )
    done = subprocess.run(  # in a process of its own: pytest listens to all logs
        [sys.executable, "-c", program, str(tmp_path / "bad.stl")], capture_output=True, text=True
    )
    assert done.stdout == "1\n"
    assert "Traceback" not in done.stderr
