"""Whether a mission can work: refused where it cannot, doubted where it may not, with the number.

Only what a description says is looked at; nothing is simulated.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.failsafes import action_of, braking_of, deviation_of, slack_of
from seatrial.compile.autonomy.legs import Leg
from seatrial.compile.autonomy.obstacles import turning_of
from seatrial.errors import Path, Problem, SpecError
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.terrain import terrain_of
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.gnc.control.loops import Dive
from seatrial.gnc.failsafes import CODE
from seatrial.gnc.guidance.fence import signed_distance
from seatrial.gnc.mission import HOLD, SURFACE, VELOCITY
from seatrial.ocean.seabed import Seabed, under
from seatrial.signals import SensorInfo
from seatrial.spec import mission as spec
from seatrial.spec.navigation import Navigation
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.vehicle import SurfaceBuoyancy
from seatrial.spec.world import Current

if TYPE_CHECKING:
    from seatrial.design.tuning import Tuning

Array = NDArray[np.float64]

HOURS = 3600.0
"""Time of a mission from which on it is compared with the run's, s."""
AWASH = 1.0
"""Depth of the origin up to which a craft that dives hears radio, m."""


def check_mission(
    scenario: Scenario,
    index: int,
    legs: Sequence[Leg],
    start: Array,
    tuning: "Tuning",
    sensors: Sequence[SensorInfo],
    seabed: Seabed | None,
) -> list[Problem]:
    """What is doubtful about the mission of participant `index`; raises SpecError for what cannot
    work."""
    check = _Check(scenario, index, legs, start, tuning, sensors, seabed)
    check.depths()
    found: list[Problem] = [*check.time(), *check.gains()]
    for doubts in (
        check.ridges(),
        check.speeds(),
        check.headings(),
        check.currents(),
        check.slopes(),
        check.turns(),
        check.margins(),
        check.position(),
    ):
        by_task: dict[Path, Problem] = {}
        for doubt in doubts:
            by_task.setdefault(doubt.path, doubt)  # one leg of a task stands for all
        found += by_task.values()
    return found


