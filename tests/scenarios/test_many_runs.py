"""Many seeds as one program: the tracks of single runs, and nothing compiled for a new seed."""

import weakref
from dataclasses import replace

import numpy as np
import pytest
import xarray

import seatrial as st
from seatrial import programs
from seatrial.engine import batch
from seatrial.errors import SeatrialError, SpecError
from seatrial.record import many as many_runs

SEEDS = (3, 1, 4)
DURATION = 4.0


@pytest.fixture(scope="module")
def many():
    return st.run_many("otter-turning-circle", seeds=SEEDS, duration=DURATION)


def test_every_one_of_many_runs_is_the_run_of_its_seed(many):
    """Side by side sums round differently: that is below a nanometre, a seed is centimetres."""
    assert many.status.values.tolist() == [["completed"]] * 3
    for run, seed in enumerate(SEEDS):
        alone = st.run("otter-turning-circle", seed=seed, duration=DURATION)
        together = many.isel(run=run)
        assert together.seed == seed
        np.testing.assert_allclose(together.position, alone.dataset.position, rtol=0, atol=1e-9)
        np.testing.assert_allclose(together.velocity, alone.dataset.velocity, rtol=0, atol=1e-9)
        assert together.distance.item() == pytest.approx(
            alone.summary.vehicles["otter"].distance, abs=1e-8
        )
    assert np.abs(many.position[0] - many.position[1]).max() > 0.01


def test_numbers_of_the_description_differ_from_run_to_run():
    vary = {
        "vehicles[0].start.heading_deg": [0.0, np.float64(90.0), 180.0],
        "vehicles[0].vehicle.inertia.mass": [55.0, 60.0, 65.0],
    }
    found = st.run_many("otter-turning-circle", seeds=[1, 1, 1], vary=vary, duration=1.0)
    assert found.coords["vehicles[0].vehicle.inertia.mass"].values.tolist() == [55.0, 60.0, 65.0]
    turned = np.degrees(found.euler.isel(time=0, vehicle=0, angle=2).values)
    np.testing.assert_allclose(turned, [0.0, 90.0, 180.0], atol=1e-9)
    alone = st.load("otter-turning-circle", st.Scenario)
    (boat,) = alone.vehicles
    start = boat.start.model_copy(update={"heading": np.pi / 2})
    inertia = boat.vehicle.inertia.model_copy(update={"mass": 60.0})
    boat = boat.model_copy(
        update={"start": start, "vehicle": boat.vehicle.model_copy(update={"inertia": inertia})}
    )
    run = st.run(alone.model_copy(update={"vehicles": (boat,)}), duration=1.0)
    np.testing.assert_allclose(found.position[1], run.dataset.position, rtol=0, atol=1e-9)


def test_runs_that_are_written_as_they_go_are_the_same(many, tmp_path, monkeypatch):
    """Two programs of two runs each take turns; the last of them has one. Their blocks of frames
    and the chunks of the folder begin at different instants."""
    monkeypatch.setattr(batch, "PLANS_PER_PROGRAM", 2)
    monkeypatch.setattr(many_runs, "RUNS_PER_CHUNK", 2)
    monkeypatch.setattr(many_runs, "FRAMES_PER_CHUNK", 7)
    out = tmp_path / "runs.zarr"
    stored = st.run_many("otter-turning-circle", seeds=SEEDS, duration=DURATION, out=out)
    assert stored.sizes == many.sizes
    assert stored.seed.values.tolist() == list(SEEDS)
    assert stored.status.values.tolist() == many.status.values.tolist()
    assert set(stored.variables) == set(many.variables)
    for name in many.data_vars:
        if many[name].dtype.kind == "f":
            np.testing.assert_allclose(stored[name], many[name], rtol=0, atol=1e-8, err_msg=name)
    np.testing.assert_array_equal(stored.time, many.time)
    with pytest.raises(SpecError, match="something already"):
        st.run_many("otter-turning-circle", seeds=[1], duration=1.0, out=out)
    with pytest.raises(SpecError, match=r"ends in `\.zarr`"):
        st.run_many("otter-turning-circle", seeds=[1], duration=1.0, out=tmp_path / "runs.mcap")


