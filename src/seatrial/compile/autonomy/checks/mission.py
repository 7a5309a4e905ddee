"""Whether a mission can work: refused where it cannot, doubted where it may not, with the number.

Only what a description says is looked at; nothing is simulated.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from seatrial.compile.autonomy.checks import endurance, fence, steerage, turn
from seatrial.compile.autonomy.checks.case import Array, MissionCase
from seatrial.compile.autonomy.legs import Leg
from seatrial.compile.autonomy.obstacles import turning_of
from seatrial.compile.sensors.fitting import FittedOut
from seatrial.errors import Path, Problem, SpecError
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.terrain import terrain_of
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.gnc.control.loops import Dive
from seatrial.gnc.mission import DOCK, HOLD, SURFACE, VELOCITY
from seatrial.ocean.seabed import Seabed
from seatrial.spec import mission as spec
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import SurfaceBuoyancy
from seatrial.spec.world import Current

if TYPE_CHECKING:
    from seatrial.compile.autonomy.tuning import Design


def check_mission(
    scenario: Scenario,
    index: int,
    legs: Sequence[Leg],
    start: Array,
    designed: "Design",
    sensors: FittedOut,
    seabed: Seabed | None,
) -> list[Problem]:
    """What is doubtful about the mission of participant `index`; raises SpecError for what cannot
    work."""
    check = _Check(scenario, index, legs, start, designed, sensors, seabed)
    check.depths()
    found = [*endurance.time(check), *endurance.charge(check), *check.gains()]
    for doubts in (
        check.ridges(),
        check.speeds(),
        steerage.way(check),
        check.headings(),
        check.currents(),
        check.slopes(),
        check.turns(),
        turn.waypoints(check),
        fence.margins(check),
        endurance.position(check),
    ):
        by_task: dict[Path, Problem] = {}
        for doubt in doubts:
            by_task.setdefault(doubt.path, doubt)  # one leg of a task stands for all
        found += by_task.values()
    return found


FARTHEST_RIDGE = 100_000
"""Nodes of the map that a straight way is followed over: no run goes farther."""


class _Check(MissionCase):
    def depths(self) -> None:
        """Refuse places in the air, in the bottom, or beyond the vehicle's own limit."""
        if not self.dives:
            for leg in self.legs:
                self._afloat(leg)
                if float(leg.end[2]) > self.vehicle.height:
                    raise SpecError(
                        self.of(
                            leg,
                            f"lies at {float(leg.end[2]):g} m, and {self.vehicle.name} floats",
                            "no depth, for a craft on the surface",
                            "leave out the depth, or choose a vehicle that dives",
                        )
                    )
            return
        failsafes, fitted = self.participant.failsafes, {s.type for s in self.sensors.infos}
        limit = (failsafes.depth and failsafes.depth.limit) or math.inf
        low = failsafes.altitude is not None and bool(fitted & {"dvl", "altimeter"})
        least = failsafes.altitude.limit if low and failsafes.altitude else 0.0
        for leg in self.legs:
            self._afloat(leg)
            depth, bottom = float(leg.end[2]), self.bottom(leg.end)
            if depth < 0.0:
                raise SpecError(
                    self.of(
                        leg,
                        f"lies {-depth:g} m above the surface",
                        "a depth of 0 or more",
                        "depths count downwards",
                    )
                )
            if depth >= bottom:
                raise SpecError(
                    self.of(
                        leg,
                        f"lies at {depth:g} m, where the water is {bottom:.6g} m deep",
                        f"a depth of less than {bottom:.6g} m",
                        "give the task another `depth`, or the world a deeper `seabed`",
                    )
                )
            if bottom - depth <= least and self.leaves("altitude"):
                raise SpecError(
                    self.of(
                        leg,
                        f"lies {bottom - depth:.2g} m over the bottom, nearer than the failsafe "
                        "`altitude` allows",
                        f"an altitude of more than {least:g} m",
                        "give the task another `depth`, or lower `failsafes.altitude.limit`",
                    )
                )
            if depth >= limit and self.leaves("depth"):
                raise SpecError(
                    self.of(
                        leg,
                        f"lies at {depth:g} m, deeper than the failsafe `depth` allows",
                        f"a depth of at most {limit:g} m, with room for what it swings by",
                        "give the task another `depth`, or raise `failsafes.depth.limit`",
                    )
                )

    def _afloat(self, leg: Leg) -> None:
        """Refuse a place on land."""
        bottom = self.bottom(leg.end)
        if leg.kind != VELOCITY and bottom <= 0.0:
            raise SpecError(
                self.of(
                    leg,
                    f"lies on land, {-bottom:.3g} m above the water",
                    "a place where there is water",
                    "move it",
                )
            )

    def ridges(self) -> Iterator[Problem]:
        """Doubt straight ways that lead into a bottom that is not flat."""
        if self.seabed is None or not isinstance(self.seabed.depth, HeightGrid):
            return
        terrain, craft = terrain_of(self.seabed.depth), self.vehicle.buoyancy
        draught = craft.keel_depth if isinstance(craft, SurfaceBuoyancy) else 0.0
        begin = self.start
        for leg in self.legs:
            way, start, begin = leg.end - begin, begin, leg.end
            if leg.kind == VELOCITY:
                continue
            wanted = min(float(np.hypot(*way[:2]) / terrain.spacing.min()), 1e300) + 1.0
            steps = math.ceil(min(wanted, FARTHEST_RIDGE))
            share = np.linspace(0.0, steps / math.ceil(wanted), steps + 1)
            north, east, depth = start[:, None] + way[:, None] * share
            room = terrain.at(north, east) - depth - draught
            worst = int(room.argmin())
            if room[worst] < 0.0:
                place = f"{north[worst]:.4g} m north, {east[worst]:.4g} m east"
                yield self.of(
                    leg,
                    f"leads through the bottom: it rises to "
                    f"{terrain.at(north[worst], east[worst]):.4g} m at {place}",
                    f"water deeper than {depth[worst] + draught:.3g} m all along",
                    "go around it, or higher above it",
                )

    def gains(self) -> Iterator[Problem]:
        """Doubt gains of the user's own with which a loop does not keep the limits of a design."""
        if self.participant.control.gains and self.tuning.failures:
            yield self.problem(
                ("control", "gains"),
                f"with these gains it falls short: {self.tuning.failures[0]}",
                "loops that are stable, with a sensitivity of at most 2",
                f"start from what `seatrial tune {self.vehicle.name}` prints",
            )

    def speeds(self) -> Iterator[Problem]:
        """Refuse a speed that the vehicle does not come near, and doubt one that it does not have.

        Where there is a current, what a speed takes through the water is another question.
        """
        top = self.tuning.top
        if top is None:
            return
        for leg in self.legs:
            if leg.kind == VELOCITY:
                self._ordered(leg, top)
                continue
            if leg.speed <= top:
                continue
            doubt = self._too_fast(leg, top)
            if leg.speed > 2.0 * top:
                raise SpecError(doubt)
            if self.scenario.world.current is None:
                yield doubt

    def _too_fast(self, leg: Leg, top: float) -> Problem:
        """About a speed beyond the top speed, by whoever asked for it."""
        expected = f"at most {top:.2g} m/s, its top speed"
        if leg.kind == DOCK:
            message = f"asks for a `final_speed` of {leg.speed:.2g} m/s"
            return self.of(leg, message, expected, "ask for less `final_speed`")
        if self.participant.mission[leg.task].speed is not None:
            message = f"asks for {leg.speed:.2g} m/s"
            return self.of(leg, message, expected, "ask for less `speed`")
        return self.of(
            leg,
            f"names no `speed`, and goes at the {leg.speed:.2g} m/s to which the orders of "
            f"`manoeuvring.ahead` drive {self.vehicle.name}",
            f"{expected} within the limits of its actuators",
            f"give the task a `speed` of at most {top:.2g} m/s, or the vehicle orders in "
            "`manoeuvring.ahead` that its actuators can follow",
        )

    def headings(self) -> Iterator[Problem]:
        """Doubt a heading on station that the vehicle has no thrusters for."""
        for leg in self.legs:
            task = self.participant.mission[leg.task]
            if isinstance(task, spec.Hold) and task.heading is not None and math.isnan(leg.heading):
                yield self.of(
                    leg,
                    f"asks for a heading of {math.degrees(task.heading):.3g}° on station, which "
                    f"{self.vehicle.name} cannot hold",
                    "a vehicle that moves ahead, sideways and turns by itself",
                    "leave out `heading`; it comes back to its place whenever it drifts off",
                )

    def _ordered(self, leg: Leg, top: float) -> None:
        """Refuse a velocity that the vehicle cannot have."""
        surge, sway, yaw_rate = leg.velocity
        if abs(surge) > 2.0 * top:
            message = f"asks for {surge:.2g} m/s ahead"
            expected = f"at most {top:.2g} m/s, its top speed"
            raise SpecError(self.of(leg, message, expected, "ask for less `surge`"))
        # Half of the moment keeps up with the designed rate, so that all makes about twice as much.
        speeds = (min(abs(surge), top), self.tuning.trim.speed)
        most = max(turning_of(self.tuning.autopilot, speed).rate for speed in speeds)
        if abs(yaw_rate) > 2.0 * most and self.tuning.autopilot.heading is not None:
            message = f"asks for a turn of {yaw_rate:.2g} rad/s"
            expected = f"at most {most:.2g} rad/s, which its autopilot is designed for"
            raise SpecError(self.of(leg, message, expected, "ask for less `yaw_rate`"))
        if sway != 0.0 and "sway" not in self.tuning.autopilot.follows:
            message = f"asks for {sway:.2g} m/s to the side"
            expected = f"no `sway`: {self.vehicle.name} cannot move sideways by itself"
            raise SpecError(self.of(leg, message, expected, "leave out `sway`"))

    def currents(self) -> Iterator[Problem]:
        """Refuse what the steady current makes impossible; doubt what it, or the tide, makes slow.

        With a speed U through the water, and a current of c along the leg and d across it, a
        vehicle makes good c + √(U² − d²).
        """
        current, top = self.scenario.world.current, self.tuning.top
        if current is None or top is None:
            return
        begin = self.start
        for leg in self.legs:
            way, begin = leg.end - begin, leg.end
            if leg.kind == VELOCITY:
                continue
            steady, more = _stream(current, float(leg.end[2]))
            speed, length = math.hypot(*steady), math.hypot(way[0], way[1])
            stays = leg.kind in (HOLD, SURFACE) or length == 0.0
            along = 0.0 if stays else float(way[:2] @ steady) / length
            across = math.sqrt(max(speed * speed - along * along, 0.0))
            made = -1.0 if across >= top else along + math.sqrt(top * top - across * across)
            expected = f"a current that {self.vehicle.name} can stem: at most {top:.2g} m/s"
            mend = "choose a weaker current, or another vehicle"
            stops = stays or leg.kind == DOCK  # a current that takes it there takes it on
            if (stops and speed >= top) or (not stays and made <= 0.0):
                message = f"cannot be reached: the current of {speed:.2g} m/s is too strong"
                raise SpecError(self.of(leg, message, expected, mend))
            bears = self.tuning.steady
            if stops and leg.kind in (HOLD, DOCK) and bears is not None and speed > bears:
                yield self.of(
                    leg,
                    f"is a station in a current of {speed:.2g} m/s, in which the loops of "
                    f"{self.vehicle.name} may sway or turn away",
                    f"a current of at most {bears:.2g} m/s on station",
                    f"choose a weaker current; `seatrial tune {self.vehicle.name}` tells more",
                )
            needed = math.hypot(leg.speed - along, across)
            if stays:
                continue
            if needed > top:
                yield self.of(
                    leg,
                    f"asks for {leg.speed:.2g} m/s over ground, which takes {needed:.2g} m/s "
                    f"through the water: it makes good {made:.2g} m/s",
                    f"at most {top:.2g} m/s through the water",
                    "ask for less `speed`",
                )
            elif more > 0.0 and speed + more >= top:
                yield self.of(
                    leg,
                    f"may be out of reach: with its tide the current is {speed + more:.2g} m/s",
                    expected,
                    mend,
                )

    def slopes(self) -> Iterator[Problem]:
        """Doubt ways that rise or fall faster than a vehicle that dives by pitching."""
        begin = self.start
        for leg in self.legs:
            way, begin = leg.end - begin, leg.end
            length, most = math.hypot(way[0], way[1]), steepest(self.tuning.autopilot, leg.speed)
            free = leg.kind in (VELOCITY, HOLD, SURFACE) or math.isfinite(leg.altitude)
            if free or length == 0.0 or abs(way[2]) <= most * length:
                continue
            yield self.of(
                leg,
                f"lies {abs(way[2]):.3g} m {'deeper' if way[2] > 0.0 else 'higher'}, "
                f"{length:.3g} m ahead: {self.vehicle.name} comes by it at another depth",
                f"at most {most * length:.2g} m on such a way, a slope of {most:.2f}",
                "move it farther away, or circle there to change depth",
            )

    def turns(self) -> Iterator[Problem]:
        """Doubt lines that lie closer than the turning circle is wide."""
        if "position" in self.tuning.autopilot.follows:
            return  # it slows down and turns on the spot
        for number, task in enumerate(self.participant.mission):
            if isinstance(task, spec.Survey | spec.ExpandingSquare):
                key, room = "spacing", task.spacing
            elif isinstance(task, spec.Loiter):
                key, room = "radius", 2.0 * task.radius
            else:
                continue
            speed = task.speed or self.tuning.trim.speed
            circle = 2.0 * speed / turning_of(self.tuning.autopilot, speed).rate
            if circle > room:
                yield self.problem(
                    ("mission", number, key),
                    f"the turning circle is {circle:.3g} m wide at {speed:.2g} m/s, and there are "
                    f"{room:.3g} m",
                    f"room for {circle:.3g} m",
                    f"go slower, or give more `{key}`",
                )


def steepest(autopilot: Autopilot, speed: float) -> float:
    """Change of depth over way of the steepest leg that a vehicle which dives by pitching follows;
    infinite for one that has thrusters for it."""
    if not isinstance(autopilot.depth, Dive):
        return math.inf
    rates = np.asarray(autopilot.depth.reference.rate_limit)
    return float(np.interp(speed, np.asarray(autopilot.speeds), rates)) / speed


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
