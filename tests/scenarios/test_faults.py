"""Faults in whole runs: onset, effect and label of every kind, and what they must leave alone."""

import math

import numpy as np
import pytest

import seatrial as st
from seatrial.compile.events.triggers import merged, poisson_onsets
from seatrial.compile.scenario import compile_scenario
from seatrial.engine.compiled.judging import STATUS
from seatrial.engine.run import run
from seatrial.seeding import generator
from seatrial.signals import join
from seatrial.spec.fault_grammar import parse_fault
from seatrial.spec.faults import KINDS
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

ONSET, END = 4.0, 8.0
WHEN = f"@ {ONSET}s for {END - ONSET}s"
COMPASSES = {
    "dropout": "probability=0.5",
    "freeze": "",
    "stuck": "value=90deg",
    "bias": "value=10deg",
    "drift": "rate=1deg",
    "spikes": "magnitude=30deg probability=0.3",
    "noise": "deviation=2deg",
    "delay": "delay=350ms",
}
"""A compass for each of these faults."""
LOCKED = {
    "gnss": "{type: gnss, name: gnss, rate: 5, position: [0, 0, -1], reacquisition: 1.0}",
    "dvl": "{type: dvl, name: dvl, rate: 5, position: [0, 0, 0.4]}",
    "uwb": "{type: uwb, name: uwb, rate: 5, position: [0, 0, -1], "
    "anchors: [[-50, -50, -3], [50, -50, -5], [50, 50, -3], [-50, 50, -4]], maximum_range: 200}",
}
SENSORS = [
    *(f"{{type: compass, name: {kind}, rate: 10, latency: 0.05}}" for kind in COMPASSES),
    *LOCKED.values(),
    "{type: pressure, name: untouched, rate: 25}",
]
SENSOR_FAULTS = [
    *(f"{kind}: {kind} {options} {WHEN}" for kind, options in COMPASSES.items()),
    *(f"{name}: loss_of_lock {WHEN}" for name in LOCKED),
]
ANYWHERE = "{name: harbour, seabed: {depth: 20}, current: {speed: 0.3, towards_deg: 40}}"


def scenario(faults=(), sensors=SENSORS, duration=10.0, extra="", vehicle="otter", world=ANYWHERE):
    """An Otter that turns, as a description."""
    text = f"""
kind: scenario
name: faulty
seed: 5
duration: {duration}
time_step: 0.02
world: {world}
vehicles:
  - name: boat
    vehicle: {vehicle}
    start: {{speed: 1.0}}
    {extra or "commands: {left_rpm: 700, right_rpm: 500}"}
    sensors: [{", ".join(sensors)}]
"""
    described = load_text(text, Scenario)
    boat = described.vehicles[0]
    struck = boat.model_copy(update={"faults": tuple(parse_fault(f)[1] for f in faults)})
    return described.model_copy(update={"vehicles": (struck,)})


class Kept:
    """A sink that keeps a run of one vehicle, or the first of a swarm."""

    def __init__(self, described):
        self._blocks = []
        self.plan = compile_scenario(described)
        self.summary = run(self.plan, [self]).summary
        parts = [b.groups[0].measurements for b in self._blocks]
        self.measurements = {name: join([p[name].pick(0) for p in parts]) for name in parts[0]}
        self.time = np.concatenate([b.time for b in self._blocks])
        self.names = [f.name for f in self.plan.header.vehicles[0].faults]

    def open(self, header, scene):
        self.header = header

    def write(self, frames):
        self._blocks.append(frames)

    def close(self, summary):
        pass

    def __getattr__(self, name):
        return np.concatenate([getattr(b.groups[0].frames, name)[:, 0] for b in self._blocks])

    def label(self, name):
        """Whether a fault is in force, frame by frame."""
        return self.faults[:, self.names.index(name)] > 0

    def bit(self, sensor, name):
        """Whether a fault distorts a sample, sample by sample."""
        return (self.measurements[sensor].fault >> self.names.index(name)) & 1 == 1


@pytest.fixture(scope="module")
def healthy():
    return Kept(scenario())


@pytest.fixture(scope="module")
def faulty():
    return Kept(scenario(SENSOR_FAULTS))


def inside(time):
    return (time > ONSET - 1e-6) & (time < END - 1e-6)


