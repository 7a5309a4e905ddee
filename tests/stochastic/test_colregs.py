"""A thousand encounters of two vessels, twice. The seed is fixed, so there are no false alarms."""

import dataclasses
import json

import numpy as np
import pytest

from seatrial.cli.measured.studies import show_study
from seatrial.validation.colregs import claims as colregs_claims
from seatrial.validation.colregs import encounters as colregs
from seatrial.validation.colregs.figures import draw_failures


@pytest.fixture(scope="module")
def encounters():
    return colregs.draw_encounters(colregs.ENCOUNTERS)


@pytest.fixture(scope="module")
def both(encounters):
    return colregs.run_encounters(encounters, passive=False)


@pytest.fixture(scope="module")
def alone(encounters):
    return colregs.run_encounters(encounters, passive=True)


def test_encounters_are_of_all_kinds_and_lead_close_if_nobody_acts(encounters):
    assert [np.sum(encounters.kind == k) for k in colregs.KINDS] == [200] * 5
    miss = colregs_claims.unavoided(encounters)
    assert miss.max() < 2.0 * colregs.RADIUS + colregs.CLEARANCE
    # Uniform up to 0.8 of radii and clearance: 39 % within the radii, ±5 standard deviations.
    share = np.mean(miss < 2.0 * colregs.RADIUS)
    assert share == pytest.approx(2.0 * colregs.RADIUS / colregs.OFFSET, abs=5 * 0.0155)


@pytest.mark.parametrize("name", ["both", "alone"])
def test_nobody_collides(name, request):
    voyages = request.getfixturevalue(name)
    assert voyages.closest.size == 1000
    assert not colregs_claims.collided(voyages).any()


@pytest.mark.parametrize(("name", "asked"), [("both", 600), ("alone", 400)])
def test_head_on_vessels_pass_port_to_port_and_giving_way_is_passing_astern(name, asked, request):
    side = colregs_claims.right_side(request.getfixturevalue(name))
    assert np.isfinite(side).sum() == asked
    assert np.nansum(side) == asked


def test_a_vessel_that_stands_on_does_so_while_the_other_gives_way(both):
    stood = colregs_claims.stood_on(both)
    assert np.isfinite(stood).sum() == 800
    assert np.nansum(stood) == 800


def test_a_vessel_that_stands_on_acts_at_last_and_not_to_port_when_the_other_does_not(alone):
    crossing = alone.encounters.kind == colregs.PORT
    doomed = colregs_claims.unavoided(alone.encounters) < 2.0 * colregs.RADIUS
    assert np.all(alone.altered[0, crossing & doomed])
    assert not alone.to_port[0, crossing].any()


def test_the_clearance_wanted_is_kept_but_for_a_little_where_both_avoid(both):
    wanted = 2.0 * colregs.RADIUS + colregs.CLEARANCE
    assert both.closest.min() > 0.9 * wanted
    assert np.mean(both.closest > 0.97 * wanted) > 0.95


def test_failures_would_be_listed_and_drawn(alone, tmp_path):
    closest = alone.closest.copy()
    closest[[3, 700]] = 1.0
    broken = dataclasses.replace(alone, closest=closest)
    assert colregs_claims.failures(broken).tolist() == [3, 700]
    assert colregs_claims.describe(broken, 700)["collision"]
    assert draw_failures(alone, tmp_path / "none.png") is None
    drawn = draw_failures(broken, tmp_path / "failures.png")
    assert drawn is not None
    assert drawn.stat().st_size > 10_000


def test_the_study_writes_its_claims_and_its_figure(tmp_path):
    assert show_study("colregs", tmp_path, as_json=False, sample=True)
    document = json.loads((tmp_path / "colregs.json").read_text(encoding="utf-8"))
    assert document["failures"] == []
    assert all(claim["holds"] for claim in document["claims"])
    assert (tmp_path / "colregs.png").stat().st_size > 10_000
