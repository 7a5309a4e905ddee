"""The studies that reproduce the ASVLite paper: sampled here, whole by `seatrial study`."""

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.cli.measured.studies import show_cases, show_study
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.step import step
from seatrial.core.types import State
from seatrial.errors import SpecError
from seatrial.spatial.rotations import from_euler, to_euler
from seatrial.validation.asvlite import paper as asvlite
from seatrial.validation.asvlite import speed, tank, trends
from seatrial.validation.asvlite.heading import course, turned_back, without_yaw
from seatrial.validation.consistency import cases
from seatrial.validation.consistency import voyages as consistency
from seatrial.validation.missions.cases import Row, keep, kept, named
from seatrial.validation.missions.voyages import Voyage, drives, time_given


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("studies")


def study(name, folder):
    holds = show_study(name, folder, as_json=False, sample=True)
    document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return holds, document


def claims(document):
    return {c["statement"]: c["holds"] for c in document["claims"]}


@pytest.mark.rest
def test_trends_of_figure_2_come_out_beyond_chance_but_for_two_of_pitch(folder):
    # Each difference exceeds three standard errors; seeds are fixed, so no false alarms.
    holds, document = study("asvlite-trends", folder)
    assert claims(document) == {
        "heave grows with wave height": True,
        "roll rises, then falls with wave height": True,
        "pitch rises with wave height and levels off (the paper: then falls)": True,
        "at rest, pitch rises, then falls with wave height": True,
        "heave does not depend on heading": True,
        # Head and following sea are level since waves push added mass in the axes of the hull.
        "pitch is largest in head sea, then following, least in beam": False,
        "roll is largest in beam sea": True,
        "every vessel covers its 50 m": True,
    }
    assert not holds
    assert document["runs"] == 3 * 9 * 40
    assert document["overturned"] < 0.02 * document["runs"]
    heave = np.array(document["mean"]["heave"])
    # A float much smaller than the waves rides on them: 2σ of heave is half the wave height.
    assert heave.mean(axis=1) == pytest.approx(0.5 * np.array([0.5, 1.25, 2.0]), rel=0.05)
    # At rest a round hull has no bow: pitch in head sea is roll in beam sea.
    still = document["at_rest"]["mean"]
    pitch, roll = np.array(still["pitch"]), np.array(still["roll"])
    assert pitch[:, 1] == pytest.approx(roll[:, 0], rel=0.02)
    assert (folder / "asvlite-trends.png").stat().st_size > 10_000


def test_heave_in_the_tank_lies_closer_to_the_measured_range_than_the_papers(folder):
    holds, document = study("asvlite-tank", folder)
    assert holds
    assert document["heading_deg"] == 129
    assert document["implied_period"] == tank.PERIOD
    assert tank.PERIOD in document["periods_closer"]["heave"]
    assert tank.PERIOD in document["periods_closer"]["roll"]
    assert tank.PERIOD in document["periods_closer"]["pitch"]
    least, greatest = np.array(document["ranges"]["heave"])
    long_wave = document["periods"].index(3.0)
    # In a wave 35 hulls long the vehicle moves as the surface does, at any heading.
    assert greatest[long_wave] == pytest.approx(asvlite.WAVE_AMPLITUDE, rel=0.03)
    assert least[long_wave] == pytest.approx(-asvlite.WAVE_AMPLITUDE, rel=0.03)
    assert (folder / "asvlite-tank.png").stat().st_size > 10_000


def test_speed_study_measures_what_the_paper_does(folder):
    # How fast this machine is today decides nothing here.
    _, document = study("asvlite-speed", folder)
    assert [r["paper"] for r in document["table_iii"]] == [[618.0]]
    assert [r["vessels"] for r in document["table_iv"]] == [10, 500]
    assert document["table_iv"][1]["paper"] == [1.0, 5.0, 7.0]
    table = (folder / "asvlite-speed.md").read_text(encoding="utf-8")
    assert "| 500 | 1× | 5× | 7× |" in table
    for row in (*document["table_iii"], *document["table_iv"]):
        # 40 ms of sea time per step of all vessels.
        expected = 0.04e6 / (row["us_per_vehicle_step"] * row["vessels"])
        assert row["real_time_factor"] == pytest.approx(expected)
        assert row["ratio"] == pytest.approx(row["real_time_factor"] / max(row["paper"]))


