"""What is made from a recording: CSV, NetCDF and the page of figures."""

import csv
import dataclasses

import numpy as np
import pytest
import record_frames as rf
import xarray

from seatrial.errors import RecordingError
from seatrial.figures.plot import figure, plot
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder


def record(path, vehicles, duration, finished=True):
    recorder = McapRecorder(path)
    recorder.open(rf.header(vehicles, duration))
    recorder.write(rf.frames(vehicles, duration))
    if finished:
        recorder.close(rf.summary(vehicles, duration))
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return record(tmp_path_factory.mktemp("out") / "run.mcap", (rf.BOAT, rf.AUV), 20.0)


def test_netcdf_reopens_as_the_same_dataset(recorded, tmp_path):
    (path,) = export(recorded, "netcdf", tmp_path / "run.nc")
    with xarray.open_dataset(path, engine="h5netcdf") as again:
        xarray.testing.assert_identical(again.load(), read(recorded).dataset)


def test_csv_has_one_file_per_vehicle_with_units_in_its_columns(recorded, tmp_path):
    paths = export(recorded, "csv", tmp_path / "run.csv")
    assert [p.name for p in paths] == ["run-otter.csv", "run-remus-1.csv"]
    for path, vehicle in zip(paths, (rf.BOAT, rf.AUV), strict=True):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        truth = rf.frames(duration=20.0).vehicles[vehicle.name]
        assert len(rows) == 201
        assert float(rows[-1]["time_s"]) == 20.0
        for i, name in enumerate(("north_m", "east_m", "down_m")):
            assert [float(r[name]) for r in rows] == truth.position[:, i].tolist()
        last = vehicle.actuators[-1]
        column = f"actuator_{last.name}_{last.unit.replace('/', '_')}"
        assert [float(r[column]) for r in rows] == truth.actuators[:, -1].tolist()


def test_csv_of_a_single_vehicle_is_the_file_asked_for(tmp_path):
    path = record(tmp_path / "boat.mcap", (rf.BOAT,), 2.0)
    assert export(path, "csv") == [tmp_path / "boat.csv"]
    assert export(path, "csv", tmp_path / "other.csv") == [tmp_path / "other.csv"]


def test_export_to_an_unknown_format_is_refused(recorded):
    with pytest.raises(RecordingError, match="csv, netcdf"):
        export(recorded, "xlsx")


@pytest.mark.parametrize("to", ["csv", "netcdf", "foxglove"])
@pytest.mark.parametrize("name", ["boat.yaml", "other.mcap", "page.png", "table", "."])
def test_an_export_is_not_written_over_files_of_another_kind(to, name, recorded, tmp_path):
    """A slip of the tab key must not cost the description that the run was made of."""
    place = tmp_path / name
    if name != ".":
        place.write_text("kind: vehicle")
    if (to, name) == ("foxglove", "other.mcap"):
        return
    with pytest.raises(RecordingError, match=f"no name for an export to {to}.*\n.*ends in"):
        export(recorded, to, place if name != "." else name)
    assert name == "." or place.read_text() == "kind: vehicle"
    assert {path.name for path in tmp_path.iterdir()} <= {name}


@pytest.mark.parametrize("name", [".", "/", "", "..", "page"])
def test_a_picture_without_a_name_is_refused(name, recorded):
    with pytest.raises(RecordingError, match=r"ends in \.png, \.pdf, \.svg"):
        plot(recorded, name)


@pytest.mark.parametrize(
    ("picture", "words"), [("x.doc", "ends in .png"), ("no/x.png", "no folder no")]
)
def test_navigating_again_refuses_a_picture_before_it_computes(picture, words, recorded, seatrial):
    code, printed, told = seatrial("navigate", recorded, "--out", picture)
    assert code == 2
    assert words in told
    assert printed == ""


@pytest.mark.parametrize("command", ["plot", "recover", "info", "navigate"])
@pytest.mark.parametrize("place", [".", "/"])
def test_a_folder_that_is_no_recording_is_refused(command, place, seatrial):
    code, _, told = seatrial(command, place)
    assert code == 2
    assert "expected:" in told


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_page_is_a_picture_and_the_same_bytes_each_time(recorded, tmp_path, suffix):
    begin = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix]
    first = plot(recorded, tmp_path / f"a.{suffix}").read_bytes()
    second = plot(read(recorded), tmp_path / f"b.{suffix}").read_bytes()
    assert first.startswith(begin)
    assert len(first) > 20_000
    assert first == second


SWARM = tuple(dataclasses.replace(rf.BOAT, name=f"otter{i}") for i in range(12))