class _Check:
    def __init__(
        self,
        scenario: Scenario,
        index: int,
        legs: Sequence[Leg],
        start: Array,
        tuning: "Tuning",
        sensors: Sequence[SensorInfo],
        seabed: Seabed | None,
    ) -> None:
        self._scenario, self._index, self._legs = scenario, index, legs
        self._participant: Participant = scenario.vehicles[index]
        self._vehicle = self._participant.vehicle
        self._start, self._tuning, self._sensors = start, tuning, sensors
        self._seabed = seabed
        self._dives = self._vehicle.buoyancy.craft == "submerged"

    def _problem(self, path: Path, message: str, expected: str, mend: str) -> Problem:
        whole = ("vehicles", self._index, *path)
        return self._scenario.problem(whole, message, expected=expected, mend=mend)

    def _of(self, leg: Leg, message: str, expected: str, mend: str) -> Problem:
        path = ("mission", leg.task)
        return self._problem(path, f"`{leg.name}` {message}", expected, mend)

    def depths(self) -> None:
        """Refuse places in the air, in the bottom, or beyond the vehicle's own limit."""
        if not self._dives:
            for leg in self._legs:
                self._afloat(leg)
                if leg.kind != VELOCITY and float(leg.end[2]) > self._vehicle.height:
                    raise SpecError(
                        self._of(
                            leg,
                            f"lies at {float(leg.end[2]):g} m, and {self._vehicle.name} floats",
                            "no depth, for a craft on the surface",
                            "leave out the depth, or choose a vehicle that dives",
                        )
                    )
            return
        failsafes, fitted = self._participant.failsafes, {s.type for s in self._sensors}
        limit = (failsafes.depth and failsafes.depth.limit) or math.inf
        low = failsafes.altitude is not None and bool(fitted & {"dvl", "altimeter"})
        least = failsafes.altitude.limit if low and failsafes.altitude else 0.0
        for leg in self._legs:
            self._afloat(leg)
            depth, bottom = float(leg.end[2]), self._bottom(leg.end)
            if depth < 0.0:
                raise SpecError(
                    self._of(
                        leg,
                        f"lies {-depth:g} m above the surface",
                        "a depth of 0 or more",
                        "depths count downwards",
                    )
                )
            if depth >= bottom:
                raise SpecError(
                    self._of(
                        leg,
                        f"lies at {depth:g} m, where the water is {bottom:.6g} m deep",
                        f"a depth of less than {bottom:.6g} m",
                        "give the task another `depth`, or the world a deeper `seabed`",
                    )
                )
            if bottom - depth < least and self._leaves("altitude"):
                raise SpecError(
                    self._of(
                        leg,
                        f"lies {bottom - depth:.2g} m over the bottom, nearer than the failsafe "
                        "`altitude` allows",
                        f"an altitude of at least {least:g} m",
                        "give the task another `depth`, or lower `failsafes.altitude.limit`",
                    )
                )
            if depth > limit and self._leaves("depth"):
                raise SpecError(
                    self._of(
                        leg,
                        f"lies at {depth:g} m, deeper than the failsafe `depth` allows",
                        f"a depth of at most {limit:g} m",
                        "give the task another `depth`, or raise `failsafes.depth.limit`",
                    )
                )

    def _bottom(self, place: Array) -> float:
        """Depth of the water at a place (2 or 3,), m."""
        return math.inf if self._seabed is None else float(under(self._seabed, *place[:2]))

    def _afloat(self, leg: Leg) -> None:
        """Refuse a place on land."""
        bottom = self._bottom(leg.end)
        if leg.kind != VELOCITY and bottom <= 0.0:
            raise SpecError(
                self._of(
                    leg,
                    f"lies on land, {-bottom:.3g} m above the water",
                    "a place where there is water",
                    "move it",
                )
            )

    def ridges(self) -> Iterator[Problem]:
        """Doubt straight ways that lead into a bottom that is not flat."""
        if self._seabed is None or not isinstance(self._seabed.depth, HeightGrid):
            return
        terrain, craft = terrain_of(self._seabed.depth), self._vehicle.buoyancy
        draught = craft.keel_depth if isinstance(craft, SurfaceBuoyancy) else 0.0
        begin = self._start
        for leg in self._legs:
            way, start, begin = leg.end - begin, begin, leg.end
            if leg.kind == VELOCITY:
                continue
            steps = math.ceil(float(np.hypot(*way[:2]) / terrain.spacing.min())) + 1
            north, east, depth = start[:, None] + way[:, None] * np.linspace(0.0, 1.0, steps + 1)
            room = terrain.at(north, east) - depth - draught
            worst = int(room.argmin())
            if room[worst] < 0.0:
                place = f"{north[worst]:.4g} m north, {east[worst]:.4g} m east"
                yield self._of(
                    leg,
                    f"leads through the bottom: it rises to "
                    f"{terrain.at(north[worst], east[worst]):.4g} m at {place}",
                    f"water deeper than {depth[worst] + draught:.3g} m all along",
                    "go around it, or higher above it",
                )

    def _leaves(self, failsafe: str) -> bool:
        """Whether a failsafe would take the vehicle off its mission."""
        return action_of(self._participant, failsafe) >= CODE["hold"]

    def gains(self) -> Iterator[Problem]:
        """Doubt gains of the user's own with which a loop does not keep the limits of a design."""
        if self._participant.control.gains and self._tuning.failures:
            yield self._problem(
                ("control", "gains"),
                f"with these gains it falls short: {self._tuning.failures[0]}",
                "loops that are stable, with a sensitivity of at most 2",
                f"start from what `seatrial tune {self._vehicle.name}` prints",
            )

    def time(self) -> Iterator[Problem]:
        """Doubt a mission that lasts for hours beyond the run; a run cut short on purpose ends
        `unfinished`, which says enough."""
        begin, needed = self._start, 0.0
        for leg in self._legs:
            needed += float(np.linalg.norm(leg.end - begin)) / leg.speed + leg.dwell
            begin = leg.end
        duration = self._scenario.duration
        if needed > max(duration, HOURS):
            yield self._problem(
                ("mission",),
                f"it takes about {needed / 3600.0:.3g} h at the speeds that it asks for, and the "
                f"run ends after {duration / 3600.0:.3g} h",
                "a mission that the run can see the end of",
                "check the waypoints, which are in metres from the datum, or give more `duration`",
            )

    def speeds(self) -> Iterator[Problem]:
        """Refuse a speed that the vehicle does not come near, and doubt one that it does not have.

        Where there is a current, what a speed takes through the water is another question.
        """
        top = self._tuning.top
        if top is None:
            return
        for leg in self._legs:
            if leg.kind == VELOCITY:
                self._ordered(leg, top)
                continue
            if leg.speed <= top:
                continue
            doubt = self._of(
                leg,
                f"asks for {leg.speed:.2g} m/s",
                f"at most {top:.2g} m/s, its top speed",
                "ask for less `speed`",
            )
            if leg.speed > 2.0 * top:
                raise SpecError(doubt)
            if self._scenario.world.current is None:
                yield doubt

    def headings(self) -> Iterator[Problem]:
        """Doubt a heading on station that the vehicle has no thrusters for."""
        for leg in self._legs:
            task = self._participant.mission[leg.task]
            if isinstance(task, spec.Hold) and task.heading is not None and math.isnan(leg.heading):
                yield self._of(
                    leg,
                    f"asks for a heading of {math.degrees(task.heading):.3g}° on station, which "
                    f"{self._vehicle.name} cannot hold",
                    "a vehicle that moves ahead, sideways and turns by itself",
                    "leave out `heading`; it comes back to its place whenever it drifts off",
                )

    def _ordered(self, leg: Leg, top: float) -> None:
        """Refuse a velocity that the vehicle cannot have."""
        surge, sway, _ = leg.velocity
        if abs(surge) > 2.0 * top:
            message = f"asks for {surge:.2g} m/s ahead"
            expected = f"at most {top:.2g} m/s, its top speed"
            raise SpecError(self._of(leg, message, expected, "ask for less `surge`"))
        if sway != 0.0 and "sway" not in self._tuning.autopilot.follows:
            message = f"asks for {sway:.2g} m/s to the side"
            expected = f"no `sway`: {self._vehicle.name} cannot move sideways by itself"
            raise SpecError(self._of(leg, message, expected, "leave out `sway`"))

    def currents(self) -> Iterator[Problem]:
        """Refuse what the steady current makes impossible; doubt what it, or the tide, makes slow.

        With a speed U through the water, and a current of c along the leg and d across it, a
        vehicle makes good c + √(U² − d²).
        """
        current, top = self._scenario.world.current, self._tuning.top
        if current is None or top is None:
            return
        begin = self._start
        for leg in self._legs:
            way, begin = leg.end - begin, leg.end
            if leg.kind == VELOCITY:
                continue
            steady, more = _stream(current, float(leg.end[2]))
            speed, length = math.hypot(*steady), math.hypot(way[0], way[1])
            stays = leg.kind in (HOLD, SURFACE) or length == 0.0
            along = 0.0 if stays else float(way[:2] @ steady) / length
            across = math.sqrt(max(speed * speed - along * along, 0.0))
            made = -1.0 if across >= top else along + math.sqrt(top * top - across * across)
            expected = f"a current that {self._vehicle.name} can stem: at most {top:.2g} m/s"
            mend = "choose a weaker current, or another vehicle"
            if (stays and speed >= top) or (not stays and made <= 0.0):
                message = f"cannot be reached: the current of {speed:.2g} m/s is too strong"
                raise SpecError(self._of(leg, message, expected, mend))
            needed = math.hypot(leg.speed - along, across)
            if stays:
                continue
            if needed > top:
                yield self._of(
                    leg,
                    f"asks for {leg.speed:.2g} m/s over ground, which takes {needed:.2g} m/s "
                    f"through the water: it makes good {made:.2g} m/s",
                    f"at most {top:.2g} m/s through the water",
                    "ask for less `speed`",
                )
            elif speed + more >= top:
                yield self._of(
                    leg,
                    f"may be out of reach: with its tide the current is {speed + more:.2g} m/s",
                    expected,
                    mend,
                )

    def slopes(self) -> Iterator[Problem]:
        """Doubt ways that rise or fall faster than a vehicle that dives by pitching."""
        begin = self._start
        for leg in self._legs:
            way, begin = leg.end - begin, leg.end
            length, most = math.hypot(way[0], way[1]), steepest(self._tuning.autopilot, leg.speed)
            free = leg.kind in (VELOCITY, HOLD, SURFACE) or math.isfinite(leg.altitude)
            if free or length == 0.0 or abs(way[2]) <= most * length:
                continue
            yield self._of(
                leg,
                f"lies {abs(way[2]):.3g} m {'deeper' if way[2] > 0.0 else 'higher'}, "
                f"{length:.3g} m ahead: {self._vehicle.name} comes by it at another depth",
                f"at most {most * length:.2g} m on such a way, a slope of {most:.2f}",
                "move it farther away, or circle there to change depth",
            )

    def turns(self) -> Iterator[Problem]:
        """Doubt lines that lie closer than the turning circle is wide."""
        if "position" in self._tuning.autopilot.follows:
            return  # it slows down and turns on the spot
        for number, task in enumerate(self._participant.mission):
            if isinstance(task, spec.Survey | spec.ExpandingSquare):
                key, room = "spacing", task.spacing
            elif isinstance(task, spec.Loiter):
                key, room = "radius", 2.0 * task.radius
            else:
                continue
            speed = task.speed or self._tuning.trim.speed
            circle = 2.0 * speed / turning_of(self._tuning.autopilot, speed).rate
            if circle > room:
                yield self._problem(
                    ("mission", number, key),
                    f"the turning circle is {circle:.3g} m wide at {speed:.2g} m/s, and there are "
                    f"{room:.3g} m",
                    f"room for {circle:.3g} m",
                    f"go slower, or give more `{key}`",
                )

    def margins(self) -> Iterator[Problem]:
        """Doubt places so near to the fence that the vehicle is stopped before it is there."""
        fence = self._participant.guidance.fence
        if fence is None or not self._leaves("fence"):
            return
        braking = braking_of(self._participant, self._tuning)
        for leg in self._legs:
            if leg.kind == VELOCITY:
                continue
            room = float(signed_distance(np.array(fence), leg.end[:2]))
            margin = slack_of(self._participant, self._tuning) + leg.speed**2 / (2.0 * braking)
            if room + leg.acceptance < margin:
                yield self._of(
                    leg,
                    f"lies {room:.2g} m from the fence, and the failsafe `fence` acts {margin:.2g} "
                    f"m from it at {leg.speed:.2g} m/s",
                    f"at least {margin - leg.acceptance:.2g} m, with the acceptance of "
                    f"{leg.acceptance:.2g} m",
                    "move the waypoint, widen the fence, or go slower",
                )

    def position(self) -> Iterator[Problem]:
        """Doubt a mission on which nothing bounds the position for long."""
        if self._participant.feedback == "truth" or self._participant.failsafes.position is None:
            return
        described = self._participant.navigation or Navigation()
        named = None if described.aids is None else {aid.sensor for aid in described.aids}
        used = [s for s in self._sensors if named is None or s.name in named]
        types = {sensor.type for sensor in used}
        deepest = max(float(self._start[2]), *(float(leg.end[2]) for leg in self._legs))
        hears = not self._dives or deepest <= AWASH
        if (types & {"gnss", "uwb"} and hears) or types & {"lbl", "usbl"}:
            return
        rate, why = self._growth(described, used, deepest)
        limit = deviation_of(self._participant)
        lasts = self._scenario.duration
        if types & {"gnss", "uwb"}:
            lasts = min(lasts, self._under_water())
        if rate * lasts > limit:
            yield self._problem(
                ("mission",),
                f"nothing bounds the position of `{self._participant.name}`: {why} its standard "
                f"deviation grows by about {60.0 * rate:.2g} m a minute, to {rate * lasts:.0f} m "
                f"after {lasts:.0f} s",
                f"at most {limit:g} m, which it passes after {limit / rate:.0f} s",
                "add a GNSS or UWB where it can hear them, LBL, USBL or a DVL under water, or say "
                "`feedback: truth`",
            )

    def _under_water(self) -> float:
        """Longest time for which the mission stays below the reach of radio, s."""
        points = [self._start, *(leg.end for leg in self._legs)]
        longest = now = 0.0
        for (a, b), leg in zip(pairwise(points), self._legs, strict=True):
            now = 0.0 if max(a[2], b[2]) <= AWASH else now
            now += float(np.linalg.norm(b - a)) / leg.speed + leg.dwell
            longest = max(longest, now)
        return longest

    def _growth(
        self, described: Navigation, used: list[SensorInfo], depth: float
    ) -> tuple[float, str]:
        """Growth of the deviation, m/s, and what it comes from.

        Dead reckoning errs by its speed times the errors of heading and scale; without a velocity
        over ground by what is not known of the current.
        """
        speed = max(leg.speed for leg in self._legs)
        bottom = max(self._bottom(leg.end) for leg in self._legs)
        for sensor in (s for s in self._participant.fitted if s.type == "dvl"):
            named = any(info.name == sensor.name for info in used)
            if named and bottom - depth <= sensor.maximum_altitude:
                wrong = math.hypot(sensor.scale, sensor.misalignment, _heading(used))
                share = f"{wrong:.2g} of the way is wrong by the DVL and the heading, so that"
                return math.hypot(wrong * speed, sensor.bias), share
        unknown = 0.0 if described.dynamics is None else described.dynamics.deviation
        flow = math.hypot(described.current, unknown)
        return flow, f"the current is known to {described.current:g} m/s at first, so that"


