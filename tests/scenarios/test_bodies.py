"""Bodies of a world, from their description to solids with places."""

import dataclasses
import math

import jax
import numpy as np
import pytest
import trimesh

from seatrial.compile.surroundings.scene import bodies_of
from seatrial.compile.surroundings.world import build_ocean
from seatrial.engine.scene import Scene, read_scene, write_scene
from seatrial.errors import SpecError
from seatrial.geometry import shapes
from seatrial.geometry.solids import build_solids
from seatrial.ocean import waves
from seatrial.spec.scenario import Scenario

SEA = {"spectrum": "jonswap", "significant_height": 0.6, "peak_period": 4.0, "towards_deg": 30}


def scenario(*bodies, obstacles=(), **world):
    return Scenario(
        world={"name": "w", "seabed": {"depth": 12.0}, "bodies": list(bodies), **world},
        vehicles=[{"vehicle": "otter"}],
        obstacles=list(obstacles),
    )


def made(*bodies, seed=0, **world):
    return {b.name: b for b in bodies_of(scenario(*bodies, **world), seed)}


def corners(body, t=0.0):
    place, rotation = body.pose(t)
    return body.mesh().moved(place, rotation).vertices


def test_plain_shapes_stand_where_they_are_put():
    found = made(
        {"name": "crate", "box": {"size": [4, 2, 1]}, "position": [10, 5], "heading_deg": 90,
         "on_bottom": True, "material": "wood", "kind": "cargo"},
        {"name": "ball", "sphere": {"radius": 2}, "position": [0, 0, 6]},
    )  # fmt: skip
    crate = found["crate"]
    assert (crate.material, crate.kind) == ("wood", "cargo")
    low, high = corners(crate).min(axis=0), corners(crate).max(axis=0)
    np.testing.assert_allclose([low, high], [[9, 3, 11], [11, 7, 12]], atol=1e-12)
    assert found["ball"].position.tolist() == [0, 0, 6]


def test_a_pier_has_a_deck_and_piles_down_to_the_bottom():
    pier = {"length": 20, "width": 3, "piles": 6, "thickness": 0.5, "pile_diameter": 0.4}
    found = made({"name": "pier", "pier": pier, "position": [0, 0, -1], "heading_deg": 90})
    assert [n for n in found if "pile" in n] == [f"pier/pile {k}" for k in range(1, 7)]
    deck = corners(found["pier/deck"])
    np.testing.assert_allclose(np.ptp(deck, axis=0), [3, 20, 0.5], atol=1e-12)
    assert deck[:, 2].min() == pytest.approx(-1.0)
    piles = np.concatenate([corners(b) for n, b in found.items() if "pile" in n])
    assert piles[:, 2].min() == pytest.approx(-0.5)
    assert piles[:, 2].max() == pytest.approx(12.0)
    assert np.abs(piles[:, 0]).max() <= 1.5
    assert {b.kind for b in found.values()} == {"pier"}


def test_a_pipe_lies_on_the_bottom_along_its_corners_with_flanges_and_supports():
    pipe = {"waypoints": [[0, 0, 0], [30, 0, 0], [30, 40, -1]], "diameter": 0.6,
            "supports": 10, "flanges": 5}  # fmt: skip
    found = made({"name": "oil", "pipe": pipe, "position": [5, 0], "on_bottom": True})
    first, second = corners(found["oil/pipe 1"]), corners(found["oil/pipe 2"])
    assert first[:, 2].max() == pytest.approx(12.0)
    assert [first[:, 0].min(), first[:, 0].max()] == pytest.approx([5, 35])
    assert second[:, 2].min() == pytest.approx(11 - 0.6, abs=1e-2)  # its top, a metre up at its end
    assert [second[:, 1].min(), second[:, 1].max()] == pytest.approx([0, 40], abs=0.02)
    assert "oil/bend 1" in found
    assert len([n for n in found if "flange 1." in n]) == 6
    supports = [b for n, b in found.items() if "support" in n]
    assert not any("support 1." in n for n in found)  # it lies on the bottom there
    assert len(supports) == 4
    assert all(corners(b)[:, 2].max() == pytest.approx(12.0) for b in supports)