@pytest.mark.parametrize(
    ("vehicles", "duration", "finished"),
    [((rf.BOAT,), 0.2, True), ((rf.AUV,), 1500.0, False), (SWARM, 20.0, True)],
    ids=["two frames of a boat", "killed long dive", "swarm"],
)
def test_no_text_of_the_page_overlaps_another(tmp_path, vehicles, duration, finished):
    page = figure(record(tmp_path / "a.mcap", vehicles, duration, finished))
    page.canvas.draw()
    boxes = [
        (t.get_text(), t.get_window_extent())
        for axes in page.findobj(match=type(page.axes[0]))
        if axes.axison
        for t in [axes.title, axes._left_title, *_legend_texts(axes)]
        if t.get_text()
    ]
    assert len(boxes) > 8
    for i, (one, a) in enumerate(boxes):
        for other, b in boxes[i + 1 :]:
            assert not a.overlaps(b), f"{one!r} overlaps {other!r}"


def _legend_texts(axes):
    legend = axes.get_legend()
    return legend.get_texts() if legend else []


def test_page_draws_depth_downwards_and_heave_upwards(recorded):
    axes = {a.get_title(loc="left"): a for a in figure(recorded).findobj(_is_axes)}
    assert axes["Depth, remus-1 [m]"].yaxis_inverted()
    assert not axes["Heave on the waves, otter [m]"].yaxis_inverted()
    track = axes["Track over ground, north up"]
    assert track.get_aspect() == 1.0


def _is_axes(artist):
    from matplotlib.axes import Axes

    return isinstance(artist, Axes)


def test_drawing_leaves_pyplot_and_its_settings_alone(recorded):
    import matplotlib

    before = dict(matplotlib.rcParams)
    figure(recorded)
    assert dict(matplotlib.rcParams) == before
    import matplotlib.pyplot as plt

    assert plt.get_fignums() == []


def test_page_of_an_empty_recording_is_refused(tmp_path):
    recorder = McapRecorder(tmp_path / "empty.mcap")
    recorder.open(rf.header())
    with pytest.raises(RecordingError, match="0 frames"):
        figure(tmp_path / "empty.mcap")


def test_picture_of_an_unknown_kind_is_refused(recorded, tmp_path):
    with pytest.raises(RecordingError, match=r"\.png, \.pdf, \.svg"):
        plot(recorded, tmp_path / "page.docx")


def test_a_vehicle_that_never_lived_does_not_stop_the_page(tmp_path):
    run = rf.frames(duration=3.0)
    run.vehicles["otter"].position[:] = np.nan
    recorder = McapRecorder(tmp_path / "dead.mcap")
    recorder.open(rf.header())
    recorder.write(run)
    assert plot(tmp_path / "dead.mcap", tmp_path / "dead.png").stat().st_size > 20_000


def _never_lived(boat):
    boat.position[:] = np.nan


def _blew_up(boat):
    boat.position[:15] = (-1e308, 1e308, 0.0)
    boat.position[15:] = (1e308, -1e308, 0.0)


def _raced(boat):
    boat.velocity[10:] = 1e300


@pytest.mark.parametrize("recorder", [McapRecorder, ZarrRecorder])
@pytest.mark.parametrize("fate", [_never_lived, _blew_up, _raced, lambda boat: None])
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
def test_page_of_a_boat_is_drawn_whatever_became_of_it(fate, recorder, tmp_path):
    run = rf.frames((rf.BOAT,), 3.0)
    fate(run.vehicles["otter"])
    path = tmp_path / ("a.mcap" if recorder is McapRecorder else "a.zarr")
    sink = recorder(path)
    sink.open(rf.header((rf.BOAT,), 3.0))
    sink.write(run)
    sink.close(rf.summary((rf.BOAT,), 3.0))
    assert plot(path, tmp_path / "a.png").stat().st_size > 20_000


def test_json_of_a_run_that_diverged_has_null_for_what_is_no_number(capsys):
    import json
    from pathlib import Path

    import seatrial as st
    from seatrial.cli.running import show_run

    summary = rf.summary((rf.BOAT,), 3.0)
    lost = dataclasses.replace(
        summary.vehicles["otter"],
        status="diverged",
        distance=float("inf"),
        speed_max=1e200,
        indices={"advance": float("nan")},
    )
    summary.vehicles["otter"] = lost
    run = st.Run(rf.header((rf.BOAT,), 3.0), summary, 1.0, Path("none"))
    show_run(run, None, as_json=True)
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    boat = told["vehicles"]["otter"]
    assert (boat["status"], boat["distance"], boat["speed_max"]) == ("diverged", None, 1e200)
    assert boat["indices"] == {"advance": None}
