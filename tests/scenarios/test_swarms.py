"""Swarms: laid out, varied, cut into parts, in single precision, with wave forces from a file."""

import sys

import numpy as np
import pytest

import seatrial as st
from seatrial.cli import main
from seatrial.engine import parts as dividing

SEA = {
    "kind": "world",
    "name": "sea",
    "waves": {
        "spectrum": "pierson_moskowitz",
        "significant_height": 0.5,
        "spreading": "cos2",
        "frequencies": 15,
        "directions": 5,
    },
}


def swarm(count=9, **changes):
    participant = {"name": "s", "vehicle": st.load("smarty"), "count": count}
    participant |= {k: changes.pop(k) for k in list(changes) if k in PARTICIPANT_KEYS}
    described = {
        "kind": "scenario",
        "name": "swarm",
        "duration": 4.0,
        "time_step": 0.04,
        "control_period": 0.04,
        "frame_period": 0.4,
        "integrator": "semi_implicit",
        "world": SEA,
        "vehicles": [participant],
    }
    return st.Scenario.model_validate(described | changes)


PARTICIPANT_KEYS = {"start", "formation", "spacing", "vary", "wave_forces", "commands", "name"}


def places(scenario):
    group = st.compile_scenario(scenario).fleets[0].group
    return np.asarray(group.initial.position, np.float64)[:2].T


def neighbour_distances(points):
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    return apart.min(axis=1)


@pytest.mark.parametrize("formation", ["grid", "line", "circle"])
def test_neighbours_of_a_formation_are_one_spacing_apart_around_the_start(formation):
    scenario = swarm(
        9,
        formation=formation,
        spacing=7.0,
        start={"position": [100.0, -50.0, 0.0], "heading_deg": 30.0},
    )
    points = places(scenario)
    np.testing.assert_allclose(neighbour_distances(points), 7.0, rtol=1e-5)
    np.testing.assert_allclose(points.mean(axis=0), [100.0, -50.0], atol=1e-4)


def test_a_line_abreast_lies_across_the_heading():
    points = places(swarm(5, formation="line", start={"heading_deg": 90.0}))
    np.testing.assert_allclose(points[:, 1], 0.0, atol=1e-4)  # heading east: spread north-south
    assert np.ptp(points[:, 0]) == pytest.approx(20.0, rel=1e-5)


def test_a_random_formation_fills_the_square_and_follows_the_seed():
    first, again, other = (
        places(swarm(100, formation="random", spacing=4.0, seed=s)) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first).max() <= 20.0
    assert np.abs(first - other).max() > 1.0


def test_vessels_are_numbered_and_share_one_program():
    plan = st.compile_scenario(swarm(12))
    assert [v.name for v in plan.header.vehicles][:2] == ["s_00", "s_01"]
    assert len(plan.fleets) == 1
    assert plan.header.description.count("kind: vehicle") == 1


def test_swarms_are_single_precision_by_default_and_others_double():
    def dtype(scenario):
        return st.compile_scenario(scenario).fleets[0].group.initial.position.dtype

    assert dtype(swarm(2)) == np.float32
    assert dtype(swarm(2, precision="double")) == np.float64
    assert dtype(swarm(1)) == np.float64


def test_a_vessel_of_a_large_swarm_moves_as_it_would_alone():
    many = st.run(swarm(600, precision="double")).dataset
    for name, number in (("s_000", 0), ("s_255", 255), ("s_599", 599)):
        x, y, _ = many.position.sel(vehicle=name).values[0]
        scenario = swarm(1, precision="double", start={"position": [float(x), float(y), 0.0]})
        alone = st.run(scenario).dataset.position.values[:, 0]
        np.testing.assert_allclose(many.position.values[:, number], alone, atol=1e-9, err_msg=name)


def test_parts_of_a_swarm_are_equal_and_leave_nobody_out():
    group = st.compile_scenario(swarm(600)).fleets[0].group
    parts = dividing.split(group)
    assert len({part.count for part, _, _ in parts}) == 1
    assert max(part.count for part, _, _ in parts) <= dividing.VEHICLES_PER_PART
    assert sum(new for _, _, new in parts) == 600
    joined = np.concatenate(
        [np.asarray(part.initial.position)[:, :new] for part, _, new in parts], axis=1
    )
    np.testing.assert_array_equal(joined, group.initial.position)


def test_masses_vary_as_the_file_says_and_the_motion_follows():
    plan = st.compile_scenario(swarm(400, vary={"inertia.mass": {"relative": 0.1}}))
    masses = np.asarray(plan.fleets[0].group.model.inertia.mass)
    nominal = st.load("smarty").inertia.mass
    assert masses.shape == (400,)
    assert masses.min() >= 0.9 * nominal - 1e-4
    assert masses.max() <= 1.1 * nominal + 1e-4
    # uniform: the mean of 400 draws has a standard error of 0.1/√3/20; 5 of them are one in
    # two million
    assert abs(masses.mean() / nominal - 1.0) < 5 * 0.1 / np.sqrt(3) / 20
    runs = st.run(plan)
    assert runs.status == "completed"