def test_a_pipe_turns_in_bends_and_its_flanges_are_bolted():
    """Stretches end where a bend of 2 m begins, which is closed, as thick as the pipe and turns by
    the angle between them; bolts go through each flange. Bends that do not fit are refused."""
    pipe = {"waypoints": [[0, 0, 0], [10, 0, 0], [10, 10, 0]], "diameter": 0.5, "flanges": 6,
            "bolts": 8, "bend": 2.0}  # fmt: skip
    found = made({"name": "gas", "pipe": pipe, "position": [0, 0, 5]})
    first, bend = corners(found["gas/pipe 1"]), found["gas/bend 1"]
    assert first[:, 0].max() == pytest.approx(8.0)
    surface = trimesh.Trimesh(bend.mesh().vertices, bend.mesh().faces)
    assert surface.is_watertight
    # Pappus: the area of the section times the way of its middle.
    assert surface.volume == pytest.approx(math.pi * 0.25**2 * 2.0 * math.pi / 2, rel=0.02)
    places = corners(bend)
    assert places.max(axis=0) == pytest.approx([10.25, 2.0, 5.25], abs=0.01)
    assert places.min(axis=0) == pytest.approx([8.0, -0.25, 4.75], abs=0.01)
    bolts = [b for n, b in found.items() if "bolt" in n]
    assert len(bolts) == 8 * len([n for n in found if "flange" in n and "bolt" not in n]) == 16
    off = np.linalg.norm(bolts[0].position[1:] - [0.0, 5.0])
    assert off == pytest.approx(0.25 * 1.25)
    with pytest.raises(SpecError, match=r"(?s)bends take 12 m.*smaller `bend`"):
        made({"name": "gas", "pipe": pipe | {"bend": 12.0}, "position": [0, 0, 5]})


def test_a_wall_follows_its_points_and_a_mine_hangs_over_its_anchor():
    found = made(
        {"name": "mole", "wall": {"points": [[0, 0], [10, 0], [10, 5]], "height": 4,
                                  "thickness": 0.5}, "position": [100, 0, 0]},
        {"name": "mine", "mine": {"diameter": 1, "tether": 5}, "position": [3, 4],
         "on_bottom": True},
    )  # fmt: skip
    walls = np.concatenate([corners(found["mole/1"]), corners(found["mole/2"])])
    np.testing.assert_allclose(walls.min(axis=0), [100.0, -0.25, -2.0], atol=1e-12)
    np.testing.assert_allclose(walls.max(axis=0), [110.25, 5.0, 2.0], atol=1e-12)
    assert found["mine/mine"].position == pytest.approx([3, 4, 12 - 5 - 0.5])
    tether = corners(found["mine/tether"])
    assert [tether[:, 2].min(), tether[:, 2].max()] == pytest.approx([7, 12])


def test_walls_end_at_their_points_and_are_closed_at_their_corners():
    """A gap between two moles is as wide as the points say, and no ray passes a corner."""

    def wall(name, points, **more):
        return {"name": name, "wall": {"points": points, "height": 4, "thickness": 3}, **more}

    found = made(
        wall("north", [[12, 0], [40, 0]]), wall("south", [[-12, 0], [-40, 0]]),
        wall("bent", [[0, 0], [9, 0], [20, 11], [20, 30]], position=[200, 0, 0]),
        wall("round", [[0, 0], [20, 0], [20, 20], [0, 20], [0, 0]], position=[400, 0, 0]),
    )  # fmt: skip
    gap = corners(found["north"])[:, 0].min() - corners(found["south"])[:, 0].max()
    assert gap == pytest.approx(24.0, abs=1e-12)
    assert np.ptp(corners(found["north"])[:, 0]) == pytest.approx(28.0, abs=1e-12)
    bent = [corners(found[f"bent/{k}"]) for k in (1, 2, 3)]
    assert bent[0][:, 0].min() == pytest.approx(200.0, abs=1e-12)
    assert bent[2][:, 1].max() == pytest.approx(30.0, abs=1e-12)
    ring = np.concatenate([corners(found[f"round/{k}"]) for k in (1, 2, 3, 4)])
    np.testing.assert_allclose(ring.min(axis=0)[:2], [398.5, -1.5], atol=1e-12)
    np.testing.assert_allclose(ring.max(axis=0)[:2], [421.5, 21.5], atol=1e-12)
    for k, corner in enumerate(([400, 0], [420, 0], [420, 20], [400, 20])):
        out = np.array(corner) + 1.4 * np.sign(np.array(corner) - [410, 10])
        inside = [within(found[f"round/{j + 1}"], out) for j in (k, (k - 1) % 4)]
        assert any(inside), corner


