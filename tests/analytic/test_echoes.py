"""What ranging sensors tell a pilot of solids around it, against plane geometry."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from seatrial.engine.exchange import sightings
from seatrial.gnc.avoidance import Avoidance, Eye, Seen, Sight, avoid, begin, echoes
from seatrial.gnc.avoidance.echoes import NOWHERE, SECTORS
from seatrial.gnc.types import Estimate
from seatrial.spatial.rotations import from_euler

pytestmark = pytest.mark.usefixtures("x64")

BEAMS = 48
ANGLES = np.radians(np.linspace(-60.0, 60.0, BEAMS))


def level_fan(memory=10.0):
    beams = np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(BEAMS)], axis=1)
    arm = jnp.array([0.5, 0.0, 0.0])
    eye = Eye(arm=arm, beams=jnp.asarray(beams), place=0, box=1)
    return Sight(
        memory=jnp.asarray(memory),
        above=jnp.asarray(1.0),
        below=jnp.asarray(0.7),
        margin=jnp.asarray(1.0),
        eyes=(eye,),
    )


def at(north=0.0, east=0.0, heading=0.0, velocity=(0.0,) * 6, down=5.0, pitch=0.0):
    return Estimate(
        position=jnp.array([[north], [east], [down]]),
        attitude=jnp.reshape(from_euler(0.0, pitch, heading), (4, 1)),
        velocity=jnp.asarray(velocity, float)[:, None],
        current=jnp.zeros((3, 1)),
    )


def to_a_wall(distance, heading):
    """Ranges from the sonar to a wall across north, the sonar ahead of the origin by its arm."""
    along = np.cos(ANGLES + heading)
    ranges = (distance - 0.5 * math.cos(heading)) / np.where(along > 0.05, along, np.inf)
    return jnp.asarray(np.where(ranges < 60.0, ranges, 0.0))[:, None]


def seen(sight, known, believed, ranges, stamp, t):
    found = echoes.places(sight.eyes[0], ranges)
    stamps = jnp.array([stamp])
    return echoes.take_in(
        sight, 0, believed, jnp.asarray(t), known, found, stamps, jnp.array([True])
    )


def there(sight, known, t):
    points = np.asarray(echoes.in_the_way(sight, known, jnp.asarray(t)))[:, :, 0]
    return points[:, points[0] < 0.5 * NOWHERE]


@pytest.mark.parametrize("heading", [0.0, 0.4, -0.7])
def test_echoes_of_a_wall_lie_on_it_and_none_in_a_sector_beside_the_fan(heading):
    sight, place = level_fan(), at(3.0, -2.0, heading)
    known = seen(sight, echoes.begin(sight, 1, jnp.float64), place, to_a_wall(20.0, heading), 0, 0)
    points = there(sight, known, 0.0)
    np.testing.assert_allclose(points[0], 23.0, atol=1e-9)
    bearings = np.degrees(np.arctan2(points[1] + 2.0, points[0] - 3.0) - heading)
    assert np.abs(bearings).max() < 60.0
    assert len(bearings) >= 17  # of the 24 sectors of the fan those in which the wall is near


def test_a_late_sample_counts_where_the_vehicle_was_and_headed_when_it_was_taken():
    """0.5 s ago it was 1 m back and headed 0.1 rad more to port."""
    sight = level_fan()
    now = at(0.0, 0.0, 0.3, (2.0 * math.cos(0.0), 0.0, 0.0, 0.0, 0.0, 0.2))
    back = np.array([-math.cos(0.3), -math.sin(0.3)])
    ranges = to_a_wall(20.0 - back[0], 0.2)
    known = seen(sight, echoes.begin(sight, 1, jnp.float64), now, ranges, 4.5, 5.0)
    np.testing.assert_allclose(there(sight, known, 5.0)[0], 20.0, atol=1e-9)


def test_what_is_higher_or_deeper_than_the_vehicle_is_not_in_its_way():
    """A pitch of 15° lifts the fan by 0.26 m per m ahead, half of that 60° to the side: at 10 m by
    more than the metre above, at 3 m by less."""
    sight = level_fan()
    ranges = jnp.asarray(np.full((BEAMS, 1), 10.0))
    none = seen(sight, echoes.begin(sight, 1, jnp.float64), at(pitch=0.26), ranges, 0.0, 0.0)
    assert len(there(sight, none, 0.0)[0]) == 0
    near = seen(sight, echoes.begin(sight, 1, jnp.float64), at(pitch=0.26), 0.3 * ranges, 0, 0)
    assert len(there(sight, near, 0.0)[0]) >= 20


def test_echoes_are_kept_beside_the_vehicle_and_forgotten_after_their_time():
    sight = level_fan(memory=10.0)
    known = seen(sight, echoes.begin(sight, 1, jnp.float64), at(), to_a_wall(10.0, 0.0), 0.0, 0.0)
    count = len(there(sight, known, 0.0)[0])
    turned = at(heading=math.pi)
    known = seen(sight, known, turned, jnp.zeros((BEAMS, 1)), 8.0, 8.0)
    assert len(there(sight, known, 8.0)[0]) == count  # it looks away, and still knows of the wall
    assert len(there(sight, known, 10.5)[0]) == 0
    nearer = seen(sight, known, at(1.0), to_a_wall(5.0, 0.0), 9.0, 9.0)
    np.testing.assert_allclose(there(sight, nearer, 9.0)[0].min(), 6.0, atol=1e-9)


def decided(points, speed=1.0, remaining=math.inf, slowest=None, course=0.0):
    """The first decision of a vehicle under way to the north; course in degrees, and speed."""
    numbers = {"radius": 1.0, "clearance": 10.0, "horizon": 60.0, "shape_horizon": 30.0,
               "reaction": 20.0, "patience": 5.0, "lag": 1.0, "turn_rate": 0.3}  # fmt: skip
    avoidance = Avoidance(
        **{name: jnp.asarray(value) for name, value in numbers.items()},
        targets=None, circles=None, polygons=None, period=1.0,
        slowest=None if slowest is None else jnp.asarray(slowest),
    )  # fmt: skip
    around = np.full((2, SECTORS, 1), NOWHERE)
    around[:, : len(points), 0] = np.transpose(points)
    wall = Seen(jnp.asarray(around), jnp.asarray(1.0), jnp.array([remaining]))
    believed = at(velocity=(speed, 0, 0, 0, 0, 0), heading=course)
    _, course, speed, info = avoid(
        avoidance, begin(avoidance, 1), believed, jnp.array([course]), jnp.array([speed]),
        jnp.asarray(0.0), None, wall,
    )  # fmt: skip
    return math.degrees(float(course[0])), float(speed[0]), bool(info.altered[0])


def test_a_clear_way_is_kept_and_an_echo_ahead_is_gone_round_on_its_shorter_side():
    assert decided([(20.0, 9.0)]) == (0.0, 1.0, False)
    course, speed, altered = decided([(15.0, 0.5)])
    assert altered
    assert speed == 1.0
    assert -30.0 < course < 0.0
    # the way of 15 m at the chosen angle passes it by 2 m, of which 1 m is margin
    assert 15.0 * math.sin(math.radians(-course)) > 1.0
    mirrored, _, _ = decided([(15.0, -0.5)])
    assert mirrored == pytest.approx(-course)


def test_a_wall_is_as_bad_as_its_worst_point_however_many_are_seen():
    one = decided([(15.0, 0.5)])
    many = decided([(15.0, 0.5)] * 20)
    assert one == many


def test_what_lies_beyond_the_goal_is_no_matter_yet():
    wall = [(20.0, e) for e in np.linspace(-20.0, 20.0, 41)]
    assert decided(wall, remaining=15.0) == (0.0, 1.0, False)
    assert decided(wall, remaining=40.0)[2]


def test_who_cannot_steer_at_rest_never_stops_before_a_wall_and_others_may():
    closed = [(6.0 * math.cos(a), 6.0 * math.sin(a)) for a in np.radians(np.arange(0, 360, 5))]
    assert decided(closed)[1] < 0.5
    assert decided(closed, slowest=0.6)[1] > 0.6


def test_of_a_sweep_the_second_nearest_echo_of_each_sector_between_the_heights_is_told():
    eye = sightings._Eye(
        fleet=0, name="scan", sensor=None, arm=np.array([0.5, 0.0, -1.0]), turn=np.eye(3),
        above=2.0, below=1.0, periods=1,
    )  # fmt: skip
    ahead = [[10.0, 0.1, 0.0], [10.2, 0.1, 0.0], [12.0, 0.1, 0.0]]
    overhead = [[5.0, 0.1, -2.0], [5.0, 0.1, -2.1]]  # 3 m over the origin
    alone = [[-7.0, 0.2, 0.0]]  # a drop of rain
    places = np.array(ahead + overhead + alone).T
    late = -0.01 * np.arange(places.shape[1])
    told, when = sightings._nearest(sightings.Found(places, late), eye)
    rows = np.flatnonzero(np.any(told != 0.0, axis=0))
    assert rows.tolist() == [0]
    np.testing.assert_allclose(told[:, 0], [10.7, 0.1, -1.0])
    assert when[0] == -0.01


def test_echoes_of_a_sweep_lie_where_they_were_heard_however_the_vehicle_turned_meanwhile():
    """Of a revolution of 2.5 s while it goes ahead at 2 m/s and turns by 0.2 rad/s."""
    sight, late = level_fan(), np.linspace(-2.5, 0.0, BEAMS)
    wall = np.stack([20.0 + 0.0 * ANGLES, 10.0 * np.sin(ANGLES)])
    heading = 0.3 + 0.2 * late
    # What the pilot reckons with: its course over ground is that of now.
    start = 2.0 * late * np.array([[math.cos(0.3)], [math.sin(0.3)]])
    away, c, s = wall - start, np.cos(heading), np.sin(heading)
    body = np.stack([c * away[0] + s * away[1], c * away[1] - s * away[0], 0.0 * late])
    now = at(0.0, 0.0, 0.3, (2.0, 0.0, 0.0, 0.0, 0.0, 0.2))
    stamp, fresh = jnp.array([5.0]), jnp.array([True])
    before = echoes.begin(sight, 1, jnp.float64)
    given = jnp.asarray(body[:, :, None]), stamp, fresh, jnp.asarray(late[:, None])
    known = echoes.take_in(sight, 0, now, jnp.asarray(5.0), before, *given)
    np.testing.assert_allclose(there(sight, known, 5.0)[0], 20.0, atol=1e-9)
    skewed = echoes.take_in(sight, 0, now, jnp.asarray(5.0), before, *given[:3])
    assert np.abs(there(sight, skewed, 5.0)[0] - 20.0).max() > 1.0
