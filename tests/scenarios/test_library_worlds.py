"""The worlds of the library with a bottom or bodies: each is what its description says."""

import jax
import numpy as np
import pytest
from PIL import Image

import seatrial as st
from sampling import sampled
from seatrial.compile.surroundings.world import build_ocean
from seatrial.ocean.seabed import under

WORLDS = ("maze", "harbour", "buoy-channel", "pipeline-field", "rocky-reef", "wreck-site",
          "roadstead", "rolling-seabed", "fjord", "reef", "pile-field")  # fmt: skip
START = {
    "maze": [4, 3, 0],
    "harbour": [-95, 0, 0],
    "reef": [-100, 0, 0],
    "rocky-reef": [-90, -90, 0],
}
"""Of a boat, where the origin is no place to be."""


def scenario(world, seed=1, duration=2.0):
    start = {"position": START.get(world, [0, 0, 0])}
    boat = {"name": "boat", "vehicle": "otter", "sensors": [], "start": start}
    return st.Scenario(name=world, seed=seed, duration=duration, world=world, vehicles=[boat])


@pytest.fixture(scope="module")
def scene():
    built = {}

    def _scene(world, seed=1):
        if (world, seed) not in built:
            built[world, seed] = st.compile_scenario(scenario(world, seed)).scene
        return built[world, seed]

    return _scene


def corners(body, t=0.0):
    place, turned = body.pose(t)
    return body.mesh().moved(place, turned).vertices


def named(scene, start):
    return [b for b in scene.bodies if b.name.startswith(start)]


def depths(world, north, east, seed=1):
    """(N, E) of the whole map, of which a run loads the part around its vehicles."""
    with jax.enable_x64(True):
        ocean = build_ocean(scenario(world).world, seed, np.float64)
    return under(ocean.seabed, *np.meshgrid(north, east, indexing="ij"))


@pytest.mark.parametrize("world", sampled(WORLDS, "maze", "wreck-site"))
def test_each_starts_is_run_and_is_drawn(world, tmp_path):
    run = st.run(scenario(world))
    assert run.summary.vehicles["boat"].status == "completed"
    run.plot(tmp_path / "run.png")
    picture = np.asarray(Image.open(tmp_path / "run.png").convert("L"))
    assert picture.std() > 5.0  # there is something on it


def test_the_maze_has_lanes_of_eight_metres_around_a_way_that_touches_nothing(scene):
    walls = [corners(b) for b in scene("maze").bodies if "wall" in b.name]
    assert max(w[:, 0].max() for w in walls) == pytest.approx(40.15)
    across = sorted(np.mean(w[:, 0]) for w in walls if np.ptp(w[:, 0]) < 1.0)
    np.testing.assert_allclose(np.diff(across), 8.0, atol=0.01)
    assert max(w[:, 2].max() for w in walls) == pytest.approx(4.0)  # down to the bottom


def test_the_harbour_is_closed_but_for_its_entrance_and_its_boats_float_at_their_piers(scene):
    from seatrial.geometry.rays import RayScene

    around = scene("harbour")
    fixed = [b for b in around.bodies if b.name.startswith("mole")]
    angles = np.radians(np.arange(0.5, 360.0, 1.0))
    rays = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1).astype(np.float32)
    hits = RayScene(fixed).cast(np.zeros((360, 3)), rays, 0.0)
    free = np.degrees(np.delete(angles, hits.ray))
    assert np.all(np.abs(free - 180.0) < np.degrees(np.arctan2(12.0, 58.0)))
    assert len(free) > 15
    assert len({b.name.split("/")[0] for b in around.bodies if "pier" in b.name}) == 3
    boats = [b for b in around.bodies if b.kind == "boat"]
    assert len(boats) == 6
    for boat in boats:
        z = corners(boat)[:, 2]
        assert z.min() < 0.0 < z.max() < 6.0  # neither aground nor flying
        assert boat.moves


def test_the_channel_has_seven_pairs_of_buoys_thirty_metres_apart_that_lean_with_the_stream(scene):
    around = scene("buoy-channel")
    for k in range(1, 8):
        (port,), (starboard,) = named(around, f"port {k}"), named(around, f"starboard {k}")
        apart = np.linalg.norm(port.position[:2] - starboard.position[:2])
        assert apart == pytest.approx(30.0, abs=2.5)
        places = np.array([port.pose(t)[0] for t in np.arange(0.0, 60.0, 0.5)])
        away = places.mean(axis=0)[:2] - port.position[:2]
        towards = np.array([np.cos(np.radians(80)), np.sin(np.radians(80))])
        assert away @ towards > 2.0  # of its mooring's three metres
        assert 0.05 < places[:, 2].std() < 0.4  # it rides waves of 0.4 m