def test_a_single_row_slower_than_the_paper_refutes_its_claim():
    def row(factor, paper):
        return speed.SpeedRow(1, 5, 15, "double", factor, 0.04e6 / factor, paper)

    fast = [row(2000.0, (618.0,)), row(21.0, (1.0, 5.0, 7.0)), row(5.0, ())]
    (claim,) = speed.judge(fast)
    assert claim.holds
    assert claim.evidence == "at least 3.0 times"
    (claim,) = speed.judge([*fast, row(6.9, (1.0, 5.0, 7.0))])
    assert not claim.holds


def test_unknown_study_is_refused_with_the_names_of_those_there_are(tmp_path):
    with pytest.raises(SpecError, match="asvlite-speed, asvlite-tank, asvlite-trends"):
        show_study("asvlite", tmp_path, as_json=False, sample=True)


def smarty_in(height, seed=0):
    ocean = build_ocean(asvlite.open_sea(height), seed, np.dtype(np.float64))
    return ocean, compile_vehicle(asvlite.smarty(), ocean, np.dtype(np.float64)).model


def test_held_heading_stays_while_roll_and_pitch_move(x64):
    ocean, model = smarty_in(1.0)
    model = without_yaw(model)
    heading = math.radians(120.0)
    start = State(
        position=jnp.zeros(3),
        attitude=from_euler(jnp.zeros(()), jnp.zeros(()), jnp.asarray(heading)),
        velocity=jnp.zeros(6),
        actuators=jnp.zeros(model.channels),
    )
    held = course(start.attitude)

    def body(state, i):
        moved = turned_back(step(model, ocean, state, state.actuators, i * 0.04, 0.04), held)
        return moved, (to_euler(moved.attitude), moved.velocity[5])

    _, (euler, rate) = jax.jit(lambda s: jax.lax.scan(body, s, jnp.arange(750)))(start)
    assert np.asarray(euler)[:, 2] == pytest.approx(heading, abs=1e-5)
    assert np.all(np.asarray(rate) == 0.0)
    assert np.ptp(np.asarray(euler)[:, :2], axis=0).min() > math.radians(5.0)


def test_seas_of_all_heights_share_one_program(x64):
    _, first = smarty_in(asvlite.HEIGHTS[0])
    _, last = smarty_in(asvlite.HEIGHTS[-1])
    assert jax.tree.structure(first) == jax.tree.structure(last)
    assert [a.shape for a in jax.tree.leaves(first)] == [a.shape for a in jax.tree.leaves(last)]
    assert not np.array_equal(first.excitation.table, last.excitation.table)


def test_seed_of_a_uniform_sea_sets_its_phases_alone(x64):
    (a, _), (b, _) = smarty_in(1.0, seed=1), smarty_in(1.0, seed=2)
    assert np.array_equal(a.waves.omega, b.waves.omega)
    assert np.array_equal(a.waves.amplitude, b.waves.amplitude)
    assert not np.array_equal(a.waves.phase, b.waves.phase)


def test_whole_study_is_the_papers_42900_runs():
    assert trends.Grid().runs == 42_900
    assert asvlite.HEIGHTS[0] == 0.5
    assert asvlite.HEIGHTS[-1] == 2.0
    assert asvlite.HEADINGS_DEG[-1] == 360.0


@pytest.mark.rest
def test_innovations_and_errors_of_the_sample_are_of_the_size_that_the_filter_states(folder):
    """Two vehicles for half a minute: bands of 30 for minutes do not apply, orders do."""
    _, document = study("consistency", folder)
    (found,) = document["sets"]
    assert found["alarms"] == 0
    assert {"compass", "gnss 1", "gnss 2"} == set(found["nis"])
    assert all(0.6 < value < 1.6 for value in found["nis"].values())
    assert all(part["nees"] < 4.0 for part in found["parts"].values())
    table = (folder / "consistency.md").read_text(encoding="utf-8")
    assert "| otter | full |" in table


