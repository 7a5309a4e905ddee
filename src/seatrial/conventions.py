"""Frames, units and constants that every room shares.

World frame: NED (north, east, down), metres, origin at the scenario's datum on the mean water
level, so z is depth and a point above the water has a negative z. Body frame: forward,
starboard, down. Velocities follow SNAME (1950): nu = [u, v, w, p, q, r]. Quaternions are
scalar first, Hamilton, body to world. SI units and radians everywhere inside.

Array layout: the first axis counts components, every axis after it counts vehicles (or points).
A position is (3,) for one vehicle and (3, N) for a swarm, and the same code serves both.
"""

import math
from typing import Literal

GRAVITY = 9.80665
"""Standard acceleration of gravity, m/s² (CGPM 1901)."""

AIR_DENSITY = 1.225
"""Air at 15 °C and 1013.25 hPa, kg/m³ (ISO 2533)."""

SEAWATER_DENSITY = 1025.0
"""Density to which published coefficients refer unless their file says otherwise, kg/m³."""

UNIT_SUFFIXES: dict[str, dict[str, float]] = {
    "rad": {"deg": math.pi / 180.0},
    "rad/s": {"deg_s": math.pi / 180.0},
    "m": {"mm": 1e-3, "cm": 1e-2, "km": 1e3, "nmi": 1852.0},
    "m/s": {"kn": 1852.0 / 3600.0, "km_h": 1.0 / 3.6},
    "s": {"ms": 1e-3, "min": 60.0, "h": 3600.0},
    "rev/s": {"rpm": 1.0 / 60.0},
    "(rev/s)/s": {"rpm_s": 1.0 / 60.0},
    "kg": {"g": 1e-3, "t": 1e3},
    "m^3": {"l": 1e-3},
    "N": {"kN": 1e3},
    "J": {"Wh": 3600.0, "kWh": 3.6e6},
}
"""SI unit -> {suffix a YAML key may carry: factor to SI}. `heading_deg: 90` sets `heading`."""

MaterialName = Literal[
    "mud", "sand", "gravel", "rock", "concrete", "steel", "aluminium", "wood", "plastic", "rubber"
]
"""What a bottom or a body may be made of; `geometry.materials` has their numbers."""

WaterTypeName = Literal["I", "IA", "IB", "II", "III", "1C", "3C", "5C", "7C", "9C", "fjord"]
"""Jerlov's types of water, oceanic and coastal, each from the clearest on, and a fjord's;
`render.water` has what they do to light."""

RendererName = Literal["rays", "shaders"]
"""Ways to draw a live picture: by rays with Embree, or by shaders with OpenGL."""
