"""Environments for agents that learn, judged by Gymnasium's own checker and by plane geometry."""

import copy
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import seatrial as st
from sampling import sampled
from seatrial import programs
from seatrial.gym import Single, Vector, make
from seatrial.learning.arena import Motion
from seatrial.learning.environment import Environment
from seatrial.learning.tasks import TASKS
from seatrial.learning.tasks.avoidance import BEAMS, Crowd, _ranges
from seatrial.learning.tasks.docking import Berth, Docking
from seatrial.learning.tasks.inspection import SECTORS, Inspection, Pile
from seatrial.learning.tasks.path import LEG_IN_LENGTHS, LEGS, PathFollowing, Way
from seatrial.learning.tasks.station import Place

reset = jax.jit(Environment.reset)
step = jax.jit(Environment.step)


@pytest.fixture(scope="module")
def otters():
    return make("HeadingHold", count=3)


def lying(north=0.0, east=0.0, heading=0.0, speed=0.0):
    """One vehicle on the level."""
    part = jnp.array([0.0])
    return Motion(
        position=(part + north, part + east, part),
        euler=(part, part, part + heading),
        velocity=(part + speed, part, part, part, part, part),
        over_ground=(part + speed * np.cos(heading), part + speed * np.sin(heading), part),
        actuators=jnp.zeros((2, 1)),
    )


@pytest.mark.parametrize("task", sampled(TASKS, "HeadingHold", "Altitude"))
@pytest.mark.filterwarnings("error")
def test_gymnasium_accepts_every_environment(task):
    env = gymnasium.make(f"seatrial/{task}-v0", render_mode="rgb_array")
    check_env(env.unwrapped)


def test_observations_are_arrays_of_the_agents_own():
    """PyTorch warns of those that cannot be written to."""
    for env in (Single("HeadingHold"), Vector("HeadingHold", num_envs=2)):
        seen, _ = env.reset(seed=1)
        after, reward, *_ = env.step(env.action_space.sample())
        for told in (seen, after, np.asarray(reward)):
            assert told.flags.writeable


def test_a_vehicle_moves_as_in_a_run(otters):
    """The same orders to the same vehicle in calm water, there by the engine."""
    episodes, _ = reset(otters, jax.random.PRNGKey(0))
    position = jnp.zeros((3, 3))
    vessel = otters.arena.launch(position, jnp.zeros(3), jnp.zeros(3), jnp.zeros((), jnp.int32))
    episodes = episodes._replace(vessel=vessel)
    for _ in range(50):
        episodes, _ = step(otters, episodes, jnp.tile(jnp.array([0.6, 0.3]), (3, 1)))
    orders = otters.arena.orders(jnp.array([[0.6], [0.3]]))[:, 0]
    scenario = st.Scenario(
        world="calm",
        duration=10.0,
        vehicles=[
            {
                "vehicle": "otter",
                "sensors": [],
                "commands": {"left": float(orders[0]), "right": float(orders[1])},
            }
        ],
    )
    ran = st.run(scenario).dataset.isel(time=-1, vehicle=0)
    # Steps of 40 ms of first order against Runge-Kutta's: a part in a hundred of the way.
    reached = np.asarray(episodes.vessel.position[:, 0])
    far = float(np.hypot(*ran.position.values[:2]))
    assert far > 5.0
    assert np.hypot(*(reached[:2] - ran.position.values[:2])) < 0.01 * far
    np.testing.assert_allclose(np.asarray(episodes.vessel.velocity[0]), ran.velocity[0], rtol=0.01)


def test_the_same_seed_gives_the_same_episode():
    def play(seed):
        env = Single("HeadingHold", world="sea-state-4")
        seen, _ = env.reset(seed=seed)
        rows = [seen]
        for i in range(10):
            seen, reward, *_ = env.step(np.array([0.1 * i, 0.5], np.float32))
            rows += [seen, reward]
        return np.concatenate([np.ravel(row) for row in rows])

    assert play(5).tobytes() == play(5).tobytes()
    assert not np.array_equal(play(5), play(6))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_copy_of_an_environment_goes_on_as_it_would(copied):
    """Whoever plans ahead copies it in the middle of an episode."""
    env = Single("HeadingHold", world="sea-state-4")
    env.reset(seed=5)
    action = np.array([0.3, 0.5], np.float32)
    env.step(action)
    other = copied(env)
    for _ in range(3):
        assert np.array_equal(env.step(action)[0], other.step(action)[0])


