"""An outage of 18 minutes set beside a published dead reckoning, by `seatrial study outage`.

The study itself takes minutes and is left to `make test-all`.
"""

import json

import numpy as np
import pytest

from seatrial.cli.measured.studies import show_study
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.validation.outage import voyage as outage


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outage")
    holds = show_study("outage", folder, as_json=False, sample=True)
    assert (folder / "outage.png").stat().st_size > 10_000
    assert "| Sabet et al., as cited | 8 % |" in (folder / "outage.md").read_text(encoding="utf-8")
    return json.loads((folder / "outage.json").read_text(encoding="utf-8")) | {"holds": holds}


@pytest.mark.rest
def test_claims_about_the_outage_hold(document):
    assert document["holds"]
    assert len(document["claims"]) == 5


def test_a_log_that_is_no_better_is_refuted_only_beyond_chance():
    def told(*bottom):
        def track(share):
            way = np.array([[0.0, 0.0], [1600.0, 0.0]])
            off = way + np.array([[0.0, 0.0], [0.0, 1600.0 * share]])
            return outage.DeadReckoning(np.array([0.0, 1080.0]), way, off, np.array([1.0, 143.0]))

        names = (outage.WITH, *map(outage.wrong, outage.MISTAKES), outage.WATER)
        tracks = {name: [track(0.012 + 0.001 * k) for k in range(len(bottom))] for name in names}
        tracks |= {outage.WITHOUT: [track(12.0)] * len(bottom)}
        tracks |= {outage.BOTTOM: [track(share) for share in bottom]}
        return outage.judge(outage.Study(tracks))[-1].holds

    assert told(0.009, 0.010)
    assert told(0.011, 0.0145)  # worse by 0.25 ± 1.25 of a thousand
    assert not told(0.015, 0.0161)  # by 3.05 ± 0.05


@pytest.mark.rest
def test_outage_lasts_eighteen_minutes_at_the_ordered_speed(document):
    # 1.5 m/s over ground, and 2 % for turns and for the way down.
    assert document["distance"] == pytest.approx([1.5 * 1080.0] * 2, rel=0.02)


@pytest.mark.rest
def test_the_worse_the_model_the_larger_the_error(document):
    shares = {m: np.array(document["share"][outage.wrong(m)]) for m in outage.MISTAKES}
    assert np.all(shares[0.1] < shares[0.3])
    assert np.all(shares[-0.1] < shares[-0.3])


def test_wrong_vehicle_differs_in_drag_alone():
    right = load("remus100_mss", Vehicle)
    wrong = outage.with_drag(right, 1.3)
    before, after = (v.hydrodynamics.coefficients for v in (right, wrong))
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"Y_v", "Z_w", "K_p", "M_q", "N_r"}
    hulls = [next(a for a in v.actuators if a.name == "hull") for v in (right, wrong)]
    assert hulls[1].lift.zero_lift_drag == pytest.approx(1.3 * hulls[0].lift.zero_lift_drag)
    assert wrong.hydrodynamics.crossflow.drag == pytest.approx(1.3 * 0.80)
    assert outage.with_drag(wrong, 1.0) == wrong