def test_a_varied_vessel_equals_one_described_that_way():
    scenario = swarm(
        3, precision="double", vary={"hydrodynamics.coefficients.X_u_au": {"relative": 0.5}},
        start={"speed": 1.0}, world={"kind": "world", "name": "calm"},
    )  # fmt: skip
    plan = st.compile_scenario(scenario)
    model = plan.fleets[0].group.model
    term = [t.velocities == (0,) and t.absolutes == (0,) for t in model.coefficients.terms]
    drag = np.asarray(model.coefficients.values)[term.index(True)]
    moved = st.run(plan).dataset.position.values[:, :, 0]
    for i in range(3):
        vehicle = st.load("smarty").model_dump()
        vehicle["hydrodynamics"]["coefficients"]["X_u_au"] = float(drag[i])
        alone = swarm(1, precision="double", start={"speed": 1.0}, world=scenario.world)
        alone = alone.model_dump()
        alone["vehicles"][0]["vehicle"] = vehicle
        track = st.run(st.Scenario.model_validate(alone)).dataset.position.values[:, 0, 0]
        np.testing.assert_allclose(moved[:, i] - moved[0, i], track - track[0], atol=1e-9)


def test_a_path_that_is_no_number_cannot_vary():
    with pytest.raises(st.SpecError, match=r"no number at `inertia.weight`"):
        st.compile_scenario(swarm(2, vary={"inertia.weight": {"relative": 0.1}}))
    with pytest.raises(st.SpecError, match="cannot exist"):
        st.compile_scenario(
            swarm(200, vary={"height": {"relative": 0.99, "distribution": "normal"}})
        )


def test_mixed_fleets_keep_every_kind_to_its_own_program():
    fleet = swarm(20).model_dump()
    mother = {"name": "mother", "vehicle": st.load("otter").model_dump(), "sensors": []}
    fleet["vehicles"] = [*fleet["vehicles"], mother]
    plan = st.compile_scenario(st.Scenario.model_validate(fleet))
    assert sorted(len(s.names) for s in plan.fleets) == [1, 20]
    assert st.run(plan).summary.vehicles["mother"].status == "completed"


def test_wave_forces_from_a_file_give_the_same_run(tmp_path, monkeypatch, capsys):
    world = tmp_path / "sea.yaml"
    from seatrial.spec.loading import dump

    world.write_text(dump(st.World.model_validate(SEA)))
    file = tmp_path / "smarty.npz"
    words = ["waves", "precompute", "smarty", str(world), "--seed", "3", "--out", str(file)]
    monkeypatch.setattr(sys, "argv", ["seatrial", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "75 components" in capsys.readouterr().out
    computed = st.run(swarm(4, seed=3, precision="double")).dataset.position.values
    double = swarm(4, seed=3, precision="double", wave_forces=str(file))
    loaded = st.run(double).dataset.position.values
    np.testing.assert_array_equal(loaded, computed)
    with pytest.raises(st.SpecError, match="another vehicle, sea or seed"):
        st.compile_scenario(swarm(4, seed=4, wave_forces=str(file)))
    file.write_bytes(b"not an archive")
    with pytest.raises(st.SpecError, match="no wave force amplitudes can be read"):
        st.compile_scenario(swarm(4, seed=3, wave_forces=str(file)))


@pytest.mark.rest
def test_an_hour_of_sea_state_4_in_single_precision_costs_no_more_than_a_misplaced_start():
    """The drift of a free float is chaotic: two starts a millimetre apart part by tens of metres.

    Single precision must not part from double faster than a few times that, must stay within two
    millimetres for the first minute, and must not change what a statistic sees.
    """

    def hour(precision, north=0.0):
        scenario = swarm(
            8,
            precision=precision,
            spacing=50.0,
            start={"position": [north, 0.0, 0.0]},
            duration=3600.0,
            frame_period=20.0,
            world=st.load("sea-state-4"),
        )
        return st.run(scenario).dataset

    double, single, misplaced = hour("double"), hour("single"), hour("double", 1e-3)

    def apart(other):
        return np.linalg.norm((double.position - other.position).values[..., :2], axis=-1)

    drift = np.linalg.norm((double.position[-1] - double.position[0]).values[:, :2], axis=-1)
    assert apart(single)[:4].max() < 2e-3
    assert apart(single)[-1].max() < 10 * apart(misplaced)[-1].max()
    assert apart(single)[-1].max() < 0.1 * drift.min()
    for name in ("roll", "pitch"):
        spread = [d.euler.sel(angle=name).std().item() for d in (double, single, misplaced)]
        assert spread[1] == pytest.approx(spread[0], rel=0.1)
    heave = [d.depth.std().item() for d in (double, single)]
    assert heave[1] == pytest.approx(heave[0], rel=0.05)