def samples(healthy, faulty, sensor):
    """Times, then true and faulty samples of one sensor, and which of them lie in the window."""
    good, bad = healthy.measurements[sensor], faulty.measurements[sensor]
    np.testing.assert_array_equal(good.time, bad.time)
    return good.time, good, bad, inside(good.time)


@pytest.mark.parametrize("kind", COMPASSES)
def test_a_fault_of_a_sensor_is_labelled_and_changes_nothing_outside_its_window(
    healthy, faulty, kind
):
    _, good, bad, window = samples(healthy, faulty, kind)
    name = f"{kind}: {kind}"
    np.testing.assert_array_equal(faulty.label(name), inside(faulty.time))
    struck = faulty.bit(kind, name)
    assert not struck[~window].any()
    assert struck[window].any()
    if kind not in ("dropout", "spikes"):  # these strike single samples
        assert struck[window].all()
    np.testing.assert_array_equal(bad.fault > 0, struck)
    for field in ("values", "valid"):
        same, changed = getattr(good, field)[~struck], getattr(bad, field)[~struck]
        np.testing.assert_array_equal(same, changed)


def test_dropout_takes_the_samples_that_it_labels(healthy, faulty):
    _, good, bad, window = samples(healthy, faulty, "dropout")
    struck = faulty.bit("dropout", "dropout: dropout")
    assert good.valid.all()
    np.testing.assert_array_equal(bad.valid, ~struck)
    # 40 samples at probability ½: outside 6 to 34 in 2 of 10⁶ seeds.
    assert 6 <= struck[window].sum() <= 34


def test_a_frozen_sensor_repeats_its_last_sample(healthy, faulty):
    time, good, bad, window = samples(healthy, faulty, "freeze")
    last = bad.values[time < ONSET - 1e-6][-1]
    assert np.all(bad.values[window] == last)
    assert np.ptp(good.values[window]) > 0.05


def test_a_stuck_sensor_shows_its_value(healthy, faulty):
    _, _, bad, window = samples(healthy, faulty, "stuck")
    np.testing.assert_allclose(bad.values[window], math.pi / 2, rtol=1e-14)


def test_a_bias_is_a_jump_by_its_value(healthy, faulty):
    _, good, bad, window = samples(healthy, faulty, "bias")
    np.testing.assert_allclose((bad.values - good.values)[window], math.radians(10.0), rtol=1e-9)


def test_a_drift_grows_from_zero_at_the_onset(healthy, faulty):
    time, good, bad, window = samples(healthy, faulty, "drift")
    expected = math.radians(1.0) * (time[window] - ONSET)
    np.testing.assert_allclose((bad.values - good.values)[window, 0], expected, atol=1e-12)


def test_spikes_have_their_height_and_either_sign(healthy, faulty):
    _, good, bad, window = samples(healthy, faulty, "spikes")
    struck = faulty.bit("spikes", "spikes: spikes")
    height = (bad.values - good.values)[struck, 0]
    np.testing.assert_allclose(np.abs(height), math.radians(30.0), rtol=1e-9)
    # 40 samples at probability 0.3: outside 2 to 25 in 2 of 10⁵ seeds, of one sign in 3 of 10³.
    assert 2 <= struck[window].sum() <= 25
    assert len(set(np.sign(height))) == 2


def test_extra_noise_has_its_standard_deviation(healthy, faulty):
    """False-alarm rate 10⁻⁴: Σx²/σ² of 40 numbers is χ² with 40 degrees of freedom."""
    _, good, bad, window = samples(healthy, faulty, "noise")
    noise = (bad.values - good.values)[window, 0] / math.radians(2.0)
    assert 14.12 < np.sum(noise**2) < 84.53  # quantiles 5e-5 and 1 − 5e-5


def test_delayed_samples_arrive_later_and_none_overtakes_another(healthy, faulty):
    _, good, bad, window = samples(healthy, faulty, "delay")
    late = bad.arrival - good.arrival
    np.testing.assert_allclose(late[window], 0.35, atol=1e-9)
    np.testing.assert_array_equal(good.values, bad.values)
    assert np.all(np.diff(bad.arrival) > -1e-12)
    np.testing.assert_allclose(good.arrival - good.time, 0.05, atol=1e-9)