def within(body, place):
    """Whether an upright box holds a place seen from above."""
    spot, rotation = body.pose(0.0)
    local = rotation.T @ (np.append(place, spot[2]) - spot)
    return bool((np.abs(local[:2]) <= 0.5 * np.array([body.length, body.beam])).all())


def test_scattered_bodies_come_from_the_seed_and_lie_in_their_area():
    area = [[0, 0], [40, 0], [60, 30], [0, 30]]
    rocks = {"name": "rock", "rock": {"size": 2}, "on_bottom": True,
             "scatter": {"count": 400, "area": area}}  # fmt: skip
    one, same, other = (bodies_of(scenario(rocks), seed) for seed in (3, 3, 4))
    places = np.array([b.position for b in one])
    assert np.array_equal(places, [b.position for b in same])
    assert np.array_equal(one[0].vertices, same[0].vertices)
    assert not np.array_equal(places, [b.position for b in other])
    assert not np.array_equal(one[0].vertices, other[0].vertices)
    assert len({id(b.vertices) for b in one}) == 6
    assert (places[:, 1] >= 0).all()
    assert (places[:, 0] <= 40 + 20 * places[:, 1] / 30 + 1e-9).all()
    # evenly: the part with east below 15 m holds its share of the area, (40 + 50) / (40 + 60) / 2
    share, expected = (places[:, 1] < 15).mean(), 0.5 * 15 * (40 + 50) / (0.5 * 30 * (40 + 60))
    assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / 400)
    # two thirds of a rock stand out of the bottom
    low, high = (f(corners(one[0])[:, 2]) for f in (np.min, np.max))
    assert low < 12 < high


def test_a_moored_buoy_rides_the_surface_that_the_boats_feel_and_keeps_its_circle():
    buoy = {"name": "mark", "buoy": {"diameter": 1, "height": 2}, "position": [30, -12],
            "afloat": {"mooring": 0.25}}  # fmt: skip
    described = scenario(buoy, waves=SEA, current={"speed": 0.05, "towards_deg": 90})
    (mark,) = bodies_of(described, 7)
    with jax.enable_x64(True):
        solids = jax.device_put(build_solids([mark]))
    with jax.enable_x64(True):
        ocean = build_ocean(described.world, 7, np.float64)
        for t in (0.0, 3.3, 600.0):
            up = float(waves.elevation(ocean.waves, 30.0, -12.0, t))
            place, _ = mark.pose(t)
            # two fifths of it in the air: its middle lies 0.2 m below the surface
            assert place[2] == pytest.approx(0.2 - up, abs=1e-9)
            assert math.hypot(place[0] - 30, place[1] + 12) <= 0.25 + 1e-12
            now = shapes.placed(solids, t)
            np.testing.assert_allclose(np.asarray(now.position)[:, 0], place, atol=1e-9)
            ahead, behind = mark.pose(t + 1e-4)[0], mark.pose(t - 1e-4)[0]
            rate = (ahead - behind) / 2e-4
            np.testing.assert_allclose(np.asarray(now.velocity)[:, 0], rate, atol=1e-3)
    calm = bodies_of(scenario(buoy, current={"speed": 0.05, "towards_deg": 90}), 7)[0]
    np.testing.assert_allclose(calm.pose(0.0)[0], [30, -12 + 0.125, 0.2], atol=1e-12)


def test_obstacles_join_the_list_behind_the_bodies_and_stand_on_the_bottom():
    found = bodies_of(
        scenario(
            {"name": "ball", "sphere": {"radius": 1}, "position": [0, 0, 4]},
            obstacles=[
                {"circle": {"centre": [50, 0], "radius": 3}},
                {"polygon": {"corners": [[0, 20], [10, 20], [10, 30]]}},
                {"vessel": {"position": [9, 9], "course_deg": 90, "length": 8, "beam": 3}},
            ],
        ),
        0,
    )
    assert [b.shape for b in found] == ["sphere", "circle", "polygon", "vessel"]
    for standing in found[1:3]:
        z = corners(standing)[:, 2]
        assert [z.min(), z.max()] == pytest.approx([-2, 12])
    np.testing.assert_allclose(corners(found[2])[:, :2].max(axis=0), [10, 30])
    np.testing.assert_allclose(np.ptp(corners(found[3]), axis=0), [3, 8, 3], atol=1e-12)


