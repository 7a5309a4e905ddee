"""Studies that look at pictures: sampled here, whole by `seatrial study`."""

import json

import pytest

from seatrial.cli.measured.studies import show_study


def claims(name, folder):
    show_study(name, folder, as_json=False, sample=True)
    document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return document, {c["statement"]: c["holds"] for c in document["claims"]}


@pytest.mark.rest
def test_a_detector_of_clear_days_finds_less_in_fog_and_waves(tmp_path):
    document, held = claims("detection", tmp_path)
    # Sixty steps on two dozen pictures do not make a detector that finds most things.
    assert held["in fog and waves it finds fewer of most classes"]
    clear, foggy = document["confusion"].values()
    assert sum(map(sum, clear)) > 0
    assert sum(r[k] for r in clear[:-1] for k in range(5)) > sum(
        r[k] for r in foggy[:-1] for k in range(5)
    )


@pytest.mark.rest
def test_fewer_loops_are_closed_in_waves_than_in_still_water(tmp_path):
    pytest.importorskip("cv2")
    document, held = claims("loop-closure", tmp_path)
    assert held["fewer loops are closed in waves than in still water"]
    assert document["still water"]["wrong"] <= 1