def test_memory_of_runs_in_a_folder_grows_neither_with_runs_nor_with_their_length(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(many_runs, "RUNS_PER_CHUNK", 2)
    monkeypatch.setattr(many_runs, "FRAMES_PER_CHUNK", 7)
    alone = st.run("otter-turning-circle", seed=3, duration=0.9)
    header, (block,) = alone.header, alone._kept._blocks
    assert len(block.time) == 10
    for runs, blocks in ((2, 3), (12, 3), (2, 12)):
        longer = replace(header, duration=header.frame_period * (10 * blocks - 1))
        table = many_runs.RunsTable(runs, longer.duration, tmp_path / f"{runs}-{blocks}.zarr")
        sinks = [table.sink(run) for run in range(runs)]
        held = 0
        for pair in range(0, runs, 2):
            for sink in sinks[pair : pair + 2]:
                sink.open(longer)
            for _ in range(blocks):
                for sink in sinks[pair : pair + 2]:
                    sink.write(block)
                    held = max(held, len(table._tables))
            for sink in sinks[pair : pair + 2]:
                sink.close(alone.summary)
        assert held <= 3
        assert not table._tables
        found = xarray.open_zarr(table._path, consolidated=False)
        assert found.position.shape == (runs, 10 * blocks, 1, 3)
        assert np.isfinite(found.position.values).all()


def test_a_changed_number_in_a_folder_of_runs_is_noticed(tmp_path):
    out = tmp_path / "runs.zarr"
    found = st.run_many("otter-turning-circle", seeds=(3, 1, 4), duration=1.0, out=out)
    assert np.isfinite(found.position.values).all()
    (chunk,) = (out / "position").glob("[0-9]*")
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 4
    chunk.write_bytes(data)
    with pytest.raises(RuntimeError):
        xarray.open_zarr(out, consolidated=False).position.load()


def test_runs_that_cannot_be_written_end_without_a_trace(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SeatrialError, match="cannot write the runs"):
        st.run_many("otter-turning-circle", seeds=[1], duration=1.0, out=tmp_path / "file/a.zarr")


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"vehicles[0].start.sped": [1.0]}, "no `sped` to be varied(?s:.)*did you mean `speed`"),
        ({"vehicles[7].start.speed": [1.0]}, "no `7` to be varied(?s:.)*one of 0"),
        ({"vehicles 0": [1.0]}, "no path to a number"),
        ({"": [1.0]}, "no path to a number"),
        ({"[0]": [1.0]}, "no path to a number"),
        ([1.0], "a list for each path(?s:.)*it is .1.0."),
        ({5: [1.0]}, "a list for each path(?s:.)*it is {5: .1.0.}"),
        ({"world.waves.code": [1, 2]}, "one value for each run(?s:.)*2 of .*1 of `seeds`"),
        ({"vehicles[0].start.heading": [90.0]}, "out of range(?s:.)*heading_deg: 90"),
    ],
)
def test_what_cannot_be_varied_is_refused(vary, words):
    with pytest.raises(SpecError, match=words):
        st.run_many("otter-turning-circle", seeds=[1], vary=vary, duration=1.0)


def test_another_seed_or_another_sea_compiles_nothing(many):
    st.run("otter-turning-circle", seed=0, duration=1.0)
    before = programs.counts["compiled"]
    st.run("otter-turning-circle", seed=7, duration=2.0)
    described = st.load("otter-turning-circle")
    higher = described.world.model_copy(
        update={"waves": described.world.waves.model_copy(update={"significant_height": 0.3})}
    )
    st.run(described.model_copy(update={"world": higher}), duration=1.0)
    st.run_many("otter-turning-circle", seeds=(11, 12, 13), duration=1.0)
    assert programs.counts["compiled"] == before


