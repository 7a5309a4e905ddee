"""A harbour run with LiDAR, radar and depth camera, whose recording is cut: `judges/harbour.py` in
small."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

import seatrial as st
from seatrial.record.export import export
from seatrial.record.reader import read
from seatrial.spec.loading import load_text

JUDGE = Path(__file__).parents[2] / "judges" / "harbour.py"
SENSORS = {"lidar": 5.0, "radar": 0.5, "camera": 2.0}
"""By name, their rates."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    found = importlib.util.spec_from_file_location("harbour", JUDGE)
    judge = importlib.util.module_from_spec(found)
    found.loader.exec_module(judge)
    scenario = load_text(judge.SCENARIO, st.Scenario).model_copy(update={"duration": 12.0})
    path = tmp_path_factory.mktemp("harbour") / "run.mcap"
    st.run(scenario, out=path)
    return path


def test_every_array_of_the_dense_sensors_is_there_and_exported(recorded):
    recording = read(recorded)
    for name, rate in SENSORS.items():
        assert len(recording.payload("wamv", name)) == round(12.0 * rate) + 1
    cloud = recording.payload("wamv", "lidar")[30]
    seen = np.isfinite(cloud[:, 0])
    assert 200 < seen.sum() < len(cloud)
    picture = recording.payload("wamv", "camera")[10]
    assert np.nanmin(picture[np.isfinite(picture)]) > 1.0
    for path in export(recorded, "netcdf"):
        assert path.stat().st_size > 1e6


@pytest.mark.parametrize("share", [0.4, 0.75])
def test_cut_in_the_middle_it_opens_to_that_point(recorded, share, tmp_path):
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(recorded.read_bytes())
    os.truncate(cut, int(share * recorded.stat().st_size))
    whole, recording = read(recorded), read(cut)
    last = float(recording.vehicle("wamv").time[-1])
    assert 12.0 * share - 5.0 < last < 12.0
    for name, rate in SENSORS.items():
        some, arrays = recording.samples("wamv", name), recording.payload("wamv", name)
        assert len(some.time) == len(arrays)
        assert len(arrays) >= int(rate * (last - 3.0))
        complete = whole.payload("wamv", name)
        for k in {0, len(arrays) - 1}:
            assert arrays[k].tobytes() == complete[k].tobytes()