def test_the_pipelines_lie_on_the_bottom_or_on_blocks_and_meet_at_the_manifold(scene):
    around = scene("pipeline-field")
    lying = np.concatenate([corners(b) for b in named(around, "export line/pipe")])
    raised = np.concatenate([corners(b) for b in named(around, "flow line/pipe")])
    blocks = np.concatenate([corners(b) for b in named(around, "flow line/support")])
    assert lying[:, 2].max() == pytest.approx(25.0, abs=0.01)
    assert raised[:, 2].max() < 24.5
    assert blocks[:, 2].max() == pytest.approx(25.0, abs=0.01)
    (manifold,) = named(around, "manifold")
    for pipe in (lying, raised):
        assert np.linalg.norm(pipe[:, :2] - manifold.position[:2], axis=1).min() < 4.5
    mines = [b for b in around.bodies if b.name.endswith("/mine")]
    assert len(mines) == 3
    assert all(corners(b)[:, 2].max() < 20.0 for b in mines)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_rocky_reef_rises_to_the_east_and_some_of_its_stacks_break_the_surface(scene, seed):
    around = scene("rocky-reef", seed)
    east = np.array([-100.0, 0.0, 100.0])
    np.testing.assert_allclose(
        depths("rocky-reef", [0.0], east, seed)[0], 9.0 - 0.05 * east, atol=0.01
    )
    tops = [corners(b)[:, 2].min() for b in named(around, "stack")]
    assert len(tops) == 8
    assert min(tops) < 0.0
    assert len(named(around, "stone")) == 40


def test_the_wreck_stands_out_of_the_sand_and_the_pipeline_passes_it(scene):
    around = scene("wreck-site")
    bottom = depths("wreck-site", np.arange(-40.0, 41.0, 2.0), np.arange(-40.0, 41.0, 2.0))
    assert np.median(bottom) == pytest.approx(20.0, abs=0.5)
    assert bottom.min() < 17.0  # the wreck
    assert bottom.max() > 20.3  # and its scour
    pipe = np.concatenate([corners(b) for b in named(around, "pipeline/pipe")])
    assert np.linalg.norm(pipe[:, :2], axis=1).min() > 20.0
    assert len(named(around, "boulder")) == 60


@pytest.mark.parametrize("seed", [1, 2])
def test_the_roadstead_has_its_coast_in_the_east_and_water_under_its_ships(scene, seed):
    around = scene("roadstead", seed)
    along = np.array([np.cos(np.radians(60)), np.sin(np.radians(60))])
    shore = [depths("roadstead", [d * along[0]], [d * along[1]], seed)[0, 0] for d in (0.0, 1000.0)]
    assert shore[0] > 6.0
    assert shore[1] < 0.0
    for name in ("coaster", "trawler"):
        (ship,) = named(around, name)
        draught = corners(ship)[:, 2].max()
        (water,) = depths("roadstead", ship.position[:1], ship.position[1:2], seed)[0]
        assert water > draught > 1.0
    assert len([b for b in around.bodies if "port" in b.name or "starboard" in b.name]) == 4


@pytest.mark.parametrize("seed", [1, 2])
def test_hills_trough_and_reef_have_the_depths_that_they_are_described_with(seed):
    places = np.arange(-180.0, 181.0, 30.0)
    hills = depths("rolling-seabed", places, places, seed)
    assert hills.mean() == pytest.approx(40.0, abs=3.0)
    assert 0.7 < hills.std() < 3.0
    reef = depths("reef", np.arange(-150.0, 100.0, 6.0), np.arange(-100.0, 100.0, 6.0), seed)
    assert depths("reef", [290.0], [0.0], seed)[0, 0] < 0.0  # the beach
    assert np.median(reef) == pytest.approx(14.0, abs=1.0)
    assert reef.min() < 11.0  # heads of rock
    trough = depths("fjord", [0.0], np.arange(-150.0, 151.0, 25.0), seed)
    assert depths("fjord", [0.0], [1200.0], seed)[0, 0] < 0.0  # the shore
    assert trough.max() > 150.0
    assert trough.max() < 245.0


def test_the_pile_field_is_another_with_every_seed_and_leaves_the_start_and_the_goal_free(scene):
    one, other = (
        np.array([b.position[:2] for b in named(scene("pile-field", seed), "pile")])
        for seed in (1, 2)
    )
    assert one.shape == other.shape == (36, 2)
    assert not np.allclose(one, other)
    for places in (one, other):
        assert places[:, 0].min() >= 15.0
        assert places[:, 0].max() <= 85.0


def test_the_otter_is_pushed_against_the_pontoon_and_stays_at_its_fenders():
    """What `otter-docking-contact` promises: its bow at the fenders, one touch that lasts."""
    run = st.run("otter-docking-contact")
    end = run.summary.vehicles["otter"]
    assert end.status == "completed"
    assert any("pontoon" in event.text for event in end.events)
    track = run.dataset.position.sel(vehicle="otter").values
    late = track[-100:]
    assert np.ptp(late[:, 0]) < 0.25  # it stays, as far as the ripple on a soft fender lets it
    # the pontoon's face at −43.5 m, and 0.8 m from the origin to the bow
    assert late[:, 0].mean() == pytest.approx(-43.5 + 0.8, abs=0.15)
