"""The weather of a run in the few numbers that people change while it runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Weather:
    """Waves, wind, current and air; SI and radians from north through east, 0 for what rests."""

    wave_height: float
    """Significant height of the wind sea, or the height of a regular wave, m."""
    wave_period: float
    """Peak period, s."""
    wave_towards: float
    wind_speed: float
    """At 10 m, m/s."""
    wind_towards: float
    current_speed: float
    """The steady part, m/s."""
    current_towards: float
    visibility: float
    """How far a black target is seen, m."""