@pytest.mark.parametrize("sensor", LOCKED)
def test_a_lost_lock_leaves_nothing_to_read(healthy, faulty, sensor):
    time, good, bad, window = samples(healthy, faulty, sensor)
    struck = faulty.bit(sensor, f"{sensor}: loss_of_lock")
    np.testing.assert_array_equal(struck, window)
    assert good.valid[window].any()
    assert not bad.valid[window].any()
    assert np.all(bad.values[window] == 0.0)
    assert bad.valid[time > END + 1.2].any()
    np.testing.assert_array_equal(faulty.label(f"{sensor}: loss_of_lock"), inside(faulty.time))


def test_a_receiver_that_lost_its_satellites_has_to_find_them_again(faulty):
    gnss = faulty.measurements["gnss"]
    period, search = 0.2, 1.0
    after = gnss.time > END - 1e-6
    found = gnss.time[after & gnss.valid][0]
    assert END + search - period - 1e-6 < found < END + search + period + 1e-6
    assert gnss.valid[gnss.time > found - 1e-6].all()
    assert not gnss.fault[after].any()  # the fault is over; the receiver works as it should


def test_a_fault_leaves_the_bytes_of_other_sensors_and_the_motion_alone(healthy, faulty):
    np.testing.assert_array_equal(faulty.position, healthy.position)
    good, bad = healthy.measurements["untouched"], faulty.measurements["untouched"]
    for field in ("values", "valid", "arrival", "fault"):
        assert getattr(good, field).tobytes() == getattr(bad, field).tobytes()


def test_the_random_numbers_of_a_fault_do_not_depend_on_other_faults(faulty):
    def of(plan, sensor):
        fleet = plan.fleets[0]
        return fleet.group.suite[fleet.sensors.index(sensor)].faults

    alone = compile_scenario(scenario([f"noise: noise deviation=2deg {WHEN}"]))
    (one,), (among,) = of(alone, "noise"), of(faulty.plan, "noise")
    np.testing.assert_array_equal(one.keys, among.keys)
    keys = {np.asarray(f.keys).tobytes() for s in COMPASSES for f in of(faulty.plan, s)}
    assert len(keys) == len(COMPASSES)


def test_faults_strike_only_their_components_and_do_not_pile_up():
    sensors = [
        "{type: imu, name: good, rate: 50, fidelity: ideal}",
        "{type: imu, name: bad, rate: 50, fidelity: ideal}",
        "{type: compass, name: compass, rate: 10}",
    ]
    faults = [
        "bad: bias components=acceleration_y,angular_velocity_z value=0.5,0.01 @ 1s",
        "bad: freeze components=acceleration_x @ 1s",
        # What repeats the last sample must not add to it again and again.
        "compass: freeze @ 1s",
        "compass: bias value=0.5 @ 1s",
        "compass: drift rate=1 @ 1s",
    ]
    run = Kept(scenario(faults, sensors=sensors, duration=2.0))
    good, bad = run.measurements["good"].values, run.measurements["bad"].values
    np.testing.assert_array_equal(bad[:50], good[:50])
    change = (bad - good)[50:]
    np.testing.assert_allclose(change[:, 1], 0.5, rtol=1e-9)
    np.testing.assert_allclose(change[:, 5], 0.01, rtol=1e-9)
    np.testing.assert_array_equal(change[:, [2, 3, 4]], 0.0)
    assert np.all(bad[50:, 0] == good[49, 0])
    compass = run.measurements["compass"].values[:, 0]
    assert np.all(compass[10:] == compass[9])


SEQUENCE = {
    "propeller: power_loss": "propeller: power_loss",
    "propeller: runaway": "propeller: runaway",
    "propeller: jam": "propeller: jam value=600rpm",
    "propeller: reduced": "propeller: reduced effectiveness=0.2",
    "hull: added_drag": "hull: added_drag drag_area=0.5",
    "comms: loss": "comms: loss then=zero",
    "vane: free_float": "vane: free_float",
}
"""One fault of the diving vehicle after the other, each for two seconds out of four."""