def steepest(autopilot: Autopilot, speed: float) -> float:
    """Change of depth over way of the steepest leg that a vehicle which dives by pitching follows;
    infinite for one that has thrusters for it."""
    if not isinstance(autopilot.depth, Dive):
        return math.inf
    rates = np.asarray(autopilot.depth.reference.rate_limit)
    return float(np.interp(speed, np.asarray(autopilot.speeds), rates)) / speed


def _heading(used: list[SensorInfo]) -> float:
    """Standard deviation of the heading by the best of the sensors that tell it, rad."""
    found = [
        s.facts["attitude_deviation"][2] if s.type == "ahrs" else s.deviation[0]
        for s in used
        if s.type in ("ahrs", "compass")
    ]
    return min(found, default=math.radians(2.0))


def _stream(current: Current, depth: float) -> tuple[Array, float]:
    """The steady part at a depth (north, east), and how much tide or a series may add, m/s."""
    factor = 1.0
    if current.profile is not None:
        factor = float(np.interp(depth, current.profile.depth, current.profile.factor))
    towards = current.towards or 0.0
    steady = (current.speed or 0.0) * np.array([math.cos(towards), math.sin(towards)])
    more = sum(constituent.amplitude for constituent in current.tide)
    more += 0.0 if current.series is None else max(current.series.speed)
    return factor * steady, factor * more
