"""Dense sensors in whole runs: arrays through the engine, what faults do to them, the pictures."""

import dataclasses

import numpy as np
import pytest

import seatrial as st
from seatrial.compile.scenario import compile_scenario
from seatrial.engine import assembly
from seatrial.engine.plan import Fleet
from seatrial.errors import RecordingError, SpecError
from seatrial.figures import echogram
from seatrial.figures.plot import figure
from seatrial.signals import join
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

ONSET, END = 1.0, 2.0
FAULTS = {
    "dropout": "kind: dropout, probability: 1.0",
    "freeze": "kind: freeze",
    "bias": "kind: bias, value: 2.0, components: [range]",
    "stuck": "kind: stuck, value: 7.5, components: [range]",
    "noise": "kind: noise, deviation: 3.0, components: [range]",
    "delay": "kind: delay, delay: 0.3",
}
"""A sounder for each of these faults, and one that is untouched."""
BINS = 128


def scenario(faulty, duration=3.0, swarm="", more_faults=""):
    sensors = "".join(
        f"      - {{type: echo_sounder, name: {name}, rate: 5, position: [0.3, 0, 0.4], "
        f"bins: {BINS}, range: 60, latency: 0.04}}\n"
        for name in ("healthy", *FAULTS)
    )
    faults = "".join(
        f"      - {{target: {name}, start: {ONSET}, duration: {END - ONSET}, {rest}}}\n"
        for name, rest in FAULTS.items()
    )
    text = f"""
kind: scenario
name: soundings
seed: 8
duration: {duration}
time_step: 0.02
world: {{name: bay, seabed: {{depth: 20, type: gravel}}}}
vehicles:
  - name: boat
    vehicle: otter
    {swarm}
    commands: {{left_rpm: 700, right_rpm: 500}}
    sensors:
{sensors}"""
    if faulty:
        text += "    faults:\n" + faults + more_faults
    return load_text(text, Scenario)


@pytest.fixture(scope="module")
def runs():
    """The same run without and with faults."""
    return [st.run(scenario(faulty)) for faulty in (False, True)]


def samples(run, sensor, vehicle="boat"):
    """All samples with their arrays; one that is not valid has zeros."""
    found = run.recording.samples(vehicle, sensor)
    arrays = run.recording.payload(vehicle, sensor)[:]
    whole = np.zeros((len(found.time), *arrays.shape[1:]), arrays.dtype)
    whole[found.valid] = arrays
    return dataclasses.replace(found, payload=whole)


def test_an_array_of_the_stated_shape_comes_with_every_sample(runs):
    run = runs[0]
    (info,) = [s for s in run.recording.header.vehicles[0].sensors if s.name == "healthy"]
    assert info.payload.kind == "echogram"
    assert info.payload.shape == (1, BINS)
    assert info.facts["bin_width"] == (60.0 / BINS,)
    found = samples(run, "healthy")
    assert found.payload.shape == (16, 1, BINS)
    assert found.payload.dtype == np.float32
    assert found.valid.all()
    # 20 m less the transducer's depth, told with 1500 m/s instead of 1490.5, to half a bin
    height = (
        20.0 - 0.4 - np.interp(found.time, run.dataset.time, run.recording.vehicle("boat").depth)
    )
    np.testing.assert_allclose(found.values[:, 0], height * 1500.0 / 1490.5, atol=0.6 * 60 / BINS)
    strongest = np.argmax(found.payload[:, 0], axis=1) * 60.0 / BINS
    np.testing.assert_allclose(strongest, found.values[:, 0], atol=1.5)


def test_every_ping_and_every_sounder_has_its_own_speckle(runs):
    healthy, other = (samples(runs[0], name).payload[:, 0] for name in ("healthy", "bias"))
    water = slice(5, 30)
    healthy, other = (levels - levels.mean(axis=0) for levels in (healthy, other))
    same = [np.corrcoef(healthy[i, water], healthy[i + 1, water])[0, 1] for i in range(15)]
    across = [np.corrcoef(healthy[i, water], other[i, water])[0, 1] for i in range(16)]
    # of 25 bins each: a mean over 15 correlations has a standard deviation of 0.05
    assert abs(np.mean(same)) < 0.25
    assert abs(np.mean(across)) < 0.25