def diver(faults, sensors=(), duration=10.0):
    """A REMUS under water with a fin that makes its own force."""
    described = scenario(
        faults,
        sensors,
        duration,
        extra="commands: {propeller_rpm: 1000, rudder_deg: 5}",
        vehicle="remus100_mss",
    ).model_dump()
    boat = described["vehicles"][0]
    boat["start"] |= {"position": (0.0, 0.0, 8.0), "speed": 1.8}
    vane = {"kind": "fin", "name": "vane", "position": (-0.6, 0.0, 0.0), "angle_limit": 0.3}
    vane["lift"] = {"area": 0.02, "aspect_ratio": 3.0}
    boat["vehicle"]["actuators"] = (*boat["vehicle"]["actuators"], vane)
    boat["commands"] |= {"vane_deg": 10.0}
    return Scenario.model_validate(described)


def test_actuators_hull_and_radio_fail_in_a_run_and_are_labelled():
    faults = [f"{t} @ {4 * i + 2}s for 2s" for i, t in enumerate(SEQUENCE.values())]
    run = Kept(diver(faults, duration=4.0 * len(SEQUENCE)))
    shaft = run.actuators[:, 0]
    surge, yaw = run.acceleration[:, 0], run.acceleration[:, 5]
    for i, name in enumerate(SEQUENCE):
        onset = 4 * i + 2
        window = (run.time > onset - 1e-6) & (run.time < onset + 2 - 1e-6)
        np.testing.assert_array_equal(run.label(name), window)
        first = int(np.argmax(window))
        jump = [a[first] - a[first - 1] for a in (surge, yaw)]
        told = {"power_loss": 0.0, "runaway": 1525 / 60, "jam": 10.0, "loss": 0.0}
        expected = told.get(name.split()[1], 1000 / 60)
        np.testing.assert_allclose(shaft[first + 1 : first + 20], expected, rtol=1e-9, err_msg=name)
        if name in ("propeller: reduced", "hull: added_drag"):
            assert jump[0] < -0.1, name
        if name == "vane: free_float":
            assert jump[1] > 0.1  # the vane held the bow to port
    # Before and after its faults the vehicle does what it is told.
    np.testing.assert_allclose(shaft[run.time < 1.9][1:], 1000 / 60, rtol=1e-9)