def test_the_scene_of_a_recording_carries_every_body_to_the_last_bit():
    bodies = bodies_of(
        scenario(
            {"name": "rock", "rock": {"size": 2}, "position": [5, 5], "on_bottom": True},
            {"name": "mark", "buoy": {"diameter": 1, "height": 2}, "afloat": {"mooring": 2},
             "fender": {"stiffness": 1e4}},
            {"name": "drifter", "sphere": {"radius": 1}, "path": [{"time": 9, "position": [1, 2]}]},
            waves=SEA,
        ),
        1,
    )  # fmt: skip
    back = read_scene(write_scene(Scene(bodies=bodies))).bodies
    for one, other in zip(bodies, back, strict=True):
        for t in (0.0, 4.5):
            assert np.array_equal(corners(one, t), corners(other, t))
        assert one.fender == other.fender
        kept = [f.name for f in dataclasses.fields(one) if isinstance(getattr(one, f.name), str)]
        assert all(getattr(one, name) == getattr(other, name) for name in kept)


def test_meshes_come_from_files_and_bad_ones_are_refused(tmp_path):
    import trimesh

    block = trimesh.creation.box((2000.0, 1000.0, 500.0))
    block.export(tmp_path / "block.stl")
    wreck = {"name": "wreck", "mesh": {"file": str(tmp_path / "block.stl"), "scale": 0.001},
             "position": [0, 0], "on_bottom": True}  # fmt: skip
    (found,) = bodies_of(scenario(wreck), 0)
    np.testing.assert_allclose(np.ptp(corners(found), axis=0), [2, 1, 0.5], atol=1e-9)
    assert corners(found)[:, 2].max() == pytest.approx(12.0)
    (tmp_path / "text.stl").write_text("no mesh at all")
    block.faces = block.faces[:-1]
    block.export(tmp_path / "open.stl")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n")
    for name, words in (("none.ply", "there is no file"), ("text.stl", "text.stl"),
                        ("open.stl", "has holes"), ("flat.obj", "holds no volume")):  # fmt: skip
        bad = {"name": "wreck", "mesh": {"file": str(tmp_path / name)}}
        with pytest.raises(SpecError, match=words):
            bodies_of(scenario(bad), 0)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"box": {"size": [1, 1, 1]}, "sphere": {"radius": 1}}, "give one shape"),
        ({}, "give one shape"),
        ({"box": {"size": [1, 0, 1]}}, "above 0"),
        ({"pier": {"length": 9, "width": 2}, "afloat": {"mooring": 1}}, "several parts"),
        ({"pier": {"length": 9, "width": 2}, "on_bottom": True}, "water's surface"),
        ({"sphere": {"radius": 1}, "position": [0, 0, 3], "on_bottom": True}, "two numbers"),
        ({"sphere": {"radius": 1}, "material": "cheese"}, "material"),
        ({"sphere": {"radius": 1}, "path": [{"time": 5, "position": [0, 0]},
                                            {"time": 5, "position": [1, 0]}]}, "must increase"),
        ({"rock": {"size": 1}, "scatter": {"count": 3, "area": [[0, 0], [1, 1]]}}, "area"),
        ({"rock": {"size": 1}, "scatter": {"count": 3, "area": [[5, 0], [10, 0], [20, 0]]}},
         "`area` must be the corners of a convex polygon"),
        ({"rock": {"size": 1},
          "scatter": {"count": 3, "area": [[0, 0], [10, 10], [10, 0], [0, 10]]}}, "convex"),
    ],
)  # fmt: skip
def test_bodies_that_cannot_be_are_refused(body, words):
    with pytest.raises(SpecError, match=words):
        scenario({"name": "thing"} | body)


def test_bodies_that_do_not_fit_their_world_are_refused():
    ball = {"name": "ball", "sphere": {"radius": 1}}
    with pytest.raises(SpecError, match="two bodies are called `ball`"):
        bodies_of(scenario(ball, ball), 0)
    with pytest.raises(SpecError, match="that has none"):
        bodies_of(scenario(ball | {"on_bottom": True}, seabed=None), 0)
