"""The public names: run, step, read; and what they promise."""

import doctest
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import seatrial as st
from seatrial import signals


def scenario(**changes):
    described = {
        "kind": "scenario",
        "name": "python-use",
        "seed": 5,
        "duration": 6.0,
        "world": st.load("sea-state-4"),
        "vehicles": [
            {"name": "boat", "vehicle": st.load("otter"), "commands": {"left_rpm": 600.0}},
            {
                "name": "auv",
                "vehicle": st.load("remus100_mss"),
                "start": {"position": [5.0, 5.0, 3.0], "heading_deg": 40.0, "speed": 1.5},
                "commands": {
                    "propeller_rpm": [[0.0, 1200.0], [3.0, 600.0]],
                    "stern_plane_deg": -2.0,
                },
            },
        ],
    }
    return st.Scenario.model_validate(described | changes)


@pytest.fixture(scope="module")
def finished():
    return st.run(scenario())


def test_there_are_few_public_names_and_all_of_them_resolve():
    assert len(st.__all__) <= 19
    assert all(getattr(st, name) is not None for name in st.__all__)


def test_every_public_name_shows_its_use_by_an_example_that_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {name: getattr(st, name) for name in st.__all__ if name != "__version__"}
    texts = {name: getattr(one, "__doc__", "") for name, one in names.items()}
    texts["RELEASE"] = inspect.getsource(signals).partition("RELEASE = ")[2].split('"""')[1]
    runner = doctest.DocTestRunner()
    for name, text in texts.items():
        example = doctest.DocTestParser().get_doctest(text, {"st": st}, name, None, None)
        assert example.examples, name
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0


def test_a_scenario_is_written_in_python_as_in_yaml():
    boat = {"vehicle": "otter", "start": {"heading_deg": 90}}
    described = st.Scenario(world="calm", vehicles=[boat, {"name": "two", "vehicle": "wamv"}])
    assert [p.name for p in described.vehicles] == ["otter", "two"]
    assert described.vehicles[0].start.heading == np.pi / 2
    assert described.world == st.load("calm")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"world": "calmm"}, "^world: the library has no world(?s:.)*did you mean `calm`"),
        ({"durration": 5}, "^durration: unknown key(?s:.)*did you mean `duration`"),
        ({"vehicles": [{"vehicle": "oter"}]}, r"^vehicles\[0\].vehicle: (?s:.)*`otter`"),
        ({"duration": "long"}, "^duration: text where a number belongs"),
        ({"vehicles": ["otter"]}, r"^vehicles\[0\]: text(?s:.)*write `{vehicle: otter}`"),
        ({"duration": {1}}, "^duration: an object of the class `set` where a number belongs"),
        (
            {"vehicles": {"otter"}},
            "^vehicles: .* of the class `set` where a list belongs",
        ),
        ({"vehicles": ({} for _ in "ab")}, "^vehicles: .* class `generator` where a list belongs"),
        ({"vehicles": [{"vehicle": "otter", 3: 4}]}, r"^vehicles\[0\].3: unknown key `3`"),
    ],
)
def test_a_mistake_in_python_is_told_as_one_in_yaml(given, words):
    with pytest.raises(st.SpecError, match=words):
        st.Scenario(**{"vehicles": [{"vehicle": "otter"}]} | given)


def test_a_changed_copy_is_checked_like_the_whole_and_written_like_it():
    trial = st.load("otter-zigzag", st.Scenario)
    changed = trial.model_copy(update={"world": "sea-state-4", "duration_min": 1, "seed": 5})
    assert (changed.world, changed.duration) == (st.load("sea-state-4"), 60.0)
    assert trial.seed != changed.seed
    (otter,) = trial.vehicles
    assert otter.model_copy(update={"start": {"heading_deg": 90}}).start.heading == np.pi / 2


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({"seed": "x"}, "^seed: text where a whole number belongs"),
        ({"durations": 3}, "^durations: unknown key(?s:.)*did you mean `duration`"),
        ({"duration": -1.0}, "^duration: out of range"),
        ({"vehicles": []}, "^vehicles: holds 0 entries"),
        ({"duration": 60.0, "duration_min": 1}, "give either `duration` or `duration_min`"),
    ],
)
def test_a_copy_that_cannot_be_is_refused(update, words):
    with pytest.raises(st.SpecError, match=words):
        st.load("otter-zigzag", st.Scenario).model_copy(update=update)


