"""LBL and USBL against plane geometry, and their errors against what is described."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import craft
from instruments import BUILDERS, fit, normal, read, state
from seatrial.core.types import Traffic
from seatrial.sensors.look import Look
from seatrial.sensors.water.medium import absorption

pytestmark = pytest.mark.usefixtures("x64")

FIELD = [[0.0, 0.0, 90.0], [400.0, 0.0, 80.0], [0.0, 400.0, 95.0], [400.0, 400.0, 85.0]]
PLACE = np.array([130.0, 210.0, 30.0])
EULER = (0.2, -0.1, 0.9)
ALARM = 1e-4
COUNT = 4000
WARM = {
    "profile": "table",
    "depth": [0.0, 30.0, 60.0, 100.0],
    "temperature": [20.0, 18.0, 8.0, 6.0],
    "salinity": [35.0] * 4,
}


def sea(**parts):
    return craft.ocean_of(seabed={"depth": 100.0}, **parts)


def distances(place=PLACE):
    return np.linalg.norm(np.array(FIELD) - place, axis=1)


def delay_of(built, ocean, at, drawn):
    memory = built.sensor.begin(jnp.zeros((0, at.position.shape[-1])))
    look = Look(None, ocean, at, jnp.float64(0.0))
    return np.asarray(built.sensor.measure(memory, look, drawn).delay)


@pytest.mark.parametrize("fidelity", ["ideal", "nominal"])
def test_lbl_tells_distances_and_finds_its_place(fidelity):
    ocean = sea()
    built = fit("lbl", ocean, rate=0.5, transponders=FIELD, fidelity=fidelity, position=[1, 0, 0.5])
    arm = craft.euler_matrix(*EULER) @ [1.0, 0.0, 0.5]
    at, memory = state(PLACE, EULER), None
    for _ in range(30):  # the depth is found slowly, by design
        values, valid, memory = read(built, ocean, at, memory=memory)
    np.testing.assert_allclose(values[3:, 0], distances(PLACE + arm), rtol=1e-12)
    np.testing.assert_allclose(values[:3, 0], PLACE + arm, atol=0.01)
    assert valid.all()


def test_answers_take_the_time_of_the_way_at_the_harmonic_mean_of_the_sound_speed():
    ocean = sea(water=WARM)
    built = fit("lbl", ocean, rate=0.5, transponders=FIELD, fidelity="nominal", noise=0.0)
    z = np.linspace(30.0, 95.0, 20001)
    from seatrial.ocean.water import sound_speed

    slowness = 1.0 / np.asarray(sound_speed(ocean.water, jnp.asarray(z)))
    far = distances()
    depths = np.array(FIELD)[:, 2]
    means = [np.mean(slowness[z <= d]) for d in depths]
    late = delay_of(built, ocean, state(PLACE), jnp.zeros((4, 1)))
    np.testing.assert_allclose(late, max(2.0 * far * means), rtol=1e-4)
    # One that assumes 1500 m/s reads too long or too short by the ratio.
    told = fit(
        "lbl", ocean, rate=0.5, transponders=FIELD, noise=0.0, dropout=0.0,
        outlier_probability=0.0, sound_speed=1500.0,
    )  # fmt: skip
    values, _, _ = read(told, ocean, state(PLACE))
    np.testing.assert_allclose(values[3:, 0], far * means * 1500.0, rtol=1e-4)


def test_lbl_is_silent_out_of_range_and_out_of_the_water():
    ocean = sea()
    built = fit("lbl", ocean, rate=0.5, transponders=FIELD, fidelity="nominal", maximum_range=450.0)
    places = np.array([PLACE, [-200.0, -200.0, 30.0], [130.0, 210.0, -1.0]]).T
    values, valid, _ = read(built, ocean, state(places))
    np.testing.assert_array_equal(valid, [True, False, False])
    assert (values[3:, 2] == 0.0).all()


def test_errors_of_lbl_are_as_described():
    ocean = sea()
    how = {"dropout": 0.1, "outlier_probability": 0.2, "outlier_detour": 8.0, "noise": 0.3}
    built = fit("lbl", ocean, rate=0.5, transponders=FIELD, **how)
    drawn = normal(built.sensor.draws, COUNT, seed=3)
    values, _, _ = read(built, ocean, state(PLACE, n=COUNT), drawn=drawn)
    first = values[3]
    heard = first > 0.0
    assert stats.binomtest(int(np.sum(~heard)), COUNT, 0.1).pvalue > ALARM
    error = first[heard] - distances()[0]
    late = error > 5.0 * 0.3
    # Of an exponential detour of 8 m so much is longer than 1.5 m that it is told from noise.
    share = 0.2 * math.exp(-1.5 / 8.0)
    assert stats.binomtest(int(np.sum(late)), len(error), share).pvalue > 1e-3
    plain = fit("lbl", ocean, rate=0.5, transponders=FIELD, noise=0.3, fidelity="nominal")
    drawn = normal(4, COUNT, seed=4)
    values, _, _ = read(plain, ocean, state(PLACE, n=COUNT), drawn=drawn)
    assert stats.kstest((values[4] - distances()[1]) / 0.3, "norm").pvalue > ALARM


# --- USBL ----------------------------------------------------------------------------------------


def test_usbl_tells_where_a_fixed_transponder_is_in_its_own_axes():
    ocean, target = sea(), np.array([80.0, 300.0, 95.0])
    mounting = {"position": [0.5, 0.2, -0.1], "roll": 0.3, "pitch": -0.2, "yaw": 1.0}
    built = fit("usbl", ocean, rate=0.5, transponder=target.tolist(), fidelity="ideal", **mounting)
    values, valid, _ = read(built, ocean, state(PLACE, EULER))
    turn = craft.euler_matrix(*EULER)
    way = turn.T @ (target - PLACE) - [0.5, 0.2, -0.1]
    x, y, z = craft.euler_matrix(0.3, -0.2, 1.0).T @ way
    expected = [np.linalg.norm(way), math.atan2(y, x), math.atan2(z, math.hypot(x, y)), *target]
    np.testing.assert_allclose(values[:, 0], expected, rtol=1e-12)
    assert valid.all()


def test_usbl_finds_the_vehicle_that_carries_the_transponder():
    ocean = sea()
    built = fit("usbl", ocean, rate=0.5, target="ship", fidelity="nominal", numbers={"ship": 2})
    zero = jnp.zeros(3)
    traffic = Traffic(
        jnp.asarray(np.array([PLACE, [50.0, 60.0, 0.5], [0.0, 0.0, 0.0]]).T),
        jnp.zeros((4, 3)).at[0].set(1.0), jnp.zeros((3, 3)), zero, zero, zero,
        jnp.arange(1, 4), jnp.arange(1),
    )  # fmt: skip
    look = Look(None, ocean, state(PLACE), jnp.float64(0.0), traffic=traffic)
    reading = built.sensor.measure(jnp.zeros((0, 1)), look, jnp.zeros((6, 1)))
    np.testing.assert_allclose(reading.values[3:, 0], [50.0, 60.0, 0.5])
    far = np.linalg.norm(PLACE - [50.0, 60.0, 0.5])
    np.testing.assert_allclose(reading.values[0, 0], far)
    speed = float(np.mean(ocean.water.sound.values[:31]))
    np.testing.assert_allclose(reading.delay, 2.0 * far / speed, rtol=1e-3)


def test_errors_of_usbl_lie_across_its_direction_whatever_that_is():
    ocean = sea()
    how = {"range_noise": 0.4, "angle_noise_deg": 0.5, "fidelity": "nominal"}
    for target in ([130.0, 210.0, 95.0], [430.0, 210.0, 31.0]):  # below, and abeam
        built = fit("usbl", ocean, rate=0.5, transponder=target, **how)
        drawn = normal(6, COUNT, seed=8)
        values, _, _ = read(built, ocean, state(PLACE, n=COUNT), drawn=drawn)
        far = np.linalg.norm(target - PLACE)
        assert stats.kstest((values[0] - far) / 0.4, "norm").pvalue > ALARM
        _, bearing, elevation = values[:3]
        u = np.stack([np.cos(elevation) * np.cos(bearing), np.cos(elevation) * np.sin(bearing),
                      np.sin(elevation)])  # fmt: skip
        off = np.arccos(np.clip((target - PLACE) / far @ u, -1.0, 1.0))
        assert stats.kstest(off / math.radians(0.5), "rayleigh").pvalue > ALARM


def test_an_echo_off_the_surface_seems_to_come_from_the_mirror_image():
    ocean, target = sea(), np.array([230.0, 210.0, 60.0])
    built = fit(
        "usbl", ocean, rate=0.5, transponder=target.tolist(), range_noise=0.0, angle_noise=0.0,
        outlier_probability=0.25, dropout=0.1,
    )  # fmt: skip
    drawn = normal(8, COUNT, seed=9)
    values, valid, _ = read(built, ocean, state(PLACE, n=COUNT), drawn=drawn)
    assert stats.binomtest(int(np.sum(~valid)), COUNT, 0.1).pvalue > ALARM
    longer = np.linalg.norm([100.0, 0.0, 90.0])
    echo = valid & (np.abs(values[0] - longer) < 1e-6)
    assert stats.binomtest(int(np.sum(echo)), int(np.sum(valid)), 0.25).pvalue > ALARM
    np.testing.assert_allclose(values[2, echo], math.atan2(-90.0, 100.0))
    np.testing.assert_allclose(values[0, valid & ~echo], math.hypot(100.0, 30.0))


REFUSED = {
    "a transponder in the air": ({"transponders": [[0, 0, -1], *FIELD[1:]]}, "not under water"),
    "transponders in a line": (
        {"transponders": [[0, 0, 50], [10, 0, 50], [20, 0, 60]]},
        "lie on one line",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_transponders_that_tell_nothing_are_refused(case):
    how, message = REFUSED[case]
    with pytest.raises(Exception, match=message):
        fit("lbl", sea(), rate=0.5, **how)


def test_a_target_that_is_not_there_is_refused():
    with pytest.raises(Exception, match=r"(?s)called `shop`.*one of ship, boat"):
        fit("usbl", sea(), rate=0.5, target="shop", numbers={"ship": 1, "boat": 2})
    with pytest.raises(Exception, match="either `target`"):
        fit("usbl", sea(), rate=0.5)


# --- modem ---------------------------------------------------------------------------------------

TALK = {"rate": 0.1, "bits": 400, "bit_rate": 800.0}
"""A cycle of 10 s, packets of half a second."""


def beside(north, east):
    return PLACE + np.array([north, east, 0.0])


def received(places, n=1, drawn=None, slots=None, **how):
    """Packets (M, 6, n) of modems at some places, as the first of them hears them."""
    ocean = sea()
    names = [f"v{i}" for i in range(len(places))]
    numbers = {name: i + 1 for i, name in enumerate(names)}
    cls, _ = BUILDERS["modem"]
    described = {"type": "modem", "name": "modem"} | TALK | how
    given = slots or [None] * len(places)
    modems = {
        name: cls.model_validate(described | ({} if s is None else {"slot": s}))
        for name, s in zip(names, given, strict=True)
    }
    first = described | ({} if given[0] is None else {"slot": given[0]})
    del first["type"], first["name"]
    built = fit("modem", ocean, vehicle_name="v0", numbers=numbers, modems=modems, **first)
    still = jnp.zeros(len(places))
    traffic = Traffic(
        jnp.asarray(np.array(places, float).T), jnp.zeros((4, len(places))).at[0].set(1.0),
        jnp.zeros((3, len(places))), still, still, still,
        jnp.arange(1, len(places) + 1), jnp.zeros(n, int),
    )  # fmt: skip
    look = Look(None, ocean, state(places[0], n=n), jnp.float64(0.0), traffic=traffic)
    drawn = jnp.ones((built.sensor.draws, n)) if drawn is None else drawn(built.sensor.draws)
    reading = built.sensor.measure(jnp.zeros((0, n)), look, drawn)
    return np.asarray(reading.values).reshape(len(places), 6, n)


def test_a_modem_hears_the_others_and_not_itself():
    packets = received([PLACE, [130.0, 510.0, 70.0], [130.0, 210.0, 80.0]], place_noise=0.0)
    np.testing.assert_array_equal(packets[:, 0, 0], [0.0, 2.0, 3.0])
    np.testing.assert_allclose(packets[1, 3:, 0], [130.0, 510.0, 70.0])
    speed = 1500.0
    far = math.hypot(300.0, 40.0)
    np.testing.assert_allclose(packets[1, 1, 0], far / speed, rtol=0.02)


def test_the_snr_is_that_of_the_sonar_equation():
    near, far = (
        received([PLACE, beside(r, 0.0)], source_level=190.0)[1, 2, 0] for r in (100.0, 1e3)
    )
    alpha = float(absorption(25e3, np.array(10.0), np.array(35.0), np.array(30.0)))
    noise = 60.0 + 10.0 * math.log10(4e3)
    assert near == pytest.approx(190.0 - 40.0 - 100.0 * alpha - noise, abs=0.1)
    assert near - far == pytest.approx(20.0 + 900.0 * alpha, abs=0.5)


def test_packets_are_lost_as_often_as_their_bits_say():
    there = beside(400.0, 0.0)
    how = {"source_level": 160.3, "bits": 400}
    packets = received([PLACE, there], COUNT, lambda rows: normal(rows, COUNT, seed=6), **how)
    heard = packets[1, 0] > 0.0
    ratio = 10.0 ** (0.1 * packets[1, 2, heard][0])
    lost = 1.0 - (1.0 - 0.5 * math.exp(-0.5 * ratio)) ** 400
    assert 0.05 < lost < 0.95
    assert stats.binomtest(int(np.sum(~heard)), COUNT, lost).pvalue > ALARM
    told = packets[1, 3, heard] - there[0]
    assert stats.kstest(told, "norm").pvalue > ALARM


def test_packets_that_are_heard_at_once_destroy_each_other():
    """750 m take half a second: what was sent a packet's length later arrives at the same time."""
    far, near = beside(750.0, 0.0), beside(0.0, 1.0)
    loud = {"source_level": 200.0}
    apart = received([PLACE, far, near], slots=[5.0, 0.0, 0.0], **loud)
    np.testing.assert_array_equal(apart[1:, 0, 0] > 0.0, [True, True])
    at_once = received([PLACE, far, near], slots=[5.0, 0.0, 0.5], **loud)
    np.testing.assert_array_equal(at_once[1:, 0, 0] > 0.0, [False, False])
    talking = received([PLACE, far, near], slots=[0.5, 0.0, 5.0], **loud)
    np.testing.assert_array_equal(talking[1:, 0, 0] > 0.0, [False, True])


def test_modems_that_do_not_fit_together_are_refused():
    with pytest.raises(Exception, match="longer than a cycle"):
        fit("modem", sea(), rate=2.0, bits=800, bit_rate=800.0)
    cls, _ = BUILDERS["modem"]
    other = cls.model_validate({"type": "modem", "name": "m", "frequency": 12e3} | TALK)
    with pytest.raises(Exception, match="that of `b` are described differently"):
        fit("modem", sea(), vehicle_name="a", numbers={"a": 1, "b": 2}, modems={"b": other}, **TALK)