def test_episodes_end_when_their_time_is_up_and_begin_anew(otters):
    episodes, _ = reset(otters, jax.random.PRNGKey(1))
    episodes = episodes._replace(age=jnp.array([0, otters.steps - 1, 5], jnp.int32))
    after, outcome = step(otters, episodes, jnp.zeros((3, 2)))
    assert outcome.truncated.tolist() == [False, True, False]
    assert after.age.tolist() == [1, 0, 6]
    moved = np.hypot(*(after.vessel.position - episodes.vessel.position)[:2])
    assert moved[1] > 1.0 > moved[0]
    assert not np.allclose(outcome.observation[1], outcome.final_observation[1])
    np.testing.assert_array_equal(outcome.observation[0], outcome.final_observation[0])


def test_a_vehicle_that_cannot_be_is_replaced(otters):
    episodes, _ = reset(otters, jax.random.PRNGKey(2))
    velocity = episodes.vessel.velocity.at[0, 0].set(jnp.nan).at[3, 1].set(1e4)
    broken = episodes._replace(
        vessel=episodes.vessel.__class__(
            episodes.vessel.position, episodes.vessel.attitude, velocity, episodes.vessel.actuators
        )
    )
    after, outcome = step(otters, broken, jnp.zeros((3, 2)))
    assert outcome.terminated.tolist() == [True, True, False]
    assert outcome.reward[0] < -15.0
    assert all(
        bool(jnp.isfinite(part).all()) for part in (after.vessel.velocity, outcome.observation)
    )


def test_actions_reach_the_limits_of_the_actuators(otters):
    arena = otters.arena
    asked = jnp.array([[-1.0, 0.0, 1.0, 7.0, jnp.nan], [1.0, 0.0, -1.0, -9.0, 0.5]])
    orders = np.asarray(arena.orders(asked))
    low, high = np.asarray(arena.low)[:, 0], np.asarray(arena.high)[:, 0]
    np.testing.assert_allclose(orders[0], [low[0], 0.0, high[0], high[0], 0.0], rtol=1e-6)
    np.testing.assert_allclose(orders[1], [high[1], 0.0, low[1], low[1], 0.5 * high[1]], rtol=1e-6)


def test_forces_go_where_they_are_asked_to():
    """A ROV pushed ahead, aside, down and round moves that way and hardly another."""
    rov = make("StationKeeping", count=4, world="calm")
    assert rov.arena.actions == ("surge", "sway", "heave", "yaw")
    episodes, _ = reset(rov, jax.random.PRNGKey(0))
    still = rov.arena.launch(
        jnp.tile(jnp.array([[0.0], [0.0], [5.0]]), (1, 4)),
        jnp.zeros(4),
        jnp.zeros(4),
        jnp.zeros((), jnp.int32),
    )
    # Their places are with them: a vehicle thirty lengths from its own is replaced by another.
    episodes = episodes._replace(vessel=still, goal=Place(jnp.zeros((2, 4))))
    episodes, outcome = step(rov, episodes, 0.3 * jnp.eye(4))  # before it tilts
    assert not outcome.terminated.any()
    velocity = np.asarray(episodes.vessel.velocity)
    for column, row in enumerate((0, 1, 2, 5)):
        others = np.delete(velocity[[0, 1, 2, 5], column], column)
        assert velocity[row, column] > 0.02
        assert np.abs(others).max() < 0.25 * velocity[row, column]


def test_vehicles_of_a_vector_differ_as_asked():
    vary = {"inertia.mass": {"relative": 0.3}}
    env = make("HeadingHold", count=8, vary=vary, seed=3)
    episodes, _ = reset(env, jax.random.PRNGKey(0))
    alike = env.arena.launch(
        jnp.zeros((3, 8)), jnp.zeros(8), jnp.zeros(8), jnp.zeros((), jnp.int32)
    )
    episodes = episodes._replace(vessel=alike)
    for _ in range(5):
        episodes, _ = step(env, episodes, jnp.ones((8, 2)))
    speeds = np.asarray(episodes.vessel.velocity[0])
    assert len(set(speeds.tolist())) == 8
    assert speeds.max() > 1.1 * speeds.min()


