"""What the ASVLite paper states: T. Thomas, D. M. Bossens and D. Tarapore, 2021.

Numbers are those of its tables II, III and IV; figure 2 is described there in words only.
"""

from typing import Any, NamedTuple

from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

TIME_STEP = 0.04
"""Of all its simulations, s."""

THRUST = 4.0
"""Ahead, in the open sea, N."""

DISTANCE = 50.0
"""Run in the open sea, m."""

WAVE_AMPLITUDE = 0.06
"""In the towing tank, m."""


class Range(NamedTuple):
    """Least and greatest value of a motion; heave up in m, roll and pitch in degrees."""

    least: float
    greatest: float

    @property
    def width(self) -> float:
        """From the least to the greatest."""
        return self.greatest - self.least


TANK = {
    "heave": Range(-0.068, 0.068),
    "roll": Range(-17.2, 8.9),
    "pitch": Range(-11.5, 9.7),
}
"""Table II, measured in the towing tank."""

TANK_ASVLITE = {
    "heave": Range(-0.078, 0.076),
    "roll": Range(-13.5, 14.8),
    "pitch": Range(-4.1, 12.3),
}
"""Table II, ASVLite."""

COMPONENTS: dict[tuple[int, int], float] = {
    (3, 5): 3266.0,
    (3, 10): 1648.0,
    (5, 15): 618.0,
    (9, 15): 342.0,
    (13, 15): 237.0,
    (13, 20): 178.0,
}
"""Table III, desktop: (directions, frequencies) -> real-time factor of one vessel."""

SWARM: dict[int, tuple[float, float, float]] = {
    10: (67.0, 150.0, 280.0),
    50: (14.0, 44.0, 64.0),
    100: (7.0, 23.0, 32.0),
    150: (5.0, 16.0, 22.0),
    200: (3.0, 12.0, 16.0),
    250: (3.0, 9.0, 13.0),
    500: (1.0, 5.0, 7.0),
}
"""Table IV, desktop: vessels -> real-time factors with one thread (A), with threads that keep
step (B) and with threads that run free (C); 75 components."""

HEIGHTS = tuple(0.5 + 0.125 * i for i in range(13))
"""Significant wave heights of figure 2, m."""

HEADINGS_DEG = tuple(11.25 * i for i in range(33))
"""Wave headings of figure 2: 180° is a head sea, 0° and 360° a following sea."""

REPLICATES = 100


def smarty() -> Vehicle:
    """The vehicle of the paper."""
    return load("smarty", Vehicle)


def open_sea(significant_height: float) -> World:
    """Pierson–Moskowitz sea with cos² spreading, 5 directions × 15 uniform bands, going north."""
    waves: dict[str, Any] = {
        "spectrum": "pierson_moskowitz",
        "significant_height": significant_height,
        "spreading": "cos2",
        "method": "uniform",
        "frequencies": 15,
        "directions": 5,
    }
    return World.model_validate({"kind": "world", "name": "open-sea", "waves": waves})