def test_missions_are_reached_without_a_capsize_and_near_the_track(folder):
    holds, document = study("missions", folder)
    assert holds
    assert (folder / "missions.png").stat().st_size > 10_000
    assert {m["vehicle"] for m in document["missions"]} == {"otter"}
    assert all(m["reached"] == m["waypoints"] == 2 for m in document["missions"])
    assert max(m["off_track"] for m in document["missions"]) < 0.5


def test_cases_of_the_missions_are_kept_one_by_one_and_make_one_page(tmp_path):
    def row(vehicle, sea, feedback, *off_track):
        voyages = [
            Voyage(seed, 5, 4, off, 0.1, 0.5, False, "completed", 0.3, 1.0)
            for seed, off in enumerate(off_track)
        ]
        return Row(vehicle, sea, feedback, voyages, 2.0, 1.5, 10.0)

    sea = row("wamv", "sea state 3", "estimate", 0.4, math.nan)
    keep(sea, "wamv:sea3", tmp_path)
    keep(row("otter", "calm", "truth", 0.3), "otter:truth", tmp_path)
    found = kept(tmp_path)
    assert [(r.vehicle, r.sea) for r in found] == [("otter", "calm"), ("wamv", "sea state 3")]
    assert found[1].off_track == sea.off_track == 0.4
    assert math.isnan(found[1].voyages[1].off_track)
    assert not show_cases("missions", tmp_path, False, [], None, merge=True)  # 80 % are reached
    document = json.loads((tmp_path / "missions.json").read_text(encoding="utf-8"))
    assert len(document["missions"]) == 3
    assert claims(document)["99 % of the waypoints are reached in calm"] is False
    assert claims(document)["no vehicle capsizes"] is True


def test_missions_are_given_the_same_time_whichever_of_them_sail_together():
    (drive,) = drives(["smarty"])
    some = [time_given(drive, "sea state 3", range(k, k + 25), 5) for k in (1, 26, 51, 76)]
    assert len(set(some)) == 1
    assert time_given(drive, "sea state 3", range(1, 1000), 5) > some[0]


def test_cases_of_the_consistency_are_kept_one_by_one_and_make_one_page(tmp_path):
    def row(vehicle, sensors, tilt, alarms):
        parts = dict.fromkeys(consistency.PARTS, consistency.Spread(1.0, 0.95, 0.1, 0.1))
        parts["tilt"] = consistency.Spread(tilt, 0.91, 0.1, 0.08)
        judged = consistency.Judged(parts, {"gnss 1": 1.1}, {"floating": 0.3}, alarms, 1.2)
        return cases.Row(vehicle, sensors, 30, 200.0, judged)

    rows = [row("otter", "full", 1.2, 0), row("sf30k", "matched", 1.5, 1)]
    for one in reversed(rows):
        cases.keep(one, tmp_path)
    assert cases.kept(tmp_path) == rows
    assert not show_cases("consistency", tmp_path, False, [], None, merge=True)
    found = claims(json.loads((tmp_path / "consistency.json").read_text(encoding="utf-8")))
    assert found["NEES between 0.7 and 1.4, full sensors"] is True
    assert found["NEES between 0.7 and 1.4, matched sensors"] is False
    assert found["fewer false alarms than one in ten hours"] is False
    assert cases.named("remus100*:full") == [f"remus100{x}:full" for x in ("", "_mss", "_x")]
    with pytest.raises(SpecError, match="otter:nominal"):
        cases.named("otter:nominal")


def test_a_case_that_is_not_there_is_refused(tmp_path):
    assert named("remus100*:sea4") == ["remus100:sea4", "remus100_mss:sea4", "remus100_x:sea4"]
    with pytest.raises(SpecError, match="otter:sea5"):
        named("otter:sea5")
    with pytest.raises(SpecError, match="kept"):
        show_cases("missions", tmp_path, False, [], None, merge=True)
    with pytest.raises(SpecError, match="missions"):
        show_cases("outage", tmp_path, False, ["otter:sea3"], None, merge=False)
    with pytest.raises(SpecError, match="--case"):
        show_cases("missions", tmp_path, False, [], 3, merge=False)