def test_many_at_once_are_a_vector_environment():
    envs = gymnasium.make_vec(
        "seatrial/HeadingHold-v0", num_envs=3, vectorization_mode="vector_entry_point"
    )
    assert isinstance(envs.unwrapped, Vector)
    seen, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(seen)
    for _ in range(300):
        seen, reward, _, truncated, info = envs.step(envs.action_space.sample())
        if truncated.any():
            break
    assert truncated.all()
    assert info["_final_obs"].all()
    assert np.shape(info["final_obs"][0]) == envs.single_observation_space.shape
    assert reward.shape == (3,)


def test_beams_meet_discs_where_plane_geometry_says():
    place = jnp.zeros((2, 1))
    middle = jnp.array([[[10.0], [0.0]], [[0.0], [-6.0]]])  # ahead, and to port
    crowd = Crowd(place, middle, jnp.zeros((2, 2, 1)), jnp.array([[2.0], [1.0]]))
    ranges = np.asarray(_ranges(crowd, lying(), jnp.array(30.0)))[:, 0]
    assert ranges[0] == pytest.approx(8.0, abs=1e-5)
    assert ranges[3 * BEAMS // 4] == pytest.approx(5.0, abs=1e-5)
    assert ranges[BEAMS // 2] == ranges[BEAMS // 4] == 30.0
    turned = np.asarray(_ranges(crowd, lying(heading=np.pi / 2), jnp.array(30.0)))[:, 0]
    assert turned[3 * BEAMS // 4] == pytest.approx(8.0, abs=1e-4)


def test_a_way_is_measured_along_and_aside(otters):
    arena, task = otters.arena, PathFollowing()
    length = float(arena.length)
    course = jnp.full((LEGS + 1, 1), jnp.pi / 2)
    east = jnp.arange(LEGS + 1.0)[:, None] * LEG_IN_LENGTHS * length
    way = Way(jnp.zeros((LEGS + 1, 1)), east, course, jnp.array([0]))
    seen = task.observe(arena, way, lying(north=-3.0, east=4.0, heading=np.pi / 2))
    assert float(seen["aside"][0]) == pytest.approx(3.0 / length, rel=1e-5)
    assert float(seen["course_error_cosine"][0]) == pytest.approx(1.0)
    # A period at cruising speed along the leg is worth 1.
    made = float(arena.cruise) * arena.period
    verdict = task.judge(arena, way, lying(east=4.0), lying(east=4.0 + made))
    assert float(verdict.reward[0]) == pytest.approx(1.0, abs=1e-4)
    end = LEG_IN_LENGTHS * length
    verdict = task.judge(arena, way, lying(east=end - 0.1), lying(east=end + 0.1))
    assert int(verdict.goal.leg[0]) == 1
    last = way._replace(leg=jnp.array([LEGS - 1]))
    verdict = task.judge(arena, last, lying(east=LEGS * end - 0.1), lying(east=LEGS * end + 0.1))
    assert bool(verdict.succeeded[0])
    lost = task.judge(arena, way, lying(north=100.0), lying(north=100.0))
    assert bool(lost.failed[0])


def test_a_berth_wants_the_vehicle_straight_slow_and_off_the_quay(otters):
    arena, task = otters.arena, Docking()
    length, cruise = float(arena.length), float(arena.cruise)
    berth = Berth(jnp.array([[20.0], [0.0]]), jnp.array([0.0]))

    def judged(**where):
        verdict = task.judge(arena, berth, lying(north=0.0), lying(**where))
        return bool(verdict.succeeded[0]), bool(verdict.failed[0])

    assert judged(north=20.0, speed=0.1 * cruise) == (True, False)
    assert judged(north=20.0, speed=0.5 * cruise) == (False, False)
    assert judged(north=20.0, heading=0.5) == (False, False)
    assert judged(north=20.0 + 0.5 * length) == (False, True)  # the bow is in the quay
    nearer = task.judge(arena, berth, lying(north=5.0), lying(north=5.0 + length))
    assert float(nearer.reward[0]) == pytest.approx(1.0, abs=0.01)


def test_a_pile_is_seen_from_where_the_bow_points_at_it(otters):
    arena, task = otters.arena, Inspection()
    far = 3.0 + 1.5 * float(arena.length)
    pile = Pile(jnp.zeros((2, 1)), jnp.zeros((SECTORS, 1)))
    south = lying(north=-far, heading=0.0)
    seen = np.asarray(task.judge(arena, pile, south, south).goal.seen)[:, 0]
    # Sectors around the direction of the vehicle, which is south of the pile.
    middles = (np.arange(SECTORS) + 0.5) * 360 / SECTORS
    np.testing.assert_array_equal(seen > 0, np.abs(middles - 180.0) < 25.0)
    blind = task.judge(arena, pile, south, lying(north=-far, heading=np.pi))
    assert not np.asarray(blind.goal.seen).any()
    touching = task.judge(arena, pile, south, lying(north=-0.5))
    assert bool(touching.failed[0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task": "Headinghold"}, "did you mean `HeadingHold`"),
        ({"task": "Altitude", "world": "calm"}, "a world with a `seabed`"),
        ({"task": "Altitude", "vehicle": "otter"}, "a submerged vehicle"),
        ({"task": "HeadingHold", "vehicle": "remus100", "actions": "forces"}, "fixed thrusters"),
        ({"task": "HeadingHold", "vehicle": "ottr"}, "did you mean `otter`"),
        ({"task": "HeadingHold", "vary": {"inertia.mas": {"relative": 0.1}}}, "inertia.mas"),
        ({"task": "HeadingHold", "vary": {"inertia.mass": {"relative": 3}}}, "relative"),
        ({"task": "HeadingHold", "count": 0}, "at least 1"),
        ({"task": ["HeadingHold"]}, "there is no task"),
        ({"task": "HeadingHold", "count": 1.5}, "^count: "),
        ({"task": "HeadingHold", "count": True}, "^count: "),
        ({"task": "HeadingHold", "count": "x"}, "^count: "),
        ({"task": "HeadingHold", "vary": "x"}, "^vary: "),
        ({"task": "HeadingHold", "vary": {3: {"relative": 0.1}}}, "^vary: "),
        ({"task": "HeadingHold", "vary": {"inertia.mass": 0.1}}, r"^vary\.inertia\.mass: "),
        ({"task": "HeadingHold", "vary": {"inertia.mass": {}}}, r"^vary\.inertia\.mass\.relative"),
        ({"task": "HeadingHold", "vehicle": st.load("calm")}, "^vehicle: "),
        ({"task": "HeadingHold", "world": 3}, "^world: "),
        ({"task": "HeadingHold", "period": -1.0}, "^period: "),
        ({"task": "HeadingHold", "period": "x"}, "^period: "),
        ({"task": "HeadingHold", "period": float("nan")}, "^period: "),
        ({"task": "HeadingHold", "period": 0.05}, "period=0.04"),
        ({"task": "HeadingHold", "period": 80.0}, "at most the 60 s"),
        ({"task": "HeadingHold", "actions": "wishes"}, "actuators or forces"),
    ],
)
def test_what_cannot_be_posed_is_refused(options, words):
    with pytest.raises(st.SpecError, match=words):
        make(**options)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (Single, {"count": 4}, "num_envs"),
        (Vector, {"count": 4}, "num_envs"),
        (Single, {"vehicel": "otter"}, "did you mean `vehicle`"),
        (Single, {"render_mode": "film"}, "^render_mode: "),
        (Single, {"vary": "x"}, "^vary: "),
        (Vector, {"num_envs": 1.5}, "^num_envs: "),
        (Vector, {"num_envs": 0}, "^num_envs: "),
        (Vector, {"render_mode": "rgb_array"}, "^render_mode: "),
    ],
)
def test_environments_refuse_by_the_name_that_was_given(kind, options, words):
    with pytest.raises(st.SpecError, match=words):
        kind("HeadingHold", **options)


@pytest.mark.parametrize("env", [Single("HeadingHold"), Vector("HeadingHold", num_envs=2)])
def test_what_is_no_action_is_refused_and_changes_nothing(env):
    env.reset(seed=1)
    shape = env.action_space.shape
    before = env._player.episodes
    spoilt = np.zeros(shape, np.float32)
    spoilt.flat[-1] = np.nan
    for action in (
        *(
            spoilt,
            np.full(shape, np.inf),
            np.zeros((*shape, 1)),
            np.zeros(7),
            np.zeros(shape, "U3"),
        ),
        *(0.5, None, "ahead", np.zeros(shape, complex), [[0.1], [0.1, 0.2]]),
    ):
        with pytest.raises(st.SpecError, match="action"):
            env.step(action)
    assert env._player.episodes is before
    assert np.isfinite(env.step(np.zeros(shape).tolist())[1]).all()


def test_no_number_as_an_action_is_nothing_to_the_pure_functions(otters):
    """Inside a compiled loop nobody can refuse."""
    episodes, _ = reset(otters, jax.random.PRNGKey(1))
    after, outcome = step(otters, episodes, jnp.full((3, 2), jnp.nan))
    plain, same = step(otters, episodes, jnp.zeros((3, 2)))
    np.testing.assert_array_equal(outcome.reward, same.reward)
    np.testing.assert_array_equal(after.action, plain.action)


def test_an_action_far_beyond_its_range_is_cut_off_in_silence(recwarn):
    env = Single("HeadingHold", vehicle="otter")
    env.reset(seed=1)
    env.step([1e308, -1e308])
    assert not recwarn.list


def test_an_environment_may_be_closed_over_where_there_is_a_bottom():
    env = make("Altitude", vehicle="remus100", world="rolling-seabed", count=2)
    key = jax.random.PRNGKey(1)
    seen = jax.jit(env.reset)(key)[1]
    np.testing.assert_allclose(seen, jax.jit(Environment.reset)(env, key)[1], atol=1e-5)


def test_seeds_of_many_are_whole_numbers():
    envs = Vector("HeadingHold", num_envs=2)
    seen, _ = envs.reset(seed=5)
    for same in (np.int64(5), [5, 6], np.array([5, 6])):
        np.testing.assert_array_equal(envs.reset(seed=same)[0], seen)
    for wrong in (-1, 1 << 32, 1.5, "x", True):
        with pytest.raises(st.SpecError, match="seed: "):
            envs.reset(seed=wrong)


def test_copies_that_nobody_gave_a_seed_play_episodes_of_their_own():
    one, other = (gymnasium.make("seatrial/HeadingHold-v0") for _ in range(2))
    assert not np.array_equal(one.reset()[0], other.reset()[0])
    one, other = (Vector("HeadingHold", num_envs=2) for _ in range(2))
    assert not np.array_equal(one.reset()[0], other.reset()[0])


FORKS = """
import gymnasium, seatrial.gym
gymnasium.make_vec("seatrial/HeadingHold-v0", num_envs=2, vectorization_mode="async")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not fork by default")
def test_processes_that_are_forked_are_refused_where_they_would_wait_for_ever():
    """Gymnasium makes an environment in its own process before it forks the others off."""
    if multiprocessing.get_start_method() != "fork":
        pytest.skip("this Python does not fork by default")
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 1
    assert 'vector_kwargs={"context": "spawn"}' in done.stderr


def test_the_example_of_learning_takes_its_first_steps(tmp_path):
    """Two updates of few vehicles; `make test-all` lets it learn."""
    out = tmp_path / "learnt.png"
    example = Path(__file__).resolve().parents[2] / "examples" / "learn_path_following.py"
    words = ("--parallel", "8", "--updates", "2", "--world", "calm", "--out", str(out))
    done = subprocess.run(
        [sys.executable, str(example), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size > 10_000


def test_a_step_does_not_search_for_its_program():
    """The search takes longer than the step: it is made once."""
    env = gymnasium.make("seatrial/HeadingHold-v0")
    env.reset(seed=1)
    env.step(env.action_space.sample())
    asked = sum(programs.counts.values())
    for _ in range(5):
        env.step(env.action_space.sample())
    assert sum(programs.counts.values()) == asked
