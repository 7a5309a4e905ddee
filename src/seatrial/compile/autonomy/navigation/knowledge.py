"""What a vehicle knows without a sensor: that it floats or is upright, its drive and the sea."""

import math

import numpy as np

from seatrial.compile.autonomy.navigation.belief import Belief
from seatrial.compile.autonomy.navigation.deviations import Error, as_states, lasting
from seatrial.compile.autonomy.navigation.sea import Sea
from seatrial.compile.autonomy.navigation.twin import DynamicsTwin
from seatrial.gnc.navigation.aids import directions, places, velocities
from seatrial.gnc.navigation.waves import Waves
from seatrial.pytree import constant
from seatrial.signals import SensorInfo
from seatrial.spec import navigation as spec

HEAVE, HEAVING = 0.25, 2.0
"""Heave of a surface craft where no waves are described, m, and its correlation time, s."""

BOBBING = 0.1
"""Share of the motion of the water that a craft in waves does not follow."""

PACE = 1.0
"""Speed below which wrong coefficients make the dynamics of a craft under water err in proportion
to it, m/s. One that floats drifts with the wind at any speed."""

SURGING, ORBITS = 0.3, 0.05
"""Velocity that waves give to a craft and its own dynamics know nothing of, m/s: to one that floats
where no waves are described, and to others. Where they are known, a craft under water does not
follow the share `BOBBING` of them, which fades with depth."""

DEEP = 0.01
"""What is left of that where no waves are felt, m/s."""

LULL = 1.0
"""How long what a craft knows without a sensor errs to the same side, s: its dynamics and its
height above the water err with the waves. So often it is taken in; an IMU whose biases jumped is
found out too late where it is taken in half as often."""

UPRIGHT = 0.15
"""Roll and pitch of a craft of which nothing else is known, rad."""


class Knowledge:
    """Aids without a sensor; each is taken in every so many seconds."""

    def __init__(
        self, described: spec.Navigation, imu: SensorInfo, dives: bool, sea: Sea | None
    ) -> None:
        """`sea` is None in calm water."""
        self._belief = Belief(described)
        self._heave_told = described.heave
        self._direct = described.filter == "direct"
        self._dives = dives
        self._sea = sea
        self._imu = np.array(imu.position)

    def dynamics(
        self, described: spec.Dynamics, twin: DynamicsTwin, period: float
    ) -> velocities.BodyVelocity:
        """The vehicle's own dynamics at its origin."""
        unknown = SURGING if twin.surface and self._sea is None else ORBITS
        if self._sea is not None and not twin.surface:
            unknown = BOBBING * self._sea.speed
        period = max(LULL, period)
        sigma = lasting(0.0, unknown, LULL, period)
        fades = self._sea is not None and not twin.surface
        below = lasting(0.0, DEEP, LULL, period) if fades else sigma
        error = Error(0.0, described.deviation, described.correlation_time)
        return velocities.BodyVelocity(
            arm=constant(-self._imu),
            matrix=constant(np.eye(3).ravel()),
            deviation=constant(np.full(3, below)),
            water_deviation=constant(np.full(3, sigma)),
            test=self._belief.knowledge(period, len(twin.axes)),
            slow=as_states([error] * len(twin.axes)),
            axes=twin.axes,
            lock=None,
            pace=None if twin.surface else constant(PACE),
            fades=fades,
        )

    def floating(self, period: float) -> places.Depth:
        """That the vehicle's origin stays near the surface."""
        heave, time = self._heave(), HEAVING
        if not self._direct:
            period = max(LULL, period)
            if self._sea is not None:
                heave, time = BOBBING * heave, LULL
        sigma = lasting(0.0, heave, time, period)
        return places.Depth(
            arm=constant(-self._imu),
            zero=constant(0.0),
            per_unit=constant(1.0),
            deviation=constant(sigma),
            test=self._belief.knowledge(period, 1),
            slow=as_states([]),
            component=0,
        )

    def waves(self, sea: Sea) -> Waves:
        """What waves do to the water: as much to either side as up and down, shared by north and
        east since nobody says where they come from."""
        high = math.sqrt(sea.variance)
        up = high if self._dives else self._heave()
        return Waves(sea.wavenumbers, constant([high, up]), self._dives)

    def _heave(self) -> float:
        """How far a surface craft goes up and down, m."""
        if self._heave_told is not None:
            return self._heave_told
        return HEAVE if self._sea is None else math.sqrt(self._sea.variance)

    def level(self, period: float) -> directions.Level:
        """That the vehicle is upright."""
        sigma = lasting(0.0, UPRIGHT, 1.0, period)
        return directions.Level(constant(sigma), self._belief.knowledge(period, 2), as_states([]))
