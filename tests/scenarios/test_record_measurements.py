"""Measurements and fault labels in every kind of recording, in exports and on the page."""

import csv
import dataclasses
import warnings

import numpy as np
import pytest
import record_frames as rf
import record_sensors as rs
import xarray

from seatrial.engine.frames import Frames, GroupFrames, VehicleFrames, frames_of
from seatrial.errors import RecordingError
from seatrial.figures.sensors_check import draw_check
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder
from seatrial.signals import Measurements


@pytest.fixture(scope="module")
def run():
    return rs.whole_run()


@pytest.fixture(scope="module")
def remembered(run):
    return rs.write(MemoryRecorder(), run).recording()


@pytest.fixture(scope="module")
def mcap(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("mcap") / "run.mcap"
    rs.write(McapRecorder(path), run)
    return path


@pytest.fixture(scope="module")
def zarr(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("zarr") / "run.zarr"
    rs.write(ZarrRecorder(path), run)
    return path


# ------------------------------------------------------------------ read back


def test_memory_gives_the_valid_samples_with_units_and_labels(run, remembered):
    for vehicle in (rs.BOAT, rs.AUV):
        for info in vehicle.sensors:
            data = remembered.sensor(vehicle.name, info.name)
            truth = rs.valid(run, info.name, vehicle.name)
            np.testing.assert_array_equal(data["time"], truth.time)
            np.testing.assert_array_equal(data["arrival"], truth.arrival)
            np.testing.assert_array_equal(data["fault"], truth.fault)
            for i, (name, unit) in enumerate(zip(info.components, info.units, strict=True)):
                np.testing.assert_array_equal(data[name], truth.values[:, i])
                assert data[name].attrs["units"] == unit
            assert data.attrs["type"] == info.type
            assert data.attrs["rate_hz"] == info.rate
    flags = remembered.sensor("otter", "imu")["fault"].attrs
    assert flags["flag_masks"].tolist() == [1, 2, 4, 8]
    assert flags["flag_meanings"].split()[2] == "imu:_bias_jump"


# Relative to the largest value: exact where a message has float64 fields and axes are exchanged;
# float32 fields keep 24 bits; a latitude in degrees keeps nanometres.
TOLERANCE = {"ahrs": 4e-16, "compass": 2e-15, "gnss": 1e-12, "dvl": 6e-8, "battery": 6e-8}


@pytest.mark.parametrize("info", rs.SENSORS, ids=lambda s: s.name)
def test_every_kind_of_sensor_comes_back_from_mcap_as_it_was(info, remembered, mcap):
    expected, found = remembered.sensor("otter", info.name), read(mcap).sensor("otter", info.name)
    assert list(found) == list(expected)
    assert found.attrs.keys() == expected.attrs.keys()
    np.testing.assert_allclose(found["time"], expected["time"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["arrival"], expected["arrival"], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found["fault"], expected["fault"])
    scale = max(float(np.abs(expected[c]).max()) for c in info.components)
    for name in info.components:
        error = np.abs(found[name].values - expected[name].values)
        if info.type == "compass":
            error = np.minimum(error, 2.0 * np.pi - error)
        assert error.max() <= TOLERANCE.get(info.type, 3e-16) * scale, name
        assert found[name].attrs == expected[name].attrs


def test_zarr_gives_the_very_same_samples_frames_and_labels(remembered, zarr):
    again = read(zarr)
    for vehicle in (rs.BOAT, rs.AUV):
        for info in vehicle.sensors:
            expected = remembered.sensor(vehicle.name, info.name)
            xarray.testing.assert_identical(again.sensor(vehicle.name, info.name), expected)
    xarray.testing.assert_equal(again.dataset["fault"].load(), remembered.dataset["fault"])
    assert again.header == remembered.header


def test_xarray_opens_a_sensor_of_a_zarr_store_by_its_group(zarr, run):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        imu = xarray.open_zarr(zarr, group="sensors/imu", consolidated=True)
        other = xarray.open_zarr(zarr, group="sensors/imu-2", consolidated=True)
    assert imu["values"].dims == ("sample", "vehicle", "component")
    assert imu["vehicle"].values.tolist() == ["otter"]
    assert other["vehicle"].values.tolist() == ["remus-1"]
    truth = run.measurements["otter"]["imu"]
    np.testing.assert_array_equal(imu["valid"][:, 0], truth.valid)
    force = imu["values"].sel(vehicle="otter", component="acceleration_y")
    np.testing.assert_array_equal(force, truth.values[:, 1])


def test_faults_of_a_vehicle_are_labelled_in_every_frame(run, remembered, mcap):
    for recording in (remembered, read(mcap)):
        labels = recording.dataset["fault"]
        assert labels.dims == ("time", "vehicle", "fault_name")
        np.testing.assert_array_equal(labels.sel(vehicle="otter"), run.vehicles["otter"].faults)
        assert np.isnan(labels.sel(vehicle="remus-1")).all()
        own = recording.vehicle("otter")["fault"]
        assert own.sel(fault_name="imu: freeze")[10:12].values.tolist() == [0.0, 1.0]
        assert recording.vehicle("remus-1")["fault"].sizes["fault_name"] == 0


def test_run_without_faults_or_sensors_has_neither(tmp_path):
    plain = rf.frames(duration=2.0)
    path = tmp_path / "a.mcap"
    rs.write(McapRecorder(path), plain, (rf.BOAT, rf.AUV))
    recording = read(path)
    assert "fault" not in recording.dataset
    with pytest.raises(RecordingError, match="the vehicle has no sensors"):
        recording.sensor("otter", "imu")


def test_unknown_sensor_is_named_with_those_there_are(mcap):
    with pytest.raises(RecordingError, match=r"no sensor 'sonar'(.|\n)*imu, ahrs, compass"):
        read(mcap).sensor("otter", "sonar")


def test_many_vehicles_of_one_kind_share_a_table_in_zarr(tmp_path):
    kind = dataclasses.replace(rf.BOAT, sensors=rs.SENSORS[:1])
    fleet = tuple(dataclasses.replace(kind, name=f"boat{i}") for i in range(6))
    single = rf.frames((fleet[0],), rs.DURATION)
    frames = single.groups[0].frames
    several = VehicleFrames(**{k: np.repeat(a, 3, axis=1) for k, a in vars(frames).items()})
    taken = [rs.measure(rs.SENSORS[0], i) for i in range(6)]

    def group(numbers):
        some = [taken[i] for i in numbers]
        joined = [np.stack([getattr(m, f) for m in some], 1) for f in FIELDS]
        names = tuple(f"boat{i}" for i in numbers)
        return GroupFrames(names, several, {"imu": Measurements(some[0].time, *joined)})

    path = tmp_path / "fleet.zarr"
    sink = ZarrRecorder(path)
    sink.open(rf.header(fleet, rs.DURATION))
    sink.write(Frames(single.time, (group((0, 2, 4)), group((1, 3, 5)))))
    for i in range(6):
        found = read(path).samples(f"boat{i}", "imu")
        for field in ("time", *FIELDS):
            np.testing.assert_array_equal(getattr(found, field), getattr(taken[i], field))


FIELDS = ("arrival", "values", "valid", "fault")

# ------------------------------------------------------------------ files


def test_same_measurements_give_the_same_bytes(run, mcap, tmp_path):
    rs.write(McapRecorder(tmp_path / "again.mcap"), run)
    assert (tmp_path / "again.mcap").read_bytes() == mcap.read_bytes()


def test_blocks_of_any_length_hold_the_same_samples(run, remembered, tmp_path, monkeypatch):
    monkeypatch.setattr("seatrial.record.mcap.writer._BATCH_BYTES", 20_000)
    rs.write(McapRecorder(tmp_path / "a.mcap"), run, block=61)
    rs.write(ZarrRecorder(tmp_path / "a.zarr"), run, block=50)
    expected = remembered.sensor("otter", "speed_log")
    for name in ("a.mcap", "a.zarr"):
        found = read(tmp_path / name).sensor("otter", "speed_log")
        np.testing.assert_array_equal(found["speed_y"], expected["speed_y"], err_msg=name)


def test_recording_cut_at_any_byte_opens_with_whole_samples_only(run, tmp_path):
    path = tmp_path / "cut.mcap"
    recorder = McapRecorder(path)
    recorder.open(rf.header((rs.BOAT, rs.AUV), rs.DURATION))
    first, counts = path.stat().st_size, [(path.stat().st_size, 0)]
    for part in rf.blocks(run, 10):
        recorder.write(part)
        taken = part.measurements["otter"]["dvl"].valid.sum()
        counts.append((path.stat().st_size, counts[-1][1] + taken))
    whole = path.read_bytes()
    truth = rs.valid(run, "dvl")
    for offset in np.random.default_rng(2).integers(first, len(whole), 12).tolist():
        path.write_bytes(whole[:offset])
        found = read(path).sensor("otter", "dvl")
        least = max(count for size, count in counts if size <= offset)
        assert found.sizes["time"] >= least
        np.testing.assert_array_equal(found["velocity_x"], truth.values[: found.sizes["time"], 0])


@pytest.mark.parametrize(
    "kind", [0x04, 0x05, 0x06, 0x09], ids=["channel", "message", "chunk", "file"]
)
def test_record_that_is_too_short_for_its_kind_is_refused_as_damage(kind, mcap, tmp_path):
    """A write torn in the middle may leave the head of a record before the next one."""
    data = mcap.read_bytes()
    for body in (b"", b"\x01", b"\x01\x00\x07\x00"):
        torn = data[:8] + bytes([kind]) + len(body).to_bytes(8, "little") + body + data[8:]
        path = tmp_path / "torn.mcap"
        path.write_bytes(torn)
        with pytest.raises(RecordingError, match="the recording is damaged"):
            read(path)


def test_interrupted_block_leaves_no_samples_in_zarr(run, tmp_path, monkeypatch):
    blocks = rf.blocks(run, 20)
    sink = ZarrRecorder(tmp_path / "a.zarr")
    sink.open(rf.header((rs.BOAT, rs.AUV), rs.DURATION))
    sink.write(blocks[0])
    before = read(tmp_path / "a.zarr").sensor("otter", "uwb").load()
    whole = ZarrRecorder._append

    def until_killed(self, name, block, first):
        if name == "sensors/pressure/valid":
            raise KeyboardInterrupt
        whole(self, name, block, first)

    monkeypatch.setattr(ZarrRecorder, "_append", until_killed)
    with pytest.raises(KeyboardInterrupt):
        sink.write(blocks[1])
    xarray.testing.assert_identical(read(tmp_path / "a.zarr").sensor("otter", "uwb"), before)
    sink.close(rf.summary((rs.BOAT, rs.AUV)))  # an interrupted run is closed after that
    xarray.testing.assert_identical(read(tmp_path / "a.zarr").sensor("otter", "uwb"), before)
    assert read(tmp_path / "a.zarr").sensor("otter", "pressure").sizes["time"] > 0


def test_store_without_a_block_has_sensors_without_samples(tmp_path):
    sink = ZarrRecorder(tmp_path / "a.zarr")
    sink.open(rf.header((rs.BOAT, rs.AUV), rs.DURATION))
    assert read(tmp_path / "a.zarr").sensor("otter", "imu").sizes["time"] == 0


def test_lost_chunk_of_samples_is_noticed(tmp_path):
    path = tmp_path / "a.zarr"
    rs.write(ZarrRecorder(path), rs.whole_run((rs.AUV,)), (rs.AUV,), block=61)
    (path / "sensors" / "imu" / "values" / "0.0.0").unlink()
    with pytest.raises(RecordingError, match=r"sensors/imu/values/0\.0\.0 is missing or cut"):
        read(path)


def test_netcdf_has_a_group_per_sensor(mcap, tmp_path):
    recording = read(mcap)
    (path,) = export(recording, "netcdf", tmp_path / "run.nc")
    for vehicle, name in (("otter", "imu"), ("otter", "battery"), ("remus-1", "imu2")):
        with xarray.open_dataset(path, group=f"{vehicle}/{name}", engine="h5netcdf") as again:
            xarray.testing.assert_equal(again.load(), recording.sensor(vehicle, name))
            assert again.attrs["sensor"] == name
    with xarray.open_dataset(path, engine="h5netcdf") as frames:
        np.testing.assert_array_equal(frames["fault"], recording.dataset["fault"])


def test_csv_has_a_file_per_sensor_with_units_in_its_columns(run, mcap, tmp_path):
    paths = {p.name: p for p in export(mcap, "csv", tmp_path / "run.csv")}
    assert len(paths) == 2 + len(rs.SENSORS) + 2
    with paths["run-otter-imu.csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    truth = rs.valid(run, "imu")
    assert list(rows[0])[:3] == ["time_s", "acceleration_x_m_s2", "acceleration_y_m_s2"]
    assert [float(r["acceleration_y_m_s2"]) for r in rows] == truth.values[:, 1].tolist()
    assert [int(r["fault"]) for r in rows] == truth.fault.tolist()
    with paths["run-otter-ctd.csv"].open(newline="") as file:
        assert "salinity" in next(csv.reader(file))
    with paths["run-otter.csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    labels = [float(r["fault_port_runaway"]) for r in rows]
    assert labels == run.vehicles["otter"].faults[:, 1].tolist()


# ------------------------------------------------------------------ the page


@pytest.fixture(scope="module")
def page():
    """Every sensor, and beside it the same without errors."""
    both = []
    for info in rs.SENSORS:
        both += [info, dataclasses.replace(info, name=f"{info.name}_ideal")]
    boat = dataclasses.replace(rf.BOAT, sensors=tuple(both))
    run = rf.frames((boat,), rs.DURATION)
    taken = {}
    for k, info in enumerate(rs.SENSORS):
        true = rs.measure(info, k, lost=False)
        noise = np.random.default_rng(k).choice([-0.1, 0.1], true.values.shape)
        if info.type == "compass":
            true.values[:, 0] = (3.0 + true.time) % (2.0 * np.pi)
            noise *= 10.0 / 180.0 * np.pi
        values = true.values + noise
        if info.type == "compass":
            values %= 2.0 * np.pi
        taken[info.name] = dataclasses.replace(true, values=values)
        taken[f"{info.name}_ideal"] = true
    silent = taken["hydrophone"]
    taken["hydrophone"] = dataclasses.replace(silent, valid=np.zeros_like(silent.valid))
    recorder = MemoryRecorder()
    rs.write(recorder, frames_of(run.time, run.vehicles, {"otter": taken}), (boat,))
    pairs = [(both[i], both[i + 1]) for i in range(0, len(both), 2)]
    drawn = draw_check(recorder.recording(), "otter", pairs)
    drawn.canvas.draw()
    return drawn


def titled(page):
    return {axes.get_title(loc="left"): axes for axes in page.axes if axes.axison}


def labels_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_page_has_a_panel_per_sensor_and_quantity_with_its_unit(page):
    found = titled(page)
    expected = {
        "imu: acceleration [m/s²]",
        "imu: angular velocity [°/s]",
        "ahrs: orientation [°]",
        "compass: heading [°]",
        "magnetometer: field [µT]",
        "gnss: position [m]",
        "gnss: velocity [m/s]",
        "gnss: fix",
        "uwb: range [m]",
        "pressure: pressure [kPa]",
        "dvl: altitude [m]",
        "ctd: temperature [°C]",
        "battery: charge",
    }
    assert expected <= set(found)
    assert len(found) == 32


def test_page_tells_the_error_of_each_number_in_the_unit_of_its_panel(page):
    found = titled(page)
    assert labels_of(found["imu: acceleration [m/s²]"]) == ["x ±0.1", "y ±0.1", "z ±0.1"]
    assert labels_of(found["imu: angular velocity [°/s]"]) == ["x ±5.7", "y ±5.7", "z ±5.7"]
    # A heading that crosses north does not jump, and neither does its error.
    assert labels_of(found["compass: heading [°]"]) == ["±1"]
    assert labels_of(found["hydrophone: level [kPa]"]) == [""]
    texts = [t.get_text() for t in found["hydrophone: level [kPa]"].texts]
    assert texts == ["no measurement"]


def test_no_title_of_the_page_runs_into_a_legend(page):
    for title, axes in titled(page).items():
        box = axes._left_title.get_window_extent()
        assert not box.overlaps(axes.get_legend().get_window_extent()), title