def test_a_description_that_is_set_says_how_to_change_it():
    trial = st.load("otter-zigzag", st.Scenario)
    with pytest.raises(st.SpecError, match=r"^seed: (?s:.)*`model_copy\(update={'seed': 5}\)`"):
        trial.seed = 5
    assert trial.seed != 5


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (None, "^nothing where the name of a scenario belongs"),
        (
            {"vehicles": []},
            r"^a mapping where the name(?s:.)*`st.Scenario\(\*\*…\)`",
        ),
        (["otter-zigzag"], "^a list where the name"),
        (b"otter", "class `bytes` where the name"),
        (st.Vehicle, "where the name of a scenario belongs"),
        ("n" * 5000, "File name too long|called `nnn"),
    ],
)
def test_what_names_no_scenario_is_refused_in_a_few_lines(what, words):
    with pytest.raises(st.SpecError, match=words) as refused:
        st.run(what)
    assert len(str(refused.value)) < 12_000


@pytest.mark.parametrize("span", ["x", 5, (1, 2, 3), ("a", "b"), None])
def test_what_is_no_span_of_time_is_refused(span):
    recording = st.run("otter-zigzag", duration=1.0).recording
    with pytest.raises(st.RecordingError, match=r"no span of time(?s:.)*as \(60, 70\)"):
        recording.sensor("otter", "gnss", span)


@pytest.mark.parametrize(("options", "words"), [({"port": -4}, "port -4"), ({"speed": "x"}, "x")])
def test_what_no_page_can_have_is_refused(options, words):
    with pytest.raises(st.SpecError, match=words):
        st.view("otter-zigzag", **options)


def test_a_vehicle_is_no_scenario():
    words = r"^a vehicle is no scenario(?s:.)*st.Scenario\(vehicles=\[{'vehicle': …}\]\)"
    with pytest.raises(st.SpecError, match=words) as refused:
        st.run(st.load("otter"))
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("path", [None, 5, "a\0.mcap", ["a.mcap"]])
def test_what_is_no_path_of_a_recording_is_refused(path):
    with pytest.raises(st.RecordingError, match="no path of a recording"):
        st.read(path)
    if path is not None:
        with pytest.raises(st.RecordingError, match="no path of a recording"):
            st.run("otter-zigzag", duration=1.0, out=path)


def test_numbers_of_numpy_and_paths_are_taken_as_numbers_and_names(tmp_path):
    (tmp_path / "bay.yaml").write_text("kind: world\nname: bay\n")
    boat = {"vehicle": "otter", "start": {"position": np.arange(3), "speed": np.float32(0.5)}}
    described = st.Scenario(
        seed=np.int64(3), duration=np.int32(9), world=tmp_path / "bay.yaml", vehicles=[boat]
    )
    assert (described.seed, described.duration, described.world.name) == (3, 9.0, "bay")
    assert described.vehicles[0].start.position == (0.0, 1.0, 2.0)
    plan = st.compile_scenario(described)
    assert st.run(plan, seed=np.int64(4), duration=np.float32(0.2)).header.seed == 4


def test_what_is_no_kind_and_no_controllers_is_refused():
    with pytest.raises(st.SpecError, match=r"a class, not 'vehicle'(?s:.)*st\.Vehicle"):
        st.load("otter", "vehicle")
    with pytest.raises(st.SpecError, match="controllers cannot be"):
        st.run(scenario(), controllers=["otter"])


def test_a_simulation_that_records_gives_what_a_run_gives(finished, tmp_path):
    simulation = st.Simulation(scenario(), out=tmp_path / "stepped.mcap")
    for _ in range(61):  # the last frame tells the orders of the period that it begins
        simulation.step()
    stepped = simulation.finish()
    st.run(scenario(), out=tmp_path / "run.mcap")
    assert (tmp_path / "stepped.mcap").read_bytes() == (tmp_path / "run.mcap").read_bytes()
    assert stepped.status == "completed"
    assert stepped.summary == finished.summary
    with pytest.raises(st.SpecError, match="recorded nothing"):
        simulation.finish()
    simulation.reset()
    simulation.step({"boat": {"left_rpm": 0.0}})
    assert simulation.finish().dataset.sizes["time"] == 1


def test_a_run_gives_every_frame_as_one_dataset(finished):
    data = finished.dataset
    assert finished.status == "completed"
    assert finished.real_time_factor > 0
    assert data.sizes["time"] == 61
    assert list(data.vehicle.values) == ["boat", "auv"]
    assert float(data.time[-1]) == pytest.approx(6.0)