@pytest.mark.parametrize(
    ("seeds", "words"), [((), "at least one seed"), ((-1,), "seed"), ((1.5,), "seed")]
)
def test_seeds_that_cannot_be_are_refused(seeds, words):
    with pytest.raises(SpecError, match=words):
        st.run_many("otter-turning-circle", seeds=seeds, duration=DURATION)


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"frame_period": [0.1, 0.2]}, "the same `frame_period`"),
        ({"vehicles[0].count": [1, 2]}, "the same vehicles"),
        ({"vehicles[0].vehicle.inertia.mass": [55.0, np.nan]}, r"inertia\.mass` of run 1"),
    ],
)
def test_what_one_dataset_cannot_hold_is_refused(vary, words):
    with pytest.raises(SpecError, match=words):
        st.run_many("otter-turning-circle", vary=vary, duration=DURATION)


@pytest.mark.parametrize("key", ["duration", "time_step", "world.waves.directions"])
def test_runs_of_another_length_step_or_shape_are_the_single_runs(key, monkeypatch):
    """Each program has the plans of one shape, however many were planned together."""
    monkeypatch.setattr(batch.os, "cpu_count", lambda: 1)
    described = st.load("otter-turning-circle", st.Scenario)
    described = described.model_copy(update={"duration": 2.0})
    values = {"duration": [1.0, 2.0, 1.0, 1.5], "time_step": [0.02, 0.01, 0.005, 0.02]}
    chosen = values.get(key, [3, 4, 5, 3])
    found = st.run_many(described, vary={key: chosen})
    assert found.time.values[-1] == 2.0
    for run, value in enumerate(chosen):
        alone = st.run_many(described, vary={key: [value]}).isel(run=0)
        length = alone.sizes["time"]
        together = found.isel(run=run)
        assert length == (round(10 * value) + 1 if key == "duration" else 21)
        assert np.allclose(together.position[:length], alone.position, rtol=0.0, atol=1e-9)
        assert np.isnan(together.position[length:]).all()
        assert np.array_equal(together.ended_at, alone.ended_at)


def test_a_controller_that_is_asked_from_python_is_not_for_many_runs():
    class Asked:
        def start(self, vehicle):
            pass

        def control(self, time, measurements):
            return {}

    with pytest.raises(SpecError, match="cannot ask the controller of `otter`"):
        st.run_many("otter-turning-circle", seeds=(1, 2), controllers={"otter": Asked()})


def test_seeds_may_be_numbers_of_numpy_and_nothing_else():
    found = st.run_many("smarty-drift", seeds=np.arange(2), duration=0.2)
    assert found.seed.values.tolist() == [0, 1]
    with pytest.raises(st.SpecError, match="these are no seeds"):
        st.run_many("smarty-drift", seeds=[None])
    with pytest.raises(st.SpecError, match="these are no seeds"):
        st.run_many("smarty-drift", seeds=5)


def test_a_batch_takes_plans_when_their_turn_comes_and_lets_go_of_them(monkeypatch):
    """A thousand plans at once would be gigabytes."""

    class Plan:
        def __init__(self, number):
            self.number = number

    made, at_once, told = [], [], []

    def plans():
        for number in range(1000):
            plan = Plan(number)
            made.append(weakref.ref(plan))
            at_once.append(sum(one() is not None for one in made))
            yield plan
            del plan

    monkeypatch.setattr(batch.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(batch, "_run", lambda plans, sinks, width: [p.number for p in plans])
    monkeypatch.setattr(batch, "_shape", lambda plan: plan.number % 2)
    assert batch.run_batch(plans(), [[]] * 1000, told.append) == list(range(1000))
    assert told[-1] == 1.0
    assert told == sorted(told)
    assert max(at_once) <= 3 * batch.PLANS_PER_PROGRAM