def test_what_each_fault_does_to_numbers_and_array(runs):
    before, after = ({n: samples(run, n) for n in ("healthy", *FAULTS)} for run in runs)
    time = before["healthy"].time
    struck = (time >= ONSET - 1e-9) & (time < END - 1e-9)
    for name in FAULTS:
        old, new = before[name], after[name]
        np.testing.assert_array_equal(new.payload[~struck], old.payload[~struck])
        np.testing.assert_array_equal(new.values[~struck], old.values[~struck])
        np.testing.assert_array_equal(new.fault != 0, struck)
    np.testing.assert_array_equal(after["healthy"].payload, before["healthy"].payload)
    assert not after["dropout"].valid[struck].any()
    assert not after["dropout"].payload[struck].any()
    first = np.argmax(struck)
    last = before["freeze"].cut(slice(first - 1, first))
    for frozen in np.flatnonzero(struck):
        np.testing.assert_array_equal(after["freeze"].payload[frozen], last.payload[0])
        np.testing.assert_array_equal(after["freeze"].values[frozen], last.values[0])
    for name in ("bias", "stuck", "noise", "delay"):
        np.testing.assert_array_equal(after[name].payload, before[name].payload)
        np.testing.assert_array_equal(after[name].values[:, 1], before[name].values[:, 1])
    shift = {n: after[n].values[struck, 0] - before[n].values[struck, 0] for n in FAULTS}
    np.testing.assert_allclose(shift["bias"], 2.0, atol=1e-12)
    np.testing.assert_array_equal(after["stuck"].values[struck, 0], 7.5)
    assert (shift["noise"] != 0.0).all()
    late = after["delay"].arrival - before["delay"].arrival
    assert late[struck].min() == pytest.approx(0.3)


def test_stepping_gives_the_same_arrays_as_running(runs):
    simulation = st.Simulation(scenario(True))
    parts = {name: [simulation.measurements["boat"][name]] for name in ("healthy", "freeze")}
    while simulation.time < 3.0 - 1e-9:
        simulation.step()
        for name, some in parts.items():
            some.append(simulation.measurements["boat"][name])
    for name, some in parts.items():
        arrived, whole = join(some), samples(runs[1], name)
        here = whole.cut(whole.arrival <= 3.0)
        np.testing.assert_array_equal(arrived.time, here.time)
        np.testing.assert_array_equal(arrived.payload, here.payload)
        np.testing.assert_array_equal(arrived.values, here.values)


def test_blocks_of_any_size_give_the_same_bytes(runs, monkeypatch):
    monkeypatch.setattr(assembly, "FRAMES_PER_BLOCK", 4)
    again = st.run(scenario(True))
    for name in ("healthy", "noise"):
        one, other = samples(runs[1], name), samples(again, name)
        np.testing.assert_array_equal(one.payload, other.payload)
        np.testing.assert_array_equal(one.values, other.values)


def test_arrays_make_blocks_shorter():
    """Payloads are streamed: a block holds a bounded number of bytes, however many vehicles."""
    plan = compile_scenario(scenario(False))
    (fleet,) = plan.fleets
    light = Fleet(fleet.names, fleet.group, fleet.ocean, fleet.sensors, fleet.legs)
    assert assembly._rows(fleet, plan.schedule) > 3 * assembly._rows(light, plan.schedule)


def test_a_part_of_a_ping_cannot_freeze():
    more = "      - {target: healthy, kind: freeze, start: 1, components: [range]}\n"
    with pytest.raises(SpecError, match="freezes whole"):
        compile_scenario(scenario(True, more_faults=more))


def test_the_page_shows_the_echograms(runs):
    page = figure(runs[0].recording)
    titles = [axes.get_title(loc="left") for area in page.subfigs for axes in area.axes]
    assert [t for t in titles if t.startswith("Echogram")] == [
        "Echogram, healthy [m]",
        "Echogram, dropout [m]",
    ]


def test_a_lost_ping_is_a_gap_in_the_picture(runs):
    run = runs[1].recording
    page = echogram.figure(run, "boat", "dropout")
    (image,) = page.axes[0].get_images()
    shown = np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), np.nan)
    assert shown.shape == (BINS, 16)
    np.testing.assert_array_equal(np.isnan(shown).all(axis=0), ~samples(runs[1], "dropout").valid)
    with pytest.raises(RecordingError, match="boat/healthy"):
        echogram.figure(run, "boat", "compass")


@pytest.mark.parametrize("suffix", ["mcap", "zarr"])
def test_a_file_says_what_the_array_is_and_keeps_the_numbers(runs, suffix, tmp_path):
    run = st.run(scenario(False), out=tmp_path / f"run.{suffix}")
    kept = st.read(tmp_path / f"run.{suffix}")
    assert kept.header.vehicles[0].sensors == run.header.vehicles[0].sensors
    expected = samples(runs[0], "healthy")
    np.testing.assert_allclose(kept.samples("boat", "healthy").values, expected.values, rtol=1e-6)


def test_every_vessel_of_a_swarm_has_pings_of_its_own():
    """In single precision, in which poses and numbers of samples travel too."""
    run = st.run(scenario(False, 1.0, "count: 2\n    formation: grid\n    spacing: 20"))
    one, other = (samples(run, "healthy", v.name) for v in run.header.vehicles)
    assert one.payload.shape == (6, 1, BINS)
    assert one.values.dtype == np.float32
    np.testing.assert_allclose(one.values[:, 0], other.values[:, 0], atol=1.5 * 60 / BINS)
    assert (one.payload != other.payload).mean() > 0.9
    assert (one.payload[1:] != one.payload[:-1]).mean() > 0.9