def test_the_dataset_in_memory_equals_the_recording(finished, tmp_path):
    out = tmp_path / "run.mcap"
    st.run(scenario(), out=out)
    recorded = st.read(out).dataset
    for name in finished.dataset.data_vars:
        np.testing.assert_allclose(
            recorded[name], finished.dataset[name], rtol=0, atol=1e-12, err_msg=name
        )


def test_stepping_from_python_gives_the_numbers_of_the_run(finished):
    simulation = st.Simulation(scenario())
    data = finished.dataset
    for k in range(1, 61):
        now = simulation.step()
        for name in ("boat", "auv"):
            recorded = data.sel(vehicle=name).isel(time=k)
            np.testing.assert_allclose(now[name].position, recorded.position, rtol=0, atol=1e-9)
            np.testing.assert_allclose(now[name].attitude, recorded.attitude, rtol=0, atol=1e-9)
            np.testing.assert_allclose(now[name].velocity[:3], recorded.velocity, atol=1e-9)


def test_a_command_from_python_replaces_the_script_and_is_held():
    simulation = st.Simulation(scenario())
    simulation.step({"boat": {"left_rpm": 300.0, "right_rpm": -300.0}})
    for _ in range(20):
        state = simulation.step()
    assert state["boat"].actuators["left"] == pytest.approx(5.0, rel=1e-3)
    assert state["boat"].actuators["right"] == pytest.approx(-5.0, rel=1e-3)
    simulation.reset()
    assert simulation.time == 0.0
    assert simulation.vehicles["boat"].actuators["left"] == 0.0


def test_a_misspelt_channel_is_refused_with_a_suggestion():
    simulation = st.Simulation(scenario())
    with pytest.raises(st.SpecError, match=r"did you mean `left_rpm`"):
        simulation.step({"boat": {"lefft_rpm": 300.0}})
    with pytest.raises(st.SpecError, match="no vehicle `boot`"):
        simulation.step({"boot": {"left_rpm": 300.0}})


def test_another_seed_gives_another_sea_and_the_same_seed_the_same():
    first, again, other = (
        st.run(scenario(duration=1.0), seed=s).dataset.wave_elevation.values for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


def test_adding_a_vehicle_changes_no_other_vehicle(finished):
    alone = scenario()
    alone = alone.model_copy(update={"vehicles": alone.vehicles[:1]})
    boat = st.run(alone).dataset.sel(vehicle="boat")
    np.testing.assert_allclose(
        boat.position, finished.dataset.sel(vehicle="boat").position, atol=1e-9
    )


def test_double_precision_does_not_leak_into_a_users_own_program(finished):
    assert finished.dataset.position.dtype == np.float64
    assert jnp.arange(3.0).dtype == jnp.float32
    assert jax.jit(lambda x: x * 2.0)(1.0).dtype == jnp.float32


def test_single_precision_stays_close_to_double(finished):
    single = st.run(scenario(precision="single"))
    difference = np.abs(single.dataset.position - finished.dataset.position)
    assert 0 < float(difference.max()) < 1e-3  # metres after six seconds


def test_a_run_that_diverges_ends_with_its_last_good_state():
    vehicle = st.load("remus100").model_dump()
    vehicle["hydrodynamics"]["coefficients"]["X_uu"] = 500.0  # drag that pushes
    wild = scenario(
        world={"kind": "world", "name": "calm"},
        vehicles=[
            {"name": "wild", "vehicle": vehicle, "start": {"position": [0, 0, 5], "speed": 2}}
        ],
    )
    run = st.run(wild)
    assert run.status == "diverged"
    assert run.summary.vehicles["wild"].ended_at < 6.0
    assert np.all(np.isfinite(run.dataset.position))


def test_a_vehicle_that_touches_the_bottom_is_grounded_or_lies_there():
    heavy = st.load("bluerov2").model_dump()
    heavy["inertia"]["mass"] += 2.0
    seabed = {"kind": "world", "name": "shallow", "seabed": {"depth": 3.0}}
    sinking = {"name": "rov", "vehicle": heavy, "start": {"position": [0, 0, 2]}}
    stopped = st.run(scenario(world=seabed, vehicles=[sinking], duration=20.0))
    assert stopped.status == "grounded"
    assert stopped.summary.vehicles["rov"].ended_at < 20.0
    lying = st.run(
        scenario(world=seabed, vehicles=[sinking], duration=20.0, stop_when_grounded=False)
    )
    assert lying.status == "grounded"
    assert lying.summary.duration == 20.0
    depth = float(lying.dataset.depth[-1, 0])
    assert depth == pytest.approx(3.0 - 0.5 * heavy["height"], abs=0.05)
