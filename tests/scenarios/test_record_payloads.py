"""Arrays of dense sensors: what goes in comes out, of every kind of recording, and lazily."""

import dataclasses

import numpy as np
import pytest
import record_frames as rf
import record_sensors as rs
import xarray
from rosbags.highlevel import AnyReader

from seatrial.engine.frames import frames_of
from seatrial.errors import RecordingError
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder
from seatrial.ros.layout import TypeStore
from seatrial.ros.payloads import payload_layout
from seatrial.signals import FaultInfo, Measurements, PayloadInfo, SensorInfo

ANGLES = tuple(np.radians(np.linspace(-60, 60, 16)).tolist())


def dense(name, payload, components=("depth",), **facts):
    units, deviation = ("m",) * len(components), (0.0,) * len(components)
    return SensorInfo(
        *(name, name, components, units, deviation, 5.0, (0.1, 0.0, 0.3), rs.TURNED),
        {k: tuple(v) for k, v in facts.items()},
        payload,
    )


SONAR = dense(
    "sonar",
    PayloadInfo("echogram", (16, 40), "float32", "dB"),
    frequency=(400e3,),
    sound_speed=(1500.0,),
    sample_rate=(9375.0,),
    rx_angles=ANGLES,
)
CAMERA = dense("picture", PayloadInfo("image", (24, 32, 3), "uint8", "1"), components=())
DEPTH = dense("range_camera", PayloadInfo("image", (24, 32), "float32", "m"), ("nearest", "mean"))
LIDAR = dense(
    "lidar", PayloadInfo("cloud", (50, 4), "float32", "m", ("x", "y", "z", "intensity")), ("count",)
)
SCANNER = dense(
    "scanner",
    PayloadInfo("scan", (2, 30), "float32", "m", ("range", "intensity")),
    first_azimuth=(1.0,),
    last_azimuth=(-1.0,),
    sweep_time=(0.1,),
)
SENSORS = (SONAR, CAMERA, DEPTH, LIDAR, SCANNER)
BOAT = dataclasses.replace(
    rf.BOAT,
    sensors=(*SENSORS, rs.SENSORS[0]),
    faults=(FaultInfo("sonar: freeze", "sonar", "freeze"),),
)
AUV = dataclasses.replace(rf.AUV, sensors=(SONAR,))
VEHICLES = (BOAT, AUV)


def fill(info, count, seed):
    rng = np.random.default_rng(seed)
    shape = (count, *info.payload.shape)
    if info.payload.dtype == "uint8":
        return rng.integers(0, 256, shape, np.uint8)
    values = rng.normal(size=shape).astype(info.payload.dtype)
    if info.payload.kind == "cloud":
        values[:, ::7] = np.nan  # beams that met nothing
        values[:, 1, 1] = 0.0
    return values


def measure(info, seed):
    taken = rs.measure(info, seed)
    if info.payload is None:
        return taken
    fault = np.where(taken.time > 3.0, 1, 0).astype(np.int32) if info.name == "sonar" else None
    taken = dataclasses.replace(taken, payload=fill(info, len(taken.time), seed))
    return taken if fault is None else dataclasses.replace(taken, fault=fault)


@pytest.fixture(scope="module")
def run():
    frames = rf.frames(VEHICLES, rs.DURATION)
    taken = {
        v.name: {s.name: measure(s, 10 * i + k) for k, s in enumerate(v.sensors)}
        for i, v in enumerate(VEHICLES)
    }
    return frames_of(frames.time, frames.vehicles, taken)


def write(sink, run, **how):
    return rs.write(sink, run, VEHICLES, **how)