def test_stepping_gives_the_samples_and_labels_of_a_run_and_switches_faults_on():
    sensors = [f"{{type: compass, name: {name}, rate: 10}}" for name in ("noisy", "biased")]
    faults = ["noisy: noise deviation=0.1 @ 1s", "biased: bias value=1", "left: power_loss"]
    described = scenario(faults, sensors=sensors, duration=2.0)
    run = Kept(described)
    assert not run.faults[:, 1:].any()  # without a trigger they do not come by themselves
    simulation = st.Simulation(described)
    parts = {"noisy": [], "biased": []}
    for _ in range(19):
        simulation.step()
        for name, found in simulation.measurements["boat"].items():
            parts[name].append(found)
    for name, found in parts.items():
        stepped, whole = join(found), run.measurements[name]
        assert len(stepped.time) >= 18
        at = np.searchsorted(whole.time, stepped.time - 1e-6)
        np.testing.assert_allclose(stepped.values, whole.values[at], rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(stepped.fault, whole.fault[at])
    simulation.set_fault("biased: bias")
    simulation.set_fault("left: power_loss")
    for _ in range(10):
        state = simulation.step()["boat"]
    assert np.all(simulation.measurements["boat"]["biased"].fault == 2)
    assert state.actuators["left"] < 0.01
    simulation.set_fault("biased: bias", on=False)
    simulation.step()
    simulation.step()
    assert np.all(simulation.measurements["boat"]["biased"].fault == 0)


def test_random_onsets_follow_their_poisson_rate():
    """False-alarm rate 2 × 10⁻⁴: counts by a normal approximation, gaps by Kolmogorov–Smirnov."""
    from scipy import stats

    rate, duration = 6.0 / 3600.0, 36_000.0
    onsets = [
        poisson_onsets(generator(1, f"fault/boat_{i}/imu: freeze/onsets"), rate, duration)
        for i in range(200)
    ]
    counts = np.array([len(o) for o in onsets])
    expected = rate * duration * len(onsets)
    assert abs(counts.sum() - expected) < stats.norm.isf(2.5e-5) * math.sqrt(expected)
    dispersion = np.sum((counts - 60.0) ** 2) / 60.0
    low, high = stats.chi2.ppf([2.5e-5, 1 - 2.5e-5], len(onsets))
    assert low < dispersion < high
    # Given their number, the onsets of a Poisson process are uniform over the run.
    assert stats.kstest(np.concatenate(onsets) / duration, "uniform").pvalue > 1e-4


def test_a_longer_run_begins_with_the_same_random_onsets():
    short, long = (poisson_onsets(generator(1, "x"), 0.01, d) for d in (1000.0, 5000.0))
    np.testing.assert_array_equal(short, long[: len(short)])


def test_overlapping_random_faults_are_one():
    windows = merged(np.array([1.0, 2.0, 10.0, 30.0, 34.0]), 5.0)
    np.testing.assert_array_equal(windows, [[1.0, 10.0, 30.0], [7.0, 15.0, 39.0]])


SWARM = "count: 70"


def test_every_vessel_of_a_swarm_has_random_faults_of_its_own():
    faults = ["bias: bias value=0.5 random 600/h for 1s", f"left: power_loss {WHEN}"]
    described = scenario(
        faults, sensors=["{type: compass, name: bias, rate: 10}"], extra=SWARM, world="{name: calm}"
    )
    run = Kept(described)
    (group,) = {b.groups[0].names for b in run._blocks}
    assert len(group) == 70
    random, planned = np.moveaxis(
        np.concatenate([b.groups[0].frames.faults for b in run._blocks]), -1, 0
    )
    np.testing.assert_array_equal(planned > 0, inside(run.time)[:, None].repeat(70, 1))
    assert len({column.tobytes() for column in random.T}) > 50
    taken = join([b.groups[0].measurements["bias"] for b in run._blocks])
    labels = taken.fault[: len(run.time)]  # one sample per frame
    np.testing.assert_array_equal(labels & 1, random[: len(labels)])


def test_a_run_with_every_fault_at_once_ends_with_a_status():
    triggers = [WHEN, "random 2000/h for 2s", "when time > 3s", "when speed > 0.5 for 3s"]
    on_numbers = {k: o.replace("deg", "") + " components=velocity" for k, o in COMPASSES.items()}
    for whole in ("dropout", "delay"):
        on_numbers[whole] = COMPASSES[whole]
    texts = [
        *(f"dvl: {kind} {options}" for kind, options in on_numbers.items()),
        "dvl: loss_of_lock",
        *SEQUENCE.values(),
        "rudder: power_loss",
        "vane: jam",
        "stern_plane: runaway towards=lower",
        "hull: ingress mass=0.5",
    ]
    faults = [f"{text} {triggers[i % len(triggers)]}" for i, text in enumerate(texts)]
    assert {f.split()[1] for f in faults} == set(KINDS) - {"lost"}  # of a mission
    run = Kept(diver(faults, sensors=[LOCKED["dvl"]]))
    assert run.summary.vehicles["boat"].status in STATUS.values()
    assert np.isfinite(run.position).all()
    assert run.faults.any(axis=0).all()


STATION = """
kind: scenario
name: station
duration: 12
frame_period: 0.5
world: {{name: stream, current: {{speed: 0.2, towards_deg: 120}}}}
vehicles:
  - name: rov
    vehicle: bluerov2_heavy
    feedback: truth
    sensors: []
    start: {{position: [0, 0, 5]}}
    mission:
      - {{do: hold, position: [0, 0, 5], heading_deg: 0}}
    faults:
      - {{target: front_starboard, kind: power_loss, start: 4{report}}}
"""


def test_an_autopilot_makes_do_without_a_thruster_once_its_loss_is_reported():
    """Unreported, the dead thruster goes on to be asked, and what it does not make is missed."""
    orders, heading = [], []
    for report in ("", ", detected_after: 1"):
        run = st.run(load_text(STATION.format(report=report), Scenario)).dataset.sel(vehicle="rov")
        orders.append(run.command.sel(channel="front_starboard").values)
        q = run.attitude.values
        heading.append(np.degrees(2.0 * np.arctan2(q[:, 3], q[:, 0])))
        time = run.time.values
    unreported, reported = orders
    assert np.all(np.abs(unreported[time > 1.0]) > 0.5)
    np.testing.assert_array_equal(reported[time < 5.0], unreported[time < 5.0])
    assert np.all(reported[time >= 5.0] == 0.0)
    assert abs(heading[0][-1]) > 45.0
    assert abs(heading[1][-1]) < 5.0