@pytest.fixture(scope="module")
def recordings(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dense")
    write(McapRecorder(folder / "run.mcap"), run)
    write(ZarrRecorder(folder / "run.zarr"), run)
    memory = write(MemoryRecorder(), run).recording()
    return {"mcap": read(folder / "run.mcap"), "zarr": read(folder / "run.zarr"), "memory": memory}


PLACES = [(v.name, s) for v in VEHICLES for s in v.sensors if s.payload is not None]


@pytest.mark.parametrize("kind", ["mcap", "zarr", "memory"])
@pytest.mark.parametrize(("vehicle", "info"), PLACES, ids=lambda p: getattr(p, "name", p))
def test_every_array_comes_back_bit_by_bit(kind, vehicle, info, run, recordings):
    truth = run.measurements[vehicle][info.name]
    expected = truth.payload[truth.valid]
    found = recordings[kind].payload(vehicle, info.name)
    assert (found.shape, found.dtype) == (expected.shape, np.dtype(info.payload.dtype))
    assert np.asarray(found).tobytes() == expected.tobytes()
    assert found[-1].tobytes() == expected[-1].tobytes()
    assert found[3:20:4].tobytes() == expected[3:20:4].tobytes()
    assert found[[5, 2, 9]].tobytes() == expected[[5, 2, 9]].tobytes()
    np.testing.assert_array_equal(found[4, ..., 0], expected[4, ..., 0])
    np.testing.assert_array_equal(found[2:5, 1:3], expected[2:5, 1:3])
    assert [row.tobytes() for row in found] == [row.tobytes() for row in expected]


@pytest.mark.parametrize("kind", ["mcap", "zarr", "memory"])
def test_the_few_numbers_of_a_dense_sensor_are_read_without_its_arrays(kind, run, recordings):
    recording = recordings[kind]
    for vehicle, info in PLACES:
        truth = run.measurements[vehicle][info.name]
        truth = truth.cut(truth.valid)
        samples = recording.samples(vehicle, info.name)
        samples = samples.cut(samples.valid)
        assert samples.payload is None
        np.testing.assert_allclose(samples.time, truth.time, rtol=0, atol=1e-9)
        np.testing.assert_allclose(samples.arrival, truth.arrival, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(samples.values, truth.values)
        if vehicle == "otter":
            np.testing.assert_array_equal(samples.fault, truth.fault)
        data = recording.sensor(vehicle, info.name)
        assert set(data) == {*info.components, "arrival", "fault"}
        assert data.sizes["time"] == len(recording.payload(vehicle, info.name))


@pytest.mark.parametrize(("vehicle", "info"), PLACES, ids=lambda p: getattr(p, "name", p))
def test_another_reader_of_ros_finds_the_same_bytes(vehicle, info, run, recordings):
    """rosbags reads the types from the file itself; the conventions are those of each message."""
    truth = run.measurements[vehicle][info.name]
    truth = truth.cut(truth.valid)
    namespace = vehicle.replace("-", "_")
    topic = f"/{namespace}/{info.name}/{info.payload.kind}"
    with AnyReader([recordings["mcap"].path]) as reader:
        (connection,) = [c for c in reader.connections if c.topic == topic]
        found = [
            (time, reader.deserialize(data, connection.msgtype))
            for _, time, data in reader.messages(connections=[connection])
        ]
    assert len(found) == len(truth.time)
    for k, (time, message) in enumerate(found):
        stamp = message.header.stamp
        lasts = info.facts.get("sweep_time", (0.0,))[0]  # a scan has the stamp of its first ray
        begun = max(round(truth.time[k] * 1e9) - round(lasts * 1e9), 0)
        assert stamp.sec * 1_000_000_000 + stamp.nanosec == begun
        assert time == round(truth.arrival[k] * 1e9)
        assert message.header.frame_id == f"{namespace}/{info.name}"
        check = {
            "echogram": check_sonar,
            "image": check_image,
            "cloud": check_cloud,
            "scan": check_scan,
        }
        check[info.payload.kind](message, info, truth.payload[k])


def check_scan(message, info, array):
    assert connection_type(message) == "sensor_msgs/msg/LaserScan"
    np.testing.assert_array_equal(message.ranges, array[0])
    np.testing.assert_array_equal(message.intensities, array[1])
    assert (message.angle_min, message.angle_max) == (-1.0, 1.0)
    assert message.time_increment == pytest.approx(0.1 / 30)


def check_sonar(message, info, array):
    beams, bins = info.payload.shape
    assert connection_type(message) == "marine_acoustic_msgs/msg/RawSonarImage"
    assert (message.image.beam_count, message.samples_per_beam) == (beams, bins)
    assert (message.image.dtype, message.image.is_bigendian) == (8, False)
    assert message.ping_info.frequency == 400e3
    assert message.ping_info.sound_speed == 1500.0
    assert message.sample_rate == 9375.0
    np.testing.assert_array_equal(message.rx_angles, np.float32(ANGLES))
    rows = message.image.data.tobytes()  # ranges, the beams side by side
    assert np.frombuffer(rows, "<f4").reshape(bins, beams).T.tobytes() == array.tobytes()


def check_image(message, info, array):
    assert connection_type(message) == "sensor_msgs/msg/Image"
    assert (message.height, message.width) == info.payload.shape[:2]
    assert message.encoding == {"uint8": "rgb8", "float32": "32FC1"}[info.payload.dtype]
    assert message.step * message.height == array.nbytes
    assert message.data.tobytes() == array.tobytes()


def check_cloud(message, info, array):
    assert connection_type(message) == "sensor_msgs/msg/PointCloud2"
    names, points = info.payload.fields, len(array)
    assert (message.height, message.width, message.point_step) == (1, points, 16)
    assert [(f.name, f.offset, f.datatype) for f in message.fields] == [
        (name, 4 * i, 7) for i, name in enumerate(names)
    ]
    turned = array * np.float32([1, -1, -1, 1])  # forward, left, up
    found = np.frombuffer(message.data.tobytes(), "<f4").reshape(points, 4)
    np.testing.assert_array_equal(found, turned)
    assert not message.is_dense


def connection_type(message):
    return message.__msgtype__


def test_types_of_sonars_are_written_into_the_file(recordings):
    """So that a reader that never heard of `marine_acoustic_msgs` understands them."""
    from mcap.reader import make_reader

    with recordings["mcap"].path.open("rb") as file:
        schemas = make_reader(file).get_summary().schemas.values()
    (text,) = [s.data.decode() for s in schemas if s.name.endswith("RawSonarImage")]
    for line in ("MSG: marine_acoustic_msgs/PingInfo", "uint32 beam_count", "float32[] rx_angles"):
        assert line in text


def test_frames_and_numbers_are_read_without_unpacking_a_single_array(recordings, tmp_path, run):
    write(McapRecorder(tmp_path / "a.mcap"), run, block=61)
    recording = read(tmp_path / "a.mcap")
    file = recording.source.file
    dense = [p for p in file.places if any(t.endswith(("image", "cloud")) for t in p.counts)]
    plain = [p for p in file.places if p not in dense]
    assert dense
    assert plain
    assert not any("/clock" in place.counts for place in dense)
    recording.dataset.load()
    recording.samples("otter", "picture")
    assert 0 < file.chunks_read <= 3 * len(plain)
    before = file.chunks_read
    recording.payload("otter", "picture")[2]
    assert file.chunks_read == before + 1


def test_killed_recording_has_arrays_for_all_its_numbers(run, tmp_path):
    path = tmp_path / "cut.mcap"
    write(McapRecorder(path), run, finished=False)
    whole = path.read_bytes()
    first = 40_000
    for offset in np.random.default_rng(5).integers(first, len(whole), 15).tolist():
        path.write_bytes(whole[:offset])
        recording = read(path)
        assert not recording.complete
        for vehicle, info in PLACES:
            data = recording.sensor(vehicle, info.name)
            arrays = recording.payload(vehicle, info.name)
            assert len(arrays) == data.sizes["time"]
            truth = run.measurements[vehicle][info.name]
            expected = truth.payload[truth.valid][: len(arrays)]
            assert np.asarray(arrays).tobytes() == expected.tobytes()


def test_same_arrays_give_the_same_bytes(run, recordings, tmp_path):
    write(McapRecorder(tmp_path / "again.mcap"), run)
    assert (tmp_path / "again.mcap").read_bytes() == recordings["mcap"].path.read_bytes()


def test_netcdf_holds_the_arrays_and_csv_the_numbers(run, recordings, tmp_path):
    (path,) = export(recordings["mcap"], "netcdf", tmp_path / "run.nc")
    for vehicle, info in PLACES:
        with xarray.open_dataset(path, group=f"{vehicle}/{info.name}", engine="h5netcdf") as group:
            truth = run.measurements[vehicle][info.name]
            array = group[info.payload.kind]
            assert array.values.tobytes() == truth.payload[truth.valid].tobytes()
            assert array.attrs["units"] == info.payload.unit
    tables = export(recordings["mcap"], "csv", tmp_path / "run.csv")
    (sonar,) = [t for t in tables if t.name == "run-otter-sonar.csv"]
    assert sonar.read_text().splitlines()[0] == "time_s,depth_m,arrival_s,fault"


def test_sensor_without_arrays_is_told_from_those_that_have_some(recordings):
    with pytest.raises(RecordingError, match=r"no arrays(.|\n)*sonar, picture, range_camera"):
        recordings["mcap"].payload("otter", "imu")


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (PayloadInfo("hologram", (2, 2), "uint8", "1"), "unknown kind 'hologram'"),
        (PayloadInfo("image", (2, 2), "complex64", "1"), "of complex64"),
        (PayloadInfo("image", (2, 2, 3, 4), "uint8", "1"), r"of shape \(2, 2, 3, 4\)"),
        (PayloadInfo("echogram", (0, 5), "uint8", "1"), r"of shape \(0, 5\)"),
        (PayloadInfo("cloud", (2, 3), "float32", "m", ("x", "y")), "3 numbers per point and 2"),
        (PayloadInfo("cloud", (2, 2), "uint16", "m", ("x", "y")), "of uint16 places"),
        (PayloadInfo("image", (40_000, 40_000), "uint8", "1"), "1,600,000,000 bytes"),
    ],
)
def test_array_that_no_message_holds_is_refused_before_a_recording_is_replaced(
    payload, problem, tmp_path
):
    path = tmp_path / "a.mcap"
    path.write_bytes(b"precious")
    boat = dataclasses.replace(rf.BOAT, sensors=(dense("odd", payload),))
    with pytest.raises(RecordingError, match=problem):
        McapRecorder(path).open(rf.header((boat,)))
    assert path.read_bytes() == b"precious"


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "float32", "float64"])
@pytest.mark.parametrize("kind", ["echogram", "image", "cloud"])
def test_every_type_of_number_survives_its_message(kind, dtype):
    fields = ("intensity", "ring", "time") if kind == "cloud" else ()
    info = dense("s", PayloadInfo(kind, (5, 3), dtype, "1", fields))
    layout = payload_layout(TypeStore(), info, "a/s")
    array = np.frombuffer(np.random.default_rng(0).bytes(15 * np.dtype(dtype).itemsize), dtype)
    at = np.array([4.000000001])
    found = np.ones(1, np.bool_)
    values, fault = np.empty((1, 0)), np.zeros(1, np.int32)
    samples = Measurements(at, at, values, found, fault, array.reshape(1, 5, 3))
    message = layout.encode(samples, 0)
    assert len(message) == layout.size
    assert layout.decode(message).tobytes() == array.tobytes()
    assert layout.decode_stamp(message) == 4_000_000_001
